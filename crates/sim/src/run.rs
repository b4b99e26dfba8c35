//! One seed: a session of calls, each of which is judged.

use tokio::time::Duration;

use crate::agent::Agent;
use crate::handed::HandedOut;
use crate::judge::{Acted, Judged, Oracle, Violation, classified, judge};
use crate::plan::PACKAGE;
use crate::world::{Face, World};

/// The result of one seed.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub seed: u64,
    pub calls: u64,
    pub judged: Judged,
    /// The number of the call, from 1, and what was wrong with its answer.
    pub violations: Vec<(usize, Violation)>,
    /// All calls and answers; the same in every run.
    pub log: String,
    /// The length of the session in phone time.
    pub ms: u64,
}

/// Runs `work` in its own runtime, whose clock only moves when nothing is left to do.
pub fn paused<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().map_err(|error| error.to_string())?;
    Ok(runtime.block_on(work))
}

pub fn session(seed: u64, steps: usize, face: Face) -> Result<Outcome, String> {
    paused(play(seed, steps, face))?
}

async fn play(seed: u64, steps: usize, face: Face) -> Result<Outcome, String> {
    let mut world = World::new(seed, face)?;
    let mut agent = Agent::new(seed);
    let mut handed = HandedOut::default();
    let mut acted = None;
    let mut outcome = Outcome { seed, ..Outcome::default() };
    let mut start = serde_json::json!({"appId": PACKAGE});
    if world.second.is_some() && seed.is_multiple_of(2) {
        start["deviceId"] = face.first().into();
    }
    let started = world.call("start_app", start).await;
    outcome.violations.extend(started.unbound.map(|why| (0, Violation { oracle: Oracle::Device, why })));
    for number in 1..=steps {
        let pause = agent.pause_ms();
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        let mut planned = agent.next(&world.plan);
        if world.second.is_some() {
            agent.choose_device(&mut planned, face.first());
        }
        let call = world.call(planned.tool, planned.arguments.clone()).await;
        if call.device == face.first() {
            agent.heard(&planned, &call);
        }
        outcome.calls += 1;
        let called = classified(acted, &call);
        if !matches!(call.tool, "classify_action_outcome") {
            acted = Acted::of(&call);
        }
        let found = [judge(&planned, &call), handed.touched(&call), handed.learn(&call)];
        for (judged, _) in &found {
            outcome.judged.add(judged);
        }
        for violation in found.into_iter().flat_map(|(_, violations)| violations).chain(called) {
            world.log.push_str(&format!("  VIOLATION {:?}: {}\n", violation.oracle, violation.why));
            outcome.violations.push((number, violation));
        }
    }
    if world.phone.film().is_cut {
        return Err(format!("seed {seed}: more happened than the phone's film holds"));
    }
    outcome.ms = world.now_ms();
    outcome.log = std::mem::take(&mut world.log);
    Ok(outcome)
}
