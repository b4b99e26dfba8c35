//! Facts as one line of JSON. Texts of a device are escaped and cut here, whichever fact they stand in (F70).

use std::io;

use mdm_core::text::quote::{escape_unreadable, push_cut};
use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// Characters of one text; the end of a longer one is left out, and how much: `begin…+312…`.
const STRING_CHARS_MAX: usize = 2000;

pub fn to_line(facts: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    facts.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, FactsFormatter::default()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[derive(Default)]
struct FactsFormatter {
    /// Of the string that is being written.
    written_chars: usize,
    cut_chars: usize,
}

impl Formatter for FactsFormatter {
    fn begin_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        *self = FactsFormatter::default();
        writer.write_all(b"\"")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let room = STRING_CHARS_MAX - self.written_chars;
        // Bytes are never fewer than characters.
        let kept = if fragment.len() <= room {
            fragment
        } else {
            let end = fragment.char_indices().nth(room).map_or(fragment.len(), |(at, _)| at);
            self.cut_chars += fragment[end..].chars().count();
            &fragment[..end]
        };
        self.written_chars += kept.chars().count();
        writer.write_all(escape_unreadable(kept).as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        if self.written_chars >= STRING_CHARS_MAX {
            self.cut_chars += 1;
            return Ok(());
        }
        self.written_chars += 1;
        CompactFormatter.write_char_escape(writer, escape)
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let mut end = String::new();
        if self.cut_chars > 0 {
            push_cut(&mut end, self.cut_chars);
        }
        end.push('"');
        writer.write_all(end.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_device_are_escaped_and_cut() {
        // F70
        let line = to_line(&vec!["a\u{202E}b\"\n\u{9b}\u{7f}", "日本"]).unwrap();
        assert_eq!(line, r#"["a\u202eb\"\n\u009b\u007f","日本"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&line).unwrap()[0], "a\u{202E}b\"\n\u{9b}\u{7f}");
        let long = format!("{}\n{}", "é".repeat(1500), "x".repeat(120_000));
        let line = to_line(&long).unwrap();
        let expected = format!("\"{}\\n{}…+119501…\"", "é".repeat(1500), "x".repeat(499));
        assert_eq!(line, expected);
        assert_eq!(to_line(&"y".repeat(2000)).unwrap().len(), 2002);
    }
}
