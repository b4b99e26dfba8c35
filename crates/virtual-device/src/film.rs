//! A record of everything that the screen showed and when, for tests and never for clients.
//!
//! A frame holds what accessibility could have read from that moment on, whether or not anybody asked.

use std::sync::Arc;

use tokio::time::{Duration, Instant};

use crate::app::datum::Datum;
use crate::app::geometry::Screen;
use crate::app::xml::SDK_WITH_HINT;
use crate::config::Reader;
use crate::iphone;
use crate::state::State;
use crate::surface::{Changes, Surface};

/// Frames, dumps and inputs of a film; later ones are dropped and `is_cut` is set.
const FRAMES_MAX: usize = 20_000;
/// The interval between frames while something moves.
const MOTION_STEP: Duration = Duration::from_millis(50);
/// Frames that one step of the clock may be divided into.
const MOMENTS_MAX: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub struct Film {
    /// Frames in order of time; each lasts until the next.
    pub frames: Vec<Frame>,
    /// Every tree that a client received, in order of time.
    pub dumps: Vec<DumpShown>,
    /// When something else was drawn that the tree does not show, since boot.
    pub drawn_ms: Vec<u64>,
    /// What a person saw on a screen that is only drawn, each from its time on; empty when it was left.
    pub pictures: Vec<Frame>,
    /// For each applied input, in order, the index of the frame that it met.
    pub input_frames: Vec<usize>,
    /// True if something was left out because there was too much.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The time since boot.
    pub at_ms: u64,
    /// `package/.Activity` that has the focus.
    pub activity: String,
    /// The nodes of the active window, in document order.
    pub nodes: Arc<Vec<ShownNode>>,
}

/// One node of the active window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownNode {
    pub depth: u16,
    pub class: &'static str,
    pub resource_id: String,
    pub text: String,
    pub description: String,
    pub hint: String,
    pub enabled: bool,
    pub checkable: bool,
    pub checked: bool,
    pub selected: bool,
    pub focused: bool,
    pub clickable: bool,
    /// Left, top, right and bottom of the part that no ancestor clips, in pixels.
    pub visible: (i32, i32, i32, i32),
    /// Where a client reads that it is, in the client's own units.
    pub told: (i32, i32, i32, i32),
    /// Its place in the order of drawing: a node lies over all with smaller numbers.
    pub drawn_at: u32,
    /// Where a bar stands, in thousandths of its unit. Programs with accessibility read that, and dumps lack it.
    pub level: Option<i64>,
    /// What it stands for; no client sees that.
    pub datum: Option<Datum>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DumpShown {
    /// When the tree was read, since boot.
    pub at_ms: u64,
    /// The index of the frame that it showed.
    pub frame: usize,
    /// True if it was the whole tree of that moment.
    pub is_whole: bool,
}

impl Film {
    /// Returns the frame that was shown at a moment.
    pub fn at(&self, ms: u64) -> Option<&Frame> {
        let next = self.frames.partition_point(|frame| frame.at_ms <= ms);
        next.checked_sub(1).and_then(|at| self.frames.get(at))
    }

    /// Returns the frames that were shown from one moment to another, both included.
    pub fn between(&self, from_ms: u64, to_ms: u64) -> &[Frame] {
        let first = self.frames.partition_point(|frame| frame.at_ms <= from_ms).saturating_sub(1);
        let end = self.frames.partition_point(|frame| frame.at_ms <= to_ms);
        self.frames.get(first..end).unwrap_or_default()
    }
}

/// By what two moments are known to show the same.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shown {
    changes: Changes,
    /// An app of iOS that is being opened shows an empty screen.
    is_opening: bool,
    /// On iOS a passing message is in the tree.
    message: Option<usize>,
}

/// Fills the film of a phone that has one.
#[derive(Debug)]
pub(crate) struct FilmRecorder {
    film: Option<Film>,
    reader: Reader,
    /// Frames are recorded up to this moment.
    until: Instant,
    /// What the last frame showed; nothing before the first.
    shown: Option<Shown>,
    /// The number of what was drawn last.
    drawing: u64,
}

impl FilmRecorder {
    pub fn new(is_on: bool, reader: Reader, now: Instant) -> FilmRecorder {
        FilmRecorder { film: is_on.then(Film::default), reader, until: now, shown: None, drawing: 0 }
    }

    pub fn film(&self) -> Film {
        self.film.clone().unwrap_or_default()
    }

    /// Returns the next moment before `to` at which the screen may differ.
    fn next_moment(&self, surface: &dyn Surface, to: Instant) -> Option<Instant> {
        let moving = surface.is_moving().then(|| self.until + MOTION_STEP);
        // On iOS a passing message is in the tree.
        let in_tree = self.reader != Reader::Uiautomator;
        let messages = surface.toasts().iter().flat_map(|toast| [toast.from, toast.until]);
        let message = messages.filter(|at| in_tree && *at > self.until).min();
        let next = surface.next_due().into_iter().chain(moving).chain(message).min();
        next.map(|at| at.max(self.until)).filter(|at| *at < to)
    }

    /// Takes a frame if something has changed since the last one.
    fn record(&mut self, surface: &dyn Surface, (screen, sdk): (&Screen, u32), at: Instant, at_ms: u64) {
        self.until = self.until.max(at);
        let Some(film) = &mut self.film else { return };
        let message = surface.toasts().iter().rposition(|toast| toast.from <= at && at < toast.until);
        let shown =
            Shown { changes: surface.changes(at), is_opening: surface.windows(screen).opening, message };
        if self.shown.replace(shown) == Some(shown) {
            return;
        }
        let drawing = surface.drawing(screen);
        let before = std::mem::replace(&mut self.drawing, drawing);
        if drawing != before && drawing != 0 && before != 0 {
            match film.drawn_ms.len() < FRAMES_MAX {
                true => film.drawn_ms.push(at_ms),
                false => film.is_cut = true,
            }
        }
        let (package, activity) = surface.windows(screen).focused;
        let activity = match self.reader {
            Reader::Uiautomator => format!("{package}/{activity}"),
            // iOS tells the app and not its screen.
            Reader::WebDriverAgent | Reader::Companion => package.to_owned(),
        };
        let pictured = surface.pictured_nodes(screen);
        let known = film.pictures.last().map_or(pictured.is_empty(), |last| *last.nodes == pictured);
        if !known && film.pictures.len() < FRAMES_MAX {
            film.pictures.push(Frame { at_ms, activity: activity.clone(), nodes: Arc::new(pictured) });
        }
        let mut nodes = match self.reader {
            Reader::Uiautomator => surface.shown_nodes(screen),
            reader => iphone::shown_nodes(surface, screen, at, reader),
        };
        if sdk < SDK_WITH_HINT {
            nodes.iter_mut().for_each(|node| node.hint.clear());
        }
        let same = film.frames.last().is_some_and(|last| last.activity == activity && *last.nodes == nodes);
        if same {
            return;
        }
        if film.frames.len() < FRAMES_MAX {
            film.frames.push(Frame { at_ms, activity, nodes: Arc::new(nodes) });
        } else {
            film.is_cut = true;
        }
    }

    /// Returns the index of the frame that is shown.
    pub fn last_frame(&self) -> usize {
        self.film.as_ref().map_or(0, |film| film.frames.len().saturating_sub(1))
    }

    /// Notes an applied input, before anything that it brings about is in the film.
    pub fn note_input(&mut self) {
        self.note_input_at(self.last_frame());
    }

    /// Notes an applied input that met this frame.
    pub fn note_input_at(&mut self, frame: usize) {
        match &mut self.film {
            Some(film) if film.input_frames.len() < FRAMES_MAX => film.input_frames.push(frame),
            Some(film) => film.is_cut = true,
            None => {}
        }
    }

    /// Notes a tree that was read and will be handed out.
    pub fn note_dump(&mut self, at_ms: u64, is_whole: bool) {
        match &mut self.film {
            Some(film) if film.dumps.len() < FRAMES_MAX => {
                let frame = film.frames.len().saturating_sub(1);
                film.dumps.push(DumpShown { at_ms, frame, is_whole });
            }
            Some(film) => film.is_cut = true,
            None => {}
        }
    }
}

impl State {
    /// Lets the surface come to `to`. With a film every moment is visited at which something happens.
    pub(crate) fn advance_surface(&mut self, to: Instant) {
        if self.film.film.is_some() {
            for _ in 0..MOMENTS_MAX {
                let Some(next) = self.film.next_moment(self.surface.as_ref(), to) else { break };
                self.surface.advance(next);
                self.record_frame(next);
            }
        }
        self.surface.advance(to);
        self.record_frame(to);
    }

    /// Notes that a client gets the tree of this moment.
    pub(crate) fn note_tree(&mut self, is_whole: bool) {
        self.film.note_dump(self.clock.uptime_ms(self.now), is_whole);
    }

    pub(crate) fn record_frame(&mut self, at: Instant) {
        let at_ms = self.clock.uptime_ms(at);
        let about = (&self.display.screen(), self.config.sdk);
        self.film.record(self.surface.as_ref(), about, at, at_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::user::AppFile;
    use crate::{Phone, PhoneConfig};

    const APP: &str = r#"{"package": "org.example.film", "label": "Film", "start": "Home",
        "values": {"count": 0}, "screens": {"Home": {"content": [{"type": "text", "text": "Count {count}"}],
            "on_open": [{"after": {"ms": 300, "do": [{"add": {"count": 1}}]}},
                        {"after": {"ms": 700, "do": [{"add": {"count": 1}}]}}]}}}"#;

    #[tokio::test(start_paused = true)]
    async fn every_change_has_its_own_time_though_nobody_looked() {
        let apps = vec![AppFile::parse(APP).unwrap()];
        let phone = Phone::new(PhoneConfig { film: true, apps, ..PhoneConfig::default() });
        phone.with(|state| state.launch("org.example.film", None));
        tokio::time::sleep(Duration::from_secs(2)).await;
        let film = phone.film();
        let counts: Vec<(u64, String)> = film
            .frames
            .iter()
            .flat_map(|frame| frame.nodes.iter().map(|node| (frame.at_ms, node.text.clone())))
            .filter(|(_, text)| text.starts_with("Count"))
            .collect();
        // What a screen does when it opens begins with its first frame.
        let expected = [(0, "Count 0"), (316, "Count 1"), (716, "Count 2")];
        assert_eq!(counts, expected.map(|(at, text)| (at, text.to_owned())));
        assert_eq!(film.at(700).map(|frame| frame.at_ms), Some(316));
        assert_eq!(film.between(320, 716).len(), 2);
        assert!(Phone::new(PhoneConfig::default()).film().frames.is_empty(), "only when it is asked for");
    }

    const GAME: &str = r#"{"package": "org.example.game", "label": "Game", "start": "Home", "style": "game",
        "values": {"count": 0, "name": ""}, "screens": {
            "Home": {"content": [{"type": "text", "text": "Count {count}"}],
                "on_open": [{"after": {"ms": 300, "do": [{"add": {"count": 1}}]}}]},
            "Form": {"style": "view", "content": [{"type": "field", "id": "name", "value": "name", "hint": "Name"}],
                "on_open": [{"freeze": 3000}]}}}"#;

    fn game(activity: &str) -> Phone {
        let apps = vec![AppFile::parse(GAME).unwrap()];
        let phone = Phone::new(PhoneConfig { film: true, apps, ..PhoneConfig::default() });
        phone.with(|state| state.launch("org.example.game", Some(activity)));
        phone
    }

    #[tokio::test(start_paused = true)]
    async fn what_only_pixels_show_has_its_time_and_no_frame() {
        let phone = game(".HomeActivity");
        tokio::time::sleep(Duration::from_secs(2)).await;
        let film = phone.film();
        assert_eq!((film.drawn_ms, film.frames.last().map(|frame| frame.at_ms)), (vec![316], Some(0)));
        let says = |frame: &Frame| frame.nodes.iter().any(|node| node.text == "Count 1");
        assert!(!film.frames.iter().any(says) && film.pictures.last().is_some_and(says));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stuck_app_takes_touches_later() {
        let phone = game(".FormActivity");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let film = phone.film();
        let nodes = &film.frames.last().unwrap().nodes;
        let (left, top, right, bottom) = nodes.iter().find(|node| node.text == "Name").unwrap().visible;
        phone.with(|state| state.tap((left + right) / 2, (top + bottom) / 2));
        assert!(!phone.truth().keyboard_shown, "a field too is handled by the main thread");
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(phone.truth().keyboard_shown);
    }
}
