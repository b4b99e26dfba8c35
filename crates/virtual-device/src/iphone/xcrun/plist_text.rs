//! Property lists as `NSDictionary` describes itself: the form that simctl prints.

use std::fmt::Write as _;

use plist::Value;

const INDENT: usize = 4;

/// Writes a value with a line end.
pub fn print(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let margin = " ".repeat(depth * INDENT);
    match value {
        Value::Dictionary(entries) => {
            let _ = writeln!(out, "{margin}{{");
            for (key, value) in entries {
                let _ = write!(out, "{margin}    {} = ", word(key));
                write(out, value, depth + 1);
                out.push_str(";\n");
            }
            let _ = write!(out, "{margin}}}");
        }
        Value::Array(items) => {
            let _ = writeln!(out, "{margin}(");
            for (index, item) in items.iter().enumerate() {
                let _ = write!(out, "{margin}    ");
                write(out, item, 0);
                out.push_str(if index + 1 < items.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{margin})");
        }
        Value::String(text) => out.push_str(&word(text)),
        Value::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Boolean(flag) => out.push(if *flag { '1' } else { '0' }),
        _ => out.push_str("\"\""),
    }
}

/// A word stands without quotes when it has only letters, digits and underscores.
fn word(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return text.to_owned();
    }
    let mut out = "\"".to_owned();
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)).filter(char::is_ascii) {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some(letter) => out.push(letter),
            None => {
                let _ = write!(out, "\\U{unit:04x}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use plist::Dictionary;

    use super::*;

    #[test]
    fn a_dictionary_looks_as_simctl_prints_it() {
        let mut app = Dictionary::new();
        app.insert("ApplicationType".to_owned(), "User".into());
        app.insert("CFBundleIdentifier".to_owned(), "com.example.Caf\u{e9}".into());
        app.insert("GroupContainers".to_owned(), Value::Dictionary(Dictionary::new()));
        app.insert("SBAppTags".to_owned(), Value::Array(Vec::new()));
        let printed = print(&Value::Dictionary(app));
        assert_eq!(
            printed,
            "{\n    ApplicationType = User;\n    CFBundleIdentifier = \"com.example.Caf\\U00e9\";\n    \
             GroupContainers =     {\n    };\n    SBAppTags =     (\n    );\n}\n"
        );
    }
}
