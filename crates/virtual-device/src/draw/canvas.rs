//! A clipped drawing surface.

use tiny_skia::{FillRule, Mask, Paint, PathBuilder, Pixmap, Stroke, Transform};

use super::text;
use crate::app::geometry::Rect;

pub type Colour = [u8; 3];

pub struct Canvas {
    pixmap: Option<Pixmap>,
    /// Nothing is drawn outside of it.
    pub clip: Rect,
}

impl Canvas {
    pub fn new(width: u32, height: u32, colour: Colour) -> Canvas {
        let mut pixmap = Pixmap::new(width, height);
        if let Some(pixmap) = &mut pixmap {
            pixmap.fill(tiny_skia::Color::from_rgba8(colour[0], colour[1], colour[2], 255));
        }
        Canvas { pixmap, clip: Rect::new(0, 0, width as i32, height as i32) }
    }

    pub fn into_rgba(self) -> Vec<u8> {
        self.pixmap.map(Pixmap::take).unwrap_or_default()
    }

    pub fn fill(&mut self, rect: Rect, radius: i32, colour: Colour) {
        if radius <= 0 {
            return self.fill_square(rect, colour);
        }
        let Some(path) = rounded(rect, radius) else { return };
        let mask = self.mask(rect);
        if let Some(pixmap) = &mut self.pixmap {
            pixmap.fill_path(&path, &paint(colour), FillRule::Winding, Transform::identity(), mask.as_ref());
        }
    }

    /// Fills whole rows at once: most of the screen is plain rectangles.
    fn fill_square(&mut self, rect: Rect, colour: Colour) {
        let Some(pixmap) = &mut self.pixmap else { return };
        let (width, height) = (pixmap.width() as i32, pixmap.height() as i32);
        let r = rect.intersect(&self.clip).intersect(&Rect::new(0, 0, width, height));
        if r.is_empty() {
            return;
        }
        let pixel = [colour[0], colour[1], colour[2], 255];
        let row_bytes = width as usize * 4;
        let (from, to) = (r.left as usize * 4, r.right as usize * 4);
        for row in pixmap.data_mut().chunks_exact_mut(row_bytes).take(r.bottom as usize).skip(r.top as usize)
        {
            for target in row[from..to].chunks_exact_mut(4) {
                target.copy_from_slice(&pixel);
            }
        }
    }

    pub fn outline(&mut self, rect: Rect, radius: i32, thick: i32, colour: Colour) {
        let Some(path) = rounded(rect.inset(thick / 2), radius) else { return };
        let mask = self.mask(rect);
        let stroke = Stroke { width: thick.max(1) as f32, ..Stroke::default() };
        if let Some(pixmap) = &mut self.pixmap {
            pixmap.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), mask.as_ref());
        }
    }

    pub fn text(&mut self, left: i32, top: i32, size: i32, text: &str, colour: Colour) {
        let clip = self.clip;
        let Some(pixmap) = &mut self.pixmap else { return };
        let (width, height) = (pixmap.width() as i32, pixmap.height() as i32);
        let clip = clip.intersect(&Rect::new(0, 0, width, height));
        let data = pixmap.data_mut();
        text::draw(left, top, size, text, &mut |x, y, coverage| {
            if clip.contains(x, y) {
                let at = (y as usize * width as usize + x as usize) * 4;
                blend(&mut data[at..at + 3], colour, coverage);
            }
        });
    }

    /// Darkens everything, as behind a dialog.
    pub fn shade(&mut self) {
        if let Some(pixmap) = &mut self.pixmap {
            for pixel in pixmap.data_mut().chunks_exact_mut(4) {
                for channel in &mut pixel[..3] {
                    *channel /= 2;
                }
            }
        }
    }

    /// Returns a mask for shapes that cross the clip's edge. It is as large as the screen, so others go without.
    fn mask(&self, rect: Rect) -> Option<Mask> {
        if rect.intersect(&self.clip) == rect {
            return None;
        }
        let pixmap = self.pixmap.as_ref()?;
        let mut mask = Mask::new(pixmap.width(), pixmap.height())?;
        if let Some(path) = rounded(self.clip, 0) {
            mask.fill_path(&path, FillRule::Winding, false, Transform::identity());
        }
        Some(mask)
    }
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(colour[0], colour[1], colour[2], 255);
    paint
}

fn blend(pixel: &mut [u8], colour: Colour, coverage: f32) {
    for (channel, ink) in pixel.iter_mut().zip(colour) {
        let old = f32::from(*channel);
        *channel = (old + (f32::from(ink) - old) * coverage.clamp(0.0, 1.0)) as u8;
    }
}

fn rounded(rect: Rect, radius: i32) -> Option<tiny_skia::Path> {
    if rect.is_empty() {
        return None;
    }
    let (l, t, r, b) = (rect.left as f32, rect.top as f32, rect.right as f32, rect.bottom as f32);
    if radius <= 0 {
        return Some(PathBuilder::from_rect(tiny_skia::Rect::from_ltrb(l, t, r, b)?));
    }
    let q = radius.min(rect.width() / 2).min(rect.height() / 2) as f32;
    // How far the handles of a cubic lie from the corner of a quarter circle.
    let k = q * 0.4477;
    let mut path = PathBuilder::new();
    path.move_to(l + q, t);
    path.line_to(r - q, t);
    path.cubic_to(r - k, t, r, t + k, r, t + q);
    path.line_to(r, b - q);
    path.cubic_to(r, b - k, r - k, b, r - q, b);
    path.line_to(l + q, b);
    path.cubic_to(l + k, b, l, b - k, l, b - q);
    path.line_to(l, t + q);
    path.cubic_to(l, t + k, l + k, t, l + q, t);
    path.close();
    path.finish()
}
