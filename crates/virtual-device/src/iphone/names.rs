//! The phone's own apps have names of Android inside; on an iPhone they have Apple's.

const NAMES: [(&str, &str); 2] =
    [("com.android.launcher3", "com.apple.springboard"), ("com.android.settings", "com.apple.Preferences")];

/// Returns the bundle id under which iOS knows an app of the phone.
pub fn bundle_of(package: &str) -> &str {
    NAMES.iter().find(|(android, _)| *android == package).map_or(package, |(_, ios)| ios)
}

pub fn package_of(bundle: &str) -> &str {
    NAMES.iter().find(|(_, ios)| *ios == bundle).map_or(bundle, |(android, _)| android)
}
