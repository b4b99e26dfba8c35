//! The tree, and actions on its elements.

use bytes::Bytes;
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use mdm_wire::idb::{
    AccessibilityActionRequest, AccessibilityActionResponse, AccessibilityInfoRequest,
    AccessibilityInfoResponse, ActionTarget, ElementAction, ElementScroll, ElementSetValue, ElementTap,
    Empty, HidEvent, Point, ScrollDirection, SearchableKey, TreeFormat,
};

use super::Idb;
use super::call::Method;

const INFO: Method = Method::read("accessibility_info", "read the screen");
const ACTION: Method = Method::act("accessibility_action", "act through accessibility");
/// How deep an element is looked for: idb's own limit of a tree.
const DEPTH: u32 = 50;

/// The element that an action through accessibility is for.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementTarget {
    /// The first whose text contains this one.
    Marker { text: String, key: SearchableKey },
    /// The innermost at a point of the screen as it is turned.
    At(Point),
}

impl Idb {
    /// Returns the tree of the app in front as JSON, in the best format that the companion has: `crate::tree` tells them
    /// apart. No keys means the companion's own choice.
    pub async fn tree(&self, keys: &[&str]) -> Result<Bytes, DeviceError> {
        if let Some(format) = self.link.tree_format() {
            return self.info(format, None, keys).await;
        }
        let mut was_refused = false;
        let mut format = TreeFormat::Complete;
        loop {
            let answer = self.info(format, None, keys).await;
            // A companion that does not know a format falls back to the flat one, or refuses.
            let refused = answer.as_ref().is_err_and(|error| error.kind == DeviceErrorKind::Rejected);
            let is_flat = answer.as_ref().is_ok_and(|json| json.first() != Some(&b'{'));
            let next = match format {
                TreeFormat::Complete if refused || is_flat => TreeFormat::Nested,
                TreeFormat::Nested if refused => TreeFormat::Legacy,
                _ => {
                    // A refusal may pass: the better format is asked for again, until one was answered at once.
                    if answer.is_ok() && !was_refused {
                        self.link.set_tree_format(format);
                    }
                    return answer;
                }
            };
            was_refused |= refused;
            format = next;
        }
    }

    /// Returns the element at a point of the screen as it is turned, as JSON.
    pub async fn element_at(&self, point: Point, keys: &[&str]) -> Result<Bytes, DeviceError> {
        self.info(TreeFormat::Legacy, Some(point), keys).await
    }

    async fn info(
        &self,
        format: TreeFormat,
        point: Option<Point>,
        keys: &[&str],
    ) -> Result<Bytes, DeviceError> {
        let request = AccessibilityInfoRequest {
            point,
            format: format.into(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            ..AccessibilityInfoRequest::default()
        };
        let answer: AccessibilityInfoResponse = self.ask(INFO, request).await?;
        Ok(Bytes::from(answer.json))
    }

    /// Activates an element, as VoiceOver does.
    pub async fn tap_element(&self, target: ElementTarget) -> Result<(), DeviceError> {
        self.act(target, ElementAction::Tap(ElementTap::default())).await
    }

    /// Sets the value of an element: any text for a field. Whether it took it must be looked at.
    pub async fn set_value(&self, target: ElementTarget, value: &str) -> Result<(), DeviceError> {
        self.act(target, ElementAction::SetValue(ElementSetValue { value: value.to_owned() })).await
    }

    pub async fn scroll_element(
        &self,
        target: ElementTarget,
        direction: ScrollDirection,
    ) -> Result<(), DeviceError> {
        self.act(target, ElementAction::Scroll(ElementScroll { direction: direction.into() })).await
    }

    /// Asks whether this companion acts on elements, by a request that names neither an element nor an action.
    pub async fn acts_on_elements(&self) -> Result<bool, DeviceError> {
        const PROBE: Method = Method::read("accessibility_action", "act through accessibility");
        let asked: Result<AccessibilityActionResponse, DeviceError> =
            self.ask(PROBE, AccessibilityActionRequest::default()).await;
        match asked {
            Err(error) if error.kind == DeviceErrorKind::NotSupported => Ok(false),
            Err(error) if error.kind == DeviceErrorKind::Rejected => Ok(true),
            asked => asked.map(|_| true),
        }
    }

    async fn act(&self, target: ElementTarget, action: ElementAction) -> Result<(), DeviceError> {
        let (target, key) = match target {
            ElementTarget::Marker { text, key } => (ActionTarget::Marker(text), key),
            ElementTarget::At(point) => (ActionTarget::Point(point), SearchableKey::Label),
        };
        let request = AccessibilityActionRequest {
            target: Some(target),
            match_key: key.into(),
            depth: DEPTH,
            ignore_case: false,
            action: Some(action),
        };
        let _: AccessibilityActionResponse = self.ask(ACTION, request).await?;
        Ok(())
    }

    /// Sends fingers, keys and buttons, in order; `events` makes them. The answer comes when the last is done.
    pub async fn hid(&self, events: Vec<HidEvent>) -> Result<(), DeviceError> {
        const HID: Method = Method::act_in_parts("hid", "touch the screen");
        let _: Empty = self.send(HID, futures_util::stream::iter(events)).await?;
        Ok(())
    }

    /// Types a text with the keys of a US keyboard. A text with other characters is refused before anything is sent.
    pub async fn type_keys(&self, text: &str) -> Result<(), DeviceError> {
        let events = super::events::text(text).ok_or_else(|| {
            DeviceError::new(
                DeviceErrorKind::TextNotTypeable,
                "the text has characters that a US keyboard does not have; set the field's value instead",
            )
            .with_dispatch(Dispatch::NotSent)
        })?;
        self.hid(events).await
    }
}
