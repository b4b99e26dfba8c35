//! Finds the text next to a control that names it.

use crate::meaning::semantics::{id_contains_word, is_toggle};
use crate::meaning::value;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;

use super::own_words;

/// A text that names the control next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SiblingText<'a> {
    pub(crate) text: &'a str,
    /// Index of the text's element.
    pub(crate) index: u32,
    /// False for a text that only lies above the control: it may be a title or a message of its own (F87).
    pub(crate) sure: bool,
}

/// Wrappers around a control that are passed on the way to its row.
const WRAPPERS_MAX: usize = 6;
/// Siblings before a control that are asked for its label.
const SIBLINGS_BEFORE_MAX: usize = 6;
/// Siblings after a control that are asked for its label.
const SIBLINGS_AFTER_MAX: usize = 2;
/// A larger group of texts is an independent part of the screen.
const GROUP_ELEMENTS_MAX: usize = 12;

/// Finds the text left of, above or on a control, or right of a toggle. A text that is nearer to another control is not
/// used.
pub(crate) fn sibling(snapshot: &Snapshot, index: usize) -> Option<SiblingText<'_>> {
    let element = snapshot.elements.get(index)?;
    match element.role {
        Role::Button if element.is_tappable() => caption(snapshot, index),
        role if is_often_named_by_sibling(role) => any_sibling(snapshot, index),
        _ => None,
    }
}

/// Finds the only text below or on a button whose parent holds no other control.
fn caption(snapshot: &Snapshot, index: usize) -> Option<SiblingText<'_>> {
    let element = &snapshot.elements[index];
    let mut found: Option<SiblingText<'_>> = None;
    for (count, sibling) in snapshot.children(element.parent? as usize).enumerate() {
        if sibling == index {
            continue;
        }
        if count > CAPTION_SIBLINGS_MAX || has_control(snapshot, sibling) {
            return None;
        }
        let Some(text) = text_of(snapshot, sibling, false) else { continue };
        let bounds = snapshot.elements[sibling].bounds;
        let gap = bounds.top.saturating_sub(element.bounds.bottom);
        let middle = bounds.center().x;
        let below = gap >= -slack(element.bounds.height())
            && gap <= bounds.height()
            && middle > element.bounds.left
            && middle < element.bounds.right;
        let names = (below || is_on(bounds, element.bounds)) && value::read(text.text).is_none();
        if found.is_some() || !names {
            return None;
        }
        found = Some(text);
    }
    found
}

/// Siblings beside a caption; among more it captions nothing.
const CAPTION_SIBLINGS_MAX: usize = 6;

/// Like [`sibling`], but for an element of any role.
pub(crate) fn any_sibling(snapshot: &Snapshot, index: usize) -> Option<SiblingText<'_>> {
    let element = snapshot.elements.get(index).filter(|element| !element.bounds.is_empty())?;
    let mut branch = index;
    for _ in 0..WRAPPERS_MAX {
        let parent = snapshot.elements[branch].parent? as usize;
        let container = snapshot.elements.get(parent)?;
        let mut alone = true;
        if let Some(found) = before(snapshot, element, branch, &mut alone) {
            return Some(found);
        }
        if let Some(found) = after(snapshot, element, branch, &mut alone) {
            return Some(found);
        }
        if !alone || container.affordances.scrollable || matches!(container.role, Role::List | Role::WebView)
        {
            return None;
        }
        branch = parent;
    }
    None
}

/// True for controls that are often named by a separate text.
fn is_often_named_by_sibling(role: Role) -> bool {
    is_toggle(role)
        || matches!(role, Role::TextField | Role::Slider | Role::Stepper | Role::Picker | Role::Dropdown)
}

fn before<'a>(
    snapshot: &'a Snapshot,
    element: &Element,
    branch: usize,
    alone: &mut bool,
) -> Option<SiblingText<'a>> {
    let (mut line_taken, mut column_taken) = (false, false);
    let mut current = branch;
    let mut best: Option<(i32, SiblingText<'a>)> = None;
    for _ in 0..SIBLINGS_BEFORE_MAX {
        let Some(sibling) = previous(snapshot, current) else { break };
        current = sibling;
        let bounds = snapshot.elements[sibling].bounds;
        let Some(text) = text_of(snapshot, sibling, is_toggle(element.role)) else {
            if has_control(snapshot, sibling) && !is_inside(bounds, element) {
                *alone = false;
                line_taken |= on_one_line(bounds, element.bounds);
                column_taken |= !on_one_line(bounds, element.bounds);
            }
            continue;
        };
        if value::read(text.text).is_some() {
            continue;
        }
        *alone = false;
        let Some(place) = place(bounds, element) else { continue };
        let taken = match place {
            Place::On => false,
            Place::Left | Place::Right => {
                line_taken || is_nearer_to_checkbox(snapshot, sibling, element.bounds)
            }
            Place::Above => line_taken || column_taken,
        };
        let distance = place.distance(bounds, element.bounds);
        // The nearest text on the same line wins, then the nearest above.
        if !taken && best.is_none_or(|(least, _)| distance < least) {
            let sure = place != Place::Above || is_surely_name(snapshot, element, branch, sibling, text.text);
            best = Some((distance, SiblingText { sure, ..text }));
        }
    }
    best.map(|(_, text)| text)
}

/// True if a text above a control is surely its name: it ends like one, the developer called the control the same, the
/// two are a group of their own, or the group is a form, in which a text stands directly above each of at least two
/// controls.
fn is_surely_name(snapshot: &Snapshot, element: &Element, branch: usize, text: usize, words: &str) -> bool {
    const WORD_BYTES_MIN: usize = 3;
    let parts = || words.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= WORD_BYTES_MIN);
    let same_id = parts().next().is_some() && parts().all(|word| id_contains_word(element, &[word]));
    if same_id || words.ends_with([':', '：', '*']) {
        return true;
    }
    let Some(parent) = snapshot.elements[branch].parent.map(|parent| parent as usize) else { return false };
    let (mut controls, mut named, mut others) = (0, 0, 0);
    let mut after_text = false;
    for child in snapshot.children(parent).take(FORM_CHILDREN_MAX) {
        if has_control(snapshot, child) {
            let is_button = snapshot.elements[child].role == Role::Button;
            // A text above a button that says itself what it does proves no form: it may be a status line (F87).
            let names_itself = is_button && has_words(snapshot, child);
            controls += usize::from(!names_itself && (!is_button || after_text));
            named += usize::from(!names_itself && after_text);
            others += usize::from(child != branch);
            after_text = false;
        } else if text_of(snapshot, child, false).is_some() {
            others += usize::from(child != text);
            after_text = true;
        }
    }
    let container = snapshot.elements[parent].bounds;
    let pair = snapshot.elements[branch].bounds.bottom.saturating_sub(snapshot.elements[text].bounds.top);
    let is_own_group = others == 0 && container.height() <= pair.saturating_mul(3) / 2;
    is_own_group || (named >= 2 && named == controls)
}

fn has_words(snapshot: &Snapshot, index: usize) -> bool {
    let end = (snapshot.elements[index].end as usize).clamp(index + 1, snapshot.elements.len());
    let inside = snapshot.elements.get(index..end.min(index + GROUP_ELEMENTS_MAX));
    inside.is_some_and(|inside| inside.iter().any(|element| own_words(element).is_some()))
}

/// Children of a form that are searched for its pattern.
const FORM_CHILDREN_MAX: usize = 32;

/// Finds the text after a toggle, or drawn over it. Other controls have their text before them.
fn after<'a>(
    snapshot: &'a Snapshot,
    element: &Element,
    branch: usize,
    alone: &mut bool,
) -> Option<SiblingText<'a>> {
    let mut current = branch;
    for _ in 0..SIBLINGS_AFTER_MAX {
        let sibling = next(snapshot, current)?;
        current = sibling;
        let bounds = snapshot.elements[sibling].bounds;
        let Some(text) = text_of(snapshot, sibling, is_toggle(element.role)) else {
            if has_control(snapshot, sibling) && !is_inside(bounds, element) {
                *alone = false;
                return None;
            }
            continue;
        };
        if value::read(text.text).is_some() {
            continue;
        }
        *alone = false;
        let gap = bounds.left.saturating_sub(element.bounds.right);
        let right = is_toggle(element.role)
            && on_one_line(bounds, element.bounds)
            && gap >= -slack(element.bounds.width())
            && gap <= element.bounds.height().saturating_mul(3);
        if is_toggle(element.role) && (right || is_on(bounds, element.bounds)) {
            let nearer = next(snapshot, sibling).is_some_and(|other| {
                let other = &snapshot.elements[other];
                let distance = other.bounds.left.saturating_sub(bounds.right);
                is_often_named_by_sibling(other.role)
                    && own_words(other).is_none()
                    && on_one_line(other.bounds, bounds)
                    && (0..gap).contains(&distance)
            });
            return (!nearer).then_some(text);
        }
    }
    None
}

/// Returns the words of a text, or of the first text in a group that holds only texts. Next to a toggle the text may be
/// `tappable` too: the title of a task opens it.
fn text_of(snapshot: &Snapshot, index: usize, tappable: bool) -> Option<SiblingText<'_>> {
    let element = &snapshot.elements[index];
    let found = |text, index| SiblingText { text, index: index as u32, sure: true };
    if tappable && element.role == Role::Button && element.class.ends_with("TextView") {
        return own_words(element).map(|text| found(text, index));
    }
    if is_operated(element) || speaks_of_itself(element) {
        return None;
    }
    if let Some(text) = own_words(element) {
        return (!is_punctuation(text)).then(|| found(text, index));
    }
    let end = element.end as usize;
    if end <= index + 1 || end - index > GROUP_ELEMENTS_MAX {
        return None;
    }
    let inner = snapshot.elements.get(index + 1..end)?;
    if inner.iter().any(is_operated) {
        return None;
    }
    let words = |inner: &&Element| own_words(inner).is_some_and(|words| !is_punctuation(words));
    let first = inner.iter().position(|inner| !speaks_of_itself(inner) && words(&inner))?;
    own_words(&inner[first]).map(|text| found(text, index + 1 + first))
}

/// True for what has a description of its own, which says nothing about a control beside it.
fn speaks_of_itself(element: &Element) -> bool {
    matches!(element.role, Role::Image | Role::Progress)
}

/// True for a colon between hours and minutes, and other marks that name nothing.
fn is_punctuation(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_punctuation() || c.is_whitespace())
}

fn is_operated(element: &Element) -> bool {
    element.is_tappable() || element.role.is_control() || element.affordances.scrollable
}

/// True if the element holds a control that could own a text, or is too large to tell.
fn has_control(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    let end = (element.end as usize).clamp(index + 1, snapshot.elements.len());
    if end - index > GROUP_ELEMENTS_MAX {
        return true;
    }
    snapshot.elements.get(index..end).is_some_and(|inner| inner.iter().any(is_operated))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    On,
    Left,
    /// Used in right-to-left layouts.
    Right,
    Above,
}

impl Place {
    /// Ranks a text: smaller is better, and every text on the same line is better than one above.
    fn distance(self, text: Rect, control: Rect) -> i32 {
        const LINE_ABOVE: i32 = 1 << 24;
        match self {
            Place::On => 0,
            Place::Left => control.left.saturating_sub(text.right).max(0),
            Place::Right => text.left.saturating_sub(control.right).max(0),
            Place::Above => LINE_ABOVE
                .saturating_add(control.top.saturating_sub(text.bottom).max(0).saturating_mul(64))
                .saturating_add(text.left.saturating_sub(control.left).max(0) / 16),
        }
    }
}

fn place(text: Rect, element: &Element) -> Option<Place> {
    let control = element.bounds;
    if text.is_empty() {
        return None;
    }
    if is_on(text, control) {
        return is_toggle(element.role).then_some(Place::On);
    }
    if on_one_line(text, control) {
        if text.right <= control.left.saturating_add(slack(control.width())) {
            return Some(Place::Left);
        }
        return (text.left >= control.right.saturating_sub(slack(control.width()))).then_some(Place::Right);
    }
    let gap = control.top.saturating_sub(text.bottom);
    let above = gap >= -slack(control.height()) && gap <= text.height();
    let overlaps = text.left < control.right && control.left < text.right;
    (above && overlaps && !is_toggle(element.role)).then_some(Place::Above)
}

/// The overlap that is allowed, because bounds of neighbours often overlap by their padding.
fn slack(length: i32) -> i32 {
    length / 4
}

fn is_on(text: Rect, control: Rect) -> bool {
    text.intersection(control) == Some(text)
}

/// True for a button inside a field, such as "show password" or "clear"; it is part of the field.
fn is_inside(other: Rect, element: &Element) -> bool {
    !is_toggle(element.role) && is_on(other, element.bounds)
}

fn on_one_line(a: Rect, b: Rect) -> bool {
    let common = a.bottom.min(b.bottom).saturating_sub(a.top.max(b.top));
    common > 0 && common.saturating_mul(2) >= a.height().min(b.height())
}

/// True if a check box before the text is nearer to it than the control after it.
fn is_nearer_to_checkbox(snapshot: &Snapshot, text: usize, control: Rect) -> bool {
    let bounds = snapshot.elements[text].bounds;
    previous(snapshot, text).is_some_and(|other| {
        let other = &snapshot.elements[other];
        let distance = bounds.left.saturating_sub(other.bounds.right);
        matches!(other.role, Role::Checkbox | Role::Radio)
            && own_words(other).is_none()
            && on_one_line(other.bounds, bounds)
            && distance >= 0
            && distance < control.left.saturating_sub(bounds.right)
    })
}

fn previous(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let parent = snapshot.elements.get(index)?.parent?;
    let mut current = index.checked_sub(1).filter(|&before| before > parent as usize)?;
    // The index falls with each step, so a broken tree cannot cause an endless loop.
    loop {
        let above = snapshot.elements[current].parent?;
        if above == parent {
            return Some(current);
        }
        current = (above as usize).min(current.checked_sub(1)?);
        if current <= parent as usize {
            return None;
        }
    }
}

fn next(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let element = snapshot.elements.get(index)?;
    let parent = snapshot.elements.get(element.parent? as usize)?;
    let next = (element.end as usize).max(index + 1);
    (next < parent.end as usize && next < snapshot.elements.len()).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::super::{LabelSource, label};
    use crate::meaning::sketch::sketch;

    /// Returns the label of the element at `index`, and its source.
    fn label_at(text: &str, index: usize) -> Option<(String, LabelSource)> {
        label(&sketch(text), index).map(|label| (label.text.into_owned(), label.source))
    }

    fn from_sibling(words: &str) -> Option<(String, LabelSource)> {
        Some((words.into(), LabelSource::Sibling))
    }

    #[test]
    fn a_switch_is_named_from_the_left_and_a_check_box_from_the_right() {
        let switch = r#"
            LinearLayout [48,1374][1080,1542]
              LinearLayout [48,1401][913,1515]
                TextView [48,1401][400,1450] text:"Reader Mode"
                TextView [48,1460][800,1515] text:"Shows less"
              Switch [897,1409][1080,1506] click check=off text:"OFF"
        "#;
        assert_eq!(label_at(switch, 4), from_sibling("Reader Mode"));
        assert_eq!(label(&sketch(switch), 4).unwrap().from, Some(2));
        let checkbox = r#"
            LinearLayout [50,2072][164,2219]
              CheckBox [50,2122][97,2169] click check=off
              TextView [118,2120][164,2171] text:"All"
        "#;
        assert_eq!(label_at(checkbox, 1), from_sibling("All"));
    }

    #[test]
    fn a_switch_is_named_through_a_wrapper_or_by_a_text_over_it() {
        let wrapped = r#"
            LinearLayout [0,558][1080,720]
              TextView [40,600][700,680] text:"Set time automatically"
              LinearLayout [838,558][1036,720]
                Switch [882,573][1036,705] check=on
        "#;
        assert_eq!(label_at(wrapped, 3), from_sibling("Set time automatically"));
        let under = r#"
            android.view.ViewGroup [0,603][1080,819]
              Switch [24,603][1056,819] click check=off text:"OFF"
              TextView [24,665][540,758] text:"Specify time"
        "#;
        assert_eq!(label_at(under, 1), from_sibling("Specify time"));
    }

    #[test]
    fn in_right_to_left_layouts_the_text_is_on_the_right() {
        let text = r#"
            LinearLayout [0,0][1080,100]
              TextView [500,0][1040,100] text:"وضع الطيران"
              Switch [40,10][180,90] click check=off
        "#;
        assert_eq!(label_at(text, 2), from_sibling("وضع الطيران"));
    }

    #[test]
    fn a_field_without_hint_is_named_by_the_text_above() {
        let form = |gap: i32, hint: &str| {
            let (top, bottom) = (160 + gap, 260 + gap);
            format!(
                r#"
            LinearLayout [0,0][1080,800]
              TextView [40,100][400,160] text:"Email"
              EditText [40,{top}][1040,{bottom}] click {hint}
        "#
            )
        };
        assert_eq!(label_at(&form(10, ""), 2), from_sibling("Email"));
        assert_eq!(label_at(&form(10, "hint:\"Address\""), 2), Some(("Address".into(), LabelSource::Hint)));
        assert_eq!(label_at(&form(50, ""), 2), from_sibling("Email"));
        assert_eq!(label_at(&form(90, ""), 2), None, "a title further up");
    }

    #[test]
    fn a_field_is_named_through_many_wrappers_and_past_its_icon() {
        let text = r#"
            android.view.ViewGroup [0,0][1080,800]
              TextView [44,561][209,605] text:"Password"
              TextView [231,561][317,605] text:"(Mandatory)"
              FrameLayout [44,627][1036,814]
                android.view.ViewGroup [44,627][1036,768]
                  LinearLayout [44,627][1036,768]
                    FrameLayout [44,627][1036,768]
                      EditText [44,627][1036,768] click password text:"secret"
                      LinearLayout [893,627][1036,768]
                        ImageButton [904,631][1036,763] click desc:"Show password"
        "#;
        assert_eq!(label_at(text, 7), from_sibling("Password"));
    }

    #[test]
    fn a_text_belongs_to_the_nearer_control() {
        let text = r#"
            LinearLayout [0,0][1080,400]
              TextView [40,0][400,60] text:"First"
              EditText [40,70][1040,150] click
              EditText [40,160][1040,240] click
              TextView [40,250][400,300] text:"Notify"
              Switch [900,250][1000,300] click check=on
              Spinner [40,310][1040,390] click
        "#;
        assert_eq!(label_at(text, 2), from_sibling("First"));
        assert_eq!(label_at(text, 3), None);
        assert_eq!(label_at(text, 5), from_sibling("Notify"));
        assert_eq!(label_at(text, 6), None);
        let between = r#"
            LinearLayout [0,0][1080,100]
              CheckBox [0,10][80,90] click check=on
              TextView [90,10][400,90] text:"Mail"
              Switch [900,10][1000,90] click check=off
        "#;
        assert_eq!(label_at(between, 1), from_sibling("Mail"));
        assert_eq!(label_at(between, 3), None);
    }

    #[test]
    fn values_images_and_buttons_name_no_control() {
        let text = r#"
            LinearLayout [0,0][1080,200]
              ImageView [0,50][90,150] desc:"Privacy grade"
              Button [90,50][200,150] click text:"Menu"
              EditText [210,50][900,150] click
        "#;
        assert_eq!(label_at(text, 3), None);
        let value = r#"
            LinearLayout [0,0][1080,200]
              TextView [900,0][1000,50] text:"40%"
              SeekBar [40,60][1040,140] focusable
        "#;
        assert_eq!(label_at(value, 2), None);
        // Found on the framework phone: a slider took the name of the bar before it, a wheel the colon of a time.
        let bar = r#"
            LinearLayout [0,0][1080,200]
              ProgressBar [40,0][1040,50] desc:"Upload"
              SeekBar [40,60][1040,140] focusable
        "#;
        assert_eq!(label_at(bar, 2), None);
        let colon = r#"
            LinearLayout [0,0][1080,400]
              TextView [300,150][340,250] text:":"
              NumberPicker [350,0][600,400] scroll
        "#;
        assert_eq!(label_at(colon, 2), None);
    }

    #[test]
    fn a_button_is_named_by_a_caption_that_no_other_button_shares() {
        let icon = r#"
            LinearLayout [28,250][180,429]
              ImageView [40,250][167,377] click
              TextView [28,386][180,429] text:"Categories"
        "#;
        assert_eq!(label_at(icon, 1), from_sibling("Categories"));
        let toolbar = r#"
            LinearLayout [0,0][1080,150]
              ImageView [0,0][150,150] click
              TextView [160,20][800,130] text:"Settings"
        "#;
        assert_eq!(label_at(toolbar, 1), None, "a title is not below the arrow");
        let row = r#"
            LinearLayout [0,0][1080,150]
              ImageView [0,0][150,100] click
              TextView [0,100][150,150] text:"Topic"
              ImageView [900,0][1050,100] click
        "#;
        assert_eq!(label_at(row, 1), None, "two buttons share the text");
    }

    #[test]
    fn a_status_line_above_a_field_is_not_surely_its_name() {
        // F87: texts above buttons that name themselves do not make a form.
        let page = |first: &str| {
            format!(
                r#"
            LinearLayout [0,0][1080,800]
              TextView [40,0][1040,80] text:"Connected"
              EditText [40,90][1040,190] click
              TextView [40,300][1040,380] text:"Prairie total: 0"
              {first}
              TextView [40,500][1040,580] text:"Falcon total: 0"
              Button [40,590][1040,690] click text:"Falcon"
        "#
            )
        };
        let sure = |text: &str| label(&sketch(text), 2).map(|label| label.sure);
        assert_eq!(sure(&page(r#"Button [40,390][1040,490] click text:"Prairie""#)), Some(false));
        assert_eq!(sure(&page("EditText [40,390][1040,490] click")), Some(true), "a form");
    }

    #[test]
    fn ios_fields_and_sliders_are_named_by_a_sibling() {
        let text = r#"
            XCUIElementType.Cell [0,0][390,44] role:Row
              XCUIElementType.StaticText [16,10][120,34] role:Text desc:"Name"
              XCUIElementType.TextField [130,10][380,34] role:TextField value:"Ada"
        "#;
        assert_eq!(label_at(text, 2), from_sibling("Name"));
        let slider = r#"
            XCUIElementType.Other [0,0][390,100] role:Container
              XCUIElementType.StaticText [16,10][200,34] role:Text desc:"Text size"
              XCUIElementType.Slider [16,40][370,70] role:Slider adjustable value:"50%"
        "#;
        assert_eq!(label_at(slider, 2), from_sibling("Text size"));
    }
}
