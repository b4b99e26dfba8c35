//! Android's own view system as the phone's surface: a Java process runs it (docs/framework-phone.md), and each input
//! or reading is a request to that process. A request waits for its answer, which takes milliseconds: so the same
//! requests at the same times give the same results, also while tokio's clock is paused.

mod codec;
mod java;
mod pool;
mod process;
mod text;
mod touch;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::time::{Duration, Instant};

use crate::app::geometry::{Point, Screen};
use crate::app::{keys, launcher};
use crate::draw::Pixels;
use crate::surface::{
    Changes, HelperState, HelperStep, Picture, Surface, SurfaceEvent, SurfaceTruth, SystemEvent, Task, Toast,
    Touch, Windows,
};
use crate::truth::Hit;
use codec::{Entry, Kind, Malformed, Reader, Request, Status};
pub use codec::{ListenerCall, ViewTruth};
pub use pool::FrameworkPool;
use pool::Idle;
use process::Process;
use text::{empty_home, parts_of_trace, short};
use touch::{ACTION_CANCEL, ACTION_DOWN, ACTION_MOVE, ACTION_UP};

/// A finger rests this long before it drags.
const DRAG_HOLD_MS: i64 = 600;
/// Toasts and calls of listeners that are kept for tests.
const KEPT_MAX: usize = 10_000;
const TAG: &str = "FrameworkPhone";
/// The jar whose code the process has for helpers.
const HELPER_JAR: &str = "helper/mdm-helper.jar";

/// Android 14 is API level 34, 15 is 35 and 16 is 36.
const VERSION_BELOW_SDK: u32 = 20;

/// Which framework and which app.
#[derive(Debug, Clone)]
pub struct FrameworkConfig {
    /// The folder that `cargo xtask framework` made.
    pub home: PathBuf,
    pub app: FrameworkApp,
    /// The level of Android's classes; the folder must hold them.
    pub sdk: u32,
    /// A file for what Java prints.
    pub log: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub enum FrameworkApp {
    /// One that was built with the framework, such as `widgets` or `compose`.
    Builtin(String),
    Apk(PathBuf),
}

impl FrameworkConfig {
    /// Returns Android's name for people, as 15 of API level 35.
    pub fn android_version(&self) -> String {
        self.sdk.saturating_sub(VERSION_BELOW_SDK).to_string()
    }
}

/// What tests may know of the views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameworkTruth {
    /// False if the process could not say; then the log says why, and nothing else here is known.
    pub is_known: bool,
    /// The `window` of the views that a dump can show; 0 without one.
    pub focused_window: u32,
    /// Every view on the screen, each before its children, the topmost window last.
    pub views: Vec<ViewTruth>,
    /// Where fingers came down and which listeners were called, in order.
    pub listeners: Vec<ListenerCall>,
    /// The time since boot at which words, states or places of views last changed. Drawing the same again is no change.
    pub changed_ms: u64,
}

pub struct FrameworkSurface {
    link: Mutex<Link>,
    /// The phone's time 0.
    boot: Instant,
    /// What the process last said; its entries are taken out.
    status: Status,
    activity: String,
    stack: Vec<String>,
    events: Vec<SurfaceEvent>,
    toasts: Vec<Toast>,
    listeners: Vec<ListenerCall>,
    advanced_ms: u64,
    accessible_since: Option<Instant>,
    shown_for: Screen,
    setup: Setup,
    /// A swipe that has begun and that `swipe` will end.
    begun: Option<(Point, Point, Option<Hit>)>,
    finger_down: bool,
    two_down: bool,
    helper_jar: Bytes,
    /// What the app needs and this phone has not.
    needs: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Setup {
    night: bool,
    font_scale_thousandths: u32,
    language: String,
}

/// The process, and what it said to readers that may not change the surface.
struct Link {
    process: Option<Process>,
    /// Where the process goes when this phone is gone; without a place it ends.
    idle: Option<Idle>,
    unread: Vec<Status>,
    trouble: Option<String>,
}

impl FrameworkSurface {
    /// Starts Java and the app; this takes seconds.
    pub fn start(
        config: &FrameworkConfig,
        size: (u32, u32),
        density: u32,
    ) -> Result<FrameworkSurface, String> {
        let (process, first, needs) = Process::start(config, size, density)?;
        let link = Link { process: Some(process), idle: None, unread: vec![first], trouble: None };
        let mut surface = FrameworkSurface::around(link, config, size, density)?;
        surface.needs = needs;
        surface.absorb();
        Ok(surface)
    }

    fn around(
        link: Link,
        config: &FrameworkConfig,
        size: (u32, u32),
        density: u32,
    ) -> Result<FrameworkSurface, String> {
        let jar = config.home.join(HELPER_JAR);
        let helper_jar = std::fs::read(&jar).map_err(|e| format!("{}: {e}", jar.display()))?.into();
        Ok(FrameworkSurface {
            link: Mutex::new(link),
            boot: Instant::now(),
            status: Status::default(),
            activity: String::new(),
            stack: Vec::new(),
            events: Vec::new(),
            toasts: Vec::new(),
            listeners: Vec::new(),
            advanced_ms: 0,
            accessible_since: None,
            shown_for: Screen { width: size.0 as i32, height: size.1 as i32, density, rotation: 0 },
            setup: Setup { night: false, font_scale_thousandths: 1000, language: "en-US".to_owned() },
            begun: None,
            finger_down: false,
            two_down: false,
            helper_jar,
            needs: Vec::new(),
        })
    }

    /// Returns what the app needs and this phone cannot have, such as native code: a sentence for each.
    pub fn needs(&self) -> &[String] {
        &self.needs
    }

    /// Returns the time at which the phone's uptime is 0.
    pub fn boot(&self) -> Instant {
        self.boot
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn uptime_ms(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.boot).as_millis() as u64
    }

    fn instant(&self, ms: u64) -> Instant {
        self.boot + Duration::from_millis(ms)
    }

    /// Asks the process at the time that was last advanced to. Nothing comes back when the process is gone.
    fn read<T>(
        &self,
        kind: Kind,
        fields: impl FnOnce(Request) -> Request,
        result: impl FnOnce(&mut Reader<'_>) -> Result<T, Malformed>,
    ) -> Option<T> {
        self.link().ask(fields(Request::new(kind, self.advanced_ms)), result)
    }

    /// Asks, and takes over at once what happened.
    fn act<T>(
        &mut self,
        kind: Kind,
        fields: impl FnOnce(Request) -> Request,
        result: impl FnOnce(&mut Reader<'_>) -> Result<T, Malformed>,
    ) -> Option<T> {
        let answer = self.read(kind, fields, result);
        self.absorb();
        answer
    }

    /// Takes over what the process said since the last time.
    fn absorb(&mut self) {
        let (unread, trouble) = {
            let mut link = self.link();
            (std::mem::take(&mut link.unread), link.trouble.take())
        };
        for mut status in unread {
            for entry in std::mem::take(&mut status.entries) {
                self.take_entry(entry, &status.package);
            }
            if status.entries_left > 0 {
                self.log('W', format!("{} log lines did not fit into one answer", status.entries_left));
            }
            self.status = status;
        }
        if let Some(trouble) = trouble {
            self.log('E', format!("the app is gone: {trouble}"));
            self.status.has_window = false;
        }
        self.activity = short(&self.status.package, &self.status.activity);
        self.stack = self.status.stack.iter().map(|name| short(&self.status.package, name)).collect();
    }

    fn log(&mut self, priority: char, message: String) {
        let (at, package) = (self.instant(self.advanced_ms), self.status.package.clone().into());
        self.events.push(SurfaceEvent::Log { at, package, priority, tag: TAG.into(), message });
    }

    fn take_entry(&mut self, entry: Entry, package: &str) {
        let owned = || Cow::Owned(package.to_owned());
        match entry {
            Entry::Log { at_ms, priority, tag, message } => self.events.push(SurfaceEvent::Log {
                at: self.instant(at_ms),
                package: owned(),
                priority,
                tag: tag.into(),
                message,
            }),
            Entry::Started { at_ms, activity, within } => self.events.push(SurfaceEvent::Started {
                at: self.instant(at_ms),
                package: owned(),
                activity: short(package, &activity).into(),
                within,
            }),
            Entry::Crashed { at_ms, activity, trace } => {
                let (exception, frames) = parts_of_trace(&trace);
                self.events.push(SurfaceEvent::Crashed {
                    at: self.instant(at_ms),
                    package: owned(),
                    activity: short(package, &activity).into(),
                    exception,
                    frames,
                });
            }
            Entry::Toast { text, from_ms, until_ms } if self.toasts.len() < KEPT_MAX => {
                let (from, until) = (self.instant(from_ms), self.instant(until_ms));
                self.toasts.push(Toast { text, from, until });
            }
            Entry::Listener(call) if self.listeners.len() < KEPT_MAX => self.listeners.push(call),
            Entry::Toast { .. } | Entry::Listener(_) => {}
        }
    }

    fn press(&mut self, code: u32, long: bool) {
        let code = i32::try_from(code).unwrap_or(0);
        self.act(Kind::Key, |request| request.i32(code).u8(u8::from(long)).i32(0), nothing);
    }

    fn configure(&mut self) {
        let (screen, setup) = (self.shown_for, self.setup.clone());
        let fill = |request: Request| {
            let request = request.i32(screen.width).i32(screen.height).i32(screen.density as i32);
            let request = request.i32(i32::from(screen.rotation)).u8(u8::from(setup.night));
            request.i32(setup.font_scale_thousandths as i32).text(&setup.language)
        };
        self.act(Kind::Configure, fill, nothing);
    }

    fn change_setup(&mut self, setup: Setup) -> bool {
        let changed = self.setup != setup;
        if changed {
            self.setup = setup;
            self.configure();
        }
        changed
    }
}

impl Link {
    fn ask<T>(
        &mut self,
        request: Request,
        result: impl FnOnce(&mut Reader<'_>) -> Result<T, Malformed>,
    ) -> Option<T> {
        let answer = match self.process.as_mut()?.ask(request) {
            Ok(answer) => answer,
            Err(trouble) => return self.lose(trouble),
        };
        let mut reader = Reader(&answer);
        let parsed = reader.u8().and_then(|failed| Ok((failed, codec::status(&mut reader)?)));
        match parsed {
            Ok((0, status)) => {
                self.unread.push(status);
                result(&mut reader).map_err(|e| self.lose::<T>(e.0.to_owned())).ok()
            }
            // The process lives: only this request failed.
            Ok((_, status)) => {
                self.unread.push(status);
                self.trouble_told(reader.text().unwrap_or_default())
            }
            Err(malformed) => self.lose(malformed.0.to_owned()),
        }
    }

    fn trouble_told<T>(&mut self, message: String) -> Option<T> {
        let at_ms = self.unread.last().and_then(|status| status.drawn_at_ms).unwrap_or(0);
        if let Some(status) = self.unread.last_mut() {
            let tag = TAG.to_owned();
            status.entries.push(Entry::Log { at_ms, priority: 'E', tag, message });
        }
        None
    }

    fn lose<T>(&mut self, trouble: String) -> Option<T> {
        self.process = None;
        self.trouble = Some(trouble);
        None
    }
}

impl Surface for FrameworkSurface {
    fn advance(&mut self, now: Instant) {
        let uptime_ms = self.uptime_ms(now);
        if uptime_ms > self.advanced_ms {
            self.advanced_ms = uptime_ms;
            self.act(Kind::Advance, |request| request, nothing);
        }
    }

    fn settle(&mut self, screen: &Screen) -> Vec<SurfaceEvent> {
        if *screen != self.shown_for {
            self.shown_for = *screen;
            self.configure();
        }
        self.absorb();
        std::mem::take(&mut self.events)
    }

    fn changes(&self, _now: Instant) -> Changes {
        let at = |ms: Option<u64>| ms.map_or(self.boot, |ms| self.instant(ms));
        let drawn = at(self.status.drawn_at_ms);
        // Without a reader no event is sent; then what was drawn stands for what would have been told.
        let reported_at = match self.accessible_since {
            Some(since) => at(self.status.event_at_ms).max(since),
            None => drawn,
        };
        Changes { count: self.status.events + self.status.draws, reported_at, visible_at: drawn }
    }

    fn front(&self) -> (&str, &str) {
        if self.status.home || self.status.package.is_empty() {
            return (launcher::PACKAGE, launcher::ACTIVITY);
        }
        (&self.status.package, &self.activity)
    }

    fn hierarchy(&self, screen: &Screen, _sdk: u32) -> Bytes {
        let tree = |reader: &mut Reader<'_>| {
            let found = reader.flag()?;
            found.then(|| reader.bytes().map(Bytes::copy_from_slice)).transpose()
        };
        match self.read(Kind::Dump, |request| request, tree) {
            Some(Some(tree)) => tree,
            _ => empty_home(screen),
        }
    }

    fn picture(&self, screen: &Screen, _now: Instant, _wall_ms: u64) -> Picture {
        let pixels = self.read(
            Kind::Picture,
            |request| request,
            |reader| {
                let (width, height) = (reader.u32()?, reader.u32()?);
                Ok(Pixels { width, height, rgba: reader.bytes()?.to_vec() })
            },
        );
        let whole = |p: &Pixels| u64::from(p.width) * u64::from(p.height) * 4 == p.rgba.len() as u64;
        let (width, height) = (screen.width.max(1) as u32, screen.height.max(1) as u32);
        let black = move || Pixels { width, height, rgba: vec![0; (width * height * 4) as usize] };
        let pixels = pixels.filter(whole);
        Box::new(move || pixels.unwrap_or_else(black))
    }

    fn tap(&mut self, at: Point, _screen: &Screen, _now: Instant) -> Option<Hit> {
        self.gesture(&[(at, at)], 0, 0)
    }

    fn swipe(&mut self, from: Point, to: Point, ms: u64, _screen: &Screen, _now: Instant) -> Option<Hit> {
        if std::mem::take(&mut self.finger_down) {
            self.motion(ACTION_UP, &[to]);
            return None;
        }
        match self.begun.take() {
            Some((begun_from, begun_to, hit)) if (begun_from, begun_to) == (from, to) => hit,
            _ => self.gesture(&[(from, to)], 0, ms as i64),
        }
    }

    fn drag_time(&self, ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(DRAG_HOLD_MS as u64 + ms))
    }

    fn drag_and_drop(
        &mut self,
        from: Point,
        to: Point,
        ms: u64,
        _screen: &Screen,
        _now: Instant,
    ) -> Option<Hit> {
        self.gesture(&[(from, to)], DRAG_HOLD_MS, ms as i64)
    }

    fn key(&mut self, code: u32, _screen: &Screen, _now: Instant) {
        self.press(code, false);
    }

    fn long_press_focused(&mut self, _screen: &Screen, _now: Instant) -> bool {
        self.press(keys::DPAD_CENTER, true);
        true
    }

    /// Types by the key map, as `input text` does; what is in no key map is committed as a keyboard does it.
    fn type_text(&mut self, text: &str, _now: Instant) -> Option<String> {
        let editor = Some(self.status.editor.clone()).filter(|name| !name.is_empty());
        let typed = self.act(Kind::Text, |request| request.text(text), |reader| reader.flag());
        if typed == Some(false) {
            self.act(Kind::Commit, |request| request.text(text), |reader| reader.flag());
        }
        editor
    }

    fn select_all(&mut self) {
        self.act(Kind::SelectAll, |request| request, nothing);
    }

    fn launch(&mut self, package: &str, activity: Option<&str>, _now: Instant) -> bool {
        if package == launcher::PACKAGE {
            self.press(keys::HOME, false);
            return true;
        }
        let name = activity.unwrap_or_default();
        package == self.status.package
            && self.act(Kind::Launch, |request| request.text(name), |reader| reader.flag()) == Some(true)
    }

    fn kill(&mut self, package: &str, _clear_data: bool, _now: Instant) {
        if package == self.status.package {
            self.act(Kind::Kill, |request| request, nothing);
        }
    }

    fn tasks(&self) -> Vec<Task<'_>> {
        let home = Task { id: 1, package: launcher::PACKAGE, stack: vec![launcher::ACTIVITY] };
        if self.stack.is_empty() {
            return vec![home];
        }
        let stack = self.stack.iter().map(String::as_str).collect();
        let task = Task { id: 2, package: &self.status.package, stack };
        if self.status.home { vec![task, home] } else { vec![home, task] }
    }

    fn windows(&self, _screen: &Screen) -> Windows<'_> {
        let gone = self.link().process.is_none();
        Windows {
            focused: self.front(),
            dialog: (self.status.is_dialog && !self.status.home).then_some(self.status.window),
            keyboard: self.status.keyboard,
            opening: gone || (!self.status.home && !self.status.has_window),
            responding: true,
            locked: false,
        }
    }

    fn toasts(&self) -> &[Toast] {
        &self.toasts
    }

    fn truth(&self) -> SurfaceTruth {
        let told = self.read(Kind::Truth, |request| request, codec::views);
        let is_known = told.is_some();
        let (focused_window, views) = told.unwrap_or_default();
        let (listeners, changed_ms) = (self.listeners.clone(), self.status.content_at_ms.unwrap_or(0));
        let framework = FrameworkTruth { is_known, focused_window, views, listeners, changed_ms };
        SurfaceTruth { framework: Some(framework), ..SurfaceTruth::default() }
    }

    fn touch(&mut self, touch: Touch, _screen: &Screen, _now: Instant) {
        match touch {
            Touch::Down(at) => {
                self.finger_down = true;
                self.motion(ACTION_DOWN, &[at]);
            }
            Touch::At(at) if self.finger_down => self.motion(ACTION_MOVE, &[at]),
            Touch::Cancelled if std::mem::take(&mut self.finger_down) => {
                self.motion(ACTION_CANCEL, &[(0, 0)])
            }
            Touch::Begins { from, to, time } if !self.finger_down && !time.is_zero() => {
                let hit = self.gesture(&[(from, to)], 0, time.as_millis() as i64);
                self.begun = Some((from, to, hit));
            }
            Touch::Two { at, part } => self.two_fingers(at, part),
            Touch::Zooms { fingers, factor } if !self.two_down => self.zoom(fingers, factor),
            Touch::At(_) | Touch::Cancelled | Touch::Begins { .. } | Touch::Zooms { .. } => {}
        }
    }

    fn system(&mut self, event: SystemEvent, now: Instant) -> bool {
        match event {
            SystemEvent::NightMode(night) => self.change_setup(Setup { night, ..self.setup.clone() }),
            SystemEvent::FontScale { thousandths } => {
                self.change_setup(Setup { font_scale_thousandths: thousandths, ..self.setup.clone() })
            }
            SystemEvent::AccessibilityReader(reads) => {
                self.accessible_since = reads.then_some(now);
                self.act(Kind::Accessibility, |request| request.u8(u8::from(reads)), nothing);
                true
            }
            // A new size comes with `settle`.
            SystemEvent::ConfigurationChanged => true,
            SystemEvent::OpenShade
            | SystemEvent::CloseShade
            | SystemEvent::Alert { .. }
            | SystemEvent::Locked(_)
            | SystemEvent::WindowDelayed { .. } => false,
        }
    }

    fn helper_jar(&self) -> Option<Bytes> {
        Some(self.helper_jar.clone())
    }

    fn helper(&mut self, connection: u32, step: HelperStep<'_>) -> Option<HelperState> {
        let fill = |request: Request| {
            let request = request.i32(i32::try_from(connection).unwrap_or(i32::MAX));
            match step {
                HelperStep::Open { nonce } => request.u8(0).field(nonce),
                HelperStep::Step { is_free, input } => request.u8(1).u8(u8::from(is_free)).field(input),
                HelperStep::Close => request.u8(2),
            }
        };
        let boot = self.boot;
        self.act(Kind::Helper, fill, |reader| {
            Ok(HelperState {
                is_open: reader.flag()?,
                holds_automation: reader.flag()?,
                due: reader.time()?.map(|ms| boot + Duration::from_millis(ms)),
                output: reader.bytes()?.to_vec(),
            })
        })
    }

    fn language(&mut self, tag: &str, _now: Instant) {
        let language = if tag.is_empty() { "en-US".to_owned() } else { tag.to_owned() };
        self.change_setup(Setup { language, ..self.setup.clone() });
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where others read a result")]
fn nothing(_reader: &mut Reader<'_>) -> Result<(), Malformed> {
    Ok(())
}
