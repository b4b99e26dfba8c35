//! Draws a tree that has no recorded picture: its boxes and texts.

use super::tree::{Node, Tree, Typing};
use crate::app::geometry::{Rect, Screen};
use crate::draw::Pixels;
use crate::draw::canvas::{Canvas, Colour};

const PAGE: Colour = [0xfa, 0xfa, 0xfc];
const TOUCHABLE: Colour = [0xe3, 0xea, 0xf8];
const LINE: Colour = [0xd0, 0xd0, 0xd8];
const INK: Colour = [0x1b, 0x1b, 0x1f];
const FAINT: Colour = [0x74, 0x74, 0x7c];
const TEXT_DP: i32 = 14;

pub fn draw(tree: Option<&Tree>, typing: Option<Typing<'_>>, screen: &Screen) -> Pixels {
    let (width, height) = (screen.width.max(1) as u32, screen.height.max(1) as u32);
    let mut canvas = Canvas::new(width, height, PAGE);
    if let Some(tree) = tree {
        tree.walk(&mut |node| paint(&mut canvas, node, typing, screen));
    }
    Pixels { width, height, rgba: canvas.into_rgba() }
}

fn paint(canvas: &mut Canvas, node: &Node, typing: Option<Typing<'_>>, screen: &Screen) {
    let bounds = node.bounds.intersect(&screen.rect());
    if bounds.is_empty() {
        return;
    }
    canvas.clip = bounds;
    if node.is("clickable") {
        canvas.fill(bounds, 0, TOUCHABLE);
    }
    if node.is("clickable") || node.children.is_empty() {
        frame(canvas, bounds);
    }
    let typed = typing.filter(|t| t.field == node.bounds && node.children.is_empty());
    let (text, colour) = match typed {
        Some(typing) => (typing.text, INK),
        None if node.text.is_empty() => (node.description.as_str(), FAINT),
        None => (node.text.as_str(), INK),
    };
    let hidden = node.is("password").then(|| "•".repeat(text.chars().count()));
    let size = screen.px(TEXT_DP).min(bounds.height()).max(1);
    let top = bounds.top + (bounds.height() - size) / 2;
    canvas.text(bounds.left + screen.px(2), top, size, hidden.as_deref().unwrap_or(text), colour);
}

fn frame(canvas: &mut Canvas, b: Rect) {
    for line in [
        Rect { bottom: b.top + 1, ..b },
        Rect { top: b.bottom - 1, ..b },
        Rect { right: b.left + 1, ..b },
        Rect { left: b.right - 1, ..b },
    ] {
        canvas.fill(line, 0, LINE);
    }
}
