//! The configuration of a new phone.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mdm_wire::adb::auth::PublicKey;

use crate::app::user::AppFile;
use crate::faults::Faults;
use crate::replay::Recording;

#[derive(Debug, Clone)]
pub struct PhoneConfig {
    pub model: String,
    pub android_version: String,
    pub sdk: u32,
    pub width: u32,
    pub height: u32,
    /// Dots per inch; 160 is one pixel per dp.
    pub density: u32,
    pub auth: Auth,
    /// Whose customs the drawn apps and the system's windows follow.
    pub platform: Platform,
    pub timing: Timing,
    /// A tree that `uiautomator dump` serves verbatim instead of the app's.
    pub hierarchy: Option<Bytes>,
    /// A recording to play instead of the phone's own apps; the screen gets its size.
    pub replay: Option<Arc<Recording>>,
    /// Apps to install beside the phone's own.
    pub apps: Vec<Arc<AppFile>>,
    /// The network for apps. They can always use a reverse forward on the phone itself.
    pub network: Network,
    /// Certificates of authorities, in PEM, that every app trusts.
    pub system_certificates: Vec<String>,
    pub faults: Faults,
    /// Varies pids, tokens and noise; the same seed gives the same phone.
    pub seed: u64,
    /// Uses the adbd of Android 4: the first protocol, 4096 bytes a frame, no features.
    pub old_adbd: bool,
    /// What a shell may do with the device file of the touch panel.
    pub dev_input: DevInput,
    /// Some maker's clipboard service takes commands of the shell. Android's own takes none.
    pub clipboard_commands: bool,
    /// Records everything that the screen shows, for [`crate::Phone::film`].
    pub film: bool,
    /// Whose trees the film shows.
    pub reader: Reader,
}

impl Default for PhoneConfig {
    fn default() -> PhoneConfig {
        PhoneConfig {
            model: "Virtual Phone".to_owned(),
            android_version: "16".to_owned(),
            sdk: 36,
            width: 1080,
            height: 2400,
            density: 420,
            auth: Auth::Open,
            platform: Platform::Android,
            timing: Timing::Instant,
            hierarchy: None,
            replay: None,
            apps: Vec::new(),
            network: Network::Off,
            system_certificates: Vec::new(),
            faults: Faults::default(),
            seed: 1,
            old_adbd: false,
            dev_input: DevInput::Writable,
            clipboard_commands: false,
            film: false,
            reader: Reader::Uiautomator,
        }
    }
}

/// What a person who holds the phone meets: how one goes back, what the system says when an app crashes, the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Platform {
    #[default]
    Android,
    Ios,
}

/// A program that reads the screen: each leaves out something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reader {
    #[default]
    Uiautomator,
    WebDriverAgent,
    Companion,
}

/// Access of a shell to /dev/input, which differs between makers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevInput {
    Writable,
    ReadOnly,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// No host can be resolved.
    #[default]
    Off,
    /// Real requests.
    On {
        /// The server for Workbench's network screen, such as `http://127.0.0.1:8080`. Without one the screen makes
        /// up its answers.
        api: Option<String>,
    },
}

impl Network {
    pub(crate) fn api(&self) -> Option<&str> {
        match self {
            Network::On { api } => api.as_deref(),
            Network::Off => None,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Auth {
    /// Every host may connect without AUTH, as on emulators.
    Open,
    /// Only these keys are accepted; nobody ever answers the dialog for an unknown one.
    Keys(Vec<PublicKey>),
    /// A person accepts every new key on the screen.
    AcceptNew,
    /// A person refuses every key.
    Refuse,
}

/// How long the programs behind `uiautomator` and `input` take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    Instant,
    Brisk,
    Phone,
}

impl Timing {
    /// Returns the time from the command to the first line of Java.
    pub(crate) fn start(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 20,
            Timing::Phone => 500,
        })
    }

    /// Returns the time that uninstalling takes: some clients are not ready for an immediate answer.
    pub(crate) fn removal(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 40,
            Timing::Phone => 400,
        })
    }

    /// Returns how long there must be no accessibility event before a dump.
    pub(crate) fn quiet(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 60,
            Timing::Phone => 1000,
        })
    }

    /// Returns how long WebDriverAgent takes for a tree: about 2.5 ms an element on a phone.
    pub(crate) fn wda_tree(self, elements: usize) -> Duration {
        Duration::from_micros(match self {
            Timing::Instant => 0,
            Timing::Brisk => 500 * elements as u64,
            Timing::Phone => 2500 * elements as u64,
        })
    }

    /// Returns how long idb's companion takes for a tree.
    pub(crate) fn companion_tree(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 5,
            Timing::Phone => 20,
        })
    }

    /// Returns how long our helper takes for a tree. Others that keep UiAutomation report 6 to 17 ms for small screens on
    /// a computer's emulator; a phone is assumed to take some times as long. Not measured on a phone.
    pub(crate) fn helper_tree(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 5,
            Timing::Phone => 60,
        })
    }

    /// Returns how long our helper takes to hand an input to the system, besides the gesture itself.
    pub(crate) fn helper_input(self) -> Duration {
        Duration::from_millis(match self {
            Timing::Instant => 0,
            Timing::Brisk => 1,
            Timing::Phone => 5,
        })
    }

    /// Returns how long a dump waits for that before it fails.
    pub(crate) fn idle_limit(self) -> Duration {
        Duration::from_secs(10)
    }
}

/// A fault of the next `uiautomator dump`, and only of that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpFault {
    /// The screen never comes to rest: the error after the full idle limit, exit 0, no file.
    NotIdle,
    /// Between two apps: "null root node", exit 0, no file.
    NullRoot,
    /// Only this many bytes of the tree reach the file.
    Truncated(usize),
    /// The process dies: exit 137, no file.
    Killed,
    /// An error line at once, exit 0, and an old file stays as it was.
    ErrorExitZero,
    /// The dump takes this many milliseconds longer than usual.
    Slow(u64),
    /// The tree has no nodes.
    NoNodes,
    /// The tree is that of the previous dump.
    Stale,
}
