//! Any bytes as a client of the proxy: requests, tunnels, and TLS that is opened. Rules answer or cut all of them, so that
//! nobody is asked. The first byte says whether there is an authority.
#![no_main]

use std::io::Cursor;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::files;
use mdm_proxy::{
    Answer, Authority, Cause, Config, Effect, Lifetime, Loopback, Match, Proxy, RootCertStore, Rule,
};

/// In the time of the paused clock.
const TALK_MAX: Duration = Duration::from_secs(300);
const NOW_MS: u64 = 1_795_000_000_000;
const URL_BYTES_MAX: usize = 64 * 1024;

fn authority() -> Arc<Authority> {
    static AUTHORITY: OnceLock<Arc<Authority>> = OnceLock::new();
    let made = || {
        let folder = files::written("ca", b"").with_file_name("authority");
        Arc::new(Authority::open(&folder, NOW_MS).expect("an authority"))
    };
    Arc::clone(AUTHORITY.get_or_init(made))
}

fn rule(effect: Effect) -> Rule {
    Rule { matches: Match::default(), delay_ms: 0, effect, lifetime: Lifetime::Session }
}

fuzz_target!(|data: &[u8]| {
    let [choice, said @ ..] = data else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let config = Config {
            now_ms: Arc::new(|| NOW_MS),
            cause: Arc::new(|_| Cause::default()),
            authority: (choice & 1 != 0).then(authority),
            via: None,
            roots: RootCertStore::empty(),
            loopback: Loopback::Any,
            host_aliases: Vec::new(),
            token: "token".to_owned(),
        };
        let proxy = Proxy::start(config).await.expect("a port");
        let answer = Answer { status: 200, headers: Vec::new(), body: b"made up".to_vec() };
        for effect in [Effect::Cut, Effect::Answer(answer)] {
            proxy.add_rule(rule(effect)).expect("a rule");
        }
        let client = tokio::io::join(Cursor::new(said.to_vec()), tokio::io::sink());
        let _ = tokio::time::timeout(TALK_MAX, proxy.serve_on(client)).await;
        assert!(proxy.since(0).records.iter().all(|record| record.url.len() <= URL_BYTES_MAX));
    });
});
