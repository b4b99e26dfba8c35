//! One seed: a session of calls, each of which is judged.

use tokio::time::Duration;

use crate::agent::Agent;
use crate::judge::{Judged, Violation, judge};
use crate::plan::PACKAGE;
use crate::world::World;

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

pub fn session(seed: u64, steps: usize) -> Result<Outcome, String> {
    paused(play(seed, steps))?
}

async fn play(seed: u64, steps: usize) -> Result<Outcome, String> {
    let mut world = World::new(seed)?;
    let mut agent = Agent::new(seed);
    let mut outcome = Outcome { seed, ..Outcome::default() };
    world.call("start_app", serde_json::json!({"appId": PACKAGE})).await;
    for number in 1..=steps {
        let pause = agent.pause_ms();
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        let planned = agent.next(&world.plan);
        let call = world.call(planned.tool, planned.arguments.clone()).await;
        agent.read(&planned, &call);
        let (judged, violations) = judge(&planned, &call);
        outcome.calls += 1;
        outcome.judged.add(&judged);
        for violation in violations {
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
