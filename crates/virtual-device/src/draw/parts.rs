//! Smaller parts of the picture.

use super::canvas::Colour;
use super::{Painter, text};
use crate::app::geometry::Rect;
use crate::app::widget::Widget;

const TOAST_FILL: Colour = [0x32, 0x32, 0x38];
const TOAST_INK: Colour = [0xf4, 0xf4, 0xf6];

impl Painter<'_> {
    pub(super) fn check(&mut self, widget: &Widget, text: &str, radius: i32) {
        let p = self.palette;
        let b = widget.bounds;
        let side = self.dp(20);
        let top = b.top + (b.height() - side) / 2;
        let mark = Rect::new(b.left, top, b.left + side, top + side);
        self.canvas.outline(mark, radius, self.dp(2), p.accent);
        if widget.flags.checked {
            self.canvas.fill(mark.inset(self.dp(5)), radius / 2, p.accent);
        }
        let beside = Rect { left: mark.right + self.dp(12), ..b };
        self.label(beside, text, 16, p.ink);
    }

    pub(super) fn tab(&mut self, widget: &Widget, text: &str) {
        let p = self.palette;
        let b = widget.bounds;
        let on = widget.flags.selected || widget.flags.checked;
        self.centred(b, text, 14, if on { p.accent } else { p.faint });
        if on {
            self.canvas.fill(Rect { top: b.bottom - self.dp(3), ..b }, 0, p.accent);
        }
    }

    /// Draws an icon: an arrow for the up button, else the first letter of the description.
    pub(super) fn icon_button(&mut self, widget: &Widget) {
        let sign = match widget.description.as_str() {
            "Navigate up" => "<".to_owned(),
            other => other.chars().take(1).collect(),
        };
        self.centred(widget.bounds, &sign, 20, self.palette.ink);
    }

    /// Draws a slider. The thumb moves between insets of a third of the height, as touches are read.
    pub(super) fn slider(&mut self, widget: &Widget, fraction: f32, mirrored: bool) {
        let p = self.palette;
        let b = widget.bounds;
        let inset = b.height() / 3;
        let middle = (b.top + b.bottom) / 2;
        let half = self.dp(2);
        let track = Rect::new(b.left + inset, middle - half, b.right - inset, middle + half);
        let ink = if widget.flags.disabled { p.faint } else { p.accent };
        self.canvas.fill(track, half, p.line);
        let way = (track.width() as f32 * fraction.clamp(0.0, 1.0)) as i32;
        let (at, filled) = if mirrored {
            (track.right - way, Rect { left: track.right - way, ..track })
        } else {
            (track.left + way, Rect { right: track.left + way, ..track })
        };
        self.canvas.fill(filled, half, ink);
        let radius = self.dp(10);
        self.canvas.fill(Rect::new(at - radius, middle - radius, at + radius, middle + radius), radius, ink);
    }

    pub(super) fn slider_up(&mut self, bounds: Rect, fraction: f32) {
        let p = self.palette;
        let inset = bounds.width() / 3;
        let middle = (bounds.left + bounds.right) / 2;
        let half = self.dp(2);
        let track = Rect::new(middle - half, bounds.top + inset, middle + half, bounds.bottom - inset);
        self.canvas.fill(track, half, p.line);
        let at = track.bottom - (track.height() as f32 * fraction.clamp(0.0, 1.0)) as i32;
        self.canvas.fill(Rect { top: at, ..track }, half, p.accent);
        let radius = self.dp(10);
        let thumb = Rect::new(middle - radius, at - radius, middle + radius, at + radius);
        self.canvas.fill(thumb, radius, p.accent);
    }

    /// Draws a toast, which lies over everything and is in no tree.
    pub(super) fn toast(&mut self, text: &str) {
        self.canvas.clip = self.screen.rect();
        let width = text::width(text, self.dp(14)) + self.dp(48);
        let left = (self.screen.width - width) / 2;
        let bottom = self.screen.height - self.dp(72);
        let pill = Rect::new(left, bottom - self.dp(48), left + width, bottom);
        self.canvas.fill(pill, self.dp(24), TOAST_FILL);
        self.centred(pill, text, 14, TOAST_INK);
    }
}
