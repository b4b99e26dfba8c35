//! Resources that clients read: what there is to see of a device, the devices, and our documents. Those of a screen can
//! be subscribed to: `screen://DEVICE/screen` and `screen://DEVICE/element?text=…` (SY-20).

use mdm_core::intent::selector::Selector;
use serde_json::Value;

use crate::args::JsonObject;
use crate::refusal::Refusal;
use crate::target::SelectorArg;

/// Bytes of a resource's URI; a longer one is refused.
const URI_BYTES_MAX: usize = 2000;
const SCHEME: &str = "screen://";
pub const ELEMENT_TEMPLATE: &str =
    "screen://{device}/element{?text,contains,regex,resource_id,accessibility_id,test_tag,role}";

pub const DEVICES_URI: &str = "mdm://devices";

/// A document of ours that an agent may want to read.
#[derive(Debug, PartialEq, Eq)]
pub struct Document {
    pub uri: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

pub static DOCUMENTS: [Document; 5] = [
    Document {
        uri: "mdm://docs/tools",
        title: "All tools and their arguments",
        text: include_str!("../../../docs/tools.md"),
    },
    Document {
        uri: "mdm://docs/answers",
        title: "How to read answers",
        text: include_str!("../../../docs/answers.md"),
    },
    Document {
        uri: "mdm://docs/waits",
        title: "Which wait to use when",
        text: include_str!("../../../docs/waits.md"),
    },
    Document {
        uri: "mdm://docs/network",
        title: "The proxy and mocks",
        text: include_str!("../../../docs/network.md"),
    },
    Document {
        uri: "mdm://docs/builds",
        title: "Building apps",
        text: include_str!("../../../docs/builds.md"),
    },
];

/// Everything that can be read.
#[derive(Debug, PartialEq)]
pub enum Named {
    Devices,
    Document(&'static Document),
    Of(Resource),
}

impl Named {
    pub fn parse(uri: &str) -> Result<Named, Refusal> {
        if uri == DEVICES_URI {
            return Ok(Named::Devices);
        }
        match DOCUMENTS.iter().find(|document| document.uri == uri) {
            Some(document) => Ok(Named::Document(document)),
            None => Resource::parse(uri).map(Named::Of),
        }
    }
}

/// The tool that reads the list of the devices, and the one that reads an element.
pub const DEVICES_READER: &str = "list_devices";
pub const ELEMENT_READER: &str = "find_element";
const SCREEN_READER: &str = "get_ui_tree";
const PICTURE_READER: &str = "capture_screenshot";
const LOG_READER: &str = "get_logs";
const TRACE_READER: &str = "classify_action_outcome";

/// What there is of each device besides elements: the last part of its address, a title, what it is and of which type,
/// and the tool that reads it.
pub const OF_DEVICE: [(&str, &str, &str, &str, &str); 4] = [
    (
        "screen",
        "Screen",
        "What is on it, as get_ui_tree tells. Subscribe to hear of changes.",
        "text/plain",
        SCREEN_READER,
    ),
    ("picture", "Picture", "The screen as a picture.", "image/jpeg", PICTURE_READER),
    ("log", "Log", "The newest lines of the log.", "text/plain", LOG_READER),
    ("trace", "Trace", "The last action, step by step.", "text/plain", TRACE_READER),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub device: String,
    pub shows: Shows,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shows {
    Screen,
    Picture,
    Log,
    Trace,
    /// The selector as JSON for find_element, and parsed.
    Element(JsonObject, Box<Selector>),
}

impl Resource {
    pub fn parse(uri: &str) -> Result<Resource, Refusal> {
        if uri.len() > URI_BYTES_MAX {
            return Err(wrong(format!("the URI is longer than {URI_BYTES_MAX} bytes")));
        }
        let unknown = || wrong(format!("there is no resource {uri:?}"));
        let (device, rest) = uri.strip_prefix(SCHEME).and_then(|r| r.split_once('/')).ok_or_else(unknown)?;
        let device = decoded(device).filter(|device| !device.is_empty()).ok_or_else(unknown)?;
        let shows = match rest.split_once('?') {
            None if rest == "screen" => Shows::Screen,
            None if rest == "picture" => Shows::Picture,
            None if rest == "log" => Shows::Log,
            None if rest == "trace" => Shows::Trace,
            Some(("element", query)) => element(query).ok_or_else(unknown)??,
            _ => return Err(unknown()),
        };
        Ok(Resource { device, shows })
    }

    /// Only what is on a screen is watched.
    pub fn can_be_watched(&self) -> bool {
        matches!(self.shows, Shows::Screen | Shows::Element(..))
    }

    /// The address of a part of a device.
    pub fn uri(device: &str, part: &str) -> String {
        let mut uri = SCHEME.to_owned();
        for byte in device.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                    uri.push(char::from(byte));
                }
                other => uri.push_str(&format!("%{other:02X}")),
            }
        }
        uri.push('/');
        uri + part
    }

    /// Returns the tool that reads the resource, and its arguments.
    pub fn reader(&self) -> (&'static str, JsonObject) {
        let mut arguments = JsonObject::new();
        arguments.insert("device_id".to_owned(), self.device.clone().into());
        match &self.shows {
            Shows::Screen => (SCREEN_READER, arguments),
            Shows::Picture => (PICTURE_READER, arguments),
            Shows::Log => (LOG_READER, arguments),
            Shows::Trace => (TRACE_READER, arguments),
            Shows::Element(selector, _) => {
                arguments.insert("selector".to_owned(), Value::Object(selector.clone()));
                arguments.insert("timeout_ms".to_owned(), 0.into());
                (ELEMENT_READER, arguments)
            }
        }
    }
}

/// Parses the query of an element's URI; `None` if it is not a valid query string.
fn element(query: &str) -> Option<Result<Shows, Refusal>> {
    let mut selector = JsonObject::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=')?;
        let value = decoded(&value.replace('+', " "))?;
        let value = match name {
            "contains" if value == "true" || value == "false" => Value::from(value == "true"),
            "index" => Value::from(value.parse::<u32>().ok()?),
            _ => Value::from(value),
        };
        selector.insert(decoded(name)?, value);
    }
    let read = SelectorArg::read(selector.clone()).and_then(|arg| arg.selector());
    Some(read.map(|parsed| Shows::Element(selector, Box::new(parsed))))
}

/// Decodes percent escapes (`%41` is A). `None` if an escape is broken or the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut out) = (text.bytes(), Vec::with_capacity(text.len()));
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

fn wrong(message: String) -> Refusal {
    let hint =
        "use screen://DEVICE/screen or screen://DEVICE/element?text=…; resources/list names the devices";
    Refusal::argument(message, hint)
}

#[cfg(test)]
mod tests {
    use mdm_core::failure::ErrorCode;
    use mdm_core::intent::selector::TextMatch;

    use super::*;

    #[test]
    fn a_screen_uri_names_its_device_and_is_read_back() {
        for device in ["emulator-5554", "127.0.0.1:5555", "adb-X._adb-tls-connect._tcp", "odd / näme?%"] {
            let uri = Resource::uri(device, "screen");
            let read = Resource::parse(&uri).unwrap();
            assert_eq!((read.device.as_str(), &read.shows), (device, &Shows::Screen), "{uri}");
        }
    }

    #[test]
    fn an_element_uri_takes_the_fields_of_a_selector() {
        let read = Resource::parse("screen://phone/element?text=Sign+in%26out&contains=true").unwrap();
        let Shows::Element(json, selector) = &read.shows else { panic!("an element") };
        assert_eq!(selector.text, Some(TextMatch::Contains("Sign in&out".to_owned())));
        assert_eq!(json["contains"], Value::from(true));
        assert_eq!(read.reader().0, "find_element");
    }

    #[test]
    fn an_invalid_uri_is_refused() {
        let long = format!("screen://phone/element?text={}", "a".repeat(URI_BYTES_MAX));
        let others = [
            "",
            "screen://",
            "screen:///screen",
            "screen://phone",
            "screen://phone/",
            "screen://phone/screen/x",
            "file:///etc/passwd",
            "screen://phone/element",
            "screen://phone/element?",
            "screen://phone/element?text",
            "screen://phone/element?text=",
            "screen://phone/element?text=%zz",
            "screen://phone/element?text=%ff",
            "screen://phone/element?text=%4",
            "screen://phone/element?colour=red",
            "screen://phone/element?index=1",
            "screen://%/screen",
            &long,
        ];
        for uri in others {
            let failure = Resource::parse(uri).unwrap_err();
            assert_eq!(failure.failure.code(), ErrorCode::InvalidArgument, "{uri}");
        }
    }
}
