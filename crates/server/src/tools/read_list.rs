//! Reading a whole list in one call: every row once, in order, numbered (F43).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use mdm_core::action::request::{Act, ActPatience, Action};
use mdm_core::intent::resolve::describe;
use mdm_core::outline::{ListEnd, ListRead, ReadList as Reading, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::perform;
use super::{Call, Effect, Hints, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, JsonObject, within};
use crate::refusal::Refusal;
use crate::target::SelectorArg;

const ROWS: f64 = 500.0;
/// Rows that a caller may ask for; more are refused.
const ROWS_MAX: f64 = 2000.0;
/// Swipes through one list; what was read until then is told.
const SCROLLS_MAX: u32 = 300;
/// Many clients give up after a minute; what was read until then is worth more than nothing.
const TIMEOUT_MS: f64 = 55_000.0;
/// The longest timeout of reading a list; a longer one is refused.
const TIMEOUT_MS_MAX: f64 = 600_000.0;
/// Characters of all rows together; the rows after that are not told.
const CHARS_MAX: usize = 60_000;
/// A part that this share of the rows has is told once. In percent.
const COMMON_PERCENT: usize = 75;
/// Fewer rows have nothing in common that is worth a line.
const COMMON_ROWS_MIN: usize = 4;

pub struct ReadList;

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum FromArg {
    #[default]
    Start,
    Here,
}

#[derive(Deserialize, JsonSchema)]
pub struct ReadListParams {
    /// selector of what scrolls
    #[schemars(with = "Option<JsonObject>")]
    inside: Option<SelectorArg>,
    /// default start; here: only what follows
    from: Option<FromArg>,
    /// default 500
    max_rows: Option<f64>,
    /// default 55000
    timeout_ms: Option<f64>,
    #[serde(flatten)]
    device: DeviceArg,
}

/// What only the reading of a list says.
#[derive(Debug, Serialize)]
pub struct ListFacts {
    rows: usize,
    /// All rows were read, up to the end of the list.
    whole: bool,
    /// Why it is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    /// Rows changed meanwhile: some may be missing or twice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed_meanwhile: bool,
    /// Rows look so much alike that some may be missing or twice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rows_look_alike: bool,
    scrolls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<String>,
}

impl ListFacts {
    pub fn new(read: &ListRead) -> ListFacts {
        let container = read.container.and_then(|id| read.seen.index_of(id));
        ListFacts {
            rows: read.rows.len(),
            whole: read.end == ListEnd::Whole,
            stopped: stopped(read.end),
            changed_meanwhile: read.changed,
            rows_look_alike: read.alike,
            scrolls: read.scrolls,
            inside: container.map(|index| describe(&read.seen, index as u32)),
        }
    }
}

fn stopped(end: ListEnd) -> Option<&'static str> {
    match end {
        ListEnd::Whole => None,
        ListEnd::RowsMax => Some("max_rows"),
        ListEnd::ScrollsMax => Some("300 scrolls"),
        ListEnd::TimeUp => Some("time was up"),
        ListEnd::Broken => Some("failed"),
    }
}

/// The rows, numbered. Parts that most rows share are told once: rows without a star have them.
pub fn lines(read: &ListRead) -> String {
    let common = common_parts(&read.rows);
    let mut lines = String::new();
    if !common.is_empty() {
        let _ = writeln!(lines, "each row, except those with *, also has {}", common.join(", "));
    }
    for (at, row) in read.rows.iter().enumerate() {
        if lines.len() > CHARS_MAX {
            let _ =
                writeln!(lines, "… {} more rows are not told: the answer is too long", read.rows.len() - at);
            break;
        }
        let (mark, parts) = match without(&row.parts, &common) {
            Some(own) => ("", own),
            None => ("*", row.parts.iter().map(String::as_str).collect()),
        };
        let _ = writeln!(lines, "{}{mark} {}", at + 1, parts.join(" | "));
    }
    lines
}

/// The parts after the first that most rows have, in the order of the first row that has them.
fn common_parts(rows: &[Row]) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for row in rows {
        let mut inner: Vec<&str> = row.parts.iter().skip(1).map(String::as_str).collect();
        inner.sort_unstable();
        inner.dedup();
        for part in inner {
            let count = counts.entry(part).or_default();
            *count += 1;
            if *count == 1 {
                order.push(part);
            }
        }
    }
    let is_common = |part: &&str| counts[*part] * 100 >= rows.len() * COMMON_PERCENT;
    if rows.len() < COMMON_ROWS_MIN { Vec::new() } else { order.into_iter().filter(is_common).collect() }
}

/// The parts of a row without the common ones; `None` if one of those is missing.
fn without<'a>(parts: &'a [String], common: &[&str]) -> Option<Vec<&'a str>> {
    let (first, inner) = parts.split_first()?;
    let has = |part: &&str| inner.iter().any(|own| own == part);
    let own = inner.iter().map(String::as_str).filter(|part| !common.contains(part));
    common.iter().all(has).then(|| std::iter::once(first.as_str()).chain(own).collect())
}

fn act(params: &ReadListParams) -> Result<Act, Refusal> {
    let rows_max = within("max_rows", params.max_rows.unwrap_or(ROWS), 1.0, ROWS_MAX, ROWS)?;
    let timeout_ms = params.timeout_ms.unwrap_or(TIMEOUT_MS);
    let timeout_ms = within("timeout_ms", timeout_ms, 1.0, TIMEOUT_MS_MAX, TIMEOUT_MS)? as u64;
    let reading = Reading {
        inside: params.inside.as_ref().map(SelectorArg::selector).transpose()?,
        from_start: params.from.unwrap_or_default() == FromArg::Start,
        rows_max: rows_max as usize,
        scrolls_max: SCROLLS_MAX,
    };
    let patience = ActPatience { settle: false, window_ms: 0, timeout_ms, call_ms: timeout_ms };
    Ok(Act { action: Action::ReadList(reading), scroll_to_target: false, expect: None, patience })
}

impl Tool for ReadList {
    type Params = ReadListParams;
    const NAME: &'static str = "read_list";
    const DESCRIPTION: &'static str =
        "Read all rows of a list by scrolling: each once, in order, numbered. Leaves it at its end.";
    const EFFECT: Effect = Effect::Acts;
    const HINTS: Hints = Hints::ONLY_ADDS;
    const TIMEOUT: Duration = Duration::from_secs(610);

    async fn run(call: &Call<'_>, params: ReadListParams) -> Result<Answer, Refusal> {
        perform(call, &params.device.wanted(), act(&params)?, None).await
    }
}
