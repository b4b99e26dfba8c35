use super::*;
use crate::meaning::sketch::sketch;
use crate::screen::snapshot::Platform;

fn page(top: i32, rows: [&str; 2]) -> ScreenReading {
    let [first, second] = rows;
    let (title, list) = (top + 100, top + 500);
    ScreenReading::new(sketch(&format!(
        r#"
            ScrollView [0,0][1080,2400] scroll
              TextView [0,{top}][1080,{title}] text:"Orders"
              android.view.View [0,{title}][1080,{list}] scroll
                Button [0,{title}][1080,{list}] click text:"{first}"
                Button [0,{title}][1080,{list}] click text:"{second}"
            "#
    )))
}

#[test]
fn a_scroll_bar_beside_the_rows_joins_them_to_no_page() {
    // ID-02: after a whole page other rows with the same words are in sight, in another order.
    let list = |rows: &[(i32, &str)]| {
        let row = |(top, words): &(i32, &str)| {
            let bottom = top + 80;
            format!("\n  Cell [0,{top}][380,{bottom}] click desc:\"{words}\"")
        };
        let rows: String = rows.iter().map(row).collect();
        let bar = "Other [347,0][377,240] role:Container desc:\"Vertical scroll bar, 2 pages\" value:\"25%\"";
        ScreenReading::new(sketch(&format!("Table [0,0][380,240] scroll{rows}\n  {bar}")))
    };
    let before = list(&[(0, "Eggs, today"), (80, "Bread"), (160, "Eggs, tomorrow")]);
    let after = list(&[(-20, "Eggs, today"), (60, "Eggs, tomorrow"), (140, "Milk"), (220, "Tea")]);
    let pairs = pair(&before, &after, true);
    assert_eq!(pairs.to_old[1..5], [NONE, NONE, NONE, NONE], "no row is proven");
    assert_eq!(pairs.to_old[5], 4, "the bar");
}

#[test]
fn a_list_on_a_page_stays_the_same_when_all_its_rows_have_gone() {
    let before = page(0, ["Order 1", "Order 2"]);
    let scrolled = pair(&before, &page(0, ["Order 7", "Order 8"]), true);
    assert_eq!(scrolled.to_old[2], 2, "the list");
    assert_eq!(scrolled.to_old[3..], [NONE, NONE], "its rows are others");
    let moved = pair(&before, &page(60, ["Order 7", "Order 8"]), true);
    assert_eq!(moved.to_old[2], NONE, "on a page that moved it may be another list");
}

/// A screen of iOS with these lines in a scroll view below a title.
fn ios_page(title: &str, lines: &str) -> ScreenReading {
    let mut snapshot = sketch(&format!(
        r#"
            Application [0,0][393,852]
              StaticText [0,60][393,100] role:Heading text:"{title}"
              ScrollView [0,115][393,852] scroll
            {lines}
            "#
    ));
    snapshot.platform = Platform::Ios;
    ScreenReading::new(snapshot)
}

#[test]
fn a_row_that_speaks_for_its_buttons_is_another_row_when_it_says_something_else() {
    // ID-02, F1: a row of a list lies half under a button of the page, where another row came.
    let page = |row: &str| {
        let lines = format!(
            r#"
                Button [16,527][377,575] click text:"Upload"
                Other [16,523][377,603] role:Container desc:"{row}, Delete"
                  Button [257,539][369,587] click text:"Delete""#
        );
        ios_page("Orders", &lines)
    };
    let pairs = pair(&page("Milk, Order 104"), &page("Bread, Order 103"), true);
    assert_eq!(pairs.to_old[3], 3, "the button of the page");
    assert_eq!(pairs.to_old[4..], [NONE, NONE], "the row and its button");
}

#[test]
fn the_last_row_in_sight_that_says_something_else_is_another_row_also_if_it_is_a_plain_view() {
    // ID-02: React Native's rows are views without a role.
    let page = |last: &str| {
        let lines = format!(
            r#"
                Other [16,587][377,667] role:Container desc:"Kowalski Order 100"
                Other [16,667][377,747] role:Container desc:"Milk Order 101"
                Other [16,747][377,852] role:Container desc:"{last}""#
        );
        ios_page("Orders", &lines)
    };
    let pairs = pair(&page("Bread Order 102"), &page("Kowalski Order 105"), true);
    assert_eq!(pairs.to_old[3..], [3, 4, NONE]);
}

#[test]
fn a_text_below_another_title_is_another_text() {
    // ID-02: iOS has no names of screens, and the rows of both pages have the same buttons.
    let page = |name: &str, title: &str| {
        let lines = format!(
            r#"
                StaticText [16,131][377,171] role:Text text:"{name} page"
                Button [16,200][100,240] click text:"Delete"
                Button [16,260][100,300] click text:"More options""#
        );
        ios_page(title, &lines)
    };
    let elsewhere = pair(&page("Alpha", "Alpha"), &page("Beta", "Beta"), true);
    assert_eq!(elsewhere.to_old[3..], [NONE, NONE, NONE], "the text, and the buttons of other rows");
    let counted = pair(&page("Alpha", "Inbox 3"), &page("Beta", "Inbox 4"), true);
    assert_eq!(counted.to_old[3], 3, "a title that only counts is the same");
}

#[test]
fn two_switches_at_one_place_of_which_one_has_no_words_may_have_changed_places() {
    // ID-02: the names of the row are the same in either order.
    let page = |first: &str, second: &str, status: &str| {
        ScreenReading::new(sketch(&format!(
            r#"
            LinearLayout [0,0][100,400]
              Switch [0,20][100,60] click{first}
              Switch [0,20][100,60] click{second}
              View [0,100][100,140]{status}
              View [0,200][100,240]
            "#
        )))
    };
    let (named, unnamed) = (" text:\"Wi-Fi\"", "");
    let before = page(named, unnamed, " text:\"On\"");
    let pairs = pair(&before, &page(unnamed, named, ""), true);
    assert_ne!(pairs.to_old[1], 1, "one with words is not one without");
    assert_ne!(pairs.to_old[2], 2, "one without words is not one with");
}

#[test]
fn a_slider_whose_words_hold_its_value_is_the_same_at_another_value() {
    // ID-02, AD-01: the only part of Material's slider.
    let page = |words: &str| {
        ScreenReading::new(sketch(&format!(
            r#"
            LinearLayout [0,0][1080,400]
              View [0,0][1080,200] id:volume
                SeekBar [300,0][400,200] adjustable desc:"{words}"
              TextView [0,200][1080,300] text:"{words}"
            "#
        )))
    };
    let paired = |words: &str| pair(&page("Value, 30"), &page(words), true).to_old[2];
    assert_eq!(paired("Value, 70"), 2);
    assert_eq!(paired("Balance, 70"), NONE, "another slider");
}
