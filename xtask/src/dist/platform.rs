//! Systems and processors that a release is for, in the words of Rust, Node and the bundles.

/// In the words of Node (`process.platform`, `process.arch`), which npm and the bundles use too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    pub os: &'static str,
    pub cpu: &'static str,
}

/// What the release workflow builds and the launcher can install.
pub const ALL: [Platform; 6] = [
    Platform { os: "linux", cpu: "x64" },
    Platform { os: "linux", cpu: "arm64" },
    Platform { os: "darwin", cpu: "x64" },
    Platform { os: "darwin", cpu: "arm64" },
    Platform { os: "win32", cpu: "x64" },
    Platform { os: "win32", cpu: "arm64" },
];

impl Platform {
    /// Of a target triple of Rust.
    pub fn of(target: &str) -> Result<Platform, String> {
        let cpu = match target.split('-').next() {
            Some("x86_64") => "x64",
            Some("aarch64") => "arm64",
            _ => "",
        };
        let os = match target {
            _ if target.contains("-linux-gnu") || target.contains("-linux-musl") => "linux",
            _ if target.ends_with("-apple-darwin") => "darwin",
            _ if target.contains("-windows-") => "win32",
            _ => "",
        };
        let known = ALL.into_iter().find(|platform| (platform.os, platform.cpu) == (os, cpu));
        known.ok_or_else(|| {
            format!("{target} is no target of a release: x86_64 or aarch64 of Linux, macOS or Windows")
        })
    }

    /// The name of a package, such as `linux-x64`.
    pub fn name(self) -> String {
        format!("{}-{}", self.os, self.cpu)
    }

    /// The program's file name.
    pub fn program(self) -> &'static str {
        if self.os == "win32" { "mobile-debug-mcp.exe" } else { "mobile-debug-mcp" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_the_names_of_node() {
        for (target, name, program) in [
            ("x86_64-unknown-linux-gnu", "linux-x64", "mobile-debug-mcp"),
            ("aarch64-unknown-linux-musl", "linux-arm64", "mobile-debug-mcp"),
            ("aarch64-apple-darwin", "darwin-arm64", "mobile-debug-mcp"),
            ("x86_64-pc-windows-msvc", "win32-x64", "mobile-debug-mcp.exe"),
        ] {
            let platform = Platform::of(target).unwrap();
            assert_eq!((platform.name().as_str(), platform.program()), (name, program));
        }
        for other in ["riscv64gc-unknown-linux-gnu", "aarch64-linux-android", "i686-pc-windows-msvc"] {
            assert!(Platform::of(other).is_err(), "{other}");
        }
    }
}
