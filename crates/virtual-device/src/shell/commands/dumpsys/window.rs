//! `dumpsys window` and `dumpsys input_method`.

use std::fmt::Write as _;

use super::activity::front_record;
use super::newer;
use crate::shell::services::IME;
use crate::state::State;

/// A window in the list of the window manager.
struct WindowRecord {
    hash: u32,
    title: String,
    package: String,
    kind: &'static str,
    frame: (i32, i32, i32, i32),
}

impl WindowRecord {
    fn name(&self) -> String {
        format!("Window{{{:07x} u0 {}}}", self.hash, self.title)
    }
}

pub fn dump(state: &State, words: &[&str]) -> String {
    let rule = format!("{}\n", "-".repeat(79));
    match words.first() {
        Some(&("windows" | "w" | "visible" | "visible-apps")) => windows(state),
        Some(&("displays" | "d")) => displays(state),
        Some(&("policy" | "p")) => policy(),
        Some(&("tokens" | "t")) => tokens(state),
        Some(&("lastanr" | "l")) => last_anr(),
        Some(&("sessions" | "s")) => "WINDOW MANAGER SESSIONS (dumpsys window sessions)\n".to_owned(),
        Some(word) if !word.starts_with('-') => {
            let all: Vec<WindowRecord> =
                shown(state).into_iter().filter(|w| w.title.contains(*word)).collect();
            if all.is_empty() {
                return format!("Bad window command, or no windows match: {word}\nUse -h for help.\n");
            }
            let mut out = "WINDOW MANAGER WINDOWS (dumpsys window windows)\n".to_owned();
            all.iter().enumerate().for_each(|(index, w)| one(state, index, w, &mut out));
            out
        }
        _ => [last_anr(), policy(), displays(state), tokens(state), windows(state)].join(&rule),
    }
}

/// Returns every window, the top one first.
fn shown(state: &State) -> Vec<WindowRecord> {
    let screen = state.screen();
    let windows = state.surface.windows(&screen);
    let (width, height) = (screen.width, screen.height);
    let (package, activity) = state.front();
    let full = activity.strip_prefix('.').map_or(activity.to_owned(), |rest| format!("{package}.{rest}"));
    let title = format!("{package}/{full}");
    let (bar, keys) = (screen.px(24), screen.px(48));
    let system = |hash, title: &str, kind, frame| WindowRecord {
        hash,
        title: title.to_owned(),
        package: "com.android.systemui".to_owned(),
        kind,
        frame,
    };
    let mut all = vec![
        system(0x51c_0a11, "NavigationBar0", "NAVIGATION_BAR", (0, height - keys, width, height)),
        system(0x5d1_77e2, "NotificationShade", "NOTIFICATION_SHADE", (0, 0, width, height)),
        system(0x4ae_95b3, "StatusBar", "STATUS_BAR", (0, 0, width, bar)),
    ];
    // The window of a toast has a title and no text; no hierarchy shows it.
    let now = state.now;
    if state.surface.toasts().iter().any(|toast| toast.from <= now && now < toast.until) {
        let (top, bottom) = (height - screen.px(140), height - screen.px(92));
        let frame = (screen.px(60), top, width - screen.px(60), bottom);
        all.insert(0, system(0x1f4_0a57, "Toast", "TOAST", frame));
    }
    if windows.keyboard {
        let k = screen.keyboard();
        all.push(WindowRecord {
            hash: 0x5d3_a1c2,
            title: "InputMethod".to_owned(),
            package: "com.android.inputmethod.latin".to_owned(),
            kind: "INPUT_METHOD",
            frame: (k.left, k.top, k.right, k.bottom),
        });
    }
    let task = super::activity::tasks(state).last().map_or(1, |t| t.id);
    let (asking, asker) = windows.focused;
    if asking != package {
        all.push(WindowRecord {
            hash: 0x6a1_4c00 + task,
            title: format!("{asking}/{asker}"),
            package: asking.to_owned(),
            kind: "BASE_APPLICATION",
            frame: (0, 0, width, height),
        });
    } else if let Some(v) = windows.dialog {
        all.push(WindowRecord {
            hash: 0x2b7_0d00 + task,
            title: title.clone(),
            package: package.to_owned(),
            kind: "APPLICATION",
            frame: (v.left, v.top, v.right, v.bottom),
        });
    }
    all.push(WindowRecord {
        hash: 0x3c9_1f00 + task,
        title,
        package: package.to_owned(),
        kind: "BASE_APPLICATION",
        frame: (0, 0, width, height),
    });
    all
}

/// Returns the window that gets keys: the app's topmost, not a bar or the keyboard.
fn focus(state: &State) -> String {
    let windows = state.surface.windows(&state.screen());
    if windows.opening {
        return "null".to_owned();
    }
    let package = windows.focused.0;
    shown(state).iter().find(|w| w.package == package).map_or_else(|| "null".to_owned(), WindowRecord::name)
}

fn one(state: &State, index: usize, window: &WindowRecord, out: &mut String) {
    let (left, top, right, bottom) = window.frame;
    let frame = format!("[{left},{top}][{right},{bottom}]");
    let screen = state.screen();
    let display = format!("[0,0][{},{}]", screen.width, screen.height);
    let uid = state.packages.get(&window.package).map_or(1000, |p| p.uid);
    let visible = window.title != "NotificationShade";
    let frames = if newer(state) {
        format!("Frames: parent={display} display={display} frame={frame} last={frame} insetsChanged=false")
    } else {
        format!("Frames: containing={display} parent={display} display={display} frame={frame}")
    };
    let _ = write!(
        out,
        "  Window #{index} {}:\n    mDisplayId=0 mSession=Session{{{:07x} 0:u0a{uid}}} mClient=android.os.BinderProxy@{:07x}\n    \
         mOwnerUid={uid} showForAllUsers=false package={} appop=NONE\n    \
         mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty={} fmt=TRANSPARENT}}\n    \
         Requested w={} h={} mLayoutSeq=187\n    mHasSurface={visible} isReadyForDisplay()={visible} mWindowRemovalAllowed=false\n    {frames}\n    \
         touchable region=SkRegion(({left},{top},{right},{bottom}))\n    isOnScreen={visible}\n    isVisible={visible}\n",
        window.name(),
        window.hash ^ 0x11_2233,
        window.hash ^ 0x44_5566,
        window.package,
        window.kind,
        right - left,
        bottom - top,
    );
}

fn windows(state: &State) -> String {
    let mut out = "WINDOW MANAGER WINDOWS (dumpsys window windows)\n".to_owned();
    for (index, window) in shown(state).iter().enumerate() {
        one(state, index, window, &mut out);
    }
    let screen = state.screen();
    let target = if state.keyboard_shown() { focus(state) } else { "null".to_owned() };
    let _ = write!(
        out,
        "\n  mGlobalConfiguration={{1.0 310mcc260mnc [en_US] ldltr sw411dp w411dp h{}dp {}dpi nrml long {} finger -keyb/v/h -nav/h}}\n  \
         mHasPermanentDpad=false\n  mTopFocusedDisplayId=0\n  imeLayeringTarget in display# 0 {target}\n  \
         imeInputTarget in display# 0 {target}\n  imeControlTarget in display# 0 {target}\n  mInTouchMode=true\n  \
         mLastDisplayFreezeDuration=0\n  mDisableAllowed=true\n  mBlurEnabled=false\n",
        screen.height * 160 / i32::try_from(screen.density.max(1)).unwrap_or(160),
        screen.density,
        if screen.width > screen.height { "land" } else { "port" },
    );
    out
}

fn displays(state: &State) -> String {
    let screen = state.screen();
    let (width, height) = state.display.physical_size();
    let density = state.display.physical_density();
    let rotation = state.display.rotation();
    let title = if newer(state) { "mDisplayId=0 (organized)" } else { "mDisplayId=0 rootTasks=4" };
    let base = match state.display.size_override() {
        Some((w, h)) => format!(" base={w}x{h} {}dpi", screen.density),
        None => String::new(),
    };
    format!(
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: {title}\n    \
         init={width}x{height} {density}dpi mMinSizeOfResizeableTaskDp=220{base} cur={w}x{h} app={w}x{h} rng={w}x{w}-{h}x{h}\n    \
         deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{w},{h}))\n\n  mLayoutSeq=187\n  \
         mCurrentFocus={focus}\n  mFocusedApp={app}\n\n  mInputMethodTarget={ime}\n  mWallpaperController: target=null\n\n  \
         DisplayRotation\n    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n    mLastOrientation=-1\n    \
         mRotation={rotation} mDeferredRotationPauseCount=0\n    mLandscapeRotation=ROTATION_90 mSeascapeRotation=ROTATION_270\n    \
         mPortraitRotation=ROTATION_0 mUpsideDownRotation=ROTATION_180\n    \
         mUserRotationMode={mode} mUserRotation=ROTATION_{degrees}\n    \
         mAllowAllRotations=unknown\n    mDisplayRotation=ROTATION_{degrees}\n",
        w = screen.width,
        h = screen.height,
        focus = focus(state),
        app = front_record(state),
        ime = if state.keyboard_shown() { focus(state) } else { "null".to_owned() },
        mode =
            if state.settings.rotation_is_locked() { "USER_ROTATION_LOCKED" } else { "USER_ROTATION_FREE" },
        degrees = rotation * 90,
    )
}

fn tokens(state: &State) -> String {
    format!("WINDOW MANAGER TOKENS (dumpsys window tokens)\n  Display #0\n    {}\n", front_record(state))
}

fn last_anr() -> String {
    "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n".to_owned()
}

fn policy() -> String {
    "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mSafeMode=false mSystemReady=true mSystemBooted=true\n    \
     mWakeGestureEnabledSetting=true\n    mUiMode=UI_MODE_TYPE_NORMAL mEnableCarDockHomeCapture=true\n    \
     mLongPressOnHomeBehavior=LONG_PRESS_HOME_ASSIST\n    mScreenOnEarly=true mScreenOnFully=true\n    \
     mKeyguardDrawComplete=true mWindowManagerDrawComplete=true\n    mShowingDream=false mDreamingLockscreen=false\n    \
     KeyguardServiceDelegate\n      showing=false\n      inputRestricted=false\n      occluded=false\n      secure=false\n      \
     dreaming=false\n      systemIsReady=true\n      deviceHasKeyguard=true\n      enabled=true\n      \
     offReason=OFF_BECAUSE_OF_USER\n      currentUser=-10000\n      bootCompleted=true\n      \
     screenState=SCREEN_STATE_ON\n      interactiveState=INTERACTIVE_STATE_AWAKE\n"
        .to_owned()
}

pub fn input_method(state: &State) -> String {
    let shown = state.keyboard_shown();
    let current = state.settings.get("secure", "default_input_method").unwrap_or(IME);
    let package = state.front().0;
    format!(
        "Current Input Method Manager state:\n  Input Methods: mMethodMapUpdateCount=2\n  InputMethod #0:\n    mId={IME}\n    \
         mSettingsActivityName=com.android.inputmethod.latin.settings.SettingsActivity\n  Clients:\n  \
         mCurMethodId={current}\n  mCurClient=ClientState{{1f2e3d4 uid=10123 pid=3008}} mCurSeq=4\n  \
         mCurFocusedWindowClient=ClientState{{1f2e3d4}}\n  mCurAttribute=EditorInfo{{packageName={package}}}\n  \
         mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}\n  \
         mInFullscreenMode=false\n  mSystemReady=true mInteractive=true\n  mIsInputViewShown={shown}\n"
    )
}
