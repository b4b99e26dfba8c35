//! One client that acts: it takes a phone, touches and types on it for a while, reads what it did, and takes another.

use std::sync::Arc;
use std::time::Duration;

use mdm_virtual_device::Random;
use serde::Serialize;
use tokio::sync::MutexGuard;
use tokio::time::{Instant, sleep, timeout};

use crate::answer::Answer;
use crate::client::{Client, Lost};
use crate::ledger::{Fate, Intent, Ledger};
use crate::phones::{APP, BUTTONS, SoakPhone, button};
use crate::run::{Shared, Station};

/// Actions on one phone before the next is taken.
const STAY_MIN: u64 = 5;
const STAY_MAX: u64 = 15;
/// The longest pause between two actions: an agent thinks.
const THINK_MS_MAX: u64 = 250;
const TIMEOUT_MS: u64 = 8000;
/// The longest time until a client that hung up comes back.
const AWAY_MS_MAX: u64 = 400;
/// How often a call is made, in percent.
const TYPE_PERCENT: usize = 25;
const READ_PERCENT: usize = 15;
const TRESPASS_PERCENT: usize = 4;
const HANG_UP_PERCENT: usize = 4;
/// The pause between two looks for a phone that is gone.
const GONE_MS: u64 = 200;

pub struct Player {
    pub client: Client,
    pub random: Random,
    pub shared: Arc<Shared>,
    /// Counts the texts, so that each is another.
    pub typed: u64,
}

#[derive(Serialize)]
struct UseDevice<'a> {
    device_id: &'a str,
    take_over: bool,
}

#[derive(Serialize)]
struct StartApp<'a> {
    app_id: &'static str,
    expect: Text<'a>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Field {
    resource_id: &'static str,
}

#[derive(Serialize)]
struct Tap<'a> {
    selector: Text<'a>,
    expect: Text<'a>,
    timeout_ms: u64,
}

#[derive(Serialize)]
struct Type<'a> {
    selector: Field,
    text: &'a str,
    clear: bool,
    timeout_ms: u64,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct TapOn<'a> {
    selector: Text<'a>,
    device_id: &'a str,
}

impl Player {
    pub async fn play(mut self) {
        while !self.shared.is_over() {
            let at = self.random.below(self.shared.stations.len());
            let shared = Arc::clone(&self.shared);
            let Some(station) = shared.stations.get(at) else { return };
            // Another client is there; a lease and not this lock is what the server goes by.
            let Ok(mut ledger) = station.ledger.try_lock() else {
                sleep(Duration::from_millis(1)).await;
                continue;
            };
            let stayed = self.stay(station, &mut ledger).await;
            station.set_taken(false);
            if let Err(lost) = stayed {
                self.shared.find(format!("{}: {lost}", self.client.name));
                // A new connection, so that one finding is not told a thousand times.
                self.client.hang_up();
            }
            self.shared.find_all(&station.phone.id, ledger.close_idle());
        }
    }

    async fn stay(&mut self, station: &Station, ledger: &mut MutexGuard<'_, Ledger>) -> Result<(), Lost> {
        if !self.arrive(station).await? {
            return Ok(());
        }
        for _ in 0..self.random.between(STAY_MIN, STAY_MAX) {
            if self.shared.is_over() {
                break;
            }
            sleep(Duration::from_millis(self.random.between(0, THINK_MS_MAX))).await;
            // While pings are measured nobody acts.
            let shared = Arc::clone(&self.shared);
            let _acting = shared.acting.read().await;
            if self.random.percent(TRESPASS_PERCENT) {
                if !self.trespass(station).await? {
                    return Ok(());
                }
            } else if self.random.percent(READ_PERCENT) {
                self.read(&station.phone).await?;
            } else if self.random.percent(TYPE_PERCENT) {
                self.typed += 1;
                let text = format!("{}x{}", self.client.name, self.typed);
                self.act(station, ledger, Intent::Type(text)).await?;
            } else {
                let press = (0..BUTTONS)
                    .map(|_| Intent::Press(self.random.below(BUTTONS)))
                    .find(|press| !ledger.is_open(press));
                if let Some(press) = press {
                    self.act(station, ledger, press).await?;
                }
            }
        }
        Ok(())
    }

    /// Takes the phone and opens its app. False where the phone is not there.
    async fn arrive(&mut self, station: &Station) -> Result<bool, Lost> {
        let phone = &station.phone;
        let shared = Arc::clone(&self.shared);
        let _acting = shared.acting.read().await;
        let taken =
            self.client.call("use_device", UseDevice { device_id: &phone.id, take_over: true }).await?;
        if taken.is_error {
            self.shared.note_error(&taken);
            sleep(Duration::from_millis(GONE_MS)).await;
            return Ok(false);
        }
        station.set_taken(true);
        self.check_device(&taken, phone);
        let open = StartApp { app_id: APP, expect: Text { text: &phone.title } };
        let opened = self.client.call("start_app", open).await?;
        self.shared.note_error(&opened);
        self.check_device(&opened, phone);
        Ok(!opened.is_error)
    }

    async fn act(&mut self, station: &Station, ledger: &mut Ledger, intent: Intent) -> Result<(), Lost> {
        let phone = &station.phone;
        if self.random.percent(HANG_UP_PERCENT) {
            return self.act_and_hang_up(ledger, &intent).await;
        }
        let started = Instant::now();
        let answer = self.ask(&intent, ledger.presses).await?;
        self.shared.note_action(started.elapsed(), &answer);
        self.check_device(&answer, phone);
        let confirmed = match &intent {
            Intent::Type(_) => answer.text.contains(r#""read_back":"seen""#),
            Intent::Press(_) => answer.facts.verdict.as_deref() == Some("confirmed"),
        };
        let findings = ledger.close(&intent, Fate::told(&intent, &answer), confirmed);
        if !findings.is_empty() {
            let first = answer.text.lines().next().unwrap_or_default();
            let told = findings.iter().map(|finding| format!("{finding}; answer: {first:.700}")).collect();
            self.shared.find_all(&phone.id, told);
        }
        Ok(())
    }

    /// Expects what the app shows when nothing comes between: the touches so far, and this one.
    async fn ask(&mut self, intent: &Intent, presses: u64) -> Result<Answer, Lost> {
        match intent {
            Intent::Press(number) => {
                let (text, count) = (button(*number), format!("Count {}", presses + 1));
                let (selector, expect) = (Text { text: &text }, Text { text: &count });
                let tap = Tap { selector, expect, timeout_ms: TIMEOUT_MS };
                self.client.call("tap_element", tap).await
            }
            Intent::Type(text) => {
                let selector = Field { resource_id: "note" };
                let typing = Type { selector, text, clear: true, timeout_ms: TIMEOUT_MS };
                self.client.call("type_text", typing).await
            }
        }
    }

    /// Goes away in the middle of a call, and comes back later as the same session.
    async fn act_and_hang_up(&mut self, ledger: &mut Ledger, intent: &Intent) -> Result<(), Lost> {
        let patience = Duration::from_millis(self.random.between(0, AWAY_MS_MAX));
        let fate = match timeout(patience, self.ask(intent, ledger.presses)).await {
            Ok(answer) => Fate::told(intent, &answer?),
            Err(_) => {
                self.client.hang_up();
                self.shared.note_hang_up();
                sleep(Duration::from_millis(self.random.between(0, AWAY_MS_MAX))).await;
                Fate::Unknown
            }
        };
        self.shared.find_all(&self.client.name, ledger.close(intent, fate, false));
        Ok(())
    }

    /// Acts on a phone that another client has. It must be refused, and the ledger of that phone sees nothing of it. False
    /// when the way back to the own phone failed.
    async fn trespass(&mut self, own: &Station) -> Result<bool, Lost> {
        let at = self.random.below(self.shared.stations.len());
        let Some(station) = self.shared.stations.get(at).filter(|other| other.phone.id != own.phone.id)
        else {
            return Ok(true);
        };
        // Only where another has a lease for sure: a phone that nobody has is not refused.
        if !station.is_taken() {
            return Ok(true);
        }
        let text = button(0);
        let tap = TapOn { selector: Text { text: &text }, device_id: &station.phone.id };
        let shared = Arc::clone(&self.shared);
        let answer = self.client.call("tap_element", tap).await?;
        shared.note_trespass(&answer);
        // The call named another device, which is this client's from then on.
        let back = UseDevice { device_id: &own.phone.id, take_over: false };
        self.client.call("use_device", back).await.map(|answer| !answer.is_error)
    }

    async fn read(&mut self, phone: &SoakPhone) -> Result<(), Lost> {
        let answer = self.client.call("get_ui_tree", Nothing {}).await?;
        self.shared.note_read(&answer);
        self.check_device(&answer, phone);
        if !answer.is_error && !answer.text.contains(&phone.title) {
            let first: String = answer.text.lines().take(6).collect();
            self.shared.find(format!("a read of {} does not show {:?}: {first:.500}", phone.id, phone.title));
        }
        Ok(())
    }

    /// An answer is about the phone of its client, and shows nothing of any other.
    fn check_device(&self, answer: &Answer, phone: &SoakPhone) {
        if answer.facts.device.as_ref().is_some_and(|device| *device != phone.id) {
            self.shared.find(format!(
                "{}: an answer of {:?} instead of {}",
                self.client.name, answer.facts.device, phone.id
            ));
        }
        let other = self.shared.stations.iter().map(|station| &station.phone.title);
        if let Some(other) =
            other.filter(|title| **title != phone.title).find(|title| answer.text.contains(*title))
        {
            self.shared.find(format!("{}: an answer of {} shows {other:?}", self.client.name, phone.id));
        }
    }
}
