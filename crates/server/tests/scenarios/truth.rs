//! Checks against the phone's own state, never against an answer.

use std::time::Duration;

use mdm_virtual_device::{Applied, Truth};

use crate::views;

/// Checks a line such as `paid = 1`, `volume = 38 +- 0.5`, `is on .HomeActivity`, `took 2 inputs`, `last touched "Pay
/// now"`, `ran 1 of "input tap"`, `showed the toast "Saved"`, `looked 3 times`, `keyboard hidden`, `no dialog` or
/// `was at rest for 250 ms`.
pub fn check(line: &str, truth: &Truth, uptime: Duration) -> Result<(), String> {
    if let Some((name, (value, tolerance))) =
        line.split_once(" = ").and_then(|(n, v)| Some((n, v.split_once(" +- ")?)))
    {
        return near(value, tolerance, &value_of(truth, name).ok_or_else(|| known(truth, name))?);
    }
    if let Some((name, value)) = line.split_once(" = ") {
        return same(value, &value_of(truth, name).ok_or_else(|| known(truth, name))?);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["is", "on", screen] => {
            let is_there = truth.activity.ends_with(screen);
            if is_there { Ok(()) } else { Err(format!("it is on {}", truth.activity)) }
        }
        ["took", count, "inputs"] => same(count, &inputs(truth).to_string()),
        ["looked", count, "times"] => {
            let looks = truth.commands.iter().filter(|command| command.starts_with("uiautomator dump"));
            same(count, &looks.count().to_string())
        }
        ["ran", count, "of", ..] => {
            let words = quoted(line)?;
            let ran = truth.commands.iter().filter(|command| command.starts_with(words));
            same(count, &ran.count().to_string())
        }
        ["last", "touched", ..] => same(quoted(line)?, &last_touched(truth)),
        ["showed", "the", "toast", ..] => {
            let text = quoted(line)?;
            let shown: Vec<&str> = truth.toasts.iter().map(|toast| toast.text.as_str()).collect();
            if shown.contains(&text) { Ok(()) } else { Err(format!("its toasts are {shown:?}")) }
        }
        ["keyboard", state @ ("shown" | "hidden")] => {
            same(state, if truth.keyboard_shown { "shown" } else { "hidden" })
        }
        ["no", "dialog"] => same("false", &truth.dialog_open.to_string()),
        ["a", "dialog", "is", "open"] => same("true", &truth.dialog_open.to_string()),
        ["was", "at", "rest", "for", ms, "ms"] => at_rest(ms, truth, uptime),
        _ => Err("nobody knows how to ask for this".to_owned()),
    }
}

fn same(expected: &str, real: &str) -> Result<(), String> {
    if expected == real { Ok(()) } else { Err(format!("it is {real}")) }
}

fn near(expected: &str, tolerance: &str, real: &str) -> Result<(), String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("{text} is no number"));
    let off = (number(expected)? - number(real)?).abs();
    if off <= number(tolerance)? { Ok(()) } else { Err(format!("it is {real}")) }
}

fn quoted(line: &str) -> Result<&str, String> {
    let inside = line.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
    inside.map(|(text, _)| text).ok_or_else(|| "a text in quotes is missing".to_owned())
}

/// Inputs through the shell are on record. Android's own views also tell of fingers that came any other way.
fn inputs(truth: &Truth) -> usize {
    let fingers = truth.framework.as_ref().map_or(0, views::fingers);
    truth.inputs.len().max(fingers)
}

/// Finds an entry by its whole name or by the part after the last dot.
fn value_of(truth: &Truth, name: &str) -> Option<String> {
    if let Some(framework) = &truth.framework {
        return views::value_of(framework, name);
    }
    let fits = |full: &str| full == name || full.ends_with(&format!(".{name}"));
    let field = truth.fields.iter().find(|(full, _)| fits(full)).map(|(_, value)| format!("{value:?}"));
    let switch = || truth.switches.iter().find(|(full, _)| fits(full)).map(|(_, value)| value.to_string());
    let number = || truth.sliders.iter().find(|(full, _)| fits(full)).map(|(_, value)| value.to_string());
    field.or_else(switch).or_else(number)
}

fn known(truth: &Truth, name: &str) -> String {
    if let Some(framework) = &truth.framework {
        let ids = framework.views.iter().map(|view| view.id.as_str()).filter(|id| !id.is_empty());
        return format!("no view tells {name}; known are {:?}", ids.collect::<Vec<_>>());
    }
    let names = truth.fields.keys().chain(truth.switches.keys()).chain(truth.sliders.keys());
    format!("there is no {name} in {:?}", names.collect::<Vec<_>>())
}

fn last_touched(truth: &Truth) -> String {
    if let Some(framework) = &truth.framework {
        return views::last_touched(framework);
    }
    let touch = truth.inputs.iter().rev().find_map(|input| match input {
        Applied::Tap { hit, .. } | Applied::Swipe { hit, .. } | Applied::Pinch { hit, .. } => Some(hit),
        _ => None,
    });
    match touch {
        None => "nothing: it was never touched".to_owned(),
        Some(None) => "a place where nothing is".to_owned(),
        Some(Some(hit)) => hit.label.clone(),
    }
}

/// SY-05 by the phone's own state: nothing visible changed in the window before the last answer.
fn at_rest(ms: &str, truth: &Truth, uptime: Duration) -> Result<(), String> {
    let window: u64 = ms.parse().map_err(|_| format!("{ms} is no number"))?;
    let changed_ms = truth.framework.as_ref().map_or(truth.last_visible_change_ms, |views| views.changed_ms);
    let quiet = uptime.as_millis() as u64 - changed_ms;
    if quiet >= window { Ok(()) } else { Err(format!("it changed {quiet} ms before")) }
}
