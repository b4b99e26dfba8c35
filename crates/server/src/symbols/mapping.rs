//! Frames of Java and Kotlin that R8 or ProGuard renamed.

use mdm_android::crash::is_own;
use mdm_core::port::{CrashReport, Frame, Thrown};
use proguard::{ProguardMapper, ProguardMapping, StackFrame};

use super::{Named, with_frames};

/// Frames that one frame may stand for, because methods were inlined.
const INLINED_MAX: usize = 20;

pub fn name_frames(report: &CrashReport, text: &[u8]) -> Result<Named, String> {
    let mapping = ProguardMapping::new(text);
    if !mapping.is_valid() {
        return Err("this is no mapping of R8 or ProGuard".to_owned());
    }
    let mapper = ProguardMapper::new(mapping);
    let mut frames = 0;
    let thrown =
        report.thrown.iter().map(|thrown| named(thrown, &report.app, &mapper, &mut frames)).collect();
    let problem =
        (frames == 0).then(|| "no frame has a name of this mapping: is it of another build?".to_owned());
    Ok(Named { report: CrashReport { thrown, ..report.clone() }, frames, problem })
}

fn named(thrown: &Thrown, app: &str, mapper: &ProguardMapper<'_>, count: &mut usize) -> Thrown {
    let frames = thrown.frames.iter().flat_map(|frame| {
        let found = original(frame, app, mapper);
        *count += usize::from(found.is_some());
        found.unwrap_or_else(|| vec![(frame.text.clone(), frame.own)])
    });
    let named = with_frames(thrown, frames.collect::<Vec<_>>());
    let exception = mapper.remap_class(&thrown.exception).unwrap_or(&thrown.exception).to_owned();
    Thrown { exception, ..named }
}

/// What the frame was called in the source; several where methods were inlined.
fn original(frame: &Frame, app: &str, mapper: &ProguardMapper<'_>) -> Option<Vec<(String, bool)>> {
    let line = format!("    at {}", frame.text);
    let parsed = StackFrame::try_parse(line.as_bytes())?;
    let text = |frame: &StackFrame<'_>| {
        let place = match (frame.file(), frame.line()) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.to_owned(),
            (None, Some(line)) => format!("line {line}"),
            (None, None) => "Unknown Source".to_owned(),
        };
        format!("{}.{}({place})", frame.class(), frame.method())
    };
    // The mapper's lifetimes tie its answers to the frame that was asked for, so the texts are made here.
    let mapped: Vec<(String, bool)> = mapper
        .remap_stacktrace(&line)
        .ok()?
        .lines()
        .filter_map(|line| StackFrame::try_parse(line.as_bytes()).map(|frame| text(&frame)))
        .map(|text| (text.clone(), is_own(&text, app)))
        .take(INLINED_MAX)
        .collect();
    let unchanged = mapped.len() == 1 && mapped[0].0 == text(&parsed);
    (!mapped.is_empty() && !unchanged).then_some(mapped)
}

#[cfg(test)]
mod tests {
    use mdm_core::port::CrashKind;

    use super::*;

    /// As R8 writes it: `a.b` is Cart; its method `c` at lines 1 to 5 is `pay`, into which `check` was inlined.
    const MAPPING: &str = "# compiler: R8\ncom.example.Cart -> a.b:\n# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}\n    \
         1:5:void com.example.Cart.check():30:34 -> c\n    1:5:void pay(int):88:88 -> c\n    \
         6:9:void pay(int):89:92 -> c\ncom.example.CartGone -> a.c:\n";

    fn report(frames: &[&str], exception: &str) -> CrashReport {
        let mut thrown = Thrown::new(exception, "no owner");
        frames.iter().for_each(|frame| thrown.push_frame(frame, true));
        CrashReport {
            app: "com.example".to_owned(),
            pid: 1,
            kind: CrashKind::Exception,
            thread: None,
            thrown: vec![thrown],
            time_ms: None,
            age_ms: None,
            images: Vec::new(),
        }
    }

    #[test]
    fn renamed_and_inlined_frames_get_their_names_back() {
        let found = name_frames(
            &report(&["a.b.c(SourceFile:3)", "android.os.X.y(X.java:1)"], "a.c"),
            MAPPING.as_bytes(),
        );
        let found = found.unwrap();
        let frames: Vec<&str> =
            found.report.thrown[0].frames.iter().map(|frame| frame.text.as_str()).collect();
        assert_eq!(
            frames,
            [
                "com.example.Cart.check(Cart.kt:32)",
                "com.example.Cart.pay(Cart.kt:88)",
                "android.os.X.y(X.java:1)"
            ]
        );
        assert_eq!((found.frames, found.report.exception()), (1, "com.example.CartGone"));
        assert_eq!(found.report.place().map(|frame| frame.own), Some(true));
    }

    #[test]
    fn another_mapping_names_nothing_and_says_so() {
        let found =
            name_frames(&report(&["x.y.z(SourceFile:3)"], "java.lang.Error"), MAPPING.as_bytes()).unwrap();
        assert_eq!(found.frames, 0);
        assert!(found.problem.is_some_and(|problem| problem.contains("another build")));
        assert!(name_frames(&report(&[], "E"), b"shopping list\nmilk\n").is_err());
    }
}
