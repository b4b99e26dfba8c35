//! Derives roles from class names, and from the surrounding elements where the class is generic.

use crate::meaning::label;
use crate::meaning::semantics::{self, ControlKind};
use crate::screen::element::{Affordances, Element, Role};
use crate::screen::snapshot::Snapshot;

/// Returns the role of an Android class name with its affordances.
///
/// The end of the last name part decides, because app and library classes are named after the class that they extend
/// (`AppCompatSpinner`, `TextInputEditText`).
pub fn from_android_class(class: &str, affordances: Affordances) -> Role {
    let name = last_part(class);
    let role = role_by_name(name);
    let operable = affordances.clickable || affordances.focusable;
    match role {
        // A read-only rating.
        Role::Slider if name.ends_with("RatingBar") && !operable => Role::Progress,
        Role::Text | Role::Unknown if affordances.checkable => Role::Checkbox,
        Role::Button if affordances.checkable && (name == "CompoundButton" || name.ends_with("Chip")) => {
            Role::Checkbox
        }
        Role::Text | Role::Image | Role::Container | Role::Unknown if affordances.clickable => Role::Button,
        _ => role,
    }
}

fn last_part(class: &str) -> &str {
    let cut = class.bytes().rposition(|byte| byte == b'.' || byte == b'$');
    cut.map_or(class, |cut| &class[cut + 1..])
}

/// Finds the role of a class name. The longest ending wins: `RadioButton` is not a `Button`, and a `Spinner` is a
/// drop-down, never a sign of loading (W12).
fn role_by_name(name: &str) -> Role {
    // Fast path: nine elements of ten have one of these names.
    match name {
        "View" => return Role::Unknown,
        "TextView" => return Role::Text,
        "ImageView" => return Role::Image,
        "FrameLayout" | "LinearLayout" | "RelativeLayout" | "ViewGroup" => return Role::Container,
        "Button" | "ImageButton" => return Role::Button,
        _ => {}
    }
    // Comparing the last byte first avoids most calls of `ends_with`.
    let last = name.as_bytes().last();
    let fits = |ending: &str| ending.as_bytes().last() == last && name.ends_with(ending);
    ENDINGS.iter().find(|(ending, _)| fits(ending)).map_or(Role::Unknown, |(_, role)| *role)
}

/// Name endings. A longer ending comes before the shorter one that it ends in.
const ENDINGS: [(&str, Role); 59] = [
    ("AutoCompleteTextView", Role::TextField),
    ("TextView", Role::Text),
    ("ImageView", Role::Image),
    ("RecyclerView", Role::List),
    ("ListView", Role::List),
    ("GridView", Role::List),
    ("WebView", Role::WebView),
    ("GeckoView", Role::WebView),
    ("TabView", Role::Tab),
    ("NavigationItemView", Role::Tab),
    ("NavigationBarItemView", Role::Tab),
    ("WheelView", Role::Picker),
    ("ModalHostView", Role::Dialog),
    ("ScrollView", Role::Container),
    ("CardView", Role::Container),
    ("ComposeView", Role::Container),
    ("View", Role::Unknown),
    ("TabLayout", Role::Container),
    ("Layout", Role::Container),
    ("LayoutCompat", Role::Container),
    ("ViewGroup", Role::Container),
    ("ViewPager", Role::Container),
    ("ViewPager2", Role::Container),
    ("ViewFlipper", Role::Container),
    ("ViewSwitcher", Role::Container),
    ("TextSwitcher", Role::Container),
    ("RadioGroup", Role::Container),
    ("TabWidget", Role::Container),
    ("Toolbar", Role::Container),
    ("DatePicker", Role::Container),
    ("TimePicker", Role::Container),
    ("FactoryHolder", Role::Container),
    ("RadioButton", Role::Radio),
    // The hours and minutes on the clock face of a time picker.
    ("RadialPickerTouchHelper", Role::Radio),
    ("ToggleButton", Role::Switch),
    ("Button", Role::Button),
    ("Chip", Role::Button),
    ("EditText", Role::TextField),
    ("TextField", Role::TextField),
    ("CheckBox", Role::Checkbox),
    ("Switch", Role::Switch),
    ("SwitchCompat", Role::Switch),
    ("SwitchMaterial", Role::Switch),
    ("SeekBar", Role::Slider),
    ("Slider", Role::Slider),
    ("RatingBar", Role::Slider),
    ("NumberPicker", Role::Stepper),
    ("Stepper", Role::Stepper),
    ("WheelPicker", Role::Picker),
    ("ReactPicker", Role::Dropdown),
    ("Spinner", Role::Dropdown),
    ("ProgressBar", Role::Progress),
    ("ProgressIndicator", Role::Progress),
    ("Dialog", Role::Dialog),
    ("Tab", Role::Tab),
    ("Image", Role::Image),
    ("TextClock", Role::Text),
    ("Chronometer", Role::Text),
    ("Key", Role::Key),
];

/// Ancestors that are searched for a web view.
const ANCESTORS_MAX: usize = 24;

/// Returns the role of an element. If its class is generic, the controls inside a tappable element decide, or its place
/// in a row of tabs, a list or a web page. A specific class decides alone (AC-08).
pub fn in_context(snapshot: &Snapshot, index: usize) -> Role {
    given_carrier(snapshot, index, carrier(snapshot, index))
}

fn given_carrier(snapshot: &Snapshot, index: usize, carrier: Option<usize>) -> Role {
    let Some(element) = snapshot.elements.get(index) else { return Role::Unknown };
    match element.role {
        Role::Button | Role::Checkbox if is_generic_class(&element.class) => {
            let inner = carrier.map(|carrier| snapshot.elements[carrier].role);
            let pressed = || is_pressed_button(snapshot, index).then_some(Role::Button);
            inner.or_else(pressed).unwrap_or_else(|| role_from_parent(snapshot, index, element))
        }
        Role::Container | Role::Unknown if element.state.selected == Some(true) => {
            if is_option(snapshot, element) { Role::Tab } else { element.role }
        }
        Role::Container | Role::Unknown | Role::Text => {
            role_from_platform_id(element).unwrap_or(element.role)
        }
        role => role,
    }
}

/// True for classes that frameworks use for everything that they draw themselves.
fn is_generic_class(class: &str) -> bool {
    matches!(role_by_name(last_part(class)), Role::Unknown | Role::Container | Role::Text | Role::Image)
}

/// True for a button that stays pressed: Compose writes it as a checkable element with a button inside.
fn is_pressed_button(snapshot: &Snapshot, index: usize) -> bool {
    snapshot.elements[index].role == Role::Checkbox
        && label::own_descendants(snapshot, index).any(|inner| snapshot.elements[inner].role == Role::Button)
}

/// Returns the non-tappable switch or check box that an element operates, which carries its role and state. Compose puts
/// the role of a control into a child without text, also of a control that takes no taps now (F33).
pub(crate) fn carrier(snapshot: &Snapshot, index: usize) -> Option<usize> {
    if !matches!(snapshot.elements.get(index)?.role, Role::Button | Role::Checkbox) {
        return None;
    }
    let mut controls = label::own_descendants(snapshot, index).filter(|&inner| {
        let role = snapshot.elements[inner].role;
        role.is_control() && role != Role::Button
    });
    let first = controls.next()?;
    controls.next().is_none().then_some(first)
}

/// Returns the role under which an outline shows an element, and by which a selector finds it (F21). What has no role
/// of its own is shown as what it does: it takes taps, scrolls, or shows words.
pub fn shown(snapshot: &Snapshot, index: usize) -> Role {
    shown_given_carrier(snapshot, index, carrier(snapshot, index))
}

pub(crate) fn shown_given_carrier(snapshot: &Snapshot, index: usize, carrier: Option<usize>) -> Role {
    let Some(element) = snapshot.elements.get(index) else { return Role::Unknown };
    if let Some(carrier) = carrier {
        return snapshot.elements[carrier].role;
    }
    match given_carrier(snapshot, index, None) {
        Role::Container | Role::Unknown if is_unnamed_slider(snapshot, index) => Role::Slider,
        Role::Container | Role::Unknown if element.affordances.clickable => Role::Button,
        Role::Container | Role::Unknown if element.affordances.scrollable => Role::Container,
        Role::Container | Role::Unknown
            if element.value.is_some() || label::label(snapshot, index).is_some() =>
        {
            Role::Text
        }
        Role::Unknown => Role::Container,
        role => role,
    }
}

/// True for a slider without a role, recognised only by its shape and value (AC-08).
pub(crate) fn is_unnamed_slider(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    let has_no_role =
        matches!(element.role, Role::Unknown | Role::Container) && element.affordances.focusable;
    let control = has_no_role.then(|| semantics::control(snapshot, index)).flatten();
    control.is_some_and(|control| matches!(control.kind, ControlKind::Slider | ControlKind::CustomAdjustable))
}

fn role_from_parent(snapshot: &Snapshot, index: usize, element: &Element) -> Role {
    if element.role != Role::Button {
        return element.role;
    }
    let Some(parent) = element.parent.and_then(|parent| snapshot.elements.get(parent as usize)) else {
        return element.role;
    };
    if is_option(snapshot, element) {
        return Role::Tab;
    }
    let has_children = element.end as usize > index + 1;
    if parent.role == Role::List && has_children {
        return Role::Row;
    }
    let plain = &*element.class == "android.view.View" && label::own_words(element).is_some();
    if plain && is_in_web_view(snapshot, element) { Role::Link } else { element.role }
}

fn is_option(snapshot: &Snapshot, element: &Element) -> bool {
    let control = element.parent.and_then(|parent| semantics::control(snapshot, parent as usize));
    control.is_some_and(|control| matches!(control.kind, ControlKind::TabRow | ControlKind::SegmentedControl))
}

fn is_in_web_view(snapshot: &Snapshot, element: &Element) -> bool {
    let mut above = element.parent;
    for _ in 0..ANCESTORS_MAX {
        let Some(parent) = above.and_then(|parent| snapshot.elements.get(parent as usize)) else {
            return false;
        };
        if parent.role == Role::WebView {
            return true;
        }
        above = parent.parent;
    }
    false
}

/// Returns the role of an identifier that Android's own layouts use.
fn role_from_platform_id(element: &Element) -> Option<Role> {
    let (_, name) = element.stable_id.as_deref()?.rsplit_once(":id/")?;
    match name {
        "parentPanel" | "parent_panel" => Some(Role::Dialog),
        "alertTitle" | "alert_title" | "action_bar_title" => Some(Role::Heading),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, expect: Role) {
        assert_eq!(from_android_class(class, Affordances::default()), expect, "{class}");
    }

    #[test]
    fn class_names_give_roles() {
        check("android.widget.Button", Role::Button);
        check("com.google.android.material.floatingactionbutton.FloatingActionButton", Role::Button);
        check("android.widget.ImageButton", Role::Button);
        check("android.widget.RadioButton", Role::Radio);
        check("android.widget.ToggleButton", Role::Switch);
        check("androidx.appcompat.widget.SwitchCompat", Role::Switch);
        check("com.google.android.material.materialswitch.MaterialSwitch", Role::Switch);
        check("com.google.android.material.textfield.TextInputEditText", Role::TextField);
        check("android.widget.MultiAutoCompleteTextView", Role::TextField);
        check("androidx.appcompat.widget.AppCompatTextView", Role::Text);
        check("android.widget.SeekBar", Role::Slider);
        check("android.widget.ProgressBar", Role::Progress);
        check("androidx.recyclerview.widget.RecyclerView", Role::List);
        check("android.widget.LinearLayout", Role::Container);
        check("android.webkit.WebView", Role::WebView);
        check("androidx.appcompat.app.ActionBar$Tab", Role::Tab);
        check("android.inputmethodservice.Keyboard$Key", Role::Key);
        check("android.app.AlertDialog", Role::Dialog);
        check("com.facebook.react.views.modal.ReactModalHostView", Role::Dialog);
        check("com.facebook.react.views.switchview.ReactSwitch", Role::Switch);
        check("com.facebook.react.views.view.ReactViewGroup", Role::Container);
        check("android.widget.TextSwitcher", Role::Container);
        check("android.widget.TimePicker", Role::Container);
        check("android.widget.NumberPicker", Role::Stepper);
        check("android.view.View", Role::Unknown);
        check("", Role::Unknown);
    }

    #[test]
    fn a_spinner_is_a_dropdown() {
        // W12
        check("android.widget.Spinner", Role::Dropdown);
        check("androidx.appcompat.widget.AppCompatSpinner", Role::Dropdown);
    }

    #[test]
    fn affordances_decide_for_generic_classes() {
        let clickable = Affordances { clickable: true, ..Affordances::default() };
        let checkable = Affordances { checkable: true, ..clickable };
        assert_eq!(from_android_class("android.view.View", clickable), Role::Button);
        assert_eq!(from_android_class("android.widget.TextView", clickable), Role::Button);
        assert_eq!(from_android_class("android.view.View", checkable), Role::Checkbox);
        assert_eq!(from_android_class("android.widget.Switch", checkable), Role::Switch);
        assert_eq!(from_android_class("com.google.android.material.chip.Chip", checkable), Role::Checkbox);
        // The show-password button of a field reports this.
        assert_eq!(from_android_class("android.widget.ImageButton", checkable), Role::Button);
        assert_eq!(from_android_class("androidx.recyclerview.widget.RecyclerView", clickable), Role::List);
        assert_eq!(from_android_class("android.widget.RatingBar", Affordances::default()), Role::Progress);
        assert_eq!(from_android_class("android.widget.RatingBar", clickable), Role::Slider);
    }

    fn role_at(text: &str, index: usize) -> Role {
        in_context(&crate::meaning::sketch::sketch(text), index)
    }

    #[test]
    fn a_compose_element_takes_the_role_of_its_only_control() {
        // AC-08
        let switch = r#"
            android.view.View [0,0][900,100] click focusable check=on
              TextView [0,0][300,100] text:"Dark"
              Switch [700,0][900,100]
        "#;
        assert_eq!(role_at(switch, 0), Role::Switch);
        let two = switch.replace("TextView", "CheckBox");
        assert_eq!(role_at(&two, 0), Role::Checkbox);
        assert_eq!(role_at(r#"Button [0,0][9,9] click text:"OK""#, 0), Role::Button);
    }

    #[test]
    fn options_in_a_row_of_tabs_are_tabs() {
        let tabs = r#"
            android.view.View [0,2200][1080,2400]
              android.view.View [0,2200][540,2400] focusable selected
              android.view.View [540,2200][1080,2400] click focusable unselected
        "#;
        assert_eq!((role_at(tabs, 1), role_at(tabs, 2)), (Role::Tab, Role::Tab));
        assert_eq!(role_at(tabs, 0), Role::Unknown);
    }

    #[test]
    fn rows_links_dialogs_and_headings_are_recognised() {
        let list = r#"
            androidx.recyclerview.widget.RecyclerView [0,0][1080,900] scroll
              LinearLayout [0,0][1080,100] click
                TextView [0,0][300,100] text:"Milk"
              TextView [0,100][300,200] click text:"More"
        "#;
        assert_eq!((role_at(list, 1), role_at(list, 3)), (Role::Row, Role::Button));
        let page = r#"
            android.webkit.WebView [0,0][1080,900]
              android.view.View [0,0][1080,100]
                android.view.View [0,0][200,50] click focusable text:"Read more"
                Button [0,50][200,100] click text:"Send"
        "#;
        assert_eq!((role_at(page, 2), role_at(page, 3)), (Role::Link, Role::Button));
        let alone = r#"android.view.View [0,0][200,50] click text:"Read more""#;
        assert_eq!(role_at(alone, 0), Role::Button);
        let dialog = r#"
            LinearLayout [100,700][980,1500] id:parentPanel
              TextView [150,750][900,850] id:alertTitle text:"Delete?"
        "#;
        assert_eq!((role_at(dialog, 0), role_at(dialog, 1)), (Role::Dialog, Role::Heading));
    }
}
