//! Compares dumps of every screen with real ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mdm_virtual_device::PhoneConfig;

use crate::host::phone_and_host;
use crate::recorded::report_missing;

const PROLOG: &str = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"";

const SCREENS: [(&str, &[&str]); 3] = [
    (
        "com.workbench",
        &[
            "LoginActivity",
            "HomeActivity",
            "SettingsActivity",
            "GalleryActivity",
            "ControlsActivity",
            "SlidersActivity",
            "LongListActivity",
            "FormActivity",
            "DialogsActivity",
            "OverlayActivity",
            "MovingActivity",
            "GesturesActivity",
            "DuplicatesActivity",
            "AnimationActivity",
            "ClockActivity",
            "ChurnActivity",
            "UpdatesActivity",
            "WebActivity",
            "TroubleActivity",
            "NetworkActivity",
            "ComposeActivity",
            "ReactActivity",
            "FlutterActivity",
            "GameActivity",
            "CalendarActivity",
            "FeedActivity",
            "ZoomActivity",
        ],
    ),
    (
        "com.shop",
        &["MainActivity", "ProductActivity", "CartActivity", "CheckoutActivity", "ConfirmationActivity"],
    ),
    (
        "com.android.settings",
        &[
            "Settings",
            "Settings\\$NetworkDashboardActivity",
            "Settings\\$DisplaySettingsActivity",
            "Settings\\$ManageApplicationsActivity",
        ],
    ),
];

/// Every activity of the phone's own apps but the launcher.
pub fn components() -> Vec<String> {
    let all = SCREENS.iter().flat_map(|(package, all)| all.iter().map(move |a| format!("{package}/.{a}")));
    all.collect()
}

#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    nodes: f64,
    depth: f64,
    /// The share of the clickable nodes.
    silent_share: Option<f64>,
    id_share: f64,
    /// The share of the nodes with an id.
    duplicate_share: Option<f64>,
}

fn attribute<'a>(node: &'a str, name: &str) -> &'a str {
    let start = format!(" {name}=\"");
    node.split(&start).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("")
}

/// The opening tags in order, each with its depth.
fn nodes(tree: &str) -> Vec<(usize, &str)> {
    let mut depth = 0;
    let mut found = Vec::new();
    for part in tree.split('<').skip(1) {
        if part.starts_with("/node") {
            depth -= 1;
        } else if part.starts_with("node") {
            found.push((depth + 1, part));
            depth += usize::from(!part.contains("/>"));
        }
    }
    found
}

fn figures(tree: &str) -> Figures {
    let all = nodes(tree);
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut clickable, mut silent) = (0, 0);
    for (_, node) in &all {
        let id = attribute(node, "resource-id");
        if !id.is_empty() {
            *ids.entry(id).or_default() += 1;
        }
        if attribute(node, "clickable") == "true" {
            clickable += 1;
            silent +=
                usize::from(attribute(node, "text").is_empty() && attribute(node, "content-desc").is_empty());
        }
    }
    let with_id: usize = ids.values().sum();
    let shared: usize = ids.values().filter(|count| **count > 1).sum();
    let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
    Figures {
        nodes: all.len() as f64,
        depth: all.iter().map(|(depth, _)| *depth).max().unwrap_or(0) as f64,
        silent_share: share(silent, clickable),
        id_share: share(with_id, all.len()).unwrap_or(0.0),
        duplicate_share: share(shared, with_id),
    }
}

/// Names of a node's attributes in order.
fn names(node: &str) -> Vec<&str> {
    let mut names: Vec<&str> =
        node.split("=\"").map(|part| part.rsplit([' ', '"']).next().unwrap_or("")).collect();
    names.pop();
    names
}

/// Name, then smallest, middle and largest.
type Range = (&'static str, [f64; 3]);

fn ranges(all: &[Figures]) -> Vec<Range> {
    let column = |name: &'static str, get: &dyn Fn(&Figures) -> Option<f64>| {
        let mut values: Vec<f64> = all.iter().filter_map(get).collect();
        values.sort_by(f64::total_cmp);
        (name, [values[0], values[values.len() / 2], values[values.len() - 1]])
    };
    vec![
        column("nodes", &|f| Some(f.nodes)),
        column("depth", &|f| Some(f.depth)),
        column("share of clickable without own text", &|f| f.silent_share),
        column("share with ids", &|f| Some(f.id_share)),
        column("share of ids used twice", &|f| f.duplicate_share),
    ]
}

async fn own_dumps(config: PhoneConfig) -> Vec<(String, String)> {
    let (_phone, mut host) = phone_and_host(config).await;
    let mut dumps = vec![("launcher".to_owned(), host.dump().await)];
    for (package, activities) in SCREENS {
        for activity in activities {
            host.run(&format!("am start -n {package}/.{activity}")).await;
            dumps.push((format!("{package}/.{activity}"), host.dump().await));
        }
    }
    dumps
}

#[expect(clippy::print_stdout, reason = "the figures are what this test is for")]
fn show(title: &str, ranges: &[Range]) {
    println!("{title}");
    for (name, [low, middle, high]) in ranges {
        println!("  {name}: {low:.2} .. {middle:.2} .. {high:.2}");
    }
}

fn real_dumps() -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/android-ui");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        report_missing("real dumps in android-ui");
        return None;
    };
    let files: BTreeSet<_> = entries.flatten().map(|e| e.path()).collect();
    let files = files.iter().filter(|path| path.extension().is_some_and(|e| e == "xml"));
    Some(files.filter_map(|path| std::fs::read_to_string(path).ok()).collect())
}

#[tokio::test(start_paused = true)]
async fn dumps_of_all_screens_have_the_form_and_the_figures_of_real_ones() {
    let Some(real) = real_dumps() else { return };
    assert!(real.len() > 30, "{} real dumps", real.len());
    let old = own_dumps(PhoneConfig { sdk: 31, ..PhoneConfig::default() }).await;
    let new = own_dumps(PhoneConfig::default()).await;
    let orders = |trees: &mut dyn Iterator<Item = &String>| -> BTreeSet<String> {
        trees.flat_map(|t| nodes(t)).map(|(_, node)| names(node).join(" ")).collect()
    };
    // Some of the real ones were made by other programs, which write other attributes.
    let real_orders = orders(&mut real.iter().filter(|tree| tree.starts_with(PROLOG)));
    let own_orders = orders(&mut old.iter().chain(&new).map(|(_, tree)| tree));
    assert_eq!(own_orders.difference(&real_orders).collect::<Vec<_>>(), Vec::<&String>::new());
    let real_figures: Vec<Figures> =
        real.iter().map(|tree| figures(tree)).filter(|f| f.nodes > 0.0).collect();
    // No game is among the real ones.
    let own_figures: Vec<Figures> = new
        .iter()
        .filter(|(name, _)| !name.ends_with("GameActivity"))
        .map(|(_, tree)| figures(tree))
        .collect();
    let (real_ranges, own_ranges) = (ranges(&real_figures), ranges(&own_figures));
    show(&format!("{} real dumps: smallest .. middle .. largest", real.len()), &real_ranges);
    show(&format!("{} screens of the phone", new.len()), &own_ranges);
    for (name, tree) in &new {
        assert!(
            figures(tree).depth >= real_ranges[1].1[0] || name.ends_with("GameActivity"),
            "{name} is flat"
        );
        assert!(tree.starts_with(PROLOG) && tree.ends_with("</hierarchy>"), "{name}");
    }
    for (name, tree) in &new {
        let share = figures(tree).duplicate_share.unwrap_or(0.0);
        assert!(share <= real_ranges[4].1[2] + 0.001, "{name}: {share} of the ids are used twice");
    }
    for ((name, [low, _, high]), (_, own)) in real_ranges.iter().zip(&own_ranges) {
        for value in own {
            assert!((low - 0.001..=high + 0.001).contains(value), "{name}: {value} is outside {low}..{high}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dense_screen_has_at_least_150_nodes_that_can_be_touched() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.run("am start -n com.workbench/.CalendarActivity").await;
    let tree = host.dump().await;
    assert!(nodes(&tree).len() >= 150, "{} nodes", nodes(&tree).len());
    host.tap("text=\"17\"").await;
    assert_eq!(phone.truth().sliders["gallery.day"], 17.0);
    assert!(host.dump().await.contains("text=\"17 October: nothing planned\""));
    host.run("am start -n com.workbench/.FeedActivity").await;
    let tree = host.dump().await;
    assert!(tree.contains("text='Ada wrote something \"worth\" reading &#128293;'"), "{tree}");
    assert!(tree.matches(" NAF=\"true\"").count() == 0 && nodes(&tree).len() >= 100);
}
