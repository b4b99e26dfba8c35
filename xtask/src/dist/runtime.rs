//! What the compiler and the linker put into a program and no Cargo.toml names: Rust's standard library, and the C library
//! where it is inside the program instead of beside it.

use super::linkage::Linkage;

/// A part of the program that is no crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub name: &'static str,
    /// `None` where it is not known what a program was linked with.
    pub version: Option<String>,
    /// An expression of SPDX.
    pub license: &'static str,
    /// The file with the text of its licence.
    pub text: Option<&'static str>,
}

const MUSL: Runtime =
    Runtime { name: "musl", version: None, license: "MIT", text: Some("packaging/licences/musl.txt") };
/// Unwinds the stack of a panic in programs with musl; its exception asks for no text beside a program.
const LLVM_UNWIND: Runtime =
    Runtime { name: "LLVM libunwind", version: None, license: "Apache-2.0 WITH LLVM-exception", text: None };
const GLIBC: Runtime = Runtime {
    name: "glibc",
    version: None,
    license: "LGPL-2.1-or-later",
    text: Some("packaging/licences/glibc.txt"),
};
/// Unwinds the stack of a panic in programs with glibc.
const LIBGCC: Runtime = Runtime {
    name: "libgcc",
    version: None,
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    text: Some("packaging/licences/glibc.txt"),
};
const VISUAL_CPP: Runtime = Runtime {
    name: "Microsoft Visual C++ runtime",
    version: None,
    license: "LicenseRef-Microsoft-Visual-Studio-Distributable-Code",
    text: None,
};

/// Said of a program that has glibc inside.
pub const GLIBC_WARNING: &str = "warning: glibc (LGPL-2.1) is inside this program: whoever passes it on has to offer what it takes to \
    link it with another glibc. Releases are built for musl";

/// What is in a program besides its crates. `rust` is the version of the compiler, if it is known.
pub fn of_program(target: &str, linkage: Option<&Linkage>, rust: Option<String>) -> Vec<Runtime> {
    let std = Runtime {
        name: "Rust standard library",
        version: rust,
        license: "MIT OR Apache-2.0",
        text: Some("packaging/licences/rust.txt"),
    };
    let mut all = vec![std];
    match linkage.is_some_and(Linkage::is_static) {
        true if target.contains("-musl") => all.extend([MUSL, LLVM_UNWIND]),
        true => all.extend([GLIBC, LIBGCC]),
        // Its release is built with crt-static too, which its file's headers do not say.
        false if target.ends_with("-windows-msvc") => all.push(VISUAL_CPP),
        false => {}
    }
    all
}

/// True if passing the program on has conditions that a release does not meet.
pub fn has_glibc(runtimes: &[Runtime]) -> bool {
    runtimes.contains(&GLIBC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(target: &str, linkage: Option<&Linkage>) -> Vec<&'static str> {
        of_program(target, linkage, None).into_iter().map(|runtime| runtime.name).collect()
    }

    #[test]
    fn a_static_program_holds_its_c_library_and_another_does_not() {
        let inside = Linkage { interpreter: None, libraries: 0, has_symbols: false };
        let beside = Linkage { interpreter: None, libraries: 2, has_symbols: false };
        let std = "Rust standard library";
        assert_eq!(names("x86_64-unknown-linux-musl", Some(&inside)), [std, "musl", "LLVM libunwind"]);
        assert_eq!(names("aarch64-unknown-linux-gnu", Some(&inside)), [std, "glibc", "libgcc"]);
        assert_eq!(names("x86_64-unknown-linux-gnu", Some(&beside)), [std]);
        assert_eq!(names("aarch64-apple-darwin", None), [std]);
        assert_eq!(names("x86_64-pc-windows-msvc", None), [std, "Microsoft Visual C++ runtime"]);
        assert!(has_glibc(&of_program("x86_64-unknown-linux-gnu", Some(&inside), None)));
        assert!(!has_glibc(&of_program("x86_64-unknown-linux-musl", Some(&inside), None)));
    }

    #[test]
    fn every_text_is_there() {
        let root = crate::command::root();
        for runtime in [MUSL, GLIBC, LIBGCC].into_iter().chain(of_program("x86_64-apple-darwin", None, None))
        {
            assert!(runtime.text.is_some_and(|file| root.join(file).is_file()), "{runtime:?}");
        }
    }
}
