//! Programs that print and filter text.

use super::super::io::Broken;
use super::{Answer, Call, files};

pub fn echo(call: &Call<'_>) -> Answer {
    let mut words = call.words();
    let mut newline = true;
    let mut escapes = false;
    while let Some(flag) = words.first().copied().filter(|w| matches!(*w, "-n" | "-e" | "-ne" | "-en")) {
        newline &= !flag.contains('n');
        escapes |= flag.contains('e');
        words.remove(0);
    }
    let mut text = words.join(" ");
    if escapes {
        text = unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    Answer::out(text)
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

/// `%s %d %x %%` and escapes; the format repeats while arguments are left.
pub fn printf(call: &Call<'_>) -> Answer {
    const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
    let words = call.words();
    let Some((format, mut arguments)) = words.split_first() else {
        return Answer::fail(1, "printf: Needs 1 argument\n");
    };
    let format = unescape(format);
    let mut out = String::new();
    loop {
        let before = arguments.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let kind = chars.by_ref().find(|c| !c.is_ascii_digit() && !"-.+ ".contains(*c));
            if kind == Some('%') {
                out.push('%');
                continue;
            }
            let argument = arguments.first().copied().unwrap_or("");
            arguments = arguments.get(1..).unwrap_or(&[]);
            match kind {
                Some('d' | 'i' | 'u') => {
                    out.push_str(&argument.trim().parse::<i64>().unwrap_or(0).to_string())
                }
                Some('x') => out.push_str(&format!("{:x}", argument.trim().parse::<i64>().unwrap_or(0))),
                Some('b') => out.push_str(&unescape(argument)),
                _ => out.push_str(argument),
            }
        }
        if arguments.is_empty() || arguments.len() == before || out.len() > OUTPUT_BYTES_MAX {
            return Answer::out(out);
        }
    }
}

/// The contents of the named files, or of the standard input.
async fn gather(call: &Call<'_>, paths: &[&str]) -> Result<Result<Vec<u8>, ()>, Broken> {
    if paths.is_empty() || paths == ["-"] {
        return Ok(Ok(call.io.stdin.read_all().await.to_vec()));
    }
    let mut all = Vec::new();
    for path in paths {
        match call.phone.with(|state| files::read(state, call, path)) {
            Ok(data) => all.extend_from_slice(&data),
            Err(error) => {
                call.io.stderr.write(format!("{}: {path}: {}\n", call.name, error.text())).await?;
                return Ok(Err(()));
            }
        }
    }
    Ok(Ok(all))
}

pub async fn head_or_tail(call: &Call<'_>) -> Result<u8, Broken> {
    let mut count = 10usize;
    let mut bytes = false;
    let mut paths = Vec::new();
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("n" | "c") => {
                bytes = word == "-c";
                count =
                    words.next().and_then(|w| w.trim_start_matches(['-', '+']).parse().ok()).unwrap_or(count);
            }
            Some(rest) if !rest.is_empty() => {
                bytes = rest.starts_with('c');
                count = rest.trim_start_matches(['n', 'c']).parse().unwrap_or(count);
            }
            _ => paths.push(word.as_str()),
        }
    }
    if call.name == "head" && paths.is_empty() && !bytes {
        // Line by line, so that it ends while the other side still writes.
        for _ in 0..count {
            let Some(line) = call.io.stdin.line().await else { break };
            call.io.stdout.write(line + "\n").await?;
        }
        return Ok(0);
    }
    let Ok(data) = gather(call, &paths).await? else { return Ok(1) };
    let from_start = call.name == "head";
    let part: Vec<u8> = if bytes {
        let cut = if from_start { count.min(data.len()) } else { data.len().saturating_sub(count) };
        if from_start { data[..cut].to_vec() } else { data[cut..].to_vec() }
    } else {
        let lines: Vec<&[u8]> = data.split_inclusive(|b| *b == b'\n').collect();
        let cut = if from_start { count.min(lines.len()) } else { lines.len().saturating_sub(count) };
        if from_start { lines[..cut].concat() } else { lines[cut..].concat() }
    };
    call.io.stdout.write(part).await?;
    Ok(0)
}

pub async fn wc(call: &Call<'_>) -> Result<u8, Broken> {
    let (flags, paths) = call.options();
    let Ok(data) = gather(call, &paths).await? else { return Ok(1) };
    let lines = data.iter().filter(|b| **b == b'\n').count();
    let words = String::from_utf8_lossy(&data).split_ascii_whitespace().count();
    let all = [('l', lines), ('w', words), ('c', data.len())];
    let shown: Vec<String> = all
        .iter()
        .filter(|(f, _)| flags.is_empty() || flags.contains(*f))
        .map(|(_, n)| n.to_string())
        .collect();
    let name = paths.first().map_or(String::new(), |p| format!(" {p}"));
    call.io.stdout.write(format!("{}{name}\n", shown.join(" "))).await?;
    Ok(0)
}

/// Filters that need all their input before they print.
pub async fn whole(call: &Call<'_>) -> Result<u8, Broken> {
    let (flags, paths) = call.options();
    let files: &[&str] = if call.name == "tr" { &[] } else { &paths };
    let Ok(data) = gather(call, files).await? else { return Ok(1) };
    let text = || String::from_utf8_lossy(&data).into_owned();
    let out = match call.name {
        "sort" => {
            let all = text();
            let mut lines: Vec<&str> = all.lines().collect();
            lines.sort_unstable();
            if flags.contains('u') {
                lines.dedup();
            }
            if flags.contains('r') {
                lines.reverse();
            }
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
        "tr" if flags.contains('d') => {
            let unwanted = unescape(paths.first().copied().unwrap_or(""));
            text().chars().filter(|c| !unwanted.contains(*c)).collect()
        }
        "tr" => {
            let sets = (
                unescape(paths.first().copied().unwrap_or("")),
                unescape(paths.get(1).copied().unwrap_or("")),
            );
            let to: Vec<char> = sets.1.chars().collect();
            let swap = |c: char| match sets.0.chars().position(|f| f == c) {
                Some(at) => to.get(at).or(to.last()).copied().unwrap_or(c),
                None => c,
            };
            text().chars().map(swap).collect()
        }
        "base64" => base64_lines(&data),
        _ => {
            let name = paths.first().copied().unwrap_or("-");
            format!("{}  {name}\n", crate::md5::hex(&data))
        }
    };
    call.io.stdout.write(out).await?;
    Ok(0)
}

fn base64_lines(data: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const LINE_BYTES: usize = 57;
    let mut out = String::with_capacity(data.len() / 3 * 4 + data.len() / 40 + 8);
    for line in data.chunks(LINE_BYTES) {
        for group in line.chunks(3) {
            let word = group.iter().fold(0u32, |w, b| (w << 8) | u32::from(*b)) << (8 * (3 - group.len()));
            for index in 0..4 {
                let six = (word >> (18 - 6 * index)) & 63;
                out.push(if index <= group.len() { char::from(ALPHABET[six as usize]) } else { '=' });
            }
        }
        out.push('\n');
    }
    out
}
