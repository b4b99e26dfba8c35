//! Roles of the Mac's accessibility, in which the simulator tells what an element of iOS is.

use crate::iphone::element::UiElement;

/// What an element is, in the Mac's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxRole {
    pub role: &'static str,
    pub subrole: Option<&'static str>,
    pub description: &'static str,
}

impl AxRole {
    /// The role without its prefix.
    pub fn kind(self) -> &'static str {
        self.role.strip_prefix("AX").unwrap_or(self.role)
    }

    /// True if idb's filter for what can be operated keeps it.
    pub fn is_interactable(self) -> bool {
        matches!(
            self.kind(),
            "Button" | "TextField" | "Link" | "Slider" | "CheckBox" | "RadioButton" | "PopUpButton"
        )
    }
}

/// Traits decide before the type, as they do in the translator of the simulator.
pub fn role(element: &UiElement) -> AxRole {
    let has = |name: &str| element.traits.contains(&name);
    match element.kind {
        "Application" => plain("AXApplication", "application"),
        "Switch" | "Toggle" | "CheckBox" => refined("AXCheckBox", "AXSwitch", "switch"),
        "SecureTextField" => refined("AXTextField", "AXSecureTextField", "secure text field"),
        "SearchField" => refined("AXTextField", "AXSearchField", "search text field"),
        "TextField" => plain("AXTextField", "text field"),
        "TextView" => plain("AXTextArea", "text entry area"),
        "Slider" | "PickerWheel" | "PageIndicator" => plain("AXSlider", "slider"),
        "WebView" => plain("AXWebArea", "HTML content"),
        _ if has("TabButton") || element.kind == "Tab" => refined("AXRadioButton", "AXTabButton", "tab"),
        _ if has("PopupButton") => plain("AXPopUpButton", "pop up button"),
        _ if has("Link") || element.kind == "Link" => plain("AXLink", "link"),
        "Button" | "Icon" | "Key" | "MenuItem" => plain("AXButton", "button"),
        _ if has("Button") || has("KeyboardKey") => plain("AXButton", "button"),
        _ if has("Header") => plain("AXHeading", "heading"),
        "StaticText" => plain("AXStaticText", "text"),
        "Image" => plain("AXImage", "image"),
        _ if has("StaticText") => plain("AXStaticText", "text"),
        _ if has("Image") => plain("AXImage", "image"),
        _ if is_group(element.kind) => plain("AXGroup", "group"),
        _ => plain("AXGenericElement", "generic element"),
    }
}

/// Containers that stay in the tree although they are no elements themselves.
pub fn is_group(kind: &str) -> bool {
    matches!(kind, "NavigationBar" | "TabBar" | "Toolbar" | "Keyboard" | "Picker")
}

fn plain(role: &'static str, description: &'static str) -> AxRole {
    AxRole { role, subrole: None, description }
}

fn refined(role: &'static str, subrole: &'static str, description: &'static str) -> AxRole {
    AxRole { role, subrole: Some(subrole), description }
}

/// Names of traits, without order and without doubles; idb writes `None` for no trait.
pub fn traits(element: &UiElement) -> Vec<&'static str> {
    let own = match element.kind {
        "Button" | "Icon" => Some("Button"),
        "Key" => Some("KeyboardKey"),
        "StaticText" => Some("StaticText"),
        "Image" => Some("Image"),
        "Link" => Some("Link"),
        "Switch" | "Toggle" => Some("Toggle"),
        "Slider" | "PickerWheel" => Some("Adjustable"),
        "SearchField" => Some("SearchField"),
        "SecureTextField" => Some("SecureTextField"),
        "TextField" | "TextView" => Some("TextEntry"),
        _ => None,
    };
    // WebDriverAgent and idb have two names for one trait.
    let given = element.traits.iter().map(|name| if *name == "ToggleButton" { "Toggle" } else { *name });
    let mut all: Vec<&'static str> = own.into_iter().chain(given).collect();
    all.extend((!element.enabled).then_some("NotEnabled"));
    all.extend(element.selected.then_some("Selected"));
    all.extend((element.focused && element.kind.contains("Text")).then_some("IsEditing"));
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        all.push("None");
    }
    all
}
