//! Finds the focused activity in the output of `dumpsys activity activities`.

use mdm_core::screen::snapshot::Screen;

/// Keys in order of preference: the activity resumed on top of everything, then the resumed one of each display or
/// task, then the focused app. Android versions print different ones (W29).
const KEYS: [&str; 5] =
    ["ResumedActivity:", "topResumedActivity=", "mResumedActivity:", "mFocusedApp=", "mFocusedActivity:"];

pub fn parse(dump: &str) -> Option<Screen> {
    KEYS.iter().find_map(|key| {
        let lines = dump.lines().filter_map(|line| line.trim_start().strip_prefix(key));
        lines.filter_map(component).next()
    })
}

/// Parses the word with a slash in `ActivityRecord{1a2b u0 com.app/.Main t12}`.
fn component(record: &str) -> Option<Screen> {
    let inside = record.split_once('{')?.1;
    from_component(inside.split([' ', '}']).find(|word| word.contains('/'))?)
}

/// Reads `package/.Short` or `package/full.Name`.
pub fn from_component(word: &str) -> Option<Screen> {
    let (package, activity) = word.split_once('/')?;
    if package.is_empty() || activity.is_empty() {
        return None;
    }
    let activity = match activity.strip_prefix('.') {
        Some(short) => format!("{package}.{short}"),
        None => activity.to_owned(),
    };
    Some(Screen { app: package.to_owned(), name: Some(activity) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dump: &str, expected: Option<(&str, &str)>) {
        let screen = parse(dump);
        assert_eq!(
            screen.as_ref().map(|s| (s.app.as_str(), s.name.as_deref().unwrap_or_default())),
            expected,
            "W29"
        );
    }

    #[test]
    fn every_known_key_is_parsed() {
        check("  mResumedActivity: ActivityRecord{88 u0 a.b/.Main t7}", Some(("a.b", "a.b.Main")));
        check("    topResumedActivity=ActivityRecord{88 u0 a.b/c.d.Main t7}", Some(("a.b", "c.d.Main")));
        check("  mFocusedApp=ActivityRecord{f00 u10 a.b/.Main} t4}", Some(("a.b", "a.b.Main")));
        check("mResumedActivity: null\nmFocusedApp=null", None);
        check("nothing", None);
    }

    #[test]
    fn the_top_resumed_activity_wins_over_other_displays() {
        let dump = "Display #1\n topResumedActivity=ActivityRecord{1 u0 other/.Side t1}\n\
                    Display #0\n topResumedActivity=ActivityRecord{2 u0 front/.Main t2}\n\
                    ResumedActivity: ActivityRecord{2 u0 front/.Main t2}";
        check(dump, Some(("front", "front.Main")));
    }
}
