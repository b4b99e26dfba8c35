//! Widgets of Android's own toolkit, as its views describe themselves to accessibility. The matrix of states
//! (tests/matrix) compares them with the framework.

use super::spec::{Scalar, WidgetSpec};
use super::{RowAt, UserApp};
use crate::app::parts::{column, label, row};
use crate::app::widget::{Appearance, Flags, Key, Layout, Size, Widget};

/// Classes with the class that they name to accessibility, and what they do without being told: `c`lickable,
/// `f`ocusable, `l`ong-clickable, `s`crollable.
const NATURAL: [(&str, &str, &str); 13] = [
    ("android.widget.ZoomButton", "android.widget.ZoomButton", "fl"),
    ("android.widget.QuickContactBadge", "android.widget.QuickContactBadge", "cf"),
    ("android.widget.StackView", "android.widget.StackView", "fs"),
    ("android.widget.AdapterViewFlipper", "android.widget.AdapterViewFlipper", "fs"),
    ("android.widget.Gallery", "android.widget.Gallery", "fs"),
    ("android.widget.SearchView", "android.widget.SearchView", "f"),
    ("android.widget.TabHost", "android.widget.TabHost", "f"),
    ("android.widget.AbsoluteLayout", "android.view.ViewGroup", ""),
    ("android.widget.Toolbar", "android.view.ViewGroup", ""),
    ("android.widget.ActionMenuView", "android.widget.LinearLayout", ""),
    ("android.widget.TextClock", "android.widget.TextView", ""),
    ("android.widget.AnalogClock", "android.view.View", ""),
    ("android.view.TextureView", "android.view.View", ""),
];

/// Gives a widget what its class has by nature.
pub fn by_nature(widget: &mut Widget) {
    let Some((_, told, does)) = NATURAL.iter().find(|(class, ..)| *class == widget.class) else { return };
    widget.class = told;
    let flags = &mut widget.flags;
    flags.clickable |= does.contains('c');
    flags.focusable |= does.contains('f');
    flags.long_clickable |= does.contains('l');
    // It turns its pages by itself: no finger moves it here.
    (flags.scrollable, flags.locked) = (does.contains('s'), does.contains('s'));
}

fn named(class: &'static str, id: &str) -> Widget {
    let widget = Widget::new(class);
    if id.is_empty() { widget } else { widget.id("android", id) }
}

fn number(app: &UserApp, spec: &WidgetSpec) -> Option<f64> {
    match spec.value.as_ref().and_then(|name| app.values.get(name)) {
        Some(Scalar::Number(number)) => Some(*number),
        _ => None,
    }
}

fn words(app: &UserApp, spec: &WidgetSpec) -> String {
    spec.value.as_ref().and_then(|name| app.values.get(name)).map(Scalar::shown).unwrap_or_default()
}

/// A button with two states and a word for each.
pub fn toggle(app: &UserApp, spec: &WidgetSpec, row: &RowAt) -> Widget {
    let on = spec.value.as_ref().is_some_and(|name| app.is_on(name, row));
    let word = spec.options.get(usize::from(on)).map_or(if on { "ON" } else { "OFF" }, String::as_str);
    let button = Widget::new("android.widget.ToggleButton").text(word).appearance(Appearance::Button);
    button.size(Size::Fill, Size::Dp(48)).checked(on)
}

/// A bar that fills up. A dump has neither its value nor its range.
pub fn progress(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let mut bar = Widget::new("android.widget.ProgressBar").size(Size::Fill, Size::Dp(16));
    if number(app, spec).is_some() {
        bar.range = Some((spec.min.unwrap_or(0.0) as f32, spec.max.unwrap_or(100.0) as f32));
    }
    bar
}

/// Stars, set by a touch.
pub fn rating(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let (low, high) = super::behave::range(spec);
    let stars = number(app, spec).unwrap_or(low).clamp(low, high);
    let mut bar = Widget::new("android.widget.RatingBar")
        .appearance(Appearance::Slider(((stars - low) / (high - low)) as f32))
        .size(Size::Fill, Size::Dp(57));
    bar.key = Some(Key::of(spec.key));
    bar.range = Some((low as f32, high as f32));
    bar.flags.focusable = true;
    bar
}

/// A clock that counts; it says its time in words too.
pub fn chronometer(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let seconds = number(app, spec).unwrap_or(0.0).clamp(0.0, 1e6) as u64;
    let (minutes, rest) = (seconds / 60, seconds % 60);
    let counted = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let spoken = match minutes {
        0 => counted(rest, "second"),
        _ => format!("{}, {}", counted(minutes, "minute"), counted(rest, "second")),
    };
    let shown = format!("{minutes:02}:{rest:02}");
    let text = if spec.text.is_empty() { shown } else { spec.text.replace("%s", &shown) };
    let mut clock = label(text).description(spoken);
    clock.class = "android.widget.Chronometer";
    clock
}

/// What a wheel shows: the value before, the value, the one after.
fn wheel(values: [Option<String>; 3], spec: &WidgetSpec) -> Widget {
    let [before, now, after] = values;
    let button = |text: String, index: u32| {
        let key = Key { name: spec.key, index };
        let mut button = Widget::new("android.widget.Button").text(text).on_tap(key);
        (button.flags.focusable, button.flags.long_clickable) = (false, true);
        button.size(Size::Fill, Size::Dp(40)).appearance(Appearance::TextButton).enabled(!spec.disabled)
    };
    let mut shown = named("android.widget.EditText", "numberpicker_input").text(now.unwrap_or_default());
    shown = shown.size(Size::Fill, Size::Dp(40)).appearance(Appearance::Body).enabled(!spec.disabled);
    (shown.flags.clickable, shown.flags.focusable, shown.flags.long_clickable) = (true, true, true);
    let mut wheel = Widget::new("android.widget.NumberPicker").size(Size::Dp(80), Size::Content);
    (wheel.flags.scrollable, wheel.flags.locked) = (true, true);
    wheel
        .children(before.map(|text| button(text, BEFORE)))
        .child(shown)
        .children(after.map(|text| button(text, AFTER)))
}

/// The buttons of a wheel, by the index of their keys.
pub const BEFORE: u32 = 1;
pub const AFTER: u32 = 2;
/// Fewer values than this do not wrap around.
const WRAPS_FROM: i64 = 3;

/// Returns the value before or after another one; the wheel turns around unless the app says otherwise or it is short.
pub fn turned(spec: &WidgetSpec, value: f64, by: i64) -> Option<i64> {
    let (low, high) = super::behave::range(spec);
    let (low, high, next) = (low as i64, high as i64, value as i64 + by);
    let wraps = high - low + 1 > WRAPS_FROM && !spec.stops;
    match next {
        next if (low..=high).contains(&next) => Some(next),
        next if wraps => Some(if next < low { high } else { low }),
        _ => None,
    }
}

pub fn number_picker(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let value = number(app, spec).unwrap_or(0.0);
    let low = super::behave::range(spec).0 as i64;
    let word = |value: i64| {
        let named = usize::try_from(value - low).ok().and_then(|at| spec.options.get(at));
        named.cloned().unwrap_or_else(|| value.to_string())
    };
    let near = |by: i64| turned(spec, value, by).map(word);
    wheel([near(-1), Some(word(value as i64)), near(1)], spec)
}

/// A field to search in, as `SearchView` shows it; without a value it is closed.
pub fn search(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let picture = |id: &str, words: &str| {
        let picture = named("android.widget.ImageView", id).description(words);
        picture.size(Size::Dp(48), Size::Dp(48)).appearance(Appearance::Picture)
    };
    let button = |id: &str, words: &str| {
        let mut button = picture(id, words);
        (button.flags.clickable, button.flags.focusable) = (true, true);
        button
    };
    let line = |id: &str| row(48, []).id("android", id);
    let mut bar = line("search_bar");
    if spec.value.is_none() {
        bar = bar.child(button("search_button", "Search"));
    } else {
        let query = words(app, spec);
        let mut field = crate::app::parts::field(&spec.hint, &query, Key::of(spec.key));
        field.class = "android.widget.AutoCompleteTextView";
        let mut plate = line("search_plate").child(field.id("android", "search_src_text"));
        if !query.is_empty() {
            plate = plate.child(button("search_close_btn", "Clear query"));
        }
        bar = bar.child(line("search_edit_frame").child(picture("search_mag_icon", "")).child(plate));
    }
    Widget::new("android.widget.SearchView").size(Size::Fill, Size::Dp(48)).child(bar)
}

/// Tabs of the platform, and the content of the one that is shown: the children stand for the tabs in turn.
pub fn tab_host(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let shown = words(app, spec);
    let tab = |(name, index): (&String, u32)| {
        let on = *name == shown;
        let mut title = label(name.to_uppercase()).id("android", "title").appearance(Appearance::Tab);
        title.flags.selected = on;
        let mut tab = row(48, [title]).on_tap(Key { name: spec.key, index });
        tab.flags.selected = on;
        tab
    };
    let mut tabs = row(48, spec.options.iter().zip(0u32..).map(tab)).id("android", "tabs");
    tabs.class = "android.widget.TabWidget";
    let content = named("android.widget.FrameLayout", "tabcontent").child(label(app.fill(&spec.text, &None)));
    Widget::new("android.widget.TabHost").child(column(0, [tabs, content]))
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// A day of the Gregorian calendar.
#[derive(Clone, Copy)]
struct Date {
    year: i64,
    month: usize,
    day: i64,
}

impl Date {
    /// Reads `2026-03-14`; the first day of 2026 if it is none.
    fn read(text: &str) -> Date {
        let parts: Vec<i64> = text.split('-').filter_map(|part| part.parse().ok()).collect();
        match parts[..] {
            [year, month @ 1..=12, day] if (1..=9999).contains(&year) => {
                let date = Date { year, month: month as usize - 1, day };
                Date { day: day.clamp(1, date.days_of_month()), ..date }
            }
            _ => Date { year: 2026, month: 0, day: 1 },
        }
    }

    fn days_of_month(self) -> i64 {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            1 => 28 + i64::from(leap),
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        }
    }

    /// Returns the day of the week, by Zeller's congruence.
    fn weekday(self) -> &'static str {
        let (month, year) = match self.month {
            early @ 0..=1 => (early as i64 + 13, self.year - 1),
            other => (other as i64 + 1, self.year),
        };
        let day = self.day + 13 * (month + 1) / 5 + year + year / 4 - year / 100 + year / 400;
        WEEKDAYS[((day + 6) % 7) as usize]
    }
}

/// The days of a month with the buttons beside them.
fn month(date: Date, id: &str, disabled: bool) -> Widget {
    let day = |number: i64| {
        let mut day = Widget::new("android.view.View")
            .text(number.to_string())
            .description(format!("{number:02} {} {}", MONTHS[date.month], date.year))
            .size(Size::Fill, Size::Dp(8));
        day.flags.clickable = true;
        (day.flags.checked, day.flags.selected) = (number == date.day, number == date.day);
        day
    };
    let mut days = named("android.view.View", "month_view").children((1..=date.days_of_month()).map(day));
    days.flags.focusable = true;
    let mut pager = named("com.android.internal.widget.ViewPager", "day_picker_view_pager");
    (pager.flags.focusable, pager.flags.scrollable, pager.flags.locked) = (true, true, true);
    // The month before is out of sight.
    let before = Widget::new("android.view.View").size(Size::Fill, Size::Dp(0));
    let turn = |id: &str, words: &str| {
        let mut button = named("android.widget.ImageButton", id).description(words);
        (button.flags.clickable, button.flags.focusable) = (true, true);
        button.size(Size::Dp(48), Size::Dp(40)).appearance(Appearance::TextButton)
    };
    named("android.view.ViewGroup", id)
        .enabled(!disabled)
        .child(pager.child(before).child(days))
        .child(turn("prev", "Previous month"))
        .child(turn("next", "Next month"))
}

fn header(id: &str, text: String, disabled: bool) -> Widget {
    let mut part = label(text).id("android", id).enabled(!disabled);
    (part.flags.clickable, part.flags.focusable) = (true, true);
    part
}

pub fn calendar(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let mut days = month(Date::read(&words(app, spec)), "", false);
    days.resource_id.clear();
    Widget::new("android.widget.CalendarView").child(days)
}

pub fn date_picker(app: &UserApp, spec: &WidgetSpec, landscape: bool) -> Widget {
    let date = Date::read(&words(app, spec));
    let picker = Widget::new("android.widget.DatePicker");
    if spec.wheels {
        let months = |by: usize| Some(MONTHS[(date.month + 12 + by - 1) % 12][..3].to_owned());
        let near = |value: i64| [value - 1, value, value + 1].map(|value| Some(value.to_string()));
        let wheels = [[months(0), months(1), months(2)], near(date.day), near(date.year)];
        let wheels = row(120, wheels.map(|values| wheel(values, spec))).id("android", "pickers");
        return picker.child(column(0, [wheels]));
    }
    let short = format!("{}, {} {}", date.weekday(), &MONTHS[date.month][..3], date.day);
    let texts = column(
        0,
        [
            header("date_picker_header_year", date.year.to_string(), spec.disabled),
            header("date_picker_header_date", short, spec.disabled),
        ],
    );
    let days = month(date, "date_picker_day_picker", spec.disabled);
    let animator = named("android.widget.ViewAnimator", "animator").child(days);
    let mut body =
        Widget::new(if landscape { "android.widget.LinearLayout" } else { "android.widget.ScrollView" });
    body.flags.focusable = !landscape;
    let head = column(0, [texts]).id("android", "date_picker_header");
    picker.child(column(0, [head, body.child(animator)]).enabled(!spec.disabled))
}

pub fn time_picker(app: &UserApp, spec: &WidgetSpec, landscape: bool) -> Widget {
    let time = words(app, spec);
    let parts: Vec<i64> = time.split(':').filter_map(|part| part.parse().ok()).collect();
    let (hour, minute) = match parts[..] {
        [hour @ 0..=23, minute @ 0..=59] => (hour, minute),
        _ => (0, 0),
    };
    let picker = Widget::new("android.widget.TimePicker");
    if spec.wheels {
        let near = |value: i64, count: i64| {
            [-1, 0, 1].map(|by| Some(format!("{:02}", (value + by).rem_euclid(count))))
        };
        let colon = label(":").id("android", "divider").size(Size::Dp(8), Size::Dp(40));
        let inside = row(120, [wheel(near(hour, 24), spec), colon, wheel(near(minute, 60), spec)]);
        return picker.child(column(0, [inside]).id("android", "timePickerLayout"));
    }
    let shown = if spec.half_days { (hour + 11) % 12 + 1 } else { hour };
    let hours = if spec.half_days { shown.to_string() } else { format!("{shown:02}") };
    let texts = [
        header("hours", hours, spec.disabled),
        label(":").id("android", "separator"),
        header("minutes", format!("{minute:02}"), spec.disabled),
    ];
    let halves = spec.half_days.then(|| half_days(hour));
    let mut head = named("android.widget.RelativeLayout", "time_header").layout(Layout::Column, 0, 0);
    head = match landscape {
        true => head.child(column(0, texts).id("android", "time_layout")).children(halves),
        false => head.children(texts).children(halves),
    };
    let numbers = if spec.half_days { 1..=12 } else { 0..=23 };
    let clock = named("android.view.View", "radial_picker").children(numbers.map(|number: i64| {
        let mut spot = Widget::new(RADIAL).description(number.to_string()).size(Size::Fill, Size::Dp(8));
        spot.flags.selected = number == shown;
        spot
    }));
    let mut mode = named("android.widget.ImageButton", "toggle_mode").size(Size::Dp(48), Size::Dp(40));
    mode = mode.description("Switch to text input mode for the time input.");
    (mode.flags.clickable, mode.flags.focusable) = (true, true);
    let modes = column(0, [mode]);
    let inside = match landscape {
        true => column(0, [head, column(0, [clock, modes])]),
        false => column(0, [head, clock, modes]),
    };
    picker.child(inside)
}

/// The class of the spots on the face of a clock.
const RADIAL: &str = "android.widget.RadialTimePickerView$RadialPickerTouchHelper";

fn half_days(hour: i64) -> Widget {
    let half = |id: &str, text: &str, on: bool| {
        let mut half = named("android.widget.RadioButton", id).text(text).checked(on);
        (half.flags.clickable, half.flags.focusable) = (true, true);
        half.size(Size::Fill, Size::Dp(40)).appearance(Appearance::Radio)
    };
    let halves = [half("am_label", "AM", hour < 12), half("pm_label", "PM", hour >= 12)];
    named("android.widget.RadioGroup", "ampm_layout").children(halves)
}

/// Rows of a list of the platform: each row is what the app puts there, without a frame.
pub fn list_view(rows: Vec<Widget>, spec: &WidgetSpec) -> Widget {
    let mut list = Widget::new("android.widget.ListView")
        .layout(Layout::Column, 0, 0)
        .children(rows)
        .scrolls(Key::of(spec.key));
    list.flags = Flags { locked: spec.locked, ..list.flags };
    list.glide = spec.glide.unwrap_or(1);
    list
}
