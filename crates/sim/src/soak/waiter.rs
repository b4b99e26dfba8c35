//! The slow calls: each client has one in flight all the time, a wait for what never comes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use crate::answer::Answer;
use crate::client::Client;
use crate::phones::SoakPhone;
use crate::run::Shared;

const WAIT_MS: u64 = 10_000;
/// The pause after a wait that failed.
const AGAIN: Duration = Duration::from_millis(100);

pub struct Waiter {
    pub client: Client,
    pub phone: Arc<SoakPhone>,
    pub shared: Arc<Shared>,
}

#[derive(Serialize)]
struct WaitForUi<'a> {
    selector: Text<'a>,
    device_id: &'a str,
    timeout_ms: u64,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

impl Waiter {
    pub async fn wait(mut self) {
        let never = format!("never {}", self.client.name);
        while !self.shared.is_over() {
            let left = self.shared.end.saturating_duration_since(tokio::time::Instant::now());
            let timeout_ms = WAIT_MS.min(left.as_millis() as u64 + 1);
            let wait = WaitForUi { selector: Text { text: &never }, device_id: &self.phone.id, timeout_ms };
            self.shared.waiting.fetch_add(1, Ordering::SeqCst);
            let answer = self.client.call("wait_for_ui", wait).await;
            self.shared.waiting.fetch_sub(1, Ordering::SeqCst);
            match answer {
                Ok(answer) => self.judge(&answer).await,
                Err(lost) => {
                    self.shared.find(format!("{}: {lost}", self.client.name));
                    self.client.hang_up();
                }
            }
        }
    }

    async fn judge(&self, answer: &Answer) {
        self.shared.waits.fetch_add(1, Ordering::SeqCst);
        if answer.facts.device.as_ref().is_some_and(|device| *device != self.phone.id) {
            self.shared
                .find(format!("a wait on {} was answered of {:?}", self.phone.id, answer.facts.device));
        }
        if answer.facts.error.is_some() {
            self.shared.note_error(answer);
            // The phone is away; it comes back soon.
            sleep(AGAIN).await;
        }
    }
}
