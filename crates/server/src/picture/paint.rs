//! Boxes with short labels, and masks, painted on a picture.

use mdm_core::screen::geometry::{Rect, Size};

/// Colours that are told apart on light and dark screens.
const COLOURS: [[u8; 3]; 6] =
    [[220, 20, 60], [0, 102, 204], [0, 128, 0], [160, 32, 240], [204, 85, 0], [0, 128, 128]];
const WHITE: [u8; 3] = [255, 255, 255];
const MASK: [u8; 3] = [64, 64, 64];
const LINE: i32 = 2;
/// A glyph is three by five dots; each dot is this many pixels.
const DOT: i32 = 3;
const GLYPH_WIDTH: i32 = 3;
const GLYPH_HEIGHT: i32 = 5;

/// Rows of dots of `e` and of the digits, the leftmost dot first.
const GLYPHS: [(char, [u8; 5]); 11] = [
    ('0', [0b111, 0b101, 0b101, 0b101, 0b111]),
    ('1', [0b010, 0b110, 0b010, 0b010, 0b111]),
    ('2', [0b111, 0b001, 0b111, 0b100, 0b111]),
    ('3', [0b111, 0b001, 0b111, 0b001, 0b111]),
    ('4', [0b101, 0b101, 0b111, 0b001, 0b001]),
    ('5', [0b111, 0b100, 0b111, 0b001, 0b111]),
    ('6', [0b111, 0b100, 0b111, 0b101, 0b111]),
    ('7', [0b111, 0b001, 0b010, 0b010, 0b010]),
    ('8', [0b111, 0b101, 0b111, 0b101, 0b111]),
    ('9', [0b111, 0b101, 0b111, 0b001, 0b111]),
    ('e', [0b000, 0b111, 0b111, 0b100, 0b111]),
];

/// A picture that is painted on, four bytes a pixel.
pub struct Canvas<'a> {
    pub size: Size,
    pub rgba: &'a mut [u8],
}

impl Canvas<'_> {
    pub fn mask(&mut self, place: Rect) {
        self.fill(place, MASK);
    }

    /// A frame around the place, with the label in its corner.
    pub fn mark(&mut self, place: Rect, label: &str, number: usize) {
        let colour = COLOURS[number % COLOURS.len()];
        let Rect { left, top, right, bottom } = place;
        self.fill(Rect::new(left, top, right, top + LINE), colour);
        self.fill(Rect::new(left, bottom - LINE, right, bottom), colour);
        self.fill(Rect::new(left, top, left + LINE, bottom), colour);
        self.fill(Rect::new(right - LINE, top, right, bottom), colour);
        let width = label.chars().count() as i32 * (GLYPH_WIDTH + 1) * DOT + DOT;
        let height = (GLYPH_HEIGHT + 2) * DOT;
        self.fill(Rect::new(left, top, left + width, top + height), colour);
        for (at, letter) in label.chars().enumerate() {
            let x = left + DOT + at as i32 * (GLYPH_WIDTH + 1) * DOT;
            self.glyph(letter, x, top + DOT);
        }
    }

    fn glyph(&mut self, letter: char, left: i32, top: i32) {
        let Some((_, rows)) = GLYPHS.iter().find(|(known, _)| *known == letter) else { return };
        for (row, dots) in (0_i32..).zip(rows) {
            for column in (0..GLYPH_WIDTH).filter(|column| dots >> (GLYPH_WIDTH - 1 - column) & 1 == 1) {
                let (x, y) = (left + column * DOT, top + row * DOT);
                self.fill(Rect::new(x, y, x + DOT, y + DOT), WHITE);
            }
        }
    }

    /// What lies outside of the picture is not painted.
    fn fill(&mut self, part: Rect, [red, green, blue]: [u8; 3]) {
        let Some(part) = part.intersection(self.size.rect()) else { return };
        let width = self.size.width as usize;
        for y in part.top..part.bottom {
            let row = y as usize * width;
            let (from, to) = ((row + part.left as usize) * 4, (row + part.right as usize) * 4);
            let Some(pixels) = self.rgba.get_mut(from..to) else { return };
            pixels.chunks_exact_mut(4).for_each(|pixel| pixel.copy_from_slice(&[red, green, blue, 255]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rgba: &[u8], width: usize, x: usize, y: usize) -> [u8; 3] {
        let start = (y * width + x) * 4;
        [rgba[start], rgba[start + 1], rgba[start + 2]]
    }

    #[test]
    fn a_mark_has_a_frame_and_its_number_and_nothing_is_painted_outside() {
        let size = Size { width: 100, height: 80 };
        let mut rgba = vec![9; 100 * 80 * 4];
        let mut canvas = Canvas { size, rgba: &mut rgba };
        canvas.mark(Rect::new(10, 10, 90, 70), "e12", 0);
        canvas.mark(Rect::new(-50, -50, 500, 500), "e3", 1);
        canvas.mask(Rect::new(40, 40, 50, 50));
        assert_eq!(at(&rgba, 100, 89, 40), COLOURS[0], "the right side");
        assert_eq!(at(&rgba, 100, 70, 60), [9, 9, 9], "inside");
        assert_eq!(at(&rgba, 100, 45, 45), MASK);
        let white = rgba.chunks_exact(4).filter(|pixel| pixel[..3] == WHITE).count() as i32;
        let dots: u32 = "e12"
            .chars()
            .map(|c| {
                GLYPHS.iter().find(|(g, _)| *g == c).unwrap().1.iter().map(|r| r.count_ones()).sum::<u32>()
            })
            .sum();
        assert_eq!(white, dots as i32 * DOT * DOT, "the label in white");
    }
}
