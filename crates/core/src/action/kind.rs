//! What kinds of actions there are (LC-02), and where their effect shows (VR-01, VR-02).

/// Of the table below: raised whenever an entry changes its meaning.
pub const TABLE_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActionKind {
    Navigation,
    Input,
    Selection,
    Gesture,
    ControlAdjustment,
    System,
}

impl ActionKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ActionKind::Navigation => "navigation",
            ActionKind::Input => "input",
            ActionKind::Selection => "selection",
            ActionKind::Gesture => "gesture",
            ActionKind::ControlAdjustment => "control_adjustment",
            ActionKind::System => "system",
        }
    }
}

/// Where the effect of an action shows first, and so where it is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// On the screen: network and logs are never the first place to look (VR-01).
    LocalState,
    SideEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionType {
    /// The tool's name, which is the `action_type` of answers.
    pub name: &'static str,
    pub kind: ActionKind,
    pub reach: Reach,
}

const fn local(name: &'static str, kind: ActionKind) -> ActionType {
    ActionType { name, kind, reach: Reach::LocalState }
}

const fn effect(name: &'static str) -> ActionType {
    ActionType { name, kind: ActionKind::System, reach: Reach::SideEffect }
}

/// Every action tool. The first seven are as RFC 006 has them; adjusting a control is local, as RFC 004 means it.
pub const TABLE: [ActionType; 21] = [
    local("tap", ActionKind::Selection),
    local("tap_element", ActionKind::Selection),
    local("type_text", ActionKind::Input),
    local("press_back", ActionKind::Navigation),
    effect("start_app"),
    effect("restart_app"),
    local("scroll_to_element", ActionKind::Navigation),
    local("swipe", ActionKind::Gesture),
    local("long_press", ActionKind::Gesture),
    local("double_tap", ActionKind::Gesture),
    local("drag", ActionKind::Gesture),
    local("pinch", ActionKind::Gesture),
    local("adjust_control", ActionKind::ControlAdjustment),
    local("press_key", ActionKind::Input),
    local("press_home", ActionKind::Navigation),
    local("press_recents", ActionKind::Navigation),
    local("hide_keyboard", ActionKind::Input),
    local("set_orientation", ActionKind::System),
    effect("terminate_app"),
    effect("reset_app_data"),
    effect("run_flow"),
];

pub fn action_type(name: &str) -> Option<&'static ActionType> {
    TABLE.iter().find(|action| action.name == name)
}

/// What nobody knows may have effects anywhere (VR-02).
pub fn reach(name: &str) -> Reach {
    action_type(name).map_or(Reach::SideEffect, |action| action.reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_one_kind_and_one_reach() {
        // LC-02, VR-02
        for (at, action) in TABLE.iter().enumerate() {
            assert_eq!(TABLE.iter().position(|other| other.name == action.name), Some(at), "{action:?}");
        }
        assert_eq!(action_type("adjust_control").map(|a| a.kind), Some(ActionKind::ControlAdjustment));
        assert_eq!(reach("adjust_control"), Reach::LocalState);
        assert_eq!(reach("restart_app"), Reach::SideEffect);
        assert_eq!(reach("teleport"), Reach::SideEffect, "unknown is side effect");
    }
}
