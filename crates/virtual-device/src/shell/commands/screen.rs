//! `screencap` and the pixels behind `framebuffer:`.

use bytes::{BufMut, Bytes, BytesMut};

use super::super::io::BrokenPipe;
use super::Call;
use crate::draw::{self, Pixels};
use crate::phone::Phone;

/// HAL_PIXEL_FORMAT_RGBA_8888.
const FORMAT_RGBA: u32 = 1;
/// sRGB.
const COLOUR_SPACE: u32 = 1;

pub async fn screencap(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let mut as_png = false;
    let mut path = None;
    let mut words = call.arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-p" => as_png = true,
            "-d" => {
                let id = words.next().unwrap_or("");
                if !matches!(id, "0" | "4619827259835644672") {
                    call.io.stderr.write(format!("Display Id '{id}' is not valid.\n")).await?;
                    return Ok(1);
                }
            }
            "-h" => {
                call.io.stderr.write("usage: screencap [-hp] [-d display-id] [FILENAME]\n").await?;
                return Ok(1);
            }
            word => path = Some(word),
        }
    }
    as_png |= path.is_some_and(|p| p.ends_with(".png"));
    let pixels = pixels(call.phone);
    let data = if as_png { draw::encode(&pixels) } else { raw(&pixels) };
    match path {
        None => call.io.stdout.write(data).await?,
        Some(path) => {
            let full = call.path(path);
            let written = call.phone.with(|state| {
                let now = state.now_s();
                state.fs.write(&full, data, 0o644, now)
            });
            if let Err(error) = written {
                call.io.stderr.write(format!("Error opening file: {path} ({})\n", error.text())).await?;
                return Ok(1);
            }
        }
    }
    Ok(0)
}

fn raw(pixels: &Pixels) -> Bytes {
    let mut out = BytesMut::with_capacity(16 + pixels.rgba.len());
    for word in [pixels.width, pixels.height, FORMAT_RGBA, COLOUR_SPACE] {
        out.put_u32_le(word);
    }
    out.put_slice(&pixels.rgba);
    out.freeze()
}

/// Draws what the screen shows now. Drawing needs no lock.
pub fn pixels(phone: &Phone) -> Pixels {
    let picture =
        phone.with(|state| state.surface.picture(&state.screen(), state.now, state.clock.wall_ms(state.now)));
    picture()
}
