//! Dialogs, requests, crashes and hangs.

use tokio::time::Duration;

use super::{Gallery, PACKAGE};
use crate::app::alert::popup;
use crate::app::parts::{button, caption, label, page};
use crate::app::widget::{Key, Size, Widget};
use crate::app::{Context, Effect, HttpAnswer, HttpRequest};

/// The time of a hang: long enough for "isn't responding" if somebody touches the screen.
const FREEZE: Duration = Duration::from_secs(30);
const SLOW: Duration = Duration::from_secs(3);
const REQUEST_MS: u64 = 320;
const SLOW_REQUEST_MS: u64 = 4000;

const CRASH: &str = "java.lang.IllegalStateException: cart has no owner";
const CRASH_FRAMES: [&str; 3] = [
    "com.workbench.cart.CartOwner.require(CartOwner.kt:31)",
    "com.workbench.TroubleActivity.onCrash(TroubleActivity.kt:58)",
    "com.workbench.TroubleActivity$$ExternalSyntheticLambda2.onClick(D8$$SyntheticClass:0)",
];

/// Key, label, method and path, answer, time in milliseconds.
const REQUESTS: [(&str, &str, &str, &str, u64); 3] = [
    ("get_items", "Load items", "GET /v1/items", "200", REQUEST_MS),
    ("post_order", "Send order", "POST /v1/orders", "500", REQUEST_MS),
    ("slow_request", "Slow report", "GET /v1/report", "504", SLOW_REQUEST_MS),
];
const HOST: &str = "https://api.workbench.example";

pub fn view(gallery: &Gallery) -> Widget {
    let done =
        label(format!("Slow work done {:.0} times", gallery.number("slow_done"))).id(PACKAGE, "slow_done");
    page(
        PACKAGE,
        "Trouble",
        [
            button("Crash", Key::of("crash")).id(PACKAGE, "crash"),
            button("Freeze for 30 s", Key::of("freeze")).id(PACKAGE, "freeze"),
            button("Slow work", Key::of("slow")).id(PACKAGE, "slow"),
            done,
        ],
    )
}

pub fn dialogs(gallery: &Gallery) -> Widget {
    let buttons = [
        ("open_dialog", "Discard draft"),
        ("open_menu", "More options"),
        ("show_toast", "Save"),
        ("ask_camera", "Take a photo"),
        ("notify", "Remind me"),
    ];
    let buttons = buttons.map(|(name, text)| button(text, Key::of(name)).id(PACKAGE, name));
    let results = ["dialog_result", "permission"].map(|name| label(gallery.text(name)).id(PACKAGE, name));
    page(PACKAGE, "Dialogs", buttons.into_iter().chain(results).chain([caption("Nothing here is real")]))
}

pub fn menu() -> Widget {
    let rows =
        [("menu_share", "Share"), ("menu_rename", "Rename"), ("menu_delete", "Delete")].map(|(key, text)| {
            Widget::new("android.widget.LinearLayout")
                .size(Size::Fill, Size::Dp(48))
                .on_tap(Key::of(key))
                .child(label(text).id(PACKAGE, "title").size(Size::Fill, Size::Dp(48)))
        });
    let mut menu = popup(180, [Widget::new("android.widget.ListView").children(rows)]);
    menu.anchor = Some(Key::of("open_menu"));
    menu
}

pub fn network(gallery: &Gallery) -> Widget {
    let mut body = Vec::new();
    for (key, text, ..) in REQUESTS {
        body.push(button(text, Key::of(key)).id(PACKAGE, key));
        body.push(label(gallery.text(key)).id(PACKAGE, "answer"));
    }
    page(PACKAGE, "Network", body)
}

pub fn tap(gallery: &mut Gallery, key: Key, context: &mut Context) -> bool {
    match key.name {
        "crash" => context.push(Effect::Crash {
            exception: CRASH.to_owned(),
            frames: CRASH_FRAMES.map(str::to_owned).to_vec(),
        }),
        "freeze" => context.push(Effect::Block(FREEZE)),
        "slow" => {
            context.log(
                'I',
                "Choreographer",
                "Skipped 179 frames!  The application may be doing too much work on its main thread.",
            );
            context.push(Effect::Block(SLOW));
            gallery.after(context.now + SLOW, 0, "slow");
        }
        "open_dialog" => gallery.dialog = Some("discard"),
        "open_menu" => gallery.dialog = Some("menu"),
        "dialog_keep" | "dialog_discard" | "menu_share" | "menu_rename" | "menu_delete" => {
            gallery.dialog = None;
            gallery.set_text("dialog_result", key.name);
        }
        "show_toast" => context.push(Effect::Toast("Draft saved".to_owned())),
        "ask_camera" => context.push(Effect::AskPermission {
            name: "android.permission.CAMERA",
            question: "Allow Workbench to take pictures and record video?",
        }),
        "notify" => {
            context.push(Effect::Notify { title: "Reminder".to_owned(), text: "Water the plants".to_owned() })
        }
        name => return play(gallery, name, context),
    }
    true
}

/// Returns the request of this key to a real server. Its number holds the process, so that only that one gets the
/// answer.
pub fn request(key: Key, api: &str, process: u32) -> Option<HttpRequest> {
    let at = REQUESTS.iter().position(|(known, ..)| *known == key.name)?;
    let (method, path) = REQUESTS[at].2.split_once(' ')?;
    let body = if method == "POST" { "{\"items\":[3,7]}" } else { "" };
    Some(HttpRequest {
        number: process.wrapping_mul(REQUESTS.len() as u32).wrapping_add(at as u32),
        method: method.to_owned(),
        url: format!("{api}{path}"),
        body: body.to_owned(),
    })
}

pub fn answered(gallery: &mut Gallery, request: u32, process: u32, answer: &HttpAnswer) {
    let at = request.wrapping_sub(process.wrapping_mul(REQUESTS.len() as u32)) as usize;
    let Some((key, ..)) = REQUESTS.get(at) else { return };
    let text = match answer {
        HttpAnswer::Status { status, .. } => format!("Answer {status}"),
        HttpAnswer::Failed(_) => "No answer".to_owned(),
    };
    gallery.set_text(key, text);
}

fn play(gallery: &mut Gallery, name: &str, context: &mut Context) -> bool {
    let Some((key, _, request, _, ms)) = REQUESTS.iter().find(|(key, ..)| *key == name) else { return false };
    let (method, path) = request.split_once(' ').unwrap_or(("GET", request));
    context.log('I', "okhttp.OkHttpClient", format!("--> {method} {HOST}{path} http/1.1"));
    gallery.set_text(key, "Waiting");
    gallery.after(context.now, *ms, key);
    true
}

pub fn due(gallery: &mut Gallery, name: &'static str, context: &mut Context) {
    if name == "slow" {
        gallery.count("slow_done");
    }
    let Some((key, _, request, answer, ms)) = REQUESTS.iter().find(|(key, ..)| *key == name) else { return };
    let path = request.split_once(' ').map_or(*request, |(_, path)| path);
    context.log('I', "okhttp.OkHttpClient", format!("<-- {answer} {HOST}{path} ({ms}ms)"));
    gallery.set_text(key, format!("Answer {answer}"));
}
