//! Any bytes to the tolerant scanner of markup: it ends, it never goes back, and what it gives lies in the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_wire::markup::{Attributes, Dialect, Event, Scanner};

const DIALECT: Dialect =
    Dialect { begins_document: |name| name == b"a" || name == b"node", tag_starts: &[b"<a", b"</a", b"<node"] };

#[derive(Default)]
struct Tag<'a> {
    values: Vec<&'a [u8]>,
}

impl<'a> Attributes<'a> for Tag<'a> {
    fn set(&mut self, _: &[u8], value: &'a [u8]) {
        self.values.push(value);
    }

    fn note(&mut self, fault: &'static str) {
        assert!(!fault.is_empty());
    }
}

fuzz_target!(|data: &[u8]| {
    let mut scanner = Scanner::new(data, 0, DIALECT);
    if let Some(b'!') = data.first() {
        scanner.seek_document();
    }
    let (mut next_min, mut events) = (0, 0);
    loop {
        // Every event begins at a '<' of its own.
        events += 1;
        assert!(events <= data.len() + 1, "more events than bytes");
        let offset = match scanner.next_event::<Tag<'_>>() {
            Event::Open { name, offset, tag, .. } => {
                assert_eq!(&data[offset + 1..offset + 1 + name.len()], name);
                let length: usize = tag.values.iter().map(|value| value.len()).sum();
                assert!(offset + name.len() + length < data.len());
                offset
            }
            Event::Close { name, offset } => {
                assert_eq!(&data[offset + 2..offset + 2 + name.len()], name);
                offset
            }
            Event::Broken { offset, what } => {
                assert!(!what.is_empty());
                offset
            }
            Event::Cut { offset } => {
                assert!(offset >= next_min && offset < data.len());
                break;
            }
            Event::End => break,
        };
        assert!(offset >= next_min && data[offset] == b'<');
        next_min = offset + 1;
    }
});
