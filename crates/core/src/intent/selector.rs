//! Selectors: how a caller names an element. Actions, waits, expectations and searches all use this one form.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_lite::{Regex, RegexBuilder};

use crate::change::tracker::Observation;
use crate::identity::ElementId;
use crate::meaning::identifier::{stable_id, test_tag};
use crate::meaning::label;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;
use crate::text::quote::push_quoted;

/// A text comparison. Case and outer spaces never count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextMatch {
    Is(String),
    Contains(String),
    Regex(Pattern),
}

impl TextMatch {
    pub fn matches(&self, text: &str) -> bool {
        match self {
            TextMatch::Is(wanted) => folded(text) == folded(wanted),
            TextMatch::Contains(part) => folded(text).contains(&folded(part)),
            TextMatch::Regex(pattern) => pattern.is_match(text.trim()),
        }
    }

    /// True if the pattern covers the whole text, not only a part of it.
    pub fn is_exactly(&self, text: &str) -> bool {
        match self {
            TextMatch::Is(wanted) | TextMatch::Contains(wanted) => folded(text) == folded(wanted),
            TextMatch::Regex(pattern) => {
                let text = text.trim();
                pattern.allows(text)
                    && pattern.regex.find(text).is_some_and(|found| found.len() == text.len())
            }
        }
    }
}

/// A regular expression. It may match anywhere in the text, takes linear time, and ignores case unless it says `(?-i)`.
/// Time is linear in the size of the text times that of the pattern, so both are limited (F64).
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Arc<Regex>,
    /// Bytes searched on the screen that is looked at.
    searched_bytes: Arc<AtomicUsize>,
}

impl Pattern {
    /// Characters of a regular expression; a longer one is refused.
    const CHARS_MAX: usize = 500;
    /// Memory of a compiled expression; a larger one is refused.
    const PROGRAM_BYTES_MAX: usize = 32 << 10;
    /// Groups inside groups; deeper ones are refused.
    const NESTING_MAX: u32 = 32;
    /// Text of one screen that is searched: several times what a screen can show. The rest does not match.
    const SEARCHED_BYTES_MAX: usize = 128 << 10;

    fn is_match(&self, text: &str) -> bool {
        self.allows(text) && self.regex.is_match(text)
    }

    /// Counts a text before it is searched; false when there was too much.
    fn allows(&self, text: &str) -> bool {
        let before = self.searched_bytes.fetch_add(text.len(), Ordering::Relaxed);
        before.saturating_add(text.len()) <= Pattern::SEARCHED_BYTES_MAX
    }

    fn begin_screen(&self) {
        self.searched_bytes.store(0, Ordering::Relaxed);
    }

    /// True if a part of the last screen was not searched.
    fn left_text_out(&self) -> bool {
        self.searched_bytes.load(Ordering::Relaxed) > Pattern::SEARCHED_BYTES_MAX
    }

    /// Compiles `source`; `Err` says what is wrong with it.
    pub fn new(source: &str) -> Result<Pattern, String> {
        if source.chars().count() > Pattern::CHARS_MAX {
            return Err(format!("it is longer than {} characters", Pattern::CHARS_MAX));
        }
        let mut builder = RegexBuilder::new(source);
        builder
            .case_insensitive(true)
            .size_limit(Pattern::PROGRAM_BYTES_MAX)
            .nest_limit(Pattern::NESTING_MAX);
        let regex = builder.build().map_err(|error| error.to_string())?;
        Ok(Pattern { regex: Arc::new(regex), searched_bytes: Arc::default() })
    }

    pub fn source(&self) -> &str {
        self.regex.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Pattern {}

pub(crate) fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Below,
    Above,
    LeftOf,
    RightOf,
    Inside,
}

impl Relation {
    fn word(self) -> &'static str {
        match self {
            Relation::Below => "below",
            Relation::Above => "above",
            Relation::LeftOf => "left of",
            Relation::RightOf => "right of",
            Relation::Inside => "inside",
        }
    }
}

/// Levels of wrapping between a text and the list that its row is in.
const ROW_LEVELS_MAX: usize = 8;
/// Limit of one text that [`Selector::describe`] quotes.
const DESCRIBED_CHARS_MAX: usize = 80;

/// The name for the kind of comparison (`names`: is, contains, regex), and the text that is compared.
fn describe_match<'a>(
    text: Option<&'a TextMatch>,
    names: [&'static str; 3],
) -> (&'static str, Option<&'a str>) {
    match text {
        None => (names[0], None),
        Some(TextMatch::Is(text)) => (names[0], Some(text)),
        Some(TextMatch::Contains(text)) => (names[1], Some(text)),
        Some(TextMatch::Regex(pattern)) => (names[2], Some(pattern.source())),
    }
}

/// Names that callers may use for roles. The first name of a role is the one that answers use.
const ROLE_WORDS: [(&str, Role); 36] = [
    ("button", Role::Button),
    ("link", Role::Link),
    ("text", Role::Text),
    ("label", Role::Text),
    ("heading", Role::Heading),
    ("field", Role::TextField),
    ("textfield", Role::TextField),
    ("input", Role::TextField),
    ("edittext", Role::TextField),
    ("switch", Role::Switch),
    ("toggle", Role::Switch),
    ("checkbox", Role::Checkbox),
    ("radio", Role::Radio),
    ("radiobutton", Role::Radio),
    ("slider", Role::Slider),
    ("seekbar", Role::Slider),
    ("stepper", Role::Stepper),
    ("picker", Role::Picker),
    ("dropdown", Role::Dropdown),
    ("spinner", Role::Dropdown),
    ("segments", Role::SegmentedControl),
    ("segmentedcontrol", Role::SegmentedControl),
    ("tab", Role::Tab),
    ("key", Role::Key),
    ("image", Role::Image),
    ("icon", Role::Image),
    ("progress", Role::Progress),
    ("list", Role::List),
    ("row", Role::Row),
    ("cell", Role::Row),
    ("webview", Role::WebView),
    ("dialog", Role::Dialog),
    ("container", Role::Container),
    ("area", Role::Container),
    ("keyboard", Role::Container),
    ("unknown", Role::Unknown),
];

/// Looks up a role by name; `text_field`, `Text field` and `TextField` are the same name.
pub fn role_named(word: &str) -> Option<Role> {
    let plain: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    ROLE_WORDS.iter().find(|(name, _)| *name == plain).map(|(_, role)| *role)
}

pub fn role_word(role: Role) -> &'static str {
    ROLE_WORDS.iter().find(|(_, other)| *other == role).map_or("element", |(name, _)| name)
}

/// A description of an element: all given fields must match. An empty selector matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    pub id: Option<ElementId>,
    /// Matches the element's label, text, value, description or hint.
    pub text: Option<TextMatch>,
    /// The whole identifier, or the part behind `:id/`.
    pub resource_id: Option<String>,
    /// Matches the accessibility description, or the accessibility identifier on iOS.
    pub accessibility_id: Option<TextMatch>,
    pub test_tag: Option<String>,
    pub role: Option<Role>,
    pub class: Option<String>,
    pub near: Option<(Relation, Box<Selector>)>,
    /// Picks one candidate by its number in document order, from 0 ([`crate::intent::resolve::Candidate`]).
    pub index: Option<usize>,
    /// Taps it even if the tree says that nothing there reacts.
    pub force: bool,
}

impl Selector {
    pub fn is_empty(&self) -> bool {
        *self == Selector { index: self.index, force: self.force, ..Selector::default() }
    }

    /// Describes the selector in a few words, for messages.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        let mut quoted = |name: &str, text: Option<&str>| {
            let Some(text) = text else { return };
            let mut part = format!("{name} ");
            push_quoted(&mut part, text, DESCRIBED_CHARS_MAX);
            parts.push(part);
        };
        let (named, text) = describe_match(self.text.as_ref(), ["text", "text with", "text like"]);
        quoted(named, text);
        quoted("id", self.resource_id.as_deref());
        let names = ["description", "description with", "description like"];
        let (named, text) = describe_match(self.accessibility_id.as_ref(), names);
        quoted(named, text);
        quoted("test tag", self.test_tag.as_deref());
        quoted("class", self.class.as_deref());
        parts.extend(self.id.map(|id| id.to_string()));
        parts.extend(self.role.map(|role| format!("role {}", role_word(role))));
        if let Some((relation, anchor)) = &self.near {
            parts.push(format!("{} {}", relation.word(), anchor.describe()));
        }
        parts.extend(self.index.map(|index| format!("index {index}")));
        if self.patterns().any(Pattern::left_text_out) {
            parts.push(format!(
                "searched in {} kB of the screen's text only",
                Pattern::SEARCHED_BYTES_MAX >> 10
            ));
        }
        parts.join(", ")
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        [&self.text, &self.accessibility_id].into_iter().flatten().filter_map(|text| match text {
            TextMatch::Regex(pattern) => Some(pattern),
            TextMatch::Is(_) | TextMatch::Contains(_) => None,
        })
    }

    /// Returns every element that the selector describes, in document order, before `index` picks one. Elements outside
    /// the visible screen are included.
    pub fn matches(&self, seen: &Observation) -> Vec<u32> {
        if self.is_empty() {
            return Vec::new();
        }
        self.patterns().for_each(Pattern::begin_screen);
        let anchors = self.near.as_ref().map(|(relation, anchor)| (*relation, anchor.matches(seen)));
        let related = |index: &u32| {
            let Some((relation, anchors)) = &anchors else { return true };
            anchors.iter().any(|anchor| is_related(seen, *index, *relation, *anchor))
        };
        let all = |part: Compared| -> Vec<u32> {
            let all = 0..seen.ids.len() as u32;
            all.filter(|index| self.describes(seen, *index, part)).filter(related).collect()
        };
        let whole = all(Compared::Texts);
        let is_whole_text = matches!(self.text, Some(TextMatch::Is(_)));
        if whole.is_empty() && is_whole_text { all(Compared::Lines) } else { whole }
    }

    fn describes(&self, seen: &Observation, index: u32, part: Compared) -> bool {
        let snapshot = &seen.reading.snapshot;
        let element = seen.reading.element(index);
        let id_is = |wanted: &String| element.stable_id.as_deref().is_some_and(|id| same_id(id, wanted));
        let described = |wanted: &TextMatch| {
            let description = element.description.as_deref().filter(|_| !element.password);
            let known = [stable_id(element), description];
            known.into_iter().flatten().any(|text| wanted.matches(text) || same_named(text, wanted))
        };
        self.id.is_none_or(|id| seen.ids[index as usize] == id)
            && self.role.is_none_or(|role| has_role(snapshot, index as usize, role))
            && self.class.as_ref().is_none_or(|class| is_class(&element.class, class))
            && self.resource_id.as_ref().is_none_or(id_is)
            && self.test_tag.as_ref().is_none_or(|tag| test_tag(snapshot, element) == Some(tag))
            && self.accessibility_id.as_ref().is_none_or(described)
            && self.text.as_ref().is_none_or(|text| match part {
                Compared::Texts => shows(seen, index, element, text),
                Compared::Lines => has_line(element, text),
            })
    }
}

/// What a wanted text is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Texts,
    /// Each line of a description: some frameworks join all texts of a row into one.
    Lines,
}

fn has_line(element: &Element, text: &TextMatch) -> bool {
    let description = element.description.as_deref().filter(|_| !element.password);
    let joined = description.filter(|description| description.trim().contains('\n'));
    joined.is_some_and(|description| description.lines().any(|line| text.matches(line)))
}

/// True if the element has the role, or is shown with it (F21).
pub(crate) fn has_role(snapshot: &Snapshot, index: usize, role: Role) -> bool {
    crate::meaning::role::in_context(snapshot, index) == role
        || crate::meaning::role::shown(snapshot, index) == role
}

/// Compares the name after `:id/`: callers leave out the package in front of Android's identifiers.
fn same_named(id: &str, wanted: &TextMatch) -> bool {
    id.split_once(":id/").is_some_and(|(_, name)| wanted.matches(name))
}

pub(crate) fn same_id(id: &str, wanted: &str) -> bool {
    id == wanted || id.split_once(":id/").is_some_and(|(_, name)| name == wanted)
}

fn is_class(class: &str, wanted: &str) -> bool {
    class.eq_ignore_ascii_case(wanted)
        || class.rsplit('.').next().is_some_and(|name| name.eq_ignore_ascii_case(wanted))
}

/// True if one of the element's texts or its label matches. Secrets are not compared: that would reveal them (ST-07).
fn shows(seen: &Observation, index: u32, element: &Element, text: &TextMatch) -> bool {
    let snapshot = &seen.reading.snapshot;
    let choice = || label::shown_inside(snapshot, index as usize).filter(|_| element.role == Role::Dropdown);
    // Outlines show texts without the icon-font characters around them.
    own_texts(element).any(|shown| {
        text.matches(shown) || label::readable(Some(shown)).is_some_and(|shown| text.matches(shown))
    }) || label::label(snapshot, index as usize).is_some_and(|label| text.matches(&label.text))
        || choice().is_some_and(|(shown, _)| text.matches(shown))
}

pub(crate) fn own_texts(element: &Element) -> impl Iterator<Item = &str> {
    let own = [&element.text, &element.value, &element.description, &element.hint];
    own.into_iter().flatten().filter(|_| !element.password).map(|text| &**text)
}

fn is_related(seen: &Observation, index: u32, relation: Relation, anchor: u32) -> bool {
    if index == anchor {
        return false;
    }
    if relation == Relation::Inside {
        let around = row_of_text(seen, anchor).unwrap_or(anchor);
        return seen.reading.range(around).contains(&index);
    }
    let (at, by) = (seen.reading.element(index).bounds, seen.reading.element(anchor).bounds);
    let beside = |a: Rect, b: Rect| a.top < b.bottom && b.top < a.bottom;
    let over = |a: Rect, b: Rect| a.left < b.right && b.left < a.right;
    match relation {
        Relation::Below => at.top >= by.bottom && over(at, by),
        Relation::Above => at.bottom <= by.top && over(at, by),
        Relation::LeftOf => at.right <= by.left && beside(at, by),
        Relation::RightOf => at.left >= by.right && beside(at, by),
        Relation::Inside => false,
    }
}

/// The row of a list that a bare text stands in. Nothing lies inside a text, so "inside" means its row (F21).
fn row_of_text(seen: &Observation, anchor: u32) -> Option<u32> {
    if seen.reading.range(anchor).len() > 1 || seen.reading.element(anchor).affordances.scrollable {
        return None;
    }
    let mut at = anchor;
    for _ in 0..ROW_LEVELS_MAX {
        let parent = seen.reading.element(at).parent.filter(|parent| *parent < at)?;
        let around = seen.reading.element(parent);
        if around.role == Role::List || around.affordances.scrollable {
            return (at != anchor).then_some(at);
        }
        at = parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::tracker::Tracker;
    use crate::meaning::sketch::sketch;

    fn matches(tree: &str, selector: &Selector) -> Vec<u32> {
        selector.matches(&Tracker::default().observe(sketch(tree), 0))
    }

    fn regex(source: &str) -> TextMatch {
        TextMatch::Regex(Pattern::new(source).unwrap())
    }

    #[test]
    fn case_and_outer_spaces_do_not_count() {
        assert!(TextMatch::Is("log in".into()).matches(" Log In\n"));
        assert!(!TextMatch::Is("log".into()).matches("Log in"));
        assert!(TextMatch::Contains("G I".into()).matches("log in"));
        assert!(regex("^[0-9]+ LEFT$").matches(" 12 left "));
        assert!(!regex("(?-i)LEFT").matches("12 left"));
        assert!(regex("left").is_exactly("Left") && !regex("left").is_exactly("12 left"));
    }

    #[test]
    fn a_line_of_a_joined_description_is_a_text() {
        let tree = r#"
            FrameLayout [0,0][1080,2400]
              View [0,0][1080,200] click desc:"Bread/Order 12"
              View [0,200][1080,400] click desc:"Milk/Order 124"
            "#;
        let mut snapshot = sketch(tree);
        for element in &mut snapshot.elements {
            element.description = element.description.as_deref().map(|text| text.replace('/', "\n").into());
        }
        let seen = Tracker::default().observe(snapshot, 0);
        let found = |text: TextMatch| Selector { text: Some(text), ..Selector::default() }.matches(&seen);
        assert_eq!(found(TextMatch::Is("order 124".into())), [2]);
        assert!(found(TextMatch::Is("Order".into())).is_empty(), "a part of a line is no text");
        assert_eq!(found(TextMatch::Is("Milk\nOrder 124".into())), [2]);
    }

    #[test]
    fn an_oversized_pattern_is_refused_and_matching_stays_linear() {
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new(&"a".repeat(501)).is_err());
        assert!(Pattern::new("(((a{100}){100}){100}){100}").is_err());
        assert!(Pattern::new(&format!("{}a{}", "(".repeat(100), ")".repeat(100))).is_err());
        // Exponential with a backtracking engine.
        assert!(!regex("(a+)+$").matches(&format!("{}b", "a".repeat(5000))));
    }

    #[test]
    fn a_pattern_searches_a_bounded_part_of_a_screen_and_says_so() {
        // F64
        let long = "x".repeat(100 << 10);
        let line = |text: &str| format!("FrameLayout [0,0][300,300]\n  TextView [0,0][9,9] text:{text:?}\n");
        let one = Selector { text: Some(regex("x$")), ..Selector::default() };
        assert_eq!(matches(&line("box"), &one), [1]);
        assert!(!one.describe().contains("only"));
        let many: String = (0..3).map(|_| format!("  TextView [0,0][9,9] text:{long:?}\n")).collect();
        let seen = matches(&format!("FrameLayout [0,0][300,300]\n{many}"), &one);
        assert!(seen.len() < 3, "{} texts were searched", seen.len());
        assert!(
            one.describe().ends_with("searched in 128 kB of the screen's text only"),
            "{}",
            one.describe()
        );
        assert_eq!(matches(&line("box"), &one), [1], "each screen by itself");
    }

    #[test]
    fn relations_compare_the_bounds_of_both_elements() {
        let tree = r#"
            FrameLayout [0,0][300,300]
              TextView [100,100][200,200] text:"x"
              TextView [100,0][200,100] text:"up"
              TextView [100,200][200,300] text:"down"
              TextView [0,100][100,200] text:"left"
              TextView [200,100][300,200] text:"right"
            "#;
        let anchor = || Box::new(Selector { text: Some(TextMatch::Is("x".into())), ..Selector::default() });
        let at =
            |relation| matches(tree, &Selector { near: Some((relation, anchor())), ..Selector::default() });
        assert_eq!(at(Relation::Above), [2]);
        assert_eq!(at(Relation::Below), [3]);
        assert_eq!(at(Relation::LeftOf), [4]);
        assert_eq!(at(Relation::RightOf), [5]);
        assert!(at(Relation::Inside).is_empty());
        assert!(matches(tree, &Selector::default()).is_empty(), "an empty selector matches nothing");
    }

    #[test]
    fn a_text_stands_for_the_row_that_it_is_in() {
        // F21
        let tree = r#"
            ListView [0,0][1080,400] scroll
              LinearLayout [0,0][1080,200]
                TextView [0,0][500,200] text:"Milk"
                Button [800,0][1080,200] click text:"Delete"
              LinearLayout [0,200][1080,400]
                TextView [0,200][500,400] text:"Bread"
                Button [800,200][1080,400] click text:"Delete"
            "#;
        let inside = |words: &str| {
            let anchor = Selector { text: Some(TextMatch::Is(words.into())), ..Selector::default() };
            let near = Some((Relation::Inside, Box::new(anchor)));
            matches(
                tree,
                &Selector { text: Some(TextMatch::Is("Delete".into())), near, ..Selector::default() },
            )
        };
        assert_eq!(inside("Milk"), [3]);
        assert_eq!(inside("Bread"), [6]);
        assert_eq!(inside("Eggs"), Vec::<u32>::new());
    }

    #[test]
    fn describe_names_every_given_field() {
        let inside = Selector { resource_id: Some("list".into()), ..Selector::default() };
        let selector = Selector {
            text: Some(TextMatch::Contains("a\"b".into())),
            role: Some(Role::TextField),
            near: Some((Relation::Inside, Box::new(inside))),
            index: Some(2),
            ..Selector::default()
        };
        let expected = r#"text with "a\"b", role field, inside id "list", index 2"#;
        assert_eq!(selector.describe(), expected);
    }

    #[test]
    fn a_role_has_several_names() {
        for word in ["TextField", "text_field", "field", "EditText", "input"] {
            assert_eq!(role_named(word), Some(Role::TextField), "{word}");
        }
        assert_eq!(role_named("wizard"), None);
        assert_eq!(role_word(Role::TextField), "field");
    }
}
