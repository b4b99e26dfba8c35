//! `dumpsys`: the few services whose text clients read.

use std::fmt::Write as _;

use super::{Answer, Call};
use crate::state::State;

pub fn dumpsys(state: &mut State, call: &Call<'_>) -> Answer {
    let words = call.words();
    match words.as_slice() {
        ["activity", "services", name, ..] => Answer::out(crate::helpers::services(state, name)),
        ["activity", "activities" | "a", ..] => Answer::out(activities(state)),
        ["activity", "top", ..] => Answer::out(activities(state)),
        ["activity", ..] => {
            Answer::out(format!("ACTIVITY MANAGER (dumpsys activity)\n{}", activities(state)))
        }
        ["window", ..] => Answer::out(windows(state)),
        ["input_method", ..] => {
            Answer::out(format!("  mInputShown={0}\n  mIsInputViewShown={0}\n", state.ui.keyboard_shown()))
        }
        ["package", name, ..] => Answer::out(package(state, name)),
        ["battery", ..] => Answer::out(
            "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  level: 87\n  scale: 100\n",
        ),
        ["power", ..] => Answer::out(
            "POWER MANAGER (dumpsys power)\n  mWakefulness=Awake\n  mHoldingDisplaySuspendBlocker=true\nDisplay Power: state=ON\n",
        ),
        ["display", ..] => Answer::out(display(state)),
        ["SurfaceFlinger", "--display-id", ..] => {
            Answer::out("Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"\"\n")
        }
        [] => Answer::out("Currently running services:\n  activity\n  package\n  window\n"),
        // Printed as an error, and still a success.
        [service, ..] => Answer::fail(0, format!("Can't find service: {service}\n")),
    }
}

fn display(state: &State) -> String {
    let (width, height) = state.physical_size();
    let frame = format!("Rect(0, 0 - {width}, {height})");
    format!(
        "DISPLAY MANAGER (dumpsys display)\n  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, \
         displayId=0, uniqueId='local:4619827259835644672', physicalPort=0, orientation=0, logicalFrame={frame}, \
         physicalFrame={frame}, deviceWidth={width}, deviceHeight={height}}}]\n  mBaseDisplayInfo=DisplayInfo{{\
         \"Built-in Screen\", displayId 0, real {width} x {height}, density {}}}\n",
        state.config.density
    )
}

fn record(package: &str, activity: &str, task: u32) -> String {
    format!("ActivityRecord{{{:07x} u0 {package}/{activity} t{task}}}", 0x1a_2b3c + task)
}

fn front_record(state: &State) -> String {
    let (package, activity) = state.ui.front();
    let task = state.ui.tasks().last().map_or(1, |t| t.id);
    record(package, activity, task)
}

fn activities(state: &State) -> String {
    let front = front_record(state);
    let mut out = "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n".to_owned();
    for task in state.ui.tasks().iter().rev() {
        let _ = writeln!(
            out,
            "  * Task{{{:07x} #{} type=standard A=10123:{} U=0 visible=true mode=fullscreen sz={}}}",
            0xabc_0000 + task.id,
            task.id,
            task.package,
            task.stack.len()
        );
        for (index, activity) in task.stack.iter().enumerate().rev() {
            let _ = writeln!(out, "    * Hist  #{index}: {}", record(task.package, activity, task.id));
        }
        if state.ui.tasks().last().is_some_and(|t| t.id == task.id) {
            let _ = writeln!(out, "    mResumedActivity: {front}");
        }
    }
    let _ =
        write!(out, "  topResumedActivity={front}\n  ResumedActivity: {front}\n\n  mFocusedApp={front}\n");
    out
}

fn windows(state: &State) -> String {
    let (package, activity) = state.ui.front();
    let front = front_record(state);
    let full = activity.strip_prefix('.').map_or(activity.to_owned(), |rest| format!("{package}.{rest}"));
    let screen = state.screen();
    let (width, height) = state.physical_size();
    let mut out = "WINDOW MANAGER WINDOWS (dumpsys window windows)\n".to_owned();
    if state.ui.keyboard_shown() {
        let k = screen.keyboard();
        let _ = writeln!(
            out,
            "  Window #0 Window{{5d3a1c2 u0 InputMethod}}:\n    mHasSurface=true isReadyForDisplay()=true\n    touchable region=SkRegion(({},{},{},{}))\n    isOnScreen=true\n    isVisible=true",
            k.left, k.top, k.right, k.bottom
        );
    }
    let _ = write!(
        out,
        "  Window #1 Window{{3c91f0a u0 {package}/{full}}}:\n    mOwnerUid=10123 package={package}\n    isOnScreen=true\n    isVisible=true\n  \
         Display: mDisplayId=0\n    init={width}x{height} {}dpi cur={}x{} app={}x{}\n    mDisplayRotation=ROTATION_0\n  \
         mCurrentFocus=Window{{3c91f0a u0 {package}/{full}}}\n  mFocusedApp={front}\n  mInputMethodTarget=null\n",
        state.config.density, screen.width, screen.height, screen.width, screen.height
    );
    out
}

fn package(state: &State, name: &str) -> String {
    let Some(package) = state.packages.get(name) else {
        return format!("Unable to find package: {name}\n");
    };
    format!(
        "Packages:\n  Package [{name}] (7c1d2e3):\n    appId={}\n    codePath={}\n    versionCode=1 minSdk=24 targetSdk={}\n    versionName=1.0\n    flags=[ DEBUGGABLE HAS_CODE ALLOW_CLEAR_USER_DATA ]\n    firstInstallTime=2026-03-02 09:00:00\n    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false\n",
        package.uid, package.directory, state.config.sdk
    )
}
