//! The run: phones, server and clients are started, watched and judged.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mdm_virtual_device::Random;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::answer::Answer;
use crate::client::Client;
use crate::disturbances::Window;
use crate::figures::{Figures, Spread};
use crate::ledger::{Counts, Ledger};
use crate::phones::{Phones, SoakPhone};
use crate::pinger::Pinger;
use crate::player::Player;
use crate::server::Server;
use crate::waiter::Waiter;
use crate::{Options, outages, server};

/// Findings that are kept; more say nothing new.
const FINDINGS_MAX: usize = 50;
/// The code of a refusal because another client has the phone.
const LEASED: &str = "DEVICE_LEASED";
/// No error is expected.
pub const NONE: &str = "";
/// Streams of the seed.
const PLAYER_STREAM: u64 = 100;
const OUTAGE_STREAM: u64 = 200;
/// The longest time until all clients have ended their last call.
const END_MAX: Duration = Duration::from_secs(240);
/// The share of the run after which the memory is compared, and the length of each of the two parts.
const FIFTH: u32 = 5;

/// A phone and its account. Who has the lock is the client that uses the phone.
pub struct Station {
    pub phone: Arc<SoakPhone>,
    pub ledger: tokio::sync::Mutex<Ledger>,
    taken: AtomicBool,
}

impl Station {
    /// True while a client surely has the lease.
    pub fn is_taken(&self) -> bool {
        self.taken.load(Ordering::SeqCst)
    }

    pub fn set_taken(&self, taken: bool) {
        self.taken.store(taken, Ordering::SeqCst);
    }
}

/// What all clients share.
pub struct Shared {
    pub stations: Vec<Station>,
    /// Held for reading by who acts, for writing while pings are measured.
    pub acting: tokio::sync::RwLock<()>,
    pub end: Instant,
    /// Slow calls in flight.
    pub waiting: AtomicU64,
    pub waits: AtomicU64,
    notes: Mutex<Notes>,
}

#[derive(Default)]
pub struct Notes {
    pub findings: Vec<String>,
    pub more_findings: u64,
    pub actions_ms: Vec<f64>,
    pub reads: u64,
    pub hang_ups: u64,
    pub outages: u64,
    pub trespasses: u64,
    pub errors: std::collections::BTreeMap<String, u64>,
}

impl Shared {
    fn new(phones: &Phones, seconds: u64) -> Shared {
        let station = |phone: &Arc<SoakPhone>| Station {
            ledger: tokio::sync::Mutex::new(Ledger::new(phone.phone.clone())),
            phone: Arc::clone(phone),
            taken: AtomicBool::new(false),
        };
        Shared {
            stations: phones.all.iter().map(station).collect(),
            acting: tokio::sync::RwLock::new(()),
            end: Instant::now() + Duration::from_secs(seconds),
            waiting: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            notes: Mutex::default(),
        }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    pub fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, finding: String) {
        let mut notes = self.notes();
        if notes.findings.len() < FINDINGS_MAX {
            notes.findings.push(finding);
        } else {
            notes.more_findings += 1;
        }
    }

    pub fn find_all(&self, place: &str, findings: Vec<String>) {
        findings.into_iter().for_each(|finding| self.find(format!("{place}: {finding}")));
    }

    /// Judges an answer to a client about its own phone. An error with the `expected` code is none.
    pub fn judge(&self, client: &str, phone: &SoakPhone, answer: &Answer, window: Window, expected: &str) {
        self.note_error(answer);
        let titles = self.stations.iter().map(|station| station.phone.title.as_str());
        let findings = [
            answer.unreadable.as_ref().map(|why| format!("an answer that nobody can read: {why}")),
            of_another(answer, &phone.id, &phone.title, titles),
            refused(answer, phone.outages.excuse(window), expected),
        ];
        findings.into_iter().flatten().for_each(|finding| self.find(format!("{client}: {finding}")));
    }

    pub fn note_action(&self, took: Duration) {
        self.notes().actions_ms.push(took.as_secs_f64() * 1000.0);
    }

    pub fn note_error(&self, answer: &Answer) {
        if answer.is_error {
            let code = if answer.code().is_empty() { "an outcome" } else { answer.code() };
            *self.notes().errors.entry(code.to_owned()).or_insert(0) += 1;
            if code == "INTERNAL_ERROR" {
                let first = answer.text.lines().next().unwrap_or_default();
                self.find(format!("the server broke: {first:.500}"));
            }
        }
    }

    pub fn note_read(&self) {
        self.notes().reads += 1;
    }

    pub fn note_hang_up(&self) {
        self.notes().hang_ups += 1;
    }

    pub fn note_trespass(&self, answer: &Answer) {
        if !answer.is_error {
            self.find("an action on another client's phone was done".to_owned());
        }
        if let Some(why) = &answer.unreadable {
            self.find(format!("an answer that nobody can read: {why}"));
        }
        self.note_error(answer);
        self.notes().trespasses += 1;
    }
}

/// An answer is about the phone of its client, and shows nothing of any other.
fn of_another<'a>(
    answer: &Answer,
    id: &str,
    title: &str,
    titles: impl Iterator<Item = &'a str>,
) -> Option<String> {
    if let Some(device) = answer.facts.device.as_deref().filter(|device| *device != id) {
        return Some(format!("an answer of {device} instead of {id}"));
    }
    let shown = titles.filter(|other| *other != title).find(|other| answer.text.contains(other));
    shown.map(|other| format!("an answer of {id} shows {other:?}"))
}

/// A client has its own phone, which refuses nothing while it is there.
fn refused(answer: &Answer, was_away: bool, expected: &str) -> Option<String> {
    let code = answer.code();
    let is_finding = code == LEASED || !(code.is_empty() || code == expected || was_away);
    let first = answer.text.lines().next().unwrap_or_default();
    is_finding.then(|| format!("{code} on the own phone, which was there: {first:.500}"))
}

pub fn run(options: &Options) -> Result<bool, String> {
    let phones = Phones::start(options.phones, options.seed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let figures = runtime.block_on(soak(options, &phones))?;
    println!("{figures}");
    Ok(figures.is_good())
}

async fn soak(options: &Options, phones: &Phones) -> Result<Figures, String> {
    let ids: Vec<String> = phones.all.iter().map(|phone| phone.id.clone()).collect();
    let server = Server::start(&options.server, &server::devices(&ids)).await?;
    println!(
        "soak: {} s, {} clients, {} phones, seed {}, server {}",
        options.seconds, options.clients, options.phones, options.seed, server.address
    );
    let shared = Arc::new(Shared::new(phones, options.seconds));
    let outages = tokio::spawn(outages::play(
        phones.all.clone(),
        Random::new(options.seed, OUTAGE_STREAM),
        Arc::clone(&shared),
    ));
    let pinger = Pinger::start(server.address, Arc::clone(&shared), options.clients as u64);
    let mut clients = JoinSet::new();
    for number in 0..options.clients {
        let name = format!("c{number}");
        let client = Client::start(server.address, &name).await.map_err(|lost| lost.to_string())?;
        let home = Arc::clone(&phones.all[number]);
        let waiting = Client::start(server.address, &format!("w{number}")).await;
        let waiting = waiting.map_err(|lost| lost.to_string())?;
        let waiter = Waiter { client: waiting, phone: home, shared: Arc::clone(&shared) };
        clients.spawn(waiter.wait());
        let random = Random::new(options.seed, PLAYER_STREAM + number as u64);
        let player = Player { client, random, shared: Arc::clone(&shared), typed: 0 };
        clients.spawn(player.play());
    }
    let ticks = server.ticks();
    let memory = watch_memory(&server, &shared).await;
    let others_percent = server.ticks().zip(ticks).map(|(now, then)| now.others_percent(&then));
    let ended = tokio::time::timeout(END_MAX, end_of(&mut clients)).await;
    match ended {
        Ok(broken) => shared.find_all("a client of the soak broke", broken),
        Err(_) => shared.find(format!("some calls did not end within {END_MAX:?}")),
    }
    outages.abort();
    if let Err(error) = outages.await
        && error.is_panic()
    {
        shared.find(format!("the outages of the soak broke: {error}"));
    }
    let pings = pinger.join()?;
    shared.find_all("the server's own words", server.end().await?);
    Ok(Figures { others_percent, ..judge(options, &shared, memory, pings).await })
}

/// Waits for all of them, and returns why some broke: what they would have judged was not judged.
async fn end_of(clients: &mut JoinSet<()>) -> Vec<String> {
    let mut broken = Vec::new();
    while let Some(ended) = clients.join_next().await {
        broken.extend(ended.err().map(|error| error.to_string()));
    }
    broken
}

/// Memory of the server in kB, each second, until the run is over.
async fn watch_memory(server: &Server, shared: &Shared) -> Vec<u64> {
    let mut all = Vec::new();
    while !shared.is_over() {
        sleep(Duration::from_secs(1)).await;
        match server.memory_kb() {
            Some(kb) => all.push(kb),
            None => {
                shared.find("the server ended".to_owned());
                break;
            }
        }
    }
    all
}

async fn judge(options: &Options, shared: &Shared, memory: Vec<u64>, pings: crate::pinger::Pings) -> Figures {
    let mut counts = Counts::default();
    for station in &shared.stations {
        let mut ledger = station.ledger.lock().await;
        shared.find_all(&station.phone.id, ledger.close_idle());
        counts.add(&ledger.counts);
    }
    let accounted = counts.done + counts.late;
    if counts.in_truth < accounted || counts.in_truth > accounted + counts.unknown {
        shared.find(format!("{} effects, and {accounted} accounted for", counts.in_truth));
    }
    let fifth = memory.len() / FIFTH as usize;
    let median_of = |part: &[u64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part.get(part.len() / 2).copied().unwrap_or(0)
    };
    let notes = std::mem::take(&mut *shared.notes());
    Figures {
        options: options.clone(),
        counts,
        memory_first_kb: median_of(memory.get(fifth..2 * fifth).unwrap_or_default()),
        memory_last_kb: median_of(memory.get(memory.len() - fifth..).unwrap_or_default()),
        memory_tenths_kb: memory.chunks((memory.len() / 10).max(1)).map(median_of).take(10).collect(),
        memory_peak_kb: memory.iter().copied().max().unwrap_or(0),
        actions: Spread::of(notes.actions_ms.clone()),
        waits: shared.waits.load(Ordering::SeqCst),
        pings,
        others_percent: None,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Content, ToolResult};

    fn answer(text: &str) -> Answer {
        Answer::of(ToolResult { content: vec![Content { text: text.to_owned() }], is_error: false })
    }

    #[test]
    fn answers_of_another_phone_are_found() {
        let titles = ["Soak phone 001", "Soak phone 002"];
        let found = |text: &str| of_another(&answer(text), "a:1", titles[0], titles.into_iter());
        assert_eq!(found("{\"device\":\"a:1\"}\nSoak phone 001"), None);
        assert!(found("{\"device\":\"a:2\"}\nSoak phone 001").is_some(), "the id");
        assert!(found("{\"device\":\"a:1\"}\nSoak phone 002").is_some(), "the words");
    }

    #[test]
    fn refusals_are_found_unless_the_phone_was_away() {
        let refusal = |code: &str| answer(&format!(r#"{{"error":{{"code":"{code}"}}}}"#));
        assert!(refused(&refusal("OFFLINE"), false, NONE).is_some());
        assert!(refused(&refusal("OFFLINE"), false, "NOT_FOUND").is_some());
        assert_eq!(refused(&refusal("OFFLINE"), true, NONE), None);
        assert_eq!(refused(&refusal("NOT_FOUND"), false, "NOT_FOUND"), None);
        assert!(refused(&refusal(LEASED), true, NONE).is_some(), "whatever happens to the phone");
        assert_eq!(refused(&answer(r#"{"success":true}"#), false, NONE), None);
    }

    #[tokio::test]
    async fn a_client_that_breaks_is_told() {
        let mut clients = JoinSet::new();
        clients.spawn(async {});
        let worker = clients.spawn(std::future::pending());
        worker.abort();
        assert_eq!(end_of(&mut clients).await.len(), 1);
    }
}
