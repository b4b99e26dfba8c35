//! Faults that were found on Android's own views, each with its id in docs/requirements.md.

use crate::lines;
use crate::reading;
use crate::views::Screen;
use crate::walk::{NEXT_PAGE, PAGES_MAX, World, home, note};

/// The page of pickers is left out: its dial is cut by the edge of the screen, and the truth does not say where in a view
/// its drawn words are.
const PAGES: [&str; 9] =
    ["Main", "Text", "Toggle", "Range", "Choice", "Lists", "Container", "Dialog", "Clock"];

/// Returns the first line of an answer, and those below it.
async fn call(world: &World, tool: &str, arguments: &str) -> (String, Vec<String>) {
    let text = world.call(tool, arguments).await;
    let mut lines = text.lines().map(str::to_owned);
    (lines.next().unwrap_or_default(), lines.collect())
}

/// Turns the pages to the one with this state.
async fn turn_to(world: &World, state: &str) {
    for _ in 0..PAGES_MAX {
        if note(&world.phone.truth()).split(' ').any(|shown| shown == state) {
            return;
        }
        world.run(NEXT_PAGE).await;
    }
    panic!("{state} is on no page");
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn groups_unfold_and_no_name_is_lost() {
    let Some(home) = home("groups_unfold_and_no_name_is_lost") else { return };
    let world = World::start(home);
    world.start_activity("org.mdm.widgets/.StatesActivity").await;

    // F85: a group that unfolds scrolls nothing.
    turn_to(&world, "groups_closed").await;
    let group = r#"{"selector":{"text":"Fruit","inside":{"resource_id":"groups_closed"}}}"#;
    let (answer, lines) = call(&world, "tap_element", group).await;
    let is_new = |line: &String| line.starts_with("+ ") && line.contains("\"Pear\"");
    assert!(lines.iter().any(is_new), "F85: {answer} {lines:?}");
    assert!(!answer.contains("\"observed_change\":\"scroll"), "F85: {answer}");

    // F87: a text above a control keeps a line of its own, or is the control's name.
    for page in PAGES {
        world.start_activity(&format!("org.mdm.widgets/.{page}Activity")).await;
        let before = Screen::of(world.phone.truth());
        let tree = world.tree().await;
        let after = Screen::of(world.phone.truth());
        let found = reading::judge(&before, &after, &lines::read(&tree));
        let nothing: [String; 0] = [];
        assert!(found.facts > 3, "{page}: {tree}");
        assert_eq!((&found.lost[..], &found.untrue[..]), (&nothing[..], &nothing[..]), "{page}: {tree}");
    }
}
