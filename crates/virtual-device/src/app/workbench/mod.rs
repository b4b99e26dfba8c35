//! Workbench: a small app with a login, a list and settings, one bug that its log explains, and a gallery.

mod gallery;
mod home;
mod login;
mod settings;

use tokio::time::{Duration, Instant};

use super::geometry::Screen;
use super::widget::{Key, Style, Widget};
use super::{App, Context, Effect, HttpAnswer, Values};
use gallery::{GALLERY, Gallery};

pub const PACKAGE: &str = "com.workbench";
pub const LABEL: &str = "Workbench";
pub const LOGIN: &str = ".LoginActivity";
const HOME: &str = ".HomeActivity";
const SETTINGS: &str = ".SettingsActivity";

/// How long the server takes to answer a login.
const LOGIN_TIME: Duration = Duration::from_millis(600);
/// Characters that one field holds.
pub const FIELD_CHARS_MAX: usize = 4096;
const PASSWORD: &str = "correct horse";

const GOODS: [&str; 30] = [
    "Milk",
    "Bread",
    "Butter",
    "Eggs",
    "Coffee",
    "Tea",
    "Sugar",
    "Flour",
    "Rice",
    "Pasta",
    "Tomatoes",
    "Onions",
    "Garlic",
    "Potatoes",
    "Carrots",
    "Apples",
    "Bananas",
    "Lemons",
    "Cheese",
    "Yoghurt",
    "Olive oil",
    "Vinegar",
    "Salt",
    "Pepper",
    "Honey",
    "Oats",
    "Almonds",
    "Chocolate",
    "Soap",
    "Candles",
];

/// State that is saved: it survives the process.
#[derive(Debug, Clone)]
struct Saved {
    staging: bool,
    dark: bool,
    /// 0 to 100.
    volume: f32,
    /// Each row with its number, which never changes, so that a key never means another row.
    rows: Vec<(u32, &'static str)>,
}

impl Default for Saved {
    fn default() -> Saved {
        let rows = GOODS.iter().enumerate().map(|(index, name)| (index as u32, *name)).collect();
        Saved { staging: true, dark: false, volume: 38.0, rows }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Login {
    #[default]
    Idle,
    Busy {
        until: Instant,
    },
    Failed,
}

/// State that ends with the process.
#[derive(Debug, Clone, Default)]
struct ProcessState {
    email: String,
    password: String,
    remember: bool,
    login: Login,
    user: String,
    /// The number of the row that a dialog asks about.
    confirm: Option<u32>,
}

#[derive(Debug, Clone, Default)]
pub struct Workbench {
    saved: Saved,
    session: ProcessState,
    gallery: Gallery,
    /// The server for the network screen.
    api: Option<String>,
    /// The number of processes so far: an answer for one that died must not reach the next.
    processes: u32,
}

impl Workbench {
    pub fn new(api: Option<&str>) -> Workbench {
        Workbench { api: api.map(str::to_owned), ..Workbench::default() }
    }

    fn sign_in(&mut self, context: &mut Context) {
        if self.session.email.is_empty() || self.session.password.is_empty() {
            self.session.login = Login::Failed;
            context.log('W', "LoginActivity", "email and password are required");
            return;
        }
        self.session.login = Login::Busy { until: context.now + LOGIN_TIME };
        context.push(Effect::HideKeyboard);
        context.log('D', "LoginActivity", "sign in requested");
        context.log('D', "OkHttp", format!("--> POST {}", self.login_url()));
    }

    fn login_url(&self) -> String {
        let host = if self.saved.staging { "staging" } else { "api" };
        format!("https://{host}.workbench.example/login")
    }

    fn answer_login(&mut self, context: &mut Context) {
        let server = if self.saved.staging { "staging" } else { "production" };
        let accepted = !self.saved.staging && self.session.password == PASSWORD;
        let status = if accepted { 200 } else { 401 };
        let (url, email) = (self.login_url(), self.session.email.clone());
        context.log('D', "OkHttp", format!("<-- {status} {url} (587ms)"));
        let priority = if accepted { 'I' } else { 'E' };
        context.log(
            priority,
            "AuthRepo",
            format!("POST {url} -> {status} (server: {server}, user: {email})"),
        );
        if accepted {
            let name = email.split('@').next().unwrap_or("");
            self.session.user = capitalised(name);
            self.session.login = Login::Idle;
            context.push(Effect::Replace(HOME));
        } else {
            context.log('W', "LoginActivity", "sign in failed, showing a general message");
            self.session.login = Login::Failed;
        }
    }

    fn toggle_setting(&mut self, name: &str, context: &mut Context) {
        let value = match name {
            "staging" => &mut self.saved.staging,
            _ => &mut self.saved.dark,
        };
        *value = !*value;
        let value = *value;
        context.log('I', "Settings", format!("{name} = {value}"));
    }
}

impl App for Workbench {
    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn label(&self) -> &'static str {
        LABEL
    }

    fn entry(&self) -> &'static str {
        LOGIN
    }

    fn activities(&self) -> &[&'static str] {
        const FIRST: [&str; 4] = [LOGIN, HOME, SETTINGS, GALLERY];
        const ALL: [&str; FIRST.len() + gallery::SCREENS.len()] = {
            let mut all = [LOGIN; FIRST.len() + gallery::SCREENS.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] =
                    if at < FIRST.len() { FIRST[at] } else { gallery::SCREENS[at - FIRST.len()].activity };
                at += 1;
            }
            all
        };
        &ALL
    }

    fn view(&self, activity: &str, _screen: &Screen) -> Widget {
        match activity {
            HOME => home::view(&self.saved, &self.session),
            SETTINGS => settings::view(&self.saved),
            LOGIN => login::view(&self.session),
            activity => self.gallery.view(activity),
        }
    }

    fn style(&self, activity: &str) -> Style {
        gallery::style(activity)
    }

    fn frame_every(&self, activity: &str) -> Option<Duration> {
        gallery::frame_every(activity)
    }

    fn frame(&mut self, activity: &str, shown: Duration) -> bool {
        self.gallery.frame(activity, shown)
    }

    fn dialog(&self, activity: &str, _landscape: bool) -> Option<Widget> {
        if activity != HOME {
            return self.gallery.dialog();
        }
        let number = self.session.confirm?;
        let (_, name) = self.saved.rows.iter().find(|(row, _)| *row == number)?;
        Some(home::confirm_dialog(name))
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        match key.name {
            "log_in" => self.sign_in(context),
            "remember_me" => self.session.remember = !self.session.remember,
            "open_settings" => context.push(Effect::Start(SETTINGS)),
            "staging" | "dark" => self.toggle_setting(key.name, context),
            "delete" => self.session.confirm = Some(key.index),
            "dialog_cancel" => self.session.confirm = None,
            "dialog_delete" => {
                if let Some(number) = self.session.confirm.take() {
                    self.saved.rows.retain(|(row, _)| *row != number);
                    context.log('I', "ListRepo", format!("row {number} deleted"));
                }
            }
            "sign_out" => {
                self.session = ProcessState::default();
                context.push(Effect::Replace(LOGIN));
            }
            "open_gallery" => context.push(Effect::Start(GALLERY)),
            _ => match self.api.as_deref().and_then(|api| gallery::request(key, api, self.processes)) {
                Some(request) => self.gallery.ask(key, request, context),
                None => self.gallery.tap(key, context),
            },
        }
    }

    fn double_tap(&mut self, key: Key, _context: &mut Context) {
        self.gallery.double_tap(key);
    }

    fn zoom(&mut self, key: Key, factor: f32, _context: &mut Context) {
        self.gallery.zoom(key, factor);
    }

    fn long_press(&mut self, key: Key, _context: &mut Context) {
        self.gallery.long_press(key);
    }

    fn dropped(&mut self, key: Key, onto: Key, _context: &mut Context) {
        self.gallery.dropped(key, onto);
    }

    fn permission(&mut self, _name: &'static str, granted: bool, _context: &mut Context) {
        self.gallery.permission(granted);
    }

    fn trusts_user_certificates(&self) -> bool {
        true
    }

    fn answered(&mut self, request: u32, answer: &HttpAnswer, _context: &mut Context) {
        self.gallery.answered(request, self.processes, answer);
    }

    fn slide(&mut self, key: Key, fraction: f32, context: &mut Context) {
        if key.name == "volume" {
            self.saved.volume = (fraction.clamp(0.0, 1.0) * 100.0).round();
            context.log('D', "Settings", format!("volume = {:.1}", self.saved.volume));
        } else {
            self.gallery.slide(key, fraction);
        }
    }

    fn cancel_dialog(&mut self) {
        self.gallery.cancel_dialog();
        self.session.confirm = None;
    }

    fn field(&mut self, key: Key) -> Option<&mut String> {
        match key.name {
            "email" => Some(&mut self.session.email),
            "password" => Some(&mut self.session.password),
            _ => self.gallery.field(key),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let login = match self.session.login {
            Login::Busy { until } => Some(until),
            Login::Idle | Login::Failed => None,
        };
        login.into_iter().chain(self.gallery.next_due()).min()
    }

    fn due(&mut self, context: &mut Context) {
        if matches!(self.session.login, Login::Busy { until } if until <= context.now) {
            self.answer_login(context);
        }
        self.gallery.due(context);
    }

    fn restart(&mut self) {
        self.session = ProcessState::default();
        self.gallery = Gallery::default();
        self.processes += 1;
    }

    fn clear_data(&mut self) {
        let (api, processes) = (self.api.take(), self.processes + 1);
        *self = Workbench { api, processes, ..Workbench::default() };
    }

    fn dark(&self) -> bool {
        self.saved.dark
    }

    fn saved(&self) -> Values {
        let Saved { staging, dark, volume, .. } = &self.saved;
        Values {
            switches: [("staging".to_owned(), *staging), ("dark".to_owned(), *dark)].into(),
            sliders: [("volume".to_owned(), *volume)].into(),
            ..Values::default()
        }
    }

    fn values(&self) -> Values {
        let text = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let flag = |name: &str, value: bool| (name.to_owned(), value);
        let mut values = Values {
            fields: [text("email", &self.session.email), text("password", &self.session.password)].into(),
            switches: [
                flag("remember_me", self.session.remember),
                flag("staging", self.saved.staging),
                flag("dark", self.saved.dark),
            ]
            .into(),
            sliders: [("volume".to_owned(), self.saved.volume)].into(),
        };
        let more = self.gallery.values();
        values.fields.extend(more.fields);
        values.switches.extend(more.switches);
        values.sliders.extend(more.sliders);
        values
    }
}

fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
