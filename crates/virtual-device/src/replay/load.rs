//! Loads a recording from a folder, or says which file is wrong.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::format::{self, Trace};
use super::tree::{Node, Tree};
use crate::app::geometry::Rect;
use crate::app::keys;
use crate::draw::Pixels;

const TRACE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const TREE_BYTES_MAX: u64 = 8 * 1024 * 1024;
const SCREENSHOT_BYTES_MAX: u64 = 16 * 1024 * 1024;
const STEPS_MAX: usize = 500;
/// The largest width and height of a screen.
const SCREEN_PX_MAX: i32 = 8192;
/// The size of all files together.
const FOLDER_BYTES_MAX: u64 = 256 * 1024 * 1024;
const INPUT_CHARS_MAX: usize = 10_000;
/// The time of a check for which the recorder gives none.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);
const WAIT_MS_MAX: u64 = 3_600_000;
const PACKAGE_DEFAULT: &str = "com.example.recorded";
const ACTIVITY_DEFAULT: &str = ".MainActivity";

/// Recorded screens and the actions between them. It is cheap to share between phones.
#[derive(Debug)]
pub struct Recording {
    pub(super) package: String,
    pub(super) screens: Vec<Screen>,
    pub(super) width: u32,
    pub(super) height: u32,
}

#[derive(Debug)]
pub(super) struct Screen {
    pub name: String,
    pub activity: String,
    pub tree: Tree,
    /// The PNG file, which is decoded when it is needed.
    pub screenshot: Option<Vec<u8>>,
    pub action: Option<Action>,
    /// The index of the next screen; nothing when the recording ends with the action.
    pub next: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Tap(Rect),
    LongPress(Rect),
    Text { field: Rect, input: String, enter: bool },
    Swipe { area: Rect, direction: Direction },
    Key(u32),
    Wait(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingError {
    pub file: PathBuf,
    pub problem: String,
}

impl std::fmt::Display for RecordingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.problem)
    }
}

impl std::error::Error for RecordingError {}

impl Recording {
    /// Reads a folder with a `trace.json` in it.
    pub fn load(folder: &Path) -> Result<Arc<Recording>, RecordingError> {
        let mut files = Files { folder, left_bytes: FOLDER_BYTES_MAX };
        let bytes = files.read("trace.json", TRACE_BYTES_MAX)?;
        let trace: Trace = serde_json::from_slice(&bytes).map_err(|e| files.wrong("trace.json", e))?;
        if trace.steps.len() > STEPS_MAX {
            return Err(files.wrong("trace.json", format!("more than {STEPS_MAX} steps")));
        }
        let mut screens = Vec::new();
        for step in &trace.steps {
            if let Some(file) = &step.tree {
                screens.push(files.screen(step, file)?);
            }
        }
        link(&trace, &mut screens).map_err(|problem| files.wrong("trace.json", problem))?;
        let Some(first) = screens.first() else {
            return Err(files.wrong("trace.json", "no step has a tree"));
        };
        let (width, height) = size(first, &screens);
        let package = trace.package.unwrap_or_else(|| package_of(&screens));
        Ok(Arc::new(Recording { package, screens, width, height }))
    }
}

/// Returns the size of the first tree, or larger if an action is beyond it: some recorders leave the system bars out.
fn size(first: &Screen, screens: &[Screen]) -> (u32, u32) {
    let targets = screens.iter().filter_map(|screen| match &screen.action {
        Some(Action::Tap(area) | Action::LongPress(area) | Action::Text { field: area, .. }) => Some(area),
        _ => None,
    });
    let (width, height) = targets.fold((first.tree.width, first.tree.height), |(width, height), area| {
        (width.max(area.right), height.max(area.bottom))
    });
    (width.min(SCREEN_PX_MAX) as u32, height.min(SCREEN_PX_MAX) as u32)
}

struct Files<'a> {
    folder: &'a Path,
    left_bytes: u64,
}

impl Files<'_> {
    fn wrong(&self, file: &str, problem: impl ToString) -> RecordingError {
        RecordingError { file: self.folder.join(file), problem: problem.to_string() }
    }

    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Vec<u8>, RecordingError> {
        // A recording is untrusted: it may only name files of its own folder.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return Err(self.wrong(name, "not a plain file name"));
        }
        let file = File::open(self.folder.join(name)).map_err(|e| self.wrong(name, e))?;
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|e| self.wrong(name, e))?;
        let length = bytes.len() as u64;
        if length > bytes_max || length > self.left_bytes {
            return Err(
                self.wrong(name, format!("more than {bytes_max} bytes, or {FOLDER_BYTES_MAX} in all"))
            );
        }
        self.left_bytes -= length;
        Ok(bytes)
    }

    fn screen(&mut self, step: &format::TraceStep, file: &str) -> Result<Screen, RecordingError> {
        let bytes = self.read(file, TREE_BYTES_MAX)?;
        let tree = Tree::parse(&String::from_utf8_lossy(&bytes)).map_err(|e| self.wrong(file, e))?;
        let size = 1..=SCREEN_PX_MAX;
        if !size.contains(&tree.width) || !size.contains(&tree.height) {
            return Err(self.wrong(file, format!("a screen of {}x{} pixels", tree.width, tree.height)));
        }
        let screenshot = match &step.screenshot {
            Some(name) => {
                let png = self.read(name, SCREENSHOT_BYTES_MAX)?;
                decode(&png).map_err(|problem| self.wrong(name, problem))?;
                Some(png)
            }
            None => None,
        };
        let action = match &step.action {
            Some(action) => action_of(action, &tree).map_err(|problem| {
                self.wrong("trace.json", format!("the action on {}: {problem}", step.state))
            })?,
            None => None,
        };
        let activity = step.activity.clone().unwrap_or_else(|| ACTIVITY_DEFAULT.to_owned());
        Ok(Screen { name: step.state.clone(), activity, tree, screenshot, action, next: None })
    }
}

/// Links each screen to the next step or to the one that it names. Steps without a tree are skipped.
fn link(trace: &Trace, screens: &mut [Screen]) -> Result<(), String> {
    let names: Vec<String> = screens.iter().map(|screen| screen.name.clone()).collect();
    let place = |name: &str| names.iter().position(|known| known == name);
    for (index, step) in trace.steps.iter().enumerate().filter(|(_, step)| step.tree.is_some()) {
        let next = match &step.to {
            Some(name) => Some(place(name).ok_or_else(|| format!("{}: no screen {name}", step.state))?),
            None => trace.steps.get(index + 1).and_then(|next| place(&next.state)),
        };
        if let Some(screen) = place(&step.state).and_then(|at| screens.get_mut(at)) {
            screen.next = next;
        }
    }
    Ok(())
}

fn action_of(action: &format::Action, tree: &Tree) -> Result<Option<Action>, String> {
    let target = || target_of(action, tree);
    let input = || {
        let text = action.input.clone().unwrap_or_default();
        let fits = (1..=INPUT_CHARS_MAX).contains(&text.chars().count());
        fits.then_some(text).ok_or_else(|| format!("needs an input of 1 to {INPUT_CHARS_MAX} characters"))
    };
    Ok(Some(match action.kind.as_str() {
        "click" | "tap" => Action::Tap(target()?),
        "long_click" | "long_press" => Action::LongPress(target()?),
        "send_keys" => Action::Text { field: target()?, input: input()?, enter: false },
        "send_keys_enter" => Action::Text { field: target()?, input: input()?, enter: true },
        "swipe" | "scroll" => Action::Swipe { area: target()?, direction: direction(action)? },
        "back" => Action::Key(keys::BACK),
        "key" => {
            let name = action.key.as_deref().unwrap_or("");
            Action::Key(keys::parse(name).ok_or_else(|| format!("no key {name:?}"))?)
        }
        // A check only reads the screen: nothing but time passes.
        "oracle" | "wait" => {
            Action::Wait(action.ms.map_or(WAIT_DEFAULT, |ms| Duration::from_millis(ms.min(WAIT_MS_MAX))))
        }
        other => return Err(format!("unknown type {other:?}")),
    }))
}

/// Returns the recorded bounds or, without them, those of the first node with all attributes of the identifier.
fn target_of(action: &format::Action, tree: &Tree) -> Result<Rect, String> {
    if let Some(b) = action.bounds_px {
        return Ok(Rect::new(b.x1, b.y1, b.x2, b.y2));
    }
    let fits = |node: &Node| {
        action.identifier.iter().all(|(name, value)| node.attribute(name).is_some_and(|own| own == *value))
    };
    let node = if action.identifier.is_empty() { None } else { tree.find(&fits) };
    node.map(|node| node.bounds).ok_or_else(|| "neither bounds nor an identifier of the tree".to_owned())
}

fn direction(action: &format::Action) -> Result<Direction, String> {
    Ok(match action.direction.as_deref() {
        Some("up") => Direction::Up,
        Some("down") => Direction::Down,
        Some("left") => Direction::Left,
        Some("right") => Direction::Right,
        other => return Err(format!("unknown direction {other:?}")),
    })
}

/// Returns the package that occurs most in identifiers, without the system's own.
fn package_of(screens: &[Screen]) -> String {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for screen in screens {
        screen.tree.walk(&mut |node| {
            let from_id = node.resource_id.split_once(":id/").map_or("", |(package, _)| package);
            let package = if node.package.is_empty() { from_id } else { &node.package };
            if package.contains('.') && !package.starts_with("com.android.systemui") {
                *counts.entry(package).or_default() += 1;
            }
        });
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(PACKAGE_DEFAULT, |(package, _)| package).to_owned()
}

/// Decodes a PNG to eight bits per channel.
pub(super) fn decode(png: &[u8]) -> Result<Pixels, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (width, height) = reader.info().size();
    if width == 0 || height == 0 || width > SCREEN_PX_MAX as u32 || height > SCREEN_PX_MAX as u32 {
        return Err(format!("a picture of {width}x{height} pixels"));
    }
    let mut data = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let frame = reader.next_frame(&mut data).map_err(|e| e.to_string())?;
    let pixel: fn(&[u8]) -> [u8; 4] = match frame.color_type {
        png::ColorType::Rgba => |p| [p[0], p[1], p[2], p[3]],
        png::ColorType::Rgb => |p| [p[0], p[1], p[2], 255],
        png::ColorType::GrayscaleAlpha => |p| [p[0], p[0], p[0], p[1]],
        png::ColorType::Grayscale | png::ColorType::Indexed => |p| [p[0], p[0], p[0], 255],
    };
    let used = data.get(..frame.buffer_size()).unwrap_or(&data);
    let rgba = used.chunks_exact(frame.color_type.samples()).flat_map(pixel).collect();
    Ok(Pixels { width, height, rgba })
}
