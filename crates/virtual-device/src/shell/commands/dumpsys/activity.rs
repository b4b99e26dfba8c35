//! `dumpsys activity`: tasks, activities and processes.

use std::fmt::Write as _;

use super::newer;
use crate::state::State;

pub fn dump(state: &State, words: &[&str]) -> String {
    match words.first() {
        Some(&("activities" | "a")) => activities(state),
        Some(&"top") => top(state),
        Some(&("services" | "s" | "service")) => {
            words.get(1).and_then(|name| crate::helpers::services(state, name)).unwrap_or_else(services)
        }
        Some(&("processes" | "p" | "lru" | "o" | "oom")) => processes(state),
        Some(&("recents" | "r")) => recents(state),
        Some(&("broadcasts" | "b")) => {
            "ACTIVITY MANAGER BROADCAST STATE (dumpsys activity broadcasts)\n  (nothing)\n".to_owned()
        }
        Some(&("providers" | "prov")) => {
            "ACTIVITY MANAGER CONTENT PROVIDERS (dumpsys activity providers)\n  (nothing)\n".to_owned()
        }
        Some(word) if !word.starts_with('-') => {
            format!("No activities match: {word}\nUse -h for help.\n")
        }
        _ => [services(), recents(state), activities(state), processes(state)]
            .join(&format!("{}\n", "-".repeat(79))),
    }
}

/// A task and its activities, the top one last.
pub struct TaskRecord<'a> {
    pub id: u32,
    pub package: &'a str,
    pub stack: Vec<&'a str>,
    /// An activity of another app over all of them.
    pub guest: Option<(&'a str, &'a str)>,
}

/// Returns every task, the front one last.
pub fn tasks(state: &State) -> Vec<TaskRecord<'_>> {
    let known = state.surface.tasks().into_iter();
    let mut all: Vec<TaskRecord<'_>> = known
        .map(|task| TaskRecord { id: task.id, package: task.package, stack: task.stack, guest: None })
        .collect();
    let (asking, asker) = state.surface.windows(&state.screen()).focused;
    if asking != state.front().0
        && let Some(task) = all.last_mut()
    {
        // An activity of another app, in the task of the one that asks.
        task.guest = Some((asking, asker));
    }
    all
}

fn hash(task: u32, index: usize) -> u32 {
    // Identity hashes look random and stay the same while the object lives.
    (task.wrapping_mul(0x009e_3779).wrapping_add(index as u32 * 0x0051_ed27) & 0x0fff_ffff) | 0x0100_0000
}

pub fn record(task: &TaskRecord<'_>, index: usize) -> String {
    let activity = task.stack.get(index).copied().unwrap_or("");
    format!("ActivityRecord{{{:07x} u0 {}/{activity} t{}}}", hash(task.id, index), task.package, task.id)
}

/// Returns the resumed activity.
pub fn front_record(state: &State) -> String {
    match tasks(state).last() {
        Some(TaskRecord { id, guest: Some((package, activity)), .. }) => {
            format!("ActivityRecord{{{:07x} u0 {package}/{activity} t{id}}}", hash(*id, 50))
        }
        Some(task) => record(task, task.stack.len().saturating_sub(1)),
        None => "null".to_owned(),
    }
}

fn uid_of(state: &State, package: &str) -> u32 {
    state.packages.get(package).map_or(1000, |p| p.uid)
}

fn kind(task: &TaskRecord<'_>) -> &'static str {
    if task.package == crate::app::launcher::PACKAGE { "home" } else { "standard" }
}

fn task_name(state: &State, task: &TaskRecord<'_>) -> String {
    format!(
        "Task{{{:07x} #{} type={} A={}:{}",
        hash(task.id, 99),
        task.id,
        kind(task),
        uid_of(state, task.package),
        task.package
    )
}

fn task_line(state: &State, task: &TaskRecord<'_>, front: bool) -> String {
    let requested = if newer(state) { format!(" visibleRequested={front}") } else { String::new() };
    format!(
        "{} U=0 visible={front}{requested} mode=fullscreen translucent={} sz={}}}",
        task_name(state, task),
        !front,
        task.stack.len()
    )
}

fn activities(state: &State) -> String {
    let mut out = "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n\
                   Display #0 (activities from top to bottom):\n"
        .to_owned();
    let front = tasks(state).last().map(|task| task.id);
    let resumed = front_record(state);
    for task in tasks(state).iter().rev() {
        let is_front = Some(task.id) == front;
        let _ = writeln!(out, "  * {}", task_line(state, task, is_front));
        if is_front && newer(state) {
            let _ = writeln!(out, "    topResumedActivity={resumed}");
        } else if is_front {
            let _ = writeln!(out, "    mResumedActivity: {resumed}");
        }
        for index in (0..task.stack.len()).rev() {
            let shown = is_front && index + 1 == task.stack.len();
            activity(state, task, index, shown, &mut out);
        }
        out.push('\n');
    }
    if !newer(state) {
        let _ = write!(
            out,
            "  Resumed activities in task display areas (from top to bottom):\n    Resumed: {resumed}\n\n"
        );
    }
    let _ = write!(
        out,
        "  ResumedActivity: {resumed}\n\nActivityTaskSupervisor state:\n  topDisplayFocusedRootTask={}}}\n  \
         mCurTaskIdForUser={{0={}}}\n  mUserRootTaskInFront={{}}\n  isHomeRecentsComponent=true\n  \
         KeyguardController:\n    mKeyguardShowing=false\n    mAodShowing=false\n    mKeyguardGoingAway=false\n  \
         mFocusedApp={resumed}\n",
        tasks(state).last().map_or_else(|| "null".to_owned(), |task| task_name(state, task)),
        tasks(state).iter().map(|task| task.id).max().unwrap_or(0),
    );
    out
}

/// Writes one activity of a task, with what clients look for in its block.
fn activity(state: &State, task: &TaskRecord<'_>, index: usize, shown: bool, out: &mut String) {
    let label = if newer(state) { "Hist  #" } else { "Hist #" };
    let uid = uid_of(state, task.package);
    let component = format!("{}/{}", task.package, task.stack.get(index).copied().unwrap_or(""));
    let apk = state.packages.get(task.package).map_or_else(String::new, crate::packages::Package::apk);
    let process = match state.processes.pid(task.package) {
        Some(pid) => {
            format!("app=ProcessRecord{{{:07x} {pid}:{}/{}}}", hash(pid, 1), task.package, user(uid))
        }
        None => "app=null".to_owned(),
    };
    let run_state = if shown { "RESUMED" } else { "STOPPED" };
    let _ = write!(
        out,
        "    * {label}{index}: {}\n      packageName={p} processName={p}\n      \
         launchedFromUid=2000 launchedFromPackage=com.android.shell launchedFromFeature=null userId=0\n      {process}\n      \
         Intent {{ act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] flg=0x10000000 cmp={component} }}\n      \
         rootOfTask={} task={}}}\n      taskAffinity={uid}:{p}\n      mActivityComponent={component}\n      \
         baseDir={apk}\n      dataDir=/data/user/0/{p}\n      \
         stateNotNeeded=false componentSpecified=true mActivityType={}\n      \
         mHaveState={} mIcicle=null\n      state={run_state} delayedResume=false finishing=false\n      \
         keysPaused=false inHistory=true idle=true\n      \
         mVisibleRequested={shown} mVisible={shown} mClientVisible={shown} reportedDrawn={shown} reportedVisible={shown}\n",
        record(task, index),
        index == 0,
        task_name(state, task),
        kind(task),
        !shown,
        p = task.package,
    );
}

/// Returns `u0a123` for apps, and the number for the system's own user.
pub fn user(uid: u32) -> String {
    match uid {
        1000 => "1000".to_owned(),
        uid => format!("u0a{}", uid.saturating_sub(10_000)),
    }
}

fn recents(state: &State) -> String {
    let mut out = "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n  Recent tasks:\n".to_owned();
    for (index, task) in tasks(state).iter().rev().enumerate() {
        let _ = write!(
            out,
            "  * Recent #{index}: {}\n    userId=0 effectiveUid={uid} mCallingUid=2000\n    affinity={uid}:{}\n    \
             realActivity={{{}/{}}}\n",
            task_line(state, task, index == 0),
            task.package,
            task.package,
            task.stack.first().copied().unwrap_or(""),
            uid = uid_of(state, task.package),
        );
    }
    out
}

fn top(state: &State) -> String {
    let all = tasks(state);
    let Some(task) = all.last() else { return String::new() };
    let index = task.stack.len().saturating_sub(1);
    let pid = state.processes.pid(task.package).unwrap_or(0);
    let name = if newer(state) {
        format!(
            "{}:{} id={} userId=0 displayId=0(type=INTERNAL)",
            uid_of(state, task.package),
            task.package,
            task.id
        )
    } else {
        format!("{} id={} userId=0", task.package, task.id)
    };
    let screen = state.screen();
    format!(
        "TASK {name}\n  ACTIVITY {}/{} {:07x} pid={pid}\n    Local Activity {:07x} State:\n      \
         mResumed=true mStopped=false mFinished=false\n      mIsInMultiWindowMode=false mIsInPictureInPictureMode=false\n      \
         mChangingConfigurations=false\n    View Hierarchy:\n      DecorView@{:07x}[{}]{{V.E...... R....... 0,0-{},{}}}\n",
        task.package,
        task.stack.get(index).copied().unwrap_or(""),
        hash(task.id, index),
        hash(task.id, index + 7),
        hash(task.id, index + 9),
        task.stack.get(index).copied().unwrap_or("").trim_start_matches('.'),
        screen.width,
        screen.height,
    )
}

fn services() -> String {
    "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n  (nothing)\n".to_owned()
}

fn processes(state: &State) -> String {
    let front = state.front().0;
    let mut out = "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n  All known processes:\n"
        .to_owned();
    for (name, pid) in state.processes.iter() {
        let uid = uid_of(state, name);
        let kind = if uid == 1000 { "PERS" } else { "APP" };
        let _ = write!(
            out,
            "  *{kind}* UID {uid} ProcessRecord{{{:07x} {pid}:{name}/{}}}\n    user #0 uid={uid}\n    \
             packageList={{{name}}}\n    curProcState={}\n",
            hash(pid, 1),
            user(uid),
            if name == front { 2 } else { 19 },
        );
    }
    let _ = writeln!(
        out,
        "\n  Process LRU list (sorted by oom_adj, {} total, non-act at 0, non-svc at 0):",
        state.processes.iter().len()
    );
    for (index, (name, pid)) in state.processes.iter().enumerate() {
        let shown = if name == front { "fg     T/A/TOP  LCMNFUA" } else { "cch    B/ /CAC  -------" };
        let why = if name == front { "(top-activity)" } else { "(cch-empty)" };
        let _ = writeln!(
            out,
            "    Proc #{index:2}: {shown}  t: 0 {pid}:{name}/{} {why}",
            user(uid_of(state, name))
        );
    }
    out
}
