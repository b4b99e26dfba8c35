//! Any bytes as messages of DTX, and as one keyed archive. What was read is the same after it is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_wire::dtx::{Content, HEAD_BYTES, Head, MESSAGE_BYTES_MAX, Message, Parts};
use mdm_wire::keyed_archive::{archive, unarchive};

fuzz_target!(|data: &[u8]| {
    if let Some(value) = unarchive(data) {
        // An archive that is written is one that was not beyond the limits.
        assert!(unarchive(&archive(&value)).is_some());
    }
    let (mut rest, mut parts) = (data, Parts::default());
    while let Some((head, body)) = rest.split_first_chunk::<HEAD_BYTES>() {
        let Ok(head) = Head::decode(head) else { return };
        assert!(head.body_bytes() <= MESSAGE_BYTES_MAX);
        let Some((body, next)) = body.split_at_checked(head.body_bytes()) else { return };
        rest = next;
        match parts.push(&head, body) {
            Ok(Some(message)) => check(&message),
            Ok(None) => {}
            Err(_) => return,
        }
    }
});

fn check(message: &Message) {
    let bytes = message.encode();
    let (head, body) = bytes.split_first_chunk::<HEAD_BYTES>().expect("a message has a head");
    let head = Head::decode(head).expect("a head that was written");
    assert_eq!(body.len(), head.body_bytes());
    let again = Parts::default().push(&head, body).expect("a message that was written").expect("a whole one");
    assert_eq!(
        (again.identifier, again.conversation, again.channel, again.wants_reply),
        (message.identifier, message.conversation, message.channel, message.wants_reply)
    );
    if let (Content::Call { method, arguments }, Content::Call { method: name, arguments: found }) =
        (&message.content, &again.content)
    {
        assert_eq!((method, arguments.len()), (name, found.len()));
    }
}
