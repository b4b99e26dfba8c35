//! The `[[ … ]]` command.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use super::commands::{Call, matches};
use super::execute::{BoxFuture, Flow, Shell};
use super::expand::wildcard;
use super::io::Io;

/// The nesting of brackets.
const DEPTH_MAX: u32 = 24;

impl Shell {
    pub(super) async fn condition(&mut self, expression: &ExtendedTestExpr, io: &Io) -> Flow {
        match self.holds(expression, DEPTH_MAX, io).await {
            Ok(value) => {
                self.status = u8::from(!value);
                Flow::Next
            }
            Err(complaint) => self.complain(&complaint, 2, io).await,
        }
    }

    fn holds<'a>(
        &'a mut self,
        expression: &'a ExtendedTestExpr,
        depth: u32,
        io: &'a Io,
    ) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(async move {
            let Some(depth) = depth.checked_sub(1) else { return Err("[[: nested too deeply".to_owned()) };
            Ok(match expression {
                ExtendedTestExpr::And(left, right) => {
                    self.holds(left, depth, io).await? && self.holds(right, depth, io).await?
                }
                ExtendedTestExpr::Or(left, right) => {
                    self.holds(left, depth, io).await? || self.holds(right, depth, io).await?
                }
                ExtendedTestExpr::Not(inner) => !self.holds(inner, depth, io).await?,
                ExtendedTestExpr::Parenthesized(inner) => self.holds(inner, depth, io).await?,
                ExtendedTestExpr::UnaryTest(predicate, word) => {
                    let value = self.single(&word.value, io).await?;
                    self.unary(predicate, &value, io)?
                }
                ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                    let left = self.single(&left.value, io).await?;
                    self.binary_test(predicate, &left, &right.value, io).await?
                }
            })
        })
    }

    fn unary(&self, predicate: &UnaryPredicate, value: &str, io: &Io) -> Result<bool, String> {
        let flag = match predicate {
            UnaryPredicate::StringHasZeroLength => return Ok(value.is_empty()),
            UnaryPredicate::StringHasNonZeroLength => return Ok(!value.is_empty()),
            UnaryPredicate::ShellVariableIsSetAndAssigned => return Ok(self.variables.contains_key(value)),
            other => other.to_string(),
        };
        let arguments = [flag.trim().to_owned(), value.to_owned()];
        let call = Call {
            phone: &self.phone,
            name: "test",
            arguments: &arguments,
            io,
            variables: &self.variables,
            cwd: &self.cwd,
        };
        matches(&call).ok_or_else(|| format!("[[: {flag}: unexpected operator/operand"))
    }

    async fn binary_test(
        &mut self,
        predicate: &BinaryPredicate,
        left: &str,
        right: &str,
        io: &Io,
    ) -> Result<bool, String> {
        if matches!(
            predicate,
            BinaryPredicate::StringExactlyMatchesPattern | BinaryPredicate::StringDoesNotExactlyMatchPattern
        ) {
            let pattern = self.pattern(right, io).await?;
            let wanted = matches!(predicate, BinaryPredicate::StringExactlyMatchesPattern);
            return Ok(wildcard(&pattern, left) == wanted);
        }
        let right = self.single(right, io).await?;
        let numbers = || -> Result<(i64, i64), String> {
            let parse = |text: &str| text.trim().parse::<i64>().map_err(|_| format!("{text}: bad number"));
            Ok((parse(left)?, parse(&right)?))
        };
        Ok(match predicate {
            BinaryPredicate::StringExactlyMatchesString => left == right,
            BinaryPredicate::StringDoesNotExactlyMatchString => left != right,
            BinaryPredicate::StringContainsSubstring => left.contains(&right),
            BinaryPredicate::LeftSortsBeforeRight => left < right.as_str(),
            BinaryPredicate::LeftSortsAfterRight => left > right.as_str(),
            BinaryPredicate::ArithmeticEqualTo => numbers().map(|(a, b)| a == b)?,
            BinaryPredicate::ArithmeticNotEqualTo => numbers().map(|(a, b)| a != b)?,
            BinaryPredicate::ArithmeticLessThan => numbers().map(|(a, b)| a < b)?,
            BinaryPredicate::ArithmeticLessThanOrEqualTo => numbers().map(|(a, b)| a <= b)?,
            BinaryPredicate::ArithmeticGreaterThan => numbers().map(|(a, b)| a > b)?,
            BinaryPredicate::ArithmeticGreaterThanOrEqualTo => numbers().map(|(a, b)| a >= b)?,
            _ => return Err("[[: unexpected operator/operand".to_owned()),
        })
    }
}
