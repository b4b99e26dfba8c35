//! Archives of NSKeyedArchiver: a property list in which objects point to each other by number.
//!
//! Dictionaries, arrays, texts, numbers, dates, data and UUIDs are plain values. An object of any other class is a
//! dictionary of its fields, with the name of the class at [`CLASS`]. What is nothing is left out. An archive may point to
//! one object many times, so what is read is counted.

use plist::{Dictionary, Uid, Value};

/// Most objects that are read of one archive, and the deepest nesting.
const OBJECTS_MAX: usize = 20_000;
/// The deepest nesting of an archive; a deeper one is not read.
const DEPTH_MAX: usize = 64;
const VERSION: u64 = 100_000;
/// Where the class of an object is, in an archive and in what is read of it.
pub const CLASS: &str = "$class";
const NOTHING: &str = "$null";

/// Reads the root of an archive. `None` if it is nothing, or if the archive is broken or beyond the limits.
pub fn unarchive(bytes: &[u8]) -> Option<Value> {
    let archive = plist::from_bytes::<Value>(bytes).ok()?.into_dictionary()?;
    let objects = archive.get("$objects")?.as_array()?;
    let root = archive.get("$top")?.as_dictionary()?.get("root")?;
    Reading { objects, left: OBJECTS_MAX }.value(root, 0).ok().flatten()
}

/// Writes a value as the root of an archive.
pub fn archive(root: &Value) -> Vec<u8> {
    let mut writing = Writing { objects: vec![Value::String(NOTHING.to_owned())] };
    let root = writing.add(root);
    let top: Dictionary = [("root".to_owned(), root)].into_iter().collect();
    let mut archive = Dictionary::new();
    archive.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
    archive.insert("$objects".to_owned(), Value::Array(writing.objects));
    archive.insert("$top".to_owned(), Value::Dictionary(top));
    archive.insert("$version".to_owned(), VERSION.into());
    let mut bytes = Vec::new();
    // A list of values is always written into memory.
    match Value::Dictionary(archive).to_writer_binary(&mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The archive is beyond the limits.
struct TooMuch;

struct Reading<'a> {
    objects: &'a [Value],
    left: usize,
}

impl Reading<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, TooMuch> {
        self.left = self.left.checked_sub(1).ok_or(TooMuch)?;
        if depth > DEPTH_MAX {
            return Err(TooMuch);
        }
        let objects = self.objects;
        let value = match value.as_uid() {
            Some(uid) => match usize::try_from(uid.get()).ok().and_then(|at| objects.get(at)) {
                Some(object) => object,
                None => return Ok(None),
            },
            None => value,
        };
        match value {
            Value::Dictionary(object) => self.object(object, depth),
            Value::String(text) if text == NOTHING => Ok(None),
            Value::Array(_) | Value::Uid(_) => Ok(None),
            plain => Ok(Some(plain.clone())),
        }
    }

    fn object(&mut self, object: &Dictionary, depth: usize) -> Result<Option<Value>, TooMuch> {
        let list = |key: &str| object.get(key).and_then(Value::as_array);
        match (list("NS.keys"), list("NS.objects")) {
            (Some(keys), Some(values)) => {
                let mut read = Dictionary::new();
                for (key, value) in keys.iter().zip(values) {
                    let key = self.value(key, depth + 1)?;
                    let value = self.value(value, depth + 1)?;
                    if let (Some(Value::String(key)), Some(value)) = (key, value) {
                        read.insert(key, value);
                    }
                }
                Ok(Some(Value::Dictionary(read)))
            }
            (None, Some(values)) => {
                let mut read = Vec::new();
                for value in values {
                    read.extend(self.value(value, depth + 1)?);
                }
                Ok(Some(Value::Array(read)))
            }
            _ => {
                let held = ["NS.string", "NS.data", "NS.bytes", "NS.uuidbytes"];
                let held = held.iter().find_map(|key| object.get(key));
                match held.filter(|held| held.as_string().is_some() || held.as_data().is_some()) {
                    Some(held) => Ok(Some(held.clone())),
                    None => self.fields(object, depth).map(Some),
                }
            }
        }
    }

    fn fields(&mut self, object: &Dictionary, depth: usize) -> Result<Value, TooMuch> {
        let mut read = Dictionary::new();
        for (name, field) in object {
            let field = match name.as_str() {
                CLASS => self.class(field),
                _ => self.value(field, depth + 1)?,
            };
            if let Some(field) = field {
                read.insert(name.clone(), field);
            }
        }
        Ok(Value::Dictionary(read))
    }

    fn class(&self, pointer: &Value) -> Option<Value> {
        let at = usize::try_from(pointer.as_uid()?.get()).ok()?;
        self.objects.get(at)?.as_dictionary()?.get("$classname").cloned()
    }
}

struct Writing {
    objects: Vec<Value>,
}

impl Writing {
    /// Adds an object and returns the pointer to it.
    fn add(&mut self, value: &Value) -> Value {
        let object = match value {
            Value::Dictionary(fields) if fields.contains_key(CLASS) => self.object(fields),
            Value::Dictionary(entries) => {
                let keys = entries.keys().map(|key| self.add(&key.as_str().into())).collect();
                let values = entries.values().map(|value| self.add(value)).collect();
                let class = self.class("NSDictionary");
                [("NS.keys", Value::Array(keys)), ("NS.objects", Value::Array(values)), ("$class", class)]
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<Dictionary>()
                    .into()
            }
            Value::Array(values) => {
                let values = values.iter().map(|value| self.add(value)).collect();
                let class = self.class("NSArray");
                [("NS.objects", Value::Array(values)), ("$class", class)]
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<Dictionary>()
                    .into()
            }
            plain => plain.clone(),
        };
        self.push(object)
    }

    /// An object of a class with fields. Its numbers stand in the object itself.
    fn object(&mut self, fields: &Dictionary) -> Value {
        let mut object = Dictionary::new();
        for (name, field) in fields {
            let field = match (name.as_str(), field) {
                (CLASS, class) => self.class(class.as_string().unwrap_or("NSObject")),
                (_, Value::Integer(_) | Value::Real(_)) => field.clone(),
                (_, field) => self.add(field),
            };
            object.insert(name.clone(), field);
        }
        Value::Dictionary(object)
    }

    fn class(&mut self, name: &str) -> Value {
        let names = Value::Array(vec![name.into(), "NSObject".into()]);
        let mut class = Dictionary::new();
        class.insert("$classes".to_owned(), names);
        class.insert("$classname".to_owned(), name.into());
        let class = Value::Dictionary(class);
        match self.objects.iter().position(|known| *known == class) {
            Some(at) => Value::Uid(Uid::new(at as u64)),
            None => self.push(class),
        }
    }

    fn push(&mut self, object: Value) -> Value {
        self.objects.push(object);
        Value::Uid(Uid::new(self.objects.len() as u64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(entries: &[(&str, Value)]) -> Value {
        entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect::<Dictionary>().into()
    }

    #[test]
    fn what_is_archived_is_read_again() {
        let value = dictionary(&[
            ("ObjectType", "passthrough".into()),
            ("Value", Value::Array(vec![Value::Boolean(false), 4_u64.into(), Value::Data(vec![0, 255])])),
            ("empty", dictionary(&[])),
        ]);
        assert_eq!(unarchive(&archive(&value)), Some(value));
        assert_eq!(unarchive(&archive(&"text".into())), Some("text".into()));
        let error = dictionary(&[
            (CLASS, "NSError".into()),
            ("NSCode", 2_i64.into()),
            ("NSUserInfo", dictionary(&[("why", "no".into())])),
        ]);
        assert_eq!(unarchive(&archive(&error)), Some(error));
    }

    #[test]
    fn broken_and_endless_archives_are_nothing() {
        let of = |objects: Vec<Value>| {
            let top = dictionary(&[("root", Value::Uid(Uid::new(1)))]);
            let archive = dictionary(&[("$objects", Value::Array(objects)), ("$top", top)]);
            let mut bytes = Vec::new();
            archive.to_writer_binary(&mut bytes).expect("a list");
            bytes
        };
        let pointer = |at: u64| Value::Uid(Uid::new(at));
        let itself = dictionary(&[("NS.objects", Value::Array(vec![pointer(1)]))]);
        assert_eq!(unarchive(&of(vec![NOTHING.into(), itself])), None, "it holds itself");
        // Each object holds the next one ten times.
        let tenfold = (2..9).map(|next| dictionary(&[("NS.objects", Value::Array(vec![pointer(next); 10]))]));
        let objects = [NOTHING.into()].into_iter().chain(tenfold).chain(["end".into()]).collect();
        assert_eq!(unarchive(&of(objects)), None, "ten million texts");
        assert_eq!(unarchive(&of(vec![NOTHING.into()])), None, "it points outside");
        assert_eq!(unarchive(b"bplist00"), None);
        assert_eq!(unarchive(&archive(&NOTHING.into())), None, "nothing");
    }
}
