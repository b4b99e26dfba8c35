//! Resources that clients read and subscribe to: `screen://DEVICE/screen` and `screen://DEVICE/element?text=…` (SY-20).

use mdm_core::intent::selector::Selector;
use serde_json::Value;

use crate::args::JsonObject;
use crate::refusal::Refusal;
use crate::target::SelectorArg;

const URI_BYTES_MAX: usize = 2000;
const SCHEME: &str = "screen://";
pub const SCREEN_TEMPLATE: &str = "screen://{device}/screen";
pub const ELEMENT_TEMPLATE: &str =
    "screen://{device}/element{?text,contains,regex,resource_id,accessibility_id,test_tag,role}";

#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub device: String,
    pub shows: Shows,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shows {
    Screen,
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
            Some(("element", query)) => element(query).ok_or_else(unknown)??,
            _ => return Err(unknown()),
        };
        Ok(Resource { device, shows })
    }

    pub fn screen_uri(device: &str) -> String {
        let mut uri = SCHEME.to_owned();
        for byte in device.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                    uri.push(char::from(byte));
                }
                other => uri.push_str(&format!("%{other:02X}")),
            }
        }
        uri + "/screen"
    }

    /// Returns the tool that reads the resource, and its arguments.
    pub fn reader(&self) -> (&'static str, JsonObject) {
        let mut arguments = JsonObject::new();
        arguments.insert("device_id".to_owned(), self.device.clone().into());
        match &self.shows {
            Shows::Screen => ("get_ui_tree", arguments),
            Shows::Element(selector, _) => {
                arguments.insert("selector".to_owned(), Value::Object(selector.clone()));
                arguments.insert("timeout_ms".to_owned(), 0.into());
                ("find_element", arguments)
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
            let uri = Resource::screen_uri(device);
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
