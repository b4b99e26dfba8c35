//! Writes the list of a screen into the app's file.

use serde_json::{Value, json};

use super::Screen;
use super::file::{Writer, add, after, hits, name, set};
use super::lists::{Delete, List, Row, RowChange};

/// The height of a list that does not fill its screen, in dp.
const SMALL_DP: u64 = 240;

impl Writer<'_> {
    pub(super) fn list(&mut self, screen: &Screen, list: &List, on_open: &mut Vec<Value>) -> Value {
        let rows_name = name(screen, "rows");
        let rows: Vec<Value> = list.rows.iter().map(row).collect();
        self.lists.insert(rows_name.clone(), json!({"columns": ["title", "subtitle"], "rows": rows}));
        let picked = name(screen, "picked");
        self.value(&picked, "nothing");
        for (ms, change) in &list.changes {
            let action = match change {
                RowChange::Insert { at, row: new } => {
                    json!({"add_row": {"to": rows_name, "at": at, "row": row(new)}})
                }
                RowChange::Remove { at } => json!({"remove_row_at": {"from": rows_name, "at": at}}),
            };
            on_open.extend(after(*ms, vec![action]));
        }
        let texts = json!({"type": "column", "gap": 0, "children": [
            {"type": "text", "id": "title", "text": "{title}"},
            {"type": "caption", "id": "subtitle", "text": "{subtitle}"},
        ]});
        let mut cells = vec![texts];
        cells.extend(self.delete(screen, list.delete));
        if list.has_menu {
            cells.push(self.menu(screen));
        }
        let mut widget = json!({
            "type": "list", "id": rows_name, "rows": rows_name,
            "children": [{"type": "row", "height": 64, "children": cells}],
            "on_tap": [set(&picked, "{title} {subtitle}")],
        });
        if !list.is_tall {
            widget["height"] = SMALL_DP.into();
        }
        if list.more > 0 {
            let new = |n: usize| json!({"title": "Late", "subtitle": format!("Order {}", 900 + n)});
            let more: Vec<Value> =
                (0..list.more).map(|n| json!({"add_row": {"to": rows_name, "row": new(n)}})).collect();
            widget["on_end"] = after(300, more).into();
        }
        widget
    }

    fn delete(&mut self, screen: &Screen, delete: Delete) -> Option<Value> {
        let counted = hits(&name(screen, "delete"));
        let dialog = name(screen, "ask");
        let gone = || vec![json!({"toast": "{title} deleted"}), json!("remove_row")];
        let script = match delete {
            Delete::Never => return None,
            Delete::AtOnce => gone(),
            Delete::Later(ms) => after(ms, gone()),
            Delete::Asks => {
                let answers = json!([{"text": "Keep"}, {"text": "Delete", "do": gone()}]);
                let about = json!({"title": "Delete {title}?", "message": "{subtitle}", "answers": answers});
                self.dialogs.insert(dialog.clone(), about);
                vec![json!({"dialog": dialog})]
            }
        };
        self.value(&counted, 0);
        let on_tap: Vec<Value> = [add(&counted)].into_iter().chain(script).collect();
        Some(json!({"type": "text_button", "id": "delete", "text": "Delete", "on_tap": on_tap}))
    }

    /// Returns the button without a text that opens a dialog about the row.
    fn menu(&mut self, screen: &Screen) -> Value {
        let dialog = name(screen, "about");
        let answers =
            json!([{"text": "Keep"}, {"text": "Star", "do": [{"set_row": {"subtitle": "Starred"}}]}]);
        self.dialogs.insert(dialog.clone(), json!({"title": "About {title}", "answers": answers}));
        let description = "More options";
        json!({"type": "image_button", "id": "more", "description": description, "on_tap": [{"dialog": dialog}]})
    }
}

fn row(row: &Row) -> Value {
    json!({"title": row.title, "subtitle": row.subtitle})
}
