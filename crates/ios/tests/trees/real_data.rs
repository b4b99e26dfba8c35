//! Page sources of real apps. They are kept outside the project; without them these tests print that they are skipped.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use mdm_core::outline::{OutlineOptions, text};
use mdm_core::screen::element::Element;
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use mdm_ios::tree::{Format, Limits, detect, parse};
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::check::assert_well_formed;
use crate::cost::peak_bytes;
use crate::recorded::report_missing;

/// Lists the files of a folder.
fn data(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    if files.is_empty() {
        report_missing(&format!("real page sources in {folder}"));
    }
    files.sort();
    files
}

/// Prints to stderr directly, because the harness hides the output of a passing test.
fn print_message(message: &str) {
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
}

/// Collects the XML files of a folder and its subfolders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "xml") {
            files.push(path);
        }
    }
}

fn whole_files() -> Vec<PathBuf> {
    ["ios-ui", "ios-traces"].into_iter().flat_map(data).collect()
}

fn load(path: &Path) -> (Vec<u8>, Snapshot) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(detect(&bytes), Some(Format::WdaXml), "{}", path.display());
    let snapshot = parse(&bytes, &Limits::default());
    assert_well_formed(&snapshot);
    (bytes, snapshot)
}

/// Reads tag, label and edges of every element with another parser.
fn read_with_quick_xml(xml: &[u8]) -> Vec<(String, String, [i32; 4])> {
    let mut reader = Reader::from_str(std::str::from_utf8(xml).unwrap());
    let mut nodes = Vec::new();
    loop {
        let tag = match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => return nodes,
            _ => continue,
        };
        let name = tag.name().as_ref().to_owned();
        if name == "AppiumAUT" {
            continue;
        }
        let mut node = (name, String::new(), [0; 4]);
        for attribute in tag.attributes().map(Result::unwrap) {
            let value = || quick_xml::escape::unescape(&attribute.value).unwrap().into_owned();
            match attribute.key.as_ref() {
                "label" => node.1 = value(),
                "x" => node.2[0] = value().parse().unwrap(),
                "y" => node.2[1] = value().parse().unwrap(),
                "width" => node.2[2] = value().parse().unwrap(),
                "height" => node.2[3] = value().parse().unwrap(),
                _ => {}
            }
        }
        nodes.push(node);
    }
}

fn as_written(element: &Element) -> (String, String, [i32; 4]) {
    let bounds = element.bounds;
    let label = element.description.as_deref().unwrap_or_default().to_owned();
    (element.class.to_string(), label, [bounds.left, bounds.top, bounds.width(), bounds.height()])
}

#[test]
fn quick_xml_reads_the_same_elements() {
    let (mut files, mut nodes, mut bytes, mut peak) = (0, 0, 0, 0);
    for path in whole_files() {
        let (xml, snapshot) = load(&path);
        assert_eq!(snapshot.defects, [], "{}", path.display());
        let ours: Vec<_> = snapshot.elements.iter().map(as_written).collect();
        assert_eq!(ours, read_with_quick_xml(&xml), "{}", path.display());
        text(&ScreenReading::new(snapshot.clone()), &OutlineOptions::default());
        if !snapshot.elements.is_empty() {
            assert!(peak_bytes(&snapshot) <= 4 * xml.len(), "{}", path.display());
            assert!(snapshot.size.width > 0 && snapshot.size.height > 0, "{}", path.display());
        }
        files += 1;
        nodes += ours.len();
        bytes += xml.len();
        peak += peak_bytes(&snapshot);
    }
    print_message(&format!(
        "iOS page sources: {files} files, {nodes} elements, 0 defects; {peak} bytes peak for {bytes} read"
    ));
}

#[test]
fn malformed_files_give_their_elements() {
    for path in data("malformed") {
        let (bytes, snapshot) = load(&path);
        let tags = String::from_utf8_lossy(&bytes).matches("<XCUIElementType").count();
        let (count, defects) = (snapshot.elements.len(), snapshot.defects.len());
        print_message(&format!(
            "{}: {count} of {tags} elements, {defects} defects",
            path.file_name().unwrap().display()
        ));
        assert!(count + 1 >= tags && !snapshot.is_whole(), "{}", path.display());
    }
}

#[test]
fn no_identifier_repeats_the_label_or_value() {
    // ID-03
    let (mut with_id, mut all) = (0, 0);
    for path in whole_files() {
        for element in load(&path).1.elements {
            all += 1;
            let Some(id) = element.stable_id.as_deref() else { continue };
            with_id += 1;
            assert_ne!(Some(id), element.description.as_deref(), "{}", path.display());
            assert_ne!(Some(id), element.value.as_deref(), "{}", path.display());
        }
    }
    print_message(&format!("identifiers: {with_id} of {all} elements"));
}

/// Checks that the elements which people touched in recorded traces are clickable, or inside a clickable element.
#[test]
fn most_touched_elements_are_clickable() {
    let (mut steps, mut itself, mut around) = (0, 0, 0);
    for path in data("ios-traces") {
        let trace = std::fs::read_to_string(path.with_file_name("trace.json")).unwrap();
        let trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (_, snapshot) = load(&path);
        let touches = ["click", "send_keys", "send_keys_enter"];
        for step in trace["steps"].as_array().unwrap().iter().filter(|step| step["tree"] == name.as_str()) {
            let is_target = |element: &&Element| {
                step["target_nodes"].as_array().unwrap().iter().any(|target| is_target(element, target))
            };
            let targets: Vec<&Element> = snapshot.elements.iter().filter(is_target).collect();
            let action = step["action"]["type"].as_str().unwrap_or_default();
            if targets.is_empty() || !touches.contains(&action) {
                continue;
            }
            steps += 1;
            itself += usize::from(targets.iter().any(|element| element.affordances.clickable));
            around += usize::from(targets.iter().any(|element| is_in_clickable(&snapshot, element)));
        }
    }
    print_message(&format!(
        "touched in {steps} steps: {itself} clickable itself, {around} it or what is around it"
    ));
    assert!(around * 10 >= steps * 8, "{around} of {steps}");
}

fn is_in_clickable(snapshot: &Snapshot, element: &Element) -> bool {
    let mut next = Some(element);
    while let Some(element) = next {
        if element.affordances.clickable {
            return true;
        }
        next = element.parent.map(|parent| &snapshot.elements[parent as usize]);
    }
    false
}

fn is_target(element: &Element, target: &serde_json::Value) -> bool {
    let text = |key: &str| target[key].as_str().unwrap_or_default();
    let (class, label, [x, y, width, height]) = as_written(element);
    let edges = [x, y, width, height].map(|edge| edge.to_string());
    class == text("type") && label == text("label") && edges == ["x", "y", "width", "height"].map(text)
}
