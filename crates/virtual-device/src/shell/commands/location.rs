//! `cmd location` and `dumpsys location`, as the location manager of Android 12 and later has them.

use super::ProgramOutput;
use crate::shell::services::TestLocation;
use crate::state::State;

/// First release whose shell can add a test provider.
const TEST_PROVIDER_SDK: u32 = 31;
const SHELL: &str = "com.android.shell";
const MOCK_LOCATION: &str = "android:mock_location";

pub fn location(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["is-location-enabled", ..] => {
            let on = state.settings.get("secure", "location_mode") != Some("0");
            ProgramOutput::out(format!("{on}\n"))
        }
        ["set-location-enabled", value, ..] => {
            state.put_setting("secure", "location_mode", if *value == "true" { "3" } else { "0" });
            ProgramOutput::ok()
        }
        ["providers", verb, rest @ ..] if state.config.sdk >= TEST_PROVIDER_SDK => {
            providers(state, verb, rest)
        }
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
        [] => ProgramOutput::fail(
            255,
            "Location service commands:\n  help or -h\n    Print this help text.\n  is-location-enabled [--user <USER_ID>]\n",
        ),
    }
}

fn providers(state: &mut State, verb: &str, words: &[&str]) -> ProgramOutput {
    let Some((provider, rest)) = words.split_first() else {
        return exception("java.lang.IllegalArgumentException: Argument expected after \"providers\"");
    };
    if !may_mock(state) {
        let why = format!("{SHELL} from uid 2000 not allowed to perform MOCK_LOCATION");
        return exception(&format!("java.lang.SecurityException: {why}"));
    }
    if *provider != "gps" && verb != "add-test-provider" && state.services.test_location.is_none() {
        return exception(&format!("java.lang.IllegalArgumentException: provider doesn't exist: {provider}"));
    }
    match (verb, rest) {
        ("add-test-provider", _) => state.services.test_location = Some(TestLocation::default()),
        ("remove-test-provider", _) => state.services.test_location = None,
        ("set-test-provider-enabled", [value, ..]) => match &mut state.services.test_location {
            Some(test) => test.enabled = *value == "true",
            None => return no_test_provider(provider),
        },
        ("set-test-provider-location", rest) => return set_place(state, provider, rest),
        (other, _) => return ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
    }
    ProgramOutput::ok()
}

fn set_place(state: &mut State, provider: &str, words: &[&str]) -> ProgramOutput {
    let at = words.iter().position(|word| *word == "--location");
    let given = at.and_then(|at| words.get(at + 1)).copied().unwrap_or("");
    let numbers = given.split_once(',').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let Some(place) = numbers else {
        return exception(&format!(
            "java.lang.IllegalArgumentException: Unexpected location format: [{given}]"
        ));
    };
    match &mut state.services.test_location {
        Some(test) => {
            test.place = Some(place);
            ProgramOutput::ok()
        }
        None => no_test_provider(provider),
    }
}

fn no_test_provider(provider: &str) -> ProgramOutput {
    exception(&format!("java.lang.IllegalArgumentException: {provider} provider is not a test provider"))
}

fn may_mock(state: &State) -> bool {
    let mode =
        |who: &str| state.services.operations.get(&format!("{who}/{MOCK_LOCATION}")).map(String::as_str);
    mode(SHELL) == Some("allow") || mode("2000") == Some("allow")
}

fn exception(what: &str) -> ProgramOutput {
    let at =
        "\tat com.android.server.location.LocationShellCommand.onCommand(LocationShellCommand.java:60)\n";
    ProgramOutput::fail(255, format!("\nException occurred while executing 'providers':\n{what}\n{at}"))
}

pub fn dump(state: &State) -> String {
    let test = state.services.test_location.as_ref().filter(|test| test.enabled);
    let last = test.and_then(|test| test.place).map_or_else(
        || "null".to_owned(),
        |(latitude, longitude)| {
            format!("Location[gps {latitude:.6},{longitude:.6} hAcc=100.0 et=+1h2m3s4ms mock]")
        },
    );
    format!(
        "Location Manager State:\n  User Info:\n    current users: [0]\n  Location Providers:\n    gps provider{}:\n      \
         last location={last}\n      enabled=true\n",
        if test.is_some() { " [mock]" } else { "" }
    )
}
