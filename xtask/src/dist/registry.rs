//! `server.json`, by which the MCP registry lists this server: the package of npm, and each bundle of a release with its
//! hash.

use serde::Serialize;

use super::{About, NAME};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The registry takes no longer one.
const DESCRIPTION_CHARS_MAX: usize = 100;

#[derive(Serialize)]
struct Server<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    title: &'static str,
    description: &'a str,
    version: &'a str,
    repository: Repository,
    packages: Vec<Package<'a>>,
}

#[derive(Serialize)]
struct Repository {
    url: String,
    source: &'static str,
}

/// The registry refuses a version beside a bundle, whose address says it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Package<'a> {
    registry_type: &'static str,
    identifier: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_sha256: Option<&'a str>,
    transport: Transport,
}

#[derive(Serialize)]
struct Transport {
    #[serde(rename = "type")]
    kind: &'static str,
}

const STDIO: Transport = Transport { kind: "stdio" };

/// A bundle's file name and the SHA-256 of it.
pub struct Bundle {
    pub file: String,
    pub sha256: String,
}

/// `None` without a repository: the registry knows servers by who owns one, and bundles by where they lie.
pub fn server_json(about: &About, bundles: &[Bundle]) -> Result<Option<Vec<u8>>, String> {
    let (Some(name), Some(url)) = (about.registry_name(), about.repository_url()) else { return Ok(None) };
    if about.description.chars().count() > DESCRIPTION_CHARS_MAX {
        return Err(format!(
            "the description has more than {DESCRIPTION_CHARS_MAX} characters: {}",
            about.description
        ));
    }
    let npm = Package {
        registry_type: "npm",
        identifier: NAME.to_owned(),
        version: Some(&about.version),
        file_sha256: None,
        transport: STDIO,
    };
    let bundles = bundles.iter().map(|bundle| Package {
        registry_type: "mcpb",
        identifier: format!("{url}/releases/download/v{}/{}", about.version, bundle.file),
        version: None,
        file_sha256: Some(&bundle.sha256),
        transport: STDIO,
    });
    let server = Server {
        schema: SCHEMA,
        name: &name,
        title: "Mobile Debug",
        description: &about.description,
        version: &about.version,
        repository: Repository { url: url.clone(), source: "github" },
        packages: std::iter::once(npm).chain(bundles).collect(),
    };
    super::pretty(&server).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn packages_are_named_as_the_registry_wants_them() {
        let about = About::for_test(Some("someone/phones"));
        let bundle =
            Bundle { file: "mobile-debug-mcp-1.2.3-linux-x64.mcpb".to_owned(), sha256: "ab".repeat(32) };
        let text = server_json(&about, &[bundle]).unwrap().unwrap();
        let server: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(server["name"], "io.github.someone/mobile-debug-mcp");
        let at = "https://github.com/someone/phones/releases/download/v1.2.3/mobile-debug-mcp-1.2.3-linux-x64.mcpb";
        let transport = json!({"type": "stdio"});
        let npm = json!({"registryType": "npm", "identifier": "mobile-debug-mcp", "version": "1.2.3", "transport": transport});
        let mcpb = json!({"registryType": "mcpb", "identifier": at, "fileSha256": "ab".repeat(32), "transport": transport});
        assert_eq!(server["packages"], json!([npm, mcpb]));
    }

    #[test]
    fn without_a_repository_there_is_nothing_to_list() {
        assert!(server_json(&About::for_test(None), &[]).unwrap().is_none());
    }

    #[test]
    fn a_description_that_the_registry_refuses_is_refused_here() {
        let about = About { description: "x".repeat(101), ..About::for_test(Some("someone/phones")) };
        assert!(server_json(&about, &[]).is_err());
    }
}
