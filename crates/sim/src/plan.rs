//! One random app: its screens, what touching an element does, and the file from which the phone loads it.

pub mod file;
mod list_file;
pub mod lists;
mod timed_changes;

use mdm_virtual_device::Random;
use serde_json::Value;

use lists::List;

use crate::claim::{By, Claim, State};
use crate::world::Face;

pub const PACKAGE: &str = "org.sim.app";
const SCREENS: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];
const WORDS: [&str; 48] = [
    "Save", "Open", "Share", "Rename", "Archive", "Print", "Export", "Import", "Refresh", "Upload", "Merge",
    "Split", "Invite", "Follow", "Mute", "Pin", "Filter", "Sort", "Zoom", "Crop", "Rotate", "Record", "Play",
    "Pause", "Reply", "Forward", "Snooze", "Label", "Budget", "Route", "Garage", "Kitchen", "Harbor",
    "Meadow", "Lantern", "Compass", "Anchor", "Velvet", "Copper", "Willow", "Falcon", "Orchid", "Summit",
    "Canyon", "Ember", "Glacier", "Prairie", "Thicket",
];

/// A description of the app, from which its file is made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The phone on which the app runs.
    pub face: Face,
    pub style: &'static str,
    pub screens: Vec<Screen>,
}

#[derive(Debug, Clone)]
pub struct Screen {
    pub name: &'static str,
    pub items: Vec<Item>,
    pub timed_changes: TimedChanges,
    pub list: Option<List>,
    /// Nothing but pixels: accessibility sees one surface.
    pub is_drawn: bool,
    /// A page that lies behind this one in the same tree, later in the document but drawn first.
    pub has_back_pane: bool,
}

/// One element that can be touched.
#[derive(Debug, Clone)]
pub struct Item {
    pub id: String,
    pub label: String,
    pub kind: Kind,
    pub effect: Effect,
    /// It is enabled this long after the screen was opened.
    pub enabled_after_ms: Option<u64>,
    /// True if another item of the screen has the same label.
    pub shares_label: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Button,
    Switch,
    CheckBox,
    Field,
    Slider { max: f64, step: Option<f64> },
}

/// What a touch does, and how much later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Go {
        screen: usize,
        after_ms: u64,
    },
    Show {
        text: String,
        after_ms: u64,
    },
    Count {
        before: String,
        after_ms: u64,
    },
    Dialog {
        title: String,
        after_ms: u64,
    },
    Toast {
        text: String,
    },
    /// The system asks for a permission, and then a text is shown.
    Permission {
        text: String,
    },
    /// The main thread is stuck for so long.
    Freeze {
        ms: u64,
    },
    /// The control changes its own state.
    OwnState,
}

/// What a screen does by itself. Times are in milliseconds after it was opened.
#[derive(Debug, Clone, Default)]
pub struct TimedChanges {
    /// Until then the screen shows only a spinner.
    pub ready_ms: Option<u64>,
    /// A banner appears above everything, moves the rest down, and may disappear again.
    pub banner_ms: Option<(u64, Option<u64>)>,
    /// An overlay covers the rest until it is dismissed.
    pub overlay_ms: Option<u64>,
    pub dialog_ms: Option<u64>,
    /// A text shows passing time; the interval of its changes.
    pub tick_ms: Option<u64>,
    /// A text never stops changing; the interval of its changes.
    pub churn_ms: Option<u64>,
    /// A text appears for a moment: from when, for how long.
    pub flash_ms: Option<(u64, u64)>,
    /// A text changes to another one.
    pub becomes_ms: Option<u64>,
    /// The system asks for a permission.
    pub permission_ms: Option<u64>,
    /// The main thread is stuck: from when, for how long.
    pub freeze_ms: Option<(u64, u64)>,
}

impl Plan {
    pub fn random(seed: u64, face: Face) -> Plan {
        let mut random = Random::new(seed, 1);
        let style = match random.below(10) {
            0 => "compose",
            1 => "react_native",
            2 => "flutter",
            _ => "view",
        };
        let mut words: Vec<&str> = WORDS.to_vec();
        let count = 2 + random.below(3);
        let screens = (0..count).map(|at| screen(at, count, &mut words, &mut random)).collect();
        Plan { face, style, screens }
    }

    /// Returns the app file that the phone reads.
    pub fn file(&self) -> Value {
        file::of(self)
    }

    pub fn activity(&self, screen: usize) -> String {
        format!("{}Activity", self.screens[screen].name)
    }

    /// Returns the screen of an activity.
    pub fn screen_of(&self, activity: &str) -> Option<&Screen> {
        let name = activity.strip_prefix(PACKAGE)?.strip_prefix("/.")?.strip_suffix("Activity")?;
        self.screens.iter().find(|screen| screen.name == name)
    }

    /// Returns what is true when a screen is in front. iOS has no names of screens, and a person reads the title.
    pub fn screen_claim(&self, screen: usize) -> Claim {
        match self.face {
            Face::Android | Face::AndroidWithHelper => Claim::Screen(self.activity(screen)),
            Face::Ios => {
                let title = format!("{} title", self.screens[screen].name);
                Claim::Element { by: By::Text(title), state: State::Visible }
            }
        }
    }

    /// Returns the numbers in which the phone tells where a slider stands: on iOS a percentage.
    pub fn slider_max(&self, max: f64) -> f64 {
        match self.face {
            Face::Android | Face::AndroidWithHelper => max,
            Face::Ios => 100.0,
        }
    }

    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.screens.iter().flat_map(|screen| &screen.items)
    }
}

fn word(words: &mut Vec<&'static str>, random: &mut Random) -> String {
    let at = random.below(words.len());
    if words.is_empty() { "Spare".to_owned() } else { words.swap_remove(at).to_owned() }
}

fn screen(at: usize, screens: usize, words: &mut Vec<&'static str>, random: &mut Random) -> Screen {
    let name = SCREENS[at % SCREENS.len()];
    let list = random.percent(35).then(|| List::random(random));
    let is_drawn = at > 0 && list.is_none() && random.percent(15);
    let is_full = list.as_ref().is_some_and(|list| list.is_tall);
    let count = if is_full { 1 + random.below(2) } else { 3 + random.below(5) };
    let mut items: Vec<Item> = (0..count).map(|n| item(at, n, screens, words, random)).collect();
    if items.len() > 1 && random.percent(15) {
        // Two elements with the same label do different things.
        let label = items[0].label.clone();
        let last = items.len() - 1;
        items[last].label = label;
        items[0].shares_label = true;
        items[last].shares_label = true;
    }
    let has_back_pane = list.is_none() && !is_drawn && random.percent(8);
    Screen { name, items, timed_changes: TimedChanges::random(random), list, is_drawn, has_back_pane }
}

fn item(screen: usize, n: usize, screens: usize, words: &mut Vec<&'static str>, random: &mut Random) -> Item {
    let kind = match random.below(12) {
        0 | 1 => Kind::Switch,
        2 => Kind::CheckBox,
        3 => Kind::Field,
        4 => Kind::Slider {
            max: [10.0, 50.0, 100.0][random.below(3)],
            step: [None, Some(1.0), Some(5.0)][random.below(3)],
        },
        _ => Kind::Button,
    };
    let label = word(words, random);
    let after_ms = if random.percent(50) { 0 } else { random.between(30, 2500) };
    let effect = match (kind, random.below(10)) {
        (Kind::Button, 0 | 1) => {
            Effect::Go { screen: (screen + 1 + random.below(screens - 1)) % screens, after_ms }
        }
        (Kind::Button, 2 | 3) => Effect::Show { text: format!("{label} finished"), after_ms },
        (Kind::Button, 4..=6) => Effect::Count { before: format!("{label} total"), after_ms },
        (Kind::Button, 7) => Effect::Dialog { title: format!("{label} now?"), after_ms },
        (Kind::Button, 8) => Effect::Toast { text: format!("{label} noted") },
        (Kind::Button, _) => match random.below(6) {
            0 => Effect::Permission { text: format!("{label} allowed") },
            1 => Effect::Freeze { ms: random.between(1500, 12_000) },
            _ => Effect::Nothing,
        },
        _ => Effect::OwnState,
    };
    let enabled_after_ms = (kind == Kind::Button && random.percent(15)).then(|| random.between(100, 3000));
    Item { id: format!("s{screen}w{n}"), label, kind, effect, enabled_after_ms, shares_label: false }
}

#[cfg(test)]
mod tests {
    use mdm_virtual_device::AppFile;

    use super::*;

    #[test]
    fn every_plan_is_an_app_and_always_the_same_one() {
        for seed in 0..300 {
            let plan = Plan::random(seed, Face::Android);
            let text = plan.file().to_string();
            assert_eq!(text, Plan::random(seed, Face::Ios).file().to_string());
            AppFile::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        }
    }
}
