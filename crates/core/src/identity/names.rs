//! What the elements of a capture are called: their own words and identifiers, without values and states.

use xxhash_rust::xxh3::xxh3_64;

use crate::meaning::label::own_words;
use crate::screen::element::{Element, Role};
use crate::screen::reading::{ScreenReading, mix};

/// Elements of a subtree that are searched for its first name.
const FIRST_NAME_ELEMENTS_MAX: usize = 24;

/// For each element, a hash of all names in its subtree. Equal hashes mean equal names in equal order. What is inside of
/// a scroll container counts for the container only: it comes and goes without the rest changing.
pub(super) struct Names(Vec<u64>);

impl Names {
    pub fn of(reading: &ScreenReading) -> Names {
        let elements = &reading.snapshot.elements;
        let mut hashes: Vec<u64> = elements.iter().map(|element| own_name(element).unwrap_or(0)).collect();
        // Runs backwards, so that a child's hash is complete before it is joined to its parent's.
        for index in (0..elements.len()).rev() {
            let parent = elements[index].parent.filter(|parent| (*parent as usize) < index);
            if let Some(parent) = parent.filter(|parent| !shows_values(&elements[*parent as usize])) {
                let is_scroller = elements[index].affordances.scrollable;
                let name = if is_scroller { own_name(&elements[index]).unwrap_or(0) } else { hashes[index] };
                hashes[parent as usize] = joined(hashes[parent as usize], name);
            }
        }
        Names(hashes)
    }

    pub fn get(&self, index: u32) -> u64 {
        self.0[index as usize]
    }

    pub fn join(&self, hash: u64, index: u32) -> u64 {
        joined(hash, self.get(index))
    }

    /// The names of the elements in the subtree.
    pub fn parts<'a>(&self, reading: &'a ScreenReading, index: u32) -> impl Iterator<Item = u64> + 'a {
        named(reading, index).filter_map(|inner| own_name(reading.element(inner)))
    }

    /// The first name in the subtree: words if there are any, else an identifier.
    pub fn first(&self, reading: &ScreenReading, index: u32) -> Option<u64> {
        let near = || named(reading, index).take(FIRST_NAME_ELEMENTS_MAX).map(|inner| reading.element(inner));
        let words = near().find_map(own_words).map(|words| xxh3_64(words.as_bytes()));
        words.or_else(|| near().find_map(own_name))
    }
}

/// True for a control that shows its value, and the values next to it, in elements of its own: they are no names (F80).
fn shows_values(element: &Element) -> bool {
    matches!(element.role, Role::Stepper | Role::Picker)
}

/// True for two sliders whose words say the same but for the number at which they stand: "Value, 30" and "Value, 70".
pub(super) fn differ_by_value(was: &Element, is: &Element) -> bool {
    let named = |element: &Element| {
        own_words(element).map(|words| words.replace(|letter: char| letter.is_ascii_digit(), ""))
    };
    was.role == Role::Slider && is.role == Role::Slider && named(was).is_some() && named(was) == named(is)
}

/// The elements of a subtree that can have a name.
fn named(reading: &ScreenReading, index: u32) -> impl Iterator<Item = u32> + '_ {
    let is_value = move |inner: u32| {
        let parent = reading.element(inner).parent;
        inner != index && parent.is_some_and(|parent| shows_values(reading.element(parent)))
    };
    reading.range(index).filter(move |inner| !is_value(*inner))
}

/// An element without a name adds nothing, so that a row stays the same when a decoration appears.
fn joined(hash: u64, name: u64) -> u64 {
    if name == 0 { hash } else { mix(hash, name) }
}

fn own_name(element: &Element) -> Option<u64> {
    let words = own_words(element);
    if words.is_none() && element.stable_id.is_none() {
        return None;
    }
    let hash = |text: Option<&str>| xxh3_64(text.unwrap_or_default().as_bytes());
    Some(mix(hash(words), hash(element.stable_id.as_deref())))
}
