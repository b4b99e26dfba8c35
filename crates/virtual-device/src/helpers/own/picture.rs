//! Pictures as small as the client wants them.

use mdm_wire::helper::{PictureFormat, ScreenPicture};

use crate::draw::{self, Pixels};
use crate::phone::Phone;
use crate::shell::commands::pixels;

/// Takes a picture that fits into a size, of which 0 means any; quality 0 makes a PNG.
pub fn take(phone: &Phone, width_max: u16, height_max: u16, quality: u8) -> Option<ScreenPicture> {
    let whole = pixels(phone);
    let (width, height) = (u16::try_from(whole.width).ok()?, u16::try_from(whole.height).ok()?);
    let scaled = scaled(whole, width_max, height_max);
    let (format, bytes) = match quality {
        0 => (PictureFormat::Png, draw::encode(&scaled).to_vec()),
        quality => (PictureFormat::Jpeg, jpeg(&scaled, quality)?),
    };
    Some(ScreenPicture { width, height, format, bytes })
}

fn jpeg(pixels: &Pixels, quality: u8) -> Option<Vec<u8>> {
    let (width, height) = (u16::try_from(pixels.width).ok()?, u16::try_from(pixels.height).ok()?);
    let mut out = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut out, quality.min(100));
    encoder.encode(&pixels.rgba, width, height, jpeg_encoder::ColorType::Rgba).ok()?;
    Some(out)
}

/// Makes a picture smaller by the nearest pixel, and never larger.
fn scaled(whole: Pixels, width_max: u16, height_max: u16) -> Pixels {
    let limit = |max: u16, size: u32| if max == 0 { size } else { u32::from(max).min(size) };
    let (width_max, height_max) = (limit(width_max, whole.width), limit(height_max, whole.height));
    // Which side is the tighter one, without fractions.
    let by_width =
        u64::from(width_max) * u64::from(whole.height) <= u64::from(height_max) * u64::from(whole.width);
    let part = |size: u32, num: u32, den: u32| {
        let den = u64::from(den.max(1));
        (((u64::from(size) * u64::from(num) + den / 2) / den) as u32).max(1)
    };
    let (width, height) = match by_width {
        true => (width_max, part(whole.height, width_max, whole.width)),
        false => (part(whole.width, height_max, whole.height), height_max),
    };
    if (width, height) == (whole.width, whole.height) {
        return whole;
    }
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    for y in 0..height {
        let from_y = u64::from(y) * u64::from(whole.height) / u64::from(height);
        for x in 0..width {
            let from_x = u64::from(x) * u64::from(whole.width) / u64::from(width);
            let at = (from_y * u64::from(whole.width) + from_x) as usize * 4;
            rgba.extend_from_slice(whole.rgba.get(at..at + 4).unwrap_or(&[0; 4]));
        }
    }
    Pixels { width, height, rgba }
}
