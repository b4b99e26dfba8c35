//! What apps ask of servers, and what their log says of it.

use tokio::time::{Duration, Instant};

use super::{Note, Ui};
use crate::app::{Answer, Request};

/// Requests that wait for somebody to send them, and answers that wait for their time.
const WAITING_MAX: usize = 64;
/// How soon a phone without a network gives up on a name.
const NO_NETWORK_TIME: Duration = Duration::from_millis(12);
const TAG: &str = "okhttp.OkHttpClient";

pub struct Outgoing {
    pub package: &'static str,
    pub at: Instant,
    pub request: Request,
}

pub(super) struct Late {
    pub at: Instant,
    outgoing: Outgoing,
    answer: Answer,
}

impl Ui {
    pub(super) fn request(&mut self, package: &'static str, request: Request, now: Instant) {
        let size = if request.body.is_empty() {
            String::new()
        } else {
            format!(" ({}-byte body)", request.body.len())
        };
        let line = format!("--> {} {} http/1.1{size}", request.method, request.url);
        self.log_request(package, now, 'I', line);
        if self.outgoing.len() < WAITING_MAX {
            self.outgoing.push(Outgoing { package, at: now, request });
        }
    }

    fn log_request(&mut self, package: &'static str, at: Instant, priority: char, message: String) {
        self.notes.push(Note::Log { at, package, priority, tag: TAG, message });
    }

    /// What must be sent now.
    pub fn take_requests(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    /// There is no network: the name of the host means nothing.
    pub fn refuse(&mut self, outgoing: Outgoing) {
        let url = &outgoing.request.url;
        let host = url.split("://").nth(1).unwrap_or(url).split(['/', ':']).next().unwrap_or_default();
        let answer = Answer::Failed(format!(
            "java.net.UnknownHostException: Unable to resolve host \"{host}\": No address associated with hostname"
        ));
        if self.late.len() < WAITING_MAX {
            self.late.push(Late { at: outgoing.at + NO_NETWORK_TIME, outgoing, answer });
        }
    }

    pub(super) fn next_late(&self) -> Option<Instant> {
        self.late.iter().map(|late| late.at).min()
    }

    pub(super) fn answer_late(&mut self, now: Instant) {
        if let Some(at) = self.late.iter().position(|late| late.at <= now) {
            let late = self.late.remove(at);
            self.answer(&late.outgoing, &late.answer, now);
        }
    }

    pub fn answer(&mut self, outgoing: &Outgoing, answer: &Answer, now: Instant) {
        let Outgoing { package, at, request } = outgoing;
        let ms = now.saturating_duration_since(*at).as_millis();
        let line = match answer {
            Answer::Status { status, reason, bytes, .. } => {
                let status = format!("{status} {reason}");
                format!("<-- {} {} ({ms}ms, {bytes}-byte body)", status.trim_end(), request.url)
            }
            Answer::Failed(why) => format!("<-- HTTP FAILED: {why}. {} ({ms}ms)", request.url),
        };
        self.log_request(package, now, 'I', line);
        self.with_app(package, now, |app, context| app.answered(request.number, answer, context));
    }
}
