//! Inputs: through the helper on the device where there is one, else as commands of the shell.

use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch, Input, Key, NativeAction, Orientation};
use mdm_wire::helper::{Answer, Argument, KeyPress, RefusalCode, Request, TextMode};
use tokio::time::{Duration, Instant};

use super::{AndroidDevice, NO_SHELL_COMMANDS, SHORT_BYTES_MAX, rejected};
use crate::adb::Script;
use crate::helper::{self, HelperMode, Link, LinkError};
use crate::text::{self, Typing};
use crate::{fingers, gesture};

/// How long an input for the shell may wait for the helper.
const HELD_UP_MAX: Duration = Duration::from_millis(150);
/// What an input through the shell takes on a phone, which starts a Java program for it.
const SHELL_INPUT: Duration = Duration::from_millis(600);
/// Keys of one request; the helper takes 500.
const KEYS_MAX: usize = 400;

/// A connection to the helper, and when what is asked of it must have begun.
#[derive(Clone, Copy)]
struct Timed<'a> {
    link: &'a Link,
    until: Option<Instant>,
}

impl AndroidDevice {
    pub(super) async fn send_input(&self, input: Input, until: Option<Instant>) -> Result<(), DeviceError> {
        let asked = Instant::now();
        if let Some(link) = self.helper.link(self).await? {
            let link = Timed { link: &link, until };
            match self.input_through(link, &input).await {
                Some(Err(error)) if self.may_use_shell(&error) => self.helper.tell_of_shell(),
                Some(sent) => {
                    self.state().is_input_helped = true;
                    return sent.map_err(|error| without_text(error.of_effect(), &input));
                }
                None => {}
            }
        }
        let too_late = |detail: &str| Err(DeviceError::new(DeviceErrorKind::TooLate, detail));
        if until.is_some() && asked.elapsed() > HELD_UP_MAX {
            return too_late(
                "the helper on the device held it up, and the screen may have changed meanwhile",
            );
        }
        // The caller counted with the time that the helper takes.
        let is_short = until.is_some_and(|until| until < Instant::now() + SHELL_INPUT);
        if is_short && self.state().is_input_helped {
            return too_late(
                "the helper on the device is gone, and the time that is left is too short without it",
            );
        }
        self.state().is_input_helped = false;
        self.input_by_shell(input).await
    }

    /// True if nothing was done and the shell can do it: the helper was gone already, or UiAutomation is not to be had.
    pub(crate) fn may_use_shell(&self, error: &LinkError) -> bool {
        let is_unused = match error {
            LinkError::NotSent(_) => true,
            LinkError::Refused(refusal) => {
                matches!(refusal.code, RefusalCode::AutomationBusy | RefusalCode::Unsupported)
            }
            LinkError::Lost(_) | LinkError::Protocol(_) => false,
        };
        is_unused && self.helper.mode() == HelperMode::Auto
    }

    /// Sends an input to the helper; nothing if the shell is meant for it.
    async fn input_through(&self, link: Timed<'_>, input: &Input) -> Option<Result<(), LinkError>> {
        let samples = match input {
            Input::Tap(point) => helper::tap(*point),
            Input::DoubleTap(point) => helper::double_tap(*point),
            Input::LongPress { point, duration_ms } => helper::press(*point, *duration_ms),
            Input::Swipe { from, to, duration_ms } => helper::drag(*from, *to, 0, *duration_ms),
            Input::Scroll { from, to, duration_ms } => helper::scroll(*from, *to, *duration_ms),
            Input::Drag { from, to, hold_ms, duration_ms } => {
                helper::drag(*from, *to, *hold_ms, *duration_ms)
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let (center, within) = (*center, *within);
                let (from_px, to_px, duration_ms) = (*from_px, *to_px, *duration_ms);
                let pinch = fingers::Pinch { center, within, from_px, to_px, duration_ms };
                let display = self.display_for_fingers(link.link).await?;
                helper::two_fingers(&fingers::places(&display, &pinch), duration_ms)
            }
            Input::Text(typed) => return Some(self.insert(link, typed).await),
            Input::Back => return Some(self.press(link, &[Key::Back]).await),
            Input::Key(key) => return Some(self.press(link, &[*key]).await),
            Input::Erase { characters, has_lines } => {
                return Some(self.erase(link, *characters, *has_lines).await);
            }
            Input::HideKeyboard => return Some(self.close_keyboard(link).await),
            Input::Orientation(_) => return None,
        };
        Some(self.done(link, &Request::Touch(samples)).await)
    }

    async fn done(&self, link: Timed<'_>, request: &Request) -> Result<(), LinkError> {
        match self.helper.ask_until(link.link, request, link.until).await? {
            Answer::Done => Ok(()),
            _ => Err(link.link.cut("an answer to another request")),
        }
    }

    async fn insert(&self, link: Timed<'_>, typed: &str) -> Result<(), LinkError> {
        let text = typed.to_owned();
        let request = Request::Text { mode: TextMode::Insert, serial: 0, index: 0, text };
        self.helper.ask_until(link.link, &request, link.until).await.map(drop)
    }

    async fn press(&self, link: Timed<'_>, keys: &[Key]) -> Result<(), LinkError> {
        let press = |key: &Key| KeyPress { code: gesture::code(*key), meta: 0, hold_ms: 0 };
        for (part, keys) in keys.chunks(KEYS_MAX).enumerate() {
            let sent = self.done(link, &Request::Keys(keys.iter().map(press).collect())).await;
            // Whatever becomes of a later part, the first one was pressed.
            sent.map_err(|error| if part == 0 { error } else { error.in_the_middle() })?;
        }
        Ok(())
    }

    async fn erase(&self, link: Timed<'_>, characters: u32, has_lines: bool) -> Result<(), LinkError> {
        let characters = characters as usize;
        let after = if has_lines { characters } else { 0 };
        let mut keys = vec![Key::MoveEnd];
        keys.extend(std::iter::repeat_n(Key::Delete, characters));
        keys.extend(std::iter::repeat_n(Key::ForwardDelete, after));
        self.press(link, &keys).await
    }

    /// Back closes the keyboard, and is sent only while that is shown.
    async fn close_keyboard(&self, link: Timed<'_>) -> Result<(), LinkError> {
        match self.helper.keyboard(link.link).await.map_err(LinkError::before_effect)? {
            Some(_) => self.press(link, &[Key::Back]).await,
            None => Ok(()),
        }
    }

    /// Returns the screen as a pinch needs it; nothing if the device does not tell its density.
    async fn display_for_fingers(&self, link: &Link) -> Option<fingers::Display> {
        if self.helper.last_tree().is_none() {
            self.helper.snapshot(link, None).await.ok()?;
        }
        let (width, height, rotation) = self.helper.last_tree()?.display;
        let output = self.run(&Script::new("wm density"), SHORT_BYTES_MAX).await.ok()?;
        let density = fingers::density(&output.stdout_text())?;
        Some(fingers::Display { rotation, width: width.into(), height: height.into(), density })
    }

    /// Acts on an element of the last snapshot through accessibility.
    pub(super) async fn perform(
        &self,
        action: &NativeAction,
        until: Option<Instant>,
    ) -> Result<(), DeviceError> {
        let not_supported = || DeviceError::not_supported("act on elements other than by touch");
        let link = self.helper.link(self).await?.ok_or_else(not_supported)?;
        let last = self.helper.last_tree().ok_or_else(not_supported)?;
        let (NativeAction::Activate { index: element }
        | NativeAction::SetText { index: element, .. }
        | NativeAction::SetValue { index: element, .. }) = action;
        let serial = last.serial;
        let index = *last.origins.get(*element as usize).ok_or_else(|| {
            DeviceError::new(
                DeviceErrorKind::InvalidRequest,
                format!("the last tree has no element {element}"),
            )
        })?;
        let act = |action, argument| Request::Action { serial, index, action, argument };
        let request = match action {
            NativeAction::Activate { .. } => act(helper::ACTION_CLICK, Argument::None),
            NativeAction::SetText { text, .. } => {
                Request::Text { mode: TextMode::Replace, serial, index, text: text.clone() }
            }
            NativeAction::SetValue { value, .. } => {
                let range = last.ranges.iter().find(|(at, _)| at == element).map(|(_, range)| *range);
                let range =
                    range.ok_or_else(|| DeviceError::not_supported("set the value of what has no range"))?;
                let way = f64::from(range.max) - f64::from(range.min);
                let progress = f64::from(range.min) + value.clamp(0.0, 1.0) * way;
                act(helper::ACTION_SET_PROGRESS, Argument::Progress(progress as f32))
            }
        };
        self.helper.ask_until(&link, &request, until).await.map(drop).map_err(LinkError::of_effect)
    }

    async fn input_by_shell(&self, input: Input) -> Result<(), DeviceError> {
        let script = match input {
            Input::Text(typed) => return self.type_text(&typed).await,
            Input::HideKeyboard => return self.hide_keyboard().await,
            Input::Orientation(wanted) => return self.turn_screen(wanted).await,
            Input::Tap(point) => gesture::tap(point),
            Input::DoubleTap(point) => gesture::double_tap(point),
            Input::Swipe { from, to, duration_ms } | Input::Scroll { from, to, duration_ms } => {
                gesture::swipe(from, to, duration_ms)
            }
            Input::LongPress { point, duration_ms } => gesture::swipe(point, point, duration_ms),
            Input::Drag { from, to, hold_ms, duration_ms } => {
                return self.drag(&gesture::drag(from, to, hold_ms, duration_ms)).await;
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let pinch = fingers::Pinch { center, within, from_px, to_px, duration_ms };
                return self.pinch(&pinch).await;
            }
            Input::Back => gesture::press(Key::Back),
            Input::Key(key) => gesture::press(key),
            Input::Erase { characters, has_lines } => gesture::erase(characters, has_lines),
        };
        self.act(&script).await.map(drop)
    }

    /// Refuses what cannot be typed, and asks the device only about a text that needs its clipboard.
    pub(super) async fn find_text_typeable(&self, typed: &str) -> Result<(), DeviceError> {
        if typed.chars().count() > text::TEXT_CHARS_MAX {
            let detail =
                format!("the text has more than {} characters; type it in parts", text::TEXT_CHARS_MAX);
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        if text::plan(typed) != Typing::Paste {
            return Ok(());
        }
        if typed.contains('\0') {
            let detail = "the text has a NUL character, which no shell command can carry";
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        // A helper inserts any text.
        if self.helper.link(self).await?.is_some() {
            return Ok(());
        }
        let output = self.run(&Script::new("cmd clipboard"), SHORT_BYTES_MAX).await?;
        if output.message().contains(NO_SHELL_COMMANDS) {
            return Err(no_clipboard());
        }
        Ok(())
    }

    async fn type_text(&self, typed: &str) -> Result<(), DeviceError> {
        let done = match text::plan(typed) {
            Typing::Keys(script) => self.act(&script).await.map(drop),
            Typing::Paste => self.paste(typed).await,
        };
        // A device may repeat the command in its message, and the text may be a secret (F66).
        done.map_err(|error| DeviceError { detail: text::without(&error.detail, typed), ..error })
    }

    async fn paste(&self, typed: &str) -> Result<(), DeviceError> {
        let output = self.act_with_code(&text::paste(typed)).await?;
        match output.exit_code {
            0 => Ok(()),
            text::NO_CLIPBOARD => Err(no_clipboard()),
            text::CLIPBOARD_KEPT => {
                let detail = "the text was pasted, and the clipboard still holds it: it could not be cleared";
                Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Taken))
            }
            _ => Err(rejected(&output)),
        }
    }

    async fn drag(&self, script: &Script) -> Result<(), DeviceError> {
        let output = self.act_with_code(script).await?;
        match output.exit_code {
            0 => Ok(()),
            gesture::TOO_OLD => Err(gesture::cannot_hold()),
            _ => Err(rejected(&output)),
        }
    }

    async fn pinch(&self, pinch: &fingers::Pinch) -> Result<(), DeviceError> {
        let seen = self.run(&fingers::query_script(), SHORT_BYTES_MAX).await?.stdout_text();
        let panel = fingers::panel(&seen)
            .ok_or_else(|| gesture::pinch_not_supported("no touch screen under /dev/input can be written"))?;
        let display = fingers::display(&seen).ok_or_else(|| {
            gesture::pinch_not_supported("the device does not tell how its screen is turned")
        })?;
        let output = self.act_with_code(&fingers::pinch_script(&panel, &display, pinch)).await?;
        match output.exit_code {
            0 => Ok(()),
            fingers::EVENT_REFUSED => {
                Err(gesture::pinch_not_supported(&format!("{:.200}", output.message())))
            }
            _ => Err(rejected(&output)),
        }
    }

    async fn hide_keyboard(&self) -> Result<(), DeviceError> {
        let output = self.act_with_code(&gesture::hide_keyboard()).await?;
        match output.exit_code {
            0 => Ok(()),
            gesture::KEYBOARD_UNKNOWN => Err(gesture::keyboard_unknown()),
            _ => Err(rejected(&output)),
        }
    }

    async fn turn_screen(&self, wanted: Orientation) -> Result<(), DeviceError> {
        let size = self.run(&Script::new("wm size"), SHORT_BYTES_MAX).await?;
        let wide = gesture::is_naturally_wide(&size.stdout_text());
        self.act(&gesture::orientation(wanted, wide)).await.map(drop)
    }
}

/// A device may repeat a typed text in its message, and the text may be a secret (F66).
fn without_text(error: DeviceError, input: &Input) -> DeviceError {
    match input {
        Input::Text(typed) => DeviceError { detail: text::without(&error.detail, typed), ..error },
        _ => error,
    }
}

fn no_clipboard() -> DeviceError {
    let detail = "the text has characters that `input text` cannot type, and this device's shell cannot set the clipboard";
    DeviceError::new(DeviceErrorKind::TextNotTypeable, detail)
}
