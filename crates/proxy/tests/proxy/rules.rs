//! Answers, delays, failures and cuts by rule.

use mdm_proxy::{Answer, Effect, Lifetime, Match, Pattern, Proxy, Rule};
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

use crate::world::{ended, get, http_server, proxy, send, tunnel};

fn rule(url: &str, delay_ms: u64, effect: Effect) -> Rule {
    let matches = Match { url: Some(Pattern::glob(url).unwrap()), ..Match::default() };
    Rule { matches, delay_ms, effect, lifetime: Lifetime::Session }
}

fn answer(status: u16, body: &str) -> Effect {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    Effect::Answer(Answer { status, headers, body: body.as_bytes().to_vec() })
}

async fn status(proxy: &Proxy, url: &str) -> String {
    get(proxy, url).await.split(' ').nth(1).unwrap_or("cut").to_owned()
}

#[tokio::test]
async fn a_rule_answers_in_the_servers_place() {
    let (server, proxy) = (http_server().await, proxy().await);
    let url = |path: &str| format!("http://127.0.0.1:{server}{path}");
    let id = proxy.add_rule(rule("/login", 0, answer(401, "{\"error\":\"no\"}"))).unwrap();
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        url("/login")
    );
    let said = send(&proxy, request.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 401") && said.contains("application/json"), "{said}");
    assert!(said.ends_with("{\"error\":\"no\"}"), "{said}");
    assert_eq!(status(&proxy, &url("/other")).await, "200");
    let records = ended(&proxy, 2).await;
    assert_eq!((records[0].rule, records[0].status, records[1].rule), (Some(id), Some(401), None));
    assert_eq!(records[0].request.body, b"hi", "what the app sent is known although no server saw it");
    assert_eq!(proxy.rules()[0].used, 1);
    // A server that does not exist can be answered for too.
    proxy.add_rule(rule("http://nowhere.invalid/*", 0, answer(200, "made up"))).unwrap();
    assert!(get(&proxy, "http://nowhere.invalid/x").await.ends_with("made up"));
    proxy.clear_rules();
    assert_eq!(status(&proxy, &url("/login")).await, "200");
}

#[tokio::test]
async fn a_rule_delays_cuts_and_takes_offline() {
    let (server, proxy) = (http_server().await, proxy().await);
    let url = |path: &str| format!("http://127.0.0.1:{server}{path}");
    proxy.add_rule(rule("/slow", 150, Effect::Pass)).unwrap();
    proxy.add_rule(rule("/cut", 0, Effect::Cut)).unwrap();
    let began = Instant::now();
    assert_eq!(status(&proxy, &url("/slow")).await, "200");
    assert!(began.elapsed().as_millis() >= 150);
    assert_eq!(get(&proxy, &url("/cut")).await, "");
    let mut tunnel = tunnel(&proxy, &format!("127.0.0.1:{server}")).await;
    let offline =
        Rule { matches: Match::default(), delay_ms: 0, effect: Effect::Offline, lifetime: Lifetime::Session };
    proxy.add_rule(offline).unwrap();
    let mut rest = Vec::new();
    let _ = tunnel.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "an open tunnel ends");
    assert_eq!(get(&proxy, &url("/x")).await, "");
    assert_eq!(
        send(&proxy, format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\nConnection: close\r\n\r\n").as_bytes())
            .await,
        ""
    );
    let records = ended(&proxy, 5).await;
    let errors: Vec<&str> = records.iter().filter_map(|record| record.error.as_deref()).collect();
    assert_eq!(errors, ["cut by a rule", "offline by a rule", "offline by a rule"]);
    proxy.clear_rules();
    assert_eq!(status(&proxy, &url("/x")).await, "200");
}

#[tokio::test]
async fn a_rule_holds_for_some_requests_or_one_action() {
    let (server, proxy) = (http_server().await, proxy().await);
    let url = format!("http://127.0.0.1:{server}/x");
    let next = |lifetime| Rule { lifetime, ..rule("/x", 0, answer(503, "")) };
    proxy.add_rule(next(Lifetime::Next(2))).unwrap();
    assert_eq!(
        [status(&proxy, &url).await, status(&proxy, &url).await, status(&proxy, &url).await],
        ["503", "503", "200"]
    );
    proxy.add_rule(next(Lifetime::Action("tap_9".into()))).unwrap();
    assert_eq!(status(&proxy, &url).await, "200");
    proxy.add_rule(next(Lifetime::Action("tap_1".into()))).unwrap();
    assert_eq!(status(&proxy, &url).await, "503");
}
