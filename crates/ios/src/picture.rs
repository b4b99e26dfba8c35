//! Pictures of iOS are PNG files; they are compared and painted as pixels.

use std::io::Cursor;

use mdm_core::port::{DeviceError, DeviceErrorKind, Picture, Pixels};
use mdm_core::screen::geometry::Size;

/// The largest iPad has about 6 million pixels.
const PIXELS_MAX: usize = 40_000_000;

/// Decodes a PNG on a thread of its own, because it takes milliseconds in which others must be served.
pub async fn decode(png: Vec<u8>) -> Result<Picture, DeviceError> {
    let unavailable =
        |why: String| DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, format!("the picture: {why}"));
    let decoded = tokio::task::spawn_blocking(move || pixels(&png)).await;
    decoded.map_err(|error| unavailable(error.to_string()))?.map(Picture::Raw).map_err(unavailable)
}

fn pixels(png: &[u8]) -> Result<Pixels, String> {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = Size { width: reader.info().width, height: reader.info().height };
    let count = (size.width as usize).saturating_mul(size.height as usize);
    if count == 0 || count > PIXELS_MAX {
        return Err(format!("{}x{} pixels", size.width, size.height));
    }
    let length = reader.output_buffer_size().ok_or("too large")?;
    let mut bytes = vec![0; length];
    let frame = reader.next_frame(&mut bytes).map_err(|error| error.to_string())?;
    bytes.truncate(frame.buffer_size());
    let rgba = match frame.color_type {
        png::ColorType::Rgba => bytes,
        png::ColorType::GrayscaleAlpha => {
            bytes.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
        }
        other => return Err(format!("colours as {other:?}")),
    };
    Ok(Pixels { size, rgba })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_without_alpha_gets_one_and_rubbish_is_refused() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&[1, 2, 3, 4, 5, 6]).unwrap();
        let read = pixels(&file).unwrap();
        assert_eq!((read.size, read.rgba), (Size { width: 2, height: 1 }, vec![1, 2, 3, 255, 4, 5, 6, 255]));
        assert!(pixels(b"GIF89a").is_err() && pixels(&file[..file.len() - 20]).is_err());
    }
}
