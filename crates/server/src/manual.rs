//! What a package of the system brings along besides the program: completions for shells, and manual pages.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;

const NAME: &str = "mobile-debug-mcp";
/// Prefix of commands that only this program itself starts.
const STAND_IN: &str = "-stand-in";

pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut for_people(), NAME, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page of the program; with a folder, the names of all pages, which are written into it. What lies there
/// besides is left alone.
pub fn man(folder: Option<&Path>) -> Result<String, String> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(for_people()).render(&mut page).map_err(|error| error.to_string())?;
        return Ok(String::from_utf8_lossy(&page).into_owned());
    };
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(wrong)?;
    let mut whole = for_people().disable_help_subcommand(true);
    whole.build();
    let (mut names, mut waiting) = (Vec::new(), vec![whole]);
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(command);
        page.generate_to(folder).map_err(wrong)?;
        names.push(page.get_filename());
    }
    names.sort();
    Ok(names.join("\n"))
}

/// The commands without those that only this program itself starts: hiding them does not keep them out of every shell's
/// completions.
fn for_people() -> Command {
    let whole = Cli::command();
    let mut shown = Command::default().name(NAME).version(env!("CARGO_PKG_VERSION"));
    if let Some(about) = whole.get_about() {
        shown = shown.about(about.clone());
    }
    let shown = shown.args(whole.get_arguments().cloned());
    shown.subcommands(whole.get_subcommands().filter(|c| !c.get_name().ends_with(STAND_IN)).cloned())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_completes_commands_and_options_but_no_stand_in() {
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            for wanted in ["doctor", "completions", "read-only", "companion-port"] {
                assert!(script.contains(wanted), "{shell}: {wanted}");
            }
            assert!(!script.contains(STAND_IN), "{shell}");
        }
    }

    #[test]
    fn there_is_a_page_for_the_program_and_for_every_command() {
        let page = man(None).unwrap();
        assert!(page.contains(".TH mobile-debug-mcp 1") && page.contains("\\-\\-read\\-only"), "{page}");
        let folder = std::env::temp_dir().join(format!("mdm-man-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("notes.txt"), "of somebody else").unwrap();
        let names = man(Some(&folder)).unwrap();
        let written: Vec<bool> = names.lines().map(|name| folder.join(name).is_file()).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(written.into_iter().all(|is_there| is_there), "{names}");
        for wanted in ["mobile-debug-mcp.1", "mobile-debug-mcp-serve.1", "mobile-debug-mcp-virtual-android.1"]
        {
            assert!(names.lines().any(|name| name == wanted), "{wanted}: {names}");
        }
        assert!(!names.contains(STAND_IN) && !names.contains("notes.txt"), "{names}");
    }
}
