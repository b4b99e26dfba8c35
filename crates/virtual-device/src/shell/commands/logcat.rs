//! `logcat`: dumps and streams.

use super::super::io::BrokenPipe;
use super::Call;
use super::expression::{Dialect, Expression};
use crate::clock::Civil;
use crate::logcat::{Buffer, Entry, Filter, Format};
use crate::state::State;

struct Options {
    format: Format,
    filter: Filter,
    buffers: Vec<Buffer>,
    pid: Option<u32>,
    /// Ends after the existing entries.
    dump: bool,
    clear: bool,
    /// Shows only this many of the existing entries.
    last: Option<usize>,
    /// Shows only entries after this time.
    after_ms: Option<u64>,
    regex: Option<Expression>,
    /// Shows all lines; without it only those that match the expression.
    print_all: bool,
    /// Ends after this many lines.
    most: Option<usize>,
    sizes: bool,
    /// An option that has no effect here.
    done: bool,
}

pub async fn logcat(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let options = match parse(call) {
        Ok(options) => options,
        Err(complaint) => {
            call.io.stderr.write(format!("logcat: {complaint}\n")).await?;
            return Ok(1);
        }
    };
    if options.clear {
        call.phone.with(|state| state.log.clear(&options.buffers));
        return Ok(0);
    }
    if options.done {
        return Ok(0);
    }
    if options.sizes {
        for buffer in &options.buffers {
            let line = format!(
                "{}: ring buffer is 256 KiB (40 KiB consumed, 190 KiB readable), max entry is 5120 B, max payload is 4068 B\n",
                buffer.name()
            );
            call.io.stdout.write(line).await?;
        }
        return Ok(0);
    }
    let mut watch = call.phone.log_watch();
    let mut printer = Printer { options: &options, begun: Vec::new(), printed: 0 };
    let (text, mut next) = call.phone.with(|state| existing(state, &mut printer));
    call.io.stdout.write(text).await?;
    if options.dump {
        return Ok(0);
    }
    while !printer.is_full() {
        // Events of the future happen only when somebody uses the phone: wake up for the next one.
        let due = call.phone.with(|state| state.surface.next_due());
        tokio::select! {
            biased;
            () = call.io.stdout.closed() => return Err(BrokenPipe),
            changed = watch.changed() => if changed.is_err() { return Ok(0) },
            () = sleep_until(due) => {}
        }
        let text = call.phone.with(|state| {
            let mut out = String::new();
            for entry in state.log.since(next).filter(|e| from_there(e, &options)) {
                printer.print(entry, &mut out);
            }
            next = state.log.next_sequence();
            out
        });
        if !text.is_empty() {
            call.io.stdout.write(text).await?;
        }
    }
    Ok(0)
}

async fn sleep_until(due: Option<tokio::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Returns true for entries that the log daemon sends; tags and expressions are filtered by the reader.
fn from_there(entry: &Entry, options: &Options) -> bool {
    options.buffers.contains(&entry.buffer) && options.pid.is_none_or(|pid| pid == entry.pid)
}

/// Prints entries that pass the filter, each buffer's first one after a headline.
struct Printer<'a> {
    options: &'a Options,
    begun: Vec<Buffer>,
    printed: usize,
}

impl Printer<'_> {
    fn is_full(&self) -> bool {
        self.options.most.is_some_and(|most| self.printed >= most)
    }

    fn print(&mut self, entry: &Entry, out: &mut String) {
        if self.is_full() || !self.options.filter.allows(entry) {
            return;
        }
        let fits =
            self.options.regex.as_ref().is_none_or(|e| entry.message.lines().any(|line| e.is_in(line)));
        if !fits && !self.options.print_all {
            return;
        }
        if !self.begun.contains(&entry.buffer) {
            self.begun.push(entry.buffer);
            out.push_str(&format!("--------- beginning of {}\n", entry.buffer.name()));
        }
        self.options.format.print(entry, out);
        self.printed += usize::from(fits);
    }
}

/// Returns the existing entries as text, and the sequence number to continue from.
fn existing(state: &State, printer: &mut Printer<'_>) -> (String, u64) {
    let options = printer.options;
    let after = |e: &&Entry| options.after_ms.is_none_or(|ms| e.wall_ms >= ms);
    let entries: Vec<&Entry> = state.log.since(0).filter(|e| from_there(e, options)).filter(after).collect();
    // -t counts before the filter by tag: a filtered tail is shorter than its number.
    let skip = entries.len().saturating_sub(options.last.unwrap_or(usize::MAX));
    let mut out = String::new();
    for entry in &entries[skip..] {
        printer.print(entry, &mut out);
    }
    (out, state.log.next_sequence())
}

impl Options {
    fn new() -> Options {
        Options {
            format: Format::DEFAULT,
            filter: Filter::default(),
            buffers: Vec::new(),
            pid: None,
            dump: false,
            clear: false,
            last: None,
            after_ms: None,
            regex: None,
            print_all: false,
            most: None,
            sizes: false,
            done: false,
        }
    }
}

fn parse(call: &Call<'_>) -> Result<Options, String> {
    let mut options = Options::new();
    let mut filters = 0;
    let mut words = call.arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        // `-vtime`, `-v time`, `--pid=1` and `--pid 1` are all the same to getopt.
        let (name, attached) = split_option(word);
        let mut value = || {
            attached.or_else(|| words.next()).ok_or_else(|| format!("option requires an argument -- {name}"))
        };
        match name {
            "-d" | "--dump" => options.dump = true,
            "-c" | "--clear" => options.clear = true,
            "-g" | "--buffer-size" if attached.is_none() => options.sizes = true,
            "-G" | "--buffer-size" | "-P" | "--prune" => {
                value()?;
                options.done = true;
            }
            "-p" | "-S" | "--statistics" => options.done = true,
            "-D" | "--dividers" | "-L" | "--last" | "--wrap" => {}
            "--print" => options.print_all = true,
            "--uid" | "-f" | "--file" | "-r" | "-n" | "--id" => {
                value()?;
            }
            "-v" | "--format" => add_format(&mut options.format, value()?)?,
            "-b" | "--buffer" => add_buffers(&mut options.buffers, value()?)?,
            "--pid" => options.pid = Some(value()?.parse().map_err(|_| "pid out of range".to_owned())?),
            "-s" => {
                options.filter.add("*:S");
            }
            "-t" | "-T" => {
                options.dump |= name == "-t";
                add_tail(&mut options, value()?, call)?;
            }
            "-e" | "--regex" => {
                let pattern = value()?;
                let parsed = Expression::parse(pattern, Dialect::Extended, false);
                options.regex = Some(parsed.ok_or_else(|| format!("Invalid regex '{pattern}'"))?);
            }
            "-m" | "--max-count" => {
                let count = value()?.parse::<usize>().ok().filter(|count| *count > 0);
                options.most = Some(count.ok_or_else(|| "-m must be at least 1".to_owned())?);
            }
            name if name.starts_with('-') => return Err(format!("unrecognized option '{name}'")),
            filter => {
                filters += 1;
                if !options.filter.add(filter) {
                    return Err(format!("Invalid filter expression '{filter}'"));
                }
            }
        }
    }
    if filters == 0 {
        let tags = call.variables.get("ANDROID_LOG_TAGS").map_or("", |tags| tags.trim_matches('\''));
        for filter in tags.split_ascii_whitespace() {
            options.filter.add(filter);
        }
    }
    if options.buffers.is_empty() {
        options.buffers = Buffer::DEFAULT.to_vec();
    }
    Ok(options)
}

fn split_option(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
    }
    match word.char_indices().nth(2) {
        Some((at, _))
            if word.starts_with('-') && word.chars().nth(1).is_some_and(|c| "vbtTemGPfrn".contains(c)) =>
        {
            (&word[..at], Some(&word[at..]))
        }
        _ => (word, None),
    }
}

fn add_format(format: &mut Format, words: &str) -> Result<(), String> {
    for word in words.split([',', ' ']).filter(|w| !w.is_empty()) {
        if !format.add(word) {
            return Err(format!("Invalid parameter \"{word}\" to -v"));
        }
    }
    Ok(())
}

fn add_buffers(buffers: &mut Vec<Buffer>, names: &str) -> Result<(), String> {
    for name in names.split(',') {
        match name {
            "all" => buffers.extend(Buffer::ALL),
            "default" => buffers.extend(Buffer::DEFAULT),
            name => match Buffer::parse(name) {
                Some(buffer) => buffers.push(buffer),
                None if name == "kernel" || name == "security" || name == "stats" => {}
                None => return Err(format!("unknown buffer '{name}'")),
            },
        }
    }
    buffers.sort();
    buffers.dedup();
    Ok(())
}

/// Parses a count, or a time as `MM-DD hh:mm:ss.mmm`, `YYYY-MM-DD hh:mm:ss.mmm` or seconds since the epoch.
fn add_tail(options: &mut Options, word: &str, call: &Call<'_>) -> Result<(), String> {
    if let Ok(count) = word.parse::<usize>() {
        options.last = Some(count.max(1));
        return Ok(());
    }
    let year = call.phone.with(|state| Civil::from_ms(state.clock.wall_ms(state.now)).year);
    options.after_ms =
        Some(parse_time(word, year).ok_or_else(|| format!("-t \"{word}\" not in time format"))?);
    Ok(())
}

fn parse_time(word: &str, this_year: i64) -> Option<u64> {
    if !word.contains(['-', ':']) {
        let (seconds, fraction) = word.split_once('.')?;
        return seconds.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(millis(fraction)?);
    }
    let (date, time) = word.split_once(' ')?;
    let dates: Vec<u32> = date.split('-').map(|p| p.parse().ok()).collect::<Option<_>>()?;
    let (year, month, day) = match dates.as_slice() {
        [month, day] => (this_year, *month, *day),
        [year, month, day] => (i64::from(*year), *month, *day),
        _ => return None,
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let parts: Vec<u32> = clock.split(':').map(|p| p.parse().ok()).collect::<Option<_>>()?;
    let [hour, minute, second] = parts[..] else { return None };
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
        || year > 9999
    {
        return None;
    }
    let milli = millis(fraction)? as u32;
    Some(Civil { year, month, day, hour, minute, second, milli }.to_ms())
}

/// Parses the first three digits of a fraction of a second.
fn millis(fraction: &str) -> Option<u64> {
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
    padded.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_clients_send() {
        let full = parse_time("2026-03-02 09:00:01.250", 1999);
        assert_eq!(full, Some(1_772_442_001_250));
        assert_eq!(parse_time("03-02 09:00:01.250", 2026), full);
        assert_eq!(parse_time("1772442001.25", 2026), full);
        assert_eq!(parse_time("13-40 99:00:00.0", 2026), None);
        assert_eq!(parse_time("x", 2026), None);
    }

    #[test]
    fn options_attach_their_values_or_not() {
        assert_eq!(split_option("-vtime"), ("-v", Some("time")));
        assert_eq!(split_option("--pid=7"), ("--pid", Some("7")));
        assert_eq!(split_option("-d"), ("-d", None));
        assert_eq!(split_option("*:S"), ("*:S", None));
        assert_eq!(split_option("-é"), ("-é", None));
    }
}
