//! What a device says of its screen to somebody who cannot see it.

/// A list of what is spoken, in the order of the screen. It has no places, no roles and no states of its own, so it can
/// be read by people and agents, and nothing can be found in it to touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpokenScreen {
    pub items: Vec<SpokenItem>,
    /// Why the list ends before the screen does, if it does.
    pub cut: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpokenItem {
    /// The words as they are spoken: a label, and what the system adds in the language of the device.
    pub words: String,
    /// The identifier that the app's developer set.
    pub stable_id: Option<String>,
}
