//! Frames of native code and of iOS, by the debug symbols of the binary that they are in.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use addr2line::Loader;
use mdm_core::port::{CrashReport, Frame};
use object::read::macho::{FatArch, MachOFatFile32};
use object::{Object, ObjectSegment};

use super::{Named, with_frames};

/// Functions that one frame may stand for, because calls were inlined.
const INLINED_MAX: usize = 20;

/// Numbers the files with one architecture.
static SLICES: AtomicU64 = AtomicU64::new(0);

/// True for the first bytes of ELF and Mach-O files.
pub fn is_binary(start: [u8; 4]) -> bool {
    let mach_o = [0xfeed_face_u32, 0xfeed_facf, 0xcafe_babe];
    start == *b"\x7fELF"
        || mach_o.contains(&u32::from_be_bytes(start))
        || mach_o.contains(&u32::from_le_bytes(start))
}

/// A place in a binary, as a frame tells it.
#[derive(Debug, PartialEq, Eq)]
struct Place<'a> {
    image: &'a str,
    offset: u64,
    build: Option<&'a str>,
}

/// What the binary is.
struct Facts {
    /// Where the binary begins in its own addresses.
    base: u64,
    build: Option<String>,
}

pub fn name_frames(report: &CrashReport, file: &Path) -> Result<Named, String> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let build = report.images.iter().find(|(image, _)| *image == name).map(|(_, build)| build.as_str());
    let slice = Slice::of(file, build)?;
    let file = slice.path.as_deref().unwrap_or(file);
    let facts = facts(file)?;
    let loader = Loader::new(file).map_err(|error| format!("the debug symbols cannot be read: {error}"))?;
    let (mut frames, mut other_build, mut in_image) = (0, false, 0);
    let mut name_one = |frame: &Frame| -> Vec<(String, bool)> {
        let unnamed = vec![(frame.text.clone(), frame.own)];
        let Some(place) = place(&frame.text).filter(|place| place.image == name) else { return unnamed };
        in_image += 1;
        let listed =
            report.images.iter().find(|(image, _)| image == place.image).map(|(_, build)| build.as_str());
        if is_another_build(place.build.or(listed), facts.build.as_deref()) {
            other_build = true;
            return unnamed;
        }
        // All but the innermost frame are return addresses: the call is the instruction before.
        let address = facts.base + place.offset.saturating_sub(u64::from(frame.index > 0));
        let found = functions(&loader, address);
        frames += usize::from(!found.is_empty());
        if found.is_empty() { unnamed } else { found.into_iter().map(|text| (text, true)).collect() }
    };
    let mut thrown = Vec::new();
    for one in &report.thrown {
        let named: Vec<(String, bool)> = one.frames.iter().flat_map(&mut name_one).collect();
        thrown.push(with_frames(one, named));
    }
    let problem = match (other_build, in_image, frames) {
        (true, ..) => Some(format!("{name} is of another build than the one that crashed")),
        (false, 0, _) => Some(format!("no frame is in {name}")),
        (false, _, 0) => Some(format!("{name} has no debug symbols for these frames")),
        _ => None,
    };
    Ok(Named { report: CrashReport { thrown, ..report.clone() }, frames, problem })
}

/// One architecture of a binary that has several, as a file of its own that is removed with this value.
struct Slice {
    path: Option<PathBuf>,
}

impl Slice {
    /// The architecture of the build that crashed, else the first. A binary with one architecture needs no such file.
    fn of(file: &Path, build: Option<&str>) -> Result<Slice, String> {
        let said = |error: std::io::Error| error.to_string();
        let bytes = std::fs::read(file).map_err(said)?;
        let Ok(fat) = MachOFatFile32::parse(&*bytes) else { return Ok(Slice { path: None }) };
        let slices: Vec<&[u8]> = fat.arches().iter().filter_map(|arch| arch.data(&*bytes).ok()).collect();
        let is_build = |slice: &&&[u8]| {
            let known = object::File::parse(**slice).ok().map(|object| facts_of(&object));
            known.and_then(|facts| facts.build).is_some_and(|known| !is_another_build(build, Some(&known)))
        };
        let chosen =
            slices.iter().find(is_build).or(slices.first()).ok_or("the binary has no architecture")?;
        let number = SLICES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mdm-symbols-{}-{number}", std::process::id()));
        let mut out = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(said)?;
        std::io::Write::write_all(&mut out, chosen).map_err(said)?;
        Ok(Slice { path: Some(path) })
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // What cannot be removed stays among the temporary files.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn facts(file: &Path) -> Result<Facts, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    object::File::parse(&*bytes)
        .map(|object| facts_of(&object))
        .map_err(|error| format!("this is no binary: {error}"))
}

fn facts_of(object: &object::File<'_>) -> Facts {
    let text = object.segments().find(|segment| segment.name().ok().flatten() == Some("__TEXT"));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let uuid = object.mach_uuid().ok().flatten().map(|uuid| hex(&uuid));
    let build = object.build_id().ok().flatten().map(hex);
    Facts { base: text.map_or(0, |segment| segment.address()), build: uuid.or(build) }
}

/// Both must be known to differ.
fn is_another_build(told: Option<&str>, known: Option<&str>) -> bool {
    let plain = |text: &str| text.replace('-', "").to_ascii_lowercase();
    told.zip(known).is_some_and(|(told, known)| !told.is_empty() && plain(told) != plain(known))
}

/// `#03 pc 000309cf  /system/lib/libadbd.so (x+814) (BuildId: 3645…)` or `App 0x1007da4bc 0x1007d4000 + 25788`.
fn place(text: &str) -> Option<Place<'_>> {
    if let Some((_, rest)) = text.split_once(" pc ").filter(|_| text.starts_with('#')) {
        let (address, rest) = rest.trim_start().split_once(' ')?;
        let path = rest.trim_start().split(" (").next()?;
        let build = text.split_once("BuildId: ").and_then(|(_, rest)| rest.split(')').next());
        return Some(Place {
            image: path.trim_end().rsplit('/').next()?,
            offset: u64::from_str_radix(address, 16).ok()?,
            build,
        });
    }
    let (head, offset) = text.rsplit_once(" + ")?;
    let (head, base) = head.rsplit_once(' ')?;
    base.strip_prefix("0x")?;
    let (image, _) = head.rsplit_once(" 0x")?;
    Some(Place { image, offset: offset.parse().ok()?, build: None })
}

/// The functions at an address, the innermost first: `name (file:line)`. Line tables alone name no functions; then the
/// symbol does.
fn functions(loader: &Loader, address: u64) -> Vec<String> {
    let symbol = || Some(addr2line::demangle_auto(loader.find_symbol(address)?.into(), None).into_owned());
    let mut found = Vec::new();
    if let Ok(mut frames) = loader.find_frames(address) {
        while let (true, Ok(Some(frame))) = (found.len() < INLINED_MAX, frames.next()) {
            let name = frame.function.as_ref().and_then(|f| Some(f.demangle().ok()?.into_owned()));
            let Some(name) = name.or_else(symbol) else { continue };
            let place = frame.location.and_then(|at| Some(format!(" ({}:{})", last(at.file?), at.line?)));
            found.push(format!("{name}{}", place.unwrap_or_default()));
        }
    }
    if found.is_empty() {
        found.extend(symbol());
    }
    found
}

fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use mdm_core::port::{CrashKind, Thrown};
    use object::ObjectSymbol;

    use super::*;

    /// Its address is looked up in the running test, which has debug symbols.
    #[inline(never)]
    fn mdm_symbols_landmark(number: u64) -> u64 {
        std::hint::black_box(number) * 3 + 1
    }

    fn report(frame: &str, images: Vec<(String, String)>) -> CrashReport {
        let mut thrown = Thrown::new("SIGSEGV", "");
        thrown.push_frame(frame, false);
        CrashReport {
            app: "com.example".to_owned(),
            pid: 1,
            kind: CrashKind::Native,
            thread: None,
            thrown: vec![thrown],
            time_ms: None,
            age_ms: None,
            images,
        }
    }

    #[test]
    fn a_native_frame_gets_function_file_and_line_from_the_binary_of_that_build_only() {
        assert_eq!(mdm_symbols_landmark(2), 7);
        let file = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let symbol =
            object.symbols().find(|symbol| symbol.name().is_ok_and(|n| n.contains("mdm_symbols_landmark")));
        let symbol = symbol.expect("the test has symbols");
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let at = |image: &str, build: &str| {
            format!("#00 pc {:08x}  /data/app/lib/{image} (x+1){build}", symbol.address())
        };
        let found = name_frames(&report(&at(&name, ""), Vec::new()), &file).unwrap();
        let text = &found.report.thrown[0].frames[0].text;
        assert!(text.contains("::mdm_symbols_landmark (binary.rs:"), "{text}");
        assert_eq!((found.frames, found.problem), (1, None));
        let other = name_frames(&report(&at(&name, " (BuildId: 0123)"), Vec::new()), &file).unwrap();
        assert!(other.frames == 0 && other.problem.unwrap().contains("another build"));
        let elsewhere = name_frames(&report(&at("libother.so", ""), Vec::new()), &file).unwrap();
        assert!(elsewhere.problem.unwrap().contains("no frame is in"));
    }

    #[test]
    fn places_of_both_platforms_are_read() {
        assert_eq!(
            place("#03 pc 000309cf  /system/lib/libadbd.so (f(int*)+814) (BuildId: 36ab)"),
            Some(Place { image: "libadbd.so", offset: 0x309cf, build: Some("36ab") })
        );
        assert_eq!(
            place("Shop Kit 0x1007da4bc 0x1007d4000 + 25788"),
            Some(Place { image: "Shop Kit", offset: 25788, build: None })
        );
        for none in ["com.example.Main.run(Main.kt:1)", "UIKitCore -[UIView x] + 12", "#00 pc", "a + b"] {
            assert_eq!(place(none), None, "{none}");
        }
    }
}
