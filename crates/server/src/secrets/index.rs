//! What is looked for in a text, kept so that a text is read once however many secrets there are.

use std::collections::HashMap;
use std::ops::Range;

use super::spelling::Spelling;

/// Bytes by which a form is looked up; a shorter one is not looked for.
pub const BEGINNING_BYTES: usize = 4;
/// A form from this size on is recognised by any part of `PART_BYTES`: long texts are shown cut.
const LONG_BYTES_MIN: usize = 24;
const PART_BYTES: usize = 12;

/// One way in which a secret is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub bytes: Vec<u8>,
    /// It cannot be a word or a number of ours.
    pub is_strong: bool,
}

impl Form {
    fn is_number(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_digit)
    }

    fn parts(&self) -> impl Iterator<Item = [u8; PART_BYTES]> {
        self.bytes.windows(PART_BYTES).filter_map(|part| part.try_into().ok())
    }

    fn beginning(&self) -> Option<[u8; BEGINNING_BYTES]> {
        self.bytes.first_chunk().copied()
    }
}

/// Which forms are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    All,
    Strong,
}

#[derive(Default)]
pub struct Index {
    short: HashMap<[u8; BEGINNING_BYTES], Vec<Form>>,
    /// Parts of the long ones, and how many of those have them.
    parts: HashMap<[u8; PART_BYTES], usize>,
    /// The first two bytes of all, also of those that were removed: most places of a text need no closer look.
    pairs: Vec<bool>,
    numbers: usize,
}

impl Index {
    pub fn add(&mut self, form: &Form) {
        self.pairs.resize(1 << 16, false);
        self.numbers += usize::from(form.is_number());
        if form.bytes.len() < LONG_BYTES_MIN {
            let Some(beginning) = form.beginning() else { return };
            self.pairs[pair(&beginning)] = true;
            self.short.entry(beginning).or_default().push(form.clone());
            return;
        }
        for part in form.parts() {
            self.pairs[pair(&part)] = true;
            *self.parts.entry(part).or_default() += 1;
        }
    }

    pub fn remove(&mut self, form: &Form) {
        self.numbers -= usize::from(form.is_number());
        if form.bytes.len() < LONG_BYTES_MIN {
            let Some(beginning) = form.beginning() else { return };
            let Some(known) = self.short.get_mut(&beginning) else { return };
            if let Some(at) = known.iter().position(|other| other == form) {
                known.swap_remove(at);
            }
            if known.is_empty() {
                self.short.remove(&beginning);
            }
            return;
        }
        for part in form.parts() {
            if let Some(count) = self.parts.get_mut(&part) {
                *count -= 1;
                if *count == 0 {
                    self.parts.remove(&part);
                }
            }
        }
    }

    /// Where one of the forms stands in the text, in whatever way it is written there.
    pub fn find(&self, text: &str, which: Which) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.short.is_empty() && self.parts.is_empty() {
            return found;
        }
        let given = Spelling::as_given(text);
        self.search(&given, which, &mut found);
        let decoded = Spelling::decoded(text);
        if let Some(decoded) = &decoded {
            self.search(decoded, which, &mut found);
        }
        if self.numbers > 0
            && let Some(whole) = decoded.as_ref().unwrap_or(&given).without_groups()
        {
            self.search_grouped(&whole, which, &mut found);
        }
        found
    }

    fn search(&self, text: &Spelling, which: Which, found: &mut Vec<Range<usize>>) {
        let bytes = &text.bytes;
        for at in self.places(bytes) {
            let part = bytes[at..].first_chunk::<PART_BYTES>();
            if part.is_some_and(|part| self.parts.contains_key(part)) {
                found.push(text.place(&(at..at + PART_BYTES)));
            }
            let forms = self.short_at(bytes, at, which);
            let places = forms.map(|form| at..at + form.bytes.len());
            found.extend(
                places.filter(|place| !is_number_of_ours(bytes, place)).map(|place| text.place(&place)),
            );
        }
    }

    /// The same for numbers of a text without the signs between groups, and only for those that had some.
    fn search_grouped(&self, text: &Spelling, which: Which, found: &mut Vec<Range<usize>>) {
        let bytes = &text.bytes;
        for at in self.places(bytes).filter(|at| bytes[*at].is_ascii_digit()) {
            for form in self.short_at(bytes, at, which).filter(|form| form.is_number()) {
                let place = text.place(&(at..at + form.bytes.len()));
                if place.len() > form.bytes.len() {
                    found.push(place);
                }
            }
        }
    }

    /// Where something may begin.
    fn places(&self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let pairs = bytes.windows(2).enumerate();
        pairs.filter(|(_, bytes)| self.pairs[pair(bytes)]).map(|(at, _)| at)
    }

    fn short_at<'a>(&'a self, bytes: &'a [u8], at: usize, which: Which) -> impl Iterator<Item = &'a Form> {
        let known =
            bytes[at..].first_chunk::<BEGINNING_BYTES>().and_then(|beginning| self.short.get(beginning));
        let wanted = move |form: &&Form| form.is_strong || which == Which::All;
        known.into_iter().flatten().filter(wanted).filter(move |form| bytes[at..].starts_with(&form.bytes))
    }
}

fn pair(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

/// True for digits that are a part of a longer number, or of one of our ids: `e1234`, `tap_1731650001234_7`.
fn is_number_of_ours(text: &[u8], place: &Range<usize>) -> bool {
    if !text[place.clone()].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let joined = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_digit() || *b == b'_');
    let before = place.start.checked_sub(1).and_then(|at| text.get(at));
    let second = place.start.checked_sub(2).and_then(|at| text.get(at));
    let element = before == Some(&b'e') && !second.is_some_and(|b| b.is_ascii_alphanumeric());
    joined(before) || joined(text.get(place.end)) || element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_is_not_found_and_the_others_are() {
        let form = |text: &str| Form { bytes: text.as_bytes().to_vec(), is_strong: true };
        let mut index = Index::default();
        let long = "a long one, that many others may begin with";
        let all = [form("kestrel"), form("kestrel"), form("kestrels"), form(long), form(&long[5..])];
        all.iter().for_each(|form| index.add(form));
        index.remove(&all[0]);
        index.remove(&all[3]);
        assert_eq!(index.find("a kestrel", Which::All).first(), Some(&(2..9)));
        assert!(index.find("a long one that is", Which::All).is_empty());
        assert_eq!(index.find(&long[..20], Which::All), [5..17, 6..18, 7..19, 8..20]);
        all[1..].iter().for_each(|form| index.remove(form));
        assert!(index.short.is_empty() && index.parts.values().all(|count| *count == 0));
    }
}
