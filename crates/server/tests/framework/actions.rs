//! Uses a control through the product's tools, and judges what the product says by the views.

use std::collections::{BTreeMap, VecDeque};

use mdm_virtual_device::{ListenerCall, Random, Truth, ViewTruth};
use tokio::time::Duration;

use crate::controls::{Control, Kind, controls, line_of, target};
use crate::lines::{self, Line, read};
use crate::product::{PACKAGE, Product, Reply};
use crate::reading::{Judge, name};
use crate::views::{Fact, Screen, fact, has, readable, shown_text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// What it said happened did happen, on the view that was meant.
    Right,
    /// It said no with a reason, and touched nothing.
    Refused,
    /// It tried, and said truthfully that it did not come out.
    Failed,
    Wrong,
}

pub struct Outcome {
    pub verdict: Verdict,
    pub kind: Kind,
    /// The call, the reason, and for a wrong answer all of it.
    pub what: String,
}

/// Something that was done, with the views before and after it.
struct Deed<'a> {
    control: Control,
    before: &'a Screen,
    after: &'a Screen,
    /// The screens of the last moments before the answer. A look takes time, so the answer may tell of any of them; an app
    /// that works in the background changes its screen whenever it likes.
    late: &'a [Screen],
    /// Views that change by themselves.
    ticking: Vec<i64>,
    reply: &'a Reply,
    /// The views that fingers came down on.
    touched: Vec<i64>,
    /// The views whose listeners were called for a click or a long click.
    clicked: Vec<i64>,
    typed: String,
    wanted: f64,
    /// Inputs of any kind that reached the phone.
    inputs: usize,
}

/// Opens the activity and uses the control of this kind with this number. `None` if there is no such control now.
pub async fn act(
    product: &Product,
    activity: &str,
    kind: Kind,
    number: usize,
    random: &mut Random,
) -> Option<Outcome> {
    if !product.open(activity).await {
        return None;
    }
    let early = Screen::of(product.truth());
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let tree = product.tree().await;
    if tree.is_error {
        let what = format!("{activity}: get_ui_tree: {}: {}", tree.fact("code"), tree.fact("message"));
        return Some(Outcome { verdict: Verdict::Refused, kind, what });
    }
    let lines = read(&tree.text);
    let truth = product.truth();
    let (calls, moment) = (calls(&truth).count(), product.phone.moment());
    let before = Screen::of(truth);
    let control = controls(&before).into_iter().filter(|control| control.kind == kind).nth(number)?;
    let judge = Judge::new(&before, &before, &lines);
    let view = before.view(control.view);
    let line = view.and_then(|view| line_of(&before, view, &judge, &lines));
    if line.is_none() && !matches!(kind, Kind::Back | Kind::ScrollTo) {
        let what = format!("{activity}: no line for {}\n{}", view.map(name).unwrap_or_default(), tree.text);
        return Some(Outcome { verdict: Verdict::Wrong, kind, what });
    }
    let (typed, wanted) = (text_for(view, random), value_for(view, random));
    let target = line.map(|line| target(line, &lines, random)).unwrap_or_default();
    let (tool, arguments) = call(&control, &target, &typed, wanted);
    let (reply, late) = watched(product, product.call(tool, &arguments)).await;
    let truth = product.truth();
    let (touched, clicked) =
        self::calls(&truth).skip(calls).partition::<Vec<_>, _>(|call| call.what == "touch");
    let views = |calls: Vec<&ListenerCall>| calls.into_iter().map(|call| call.view).collect();
    let (touched, clicked) = (views(touched), views(clicked));
    let inputs = product.phone.since(&moment).inputs.len();
    let after = Screen::of(truth);
    let ticking = changed(&early, &before);
    let deed = Deed {
        control,
        before: &before,
        after: &after,
        late: &late,
        ticking,
        reply: &reply,
        touched,
        clicked,
        typed,
        wanted,
        inputs,
    };
    let (verdict, why) = deed.judge();
    let mut what = format!("{activity}: {tool} {arguments}: {why}");
    if verdict == Verdict::Wrong {
        let view = before.view(deed.control.view).map(name).unwrap_or_default();
        what = format!(
            "{what}\n  view: {view}\n  line: {}\n  answer: {}",
            line.map_or("", |line| &line.text),
            reply.text
        );
    }
    Some(Outcome { verdict, kind, what })
}

/// A look takes no longer on this phone.
const LOOK: Duration = Duration::from_millis(1500);
const SAMPLE: Duration = Duration::from_millis(100);

/// Waits for the answer, and returns the screens of the last moments before it.
async fn watched(product: &Product, call: impl Future<Output = Reply>) -> (Reply, Vec<Screen>) {
    let mut late = VecDeque::new();
    let mut call = std::pin::pin!(call);
    loop {
        tokio::select! {
            biased;
            reply = &mut call => return (reply, late.into_iter().map(Screen::of).collect()),
            () = tokio::time::sleep(SAMPLE) => late.push_back(product.truth()),
        }
        if late.len() > (LOOK.as_millis() / SAMPLE.as_millis()) as usize {
            late.pop_front();
        }
    }
}

fn calls(truth: &Truth) -> impl Iterator<Item = &ListenerCall> {
    truth.framework.iter().flat_map(|framework| &framework.listeners)
}

fn changed(early: &Screen, late: &Screen) -> Vec<i64> {
    let facts = |screen: &Screen| -> BTreeMap<i64, Vec<Fact>> {
        screen.seen().map(|view| (view.number, screen.facts(view))).collect()
    };
    let (early, late) = (facts(early), facts(late));
    late.iter()
        .filter(|(number, facts)| early.get(number) != Some(facts))
        .map(|(number, _)| *number)
        .collect()
}

/// The classes of `android.text.InputType`.
fn text_for(view: Option<&ViewTruth>, random: &mut Random) -> String {
    let kind: i64 = view.and_then(|view| fact(view, "inputType")?.parse().ok()).unwrap_or(1);
    let number = random.between(10, 100);
    match kind & 0xf {
        2 => format!("{number}"),
        3 => format!("55501{number}"),
        4 => "12".to_owned(),
        _ => format!("Mango {number}"),
    }
}

fn value_for(view: Option<&ViewTruth>, random: &mut Random) -> f64 {
    let number = |name: &str| view.and_then(|view| fact(view, name)?.parse::<i64>().ok()).unwrap_or(0);
    let (min, max) = (number("min"), number("max"));
    (min + random.below((max - min + 1).clamp(1, 1000) as usize) as i64) as f64
}

fn call(control: &Control, target: &str, typed: &str, wanted: f64) -> (&'static str, String) {
    let words = serde_json::Value::from(control.words.as_str());
    match control.kind {
        Kind::Tap | Kind::Toggle => ("tap_element", format!("{{{target}}}")),
        Kind::Type => ("type_text", format!(r#"{{{target},"text":"{typed}","clear":true}}"#)),
        Kind::Adjust => ("adjust_control", format!(r#"{{{target},"target_value":{wanted}}}"#)),
        Kind::ScrollTo => ("scroll_to_element", format!(r#"{{"selector":{{"text":{words}}}}}"#)),
        Kind::LongPress => ("tap_element", format!(r#"{{{target},"hold_ms":800}}"#)),
        Kind::Back => ("press_back", r#"{"settle":true}"#.to_owned()),
    }
}

impl Deed<'_> {
    fn judge(&self) -> (Verdict, String) {
        if self.reply.is_error {
            return self.judge_failure();
        }
        if let Some(wrong) =
            self.wrong_target().or_else(|| self.wrong_effect()).or_else(|| self.wrong_claim())
        {
            return (Verdict::Wrong, wrong);
        }
        (Verdict::Right, self.reply.fact("observed_change").to_owned())
    }

    fn judge_failure(&self) -> (Verdict, String) {
        let reason = format!("{}: {}", self.reply.fact("code"), self.reply.fact("message"));
        if self.inputs == 0 && self.reply.fact("code").is_empty() {
            return (Verdict::Wrong, "refused without a reason".to_owned());
        }
        if self.inputs == 0 {
            return (Verdict::Refused, reason);
        }
        if self.has_worked() {
            return (Verdict::Wrong, format!("it worked, and the answer says that it failed ({reason})"));
        }
        match self.wrong_target() {
            Some(wrong) => (Verdict::Wrong, wrong),
            None => (Verdict::Failed, reason),
        }
    }

    fn view(&self) -> Option<&ViewTruth> {
        self.before.view(self.control.view)
    }

    /// The same object afterwards.
    fn view_after(&self) -> Option<&ViewTruth> {
        self.after.view(self.control.view)
    }

    /// True if what was asked for is so: of those kinds that say what shall be.
    fn has_worked(&self) -> bool {
        match self.control.kind {
            Kind::Type => self.view_after().is_some_and(|view| view.text == self.typed),
            Kind::Adjust => self.value().is_some_and(|value| (value - self.wanted).abs() < 1e-6),
            Kind::ScrollTo => {
                let words = readable(&self.control.words);
                self.after.seen().any(|view| shown_text(view) == words)
            }
            Kind::Tap | Kind::Toggle | Kind::LongPress | Kind::Back => false,
        }
    }

    fn value(&self) -> Option<f64> {
        let view = self.view_after()?;
        ["value", "rating", "progress"].iter().find_map(|name| fact(view, name))?.parse().ok()
    }

    /// Says which other view a finger came down on.
    fn wrong_target(&self) -> Option<String> {
        let view = self.view().filter(|_| !matches!(self.control.kind, Kind::ScrollTo | Kind::Back))?;
        let whole = self.before.around(view).find(|around| has(around, "position")).unwrap_or(view);
        let first = *self.touched.first()?;
        let is_inside = |number: i64| {
            self.before.view(number).is_some_and(|touched| self.before.is_inside(touched, whole))
        };
        // The innermost view at a point may let the finger through to what lies below it.
        let inside = is_inside(first)
            || self.clicked.iter().any(|clicked| is_inside(*clicked))
            || self.took_focus(view);
        let other = || self.before.view(first).map_or_else(|| format!("view {first}"), name);
        (!inside).then(|| format!("the finger came down on {}", other()))
    }

    /// A first tap on a view that can have the focus gives it that, and calls no listener.
    fn took_focus(&self, view: &ViewTruth) -> bool {
        !view.focused && self.view_after().is_some_and(|after| after.focused)
    }

    /// Says what was asked for and is not so.
    fn wrong_effect(&self) -> Option<String> {
        match self.control.kind {
            Kind::Tap | Kind::Toggle | Kind::LongPress => {
                self.touched.is_empty().then(|| "nothing was touched".to_owned())
            }
            Kind::Type => (!self.has_worked())
                .then(|| format!("the field holds {:?}", self.view_after().map(|view| view.text.as_str()))),
            Kind::Adjust => (!self.has_worked()).then(|| format!("the value is {:?}", self.value())),
            Kind::ScrollTo => (!self.has_worked()).then(|| "it is not in sight".to_owned()),
            Kind::Back => (self.inputs == 0).then(|| "no key was pressed".to_owned()),
        }
    }

    /// Says what the lines of the answer claim that is not so.
    fn wrong_claim(&self) -> Option<String> {
        let wrong = self.wrong_claim_of(self.after)?;
        let is_borne_out = self.late.iter().any(|screen| self.wrong_claim_of(screen).is_none());
        (!is_borne_out).then_some(wrong)
    }

    fn wrong_claim_of(&self, after: &Screen) -> Option<String> {
        let wrong = || self.wrong_nothing(after).or_else(|| self.wrong_line(after));
        self.wrong_screen(after).or_else(wrong)
    }

    fn wrong_screen(&self, after: &Screen) -> Option<String> {
        let (was, is) = (&self.before.activity, &after.activity);
        let said = self.reply.lines().find_map(|line| line.strip_prefix("screen ")?.split_once(" -> "));
        let short = |name: &str| name.rsplit(['.', '/']).next().unwrap_or("").to_owned();
        match said {
            Some((_, to)) if was == is => Some(format!("still on {is}, the answer says {to}")),
            Some((_, to)) => (to != short(is)).then(|| format!("on {is}, the answer says {to}")),
            None if was == is => None,
            None if !is.starts_with(PACKAGE) && self.reply.text.contains("crash") => None,
            None => Some(format!("the screen went from {was} to {is}, and the answer does not say so")),
        }
    }

    fn wrong_nothing(&self, after: &Screen) -> Option<String> {
        self.reply.lines().find(|line| line.starts_with("nothing that counts changed"))?;
        let facts = |screen: &Screen| -> Vec<(Fact, String)> {
            let still = screen.seen().filter(|view| !self.ticking.contains(&view.number));
            let mut facts: Vec<(Fact, String)> = still
                .flat_map(|view| screen.facts(view).into_iter().map(|fact| (fact, view.class.clone())))
                .collect();
            facts.sort();
            facts
        };
        let (was, is) = (facts(self.before), facts(after));
        let gone: Vec<_> = was.iter().filter(|fact| !is.contains(fact)).collect();
        let new: Vec<_> = is.iter().filter(|fact| !was.contains(fact)).collect();
        (was != is).then(|| format!("the answer says that nothing changed; gone {gone:?}, new {new:?}"))
    }

    /// Checks lines of what is new, changed or gone.
    fn wrong_line(&self, after: &Screen) -> Option<String> {
        let judge = Judge::new(after, after, &[]);
        let known = |line: &Line| line.words.iter().find(|said| judge.parts(said).is_none()).cloned();
        for text in self.reply.lines() {
            if let Some(line) = text.strip_prefix("+ ").and_then(lines::line)
                && let Some(said) = known(&line)
            {
                return Some(format!("new is {:?}, which no view shows: {text}", said.head));
            }
            let state = text.strip_prefix("~ ").and_then(|change| change.rsplit_once(" -> "));
            if let Some((_, state)) = state
                && let Some(line) = lines::line(&format!("e0 now {state}"))
                && let Some(said) = known(&line)
            {
                return Some(format!("now {:?}, which no view shows: {text}", said.head));
            }
        }
        None
    }
}
