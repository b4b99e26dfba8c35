//! Roles from class names.

mod ios;

pub use ios::{IosTraits, in_tab_bar, of_ios, short_type};

use crate::element::{Affordances, Role};

/// The role that an Android class name and its affordances stand for.
///
/// Only the last part of the name counts, and of that mostly its end: app and library classes are called after what
/// they extend (`AppCompatSpinner`, `TextInputEditText`).
pub fn of_android(class: &str, affordances: Affordances) -> Role {
    let name = class.rsplit(['.', '$']).next().unwrap_or(class);
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

/// The longest ending wins: `RadioButton` is no `Button`, and a `Spinner` is a drop-down, never a sign of loading (W12).
fn by_name(name: &str) -> Role {
    // The last byte rules most endings out without a call.
    let last = name.as_bytes().last();
    let fits = |ending: &str| ending.as_bytes().last() == last && name.ends_with(ending);
    ENDINGS.iter().find(|(ending, _)| fits(ending)).map_or(Role::Unknown, |(_, role)| *role)
}

/// Longer endings before the shorter ones that they end in.
const ENDINGS: [(&str, Role); 41] = [
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
    ("ScrollView", Role::Container),
    ("CardView", Role::Container),
    ("ComposeView", Role::Container),
    ("View", Role::Unknown),
    ("Layout", Role::Container),
    ("LayoutCompat", Role::Container),
    ("ViewGroup", Role::Container),
    ("ViewPager", Role::Container),
    ("RadioGroup", Role::Container),
    ("Toolbar", Role::Container),
    ("RadioButton", Role::Radio),
    ("ToggleButton", Role::Switch),
    ("Button", Role::Button),
    ("Chip", Role::Button),
    ("EditText", Role::TextField),
    ("CheckBox", Role::Checkbox),
    ("Switch", Role::Switch),
    ("SwitchCompat", Role::Switch),
    ("SwitchMaterial", Role::Switch),
    ("SeekBar", Role::Slider),
    ("Slider", Role::Slider),
    ("RatingBar", Role::Slider),
    ("NumberPicker", Role::Stepper),
    ("Spinner", Role::Dropdown),
    ("ProgressBar", Role::Progress),
    ("ProgressIndicator", Role::Progress),
    ("Tab", Role::Tab),
    ("Image", Role::Image),
    ("TextClock", Role::Text),
    ("Chronometer", Role::Text),
];

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
}
