//! A screenshot that fits an agent's budget: one JPEG, scaled.

use fast_image_resize as fir;
use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::port::Pixels;
use mdm_core::screen::geometry::Size;

use crate::answer::Image;

const SIDE_DEFAULT: u32 = 1024;
const SIDES: std::ops::RangeInclusive<u32> = 100..=4096;
const QUALITY: u8 = 75;

pub struct Picture {
    pub size: Size,
    pub image: Image,
}

/// The longest side that the caller wants, checked.
pub fn side(wanted: Option<u32>) -> Result<u32, Failure> {
    let side = wanted.unwrap_or(SIDE_DEFAULT);
    if SIDES.contains(&side) {
        return Ok(side);
    }
    let message = format!("maxSize = {side} is not between {} and {}", SIDES.start(), SIDES.end());
    Err(Failure::new(ErrorCode::InvalidArgument, message, "1024 shows text well enough on most screens"))
}

/// On another thread: scaling takes milliseconds, in which other calls are served.
pub async fn jpeg(pixels: Pixels, side: u32) -> Result<Picture, Failure> {
    let done = tokio::task::spawn_blocking(move || encode(&pixels, side)).await;
    let unavailable = |why: String| {
        Failure::new(ErrorCode::ScreenshotUnavailable, why, "try again, or read the screen with get_ui_tree")
    };
    done.map_err(|error| unavailable(error.to_string()))?.map_err(unavailable)
}

fn encode(pixels: &Pixels, side: u32) -> Result<Picture, String> {
    let target = fit(pixels.size, side);
    let rgba = scale(pixels, target)?;
    let mut bytes = Vec::new();
    let (width, height) = (u16::try_from(target.width), u16::try_from(target.height));
    let (Ok(width), Ok(height)) = (width, height) else { return Err("the picture is too large".to_owned()) };
    jpeg_encoder::Encoder::new(&mut bytes, QUALITY)
        .encode(&rgba, width, height, jpeg_encoder::ColorType::Rgba)
        .map_err(|error| error.to_string())?;
    Ok(Picture { size: target, image: Image { mime_type: "image/jpeg", bytes } })
}

fn scale(pixels: &Pixels, target: Size) -> Result<Vec<u8>, String> {
    let Size { width, height } = pixels.size;
    let source = fir::images::ImageRef::new(width, height, &pixels.rgba, fir::PixelType::U8x4);
    let source = source.map_err(|error| error.to_string())?;
    let mut scaled = fir::images::Image::new(target.width, target.height, fir::PixelType::U8x4);
    let options = fir::ResizeOptions::new()
        .resize_alg(fir::ResizeAlg::Convolution(fir::FilterType::Box))
        .use_alpha(false);
    fir::Resizer::new().resize(&source, &mut scaled, &options).map_err(|error| error.to_string())?;
    Ok(scaled.into_vec())
}

/// Never larger than the screen.
fn fit(size: Size, side: u32) -> Size {
    let longest = size.width.max(size.height).max(1);
    if longest <= side {
        return Size { width: size.width.max(1), height: size.height.max(1) };
    }
    let scaled = |length: u32| {
        ((u64::from(length) * u64::from(side) + u64::from(longest) / 2) / u64::from(longest)).max(1) as u32
    };
    Size { width: scaled(size.width), height: scaled(size.height) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape_and_never_grow() {
        let phone = Size { width: 1080, height: 2400 };
        assert_eq!(fit(phone, 1024), Size { width: 461, height: 1024 });
        assert_eq!(fit(phone.rotated(1), 1024), Size { width: 1024, height: 461 });
        assert_eq!(fit(Size { width: 320, height: 240 }, 1024), Size { width: 320, height: 240 });
        assert_eq!(fit(Size { width: 4000, height: 1 }, 100), Size { width: 100, height: 1 });
    }

    #[test]
    fn a_jpeg_comes_out() {
        let size = Size { width: 300, height: 200 };
        let picture = encode(&Pixels { size, rgba: vec![128; 300 * 200 * 4] }, 100).unwrap();
        assert_eq!(picture.size, Size { width: 100, height: 67 });
        assert_eq!(picture.image.bytes[..3], [0xff, 0xd8, 0xff]);
        assert!(side(Some(5)).is_err());
    }
}
