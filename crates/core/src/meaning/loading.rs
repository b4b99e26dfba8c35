//! Finds signs that a screen is still loading (SY-13).
//!
//! A sign counts only if it cannot mean something else: Android's drop-down is called Spinner, headlines contain the
//! word progress, and bars show storage, ratings and the position in a song (W12).

use crate::meaning::label;
use crate::meaning::semantics::id_contains_word;
use crate::meaning::value::{self, Unit};
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A bar that is neither empty nor full, or has no value.
    Progress,
    /// A progress circle.
    Spinner,
    /// A text that only says "loading".
    LoadingText,
    /// Grey shapes in place of content.
    Skeleton,
    /// An empty layer over the content whose identifier says loading.
    Overlay,
    /// A disabled button that was enabled before. Set by the tracker, which compares captures.
    SubmitDisabled,
    /// Another screen is about to appear. Set by the tracker.
    Navigation,
}

impl Signal {
    pub fn name(self) -> &'static str {
        match self {
            Signal::Progress => "progress_indicator",
            Signal::Spinner => "spinner",
            Signal::LoadingText => "loading_indicator",
            Signal::Skeleton => "skeleton",
            Signal::Overlay => "overlay",
            Signal::SubmitDisabled => "submit_disabled",
            Signal::Navigation => "navigation",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Found in one capture.
    UiTree,
    /// Found by comparing captures.
    History,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::UiTree => "ui_tree",
            Source::History => "history",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loading {
    pub signal: Signal,
    pub source: Source,
    /// Index of the element with the sign.
    pub index: u32,
}

/// Returns the first visible sign of loading. `visible` comes from [`crate::screen::visible::visible_rects`].
pub fn loading(snapshot: &Snapshot, visible: &[Option<Rect>]) -> Option<Loading> {
    let mut bars = 0;
    let mut found = None;
    for (index, (element, rect)) in snapshot.elements.iter().zip(visible).enumerate() {
        let Some(rect) = *rect else { continue };
        if element.role == Role::Progress {
            bars += usize::from(is_long(element.bounds));
            let signal = progress(snapshot, index, element);
            found = found.or(signal.map(|(signal, sure)| (signal, index, sure)));
        } else if let Some(signal) = other_sign(snapshot, index, element, rect) {
            found = found.filter(|(_, _, sure)| *sure).or(Some((signal, index, true)));
        }
    }
    // Several bars are a chart or a list of values, so an unsure bar does not count then.
    let (signal, index, _) = found.filter(|(_, _, sure)| *sure || bars < 2)?;
    Some(Loading { signal, source: Source::UiTree, index: index as u32 })
}

/// Returns the sign of a progress element, and true if it counts whatever else is on the screen.
fn progress(snapshot: &Snapshot, index: usize, element: &Element) -> Option<(Signal, bool)> {
    if element.bounds.is_empty() || element.class.ends_with("RatingBar") || is_meter(element) {
        return None;
    }
    let shown = [&element.value, &element.text, &element.description];
    let reading = shown.into_iter().flatten().find_map(|text| value::read_description(text));
    let named = is_named_loading(snapshot, index, element);
    if let Some(reading) = reading {
        let full = match reading.unit {
            Unit::Of(max) => max,
            Unit::Own(_) => return None,
            Unit::None | Unit::Percent => 100.0,
        };
        let running = reading.number > 0.0 && reading.number < full;
        let sure = named || is_edge_to_edge(snapshot, element.bounds);
        return (running && sure).then_some((Signal::Progress, true));
    }
    if element.class.ends_with("ActivityIndicator") || !is_long(element.bounds) {
        return Some((Signal::Spinner, true));
    }
    if named {
        return Some((Signal::Progress, true));
    }
    (!belongs_to_item(snapshot, element)).then_some((Signal::Progress, false))
}

/// True for bars that measure something other than progress.
fn is_meter(element: &Element) -> bool {
    element.class.ends_with("LevelIndicator")
        || element.class.ends_with("RatingIndicator")
        || id_contains_word(
            element,
            &["storage", "battery", "rating", "level", "score", "quota", "seek", "player", "playback"],
        )
}

/// True for a bar, false for a circle.
fn is_long(bounds: Rect) -> bool {
    i64::from(bounds.width()) > i64::from(bounds.height()) * 2
}

/// True for bars across the whole screen width, which show the progress of the page.
fn is_edge_to_edge(snapshot: &Snapshot, bounds: Rect) -> bool {
    let root = snapshot.elements.first().map_or(0, |root| root.bounds.width());
    let screen = match snapshot.size.rect().width() {
        0 => root,
        width => width,
    };
    screen > 0 && i64::from(bounds.width()) * 50 >= i64::from(screen) * 49
}

/// True for the bar of a row, card or player, which shows a property of that item.
fn belongs_to_item(snapshot: &Snapshot, element: &Element) -> bool {
    let mut parent = element.parent;
    for _ in 0..ITEM_LEVELS_MAX {
        let Some(above) = parent.and_then(|parent| snapshot.elements.get(parent as usize)) else {
            return false;
        };
        if above.is_tappable() || matches!(above.role, Role::Row | Role::List) {
            return true;
        }
        parent = above.parent;
    }
    false
}

/// Levels above a sign of loading in which its list item is looked for.
const ITEM_LEVELS_MAX: usize = 6;

/// True if the bar's identifier, description or a sibling text mentions loading.
fn is_named_loading(snapshot: &Snapshot, index: usize, element: &Element) -> bool {
    const WORK: [&str; 8] = ["loading", "load", "loader", "download", "upload", "install", "sync", "refresh"];
    if id_contains_word(element, &WORK) || element.description.as_deref().is_some_and(is_loading_text) {
        return true;
    }
    let Some(parent) = element.parent else { return false };
    let siblings = snapshot.children(parent as usize).take(SIBLINGS_MAX).filter(|&sibling| sibling != index);
    siblings
        .into_iter()
        .any(|sibling| label::own_words(&snapshot.elements[sibling]).is_some_and(is_work_text))
}

/// Siblings of an element that are looked at for content.
const SIBLINGS_MAX: usize = 16;

fn other_sign(snapshot: &Snapshot, index: usize, element: &Element, rect: Rect) -> Option<Signal> {
    if element.role != Role::TextField && !element.password {
        let is_loading = |text: &Option<Box<str>>| text.as_deref().is_some_and(is_loading_text);
        if is_loading(&element.text) || is_loading(&element.description) {
            return Some(Signal::LoadingText);
        }
    }
    let may_match = element.stable_id.as_deref().is_some_and(may_contain_loading_word);
    let skeleton = (may_match && id_contains_word(element, &["skeleton", "shimmer"]))
        || is_shimmer_class(&element.class);
    let layer = may_match && id_contains_word(element, &["loading", "loader"]);
    if !skeleton && !layer {
        return None;
    }
    // Such wrappers often stay around the content after it has loaded.
    if !is_empty_of_content(snapshot, index) {
        return None;
    }
    if skeleton {
        return Some(Signal::Skeleton);
    }
    covers_half(snapshot, rect).then_some(Signal::Overlay)
}

/// Rules out most identifiers without splitting them into words.
fn may_contain_loading_word(id: &str) -> bool {
    let bytes = id.as_bytes();
    let begins = |at: usize, word: &[u8]| {
        bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    (0..bytes.len()).any(|at| match bytes[at] | 0x20 {
        b's' => begins(at, b"skeleton") || begins(at, b"shimmer"),
        b'l' => begins(at, b"load"),
        _ => false,
    })
}

/// True for the shimmer classes of libraries; the platform has none.
fn is_shimmer_class(class: &str) -> bool {
    !class.starts_with("android") && class.rsplit('.').next().is_some_and(|name| name.starts_with("Shimmer"))
}

fn is_empty_of_content(snapshot: &Snapshot, index: usize) -> bool {
    let end = (snapshot.elements[index].end as usize).clamp(index + 1, snapshot.elements.len());
    snapshot.elements[index..end].iter().take(CONTENT_ELEMENTS_MAX).all(|element| {
        !element.is_tappable()
            && !element.role.is_control()
            && label::own_words(element).is_none_or(is_loading_text)
    })
}

/// Elements of one part that are looked at for content.
const CONTENT_ELEMENTS_MAX: usize = 256;

fn covers_half(snapshot: &Snapshot, rect: Rect) -> bool {
    let area = |rect: Rect| i64::from(rect.width()) * i64::from(rect.height());
    let screen = snapshot.size.rect();
    let root = snapshot.elements.first().map_or(rect, |root| root.bounds);
    area(rect) * 2 >= area(if screen.is_empty() { root } else { screen })
}

/// Longer texts are content.
const TEXT_BYTES_MAX: usize = 64;

/// True if a text says that something is loading, and nothing else.
fn is_loading_text(text: &str) -> bool {
    if text.len() > TEXT_BYTES_MAX {
        return false;
    }
    let text = text.trim_start();
    // Most texts are ruled out by their first letter.
    if text.bytes().next().is_none_or(|first| first.is_ascii() && !b"abcdejlopvwy".contains(&(first | 0x20)))
    {
        return false;
    }
    let bare = text.trim_end_matches(['.', '…', '!', '。', '\u{A0}', ' ', '\n']);
    // Lower and upper case of these scripts have the same length in bytes.
    let mut known = LOADING.iter().filter(|words| words.len() == bare.len());
    if known.any(|words| words.chars().eq(bare.chars().flat_map(char::to_lowercase))) {
        return true;
    }
    // "Loading messages…"
    let unfinished =
        ['…', '。'].iter().any(|end| text.trim_end().ends_with(*end)) || text.trim_end().ends_with("...");
    unfinished && bare.get(.."loading ".len()).is_some_and(|start| start.eq_ignore_ascii_case("loading "))
}

/// True for a text next to a bar such as "Downloading update 3 of 7".
fn is_work_text(text: &str) -> bool {
    const WORK: [&str; 9] = [
        "loading",
        "downloading",
        "uploading",
        "installing",
        "updating",
        "syncing",
        "processing",
        "importing",
        "exporting",
    ];
    let first = text.split([' ', '.', '…', ':']).next().unwrap_or(text);
    is_loading_text(text) || WORK.iter().any(|word| first.eq_ignore_ascii_case(word))
}

const LOADING: [&str; 52] = [
    "loading",
    "please wait",
    "loading, please wait",
    "loading please wait",
    "just a moment",
    "one moment please",
    "wird geladen",
    "lädt",
    "laden",
    "bitte warten",
    "einen moment bitte",
    "chargement",
    "chargement en cours",
    "veuillez patienter",
    "cargando",
    "espere por favor",
    "por favor espere",
    "por favor, espere",
    "espera un momento",
    "carregando",
    "a carregar",
    "aguarde",
    "aguarde um momento",
    "caricamento",
    "caricamento in corso",
    "attendere",
    "attendere prego",
    "загрузка",
    "подождите",
    "пожалуйста, подождите",
    "読み込み中",
    "読み込み中です",
    "ロード中",
    "お待ちください",
    "しばらくお待ちください",
    "加载中",
    "正在加载",
    "请稍候",
    "載入中",
    "請稍候",
    "로드 중",
    "로딩 중",
    "불러오는 중",
    "잠시만 기다려 주세요",
    "yükleniyor",
    "lütfen bekleyin",
    "جار التحميل",
    "جارٍ التحميل",
    "ładowanie",
    "even geduld",
    "đang tải",
    "учитавање",
];

#[cfg(test)]
mod tests;
