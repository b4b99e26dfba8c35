//! One client that acts: it takes a phone, touches and types on it for a while, reads what it did, and takes another.

use std::sync::Arc;
use std::time::Duration;

use mdm_virtual_device::Random;
use serde::Serialize;
use tokio::sync::MutexGuard;
use tokio::time::{Instant, sleep, timeout};

use crate::answer::Answer;
use crate::client::{Client, Lost};
use crate::disturbances::Window;
use crate::ledger::{Fate, Intent, Ledger};
use crate::phones::{APP, BUTTONS, SoakPhone, button};
use crate::run::{NONE, Shared, Station};

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
        let asked = Instant::now();
        let taken =
            self.client.call("use_device", UseDevice { device_id: &phone.id, take_over: true }).await?;
        self.shared.judge(&self.client.name, phone, &taken, Window::since(asked), NONE);
        if taken.is_error {
            sleep(Duration::from_millis(GONE_MS)).await;
            return Ok(false);
        }
        station.set_taken(true);
        let open = StartApp { app_id: APP, expect: Text { text: &phone.title } };
        let asked = Instant::now();
        let opened = self.client.call("start_app", open).await?;
        self.shared.judge(&self.client.name, phone, &opened, Window::since(asked), NONE);
        Ok(!opened.is_error)
    }

    async fn act(&mut self, station: &Station, ledger: &mut Ledger, intent: Intent) -> Result<(), Lost> {
        let phone = &station.phone;
        if self.random.percent(HANG_UP_PERCENT) {
            return self.act_and_hang_up(phone, ledger, &intent).await;
        }
        let started = Instant::now();
        let answer = self.ask(&intent, ledger.presses).await?;
        let window = Window::since(started);
        self.shared.note_action(window.length());
        self.shared.judge(&self.client.name, phone, &answer, window, NONE);
        let confirmed = match &intent {
            Intent::Type(_) => answer.text.contains(r#""read_back":"seen""#),
            Intent::Press(_) => answer.facts.verdict.as_deref() == Some("confirmed"),
        };
        let fate = self.fate(phone, ledger, &intent, &answer, window);
        let findings = ledger.close(&intent, fate, confirmed, answer.steps_back());
        if !findings.is_empty() {
            let first = answer.text.lines().next().unwrap_or_default();
            let told = findings.iter().map(|finding| format!("{finding}; answer: {first:.700}")).collect();
            self.shared.find_all(&phone.id, told);
        }
        Ok(())
    }

    /// What was told of the call. An answer that tells nothing is a finding, and so are many of which the fate is unknown
    /// while nothing is in the way.
    fn fate(
        &self,
        phone: &SoakPhone,
        ledger: &mut Ledger,
        intent: &Intent,
        answer: &Answer,
        window: Window,
    ) -> Fate {
        let fate = Fate::told(intent, answer).unwrap_or_else(|why| {
            self.shared.find(format!("{}: an answer to {intent:?}: {why}", self.client.name));
            Fate::Unknown
        });
        let disturbed = phone.outages.excuse(window) || phone.hang_ups.excuse(window);
        ledger.counts.unknown_undisturbed += u64::from(fate == Fate::Unknown && !disturbed);
        fate
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
    async fn act_and_hang_up(
        &mut self,
        phone: &SoakPhone,
        ledger: &mut Ledger,
        intent: &Intent,
    ) -> Result<(), Lost> {
        let patience = Duration::from_millis(self.random.between(0, AWAY_MS_MAX));
        let asked = Instant::now();
        let findings = match timeout(patience, self.ask(intent, ledger.presses)).await {
            Ok(answer) => {
                let answer = answer?;
                let window = Window::since(asked);
                self.shared.judge(&self.client.name, phone, &answer, window, NONE);
                let fate = self.fate(phone, ledger, intent, &answer, window);
                ledger.close(intent, fate, false, answer.steps_back())
            }
            Err(_) => {
                phone.hang_ups.note();
                self.client.hang_up();
                self.shared.note_hang_up();
                sleep(Duration::from_millis(self.random.between(0, AWAY_MS_MAX))).await;
                ledger.close_unheard(intent)
            }
        };
        self.shared.find_all(&self.client.name, findings);
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
        let asked = Instant::now();
        let back = self.client.call("use_device", back).await?;
        self.shared.judge(&self.client.name, &own.phone, &back, Window::since(asked), NONE);
        Ok(!back.is_error)
    }

    async fn read(&mut self, phone: &SoakPhone) -> Result<(), Lost> {
        let asked = Instant::now();
        let answer = self.client.call("get_ui_tree", Nothing {}).await?;
        self.shared.note_read();
        self.shared.judge(&self.client.name, phone, &answer, Window::since(asked), NONE);
        if !answer.is_error && !answer.text.contains(&phone.title) {
            let first: String = answer.text.lines().take(6).collect();
            self.shared.find(format!("a read of {} does not show {:?}: {first:.500}", phone.id, phone.title));
        }
        Ok(())
    }
}
