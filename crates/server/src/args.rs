//! Arguments of tools: typed, checked, and described for clients.

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::identity::ElementId;
use mdm_core::screen::geometry::Point;
use mdm_core::screen::snapshot::Platform;
use mdm_engine::Wanted;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A JSON object, as it arrives from and leaves for clients. Nothing inside the program works on it.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlatformArg {
    Android,
    Ios,
}

impl From<PlatformArg> for Platform {
    fn from(arg: PlatformArg) -> Platform {
        match arg {
            PlatformArg::Android => Platform::Android,
            PlatformArg::Ios => Platform::Ios,
        }
    }
}

/// Which device; flattened into the parameters of a tool.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceArg {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

impl DeviceArg {
    pub fn wanted(&self) -> Wanted {
        wanted(self.platform, self.device_id.clone())
    }
}

pub fn wanted(platform: Option<PlatformArg>, device_id: Option<String>) -> Wanted {
    Wanted { platform: platform.map(Platform::from), device_id, app: None }
}

/// Reads arguments, or says which one is wrong and what would be right.
pub fn parse<P: DeserializeOwned>(arguments: JsonObject) -> Result<P, Failure> {
    serde_json::from_value(serde_json::Value::Object(arguments)).map_err(|error| {
        Failure::new(
            ErrorCode::InvalidArgument,
            format!("wrong arguments: {error}"),
            "mend the named argument and call again; nothing was done",
        )
    })
}

/// Arguments under the names that the schema gives them. Agents mix `elementId` and `element_id`, and both say one thing;
/// what is in no schema is a mistake that must not pass unseen.
pub fn named(known: &[String], arguments: JsonObject) -> Result<JsonObject, Failure> {
    let mut named = JsonObject::new();
    for (given, value) in arguments {
        let Some(name) = known.iter().find(|name| plain(name) == plain(&given)) else {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("wrong arguments: there is no {given:.40?}"),
                format!("nothing was done; known are {}", known.join(", ")),
            ));
        };
        if named.insert(name.clone(), value).is_some() {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("wrong arguments: {name} is given twice"),
                "nothing was done; give it once",
            ));
        }
    }
    Ok(named)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// A name that the server gave to an element.
pub fn element_id(text: &str) -> Result<ElementId, Failure> {
    text.parse().map_err(|_| {
        Failure::new(
            ErrorCode::InvalidArgument,
            format!("{text:?} is no element id"),
            "ids look like e12; get_ui_tree shows them",
        )
    })
}

/// Coordinates arrive as JSON numbers and are used as whole pixels.
pub fn point(x: f64, y: f64) -> Result<Point, Failure> {
    Ok(Point { x: pixel("x", x)?, y: pixel("y", y)? })
}

fn pixel(name: &str, value: f64) -> Result<i32, Failure> {
    /// No screen is wider; a larger number is a mistake of the caller.
    const PIXEL_MAX: f64 = 100_000.0;
    if value.is_finite() && (0.0..=PIXEL_MAX).contains(&value) {
        return Ok(value.round() as i32);
    }
    Err(Failure::new(
        ErrorCode::InvalidArgument,
        format!("{name} = {value} is not a point on a screen"),
        "use device pixels: the @x,y of get_ui_tree",
    ))
}

/// The schema of `P` without the noise that clients stumble over (number formats, nullable types, titles).
pub fn schema<P: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12()
        .with(|s| {
            s.inline_subschemas = true;
            s.meta_schema = None;
        })
        .with_transform(RecursiveTransform(tidy));
    let mut object = settings.into_generator().into_root_schema_for::<P>();
    object.remove("title");
    object.remove("description");
    object.insert("additionalProperties".to_owned(), false.into());
    match object.to_value() {
        serde_json::Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

fn tidy(schema: &mut Schema) {
    use serde_json::Value;
    schema.remove("format");
    schema.remove("default");
    if let Some(Value::Array(types)) = schema.get("type") {
        let rest: Vec<Value> = types.iter().filter(|t| *t != "null").cloned().collect();
        if let [only] = &rest[..] {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    // An optional enum arrives as "the enum or null".
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let rest: Vec<Value> =
            choices.iter().filter(|c| c.get("type") != Some(&Value::from("null"))).cloned().collect();
        if let [Value::Object(only)] = &rest[..] {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.insert(key, value);
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let rest: Vec<Value> = values.iter().filter(|v| !v.is_null()).cloned().collect();
        schema.insert("enum".to_owned(), Value::Array(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_schema_or_a_mistake() {
        let known = ["elementId".to_owned(), "timeout_ms".to_owned()];
        let named = |json: &str| {
            let object = serde_json::from_str(json).expect("an object");
            named(&known, object).map_err(|failure| failure.message)
        };
        let read = named(r#"{"element_id":"e1","timeoutMs":5}"#).expect("both are known");
        assert_eq!(read.keys().collect::<Vec<_>>(), ["elementId", "timeout_ms"]);
        assert_eq!(named(r#"{"elemnt":1}"#), Err("wrong arguments: there is no \"elemnt\"".into()));
        let twice = Err("wrong arguments: elementId is given twice".into());
        assert_eq!(named(r#"{"elementId":1,"element_id":2}"#), twice);
    }
}
