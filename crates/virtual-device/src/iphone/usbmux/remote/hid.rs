//! `hid.universalhidservice` and `hid.indigo`: fingers, keys and buttons, which count only while the client watches a
//! media stream. Nothing tells the client whether they did.

use std::collections::BTreeMap;
use std::io;

use tokio::time::{Duration, Instant};

use super::connection::Connection;
use super::xpc::{self, Xpc};
use crate::app::keys as phone_keys;
use crate::iphone::IPhone;
use crate::iphone::companion::{hid::seen_from_upright, keys};
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::tunnel::Tunnel;
use crate::state::State;
use crate::surface::SystemEvent;

const TOUCHSCREEN: u64 = 257;
const TOUCH_REPORT: u8 = 9;
const TOUCH_BYTES: usize = 58;
const CONTACTS_AT: usize = 3;
const CONTACT_BYTES: usize = 5;
const CONTACTS_MAX: usize = 5;
/// Bits of a contact: it touches, and its identity.
const TOUCHING: u8 = 0xc0;
const IDENTITY: u8 = 0x0f;
const KEY_REPORT: u8 = 1;
const KEY_BYTES: usize = 39;
const USAGES_MAX: u64 = 232;
/// Surfaces that clients made.
const SURFACES_MAX: usize = 16;
/// The phone trusts fingers only this long after a stream has begun.
const TRUST_AFTER: Duration = Duration::from_millis(250);
const CONSUMER: u64 = 0x0c;
const BUTTON_UP: u64 = 2;
const VOLUME_UP: u32 = 24;
const VOLUME_DOWN: u32 = 25;

pub async fn surfaces(phone: &IPhone, tunnel: &Tunnel, stream: impl Wire) -> io::Result<()> {
    let mut connection = Connection::accept(stream).await?;
    let mut hand = Hand { phone, tunnel, fingers: BTreeMap::new(), pinch: None, pressed: Vec::new() };
    let mut made: BTreeMap<u64, Xpc> = BTreeMap::new();
    loop {
        let (request, body) = connection.next().await?;
        let Some(payload) = body.get("payload") else { continue };
        let number = |path: &[&str]| payload.at(path).and_then(Xpc::as_number);
        let reply = if payload.get("connectedServices").is_some() {
            let all = [touchscreen()].into_iter().chain(made.values().cloned()).collect();
            Some(Xpc::dictionary([("connectedServices", Xpc::Array(all))]))
        } else if let Some(service) = payload.at(&["createService", "_0"]) {
            let id = service.get("_ServiceID").and_then(Xpc::as_number).filter(|id| *id != TOUCHSCREEN);
            match id.filter(|_| made.len() < SURFACES_MAX) {
                Some(id) => {
                    made.insert(id, service.clone());
                    Some(Xpc::dictionary([("serviceID", Xpc::Uint(id))]))
                }
                None => Some(Xpc::dictionary([("error", Xpc::text("the service cannot be made"))])),
            }
        } else {
            if let Some(id) = number(&["removeService", "_0"]) {
                made.remove(&id);
            }
            let report = payload.at(&["send", "_0"]).and_then(Xpc::as_data);
            match (report, number(&["send", "_1"])) {
                (Some(report), Some(TOUCHSCREEN)) => hand.touched(report),
                (Some(report), Some(id)) if made.contains_key(&id) => hand.typed(report),
                _ => {}
            }
            None
        };
        if let Some(reply) = reply.filter(|_| request.flags & xpc::WANTS_REPLY != 0) {
            connection.answer(&request, reply).await?;
        }
    }
}

pub async fn buttons(phone: &IPhone, tunnel: &Tunnel, stream: impl Wire) -> io::Result<()> {
    let mut connection = Connection::accept(stream).await?;
    loop {
        let (_, body) = connection.next().await?;
        let number = |key: &str| body.at(&["payload", key]).and_then(Xpc::as_number);
        let is_button = body.get("messageType").and_then(Xpc::as_text) == Some("IndigoButtonEvent");
        let is_up = (number("state"), number("usagePage")) == (Some(BUTTON_UP), Some(CONSUMER));
        if let (true, true, Some(usage), true) =
            (is_button, is_up, number("usageCode"), counts(phone, tunnel))
        {
            press(phone, usage);
        }
    }
}

/// True if events of this client reach the apps.
fn counts(phone: &IPhone, tunnel: &Tunnel) -> bool {
    let watched = tunnel.watched().is_some_and(|stream| stream.began.elapsed() >= TRUST_AFTER);
    watched && !phone.config().iphone_faults.hid_ignored
}

fn press(phone: &IPhone, usage: u64) {
    let code = match usage {
        0x40 => phone_keys::HOME,
        0x30 => {
            let locked = phone.is_locked();
            phone.phone().with(|state| state.surface.system(SystemEvent::Locked(!locked), state.now));
            return;
        }
        0xe9 => VOLUME_UP,
        0xea => VOLUME_DOWN,
        _ => return,
    };
    phone.phone().with(|state| state.key(code));
}

fn touchscreen() -> Xpc {
    Xpc::dictionary([
        ("PrimaryUsage", Xpc::Uint(4)),
        ("PrimaryUsagePage", Xpc::Uint(13)),
        ("Product", Xpc::text("CoreDevice touchscreen(nil)")),
        ("_ServiceID", Xpc::Uint(TOUCHSCREEN)),
    ])
}

/// What one client holds down.
struct Hand<'a> {
    phone: &'a IPhone,
    tunnel: &'a Tunnel,
    fingers: BTreeMap<u8, Finger>,
    /// Where two fingers came down together, and where they are.
    pinch: Option<Pinch>,
    pressed: Vec<u64>,
}

struct Finger {
    from: (i32, i32),
    at: (i32, i32),
    since: Instant,
}

struct Pinch {
    from: [(i32, i32); 2],
    to: [(i32, i32); 2],
    since: Instant,
}

impl Hand<'_> {
    fn act(&self, act: impl FnOnce(&mut State)) {
        self.phone.phone().with(act);
    }

    fn touched(&mut self, report: &[u8]) {
        if report.len() != TOUCH_BYTES || report.first() != Some(&TOUCH_REPORT) {
            return;
        }
        if !counts(self.phone, self.tunnel) {
            self.fingers.clear();
            return;
        }
        let count = report.get(1).map_or(0, |count| usize::from(*count)).min(CONTACTS_MAX);
        let contacts = report.get(CONTACTS_AT..).unwrap_or_default().chunks_exact(CONTACT_BYTES).take(count);
        for contact in contacts {
            let &[state, x0, x1, y0, y1] = contact else { continue };
            let (x, y) = (u16::from_le_bytes([x0, x1]), u16::from_le_bytes([y0, y1]));
            let at = self.phone.phone().with(|state| pixel(state, x, y));
            self.contact(state & IDENTITY, state & TOUCHING != 0, at);
        }
        self.note_pinch();
    }

    fn contact(&mut self, identity: u8, touching: bool, at: (i32, i32)) {
        let alone = self.fingers.len() <= 1 && self.pinch.is_none();
        match (touching, self.fingers.remove(&identity)) {
            (true, None) => {
                if self.fingers.is_empty() {
                    self.phone.note_touch(at);
                    self.act(|state| state.put_finger_down(at));
                }
                self.fingers.insert(identity, Finger { from: at, at, since: Instant::now() });
            }
            (true, Some(finger)) => {
                if at != finger.at && alone {
                    self.act(|state| state.move_finger(at));
                }
                self.fingers.insert(identity, Finger { at, ..finger });
            }
            (false, Some(_)) if alone => self.act(|state| state.lift_from_iphone(at)),
            (false, _) => {}
        }
    }

    /// Two fingers at once pinch; it counts when both are lifted.
    fn note_pinch(&mut self) {
        let mut fingers = self.fingers.values();
        match (fingers.next(), fingers.next(), self.pinch.take()) {
            (Some(one), Some(other), began) => {
                let began = began.map_or((one.from, other.from, one.since), |pinch| {
                    (pinch.from[0], pinch.from[1], pinch.since)
                });
                let (from, to) = ([began.0, began.1], [one.at, other.at]);
                self.pinch = Some(Pinch { from, to, since: began.2 });
            }
            (Some(_), None, pinch) => self.pinch = pinch,
            (None, _, Some(pinch)) => self.pinched(&pinch),
            (None, _, None) => {}
        }
    }

    fn pinched(&self, pinch: &Pinch) {
        let ms = pinch.since.elapsed().as_millis() as u64;
        self.act(|state| {
            state.cancel_finger();
            state.pinch(pinch.from, pinch.to, ms);
        });
    }

    /// Every report has all keys that are down.
    fn typed(&mut self, report: &[u8]) {
        if report.len() != KEY_BYTES || report.first() != Some(&KEY_REPORT) {
            return;
        }
        let bit =
            |usage: u64| report.get(1 + usage as usize / 8).is_some_and(|byte| byte >> (usage % 8) & 1 == 1);
        let pressed: Vec<u64> = (1..USAGES_MAX).filter(|usage| bit(*usage)).collect();
        let holds = |usages: &[u64]| pressed.iter().any(|usage| usages.contains(usage));
        let (shift, command) = (holds(&keys::SHIFTS), holds(&keys::COMMANDS));
        let fresh: Vec<u64> = pressed.iter().copied().filter(|usage| !self.pressed.contains(usage)).collect();
        self.pressed = pressed;
        if !counts(self.phone, self.tunnel) {
            return;
        }
        for usage in fresh {
            self.act(|state| keys::press(state, usage, shift, command));
        }
    }
}

/// Contacts are parts of the upright panel.
fn pixel(state: &State, x: u16, y: u16) -> (i32, i32) {
    let (width, height) = state.display.physical_size();
    let part = |length: u32, part: u16| (u64::from(length) * u64::from(part) / 65_536) as i32;
    seen_from_upright(state, (part(width, x), part(height, y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iphone::usbmux::tunnel::MediaStream;
    use crate::iphone::{IPhoneConfig, IPhoneKind};

    /// A report with one finger in the middle.
    fn finger(down: bool) -> Vec<u8> {
        let mut report = vec![0; TOUCH_BYTES];
        report[..2].copy_from_slice(&[TOUCH_REPORT, 1]);
        let state = if down { TOUCHING } else { 0 };
        report[CONTACTS_AT..CONTACTS_AT + CONTACT_BYTES].copy_from_slice(&[state, 0, 0x80, 0, 0x80]);
        report
    }

    #[tokio::test(start_paused = true)]
    async fn touches_count_only_while_a_stream_is_watched_and_not_at_once() {
        let phone = IPhone::new(IPhoneConfig { kind: IPhoneKind::Device, ..IPhoneConfig::default() });
        let tunnel = Tunnel::new().0;
        let mut hand = Hand {
            phone: &phone,
            tunnel: &tunnel,
            fingers: BTreeMap::new(),
            pinch: None,
            pressed: Vec::new(),
        };
        let mut tap = || {
            hand.touched(&finger(true));
            hand.touched(&finger(false));
            phone.phone().truth().inputs.len()
        };
        assert_eq!(tap(), 0, "no stream");
        tunnel.watch(Some(MediaStream { session: [0; 16], port: 5000, began: Instant::now() }));
        assert_eq!(tap(), 0, "a stream that has just begun");
        tokio::time::advance(TRUST_AFTER).await;
        assert_eq!(tap(), 1);
        tunnel.watch(None);
        assert_eq!(tap(), 1, "the stream has ended");
    }
}
