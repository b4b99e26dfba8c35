//! Requests of apps to servers, and what the log says of them.

use tokio::time::Instant;

use super::Ui;
use crate::app::{HttpAnswer, HttpRequest};
use crate::surface::{OutgoingRequest, SurfaceEvent};

/// Answers that wait for their time.
const ANSWERS_MAX: usize = 64;
const TAG: &str = "okhttp.OkHttpClient";

pub(super) struct PendingAnswer {
    at: Instant,
    request: OutgoingRequest,
    answer: HttpAnswer,
}

impl Ui {
    pub(super) fn request(&mut self, package: &'static str, request: HttpRequest, now: Instant) {
        let size = if request.body.is_empty() {
            String::new()
        } else {
            format!(" ({}-byte body)", request.body.len())
        };
        let line = format!("--> {} {} http/1.1{size}", request.method, request.url);
        self.log_request(package, now, line);
        let trusts_user = self.app(package).is_some_and(|app| app.trusts_user_certificates());
        let outgoing = OutgoingRequest { package, at: now, request, cause: self.cause, trusts_user };
        self.events.push(SurfaceEvent::Request(outgoing));
    }

    fn log_request(&mut self, package: &'static str, at: Instant, message: String) {
        let (package, tag) = (package.into(), TAG.into());
        self.events.push(SurfaceEvent::Log { at, package, priority: 'I', tag, message });
    }

    pub(super) fn queue_answer(&mut self, request: OutgoingRequest, answer: HttpAnswer, at: Instant) {
        if self.answers.len() < ANSWERS_MAX {
            self.answers.push(PendingAnswer { at, request, answer });
        }
    }

    pub(super) fn next_answer(&self) -> Option<Instant> {
        self.answers.iter().map(|pending| pending.at).min()
    }

    pub(super) fn deliver_answer(&mut self, now: Instant) {
        let Some(index) = self.answers.iter().position(|pending| pending.at <= now) else { return };
        let PendingAnswer { request: OutgoingRequest { package, at, request, cause, .. }, answer, .. } =
            self.answers.remove(index);
        let ms = now.saturating_duration_since(at).as_millis();
        let line = match &answer {
            HttpAnswer::Status { status, reason, bytes, .. } => {
                let status = format!("{status} {reason}");
                format!("<-- {} {} ({ms}ms, {bytes}-byte body)", status.trim_end(), request.url)
            }
            HttpAnswer::Failed(why) => format!("<-- HTTP FAILED: {why}. {} ({ms}ms)", request.url),
        };
        self.log_request(package, now, line);
        let before = std::mem::replace(&mut self.cause, cause);
        self.with_app(package, now, |app, context| app.answered(request.number, &answer, context));
        self.cause = before;
    }
}
