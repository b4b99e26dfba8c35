//! Draws the widgets of an app as UIKit would tell accessibility about them.

use super::SCALE;
use super::element::{ElementValue, Frame, UiElement};
use crate::app::geometry::{Rect, Screen};
use crate::app::widget::{Appearance, Widget};
use crate::surface::Scene;

/// Returns the application in front with its windows.
pub fn application(scene: &Scene, screen: &Screen) -> UiElement {
    let mut application = UiElement::new("Application", frame(&screen.rect()));
    application.label = scene.label.to_owned();
    application.children.push(window(&scene.window, screen));
    if let Some(dialog) = &scene.dialog {
        application.children.push(alert(dialog));
    }
    application
}

fn window(content: &Widget, screen: &Screen) -> UiElement {
    let mut window = UiElement::new("Window", frame(&screen.rect()));
    window.children.push(element(content));
    window
}

fn alert(dialog: &Widget) -> UiElement {
    let mut alert = UiElement::new("Alert", frame(&dialog.visible));
    alert.children.extend(dialog.children.iter().map(element));
    alert
}

fn element(widget: &Widget) -> UiElement {
    let mut element = UiElement::new(kind(widget), frame(&widget.bounds));
    let own = if widget.description.is_empty() { &widget.text } else { &widget.description };
    element.label.clone_from(own);
    element.identifier = widget.resource_id.rsplit('/').next().unwrap_or_default().to_owned();
    element.value = value(widget);
    element.placeholder.clone_from(&widget.hint);
    element.enabled = !widget.flags.disabled;
    element.visible = !widget.visible.is_empty();
    element.focused = widget.flags.focused;
    element.selected = widget.flags.selected;
    element.accessible = !own.is_empty() || widget.flags.clickable;
    element.datum.clone_from(&widget.datum);
    element.children = widget.children.iter().map(self::element).collect();
    element
}

fn kind(widget: &Widget) -> &'static str {
    match widget.appearance {
        Appearance::Field if widget.flags.password => "SecureTextField",
        Appearance::Field => "TextField",
        Appearance::Button | Appearance::TextButton | Appearance::DropDown => "Button",
        Appearance::Switch | Appearance::CheckBox => "Switch",
        look if look.slider().is_some() => "Slider",
        Appearance::Spinner => "ActivityIndicator",
        Appearance::Icon => "Icon",
        Appearance::Picture => "Image",
        Appearance::Tab | Appearance::Radio => "Button",
        Appearance::Heading | Appearance::Body | Appearance::Error | Appearance::Caption => "StaticText",
        _ if widget.flags.scrollable => "ScrollView",
        _ if widget.flags.clickable => "Cell",
        _ => "Other",
    }
}

fn value(widget: &Widget) -> Option<ElementValue> {
    match widget.appearance {
        Appearance::Field => Some(ElementValue::Text(widget.text.clone())),
        look if look.slider().is_some() => look.slider().map(|at| ElementValue::Fraction(f64::from(at))),
        _ if widget.flags.checkable => Some(ElementValue::On(widget.flags.checked)),
        _ => None,
    }
}

fn frame(rect: &Rect) -> Frame {
    let points = |px: i32| f64::from(px) / f64::from(SCALE);
    Frame {
        x: points(rect.left),
        y: points(rect.top),
        width: points(rect.width()),
        height: points(rect.height()),
    }
}
