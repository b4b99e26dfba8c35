//! Roles from class names, and from what stands around an element where the class says little.

use crate::meaning::label;
use crate::meaning::semantics::{self, ControlKind};
use crate::screen::element::{Affordances, Element, Role};
use crate::screen::snapshot::Snapshot;

/// The role that an Android class name and its affordances stand for.
///
/// Only the last part of the name counts, and of that mostly its end: app and library classes are called after what
/// they extend (`AppCompatSpinner`, `TextInputEditText`).
pub fn of_android(class: &str, affordances: Affordances) -> Role {
    let name = last_part(class);
    let role = by_name(name);
    let operable = affordances.clickable || affordances.focusable;
    match role {
        // A rating that is only shown.
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

/// The longest ending wins: `RadioButton` is no `Button`, and a `Spinner` is a drop-down, never a sign of loading (W12).
fn by_name(name: &str) -> Role {
    // Nine elements of ten are one of these.
    match name {
        "View" => return Role::Unknown,
        "TextView" => return Role::Text,
        "ImageView" => return Role::Image,
        "FrameLayout" | "LinearLayout" | "RelativeLayout" | "ViewGroup" => return Role::Container,
        "Button" | "ImageButton" => return Role::Button,
        _ => {}
    }
    // The last byte rules most endings out without a call.
    let last = name.as_bytes().last();
    let fits = |ending: &str| ending.as_bytes().last() == last && name.ends_with(ending);
    ENDINGS.iter().find(|(ending, _)| fits(ending)).map_or(Role::Unknown, |(_, role)| *role)
}

/// Longer endings before the shorter ones that they end in.
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
    // The hours and minutes on the face of the clock.
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

/// How many levels of wrapping are looked through for a page.
const LEVELS_MAX: usize = 24;

/// The role of an element where its class leaves it open: what a tappable element holds, where it stands in a row of
/// tabs, a list or a page. What the class says clearly stays (AC-08).
pub fn in_context(snapshot: &Snapshot, index: usize) -> Role {
    let Some(element) = snapshot.elements.get(index) else { return Role::Unknown };
    match element.role {
        Role::Button | Role::Checkbox if says_little(&element.class) => {
            held(snapshot, index).unwrap_or_else(|| placed(snapshot, index, element))
        }
        Role::Container | Role::Unknown if element.state.selected == Some(true) => {
            if is_option(snapshot, element) { Role::Tab } else { element.role }
        }
        Role::Container | Role::Unknown | Role::Text => platform_id(element).unwrap_or(element.role),
        role => role,
    }
}

/// Classes that a framework gives to everything that it draws itself.
fn says_little(class: &str) -> bool {
    matches!(by_name(last_part(class)), Role::Unknown | Role::Container | Role::Text | Role::Image)
}

/// The one control inside that has no tap of its own shows what a tap on the outside does.
fn held(snapshot: &Snapshot, index: usize) -> Option<Role> {
    let mut controls = label::belonging(snapshot, index)
        .map(|inner| snapshot.elements[inner].role)
        .filter(|&role| role.is_control() && role != Role::Button);
    let first = controls.next()?;
    controls.next().is_none().then_some(first)
}

fn placed(snapshot: &Snapshot, index: usize, element: &Element) -> Role {
    if element.role != Role::Button {
        return element.role;
    }
    let Some(parent) = element.parent.and_then(|parent| snapshot.elements.get(parent as usize)) else {
        return element.role;
    };
    if is_option(snapshot, element) {
        return Role::Tab;
    }
    let holds = element.end as usize > index + 1;
    if parent.role == Role::List && holds {
        return Role::Row;
    }
    let plain = &*element.class == "android.view.View" && label::own_words(element).is_some();
    if plain && is_in_page(snapshot, element) { Role::Link } else { element.role }
}

fn is_option(snapshot: &Snapshot, element: &Element) -> bool {
    let control = element.parent.and_then(|parent| semantics::control(snapshot, parent as usize));
    control.is_some_and(|control| matches!(control.kind, ControlKind::TabRow | ControlKind::SegmentedControl))
}

fn is_in_page(snapshot: &Snapshot, element: &Element) -> bool {
    let mut above = element.parent;
    for _ in 0..LEVELS_MAX {
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

/// Identifiers that the platform's own layouts use.
fn platform_id(element: &Element) -> Option<Role> {
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
        assert_eq!(of_android(class, Affordances::default()), expect, "{class}");
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
    fn affordances_decide_where_the_class_says_little() {
        let clickable = Affordances { clickable: true, ..Affordances::default() };
        let checkable = Affordances { checkable: true, ..clickable };
        assert_eq!(of_android("android.view.View", clickable), Role::Button);
        assert_eq!(of_android("android.widget.TextView", clickable), Role::Button);
        assert_eq!(of_android("android.view.View", checkable), Role::Checkbox);
        assert_eq!(of_android("android.widget.Switch", checkable), Role::Switch);
        assert_eq!(of_android("com.google.android.material.chip.Chip", checkable), Role::Checkbox);
        // The eye in a password field reports this.
        assert_eq!(of_android("android.widget.ImageButton", checkable), Role::Button);
        assert_eq!(of_android("androidx.recyclerview.widget.RecyclerView", clickable), Role::List);
        assert_eq!(of_android("android.widget.RatingBar", Affordances::default()), Role::Progress);
        assert_eq!(of_android("android.widget.RatingBar", clickable), Role::Slider);
    }

    fn role_at(text: &str, index: usize) -> Role {
        in_context(&crate::meaning::sketch::sketch(text), index)
    }

    #[test]
    fn compose_shows_the_role_in_a_child() {
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
    fn tabs_are_known_by_their_row() {
        let tabs = r#"
            android.view.View [0,2200][1080,2400]
              android.view.View [0,2200][540,2400] focusable selected
              android.view.View [540,2200][1080,2400] click focusable unselected
        "#;
        assert_eq!((role_at(tabs, 1), role_at(tabs, 2)), (Role::Tab, Role::Tab));
        assert_eq!(role_at(tabs, 0), Role::Unknown);
    }

    #[test]
    fn rows_links_dialogs_and_headings() {
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
