//! Templates: `{name}` in a text is replaced by the value of that name, and `{{` is a brace.

/// The longest text after replacement.
pub const SHOWN_CHARS_MAX: usize = 4096;

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Splits a template. A brace that is never closed is plain text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        parts.push(Part::Text(&rest[..open]));
        let inside = &rest[open + 1..];
        if let Some(after) = inside.strip_prefix('{') {
            parts.push(Part::Text("{"));
            rest = after;
        } else if let Some(close) = inside.find('}') {
            parts.push(Part::Name(&inside[..close]));
            rest = &inside[close + 1..];
        } else {
            parts.push(Part::Text(&rest[open..]));
            rest = "";
        }
    }
    parts.push(Part::Text(rest));
    parts
}

pub fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| if let Part::Name(name) = part { Some(name) } else { None })
}

pub fn fill(text: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut room = SHOWN_CHARS_MAX;
    for part in parts(text) {
        let piece = match part {
            Part::Text(text) => text.to_owned(),
            Part::Name(name) => value(name),
        };
        out.extend(piece.chars().take(room));
        room = room.saturating_sub(piece.chars().count());
        if room == 0 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_other_braces_stay() {
        let value = |name: &str| format!("<{name}>");
        assert_eq!(fill("Hi {who}, {{ok} {open", &value), "Hi <who>, {ok} {open");
        assert_eq!(names("{a} {{b} {c}").collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(fill("é{x}ü", &|_| "ö".to_owned()), "éöü");
    }

    #[test]
    fn a_text_that_grows_has_an_end() {
        let long = "x".repeat(3000);
        assert_eq!(fill("{a}{a}{a}", &|_| long.clone()).chars().count(), SHOWN_CHARS_MAX);
    }
}
