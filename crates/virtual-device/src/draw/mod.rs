//! Draws the pixels from the same widgets that the dump describes.

pub mod canvas;
mod parts;
mod text;

use bytes::Bytes;

use crate::app::geometry::{Rect, Screen};
use crate::app::keyboard::Board;
use crate::app::widget::{Appearance, Widget};
use crate::app::xml::shown_text;
use crate::clock::Civil;
use canvas::{Canvas, Colour};

/// Everything that is visible at one moment.
pub struct Scene {
    pub screen: Screen,
    pub dark: bool,
    pub activity: Widget,
    /// Screenshots show the activity black.
    pub secure: bool,
    pub dialog: Option<Widget>,
    pub keyboard: Option<Board>,
    pub toast: Option<String>,
    pub wall_ms: u64,
}

#[derive(Debug)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// Returns a part of the picture, as far as it is inside.
    pub fn cut(&self, left: u32, top: u32, width: u32, height: u32) -> Pixels {
        let (right, bottom) =
            (left.saturating_add(width).min(self.width), top.saturating_add(height).min(self.height));
        let (left, top) = (left.min(right), top.min(bottom));
        let row = |y: u32| {
            let at = |x: u32| (y as usize * self.width as usize + x as usize) * 4;
            self.rgba.get(at(left)..at(right)).unwrap_or_default()
        };
        let rgba = (top..bottom).flat_map(row).copied().collect();
        Pixels { width: right - left, height: bottom - top, rgba }
    }
}

struct Palette {
    page: Colour,
    card: Colour,
    ink: Colour,
    faint: Colour,
    line: Colour,
    accent: Colour,
    on_accent: Colour,
    error: Colour,
}

const LIGHT: Palette = Palette {
    page: [0xfa, 0xfa, 0xfc],
    card: [0xff, 0xff, 0xff],
    ink: [0x1b, 0x1b, 0x1f],
    faint: [0x74, 0x74, 0x7c],
    line: [0xd0, 0xd0, 0xd8],
    accent: [0x2f, 0x5b, 0xb7],
    on_accent: [0xff, 0xff, 0xff],
    error: [0xb3, 0x26, 0x1e],
};

const DARK: Palette = Palette {
    page: [0x12, 0x13, 0x17],
    card: [0x24, 0x26, 0x2c],
    ink: [0xe4, 0xe4, 0xea],
    faint: [0x9a, 0x9a, 0xa4],
    line: [0x44, 0x46, 0x50],
    accent: [0xac, 0xc7, 0xff],
    on_accent: [0x10, 0x2f, 0x60],
    error: [0xf2, 0xb8, 0xb5],
};

pub fn draw(scene: &Scene) -> Pixels {
    let palette = if scene.dark { &DARK } else { &LIGHT };
    let (width, height) = (scene.screen.width.max(1) as u32, scene.screen.height.max(1) as u32);
    let mut canvas = Canvas::new(width, height, palette.page);
    let mut painter = Painter { canvas: &mut canvas, palette, screen: &scene.screen };
    if scene.secure {
        painter.canvas.clip = scene.screen.rect();
        painter.canvas.fill(scene.screen.rect(), 0, [0, 0, 0]);
    } else {
        painter.tree(&scene.activity);
    }
    if let Some(dialog) = &scene.dialog {
        if !matches!(dialog.appearance, Appearance::Menu | Appearance::Page) {
            painter.canvas.shade();
        }
        painter.tree(dialog);
    }
    if let Some(board) = scene.keyboard {
        painter.keyboard(board);
    }
    if let Some(text) = &scene.toast {
        painter.toast(text);
    }
    painter.status_bar(scene.wall_ms);
    Pixels { width, height, rgba: canvas.into_rgba() }
}

/// Encodes a PNG with light compression: phones take far longer to compress than to capture.
pub fn encode(pixels: &Pixels) -> Bytes {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, pixels.width, pixels.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels.rgba));
    // Writing to memory fails only for impossible sizes; then there is no picture.
    if written.is_err() {
        out.clear();
    }
    Bytes::from(out)
}

struct Painter<'a> {
    canvas: &'a mut Canvas,
    palette: &'a Palette,
    screen: &'a Screen,
}

impl Painter<'_> {
    fn tree(&mut self, widget: &Widget) {
        self.canvas.clip = widget.visible;
        self.widget(widget);
        for child in widget.drawn() {
            self.tree(child);
        }
    }

    fn dp(&self, dp: i32) -> i32 {
        self.screen.px(dp)
    }

    fn widget(&mut self, widget: &Widget) {
        let p = self.palette;
        let bounds = widget.bounds;
        let text = shown_text(widget);
        let ink = if widget.flags.disabled { p.faint } else { p.ink };
        match widget.appearance {
            Appearance::Plain => {}
            Appearance::Page => self.canvas.fill(bounds, 0, p.page),
            Appearance::Card => self.canvas.fill(bounds, self.dp(16), p.card),
            Appearance::Row => {
                let line = Rect { top: bounds.bottom - self.dp(1).max(1), ..bounds };
                self.canvas.fill(line, 0, p.line);
            }
            Appearance::Heading => self.label(bounds, &text, 24, p.ink),
            Appearance::Body => self.label(bounds, &text, 16, ink),
            Appearance::Error => self.label(bounds, &text, 16, p.error),
            Appearance::Field => self.field(widget, &text),
            Appearance::Button => {
                let fill = if widget.flags.disabled { p.line } else { p.accent };
                self.canvas.fill(bounds, bounds.height() / 2, fill);
                self.centred(bounds, &text, 16, if widget.flags.disabled { p.faint } else { p.on_accent });
            }
            Appearance::TextButton if text.is_empty() => self.icon_button(widget),
            Appearance::TextButton => self.centred(bounds, &text, 16, p.accent),
            Appearance::Switch => self.switch(widget, &text),
            Appearance::Slider(fraction) => self.slider(widget, fraction, false),
            Appearance::SliderLeft(fraction) => self.slider(widget, fraction, true),
            Appearance::SliderUp(fraction) => self.slider_up(bounds, fraction),
            Appearance::Caption => self.label(bounds, &text, 14, p.faint),
            Appearance::Picture => self.canvas.fill(bounds, self.dp(6), p.line),
            Appearance::CheckBox => self.check(widget, &text, self.dp(3)),
            Appearance::Radio => self.check(widget, &text, self.dp(10)),
            Appearance::Tab => self.tab(widget, &text),
            Appearance::DropDown => self.canvas.outline(bounds, self.dp(6), self.dp(1), p.line),
            Appearance::Menu => {
                self.canvas.fill(bounds, self.dp(4), p.card);
                self.canvas.outline(bounds, self.dp(4), self.dp(1), p.line);
            }
            Appearance::Cover => self.canvas.fill(bounds, self.dp(8), p.line),
            Appearance::Spinner => self.spinner(bounds),
            Appearance::Icon => self.icon(bounds, &text),
        }
        if widget.flags.focused && widget.appearance != Appearance::Field {
            self.canvas.outline(bounds, self.dp(4), self.dp(2), p.accent);
        }
    }

    fn label(&mut self, bounds: Rect, text: &str, size_dp: i32, colour: Colour) {
        let size = self.dp(size_dp);
        self.canvas.text(bounds.left, bounds.top + (bounds.height() - size) / 2, size, text, colour);
    }

    fn centred(&mut self, bounds: Rect, text: &str, size_dp: i32, colour: Colour) {
        let size = self.dp(size_dp);
        let left = bounds.left + (bounds.width() - text::width(text, size)) / 2;
        self.canvas.text(left, bounds.top + (bounds.height() - size) / 2, size, text, colour);
    }

    fn field(&mut self, widget: &Widget, text: &str) {
        let p = self.palette;
        let (line, thick) = if widget.flags.focused { (p.accent, 2) } else { (p.line, 1) };
        self.canvas.outline(widget.bounds, self.dp(6), self.dp(thick), line);
        let colour = if widget.text.is_empty() { p.faint } else { p.ink };
        let inner = widget.bounds.inset(self.dp(12));
        self.label(inner, text, 16, colour);
        if widget.flags.focused {
            let shown = if widget.text.is_empty() { "" } else { text };
            let left = inner.left + text::width(shown, self.dp(16)) + self.dp(1);
            self.canvas.fill(Rect::new(left, inner.top, left + self.dp(2), inner.bottom), 0, p.accent);
        }
    }

    fn switch(&mut self, widget: &Widget, text: &str) {
        let p = self.palette;
        let b = widget.bounds;
        self.label(b, text, 16, p.ink);
        let (width, height) = (self.dp(44), self.dp(24));
        let top = b.top + (b.height() - height) / 2;
        let track = Rect::new(b.right - width, top, b.right, top + height);
        let on = widget.flags.checked;
        self.canvas.fill(track, height / 2, if on { p.accent } else { p.line });
        let left = if on { track.right - height } else { track.left };
        let thumb = Rect::new(left, track.top, left + height, track.bottom).inset(self.dp(3));
        self.canvas.fill(thumb, thumb.height() / 2, if on { p.on_accent } else { p.faint });
    }

    fn spinner(&mut self, bounds: Rect) {
        let side = bounds.height();
        let left = bounds.left + (bounds.width() - side) / 2;
        let ring = Rect::new(left, bounds.top, left + side, bounds.bottom).inset(self.dp(6));
        self.canvas.outline(ring, ring.height() / 2, self.dp(4), self.palette.accent);
    }

    fn icon(&mut self, bounds: Rect, text: &str) {
        let side = self.dp(64);
        let left = bounds.left + (bounds.width() - side) / 2;
        let square = Rect::new(left, bounds.top, left + side, bounds.top + side);
        self.canvas.fill(square, self.dp(16), self.palette.accent);
        let initial: String = text.chars().take(1).collect();
        self.centred(square, &initial, 32, self.palette.on_accent);
        let label = Rect { top: square.bottom, ..bounds };
        self.centred(label, text, 14, self.palette.ink);
    }

    fn keyboard(&mut self, board: Board) {
        let p = self.palette;
        self.canvas.clip = self.screen.rect();
        self.canvas.fill(self.screen.keyboard(), 0, p.line);
        for (cap, rect) in board.caps(self.screen) {
            self.canvas.fill(rect.inset(self.dp(2)), self.dp(6), p.card);
            self.centred(rect, &cap.label(), 18, p.ink);
        }
    }

    /// Draws the status bar, which belongs to the system and is in no dump of an app's window.
    fn status_bar(&mut self, wall_ms: u64) {
        let t = Civil::from_ms(wall_ms);
        self.canvas.clip = self.screen.rect();
        let bar = Rect::new(self.dp(16), 0, self.screen.width, self.dp(24));
        self.label(bar, &format!("{:02}:{:02}", t.hour, t.minute), 14, self.palette.ink);
        let battery = Rect::new(self.screen.width - self.dp(64), 0, self.screen.width, self.dp(24));
        self.label(battery, "87%", 14, self.palette.ink);
    }
}
