//! Sessions and apps.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::answer::{CommandResult, WdaError};
use super::route::Call;
use super::settings::{Settings, number, truthy};
use super::{Agent, Session};
use crate::app::{keys, launcher};
use crate::iphone::{IPhone, IPhoneKind, SPRINGBOARD, bundle_of, package_of};

pub const NOT_RUNNING: u8 = 1;
const BACKGROUND: u8 = 3;
const FOREGROUND: u8 = 4;
/// How long a launch waits for the app's window.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(60);
const LAUNCH_POLL: Duration = Duration::from_millis(50);
/// The longest time for which an app may be sent away, in seconds.
const AWAY_SECONDS_MAX: f64 = 600.0;

/// Returns the state of an app: 1 when it does not run, up to 4 when it is in front.
pub fn state(phone: &IPhone, bundle_id: &str) -> u8 {
    let package = package_of(bundle_id);
    phone.phone().with(|state| {
        if state.front().0 == package {
            FOREGROUND
        } else if package == launcher::PACKAGE || state.processes.pid(package).is_some() {
            BACKGROUND
        } else {
            NOT_RUNNING
        }
    })
}

pub fn pid(phone: &IPhone, bundle_id: &str) -> Option<u32> {
    phone.phone().with(|state| state.processes.pid(package_of(bundle_id)))
}

pub fn front_pid(phone: &IPhone) -> u32 {
    phone.phone().with(|state| {
        let front = state.front().0.to_owned();
        state.processes.pid(&front).unwrap_or(0)
    })
}

/// Returns false while the app in front is stuck.
pub fn responds(phone: &IPhone) -> bool {
    phone.phone().with(|state| state.surface.windows(&state.screen()).responding)
}

/// Returns true if nothing moves and nothing has changed for this long.
pub fn is_at_rest(phone: &IPhone, quiet: Duration) -> bool {
    phone.phone().with(|state| {
        let changes = state.surface.changes(state.now);
        let windows = state.surface.windows(&state.screen());
        let still = state.now.saturating_duration_since(changes.visible_at) >= quiet;
        still && !state.surface.is_moving() && !windows.opening && windows.responding
    })
}

fn is_installed(phone: &IPhone, bundle_id: &str) -> bool {
    phone.phone().with(|state| state.packages.get(package_of(bundle_id)).is_some())
}

/// Brings an app to the front and waits until it has drawn itself; returns false when there is no such app.
async fn launch(phone: &IPhone, bundle_id: &str) -> bool {
    if !phone.phone().with(|state| state.launch(package_of(bundle_id), None)) {
        return false;
    }
    let deadline = Instant::now() + LAUNCH_TIMEOUT;
    let opening = || phone.phone().with(|state| state.surface.windows(&state.screen()).opening);
    while opening() && Instant::now() < deadline {
        tokio::time::sleep(LAUNCH_POLL).await;
    }
    true
}

impl Agent<'_> {
    pub fn status(&self) -> CommandResult {
        let version = &self.phone.config().ios_version;
        let mut ios = json!({ "ip": "127.0.0.1" });
        if self.phone.config().kind == IPhoneKind::Simulator {
            ios["simulatorVersion"] = json!(version);
        }
        Ok(json!({
            "ready": true,
            "message": "WebDriverAgent is ready to accept commands",
            "state": "success",
            "os": {
                "name": "iOS", "version": version, "sdkVersion": version, "testmanagerdVersion": 65535,
            },
            "ios": ios,
            "build": {
                "time": "Aug 22 2026 19:44:57",
                "productBundleIdentifier": "com.facebook.WebDriverAgentRunner",
                "version": "16.7.0",
            },
            "device": "iphone",
        }))
    }

    pub fn session_information(&self) -> Value {
        let id = self.state.session.as_ref().map(|session| session.id.as_str());
        let version = &self.phone.config().ios_version;
        json!({ "sessionId": id, "capabilities": { "device": "iphone", "sdkVersion": version } })
    }

    pub async fn create_session(&mut self, call: &Call) -> CommandResult {
        self.end_session();
        let Some(asked) = call.get("capabilities").as_object() else {
            let message = "'capabilities' is mandatory to create a new session";
            return Err(WdaError::session_not_created(message));
        };
        let mut wanted = asked.get("alwaysMatch").and_then(Value::as_object).cloned().unwrap_or_default();
        let first = asked.get("firstMatch").and_then(Value::as_array).and_then(|all| all.first());
        for (name, value) in first.and_then(Value::as_object).into_iter().flatten() {
            wanted.insert(name.clone(), value.clone());
        }
        self.state.settings = Settings::default();
        for name in [
            "shouldUseCompactResponses",
            "elementResponseAttributes",
            "maxTypingFrequency",
            "waitForIdleTimeout",
        ] {
            if let Some(value) = wanted.get(name) {
                self.state.settings.change(&json!({ name: value }))?;
            }
        }
        let tested = wanted.get("bundleId").and_then(Value::as_str).map(str::to_owned);
        if let Some(bundle_id) = &tested {
            let forced = wanted.get("forceAppLaunch").is_none_or(truthy);
            self.start_tested(bundle_id, forced).await?;
        }
        self.state.sessions_so_far += 1;
        let number = self.state.sessions_so_far;
        let seed = self.phone.config().seed & 0xffff_ffff;
        self.state.session = Some(Session {
            id: format!("{seed:08X}-0000-4000-8000-{number:012X}"),
            tested,
            expected_to_run: true,
            terminates_app: wanted.get("shouldTerminateApp").is_none_or(truthy),
            elements: Vec::new(),
        });
        Ok(self.session_information())
    }

    /// Starts the app under test; one that runs already is started again when that is forced.
    async fn start_tested(&mut self, bundle_id: &str, forced: bool) -> Result<(), WdaError> {
        let running = state(self.phone, bundle_id) != NOT_RUNNING;
        if running && forced && bundle_id != SPRINGBOARD {
            self.phone.phone().with(|state| state.kill(package_of(bundle_id), false));
        }
        if !running && !is_installed(self.phone, bundle_id) || !launch(self.phone, bundle_id).await {
            return Err(WdaError::session_not_created(format!(
                "Cannot launch {bundle_id} application. Make sure the correct bundle identifier has been provided in \
                 capabilities and check the device log for possible crash report occurrences"
            )));
        }
        self.rest_for_event().await;
        Ok(())
    }

    fn end_session(&mut self) {
        let Some(session) = self.state.session.take() else { return };
        let ends = |tested: &String| {
            session.terminates_app && tested != SPRINGBOARD && state(self.phone, tested) != NOT_RUNNING
        };
        if let Some(tested) = session.tested.as_ref().filter(|tested| ends(tested)) {
            self.phone.phone().with(|state| state.kill(package_of(tested), false));
        }
    }

    pub fn delete_session(&mut self) -> CommandResult {
        self.end_session();
        Ok(Value::Null)
    }

    pub async fn app_command(&mut self, what: &str, call: &Call) -> CommandResult {
        let bundle_id = call.bundle_id()?;
        match what {
            "state" => return Ok(json!(state(self.phone, bundle_id))),
            "terminate" => return Ok(json!(self.terminate(bundle_id))),
            _ => {}
        }
        if !launch(self.phone, bundle_id).await {
            let message = format!(
                "Failed to get launch progress: The request to open \"{bundle_id}\" failed. Reason: The application \
                 could not be found."
            );
            return Err(WdaError::unknown(message));
        }
        if let Some(session) = &mut self.state.session
            && session.tested.as_deref() == Some(bundle_id)
        {
            session.expected_to_run = true;
        }
        self.rest_for_event().await;
        Ok(Value::Null)
    }

    fn terminate(&mut self, bundle_id: &str) -> bool {
        if let Some(session) = &mut self.state.session
            && session.tested.as_deref() == Some(bundle_id)
        {
            session.expected_to_run = false;
        }
        let runs = state(self.phone, bundle_id) != NOT_RUNNING && bundle_id != SPRINGBOARD;
        if runs {
            self.phone.phone().with(|state| state.kill(package_of(bundle_id), false));
        }
        runs
    }

    pub fn launch_unattached(&self, call: &Call) -> CommandResult {
        let bundle_id = call.bundle_id()?;
        if self.phone.phone().with(|state| state.launch(package_of(bundle_id), None)) {
            Ok(Value::Null)
        } else {
            Err(WdaError::unknown("LSApplicationWorkspace failed to launch app"))
        }
    }

    pub fn active_app(&self) -> CommandResult {
        let target = self.target()?;
        let Some(front) = self.phone.applications() else { return Ok(Value::Null) };
        let (bundle_id, name) = match (target, front.system) {
            (super::Target::System, Some(system)) => (SPRINGBOARD.to_owned(), system.label),
            _ => (front.bundle_id, front.app.label),
        };
        let pid = pid(self.phone, &bundle_id);
        let arguments = json!({ "args": [], "env": {} });
        Ok(json!({ "pid": pid, "bundleId": bundle_id, "name": name, "processArguments": arguments }))
    }

    pub fn active_apps(&self) -> Value {
        let front = self.phone.phone().with(|state| bundle_of(state.front().0).to_owned());
        json!([{ "pid": front_pid(self.phone), "bundleId": front }])
    }

    pub async fn home(&mut self) -> CommandResult {
        self.phone.note_request(&["button", "home"]);
        self.phone.phone().with(|state| state.key(keys::HOME));
        Ok(Value::Null)
    }

    pub async fn deactivate(&mut self, call: &Call) -> CommandResult {
        let front = self.phone.phone().with(|state| state.front().0.to_owned());
        let seconds = call.body.get("duration").and_then(number).unwrap_or(3.0);
        self.home().await?;
        tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, AWAY_SECONDS_MAX))).await;
        launch(self.phone, bundle_of(&front)).await;
        Ok(Value::Null)
    }

    /// The phone has no browser: only an app that is named takes an address, by coming to the front.
    pub async fn open_url(&mut self, call: &Call) -> CommandResult {
        let Some(url) = call.text("url") else { return Err(WdaError::argument("URL is required")) };
        if !url.contains(':') {
            return Err(WdaError::unknown(format!("'{url}' is not a valid URL")));
        }
        match call.text("bundleId") {
            Some(bundle_id) if launch(self.phone, bundle_id).await => Ok(Value::Null),
            _ => Err(WdaError::unknown(format!("Failed to open URL {url}: no application claims it"))),
        }
    }
}
