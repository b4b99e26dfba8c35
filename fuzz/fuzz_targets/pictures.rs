//! Any bytes as a picture of a screen: in both readers of PNG files. Whatever is shown has the size that was asked for.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mdm_core::port::{Picture, PicturePrint};
use mdm_core::screen::geometry::Rect;
use mdm_fuzz as _;
use mobile_debug_mcp::fuzzing;
use tokio::runtime::Runtime;

/// Where somebody waits for a change.
const PART: Rect = Rect { left: 0, top: 0, right: 20, bottom: 20 };

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(mdm_fuzz::runtime)
}

fuzz_target!(|data: &[u8]| {
    let [choice, png @ ..] = data else { return };
    let side = 100 + u32::from(choice & 15) * 100;
    let mask = (choice & 16 != 0).then_some(PART);
    if let Some((size, jpeg)) = runtime().block_on(fuzzing::picture(png.to_vec(), side, mask)) {
        assert!(size.width <= side && size.height <= side && size.width > 0 && size.height > 0);
        assert!(jpeg.starts_with(b"\xff\xd8\xff"));
    }
    if let Ok(Picture::Raw(pixels)) = runtime().block_on(mdm_ios::fuzzing::picture(png.to_vec())) {
        let count = pixels.size.width as usize * pixels.size.height as usize;
        assert_eq!(pixels.rgba.len(), count * 4);
        let picture = Picture::Raw(pixels);
        let _ = PicturePrint::is_black(&picture);
        let _ = PicturePrint::new(&picture, PART);
    }
});
