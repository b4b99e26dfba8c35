//! Devices without a tree, such as a real iPhone on which nothing is installed. Pictures tell whether something changed,
//! and never what it means.

use std::time::Duration;

use mdm_core::failure::Failure;
use mdm_core::port::{DeviceErrorKind, Picture, PicturePrint};
use mdm_core::screen::geometry::Rect;

use super::Run;

/// The bar at the top, whose clock changes by itself, as a part of the screen's height.
const BAR_PART: i32 = 16;
/// How long pictures are compared while they are the same, and the pause between two of them.
const LOOK_MAX: Duration = Duration::from_secs(2);
const LOOK_PAUSE: Duration = Duration::from_millis(250);
/// A device that takes longer for a picture is not asked for one.
const PICTURE_MAX: Duration = Duration::from_secs(2);

/// What pictures of the screen before and after an action told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    Differ,
    Same { ms: u64 },
    Unknown,
}

impl Compared {
    pub fn changed(self) -> Option<bool> {
        match self {
            Compared::Differ => Some(true),
            Compared::Same { .. } => Some(false),
            Compared::Unknown => None,
        }
    }

    fn words(self) -> String {
        match self {
            Compared::Differ => "a picture shows that something changed".to_owned(),
            Compared::Same { ms } => format!("pictures of {ms} ms show no change"),
            Compared::Unknown => "what changed is not known".to_owned(),
        }
    }
}

/// True if the device has no tree at all, as opposed to one that cannot be read now.
pub fn is_blind(failure: &Failure) -> bool {
    failure.is(DeviceErrorKind::NotSupported)
}

/// Adds what pictures told to the reason why no tree did.
pub fn with_pictures(mut failure: Failure, compared: Compared) -> Failure {
    failure.message.push_str("; ");
    failure.message.push_str(&compared.words());
    failure
}

impl Run<'_> {
    /// Takes a picture to compare with, if the reason why there is no tree is that there never is one.
    pub async fn look_blindly(&mut self, failure: &Failure) {
        if is_blind(failure) {
            self.picture_before = self.print_screen().await;
        }
    }

    /// A print of the whole screen, where pictures can be taken.
    async fn print_screen(&self) -> Option<PicturePrint> {
        let progress = self.progress.within_next(PICTURE_MAX);
        let picture = self.session.screenshot_now(&progress).await.ok()?;
        let Picture::Raw(pixels) = &picture else { return None };
        let Rect { left, top, right, bottom } = pixels.size.rect();
        let below_bar = Rect::new(left, top + (bottom - top) / BAR_PART, right, bottom);
        PicturePrint::new(&picture, below_bar).filter(|_| !PicturePrint::is_black(&picture))
    }

    /// Compares pictures with the one before the action, until one differs.
    pub async fn compare_pictures(&self) -> Compared {
        let Some(before) = &self.picture_before else { return Compared::Unknown };
        let began_ms = self.session.now_ms();
        let progress = self.progress.within_next(LOOK_MAX);
        let mut compared = Compared::Unknown;
        while let Some(now) = self.print_screen().await {
            if now.differs(before) {
                return Compared::Differ;
            }
            compared = Compared::Same { ms: self.session.now_ms().saturating_sub(began_ms) };
            if progress.pause("comparing pictures", LOOK_PAUSE).await.is_err() {
                break;
            }
        }
        compared
    }
}
