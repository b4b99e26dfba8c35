//! The `framebuffer:` service: raw pixels without a process on the device.

use mdm_core::port::Pixels;
use mdm_core::screen::geometry::Size;
use mdm_wire::adb::framebuffer::{Header, rest_bytes};

use super::{Adb, AdbError};
use crate::pixels::PIXELS_BYTES_MAX;

impl Adb {
    pub async fn framebuffer(&self) -> Result<Pixels, AdbError> {
        let mut stream = self.open("framebuffer:").await?;
        let version = u32::from_le_bytes(stream.read_array::<4>().await?);
        let header = Header::decode(version, &stream.read_vec(rest_bytes(version)?).await?)?;
        let size = header.size_bytes as usize;
        if size > PIXELS_BYTES_MAX {
            return Err(AdbError::Protocol(format!(
                "a framebuffer of {size} bytes exceeds {PIXELS_BYTES_MAX}"
            )));
        }
        let raw = stream.read_vec(size).await?;
        to_rgba(&header, raw)
    }
}

fn to_rgba(header: &Header, mut raw: Vec<u8>) -> Result<Pixels, AdbError> {
    let byte_of = |channel: (u32, u32)| {
        (channel.1 == 8 && channel.0.is_multiple_of(8)).then_some((channel.0 / 8) as usize)
    };
    let channels = (byte_of(header.red), byte_of(header.green), byte_of(header.blue));
    let (Some(red), Some(green), Some(blue)) = channels else {
        return Err(AdbError::Protocol("pixels that are not one byte a channel".to_owned()));
    };
    if header.bits_per_pixel != 32 || red.max(green).max(blue) > 3 {
        return Err(AdbError::Protocol(format!(
            "pixels of {} bits are not understood",
            header.bits_per_pixel
        )));
    }
    raw.truncate((u64::from(header.width) * u64::from(header.height) * 4) as usize);
    if (red, green, blue) != (0, 1, 2) {
        for pixel in raw.chunks_exact_mut(4) {
            let [r, g, b] = [pixel[red], pixel[green], pixel[blue]];
            pixel.copy_from_slice(&[r, g, b, 0xff]);
        }
    }
    Ok(Pixels { size: Size { width: header.width, height: header.height }, rgba: raw })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bgra_becomes_rgba() {
        let mut header = Header::rgba8888(1, 1);
        (header.red, header.blue) = ((16, 8), (0, 8));
        let pixels = to_rgba(&header, vec![1, 2, 3, 4]).unwrap();
        assert_eq!(pixels.rgba, [3, 2, 1, 0xff]);
    }
}
