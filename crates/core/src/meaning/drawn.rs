//! Parts of a screen of which the tree tells nothing: games, maps, canvases. Only a picture shows what changes there.

use crate::meaning::label;
use crate::screen::element::Role;
use crate::screen::geometry::{Point, Rect};
use crate::screen::reading::ScreenReading;

/// The least part of the screen that counts as drawn by the app, in percent: at a point that was touched, and anywhere.
const PERCENT_AT_POINT_MIN: i64 = 12;
const PERCENT_MIN: i64 = 50;

/// Finds the drawn part at a point, or without one a part that fills most of the screen.
pub fn drawn_part(reading: &ScreenReading, point: Option<Point>) -> Option<Rect> {
    let screen = reading.nodes.first()?.visible?;
    let leaves = (0..reading.nodes.len() as u32).filter(|index| reading.element(*index).end == index + 1);
    let mut shown = leaves.filter_map(|index| Some((index, reading.nodes[index as usize].visible?)));
    let (leaf, percent_min) = match point {
        // What comes later lies above.
        Some(point) => (shown.rfind(|(_, rect)| rect.contains(point))?, PERCENT_AT_POINT_MIN),
        None => (shown.max_by_key(|(_, rect)| area(*rect))?, PERCENT_MIN),
    };
    let (index, rect) = leaf;
    // A slider without a value is drawn, too: only its thumb tells where it stands (F86).
    let is_slider = reading.element(index).role == Role::Slider;
    let is_large = area(rect) * 100 >= area(screen) * percent_min;
    ((is_large || is_slider) && tells_nothing(reading, index)).then_some(rect)
}

fn tells_nothing(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    let is_told = element.role.is_control() && element.role != Role::Slider;
    let is_plain = !is_told && element.state.checked.is_none() && element.value.is_none();
    let is_number = label::value(element).is_some();
    is_plain && !is_number && label::own_words(element).is_none()
}

fn area(rect: Rect) -> i64 {
    i64::from(rect.width()) * i64::from(rect.height())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::sketch::sketch;

    #[test]
    fn a_surface_is_drawn_and_a_button_on_it_is_not() {
        // F13
        let reading = ScreenReading::new(sketch(
            r#"
            FrameLayout [0,0][1080,2400]
              android.view.SurfaceView [0,100][1080,2300]
              Button [100,200][500,300] click text:"Pause"
              TextView [0,2300][1080,2400] text:"Score 5"
            "#,
        ));
        let surface = Rect::new(0, 100, 1080, 2300);
        let at = |x: i32, y: i32| drawn_part(&reading, Some(Point { x, y }));
        assert_eq!(at(540, 1000), Some(surface));
        assert_eq!((at(200, 250), at(10, 2350)), (None, None));
        assert_eq!(drawn_part(&reading, None), Some(surface));
    }

    #[test]
    fn only_the_thumb_of_a_slider_without_a_value_tells_where_it_stands() {
        // F86
        let at = |text: &str| {
            let reading = ScreenReading::new(sketch(&format!(
                "FrameLayout [0,0][1080,2400]\n  android.widget.SeekBar [0,500][1080,600] {text}\n"
            )));
            drawn_part(&reading, Some(Point { x: 540, y: 550 }))
        };
        assert_eq!((at(""), at("text:\"38\"")), (Some(Rect::new(0, 500, 1080, 600)), None));
    }

    #[test]
    fn a_screen_of_texts_has_no_drawn_part() {
        let reading = ScreenReading::new(sketch(
            r#"
            FrameLayout [0,0][1080,2400]
              TextView [0,100][1080,1300] text:"Terms"
              ImageView [0,1300][200,1500]
            "#,
        ));
        assert_eq!(drawn_part(&reading, None), None);
        assert_eq!(drawn_part(&reading, Some(Point { x: 100, y: 1400 })), None, "a small picture");
    }
}
