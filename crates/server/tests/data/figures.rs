//! One line of figures for every real screen, kept in docs/figures, so that a change that reads screens worse shows.

use std::fmt::Write as _;
use std::path::Path;

use mdm_core::meaning::identifier::Census;
use mdm_core::meaning::label::label;
use mdm_core::outline::{OutlineOptions, lines};
use mdm_core::screen::snapshot::Snapshot;
use mobile_debug_mcp::tree;

use crate::files::{load, number, screens};

#[derive(Default)]
struct Figures {
    nodes: usize,
    lines: usize,
    /// Elements whose words are on another element's line.
    folded: usize,
    targets: usize,
    /// Targets on the screen that have no name at all.
    unlabelled: usize,
    /// Elements that share their identifier with another one.
    collisions: usize,
    defects: usize,
}

impl Figures {
    fn of(snapshot: Snapshot) -> Figures {
        let census = Census::of(&snapshot);
        let shared = |id: &str| census.with_id(id) > 1;
        let collisions =
            snapshot.elements.iter().filter(|e| e.stable_id.as_deref().is_some_and(shared)).count();
        let defects = snapshot.defects.len();
        let seen = tree::seen(snapshot);
        let outline = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
        let targets = || outline.lines.iter().filter(|line| line.is_target);
        let unlabelled =
            targets().filter(|line| label(&seen.reading.snapshot, line.index as usize).is_none());
        Figures {
            nodes: seen.ids.len(),
            lines: outline.lines.len(),
            folded: outline.folded,
            targets: targets().count(),
            unlabelled: unlabelled.count(),
            collisions,
            defects,
        }
    }

    fn add(&mut self, other: &Figures) {
        self.nodes += other.nodes;
        self.lines += other.lines;
        self.folded += other.folded;
        self.targets += other.targets;
        self.unlabelled += other.unlabelled;
        self.collisions += other.collisions;
        self.defects += other.defects;
    }

    fn push_to(&self, table: &mut String, name: &str) {
        let Figures { nodes, lines, folded, targets, unlabelled, collisions, defects } = self;
        let _ = writeln!(
            table,
            "{name}\t{nodes}\t{lines}\t{folded}\t{targets}\t{unlabelled}\t{collisions}\t{defects}"
        );
    }
}

#[test]
fn every_real_screen_is_read() {
    let folders = ["android-ui", "ios-ui", "malformed", "bench", "android-traces", "ios-traces"];
    let mut table = "screen\tnodes\tlines\tfolded\ttargets\tunlabelled\tcollisions\tdefects\n".to_owned();
    for folder in folders {
        let mut all = Figures::default();
        let mut rows = String::new();
        for path in screens(folder) {
            let figures = Figures::of(load(&path).unwrap_or_default());
            all.add(&figures);
            figures.push_to(&mut rows, &format!("{folder} {}", number(&path)));
        }
        all.push_to(&mut table, &format!("{folder} all"));
        table.push_str(&rows);
    }
    if table.lines().count() <= folders.len() + 1 {
        return;
    }
    for line in table.lines().filter(|line| line.contains(" all\t") || line.starts_with("screen")) {
        println!("{line}");
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/real-screens.tsv");
    if std::env::var_os("UPDATE_FIGURES").is_some() {
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::write(&kept, &table).unwrap();
    }
    let before = std::fs::read_to_string(&kept).unwrap_or_default();
    let changed: Vec<&str> = table.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
    assert!(
        before == table,
        "the figures changed; read the screens, then UPDATE_FIGURES=1 writes them:\n{}",
        changed.join("\n")
    );
}

/// Memory of a capture: elements, their texts, and derived data.
fn bytes_held(seen: &mdm_core::change::tracker::Observation) -> usize {
    let texts = |element: &mdm_core::screen::element::Element| {
        let all = [&element.stable_id, &element.text, &element.description, &element.hint, &element.value];
        all.into_iter().flatten().map(|text| text.len()).sum::<usize>()
    };
    let elements = &seen.reading.snapshot.elements;
    let each = size_of::<mdm_core::screen::element::Element>()
        + size_of::<mdm_core::screen::reading::Node>()
        + size_of::<mdm_core::identity::ElementId>();
    elements.len() * each + elements.iter().map(texts).sum::<usize>()
}

#[test]
fn a_screen_takes_no_more_memory_than_four_times_its_bytes() {
    let mut most: f64 = 0.0;
    for folder in ["android-ui", "ios-ui", "bench", "android-traces", "ios-traces"] {
        for path in screens(folder) {
            let Some(snapshot) = load(&path) else { continue };
            let input = std::fs::metadata(&path).unwrap().len() as f64;
            let ratio = bytes_held(&tree::seen(snapshot)) as f64 / input;
            assert!(ratio <= 4.0, "{}: {ratio:.2}", path.display());
            most = most.max(ratio);
        }
    }
    println!("at most {most:.2} times the bytes of its file");
}
