//! Typing into a field.

use std::time::Duration;

use mdm_core::action::request::{Act, Action};
use mdm_core::intent::typing::{ReadBack, Typing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{AfterArg, NamedFacts, perform};
use super::{Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::DeviceArg;
use crate::refusal::Refusal;
use crate::secrets::SECRET_BYTES_MAX;
use crate::target::ElementArg;

pub struct TypeText;

#[derive(Deserialize, JsonSchema)]
pub struct TypeTextParams {
    text: String,
    #[serde(flatten)]
    target: ElementArg,
    scroll: Option<bool>,
    /// first
    clear: Option<bool>,
    /// Enter
    submit: Option<bool>,
    secure: Option<bool>,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

/// What the field held afterwards.
#[derive(Debug, Default, Serialize)]
pub struct ReadBackFacts {
    /// seen, hidden (a secret field), differs, no_field (nothing with the focus) or unread.
    read_back: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<usize>,
}

impl ReadBackFacts {
    pub fn new(read_back: &ReadBack, secure: bool) -> ReadBackFacts {
        let facts = |read_back| ReadBackFacts { read_back, ..ReadBackFacts::default() };
        match read_back {
            ReadBack::Matches { field } | ReadBack::Differs { field } if secure => {
                ReadBackFacts { characters: Some(field.chars().count()), ..facts("hidden") }
            }
            ReadBack::Matches { field } => ReadBackFacts { field: Some(field.clone()), ..facts("seen") },
            ReadBack::Differs { field } => ReadBackFacts { field: Some(field.clone()), ..facts("differs") },
            ReadBack::Hidden { characters } => {
                ReadBackFacts { characters: Some(*characters), ..facts("hidden") }
            }
            ReadBack::NoField => facts("no_field"),
            ReadBack::Unread { why } => ReadBackFacts { why: Some(why.clone()), ..facts("unread") },
        }
    }
}

impl Tool for TypeText {
    type Params = TypeTextParams;
    const NAME: &'static str = "type_text";
    const DESCRIPTION: &'static str = "Type into a field, or into the focused one without a target; read it back and fail \
        if it holds something else. A line break presses Enter.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(call: &Call<'_>, params: TypeTextParams) -> Result<Answer, Refusal> {
        if params.text.is_empty() && params.clear != Some(true) {
            return Err(Refusal::argument("text is empty", "give the text to type, or clear"));
        }
        if params.secure == Some(true) && params.text.len() > SECRET_BYTES_MAX {
            let message =
                format!("text has more than {SECRET_BYTES_MAX} bytes, which is too long for a secret");
            return Err(Refusal::argument(message, "type it in parts"));
        }
        let into = params.target.is_given().then(|| params.target.selector()).transpose()?;
        let submit = params.submit == Some(true);
        let named = NamedFacts::Text { characters: params.text.chars().count(), element_id: None };
        let typing = Typing {
            text: params.text,
            into,
            clear: params.clear == Some(true),
            submit,
            secure: params.secure == Some(true),
        };
        let act = params.after.act(Action::Type(typing), call.settles(submit))?;
        let act = Act { scroll_to_target: params.scroll == Some(true), ..act };
        perform(call, &params.device.wanted(), act, Some(named)).await
    }
}
