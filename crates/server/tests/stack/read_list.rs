//! F43: a whole list in one call, checked against the rows that the app has.

use mdm_core::text::tokens::estimate;
use mdm_virtual_device::{AppFile, PhoneConfig, Timing};

use crate::gestures::on_screen;
use crate::world::{World, code_of, fact};

/// An app with one list of `rows`, and below it buttons that open variants of it.
fn shop(rows: &[String], list: &str, start: &str) -> String {
    let rows: Vec<String> =
        rows.iter().map(|row| format!(r#"{{"name":"{row}","note":"of {row}"}}"#)).collect();
    format!(
        r#"{{"package":"org.example.rows","label":"Rows","start":"Home",
        "values":{{"busy":false,"loads":0,"n":1,"began":false}},
        "lists":{{"orders":{{"columns":["name","note"],"rows":[{rows}]}}}},
        "screens":{{
         "Home":{{"title":"Rows","content":[
            {{"type":"text","text":"Orders"}},
            {{"type":"list","rows":"orders","id":"orders",{list}}},
            {{"type":"text_button","text":"Go","on_tap":[{start}]}}]}}
        }}}}"#,
        rows = rows.join(",")
    )
}

const PLAIN: &str = r#""children":[{"type":"text","text":"{name}","height":72}]"#;
/// Rows with two texts and two buttons that all rows have.
const RICH: &str = r#""children":[{"type":"text","text":"{name}"},{"type":"caption","text":"{note}"},
    {"type":"text_button","text":"Delete","on_tap":["remove_row"]}]"#;

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|row| format!("Order {row}")).collect()
}

async fn opened(app: &str, timing: Timing) -> World {
    let app = AppFile::parse(app).unwrap_or_else(|error| panic!("{error}"));
    let world = World::with(PhoneConfig { apps: vec![app], timing, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"org.example.rows"}"#).await;
    world
}

/// The first words of each row of an answer, in order, with their numbers checked.
fn rows_of(answer: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in answer.lines().skip(1).filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let (number, words) = line.split_once(' ').expect("a number and words");
        let number: usize = number.trim_end_matches('*').parse().expect("a number");
        assert_eq!(number, found.len() + 1, "{line}");
        let words = words.split('"').nth(1).expect("words in quotes");
        found.push(words.split(',').next().unwrap_or(words).to_owned());
    }
    found
}

#[tokio::test(start_paused = true)]
async fn every_row_is_read_once_and_in_order() {
    for (count, timing) in [
        (40, Timing::Instant),
        (40, Timing::Brisk),
        (40, Timing::Phone),
        (400, Timing::Brisk),
        (400, Timing::Phone),
    ] {
        let rows = names(count);
        let world = opened(&shop(&rows, PLAIN, r#"{"add":{"n":1}}"#), timing).await;
        let answer = world.ok("read_list", r#"{"timeout_ms":600000}"#).await;
        println!(
            "{timing:?}: {count} rows, {} tokens, {} scrolls, {} ms",
            estimate(&answer),
            fact(&answer, "scrolls"),
            fact(&answer, "elapsed_ms")
        );
        assert_eq!(rows_of(&answer), rows, "{timing:?}");
        assert_eq!((fact(&answer, "whole"), fact(&answer, "rows")), ("true".into(), count.to_string()));
        assert!(!answer.contains("changed_meanwhile"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn rows_with_equal_titles_and_buttons_are_all_read() {
    // F1 made equal rows hard to tell apart; here each must be counted.
    let rows: Vec<String> =
        (0..45).map(|row| ["Kowalski", "Nowak", "Kowalski", "Lis", "Zima"][row % 5].to_owned()).collect();
    for timing in [Timing::Instant, Timing::Phone] {
        let world = opened(&shop(&rows, RICH, r#"{"add":{"n":1}}"#), timing).await;
        let answer = world.ok("read_list", "{}").await;
        assert_eq!(rows_of(&answer), rows, "{timing:?}: {answer}");
        let deletes = answer.matches("Delete").count();
        assert_eq!(deletes, 1, "what all rows have is told once: {answer}");
        assert_eq!(fact(&answer, "rows_look_alike"), "true", "that is a doubt: {answer}");
        println!("{timing:?}: 45 rows with a button each, {} tokens", estimate(&answer));
    }
}

#[tokio::test(start_paused = true)]
async fn the_list_is_read_from_its_start_or_from_here() {
    let rows = names(60);
    let world = opened(&shop(&rows, PLAIN, r#"{"add":{"n":1}}"#), Timing::Brisk).await;
    world.ok("scroll_to_element", r#"{"selector":{"text":"Order 40"},"max_scrolls":30}"#).await;
    let here = rows_of(&world.ok("read_list", r#"{"from":"here"}"#).await);
    assert_eq!(here, rows[rows.len() - here.len()..], "from here to the end");
    assert!(here.contains(&"Order 40".to_owned()) && !here.contains(&"Order 1".to_owned()));
    assert_eq!(rows_of(&world.ok("read_list", "{}").await), rows, "from the start");
}

#[tokio::test(start_paused = true)]
async fn rows_that_load_at_the_end_are_read() {
    let more = r#"{"add_row":{"to":"orders","row":{"name":"Late {n}","note":""}}},{"add":{"n":1}}"#;
    let more = [more; 10].join(",");
    let list = format!(
        r#""on_end":[{{"if":{{"all":[{{"value":"busy","is":false}},{{"value":"loads","at_most":1}}],"then":[
            {{"set":{{"busy":true}}}},{{"add":{{"loads":1}}}},
            {{"after":{{"ms":400,"do":[{{"set":{{"busy":false}}}},{more}]}}}}]}}}}],{PLAIN}"#
    );
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = opened(&shop(&names(20), &list, r#"{"add":{"n":1}}"#), timing).await;
        let answer = world.ok("read_list", "{}").await;
        let late = (1..=20).map(|row| format!("Late {row}"));
        let expected: Vec<String> = names(20).into_iter().chain(late).collect();
        assert_eq!(rows_of(&answer), expected, "{timing:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn rows_that_come_or_go_meanwhile_are_told() {
    // A row comes at the top, then one goes, while the list is read.
    let changes = r#"{"after":{"ms":3000,"do":[{"add_row":{"to":"orders","row":{"name":"New","note":""},"at":0}}]}},
        {"after":{"ms":6000,"do":[{"remove_row_at":{"from":"orders","at":14}}]}}"#;
    let rows = names(50);
    let world = opened(&shop(&rows, PLAIN, changes), Timing::Brisk).await;
    world.ok("tap_element", r#"{"selector":{"text":"Go"},"settle":false}"#).await;
    let answer = world.ok("read_list", "{}").await;
    let read = rows_of(&answer);
    // No row that stayed is missing or twice without a word.
    let missing: Vec<&String> = rows.iter().filter(|row| !read.contains(row)).collect();
    let twice = (1..read.len()).filter(|at| read[..*at].contains(&read[*at])).count();
    let is_told = answer.contains(r#""changed_meanwhile":true"#);
    println!("missing {missing:?}, twice {twice}, told {is_told}");
    assert!(is_told || (missing.len() <= 1 && twice == 0), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn limits_end_the_reading_and_are_told() {
    let rows = names(120);
    let world = opened(&shop(&rows, PLAIN, r#"{"add":{"n":1}}"#), Timing::Phone).await;
    let answer = world.ok("read_list", r#"{"timeout_ms":30000}"#).await;
    let read = rows_of(&answer);
    assert_eq!(read, rows[..read.len()], "what was read is true");
    assert_eq!((fact(&answer, "whole"), fact(&answer, "stopped")), ("false".into(), "time was up".into()));
    let answer = world.ok("read_list", r#"{"max_rows":25,"timeout_ms":100000}"#).await;
    assert_eq!(rows_of(&answer), rows[..25], "{answer}");
    assert_eq!((fact(&answer, "whole"), fact(&answer, "stopped")), ("false".into(), "max_rows".into()));
    for json in [r#"{"max_rows":0}"#, r#"{"max_rows":1e9}"#, r#"{"from":"end"}"#, r#"{"timeout_ms":0}"#] {
        assert_eq!(world.code("read_list", json).await, "INVALID_ARGUMENT", "{json}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fits_is_read_without_scrolling() {
    let rows = names(3);
    let world = opened(&shop(&rows, PLAIN, r#"{"add":{"n":1}}"#), Timing::Brisk).await;
    let answer = world.ok("read_list", "{}").await;
    assert_eq!(rows_of(&answer), rows, "{answer}");
    assert_eq!(fact(&answer, "whole"), "true");
    let login = World::started(Timing::Instant).await;
    let answer = login.call("read_list", "{}").await;
    assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "there is no list: {}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn lists_that_glide_and_lists_inside_a_page_are_read_whole() {
    let glides = format!(r#""glide":6,{PLAIN}"#);
    for timing in [Timing::Brisk, Timing::Phone] {
        let rows = names(80);
        let world = opened(&shop(&rows, &glides, r#"{"add":{"n":1}}"#), timing).await;
        let answer = world.ok("read_list", r#"{"timeout_ms":600000}"#).await;
        assert_eq!(rows_of(&answer), rows, "{timing:?}: {answer}");
    }
    let world =
        on_screen("LongListActivity", PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }).await;
    let json = r#"{"inside":{"resourceId":"rows"},"max_rows":2000,"timeout_ms":600000}"#;
    let answer = world.ok("read_list", json).await;
    let rows: Vec<String> = (1..=500).map(|row| format!("Row {row}")).collect();
    assert_eq!(rows_of(&answer), rows);
    println!("500 rows: {} tokens, {} scrolls", estimate(&answer), fact(&answer, "scrolls"));
    let json = r#"{"inside":{"resourceId":"carousel"}}"#;
    let answer = world.ok("read_list", json).await;
    let cards: Vec<String> = (1..=12).map(|card| format!("Card {card}")).collect();
    assert_eq!(rows_of(&answer), cards, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn lists_of_every_framework_are_read() {
    let rows = names(30);
    for style in ["view", "compose", "react_native", "flutter", "web_view"] {
        for list in [PLAIN, RICH] {
            let app =
                shop(&rows, list, r#"{"add":{"n":1}}"#).replacen("{", &format!(r#"{{"style":"{style}","#), 1);
            let world = opened(&app, Timing::Brisk).await;
            let answer = world.ok("read_list", "{}").await;
            println!("{style}: {} tokens", estimate(&answer));
            assert_eq!(rows_of(&answer), rows, "{style}: {answer}");
            let few = world.ok("read_list", r#"{"max_rows":7}"#).await;
            assert_eq!((rows_of(&few), fact(&few, "stopped")), (names(7), "max_rows".to_owned()), "{few}");
        }
    }
}
