//! What is on the screen and what inputs do to it, behind one trait.
//!
//! The rest of the phone (adbd, shell, helpers, faults, film) knows only this trait. `app::ui::Ui` draws apps of its
//! own, `replay::Replay` plays a recording, `framework::FrameworkSurface` runs Android's own view code in another process.
//!
//! # How to write another surface
//!
//! Implement the methods without a default. That gives a phone that can be read (`hierarchy`, `picture`) and driven
//! (`tap`, `swipe`, `key`, `type_text`). The defaults of all other methods mean "this surface cannot do that"; none of
//! them has to be implemented for the phone to work.
//!
//! The phone calls a surface under its lock and in this order: [`Surface::advance`] with the present time, any number
//! of other methods with that same time, then [`Surface::settle`]. Nothing may wait for long: the framework's process is
//! asked and answers within milliseconds.
//! [`Surface::picture`] returns a function that runs outside the lock; it may take its time.
//!
//! Time is tokio's, so that tests can stop it. Coordinates are pixels of the screen as it is turned now.

use std::borrow::Cow;

use bytes::Bytes;
use mdm_wire::helper::Tree;
use tokio::time::{Duration, Instant};

use crate::app::datum::Datum;
use crate::app::geometry::{Point, Rect, Screen};
use crate::app::keyboard::Board;
use crate::app::widget::{Key, Widget};
use crate::app::{HttpAnswer, HttpRequest, Values};
use crate::draw::Pixels;
use crate::film::ShownNode;
use crate::framework::FrameworkTruth;
use crate::truth::{Hit, ReplayTruth};

/// Draws one picture of the screen as it was when it was asked for.
pub type Picture = Box<dyn FnOnce() -> Pixels + Send>;

pub trait Surface: Send {
    /// Lets everything happen that is due by `now`, each thing at its own time.
    fn advance(&mut self, now: Instant);

    /// Puts the content in order after a change, for a screen of this size, and returns what has happened since the
    /// last call.
    fn settle(&mut self, screen: &Screen) -> Vec<SurfaceEvent>;

    fn changes(&self, now: Instant) -> Changes;

    /// Returns package and activity in front, as `com.example` and `.MainActivity`.
    fn front(&self) -> (&str, &str);

    /// Returns the active window as `uiautomator dump` of that Android version writes it.
    fn hierarchy(&self, screen: &Screen, sdk: u32) -> Bytes;

    /// Returns all windows as accessibility tells them to a program on the phone, with what the hierarchy leaves out. The
    /// serial and the times are the reader's. Nothing for a surface that knows only its hierarchy.
    fn accessible(&self, _screen: &Screen, _sdk: u32) -> Option<Tree> {
        None
    }

    /// Lets accessibility act on the node at this place of [`Surface::accessible`], counted through all windows.
    fn perform(&mut self, _node: usize, _action: &Performed, _screen: &Screen, _now: Instant) -> Option<Hit> {
        None
    }

    /// Returns when accessibility may next hear of something that nobody did.
    fn next_change(&self, _now: Instant) -> Option<Instant> {
        self.next_due()
    }

    /// Prepares a picture of the screen. `wall_ms` is the time for the clock in the status bar, since 1970.
    fn picture(&self, screen: &Screen, now: Instant, wall_ms: u64) -> Picture;

    /// Returns what is on the screen as widgets, for a platform that describes them in another way than `hierarchy`.
    fn scene(&self, _screen: &Screen, _now: Instant) -> Option<Scene> {
        None
    }

    /// Says which input the next calls are about; nothing for what the phone does by itself.
    fn caused_by(&mut self, _input: Option<u64>) {}

    /// Returns what the finger landed on, if anything.
    fn tap(&mut self, at: Point, screen: &Screen, now: Instant) -> Option<Hit>;

    /// Returns the control that a finger lands on here, if a tap means something to one.
    fn control_at(&self, _at: Point, _screen: &Screen) -> Option<Datum> {
        None
    }

    /// Handles a finger that was lifted at `to`, `ms` after it came down at `from`. A finger that did not move is a tap
    /// or a long press. Returns what the finger came down on.
    fn swipe(&mut self, from: Point, to: Point, ms: u64, screen: &Screen, now: Instant) -> Option<Hit>;

    /// Handles a key by its Android key code.
    fn key(&mut self, code: u32, screen: &Screen, now: Instant);

    /// Types into the focused field and returns that field's name, or nothing when no field has the focus.
    fn type_text(&mut self, text: &str, now: Instant) -> Option<String>;

    /// Brings an app to the front, at its first activity when none is named; false when there is no such activity.
    fn launch(&mut self, package: &str, activity: Option<&str>, now: Instant) -> bool;

    /// Ends the process of an app, and deletes what it has saved if `clear_data` says so.
    fn kill(&mut self, package: &str, clear_data: bool, now: Instant);

    /// Returns the size of the screen for which the content was made, when no other fits.
    fn native_size(&self) -> Option<(u32, u32)> {
        None
    }

    /// Returns all tasks, the front one last.
    fn tasks(&self) -> Vec<Task<'_>> {
        let (package, activity) = self.front();
        vec![Task { id: 1, package, stack: vec![activity] }]
    }

    /// Returns what the window manager knows besides the activity in front.
    fn windows(&self, _screen: &Screen) -> Windows<'_> {
        Windows {
            focused: self.front(),
            dialog: None,
            keyboard: false,
            opening: false,
            responding: true,
            locked: false,
        }
    }

    /// Returns when something will happen by itself, so that the phone can wake up for it.
    fn next_due(&self) -> Option<Instant> {
        None
    }

    /// True while something moves on its own, such as a list that was thrown.
    fn is_moving(&self) -> bool {
        false
    }

    /// Returns every toast since boot, in order of time. Toasts are in no hierarchy.
    fn toasts(&self) -> &[Toast] {
        &[]
    }

    /// Returns the nodes of the active window for [`crate::Film`].
    fn shown_nodes(&self, _screen: &Screen) -> Vec<ShownNode> {
        Vec::new()
    }

    /// Returns what a person sees of a screen that is only drawn, for [`crate::Film`].
    fn pictured_nodes(&self, _screen: &Screen) -> Vec<ShownNode> {
        Vec::new()
    }

    /// Returns a number that differs when something else is drawn that the hierarchy does not show, for
    /// [`crate::Film`].
    fn drawing(&self, _screen: &Screen) -> u64 {
        0
    }

    /// Returns for each node of the hierarchy, in its order, whether it can scroll forward and back. Helpers report
    /// that; the hierarchy does not say it.
    fn scroll_directions(&self, _screen: &Screen) -> Vec<(bool, bool)> {
        Vec::new()
    }

    /// Returns what only tests may know.
    fn truth(&self) -> SurfaceTruth {
        SurfaceTruth::default()
    }

    /// Returns what an app keeps in its preferences.
    fn saved(&self, _package: &str) -> Values {
        Values::default()
    }

    /// Follows a touch that is not over. The whole gesture comes through `swipe` or `pinch_target` when it is.
    fn touch(&mut self, _touch: Touch, _screen: &Screen, _now: Instant) {}

    /// Returns what two fingers zoom when they come down at these points.
    fn pinch_target(&self, _fingers: [Point; 2], _screen: &Screen) -> Option<Hit> {
        None
    }

    /// Returns how long a drag takes on a surface that plays it from its beginning; `None` where it takes place at once,
    /// at its end.
    fn drag_time(&self, _ms: u64) -> Option<Duration> {
        None
    }

    /// Handles a long press that moves and lets go.
    fn drag_and_drop(
        &mut self,
        from: Point,
        to: Point,
        ms: u64,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        self.swipe(from, to, ms, screen, now)
    }

    /// Selects the whole text of the focused field.
    fn select_all(&mut self) {}

    /// Presses the focused element long, with a key; false when it does not take that.
    fn long_press_focused(&mut self, _screen: &Screen, _now: Instant) -> bool {
        false
    }

    /// Replaces the text of the field at a point, as the accessibility action does, and returns the field's name.
    fn set_text(&mut self, _at: Point, _text: &str, _screen: &Screen, _now: Instant) -> Option<String> {
        None
    }

    /// Hears of an app that was installed from a file, or whose language changed. Its code is not there to run.
    fn installed(&mut self, _app: &InstalledApp, _now: Instant) {}

    /// Hears of an app that was removed.
    fn uninstalled(&mut self, _package: &str, _now: Instant) {}

    /// Hears of something that the system did or wants; true when it has an effect on this surface.
    fn system(&mut self, _event: SystemEvent, _now: Instant) -> bool {
        false
    }

    /// Returns the jar of our helper whose code this surface runs by itself. Nothing for a surface that does not; there
    /// the phone's own model of the helper serves.
    fn helper_jar(&self) -> Option<Bytes> {
        None
    }

    /// Hands over what a client of the helper sent, and lets the helper do what is due. Nothing when it is gone.
    fn helper(&mut self, _connection: u32, _step: HelperStep<'_>) -> Option<HelperState> {
        None
    }

    /// Hears of the language that was set for the app in front, as a tag such as `de-DE`; empty for the system's.
    fn language(&mut self, _tag: &str, _now: Instant) {}

    /// Receives the answer to a request of [`SurfaceEvent::Request`]; it takes effect at `at`.
    fn answer(&mut self, _request: OutgoingRequest, _answer: HttpAnswer, _at: Instant) {}
}

/// What happens to a connection of the helper.
#[derive(Debug, Clone, Copy)]
pub enum HelperStep<'a> {
    Open {
        nonce: &'a [u8],
    },
    /// Bytes of the client came, or time passed. `is_free` if this helper may have UiAutomation.
    Step {
        is_free: bool,
        input: &'a [u8],
    },
    Close,
}

/// How a connection of the helper stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperState {
    pub is_open: bool,
    pub holds_automation: bool,
    /// When it is to be stepped again.
    pub due: Option<Instant>,
    /// Whole frames for the client.
    pub output: Vec<u8>,
}

/// An action of accessibility on a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Performed {
    Click,
    LongClick,
    Focus,
    ScrollForward,
    ScrollBackward,
    SetText(String),
    SetProgress(f32),
}

/// The widgets on the screen, laid out.
#[derive(Debug, Clone)]
pub struct Scene {
    pub package: &'static str,
    /// The name of the app in front.
    pub label: &'static str,
    pub window: Widget,
    /// The topmost dialog, menu or window of the system over it.
    pub dialog: Option<Widget>,
    /// The dialog is one of the system and not of the app.
    pub dialog_of_system: bool,
    /// How far each scroll container can scroll, in pixels.
    pub scroll_most: Vec<(Key, i32)>,
    /// The keyboard and which keys it shows.
    pub keyboard: Option<Board>,
    pub toast: Option<String>,
}

/// An app that was installed from a file, as its manifest tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledApp {
    pub package: String,
    pub label: String,
    /// For people: name and number.
    pub version: String,
    /// The languages that were set for this app; empty when none were.
    pub language: String,
    pub activities: Vec<String>,
    pub entry: String,
}

/// What the rest of the phone must hear about: it becomes processes, log lines and requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SurfaceEvent {
    Log {
        at: Instant,
        package: Cow<'static, str>,
        priority: char,
        tag: Cow<'static, str>,
        message: String,
    },
    Started {
        at: Instant,
        package: Cow<'static, str>,
        activity: Cow<'static, str>,
        /// The app itself opened the activity.
        within: bool,
    },
    Crashed {
        at: Instant,
        package: Cow<'static, str>,
        activity: Cow<'static, str>,
        exception: String,
        frames: Vec<String>,
    },
    NotResponding {
        at: Instant,
        package: Cow<'static, str>,
        activity: Cow<'static, str>,
    },
    /// A person closed an app that did not respond.
    Closed {
        at: Instant,
        package: Cow<'static, str>,
    },
    /// An app asks a server. A surface with a network of its own does not need this.
    Request(OutgoingRequest),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    pub package: &'static str,
    pub at: Instant,
    pub request: HttpRequest,
    /// The input that led to it.
    pub cause: Option<u64>,
    /// The app trusts certificates that the user installed.
    pub trusts_user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    /// Grows with everything that accessibility hears of.
    pub count: u64,
    /// When accessibility last heard of a change.
    pub reported_at: Instant,
    /// When the pixels last changed, also by something that accessibility does not hear of.
    pub visible_at: Instant,
}

/// A task and its activities, the top one last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task<'a> {
    pub id: u32,
    pub package: &'a str,
    pub stack: Vec<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows<'a> {
    /// Package and activity that have the focus: a permission is asked for by an activity of another app.
    pub focused: (&'a str, &'a str),
    /// The place of the dialog over the activity.
    pub dialog: Option<Rect>,
    pub keyboard: bool,
    /// The app in front has drawn nothing yet: accessibility finds no window.
    pub opening: bool,
    /// False while the main thread of the app in front is stuck.
    pub responding: bool,
    /// The screen is locked.
    pub locked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub from: Instant,
    pub until: Instant,
}

/// What a surface tells tests about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SurfaceTruth {
    pub values: Values,
    pub replay: Option<ReplayTruth>,
    pub framework: Option<FrameworkTruth>,
}

/// A part of a touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Touch {
    /// A finger came down and stays until a swipe from here ends, or the touch is cancelled.
    Down(Point),
    /// A finger came down at `from` and will move evenly to `to` in this time.
    Begins {
        from: Point,
        to: Point,
        time: Duration,
    },
    /// The finger that is down is now here.
    At(Point),
    Cancelled,
    /// Two fingers of a touch panel. What this does to their distance is told by `Zooms` as well.
    Two {
        at: [Point; 2],
        part: TouchPart,
    },
    /// Two fingers that came down at these points changed their distance by this factor.
    Zooms {
        fingers: [Point; 2],
        factor: f32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TouchPart {
    Down,
    Move,
    Up,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemEvent {
    /// The screen's size, density or rotation changed, or the language.
    ConfigurationChanged,
    NightMode(bool),
    /// The size of text changed: 1000 is the usual one.
    FontScale {
        thousandths: u32,
    },
    /// A program that reads the screen through accessibility came, or went.
    AccessibilityReader(bool),
    OpenShade,
    CloseShade,
    /// The system shows a dialog that no app asked for.
    Alert {
        title: &'static str,
        message: &'static str,
    },
    /// The screen is locked, or unlocked again.
    Locked(bool),
    /// The app that was just started draws its window at this time.
    WindowDelayed {
        until: Instant,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PhoneConfig;
    use crate::state::State;
    use crate::truth::Applied;

    /// A surface with nothing but what must be there: a page that counts taps.
    struct Page {
        taps: u64,
        at: Instant,
    }

    impl Surface for Page {
        fn advance(&mut self, _now: Instant) {}

        fn settle(&mut self, _screen: &Screen) -> Vec<SurfaceEvent> {
            Vec::new()
        }

        fn changes(&self, _now: Instant) -> Changes {
            Changes { count: self.taps, reported_at: self.at, visible_at: self.at }
        }

        fn front(&self) -> (&str, &str) {
            ("org.example.page", ".Page")
        }

        fn hierarchy(&self, _screen: &Screen, _sdk: u32) -> Bytes {
            Bytes::from(format!("<hierarchy><node text=\"{}\"/></hierarchy>", self.taps))
        }

        fn picture(&self, _screen: &Screen, _now: Instant, _wall_ms: u64) -> Picture {
            Box::new(|| Pixels { width: 1, height: 1, rgba: vec![0; 4] })
        }

        fn tap(&mut self, _at: Point, _screen: &Screen, now: Instant) -> Option<Hit> {
            (self.taps, self.at) = (self.taps + 1, now);
            None
        }

        fn swipe(&mut self, _: Point, _: Point, _: u64, _: &Screen, _: Instant) -> Option<Hit> {
            None
        }

        fn key(&mut self, _code: u32, _screen: &Screen, _now: Instant) {}

        fn type_text(&mut self, _text: &str, _now: Instant) -> Option<String> {
            None
        }

        fn launch(&mut self, package: &str, _activity: Option<&str>, _now: Instant) -> bool {
            package == self.front().0
        }

        fn kill(&mut self, _package: &str, _clear_data: bool, _now: Instant) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_surface_with_only_the_required_methods_makes_a_phone() {
        let now = Instant::now();
        let mut state = State::with_surface(PhoneConfig::default(), Box::new(Page { taps: 0, at: now }), now);
        state.tap(5, 6);
        state.long_key(66);
        assert_eq!(state.hierarchy(), "<hierarchy><node text=\"1\"/></hierarchy>");
        let truth = state.truth();
        assert_eq!(truth.inputs, [Applied::Tap { at: (5, 6), hit: None }, Applied::Key { code: 66 }]);
        assert_eq!(truth.activity, "org.example.page/.Page");
        assert!(truth.packages.contains(&"org.example.page".to_owned()) && !state.is_rootless());
    }
}
