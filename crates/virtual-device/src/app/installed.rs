//! Stands for an app that was installed from a file. This phone cannot run its code, and its screen says so.

use super::geometry::Screen;
use super::parts::{caption, label, page};
use super::user::names;
use super::widget::{Key, Widget};
use super::{App, Context, Effect};
use crate::surface;

/// Activities of one app that are known.
const ACTIVITIES_MAX: usize = 1000;

pub struct InstalledFile {
    package: &'static str,
    label: &'static str,
    entry: &'static str,
    activities: Vec<&'static str>,
    version: String,
    language: String,
}

impl InstalledFile {
    /// Returns nothing when the names are too many to be kept.
    pub fn new(app: &surface::InstalledApp) -> Option<InstalledFile> {
        let activities = app.activities.iter().take(ACTIVITIES_MAX).map(|name| names::keep(name));
        Some(InstalledFile {
            package: names::keep(&app.package)?,
            label: names::keep(&app.label)?,
            entry: names::keep(&app.entry)?,
            activities: activities.collect::<Option<_>>()?,
            version: app.version.clone(),
            language: app.language.clone(),
        })
    }
}

impl App for InstalledFile {
    fn package(&self) -> &'static str {
        self.package
    }

    fn label(&self) -> &'static str {
        self.label
    }

    fn entry(&self) -> &'static str {
        self.entry
    }

    fn activities(&self) -> &[&'static str] {
        &self.activities
    }

    fn view(&self, activity: &str, _screen: &Screen) -> Widget {
        let language = if self.language.is_empty() { "of the phone" } else { &self.language };
        page(
            self.package,
            self.label,
            [
                label("This phone cannot run the code of installed apps."),
                caption(format!("Package: {}", self.package)),
                caption(format!("Version: {}", self.version)),
                caption(format!("Activity: {activity}")),
                caption(format!("Language: {language}")),
            ],
        )
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        if key.name == super::parts::UP {
            context.push(Effect::Finish);
        }
    }

    fn restart(&mut self) {}

    fn clear_data(&mut self) {}
}
