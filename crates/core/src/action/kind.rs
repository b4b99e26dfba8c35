//! What kinds of actions there are (LC-02), and where their effect shows (VR-01, VR-02).

/// Raised whenever an action changes its kind, or where its effect shows.
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
