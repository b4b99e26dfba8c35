//! Identifiers by which an element can be found again, and how reliable they are (ID-03 to ID-05).
//!
//! Architecture invariant: this layer reads elements and changes nothing in them; it does not know session ids (ID-07).

use xxhash_rust::xxh3::xxh3_64;

use crate::meaning::label::own_words;
use crate::screen::element::Element;
use crate::screen::snapshot::{Platform, Snapshot};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Identifier<'a> {
    pub value: &'a str,
    pub confidence: Confidence,
}

/// An estimate of how reliable an identifier is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// The score from 0 to 1.
    pub score: f64,
    pub reason: &'static str,
}

/// Returns the identifier that the app's developer set: a resource id, a test tag or an accessibility identifier. A
/// description is none: it is written for people, and changes with the language and the content (F18).
pub fn stable_id(element: &Element) -> Option<&str> {
    element.stable_id.as_deref()
}

/// Returns the test tag: an identifier that is not a resource of the app. Compose and React Native write theirs so.
pub fn test_tag<'a>(snapshot: &Snapshot, element: &'a Element) -> Option<&'a str> {
    let id = element.stable_id.as_deref()?;
    (snapshot.platform == Platform::Ios || !id.contains(":id/")).then_some(id)
}

/// Counts of each identifier and each text on a screen, kept as sorted hashes.
#[derive(Debug, Clone, Default)]
pub struct Census {
    ids: Vec<u64>,
    words: Vec<u64>,
}

impl Census {
    pub fn of(snapshot: &Snapshot) -> Census {
        let sorted = |mut hashes: Vec<u64>| {
            hashes.sort_unstable();
            hashes
        };
        let elements = || snapshot.elements.iter();
        Census {
            ids: sorted(elements().filter_map(stable_id).map(hash).collect()),
            words: sorted(elements().filter_map(own_words).map(hash).collect()),
        }
    }

    /// Counts the elements with this identifier. More than one is a collision (ID-04).
    pub fn with_id(&self, id: &str) -> usize {
        count(&self.ids, hash(id))
    }

    fn with_words(&self, words: &str) -> usize {
        count(&self.words, hash(words))
    }

    pub fn identifier<'a>(&self, snapshot: &Snapshot, element: &'a Element) -> Option<Identifier<'a>> {
        if let Some(id) = stable_id(element) {
            return Some(Identifier { value: id, confidence: self.confidence_of_id(snapshot, id) });
        }
        let (value, base) = match own_words(element) {
            Some(words) => (words, 0.6 / self.with_words(words).max(1) as f64),
            None if element.class.is_empty() => return None,
            None => (&*element.class, 0.1),
        };
        Some(Identifier { value, confidence: Confidence { score: rounded(base), reason: "no_stable_id" } })
    }

    fn confidence_of_id(&self, snapshot: &Snapshot, id: &str) -> Confidence {
        let holders = self.with_id(id).max(1);
        if holders > 1 {
            return Confidence { score: rounded(0.5 / holders as f64), reason: "stable_id_collision" };
        }
        match snapshot.platform {
            Platform::Android => Confidence { score: 1.0, reason: "resource_id" },
            Platform::Ios => Confidence { score: 1.0, reason: "accessibility_identifier" },
        }
    }
}

fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

fn count(sorted: &[u64], hash: u64) -> usize {
    let start = sorted.partition_point(|other| *other < hash);
    sorted[start..].iter().take_while(|other| **other == hash).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: Option<&str>, description: Option<&str>, text: Option<&str>) -> Element {
        let own = |text: Option<&str>| text.map(Into::into);
        Element {
            class: "android.view.View".into(),
            stable_id: own(id),
            description: own(description),
            text: own(text),
            ..Element::default()
        }
    }

    #[track_caller]
    fn check(platform: Platform, elements: &[Element], expect: (&str, f64, &str)) {
        let snapshot = Snapshot { platform, elements: elements.to_vec(), ..Snapshot::default() };
        let identifier = Census::of(&snapshot).identifier(&snapshot, &elements[0]).unwrap();
        let Confidence { score, reason } = identifier.confidence;
        assert_eq!((identifier.value, score, reason), expect);
    }

    #[test]
    fn confidence_drops_with_duplicates_on_the_screen() {
        // ID-05
        let (android, ios) = (Platform::Android, Platform::Ios);
        let named = element(Some("a:id/x"), Some("d"), Some("t"));
        check(android, std::slice::from_ref(&named), ("a:id/x", 1.0, "resource_id"));
        check(ios, std::slice::from_ref(&named), ("a:id/x", 1.0, "accessibility_identifier"));
        check(android, &[named.clone(), named], ("a:id/x", 0.25, "stable_id_collision"));
        let described = element(None, Some("d"), Some("t"));
        check(android, std::slice::from_ref(&described), ("t", 0.6, "no_stable_id"));
        check(ios, &[described], ("t", 0.6, "no_stable_id"));
        let text = element(None, None, Some("t"));
        check(android, &[text.clone(), text], ("t", 0.3, "no_stable_id"));
        check(android, &[element(None, None, None)], ("android.view.View", 0.1, "no_stable_id"));
    }

    #[test]
    fn a_stable_id_is_never_made_from_text_or_class() {
        // ID-03
        let snapshot = Snapshot::default();
        assert_eq!(stable_id(&element(None, None, Some("t"))), None);
        // F18
        assert_eq!(stable_id(&element(None, Some("Bought 0, liked 0"), None)), None);
        assert_eq!(test_tag(&snapshot, &element(Some("a:id/x"), None, None)), None);
        assert_eq!(test_tag(&snapshot, &element(Some("login"), None, None)), Some("login"));
    }
}
