//! Word expansion: quoting, variables, command substitution, splitting, globbing.

use std::sync::{Arc, Mutex, PoisonError};

use brush_parser::ParserOptions;
use brush_parser::ast::{
    self, ArithmeticExpr, ArithmeticTarget, BinaryOperator, UnaryAssignmentOperator, UnaryOperator,
};
use brush_parser::word::{
    self, Parameter, ParameterExpr, ParameterTestType, SpecialParameter, WordPiece, WordPieceWithSource,
};

use super::execute::{BoxFuture, Shell};
use super::io::{Io, Output};
use super::options;
pub use super::pattern::wildcard;

/// Fields that one word may become.
const FIELDS_MAX: usize = 10_000;

/// The length that one word may expand to.
const WORD_BYTES_MAX: usize = 1024 * 1024;
/// Longest arithmetic expression: its parser and its evaluation recurse over it.
const ARITHMETIC_BYTES_MAX: usize = 256;
/// Longest value that `${x%y}` trims: it tries every cut.
const TRIMMED_BYTES_MAX: usize = 2048;
const TOO_LONG: &str = "Argument list too long";

/// A part of a word after expansion.
enum Part {
    /// Quoted text, which is taken as it is.
    Quoted(String),
    /// Unquoted text of the script, which is not split; its wildcards count.
    Literal(String),
    /// An unquoted expansion, which is split at spaces; its wildcards count.
    Expanded(String),
    /// The boundary between fields of `"$@"`.
    Break,
}

impl Part {
    fn bytes(&self) -> usize {
        match self {
            Part::Quoted(text) | Part::Literal(text) | Part::Expanded(text) => text.len(),
            Part::Break => 0,
        }
    }
}

impl Shell {
    /// Expands one word to any number of fields.
    pub fn fields<'a>(&'a mut self, text: &'a str, io: &'a Io) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async move {
            let parts = self.parts_of(text, io).await?;
            let marks = self.variables.get("IFS").cloned();
            let mut fields = Vec::new();
            for field in split(parts, marks.as_deref().unwrap_or(" \t\n")) {
                let wild = field.wild && !self.options.no_globbing;
                match if wild { self.glob(&field.pattern) } else { None } {
                    Some(matches) => fields.extend(matches),
                    None => fields.push(field.text),
                }
                if fields.len() > FIELDS_MAX {
                    return Err(TOO_LONG.to_owned());
                }
            }
            Ok(fields)
        })
    }

    /// Expands one word to a pattern, in which quoted characters stand for themselves.
    pub fn pattern<'a>(&'a mut self, text: &'a str, io: &'a Io) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let parts = self.parts_of(text, io).await?;
            let text = parts.into_iter().map(|part| match part {
                Part::Quoted(text) => escaped(&text),
                Part::Literal(text) | Part::Expanded(text) => text,
                Part::Break => " ".to_owned(),
            });
            Ok(text.collect())
        })
    }

    /// Expands one word to exactly one string, for values and redirections.
    pub fn single<'a>(&'a mut self, text: &'a str, io: &'a Io) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let parts = self.parts_of(text, io).await?;
            let text = parts.into_iter().map(|part| match part {
                Part::Quoted(text) | Part::Literal(text) | Part::Expanded(text) => text,
                Part::Break => " ".to_owned(),
            });
            Ok(text.collect())
        })
    }

    async fn parts_of(&mut self, text: &str, io: &Io) -> Result<Vec<Part>, String> {
        let pieces = parse_word(text).ok_or_else(|| format!("{text}: bad substitution"))?;
        let mut parts = Vec::new();
        self.pieces(pieces, false, io, &mut parts).await?;
        Ok(parts)
    }

    fn pieces<'a>(
        &'a mut self,
        pieces: Vec<WordPieceWithSource>,
        quoted: bool,
        io: &'a Io,
        parts: &'a mut Vec<Part>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let mut bytes = 0usize;
            for piece in pieces {
                let before = parts.len();
                self.piece(piece.piece, quoted, io, parts).await?;
                bytes = parts[before..].iter().map(Part::bytes).fold(bytes, usize::saturating_add);
                if bytes > WORD_BYTES_MAX {
                    return Err(TOO_LONG.to_owned());
                }
            }
            Ok(())
        })
    }

    async fn piece(
        &mut self,
        piece: WordPiece,
        quoted: bool,
        io: &Io,
        parts: &mut Vec<Part>,
    ) -> Result<(), String> {
        let expanded = |text: String| if quoted { Part::Quoted(text) } else { Part::Expanded(text) };
        match piece {
            WordPiece::Text(text) if quoted => parts.push(Part::Quoted(text)),
            WordPiece::Text(text) => parts.push(Part::Literal(text)),
            WordPiece::SingleQuotedText(text) | WordPiece::AnsiCQuotedText(text) => {
                parts.push(Part::Quoted(text))
            }
            WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                // "$@" without arguments is no field at all; every other quoted text is at least an empty one.
                if !is_all_arguments(&inner) {
                    parts.push(Part::Quoted(String::new()));
                }
                self.pieces(inner, true, io, parts).await?;
            }
            WordPiece::TildeExpansion(_) => parts.push(Part::Quoted("/".to_owned())),
            WordPiece::EscapeSequence(text) => {
                let escaped = text.strip_prefix('\\').unwrap_or(&text);
                parts.push(Part::Quoted(escaped.replace('\n', "")));
            }
            WordPiece::CommandSubstitution(script) | WordPiece::BackquotedCommandSubstitution(script) => {
                parts.push(expanded(self.capture(&script, io).await));
            }
            WordPiece::ArithmeticExpression(expression) => {
                parts.push(expanded(self.arithmetic(&expression.value, io).await?));
            }
            WordPiece::ParameterExpansion(expression) => {
                self.parameter(expression, quoted, io, parts).await?
            }
        }
        Ok(())
    }

    async fn capture(&mut self, script: &str, io: &Io) -> String {
        let buffer = Arc::new(Mutex::new(Vec::new()));
        let inner = Io { stdout: Output::Capture(Arc::clone(&buffer)), ..io.clone() };
        let mut child = self.child();
        self.status = child.script(script, &inner).await;
        self.substituted = true;
        let bytes = std::mem::take(&mut *buffer.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
    }

    async fn parameter(
        &mut self,
        expression: ParameterExpr,
        quoted: bool,
        io: &Io,
        parts: &mut Vec<Part>,
    ) -> Result<(), String> {
        if let ParameterExpr::Parameter {
            parameter: Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate: false }),
            ..
        } = &expression
            && quoted
        {
            for (index, argument) in self.arguments.iter().enumerate() {
                if index > 0 {
                    parts.push(Part::Break);
                }
                parts.push(Part::Quoted(argument.clone()));
            }
            return Ok(());
        }
        if let ParameterExpr::UseDefaultValues { parameter, test_type, default_value, .. } = &expression
            && !quoted
        {
            let value = self.value(parameter);
            let empty_counts = matches!(test_type, ParameterTestType::UnsetOrNull);
            if value.is_none_or(|value| empty_counts && value.is_empty()) {
                // Quoted parts of the word stay together, the rest is split like any expansion.
                let word = default_value.clone().unwrap_or_default();
                let inner = Box::pin(self.parts_of(&word, io)).await?;
                parts.extend(inner.into_iter().map(|part| match part {
                    Part::Literal(text) => Part::Expanded(text),
                    other => other,
                }));
                return Ok(());
            }
        }
        let value = self.parameter_value(expression, io).await?;
        parts.push(if quoted { Part::Quoted(value) } else { Part::Expanded(value) });
        Ok(())
    }

    async fn parameter_value(&mut self, expression: ParameterExpr, io: &Io) -> Result<String, String> {
        let missing = |value: &Option<String>, test: &ParameterTestType| match test {
            ParameterTestType::UnsetOrNull => value.as_ref().is_none_or(String::is_empty),
            ParameterTestType::Unset => value.is_none(),
        };
        match expression {
            ParameterExpr::Parameter { parameter, .. } => match self.value(&parameter) {
                None if self.options.refuse_unset => Err(format!("{parameter}: parameter not set")),
                value => Ok(value.unwrap_or_default()),
            },
            ParameterExpr::UseDefaultValues { parameter, test_type, default_value, .. } => {
                match self.value(&parameter) {
                    value if missing(&value, &test_type) => {
                        self.single(&default_value.unwrap_or_default(), io).await
                    }
                    value => Ok(value.unwrap_or_default()),
                }
            }
            ParameterExpr::AssignDefaultValues { parameter, test_type, default_value, .. } => {
                let value = self.value(&parameter);
                if !missing(&value, &test_type) {
                    return Ok(value.unwrap_or_default());
                }
                let value = self.single(&default_value.unwrap_or_default(), io).await?;
                if let Parameter::Named(name) = parameter {
                    self.set(&name, value.clone());
                }
                Ok(value)
            }
            ParameterExpr::UseAlternativeValue { parameter, test_type, alternative_value, .. } => {
                if missing(&self.value(&parameter), &test_type) {
                    return Ok(String::new());
                }
                self.single(&alternative_value.unwrap_or_default(), io).await
            }
            ParameterExpr::IndicateErrorIfNullOrUnset { parameter, test_type, error_message, .. } => {
                match self.value(&parameter) {
                    value if missing(&value, &test_type) => Err(format!(
                        "{parameter}: {}",
                        error_message.unwrap_or("parameter null or not set".to_owned())
                    )),
                    value => Ok(value.unwrap_or_default()),
                }
            }
            ParameterExpr::ParameterLength { parameter, .. } => {
                Ok(self.value(&parameter).unwrap_or_default().chars().count().to_string())
            }
            other => self.trimmed(other, io).await,
        }
    }

    /// Expands `${x%y}`, `${x%%y}`, `${x#y}` and `${x##y}`.
    async fn trimmed(&mut self, expression: ParameterExpr, io: &Io) -> Result<String, String> {
        let (parameter, pattern, suffix, longest) = match expression {
            ParameterExpr::RemoveSmallestSuffixPattern { parameter, pattern, .. } => {
                (parameter, pattern, true, false)
            }
            ParameterExpr::RemoveLargestSuffixPattern { parameter, pattern, .. } => {
                (parameter, pattern, true, true)
            }
            ParameterExpr::RemoveSmallestPrefixPattern { parameter, pattern, .. } => {
                (parameter, pattern, false, false)
            }
            ParameterExpr::RemoveLargestPrefixPattern { parameter, pattern, .. } => {
                (parameter, pattern, false, true)
            }
            _ => return Err("bad substitution".to_owned()),
        };
        let value = self.value(&parameter).unwrap_or_default();
        let pattern = self.pattern(&pattern.unwrap_or_default(), io).await?;
        if value.len() > TRIMMED_BYTES_MAX {
            return Err(TOO_LONG.to_owned());
        }
        let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
        // The first cut that fits wins: start with the one that removes least, or most.
        if suffix != longest {
            cuts.reverse();
        }
        for cut in cuts {
            let (head, tail) = value.split_at(cut);
            if suffix && wildcard(&pattern, tail) {
                return Ok(head.to_owned());
            }
            if !suffix && wildcard(&pattern, head) {
                return Ok(tail.to_owned());
            }
        }
        Ok(value)
    }

    fn value(&self, parameter: &Parameter) -> Option<String> {
        match parameter {
            Parameter::Positional(0) => Some(self.name.clone()),
            Parameter::Positional(n) => self.arguments.get((*n as usize).saturating_sub(1)).cloned(),
            Parameter::Named(name) => self.variables.get(name).cloned(),
            Parameter::NamedWithIndex { name, .. } | Parameter::NamedWithAllIndices { name, .. } => {
                self.variables.get(name).cloned()
            }
            Parameter::Special(special) => Some(match special {
                SpecialParameter::AllPositionalParameters { concatenate } => {
                    let first = self.variables.get("IFS").map(|marks| marks.chars().next());
                    match (concatenate, first) {
                        (true, Some(first)) => {
                            self.arguments.join(&first.map_or(String::new(), String::from))
                        }
                        _ => self.arguments.join(" "),
                    }
                }
                SpecialParameter::PositionalParameterCount => self.arguments.len().to_string(),
                SpecialParameter::LastExitStatus => self.status.to_string(),
                SpecialParameter::CurrentOptionFlags => String::new(),
                SpecialParameter::ProcessId => self.pid.to_string(),
                SpecialParameter::LastBackgroundProcessId => {
                    self.jobs.last().map_or_else(String::new, |(pid, _)| pid.to_string())
                }
                SpecialParameter::ShellName => self.name.clone(),
            }),
        }
    }

    pub async fn arithmetic(&mut self, text: &str, io: &Io) -> Result<String, String> {
        let plain = self.single(text, io).await?;
        if plain.len() > ARITHMETIC_BYTES_MAX {
            return Err("arithmetic expression too long".to_owned());
        }
        let expression = ast::UnexpandedArithmeticExpr { value: plain.clone() };
        let parsed = brush_parser::arithmetic::parse(&expression.value)
            .map_err(|_| format!("{plain}: bad arithmetic"))?;
        Ok(self.evaluate(&parsed).ok_or_else(|| format!("{plain}: bad arithmetic"))?.to_string())
    }

    fn number(&self, name: &str) -> i64 {
        self.variables.get(name).map_or(0, |value| {
            let value = value.trim();
            match value.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).unwrap_or(0),
                None => value.parse().unwrap_or(0),
            }
        })
    }

    fn evaluate(&mut self, expression: &ArithmeticExpr) -> Option<i64> {
        match expression {
            ArithmeticExpr::Literal(value) => Some(*value),
            ArithmeticExpr::Reference(ArithmeticTarget::Variable(name)) => Some(self.number(name)),
            ArithmeticExpr::UnaryOp(operator, inner) => {
                let value = self.evaluate(inner)?;
                Some(match operator {
                    UnaryOperator::UnaryPlus => value,
                    UnaryOperator::UnaryMinus => value.checked_neg()?,
                    UnaryOperator::BitwiseNot => !value,
                    UnaryOperator::LogicalNot => i64::from(value == 0),
                })
            }
            ArithmeticExpr::BinaryOp(BinaryOperator::LogicalAnd, left, right) => {
                Some(i64::from(self.evaluate(left)? != 0 && self.evaluate(right)? != 0))
            }
            ArithmeticExpr::BinaryOp(BinaryOperator::LogicalOr, left, right) => {
                Some(i64::from(self.evaluate(left)? != 0 || self.evaluate(right)? != 0))
            }
            ArithmeticExpr::BinaryOp(operator, left, right) => {
                binary(operator, self.evaluate(left)?, self.evaluate(right)?)
            }
            ArithmeticExpr::Conditional(test, yes, no) => {
                if self.evaluate(test)? != 0 {
                    self.evaluate(yes)
                } else {
                    self.evaluate(no)
                }
            }
            ArithmeticExpr::Assignment(ArithmeticTarget::Variable(name), value) => {
                let value = self.evaluate(value)?;
                self.set(name, value.to_string());
                Some(value)
            }
            ArithmeticExpr::BinaryAssignment(operator, ArithmeticTarget::Variable(name), value) => {
                let right = self.evaluate(value)?;
                let value = binary(operator, self.number(name), right)?;
                self.set(name, value.to_string());
                Some(value)
            }
            ArithmeticExpr::UnaryAssignment(operator, ArithmeticTarget::Variable(name)) => {
                let before = self.number(name);
                let (after, shows_after) = match operator {
                    UnaryAssignmentOperator::PrefixIncrement => (before.checked_add(1)?, true),
                    UnaryAssignmentOperator::PrefixDecrement => (before.checked_sub(1)?, true),
                    UnaryAssignmentOperator::PostfixIncrement => (before.checked_add(1)?, false),
                    UnaryAssignmentOperator::PostfixDecrement => (before.checked_sub(1)?, false),
                };
                self.set(name, after.to_string());
                Some(if shows_after { after } else { before })
            }
            _ => None,
        }
    }

    /// Returns the paths that a pattern matches in every component.
    fn glob(&self, pattern: &str) -> Option<Vec<String>> {
        let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
        for component in pattern.split('/').filter(|c| !c.is_empty()) {
            let mut next = Vec::new();
            for base in &found {
                let join = |name: &str| {
                    let between = if base.is_empty() || base.ends_with('/') { "" } else { "/" };
                    format!("{base}{between}{name}")
                };
                let place = crate::fs::resolve(&self.cwd, if base.is_empty() { "." } else { base });
                if is_wild(component) {
                    let Ok(entries) = self.phone.with(|state| state.fs.list(&place)) else { continue };
                    let shown = |name: &str| !name.starts_with('.') || component.starts_with('.');
                    let fits = entries.iter().filter(|(name, _)| shown(name) && wildcard(component, name));
                    next.extend(fits.map(|(name, _)| join(name)));
                } else {
                    let path = join(&unescaped(component));
                    let full = crate::fs::resolve(&self.cwd, &path);
                    if self.phone.with(|state| state.fs.get(&full).is_ok()) {
                        next.push(path);
                    }
                }
                if next.len() > FIELDS_MAX {
                    return None;
                }
            }
            found = next;
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Parses a word. A defect of the parser must not end the connection: it panics on `~` before a huge number, so such
/// a word is parsed without tilde expansion.
fn parse_word(text: &str) -> Option<Vec<WordPieceWithSource>> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    let homes = digits < NUMBER_DIGITS_MAX;
    let options = ParserOptions { tilde_expansion_at_word_start: homes, ..options() };
    std::panic::catch_unwind(|| word::parse(text, &options)).ok()?.ok()
}

/// Digits of the largest number that the parser reads.
const NUMBER_DIGITS_MAX: usize = 19;

fn is_all_arguments(pieces: &[WordPieceWithSource]) -> bool {
    matches!(
        pieces,
        [WordPieceWithSource {
            piece: WordPiece::ParameterExpansion(ParameterExpr::Parameter {
                parameter: Parameter::Special(SpecialParameter::AllPositionalParameters {
                    concatenate: false
                }),
                ..
            }),
            ..
        }]
    )
}

const WILD: [char; 3] = ['*', '?', '['];

fn is_wild(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if WILD.contains(&c) {
            return true;
        }
    }
    false
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if WILD.contains(&c) || matches!(c, '\\' | ']' | '-' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn unescaped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

fn binary(operator: &BinaryOperator, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        BinaryOperator::Add => a.checked_add(b)?,
        BinaryOperator::Subtract => a.checked_sub(b)?,
        BinaryOperator::Multiply => a.checked_mul(b)?,
        BinaryOperator::Divide => a.checked_div(b)?,
        BinaryOperator::Modulo => a.checked_rem(b)?,
        BinaryOperator::LessThan => i64::from(a < b),
        BinaryOperator::LessThanOrEqualTo => i64::from(a <= b),
        BinaryOperator::GreaterThan => i64::from(a > b),
        BinaryOperator::GreaterThanOrEqualTo => i64::from(a >= b),
        BinaryOperator::Equals => i64::from(a == b),
        BinaryOperator::NotEquals => i64::from(a != b),
        BinaryOperator::LogicalAnd => i64::from(a != 0 && b != 0),
        BinaryOperator::LogicalOr => i64::from(a != 0 || b != 0),
        BinaryOperator::BitwiseAnd => a & b,
        BinaryOperator::BitwiseOr => a | b,
        BinaryOperator::BitwiseXor => a ^ b,
        BinaryOperator::ShiftLeft => a.checked_shl(u32::try_from(b).ok()?)?,
        BinaryOperator::ShiftRight => a.checked_shr(u32::try_from(b).ok()?)?,
        _ => return None,
    })
}

/// A word after splitting.
#[derive(Default)]
struct Field {
    text: String,
    /// The text with quoted characters escaped.
    pattern: String,
    wild: bool,
}

impl Field {
    fn push(&mut self, text: &str, quoted: bool) {
        self.text.push_str(text);
        if quoted {
            self.pattern.push_str(&escaped(text));
        } else {
            self.wild |= text.contains(WILD);
            self.pattern.push_str(text);
        }
    }
}

/// Splits a word into fields. White space separates fields; any other character of IFS ends a field even when it is
/// empty.
fn split(parts: Vec<Part>, marks: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut current: Option<Field> = None;
    for part in parts {
        match part {
            Part::Break => fields.extend(current.take()),
            Part::Quoted(text) => current.get_or_insert_default().push(&text, true),
            Part::Literal(text) => current.get_or_insert_default().push(&text, false),
            Part::Expanded(text) => split_expanded(&text, marks, &mut current, &mut fields),
        }
    }
    fields.extend(current);
    fields
}

fn split_expanded(text: &str, marks: &str, current: &mut Option<Field>, fields: &mut Vec<Field>) {
    let is_space = |c: char| c.is_ascii_whitespace() && marks.contains(c);
    let mut chars = text.char_indices().peekable();
    let mut start = 0;
    while let Some((at, c)) = chars.next() {
        if !marks.contains(c) {
            continue;
        }
        if at > start {
            current.get_or_insert_default().push(&text[start..at], false);
        }
        let mut hard = !is_space(c);
        let mut end = at + c.len_utf8();
        while let Some((next, d)) = chars.peek().copied() {
            if !is_space(d) && (hard || !marks.contains(d)) {
                break;
            }
            hard |= !is_space(d);
            end = next + d.len_utf8();
            chars.next();
        }
        match current.take() {
            Some(field) => fields.push(field),
            None if hard => fields.push(Field::default()),
            None => {}
        }
        start = end;
    }
    if start < text.len() {
        current.get_or_insert_default().push(&text[start..], false);
    }
}
