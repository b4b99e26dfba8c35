//! Sliders, from plain to cruel.

use super::{Gallery, PACKAGE};
use crate::app::parts::{caption, page, row};
use crate::app::widget::{Key, Look, Size, Widget};

/// How a place on the track becomes a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    /// Only whole steps of this size.
    Stepped(f32),
    /// The square of the way: fine below, coarse above.
    Square,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Right,
    Left,
    Up,
}

/// Where a reader can find the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
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
    way: Way,
    shown: Shown,
    enabled: bool,
}

const fn spec(name: &'static str, title: &'static str, max: f32, start: f32) -> Spec {
    let (scale, way, shown) = (Scale::Linear, Way::Right, Shown::Text);
    Spec { name, title, min: 0.0, max, start, scale, way, shown, enabled: true }
}

pub const ALL: [Spec; 9] = [
    spec("brightness", "Brightness", 100.0, 40.0),
    Spec { scale: Scale::Stepped(25.0), ..spec("quality", "Quality", 100.0, 50.0) },
    Spec { min: 20.0, scale: Scale::Square, ..spec("frequency", "Frequency", 20_000.0, 1000.0) },
    Spec { way: Way::Left, ..spec("balance", "Balance (right to left)", 100.0, 30.0) },
    Spec { shown: Shown::Compose, ..spec("opacity", "Opacity", 100.0, 75.0) },
    Spec { shown: Shown::Label, ..spec("zoom", "Zoom", 10.0, 2.0) },
    Spec { shown: Shown::Nowhere, ..spec("warmth", "Warmth", 100.0, 60.0) },
    Spec { enabled: false, ..spec("locked", "Locked", 100.0, 10.0) },
    Spec { way: Way::Up, ..spec("level", "Level", 100.0, 20.0) },
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
        let look = match self.way {
            Way::Right => Look::Slider(fraction),
            Way::Left => Look::SliderLeft(fraction),
            Way::Up => Look::SliderUp(fraction),
        };
        let class = if self.shown == Shown::Compose { "android.view.View" } else { "android.widget.SeekBar" };
        let mut bar = Widget::new(class).look(look).enabled(self.enabled);
        bar = if self.way == Way::Up {
            bar.size(Size::Dp(48), Size::Dp(200))
        } else {
            bar.size(Size::Fill, Size::Dp(48))
        };
        bar = match self.shown {
            Shown::Text => bar.id(PACKAGE, self.name).text(format!("{value:.1}")),
            Shown::Compose => bar.description(format!("{} {:.0} percent", self.title, value)),
            Shown::Label | Shown::Nowhere => bar.id(PACKAGE, self.name),
        };
        bar.key = Some(Key::of(self.name));
        bar.flags.focusable = true;
        bar
    }
}

pub fn view(gallery: &Gallery) -> Widget {
    let mut body = Vec::new();
    for spec in ALL {
        let bar = spec.widget(gallery);
        body.push(caption(spec.title));
        if spec.shown == Shown::Label {
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
