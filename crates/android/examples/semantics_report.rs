//! What is understood of hierarchy files: controls by kind, labels, values, loading, and what it costs.
//! `cargo run --release -p mdm-android --example semantics_report -- [--show] [--files] dump.xml …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures real time")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::meaning::label::{self, LabelSource};
use mdm_core::meaning::loading::loading;
use mdm_core::meaning::semantics::{self, Control};
use mdm_core::meaning::state;
use mdm_core::screen::snapshot::Snapshot;
use mdm_core::screen::visible::visible_rects;

#[derive(Default)]
struct Figures {
    elements: usize,
    clickable: usize,
    nameless: usize,
    nameless_with_id: usize,
    controls: BTreeMap<&'static str, usize>,
    labels: BTreeMap<&'static str, usize>,
    values: usize,
    ranged: usize,
    choices: usize,
    loading: BTreeMap<&'static str, usize>,
}

fn main() -> std::io::Result<()> {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let has = |name: &str| options.iter().any(|option| option == name);
    let mut all = Figures::default();
    let mut nanoseconds = [0.0; 3];
    for path in &paths {
        let snapshot = parse(&std::fs::read(path)?, &Limits::default());
        if has("--show") {
            println!("== {path}");
            show(&snapshot);
        }
        let mut own = Figures::default();
        count(&snapshot, &mut own);
        if has("--files") {
            println!(
                "{:4} elements, {} of {} clickable nameless, {} values, {:?} {:?}  {path}",
                own.elements, own.nameless, own.clickable, own.values, own.controls, own.loading
            );
        }
        count(&snapshot, &mut all);
        for (sum, part) in nanoseconds.iter_mut().zip(cost(&snapshot)) {
            *sum += part;
        }
    }
    println!("files {}, elements {}", paths.len(), all.elements);
    println!(
        "clickable on screen {}, nameless {} ({} of them with an id)",
        all.clickable, all.nameless, all.nameless_with_id
    );
    println!("labels {:?}\ncontrols {:?}", all.labels, all.controls);
    println!("values {}, with a range {}, choices {}", all.values, all.ranged, all.choices);
    println!("loading {:?}", all.loading);
    let [control, state, loading] = nanoseconds.map(|sum| sum / all.elements.max(1) as f64);
    println!("nanoseconds an element: control {control:.0}, state {state:.0}, loading {loading:.0}");
    Ok(())
}

fn count(snapshot: &Snapshot, figures: &mut Figures) {
    let rects = visible_rects(snapshot);
    figures.elements += snapshot.elements.len();
    for (index, element) in snapshot.elements.iter().enumerate() {
        if rects[index].is_none() {
            continue;
        }
        if element.is_tappable() {
            figures.clickable += 1;
            let source = match label::label(snapshot, index).map(|label| label.source) {
                Some(LabelSource::Own) => "own",
                Some(LabelSource::Descendants) => "descendants",
                Some(LabelSource::Sibling) => "sibling",
                Some(LabelSource::Hint) => "hint",
                None => "none",
            };
            *figures.labels.entry(source).or_default() += 1;
            if source == "none" && label::value(element).is_none() {
                figures.nameless += 1;
                figures.nameless_with_id += usize::from(element.stable_id.is_some());
            }
        }
        if let Some(control) = semantics::control(snapshot, index) {
            *figures.controls.entry(kind(&control)).or_default() += 1;
        }
        let state = state::read(snapshot, index);
        figures.values += usize::from(state.value.is_some());
        figures.ranged += usize::from(state.value_range.is_some());
        figures.choices += usize::from(state.choice.is_some());
    }
    if let Some(loading) = loading(snapshot, &rects) {
        *figures.loading.entry(loading.signal.name()).or_default() += 1;
    }
}

fn kind(control: &Control) -> &'static str {
    use semantics::ControlKind as K;
    match control.kind {
        K::Slider => "slider",
        K::Stepper => "stepper",
        K::Dropdown => "dropdown",
        K::SegmentedControl => "segments",
        K::TabRow => "tabs",
        K::RadioGroup => "radios",
        K::Picker => "picker",
        K::Rating => "rating",
        K::CustomAdjustable => "adjustable",
        K::ToggleRow => "toggle row",
        K::Expandable => "expandable",
    }
}

fn show(snapshot: &Snapshot) {
    let rects = visible_rects(snapshot);
    for (index, control) in semantics::controls(snapshot) {
        let element = &snapshot.elements[index];
        let name = label::label(snapshot, index).map(|label| label.text.into_owned()).unwrap_or_default();
        let words = |part: Option<u32>| {
            part.and_then(|part| label::own_words(&snapshot.elements[part as usize]))
                .unwrap_or("-")
                .to_owned()
        };
        let state = state::read(snapshot, index);
        println!(
            "  {index} {} {:?} {:?} name {name:?} [label {:?} value {:?} -{:?} +{:?} toggle {:?} options {}]",
            kind(&control),
            control.reason,
            element.bounds,
            words(control.parts.label),
            words(control.parts.value),
            control.parts.decrease,
            control.parts.increase,
            control.parts.toggle,
            control.parts.options.len(),
        );
        println!(
            "       checked {:?} value {:?} {:?} raw {:?} choice {:?} expanded {:?} seen {}",
            state.checked,
            state.value,
            state.unit,
            state.raw_value,
            state.choice,
            state.expanded,
            rects[index].is_some()
        );
    }
    if let Some(loading) = loading(snapshot, &rects) {
        let element = &snapshot.elements[loading.index as usize];
        println!("  LOADING {} {:?} {:?}", loading.signal.name(), element.class, element.stable_id);
    }
    for (index, element) in snapshot.elements.iter().enumerate() {
        if rects[index].is_none() || !element.role.is_control() {
            continue;
        }
        match label::label(snapshot, index) {
            Some(label) if label.source == LabelSource::Sibling => {
                println!("  beside: {:?} {:?} {:?}", element.role, element.bounds, label.text);
            }
            None if element.is_tappable() && label::value(element).is_none() => {
                println!(
                    "  nameless: {:?} {} {:?} {:?}",
                    element.role, element.class, element.bounds, element.stable_id
                );
            }
            _ => {}
        }
    }
}

const ROUNDS: usize = 20;

/// Nanoseconds for the whole screen: control, state, loading.
fn cost(snapshot: &Snapshot) -> [f64; 3] {
    let rects = visible_rects(snapshot);
    let indexes = || 0..snapshot.elements.len();
    [
        median(|| indexes().for_each(|index| drop(black_box(semantics::control(snapshot, index))))),
        median(|| indexes().for_each(|index| drop(black_box(state::read(snapshot, index))))),
        median(|| _ = black_box(loading(snapshot, &rects))),
    ]
}

fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e9
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
