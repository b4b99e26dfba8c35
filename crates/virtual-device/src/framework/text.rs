//! Texts of the framework phone that are put into Android's forms.

use bytes::Bytes;

use crate::app::geometry::Screen;
use crate::app::{launcher, xml};

/// Writes `.Main` for a class in the app's own package.
pub fn short(package: &str, class: &str) -> String {
    match class.strip_prefix(package).filter(|rest| !package.is_empty() && rest.starts_with('.')) {
        Some(rest) => rest.to_owned(),
        None => class.to_owned(),
    }
}

/// Divides a stack trace into the exception and its frames. Causes stay behind the last frame, as Android prints them.
pub fn parts_of_trace(trace: &str) -> (String, Vec<String>) {
    let mut lines = trace.lines();
    let exception = lines.next().unwrap_or_default().to_owned();
    let mut frames: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("\tat "), frames.last_mut()) {
            (Some(frame), _) => frames.push(frame.to_owned()),
            (None, Some(last)) => {
                last.push('\n');
                last.push_str(line);
            }
            (None, None) => {}
        }
    }
    (exception, frames)
}

/// The home screen, of which this phone has only the window.
pub fn empty_home(screen: &Screen) -> Bytes {
    let mut out = String::from(xml::HEADER);
    out.push_str(&format!("<hierarchy rotation=\"{}\"><node index=\"0\"", screen.rotation));
    for (name, value) in [
        ("text", ""),
        ("resource-id", ""),
        ("class", "android.widget.FrameLayout"),
        ("package", launcher::PACKAGE),
        ("content-desc", ""),
    ] {
        xml::attribute(&mut out, name, value);
    }
    for name in ["checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long-clickable"]
    {
        out.push_str(&format!(" {name}=\"false\""));
    }
    out.push_str(&format!(
        " enabled=\"true\" password=\"false\" selected=\"false\" bounds=\"[0,0][{},{}]\" /></hierarchy>",
        screen.width, screen.height
    ));
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_keeps_its_frames_and_causes() {
        let trace = "java.lang.RuntimeException: no\n\tat a.B.c(B.java:1)\n\tat d.E.f(E.java:2)\n\
            Caused by: x.Y: z\n\tat g.H.i(H.java:3)";
        let (exception, frames) = parts_of_trace(trace);
        assert_eq!(exception, "java.lang.RuntimeException: no");
        assert_eq!(frames, ["a.B.c(B.java:1)", "d.E.f(E.java:2)\nCaused by: x.Y: z", "g.H.i(H.java:3)"]);
    }

    #[test]
    fn classes_of_the_app_are_written_short() {
        assert_eq!(short("a.b", "a.b.c.Main"), ".c.Main");
        assert_eq!(short("a.b", "a.bc.Main"), "a.bc.Main");
    }
}
