//! Words: quoting, variables, command substitution, splitting, globbing.

use std::sync::{Arc, Mutex, PoisonError};

use brush_parser::ast::{self, ArithmeticExpr, BinaryOperator, UnaryOperator};
use brush_parser::word::{
    self, Parameter, ParameterExpr, ParameterTestType, SpecialParameter, WordPiece, WordPieceWithSource,
};

use super::execute::{BoxFuture, Shell};
use super::io::{Io, Output};
use super::options;

/// Fields that one word may become.
const FIELDS_MAX: usize = 10_000;

/// What one word may become.
const WORD_BYTES_MAX: usize = 1024 * 1024;
/// Longest arithmetic expression: its parser and its evaluation recurse over it.
const ARITHMETIC_BYTES_MAX: usize = 256;
/// Longest value that `${x%y}` trims: every cut is tried.
const TRIMMED_BYTES_MAX: usize = 2048;
/// Characters of a pattern times those of a text; beyond that it counts as no match.
const WILDCARD_WORK_MAX: usize = 4_000_000;
const TOO_LONG: &str = "Argument list too long";

/// A part of a word after expansion.
enum Part {
    /// Taken as it is.
    Quoted(String),
    /// From the script itself: not split, but its wildcards count.
    Literal(String),
    /// From an unquoted expansion: split at spaces, and its wildcards count.
    Expanded(String),
    /// Between the fields of `"$@"`.
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
    /// One word as any number of fields.
    pub fn fields<'a>(&'a mut self, text: &'a str, io: &'a Io) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async move {
            let parts = self.parts_of(text, io).await?;
            let mut fields = Vec::new();
            for (field, wild) in split(parts) {
                match if wild { self.glob(&field) } else { None } {
                    Some(matches) => fields.extend(matches),
                    None => fields.push(field),
                }
                if fields.len() > FIELDS_MAX {
                    return Err(TOO_LONG.to_owned());
                }
            }
            Ok(fields)
        })
    }

    /// One word as exactly one string: values, redirections, patterns.
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
        let pieces = word::parse(text, &options()).map_err(|_| format!("{text}: bad substitution"))?;
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
                parts.push(Part::Quoted(String::new()));
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
        let mut child = self.clone();
        self.status = child.script(script, &inner).await;
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
            ParameterExpr::Parameter { parameter, .. } => Ok(self.value(&parameter).unwrap_or_default()),
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

    /// `${x%y}` and its three relatives.
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
        let pattern = self.single(&pattern.unwrap_or_default(), io).await?;
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
            Parameter::Positional(n) => self.arguments.get(*n as usize - 1).cloned(),
            Parameter::Named(name) => self.variables.get(name).cloned(),
            Parameter::NamedWithIndex { name, .. } | Parameter::NamedWithAllIndices { name, .. } => {
                self.variables.get(name).cloned()
            }
            Parameter::Special(special) => Some(match special {
                SpecialParameter::AllPositionalParameters { .. } => self.arguments.join(" "),
                SpecialParameter::PositionalParameterCount => self.arguments.len().to_string(),
                SpecialParameter::LastExitStatus => self.status.to_string(),
                SpecialParameter::CurrentOptionFlags => String::new(),
                SpecialParameter::ProcessId => self.pid.to_string(),
                SpecialParameter::LastBackgroundProcessId => (self.pid + 1).to_string(),
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

    fn evaluate(&self, expression: &ArithmeticExpr) -> Option<i64> {
        match expression {
            ArithmeticExpr::Literal(value) => Some(*value),
            ArithmeticExpr::Reference(ast::ArithmeticTarget::Variable(name)) => {
                Some(self.variables.get(name).and_then(|v| v.trim().parse().ok()).unwrap_or(0))
            }
            ArithmeticExpr::UnaryOp(operator, inner) => {
                let value = self.evaluate(inner)?;
                Some(match operator {
                    UnaryOperator::UnaryPlus => value,
                    UnaryOperator::UnaryMinus => value.checked_neg()?,
                    UnaryOperator::BitwiseNot => !value,
                    UnaryOperator::LogicalNot => i64::from(value == 0),
                })
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
            _ => None,
        }
    }

    /// Files that a pattern matches in its last component, or nothing.
    fn glob(&self, pattern: &str) -> Option<Vec<String>> {
        if !pattern.contains(['*', '?']) {
            return None;
        }
        let (directory, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let place = if directory.is_empty() && !pattern.starts_with('/') {
            self.cwd.clone()
        } else {
            format!("{directory}/")
        };
        let entries = self.phone.with(|state| state.fs.list(&crate::fs::resolve(&self.cwd, &place))).ok()?;
        let shown = |entry: &str| match pattern.rsplit_once('/') {
            Some((directory, _)) => format!("{directory}/{entry}"),
            None => entry.to_owned(),
        };
        let fits = |entry: &str| wildcard(name, entry) && (!entry.starts_with('.') || name.starts_with('.'));
        let matches: Vec<String> =
            entries.iter().map(|(n, _)| n).filter(|n| fits(n)).map(|n| shown(n)).collect();
        (!matches.is_empty()).then_some(matches)
    }
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

/// Fields with whether their wildcards count.
fn split(parts: Vec<Part>) -> Vec<(String, bool)> {
    let mut fields = Vec::new();
    let mut current: Option<(String, bool)> = None;
    for part in parts {
        match part {
            Part::Break => fields.extend(current.take()),
            Part::Quoted(text) => current.get_or_insert_default().0.push_str(&text),
            Part::Literal(text) => {
                let field = current.get_or_insert_default();
                field.1 |= text.contains(['*', '?']);
                field.0.push_str(&text);
            }
            Part::Expanded(text) => {
                if text.starts_with([' ', '\t', '\n']) {
                    fields.extend(current.take());
                }
                let mut words = text.split_ascii_whitespace().peekable();
                while let Some(word) = words.next() {
                    let field = current.get_or_insert_default();
                    field.1 |= word.contains(['*', '?']);
                    field.0.push_str(word);
                    if words.peek().is_some() {
                        fields.extend(current.take());
                    }
                }
                if text.ends_with([' ', '\t', '\n']) {
                    fields.extend(current.take());
                }
            }
        }
    }
    fields.extend(current);
    fields
}

/// `*` and `?` against a whole text, without recursion: on a mismatch the last star takes one character more.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    if pattern.len().saturating_mul(text.len()) > WILDCARD_WORK_MAX {
        return false;
    }
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn wildcards() {
        assert!(
            wildcard("*.xml", "a.xml")
                && wildcard("a*b*c", "aXXbYYc")
                && wildcard("?", "é")
                && wildcard("*", "")
        );
        assert!(!wildcard("*.xml", "a.xm") && !wildcard("?", "") && !wildcard("a", "ab"));
    }
}
