//! The server of Instruments: pictures, and starting and ending processes.

use std::io;

use plist::Value;

use super::Wire;
use super::archive::Object;
use super::dtx::{self, Answer, Channels, Message, Peer};
use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::runner;

const PICTURES: &str = "com.apple.instruments.server.services.screenshot";
const PROCESSES: &str = "com.apple.instruments.server.services.processcontrol";
/// Whose errors launches are, and the code of one that was refused.
const DOMAIN: &str = "com.apple.dt.deviceprocesscontrolservice";
const REFUSED: i64 = 2;

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    let (mut reader, writer) = tokio::io::split(stream);
    let mut peer = Peer::greet(writer).await?;
    let mut channels = Channels::default();
    loop {
        let message = dtx::read(&mut reader).await?;
        channels.note(&message);
        let Some(method) = message.method() else { continue };
        let answer = match (channels.name(&message), method) {
            (PICTURES, "takeScreenshot") => {
                Answer::Object(Object::Data(picture::png(phone.phone()).to_vec()))
            }
            (
                PROCESSES,
                "launchSuspendedProcessWithDevicePath:bundleIdentifier:environment:arguments:options:",
            ) => launch(phone, &message),
            (PROCESSES, "killPid:") => {
                kill(phone, message.number(0));
                Answer::Done
            }
            (PROCESSES | PICTURES, method) => dtx::no_such_method(method),
            _ => Answer::Done,
        };
        peer.reply(&message, &answer).await?;
    }
}

fn launch(phone: &IPhone, call: &Message) -> Answer {
    let bundle = call.text(1).unwrap_or_default();
    let Some(app) = phone.app(bundle) else {
        let why = format!("Application info provider (FBSApplicationLibrary) returned nil for \"{bundle}\"");
        return refused(bundle, &why);
    };
    phone.note_request(&["launch", bundle]);
    let options = call.arguments.get(4).and_then(Value::as_dictionary);
    let stop_first = options.and_then(|options| options.get("KillExisting")).is_some_and(is_true);
    if !runner::is_runner(&app) {
        return match phone.launch_app(bundle, stop_first) {
            Some(pid) => Answer::Object(Object::Number(pid.into())),
            None => refused(bundle, "Launch failed"),
        };
    }
    if phone.config().iphone_faults.untrusted_runner {
        let why = format!(
            "Unable to launch {bundle} because it has an invalid code signature, inadequate entitlements or its \
             profile has not been explicitly trusted by the user."
        );
        return refused(bundle, &why);
    }
    let environment = call.arguments.get(2).and_then(Value::as_dictionary);
    let variable = |name: &str| environment?.get(name)?.as_string();
    let pid =
        phone.launch_runner(bundle, variable("XCTestSessionIdentifier"), variable(runner::PORT_VARIABLE));
    Answer::Object(Object::Number(pid.into()))
}

/// The words are those of reports of people whose runner was not started.
fn refused(bundle: &str, why: &str) -> Answer {
    let reason = format!(
        "The operation couldn\u{2019}t be completed. {why} : Failed to launch process with bundle identifier \
         '{bundle}'."
    );
    let description = format!("Request to launch {bundle} failed.");
    let information = [
        ("NSLocalizedDescription", Object::Text(description)),
        ("NSLocalizedFailureReason", Object::Text(reason)),
    ];
    Answer::Error(Object::error(DOMAIN, REFUSED, information))
}

fn is_true(value: &Value) -> bool {
    value.as_boolean() == Some(true) || value.as_unsigned_integer().is_some_and(|number| number > 0)
}

fn kill(phone: &IPhone, pid: Option<u64>) {
    let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) else { return };
    phone.end_runner(pid);
    if let Some(app) = phone.apps().into_iter().find(|app| app.pid == Some(pid)) {
        phone.terminate_app(&app.bundle);
    }
}
