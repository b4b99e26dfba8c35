//! Builds the widgets of an app from a file.

use super::behave::{option_key, range};
use super::spec::{DialogShape, DialogSpec, Kind, Scalar, ScreenSpec, WidgetSpec};
use super::{RowAt, UserApp, toolkit};
use crate::app::alert::{self, Alert};
use crate::app::parts::{self, SCROLL, column, framed, label, space};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

const PADDING_DP: i32 = 16;
const GAP_DP: i32 = 12;
const CARD_DP: i32 = 160;
const MENU_DP: i32 = 200;

pub fn screen(app: &UserApp, activity: &str, landscape: bool) -> Widget {
    let Some((_, screen)) = app.file.screen(activity) else {
        return Widget::new("android.widget.FrameLayout");
    };
    let content = screen.content.iter().flat_map(|widget| build(app, widget, &None, landscape));
    let mut inside = column(GAP_DP, content);
    inside.padding_dp = PADDING_DP;
    let body = if fills(screen) {
        inside.size(Size::Fill, Size::Fill)
    } else {
        Widget::new("android.widget.ScrollView")
            .size(Size::Fill, Size::Fill)
            .layout(Layout::Column, 0, 0)
            .child(inside)
            .scrolls(SCROLL)
    };
    match &screen.title {
        Some(title) => framed(app.file.package, &app.fill(title, &app.session.row), body),
        None => Widget::new("android.widget.LinearLayout")
            .appearance(Appearance::Page)
            .size(Size::Fill, Size::Fill)
            .child(space(24))
            .child(body),
    }
}

/// Returns true if the screen holds a list or another scroll container; such a screen does not scroll itself.
fn fills(screen: &ScreenSpec) -> bool {
    let scrolls = |widget: &WidgetSpec| {
        matches!(widget.kind, Kind::List | Kind::Scroll) && widget.height.is_none() && !widget.sideways
    };
    let over = |widget: &WidgetSpec| is_full_stack(widget) && widget.children.iter().any(scrolls);
    screen.content.iter().any(|widget| scrolls(widget) || over(widget))
}

/// Returns true for a stack with a list in it, which takes all the room that a list would.
fn is_full_stack(widget: &WidgetSpec) -> bool {
    let list = |child: &WidgetSpec| matches!(child.kind, Kind::List | Kind::Scroll) && child.height.is_none();
    widget.kind == Kind::Stack && widget.height.is_none() && widget.children.iter().any(list)
}

/// Returns the widget, with the mistake of a field below it; nothing when it is hidden now.
pub fn build(app: &UserApp, spec: &WidgetSpec, row: &RowAt, landscape: bool) -> Vec<Widget> {
    if !app.hold(&spec.when) {
        return Vec::new();
    }
    let package = app.file.package;
    let mut widget = match spec.kind {
        Kind::List => list(app, spec, landscape),
        Kind::ListView => toolkit::list_view(plain_rows(app, spec, landscape), spec),
        kind if kind.holds_others() => container(app, spec, row, landscape),
        _ => leaf(app, spec, row, landscape),
    };
    match spec.id.strip_prefix("android:") {
        Some(id) => widget = widget.id("android", id),
        None if !spec.id.is_empty() => widget = widget.id(package, &spec.id),
        None => {}
    }
    if !spec.description.is_empty() {
        widget.description = app.fill(&spec.description, row);
    }
    widget.class = spec.class_name.unwrap_or(widget.class);
    toolkit::by_nature(&mut widget);
    widget.flags.selected |= spec.selected;
    widget.flags.focusable = spec.focusable.unwrap_or(widget.flags.focusable);
    if widget.hint.is_empty() && spec.kind != Kind::Search {
        widget.hint = app.fill(&spec.hint, row);
    }
    widget.flags.password |= spec.password;
    widget.offset_dp = (spec.x.unwrap_or(0), spec.y.unwrap_or(0));
    widget.raised = spec.raised.unwrap_or(0);
    widget.width = spec.width.map_or(widget.width, Size::Dp);
    widget.height = spec.height.map_or(widget.height, Size::Dp);
    widget.flags.disabled = spec.disabled || !app.hold(&spec.enabled_when);
    if spec.kind == Kind::DropDown {
        let disabled = widget.flags.disabled;
        widget.children.iter_mut().for_each(|choice| choice.flags.disabled = disabled);
    }
    let mistake = spec.value.as_ref().filter(|_| spec.kind == Kind::Field).and_then(|v| app.mistake_of(v));
    let mistake = mistake.map(|text| {
        let line = label(text).appearance(Appearance::Error);
        if spec.id.is_empty() { line } else { line.id(package, &format!("{}_error", spec.id)) }
    });
    [Some(widget), mistake].into_iter().flatten().collect()
}

/// Makes the widget take taps, and long presses if it has a script for them.
fn touchable(mut widget: Widget, spec: &WidgetSpec, row: &RowAt) -> Widget {
    let key = Key { name: spec.key, index: row.as_ref().map_or(0, |(_, number)| *number) };
    let by_nature = matches!(
        spec.kind,
        Kind::Button
            | Kind::TextButton
            | Kind::ImageButton
            | Kind::Field
            | Kind::Switch
            | Kind::CheckBox
            | Kind::Radio
            | Kind::Tab
            | Kind::DropDown
            | Kind::Toggle
    );
    if by_nature || !spec.on_tap.0.is_empty() {
        widget = widget.on_tap(key);
    }
    if !spec.on_long_press.0.is_empty() {
        widget.key = Some(key);
        widget.flags.long_clickable = true;
    }
    widget
}

fn container(app: &UserApp, spec: &WidgetSpec, row: &RowAt, landscape: bool) -> Widget {
    let (class, layout) = match spec.kind {
        Kind::Row => ("android.widget.LinearLayout", Layout::Row),
        Kind::Stack => ("android.widget.FrameLayout", Layout::Stack),
        Kind::View => ("android.view.View", Layout::Column),
        Kind::Card => ("androidx.cardview.widget.CardView", Layout::Column),
        Kind::Scroll if spec.sideways => ("android.widget.HorizontalScrollView", Layout::Row),
        Kind::Scroll => ("android.widget.ScrollView", Layout::Column),
        _ => ("android.widget.LinearLayout", Layout::Column),
    };
    let (padding, gap) = if spec.kind == Kind::Card { (PADDING_DP, GAP_DP / 2) } else { (0, GAP_DP / 2) };
    let children = spec.children.iter().flat_map(|child| build(app, child, row, landscape));
    let mut widget = Widget::new(class)
        .layout(layout, spec.padding.unwrap_or(padding), spec.gap.unwrap_or(gap))
        .children(children);
    if spec.kind == Kind::Card {
        widget.appearance = Appearance::Card;
    }
    if is_full_stack(spec) {
        widget.height = Size::Fill;
    }
    if spec.kind == Kind::Scroll {
        widget.flags.locked = spec.locked;
        widget.glide = spec.glide.unwrap_or(1);
        return widget.size(Size::Fill, Size::Fill).scrolls(Key::of(spec.key));
    }
    touchable(widget, spec, row)
}

/// Returns the rows of a list of the platform.
fn plain_rows(app: &UserApp, spec: &WidgetSpec, landscape: bool) -> Vec<Widget> {
    let name = spec.rows.clone().unwrap_or_default();
    let rows = app.lists.get(&name).map(|list| list.rows.as_slice()).unwrap_or_default();
    let build_row = |(number, _): &(u32, super::Row)| {
        let at = Some((name.clone(), *number));
        let built = spec.children.iter().flat_map(|child| build(app, child, &at, landscape)).next()?;
        Some(touchable(built.stands_for(&format!("row {number} of {name}")), spec, &at))
    };
    rows.iter().filter_map(build_row).collect()
}

fn list(app: &UserApp, spec: &WidgetSpec, landscape: bool) -> Widget {
    let name = spec.rows.clone().unwrap_or_default();
    let rows = app.lists.get(&name).map(|list| list.rows.as_slice()).unwrap_or_default();
    let rows = rows.iter().map(|(number, _)| {
        let at = Some((name.clone(), *number));
        let children = spec.children.iter().flat_map(|child| build(app, child, &at, landscape));
        let mut row = Widget::new("android.widget.LinearLayout")
            .appearance(Appearance::Row)
            .layout(Layout::Column, spec.padding.unwrap_or(8), spec.gap.unwrap_or(0))
            .children(children)
            .stands_for(&format!("row {number} of {name}"));
        if spec.sideways {
            row.width = Size::Dp(card_width(spec));
        }
        touchable(row, spec, &at)
    });
    let layout = if spec.sideways { Layout::Row } else { Layout::Column };
    let mut list = Widget::new("androidx.recyclerview.widget.RecyclerView")
        .size(Size::Fill, Size::Fill)
        .layout(layout, 0, 0)
        .children(rows)
        .scrolls(Key::of(spec.key));
    list.flags.locked = spec.locked;
    list.glide = spec.glide.unwrap_or(1);
    list
}

/// Returns the width of a row in a list that scrolls sideways, in dp: that of its widest child.
fn card_width(spec: &WidgetSpec) -> i32 {
    let widest = spec.children.iter().filter_map(|child| child.width).max();
    widest.unwrap_or(CARD_DP) + 2 * spec.padding.unwrap_or(8)
}

fn leaf(app: &UserApp, spec: &WidgetSpec, row: &RowAt, landscape: bool) -> Widget {
    let text = app.fill(&spec.text, row);
    let key = Key::of(spec.key);
    let high = |class, look, dp| Widget::new(class).appearance(look).size(Size::Fill, Size::Dp(dp));
    let widget = match spec.kind {
        Kind::Heading => parts::heading(text),
        Kind::Caption => parts::caption(text),
        Kind::Error => label(text).appearance(Appearance::Error),
        Kind::Button => parts::button(text, key),
        Kind::TextButton => parts::text_button(text, key),
        Kind::ImageButton => {
            high("android.widget.ImageButton", Appearance::TextButton, 48).size(Size::Dp(48), Size::Dp(48))
        }
        Kind::Image => high("android.widget.ImageView", Appearance::Picture, 96),
        Kind::Spinner => high("android.widget.ProgressBar", Appearance::Spinner, 48),
        Kind::Field => field(app, spec, row),
        Kind::Switch => {
            checked(app, spec, row, high("android.widget.Switch", Appearance::Switch, 48)).text(text)
        }
        Kind::CheckBox => {
            checked(app, spec, row, high("android.widget.CheckBox", Appearance::CheckBox, 48)).text(text)
        }
        Kind::Radio => {
            high("android.widget.RadioButton", Appearance::Radio, 40).text(text).checked(chosen(app, spec))
        }
        Kind::Tab => tab(app, spec, text),
        Kind::DropDown => drop_down(app, spec),
        Kind::Slider => return slider(app, spec),
        Kind::Toggle => toolkit::toggle(app, spec, row),
        Kind::CheckedText => {
            let mut line = label(text);
            line.class = "android.widget.CheckedTextView";
            checked(app, spec, row, line)
        }
        Kind::Progress => toolkit::progress(app, spec),
        Kind::Rating => return toolkit::rating(app, spec),
        Kind::NumberPicker => return toolkit::number_picker(app, spec),
        Kind::DatePicker => toolkit::date_picker(app, spec, landscape),
        Kind::TimePicker => toolkit::time_picker(app, spec, landscape),
        Kind::Calendar => toolkit::calendar(app, spec),
        Kind::Chronometer => toolkit::chronometer(app, spec),
        Kind::Search => toolkit::search(app, spec),
        Kind::TabHost => toolkit::tab_host(app, spec),
        Kind::Space => space(spec.height.unwrap_or(16)),
        _ => label(text),
    };
    touchable(widget, spec, row)
}

fn field(app: &UserApp, spec: &WidgetSpec, row: &RowAt) -> Widget {
    let value = spec.value.as_ref().and_then(|name| app.values.get(name)).map(Scalar::shown);
    let hint = app.fill(&spec.hint, row);
    let mut field = parts::field(&hint, &value.unwrap_or_default(), Key::of(spec.key));
    field.flags.password = spec.password;
    field
}

fn checked(app: &UserApp, spec: &WidgetSpec, row: &RowAt, widget: Widget) -> Widget {
    widget.checked(spec.value.as_ref().is_some_and(|name| app.is_on(name, row)))
}

/// Returns true if the value is the one of this radio button or tab.
fn chosen(app: &UserApp, spec: &WidgetSpec) -> bool {
    let value = spec.value.as_ref().and_then(|name| app.values.get(name));
    matches!((value, &spec.option), (Some(Scalar::Text(value)), Some(option)) if value == option)
}

fn tab(app: &UserApp, spec: &WidgetSpec, text: String) -> Widget {
    let on = chosen(app, spec);
    let mut inside = Widget::new("android.widget.TextView").text(text).appearance(Appearance::Tab);
    inside = inside.size(Size::Fill, Size::Dp(48));
    inside.flags.selected = on;
    let mut tab = Widget::new("android.widget.LinearLayout").size(Size::Fill, Size::Dp(48)).child(inside);
    tab.flags.selected = on;
    tab
}

fn drop_down(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let value = spec.value.as_ref().and_then(|name| app.values.get(name)).map(Scalar::shown);
    Widget::new("android.widget.Spinner")
        .appearance(Appearance::DropDown)
        .size(Size::Fill, Size::Dp(48))
        .layout(Layout::Row, 8, 0)
        .child(label(value.unwrap_or_default()).id("android", "text1"))
}

fn slider(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let (low, high) = range(spec);
    let value = match spec.value.as_ref().and_then(|name| app.values.get(name)) {
        Some(Scalar::Number(value)) => value.clamp(low, high),
        _ => low,
    };
    let fraction = ((value - low) / (high - low)) as f32;
    let mut bar = Widget::new("android.widget.SeekBar")
        .appearance(Appearance::Slider(fraction))
        .size(Size::Fill, Size::Dp(48));
    bar.key = Some(Key::of(spec.key));
    bar.range = Some((low as f32, high as f32));
    bar.flags.focusable = true;
    bar
}

/// Returns a dialog, laid out by nobody yet.
pub fn dialog(app: &UserApp, spec: &DialogSpec, landscape: bool) -> Widget {
    let row = &app.session.row;
    let built = |widgets: &[WidgetSpec]| -> Vec<Widget> {
        widgets.iter().flat_map(|widget| build(app, widget, row, landscape)).collect()
    };
    let (title, content) = (app.fill(&spec.title, row), built(&spec.content));
    match spec.shape {
        DialogShape::Bare => alert::bare_dialog(&title, content),
        DialogShape::Popup => alert::popup(MENU_DP, content),
        DialogShape::Alert => Alert {
            title,
            message: app.fill(&spec.message, row),
            list: built(&spec.list),
            custom: content,
            answers: spec.answers.iter().map(|a| (app.fill(&a.text, row), Key::of(a.key))).collect(),
        }
        .widget(),
    }
}

/// Returns the open drop-down, below the closed one.
pub fn menu(app: &UserApp, spec: &WidgetSpec) -> Widget {
    let value = spec.value.as_ref().and_then(|name| app.values.get(name)).map(Scalar::shown);
    let rows = spec.options.iter().zip(0u32..).map(|(option, index)| {
        Widget::new("android.widget.CheckedTextView")
            .id("android", "text1")
            .text(option.clone())
            .appearance(Appearance::Body)
            .size(Size::Fill, Size::Dp(48))
            .checked(value.as_ref() == Some(option))
            .on_tap(option_key(index))
    });
    let mut menu = alert::popup(MENU_DP, [Widget::new("android.widget.ListView").children(rows)]);
    menu.anchor = Some(Key::of(spec.key));
    menu
}
