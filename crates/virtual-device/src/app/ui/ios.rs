//! What iOS does otherwise than Android: the ways back and home, the lock screen, fingers that rest before they move.

use tokio::time::Instant;

use super::Ui;
use super::touch::thumb_distance;
use crate::app::geometry::{Point, Screen};
use crate::app::parts::{UP, row, space};
use crate::app::system::SystemWindow;
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};
use crate::app::{keys, launcher};
use crate::config::Platform;
use crate::truth::Hit;

/// The back button of screens that have no bar of their own.
pub(super) const BACK: Key = Key { name: "ios_back", index: 0 };
/// The height of the part of the screen beside the camera, where the status bar is.
const STATUS_BAR_DP: i32 = 59;
const BAR_DP: i32 = 44;
/// A swipe that begins this near to the left edge goes back.
const EDGE_DP: i32 = 20;
/// A swipe that begins this near to the lower edge goes home.
const HOME_EDGE_DP: i32 = 30;
/// How far from its middle a finger still takes the thumb of a slider.
const THUMB_REACH_DP: i32 = 22;
/// A longer title does not fit on a back button.
const BACK_TITLE_CHARS_MAX: usize = 20;

impl Ui {
    /// Returns the content below the status bar, with a navigation bar that leads back when there is somewhere to go.
    pub(super) fn with_way_back(&self, mut content: Widget, screen: &Screen) -> Widget {
        let back_to = self.back_to(screen);
        let has_bar = content.find(&|w| w.key.is_some_and(|key| key.name == UP)).is_some();
        if let Some(first) = content.children.first_mut().filter(|first| is_spacer(first)) {
            let gets_bar = back_to.is_some() && !has_bar;
            first.height = Size::Dp(if gets_bar { 0 } else { STATUS_BAR_DP });
        }
        let Some(title) = back_to else {
            remove(&mut content, UP);
            return content;
        };
        if has_bar {
            content.walk_mut(&mut |w| {
                if w.key.is_some_and(|key| key.name == UP) {
                    w.description.clone_from(&title);
                }
            });
            return content;
        }
        let back = Widget::new("android.widget.ImageButton")
            .description(title)
            .appearance(Appearance::TextButton)
            .size(Size::Dp(BAR_DP), Size::Dp(BAR_DP))
            .on_tap(BACK);
        let bar = row(BAR_DP, [back]).id(self.front().0, "toolbar");
        Widget::new("android.widget.LinearLayout")
            .appearance(Appearance::Page)
            .size(Size::Fill, Size::Fill)
            .layout(Layout::Column, 0, 0)
            .child(space(STATUS_BAR_DP))
            .child(bar)
            .child(content.size(Size::Fill, Size::Fill))
    }

    /// Returns what the back button says: the title of the screen below, or `Back`.
    pub(super) fn back_to(&self, screen: &Screen) -> Option<String> {
        let task = self.tasks.last().filter(|task| task.package != launcher::PACKAGE)?;
        let below = task.stack.len().checked_sub(2).and_then(|at| task.stack.get(at))?;
        let view = self.app(task.package)?.view(below, screen);
        let bar = view.find(&|w| w.resource_id.ends_with(":id/toolbar"));
        let title = bar.and_then(|bar| bar.find(&|w| w.appearance == Appearance::Heading));
        let fits = |text: &&str| !text.is_empty() && text.chars().count() <= BACK_TITLE_CHARS_MAX;
        Some(title.map(|w| w.text.as_str()).filter(fits).unwrap_or("Back").to_owned())
    }

    /// Returns how far each scroll container of the activity can scroll.
    pub(super) fn scroll_ranges(&self, screen: &Screen) -> Vec<(Key, i32)> {
        let mut keys = Vec::new();
        self.activity_window(screen).walk(&mut |w| keys.extend(w.key.filter(|_| w.flags.scrollable)));
        keys.into_iter().map(|key| (key, self.scroll_most(key, screen))).collect()
    }

    /// Handles a swipe from an edge that belongs to the system.
    pub(super) fn swipe_from_edge(
        &mut self,
        from: Point,
        (dx, dy): (i32, i32),
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        if self.platform != Platform::Ios {
            return None;
        }
        let upwards = dy.saturating_neg() > dx.saturating_abs();
        if from.1 >= screen.height - screen.px(HOME_EDGE_DP) && upwards {
            if self.system.last() == Some(&SystemWindow::Locked) {
                self.lock(false, now);
            } else {
                self.key(keys::HOME, screen, now);
            }
            return Some(Hit::named("lower edge"));
        }
        let sideways = dx >= screen.width / 3 && dx > dy.saturating_abs();
        if from.0 < screen.px(EDGE_DP) && sideways && self.dialog_window(screen).is_none() {
            self.back_to(screen)?;
            self.changed(now);
            self.finish(now);
            return Some(Hit::named("left edge"));
        }
        None
    }

    /// Returns true if a touch at this point moves a slider. On iOS a finger must take its thumb.
    pub(super) fn takes_slider(&self, slider: &Widget, at: Point, screen: &Screen) -> bool {
        self.platform == Platform::Android || thumb_distance(slider, at) <= screen.px(THUMB_REACH_DP) as f32
    }

    /// Returns true if a finger that rests before it moves picks something up; on iOS it scrolls everywhere else.
    pub(super) fn takes_held_finger(&self, window: &Widget, at: Point) -> bool {
        self.platform == Platform::Android || window.hit(at.0, at.1, &|w| w.flags.draggable).is_some()
    }

    pub(super) fn is_locked(&self) -> bool {
        self.system.contains(&SystemWindow::Locked)
    }

    pub(super) fn lock(&mut self, locked: bool, now: Instant) {
        if locked {
            self.show_system(SystemWindow::Locked, now);
        } else if self.system.contains(&SystemWindow::Locked) {
            self.system.retain(|window| *window != SystemWindow::Locked);
            self.changed(now);
        }
    }
}

fn is_spacer(widget: &Widget) -> bool {
    widget.children.is_empty()
        && widget.key.is_none()
        && widget.appearance == Appearance::Plain
        && matches!(widget.height, Size::Dp(_))
}

fn remove(widget: &mut Widget, name: &str) {
    widget.children.retain(|child| child.key.is_none_or(|key| key.name != name));
    for child in &mut widget.children {
        remove(child, name);
    }
}
