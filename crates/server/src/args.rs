//! Arguments of tools: typed, checked, and described for clients.

use mdm_core::identity::ElementId;
use mdm_core::screen::geometry::Point;
use mdm_core::screen::snapshot::Platform;
use mdm_engine::WantedDevice;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::Refusal;

/// Marks an argument in a schema that is taken and not shown: other spellings, and what the predecessor took.
const HIDDEN: &str = "hidden";

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
pub struct DeviceArg {
    /// Told once, in the instructions and by use_device.
    #[schemars(extend("hidden" = true))]
    pub device_id: Option<String>,
    #[schemars(extend("hidden" = true))]
    pub platform: Option<PlatformArg>,
}

impl DeviceArg {
    pub fn wanted(&self) -> WantedDevice {
        WantedDevice { platform: self.platform.map(Platform::from), id: self.device_id.clone(), app: None }
    }

    /// Prefers a device that has this app.
    pub fn wanted_with(&self, app: &str) -> WantedDevice {
        WantedDevice { app: Some(app.to_owned()), ..self.wanted() }
    }
}

/// Reads arguments, or says which one is wrong and what would be right.
pub fn parse<P: DeserializeOwned>(arguments: JsonObject) -> Result<P, Refusal> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let hint = "mend the named argument and call again; nothing was done";
        Refusal::argument(format!("wrong arguments: {error}"), hint)
    })
}

/// Arguments under the names that the schema gives them. Agents mix `elementId` and `element_id`, and both say one thing;
/// what is in no schema is a mistake that must not pass unseen.
pub fn named(known: &[Argument], arguments: JsonObject) -> Result<JsonObject, Refusal> {
    let mut named = JsonObject::new();
    for (given, value) in arguments {
        let Some(argument) = known.iter().find(|argument| plain(&argument.name) == plain(&given)) else {
            let shown: Vec<&str> = known.iter().filter(|a| a.shown).map(|a| a.name.as_str()).collect();
            return Err(Refusal::argument(
                format!("wrong arguments: there is no {given:.40?}"),
                format!("nothing was done; known are {}", shown.join(", ")),
            ));
        };
        if named.insert(argument.name.clone(), value).is_some() {
            let message = format!("wrong arguments: {} is given twice", argument.name);
            return Err(Refusal::argument(message, "nothing was done; give it once"));
        }
    }
    Ok(named)
}

/// True for the argument that names an app, in either spelling.
pub fn is_app(name: &str) -> bool {
    plain(name) == "appid"
}

/// True for two spellings of one name: `elementId` and `element_id`.
pub fn is_named(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// A name that the server gave to an element.
pub fn element_id(text: &str) -> Result<ElementId, Refusal> {
    text.parse().map_err(|_| {
        Refusal::argument(format!("{text:?} is no element id"), "ids look like e12; get_ui_tree shows them")
    })
}

/// Coordinates arrive as JSON numbers and are used as whole pixels.
pub fn point(x: f64, y: f64) -> Result<Point, Refusal> {
    Ok(Point { x: pixel("x", x)?, y: pixel("y", y)? })
}

fn pixel(name: &str, value: f64) -> Result<i32, Refusal> {
    /// No screen is wider; a larger number is a mistake of the caller.
    const PIXEL_MAX: f64 = 100_000.0;
    if value.is_finite() && (0.0..=PIXEL_MAX).contains(&value) {
        return Ok(value.round() as i32);
    }
    let message = format!("{name} = {value} is not a point on a screen");
    Err(Refusal::argument(message, "use device pixels: the @x,y of get_ui_tree"))
}

/// Refuses a number outside of its bounds.
pub fn within(name: &str, value: f64, min: f64, max: f64, usual: f64) -> Result<f64, Refusal> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    let message = format!("{name} = {value} is not between {min} and {max}");
    Err(Refusal::argument(message, format!("{usual} is usual")))
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    /// False for what is taken and not shown.
    pub shown: bool,
}

/// All arguments of `P`, also those that are not shown.
pub fn arguments<P: JsonSchema>() -> Vec<Argument> {
    let schema = whole_schema::<P>();
    let properties = schema.get("properties").and_then(Value::as_object);
    let argument =
        |(name, property): (&String, &Value)| Argument { name: name.clone(), shown: !is_hidden(property) };
    properties.map(|all| all.iter().map(argument).collect()).unwrap_or_default()
}

/// The schema of `P` as clients see it: without what is not shown, and without the noise that clients stumble over
/// (number formats, nullable types, titles).
pub fn schema<P: JsonSchema>() -> JsonObject {
    let mut schema = whole_schema::<P>();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|_, property| !is_hidden(property));
        if properties.is_empty() {
            schema.remove("properties");
        }
    }
    schema
}

fn is_hidden(property: &Value) -> bool {
    property.get(HIDDEN) == Some(&Value::Bool(true))
}

fn whole_schema<P: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12()
        .with(|s| {
            s.inline_subschemas = true;
            s.meta_schema = None;
        })
        .with_transform(RecursiveTransform(tidy));
    let mut object = settings.into_generator().into_root_schema_for::<P>();
    object.remove("title");
    object.remove("description");
    match object.to_value() {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

fn tidy(schema: &mut Schema) {
    schema.remove("format");
    schema.remove("minimum");
    schema.remove("additionalProperties");
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
        let argument = |name: &str, shown| Argument { name: name.to_owned(), shown };
        let known = [argument("element_id", true), argument("timeout_ms", true), argument("platform", false)];
        let named = |json: &str| {
            let object = serde_json::from_str(json).expect("an object");
            named(&known, object).map_err(|refusal| (refusal.failure.message, refusal.hint.text().to_owned()))
        };
        let read = named(r#"{"elementId":"e1","timeoutMs":5,"platform":"ios"}"#).expect("all are known");
        assert_eq!(read.keys().collect::<Vec<_>>(), ["element_id", "timeout_ms", "platform"]);
        let hint = "nothing was done; known are element_id, timeout_ms".to_owned();
        assert_eq!(
            named(r#"{"elemnt":1}"#),
            Err(("wrong arguments: there is no \"elemnt\"".to_owned(), hint))
        );
        let twice = "wrong arguments: element_id is given twice".to_owned();
        let given = named(r#"{"elementId":1,"element_id":2}"#).unwrap_err();
        assert_eq!(given.0, twice);
    }
}
