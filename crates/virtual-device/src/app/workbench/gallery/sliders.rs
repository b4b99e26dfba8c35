//! Sliders, from easy to hard.

use super::{Gallery, PACKAGE};
use crate::app::parts::{caption, page, row};
use crate::app::widget::{Appearance, Key, Size, Widget};

/// How a position on the track becomes a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    /// Only whole steps of this size.
    Stepped(f32),
    /// The square of the position: fine below, coarse above.
    Square,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Right,
    Left,
    Up,
}

/// Where a reader can find the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueShown {
    /// In the bar's own text.
    Text,
    /// In the bar's description, and the bar has no class of its own.
    Compose,
    /// In a label beside the bar.
    Label,
    Nowhere,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    pub name: &'static str,
    title: &'static str,
    min: f32,
    max: f32,
    start: f32,
    scale: Scale,
    direction: Direction,
    value_shown: ValueShown,
    enabled: bool,
}

const fn spec(name: &'static str, title: &'static str, max: f32, start: f32) -> Spec {
    let (scale, direction, value_shown) = (Scale::Linear, Direction::Right, ValueShown::Text);
    Spec { name, title, min: 0.0, max, start, scale, direction, value_shown, enabled: true }
}

/// A bar has whole steps, so one with fewer cannot be set to the value that a person wants.
const WHOLE_STEPS_MIN: f32 = 20.0;

pub const ALL: [Spec; 9] = [
    spec("brightness", "Brightness", 100.0, 40.0),
    Spec { scale: Scale::Stepped(25.0), ..spec("quality", "Quality", 100.0, 50.0) },
    Spec { min: 20.0, scale: Scale::Square, ..spec("frequency", "Frequency", 20_000.0, 1000.0) },
    Spec { direction: Direction::Left, ..spec("balance", "Balance (right to left)", 100.0, 30.0) },
    Spec { value_shown: ValueShown::Compose, ..spec("opacity", "Opacity", 100.0, 75.0) },
    Spec { value_shown: ValueShown::Label, ..spec("zoom", "Zoom", 10.0, 2.0) },
    Spec { value_shown: ValueShown::Nowhere, ..spec("warmth", "Warmth", 100.0, 60.0) },
    Spec { enabled: false, ..spec("locked", "Locked", 100.0, 10.0) },
    Spec { direction: Direction::Up, ..spec("level", "Level", 100.0, 20.0) },
];

impl Spec {
    pub fn value(&self, gallery: &Gallery) -> f32 {
        gallery.numbers.get(self.name).copied().unwrap_or(self.start)
    }

    fn fraction(&self, value: f32) -> f32 {
        let part = (value - self.min) / (self.max - self.min);
        if self.scale == Scale::Square { part.max(0.0).sqrt() } else { part }
    }

    fn at(&self, fraction: f32) -> f32 {
        let part = fraction.clamp(0.0, 1.0);
        let range = self.max - self.min;
        match self.scale {
            Scale::Linear => self.min + (part * range * 10.0).round() / 10.0,
            Scale::Stepped(step) => self.min + (part * range / step).round() * step,
            Scale::Square => (self.min + part * part * range).round(),
        }
    }

    fn widget(&self, gallery: &Gallery) -> Widget {
        let value = self.value(gallery);
        let fraction = self.fraction(value);
        let look = match self.direction {
            Direction::Right => Appearance::Slider(fraction),
            Direction::Left => Appearance::SliderLeft(fraction),
            Direction::Up => Appearance::SliderUp(fraction),
        };
        let class = if self.value_shown == ValueShown::Compose {
            "android.view.View"
        } else {
            "android.widget.SeekBar"
        };
        let mut bar = Widget::new(class).appearance(look).enabled(self.enabled);
        bar = if self.direction == Direction::Up {
            bar.size(Size::Dp(48), Size::Dp(200))
        } else {
            bar.size(Size::Fill, Size::Dp(48))
        };
        bar = match self.value_shown {
            ValueShown::Text => bar.id(PACKAGE, self.name).text(format!("{value:.1}")),
            ValueShown::Compose => bar.description(format!("{} {:.0} percent", self.title, value)),
            ValueShown::Label | ValueShown::Nowhere => bar.id(PACKAGE, self.name),
        };
        bar.key = Some(Key::of(self.name));
        // Where the app calculates its value, or shows parts of one, the bar counts from 0 to 100 all the same.
        let counts = self.scale != Scale::Square && self.max - self.min >= WHOLE_STEPS_MIN;
        bar.range = counts.then_some((self.min, self.max));
        bar.flags.focusable = true;
        bar
    }
}

pub fn view(gallery: &Gallery) -> Widget {
    let mut body = Vec::new();
    for spec in ALL {
        let bar = spec.widget(gallery);
        body.push(caption(spec.title));
        if spec.value_shown == ValueShown::Label {
            let value = caption(format!("{:.1}x", spec.value(gallery))).size(Size::Dp(56), Size::Dp(24));
            body.push(row(48, [bar, value.id(PACKAGE, "zoom_value")]));
        } else {
            body.push(bar);
        }
    }
    page(PACKAGE, "Sliders", body)
}

pub fn slide(gallery: &mut Gallery, key: Key, fraction: f32) {
    if let Some(spec) = ALL.iter().find(|spec| spec.name == key.name) {
        gallery.numbers.insert(spec.name, spec.at(fraction));
    }
}
