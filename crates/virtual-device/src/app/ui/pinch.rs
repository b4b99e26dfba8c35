//! Pinches: two fingers on a widget that zooms.

use tokio::time::Instant;

use super::Ui;
use crate::app::geometry::Screen;
use crate::app::widget::Key;
use crate::truth::Hit;

impl Ui {
    /// Returns the widget that zooms under both fingers, where they came down.
    fn under(&self, fingers: [(i32, i32); 2], screen: &Screen) -> Option<(Key, Hit)> {
        let window = self.top_window(screen);
        let below = |at: (i32, i32)| {
            let found = window.hit(at.0, at.1, &|w| w.key.is_some() && !w.flags.scrollable)?;
            let takes = found.flags.zoomable && !found.flags.disabled;
            found.key.filter(|_| takes).map(|key| (key, Hit::of(found)))
        };
        let (first, second) = (below(fingers[0])?, below(fingers[1])?);
        (first.0 == second.0).then_some(first)
    }

    pub fn zoomed(&self, fingers: [(i32, i32); 2], screen: &Screen) -> Option<Hit> {
        self.under(fingers, screen).map(|(_, hit)| hit)
    }

    pub fn zoom(&mut self, fingers: [(i32, i32); 2], factor: f32, screen: &Screen, now: Instant) {
        if let Some((key, _)) = self.under(fingers, screen) {
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.zoom(key, factor, context));
        }
    }
}
