//! Battery, power, memory, frames and the like.

use std::fmt::Write as _;

use super::newer;
use crate::state::State;

pub fn battery() -> String {
    "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n  \
     Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 2610000\n  status: 2\n  health: 2\n  \
     present: true\n  level: 87\n  scale: 100\n  voltage: 4235\n  temperature: 251\n  technology: Li-ion\n"
        .to_owned()
}

pub fn power(state: &State) -> String {
    let groups = if newer(state) { "\n  mWakefulnessChanging=false" } else { "" };
    format!(
        "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mDirty=0x0\n  mWakefulness=Awake{groups}\n  \
         mIsPowered=true\n  mPlugType=2\n  mBatteryLevel=87\n  mStayOn=false\n  mBootCompleted=true\n  \
         mHalAutoSuspendModeEnabled=false\n  mHalInteractiveModeEnabled=true\n  mDeviceIdleMode=false\n  \
         mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker=true\n\nSettings and Configuration:\n  \
         mScreenOffTimeoutSetting=60000\n\nDisplay Power: state=ON\n\nWake Locks: size=0\n"
    )
}

pub fn device_idle(state: &State, words: &[&str]) -> String {
    match words {
        ["whitelist" | "except-idle-whitelist", change, ..] if change.starts_with(['+', '-']) => {
            let (sign, name) = change.split_at(1);
            match (state.packages.get(name), sign) {
                (Some(_), "+") => format!("Added: {name}\n"),
                (Some(_), _) => format!("Removed: {name}\n"),
                (None, _) => format!("Unknown package: {name}\n"),
            }
        }
        ["whitelist", ..] => "system-excidle,com.android.shell,2000\nsystem,com.android.shell,2000\n".to_owned(),
        ["get", "deep" | "light", ..] => "ACTIVE\n".to_owned(),
        ["get", "screen", ..] => "true\n".to_owned(),
        ["get", "charging", ..] => "true\n".to_owned(),
        ["enable" | "disable" | "force-idle" | "unforce" | "step", ..] => String::new(),
        _ => "  Settings:\n    light_after_inactive_to=+4m0s0ms\n  Whitelist (except idle) system apps:\n    com.android.shell\n  \
              mLightEnabled=true  mDeepEnabled=true\n  mForceIdle=false\n  mScreenOn=true\n  mScreenLocked=false\n  \
              mCharging=true\n  mState=ACTIVE mLightState=ACTIVE\n"
            .to_owned(),
    }
}

fn named<'a>(words: &[&'a str]) -> Option<&'a str> {
    words.iter().find(|w| !w.starts_with('-')).copied()
}

pub fn memory(state: &State, words: &[&str]) -> String {
    let uptime = state.clock.uptime_ms(state.now);
    let head = format!("Applications Memory Usage (in Kilobytes):\nUptime: {uptime} Realtime: {uptime}\n");
    match named(words) {
        None => {
            let mut out = format!("{head}\nTotal PSS by process:\n");
            for (name, pid) in state.processes.iter() {
                let _ = writeln!(out, "    {:>7}K: {name} (pid {pid})", pss(pid));
            }
            out + "\nTotal RAM: 4,030,464K (status normal)\n Free RAM: 1,812,331K\n Used RAM: 1,904,112K\n"
        }
        Some(name) => {
            let found = state.processes.iter().find(|(known, pid)| *known == name || pid.to_string() == name);
            let Some((name, pid)) = found else { return format!("No process found for: {name}\n") };
            let total = pss(pid);
            let swap = if newer(state) { "TOTAL SWAP PSS" } else { "TOTAL SWAP (KB)" };
            let (java, native, code) = (total * 30 / 100, total * 25 / 100, total * 20 / 100);
            format!(
                "{head}\n** MEMINFO in pid {pid} [{name}] **\n                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap\n                 \
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free\n                ------   ------   ------   ------   ------   ------   ------   ------\n  \
                 Native Heap {native:>8} {native:>8}        0        0 {:>8} {:>8} {native:>8}     2048\n  \
                 Dalvik Heap {java:>8} {java:>8}        0        0 {:>8} {:>8} {java:>8}     2048\n        \
                 TOTAL {total:>8} {:>8} {code:>8}        0 {:>8} {:>8} {:>8}     4096\n \n \
                 App Summary\n                       Pss(KB)                        Rss(KB)\n                        ------                         ------\n           \
                 Java Heap: {java:>8}                       {:>8}\n         Native Heap: {native:>8}                       {:>8}\n                \
                 Code: {code:>8}                       {:>8}\n \n           TOTAL PSS: {total:>8}            TOTAL RSS: {:>8}      {swap}:        0\n",
                native * 2,
                native + 2048,
                java * 2,
                java + 2048,
                java + native,
                total * 2,
                java + native + 4096,
                java + native,
                java * 2,
                native * 2,
                code * 2,
                total * 2,
            )
        }
    }
}

/// Returns the memory of a process in kilobytes. It is computed from the pid, so that it stays the same.
fn pss(pid: u32) -> u64 {
    60_000 + u64::from(pid) * 37 % 90_000
}

pub fn graphics(state: &mut State, words: &[&str]) -> String {
    let uptime = state.clock.uptime_ms(state.now);
    let head = format!("Applications Graphics Acceleration Info:\nUptime: {uptime} Realtime: {uptime}\n");
    let Some(name) = named(words) else { return head };
    let Some(pid) = state.processes.pid(name) else { return format!("No process found for: {name}\n") };
    let since = state.services.frames_since_ms.get(name).copied().unwrap_or(0);
    let changed = state.clock.uptime_ms(state.changed_at());
    // An estimate: a burst of a third of a second, because the changes are not counted one by one.
    let frames = if changed > since { 20 + (changed - since) / 1000 } else { 0 };
    let jank = frames / 10;
    let out = format!(
        "{head}\n** Graphics info for pid {pid} [{name}] **\n\nStats since: {}ns\nTotal frames rendered: {frames}\n\
         Janky frames: {jank} ({:.2}%)\nJanky frames (legacy): {jank} ({:.2}%)\n50th percentile: 6ms\n90th percentile: 14ms\n\
         95th percentile: 19ms\n99th percentile: 32ms\nNumber Missed Vsync: {jank}\nNumber High input latency: 0\n\
         Number Slow UI thread: {jank}\nNumber Slow bitmap uploads: 0\nNumber Slow issue draw commands: 0\n\
         Number Frame deadline missed: {jank}\nHISTOGRAM: 5ms={} 12ms={} 32ms={jank}\n",
        since.saturating_mul(1_000_000),
        percent(jank, frames),
        percent(jank, frames),
        frames.saturating_sub(jank) / 2,
        frames.saturating_sub(jank).div_ceil(2),
    );
    if words.contains(&"reset") && state.services.frames_since_ms.len() < crate::state::ENTRIES_MAX {
        state.services.frames_since_ms.insert(name.to_owned(), uptime);
    }
    out
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

pub fn cpu(state: &State) -> String {
    let mut out = "Load: 0.42 / 0.4 / 0.38\nCPU usage from 60000ms to 0ms ago:\n".to_owned();
    for (name, pid) in state.processes.iter() {
        let share = pid % 7;
        let _ = writeln!(out, "  {share}% {pid}/{name}: {share}% user + 0% kernel");
    }
    out + "9% TOTAL: 6% user + 3% kernel\n"
}

pub fn notifications() -> String {
    "Current Notification Manager state:\n\n  Notification attention state:\n    mSoundNotificationKey=null\n\n  \
     Notification List:\n\n  mMaxPackageEnqueueRate=5.0\n"
        .to_owned()
}
