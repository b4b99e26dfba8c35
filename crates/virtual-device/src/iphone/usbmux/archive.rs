//! Keyed archives: how Objective-C writes objects into property lists.

use std::collections::BTreeMap;
use std::io;

use plist::{Dictionary, Uid, Value};

use super::plists::dictionary;

/// Levels and objects of an archive that is read.
const DEPTH_MAX: u32 = 16;
const OBJECTS_MAX: u32 = 10_000;
const VERSION: u64 = 100_000;
/// Where the bytes of an `NSUUID` are.
const UUID_BYTES: &str = "NS.uuidbytes";

/// What is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    Bool(bool),
    Number(i64),
    Text(String),
    Data(Vec<u8>),
    Map(Vec<(String, Object)>),
    /// An object of a class with fields.
    Of(&'static str, Vec<(&'static str, Object)>),
}

impl Object {
    pub fn text(text: &str) -> Object {
        Object::Text(text.to_owned())
    }

    pub fn map<const N: usize>(pairs: [(&str, Object); N]) -> Object {
        Object::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// What a call failed with.
    pub fn error<const N: usize>(domain: &str, code: i64, information: [(&str, Object); N]) -> Object {
        let fields = vec![
            ("NSCode", Object::Number(code)),
            ("NSDomain", Object::text(domain)),
            ("NSUserInfo", Object::map(information)),
        ];
        Object::Of("NSError", fields)
    }
}

/// The objects of an archive, and where each class is among them.
struct Writer {
    objects: Vec<Value>,
    classes: BTreeMap<&'static str, Uid>,
}

impl Writer {
    fn push(&mut self, value: Value) -> Uid {
        self.objects.push(value);
        Uid::new(self.objects.len() as u64 - 1)
    }

    fn class(&mut self, name: &'static str) -> Value {
        if let Some(uid) = self.classes.get(name) {
            return Value::Uid(*uid);
        }
        let classes = Value::Array(vec![name.into(), "NSObject".into()]);
        let uid = self.push(dictionary([("$classes", classes), ("$classname", name.into())]));
        self.classes.insert(name, uid);
        Value::Uid(uid)
    }

    fn add(&mut self, object: &Object) -> Value {
        let value = match object {
            Object::Bool(is) => Value::Boolean(*is),
            Object::Number(number) => Value::from(*number),
            Object::Text(text) => text.as_str().into(),
            Object::Data(bytes) => Value::Data(bytes.clone()),
            Object::Map(pairs) => {
                let keys = pairs.iter().map(|(key, _)| Value::Uid(self.push(key.as_str().into()))).collect();
                let values = pairs.iter().map(|(_, value)| self.add(value)).collect();
                let class = self.class("NSDictionary");
                dictionary([
                    ("$class", class),
                    ("NS.keys", Value::Array(keys)),
                    ("NS.objects", Value::Array(values)),
                ])
            }
            Object::Of(class, fields) => {
                let mut made = Dictionary::new();
                for (name, field) in fields {
                    let value = match field {
                        // Numbers stand in the object itself.
                        Object::Number(number) => Value::from(*number),
                        field => self.add(field),
                    };
                    made.insert((*name).to_owned(), value);
                }
                made.insert("$class".to_owned(), self.class(class));
                Value::Dictionary(made)
            }
        };
        Value::Uid(self.push(value))
    }
}

pub fn write(root: &Object) -> io::Result<Vec<u8>> {
    let mut writer = Writer { objects: vec!["$null".into()], classes: BTreeMap::new() };
    let root = writer.add(root);
    let archive = dictionary([
        ("$archiver", "NSKeyedArchiver".into()),
        ("$objects", Value::Array(writer.objects)),
        ("$top", dictionary([("root", root)])),
        ("$version", VERSION.into()),
    ]);
    let mut bytes = Vec::new();
    archive.to_writer_binary(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Reads the root as a plain value: dictionaries and arrays of plain values, the bytes of an `NSUUID`, the fields of
/// anything else.
pub fn read(bytes: &[u8]) -> Option<Value> {
    let archive = plist::from_bytes::<Value>(bytes).ok()?.into_dictionary()?;
    let objects = archive.get("$objects")?.as_array()?;
    let root = archive.get("$top")?.as_dictionary()?.get("root")?.as_uid()?;
    Reader { objects, left: OBJECTS_MAX }.read(*root, DEPTH_MAX)
}

struct Reader<'a> {
    objects: &'a [Value],
    /// One object can stand in many places.
    left: u32,
}

impl<'a> Reader<'a> {
    fn read(&mut self, at: Uid, depth: u32) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let object = self.objects.get(usize::try_from(at.get()).ok()?)?;
        let Some(fields) = object.as_dictionary() else { return Some(object.clone()) };
        if let Some(bytes) = fields.get(UUID_BYTES) {
            return Some(bytes.clone());
        }
        if let Some(text) = fields.get("NS.string") {
            return Some(text.clone());
        }
        let values = fields.get("NS.objects").and_then(Value::as_array);
        match (fields.get("NS.keys").and_then(Value::as_array), values) {
            (Some(keys), Some(values)) => {
                let (keys, values) = (self.all(keys, depth)?, self.all(values, depth)?);
                let pairs = keys.into_iter().zip(values);
                let named = pairs.filter_map(|(key, value)| Some((key.into_string()?, value)));
                Some(Value::Dictionary(named.collect()))
            }
            (None, Some(values)) => self.all(values, depth).map(Value::Array),
            _ => {
                let mut read = Dictionary::new();
                for (name, field) in fields.iter().filter(|(name, _)| *name != "$class") {
                    let value = match field {
                        Value::Uid(at) => self.read(*at, depth)?,
                        field => field.clone(),
                    };
                    read.insert(name.clone(), value);
                }
                Some(Value::Dictionary(read))
            }
        }
    }

    fn all(&mut self, uids: &'a [Value], depth: u32) -> Option<Vec<Value>> {
        uids.iter().map(|uid| self.read(*uid.as_uid()?, depth)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let error =
            Object::error("com.example", 2, [("why", Object::text("no")), ("sure", Object::Bool(true))]);
        let read = read(&write(&error).unwrap()).unwrap();
        let expected = dictionary([
            ("NSCode", Value::from(2_i64)),
            ("NSDomain", "com.example".into()),
            ("NSUserInfo", dictionary([("sure", true.into()), ("why", "no".into())])),
        ]);
        assert_eq!(read, expected);
    }

    #[test]
    fn an_archive_that_refers_to_itself_is_not_read() {
        let turns = dictionary([("NS.objects", Value::Array(vec![Value::Uid(Uid::new(1)); 2]))]);
        let archive = dictionary([
            ("$objects", Value::Array(vec!["$null".into(), turns])),
            ("$top", dictionary([("root", Value::Uid(Uid::new(1)))])),
        ]);
        let mut bytes = Vec::new();
        archive.to_writer_binary(&mut bytes).unwrap();
        assert_eq!(read(&bytes), None);
    }
}
