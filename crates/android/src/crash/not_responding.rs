//! Apps that do not respond: the lines in the log, and the file with the stacks of their threads.

use mdm_core::port::{CrashKind, CrashReport, NOT_RESPONDING, Thrown};

use super::app_of_process;
use super::java::is_own;

/// `ANR in com.example (com.example/.Main)`, then `PID: 4321` and `Reason: …`.
pub fn report(first: &str, lines: &[&str]) -> Option<CrashReport> {
    let process = first.strip_prefix("ANR in ")?.split_whitespace().next()?;
    let value = |name: &str| lines.iter().find_map(|line| line.trim_start().strip_prefix(name));
    Some(silent(
        app_of_process(process),
        value("PID: ")?.trim().parse().ok()?,
        value("Reason: ").unwrap_or_default(),
    ))
}

fn silent(app: &str, pid: u32, reason: &str) -> CrashReport {
    CrashReport {
        app: app.to_owned(),
        pid,
        kind: CrashKind::NotResponding,
        thread: Some("main".to_owned()),
        thrown: vec![Thrown::new(NOT_RESPONDING, reason)],
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    }
}

/// Reads one process of a file of stacks: `----- pid 4321 at … -----`, `Cmd line: com.example`, `"main" prio=5 …`, frames.
pub fn stacks(lines: &[&str]) -> Option<CrashReport> {
    let pid = lines.first()?.strip_prefix("----- pid ")?.split_whitespace().next()?.parse().ok()?;
    let end = lines[1..].iter().position(|line| line.starts_with("----- ")).map_or(lines.len(), |at| at + 1);
    let lines = &lines[1..end];
    let app =
        lines.iter().find_map(|line| line.strip_prefix("Cmd line: ").or(line.strip_prefix("Cmdline: ")))?;
    let app = app_of_process(app.split_whitespace().next()?);
    let main = lines.iter().position(|line| line.starts_with("\"main\""))?;
    let state = lines[main].rsplit(' ').next().unwrap_or_default();
    let mut report = silent(app, pid, &format!("the main thread is {state}"));
    for line in lines[main + 1..].iter().take_while(|line| !line.trim().is_empty() && !line.starts_with('"'))
    {
        let text = line.trim_start();
        let thrown = &mut report.thrown[0];
        if let Some(frame) = text.strip_prefix("at ") {
            thrown.push_frame(frame, is_own(frame, app));
        } else if let Some(frame) = text.strip_prefix("native: ") {
            thrown.push_frame(frame, false);
        } else if text.starts_with("- waiting to lock") || text.starts_with("- locked") {
            thrown.push_frame(text, false);
        }
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_of_the_main_thread_says_where_it_hangs() {
        let text = "----- pid 4321 at 2024-01-02 10:11:12.123456789+0100 -----\nCmd line: com.example\nABI: 'arm64'\n\n\
                    \"main\" prio=5 tid=1 Blocked\n  | group=\"main\" sCount=1\n  at com.example.Db.query(Db.kt:40)\n  \
                    - waiting to lock <0x0a> (a java.lang.Object) held by thread 12\n  at android.os.Looper.loop(L.java:1)\n\n\
                    \"Signal Catcher\" daemon prio=10 tid=2 Runnable\n  at x.Y.z(Y.java:1)\n----- end 4321 -----\n";
        let lines: Vec<&str> = text.lines().collect();
        let report = stacks(&lines).unwrap();
        assert_eq!(
            (report.app.as_str(), report.pid, report.message()),
            ("com.example", 4321, "the main thread is Blocked")
        );
        assert_eq!(report.place().map(|frame| frame.text.as_str()), Some("com.example.Db.query(Db.kt:40)"));
        assert_eq!(report.thrown[0].frame_count, 3);
    }
}
