//! The list of parts (SBOM) in the words of CycloneDX 1.5. It has no time and no random number in it: the same parts give
//! the same list.

use serde::Serialize;

use super::parts::Part;
use super::runtime::Runtime;
use super::{About, NAME};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bom<'a> {
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: Metadata<'a>,
    components: Vec<Component<'a>>,
    dependencies: Vec<Dependency<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    component: Component<'a>,
}

#[derive(Serialize)]
struct Component<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref")]
    reference: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<License<'a>>,
}

#[derive(Serialize)]
struct License<'a> {
    expression: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dependency<'a> {
    #[serde(rename = "ref")]
    reference: String,
    depends_on: &'a [String],
}

/// Files of others that are in the program and no crate: name and licence.
const FILES: [(&str, &str); 1] = [("Cantarell-Regular.otf", "OFL-1.1")];

pub fn cyclonedx(about: &About, parts: &[Part], runtimes: &[Runtime]) -> Result<Vec<u8>, String> {
    let own = parts
        .iter()
        .find(|part| part.is_own && part.name == NAME)
        .ok_or("the program is not in its parts")?;
    let others = parts.iter().filter(|part| part.reference() != own.reference());
    let files = FILES.iter().map(|(name, license)| Component {
        kind: "file",
        reference: (*name).to_owned(),
        name,
        version: None,
        purl: None,
        licenses: vec![License { expression: license }],
    });
    let runtimes = runtimes.iter().map(|runtime| Component {
        kind: "library",
        reference: runtime.name.to_owned(),
        name: runtime.name,
        version: runtime.version.as_deref(),
        purl: None,
        licenses: vec![License { expression: runtime.license }],
    });
    let dependencies =
        parts.iter().map(|part| Dependency { reference: part.reference(), depends_on: &part.needs });
    super::pretty(&Bom {
        bom_format: "CycloneDX",
        spec_version: "1.5",
        version: 1,
        metadata: Metadata {
            component: Component { version: Some(&about.version), ..component("application", own) },
        },
        components: others.map(|part| component("library", part)).chain(runtimes).chain(files).collect(),
        dependencies: dependencies.collect(),
    })
}

fn component<'a>(kind: &'static str, part: &'a Part) -> Component<'a> {
    Component {
        kind,
        reference: part.reference(),
        name: &part.name,
        version: Some(&part.version),
        purl: (!part.is_own).then(|| format!("pkg:cargo/{}@{}", part.name, part.version)),
        licenses: part.license.iter().map(|expression| License { expression }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value;

    use super::super::linkage::Linkage;
    use super::super::runtime;
    use super::*;

    #[test]
    fn every_part_is_listed_once_and_every_reference_leads_somewhere() {
        let root = crate::command::root();
        let parts = super::super::parts::of_target(&root, "x86_64-unknown-linux-gnu").unwrap();
        let linkage = Linkage { interpreter: None, libraries: 0, has_symbols: false };
        let version = Some("1.95.0".to_owned());
        let runtimes = runtime::of_program("x86_64-unknown-linux-musl", Some(&linkage), version);
        let text = cyclonedx(&About::for_test(None), &parts, &runtimes).unwrap();
        assert_eq!(text, cyclonedx(&About::for_test(None), &parts, &runtimes).unwrap());
        let bom: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
        for (name, license) in [("Rust standard library", "MIT OR Apache-2.0"), ("musl", "MIT")] {
            let components = bom["components"].as_array().unwrap();
            let found = components.iter().find(|component| component["name"] == name).unwrap();
            assert_eq!(found["licenses"][0]["expression"], license, "{name}");
        }
        let mut known: Vec<&str> =
            bom["components"].as_array().unwrap().iter().map(|c| c["bom-ref"].as_str().unwrap()).collect();
        known.push(bom["metadata"]["component"]["bom-ref"].as_str().unwrap());
        known.sort_unstable();
        let count = known.len();
        known.dedup();
        assert_eq!(known.len(), count, "a part is listed twice");
        for dependency in bom["dependencies"].as_array().unwrap() {
            let needs = dependency["dependsOn"].as_array().unwrap();
            for reference in needs.iter().chain([&dependency["ref"]]) {
                assert!(known.binary_search(&reference.as_str().unwrap()).is_ok(), "{reference}");
            }
        }
        let whole = String::from_utf8_lossy(&text);
        assert!(!whole.contains(root.to_str().unwrap()), "a path of this machine is in the list");
    }

    #[test]
    fn a_crate_of_others_can_be_found_by_its_address_and_ours_has_none() {
        let part = |name: &str, is_own: bool| Part {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            license: Some("MIT".to_owned()),
            is_own,
            folder: PathBuf::new(),
            needs: Vec::new(),
        };
        let text = cyclonedx(&About::for_test(None), &[part(NAME, true), part("x", false)], &[]).unwrap();
        let bom: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(bom["components"][0]["purl"], "pkg:cargo/x@1.2.3");
        assert!(bom["metadata"]["component"].get("purl").is_none());
        assert!(cyclonedx(&About::for_test(None), &[part("x", false)], &[]).is_err());
    }
}
