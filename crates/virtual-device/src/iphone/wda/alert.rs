//! Alerts: the system's first, then the app's own.

use serde_json::{Value, json};

use super::answer::{CommandResult, WdaError};
use super::route::Call;
use super::snapshot::Snapshot;
use super::{Agent, Target};

const NO_ALERT: &str = "An attempt was made to operate on a modal dialog when one was not open";
const NONE_OPEN: &str = "No alert is open";

impl Agent<'_> {
    /// Returns the alert that is open, in the tree that holds it.
    async fn alert(&self) -> Result<Option<(Snapshot, usize)>, WdaError> {
        let target = self.target()?;
        let mut found = None;
        for candidate in [Target::System, target] {
            if candidate == Target::System
                && self.phone.applications().is_none_or(|front| front.system.is_none())
            {
                continue;
            }
            let snapshot = self.read(candidate).await?;
            let kind = |wanted: &str| snapshot.nodes.iter().position(|node| node.element.kind == wanted);
            if let Some(at) = kind("Alert").or_else(|| kind("Sheet")) {
                found = Some((snapshot, at));
                break;
            }
        }
        Ok(found)
    }

    pub async fn alert_text(&self) -> CommandResult {
        let Some((snapshot, at)) = self.alert().await? else { return Err(WdaError::no_alert(NO_ALERT)) };
        let texts: Vec<&str> = snapshot
            .below(at)
            .into_iter()
            .filter(|text| matches!(snapshot.nodes[*text].element.kind, "StaticText" | "TextView"))
            .filter(|text| !snapshot.parents(*text).any(|p| snapshot.nodes[p].element.kind == "Button"))
            .filter_map(|text| snapshot.nodes[text].label())
            .collect();
        Ok(json!(texts.join("\n")))
    }

    pub async fn alert_buttons(&self) -> CommandResult {
        let Some((snapshot, at)) = self.alert().await? else { return Err(WdaError::no_alert(NO_ALERT)) };
        let labels: Vec<&str> =
            buttons(&snapshot, at).into_iter().filter_map(|button| snapshot.nodes[button].label()).collect();
        Ok(json!(labels))
    }

    pub async fn answer_alert(&mut self, call: &Call, accept: bool) -> CommandResult {
        let Some((snapshot, at)) = self.alert().await? else { return Err(WdaError::no_alert(NONE_OPEN)) };
        let all = buttons(&snapshot, at);
        let is_alert = snapshot.nodes[at].element.kind == "Alert";
        let button = match call.text("name") {
            Some(name) => {
                let named = all.iter().find(|button| snapshot.nodes[**button].label() == Some(name));
                named.copied().ok_or_else(|| {
                    WdaError::element_state(format!(
                        "Failed to find button with label '{name}' for alert: {}",
                        snapshot.nodes[at].element.label
                    ))
                })?
            }
            None => {
                let wanted = if accept == is_alert { all.last() } else { all.first() };
                let word = if accept { "accept" } else { "dismiss" };
                wanted.copied().ok_or_else(|| {
                    WdaError::element_state(format!("Failed to find {word} button for alert"))
                })?
            }
        };
        self.tap_at(snapshot.nodes[button].hit_point()).await;
        Ok(Value::Null)
    }

    pub async fn type_into_alert(&mut self, call: &Call) -> CommandResult {
        let text = match call.get("value") {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect(),
            _ => return Err(WdaError::argument("Missing 'value' parameter")),
        };
        let Some((snapshot, at)) = self.alert().await? else { return Err(WdaError::no_alert(NONE_OPEN)) };
        let fields: Vec<usize> = snapshot
            .below(at)
            .into_iter()
            .filter(|field| matches!(snapshot.nodes[*field].element.kind, "TextField" | "SecureTextField"))
            .collect();
        match fields.as_slice() {
            [] => Err(WdaError::unsupported("The alert contains no input fields")),
            [field] => {
                self.tap_at(snapshot.nodes[*field].hit_point()).await;
                self.phone.phone().with(|state| state.select_all());
                self.type_text(&text).await;
                Ok(Value::Null)
            }
            _ => Err(WdaError::unsupported("The alert contains more than one input field")),
        }
    }
}

fn buttons(snapshot: &Snapshot, alert: usize) -> Vec<usize> {
    let below = snapshot.below(alert).into_iter();
    below.filter(|at| snapshot.nodes[*at].element.kind == "Button").collect()
}
