//! Keys, the keyboard and the orientation.

use std::time::Duration;

use mdm_core::action::request::Action;
use mdm_core::port::{Key, Orientation};
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::{AfterArg, NamedFacts, perform};
use super::manage::orientation_name;
use super::{Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::DeviceArg;
use crate::refusal::Refusal;

const KEY_TIMEOUT: Duration = Duration::from_secs(120);
/// Higher numbers are no key on any Android.
const KEY_CODE_MAX: u16 = 1000;
const HIDE_KEYBOARD: &str = "hide_keyboard";

/// What every key takes.
#[derive(Default, Deserialize, JsonSchema)]
pub struct KeyParams {
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

async fn send(
    call: &Call<'_>,
    params: &KeyParams,
    action: Action,
    named: Option<NamedFacts>,
) -> Result<Answer, Refusal> {
    let act = params.after.act(action, false)?;
    perform(call, &params.device.wanted(), act, named).await
}

pub struct PressBack;

impl Tool for PressBack {
    type Params = KeyParams;
    const NAME: &'static str = "press_back";
    const DESCRIPTION: &'static str = "Go back. An open keyboard is closed first.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: KeyParams) -> Result<Answer, Refusal> {
        send(call, &params, Action::Back, None).await
    }
}

pub struct PressKey;

#[derive(Deserialize, JsonSchema)]
pub struct PressKeyParams {
    /// home, recents, hide_keyboard, enter, delete, tab, volume_up, power, dpad_up, … or a key code
    key: String,
    #[serde(flatten)]
    rest: KeyParams,
}

fn key(name: &str) -> Result<Key, Refusal> {
    let plain = name.trim().to_ascii_lowercase();
    if let Some(code) = plain.parse().ok().filter(|code| (1..=KEY_CODE_MAX).contains(code)) {
        return Ok(Key::Android(code));
    }
    let plain = plain.strip_prefix("keycode_").unwrap_or(&plain);
    let known = match plain {
        "app_switch" => Some(Key::Recents),
        "del" | "backspace" => Some(Key::Delete),
        "forward_del" => Some(Key::ForwardDelete),
        "return" => Some(Key::Enter),
        _ => Key::NAMED.iter().find(|(known, _)| *known == plain).map(|(_, key)| *key),
    };
    known.ok_or_else(|| {
        let names: Vec<&str> = Key::NAMED.iter().map(|(name, _)| *name).collect();
        let hint =
            format!("use one of {}, or an Android key code; type_text types characters", names.join(", "));
        Refusal::argument(format!("{name:.40?} is no key"), hint)
    })
}

impl Tool for PressKey {
    type Params = PressKeyParams;
    const NAME: &'static str = "press_key";
    const DESCRIPTION: &'static str = "Press one key. type_text types characters.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: PressKeyParams) -> Result<Answer, Refusal> {
        let named = NamedFacts::Key { key: params.key.trim().to_owned() };
        // It is no key, and who looks for a way to hide the keyboard looks here.
        let action = match params.key.trim() {
            HIDE_KEYBOARD => Action::HideKeyboard,
            name => Action::Key(key(name)?),
        };
        send(call, &params.rest, action, Some(named)).await
    }
}

pub struct PressHome;

impl Tool for PressHome {
    type Params = KeyParams;
    const NAME: &'static str = "press_home";
    const DESCRIPTION: &'static str = "Go to the home screen.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: KeyParams) -> Result<Answer, Refusal> {
        let named = NamedFacts::Key { key: "home".to_owned() };
        send(call, &params, Action::Key(Key::Home), Some(named)).await
    }
}

pub struct PressRecents;

impl Tool for PressRecents {
    type Params = KeyParams;
    const NAME: &'static str = "press_recents";
    const DESCRIPTION: &'static str = "Show the apps that were used last.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: KeyParams) -> Result<Answer, Refusal> {
        let named = NamedFacts::Key { key: "recents".to_owned() };
        send(call, &params, Action::Key(Key::Recents), Some(named)).await
    }
}

pub struct HideKeyboard;

impl Tool for HideKeyboard {
    type Params = KeyParams;
    const NAME: &'static str = "hide_keyboard";
    const DESCRIPTION: &'static str = "Hide the keyboard if it is shown; never leaves the screen.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: KeyParams) -> Result<Answer, Refusal> {
        send(call, &params, Action::HideKeyboard, Some(NamedFacts::Nothing {})).await
    }
}

pub struct SetOrientation;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OrientationArg {
    Portrait,
    Landscape,
    Auto,
}

#[derive(Deserialize, JsonSchema)]
pub struct SetOrientationParams {
    orientation: OrientationArg,
    #[serde(flatten)]
    rest: KeyParams,
}

impl Tool for SetOrientation {
    type Params = SetOrientationParams;
    const NAME: &'static str = "set_orientation";
    const DESCRIPTION: &'static str =
        "Turn the screen until it is turned again; auto follows the device. An app may insist on its own.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = KEY_TIMEOUT;

    async fn run(call: &Call<'_>, params: SetOrientationParams) -> Result<Answer, Refusal> {
        let turn = match params.orientation {
            OrientationArg::Portrait => Orientation::Portrait,
            OrientationArg::Landscape => Orientation::Landscape,
            OrientationArg::Auto => Orientation::Auto,
        };
        let named = NamedFacts::Orientation { orientation: orientation_name(turn) };
        send(call, &params.rest, Action::Turn(turn), Some(named)).await
    }
}
