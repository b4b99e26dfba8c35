//! The tree as `uiautomator dump` writes it.

use std::fmt::Write as _;

use super::widget::Widget;

pub const HEADER: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>";

/// From this version on nodes carry `drawing-order` and `hint`.
const SDK_WITH_HINT: u32 = 33;
/// Classes that are never marked as "not accessibility friendly".
const NAF_EXCLUDED: [&str; 4] = [
    "android.widget.GridView",
    "android.widget.GridLayout",
    "android.widget.ListView",
    "android.widget.TableLayout",
];

/// `package` is that of the app in front; a window that says whose it is knows better.
pub fn write(root: &Widget, package: &str, sdk: u32) -> String {
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(HEADER);
    let (package, rotation) = root.window.map_or((package, 0), |w| (w.package, w.rotation));
    let _ = write!(out, "<hierarchy rotation=\"{rotation}\">");
    node(&mut out, root, (0, 0), package, sdk);
    out.push_str("</hierarchy>");
    out
}

fn node(out: &mut String, widget: &Widget, (index, order): (usize, usize), package: &str, sdk: u32) {
    out.push_str("<node");
    if !NAF_EXCLUDED.contains(&widget.class) && is_naf(widget) {
        out.push_str(" NAF=\"true\"");
    }
    let _ = write!(out, " index=\"{index}\"");
    attribute(out, "text", &shown_text(widget));
    attribute(out, "resource-id", &widget.resource_id);
    attribute(out, "class", widget.class);
    attribute(out, "package", package);
    attribute(out, "content-desc", &widget.description);
    let flags = &widget.flags;
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
    let visible = || widget.children.iter().enumerate().filter(|(_, c)| !c.visible.is_empty());
    if visible().next().is_none() {
        out.push_str(" />");
        return;
    }
    out.push('>');
    for (index, child) in visible() {
        node(out, child, (index, index + 1), package, sdk);
    }
    out.push_str("</node>");
}

/// A field without text reports its hint as text, and a password is bullets: Android tells accessibility services
/// no more than that.
pub fn shown_text(widget: &Widget) -> String {
    if widget.text.is_empty() {
        widget.hint.clone()
    } else if widget.flags.password {
        "•".repeat(widget.text.chars().count())
    } else {
        widget.text.clone()
    }
}

/// Clickable, and nothing in it or below it says what it is for.
fn is_naf(widget: &Widget) -> bool {
    let silent = |w: &Widget| w.description.is_empty() && shown_text(w).is_empty();
    widget.flags.clickable && !widget.flags.disabled && widget.find(&|w| !silent(w)).is_none()
}

pub fn attribute(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " {name}=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c if (c as u32) < 0x20 => out.push('.'),
            c => out.push(c),
        }
    }
    out.push('"');
}
