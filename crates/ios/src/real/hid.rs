//! Fingers, keys and buttons through CoreDevice.
//!
//! The phone takes every report without a word, and drops it unless this client watches a media stream of the screen.
//! So one is opened first and kept while touches come; what it sends is thrown away. Even then nothing tells whether a
//! touch arrived: who wants to know has to look at the screen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use idevice::core_device::{
    ButtonState, CallInfoBlob, DisplayServiceClient, IndigoHidClient, KeyboardUsage, MainKeyboardService,
    TOUCHSCREEN_STATE_CONTACT, TOUCHSCREEN_STATE_RELEASE, TouchscreenContact, UniversalHidServiceClient,
    build_screen_audio_offer, build_screen_video_offer, build_start_audio_parameters,
    build_start_video_parameters,
};
use idevice::tcp::handle::UdpSocketHandle;
use idevice::{IdeviceError, ReadWrite};
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinSet};
use uuid::Uuid;

use super::error::{Effect, told};
use super::link::guarded;
use super::tunnel::{KeptTunnel, Tunnel};

/// What Device Hub of a Mac says that it can, and where the phone sends from.
const CLIENT_FEATURES: u64 = 140;
const AUDIO_PORT: u16 = 50_000;
const VIDEO_PORT: u16 = 50_001;
const MAIN_DISPLAY: i64 = 1;
/// The phone needs this long to trust fingers after a stream has begun.
const TRUST_REST: Duration = Duration::from_millis(300);
/// How long the stream is kept after the last touch. It costs the phone's battery.
const IDLE_MAX: Duration = Duration::from_secs(15);
/// How long a phone is waited for that ends the stream.
const END_WAIT: Duration = Duration::from_secs(2);
/// Between two places of a moving finger, and between two keys.
const FRAME_MS: u32 = 16;
const KEY_REST: Duration = Duration::from_millis(12);
/// Places of one gesture.
const FRAMES_MAX: usize = 20_000;
/// Most fingers that the phone counts.
const FINGERS_MAX: usize = 5;
/// The usage page of buttons.
const CONSUMER: u64 = 0x0c;

type Stream = Box<dyn ReadWrite>;

/// A place on the upright screen: each part from 0 at the left and top to 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub x: u16,
    pub y: u16,
}

/// A finger that comes down, goes from place to place, and is lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finger {
    pub start: Place,
    /// Where it goes, and how many milliseconds that takes; the same place again is a rest.
    pub legs: Vec<(Place, u32)>,
}

/// What a hand does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Motion {
    Touch(Vec<Finger>),
    Wait(u32),
    /// Keys by their usages, down or up.
    Key {
        usage: u16,
        down: bool,
    },
    /// A button that is held for a while.
    Press(Button),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    Home,
    Lock,
    VolumeUp,
    VolumeDown,
}

impl Button {
    fn usage(self) -> (u64, u32) {
        match self {
            Button::Home => (0x40, 80),
            Button::Lock => (0x30, 200),
            Button::VolumeUp => (0xe9, 80),
            Button::VolumeDown => (0xea, 80),
        }
    }
}

/// The hand of one phone, and the stream that lets it touch.
#[derive(Clone)]
pub struct KeptHand {
    tunnel: KeptTunnel,
    raised: Arc<Mutex<Option<Hand>>>,
}

struct Hand {
    fingers: UniversalHidServiceClient<Stream>,
    buttons: Option<IndigoHidClient<Stream>>,
    keyboard: Option<MainKeyboardService>,
    display: DisplayServiceClient<Stream>,
    tunnel: Tunnel,
    /// Throws away what the stream sends.
    _drains: JoinSet<()>,
    rest: Option<AbortHandle>,
}

impl KeptHand {
    pub(super) fn new(tunnel: KeptTunnel) -> KeptHand {
        KeptHand { tunnel, raised: Arc::default() }
    }

    /// Does all motions in order. A finger that is down is lifted even if the caller goes away.
    pub async fn perform(&self, motions: Vec<Motion>) -> Result<(), DeviceError> {
        let (kept, this) = (Arc::clone(&self.raised), self.clone());
        let mut raised = Arc::clone(&self.raised).lock_owned().await;
        let work = tokio::spawn(async move {
            let mut hand = match raised.take() {
                Some(hand) => hand,
                None => this.raise().await?,
            };
            if let Some(rest) = hand.rest.take() {
                rest.abort();
            }
            hand.perform(&motions)
                .await
                .map_err(|error| told(error, &this.tunnel.link.udid, Effect::Acts))?;
            hand.rest = Some(lower_later(&kept));
            *raised = Some(hand);
            Ok(())
        });
        let panicked = |_| {
            let detail = "the phone sent something that could not be understood";
            DeviceError::new(DeviceErrorKind::Protocol, detail).with_dispatch(Dispatch::Unknown)
        };
        work.await.map_err(panicked)?
    }

    /// Ends the stream; the next touch begins it again.
    pub(super) async fn lower(&self) {
        if let Some(mut hand) = self.raised.lock().await.take() {
            hand.end_stream().await;
        }
    }

    async fn raise(&self) -> Result<Hand, DeviceError> {
        let (display, tunnel) = self.tunnel.connect::<DisplayServiceClient<Stream>>().await?;
        let udid = &self.tunnel.link.udid;
        let watched = guarded(watch(display, tunnel)).await?;
        let (display, tunnel, drains) =
            watched.map_err(|error| no_stream(told(error, udid, Effect::Reads)))?;
        tokio::time::sleep(TRUST_REST).await;
        let (fingers, _) = self.tunnel.connect::<UniversalHidServiceClient<Stream>>().await?;
        Ok(Hand { fingers, buttons: None, keyboard: None, display, tunnel, _drains: drains, rest: None })
    }
}

fn no_stream(error: DeviceError) -> DeviceError {
    let detail = format!(
        "the iPhone does not show its screen to this computer, without which it ignores touches: {}. Unlock it; \
         restart it if that does not help",
        error.detail
    );
    DeviceError { detail, ..error }
}

/// Ends the stream when no touch comes for a while.
fn lower_later(kept: &Arc<Mutex<Option<Hand>>>) -> AbortHandle {
    let kept = Arc::downgrade(kept);
    let task = tokio::spawn(async move {
        tokio::time::sleep(IDLE_MAX).await;
        let Some(kept) = kept.upgrade() else { return };
        if let Some(mut hand) = kept.lock().await.take() {
            hand.rest = None;
            hand.end_stream().await;
        }
    });
    task.abort_handle()
}

/// Begins the streams of sound and picture as Device Hub does, in this order.
async fn watch(
    mut display: DisplayServiceClient<Stream>,
    tunnel: Tunnel,
) -> Result<(DisplayServiceClient<Stream>, Tunnel, JoinSet<()>), IdeviceError> {
    let (host, phone) = (tunnel.adapter.host_ip().to_string(), tunnel.adapter.peer_ip().to_string());
    let caller = CallInfoBlob {
        client_version: 1,
        device_type: "Mac17,7".to_owned(),
        framework_version: "2205.3.1".to_owned(),
        os_version: "25F71".to_owned(),
        ..CallInfoBlob::default()
    };
    let session = Uuid::new_v4();
    let call = || Uuid::new_v4().to_string().to_uppercase();
    let (audio, video) = (tunnel.adapter.bind_udp(0).await?, tunnel.adapter.bind_udp(0).await?);
    let offer = build_screen_audio_offer(&call(), &caller)?;
    let port = audio.local_port();
    let wish = build_start_audio_parameters(&host, port, &phone, AUDIO_PORT, offer, CLIENT_FEATURES, session);
    display.start_media_stream(wish).await?;
    let offer = build_screen_video_offer(&call(), &caller, session.as_u128() as u32)?;
    let port = video.local_port();
    let wish = build_start_video_parameters(
        &host,
        port,
        &phone,
        VIDEO_PORT,
        offer,
        CLIENT_FEATURES,
        MAIN_DISPLAY,
        session,
    );
    display.start_media_stream(wish).await?;
    let mut drains = JoinSet::new();
    drains.spawn(drain(audio));
    drains.spawn(drain(video));
    Ok((display, tunnel, drains))
}

async fn drain(socket: UdpSocketHandle) {
    while socket.recv().await.is_ok() {}
}

impl Hand {
    /// The phone may close the connection instead of an answer, or say nothing: the stream ends with the connection then.
    async fn end_stream(&mut self) {
        let _ = tokio::time::timeout(END_WAIT, self.display.stop_media_stream()).await;
    }

    async fn perform(&mut self, motions: &[Motion]) -> Result<(), IdeviceError> {
        for motion in motions {
            match motion {
                Motion::Wait(ms) => tokio::time::sleep(Duration::from_millis((*ms).into())).await,
                Motion::Touch(fingers) => self.touch(fingers).await?,
                Motion::Key { usage, down } => self.key(*usage, *down).await?,
                Motion::Press(button) => self.press(*button).await?,
            }
        }
        Ok(())
    }

    async fn touch(&mut self, fingers: &[Finger]) -> Result<(), IdeviceError> {
        let fingers = fingers.get(..FINGERS_MAX).unwrap_or(fingers);
        let mut now = 0;
        for at in times(fingers) {
            tokio::time::sleep(Duration::from_millis((at - now).into())).await;
            now = at;
            self.report(fingers, at, true).await?;
        }
        self.report(fingers, now, false).await
    }

    /// Tells where all fingers are. One finger is told as captures of Xcode have it.
    async fn report(&mut self, fingers: &[Finger], at: u32, touching: bool) -> Result<(), IdeviceError> {
        let places = fingers.iter().map(|finger| finger.place(at));
        match places.clone().collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            [Place { x, y }] => {
                let state = if touching { TOUCHSCREEN_STATE_CONTACT } else { TOUCHSCREEN_STATE_RELEASE };
                self.fingers.send_touchscreen(state, *x, *y, None).await
            }
            _ => {
                let contact =
                    |(identity, Place { x, y }): (u8, Place)| TouchscreenContact { identity, touching, x, y };
                let contacts: Vec<TouchscreenContact> = (0_u8..).zip(places).map(contact).collect();
                self.fingers.send_multitouch(&contacts, None).await
            }
        }
    }

    async fn key(&mut self, usage: u16, down: bool) -> Result<(), IdeviceError> {
        let refused = |error: idevice::core_device::MainKeyboardError| {
            IdeviceError::UnexpectedResponse(format!("the keyboard: {error}"))
        };
        let usage = KeyboardUsage::new(usage).map_err(refused)?;
        let keyboard = match &mut self.keyboard {
            Some(keyboard) => keyboard,
            none => none.insert(self.fingers.create_main_keyboard().await.map_err(refused)?),
        };
        let done = match down {
            true => self.fingers.main_keyboard_key_down(keyboard, usage).await,
            false => self.fingers.main_keyboard_key_up(keyboard, usage).await,
        };
        tokio::time::sleep(KEY_REST).await;
        done.map_err(refused)
    }

    async fn press(&mut self, button: Button) -> Result<(), IdeviceError> {
        let (usage, hold_ms) = button.usage();
        let buttons = match &mut self.buttons {
            Some(buttons) => buttons,
            none => none.insert(self.tunnel.service::<IndigoHidClient<Stream>>().await?),
        };
        buttons.send_button(CONSUMER, usage, ButtonState::Down).await?;
        tokio::time::sleep(Duration::from_millis(hold_ms.into())).await;
        buttons.send_button(CONSUMER, usage, ButtonState::Up).await
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if let Some(rest) = self.rest.take() {
            rest.abort();
        }
    }
}

impl Finger {
    fn place(&self, at: u32) -> Place {
        let (mut from, mut began) = (self.start, 0);
        for (to, ms) in &self.legs {
            let ended = began + ms;
            if at < ended {
                let part = f64::from(at - began) / f64::from(*ms);
                let between = |from: u16, to: u16| {
                    (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u16
                };
                return Place { x: between(from.x, to.x), y: between(from.y, to.y) };
            }
            (from, began) = (*to, ended);
        }
        from
    }
}

/// When something is told of the fingers: at the ends of their legs, and often while they move.
fn times(fingers: &[Finger]) -> BTreeSet<u32> {
    let mut times = BTreeSet::from([0]);
    for finger in fingers {
        let (mut from, mut began) = (finger.start, 0_u32);
        for (to, ms) in &finger.legs {
            let ended = began.saturating_add(*ms);
            if from != *to {
                times.extend((began..ended).step_by(FRAME_MS as usize).take(FRAMES_MAX));
            }
            times.insert(ended);
            (from, began) = (*to, ended);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_finger_is_told_often_and_a_resting_one_only_at_its_ends() {
        let (a, b) = (Place { x: 0, y: 0 }, Place { x: 100, y: 200 });
        let finger = Finger { start: a, legs: vec![(a, 500), (b, 40), (b, 100)] };
        let at: Vec<u32> = times(std::slice::from_ref(&finger)).into_iter().collect();
        assert_eq!(at, [0, 500, 516, 532, 540, 640]);
        assert_eq!(finger.place(520), Place { x: 50, y: 100 });
        assert_eq!((finger.place(0), finger.place(540), finger.place(9999)), (a, b, b));
    }
}
