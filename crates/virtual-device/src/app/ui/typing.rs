//! Keys, text and focus.

use tokio::time::Instant;

use super::Ui;
use crate::app::geometry::Screen;
use crate::app::keyboard::KeyCap;
use crate::app::widget::{Appearance, Key};
use crate::app::workbench::FIELD_CHARS_MAX;
use crate::app::{keys, launcher};
use crate::truth::Hit;

/// The share of its range by which one key press moves a slider.
const KEY_STEP: f32 = 0.05;

impl Ui {
    pub(super) fn focus_on(&mut self, key: Key, now: Instant) {
        let length = self.field_mut(key).map_or(0, |text| text.chars().count());
        self.focus = Some(key);
        self.cursor = length;
        self.all_selected = false;
        self.changed(now);
    }

    fn field_mut(&mut self, key: Key) -> Option<&mut String> {
        let package = self.front().0;
        self.apps.get_mut(package)?.field(key)
    }

    pub(super) fn tap_keyboard(&mut self, x: i32, y: i32, screen: &Screen, now: Instant) -> Hit {
        let Some(cap) = self.board.cap_at(screen, x, y) else { return Hit::named("keyboard") };
        self.turn_board(cap, now);
        match cap {
            KeyCap::Shift | KeyCap::Numbers | KeyCap::Letters => {}
            KeyCap::Char(c) => {
                self.type_text(&c.to_string(), now);
            }
            KeyCap::Space => {
                self.type_text(" ", now);
            }
            KeyCap::Delete => self.erase(true, now),
            KeyCap::Enter => self.key(keys::ENTER, screen, now),
        }
        Hit::named(&format!("keyboard {}", cap.label()))
    }

    fn turn_board(&mut self, cap: KeyCap, now: Instant) {
        let next = self.board.after(cap);
        if next != self.board {
            self.board = next;
            self.changed(now);
        }
    }

    /// Types into the focused field and returns its name, or nothing when no field has the focus.
    pub fn type_text(&mut self, text: &str, now: Instant) -> Option<&'static str> {
        let key = self.focus?;
        let (cursor, replace) = (self.cursor, self.all_selected);
        let field = self.field_mut(key)?;
        if replace {
            field.clear();
        }
        let at = if replace { 0 } else { byte_at(field, cursor) };
        let room = FIELD_CHARS_MAX.saturating_sub(field.chars().count());
        let typed: String = text.chars().take(room).collect();
        field.insert_str(at, &typed);
        self.cursor = if replace { 0 } else { cursor } + typed.chars().count();
        self.all_selected = false;
        self.changed(now);
        Some(key.name)
    }

    /// Replaces the text of the field at a point without focus or keyboard, as accessibility may.
    pub fn set_text(
        &mut self,
        at: (i32, i32),
        text: &str,
        screen: &Screen,
        now: Instant,
    ) -> Option<&'static str> {
        let window = self.active_window(screen);
        let widget = window.hit(at.0, at.1, &|w| w.appearance == Appearance::Field && !w.flags.disabled)?;
        let key = widget.key?;
        let field = self.field_mut(key)?;
        *field = text.chars().take(FIELD_CHARS_MAX).collect();
        self.cursor = field.chars().count();
        self.all_selected = false;
        self.changed(now);
        Some(key.name)
    }

    fn erase(&mut self, before: bool, now: Instant) {
        let Some(key) = self.focus else { return };
        let (cursor, all) = (self.cursor, self.all_selected);
        let Some(field) = self.field_mut(key) else { return };
        let mut moved = cursor;
        if all {
            field.clear();
            moved = 0;
        } else {
            let victim = if before { cursor.checked_sub(1) } else { Some(cursor) };
            if let Some(index) = victim.filter(|i| *i < field.chars().count()) {
                field.remove(byte_at(field, index));
                moved = index;
            }
        }
        self.cursor = moved;
        self.all_selected = false;
        self.changed(now);
    }

    pub fn key(&mut self, code: u32, screen: &Screen, now: Instant) {
        match code {
            keys::BACK | keys::ESCAPE => self.back(screen, now),
            keys::HOME => {
                self.close_shade(now);
                self.launch(launcher::PACKAGE, None, now);
            }
            keys::TAB => self.focus_next(screen, now),
            keys::ENTER | keys::NUMPAD_ENTER | 23 => self.enter(screen, now),
            keys::DEL => self.erase(true, now),
            keys::FORWARD_DEL => self.erase(false, now),
            keys::MOVE_HOME => self.move_in_line(false),
            keys::MOVE_END => self.move_in_line(true),
            21 | 22 if self.slide_focused(code == 22, screen, now) => {}
            21 => self.move_cursor(self.cursor.saturating_sub(1)),
            22 => self.move_cursor(self.cursor.saturating_add(1)),
            code => {
                if let Some(c) = keys::character(code) {
                    self.type_text(&c.to_string(), now);
                }
            }
        }
    }

    /// Moves the focused slider by a twentieth of its range, mirrored in right-to-left layouts; returns false when no
    /// slider has the focus.
    fn slide_focused(&mut self, right: bool, screen: &Screen, now: Instant) -> bool {
        let Some(focus) = self.focus else { return false };
        let window = self.top_window(screen);
        let bar = window.find(&|w| w.key == Some(focus) && !w.flags.disabled);
        let Some((look, at)) = bar.and_then(|w| Some((w.appearance, w.appearance.slider()?))) else {
            return false;
        };
        let more = right != matches!(look, Appearance::SliderLeft(_));
        let fraction = at + if more { KEY_STEP } else { -KEY_STEP };
        let package = self.front().0;
        self.with_app(package, now, |app, context| app.slide(focus, fraction.clamp(0.0, 1.0), context));
        true
    }

    /// Moves the cursor to the end or the start of its line, as Android does.
    fn move_in_line(&mut self, to_end: bool) {
        let Some(key) = self.focus else { return };
        let cursor = self.cursor;
        let text: Vec<char> = self.field_mut(key).map_or_else(Vec::new, |text| text.chars().collect());
        let is_break = |c: &char| *c == '\n';
        let (before, after) = text.split_at(cursor.min(text.len()));
        let to = match to_end {
            true => before.len() + after.iter().position(is_break).unwrap_or(after.len()),
            false => before.iter().rposition(is_break).map_or(0, |at| at + 1),
        };
        self.move_cursor(to);
    }

    fn move_cursor(&mut self, to: usize) {
        let Some(key) = self.focus else { return };
        let length = self.field_mut(key).map_or(0, |text| text.chars().count());
        self.cursor = to.min(length);
        self.all_selected = false;
    }

    /// Closes one thing: the keyboard, a dialog, or the activity. The last activity is not destroyed; its task goes
    /// behind the launcher.
    fn back(&mut self, screen: &Screen, now: Instant) {
        let package = self.front().0;
        self.changed(now);
        if self.keyboard {
            self.keyboard = false;
        } else if self.cancel_system_window(now) {
        } else if self.dialog_window(screen).is_some() {
            self.with_app(package, now, |app, _| app.cancel_dialog());
        } else if package != launcher::PACKAGE {
            self.finish(now);
        }
    }

    /// Ends the activity in front; the last one of a task goes behind the launcher with it.
    pub(super) fn finish(&mut self, now: Instant) {
        self.unfocus();
        match self.tasks.last_mut() {
            Some(task) if task.stack.len() > 1 => {
                task.stack.pop();
                self.front_since = now;
            }
            _ => {
                self.launch(launcher::PACKAGE, None, now);
            }
        }
    }

    fn focus_next(&mut self, screen: &Screen, now: Instant) {
        let window = self.top_window(screen);
        let mut order = Vec::new();
        window.walk(&mut |w| {
            if w.flags.focusable && !w.flags.disabled && !w.flags.scrollable {
                order.extend(w.key);
            }
        });
        let at = self.focus.and_then(|focus| order.iter().position(|key| *key == focus));
        let next = at.map_or(0, |at| (at + 1) % order.len().max(1));
        if let Some(key) = order.get(next) {
            self.focus_on(*key, now);
        }
    }

    /// Presses Enter on the focused widget. On a field it is the keyboard's action: go to the next field, or close
    /// the keyboard after the last.
    fn enter(&mut self, screen: &Screen, now: Instant) {
        let Some(focus) = self.focus else { return };
        let window = self.top_window(screen);
        let Some(widget) = window.find(&|w| w.key == Some(focus)) else { return };
        if widget.flags.disabled {
            return;
        }
        if widget.appearance != Appearance::Field {
            let package = self.front().0;
            return self.act_on(package, focus, widget, (widget.bounds.left, widget.bounds.top), now);
        }
        let mut fields = Vec::new();
        window.walk(&mut |w| {
            if w.appearance == Appearance::Field {
                fields.extend(w.key);
            }
        });
        match fields.iter().skip_while(|key| **key != focus).nth(1) {
            Some(next) => self.focus_on(*next, now),
            None => self.keyboard = false,
        }
        self.changed(now);
    }
}

fn byte_at(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}
