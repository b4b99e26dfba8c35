//! Scales a screenshot or a part of it and encodes it as JPEG, to fit an agent's token budget.

mod paint;

use fast_image_resize as fir;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{DeviceErrorKind, Picture, PicturePrint, Pixels, SmallPicture};
use mdm_core::screen::geometry::{Rect, Size};

use crate::answer::Image;
use crate::refusal::Refusal;

/// Limit for decoded pictures: ten million pixels, more than a 4K screen has.
const PIXELS_BYTES_MAX: usize = 40_000_000;
const SIDE_DEFAULT: u32 = 1024;
const SIDES: std::ops::RangeInclusive<u32> = 100..=4096;
/// Of every JPEG, whoever makes it.
pub const QUALITY: u8 = 75;
/// A JPEG with fewer bytes than this for a thousand pixels may show nothing: one of a black screen has 16.
const BYTES_OF_1000_PIXELS_MIN: usize = 24;

/// An element that is marked, in pixels of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub place: Rect,
    pub label: String,
}

/// What the picture shall show, in pixels of the device.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// The longest side of the result.
    pub side: u32,
    /// Only this part.
    pub region: Option<Rect>,
    pub marks: Vec<Mark>,
    /// Places that nobody may read.
    pub masks: Vec<Rect>,
}

impl Wish {
    /// True if it is the whole screen with nothing painted on it.
    pub fn is_plain(&self) -> bool {
        self.region.is_none() && self.marks.is_empty() && self.masks.is_empty()
    }
}

/// A scaled picture, with the size of the whole and the part that it shows.
pub struct ScaledPicture {
    pub original: Size,
    pub region: Rect,
    pub size: Size,
    pub image: Image,
    pub masked: usize,
    /// Nothing can be seen on the whole of it.
    pub black: bool,
}

/// Checks the longest side that the caller asked for.
pub fn side(wanted: Option<u32>) -> Result<u32, Refusal> {
    let side = wanted.unwrap_or(SIDE_DEFAULT);
    if SIDES.contains(&side) {
        return Ok(side);
    }
    let message = format!("max_size = {side} is not between {} and {}", SIDES.start(), SIDES.end());
    Err(Refusal::argument(message, "1024 shows text well enough on most screens"))
}

/// Takes a picture as the device made it. Nothing if it may be black: that can be told only by its pixels.
pub fn ready(taken: SmallPicture) -> Option<ScaledPicture> {
    let pixels = taken.size.width as usize * taken.size.height as usize;
    let is_rich = taken.jpeg.len() >= pixels / 1000 * BYTES_OF_1000_PIXELS_MIN;
    is_rich.then(|| ScaledPicture {
        original: taken.screen,
        region: taken.screen.rect(),
        size: taken.size,
        image: Image { mime_type: "image/jpeg", bytes: taken.jpeg },
        masked: 0,
        black: false,
    })
}

/// Scales and encodes on a blocking thread, because it takes milliseconds in which other calls must be served.
pub async fn jpeg(picture: Picture, wish: Wish) -> Result<ScaledPicture, Failure> {
    let work = move || match picture {
        Picture::Raw(pixels) => encode(pixels, &wish),
        Picture::Png(bytes) => encode(from_png(&bytes)?, &wish),
    };
    let done = tokio::task::spawn_blocking(work).await;
    let unavailable = |why: String| Failure::new(Cause::Device(DeviceErrorKind::ScreenshotUnavailable), why);
    done.map_err(|error| unavailable(error.to_string()))?.map_err(unavailable)
}

fn encode(pixels: Pixels, wish: &Wish) -> Result<ScaledPicture, String> {
    let original = pixels.size;
    if original.width == 0 || original.height == 0 {
        return Err(format!("the device gave a picture of {}x{}", original.width, original.height));
    }
    let region = match wish.region {
        Some(part) => part.intersection(original.rect()).ok_or("that part is not on the screen")?,
        None => original.rect(),
    };
    let shown = Size { width: region.width() as u32, height: region.height() as u32 };
    let size = fit(shown, wish.side);
    let picture = Picture::Raw(pixels);
    let black = PicturePrint::is_black(&picture);
    let Picture::Raw(pixels) = picture else { return Err("no pixels".to_owned()) };
    let mut rgba = if size == original { pixels.rgba } else { scale(&pixels, region, size)? };
    let masked = paint(&mut rgba, region, size, wish);
    let mut bytes = Vec::new();
    let (width, height) = (u16::try_from(size.width), u16::try_from(size.height));
    let (Ok(width), Ok(height)) = (width, height) else { return Err("the picture is too large".to_owned()) };
    jpeg_encoder::Encoder::new(&mut bytes, QUALITY)
        .encode(&rgba, width, height, jpeg_encoder::ColorType::Rgba)
        .map_err(|error| error.to_string())?;
    let image = Image { mime_type: "image/jpeg", bytes };
    Ok(ScaledPicture { original, region, size, image, masked, black })
}

/// Paints masks and marks, and returns how many masks there are.
fn paint(rgba: &mut [u8], region: Rect, size: Size, wish: &Wish) -> usize {
    let mut canvas = paint::Canvas { size, rgba };
    let scaled = |value: i32, from: i32, length: i32, pixels: u32| {
        ((i64::from(value) - i64::from(from)) * i64::from(pixels) / i64::from(length.max(1))) as i32
    };
    let place = |part: Rect| {
        let shown = part.intersection(region)?;
        let x = |value: i32| scaled(value, region.left, region.width(), size.width);
        let y = |value: i32| scaled(value, region.top, region.height(), size.height);
        Some(Rect::new(x(shown.left), y(shown.top), x(shown.right), y(shown.bottom)))
    };
    let masks: Vec<Rect> = wish.masks.iter().filter_map(|mask| place(*mask)).collect();
    masks.iter().for_each(|mask| canvas.mask(*mask));
    for (number, mark) in wish.marks.iter().enumerate() {
        if let Some(place) = place(mark.place) {
            canvas.mark(place, &mark.label, number);
        }
    }
    masks.len()
}

fn scale(pixels: &Pixels, region: Rect, target: Size) -> Result<Vec<u8>, String> {
    let Size { width, height } = pixels.size;
    let source = fir::images::ImageRef::new(width, height, &pixels.rgba, fir::PixelType::U8x4);
    let source = source.map_err(|error| error.to_string())?;
    let mut scaled = fir::images::Image::new(target.width, target.height, fir::PixelType::U8x4);
    let options = fir::ResizeOptions::new()
        .resize_alg(fir::ResizeAlg::Convolution(fir::FilterType::Box))
        .use_alpha(false)
        .crop(
            f64::from(region.left),
            f64::from(region.top),
            f64::from(region.width()),
            f64::from(region.height()),
        );
    fir::Resizer::new().resize(&source, &mut scaled, &options).map_err(|error| error.to_string())?;
    Ok(scaled.into_vec())
}

fn from_png(bytes: &[u8]) -> Result<Pixels, String> {
    let mut decoder =
        png::Decoder::new_with_limits(std::io::Cursor::new(bytes), png::Limits { bytes: PIXELS_BYTES_MAX });
    decoder.set_transformations(
        png::Transformations::EXPAND | png::Transformations::STRIP_16 | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size =
        reader.output_buffer_size().filter(|s| *s <= PIXELS_BYTES_MAX).ok_or("the picture is too large")?;
    let mut data = vec![0; size];
    let info = reader.next_frame(&mut data).map_err(|e| e.to_string())?;
    data.truncate(info.buffer_size());
    if info.color_type != png::ColorType::Rgba {
        return Err(format!("a picture of type {:?}", info.color_type));
    }
    Ok(Pixels { size: Size { width: info.width, height: info.height }, rgba: data })
}

/// The scaled size, with the same aspect ratio and never larger than the original.
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
    fn a_screenshot_is_encoded_as_a_scaled_jpeg() {
        let size = Size { width: 300, height: 200 };
        let pixels = || Pixels { size, rgba: vec![128; 300 * 200 * 4] };
        let wish = |region: Option<Rect>| Wish { side: 100, region, ..Wish::default() };
        let picture = encode(pixels(), &wish(None)).unwrap();
        assert_eq!((picture.size, picture.black), (Size { width: 100, height: 67 }, false));
        assert_eq!(picture.image.bytes[..3], [0xff, 0xd8, 0xff]);
        assert!(side(Some(5)).is_err());
        let part = encode(pixels(), &wish(Some(Rect::new(250, 0, 900, 50)))).unwrap();
        assert_eq!((part.region, part.size), (Rect::new(250, 0, 300, 50), Size { width: 50, height: 50 }));
        assert!(encode(pixels(), &wish(Some(Rect::new(900, 0, 901, 50)))).is_err(), "beside the screen");
        let none = Pixels { size: Size::default(), rgba: Vec::new() };
        assert!(encode(none, &wish(None)).is_err(), "F71: no picture");
        assert!(from_png(b"\x89PNG\r\n\x1a\n").is_err(), "SE-07");
    }
}
