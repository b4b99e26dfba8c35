//! Filters that need all their input before they print.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};
use md5::{Digest, Md5};
use sha1::Sha1;

use super::super::io::BrokenPipe;
use super::Call;
use super::expression::class_ranges;
use super::text::{gather, unescape};

pub async fn filter(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (values, plain) = options(call);
    let files: &[&str] = match call.name {
        "tr" => &[],
        "uniq" => &plain[..plain.len().min(1)],
        _ => &plain,
    };
    let Ok(data) = gather(call, files).await? else { return Ok(1) };
    let text = String::from_utf8_lossy(&data);
    let out = match call.name {
        "sort" => sort(&text, &values),
        "uniq" => uniq(&text, &values),
        "cut" => match cut(&text, &values) {
            Some(out) => out,
            None => {
                call.io.stderr.write("cut: needs -[bcfCDFO]\n").await?;
                return Ok(1);
            }
        },
        "tr" => translate(&text, &values, &plain),
        "rev" => text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect(),
        "tac" => text.lines().rev().map(|line| format!("{line}\n")).collect(),
        "nl" => text.lines().enumerate().map(|(n, line)| format!("{:6}\t{line}\n", n + 1)).collect(),
        "xxd" => hex(&data, &values),
        _ => text.into_owned(),
    };
    call.io.stdout.write(out).await?;
    Ok(0)
}

/// Returns the option letters with their values, and the other words.
type Values<'a> = Vec<(char, &'a str)>;

fn options<'a>(call: &'a Call<'_>) -> (Values<'a>, Vec<&'a str>) {
    let with_value = match call.name {
        "sort" => "kt",
        "cut" => "dfcb",
        "xxd" => "clg",
        _ => "",
    };
    let (mut values, mut plain) = (Vec::new(), Vec::new());
    let mut words = call.arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix('-').filter(|l| !l.is_empty()) else {
            plain.push(word);
            continue;
        };
        for (at, letter) in letters.char_indices() {
            if with_value.contains(letter) {
                let attached = &letters[at + letter.len_utf8()..];
                let value = if attached.is_empty() { words.next().unwrap_or("") } else { attached };
                values.push((letter, value));
                break;
            }
            values.push((letter, ""));
        }
    }
    (values, plain)
}

fn has(values: &Values<'_>, letter: char) -> bool {
    values.iter().any(|(known, _)| *known == letter)
}

fn value<'a>(values: &Values<'a>, letter: char) -> Option<&'a str> {
    values.iter().find(|(known, _)| *known == letter).map(|(_, value)| *value)
}

fn sort(text: &str, values: &Values<'_>) -> String {
    let key = value(values, 'k').unwrap_or("");
    let field = key.split([',', 'n', 'r']).next().and_then(|k| k.parse::<usize>().ok());
    let numeric = has(values, 'n') || key.contains('n');
    let mark = value(values, 't').and_then(|t| t.chars().next());
    let part = |line: &str| -> String {
        let chosen = match (field, mark) {
            (None, _) => Some(line),
            (Some(n), Some(mark)) => line.split(mark).nth(n.saturating_sub(1)),
            (Some(n), None) => line.split_ascii_whitespace().nth(n.saturating_sub(1)),
        };
        let chosen = chosen.unwrap_or("");
        if has(values, 'f') { chosen.to_lowercase() } else { chosen.to_owned() }
    };
    let number = |text: &str| -> f64 {
        let trimmed = text.trim_start();
        let end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(trimmed.len());
        trimmed[..end].parse().unwrap_or(0.0)
    };
    let mut lines: Vec<(String, &str)> = text.lines().map(|line| (part(line), line)).collect();
    lines.sort_by(|(a, x), (b, y)| {
        let by_key = if numeric { number(a).total_cmp(&number(b)) } else { a.cmp(b) };
        by_key.then_with(|| x.cmp(y))
    });
    if has(values, 'u') {
        lines.dedup_by(
            |(a, _), (b, _)| if numeric { number(a).total_cmp(&number(b)).is_eq() } else { a == b },
        );
    }
    if has(values, 'r') || key.contains('r') {
        lines.reverse();
    }
    lines.iter().map(|(_, line)| format!("{line}\n")).collect()
}

fn uniq(text: &str, values: &Values<'_>) -> String {
    let mut runs: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        match runs.last_mut() {
            Some((count, last)) if *last == line => *count += 1,
            _ => runs.push((1, line)),
        }
    }
    let wanted = |count: usize| !(has(values, 'd') && count < 2 || has(values, 'u') && count > 1);
    let show = |(count, line): &(usize, &str)| {
        if has(values, 'c') { format!("{count:7} {line}\n") } else { format!("{line}\n") }
    };
    runs.iter().filter(|(count, _)| wanted(*count)).map(show).collect()
}

/// Parses ranges such as `1,3-5`, counted from one.
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    list.split(',')
        .map(|part| match part.split_once('-') {
            Some(("", to)) => Some((1, to.parse().ok()?)),
            Some((from, "")) => Some((from.parse().ok()?, usize::MAX)),
            Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
            None => part.parse().ok().map(|n| (n, n)),
        })
        .collect()
}

fn cut(text: &str, values: &Values<'_>) -> Option<String> {
    let within = |list: &[(usize, usize)], n: usize| list.iter().any(|(from, to)| (*from..=*to).contains(&n));
    if let Some(list) = value(values, 'c').or(value(values, 'b')) {
        let list = ranges(list)?;
        let line = |line: &str| {
            let kept = line.chars().enumerate().filter(|(n, _)| within(&list, n + 1)).map(|(_, c)| c);
            kept.collect::<String>() + "\n"
        };
        return Some(text.lines().map(line).collect());
    }
    let list = ranges(value(values, 'f')?)?;
    let mark = value(values, 'd').and_then(|d| d.chars().next()).unwrap_or('\t');
    let mut out = String::new();
    for line in text.lines() {
        if !line.contains(mark) {
            if !has(values, 's') {
                out.push_str(&format!("{line}\n"));
            }
            continue;
        }
        let kept: Vec<&str> = line
            .split(mark)
            .enumerate()
            .filter(|(n, _)| within(&list, n + 1))
            .map(|(_, part)| part)
            .collect();
        out.push_str(&format!("{}\n", kept.join(&mark.to_string())));
    }
    Some(out)
}

/// Expands `a-z`, `[:upper:]` and `\n` to the characters that they stand for.
fn set(text: &str) -> Vec<char> {
    const CHARS_MAX: usize = 4096;
    let unescaped = unescape(text);
    if let Some(found) =
        unescaped.strip_prefix("[:").and_then(|rest| rest.strip_suffix(":]")).and_then(class_ranges)
    {
        return found.into_iter().flat_map(|(from, to)| from..=to).collect();
    }
    let chars: Vec<char> = unescaped.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(to)) if to >= c => {
                out.extend((*c..=*to).take(CHARS_MAX));
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    out
}

fn translate(text: &str, values: &Values<'_>, plain: &[&str]) -> String {
    let first = set(plain.first().copied().unwrap_or(""));
    let second = set(plain.get(1).copied().unwrap_or(""));
    let complement = has(values, 'c') || has(values, 'C');
    let position = |c: char| {
        let at = first.iter().position(|known| *known == c);
        if complement { at.is_none().then_some(usize::MAX) } else { at }
    };
    let (delete, squeeze) = (has(values, 'd'), has(values, 's'));
    let squeezed = if second.is_empty() || delete { &first } else { &second };
    let mut out = String::new();
    for c in text.chars() {
        let changed = match position(c) {
            Some(_) if delete => continue,
            Some(at) if !second.is_empty() => second.get(at).or(second.last()).copied().unwrap_or(c),
            _ => c,
        };
        if squeeze
            && out.ends_with(changed)
            && (squeezed.contains(&changed) != (complement && second.is_empty()))
        {
            continue;
        }
        out.push(changed);
    }
    out
}

fn hex(data: &[u8], values: &Values<'_>) -> String {
    const ROW_BYTES: usize = 16;
    const PLAIN_ROW_BYTES: usize = 30;
    if has(values, 'p') {
        let line = |row: &[u8]| row.iter().map(|b| format!("{b:02x}")).collect::<String>() + "\n";
        return data.chunks(PLAIN_ROW_BYTES).map(line).collect();
    }
    let mut out = String::new();
    for (row, bytes) in data.chunks(ROW_BYTES).enumerate() {
        let pairs: Vec<String> =
            bytes.chunks(2).map(|pair| pair.iter().map(|b| format!("{b:02x}")).collect()).collect();
        let shown: String =
            bytes.iter().map(|b| if (b' '..=b'~').contains(b) { char::from(*b) } else { '.' }).collect();
        out.push_str(&format!("{:08x}: {:<39}  {shown}\n", row * ROW_BYTES, pairs.join(" ")));
    }
    out
}

/// Runs `md5sum`, `sha1sum` and `base64`, which work on bytes.
pub async fn bytes(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (flags, plain) = call.options();
    let mut words: Vec<&str> = plain;
    if call.name == "base64" {
        let wrap = flags.contains('w').then(|| words.first().and_then(|w| w.parse::<usize>().ok())).flatten();
        if wrap.is_some() {
            words.remove(0);
        }
        let Ok(data) = gather(call, &words).await? else { return Ok(1) };
        let out =
            if flags.contains('d') { decode(&data) } else { encode(&data, wrap.unwrap_or(76)).into_bytes() };
        call.io.stdout.write(out).await?;
        return Ok(0);
    }
    if words.is_empty() {
        words.push("-");
    }
    let mut code = 0;
    for word in words {
        let Ok(data) = gather(call, &[word]).await? else {
            code = 1;
            continue;
        };
        let sum = if call.name == "sha1sum" { digest::<Sha1>(&data) } else { digest::<Md5>(&data) };
        let line = if flags.contains('b') { format!("{sum}\n") } else { format!("{sum}  {word}\n") };
        call.io.stdout.write(line).await?;
    }
    Ok(code)
}

fn digest<D: Digest>(data: &[u8]) -> String {
    D::digest(data).iter().map(|b| format!("{b:02x}")).collect()
}

fn encode(data: &[u8], wrap: usize) -> String {
    let whole = STANDARD.encode(data);
    let width = if wrap == 0 { whole.len() } else { wrap };
    let mut out = String::with_capacity(whole.len() + whole.len() / width.max(1) + 1);
    let mut rest = whole.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(width.min(rest.len()));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out
}

/// Skips characters that are not of the alphabet, padding among them.
fn decode(data: &[u8]) -> Vec<u8> {
    let lenient =
        GeneralPurpose::new(&base64::alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let known = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let mut text: Vec<u8> = data.iter().copied().filter(known).collect();
    // The first character of a group alone makes no byte.
    text.truncate(text.len() - usize::from(text.len() % 4 == 1));
    lenient.decode(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_the_known_ones() {
        assert_eq!(digest::<Md5>(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(digest::<Md5>(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(digest::<Md5>(&[b'a'; 200]), "887f30b43b2867f4a9accceee7d16e6c");
        assert_eq!(digest::<Sha1>(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }

    #[test]
    fn base64_is_wrapped_and_read_leniently() {
        assert_eq!(encode(b"hello!", 4), "aGVs\nbG8h\n");
        assert_eq!(encode(b"hello", 0), "aGVsbG8=\n");
        assert_eq!(decode(b"aG\nVs bG8=\n"), b"hello");
        assert_eq!(decode(b"aGVsb"), b"hel");
    }
}
