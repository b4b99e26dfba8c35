//! The bundle that desktop programs install with one click: a zip with a manifest and the program (.mcpb).

use serde::Serialize;

use super::entry::Entry;
use super::platform::Platform;
use super::{About, NAME, zip};

/// Of the manifest; the newest that does not call itself experimental.
const MANIFEST_VERSION: &str = "0.3";

#[derive(Serialize)]
struct Manifest<'a> {
    manifest_version: &'static str,
    name: &'static str,
    display_name: &'static str,
    version: &'a str,
    description: &'a str,
    author: Author,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<Repository>,
    server: Server,
    /// The tools are told by the server.
    tools_generated: bool,
    prompts_generated: bool,
    keywords: [&'static str; 4],
    license: &'a str,
    compatibility: Compatibility,
}

#[derive(Serialize)]
struct Author {
    name: &'static str,
}

#[derive(Serialize)]
struct Repository {
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
}

#[derive(Serialize)]
struct Server {
    #[serde(rename = "type")]
    kind: &'static str,
    entry_point: String,
    mcp_config: McpConfig,
}

#[derive(Serialize)]
struct McpConfig {
    command: String,
    args: [&'static str; 1],
}

#[derive(Serialize)]
struct Compatibility {
    platforms: [&'static str; 1],
}

/// The name of a bundle's file. It says the processor too, which the manifest cannot.
pub fn file(version: &str, platform: Platform) -> String {
    format!("{NAME}-{version}-{}.mcpb", platform.name())
}

pub fn packed(about: &About, platform: Platform, program: Vec<u8>) -> Result<Vec<u8>, String> {
    let entry_point = format!("server/{}", platform.program());
    let manifest = super::pretty(&manifest(about, platform, &entry_point))?;
    zip::zipped(&[
        Entry::file("manifest.json", manifest),
        Entry::program(&entry_point, program),
        Entry::file("LICENSE", about.license_text.clone()),
    ])
}

fn manifest<'a>(about: &'a About, platform: Platform, entry_point: &str) -> Manifest<'a> {
    Manifest {
        manifest_version: MANIFEST_VERSION,
        name: NAME,
        display_name: "Mobile Debug",
        version: &about.version,
        description: &about.description,
        author: Author { name: "the mobile-debug-mcp authors" },
        repository: about.repository_url().map(|url| Repository { kind: "git", url }),
        server: Server {
            kind: "binary",
            entry_point: entry_point.to_owned(),
            mcp_config: McpConfig { command: format!("${{__dirname}}/{entry_point}"), args: ["serve"] },
        },
        tools_generated: true,
        prompts_generated: true,
        keywords: ["android", "ios", "mobile", "debugging"],
        license: &about.license,
        compatibility: Compatibility { platforms: [platform.os] },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_manifest_starts_the_program_inside_the_bundle() {
        let windows = Platform { os: "win32", cpu: "x64" };
        let about = About::for_test(None);
        let text = super::super::pretty(&manifest(&about, windows, "server/mobile-debug-mcp.exe")).unwrap();
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(manifest["server"]["mcp_config"]["command"], "${__dirname}/server/mobile-debug-mcp.exe");
        assert_eq!(manifest["server"]["type"], "binary");
        assert_eq!(manifest["compatibility"]["platforms"], serde_json::json!(["win32"]));
        assert!(manifest.get("repository").is_none(), "nobody said where the sources are: {manifest}");
        assert_eq!(file("1.2.3", windows), "mobile-debug-mcp-1.2.3-win32-x64.mcpb");
    }
}
