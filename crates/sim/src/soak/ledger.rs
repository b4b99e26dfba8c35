//! The account of one phone: what really happened to it between two answers, and which request each of it belongs to.
//!
//! A phone is used by one client at a time, so everything that happens in the window of a call is that call's, or the late
//! effect of an earlier one whose fate was said to be unknown.

use std::collections::BTreeMap;
use std::time::Duration;

use mdm_virtual_device::{Applied, Hit, Moment, Phone};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::phones::{BUTTONS, FIELD, button};

/// After this a call whose fate was unknown has no effect any more: no command of the server waits that long.
const LATE_MAX: Duration = Duration::from_secs(30);

/// The number of the key Back.
const BACK: u32 = 4;

/// What a call was to do: one touch of one button, or one text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    Press(usize),
    Type(String),
}

/// How often the effect may be seen in the window of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Once,
    Never,
    /// At most once, now or later.
    Unknown,
}

impl Fate {
    /// What the server said became of the call. An error if it said nothing that one could go by.
    pub fn told(intent: &Intent, answer: &Answer) -> Result<Fate, String> {
        if let Some(why) = &answer.unreadable {
            return Err(why.clone());
        }
        let facts = &answer.facts;
        match (facts.verdict.as_deref(), facts.dispatched.as_deref()) {
            (Some("confirmed"), _) => Ok(Fate::Once),
            (_, Some("unknown")) => Ok(Fate::Unknown),
            // A text is typed in parts, and the first of them may be all that was sent.
            (_, Some("taken")) if answer.is_error && matches!(intent, Intent::Type(_)) => Ok(Fate::Unknown),
            (_, Some("taken")) => Ok(Fate::Once),
            _ if facts.success => Ok(Fate::Once),
            (_, Some("not_sent" | "refused")) => Ok(Fate::Never),
            _ if facts.error.is_some() => Ok(Fate::Never),
            _ => Err("it is not told what became of it".to_owned()),
        }
    }
}

/// What was counted over the whole run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub calls: u64,
    pub confirmed: u64,
    pub done: u64,
    pub not_done: u64,
    pub unknown: u64,
    /// Effects of calls with an unknown fate that came after their answer.
    pub late: u64,
    /// Calls of which the server did not know the fate although nothing had disturbed them.
    pub unknown_undisturbed: u64,
    /// Touches and texts in the truth of the phone.
    pub in_truth: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.calls += other.calls;
        self.confirmed += other.confirmed;
        self.done += other.done;
        self.not_done += other.not_done;
        self.unknown += other.unknown;
        self.late += other.late;
        self.unknown_undisturbed += other.unknown_undisturbed;
        self.in_truth += other.in_truth;
    }
}

pub struct Ledger {
    phone: Phone,
    since: Moment,
    /// Calls with an unknown fate, and when they were answered.
    open: BTreeMap<Intent, Instant>,
    /// When a text was seen whose call had no answer.
    typed_unheard: Option<Instant>,
    /// Presses so far, which is what the app shows.
    pub presses: u64,
    pub counts: Counts,
}

impl Ledger {
    pub fn new(phone: Phone) -> Ledger {
        let since = phone.moment();
        let (open, counts) = (BTreeMap::new(), Counts::default());
        Ledger { phone, since, open, typed_unheard: None, presses: 0, counts }
    }

    /// True if the effect of an earlier call of this kind may still come.
    pub fn is_open(&mut self, intent: &Intent) -> bool {
        let now = Instant::now();
        self.open.retain(|_, since| now.duration_since(*since) < LATE_MAX);
        self.open.contains_key(intent)
    }

    /// Closes the window of a call that was answered; every finding is a sentence.
    pub fn close(
        &mut self,
        intent: &Intent,
        fate: Fate,
        is_confirmed: bool,
        steps_back: usize,
    ) -> Vec<String> {
        let happened = self.look();
        self.counts.confirmed += u64::from(is_confirmed);
        self.settle(happened, intent, fate, Some(steps_back))
    }

    /// Closes the window of a call of which nobody heard the answer.
    pub fn close_unheard(&mut self, intent: &Intent) -> Vec<String> {
        let happened = self.look();
        self.settle(happened, intent, Fate::Unknown, None)
    }

    /// Looks once more when nobody uses the phone: nothing may happen by itself.
    pub fn close_idle(&mut self) -> Vec<String> {
        let happened = self.look();
        let allowed = (!self.is_any_open()).then_some(0);
        let Sorted { intents, strays, backs } = self.sort(happened, None);
        let late = self.settle_late(intents);
        strays.into_iter().chain(late).chain(untold_backs(backs, allowed)).collect()
    }

    /// What happened since the last look.
    fn look(&mut self) -> Vec<Applied> {
        let happened = self.phone.since(&self.since);
        self.since = self.since.after(&happened);
        happened.inputs.into_iter().map(|(_, input)| input).collect()
    }

    /// The keys Back that the answer told; nothing where none was heard.
    fn settle(
        &mut self,
        happened: Vec<Applied>,
        intent: &Intent,
        fate: Fate,
        steps_back: Option<usize>,
    ) -> Vec<String> {
        let allowed = steps_back.filter(|_| !self.is_any_open());
        let Sorted { mut intents, strays: mut findings, backs } = self.sort(happened, Some(intent));
        findings.extend(untold_backs(backs, allowed));
        let own = intents.remove(intent).unwrap_or(0);
        self.counts.calls += 1;
        findings.extend(self.settle_late(intents));
        match (fate, own) {
            (Fate::Once, 1) => self.counts.done += 1,
            (Fate::Never, 0) => self.counts.not_done += 1,
            (Fate::Unknown, 0) => {
                self.counts.unknown += 1;
                self.open.insert(intent.clone(), Instant::now());
            }
            (Fate::Unknown, 1) => {
                self.counts.unknown += 1;
                self.note_preparation(intent);
            }
            _ => findings.push(format!("{intent:?} was answered {fate:?} and happened {own} times")),
        }
        findings
    }

    fn settle_late(&mut self, seen: BTreeMap<Intent, u64>) -> Vec<String> {
        let mut findings = Vec::new();
        for (intent, times) in seen {
            match self.open.remove(&intent) {
                Some(since) if times == 1 && since.elapsed() < LATE_MAX => self.counts.late += 1,
                _ => findings.push(format!("{intent:?} happened {times} times without a request")),
            }
        }
        findings
    }

    /// What follows a text that was typed, and of which nobody has heard the answer, may come after it.
    fn note_preparation(&mut self, intent: &Intent) {
        if matches!(intent, Intent::Type(_)) {
            self.typed_unheard = Some(Instant::now());
        }
    }

    /// True if an earlier call may still do something.
    fn is_any_open(&self) -> bool {
        self.open.values().any(|since| since.elapsed() < LATE_MAX)
    }

    /// True if a text may be typed now, by this call or late by an earlier one.
    fn may_type(&self, intent: Option<&Intent>) -> bool {
        let is_text = |intent: &Intent| matches!(intent, Intent::Type(_));
        intent.is_some_and(is_text)
            || self.open.iter().any(|(intent, since)| is_text(intent) && since.elapsed() < LATE_MAX)
            || self.typed_unheard.is_some_and(|since| since.elapsed() < LATE_MAX)
    }

    /// What happened, by what it was to do. Touches of the field and keys prepare a text; whatever else is there belongs to
    /// nobody.
    fn sort(&mut self, happened: Vec<Applied>, intent: Option<&Intent>) -> Sorted {
        let may_type = self.may_type(intent);
        let mut sorted = Sorted::default();
        for input in happened {
            let intent = match &input {
                Applied::Tap { hit: Some(hit), .. } => match button_of(hit) {
                    Some(number) => Intent::Press(number),
                    None if may_type && hit.resource_id.ends_with(FIELD) => continue,
                    None => {
                        sorted.strays.push(format!("a stray touch of {:?} {:?}", hit.resource_id, hit.label));
                        continue;
                    }
                },
                Applied::Text { text, .. } | Applied::Paste { text, .. } => Intent::Type(text.clone()),
                Applied::Key { .. } if may_type => continue,
                Applied::Key { code: BACK } => {
                    sorted.backs += 1;
                    continue;
                }
                other => {
                    sorted.strays.push(format!("a stray input {other:?}"));
                    continue;
                }
            };
            self.presses += u64::from(matches!(intent, Intent::Press(_)));
            *sorted.intents.entry(intent).or_insert(0) += 1;
            self.counts.in_truth += 1;
        }
        sorted
    }
}

/// What happened in a window.
#[derive(Debug, Default)]
struct Sorted {
    /// How often each thing was done that somebody may have asked for.
    intents: BTreeMap<Intent, u64>,
    /// What nobody can have asked for, as findings.
    strays: Vec<String>,
    /// Keys Back outside of the typing of a text.
    backs: usize,
}

fn untold_backs(backs: usize, allowed: Option<usize>) -> Option<String> {
    let allowed = allowed.filter(|allowed| backs > *allowed)?;
    Some(format!("Back was pressed {backs} times, and {allowed} times were told"))
}

fn button_of(hit: &Hit) -> Option<usize> {
    (0..BUTTONS).find(|number| button(*number) == hit.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Content, ToolResult};

    const PRESS: Intent = Intent::Press(1);

    fn told_of(intent: &Intent, facts: &str, is_error: bool) -> Result<Fate, String> {
        let content = vec![Content { text: format!("{facts}\nlines") }];
        Fate::told(intent, &Answer::of(ToolResult { content, is_error }))
    }

    fn told(facts: &str, is_error: bool) -> Result<Fate, String> {
        told_of(&PRESS, facts, is_error)
    }

    fn ledger() -> Ledger {
        Ledger::new(Phone::new(mdm_virtual_device::PhoneConfig::default()))
    }

    fn tap(label: &str, resource_id: &str) -> Applied {
        let hit = Hit {
            class: "android.widget.Button".to_owned(),
            resource_id: resource_id.to_owned(),
            label: label.to_owned(),
            acted: true,
            datum: None,
        };
        Applied::Tap { at: (1, 1), hit: Some(hit) }
    }

    fn press(number: usize) -> Applied {
        tap(&button(number), "")
    }

    fn typed(text: &str) -> Applied {
        Applied::Text { text: text.to_owned(), into: None }
    }

    #[test]
    fn the_fate_of_a_call_is_what_its_answer_says() {
        assert_eq!(told(r#"{"success":true,"verdict":"confirmed","device":"a"}"#, false), Ok(Fate::Once));
        assert_eq!(told(r#"{"success":true,"verdict":"contradicted"}"#, true), Ok(Fate::Once));
        let error = r#""error":{"code":"CONNECTION_LOST"}"#;
        assert_eq!(told(&format!(r#"{{"dispatched":"unknown",{error}}}"#), true), Ok(Fate::Unknown));
        assert_eq!(told(&format!(r#"{{"dispatched":"taken",{error}}}"#), true), Ok(Fate::Once));
        let text = Intent::Type("a".to_owned());
        assert_eq!(told_of(&text, &format!(r#"{{"dispatched":"taken",{error}}}"#), true), Ok(Fate::Unknown));
        assert_eq!(told(r#"{"success":false,"error":{"code":"DEVICE_LEASED"}}"#, true), Ok(Fate::Never));
        assert_eq!(told(&format!(r#"{{"dispatched":"not_sent",{error}}}"#), true), Ok(Fate::Never));
        for nothing in ["", "{}", "text", r#"{"device":"a"}"#, r#"{"device":"a","verdict":"undetermined"}"#] {
            assert!(told(nothing, false).is_err(), "{nothing}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_happens_twice_or_without_a_request_is_found() {
        let mut ledger = ledger();
        assert_eq!(ledger.close(&PRESS, Fate::Never, false, 0), Vec::<String>::new());
        assert_eq!(ledger.close(&PRESS, Fate::Once, true, 0).len(), 1, "it was lost");
        let other = || BTreeMap::from([(Intent::Press(2), 1)]);
        assert_eq!(ledger.settle_late(other()).len(), 1, "nobody asked for it");
        ledger.open.insert(Intent::Press(2), Instant::now());
        assert_eq!(ledger.settle_late(other()).len(), 0);
        assert_eq!((ledger.settle_late(other()).len(), ledger.counts.late), (1, 1), "late, and again");
        ledger.open.insert(Intent::Press(2), Instant::now());
        tokio::time::advance(LATE_MAX).await;
        assert_eq!(ledger.settle_late(other()).len(), 1, "too late");
    }

    /// What a server would do that breaks its word, each with what its answers say.
    #[tokio::test(start_paused = true)]
    async fn servers_that_break_their_word_are_found() {
        let findings =
            |happened: Vec<Applied>, fate: Fate| ledger().settle(happened, &PRESS, fate, Some(0)).len();
        assert_eq!(findings(vec![press(1)], Fate::Once), 0);
        assert_eq!(findings(vec![], Fate::Unknown) + findings(vec![press(1)], Fate::Unknown), 0);
        assert_eq!(findings(vec![press(1), press(1)], Fate::Once), 1, "doubled");
        assert_eq!(findings(vec![press(1), press(1)], Fate::Unknown), 1, "doubled, and not known");
        assert_eq!(findings(vec![], Fate::Once), 1, "dropped, and answered as done");
        assert_eq!(findings(vec![press(1)], Fate::Never), 1, "done, and answered as refused");
        assert_eq!(findings(vec![press(2)], Fate::Once), 2, "another button");
        assert_eq!(findings(vec![press(1), typed("c7x1")], Fate::Once), 1, "the text of another client");
        assert_eq!(findings(vec![press(1), tap("Count 3", "count")], Fate::Once), 1, "beside the button");
        assert_eq!(findings(vec![press(1), tap("Note", "note")], Fate::Once), 1, "the field, and no text");
        assert_eq!(findings(vec![press(1), Applied::Key { code: 4 }], Fate::Once), 1, "a key");
        let swipe = Applied::Swipe { from: (1, 1), to: (1, 9), ms: 100, hit: None };
        assert_eq!(findings(vec![press(1), swipe], Fate::Once), 1, "a swipe");
        assert_eq!(
            findings(vec![press(1), Applied::Tap { at: (1, 1), hit: None }], Fate::Once),
            1,
            "nowhere"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_back_is_told() {
        let back = || vec![Applied::Key { code: BACK }, press(1)];
        let findings = |told: Option<usize>| ledger().settle(back(), &PRESS, Fate::Once, told).len();
        assert_eq!((findings(Some(1)), findings(None), findings(Some(0))), (0, 0, 1));
        let twice = [vec![Applied::Key { code: BACK }], back()].concat();
        assert_eq!(ledger().settle(twice, &PRESS, Fate::Once, Some(1)).len(), 1);
        let mut late = ledger();
        assert_eq!(late.settle(vec![], &Intent::Press(2), Fate::Unknown, None), Vec::<String>::new());
        assert_eq!(
            late.settle(back(), &PRESS, Fate::Once, Some(0)),
            Vec::<String>::new(),
            "of the late call"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_text_comes_with_touches_of_its_field_and_keys() {
        let text = Intent::Type("c1x1".to_owned());
        let all = || vec![tap("Note", "org.example.soak:id/note"), Applied::Key { code: 67 }, typed("c1x1")];
        assert_eq!(ledger().settle(all(), &text, Fate::Once, Some(0)), Vec::<String>::new());
        let mut late = ledger();
        assert_eq!(late.settle(vec![], &text, Fate::Unknown, None), Vec::<String>::new());
        assert_eq!(
            late.settle([all(), vec![press(1)]].concat(), &PRESS, Fate::Once, Some(0)),
            Vec::<String>::new()
        );
        assert_eq!(late.counts.late, 1);
        assert_eq!(late.settle([all(), vec![press(1)]].concat(), &PRESS, Fate::Once, Some(0)).len(), 3);
        let mut twice = vec![typed("c1x1")];
        twice.extend(all());
        assert_eq!(ledger().settle(twice, &text, Fate::Once, Some(0)).len(), 1);
    }
}
