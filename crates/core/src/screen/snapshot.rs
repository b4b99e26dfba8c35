//! One capture of a screen: immutable, and honest about what could not be read.

use crate::screen::element::Element;
use crate::screen::geometry::Size;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    #[default]
    Android,
    Ios,
}

impl Platform {
    pub fn as_str(self) -> &'static str {
        match self {
            Platform::Android => "android",
            Platform::Ios => "ios",
        }
    }
}

/// Which app, and which screen of it, had the focus when the capture was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Screen {
    /// The package on Android, the bundle id on iOS.
    pub app: String,
    /// The platform's full name of the screen where it has one: the activity's class on Android, nothing on iOS.
    pub name: Option<String>,
}

impl Screen {
    /// The last part of the screen's name; the app where screens have no names.
    pub fn short_name(&self) -> &str {
        self.name.as_deref().and_then(|name| name.rsplit('.').next()).unwrap_or(&self.app)
    }

    /// `app/.Screen`, or the whole name where it does not begin with the app's; the app alone without a name.
    pub fn component(&self) -> String {
        match self.name.as_deref() {
            None => self.app.clone(),
            Some(name) => match name.strip_prefix(&self.app) {
                Some(rest) if rest.starts_with('.') => format!("{}/{rest}", self.app),
                _ => format!("{}/{name}", self.app),
            },
        }
    }

    /// True if `name` is one of the ways to write this screen.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || self.short_name() == name || self.component() == name
    }
}

/// Something in the platform's answer that could not be read as it should; the rest was kept (SE-07).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    pub kind: DefectKind,
    /// Byte offset in the platform's answer.
    pub offset: usize,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefectKind {
    /// The answer ended in the middle: elements after that point are missing.
    Truncated,
    /// More elements, levels or bytes than the limits allow: the rest was left out.
    LimitReached,
    BadUtf8,
    BadAttribute,
    BadMarkup,
}

impl DefectKind {
    /// Whether elements are missing because of it. A snapshot with such a defect cannot prove absence.
    pub fn loses_elements(self) -> bool {
        matches!(self, DefectKind::Truncated | DefectKind::LimitReached | DefectKind::BadMarkup)
    }
}

/// What a device's answer may cost to read. The largest real ones are about 1 MB and 2,000 elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes_max: usize,
    pub elements_max: usize,
    /// Deeper elements are left out, or become children of the deepest one allowed.
    pub depth_max: usize,
    /// Of one attribute's value.
    pub value_bytes_max: usize,
    /// A few more are kept when they are the first to say that elements are missing.
    pub defects_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes_max: 32 << 20,
            elements_max: 50_000,
            depth_max: 512,
            value_bytes_max: 64 << 10,
            defects_max: 64,
        }
    }
}

/// Elements that an input of any size may have.
const ELEMENTS_ALWAYS: usize = 20_000;

/// Beyond those, an input has one for so many of its bytes at most. Real ones take 300; an element with nothing in it is
/// forty times as large in memory as on the wire.
const BYTES_FOR_AN_ELEMENT: usize = 128;

impl Limits {
    /// How many elements are read of so many bytes, so that reading takes at most four times their memory and 8 MiB.
    pub fn elements_of(&self, bytes: usize) -> usize {
        self.elements_max.min(ELEMENTS_ALWAYS + bytes / BYTES_FOR_AN_ELEMENT)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub platform: Platform,
    /// In document order; see [`Element`].
    pub elements: Vec<Element>,
    /// Of the screen, in the current rotation, with an override size applied.
    pub size: Size,
    /// Quarter turns from the device's natural orientation.
    pub rotation: u8,
    pub screen: Option<Screen>,
    pub defects: Vec<Defect>,
}

impl Snapshot {
    /// Whether every element of the screen is in it.
    pub fn is_whole(&self) -> bool {
        !self.defects.iter().any(|d| d.kind.loses_elements())
    }

    /// Indexes of the direct children of the element at `index`.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.elements[index].end as usize;
        self.siblings_from(index + 1, end)
    }

    /// Indexes of the elements without a parent.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.siblings_from(0, self.elements.len())
    }

    fn siblings_from(&self, first: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            let current = next;
            let element = self.elements.get(current).filter(|_| current < end)?;
            // A driver that broke the order cannot make this loop: it always moves on.
            next = (element.end as usize).max(current + 1);
            Some(current)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(parent: Option<u32>, end: u32) -> Element {
        Element { parent, end, ..Element::default() }
    }

    #[test]
    fn children_follow_document_order() {
        let elements =
            vec![node(None, 4), node(Some(0), 3), node(Some(1), 3), node(Some(0), 4), node(None, 5)];
        let snapshot = Snapshot { elements, ..Snapshot::default() };
        assert_eq!(snapshot.children(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(snapshot.children(2).count(), 0);
        assert_eq!(snapshot.roots().collect::<Vec<_>>(), [0, 4]);
    }

    #[test]
    fn component_uses_the_short_form_only_inside_the_package() {
        let screen = |activity: &str| Screen { app: "a.b".into(), name: Some(activity.into()) };
        assert_eq!(screen("a.b.ui.Main").component(), "a.b/.ui.Main");
        assert_eq!(screen("a.bc.Main").component(), "a.b/a.bc.Main");
        assert_eq!(screen("a.b.ui.Main").short_name(), "Main");
    }
}
