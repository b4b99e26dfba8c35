//! What a person who waits for a call hears of it.

use std::convert::Infallible;

use mdm_core::action::event::Event;
use mdm_engine::Listener;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};

/// Tells a caller that asked for it how its call goes on, until the call is over.
pub async fn tell(
    mut listener: Listener,
    call: u64,
    token: ProgressToken,
    context: &RequestContext<RoleServer>,
) -> Infallible {
    let mut steps = 0.0;
    loop {
        let Some(stamped) = listener.next().await else { return std::future::pending().await };
        let Some(words) = Some(&stamped).filter(|s| s.call == call).and_then(|s| in_words(&s.event)) else {
            continue;
        };
        steps += 1.0;
        let told = ProgressNotificationParam::new(token.clone(), steps).with_message(words);
        // A client that does not listen still gets its answer.
        let _ = context.peer.notify_progress(told).await;
    }
}

/// The events that a person waiting for a call wants to hear of.
pub fn in_words(event: &Event) -> Option<String> {
    Some(match event {
        Event::Resolved { element: Some(id), .. } => format!("found {id}"),
        Event::Obstructed { code, again: true } => format!("not possible yet: {}", code.as_str()),
        Event::Recovering { strategy } => format!("trying {}", strategy.as_str()),
        Event::Sent { what, .. } => format!("sent {}", what.as_str()),
        Event::Settled { stability } => format!("the screen is {}", stability.as_str()),
        Event::Working { step } => step.clone(),
        Event::Looked { revision, changed: true } => format!("the screen changed, revision {revision}"),
        _ => return None,
    })
}
