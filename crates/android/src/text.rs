//! Plans how to type a text: with `input text` if a US keyboard has its characters, else through the clipboard.

use crate::adb::Script;

/// A longer text does not fit into a command line on every device.
pub const TEXT_CHARS_MAX: usize = 4000;

/// A shorter text in a device's message may be a word of the message.
const ECHO_CHARS_MIN: usize = 4;
/// Exit code of the paste script: the shell cannot set the clipboard; nothing was pasted.
pub const NO_CLIPBOARD: u8 = 22;
/// The text was pasted, and the clipboard could not be cleared.
pub const CLIPBOARD_KEPT: u8 = 23;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typing {
    /// One script of `input` commands.
    Keys(Script),
    /// Through the clipboard, because `input text` supports only the characters of a US keyboard.
    Paste,
}

pub fn plan(text: &str) -> Typing {
    if !text.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
        return Typing::Paste;
    }
    let mut script = Script::new("true");
    let mut run = String::new();
    for c in text.chars() {
        match c {
            '\n' => script = flush(script, &mut run).then(" && input keyevent 66"),
            '\t' => script = flush(script, &mut run).then(" && input keyevent 61"),
            // `input text` turns %s into a space, so a real "%s" is typed as two runs and a real space as %s.
            ' ' => run.push_str("%s"),
            's' if run.ends_with('%') => {
                script = flush(script, &mut run);
                run.push('s');
            }
            other => run.push(other),
        }
    }
    Typing::Keys(flush(script, &mut run))
}

/// Pastes through the clipboard and clears it, so that no app finds there what may be a secret (F66). A service without
/// shell commands says so and counts as success.
pub fn paste(text: &str) -> Script {
    Script::new("o=$(cmd clipboard set text")
        .arg(text)
        .then(" 2>&1); r=$?; if [ $r -gt 128 ]; then exit $r; fi; ")
        .then("case \"$o\" in *'No shell command'*) exit 22;; esac; if [ $r -ne 0 ]; then exit 22; fi; ")
        .then("input keyevent 279; r=$?; cmd clipboard set text '' >/dev/null 2>&1; c=$?; ")
        .then("if [ $r -eq 0 ] && [ $c -ne 0 ]; then exit 23; fi; exit $r")
}

/// Takes the typed text out of a device's message, in the forms in which a command line holds it.
pub fn without(message: &str, typed: &str) -> String {
    let forms = [typed.to_owned(), typed.replace(' ', "%s"), typed.replace('\'', "'\\''")];
    let forms = forms.iter().filter(|form| form.chars().count() >= ECHO_CHARS_MIN);
    forms.fold(message.to_owned(), |message, form| message.replace(form.as_str(), "(the text)"))
}

fn flush(script: Script, run: &mut String) -> Script {
    if run.is_empty() {
        return script;
    }
    script.then(" && input text").arg(&std::mem::take(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> String {
        match plan(text) {
            Typing::Keys(script) => script.as_str().unwrap().to_owned(),
            Typing::Paste => "paste".to_owned(),
        }
    }

    #[test]
    fn spaces_percent_and_shell_characters_are_escaped() {
        assert_eq!(keys("a b"), "true && input text 'a%sb'");
        assert_eq!(keys("100%s"), "true && input text '100%' && input text 's'");
        assert_eq!(keys("; $(x) & \""), "true && input text ';%s$(x)%s&%s\"'", "S1");
        assert_eq!(keys("a\nb"), "true && input text 'a' && input keyevent 66 && input text 'b'");
        assert_eq!(keys(""), "true");
    }

    #[test]
    fn a_device_that_repeats_the_text_is_not_passed_on() {
        // F66
        assert_eq!(without("input: bad text 'my%spass'", "my pass"), "input: bad text '(the text)'");
        assert_eq!(without("no such text: ab", "ab"), "no such text: ab");
    }

    #[test]
    fn characters_outside_a_us_keyboard_are_pasted() {
        assert_eq!(plan("héllo"), Typing::Paste);
        assert_eq!(plan("😀"), Typing::Paste);
        assert_eq!(plan("bell\u{7}"), Typing::Paste);
    }
}
