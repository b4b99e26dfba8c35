//! The tools: one file a family, each with its parameters, its description and its handler.

mod action;
mod adjust;
mod aftermath;
mod apps;
mod build;
mod changed;
mod classify;
mod crashes;
mod devices;
mod expects;
mod find;
mod flow;
mod gestures;
mod install;
mod keys;
mod log_lines;
mod logs;
mod manage;
mod mock;
mod network;
mod observe;
mod read_list;
mod screenshot;
mod scroll;
mod snapshot;
mod spoken;
mod status;
mod streams;
mod taps;
mod transitions;
mod typing;
mod waits;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::Dispatch;
use mdm_engine::{Progress, Session, WantedDevice};
use mdm_ios::route::Way;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::app::App;
use crate::args::{self, Argument, JsonObject};
use crate::audit::Audited;
use crate::caller::Caller;
use crate::leases::Held;
use crate::refusal::Refusal;

pub use flow::{NAME as FLOW, steps as flow_steps};
pub use install::hint as install_hint;

/// The facts of every family's answers.
pub mod facts {
    pub use super::action::ActionFacts;
    pub use super::classify::ClassifiedFacts;
    pub use super::crashes::{CrashFacts, CrashListFacts, LogFileFacts, lines as crash_lines};
    pub use super::devices::{DeviceLine, DevicesFacts, UseDeviceFacts};
    pub use super::expects::ExpectFacts;
    pub use super::flow::FlowFacts;
    pub use super::logs::LogFacts;
    pub use super::manage::AppsFacts;
    pub use super::mock::MockFacts;
    pub use super::network::NetworkFacts;
    pub use super::observe::{FingerprintFacts, ScreenFacts};
    pub use super::screenshot::ScreenshotFacts;
    pub use super::snapshot::SnapshotFacts;
    pub use super::spoken::SpokenFacts;
    pub use super::status::StatusFacts;
    pub use super::streams::StreamFacts;
    pub use super::waits::facts::WaitFacts;
}

/// The end of a call whose tool has none of its own, far behind that of every tool.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(3600);

/// What a call may do to the device: shown to clients, which ask their users before the last kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    ReadOnly,
    Acts,
    Destroys,
}

/// What clients are told of a tool besides what its effect says. Not to say it is the careful answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing on a device, and can change something else: files of this machine, or which device is used.
    pub writes: bool,
    /// What is there already stays as it is.
    pub only_adds: bool,
    /// The same call once more changes nothing more.
    pub idempotent: bool,
}

impl Hints {
    const NONE: Hints = Hints { writes: false, only_adds: false, idempotent: false };
    const ONLY_ADDS: Hints = Hints { only_adds: true, ..Hints::NONE };
    const WRITES_NEW_FILES: Hints = Hints { writes: true, only_adds: true, ..Hints::NONE };
    const IDEMPOTENT: Hints = Hints { idempotent: true, ..Hints::NONE };
}

/// One call of a tool.
struct Call<'a> {
    app: &'a App,
    progress: &'a Progress,
    tool: &'static str,
    /// Of a tool that acts, from the first moment on: a refused action has one too.
    action_id: String,
    by: &'a By,
    /// The audit log has its beginning.
    begun: AtomicBool,
    /// The device that the call went to.
    chosen: Mutex<Option<Arc<Session>>>,
}

impl Call<'_> {
    /// The device that is meant; kept for this caller when the call may change something on it.
    async fn device(&self, wanted: &WantedDevice, progress: &Progress) -> Result<Arc<Session>, Refusal> {
        if let Some(id) = &wanted.id {
            self.app.policy.check_device(id)?;
        }
        let session = self.app.fleet.choose(wanted, &self.by.caller.binding, progress).await?;
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&session));
        if self.acts() {
            self.by.hold(self.app.leases.take(session.id(), &self.by.caller)?);
        }
        Ok(session)
    }

    fn audited(&self) -> Audited<'_> {
        Audited {
            call: self.by.call,
            caller: &self.by.caller.name,
            tool: self.tool,
            action_id: &self.action_id,
            begun: self.begun.load(Ordering::Relaxed),
        }
    }

    fn acts(&self) -> bool {
        !self.action_id.is_empty()
    }

    /// Whether an action that usually waits for rest does so here unless its caller says (LC-07).
    fn settles(&self, usually: bool) -> bool {
        usually && self.app.settles
    }

    /// The real place of a file that may be written, unless nothing is to be written for anybody.
    fn writable(&self, file: &Path) -> Result<PathBuf, Refusal> {
        if self.app.offer.read_only {
            let message = "this server was started with --read-only and writes no files for its callers";
            return Err(Failure::new(Cause::Forbidden, message).into());
        }
        self.app.roots.writable(file)
    }

    /// What names no app may only be done while one that is allowed is in front.
    async fn check_app_in_front(&self, session: &Session, progress: &Progress) -> Result<(), Refusal> {
        if !self.app.policy.limits_apps() {
            return Ok(());
        }
        let screen = session.screen(progress).await?;
        self.app.policy.check_app(&screen.app)
    }
}

/// Who calls, and what the call is known by.
pub struct By {
    pub caller: Arc<Caller>,
    pub cancelled: CancellationToken,
    /// For those who listen to what happens.
    pub call: u64,
    /// The devices that are kept for the caller until the whole call is over, also between the steps of a flow.
    held: Mutex<Vec<Held>>,
}

impl By {
    pub fn new(app: &App, caller: Arc<Caller>, cancelled: CancellationToken) -> By {
        By { caller, cancelled, call: app.next_call(), held: Mutex::default() }
    }

    fn hold(&self, device: Held) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(device);
    }
}

/// One tool. Handlers translate: what they do lives in the engine.
trait Tool {
    type Params: DeserializeOwned + JsonSchema + Send;
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    const HINTS: Hints = Hints::NONE;
    /// After this an answer comes in any case.
    const TIMEOUT: Duration;
    /// The first line of its answer, where that says all.
    const OUTPUT: Option<fn() -> JsonObject> = None;

    fn run(call: &Call<'_>, params: Self::Params) -> impl Future<Output = Result<Answer, Refusal>> + Send;
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + 'a>>;

/// A tool as clients and the command line see it.
pub struct Entry {
    pub name: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    pub hints: Hints,
    timeout: Duration,
    schema: fn() -> JsonObject,
    output: Option<fn() -> JsonObject>,
    arguments: fn() -> Vec<Argument>,
    /// The names of its arguments, once somebody has used it.
    known: OnceLock<Vec<Argument>>,
    check: fn(JsonObject) -> Result<(), Refusal>,
    run: for<'a> fn(&'a Call<'a>, JsonObject) -> Running<'a>,
}

impl Entry {
    const fn of<T: Tool>() -> Entry {
        Entry {
            name: T::NAME,
            description: T::DESCRIPTION,
            effect: T::EFFECT,
            hints: T::HINTS,
            timeout: T::TIMEOUT,
            schema: args::schema::<T::Params>,
            output: T::OUTPUT,
            arguments: args::arguments::<T::Params>,
            known: OnceLock::new(),
            check: |arguments| args::parse::<T::Params>(arguments).map(drop),
            run: run::<T>,
        }
    }

    /// As clients see it.
    pub fn schema(&self) -> JsonObject {
        (self.schema)()
    }

    pub fn output_schema(&self) -> Option<JsonObject> {
        self.output.map(|schema| schema())
    }

    pub fn has_output_schema(&self) -> bool {
        self.output.is_some()
    }

    pub fn arguments(&self) -> &[Argument] {
        self.known.get_or_init(self.arguments)
    }

    pub fn takes(&self, argument: &str) -> bool {
        self.arguments().iter().any(|known| known.name == argument)
    }

    /// Reads the arguments without doing anything.
    pub fn check(&self, arguments: JsonObject) -> Result<(), Refusal> {
        (self.check)(args::named(self.arguments(), arguments)?)
    }

    /// Always answers: bad arguments, failures and bugs become answers too.
    pub async fn call(&self, app: &App, arguments: JsonObject, cancelled: CancellationToken) -> Answer {
        let by = By::new(app, Arc::clone(&app.own), cancelled);
        self.call_by(app, arguments, by).await
    }

    /// The same for one caller of several, who also hears of crashes on its device.
    pub async fn call_by(&self, app: &App, arguments: JsonObject, by: By) -> Answer {
        let caller = Arc::clone(&by.caller);
        let answer = self.read_by(app, arguments, by).await;
        let crashes = app.fleet.take_untold_crashes(&caller.binding);
        answer.with_news(&crashes.iter().map(aftermath::news).collect::<String>())
    }

    /// The same without the news, for what shows them to nobody.
    pub async fn read_by(&self, app: &App, arguments: JsonObject, by: By) -> Answer {
        let bus = Arc::clone(app.fleet.bus());
        let progress = Progress::new(CALL_TIMEOUT, by.cancelled.clone()).telling(bus, by.call);
        let called = mdm_ios::served::noting(self.call_within(app, arguments, &by, &progress));
        let ((answer, served), on_android) = mdm_android::served::noting(called).await;
        let told = served.words.iter().chain(&on_android.words);
        let started: String = told.map(|words| format!("{words}\n")).collect();
        let shell = on_android.by_shell.then_some("shell");
        let ways = served.ways.into_iter().map(Way::as_str).chain(shell);
        answer.with_news(&started).served_by(ways)
    }

    /// The answer to a call that is not even begun.
    pub fn refusing(&self, app: &App, arguments: &JsonObject, by: &By, refusal: &Refusal) -> Answer {
        let progress = Progress::new(self.timeout, by.cancelled.clone());
        let call = self.begin(app, by, &progress);
        let answer = self.refused(&call, refusal);
        if let Some(audit) = &app.audit {
            audit.end(&call.audited(), arguments, &answer, 0);
        }
        if let Some(file) = &app.trace_file {
            file.call(&call.audited(), arguments);
            file.answer(&call.audited(), &answer, 0);
        }
        answer
    }

    fn begin<'a>(&self, app: &'a App, by: &'a By, progress: &'a Progress) -> Call<'a> {
        let action_id = if self.acts() { app.action_id(self.name) } else { String::new() };
        let begun = AtomicBool::new(false);
        Call { app, progress, tool: self.name, action_id, by, begun, chosen: Mutex::default() }
    }

    /// The same as a part of another call, which ends by that call's deadline.
    pub async fn call_within(&self, app: &App, arguments: JsonObject, by: &By, whole: &Progress) -> Answer {
        app.secrets.remember_given(&arguments);
        let progress = &whole.part(self.timeout);
        let call = self.begin(app, by, progress);
        if let Some(file) = &app.trace_file {
            file.call(&call.audited(), &arguments);
        }
        let mut answer = match self.admit(&call, &arguments) {
            Ok(()) => self.answer(&call, arguments.clone()).await,
            Err(refusal) => self.refused(&call, &refusal),
        };
        answer.basis.session = call.chosen.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(audit) = &app.audit {
            audit.end(&call.audited(), &arguments, &answer, progress.elapsed_ms());
        }
        if let Some(file) = &app.trace_file {
            file.answer(&call.audited(), &answer, progress.elapsed_ms());
        }
        answer
    }

    /// Whether this call may be done at all. An action is written down first.
    fn admit(&self, call: &Call<'_>, arguments: &JsonObject) -> Result<(), Refusal> {
        let app = call.app;
        if !app.offer.answers(self.name) {
            let message = format!("{} is not offered by this server", self.name);
            return Err(Failure::new(Cause::Forbidden, message).into());
        }
        let apps = arguments.iter().filter(|(name, _)| args::is_app(name));
        if app.policy.limits_apps() && self.acts() {
            apps.filter_map(|(_, id)| id.as_str()).try_for_each(|id| app.policy.check_app(id))?;
        }
        match &app.audit {
            Some(audit) if self.acts() => {
                audit.begin(&call.audited(), arguments)?;
                call.begun.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn answer(&self, call: &Call<'_>, arguments: JsonObject) -> Answer {
        let ready = args::named(self.arguments(), arguments).and_then(|mut arguments| {
            // The steps of a flow are filled when they are done.
            if self.name != flow::NAME {
                call.app.handles.fill(&mut arguments)?;
            }
            Ok(arguments)
        });
        let done = match ready {
            Ok(arguments) => AssertUnwindSafe((self.run)(call, arguments)).catch_unwind().await,
            Err(refusal) => Ok(Err(refusal)),
        };
        let refusal = match done {
            Ok(Ok(answer)) => return answer,
            Ok(Err(refusal)) => refusal,
            Err(_) => {
                call.app.note_panic();
                tracing::error!(call = call.by.call, tool = self.name, "a defect ended the call");
                Failure::new(Cause::Defect, "the tool broke off").with_dispatch(Dispatch::Unknown).into()
            }
        };
        self.refused(call, &refusal)
    }

    fn refused(&self, call: &Call<'_>, refusal: &Refusal) -> Answer {
        if self.acts() { action::refused(call, refusal) } else { Answer::refused(self.name, refusal) }
    }

    fn acts(&self) -> bool {
        self.effect != Effect::ReadOnly
    }
}

fn run<'a, T: Tool>(call: &'a Call<'a>, arguments: JsonObject) -> Running<'a> {
    Box::pin(async move { T::run(call, args::parse(arguments)?).await })
}

/// The tools that are listed, in the order in which an agent meets them.
pub static TOOLS: [Entry; 38] = [
    Entry::of::<devices::ListDevices>(),
    Entry::of::<devices::UseDevice>(),
    Entry::of::<status::GetSystemStatus>(),
    Entry::of::<apps::StartApp>(),
    Entry::of::<apps::RestartApp>(),
    Entry::of::<build::BuildApp>(),
    Entry::of::<install::InstallApp>(),
    Entry::of::<manage::ManageApp>(),
    Entry::of::<manage::TransferFile>(),
    Entry::of::<manage::SetDevice>(),
    Entry::of::<observe::GetUiTree>(),
    Entry::of::<find::FindElement>(),
    Entry::of::<observe::GetCurrentScreen>(),
    Entry::of::<screenshot::CaptureScreenshot>(),
    Entry::of::<snapshot::CaptureDebugSnapshot>(),
    Entry::of::<expects::ExpectElementVisible>(),
    Entry::of::<expects::ExpectState>(),
    Entry::of::<expects::ExpectScreen>(),
    Entry::of::<waits::WaitForUi>(),
    Entry::of::<waits::WaitForUiChange>(),
    Entry::of::<logs::GetLogs>(),
    Entry::of::<streams::ReadLogStream>(),
    Entry::of::<crashes::GetCrash>(),
    Entry::of::<network::GetNetworkActivity>(),
    Entry::of::<mock::MockNetwork>(),
    Entry::of::<taps::Tap>(),
    Entry::of::<taps::TapElement>(),
    Entry::of::<gestures::Swipe>(),
    Entry::of::<typing::TypeText>(),
    Entry::of::<keys::PressBack>(),
    Entry::of::<gestures::Drag>(),
    Entry::of::<gestures::Pinch>(),
    Entry::of::<keys::PressKey>(),
    Entry::of::<adjust::AdjustControl>(),
    Entry::of::<scroll::ScrollToElement>(),
    Entry::of::<read_list::ReadList>(),
    Entry::of::<flow::RunFlow>(),
    Entry::of::<classify::ClassifyActionOutcome>(),
];

/// Names that are answered and listed only on request (F40): another tool of the list does the same.
pub static MORE: [Entry; 19] = [
    Entry::of::<apps::TerminateApp>(),
    Entry::of::<apps::ResetAppData>(),
    Entry::of::<observe::GetScreenFingerprint>(),
    Entry::of::<waits::WaitForScreenChange>(),
    Entry::of::<taps::LongPress>(),
    Entry::of::<taps::DoubleTap>(),
    Entry::of::<keys::PressHome>(),
    Entry::of::<keys::PressRecents>(),
    Entry::of::<keys::HideKeyboard>(),
    Entry::of::<keys::SetOrientation>(),
    Entry::of::<build::BuildAndInstall>(),
    Entry::of::<expects::ExpectAlias<expects::IsChecked>>(),
    Entry::of::<expects::ExpectAlias<expects::HasValue>>(),
    Entry::of::<expects::ExpectAlias<expects::IsSelected>>(),
    Entry::of::<expects::ExpectAlias<expects::IsExpanded>>(),
    Entry::of::<expects::ExpectAlias<expects::IsEnabled>>(),
    Entry::of::<streams::StartLogStream>(),
    Entry::of::<streams::StopLogStream>(),
    Entry::of::<crashes::ListCrashes>(),
];

/// Which tools of the list do what one of `MORE` does: who may not use them may not use that either.
const SAME: [(&str, &[&str]); 12] = [
    ("terminate_app", &["manage_app"]),
    ("reset_app_data", &["manage_app"]),
    ("long_press", &["tap_element"]),
    ("double_tap", &["tap_element"]),
    ("press_home", &["press_key"]),
    ("press_recents", &["press_key"]),
    ("hide_keyboard", &["press_key"]),
    ("set_orientation", &["set_device"]),
    ("build_and_install", &["build_app", "install_app"]),
    ("start_log_stream", &["read_log_stream"]),
    ("stop_log_stream", &["read_log_stream"]),
    ("list_crashes", &["get_crash"]),
];

/// The tools of the list that do what this one does.
pub fn same_as(tool: &str) -> &'static [&'static str] {
    SAME.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, others)| others)
}

/// Every tool that is answered.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter().chain(&MORE)
}

pub fn find(name: &str) -> Option<&'static Entry> {
    all().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Devices;

    fn broken<'a>(_: &'a Call<'a>, _: JsonObject) -> Running<'a> {
        Box::pin(async { panic!("a defect") })
    }

    #[tokio::test]
    async fn a_bug_is_answered_too() {
        let entry = Entry { run: broken, ..Entry::of::<devices::ListDevices>() };
        let app = App::new(Devices::default());
        let answer = entry.call(&app, JsonObject::new(), CancellationToken::new()).await;
        assert!(answer.is_error && answer.text().contains("INTERNAL_ERROR"), "{}", answer.text());
    }

    #[tokio::test]
    async fn a_bug_is_counted_and_told() {
        // SE-07, EN-01
        let app = App::new(Devices::default());
        let status = Entry::of::<status::GetSystemStatus>();
        let told = async || status.call(&app, JsonObject::new(), CancellationToken::new()).await.text();
        assert!(!told().await.contains("internalErrors"));
        let entry = Entry { run: broken, ..Entry::of::<devices::ListDevices>() };
        for _ in 0..2 {
            entry.call(&app, JsonObject::new(), CancellationToken::new()).await;
        }
        let text = told().await;
        assert!(text.contains(r#""internalErrors":2"#), "{text}");
        assert_eq!(app.panics(), 2);
    }
}
