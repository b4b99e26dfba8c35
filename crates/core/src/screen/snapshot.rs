//! One capture of a screen, with a list of the defects found while reading it.

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

/// The focused app and its screen at the time of the capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Screen {
    /// The package on Android, the bundle id on iOS.
    pub app: String,
    /// The platform's full name of the screen: the activity's class on Android, `None` on iOS.
    pub name: Option<String>,
}

impl Screen {
    /// The last part of the screen's name, or the app if the screen has no name.
    pub fn short_name(&self) -> &str {
        self.name.as_deref().and_then(|name| name.rsplit('.').next()).unwrap_or(&self.app)
    }

    /// Writes `app/.Screen`; the full name if it does not begin with the app's; the app alone if there is no name.
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

/// The name of the screen behind which a locked phone hides everything.
pub const LOCK_SCREEN: &str = "LockScreen";

/// A part of the platform's answer that could not be read; the rest was kept (SE-07).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    pub kind: DefectKind,
    /// Byte offset in the platform's answer.
    pub offset: usize,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefectKind {
    /// The answer ended early: elements after that point are missing.
    Truncated,
    /// The answer exceeds a limit on elements, levels or bytes: the rest was left out.
    LimitReached,
    BadUtf8,
    BadAttribute,
    BadMarkup,
    /// A part of the screen of which this way of reading tells nothing, such as a web page. All that is told was read.
    Untold,
}

impl DefectKind {
    /// True if elements are missing because of it. A snapshot with such a defect cannot prove absence.
    pub fn loses_elements(self) -> bool {
        matches!(self, DefectKind::Truncated | DefectKind::LimitReached | DefectKind::BadMarkup)
    }
}

/// Limits for reading a device's answer. The largest real ones are about 1 MB and 2,000 elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes_max: usize,
    pub elements_max: usize,
    /// Deeper elements are left out, or become children of the deepest one allowed.
    pub depth_max: usize,
    /// Limit for one attribute's value.
    pub value_bytes_max: usize,
    /// Exceeded only by the first defects that report missing elements.
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

/// Elements allowed in an input of any size.
const ELEMENTS_ALLOWED_ALWAYS: usize = 20_000;

/// Bytes of input required for each further element. Real elements take about 300; an empty element is forty times as
/// large in memory as on the wire.
const BYTES_PER_ELEMENT: usize = 128;

impl Limits {
    /// Returns the element limit for an input of `bytes`: reading it takes at most 8 MiB plus four times the input.
    pub fn elements_max_for(&self, bytes: usize) -> usize {
        self.elements_max.min(ELEMENTS_ALLOWED_ALWAYS + bytes / BYTES_PER_ELEMENT)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub platform: Platform,
    /// The elements in document order; see [`Element`].
    pub elements: Vec<Element>,
    /// The screen's size in the current rotation, with an override size applied.
    pub size: Size,
    /// Quarter turns from the device's natural orientation.
    pub rotation: u8,
    pub screen: Option<Screen>,
    pub defects: Vec<Defect>,
}

impl Snapshot {
    /// True if no element of the screen is missing.
    pub fn is_whole(&self) -> bool {
        !self.defects.iter().any(|d| d.kind.loses_elements())
    }

    /// Says of which part of the screen nothing was told, if there is one.
    pub fn untold(&self) -> Option<&str> {
        let untold = self.defects.iter().find(|defect| defect.kind == DefectKind::Untold);
        untold.map(|defect| defect.detail.as_str())
    }

    /// True if there may be more on the screen than is in it.
    pub fn is_partial(&self) -> bool {
        !self.is_whole() || self.untold().is_some()
    }

    /// True for an application of iOS with nothing in it, which is all that accessibility tells for a while after a boot.
    pub fn is_bare(&self) -> bool {
        self.platform == Platform::Ios && self.elements.len() == 1
    }

    /// True if what is not in it is not on the screen (W10). A tree without a single element was read between two
    /// windows and proves nothing.
    pub fn proves_absence(&self) -> bool {
        !self.is_partial() && !self.elements.is_empty() && !self.is_bare()
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
            // The index always grows, so a driver that broke the order cannot cause an endless loop.
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
    fn children_and_roots_are_in_document_order() {
        let elements =
            vec![node(None, 4), node(Some(0), 3), node(Some(1), 3), node(Some(0), 4), node(None, 5)];
        let snapshot = Snapshot { elements, ..Snapshot::default() };
        assert_eq!(snapshot.children(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(snapshot.children(2).count(), 0);
        assert_eq!(snapshot.roots().collect::<Vec<_>>(), [0, 4]);
    }

    #[test]
    fn component_is_short_only_inside_the_package() {
        let screen = |activity: &str| Screen { app: "a.b".into(), name: Some(activity.into()) };
        assert_eq!(screen("a.b.ui.Main").component(), "a.b/.ui.Main");
        assert_eq!(screen("a.bc.Main").component(), "a.b/a.bc.Main");
        assert_eq!(screen("a.b.ui.Main").short_name(), "Main");
    }
}
