//! Derives roles from the type and the traits of an iOS element.

use mdm_core::screen::element::Role;

/// The accessibility traits that tell the kind or the state of an element. Others are not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IosTraits(u32);

impl IosTraits {
    pub const BUTTON: IosTraits = IosTraits(1);
    pub const LINK: IosTraits = IosTraits(1 << 1);
    pub const IMAGE: IosTraits = IosTraits(1 << 2);
    pub const STATIC_TEXT: IosTraits = IosTraits(1 << 3);
    pub const HEADER: IosTraits = IosTraits(1 << 4);
    pub const SEARCH_FIELD: IosTraits = IosTraits(1 << 5);
    pub const TEXT_ENTRY: IosTraits = IosTraits(1 << 6);
    pub const SECURE: IosTraits = IosTraits(1 << 7);
    pub const KEYBOARD_KEY: IosTraits = IosTraits(1 << 8);
    pub const TAB: IosTraits = IosTraits(1 << 9);
    pub const TOGGLE: IosTraits = IosTraits(1 << 10);
    pub const RADIO: IosTraits = IosTraits(1 << 11);
    pub const POPUP: IosTraits = IosTraits(1 << 12);
    pub const MENU_ITEM: IosTraits = IosTraits(1 << 13);
    pub const ICON: IosTraits = IosTraits(1 << 14);
    pub const PICKER: IosTraits = IosTraits(1 << 15);
    pub const ALERT: IosTraits = IosTraits(1 << 16);
    pub const ADJUSTABLE: IosTraits = IosTraits(1 << 17);
    pub const SCROLLABLE: IosTraits = IosTraits(1 << 18);
    pub const SELECTED: IosTraits = IosTraits(1 << 19);
    pub const NOT_ENABLED: IosTraits = IosTraits(1 << 20);
    pub const EDITING: IosTraits = IosTraits(1 << 21);

    pub fn has(self, other: IosTraits) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn with(self, other: IosTraits) -> IosTraits {
        IosTraits(self.0 | other.0)
    }

    /// Parses the name of a trait, or a subrole, which is a trait in idb's vocabulary. Unknown names give no trait.
    pub fn from_name(name: &[u8]) -> IosTraits {
        let name = name.strip_prefix(b"AX").unwrap_or(name);
        NAMES.iter().find(|(known, _)| known.as_bytes() == name).map_or(IosTraits(0), |(_, one)| *one)
    }
}

const NAMES: [(&str, IosTraits); 27] = [
    ("Button", IosTraits::BUTTON),
    ("BackButton", IosTraits::BUTTON),
    ("Link", IosTraits::LINK),
    ("Image", IosTraits::IMAGE),
    ("StaticText", IosTraits::STATIC_TEXT),
    ("Header", IosTraits::HEADER),
    ("SearchField", IosTraits::SEARCH_FIELD),
    ("TextEntry", IosTraits::TEXT_ENTRY),
    ("TextArea", IosTraits::TEXT_ENTRY),
    ("SecureTextField", IosTraits::SECURE),
    ("KeyboardKey", IosTraits::KEYBOARD_KEY),
    ("TabButton", IosTraits::TAB),
    ("Toggle", IosTraits::TOGGLE),
    ("ToggleButton", IosTraits::TOGGLE),
    ("Switch", IosTraits::TOGGLE),
    ("RadioButton", IosTraits::RADIO),
    ("PopupButton", IosTraits::POPUP),
    ("MenuItem", IosTraits::MENU_ITEM),
    ("LaunchIcon", IosTraits::ICON),
    ("FolderIcon", IosTraits::ICON),
    ("PickerElement", IosTraits::PICKER),
    ("Alert", IosTraits::ALERT),
    ("Adjustable", IosTraits::ADJUSTABLE),
    ("Scrollable", IosTraits::SCROLLABLE),
    ("Selected", IosTraits::SELECTED),
    ("NotEnabled", IosTraits::NOT_ENABLED),
    ("IsEditing", IosTraits::EDITING),
];

/// Returns the type without its prefix `XCUIElementType` or `AX`.
pub fn short_type(class: &str) -> &str {
    class.strip_prefix("XCUIElementType").or_else(|| class.strip_prefix("AX")).unwrap_or(class)
}

/// Returns the role of an iOS type, in either vocabulary, with its traits.
///
/// A type that names a control wins over the traits. Traits refine types that cover several controls, and decide for
/// generic types. For buttons in a tab bar see [`in_tab_bar`].
pub fn from_ios_type(class: &str, traits: IosTraits) -> Role {
    match by_type(short_type(class)) {
        // Some types cover several controls, which a trait tells apart.
        Role::Checkbox | Role::Button if traits.has(IosTraits::TOGGLE) => Role::Switch,
        Role::Radio | Role::Button if traits.has(IosTraits::TAB) => Role::Tab,
        Role::Button if traits.has(IosTraits::POPUP) => Role::Dropdown,
        // idb calls the letters of a keyboard buttons; the keys that XCUITest calls so have that trait too.
        Role::Button if traits.has(IosTraits::KEYBOARD_KEY) && !traits.has(IosTraits::BUTTON) => Role::Key,
        Role::Slider if traits.has(IosTraits::PICKER) => Role::Picker,
        Role::Text if traits.has(IosTraits::HEADER) => Role::Heading,
        role @ (Role::Text | Role::Image | Role::Container | Role::Unknown) => {
            by_traits(traits).unwrap_or(role)
        }
        role => role,
    }
}

/// Returns the role of an element inside a tab bar.
pub fn in_tab_bar(role: Role) -> Role {
    if matches!(role, Role::Button | Role::Radio) { Role::Tab } else { role }
}

/// Returns the role of the first trait that fits; controls come before texts and images.
fn by_traits(traits: IosTraits) -> Option<Role> {
    const ORDER: [(IosTraits, Role); 15] = [
        (IosTraits::SECURE, Role::TextField),
        (IosTraits::SEARCH_FIELD, Role::TextField),
        (IosTraits::TEXT_ENTRY, Role::TextField),
        (IosTraits::KEYBOARD_KEY, Role::Key),
        (IosTraits::TAB, Role::Tab),
        (IosTraits::TOGGLE, Role::Switch),
        (IosTraits::RADIO, Role::Radio),
        (IosTraits::POPUP, Role::Dropdown),
        (IosTraits::PICKER, Role::Picker),
        (IosTraits::LINK, Role::Link),
        (IosTraits::BUTTON, Role::Button),
        (IosTraits::MENU_ITEM, Role::Button),
        (IosTraits::ICON, Role::Button),
        (IosTraits::ALERT, Role::Dialog),
        (IosTraits::HEADER, Role::Heading),
    ];
    let role = ORDER.iter().find(|(one, _)| traits.has(*one)).map(|(_, role)| *role);
    let shown = || traits.has(IosTraits::STATIC_TEXT).then_some(Role::Text);
    role.or_else(shown).or_else(|| traits.has(IosTraits::IMAGE).then_some(Role::Image))
}

fn by_type(name: &str) -> Role {
    match name {
        "Button" | "ToolbarButton" | "MenuButton" | "MenuItem" | "MenuBarItem" | "Icon"
        | "DisclosureTriangle" | "IncrementArrow" | "DecrementArrow" => Role::Button,
        "Link" => Role::Link,
        "StaticText" => Role::Text,
        "Heading" => Role::Heading,
        "TextField" | "SecureTextField" | "SearchField" | "TextView" | "TextArea" => Role::TextField,
        "Switch" | "Toggle" => Role::Switch,
        "CheckBox" => Role::Checkbox,
        "RadioButton" => Role::Radio,
        "PopUpButton" | "ComboBox" => Role::Dropdown,
        "Slider" => Role::Slider,
        "Stepper" => Role::Stepper,
        // A person turns the wheels, not the picker around them.
        "PickerWheel" => Role::Picker,
        "SegmentedControl" => Role::SegmentedControl,
        "Tab" | "TabButton" => Role::Tab,
        "Key" => Role::Key,
        "Image" => Role::Image,
        "ProgressIndicator" | "ActivityIndicator" | "LevelIndicator" | "RatingIndicator" => Role::Progress,
        "Table" | "CollectionView" | "Grid" | "Outline" | "List" => Role::List,
        "Cell" | "TableRow" | "OutlineRow" | "Row" => Role::Row,
        "WebView" | "WebArea" => Role::WebView,
        "Alert" | "Sheet" | "Dialog" | "Popover" => Role::Dialog,
        "Application" | "Window" | "Other" | "Group" | "ScrollView" | "ScrollArea" | "NavigationBar"
        | "TabBar" | "TabGroup" | "Toolbar" | "StatusBar" | "Keyboard" | "Menu" | "MenuBar" | "Picker"
        | "DatePicker" | "RadioGroup" | "SplitGroup" | "Drawer" | "LayoutArea" | "LayoutItem" => {
            Role::Container
        }
        _ => Role::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(names: &str) -> IosTraits {
        names
            .split(' ')
            .fold(IosTraits::default(), |all, name| all.with(IosTraits::from_name(name.as_bytes())))
    }

    #[test]
    fn types_give_roles_in_both_vocabularies() {
        let same = [
            ("Button", Role::Button),
            ("Link", Role::Link),
            ("StaticText", Role::Text),
            ("SecureTextField", Role::TextField),
            ("TextView", Role::TextField),
            ("Switch", Role::Switch),
            ("Slider", Role::Slider),
            ("Stepper", Role::Stepper),
            ("PickerWheel", Role::Picker),
            ("SegmentedControl", Role::SegmentedControl),
            ("Key", Role::Key),
            ("Image", Role::Image),
            ("ActivityIndicator", Role::Progress),
            ("CollectionView", Role::List),
            ("Cell", Role::Row),
            ("WebView", Role::WebView),
            ("Alert", Role::Dialog),
            ("Window", Role::Container),
            ("PageIndicator", Role::Unknown),
            ("", Role::Unknown),
        ];
        for (name, role) in same {
            for class in [format!("XCUIElementType{name}"), format!("AX{name}"), name.to_owned()] {
                assert_eq!(from_ios_type(&class, IosTraits::default()), role, "{class}");
            }
        }
    }

    #[test]
    fn traits_refine_types_that_cover_several_controls() {
        assert_eq!(from_ios_type("CheckBox", traits("AXSwitch")), Role::Switch);
        assert_eq!(from_ios_type("CheckBox", IosTraits::default()), Role::Checkbox);
        assert_eq!(from_ios_type("RadioButton", traits("AXTabButton")), Role::Tab);
        assert_eq!(from_ios_type("Slider", traits("PickerElement Adjustable")), Role::Picker);
        assert_eq!(from_ios_type("XCUIElementTypeStaticText", traits("StaticText Header")), Role::Heading);
    }

    #[test]
    fn traits_decide_for_generic_types() {
        assert_eq!(from_ios_type("XCUIElementTypeOther", traits("Header Button")), Role::Button);
        assert_eq!(from_ios_type("GenericElement", traits("Header StaticText")), Role::Heading);
        assert_eq!(from_ios_type("CellHostingView", traits("StaticText")), Role::Text);
        assert_eq!(from_ios_type("Image", traits("Image Link")), Role::Link);
        // A cell that is also announced as a button stays a row.
        assert_eq!(from_ios_type("Cell", traits("Button")), Role::Row);
        assert_eq!(from_ios_type("Other", traits("Adjustable Selected")), Role::Container);
    }

    #[test]
    fn only_buttons_of_a_tab_bar_are_tabs() {
        assert_eq!(in_tab_bar(Role::Button), Role::Tab);
        assert_eq!(in_tab_bar(Role::Text), Role::Text);
    }
}
