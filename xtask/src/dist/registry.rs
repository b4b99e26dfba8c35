//! `server.json`, by which the MCP registry lists this server: the package of npm. Bundles are not listed: an entry has no
//! field for the system or the processor, so a client could only guess which of six to take.

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
    packages: [Package<'a>; 1],
}

#[derive(Serialize)]
struct Repository {
    url: String,
    source: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Package<'a> {
    registry_type: &'static str,
    identifier: &'static str,
    version: &'a str,
    transport: Transport,
}

#[derive(Serialize)]
struct Transport {
    #[serde(rename = "type")]
    kind: &'static str,
}

/// `None` without a repository: the registry knows servers by who owns one.
pub fn server_json(about: &About) -> Result<Option<Vec<u8>>, String> {
    let (Some(name), Some(url)) = (about.registry_name(), about.repository_url()) else { return Ok(None) };
    if about.description.chars().count() > DESCRIPTION_CHARS_MAX {
        return Err(format!(
            "the description has more than {DESCRIPTION_CHARS_MAX} characters: {}",
            about.description
        ));
    }
    let npm = Package {
        registry_type: "npm",
        identifier: NAME,
        version: &about.version,
        transport: Transport { kind: "stdio" },
    };
    let server = Server {
        schema: SCHEMA,
        name: &name,
        title: "Mobile Debug",
        description: &about.description,
        version: &about.version,
        repository: Repository { url, source: "github" },
        packages: [npm],
    };
    super::pretty(&server).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_package_of_npm_is_named_as_the_registry_wants_it() {
        let about = About::for_test(Some("someone/phones"));
        let text = server_json(&about).unwrap().unwrap();
        let server: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(server["name"], "io.github.someone/mobile-debug-mcp");
        assert_eq!(
            server["repository"],
            json!({"url": "https://github.com/someone/phones", "source": "github"})
        );
        let transport = json!({"type": "stdio"});
        let npm = json!({"registryType": "npm", "identifier": "mobile-debug-mcp", "version": "1.2.3", "transport": transport});
        assert_eq!(server["packages"], json!([npm]));
    }

    #[test]
    fn without_a_repository_there_is_nothing_to_list() {
        assert!(server_json(&About::for_test(None)).unwrap().is_none());
    }

    #[test]
    fn a_description_that_the_registry_refuses_is_refused_here() {
        let about = About { description: "x".repeat(101), ..About::for_test(Some("someone/phones")) };
        assert!(server_json(&about).is_err());
    }
}
