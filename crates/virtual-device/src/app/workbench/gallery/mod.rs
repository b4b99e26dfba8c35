//! The gallery: one screen for each thing that makes driving an app hard.

mod controls;
mod dense;
mod gestures;
mod sliders;
mod trouble;
mod updates;

use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};

use super::PACKAGE;
use crate::app::parts::{UP, alert, entry, framed, list};
use crate::app::widget::{Appearance, Key, Style, Widget};
use crate::app::{Context, Effect, HttpAnswer, HttpRequest, Values};
pub use trouble::request;

pub const GALLERY: &str = ".GalleryActivity";
/// Timers that may run at the same time.
const TIMERS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 200;

pub struct Screen {
    pub activity: &'static str,
    title: &'static str,
    summary: &'static str,
    style: Style,
    view: fn(&Gallery) -> Widget,
    /// How often it changes by itself, in milliseconds.
    frame_ms: Option<u64>,
}

const fn screen(
    activity: &'static str,
    title: &'static str,
    summary: &'static str,
    view: fn(&Gallery) -> Widget,
) -> Screen {
    Screen { activity, title, summary, style: Style::View, view, frame_ms: None }
}

impl Screen {
    const fn styled(mut self, style: Style) -> Screen {
        self.style = style;
        self
    }

    const fn every(mut self, ms: u64) -> Screen {
        self.frame_ms = Some(ms);
        self
    }
}

pub const SCREENS: [Screen; 23] = [
    screen(".ControlsActivity", "Controls", "Drop-down, picker, radio, tabs", controls::view),
    screen(".SlidersActivity", "Sliders", "Linear, stepped, vertical and worse", sliders::view),
    screen(".LongListActivity", "Long list", "500 rows and a carousel", controls::long_list),
    screen(".FormActivity", "Form", "With validation", controls::form),
    screen(".DialogsActivity", "Dialogs", "Dialog, menu, toast, permission", trouble::dialogs),
    screen(".OverlayActivity", "Overlay", "A button under something", gestures::overlay),
    screen(".MovingActivity", "Moving button", "Catch it", gestures::moving).every(50),
    screen(".GesturesActivity", "Gestures", "Long press, double tap, drag", gestures::view),
    screen(".DuplicatesActivity", "Duplicates", "Rows that look the same", gestures::duplicates),
    screen(".AnimationActivity", "Animation", "Never at rest", updates::animation).every(50),
    screen(".ClockActivity", "Clock", "Ticks every second", updates::clock).every(1000),
    screen(".ChurnActivity", "Recomposition", "New nodes, same content", updates::churn)
        .styled(Style::Compose)
        .every(250),
    screen(".UpdatesActivity", "Updates", "Late and in place", updates::view),
    screen(".WebActivity", "Web page", "A page in a web view", updates::web).styled(Style::WebView),
    screen(".TroubleActivity", "Trouble", "Crash, freeze, slowness", trouble::view),
    screen(".NetworkActivity", "Network", "Requests and their log", trouble::network),
    screen(".ComposeActivity", "Compose", "A card in Compose", updates::card).styled(Style::Compose),
    screen(".ReactActivity", "React Native", "The same card", updates::card).styled(Style::ReactNative),
    screen(".FlutterActivity", "Flutter", "The same card", updates::card).styled(Style::Flutter),
    screen(".GameActivity", "Game", "The same card, invisible", updates::card).styled(Style::Game),
    screen(".CalendarActivity", "Calendar", "A month of small cells", dense::calendar),
    screen(".FeedActivity", "Feed", "Pictures without words", dense::feed).styled(Style::ReactNative),
    screen(".ZoomActivity", "Zoom", "A photo for two fingers", gestures::zoom_view),
];

/// The state of the gallery, until its process ends.
#[derive(Debug, Clone, Default)]
pub struct Gallery {
    flags: BTreeMap<&'static str, bool>,
    numbers: BTreeMap<&'static str, f32>,
    texts: BTreeMap<&'static str, String>,
    timers: Vec<(Instant, &'static str)>,
    dialog: Option<&'static str>,
    /// Frames since the screen in front was opened.
    ticks: u32,
    /// Milliseconds since the screen in front was opened.
    shown_ms: u64,
}

impl Gallery {
    fn flag(&self, name: &str) -> bool {
        self.flags.get(name).copied().unwrap_or(false)
    }

    fn number(&self, name: &str) -> f32 {
        self.numbers.get(name).copied().unwrap_or(0.0)
    }

    fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn set_text(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.insert(name, text.into());
    }

    fn count(&mut self, name: &'static str) {
        *self.numbers.entry(name).or_insert(0.0) += 1.0;
    }

    fn after(&mut self, now: Instant, ms: u64, name: &'static str) {
        if self.timers.len() < TIMERS_MAX {
            self.timers.push((now + Duration::from_millis(ms), name));
        }
    }

    pub fn next_due(&self) -> Option<Instant> {
        self.timers.iter().map(|(at, _)| *at).min()
    }

    pub fn due(&mut self, context: &mut Context) {
        let mut ready: Vec<_> = self.timers.iter().copied().filter(|(at, _)| *at <= context.now).collect();
        self.timers.retain(|(at, _)| *at > context.now);
        ready.sort();
        for (_, name) in ready {
            updates::due(self, name);
            trouble::due(self, name, context);
        }
    }

    pub fn view(&self, activity: &str) -> Widget {
        match of(activity) {
            Some(screen) => (screen.view)(self),
            None => {
                let rows = SCREENS.iter().zip(0u32..);
                let rows = rows.map(|(s, index)| row(s, index));
                framed(PACKAGE, "Gallery", list(PACKAGE, "gallery_list", rows))
            }
        }
    }

    pub fn dialog(&self) -> Option<Widget> {
        match self.dialog? {
            "menu" => Some(trouble::menu()),
            "size" => Some(controls::sizes()),
            _ => Some(alert(
                "Discard draft?",
                "Your text will be lost.",
                &[("Keep", Key::of("dialog_keep")), ("Discard", Key::of("dialog_discard"))],
            )),
        }
    }

    pub fn cancel_dialog(&mut self) {
        self.dialog = None;
    }

    pub fn tap(&mut self, key: Key, context: &mut Context) {
        match key.name {
            UP => context.push(Effect::Finish),
            "gallery" => {
                if let Some(screen) = SCREENS.get(key.index as usize) {
                    self.ticks = 0;
                    self.shown_ms = 0;
                    context.push(Effect::Start(screen.activity));
                }
            }
            _ => {
                let _ = controls::tap(self, key)
                    || gestures::tap(self, key)
                    || dense::tap(self, key)
                    || updates::tap(self, key, context.now)
                    || trouble::tap(self, key, context);
            }
        }
    }

    /// Sends a request to a real server.
    pub fn ask(&mut self, key: Key, request: HttpRequest, context: &mut Context) {
        self.set_text(key.name, "Waiting");
        context.push(Effect::Http(request));
    }

    pub fn answered(&mut self, request: u32, process: u32, answer: &HttpAnswer) {
        trouble::answered(self, request, process, answer);
    }

    pub fn double_tap(&mut self, _key: Key) {
        self.count("double_taps");
    }

    pub fn zoom(&mut self, _key: Key, factor: f32) {
        gestures::zoom(self, factor);
    }

    pub fn long_press(&mut self, _key: Key) {
        self.count("long_presses");
    }

    pub fn dropped(&mut self, key: Key, onto: Key) {
        gestures::dropped(self, key, onto);
    }

    pub fn slide(&mut self, key: Key, fraction: f32) {
        sliders::slide(self, key, fraction);
    }

    pub fn permission(&mut self, granted: bool) {
        self.set_text("permission", if granted { "Camera allowed" } else { "Camera denied" });
    }

    pub fn field(&mut self, key: Key) -> Option<&mut String> {
        controls::FIELDS.contains(&key.name).then(|| self.texts.entry(key.name).or_default())
    }

    /// Draws a frame; returns true if accessibility hears of it. A view that only moves sends no event.
    pub fn frame(&mut self, activity: &str, shown: Duration) -> bool {
        let every = of(activity).and_then(|s| s.frame_ms).unwrap_or(1);
        self.shown_ms = shown.as_millis() as u64;
        self.ticks = (self.shown_ms / every) as u32;
        activity != ".MovingActivity"
    }

    pub fn values(&self) -> Values {
        let mut values = Values::default();
        for (name, value) in &self.texts {
            let value: String = value.chars().take(NAME_CHARS_MAX).collect();
            values.fields.insert(format!("gallery.{name}"), value);
        }
        for (name, value) in &self.flags {
            values.switches.insert(format!("gallery.{name}"), *value);
        }
        for spec in sliders::ALL {
            values.sliders.insert(format!("gallery.{}", spec.name), spec.value(self));
        }
        for (name, value) in &self.numbers {
            values.sliders.insert(format!("gallery.{name}"), *value);
        }
        values
    }
}

/// A row of the gallery's list. Unlike in a preference, only the title has an id.
fn row(screen: &Screen, index: u32) -> Widget {
    let mut row = entry(screen.title, screen.summary, Key { name: "gallery", index });
    row.walk_mut(&mut |w| {
        if w.appearance == Appearance::Caption {
            w.resource_id.clear();
        }
    });
    row
}

fn of(activity: &str) -> Option<&'static Screen> {
    SCREENS.iter().find(|screen| screen.activity == activity)
}

pub fn style(activity: &str) -> Style {
    of(activity).map_or(Style::View, |screen| screen.style)
}

pub fn frame_every(activity: &str) -> Option<Duration> {
    of(activity)?.frame_ms.map(Duration::from_millis)
}
