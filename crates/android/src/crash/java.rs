//! Stack traces of Java and Kotlin, also those with a JavaScript stack inside the message.

use mdm_core::port::{THROWN_MAX, Thrown};

/// Packages of the platform and of libraries that most apps have. Code elsewhere is taken for the app's own, because an
/// app's id often is not the name of its packages.
const FOREIGN: [&str; 44] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "libcore.",
    "dalvik.",
    "android.",
    "androidx.",
    "com.android.",
    "com.google.android.",
    "com.google.common.",
    "com.google.firebase.",
    "com.google.gson.",
    "com.google.protobuf.",
    "kotlin.",
    "kotlinx.",
    "org.apache.",
    "org.json.",
    "org.xmlpull.",
    "org.chromium.",
    "org.jetbrains.",
    "org.koin.",
    "okhttp3.",
    "okio.",
    "retrofit2.",
    "com.squareup.",
    "io.reactivex.",
    "rx.",
    "dagger.",
    "io.ktor.",
    "coil.",
    "coil3.",
    "com.bumptech.glide.",
    "com.facebook.",
    "com.swmansion.",
    "expo.modules.",
    "io.flutter.",
    "io.sentry.",
    "com.unity3d.",
    "junit.",
    "org.junit.",
    "leakcanary.",
    "timber.",
];

/// True for the app's own code.
pub fn is_own(frame: &str, app: &str) -> bool {
    let ours = app.split('.').take(2).collect::<Vec<_>>().join(".");
    let is_ours =
        ours.contains('.') && frame.strip_prefix(ours.as_str()).is_some_and(|rest| rest.starts_with('.'));
    is_ours || !FOREIGN.iter().any(|package| frame.starts_with(package))
}

/// Reads what was thrown and its causes. What follows the end of the trace is not looked at.
pub fn thrown(lines: &[&str], app: &str) -> Vec<Thrown> {
    let mut chain: Vec<Thrown> = Vec::new();
    // The frames of what was suppressed, or of a cause beyond the limit, belong to nothing that is told.
    let mut is_told = true;
    for line in lines {
        let text = line.trim();
        let began = chain.last().is_some_and(|last| last.frame_count > 0);
        if let Some(frame) = text.strip_prefix("at ") {
            if let Some(last) = chain.last_mut().filter(|_| is_told) {
                last.push_frame(frame, is_own(frame, app));
            }
        } else if let Some(cause) = text.strip_prefix("Caused by: ") {
            is_told = chain.len() < THROWN_MAX;
            chain.extend(is_told.then(|| head(cause)));
        } else if text.strip_prefix("Suppressed: ").is_some() {
            is_told = false;
        } else if text.starts_with("... ") {
        } else if chain.is_empty() {
            if text.is_empty() {
                return chain;
            }
            chain.push(head(text));
        } else if began || text.is_empty() {
            break;
        } else if let Some(last) = chain.last_mut() {
            add_to_message(last, text, app);
        }
    }
    chain
}

/// `java.lang.IllegalStateException: what it says`.
fn head(text: &str) -> Thrown {
    let (exception, message) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
    // A message without a class before it is no class.
    if exception.contains(' ') { Thrown::new("", text) } else { Thrown::new(exception, message) }
}

/// A message of several lines, in which a JavaScript stack may stand: `name@1:234`.
fn add_to_message(thrown: &mut Thrown, line: &str, app: &str) {
    match line.rsplit_once('@').filter(|(_, place)| is_script_place(place)) {
        Some(_) => thrown.push_frame(line, is_own_script(line, app)),
        None => {
            let message = format!("{}\n{line}", thrown.message);
            *thrown = Thrown {
                frames: std::mem::take(&mut thrown.frames),
                ..Thrown::new(&thrown.exception, &message)
            };
        }
    }
}

/// `1:234`, or an address of a bundle with that at its end.
fn is_script_place(place: &str) -> bool {
    let mut numbers = place.rsplit(':');
    let is_number =
        |text: Option<&str>| text.is_some_and(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()));
    is_number(numbers.next()) && is_number(numbers.next())
}

fn is_own_script(line: &str, _app: &str) -> bool {
    !line.contains("node_modules") && !line.contains("[native code]")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told = (String, String, Vec<(String, bool)>);

    fn read(text: &str) -> Vec<Told> {
        let lines: Vec<&str> = text.lines().collect();
        let frames = |thrown: &Thrown| thrown.frames.iter().map(|f| (f.text.clone(), f.own)).collect();
        thrown(&lines, "com.example.app")
            .iter()
            .map(|t| (t.exception.clone(), t.message.clone(), frames(t)))
            .collect()
    }

    fn frame(text: &str, own: bool) -> (String, bool) {
        (text.to_owned(), own)
    }

    #[test]
    fn causes_are_a_chain_and_what_follows_the_trace_is_none_of_it() {
        // W17
        let chain = read(
            "java.lang.RuntimeException: first line\nsecond line\n\tat android.app.A.b(A.java:1)\n\
             \tat com.example.Main.run(Main.kt:2)\n\tSuppressed: java.io.IOException: closed\n\
             \t\tat com.example.Io.close(Io.kt:9)\nCaused by: com.example.NoCart\n\tat x.y.a(SourceFile:3)\n\t... 9 more\n\
             Error reporting crash\njava.lang.Error: other\n\tat com.example.Other.z(Z.kt:1)",
        );
        let outer =
            vec![frame("android.app.A.b(A.java:1)", false), frame("com.example.Main.run(Main.kt:2)", true)];
        assert_eq!(
            chain,
            [
                ("java.lang.RuntimeException".to_owned(), "first line\nsecond line".to_owned(), outer),
                ("com.example.NoCart".to_owned(), String::new(), vec![frame("x.y.a(SourceFile:3)", true)]),
            ]
        );
    }

    #[test]
    fn a_javascript_stack_in_the_message_is_a_stack() {
        let chain = read(
            "com.facebook.react.common.JavascriptException: TypeError: undefined is not a function, stack:\n\
             onPress@1:234567\n_performTransitionSideEffects@1:45678\n\n\tat com.facebook.react.X.y(X.java:1)",
        );
        let (exception, message, frames) = &chain[0];
        assert_eq!(exception, "com.facebook.react.common.JavascriptException");
        assert_eq!(message, "TypeError: undefined is not a function, stack:");
        assert_eq!(frames[0], frame("onPress@1:234567", true));
    }

    #[test]
    fn the_apps_own_code_is_what_is_no_known_library() {
        for (frame, own) in [
            ("com.example.other.Main.run(Main.kt:2)", true),
            ("a.b.c(Unknown Source:8)", true),
            ("android.os.Looper.loop(Looper.java:1)", false),
            ("androidx.compose.ui.X.y(X.kt:1)", false),
            ("com.examples.X.y(X.kt:1)", true),
        ] {
            assert_eq!(is_own(frame, "com.example.app"), own, "{frame}");
        }
        assert!(
            is_own("com.google.android.apps.clock.Main.run(M.java:1)", "com.google.clock"),
            "its own package"
        );
        assert!(!is_own("android.app.Service.x(S.java:1)", "android"), "one word is no package of an app");
    }
}
