//! Starts WebDriverAgent on phones where it is installed and does not run, when it is first needed, and ends it with
//! itself. One that died is started again, once.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mdm_core::port::{DeviceError, DeviceErrorKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::connect::{Connector, Transport};
use crate::real::RealDevice;
use crate::served;

/// Where WebDriverAgent listens on a phone.
pub const WDA_PORT: u16 = 8100;
/// Phones whose runners are known.
const PHONES_MAX: usize = 64;
/// How long a runner may take until it listens.
const READY_WAIT: Duration = Duration::from_secs(90);
const READY_POLL: Duration = Duration::from_millis(250);
/// Before one that failed is started again, and one that died a second time.
const AGAIN: Duration = Duration::from_secs(30);
/// A runner that does not listen any more is given this long until its end is told.
const END_WAIT: Duration = Duration::from_secs(3);

/// The runners of all phones.
#[derive(Default)]
pub struct Runners {
    /// The bundle id of the runner, where the user named one.
    named: Option<String>,
    starters: Mutex<BTreeMap<String, Arc<RunnerStarter>>>,
}

/// The runner of one phone.
pub struct RunnerStarter {
    phone: RealDevice,
    named: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The installed runner, once it was found.
    bundle: Option<String>,
    run: Option<Run>,
}

struct Run {
    since: Instant,
    stage: watch::Receiver<Stage>,
    /// It replaces one that died.
    is_again: bool,
    /// Somebody was told that it was started.
    is_told: bool,
    /// Holds the session of the test, which ends with it.
    task: AbortOnDropHandle<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Starting,
    Ready(Duration),
    /// It never listened.
    Failed(DeviceError),
    /// It listened, and does not any more.
    Died(DeviceError),
}

/// What is known of a phone on which nothing listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnerNews {
    NotInstalled,
    Installed,
    Starting,
    Failed(String),
}

/// Why a connection could not be made, in an error of the system.
#[derive(Debug)]
pub struct NotStarted(pub DeviceError);

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotStarted {}

impl Runners {
    pub fn new(named: Option<String>) -> Runners {
        Runners { named, ..Runners::default() }
    }

    pub fn of(&self, phone: &RealDevice) -> Arc<RunnerStarter> {
        let mut starters = self.starters.lock().unwrap_or_else(PoisonError::into_inner);
        if starters.len() >= PHONES_MAX && !starters.contains_key(phone.udid()) {
            starters.clear();
        }
        let make = || {
            let (phone, named) = (phone.clone(), self.named.clone());
            Arc::new(RunnerStarter { phone, named, state: Mutex::default() })
        };
        Arc::clone(starters.entry(phone.udid().to_owned()).or_insert_with(make))
    }

    /// Ends the runners of phones that are not among these.
    pub fn keep_only(&self, attached: &[&str]) {
        let mut starters = self.starters.lock().unwrap_or_else(PoisonError::into_inner);
        for (udid, starter) in &*starters {
            if !attached.contains(&udid.as_str()) {
                starter.state().run = None;
            }
        }
        starters.retain(|udid, _| attached.contains(&udid.as_str()));
    }

    /// Ends all runners, and returns when their sessions are closed.
    pub async fn end_all(&self) {
        let all = std::mem::take(&mut *self.starters.lock().unwrap_or_else(PoisonError::into_inner));
        for starter in all.into_values() {
            let run = starter.state().run.take();
            if let Some(run) = run {
                run.task.abort();
                // Its session is closed, however it ended.
                let _ = run.task.await;
            }
        }
    }
}

impl RunnerStarter {
    /// Never held across a wait.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes connections to WebDriverAgent, which is started where it does not run.
    pub fn connector(self: &Arc<RunnerStarter>) -> Connector {
        let starter = Arc::clone(self);
        Arc::new(move || {
            let starter = Arc::clone(&starter);
            Box::pin(async move { starter.connect().await })
        })
    }

    /// Looks what is installed on a phone on which nothing listens.
    pub async fn look(&self) -> Result<RunnerNews, DeviceError> {
        if let Some(run) = &self.state().run {
            match &*run.stage.borrow() {
                Stage::Starting => return Ok(RunnerNews::Starting),
                Stage::Failed(why) => return Ok(RunnerNews::Failed(why.to_string())),
                Stage::Ready(_) | Stage::Died(_) => {}
            }
        }
        Ok(match self.bundle().await? {
            Some(_) => RunnerNews::Installed,
            None => RunnerNews::NotInstalled,
        })
    }

    /// True if WebDriverAgent can be asked as it is.
    pub async fn listens(&self) -> bool {
        self.phone.connector(WDA_PORT)().await.is_ok()
    }

    async fn bundle(&self) -> Result<Option<String>, DeviceError> {
        let known = self.state().bundle.clone();
        if known.is_some() {
            return Ok(known);
        }
        let found = self.phone.find_runner(self.named.as_deref()).await?;
        self.state().bundle.clone_from(&found);
        Ok(found)
    }

    async fn connect(&self) -> io::Result<Box<dyn Transport>> {
        let refused = match self.open().await {
            Ok(stream) => return Ok(stream),
            Err(error) if is_refused(&error) => error,
            Err(error) => return Err(error),
        };
        let not_started = |error: DeviceError| io::Error::other(NotStarted(error));
        let Some(bundle) = self.bundle().await.map_err(not_started)? else {
            return Err(not_started(self.not_installed(&refused)));
        };
        self.start(&bundle).await.map_err(|error| not_started(self.told(error, &bundle)))?;
        self.open().await
    }

    async fn open(&self) -> io::Result<Box<dyn Transport>> {
        let stream = self.phone.connector(WDA_PORT)().await?;
        self.tell();
        Ok(stream)
    }

    /// Tells once that a runner was started, if anybody listens.
    fn tell(&self) {
        let mut state = self.state();
        let Some(run) = state.run.as_mut().filter(|run| !run.is_told) else { return };
        let Stage::Ready(after) = *run.stage.borrow() else { return };
        let seconds = after.as_secs_f64().round();
        run.is_told = served::tell(match run.is_again {
            false => format!("started WebDriverAgent, {seconds} s"),
            true => format!("WebDriverAgent had ended; started it again, {seconds} s"),
        });
    }

    /// Returns when the runner listens. It goes on starting when nobody waits any more.
    async fn start(&self, bundle: &str) -> Result<(), DeviceError> {
        self.await_end().await;
        let mut stage = self.running_or_start(bundle)?;
        match stage.wait_for(|stage| *stage != Stage::Starting).await.as_deref() {
            Ok(Stage::Failed(error) | Stage::Died(error)) => Err(error.clone()),
            Ok(Stage::Ready(_)) => Ok(()),
            Ok(Stage::Starting) | Err(_) => {
                Err(DeviceError::new(DeviceErrorKind::Offline, "its start was broken off"))
            }
        }
    }

    /// A runner that was ready and does not listen has ended, or is of no use.
    async fn await_end(&self) {
        let ready = |stage: &Stage| matches!(stage, Stage::Ready(_));
        let stage = self.state().run.as_ref().map(|run| run.stage.clone());
        let Some(mut stage) = stage.filter(|stage| ready(&stage.borrow())) else { return };
        if timeout(END_WAIT, stage.wait_for(|stage| !ready(stage))).await.is_err() {
            let dead = DeviceError::new(DeviceErrorKind::Offline, "WebDriverAgent does not listen any more");
            let mut state = self.state();
            if let Some(run) = state.run.as_mut().filter(|run| ready(&run.stage.borrow())) {
                run.task.abort();
                run.stage = watch::channel(Stage::Died(dead)).1;
            }
        }
    }

    fn running_or_start(&self, bundle: &str) -> Result<watch::Receiver<Stage>, DeviceError> {
        let mut state = self.state();
        let mut is_again = false;
        if let Some(run) = &state.run {
            let is_new = run.since.elapsed() < AGAIN;
            let stage = run.stage.borrow().clone();
            match stage {
                Stage::Starting | Stage::Ready(_) => return Ok(run.stage.clone()),
                Stage::Failed(error) if is_new => return Err(error),
                Stage::Died(error) if is_new && run.is_again => return Err(error),
                Stage::Failed(_) => {}
                Stage::Died(_) => is_again = true,
            }
        }
        let (sender, stage) = watch::channel(Stage::Starting);
        let task = tokio::spawn(attend(self.phone.clone(), bundle.to_owned(), sender));
        let task = AbortOnDropHandle::new(task);
        let run = Run { since: Instant::now(), stage: stage.clone(), is_again, is_told: false, task };
        state.run = Some(run);
        Ok(stage)
    }

    fn not_installed(&self, refused: &io::Error) -> DeviceError {
        let which = match &self.named {
            Some(named) => format!("{named} is not installed"),
            None => "no WebDriverAgent is installed, or none under its own name".to_owned(),
        };
        let detail = format!(
            "WebDriverAgent does not answer at port {WDA_PORT} of {}: {refused}, and {which}; install it once, which is \
             then started by itself, or start it",
            self.phone.udid()
        );
        DeviceError::new(DeviceErrorKind::Offline, detail)
    }

    fn told(&self, error: DeviceError, bundle: &str) -> DeviceError {
        if error.kind == DeviceErrorKind::AppNotInstalled {
            self.state().bundle = None;
        }
        // The phone itself is there: only what would answer is not.
        let kind = match error.kind {
            kind @ (DeviceErrorKind::Unauthorized | DeviceErrorKind::Gone | DeviceErrorKind::Local) => kind,
            _ => DeviceErrorKind::Offline,
        };
        DeviceError::new(kind, format!("WebDriverAgent ({bundle}) could not be started: {}", error.detail))
    }
}

/// Nothing listens; any other error is one of the way to the phone.
fn is_refused(error: &io::Error) -> bool {
    let told = error.get_ref().and_then(|told| told.downcast_ref::<DeviceError>());
    told.is_some_and(|told| told.kind == DeviceErrorKind::ServiceMissing)
}

/// Tells when the runner listens, and when it has ended.
async fn attend(phone: RealDevice, bundle: String, stage: watch::Sender<Stage>) {
    let since = Instant::now();
    let run = phone.run_runner(&bundle);
    tokio::pin!(run);
    let listens = async {
        let connector = phone.connector(WDA_PORT);
        while connector().await.is_err() {
            sleep(READY_POLL).await;
        }
    };
    let ready = tokio::select! {
        ended = &mut run => Err(ended),
        listens = timeout(READY_WAIT, listens) => listens.map_err(|_| {
            let detail = format!("it was not ready after {} s", READY_WAIT.as_secs());
            DeviceError::new(DeviceErrorKind::Offline, detail)
        }),
    };
    if let Err(why) = ready {
        stage.send_replace(Stage::Failed(why));
        return;
    }
    stage.send_replace(Stage::Ready(since.elapsed()));
    let why = run.await;
    stage.send_replace(Stage::Died(why));
}
