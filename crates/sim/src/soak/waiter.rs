//! The slow calls: each client has one in flight all the time, a wait for what never comes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use crate::answer::Answer;
use crate::client::Client;
use crate::disturbances::Window;
use crate::phones::SoakPhone;
use crate::run::Shared;

const WAIT_MS: u64 = 10_000;
/// The code of a wait that ended by its timeout.
const TIMED_OUT: &str = "ELEMENT_NOT_FOUND";
/// A wait lasts at least this part of its time.
const WAITED_SHARE_MIN: f64 = 0.9;
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
            let left = self.shared.end.saturating_duration_since(Instant::now());
            let timeout_ms = WAIT_MS.min(left.as_millis() as u64 + 1);
            let wait = WaitForUi { selector: Text { text: &never }, device_id: &self.phone.id, timeout_ms };
            let asked = Instant::now();
            self.shared.waiting.fetch_add(1, Ordering::SeqCst);
            let answer = self.client.call("wait_for_ui", wait).await;
            self.shared.waiting.fetch_sub(1, Ordering::SeqCst);
            match answer {
                Ok(answer) => {
                    self.judge(&answer, Window::since(asked), Duration::from_millis(timeout_ms)).await;
                }
                Err(lost) => {
                    self.shared.find(format!("{}: {lost}", self.client.name));
                    self.client.hang_up();
                }
            }
        }
    }

    async fn judge(&self, answer: &Answer, window: Window, timeout: Duration) {
        self.shared.waits.fetch_add(1, Ordering::SeqCst);
        self.shared.judge(&self.client.name, &self.phone, answer, window, TIMED_OUT);
        let was_away = self.phone.outages.excuse(window);
        if let Some(finding) = broken_wait(answer, window.length(), timeout, was_away) {
            self.shared.find(format!("{}: {finding}", self.client.name));
        }
        if answer.facts.error.is_some() {
            // The phone is away; it comes back soon.
            sleep(AGAIN).await;
        }
    }
}

/// What never comes is waited for until the time is up.
fn broken_wait(answer: &Answer, took: Duration, timeout: Duration, was_away: bool) -> Option<String> {
    let first = answer.text.lines().next().unwrap_or_default();
    if answer.facts.success {
        return Some(format!("what never comes is said to be there: {first:.500}"));
    }
    let is_short = took.as_secs_f64() < timeout.as_secs_f64() * WAITED_SHARE_MIN;
    (is_short && !was_away).then(|| format!("a wait of {timeout:?} ended after {took:?}: {first:.500}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Content, ToolResult};

    #[test]
    fn waits_that_end_too_soon_or_well_are_found() {
        let broken = |facts: &str, seconds: u64, was_away: bool| {
            let content = vec![Content { text: facts.to_owned() }];
            let answer = Answer::of(ToolResult { content, is_error: true });
            broken_wait(&answer, Duration::from_secs(seconds), Duration::from_secs(10), was_away)
        };
        let timed_out = r#"{"success":false,"device":"a","error":{"code":"ELEMENT_NOT_FOUND"}}"#;
        assert_eq!(broken(timed_out, 9, false), None);
        assert!(broken(timed_out, 8, false).is_some());
        assert_eq!(broken(timed_out, 1, true), None);
        assert!(broken(r#"{"success":true,"device":"a"}"#, 10, true).is_some());
    }
}
