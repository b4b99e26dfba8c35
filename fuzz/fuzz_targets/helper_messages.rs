//! Any bytes as frames of our helper's protocol, in both directions. What was read is the same after it is written and
//! read again, and a tree of it is a consistent screen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_wire::helper::{ANSWER_BYTES_MAX, Answer, HEAD_BYTES, Head, Request, TreeAnswer, UiEvent};

const ANSWER_BIT: u8 = 128;

fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    while let Some((head, after)) = rest.split_first_chunk::<HEAD_BYTES>() {
        let Ok(head) = Head::decode(*head, ANSWER_BYTES_MAX) else { return };
        // Lengths are hardly ever right in an input that was made by chance.
        let (payload, next) = after.split_at(head.payload_bytes.min(after.len()));
        rest = next;
        check(head.kind, payload);
    }
});

fn check(kind: u8, payload: &[u8]) {
    let body = |frame: &[u8]| frame[HEAD_BYTES..].to_vec();
    if let Ok(request) = Request::decode(kind, payload) {
        let written = body(&request.frame(1));
        let again = Request::decode(kind, &written).expect("a request that was written");
        assert_eq!(body(&again.frame(1)), written);
    }
    if let Ok(answer) = Answer::decode(kind, payload) {
        if let Answer::Tree(tree) = &answer
            && let TreeAnswer::New { tree, .. } = tree.as_ref()
        {
            let _ = tree.hash();
            // Of what was left out it says so at the first byte.
            mdm_fuzz::check_tree(&mdm_android::shown_by_helper(tree), 0);
        }
        let written = body(&answer.frame(1, kind & !ANSWER_BIT));
        let again = Answer::decode(kind, &written).expect("an answer that was written");
        assert_eq!(body(&again.frame(1, kind & !ANSWER_BIT)), written);
    }
    if let Ok(event) = UiEvent::decode(payload) {
        let written = body(&event.frame());
        let again = UiEvent::decode(&written).expect("an event that was written");
        assert_eq!(body(&again.frame()), written);
    }
}
