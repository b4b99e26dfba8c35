//! What is on the screen: its tree, its app, its keyboard, a picture.

use bytes::Bytes;
use mdm_core::port::{Capture, Captured, DeviceError, DeviceErrorKind, DeviceInfo, Picture, RawAnswer};
use mdm_core::screen::element::Role;
use mdm_core::screen::geometry::{Point, Rect, Scale, Size};
use mdm_core::screen::snapshot::{Defect, DefectKind, LOCK_SCREEN, Limits, Platform, Screen, Snapshot};
use xxhash_rust::xxh3::xxh3_64;

use super::{Backends, IosDevice, Server, wrong_way};
use crate::idb::Idb;
use crate::picture;
use crate::real::RealDevice;
use crate::route::{Verb, Way};
use crate::served;
use crate::tree;
use crate::wda::Wda;

/// What is asked of a companion that lets us choose: its own choice, and what a field shows while it is empty, which
/// element has the focus, and what is unfolded. None of these is among those that take long.
pub const TREE_KEYS: [&str; 18] = [
    "AXLabel",
    "AXFrame",
    "AXValue",
    "AXUniqueId",
    "type",
    "title",
    "frame",
    "help",
    "enabled",
    "custom_actions",
    "role",
    "role_description",
    "subrole",
    "content_required",
    "pid",
    "traits",
    "placeholder",
    "focused",
];
/// The app of the home screen and of the lock screen.
const SPRINGBOARD: &str = "com.apple.springboard";
/// The type of the on-screen keyboard in JSON.
const KEYBOARD: &[u8] = b"\"Keyboard\"";
/// A tree of this size is read on a thread of its own, because it takes milliseconds in which others must be served.
const LARGE_TREE_BYTES: usize = 1024 * 1024;
/// Pixels a point of most phones.
const USUAL_SCALE: f64 = 3.0;
/// Processes whose app is remembered.
const PIDS_MAX: usize = 500;

impl IosDevice {
    pub(super) async fn read_info(&self) -> Result<DeviceInfo, DeviceError> {
        let known = self.state().info.clone();
        if let Some(info) = known {
            return Ok(info);
        }
        let Backends { idb, wda, simctl, usb, .. } = &self.backends;
        let info = match (usb, idb, wda, simctl) {
            (Some(usb), ..) => return self.info_of_usb(usb).await,
            (None, Some(idb), ..) => self.info_of_idb(idb).await?,
            (None, None, Some(wda), _) => self.info_of_wda(wda).await?,
            (None, None, None, Some(one)) => {
                let all = one.simctl.list().await?;
                let found = all.into_iter().find(|simulator| simulator.udid == one.udid);
                let gone = || {
                    let detail = format!("there is no simulator {} any more", one.udid);
                    DeviceError::new(DeviceErrorKind::Gone, detail)
                };
                let found = found.ok_or_else(gone)?;
                DeviceInfo { os_version: found.os_version, model: found.model, ..self.blank_info(true, 1.0) }
            }
            (None, None, None, None) => return Err(wrong_way(Verb::Tree)),
        };
        self.state().info = Some(info.clone());
        Ok(info)
    }

    /// A phone tells its scale only to WebDriverAgent; every iPhone with a notch has three pixels a point.
    async fn info_of_usb(&self, usb: &RealDevice) -> Result<DeviceInfo, DeviceError> {
        let facts = usb.facts().await?;
        let scale = match &self.backends.wda {
            // Who only asks what the phone is does not start anything on it.
            Some(wda) if wda.runs().await => wda.screen().await.map(|screen| screen.scale).ok(),
            _ => None,
        };
        let blank = self.blank_info(false, scale.unwrap_or(USUAL_SCALE));
        let info = DeviceInfo { os_version: facts.ios_version, model: facts.product_type, ..blank };
        if scale.is_some() || self.backends.wda.is_none() {
            self.state().info = Some(info.clone());
        }
        Ok(info)
    }

    async fn info_of_idb(&self, idb: &Idb) -> Result<DeviceInfo, DeviceError> {
        let target = idb.describe().await?;
        let scale = target.screen.map_or(1.0, |screen| screen.scale);
        let blank = self.blank_info(target.is_simulator, scale);
        Ok(DeviceInfo { os_version: target.os_version, model: target.name, ..blank })
    }

    async fn info_of_wda(&self, wda: &Wda) -> Result<DeviceInfo, DeviceError> {
        let status = wda.status().await?;
        let device = wda.device().await?;
        let scale = wda.screen().await?.scale;
        let simulator = status.ios.is_some_and(|ios| ios.simulator_version.is_some());
        let model = device.model.or(device.name).unwrap_or_else(|| "iPhone".to_owned());
        Ok(DeviceInfo { os_version: status.os.version, model, ..self.blank_info(simulator, scale) })
    }

    fn blank_info(&self, simulator: bool, scale: f64) -> DeviceInfo {
        DeviceInfo {
            platform: Platform::Ios,
            id: self.id.clone(),
            os_version: String::new(),
            model: String::new(),
            simulator,
            scale: Scale(if scale.is_finite() { scale.round().clamp(1.0, 10.0) as u32 } else { 1 }),
        }
    }

    pub(super) async fn capture(&self, known: Option<RawAnswer>) -> Result<Capture, DeviceError> {
        let (bytes, is_cut, focus) = self.read_tree().await.map_err(unreadable)?;
        // The tree is the same when another field gets the focus.
        let raw =
            RawAnswer(xxh3_64(&bytes) ^ focus.map_or(0, |rect| xxh3_64(format!("{rect:?}").as_bytes())));
        if known == Some(raw) {
            return Ok(Captured::Unchanged.into());
        }
        let mut snapshot = parse(bytes.clone()).await?;
        if is_cut || self.reaches_the_end(&snapshot) {
            let detail = "the tree is deeper than the system tells; what is below was left out".to_owned();
            snapshot.defects.push(Defect { kind: DefectKind::LimitReached, offset: 0, detail });
        }
        if self.way(Verb::Tree) == Ok(Way::Idb) {
            tell_what_idb_does_not(&mut snapshot);
        }
        if let Some(focus) = focus {
            tree::set_focus(&mut snapshot, focus);
        }
        if let Some(app) = self.front_app(&snapshot, &bytes).await? {
            tree::set_app(&mut snapshot, &app);
            if app == SPRINGBOARD && self.is_locked().await? {
                snapshot.screen = Some(Screen { app, name: Some(LOCK_SCREEN.to_owned()) });
            }
        }
        let mut state = self.state();
        state.size = Some(snapshot.size).filter(|size| *size != Size::default());
        state.keyboard = Some(keyboard_in(&snapshot));
        state.sliders = tree::sliders(&snapshot);
        drop(state);
        Ok(Captured::New { raw, snapshot }.into())
    }

    /// Asks whether the lock screen is in front. Only WebDriverAgent tells.
    async fn is_locked(&self) -> Result<bool, DeviceError> {
        match &self.backends.wda {
            Some(wda) if self.way(Verb::Tree) == Ok(Way::Wda) => wda.is_locked().await,
            _ => Ok(false),
        }
    }

    /// Returns the bytes of the tree, whether it was cut, and where the field is that has the keyboard.
    async fn read_tree(&self) -> Result<(Bytes, bool, Option<Rect>), DeviceError> {
        match self.server(Verb::Tree)? {
            Server::Idb(idb) => Ok((idb.tree(&TREE_KEYS).await?, false, None)),
            Server::Wda(wda) => {
                let tree = wda.tree().await?;
                // Without a keyboard nothing is typed into.
                let has_keyboard = memchr::memmem::find(&tree.bytes, KEYBOARD).is_some();
                let focus = if has_keyboard { wda.active_frame().await? } else { None };
                Ok((tree.bytes, tree.is_cut, focus))
            }
            Server::Simctl(_) | Server::Usb(_) | Server::Core(_) => Err(wrong_way(Verb::Tree)),
        }
    }

    /// True if a tree of WebDriverAgent goes as deep as it tells: what is below is left out without a word.
    fn reaches_the_end(&self, snapshot: &Snapshot) -> bool {
        let Ok(Server::Wda(wda)) = self.server(Verb::Tree) else { return false };
        let deepest = snapshot.elements.iter().map(|element| u32::from(element.depth) + 1).max();
        deepest.is_some_and(|levels| levels >= wda.depth_max())
    }

    /// The bundle id of the app in front, which trees do not have. WebDriverAgent is asked again when another name stands
    /// at the top, idb when the process is a new one.
    async fn front_app(&self, snapshot: &Snapshot, bytes: &[u8]) -> Result<Option<String>, DeviceError> {
        match self.server(Verb::Tree)? {
            Server::Wda(wda) => {
                let name = tree::application_name(snapshot);
                let known = self.state().front.named.clone().filter(|(known, _)| *known == name);
                let bundle = match known {
                    Some((_, bundle)) => bundle,
                    None => wda.active_app().await?.bundle_id,
                };
                self.state().front.named = Some((name, bundle.clone()));
                Ok(Some(bundle))
            }
            Server::Idb(idb) => match tree::process(bytes) {
                Some(pid) => self.app_of_pid(idb, pid).await,
                None => Ok(None),
            },
            Server::Simctl(_) | Server::Usb(_) | Server::Core(_) => Ok(None),
        }
    }

    async fn app_of_pid(&self, idb: &Idb, pid: u32) -> Result<Option<String>, DeviceError> {
        let known = self.state().front.by_pid.get(&pid).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let apps = idb.apps().await?;
        let mut state = self.state();
        if state.front.by_pid.len() > PIDS_MAX {
            state.front.by_pid.clear();
        }
        let running = apps.into_iter().filter_map(|app| Some((app.pid?, app.bundle)));
        state.front.by_pid.extend(running.take(PIDS_MAX));
        Ok(state.front.by_pid.get(&pid).cloned())
    }

    pub(super) async fn read_screen(&self) -> Result<Screen, DeviceError> {
        if let Server::Wda(wda) = self.server(Verb::Tree)? {
            return Ok(Screen { app: wda.active_app().await?.bundle_id, name: None });
        }
        let unknown =
            || DeviceError::new(DeviceErrorKind::NoWindow, "idb does not tell which app is in front");
        match self.capture(None).await?.screen {
            Captured::New { snapshot, .. } => snapshot.screen.ok_or_else(unknown),
            Captured::Unchanged => Err(unknown()),
        }
    }

    pub(super) async fn take_picture(&self) -> Result<Picture, DeviceError> {
        let png = match self.server(Verb::Picture)? {
            Server::Idb(idb) => idb.screenshot().await?.to_vec(),
            Server::Wda(wda) => wda.screenshot().await?,
            Server::Simctl(one) => one.simctl.screenshot(&one.udid).await?,
            Server::Core(core) => core.screenshot().await?,
            Server::Usb(usb) => match usb.screenshot().await.map_err(|error| match error.kind {
                DeviceErrorKind::ScreenshotUnavailable => self.with_missing(error),
                _ => error,
            })? {
                Picture::Png(png) => png,
                raw @ Picture::Raw(_) => return Ok(raw),
            },
        };
        let picture = picture::decode(png).await?;
        if let (Err(_), Picture::Raw(pixels)) = (self.way(Verb::Tree), &picture) {
            let Scale(scale) = self.read_info().await?.scale;
            let points = |pixels: u32| pixels.div_ceil(scale.max(1));
            let size = Size { width: points(pixels.size.width), height: points(pixels.size.height) };
            self.state().size = Some(size);
        }
        Ok(picture)
    }

    pub(super) async fn find_keyboard(&self) -> Result<Option<Rect>, DeviceError> {
        let known = self.state().keyboard;
        if let Some(keyboard) = known {
            return Ok(keyboard);
        }
        self.capture(None).await?;
        Ok(self.state().keyboard.flatten())
    }

    /// The element that a touch would land on, where the companion finds one.
    pub(super) async fn hit(&self, point: Point) -> Result<Option<Snapshot>, DeviceError> {
        let Some(idb) = &self.backends.idb else { return Err(wrong_way(Verb::Tree)) };
        served::note(Way::Idb);
        let at = crate::idb::Point { x: f64::from(point.x), y: f64::from(point.y) };
        let snapshot = parse(idb.element_at(at, &TREE_KEYS).await?).await?;
        Ok(Some(snapshot).filter(|snapshot| !snapshot.elements.is_empty()))
    }

    /// The size of the screen as it is turned, in points.
    pub(super) async fn screen_size(&self) -> Result<Size, DeviceError> {
        let known = self.state().size;
        if let Some(size) = known {
            return Ok(size);
        }
        // Where there is no tree, a picture tells.
        match self.way(Verb::Tree) {
            Ok(_) => self.capture(None).await.map(drop)?,
            Err(_) => self.take_picture().await.map(drop)?,
        }
        let no_size = || {
            DeviceError::new(
                DeviceErrorKind::TreeUnavailable,
                "the tree does not tell the size of the screen",
            )
        };
        self.state().size.ok_or_else(no_size)
    }
}

/// Says where the companion's tree leaves out what is on the screen.
fn tell_what_idb_does_not(snapshot: &mut Snapshot) {
    let untold = if snapshot.is_bare() {
        Some("idb tells only the app and nothing in it: it may be starting, or draw its screen itself")
    } else if tree::has_empty_web_view(snapshot) {
        Some("what is inside the web view is not told by idb; WebDriverAgent reads it")
    } else {
        None
    };
    snapshot.defects.extend(untold.map(|detail| Defect {
        kind: DefectKind::Untold,
        offset: 0,
        detail: detail.to_owned(),
    }));
    tree::content::gather(snapshot);
}

pub(super) async fn parse(bytes: Bytes) -> Result<Snapshot, DeviceError> {
    if bytes.len() < LARGE_TREE_BYTES {
        return Ok(tree::parse(&bytes, &Limits::default()));
    }
    let read = tokio::task::spawn_blocking(move || tree::parse(&bytes, &Limits::default())).await;
    read.map_err(|error| DeviceError::new(DeviceErrorKind::TreeUnavailable, error.to_string()))
}

/// Finds the on-screen keyboard, which is in the trees of iOS: as an element of its own, or as its keys alone.
fn keyboard_in(snapshot: &Snapshot) -> Option<Rect> {
    let shown = |bounds: Rect| bounds.intersection(snapshot.size.rect()).filter(|shown| !shown.is_empty());
    let mut keyboards = snapshot.elements.iter().filter(|element| tree::is_keyboard(element));
    keyboards.find_map(|keyboard| shown(keyboard.bounds)).or_else(|| {
        let keys = snapshot.elements.iter().filter(|element| element.role == Role::Key);
        let keys = keys.filter_map(|key| shown(key.bounds));
        keys.reduce(|all, key| {
            let (left, top) = (all.left.min(key.left), all.top.min(key.top));
            Rect::new(left, top, all.right.max(key.right), all.bottom.max(key.bottom))
        })
    })
}
/// An app that does not answer accessibility in time does so at another time.
fn unreadable(error: DeviceError) -> DeviceError {
    match error.kind {
        DeviceErrorKind::Rejected => DeviceError { kind: DeviceErrorKind::TreeUnavailable, ..error },
        _ => error,
    }
}
