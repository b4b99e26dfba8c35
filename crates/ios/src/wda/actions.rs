//! Gestures as the pointer actions of WebDriver, which every WebDriverAgent takes.

use mdm_core::screen::geometry::Point;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Actions {
    actions: Vec<Finger>,
}

#[derive(Debug, Serialize)]
struct Finger {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    parameters: Parameters,
    actions: Vec<Step>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    pointer_type: &'static str,
}

/// One step of a finger. Coordinates are points of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Step {
    PointerMove { duration: u32, origin: &'static str, x: i32, y: i32 },
    PointerDown { button: u8 },
    PointerUp { button: u8 },
    Pause { duration: u32 },
}

/// A finger that comes down, moves or waits, and goes up again.
#[derive(Debug, Clone)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    pub fn down(at: Point) -> Path {
        Path { steps: vec![moved(at, 0), Step::PointerDown { button: 0 }] }
    }

    #[must_use]
    pub fn wait(mut self, ms: u32) -> Path {
        self.steps.push(Step::Pause { duration: ms });
        self
    }

    #[must_use]
    pub fn move_to(mut self, to: Point, ms: u32) -> Path {
        self.steps.push(moved(to, ms));
        self
    }

    #[must_use]
    pub fn up(mut self) -> Path {
        self.steps.push(Step::PointerUp { button: 0 });
        self
    }

    /// Goes on with a second touch of the same finger.
    #[must_use]
    pub fn then(mut self, other: Path) -> Path {
        self.steps.extend(other.steps);
        self
    }
}

fn moved(to: Point, ms: u32) -> Step {
    Step::PointerMove { duration: ms, origin: "viewport", x: to.x, y: to.y }
}

impl Actions {
    /// Moves all fingers at the same time.
    pub fn of(fingers: Vec<Path>) -> Actions {
        let finger = |(number, path): (usize, Path)| Finger {
            kind: "pointer",
            id: format!("finger{number}"),
            parameters: Parameters { pointer_type: "touch" },
            actions: path.steps,
        };
        Actions { actions: fingers.into_iter().enumerate().map(finger).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swipe_is_written_as_webdriver_wants_it() {
        let path = Path::down(Point { x: 10, y: 20 }).move_to(Point { x: 10, y: 300 }, 250).up();
        let text = serde_json::to_string(&Actions::of(vec![path])).unwrap();
        assert_eq!(
            text,
            "{\"actions\":[{\"type\":\"pointer\",\"id\":\"finger0\",\"parameters\":{\"pointerType\":\"touch\"},\
             \"actions\":[{\"type\":\"pointerMove\",\"duration\":0,\"origin\":\"viewport\",\"x\":10,\"y\":20},\
             {\"type\":\"pointerDown\",\"button\":0},\
             {\"type\":\"pointerMove\",\"duration\":250,\"origin\":\"viewport\",\"x\":10,\"y\":300},\
             {\"type\":\"pointerUp\",\"button\":0}]}]}"
        );
    }
}
