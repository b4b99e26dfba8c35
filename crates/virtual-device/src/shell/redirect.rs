//! Redirections: `> file`, `2>&1`, `< file`, here-documents.

use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
};
use bytes::Bytes;

use super::execute::Shell;
use super::io::{Input, Io, Output};
use crate::fs::resolve;

impl Shell {
    /// Returns the streams after a redirection, or the shell's error message.
    pub async fn redirect(&mut self, redirect: &IoRedirect, io: Io) -> Result<Io, String> {
        match redirect {
            IoRedirect::File(fd, kind, target) => self.redirect_file(*fd, kind, target, io).await,
            IoRedirect::HereDocument(_, document) => {
                let text = if document.requires_expansion {
                    self.single(&document.doc.value, &io).await?
                } else {
                    document.doc.value.clone()
                };
                Ok(Io { stdin: Input::bytes(Bytes::from(text)), ..io })
            }
            IoRedirect::HereString(_, word) => {
                let text = self.single(&word.value, &io).await? + "\n";
                Ok(Io { stdin: Input::bytes(Bytes::from(text)), ..io })
            }
            IoRedirect::OutputAndError(word, append) => {
                let path = self.single(&word.value, &io).await?;
                let output = self.open_output(&path, *append, &io)?;
                Ok(Io { stdout: output.clone(), stderr: output, ..io })
            }
        }
    }

    async fn redirect_file(
        &mut self,
        fd: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        io: Io,
    ) -> Result<Io, String> {
        let word = match target {
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                self.single(&word.value, &io).await?
            }
            IoFileRedirectTarget::Fd(fd) => fd.to_string(),
            IoFileRedirectTarget::ProcessSubstitution(..) => {
                return Err("syntax error: unexpected '('".to_owned());
            }
        };
        match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::ReadAndWrite => {
                Ok(Io { stdin: self.open_input(&word)?, ..io })
            }
            IoFileRedirectKind::DuplicateInput => Ok(io),
            IoFileRedirectKind::DuplicateOutput => {
                let output = match word.as_str() {
                    "1" => io.stdout.clone(),
                    "2" => io.stderr.clone(),
                    "-" => Output::Null,
                    other => return Err(format!("{other}: bad file descriptor")),
                };
                put_output(fd, output, io)
            }
            IoFileRedirectKind::Write | IoFileRedirectKind::Clobber | IoFileRedirectKind::Append => {
                let append = matches!(kind, IoFileRedirectKind::Append);
                let output = self.open_output(&word, append, &io)?;
                put_output(fd, output, io)
            }
        }
    }

    fn open_input(&self, path: &str) -> Result<Input, String> {
        if path == "/dev/null" {
            return Ok(Input::empty());
        }
        let data = self.phone.with(|state| state.fs.read(&resolve(&self.cwd, path)));
        match data {
            Ok(data) => Ok(Input::bytes(data)),
            Err(error) => Err(format!("can't open {path}: {}", error.text())),
        }
    }

    fn open_output(&self, path: &str, append: bool, io: &Io) -> Result<Output, String> {
        match path {
            "/dev/null" => return Ok(Output::Null),
            "/dev/tty" | "/dev/stdout" => return Ok(io.stdout.clone()),
            "/dev/stderr" => return Ok(io.stderr.clone()),
            _ => {}
        }
        let path = resolve(&self.cwd, path);
        let opened = self.phone.with(|state| {
            let now = state.now_s();
            if append {
                state.fs.append(&path, b"", now)
            } else {
                state.fs.write(&path, Bytes::new(), 0o644, now)
            }
        });
        match opened {
            Ok(()) => Ok(Output::File { phone: self.phone.clone(), path }),
            Err(error) => Err(format!("can't create {path}: {}", error.text())),
        }
    }
}

fn put_output(fd: Option<i32>, output: Output, io: Io) -> Result<Io, String> {
    match fd {
        None | Some(1) => Ok(Io { stdout: output, ..io }),
        Some(2) => Ok(Io { stderr: output, ..io }),
        Some(other) => Err(format!("{other}: bad file descriptor")),
    }
}

/// Returns the streams that a background command keeps open. A command that redirects all its output holds none, so
/// the shell that started it can end: that is how clients detach programs.
pub fn inherited(list: &AndOrList, io: &Io) -> Io {
    let nothing = Io { stdout: Output::Null, stderr: Output::Null, ..io.clone() };
    let ([Command::Simple(simple)], true) = (list.first.seq.as_slice(), list.additional.is_empty()) else {
        return io.clone();
    };
    let items = simple.prefix.iter().flat_map(|p| &p.0).chain(simple.suffix.iter().flat_map(|s| &s.0));
    let (mut out, mut err) = (false, false);
    for item in items {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::OutputAndError(..)) => {
                (out, err) = (true, true)
            }
            CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::File(fd, kind, _)) => match (fd, kind) {
                (None | Some(1), IoFileRedirectKind::Write | IoFileRedirectKind::Append) => out = true,
                (Some(2), IoFileRedirectKind::Write | IoFileRedirectKind::Append) => err = true,
                // A copy of an output that already goes elsewhere.
                (Some(2), IoFileRedirectKind::DuplicateOutput) => err = out,
                _ => {}
            },
            _ => {}
        }
    }
    if out && err { nothing } else { io.clone() }
}
