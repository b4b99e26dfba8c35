//! The helper on the device: when it runs, whether it is trusted, and what is done without it.
//!
//! Architecture invariant: nothing here decides what an app means or repeats a command. A helper that ended is started
//! again by the next call that wants it, at most once in a while, and given up after some failures in a row.

mod compare;
mod examine;
mod heard;
mod jar;
mod jpeg;
mod link;
mod start;
mod touch;
mod tree;

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdm_core::port::{Capture, Captured, DeviceError, DeviceErrorKind, SmallPicture, ToldBefore};
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::Snapshot;
use mdm_wire::helper::{Answer, PictureFormat, Range, RefusalCode, Request, Tree, TreeAnswer, Welcome};
use tokio::time::{Duration, Instant, timeout};

pub use compare::differences;
pub use heard::EventMemory;
pub use link::{Link, LinkError};
pub use touch::{double_tap, drag, press, scroll, tap, two_fingers};
pub use tree::{ACTION_CLICK, ACTION_SET_PROGRESS, Shown, read};

use crate::adb::AdbError;
use crate::device::AndroidDevice;
use crate::served;
use start::{Names, StartError};

/// How soon after a start the helper may be started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// Failures in a row after which it is not tried any more on this connection.
const FAILURES_MAX: u32 = 3;
/// The helper gives UiAutomation back after 30 s without a request, and events end with it.
const EVENTS_AGAIN_AFTER: Duration = Duration::from_secs(25);
/// How long a goodbye may take.
const BYE_MAX: Duration = Duration::from_secs(1);
/// Comparisons of one start: the second only if the screen changed during the first.
const COMPARISONS_MAX: u32 = 2;

/// Whether a program of ours runs on the device while it is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HelperMode {
    /// Only commands of the device's shell are used.
    #[default]
    Never,
    /// It is used once its tree was the same as a dump, and the shell where it cannot be.
    Auto,
    /// It is used without a comparison, and nothing else is when it fails.
    Always,
}

impl FromStr for HelperMode {
    type Err = String;

    fn from_str(word: &str) -> Result<HelperMode, String> {
        match word {
            "never" => Ok(HelperMode::Never),
            "auto" => Ok(HelperMode::Auto),
            "always" => Ok(HelperMode::Always),
            _ => Err(format!("{word:?} is none of auto, never, always")),
        }
    }
}

/// What is remembered of the last tree, to name its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct LastTree {
    pub hash: u64,
    pub serial: u32,
    pub origins: Vec<u32>,
    /// The ranges of elements that have one, by the elements' places.
    pub ranges: Vec<(u32, Range)>,
    pub keyboard: Option<Rect>,
    pub display: (u16, u16, u8),
}

/// The helper of one device.
pub struct Helper {
    mode: HelperMode,
    session: u64,
    starts: AtomicU64,
    memory: Arc<EventMemory>,
    run: tokio::sync::Mutex<Run>,
    /// True while it runs and is trusted.
    usable: AtomicBool,
    /// True if a request was answered since the last failure.
    answered: AtomicBool,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Run {
    link: Option<Arc<Link>>,
    welcome: Option<Welcome>,
    generation: u64,
    is_trusted: bool,
    failures: u32,
    started_at: Option<Instant>,
    given_up: bool,
}

#[derive(Default)]
struct Notes {
    /// Why the shell is used instead.
    why: Option<String>,
    is_told: bool,
    last: Option<LastTree>,
    asked_at: Option<Instant>,
    /// When the helper said hello, and the device's uptime then.
    greeted: Option<(Instant, u64)>,
}

/// What a comparison came to.
enum Trust {
    Agreed,
    Differs(Vec<String>),
    /// The screen never rests, so no dump can be had of it.
    Restless,
    /// It could not be compared now.
    Undecided(String),
}

impl Helper {
    pub fn new(mode: HelperMode, session: u64) -> Helper {
        Helper {
            mode,
            session,
            starts: AtomicU64::new(1),
            memory: Arc::default(),
            run: tokio::sync::Mutex::default(),
            usable: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            notes: Mutex::default(),
        }
    }

    pub fn mode(&self) -> HelperMode {
        self.mode
    }

    pub fn memory(&self) -> &Arc<EventMemory> {
        &self.memory
    }

    /// True if it runs and its answers are believed.
    pub fn is_usable(&self) -> bool {
        self.usable.load(Ordering::Relaxed)
    }

    /// Says why the shell is used although a helper was wanted.
    pub fn why_not(&self) -> Option<String> {
        self.notes().why.clone().filter(|_| self.mode != HelperMode::Never && !self.is_usable())
    }

    pub fn last_tree(&self) -> Option<LastTree> {
        self.notes().last.clone()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection, and makes one if it may. Nothing where the shell is to be used.
    pub async fn link(&self, device: &AndroidDevice) -> Result<Option<Arc<Link>>, DeviceError> {
        if self.mode == HelperMode::Never {
            return Ok(None);
        }
        let mut run = self.run.lock().await;
        if let Some(link) = &run.link {
            match link.ended() {
                None => return Ok(Some(Arc::clone(link))),
                Some(why) => self.failed(&mut run, why),
            }
        }
        let generation = device.adb.generation();
        if run.generation != generation {
            *run = Run { generation, is_trusted: run.is_trusted, ..Run::default() };
        }
        let soon = run.started_at.is_some_and(|at| at.elapsed() < START_AGAIN_AFTER);
        if run.given_up || soon {
            return self.without();
        }
        let started = self.start(device, &mut run).await;
        // Noted afterwards, so that a caller who gives up in the middle leaves the next one free to start it.
        run.started_at = Some(Instant::now());
        // The first command of all makes the connection.
        run.generation = device.adb.generation();
        match started {
            Ok(link) => Ok(Some(link)),
            Err(StartError::Adb(error)) => Err(device.error(error)),
            Err(StartError::Failed(why)) => {
                self.failed(&mut run, why);
                self.without()
            }
        }
    }

    /// Starts it, and trusts it if it may be trusted.
    async fn start(&self, device: &AndroidDevice, run: &mut Run) -> Result<Arc<Link>, StartError> {
        let number = self.starts.fetch_add(1, Ordering::Relaxed);
        let names = Names::new(self.session, number);
        let mut left = device.leaves(names.file.clone());
        let (link, welcome) = start::start(&device.adb, &names, Arc::clone(&self.memory)).await?;
        self.memory.begin();
        self.notes().greeted = Some((Instant::now(), welcome.uptime_ms));
        left.files.clear();
        let link = Arc::new(link);
        if self.mode == HelperMode::Auto && !run.is_trusted {
            let trust = self.compare(device, &link).await;
            if !matches!(trust, Trust::Agreed | Trust::Restless) {
                // It holds UiAutomation, which the shell needs next.
                say_goodbye(&link).await;
            }
            match trust {
                Trust::Agreed => run.is_trusted = true,
                // Nothing else can read such a screen (F23). The next start compares again.
                Trust::Restless => {
                    let _ = served::tell(
                        "the screen never rests, so the helper on the device could not be compared with a dump; it is used \
                         all the same, since nothing else can read this screen"
                            .to_owned(),
                    );
                }
                Trust::Differs(how) => {
                    run.given_up = true;
                    return Err(StartError::Failed(format!(
                        "it tells another screen than a dump: {}",
                        how.join("; ")
                    )));
                }
                Trust::Undecided(why) => {
                    return Err(StartError::Failed(format!(
                        "it could not be compared with a dump yet: {why}"
                    )));
                }
            }
        }
        run.link = Some(Arc::clone(&link));
        run.welcome = Some(welcome);
        self.usable.store(true, Ordering::Relaxed);
        let mut notes = self.notes();
        (notes.why, notes.is_told, notes.last, notes.asked_at) = (None, false, None, None);
        Ok(link)
    }

    fn failed(&self, run: &mut Run, why: String) {
        run.link = None;
        self.usable.store(false, Ordering::Relaxed);
        if self.answered.swap(false, Ordering::Relaxed) {
            run.failures = 0;
        }
        run.failures += 1;
        run.given_up |= run.failures >= FAILURES_MAX;
        self.note_failure(why);
    }

    fn note_failure(&self, why: String) {
        let mut notes = self.notes();
        notes.is_told &= notes.why.as_ref() == Some(&why);
        notes.why = Some(why);
        notes.last = None;
    }

    /// What happens where the helper cannot be used: the shell, or an error if nothing else is wanted.
    fn without(&self) -> Result<Option<Arc<Link>>, DeviceError> {
        let why = self.notes().why.clone().unwrap_or_default();
        if self.mode == HelperMode::Always {
            let detail = format!(
                "the helper on the device does not run, and --helper always uses nothing else: {why}"
            );
            return Err(DeviceError::new(DeviceErrorKind::ServiceMissing, detail));
        }
        self.tell_of_shell();
        Ok(None)
    }

    /// Notes for the answer that the shell served, and once why.
    pub fn tell_of_shell(&self) {
        served::note_shell();
        let mut notes = self.notes();
        if let Some(why) = notes.why.clone().filter(|_| !notes.is_told) {
            notes.is_told = served::tell(format!(
                "the helper on the device is not used, the shell is (slower, and it tells less): {why}"
            ));
        }
    }

    /// Notes an error of a call, after which the shell is used. True if it may be.
    pub fn falls_back(&self, error: &LinkError) -> bool {
        let falls = error.is_end() && self.mode == HelperMode::Auto;
        if falls {
            self.note_failure(DeviceError::from(error.clone()).detail);
            self.tell_of_shell();
        }
        falls
    }

    /// Asks the helper. Events are switched on where they are not.
    pub async fn ask(&self, link: &Link, request: &Request) -> Result<Answer, LinkError> {
        self.ask_until(link, request, None).await
    }

    /// Asks for something that must not begin after this moment: a device that was stuck would do it after its caller was
    /// told that time was up.
    pub async fn ask_until(
        &self,
        link: &Link,
        request: &Request,
        until: Option<Instant>,
    ) -> Result<Answer, LinkError> {
        let now = Instant::now();
        let asked_at = self.notes().asked_at.replace(now);
        let is_asleep = asked_at.is_none_or(|at| now.saturating_duration_since(at) > EVENTS_AGAIN_AFTER);
        let is_first = matches!(request, Request::Events { .. } | Request::Release | Request::Bye);
        if is_asleep && !is_first {
            link.request(&Request::Events { on: true }).await?;
            self.memory.close_gap();
        }
        let answer = link.request_until(request, self.uptime_at(until)).await?;
        self.answered.store(true, Ordering::Relaxed);
        Ok(answer)
    }

    /// Returns the device's uptime at a moment, at the most by the time of one answer too early.
    fn uptime_at(&self, moment: Option<Instant>) -> Option<u64> {
        let (heard_at, uptime_ms) = self.notes().greeted?;
        let passed = moment?.saturating_duration_since(heard_at);
        uptime_ms.checked_add(u64::try_from(passed.as_millis()).ok()?)
    }

    /// Returns how long ago the device's uptime was this, at the least: the greeting told its uptime some time before it came.
    fn ago_ms(&self, uptime_ms: u64) -> Option<u64> {
        let (heard_at, greeted_ms) = self.notes().greeted?;
        let passed_ms = u64::try_from(heard_at.elapsed().as_millis()).ok()?;
        Some(passed_ms.saturating_sub(uptime_ms.checked_sub(greeted_ms)?))
    }

    /// Reads the screen, unless it is the known one.
    pub async fn snapshot(&self, link: &Link, known: Option<u64>) -> Result<Capture, LinkError> {
        let last = self.notes().last.as_ref().map(|last| last.hash);
        // Its nodes cannot be named any more if this side forgot them.
        let known = known.filter(|known| last == Some(*known)).unwrap_or(0);
        let (asked, number) = (Instant::now(), self.memory.after(u64::MAX).number);
        let unchanged = || {
            let ago_ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
            let told = Some(ToldBefore { number, ago_ms });
            Ok(Capture { told, ..Captured::Unchanged.into() })
        };
        match self.ask_tree(link, known).await? {
            None => unchanged(),
            Some((hash, tree)) => {
                let shown = self.keep(hash, &tree);
                if hash == known {
                    // The same screen under another serial: the helper had forgotten its trees.
                    return unchanged();
                }
                let told = self
                    .ago_ms(tree.uptime_ms)
                    .map(|ago_ms| ToldBefore { number: self.memory.number_at(tree.uptime_ms), ago_ms });
                if shown.snapshot.elements.is_empty() {
                    let message = "no window can be read".to_owned();
                    let code = mdm_wire::helper::RefusalCode::NoWindow;
                    return Err(LinkError::Refused(mdm_wire::helper::Refusal { code, message }));
                }
                let raw = mdm_core::port::RawAnswer(hash);
                Ok(Capture { told, ..Captured::New { raw, snapshot: shown.snapshot }.into() })
            }
        }
    }

    /// Takes a picture that fits into a square. Nothing if the helper has none that can be believed.
    pub async fn picture(&self, link: &Link, side_max: u32, quality: u8) -> Option<SmallPicture> {
        let side = u16::try_from(side_max).unwrap_or(u16::MAX);
        let request = Request::Picture { width_max: side, height_max: side, quality };
        let Ok(Answer::Picture(taken)) = self.ask(link, &request).await else { return None };
        let size = jpeg::size(&taken.bytes).filter(|_| taken.format == PictureFormat::Jpeg)?;
        let screen = Size { width: taken.width.into(), height: taken.height.into() };
        let fits = size.width.max(size.height) <= side_max && screen.width > 0 && screen.height > 0;
        fits.then_some(SmallPicture { screen, size, jpeg: taken.bytes })
    }

    /// Reads where the keyboard is now.
    pub async fn keyboard(&self, link: &Link) -> Result<Option<Rect>, LinkError> {
        let last = self.notes().last.as_ref().map(|last| (last.hash, last.keyboard));
        match self.ask_tree(link, last.map_or(0, |(hash, _)| hash)).await? {
            None => Ok(last.and_then(|(_, keyboard)| keyboard)),
            // The elements that the caller knows are those of the tree before, so that one stays remembered.
            Some((_, tree)) => Ok(read(&tree, &crate::hierarchy::Limits::default()).keyboard),
        }
    }

    async fn ask_tree(&self, link: &Link, known: u64) -> Result<Option<(u64, Tree)>, LinkError> {
        match self.ask(link, &Request::Tree { known }).await? {
            Answer::Tree(answer) => match *answer {
                TreeAnswer::Same if known == 0 => Err(link.cut("the tree is the same as none")),
                TreeAnswer::Same => Ok(None),
                TreeAnswer::New { hash, tree } => Ok(Some((hash, tree))),
            },
            _ => Err(link.cut("no tree in the answer")),
        }
    }

    fn keep(&self, hash: u64, tree: &Tree) -> Shown {
        let shown = read(tree, &crate::hierarchy::Limits::default());
        let nodes: Vec<_> = tree.windows.iter().flat_map(|window| &window.nodes).collect();
        let ranges = shown.origins.iter().zip(0u32..).filter_map(|(origin, at)| {
            let range = nodes.get(*origin as usize)?.range.filter(tree::is_sensible)?;
            Some((at, range))
        });
        self.notes().last = Some(LastTree {
            hash,
            serial: tree.serial,
            ranges: ranges.collect(),
            origins: shown.origins.clone(),
            keyboard: shown.keyboard,
            display: (tree.width, tree.height, tree.rotation),
        });
        shown
    }

    /// Compares the helper's tree with a dump that is taken between two trees which agree.
    async fn compare(&self, device: &AndroidDevice, link: &Link) -> Trust {
        let mut why = String::new();
        for _ in 0..COMPARISONS_MAX {
            match self.compare_once(device, link).await {
                Ok(Some((tree, dump))) => {
                    let how = differences(&tree, &dump);
                    return if how.is_empty() { Trust::Agreed } else { Trust::Differs(how) };
                }
                Ok(None) => "the screen changed meanwhile".clone_into(&mut why),
                Err(error) if error.kind == DeviceErrorKind::NotIdle => return Trust::Restless,
                Err(error) => return Trust::Undecided(error.detail),
            }
        }
        Trust::Undecided(why)
    }

    /// Returns nothing if the screen changed meanwhile.
    async fn compare_once(
        &self,
        device: &AndroidDevice,
        link: &Link,
    ) -> Result<Option<(Tree, Snapshot)>, DeviceError> {
        let first = match self.ask_tree(link, 0).await {
            // An app is just starting: a dump waits until it has.
            Err(LinkError::Refused(refusal)) if refusal.code == RefusalCode::NoWindow => {
                link.request(&Request::Release).await?;
                device.capture(None).await?;
                self.ask_tree(link, 0).await?
            }
            read => read?,
        };
        link.request(&Request::Release).await?;
        let dump = device.capture(None).await?;
        self.notes().asked_at = None;
        let (Some((hash, tree)), Captured::New { snapshot, .. }) = (first, dump.screen) else {
            return Ok(None);
        };
        // It forgot its trees when it gave UiAutomation back, so it sends an equal one again.
        let is_same = match self.ask_tree(link, hash).await? {
            None => true,
            Some((after, _)) => after == hash,
        };
        Ok(is_same.then_some((tree, snapshot)))
    }

    /// Keeps UiAutomation, and with it the events, while somebody waits for one.
    pub async fn keep_listening(&self) {
        loop {
            tokio::time::sleep(EVENTS_AGAIN_AFTER).await;
            let link = self.run.lock().await.link.clone();
            if let Some(link) = link.filter(|link| link.ended().is_none()) {
                // Without an answer the next call finds out why.
                let _ = self.ask(&link, &Request::Events { on: true }).await;
            }
        }
    }

    /// Ends it. The next call starts it again.
    pub async fn stop(&self) {
        let link = std::mem::take(&mut *self.run.lock().await).link;
        self.usable.store(false, Ordering::Relaxed);
        self.notes().last = None;
        if let Some(link) = link {
            say_goodbye(&link).await;
        }
    }
}

/// Ends the helper. One that does not answer is cut off.
async fn say_goodbye(link: &Link) {
    let _ = timeout(BYE_MAX, link.request(&Request::Bye)).await;
}

/// Errors of adb that say that there is no device, and nothing about the helper.
fn is_no_device(error: &AdbError) -> bool {
    matches!(
        error,
        AdbError::Unreachable(_) | AdbError::Offline(_) | AdbError::NotFound(_) | AdbError::Unauthorized(_)
    )
}

/// A door for the fuzzer: a tree of the helper as a snapshot.
#[cfg(fuzzing)]
pub fn shown(tree: &mdm_wire::helper::Tree) -> mdm_core::screen::snapshot::Snapshot {
    tree::read(tree, &mdm_core::screen::snapshot::Limits::default()).snapshot
}
