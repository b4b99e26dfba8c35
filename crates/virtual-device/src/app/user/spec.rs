//! The format of an app file (docs/virtual-apps.md). Unknown members are mistakes: a misspelt one must not be
//! ignored.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppSpec {
    pub package: String,
    pub label: String,
    #[serde(default)]
    pub style: StyleSpec,
    /// Certificates that the user installed are trusted, as a debug build may be told to.
    #[serde(default)]
    pub trusts_user_certificates: bool,
    /// The screen that the launcher opens.
    pub start: String,
    #[serde(default)]
    pub values: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub lists: BTreeMap<String, ListSpec>,
    /// Values and lists that survive the process.
    #[serde(default)]
    pub saved: Vec<String>,
    pub screens: BTreeMap<String, ScreenSpec>,
    #[serde(default)]
    pub dialogs: BTreeMap<String, DialogSpec>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListSpec {
    pub columns: Vec<String>,
    #[serde(default)]
    pub rows: Vec<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StyleSpec {
    #[default]
    View,
    Compose,
    ReactNative,
    Flutter,
    WebView,
    Game,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a text, a number, true or false")]
pub enum Scalar {
    Flag(bool),
    Number(f64),
    Text(String),
}

impl Scalar {
    pub fn kind(&self) -> &'static str {
        match self {
            Scalar::Flag(_) => "true or false",
            Scalar::Number(_) => "a number",
            Scalar::Text(_) => "a text",
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.clone(),
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Scalar::Flag(flag) => !flag,
            Scalar::Number(number) => *number == 0.0,
            Scalar::Text(text) => text.trim().is_empty(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenSpec {
    /// The default is the screen's name with "Activity" after it.
    pub activity: Option<String>,
    /// The title of a toolbar with an up button.
    pub title: Option<String>,
    pub style: Option<StyleSpec>,
    /// Makes screenshots black.
    #[serde(default)]
    pub secure: bool,
    pub content: Vec<WidgetSpec>,
    #[serde(default)]
    pub on_open: Script,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogSpec {
    pub title: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub shape: DialogShape,
    /// Rows of a list.
    #[serde(default)]
    pub list: Vec<WidgetSpec>,
    /// What it shows besides.
    #[serde(default)]
    pub content: Vec<WidgetSpec>,
    #[serde(default)]
    pub answers: Vec<AnswerSpec>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogShape {
    #[default]
    Alert,
    /// A dialog of the app's own content.
    Bare,
    /// A popup without title and buttons.
    Popup,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerSpec {
    pub text: String,
    #[serde(rename = "do", default)]
    pub script: Script,
    /// The number of the widget, by which its key is found; counted when the file is read.
    #[serde(skip)]
    pub key: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Column,
    Row,
    Stack,
    Scroll,
    Card,
    Space,
    Heading,
    Text,
    Caption,
    Error,
    Button,
    TextButton,
    ImageButton,
    Image,
    Spinner,
    Field,
    Switch,
    CheckBox,
    Radio,
    Tab,
    DropDown,
    Slider,
    List,
    /// A view of any class, which may hold others.
    View,
    Toggle,
    CheckedText,
    Progress,
    Rating,
    NumberPicker,
    DatePicker,
    TimePicker,
    Calendar,
    Chronometer,
    Search,
    TabHost,
    /// A list of the platform's own, whose rows take no taps themselves.
    ListView,
}

impl Kind {
    pub fn holds_others(self) -> bool {
        matches!(self, Kind::Column | Kind::Row | Kind::Stack | Kind::Scroll | Kind::Card | Kind::View)
            || self.has_rows()
    }

    pub fn has_rows(self) -> bool {
        matches!(self, Kind::List | Kind::ListView)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WidgetSpec {
    #[serde(rename = "type")]
    pub kind: Kind,
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub hint: String,
    pub class: Option<String>,
    /// The value that it shows and changes.
    pub value: Option<String>,
    /// The value of a radio button or a tab.
    pub option: Option<String>,
    /// The options of a drop-down.
    #[serde(default)]
    pub options: Vec<String>,
    #[serde(default)]
    pub disabled: bool,
    #[serde(default)]
    pub selected: bool,
    /// True or false instead of what its type does.
    pub focusable: Option<bool>,
    #[serde(default)]
    pub password: bool,
    #[serde(default)]
    pub rules: Rules,
    /// A slider's smallest and largest value, and its step.
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub step: Option<f64>,
    pub width: Option<i32>,
    pub height: Option<i32>,
    pub padding: Option<i32>,
    pub gap: Option<i32>,
    /// The distance from the corner of a stack.
    pub x: Option<i32>,
    pub y: Option<i32>,
    /// Its height over the other children of a stack; among equals the later one is on top.
    pub raised: Option<i32>,
    /// Scrolls from left to right.
    #[serde(default)]
    pub sideways: bool,
    /// Reports that it scrolls, but does not.
    #[serde(default)]
    pub locked: bool,
    /// A picker of dates or times shows wheels.
    #[serde(default)]
    pub wheels: bool,
    /// A picker of times counts hours to 12.
    #[serde(default)]
    pub half_days: bool,
    /// A number picker stops at its ends.
    #[serde(default)]
    pub stops: bool,
    /// How many times faster than usual it flings.
    pub glide: Option<i32>,
    /// The script that runs when it was scrolled to its end.
    #[serde(default)]
    pub on_end: Script,
    /// The name of the list that a list widget shows.
    pub rows: Option<String>,
    #[serde(default)]
    pub children: Vec<WidgetSpec>,
    #[serde(default)]
    pub when: Vec<Condition>,
    #[serde(default)]
    pub enabled_when: Vec<Condition>,
    #[serde(default)]
    pub on_tap: Script,
    #[serde(default)]
    pub on_long_press: Script,
    /// The number of the answer, by which its key is found; counted when the file is read.
    #[serde(skip)]
    pub key: &'static str,
    #[serde(skip)]
    pub class_name: Option<&'static str>,
}

/// The rules of a field; a broken one shows as an error below the field once it was checked.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(default)]
    pub required: bool,
    pub min_chars: Option<usize>,
    pub max_chars: Option<usize>,
    /// Exactly this many digits, and nothing else but spaces.
    pub digits: Option<usize>,
    #[serde(default)]
    pub email: bool,
    /// The error text instead of the general one.
    pub message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub value: Option<String>,
    /// A list instead of a value; only `empty` can be tested.
    pub rows: Option<String>,
    pub is: Option<Scalar>,
    pub not: Option<Scalar>,
    pub empty: Option<bool>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

/// Actions in order. They are shared, because a timer may hold them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Vec<Action>")]
pub struct Script(pub Arc<Vec<Action>>);

impl From<Vec<Action>> for Script {
    fn from(actions: Vec<Action>) -> Script {
        Script(Arc::new(actions))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Opens a screen over this one.
    Go(String),
    /// Opens a screen and closes all that are open.
    Replace(String),
    Back,
    Dialog(String),
    CloseDialog,
    HideKeyboard,
    Toast(String),
    Notify {
        title: String,
        text: String,
    },
    Set(BTreeMap<String, Scalar>),
    Toggle(String),
    Add(BTreeMap<String, f64>),
    AddRow {
        to: String,
        row: BTreeMap<String, String>,
        /// The place among the rows, from 0; at the end without one.
        at: Option<usize>,
    },
    SetRow(BTreeMap<String, String>),
    RemoveRow,
    /// Removes the row at a place, if there is one.
    RemoveRowAt {
        from: String,
        at: usize,
    },
    After {
        ms: u64,
        #[serde(rename = "do")]
        script: Script,
    },
    If {
        all: Vec<Condition>,
        then: Script,
        #[serde(rename = "else", default)]
        otherwise: Script,
    },
    /// Continues only if these fields keep their rules.
    Check {
        fields: Vec<String>,
        #[serde(rename = "else", default)]
        otherwise: Script,
    },
    Log {
        #[serde(default = "info")]
        priority: char,
        tag: String,
        message: String,
    },
    /// Writes numbered lines to the log for a while, as a badly behaved app does.
    LogStorm(LogStorm),
    Crash(String),
    /// Blocks the main thread for this many milliseconds.
    Freeze(u64),
    Permission {
        name: String,
        question: String,
        #[serde(default)]
        granted: Script,
        #[serde(default)]
        denied: Script,
    },
    Http(Box<HttpSpec>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogStorm {
    pub tag: String,
    /// Lines at a time.
    pub lines: u32,
    pub every_ms: u64,
    pub times: u32,
    /// The number of the next line.
    #[serde(skip)]
    pub next: u64,
}

fn info() -> char {
    'I'
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSpec {
    #[serde(default = "get")]
    pub method: String,
    pub url: String,
    #[serde(default)]
    pub body: String,
    /// Names of the values that receive the status and the body.
    pub status_to: Option<String>,
    pub body_to: Option<String>,
    /// Runs after a status from 200 to 299.
    #[serde(default)]
    pub ok: Script,
    /// Runs after any other status, or none.
    #[serde(default)]
    pub failed: Script,
}

fn get() -> String {
    "GET".to_owned()
}
