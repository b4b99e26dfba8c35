//! Commands that read screens, logs and crash reports from files with the same code as the tools.

use std::path::Path;

use mdm_core::change::tracker::Tracker;
use mdm_core::intent::resolve::Search;
use mdm_core::outline::OutlineOptions;
use mdm_core::screen::snapshot::Snapshot;
use mobile_debug_mcp::answer::{Answer, Facts};
use mobile_debug_mcp::found;
use mobile_debug_mcp::log_file;
use mobile_debug_mcp::symbols;
use mobile_debug_mcp::target::SelectorArg;
use mobile_debug_mcp::tools::facts::{LogFileFacts, crash_lines};
use mobile_debug_mcp::tree::{self, DeltaJson, TreeHead, TreeJson};

use crate::cli::{DiffArgs, FindArgs, FormatArg, LogArgs, TreeArgs};

/// Limit of a file.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Tokens of a difference between two files; the rest is cut.
const DIFF_TOKENS_MAX: usize = 8000;

pub fn tree(args: &TreeArgs) -> Result<Answer, String> {
    let seen = tree::seen(load(&args.file)?);
    let head = TreeHead::new(None, &seen);
    if args.format == FormatArg::Json {
        return Ok(Answer::new(Facts::Tree(Box::new(TreeJson::new(head, seen, None)))));
    }
    let options =
        OutlineOptions { points: args.coordinates, stable_ids: args.ids, ..OutlineOptions::default() };
    let part = tree::OutlinePart { options, max_tokens: args.max_tokens as usize, page: args.page as usize };
    Ok(tree::outline_answer(head, &seen, &part))
}

pub fn find(args: &FindArgs) -> Result<Answer, String> {
    let search = match (&args.selector, &args.query) {
        (Some(json), _) => {
            let selector: SelectorArg = serde_json::from_str(json)
                .map_err(|error| format!("the selector cannot be read: {error}"))?;
            selector.selector().map(Search::Selector)
        }
        (None, words) => found::words(words.as_deref().unwrap_or_default(), args.exact),
    };
    let search = search.map_err(|refusal| refusal.to_string())?;
    let seen = tree::seen(load(&args.file)?);
    Ok(found::answer(&search, None, &seen, args.format == FormatArg::Json))
}

pub fn diff(args: &DiffArgs) -> Result<Answer, String> {
    let mut tracker = Tracker::default();
    tracker.observe(load(&args.before)?, 0);
    tracker.mark_reported();
    let now = tracker.observe(load(&args.after)?, 1);
    let since = tracker.since(1).ok_or("the first screen was not kept")?;
    if args.format == FormatArg::Json {
        let head = TreeHead::new(None, &now).since(Some(&since), &now);
        return Ok(Answer::new(Facts::Delta(Box::new(DeltaJson::new(head, &since, &now)))));
    }
    let options = OutlineOptions::default();
    let part = tree::OutlinePart { options, max_tokens: DIFF_TOKENS_MAX, page: 1 };
    Ok(tree::changes_answer(tree::Around::default(), &since, &now, &part))
}

/// The crashes in a file, their frames named where symbols are given, and what became of the file's lines.
pub fn log(args: &LogArgs) -> Result<Answer, String> {
    let mut file = log_file::read(&bytes(&args.file)?);
    let mut lines = String::new();
    for report in &mut file.crashes {
        let mut problem = None;
        if let Some(symbols) = &args.symbols {
            let named = symbols::name_frames(report, symbols).map_err(|refusal| refusal.to_string())?;
            (*report, problem) = (named.report, named.problem);
        }
        lines.push_str(&format!("! {}\n{}", report.summary(), crash_lines(report)));
        if let Some(problem) = problem {
            lines.push_str(&format!("symbols: {problem}\n"));
        }
    }
    Ok(Answer::new(Facts::LogFile(LogFileFacts::new(&file))).with_lines(&lines))
}

fn load(path: &Path) -> Result<Snapshot, String> {
    let known =
        "known are uiautomator and Appium hierarchies, WebDriverAgent and idb answers, and get_ui_tree json";
    tree::read(&bytes(path)?)
        .map(|(_, snapshot)| snapshot)
        .ok_or_else(|| format!("{}: this shows no screen; {known}", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let say = |error: std::io::Error| format!("{}: {error}", path.display());
    let size = std::fs::metadata(path).map_err(say)?.len();
    if size > FILE_BYTES_MAX {
        return Err(format!(
            "{}: {size} bytes are more than the {FILE_BYTES_MAX} that are read",
            path.display()
        ));
    }
    std::fs::read(path).map_err(say)
}
