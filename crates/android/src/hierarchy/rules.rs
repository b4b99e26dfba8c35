//! What facts of a node mean, whichever way they came.

use mdm_core::screen::element::{Affordances, State};

use super::scan::Flags;

/// True for packages whose windows lie over any app: system dialogs, the permission controller.
pub fn is_system_package(package: &str) -> bool {
    package == "android" || package.starts_with("com.android.") || package.starts_with("com.google.android.")
}

/// True for classes that show the current time, and for the clock of the status bar.
pub fn is_clock(class: &str, id: &[u8], package: &[u8]) -> bool {
    let is_class = |ending: &str| {
        class.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    is_class("TextClock")
        || is_class("Chronometer")
        || is_class("DigitalClock")
        || (id.ends_with(b":id/clock") && package == b"com.android.systemui")
}

pub fn affordances(flags: &Flags) -> Affordances {
    Affordances {
        clickable: flags.clickable == Some(true),
        long_clickable: flags.long_clickable == Some(true),
        scrollable: flags.scrollable == Some(true),
        focusable: flags.focusable == Some(true),
        checkable: flags.checkable == Some(true),
        adjustable: false,
    }
}

/// Reads the state. Every node has `checked`, so it counts only on a checkable one (ST-01).
pub fn state(flags: &Flags) -> State {
    State {
        enabled: flags.enabled,
        checked: flags.checked.filter(|_| flags.checkable == Some(true)),
        selected: flags.selected,
        focused: flags.focused,
        expanded: None,
    }
}
