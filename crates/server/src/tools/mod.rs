//! The tools: one file a family, each with its parameters, its description and its handler.

mod adjust;
mod apps;
mod classify;
mod devices;
mod expects;
mod find;
mod flow;
mod follow;
mod gestures;
mod input;
mod logs;
mod observe;
mod scroll;
mod waits;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::FutureExt;
use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_engine::Progress;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::app::App;
use crate::args::{self, JsonObject};

/// What a call may do to the device: shown to clients, which ask their users before the last kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    ReadOnly,
    Acts,
    Destroys,
}

/// One tool. Handlers translate: what they do lives in the engine.
trait Tool {
    type Params: DeserializeOwned + JsonSchema + Send;
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    /// After this an answer comes in any case.
    const TIMEOUT: Duration;

    fn run(
        app: &App,
        params: Self::Params,
        progress: &Progress,
    ) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

type Running<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A tool as clients and the command line see it.
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    schema: fn() -> JsonObject,
    /// The names of its arguments, once somebody has used it.
    known: OnceLock<Vec<String>>,
    check: fn(JsonObject) -> Result<(), Failure>,
    run: for<'a> fn(&'a App, JsonObject, CancellationToken) -> Running<'a>,
}

impl Entry {
    const fn of<T: Tool>() -> Entry {
        Entry {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            effect: T::EFFECT,
            schema: args::schema::<T::Params>,
            known: OnceLock::new(),
            check: |arguments| args::parse::<T::Params>(arguments).map(drop),
            run: run::<T>,
        }
    }

    pub fn schema(&self) -> JsonObject {
        (self.schema)()
    }

    fn known(&self) -> &[String] {
        self.known.get_or_init(|| {
            let schema = self.schema();
            let properties = schema.get("properties").and_then(serde_json::Value::as_object);
            properties.map(|all| all.keys().cloned().collect()).unwrap_or_default()
        })
    }

    pub fn takes(&self, argument: &str) -> bool {
        self.known().iter().any(|name| name == argument)
    }

    /// Whether the arguments can be read, without doing anything.
    pub fn check(&self, arguments: JsonObject) -> Result<(), Failure> {
        (self.check)(args::named(self.known(), arguments)?)
    }

    /// Always answers: bad arguments, failures and bugs become answers too.
    pub async fn call(&self, app: &App, arguments: JsonObject, cancelled: CancellationToken) -> Answer {
        let arguments = match args::named(self.known(), arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return Answer::failure(self.name, &failure),
        };
        let running = (self.run)(app, arguments, cancelled);
        match AssertUnwindSafe(running).catch_unwind().await {
            Ok(answer) => answer,
            Err(_) => {
                let hint = "this is a defect of the server, please report it; other calls still work";
                let failure = Failure::new(ErrorCode::InternalError, "the tool broke off", hint);
                Answer::failure(self.name, &failure.with_unknown_dispatch())
            }
        }
    }
}

fn run<T: Tool>(app: &App, arguments: JsonObject, cancelled: CancellationToken) -> Running<'_> {
    Box::pin(async move {
        let done = match args::parse(arguments) {
            Ok(params) => T::run(app, params, &Progress::new(T::TIMEOUT, cancelled)).await,
            Err(failure) => Err(failure),
        };
        done.unwrap_or_else(|failure| Answer::failure(T::NAME, &failure))
    })
}

/// Every tool, in the order in which an agent meets them.
pub static TOOLS: [Entry; 36] = [
    Entry::of::<devices::ListDevices>(),
    Entry::of::<devices::GetSystemStatus>(),
    Entry::of::<apps::StartApp>(),
    Entry::of::<apps::TerminateApp>(),
    Entry::of::<apps::RestartApp>(),
    Entry::of::<apps::ResetAppData>(),
    Entry::of::<observe::GetUiTree>(),
    Entry::of::<find::FindElement>(),
    Entry::of::<observe::GetScreenFingerprint>(),
    Entry::of::<observe::GetCurrentScreen>(),
    Entry::of::<observe::CaptureScreenshot>(),
    Entry::of::<expects::ExpectElementVisible>(),
    Entry::of::<expects::ExpectState>(),
    Entry::of::<expects::ExpectScreen>(),
    Entry::of::<waits::WaitForUi>(),
    Entry::of::<waits::WaitForUiChange>(),
    Entry::of::<waits::WaitForScreenChange>(),
    Entry::of::<logs::GetLogs>(),
    Entry::of::<input::Tap>(),
    Entry::of::<input::TapElement>(),
    Entry::of::<input::Swipe>(),
    Entry::of::<input::TypeText>(),
    Entry::of::<input::PressBack>(),
    Entry::of::<gestures::LongPress>(),
    Entry::of::<gestures::DoubleTap>(),
    Entry::of::<gestures::Drag>(),
    Entry::of::<gestures::Pinch>(),
    Entry::of::<gestures::PressKey>(),
    Entry::of::<gestures::PressHome>(),
    Entry::of::<gestures::PressRecents>(),
    Entry::of::<gestures::HideKeyboard>(),
    Entry::of::<gestures::SetOrientation>(),
    Entry::of::<adjust::AdjustControl>(),
    Entry::of::<scroll::ScrollToElement>(),
    Entry::of::<flow::RunFlow>(),
    Entry::of::<classify::ClassifyActionOutcome>(),
];

/// Further names, which are answered and not listed.
static ALIASES: [Entry; 5] = [
    Entry::of::<expects::ExpectAlias<expects::IsChecked>>(),
    Entry::of::<expects::ExpectAlias<expects::HasValue>>(),
    Entry::of::<expects::ExpectAlias<expects::IsSelected>>(),
    Entry::of::<expects::ExpectAlias<expects::IsExpanded>>(),
    Entry::of::<expects::ExpectAlias<expects::IsEnabled>>(),
];

pub fn find(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().chain(&ALIASES).find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Devices;

    #[test]
    fn every_tool_that_acts_has_a_kind() {
        // LC-02, VR-02
        for tool in TOOLS.iter().filter(|tool| tool.effect != Effect::ReadOnly) {
            assert!(mdm_core::action::kind::action_type(tool.name).is_some(), "{}", tool.name);
        }
    }

    fn broken(_: &App, _: JsonObject, _: CancellationToken) -> Running<'_> {
        Box::pin(async { panic!("a defect") })
    }

    #[tokio::test]
    async fn a_bug_is_answered_too() {
        let entry = Entry { run: broken, ..Entry::of::<devices::ListDevices>() };
        let app = App::new(Devices::default());
        let answer = entry.call(&app, JsonObject::new(), CancellationToken::new()).await;
        assert!(answer.is_error && answer.text.contains("INTERNAL_ERROR"), "{}", answer.text);
    }
}
