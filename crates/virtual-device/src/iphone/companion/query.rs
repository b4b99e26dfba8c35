//! Which elements a call is about: all of them, the one at a point, or the first with a marker.

use mdm_wire::idb::{
    AccessibilityInfoRequest, AccessibilityInfoResponse, Point, SearchableKey, TreeFilter, TreeFormat,
};
use tonic::Status;

use super::calls::Answer;
use super::document::{ReadTarget, Writer};
use super::elements::{AxNode, AxTree};
use crate::iphone::IPhone;
use crate::iphone::element::UiElement;

pub async fn info(iphone: &IPhone, request: AccessibilityInfoRequest) -> Answer<AccessibilityInfoResponse> {
    let application = application(iphone)?;
    let mut tree = tree(iphone, &application);
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

/// The innermost element at a point, else the application.
pub fn at_point<'b, 'a>(tree: &'b AxTree<'a>, x: f64, y: f64) -> Answer<&'b AxNode<'a>> {
    hit(&tree.root, x, y).ok_or_else(no_translation)
}

fn hit<'b, 'a>(node: &'b AxNode<'a>, x: f64, y: f64) -> Option<&'b AxNode<'a>> {
    let frame = node.frame();
    let inside = x >= frame.x && y >= frame.y && x < frame.x + frame.width && y < frame.y + frame.height;
    let child = || node.children.iter().rev().find_map(|child| hit(child, x, y));
    if inside { child().or(Some(node)) } else { None }
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
