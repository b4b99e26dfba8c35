//! `log show` and `log stream` inside the simulator.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use super::frame::{STDOUT, Session};
use super::output::Output;
use crate::clock::Civil;
use crate::iphone::IPhone;
use crate::iphone::system_log::LogMessage;

/// Comparisons of one predicate.
const TERMS_MAX: usize = 50;

#[derive(Debug, Default)]
struct Options {
    style: String,
    predicate: Option<Predicate>,
    predicate_text: String,
    info: bool,
    debug: bool,
    since_ms: Option<u64>,
    last_ms: Option<u64>,
}

pub async fn log<S: AsyncRead + AsyncWrite>(
    phone: &IPhone,
    words: &[&str],
    session: &mut Session<S>,
) -> io::Result<Output> {
    let (verb, words) = match words {
        [verb @ ("show" | "stream"), rest @ ..] => (*verb, rest),
        _ => return Ok(Output::fail(64, "usage:\n    log <command>\n")),
    };
    let options = match parse(words) {
        Ok(options) => options,
        Err(why) => return Ok(Output::fail(64, format!("log: {why}\n"))),
    };
    if verb == "show" {
        return Ok(Output::text(show(phone, &options)));
    }
    let mut changed = phone.phone().log_watch();
    let (_, mut next) = phone.log_since(0);
    let mut head = String::new();
    if !options.predicate_text.is_empty() {
        head = format!("Filtering the log data using \"{}\"\n", options.predicate_text);
    }
    head.push_str(heading(&options.style));
    session.piece(STDOUT, head.as_bytes()).await?;
    loop {
        let (messages, after) = phone.log_since(next);
        next = after;
        let mut out = String::new();
        for message in messages.iter().filter(|message| options.wants(message)) {
            message.print(&options.style, &mut out);
        }
        if !out.is_empty() {
            session.piece(STDOUT, out.as_bytes()).await?;
        }
        if phone.simulator(|simulator| simulator.shut_down) {
            return Ok(Output::fail(1, "log stream ended: the device was shut down\n"));
        }
        tokio::select! {
            grows = phone.log_grows(&mut changed) => if !grows {
                return Ok(Output::ok());
            },
            () = session.gone() => return Ok(Output::ok()),
        }
    }
}

fn show(phone: &IPhone, options: &Options) -> String {
    let now_ms = phone.phone().with(|state| state.clock.wall_ms(state.now));
    let from_ms = options.last_ms.map(|last| now_ms.saturating_sub(last)).or(options.since_ms);
    let mut out = heading(&options.style).to_owned();
    let (messages, _) = phone.log_since(0);
    let mut count = 0;
    for message in &messages {
        if options.wants(message) && from_ms.is_none_or(|from| message.wall_ms >= from) {
            message.print(&options.style, &mut out);
            count += 1;
        }
    }
    if options.style == "ndjson" {
        out.push_str(&format!("{{\"count\":{count},\"finished\":1}}\n"));
    }
    out
}

fn heading(style: &str) -> &'static str {
    match style {
        "ndjson" => "",
        "compact" => "Timestamp               Ty Process[PID:TID]\n",
        "syslog" => "Timestamp                       (process)[PID]    \n",
        _ => "Timestamp                       Thread     Type        Activity             PID    TTL  \n",
    }
}

impl Options {
    fn wants(&self, message: &LogMessage) -> bool {
        let level = match message.kind {
            "Debug" => self.debug,
            "Info" => self.info || self.debug,
            _ => true,
        };
        level && self.predicate.as_ref().is_none_or(|predicate| predicate.holds(message))
    }
}

fn parse(words: &[&str]) -> Result<Options, String> {
    let mut options = Options { style: "default".to_owned(), ..Options::default() };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let mut value = || inline.or_else(|| words.next()).ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--style" => options.style = value()?.to_owned(),
            "--predicate" => {
                let text = value()?;
                options.predicate =
                    Some(Predicate::parse(text).ok_or_else(|| format!("Bad predicate ({text})"))?);
                options.predicate_text = text.to_owned();
            }
            "--level" => match value()? {
                "debug" => options.debug = true,
                "info" => options.info = true,
                _ => {}
            },
            "--info" => options.info = true,
            "--debug" => options.debug = true,
            "--last" => options.last_ms = Some(span(value()?).ok_or("a bad time after --last")?),
            "--start" => options.since_ms = Some(date(value()?).ok_or("a bad date after --start")?),
            "--end" | "--process" | "--timeout" | "--type" | "--color" => {
                value()?;
            }
            _ => {}
        }
    }
    Ok(options)
}

/// `5m`, `2h`, `1d`, or seconds.
fn span(text: &str) -> Option<u64> {
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 'm') => (&text[..at], 60_000),
        (at, 'h') => (&text[..at], 3_600_000),
        (at, 'd') => (&text[..at], 86_400_000),
        (at, 's') => (&text[..at], 1000),
        _ => (text, 1000),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// `2026-03-02 09:00:00`, in the phone's time.
fn date(text: &str) -> Option<u64> {
    let mut numbers = text.split([' ', '-', ':', '.', '+']).map(|part| part.parse::<u32>().ok());
    let mut next = || numbers.next().flatten();
    Some(
        Civil {
            year: i64::from(next()?),
            month: next()?,
            day: next()?,
            hour: next().unwrap_or(0),
            minute: next().unwrap_or(0),
            second: next().unwrap_or(0),
            milli: 0,
        }
        .to_ms(),
    )
}

/// Comparisons, all of which must hold, or any of which.
#[derive(Debug)]
struct Predicate {
    terms: Vec<Term>,
    any: bool,
}

#[derive(Debug)]
struct Term {
    field: String,
    contains: bool,
    negated: bool,
    value: String,
}

impl Predicate {
    fn parse(text: &str) -> Option<Predicate> {
        let any = text.contains(" OR ") || text.contains(" || ");
        let separators: [&str; 2] = if any { [" OR ", " || "] } else { [" AND ", " && "] };
        let parts = text.split(separators[0]).flat_map(|part| part.split(separators[1]));
        let terms: Option<Vec<Term>> = parts.take(TERMS_MAX).map(Term::parse).collect();
        Some(Predicate { terms: terms?, any })
    }

    fn holds(&self, message: &LogMessage) -> bool {
        let mut each = self.terms.iter().map(|term| term.holds(message));
        if self.any { each.any(|holds| holds) } else { each.all(|holds| holds) }
    }
}

impl Term {
    fn parse(text: &str) -> Option<Term> {
        let text = text.trim().trim_start_matches('(').trim_end_matches(')');
        let (field, rest) = text.split_once(' ')?;
        let (operator, value) = rest.trim().split_once(' ')?;
        let contains = operator.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("contains"));
        if !contains && !matches!(operator, "==" | "=" | "!=") {
            return None;
        }
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        Some(Term { field: field.to_owned(), contains, negated: operator == "!=", value })
    }

    fn holds(&self, message: &LogMessage) -> bool {
        let pid = message.pid.to_string();
        let found = match self.field.as_str() {
            "process" => &message.process,
            "processID" | "processIdentifier" => &pid,
            "subsystem" => &message.bundle,
            "category" => &message.category,
            "eventMessage" | "composedMessage" => &message.text,
            "processImagePath" => &message.process,
            _ => return false,
        };
        let holds = if self.contains {
            found.to_lowercase().contains(&self.value.to_lowercase())
        } else {
            *found == self.value
        };
        holds != self.negated
    }
}
