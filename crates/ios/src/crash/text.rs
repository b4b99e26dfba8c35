//! `.crash`: a report as text.

use mdm_core::port::{CrashKind, CrashReport, NOT_RESPONDING, Thrown};

use super::{IMAGES_MAX, WATCHDOG, is_own_image};

/// Binaries whose folders are looked at.
const LISTED_MAX: usize = 2000;

pub fn read(text: &str) -> Option<CrashReport> {
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let exception = value("Exception Type");
    let (process, pid) = value("Process")?.rsplit_once(" [")?;
    let crashed =
        text.lines().position(|line| line.starts_with("Thread ") && line.trim_end().ends_with(" Crashed:"));
    if exception.is_none() && crashed.is_none() {
        return None;
    }
    let own = own_images(text);
    let is_own = |image: &str| image == process || own.iter().any(|(name, _)| *name == image);
    let kind = match () {
        () if text.contains(WATCHDOG) => CrashKind::NotResponding,
        () if text.contains("\nLast Exception Backtrace:") => CrashKind::Exception,
        () => CrashKind::Native,
    };
    let name = if kind == CrashKind::NotResponding { NOT_RESPONDING } else { exception.unwrap_or("crash") };
    let said = after(text, "Application Specific Information:");
    let message =
        said.or(value("Exception Subtype")).or(value("Exception Note")).or(value("Termination Reason"));
    let mut thrown = Thrown::new(name, message.unwrap_or_default());
    let thrown_at = after_all(text, "Last Exception Backtrace:");
    let frames = crashed.map(|at| text.lines().skip(at + 1));
    for line in thrown_at.into_iter().flatten().chain(frames.into_iter().flatten().map_while(frame)) {
        thrown.push_frame(&one_blank(line), is_own(image_of(line)));
    }
    Some(CrashReport {
        app: value("Identifier").unwrap_or(process).to_owned(),
        pid: pid.trim_end_matches(']').parse().ok()?,
        kind,
        thread: crashed.and_then(|at| thread_name(text, at)),
        thrown: vec![thrown],
        time_ms: None,
        age_ms: None,
        images: own.iter().map(|(name, build)| ((*name).to_owned(), (*build).to_owned())).collect(),
    })
}

/// `2   iOSCrashingTest   0x0000000104e12418 0x104e0c000 + 25624`, without the number.
fn frame(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

/// Names of binaries may have blanks; the address that follows may not.
fn image_of(frame: &str) -> &str {
    frame.find("0x").map_or(frame, |at| &frame[..at]).trim_end()
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Thread 0 name:  Dispatch queue: com.apple.main-thread` stands before `Thread 0 Crashed:`.
fn thread_name(text: &str, crashed: usize) -> Option<String> {
    let number = text.lines().nth(crashed)?.strip_prefix("Thread ")?.split(' ').next()?;
    let start = format!("Thread {number} name:");
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix(&start))
        .map(str::trim)
        .filter(|name| !name.is_empty());
    Some(name.map_or_else(|| number.to_owned(), |name| format!("{number} ({name})")))
}

/// The first line below a heading.
fn after<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    text.lines()
        .skip_while(|line| !line.starts_with(heading))
        .nth(1)
        .map(str::trim)
        .filter(|line| !line.is_empty())
}

/// The frames below a heading.
fn after_all<'a>(text: &'a str, heading: &'a str) -> Option<impl Iterator<Item = &'a str>> {
    let below = text.lines().skip_while(move |line| !line.starts_with(heading)).skip(1);
    text.contains(heading).then(|| below.map_while(frame))
}

/// `0x104e0c000 - 0x104e13fff iOSCrashingTest arm64  <82d1…> /private/var/…/iOSCrashingTest`: the name and the build.
fn own_images(text: &str) -> Vec<(&str, &str)> {
    let listed = text.lines().skip_while(|line| !line.starts_with("Binary Images:")).skip(1);
    fn named(line: &str) -> Option<(&str, &str)> {
        let at = line.rfind("> /")?;
        let path = &line[at + 2..];
        let build = line[..at].rsplit('<').next()?;
        is_own_image(path).then(|| Some((path.rsplit('/').next()?, build)))?
    }
    listed.take(LISTED_MAX).filter_map(named).take(IMAGES_MAX).collect()
}
