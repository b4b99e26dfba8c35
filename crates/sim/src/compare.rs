//! Compares the product with a naive client on the same intended actions.

mod naive;
mod product;
mod rows;
mod sight;

use std::fmt;
use std::path::Path;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_virtual_device::{Fault, Film, Random};
use mobile_debug_mcp::app::phone_connector;
use serde_json::json;
use tokio::time::Duration;

use crate::agent::intended_claim;
use crate::claim::Claim;
use crate::plan::file::hits;
use crate::plan::{Item, PACKAGE};
use crate::run::paused;
use crate::world::World;
use rows::RowIntent;

/// How long the app may go on after its client has reported.
const DRAIN: Duration = Duration::from_secs(8);
/// How many of a hundred intents on a plan with a fitting list are about one of its rows.
const ROW_PERCENT: usize = 50;
/// Faults of the phone that no client can undo.
const SPOILING: [Fault; 3] = [Fault::LostTap, Fault::LateTap, Fault::DoubleTap];
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// What somebody wants done.
enum Goal {
    Action(Intent),
    DeleteRow(RowIntent),
}

impl Goal {
    fn random(world: &World, number: usize) -> Option<Goal> {
        let mut random = Random::new(world.seed, 100 + number as u64);
        let row = RowIntent::random(&world.plan, &mut random).filter(|_| random.percent(ROW_PERCENT));
        row.map(Goal::DeleteRow).or_else(|| intent(world, &mut random).map(Goal::Action))
    }

    fn activity(&self) -> &str {
        match self {
            Goal::Action(intent) => &intent.activity,
            Goal::DeleteRow(intent) => &intent.activity,
        }
    }
}

/// One action that somebody wants done.
pub struct Intent {
    pub item: Item,
    pub claim: Claim,
    /// The activity that is opened for it, as `.NameActivity`.
    activity: String,
    /// A text that shows that the claimed screen is in front, for clients that only read texts.
    landmark: Option<String>,
}

/// What a client did and reported.
pub struct Report {
    pub success: bool,
    pub taps: usize,
    pub reported_at_ms: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    pub intents: u64,
    /// One touch, on the right element, brought about what was meant.
    pub first_try: u64,
    /// What was meant came about once in the end.
    pub done: u64,
    pub reported_success: u64,
    pub false_success: u64,
    pub twice: u64,
    pub wrong_element: u64,
    /// Not right at the first try, and the phone lost, delayed or doubled a touch.
    pub touch_spoilt: u64,
}

impl Score {
    pub fn add(&mut self, other: &Score) {
        self.intents += other.intents;
        self.first_try += other.first_try;
        self.done += other.done;
        self.reported_success += other.reported_success;
        self.false_success += other.false_success;
        self.twice += other.twice;
        self.wrong_element += other.wrong_element;
        self.touch_spoilt += other.touch_spoilt;
    }
}

/// Scores of both clients on the same intents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    pub product: Score,
    pub naive: Score,
    /// The calls of the product for intents where it was not right at the first try.
    pub log: String,
}

impl Comparison {
    pub fn add(&mut self, other: &Comparison) {
        self.product.add(&other.product);
        self.naive.add(&other.naive);
        self.log.push_str(&other.log);
    }
}

/// The number for one row of the table.
type Count = fn(&Score) -> u64;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share =
            |part: u64, whole: u64| format!("{part} ({:.2} %)", part as f64 * 100.0 / whole.max(1) as f64);
        let rows: [(&str, Count); 7] = [
            ("right at the first try", |s| s.first_try),
            ("done once in the end", |s| s.done),
            ("said to have succeeded", |s| s.reported_success),
            ("falsely said so", |s| s.false_success),
            ("applied twice", |s| s.twice),
            ("touched another element", |s| s.wrong_element),
            ("a touch spoilt by phone", |s| s.touch_spoilt),
        ];
        writeln!(
            f,
            "{:26} {:>20} {:>20}",
            format!("of {} actions", self.product.intents),
            "product",
            "naive"
        )?;
        for (name, of) in rows {
            let [product, naive] = [self.product, self.naive].map(|score| share(of(&score), score.intents));
            writeln!(f, "{name:26} {product:>20} {naive:>20}")?;
        }
        Ok(())
    }
}

pub fn compare(seed: u64, intents: usize) -> Result<Comparison, String> {
    let mut comparison = Comparison::default();
    for number in 0..intents {
        let (product, done) = paused(trial(seed, number, Client::Product))??;
        let (naive, _) = paused(trial(seed, number, Client::Naive))??;
        let wrong = product.first_try < product.intents;
        let log =
            if wrong { format!("seed {seed} intent {number}: {product:?}\n{done}") } else { String::new() };
        comparison.add(&Comparison { product, naive, log });
    }
    Ok(comparison)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    Product,
    Naive,
}

fn intent(world: &World, random: &mut Random) -> Option<Intent> {
    let plan = &world.plan;
    let at = random.below(plan.screens.len());
    let wanted: Vec<(&Item, Claim)> =
        plan.screens[at].items.iter().filter_map(|item| Some((item, intended_claim(plan, item)?))).collect();
    let (item, claim) = random.pick(&wanted)?.clone();
    let landmark = match &claim {
        Claim::Screen(name) => Some(format!("{} page", name.trim_end_matches("Activity"))),
        Claim::Element { .. } => None,
    };
    Some(Intent { item: item.clone(), claim, activity: format!(".{}", plan.activity(at)), landmark })
}

pub(crate) struct Shell(Adb);

impl Shell {
    fn of(world: &World) -> Shell {
        let connector = phone_connector(world.phone.clone());
        Shell(Adb::direct(Link::new(connector, HostKey::at(Path::new("no-key")))))
    }

    /// Returns nothing when the connection broke; a naive client does not ask why.
    async fn run(&self, script: &Script) -> Option<String> {
        self.0.shell(script, OUTPUT_BYTES_MAX).await.ok().map(|output| output.stdout_text())
    }
}

/// Returns the score and the log of all calls.
async fn trial(seed: u64, number: usize, client: Client) -> Result<(Score, String), String> {
    let mut world = World::alone(seed)?;
    let Some(goal) = Goal::random(&world, number) else { return Ok(Default::default()) };
    world.call("start_app", json!({"appId": PACKAGE})).await;
    let shell = Shell::of(&world);
    let component = format!("{PACKAGE}/{}", goal.activity());
    shell.run(&Script::new("am start -n ").arg(&component)).await;
    let began_ms = world.now_ms();
    let report = match (client, &goal) {
        (Client::Product, Goal::Action(intent)) => product::act(&mut world, intent).await,
        (Client::Product, Goal::DeleteRow(intent)) => product::delete(&mut world, intent).await,
        (Client::Naive, Goal::Action(intent)) => naive::act(&world, &shell, intent).await,
        (Client::Naive, Goal::DeleteRow(intent)) => naive::delete(&world, &shell, intent).await,
    };
    tokio::time::sleep(DRAIN).await;
    let truth = world.phone.truth();
    let doubled = truth.faults.iter().any(|event| event.fault == Fault::DoubleTap);
    let score = match &goal {
        Goal::Action(intent) => score(&world, intent, &report, began_ms),
        Goal::DeleteRow(intent) => intent.score(&truth, &report, doubled),
    };
    let is_spoilt = truth.faults.iter().any(|event| SPOILING.contains(&event.fault));
    let touch_spoilt = u64::from(is_spoilt && score.first_try < score.intents);
    Ok((Score { touch_spoilt, ..score }, world.log))
}

fn score(world: &World, intent: &Intent, report: &Report, began_ms: u64) -> Score {
    let truth = world.phone.truth();
    let film = world.phone.film();
    let own = format!("{PACKAGE}.{}", hits(&intent.item.id));
    let prefix = format!("{PACKAGE}.{}", hits(""));
    let counted = truth.sliders.iter().filter(|(name, _)| name.starts_with(&prefix));
    let (mine, others): (Vec<_>, Vec<_>) = counted.partition(|(name, _)| **name == own);
    let times = mine.iter().map(|(_, count)| **count as u64).sum::<u64>();
    let others = others.iter().map(|(_, count)| **count as u64).sum::<u64>();
    let by_the_phone = truth.faults.iter().any(|event| event.fault == Fault::DoubleTap);
    let came = |until_ms: u64| came_true(&film, &intent.claim, began_ms, until_ms);
    let at_the_end = came(world.now_ms());
    let once = times == 1 || (times > 1 && by_the_phone);
    let false_success = report.success && !(times >= 1 && came(report.reported_at_ms));
    Score {
        intents: 1,
        first_try: u64::from(report.taps == 1 && once && others == 0 && at_the_end),
        done: u64::from(once && others == 0 && at_the_end),
        reported_success: u64::from(report.success),
        false_success: u64::from(false_success),
        twice: u64::from(times > 1 && !by_the_phone),
        wrong_element: u64::from(others > 0 && !by_the_phone),
        touch_spoilt: 0,
    }
}

fn came_true(film: &Film, claim: &Claim, from_ms: u64, to_ms: u64) -> bool {
    // On a screen that is only drawn, what came about is in the picture and not in the tree.
    let pictures = film.pictures.iter().filter(|picture| (from_ms..=to_ms).contains(&picture.at_ms));
    film.between(from_ms, to_ms).iter().chain(pictures).any(|frame| claim.could_hold(frame))
}
