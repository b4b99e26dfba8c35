//! Which elements a call is about: all of them, the one at a point, or the first with a marker.

use mdm_wire::idb::{
    AccessibilityInfoRequest, AccessibilityInfoResponse, Point, SearchableKey, TreeFilter, TreeFormat,
};
use tokio::time::Duration;
use tonic::Status;

use super::calls::Answer;
use super::document::{ReadTarget, Writer};
use super::elements::{AxNode, AxTree};
use crate::config::DumpFault;
use crate::iphone::IPhone;
use crate::iphone::element::UiElement;

pub async fn info(iphone: &IPhone, request: AccessibilityInfoRequest) -> Answer<AccessibilityInfoResponse> {
    let whole = request.marker.is_empty() && request.point.is_none();
    let fault = if whole { slow_or_failing(iphone).await? } else { None };
    let application = application(iphone)?;
    let mut tree = tree(iphone, &application);
    let is_bare = !matches!(fault, None | Some(DumpFault::Slow(_)));
    if is_bare {
        tree = AxTree::only_application(&application);
    }
    if whole {
        let is_whole = !tree.root.children.is_empty()
            || application.children.iter().all(|window| window.children.is_empty());
        iphone.phone().with(|state| state.note_tree(is_whole && !is_bare));
    }
    let old = iphone.config().iphone_faults.old_companion;
    let format = TreeFormat::try_from(request.format).unwrap_or(TreeFormat::Legacy);
    let complete = format == TreeFormat::Complete && !old;
    let nested = format == TreeFormat::Nested;
    let Some(writer) = Writer::new(iphone, &request.keys, nested, complete) else {
        let message = format!("no recognized accessibility keys in {:?}", request.keys);
        return Err(Status::invalid_argument(message));
    };
    if request.filter == i32::from(TreeFilter::Interactable) && !old {
        tree.keep_interactable();
    }
    let json = if !request.marker.is_empty() && !old {
        let search = Search::new(&request.marker, request.match_key, request.depth, request.ignore_case)?;
        let found = search.find(&tree.root).ok_or_else(|| search.not_found())?;
        let target = ReadTarget::Marker { value: request.marker.clone(), key: search.key.name };
        let single = writer.single(Some(found));
        if complete {
            writer.document(&format!("[{single}]"), &tree, &target)
        } else {
            format!(r#"{{"elements":{single}}}"#)
        }
    } else if let Some(Point { x, y }) = request.point {
        let found = at_point(&tree, x, y)?;
        let single = writer.single(Some(found));
        if complete {
            writer.document(&format!("[{single}]"), &tree, &ReadTarget::Point { x, y })
        } else {
            single
        }
    } else if complete {
        writer.document(&writer.tree(&tree), &tree, &ReadTarget::Frontmost)
    } else {
        writer.tree(&tree)
    };
    Ok(AccessibilityInfoResponse { json })
}

/// Takes the time of a reading, and fails when the simulator's accessibility does.
async fn slow_or_failing(iphone: &IPhone) -> Answer<Option<DumpFault>> {
    let (fault, timing) = iphone.phone().with(|state| (state.next_dump_fault(), state.config.timing));
    let pause = match fault {
        Some(DumpFault::Slow(ms)) => Duration::from_millis(ms),
        Some(DumpFault::Killed | DumpFault::ErrorExitZero | DumpFault::NotIdle) => {
            return Err(no_translation());
        }
        _ => timing.companion_tree(),
    };
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    Ok(fault)
}

pub fn application(iphone: &IPhone) -> Answer<UiElement> {
    iphone.elements().ok_or_else(no_translation)
}

/// The tree of an app that is being opened, or that is stuck, has nothing but the application.
pub fn tree<'a>(iphone: &IPhone, application: &'a UiElement) -> AxTree<'a> {
    let empty = iphone.config().iphone_faults.one_element_tree;
    if empty || iphone.phone().with(|state| state.is_rootless()) {
        AxTree::only_application(application)
    } else {
        AxTree::new(application)
    }
}

/// The element at a point that lies on top, else the application. The app is asked where a touch would land, so what a
/// container clips is not found.
pub fn at_point<'b, 'a>(tree: &'b AxTree<'a>, x: f64, y: f64) -> Answer<&'b AxNode<'a>> {
    let (px, py) = super::hid::to_pixels(Point { x, y });
    let inside = |node: &AxNode<'_>| {
        let frame = node.frame();
        let unclipped = node.element.unclipped.is_none_or(|part| part.contains(px, py));
        let held = x >= frame.x && y >= frame.y && x < frame.x + frame.width && y < frame.y + frame.height;
        held && unclipped
    };
    if !inside(&tree.root) {
        return Err(no_translation());
    }
    let mut top = &tree.root;
    tree.root.walk(&mut |node| {
        // Among those of one height a later one lies over an earlier one, and a child over its parent.
        if inside(node) && node.element.drawn_at >= top.element.drawn_at {
            top = node;
        }
    });
    Ok(top)
}

fn no_translation() -> Status {
    Status::internal(
        "No translation object returned for simulator. This means you have likely specified a point onscreen that is \
         invalid or invisible due to a fullscreen dialog",
    )
}

/// What a marker is compared with.
pub struct SearchKey {
    pub name: &'static str,
    value: fn(&AxNode<'_>) -> Option<String>,
}

/// A search for the first element one of whose texts contains the marker.
pub struct Search {
    marker: String,
    pub key: SearchKey,
    depth: u32,
    ignore_case: bool,
}

impl Search {
    pub fn new(marker: &str, key: i32, depth: u32, ignore_case: bool) -> Answer<Search> {
        let key = SearchableKey::try_from(key)
            .map_err(|_| Status::invalid_argument("unrecognized accessibility key"))?;
        Ok(Search { marker: marker.to_owned(), key: search_key(key), depth, ignore_case })
    }

    pub fn find<'b, 'a>(&self, root: &'b AxNode<'a>) -> Option<&'b AxNode<'a>> {
        self.below(root, self.depth)
    }

    fn below<'b, 'a>(&self, node: &'b AxNode<'a>, depth: u32) -> Option<&'b AxNode<'a>> {
        if (self.key.value)(node).is_some_and(|value| self.matches(&value)) {
            return Some(node);
        }
        let depth = depth.checked_sub(1)?;
        node.children.iter().find_map(|child| self.below(child, depth))
    }

    fn matches(&self, value: &str) -> bool {
        if self.ignore_case {
            value.to_lowercase().contains(&self.marker.to_lowercase())
        } else {
            value.contains(&self.marker)
        }
    }

    pub fn not_found(&self) -> Status {
        Status::internal(format!(
            "Element with {} containing '{}' not found within depth {}",
            self.key.name, self.marker, self.depth
        ))
    }
}

pub fn search_key(key: SearchableKey) -> SearchKey {
    let of = |name, value| SearchKey { name, value };
    match key {
        SearchableKey::Label => of("AXLabel", |node| Some(node.label.clone())),
        SearchableKey::UniqueId => of("AXUniqueId", |node| Some(node.element.identifier.clone())),
        SearchableKey::Value => of("AXValue", |node| node.value()),
        SearchableKey::Title => of("title", |_| None),
        SearchableKey::Role => of("role", |node| Some(node.role.role.to_owned())),
        SearchableKey::RoleDescription => {
            of("role_description", |node| Some(node.role.description.to_owned()))
        }
        SearchableKey::Subrole => of("subrole", |node| node.role.subrole.map(str::to_owned)),
        SearchableKey::Help => of("help", |_| None),
        SearchableKey::Placeholder => of("placeholder", |node| Some(node.element.placeholder.clone())),
    }
}

impl SearchKey {
    pub fn read(&self, node: &AxNode<'_>) -> Option<String> {
        (self.value)(node)
    }
}
