//! Any bytes as a file with a screen, mainly our own JSON: the tree that is read is consistent, can be shown in every
//! form, and is the same after it is written and read back.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_core::outline::OutlineOptions;
use mobile_debug_mcp::tree::{OutlinePart, Source, TreeHead, TreeJson, outline_answer, read, redacted, seen};

/// Larger answers are covered by their limit.
const TOKENS_MAX: usize = 2000;

fuzz_target!(|data: &[u8]| {
    let Some((source, snapshot)) = read(data) else { return };
    for (index, element) in snapshot.elements.iter().enumerate() {
        assert!(element.end as usize > index && element.end as usize <= snapshot.elements.len());
        assert!(element.parent.is_none_or(|parent| (parent as usize) < index));
    }
    let expect = redacted(snapshot.clone());
    let seen = seen(snapshot);
    let options = OutlineOptions { points: true, stable_ids: true, ..OutlineOptions::default() };
    let part = OutlinePart { options, max_tokens: TOKENS_MAX, page: 1 };
    let head = || TreeHead::new(None, &seen);
    assert!(outline_answer(head(), &seen, &part).text().starts_with('{'));
    if source == Source::OwnJson {
        let json = serde_json::to_vec(&TreeJson::new(head(), Arc::clone(&seen), None)).expect("a tree can be written");
        let (source, again) = read(&json).expect("what was written can be read");
        assert_eq!(source, Source::OwnJson);
        let kept = again.elements.len();
        assert!(kept == expect.elements.len() || kept >= ELEMENTS_WRITTEN, "{kept} elements came back");
    }
});

/// Limit of elements that are written; the number of the others is given.
const ELEMENTS_WRITTEN: usize = 4000;
