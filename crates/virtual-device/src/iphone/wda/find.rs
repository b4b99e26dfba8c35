//! Finding elements by the strategies of WebDriverAgent.

use serde_json::Value;

use super::Agent;
use super::answer::{CommandResult, WdaError};
use super::route::Call;
use super::snapshot::Snapshot;
use super::{chain, predicate, xpath};

/// Elements that one search hands out.
const FOUND_MAX: usize = 1000;
/// The longest expression of a search.
const EXPRESSION_BYTES_MAX: usize = 16 * 1024;

impl Agent<'_> {
    pub async fn find(&mut self, under: Option<&str>, all: bool, call: &Call) -> CommandResult {
        let (using, value) = (call.text("using").unwrap_or("(null)"), call.text("value").unwrap_or(""));
        if value.len() > EXPRESSION_BYTES_MAX {
            return Err(WdaError::argument("The value is too long"));
        }
        if using == "xpath" {
            self.rest(self.state.settings.seconds("animationCoolOffTimeout")).await;
        }
        let (snapshot, root) = match under {
            Some(id) => self.resolve(id).await?,
            None => (self.snapshot().await?, 0),
        };
        let mut found = search(&snapshot, root, using, value)?;
        found.truncate(if all { FOUND_MAX } else { 1 });
        match (all, found.first()) {
            (false, None) => Err(WdaError::no_such_element(using, value)),
            (false, Some(first)) => Ok(self.hand_out(&snapshot, *first)),
            (true, _) => Ok(Value::Array(found.into_iter().map(|at| self.hand_out(&snapshot, at)).collect())),
        }
    }
}

fn search(snapshot: &Snapshot, root: usize, using: &str, value: &str) -> Result<Vec<usize>, WdaError> {
    let below = snapshot.below(root);
    match using {
        "id" | "name" | "accessibility id" => {
            Ok(below.into_iter().filter(|at| snapshot.nodes[*at].name() == Some(value)).collect())
        }
        "class name" => {
            let kind = chain::kind(value)?;
            let fits = |at: &usize| kind.is_none_or(|kind| snapshot.nodes[*at].element.kind == kind);
            Ok(below.into_iter().filter(fits).collect())
        }
        "link text" | "partial link text" => {
            let (property, wanted) = value.split_once('=').unwrap_or(("name", value));
            let wanted = value.rsplit('=').next().unwrap_or(wanted);
            let partial = using.starts_with("partial");
            let mut found = Vec::new();
            for at in below {
                let own = predicate::property(snapshot, at, property)?;
                let text = own.as_str().unwrap_or("");
                if text == wanted || partial && text.contains(wanted) {
                    found.push(at);
                }
            }
            Ok(found)
        }
        "predicate string" => {
            let predicate = predicate::parse(value)?;
            let mut found = Vec::new();
            for at in below {
                if predicate.holds(snapshot, at)? {
                    found.push(at);
                }
            }
            Ok(found)
        }
        "class chain" => chain::search(snapshot, root, value),
        "xpath" => xpath::search(snapshot, root, value),
        _ => Err(WdaError::argument(format!("Invalid locator requested: {using}"))),
    }
}
