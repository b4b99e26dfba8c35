//! Real processes: how they end, and that nothing of them is left.

use std::time::Duration;

use mdm_build::process::{Command, Ending, LINE_BYTES_MAX, LINES_MAX, Processes, run};
use tokio_util::sync::CancellationToken;

use crate::folder::Folder;

const LONG: Duration = Duration::from_secs(120);

fn shell(folder: &Folder, script: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap();
    Command {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.path().to_owned(),
        variables: [("PATH".into(), path), ("GIVEN".into(), "1".into())].into(),
    }
}

/// True while a process with this id runs; one that only waits for its parent counts as gone.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    state.is_ok_and(|state| !state.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

#[tokio::test]
async fn lines_of_both_pipes_come_with_the_exit_code_and_only_stated_variables() {
    let folder = Folder::new();
    let script =
        "echo out; echo err >&2; printf '\\033[31mred\\033[0m\\rlast'; echo \" $GIVEN $HOME\"; exit 7";
    let mut heard = Vec::new();
    let command = shell(&folder, script);
    let output = run(&Processes::default(), &command, LONG, &CancellationToken::new(), |line| {
        heard.push(line.to_owned())
    })
    .await
    .unwrap();
    assert_eq!(output.ending, Ending::Exited(Some(7)));
    heard.sort();
    assert_eq!(heard, ["err", "last 1 ", "out", "red"], "HOME is not inherited");
}

#[tokio::test]
async fn memory_is_bounded_and_what_is_dropped_is_counted() {
    // S10
    let folder = Folder::new();
    let script = "i=0; while [ $i -lt 5000 ]; do echo line$i; i=$((i+1)); done; head -c 100000 /dev/zero | tr '\\0' x; echo";
    let output = run(&Processes::default(), &shell(&folder, script), LONG, &CancellationToken::new(), |_| {})
        .await
        .unwrap();
    assert_eq!((output.lines.len(), output.dropped_lines), (LINES_MAX, 5001 - LINES_MAX));
    assert_eq!(output.lines.back().map(String::len), Some(LINE_BYTES_MAX));
    assert_eq!(output.lines.front().map(String::as_str), Some("line1001"));
}

#[tokio::test]
async fn a_cancelled_program_ends_with_everything_it_started() {
    // MG-01: cancellation kills the process group.
    let folder = Folder::new();
    let script = "sleep 600 & echo $! > child; (trap '' TERM; sleep 601 & echo $! > stubborn; wait) & echo ready; wait";
    let cancelled = CancellationToken::new();
    let stop = cancelled.clone();
    let stubborn = folder.path().join("stubborn");
    let command = shell(&folder, script);
    let processes = Processes::default();
    let output = run(&processes, &command, LONG, &cancelled, |line| {
        assert_eq!(line, "ready");
        // The stubborn child has to be there before it can be left behind.
        while std::fs::read_to_string(&stubborn).unwrap_or_default().trim().is_empty() {
            std::thread::yield_now();
        }
        stop.cancel();
    });
    assert_eq!(output.await.unwrap().ending, Ending::Cancelled);
    for name in ["child", "stubborn"] {
        let id = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(!runs(&id), "{name} {id} still runs");
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended() {
    let folder = Folder::new();
    let time = Duration::from_millis(300);
    let command = shell(&folder, "echo $$ > id; echo one; sleep 600");
    let output = run(&Processes::default(), &command, time, &CancellationToken::new(), |_| {}).await.unwrap();
    assert_eq!((output.ending, output.lines.len()), (Ending::TimedOut, 1));
    assert!(!runs(&std::fs::read_to_string(folder.path().join("id")).unwrap()));
}

#[tokio::test]
async fn what_a_program_leaves_in_the_background_ends_with_it_and_holds_nothing_up() {
    let folder = Folder::new();
    let script = "sleep 600 & echo $! > left; echo done";
    let output = run(&Processes::default(), &shell(&folder, script), LONG, &CancellationToken::new(), |_| {})
        .await
        .unwrap();
    assert_eq!(output.ending, Ending::Exited(Some(0)));
    assert!(!runs(&std::fs::read_to_string(folder.path().join("left")).unwrap()));
}

#[tokio::test]
async fn a_dropped_future_ends_the_program() {
    let folder = Folder::new();
    let (to, from) = std::sync::mpsc::channel();
    let command = shell(&folder, "echo $$; sleep 600");
    let cancelled = CancellationToken::new();
    let processes = Processes::default();
    let running = run(&processes, &command, LONG, &cancelled, move |line| to.send(line.to_owned()).unwrap());
    let id = {
        tokio::pin!(running);
        loop {
            tokio::select! {
                _ = &mut running => panic!("it ended"),
                () = tokio::task::yield_now() => if let Ok(id) = from.try_recv() { break id },
            }
        }
    };
    while runs(&id) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    let command = Command { program: "/no/such/program".into(), ..shell(&folder, "") };
    assert!(run(&Processes::default(), &command, LONG, &CancellationToken::new(), |_| {}).await.is_err());
}

#[tokio::test]
async fn ending_all_waits_until_nothing_is_left() {
    let folder = Folder::new();
    let processes = Processes::default();
    let command = shell(&folder, "trap '' TERM; sleep 600 & echo $! > child; echo ready; wait; sleep 600");
    let (to, from) = tokio::sync::oneshot::channel();
    let running = tokio::spawn({
        let processes = processes.clone();
        let mut to = Some(to);
        async move {
            let heard = |_: &str| {
                let _ = to.take().map(|to| to.send(()));
            };
            run(&processes, &command, LONG, &CancellationToken::new(), heard).await
        }
    });
    from.await.unwrap();
    // The caller is gone, as when a client has closed its connection.
    running.abort();
    processes.end_all().await;
    assert!(!runs(&std::fs::read_to_string(folder.path().join("child")).unwrap()));
}
