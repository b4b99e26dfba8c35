//! Pictures of a screen, as a device gives them.

use crate::screen::geometry::{Rect, Size};

/// Eight bits each of red, green, blue and alpha, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub size: Size,
    pub rgba: Vec<u8>,
}

/// Raw where the device has it raw, since encoding costs a phone more than sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    Raw(Pixels),
    Png(Vec<u8>),
}

/// A picture of the whole screen that the device has made smaller by itself, as a JPEG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallPicture {
    /// Of the screen.
    pub screen: Size,
    /// Of the picture.
    pub size: Size,
    pub jpeg: Vec<u8>,
}

/// Cells of a print in each direction, and samples of a cell in each direction.
const CELLS: u32 = 32;
const SAMPLES: u32 = 8;
/// The least difference in brightness of a cell that counts, of 255: less is noise of a codec.
const DIFFERENCE_MIN: u8 = 4;
/// A bar of the system takes at most one part in so many of the screen's height.
const BAR_PART: i32 = 12;

/// A small summary of a part of a picture, to tell whether another one shows something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicturePrint {
    brightness: Vec<u8>,
}

impl PicturePrint {
    /// `None` for an empty part, and for an encoded picture.
    pub fn new(picture: &Picture, part: Rect) -> Option<PicturePrint> {
        let Picture::Raw(pixels) = picture else { return None };
        let part = part.intersection(pixels.size.rect())?;
        let rows = pixels.rgba.chunks_exact(pixels.size.width as usize * 4);
        let rows: Vec<&[u8]> = rows.take(pixels.size.height as usize).collect();
        let steps = i64::from(CELLS * SAMPLES);
        let at = |start: i32, length: i32, step: u32| {
            (i64::from(start) + i64::from(length) * i64::from(step) / steps) as usize
        };
        let brightness_at = |x: u32, y: u32| {
            let row = rows.get(at(part.top, part.height(), y))?;
            let rgb = row.get(at(part.left, part.width(), x) * 4..)?.get(..3)?;
            Some(rgb.iter().map(|part| u32::from(*part)).sum::<u32>() / 3)
        };
        let mut sums = vec![0_u32; (CELLS * CELLS) as usize];
        for y in 0..CELLS * SAMPLES {
            for x in 0..CELLS * SAMPLES {
                sums[(y / SAMPLES * CELLS + x / SAMPLES) as usize] += brightness_at(x, y)?;
            }
        }
        let mean = |sum: u32| (sum / (SAMPLES * SAMPLES)) as u8;
        Some(PicturePrint { brightness: sums.into_iter().map(mean).collect() })
    }

    pub fn differs(&self, other: &PicturePrint) -> bool {
        let mut pairs = self.brightness.iter().zip(&other.brightness);
        self.brightness.len() != other.brightness.len()
            || pairs.any(|(one, other)| one.abs_diff(*other) >= DIFFERENCE_MIN)
    }

    /// True if nothing can be seen on it: a window that may not be photographed is black, except for the bars of the
    /// system at both ends.
    pub fn is_black(picture: &Picture) -> bool {
        let Picture::Raw(pixels) = picture else { return false };
        let Size { width, height } = pixels.size;
        let bars = height as i32 / BAR_PART;
        let between = Rect::new(0, bars, width as i32, height as i32 - bars);
        let print = PicturePrint::new(picture, between);
        print.is_some_and(|print| print.brightness.iter().all(|cell| *cell < DIFFERENCE_MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(dot: Option<(usize, usize)>) -> Picture {
        let size = Size { width: 200, height: 400 };
        let mut rgba = vec![90; 200 * 400 * 4];
        if let Some((x, y)) = dot {
            for row in y..y + 12 {
                rgba[(row * 200 + x) * 4..(row * 200 + x + 12) * 4].fill(240);
            }
        }
        Picture::Raw(Pixels { size, rgba })
    }

    #[test]
    fn a_small_change_inside_the_part_is_seen_and_one_outside_is_not() {
        // F13
        let part = Rect::new(0, 100, 200, 400);
        let print = |dot| PicturePrint::new(&picture(dot), part).expect("a print");
        assert!(!print(None).differs(&print(None)) && !PicturePrint::is_black(&picture(None)));
        assert!(print(None).differs(&print(Some((50, 200)))));
        assert!(!print(None).differs(&print(Some((50, 40)))), "a clock in the status bar");
        assert!(print(Some((50, 200))).differs(&print(Some((90, 200)))));
    }

    #[test]
    fn a_picture_of_a_secret_window_is_black_below_the_status_bar() {
        let size = Size { width: 200, height: 400 };
        let mut rgba = vec![0; 200 * 400 * 4];
        rgba[..200 * 10 * 4].fill(255);
        assert!(PicturePrint::is_black(&Picture::Raw(Pixels { size, rgba: rgba.clone() })));
        rgba[200 * 200 * 4..200 * 220 * 4].fill(255);
        assert!(!PicturePrint::is_black(&Picture::Raw(Pixels { size, rgba })));
    }

    #[test]
    fn broken_pictures_have_no_print() {
        let whole = Rect::new(0, 0, 200, 400);
        let size = Size { width: 200, height: 400 };
        let short = Picture::Raw(Pixels { size, rgba: vec![0; 100] });
        assert_eq!(PicturePrint::new(&short, whole), None);
        assert_eq!(PicturePrint::new(&Picture::Png(vec![1, 2, 3]), whole), None);
        assert_eq!(PicturePrint::new(&picture(None), Rect::new(300, 0, 400, 10)), None);
        let empty = Picture::Raw(Pixels { size: Size { width: 0, height: 0 }, rgba: Vec::new() });
        assert_eq!(PicturePrint::new(&empty, whole), None);
    }
}
