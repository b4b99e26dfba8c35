//! Writes the tree in the format of `uiautomator dump`.

use std::fmt::Write as _;

use super::nodes;
use super::widget::{Flags, Widget};

pub const HEADER: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>";

/// The first Android version whose nodes have `drawing-order` and `hint`.
pub const SDK_WITH_HINT: u32 = 33;
/// A list that its rows belong to.
const LIST: &str = "android.widget.ListView";
/// Classes that are never marked as "not accessibility friendly".
const NAF_EXCLUDED: [&str; 4] = [
    "android.widget.GridView",
    "android.widget.GridLayout",
    "android.widget.ListView",
    "android.widget.TableLayout",
];

/// Writes a tree. `package` is that of the app in front, for a window that does not name its own.
pub fn write(root: &Widget, package: &str, sdk: u32) -> String {
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(HEADER);
    let (package, rotation) = root.window.map_or((package, 0), |w| (w.package, w.rotation));
    let _ = write!(out, "<hierarchy rotation=\"{rotation}\">");
    node(&mut out, root, (0, 0, false), package, sdk);
    out.push_str("</hierarchy>");
    out
}

/// Writes a node: its place among its siblings, its place in the order of drawing, and whether it is a row of a list.
fn node(
    out: &mut String,
    widget: &Widget,
    (index, order, is_row): (usize, usize, bool),
    package: &str,
    sdk: u32,
) {
    out.push_str("<node");
    if !is_row && !NAF_EXCLUDED.contains(&widget.class) && is_naf(widget) {
        out.push_str(" NAF=\"true\"");
    }
    let _ = write!(out, " index=\"{index}\"");
    attribute(out, "text", &shown_text(widget));
    attribute(out, "resource-id", told_id(widget));
    attribute(out, "class", widget.class);
    attribute(out, "package", package);
    attribute(out, "content-desc", &widget.description);
    let flags = &told_flags(widget, is_row);
    for (name, value) in [
        ("checkable", flags.checkable),
        ("checked", flags.checked),
        ("clickable", flags.clickable),
        ("enabled", !flags.disabled),
        ("focusable", flags.focusable),
        ("focused", flags.focused),
        ("scrollable", flags.scrollable),
        ("long-clickable", flags.long_clickable),
        ("password", flags.password),
        ("selected", flags.selected),
    ] {
        let _ = write!(out, " {name}=\"{value}\"");
    }
    let b = &widget.visible;
    let _ = write!(out, " bounds=\"[{},{}][{},{}]\"", b.left, b.top, b.right, b.bottom);
    if sdk >= SDK_WITH_HINT {
        let _ = write!(out, " drawing-order=\"{order}\"");
        attribute(out, "hint", &widget.hint);
    }
    let children = nodes::shown_children(widget);
    if children.is_empty() {
        out.push_str(" />");
        return;
    }
    out.push('>');
    for (index, order, child) in children {
        node(out, child, (index, order, is_list(widget)), package, sdk);
    }
    out.push_str("</node>");
}

/// Returns the id that Android tells accessibility: a number picker makes its nodes by itself, and leaves its own out.
pub fn told_id(widget: &Widget) -> &str {
    if widget.class == "android.widget.NumberPicker" { "" } else { &widget.resource_id }
}

/// True for a list that takes the taps on its rows.
pub fn is_list(widget: &Widget) -> bool {
    widget.class == LIST
}

/// Returns the flags that Android tells accessibility. The list takes the taps on its rows, which take none themselves;
/// what fits into its container does not scroll; a drop-down list can be scrolled to its other choices, even when it is closed.
pub fn told_flags(widget: &Widget, is_row: bool) -> Flags {
    let mut flags = widget.flags;
    flags.scrollable &= widget.scroll_most_px > 0 || flags.locked;
    match widget.class {
        LIST => flags.focusable = !widget.children.is_empty(),
        // Its wheel turns, whatever its numbers.
        "android.widget.NumberPicker" => flags.scrollable = widget.flags.scrollable,
        "android.widget.Spinner" => (flags.scrollable, flags.long_clickable) = (true, true),
        _ if is_row => (flags.clickable, flags.focusable, flags.long_clickable) = (false, false, false),
        _ => {}
    }
    flags
}

/// Returns the text that Android tells accessibility: an empty field reports its hint, and a password is bullets.
pub fn shown_text(widget: &Widget) -> String {
    if widget.text.is_empty() {
        widget.hint.clone()
    } else if widget.flags.password {
        "•".repeat(widget.text.chars().count())
    } else {
        widget.text.clone()
    }
}

/// Returns true for a clickable widget without any text or description in it ("not accessibility friendly").
fn is_naf(widget: &Widget) -> bool {
    let silent = |w: &Widget| w.description.is_empty() && shown_text(w).is_empty();
    widget.flags.clickable && !widget.flags.disabled && widget.find(&|w| !silent(w)).is_none()
}

/// Writes an attribute as the platform's serializer does: in single quotes if the value has double ones, and
/// characters above U+FFFF by number. Characters that XML cannot hold become dots.
pub fn attribute(out: &mut String, name: &str, value: &str) {
    let quote = if value.contains('"') { '\'' } else { '"' };
    let _ = write!(out, " {name}={quote}");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' if quote == '\'' => out.push_str("&apos;"),
            '\n' | '\r' | '\t' | '\u{10000}'.. => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\0'..=' ' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fdd0}'..='\u{fddf}' if c != ' ' => {
                out.push('.');
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &str) -> String {
        let mut out = String::new();
        attribute(&mut out, "text", value);
        out
    }

    #[test]
    fn quotes_and_strange_characters() {
        assert_eq!(written("it's"), " text=\"it's\"");
        assert_eq!(written("it's \"x\""), " text='it&apos;s \"x\"'");
        assert_eq!(
            written("<&>\n\t🔥é\u{7}\u{84}\u{85}"),
            " text=\"&lt;&amp;&gt;&#10;&#9;&#128293;é..\u{85}\""
        );
    }

    /// Values of real dumps are the same after they were read and written again.
    #[test]
    #[expect(clippy::print_stdout, reason = "the figures are of interest")]
    fn escaping_is_that_of_real_dumps() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/android-ui");
        let Ok(entries) = std::fs::read_dir(&folder) else {
            crate::recorded::report_missing("real dumps in android-ui");
            return;
        };
        let prolog = format!("{HEADER}<hierarchy");
        let (mut dumps, mut values, mut escaped) = (0, 0, 0);
        for path in entries.flatten().map(|e| e.path()) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if !text.starts_with(&prolog) {
                continue;
            }
            dumps += 1;
            for (raw, quote) in raw_values(&text[prolog.len()..]) {
                let meant = quick_xml::escape::unescape(raw).map(std::borrow::Cow::into_owned);
                let again = written(&meant.unwrap_or_default());
                assert_eq!(again, format!(" text={quote}{raw}{quote}"), "{}", path.display());
                values += 1;
                escaped += usize::from(raw.contains('&') || quote == '\'');
            }
        }
        println!(
            "{dumps} real dumps, {values} values, {escaped} of them with escapes or other quotes: all the same"
        );
        assert!(dumps > 30 && escaped > 100, "{dumps} {escaped}");
    }

    /// Returns the raw value of every attribute, and its quote.
    fn raw_values(text: &str) -> Vec<(&str, char)> {
        let mut found = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('=') {
            rest = &rest[at + 1..];
            let Some(quote @ ('"' | '\'')) = rest.chars().next() else { continue };
            let Some(end) = rest[1..].find(quote) else { break };
            found.push((&rest[1..=end], quote));
            rest = &rest[end + 2..];
        }
        found
    }
}
