//! Programs that print and filter text.

use super::super::io::BrokenPipe;
use super::{Call, ProgramOutput, files};

pub fn echo(call: &Call<'_>) -> ProgramOutput {
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
    ProgramOutput::out(text)
}

pub fn unescape(text: &str) -> String {
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
            Some('a') => out.push('\u{7}'),
            Some('e') => out.push('\u{1b}'),
            Some('0') => out.push('\0'),
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

/// Runs `printf` with `%s %d %x %%` and escapes. The format repeats while arguments are left.
pub fn printf(call: &Call<'_>) -> ProgramOutput {
    const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
    let words = call.words();
    let Some((format, mut arguments)) = words.split_first() else {
        return ProgramOutput::fail(1, "printf: Needs 1 argument\n");
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
            let mut shape = String::new();
            let kind = loop {
                match chars.next() {
                    Some(c) if c.is_ascii_digit() || "-.+ #".contains(c) => shape.push(c),
                    other => break other,
                }
            };
            if kind == Some('%') {
                out.push('%');
                continue;
            }
            let argument = arguments.first().copied().unwrap_or("");
            arguments = arguments.get(1..).unwrap_or(&[]);
            out.push_str(&formatted(kind, &shape, argument));
        }
        if arguments.is_empty() || arguments.len() == before || out.len() > OUTPUT_BYTES_MAX {
            return ProgramOutput::out(out);
        }
    }
}

/// One conversion of `printf`, with its width and precision.
fn formatted(kind: Option<char>, shape: &str, argument: &str) -> String {
    const WIDTH_MAX: usize = 4096;
    let number = || integer(argument.trim());
    let (width, precision) =
        shape.split_once('.').map_or((shape, None), |(w, p)| (w, p.parse::<usize>().ok()));
    let digits = width.trim_start_matches(['-', '+', ' ', '#']);
    let text = match kind {
        Some('d' | 'i' | 'u') if width.starts_with('+') && number() >= 0 => format!("+{}", number()),
        Some('d' | 'i' | 'u') => number().to_string(),
        Some('x') => format!("{:x}", number()),
        Some('X') => format!("{:X}", number()),
        Some('o') => format!("{:o}", number()),
        Some('c') => argument.chars().take(1).collect(),
        Some('f') => {
            format!(
                "{:.*}",
                precision.unwrap_or(6).min(WIDTH_MAX),
                argument.trim().parse::<f64>().unwrap_or(0.0)
            )
        }
        Some('b') => unescape(argument),
        _ => argument.chars().take(precision.unwrap_or(usize::MAX)).collect(),
    };
    let least = digits.parse::<usize>().unwrap_or(0).min(WIDTH_MAX);
    let missing = least.saturating_sub(text.chars().count());
    if width.starts_with('-') {
        return text + &" ".repeat(missing);
    }
    if digits.starts_with('0') && matches!(kind, Some('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'f')) {
        let (sign, rest) = text.split_at(usize::from(text.starts_with(['-', '+'])));
        return format!("{sign}{}{rest}", "0".repeat(missing));
    }
    " ".repeat(missing) + &text
}

/// Parses a number: decimal, `0x` hexadecimal or `0` octal.
fn integer(word: &str) -> i64 {
    match (word.strip_prefix("0x"), word.strip_prefix('0')) {
        (Some(hex), _) => i64::from_str_radix(hex, 16).unwrap_or(0),
        (None, Some(octal)) if !octal.is_empty() => i64::from_str_radix(octal, 8).unwrap_or(0),
        _ => word.parse().unwrap_or(0),
    }
}

/// Reads the named files, or the standard input.
pub async fn gather(call: &Call<'_>, paths: &[&str]) -> Result<Result<Vec<u8>, ()>, BrokenPipe> {
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

pub async fn head_or_tail(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let mut count = 10usize;
    let mut bytes = false;
    // `tail -n +3`: from the third line on.
    let mut skip = false;
    let mut paths = Vec::new();
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("n" | "c") => {
                bytes = word == "-c";
                let word = words.next().map_or("", String::as_str);
                skip = word.starts_with('+');
                count = word.trim_start_matches(['-', '+']).parse().unwrap_or(count);
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
    if skip && !from_start && !bytes {
        let lines: Vec<&[u8]> = data.split_inclusive(|b| *b == b'\n').collect();
        call.io.stdout.write(lines[count.saturating_sub(1).min(lines.len())..].concat()).await?;
        return Ok(0);
    }
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

pub async fn wc(call: &Call<'_>) -> Result<u8, BrokenPipe> {
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
