//! What is known of an app's requests on an iPhone: what CFNetwork logs.

use super::{BOTH, IDB, started};
use crate::world::{code_of, fact};

#[tokio::test(start_paused = true)]
async fn requests_of_an_action_are_told_from_the_log_of_the_system() {
    // TR-02: the log of iOS tells status, time and sizes; the address comes from a line of the app itself.
    for ways in [IDB, BOTH] {
        let world = started(ways).await;
        world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada@example.com"}"#).await;
        world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"correct horse"}"#).await;
        let failed =
            r#"{"selector":{"text":"Log in"},"expect":{"text":"Could not sign in","contains":true}}"#;
        let tapped = world.ok("tap_element", failed).await;
        let by_id = format!(r#"{{"action_id":"{}"}}"#, fact(&tapped, "action_id"));
        let seen = world.ok("get_network_activity", &by_id).await;
        assert_eq!(
            (fact(&seen, "source"), fact(&seen, "count")),
            ("log".to_owned(), "1".to_owned()),
            "{seen}"
        );
        assert!(seen.contains(r#"POST "https://staging.workbench.example/login" 401 "#), "{seen}");
        assert!(seen.contains(" 587 ms 310>124 bytes"), "{seen}");
        assert!(seen.contains("paired_by_order"), "{seen}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_iphone_cannot_be_sent_through_the_proxy_and_the_answer_says_what_can_be_done() {
    let world = started(IDB).await;
    let refused = world.call("mock_network", r#"{"proxy":"on"}"#).await;
    assert_eq!(code_of(&refused), "PLATFORM_NOT_SUPPORTED");
    assert!(refused.text().contains("Wi-Fi settings"), "{}", refused.text());
}
