//! What really happened on the phone, for tests and never for clients.

use std::collections::{BTreeMap, VecDeque};

use crate::app::datum::Datum;
use crate::app::widget::Widget;
use crate::faults::Fault;
use crate::framework::FrameworkTruth;

/// Inputs, commands and faults that are kept, each; older ones are dropped.
pub const LOG_ENTRIES_MAX: usize = 10_000;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Truth {
    /// Every input that reached the screen, in order.
    pub inputs: Vec<Applied>,
    /// The time since boot at which each of `inputs` was applied.
    pub input_times_ms: Vec<u64>,
    /// The time since boot of the last change that accessibility heard of.
    pub last_change_ms: u64,
    /// The time since boot of the last change of the pixels, also one that accessibility does not hear of.
    pub last_visible_change_ms: u64,
    /// The faults that happened, in order.
    pub faults: Vec<FaultEvent>,
    /// Texts by field name, passwords in clear.
    pub fields: BTreeMap<String, String>,
    /// States by the name of the setting or switch.
    pub switches: BTreeMap<String, bool>,
    pub sliders: BTreeMap<String, f32>,
    /// Every simple command that a shell on the phone ran, in order.
    pub commands: Vec<String>,
    /// The same commands as words, the program first.
    pub argvs: Vec<Vec<String>>,
    /// Files under /data/local/tmp.
    pub leftover_files: Vec<String>,
    /// `package/.Activity` in front.
    pub activity: String,
    pub dialog_open: bool,
    pub keyboard_shown: bool,
    pub clipboard: String,
    /// Package names, sorted.
    pub packages: Vec<String>,
    /// Connections that are open now.
    pub connections: usize,
    /// Every toast, in order.
    pub toasts: Vec<ShownToast>,
    /// Every request that apps made, in order.
    pub requests: Vec<MadeRequest>,
    /// The position in the recording, if the phone plays one.
    pub replay: Option<ReplayTruth>,
    /// The views themselves, if Android's framework draws the screen.
    pub framework: Option<FrameworkTruth>,
}

/// A place in the phone's records, from [`crate::Phone::moment`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    pub(crate) inputs: usize,
    pub(crate) commands: usize,
    pub(crate) faults: usize,
}

impl Moment {
    /// The moment after everything that was read of [`crate::Phone::since`], so that the next read misses nothing and
    /// repeats nothing. It holds as long as no more happened than is kept.
    #[must_use]
    pub fn after(self, happened: &Happened) -> Moment {
        Moment {
            inputs: self.inputs + happened.inputs.len(),
            commands: self.commands + happened.commands.len(),
            faults: self.faults + happened.faults.len(),
        }
    }
}

/// What happened since a moment. It costs less than the whole truth, and misses nothing of a long session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Happened {
    /// Inputs that reached the screen, with their times since boot.
    pub inputs: Vec<(u64, Applied)>,
    /// The number of inputs before these.
    pub inputs_before: usize,
    pub commands: Vec<String>,
    /// The same commands as words, the program first.
    pub argvs: Vec<Vec<String>>,
    pub faults: Vec<FaultEvent>,
}

/// A request that an app made, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeRequest {
    /// The time since boot.
    pub at_ms: u64,
    pub package: String,
    pub method: String,
    pub url: String,
    /// The number of the input that led to it, counted from 0 over all inputs; nothing for what an app did by itself.
    pub cause: Option<u64>,
}

/// A toast and when it was shown, in milliseconds since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownToast {
    pub text: String,
    pub from_ms: u64,
    pub until_ms: u64,
}

/// A fault that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultEvent {
    /// The time since boot, by the phone's monotonic clock.
    pub at_ms: u64,
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayTruth {
    /// The name of the recorded screen that is shown.
    pub state: String,
    /// The number of recorded actions that were taken, waits among them.
    pub steps_passed: usize,
    /// True after the last recorded action, if nobody recorded what came after it.
    pub finished: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Applied {
    Tap {
        at: (i32, i32),
        hit: Option<Hit>,
    },
    Swipe {
        from: (i32, i32),
        to: (i32, i32),
        ms: u64,
        hit: Option<Hit>,
    },
    /// Two fingers came down and went up together; `hit` is the widget that zooms under both.
    Pinch {
        from: [(i32, i32); 2],
        to: [(i32, i32); 2],
        ms: u64,
        hit: Option<Hit>,
    },
    /// A text was typed; `into` is the field that took it, if any.
    Text {
        text: String,
        into: Option<String>,
    },
    Key {
        code: u32,
    },
    Paste {
        text: String,
        into: Option<String>,
    },
    /// Accessibility acted on a node without a finger; `hit` is the widget, if it took the action.
    Performed {
        action: String,
        hit: Option<Hit>,
    },
}

/// The widget that an input landed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub class: String,
    pub resource_id: String,
    /// The widget's text or, without one, its description or the first text inside it.
    pub label: String,
    /// False for a disabled widget and for a long press that means nothing.
    pub acted: bool,
    /// What the widget stands for.
    pub datum: Option<Datum>,
}

const WENT_AWAY: &str = "what went away under the finger";

impl Hit {
    pub(crate) fn of(widget: &Widget) -> Hit {
        let own = |w: &Widget| [w.text.clone(), w.description.clone()].into_iter().find(|t| !t.is_empty());
        let inside = || widget.find(&|w| own(w).is_some()).and_then(own);
        let label = if widget.flags.password { widget.hint.clone() } else { inside().unwrap_or_default() };
        Hit {
            class: widget.class.to_owned(),
            resource_id: widget.resource_id.clone(),
            label,
            acted: !widget.flags.disabled,
            datum: widget.datum.clone(),
        }
    }

    /// Returns true if what was under the finger went away before the finger was lifted.
    pub fn went_away(&self) -> bool {
        self.label == WENT_AWAY
    }

    /// What the finger came down on, which was not there any more when it was lifted.
    pub(crate) fn gone(datum: Option<Datum>) -> Hit {
        Hit { acted: false, datum, ..Hit::named(WENT_AWAY) }
    }

    /// Names something that is not a widget of an app.
    pub(crate) fn named(name: &str) -> Hit {
        let (class, resource_id) = (String::new(), String::new());
        Hit { class, resource_id, label: name.to_owned(), acted: true, datum: None }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    inputs: VecDeque<Applied>,
    input_times_ms: VecDeque<u64>,
    commands: VecDeque<Vec<String>>,
    requests: VecDeque<MadeRequest>,
    /// How many there were, also those that were dropped.
    inputs_seen: usize,
    commands_seen: usize,
}

impl Record {
    pub fn input(&mut self, input: Applied, at_ms: u64) {
        self.inputs_seen += 1;
        push_bounded(&mut self.input_times_ms, at_ms);
        push_bounded(&mut self.inputs, input);
    }

    /// The number that the next input has.
    pub fn inputs_seen(&self) -> u64 {
        self.inputs_seen as u64
    }

    pub fn request(&mut self, request: MadeRequest) {
        push_bounded(&mut self.requests, request);
    }

    pub fn requests(&self) -> Vec<MadeRequest> {
        self.requests.iter().cloned().collect()
    }

    pub fn command(&mut self, words: Vec<String>) {
        self.commands_seen += 1;
        push_bounded(&mut self.commands, words);
    }

    /// Returns the place after everything so far, given the number of faults.
    pub fn moment(&self, faults: usize) -> Moment {
        Moment { inputs: self.inputs_seen, commands: self.commands_seen, faults }
    }

    /// Returns the inputs and commands since a moment, as far as they are kept.
    pub fn since(&self, moment: &Moment) -> Happened {
        let skipped = |kept: usize, seen: usize, before: usize| kept - (seen - before).min(kept);
        let inputs = skipped(self.inputs.len(), self.inputs_seen, moment.inputs);
        let commands = skipped(self.commands.len(), self.commands_seen, moment.commands);
        let times = self.input_times_ms.iter().copied();
        Happened {
            inputs: times.zip(self.inputs.iter().cloned()).skip(inputs).collect(),
            inputs_before: moment.inputs,
            commands: self.commands.iter().skip(commands).map(|words| words.join(" ")).collect(),
            argvs: self.commands.iter().skip(commands).cloned().collect(),
            faults: Vec::new(),
        }
    }

    pub fn inputs(&self) -> Vec<Applied> {
        self.inputs.iter().cloned().collect()
    }

    pub fn input_times_ms(&self) -> Vec<u64> {
        self.input_times_ms.iter().copied().collect()
    }

    pub fn commands(&self) -> Vec<String> {
        self.commands.iter().map(|words| words.join(" ")).collect()
    }

    pub fn argvs(&self) -> Vec<Vec<String>> {
        self.commands.iter().cloned().collect()
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == LOG_ENTRIES_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}
