//! `dumpsys display` and `dumpsys SurfaceFlinger`.

use std::fmt::Write as _;

use super::newer;
use crate::state::State;

const UNIQUE_ID: &str = "4619827259835644672";
/// The time of one frame of a 60 Hz screen, in nanoseconds.
const FRAME_NS: u64 = 16_666_667;
/// Frames that the compositor remembers of a layer.
const FRAMES_KEPT: u64 = 127;

pub fn dump(state: &State) -> String {
    let (width, height) = state.display.physical_size();
    let rotation = state.display.rotation();
    let screen = state.screen();
    let density = state.display.physical_density();
    format!(
        "DISPLAY MANAGER (dumpsys display)\n  mOnlyCode=false\n  mSafeMode=false\n  mPendingTraversal=false\n  \
         mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:{UNIQUE_ID}', \
         physicalPort=0, orientation={rotation}, logicalFrame=Rect(0, 0 - {}, {}), physicalFrame=Rect(0, 0 - {width}, {height}), \
         deviceWidth={width}, deviceHeight={height}}}]\n  mStableDisplaySize=Point({width}, {height})\n\n\
         Display Devices: size=1\n  DisplayDeviceInfo{{\"Built-in Screen\": uniqueId=\"local:{UNIQUE_ID}\", {width} x {height}, \
         modeId 1, defaultModeId 1, supportedModes [{{id=1, width={width}, height={height}, fps=60.0}}], density {density}, \
         touch INTERNAL, rotation 0, type INTERNAL, state ON}}\n\nLogical Displays: size=1\n  Display 0:\n    mDisplayId=0\n    \
         mLayerStack=0\n    mPrimaryDisplayDevice=Built-in Screen\n    mBaseDisplayInfo={}\n    mOverrideDisplayInfo={}\n\n\
         Power Controller\n  mScreenState=ON\n  mCurrentOrientation={rotation}\n",
        screen.width,
        screen.height,
        base_info(state, width, height, 0),
        info(state),
    )
}

/// Returns the display as the framework prints it, in its current rotation.
pub fn info(state: &State) -> String {
    let screen = state.screen();
    base_info(state, screen.width.unsigned_abs(), screen.height.unsigned_abs(), state.display.rotation())
}

fn base_info(state: &State, width: u32, height: u32, rotation: u32) -> String {
    let density = state.screen().density;
    let group = if newer(state) { ", displayGroupId 0" } else { "" };
    let committed = if newer(state) { ", committedState ON" } else { "" };
    format!(
        "DisplayInfo{{\"Built-in Screen\", displayId 0{group}, FLAG_SECURE, FLAG_SUPPORTS_PROTECTED_BUFFERS, FLAG_TRUSTED, \
         real {width} x {height}, largest app {width} x {height}, smallest app {width} x {width}, appVsyncOff 1000000, \
         presDeadline 16666666, mode 1, defaultMode 1, modes [{{id=1, width={width}, height={height}, fps=60.0}}], \
         rotation {rotation}, state ON{committed}, type INTERNAL, uniqueId \"local:{UNIQUE_ID}\", app {width} x {height}, \
         density {density} ({density}.0 x {density}.0) dpi, layerStack 0, colorMode 0, supportedColorModes [0], \
         address {{port=0, model=0x401cec6a7a2b7b}}, removeMode 0}}"
    )
}

fn layers(state: &State) -> Vec<String> {
    let (package, activity) = state.front();
    let full = activity.strip_prefix('.').map_or(activity.to_owned(), |rest| format!("{package}.{rest}"));
    let mut all = vec![
        "Display 0 name=\"Built-in Screen\"#1".to_owned(),
        "StatusBar#68".to_owned(),
        "NavigationBar0#75".to_owned(),
    ];
    if state.keyboard_shown() {
        all.push("InputMethod#81".to_owned());
    }
    all.push(format!("{package}/{full}#0"));
    all
}

pub fn surface_flinger(state: &State, words: &[&str]) -> String {
    match words {
        ["--display-id", ..] => {
            format!("Display {UNIQUE_ID} (HWC display 0): port=0 pnpId=GGL displayName=\"\"\n")
        }
        ["--list", ..] => layers(state).iter().map(|layer| format!("{layer}\n")).collect(),
        ["--latency-clear", ..] => String::new(),
        ["--latency"] => format!("{FRAME_NS}\n"),
        ["--latency", layer, ..] => latency(state, layer),
        _ => format!(
            "Build configuration: [sf PRESENT_TIME_OFFSET=0]\nDisplay {UNIQUE_ID} (HWC display 0):\n{}",
            layers(state).iter().map(|layer| format!("+ Layer ({layer})\n")).collect::<String>()
        ),
    }
}

/// Returns three times per frame: wanted, shown and finished. A screen that does not change draws nothing, so old
/// frames stay.
fn latency(state: &State, layer: &str) -> String {
    let mut out = format!("{FRAME_NS}\n");
    if !layers(state).iter().any(|known| known == layer || known.trim_end_matches("#0") == layer) {
        return out;
    }
    let last = state.clock.uptime(state.changed_at()).as_nanos() as u64 / FRAME_NS;
    for frame in last.saturating_sub(FRAMES_KEPT - 1)..=last {
        let at = frame.saturating_mul(FRAME_NS);
        let _ = writeln!(out, "{at}\t{}\t{}", at + FRAME_NS, at + FRAME_NS / 2);
    }
    out.push('\n');
    out
}
