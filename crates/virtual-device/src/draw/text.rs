//! Text in the one embedded font.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

static FONT: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../../assets/Cantarell-Regular.otf")).ok());

/// Characters of one label that are drawn.
const CHARS_MAX: usize = 500;

pub fn width(text: &str, size: i32) -> i32 {
    let Some(font) = FONT.as_ref() else { return 0 };
    let scaled = font.as_scaled(PxScale::from(size as f32));
    let advances = text.chars().take(CHARS_MAX).map(|c| scaled.h_advance(font.glyph_id(c)));
    advances.sum::<f32>().round() as i32
}

/// Calls `dot` with every pixel that the text covers and how much of it. A character that the font does not have
/// becomes a box.
pub fn draw(left: i32, top: i32, size: i32, text: &str, dot: &mut dyn FnMut(i32, i32, f32)) {
    let Some(font) = FONT.as_ref() else { return };
    let scale = PxScale::from(size as f32);
    let scaled = font.as_scaled(scale);
    let baseline = top as f32 + scaled.ascent();
    let mut x = left as f32;
    for c in text.chars().take(CHARS_MAX) {
        let id = font.glyph_id(c);
        if id.0 == 0 {
            box_for(x, top, size, dot);
            x += size as f32 * 0.6;
            continue;
        }
        let glyph = id.with_scale_and_position(scale, point(x, baseline));
        if let Some(outline) = font.outline_glyph(glyph) {
            let origin = outline.px_bounds().min;
            outline.draw(|dx, dy, coverage| {
                dot(origin.x as i32 + dx as i32, origin.y as i32 + dy as i32, coverage);
            });
        }
        x += scaled.h_advance(id);
    }
}

fn box_for(x: f32, top: i32, size: i32, dot: &mut dyn FnMut(i32, i32, f32)) {
    let left = x as i32 + size / 12;
    let right = x as i32 + size / 2;
    let (first, last) = (top + size / 8, top + size - size / 8);
    for y in first..=last {
        for x in left..=right {
            if y == first || y == last || x == left || x == right {
                dot(x, y, 1.0);
            }
        }
    }
}
