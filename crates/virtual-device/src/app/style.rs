//! Changes the tree to what other frameworks tell accessibility about the same screen.
//!
//! Touches and pixels use the tree as it was laid out; only dumps are changed.

use super::widget::{Appearance, Numbering, Style, Widget};

const VIEW: &str = "android.view.View";
const TEXT: &str = "android.widget.TextView";
const GROUP: &str = "android.view.ViewGroup";
const BUTTON: &str = "android.widget.Button";
const EDIT: &str = "android.widget.EditText";

pub fn restyled(mut root: Widget) -> Widget {
    let Some(style) = root.window.map(|w| w.style) else { return root };
    if style == Style::View {
        return root;
    }
    // The decoration around the content is the platform's in every framework.
    match content_mut(&mut root) {
        Some(content) => restyle(content, style),
        None => restyle(&mut root, style),
    }
    root
}

fn content_mut(root: &mut Widget) -> Option<&mut Widget> {
    if root.resource_id == "android:id/content" {
        let inside = root.children.first_mut()?;
        let fragment = inside.resource_id.ends_with(":id/fragment_container");
        return if fragment { inside.children.first_mut() } else { Some(inside) };
    }
    root.children.iter_mut().find_map(content_mut)
}

fn restyle(content: &mut Widget, style: Style) {
    let numbering = match style {
        Style::View | Style::ReactNative | Style::Game => Numbering::FromOne,
        Style::Compose => Numbering::FromZero,
        Style::Flutter | Style::WebView => Numbering::None,
    };
    describe(content, style);
    content.walk_mut(&mut |widget| widget.flags.numbering = numbering);
    // The view that holds the framework's nodes is a view.
    content.flags.numbering = Numbering::FromOne;
}

fn describe(content: &mut Widget, style: Style) {
    match style {
        Style::View => {}
        Style::Compose => {
            content.walk_mut(&mut compose);
            content.flags = Default::default();
            // The root, the surface of the theme, and the scaffold of the screen.
            wrap(content, &["androidx.compose.ui.platform.ComposeView", VIEW, VIEW, VIEW]);
        }
        Style::ReactNative => {
            content.walk_mut(&mut react_native);
            touchables(content);
            // The root view, then what a navigator puts around a screen: gesture root, safe area, container, stack,
            // the screen itself and its content.
            wrap(content, &["android.widget.FrameLayout", GROUP, GROUP, GROUP, GROUP, GROUP, GROUP, GROUP]);
        }
        Style::Flutter => {
            let nodes = std::mem::take(&mut content.children).into_iter().flat_map(flutter).collect();
            content.children = nodes;
            content.class = VIEW;
            content.resource_id.clear();
            wrap(content, &["android.widget.FrameLayout", VIEW, VIEW, VIEW]);
        }
        Style::WebView => web_page(content),
        Style::Game => {
            content.children.clear();
            content.class = VIEW;
            content.resource_id.clear();
            wrap(content, &["android.widget.FrameLayout"]);
            if let Some(surface) = content.children.first_mut() {
                surface.class = "android.view.SurfaceView";
            }
        }
    }
}

/// Puts the widget into containers of these classes, the first outermost.
fn wrap(widget: &mut Widget, classes: &[&'static str]) {
    for class in classes.iter().rev() {
        let mut outer = Widget::new(class);
        (outer.bounds, outer.visible, outer.window) = (widget.bounds, widget.visible, widget.window.take());
        outer.datum.clone_from(&widget.datum);
        outer.children.push(std::mem::replace(widget, Widget::new(class)));
        *widget = outer;
    }
}

/// Removes the package from an id: `com.app:id/name` exists only in the View system, test tags are bare names.
fn bare_id(widget: &mut Widget) {
    if let Some((_, name)) = widget.resource_id.split_once(":id/") {
        widget.resource_id = name.to_owned();
    }
}

fn is_text(widget: &Widget) -> bool {
    matches!(
        widget.appearance,
        Appearance::Heading | Appearance::Body | Appearance::Error | Appearance::Caption
    )
}

/// Describes a tree as Compose does. A button is a nameless View that takes the tap, with its text in a node of its
/// own; only texts and fields have a class.
fn compose(widget: &mut Widget) {
    bare_id(widget);
    let takes_tap = widget.flags.clickable && widget.appearance != Appearance::Field;
    if takes_tap && !widget.text.is_empty() && widget.children.is_empty() {
        let mut text = Widget::new(TEXT).text(std::mem::take(&mut widget.text)).appearance(Appearance::Body);
        (text.bounds, text.visible) = (widget.bounds, widget.visible);
        text.datum.clone_from(&widget.datum);
        let mut role = Widget::new(if widget.flags.checkable { VIEW } else { BUTTON });
        (role.bounds, role.visible) = (widget.bounds, widget.visible);
        role.datum.clone_from(&widget.datum);
        widget.children = vec![text, role];
        if widget.appearance == Appearance::Button {
            widget.appearance = Appearance::Plain
        };
    }
    widget.class = match widget.appearance {
        Appearance::Field => EDIT,
        _ if is_text(widget) => TEXT,
        _ if widget.class == BUTTON && !widget.flags.clickable => BUTTON,
        _ => VIEW,
    };
}

/// Describes a tree as React Native does. An accessible group is labelled with the texts in it, which stay in the
/// tree.
fn react_native(widget: &mut Widget) {
    bare_id(widget);
    if widget.flags.clickable && widget.appearance != Appearance::Field && widget.description.is_empty() {
        widget.description = texts(widget).join(", ");
        if widget.children.is_empty() && !widget.text.is_empty() {
            let mut text =
                Widget::new(TEXT).text(std::mem::take(&mut widget.text)).appearance(Appearance::Body);
            (text.bounds, text.visible) = (widget.bounds, widget.visible);
            text.datum.clone_from(&widget.datum);
            widget.children.push(text);
        }
    }
    widget.class = match widget.appearance {
        Appearance::Field => EDIT,
        Appearance::Switch => "android.widget.Switch",
        Appearance::Picture => "android.widget.ImageView",
        _ if is_text(widget) => TEXT,
        _ if widget.flags.scrollable => "android.widget.ScrollView",
        _ => "android.view.ViewGroup",
    };
}

/// Wraps a touchable as React Native does: the outer view has the margin, the inner one fades under the finger.
fn touchables(widget: &mut Widget) {
    for child in &mut widget.children {
        touchables(child);
        if child.flags.clickable && child.appearance != Appearance::Field {
            wrap(child, &[GROUP]);
        }
    }
}

fn texts(widget: &Widget) -> Vec<String> {
    let mut all = Vec::new();
    widget.walk(&mut |w| {
        let own = if w.description.is_empty() { &w.text } else { &w.description };
        if !own.is_empty() {
            all.push(own.clone());
        }
    });
    all
}

/// Describes a tree as Flutter does. Plain containers have no node, and a touchable is one node with all the texts in
/// it, a line each.
fn flutter(mut widget: Widget) -> Vec<Widget> {
    if widget.visible.is_empty() {
        return Vec::new();
    }
    let meant = widget.flags.clickable || widget.flags.scrollable || widget.appearance.slider().is_some();
    if !meant && !is_text(&widget) {
        return widget.children.into_iter().flat_map(flutter).collect();
    }
    widget.resource_id.clear();
    if widget.flags.scrollable {
        widget.children = std::mem::take(&mut widget.children).into_iter().flat_map(flutter).collect();
        widget.class = VIEW;
        return vec![widget];
    }
    if widget.appearance == Appearance::Field {
        widget.class = EDIT;
        return vec![widget];
    }
    // A control inside a touchable cannot be merged into it: both take taps.
    let controls = take_controls(&mut widget);
    widget.description = texts(&widget).join("\n");
    widget.text.clear();
    widget.children = controls.into_iter().flat_map(flutter).collect();
    widget.flags.focusable = true;
    widget.class = match widget.appearance {
        Appearance::Button | Appearance::TextButton => BUTTON,
        Appearance::Switch => "android.widget.Switch",
        look if look.slider().is_some() => "android.widget.SeekBar",
        _ => VIEW,
    };
    vec![widget]
}

/// Removes the innermost touchable widgets from a tree and returns them.
fn take_controls(widget: &mut Widget) -> Vec<Widget> {
    let mut taken = Vec::new();
    for mut child in std::mem::take(&mut widget.children) {
        if child.flags.clickable || child.appearance.slider().is_some() {
            taken.push(child);
        } else {
            taken.extend(take_controls(&mut child));
            widget.children.push(child);
        }
    }
    taken
}

/// Describes the part below the toolbar as a web page: ids are those of the page, texts are nodes of their own.
fn web_page(content: &mut Widget) {
    let Some(page) = content.children.last_mut() else { return };
    page.walk_mut(&mut |w| {
        bare_id(w);
        w.class = match w.appearance {
            Appearance::Field => EDIT,
            Appearance::Button => BUTTON,
            Appearance::CheckBox => "android.widget.CheckBox",
            Appearance::Picture => "android.widget.Image",
            _ if is_text(w) => TEXT,
            _ => VIEW,
        };
        w.flags.long_clickable = false;
    });
    page.text = "Help centre".to_owned();
    page.class = "android.webkit.WebView";
    page.flags.focusable = true;
    wrap(page, &["android.widget.FrameLayout", "android.webkit.WebView"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::geometry::{Rect, Screen};
    use crate::app::parts::{button, caption, column, label};
    use crate::app::widget::{Key, Window};
    use crate::app::xml;

    fn dump(style: Style) -> String {
        let screen = Screen { width: 400, height: 800, density: 160, rotation: 0 };
        let card = column(0, [label("Milk"), caption("1.20")]).on_tap(Key::of("card")).id("com.app", "card");
        let page = column(0, [card, button("Buy", Key::of("buy")).id("com.app", "buy")]);
        let mut content = Widget::new("android.widget.FrameLayout").child(page);
        content.resource_id = "android:id/content".to_owned();
        content.window = Some(Window { package: "com.app", rotation: 1, style });
        content.place(Rect::new(0, 0, 400, 800), screen.rect(), &screen);
        xml::write(&restyled(content), "other", 36)
    }

    #[test]
    fn compose_has_tags_and_no_classes() {
        let tree = dump(Style::Compose);
        assert!(tree.contains(" resource-id=\"buy\" class=\"android.view.View\""), "{tree}");
        assert!(tree.contains("text=\"Buy\" resource-id=\"\" class=\"android.widget.TextView\""), "{tree}");
        assert!(!tree.contains("com.app:id") && tree.contains("package=\"com.app\""));
        assert!(tree.contains("<hierarchy rotation=\"1\">"));
    }

    #[test]
    fn react_native_labels_its_groups() {
        let tree = dump(Style::ReactNative);
        assert!(tree.contains("content-desc=\"Milk, 1.20\"") && tree.contains("text=\"Milk\""), "{tree}");
    }

    #[test]
    fn flutter_merges_texts_into_lines() {
        let tree = dump(Style::Flutter);
        assert!(tree.contains("content-desc=\"Milk&#10;1.20\""), "{tree}");
        assert!(
            tree.contains("class=\"android.widget.Button\" package=\"com.app\" content-desc=\"Buy\""),
            "{tree}"
        );
        assert!(!tree.contains("resource-id=\"buy\""));
    }

    #[test]
    fn a_game_is_one_surface() {
        let tree = dump(Style::Game);
        assert!(tree.contains("android.view.SurfaceView") && !tree.contains("Milk"), "{tree}");
    }
}
