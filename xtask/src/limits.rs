//! docs/limits.md: the limits of the product, read from the constants in its code, so that the page cannot be stale.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, Lit, Meta};

use crate::tidy::files;

pub const PAGE: &str = "docs/limits.md";
/// The crates of the product, in the order of the page.
const CRATES: [&str; 8] = ["server", "engine", "core", "android", "ios", "wire", "proxy", "build"];

const HEAD: &str = "# Limits

Every loop, queue, buffer, file and reply of the product has a limit. This page is written by `cargo xtask docs` from the
constants in the code, with the words that stand above each of them there; where they name no other end, what is above the
limit is left out or not read. Sizes are in bytes where a name says BYTES; KiB is 1024 of them.

It lists every constant whose name says MAX or LIMIT, the time after which a call of each tool ends in any case (TIMEOUT), and
those waits, times of grace and queues (TIMEOUT, WAIT, GRACE, QUEUE) that have words of their own. Pauses, and times that
only order what happens, are no limits and are not here.
";
/// Parts of names that a limit has to have words for.
const LIMITS: [&str; 2] = ["MAX", "LIMIT"];
/// Parts of names that are limits too, and are listed if they have words.
const TIMES: [&str; 4] = ["TIMEOUT", "WAIT", "GRACE", "QUEUE"];
/// The constants of a tool that name it and end its calls.
const TOOL_NAME: &str = "NAME";
const TOOL_TIMEOUT: &str = "TIMEOUT";

/// A constant that bounds something.
struct Limit {
    name: String,
    value: String,
    unit: &'static str,
    file: String,
    words: String,
}

/// The page.
pub fn page(root: &Path) -> Result<String, String> {
    let mut page = HEAD.to_owned();
    for name in CRATES {
        let limits = limits_of(root, name)?;
        let _ =
            write!(page, "\n## {name}\n\n| what | value | unit | name | file |\n|---|---:|---|---|---|\n");
        for limit in limits {
            let Limit { name, value, unit, file, words } = limit;
            let _ = writeln!(page, "| {words} | {value} | {unit} | `{name}` | {file} |");
        }
    }
    Ok(page)
}

/// Limits that say nothing of what they bound.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    for name in CRATES {
        let silent = limits_of(root, name)?.into_iter().filter(|limit| limit.words.is_empty());
        breaches.extend(silent.map(|limit| {
            format!(
                "crates/{name}/src/{}: {} has no comment that says what it bounds",
                limit.file, limit.name
            )
        }));
    }
    Ok(breaches)
}

fn limits_of(root: &Path, name: &str) -> Result<Vec<Limit>, String> {
    let folder = format!("crates/{name}/src");
    let mut all = Vec::new();
    for path in files(root, &folder, ".rs")? {
        let text =
            std::fs::read_to_string(root.join(&path)).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = path.to_string_lossy().replace('\\', "/");
        if file.ends_with("/tests.rs") || file.contains("/tests/") {
            continue;
        }
        let file = file.strip_prefix(&format!("{folder}/")).unwrap_or(&file).to_owned();
        all.extend(limits_in(&text, &file)?);
    }
    Ok(all)
}

fn limits_in(text: &str, file: &str) -> Result<Vec<Limit>, String> {
    let parsed = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
    let mut found = Found::default();
    found.visit_file(&parsed);
    let mut values = BTreeMap::new();
    for constant in &found.all {
        // The first one: a tool's TIMEOUT may be the TIMEOUT above it.
        values.entry(constant.name.as_str()).or_insert(constant.value);
    }
    let is_limit = |constant: &&Constant<'_>| is_limit(constant);
    let limits = found.all.iter().filter(is_limit).map(|constant| {
        let (value, unit) = match number(constant.value, &values, 0) {
            Some(value) => shown(&constant.name, value),
            None => ("see the file".to_owned(), ""),
        };
        Limit {
            name: constant.name.clone(),
            value,
            unit,
            file: file.to_owned(),
            words: constant.words.clone(),
        }
    });
    Ok(limits.collect())
}

fn is_limit(constant: &Constant<'_>) -> bool {
    let has = |words: &[&str]| constant.name.split('_').any(|part| words.contains(&part));
    has(&LIMITS) || (has(&TIMES) && !constant.words.is_empty())
}

struct Constant<'a> {
    name: String,
    value: &'a Expr,
    words: String,
}

/// The constants of a file, without those of its tests.
#[derive(Default)]
struct Found<'a> {
    all: Vec<Constant<'a>>,
}

impl<'a> Found<'a> {
    fn add(&mut self, name: &syn::Ident, value: &'a Expr, attributes: &[Attribute]) {
        let words = words(attributes).replace('|', "\\|");
        self.all.push(Constant { name: name.to_string(), value, words });
    }
}

impl<'a> Visit<'a> for Found<'a> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !module.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.add(&item.ident, &item.expr, &item.attrs);
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.add(&item.ident, &item.expr, &item.attrs);
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let before = self.all.len();
        visit::visit_item_impl(self, item);
        let (outer, own) = self.all.split_at_mut(before);
        let name = own.iter().find(|constant| constant.name == TOOL_NAME).map(|constant| constant.value);
        let tool = name.and_then(|name| match name {
            Expr::Path(path) => text(outer.iter().find(|constant| path.path.is_ident(&constant.name))?.value),
            name => text(name),
        });
        let timeout = own.iter_mut().find(|constant| constant.name == TOOL_TIMEOUT);
        if let (Some(tool), Some(timeout)) = (tool, timeout)
            && timeout.words.is_empty()
        {
            timeout.words = format!("A call of {tool}.");
        }
    }
}

fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        }
        _ => false,
    }
}

/// The comment above an item, in one line.
fn words(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => {
            text(&pair.value).map(|line| line.trim().to_owned())
        }
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Plain(f64),
    Seconds(f64),
}

/// References to other constants that are followed.
const FOLLOWED_MAX: u32 = 8;

/// Computes what a constant is, if it is arithmetic.
fn number(expression: &Expr, others: &BTreeMap<&str, &Expr>, followed: u32) -> Option<Value> {
    let plain = |expression: &Expr| match number(expression, others, followed)? {
        Value::Plain(value) => Some(value),
        Value::Seconds(_) => None,
    };
    Some(match expression {
        Expr::Lit(literal) => Value::Plain(match &literal.lit {
            Lit::Int(digits) => digits.base10_parse::<u64>().ok()? as f64,
            Lit::Float(digits) => digits.base10_parse().ok()?,
            _ => return None,
        }),
        Expr::Binary(both) => {
            let (left, right) = (plain(&both.left)?, plain(&both.right)?);
            Value::Plain(match both.op {
                BinOp::Mul(_) => left * right,
                BinOp::Add(_) => left + right,
                BinOp::Sub(_) => left - right,
                BinOp::Div(_) => (left / right).floor(),
                BinOp::Shl(_) => left * right.exp2(),
                _ => return None,
            })
        }
        Expr::Paren(inner) => return number(&inner.expr, others, followed),
        Expr::Cast(inner) => return number(&inner.expr, others, followed),
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else { return None };
            let argument = plain(call.args.first()?)?;
            Value::Seconds(match function.path.segments.last()?.ident.to_string().as_str() {
                "from_secs" => argument,
                "from_millis" => argument / 1000.0,
                "from_mins" => argument * 60.0,
                _ => return None,
            })
        }
        Expr::Path(path) if followed < FOLLOWED_MAX => {
            let name = path.path.segments.last()?.ident.to_string();
            return number(others.get(name.as_str())?, others, followed + 1);
        }
        _ => return None,
    })
}

const KIB: f64 = 1024.0;

/// The value as a person reads it, and its unit by the constant's name.
fn shown(name: &str, value: Value) -> (String, &'static str) {
    let has = |word: &str| name.split('_').any(|part| part == word);
    match value {
        Value::Seconds(seconds) if seconds < 1.0 => (plain(seconds * 1000.0), "ms"),
        Value::Seconds(seconds) => (plain(seconds), "s"),
        Value::Plain(bytes) if has("BYTES") => match bytes {
            _ if bytes >= KIB * KIB && bytes % (KIB * KIB) == 0.0 => (plain(bytes / KIB / KIB), "MiB"),
            _ if bytes >= KIB && bytes % KIB == 0.0 => (plain(bytes / KIB), "KiB"),
            _ => (plain(bytes), "bytes"),
        },
        Value::Plain(value) => {
            let units = [
                ("MS", "ms"),
                ("PX", "pixels"),
                ("CHARS", "characters"),
                ("TOKENS", "tokens"),
                ("PERCENT", "%"),
                ("LINES", "lines"),
            ];
            (plain(value), units.into_iter().find(|(word, _)| has(word)).map_or("", |(_, unit)| unit))
        }
    }
}

/// With a comma between thousands.
fn plain(value: f64) -> String {
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value}") };
    let (whole, rest) = text.find('.').map_or((text.as_str(), ""), |at| text.split_at(at));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        let limits = limits_in(text, "a.rs").unwrap();
        let row = |limit: Limit| format!("{} {} {}: {}", limit.name, limit.value, limit.unit, limit.words);
        limits.into_iter().map(row).collect()
    }

    #[test]
    fn limits_are_read_with_their_values_and_words() {
        let text = "/// Longest line\n/// that is read.\npub const LINE_BYTES_MAX: usize = 64 * 1024;\n\
            const ODD: usize = 3;\n/// Bytes.\nconst ALL_BYTES_MAX: u64 = 10 << 20;\n\
            /// Ends.\nconst WAIT_MAX: Duration = Duration::from_millis(250);\n\
            /// Three.\nconst TRIES_MAX: usize = 2 * ODD;\n\
            impl A {\n /// Inside.\n const TEXT_CHARS_MAX: usize = 12_000;\n}\n\
            #[cfg(test)]\nmod tests { const TEST_MAX: usize = 1; }\n\
            const SILENT_MAX: usize = other();\nconst MAXIMAL: usize = 1;\n";
        assert_eq!(
            rows(text),
            [
                "LINE_BYTES_MAX 64 KiB: Longest line that is read.",
                "ALL_BYTES_MAX 10 MiB: Bytes.",
                "WAIT_MAX 250 ms: Ends.",
                "TRIES_MAX 6 : Three.",
                "TEXT_CHARS_MAX 12,000 characters: Inside.",
                "SILENT_MAX see the file : ",
            ]
        );
    }

    #[test]
    fn the_end_of_a_tools_calls_is_a_limit_and_so_are_waits_with_words() {
        let text = "const CALL: Duration = Duration::from_secs(150);\n/// Connecting.\nconst CONNECT_TIMEOUT: Duration = \
            Duration::from_secs(3);\nconst SILENT_WAIT: Duration = CALL;\n/// Between two looks.\nconst PAUSE: Duration = CALL;\n\
            impl Tool for Tap {\n const NAME: &'static str = \"tap\";\n const TIMEOUT: Duration = CALL;\n}\n\
            impl Other { const TIMEOUT: Duration = CALL; }\n";
        assert_eq!(rows(text), ["CONNECT_TIMEOUT 3 s: Connecting.", "TIMEOUT 150 s: A call of tap."]);
        let same = "const TIMEOUT: Duration = Duration::from_secs(20);\nimpl Tool for Logs {\n \
            const NAME: &'static str = \"logs\";\n const TIMEOUT: Duration = TIMEOUT;\n}\n";
        assert_eq!(rows(same), ["TIMEOUT 20 s: A call of logs."]);
    }

    #[test]
    fn a_limit_without_words_is_a_breach() {
        let tree = crate::tidy::tree::Tree::new("limits");
        tree.write(
            "crates/server/src/a.rs",
            "const A_MAX: usize = 1;\n/// Words.\nconst B_MAX: usize = 1;\n",
        );
        let breaches = check(tree.root()).unwrap();
        assert_eq!(breaches, ["crates/server/src/a.rs: A_MAX has no comment that says what it bounds"]);
        assert!(page(tree.root()).unwrap().contains("| Words. | 1 |  | `B_MAX` | a.rs |"));
    }
}
