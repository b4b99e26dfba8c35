//! The server of Instruments: pictures, and starting and ending processes.

use std::io;

use mdm_wire::dtx::{Argument, Content};
use plist::Value;

use super::Wire;
use super::dtx::{self, Channels, Peer};
use super::plists::dictionary;
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
    let mut peer = Peer::greet(writer, dtx::capabilities()).await?;
    let mut channels = Channels::default();
    loop {
        let message = dtx::read(&mut reader).await?;
        channels.note(&message);
        let Some((method, arguments)) = message.call() else { continue };
        let answer = match (channels.name(&message), method) {
            (PICTURES, "takeScreenshot") => {
                Content::Answer(Some(Value::Data(picture::png(phone.phone()).to_vec())))
            }
            (
                PROCESSES,
                "launchSuspendedProcessWithDevicePath:bundleIdentifier:environment:arguments:options:",
            ) => launch(phone, arguments),
            (PROCESSES, "killPid:") => {
                kill(phone, arguments.first().and_then(Argument::number));
                Content::Answer(None)
            }
            (PROCESSES | PICTURES, method) => dtx::no_such_method(method),
            _ => Content::Answer(None),
        };
        peer.reply(&message, answer).await?;
    }
}

fn launch(phone: &IPhone, arguments: &[Argument]) -> Content {
    let object = |index: usize| arguments.get(index).and_then(Argument::object);
    let bundle = object(1).and_then(Value::as_string).unwrap_or_default();
    let Some(app) = phone.app(bundle) else {
        let why = format!("Application info provider (FBSApplicationLibrary) returned nil for \"{bundle}\"");
        return refused(bundle, &why);
    };
    phone.note_request(&["launch", bundle]);
    let options = object(4).and_then(Value::as_dictionary);
    let stop_first = options.and_then(|options| options.get("KillExisting")).is_some_and(is_true);
    if !runner::is_runner(&app) {
        return match phone.launch_app(bundle, stop_first) {
            Some(pid) => Content::Answer(Some(i64::from(pid).into())),
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
    let environment = object(2).and_then(Value::as_dictionary);
    let variable = |name: &str| environment?.get(name)?.as_string();
    let pid =
        phone.launch_runner(bundle, variable("XCTestSessionIdentifier"), variable(runner::PORT_VARIABLE));
    Content::Answer(Some(i64::from(pid).into()))
}

/// The words are those of reports of people whose runner was not started.
fn refused(bundle: &str, why: &str) -> Content {
    let reason = format!(
        "The operation couldn\u{2019}t be completed. {why} : Failed to launch process with bundle identifier \
         '{bundle}'."
    );
    let description = format!("Request to launch {bundle} failed.");
    let information = dictionary([
        ("NSLocalizedDescription", description.into()),
        ("NSLocalizedFailureReason", reason.into()),
    ]);
    dtx::error(DOMAIN, REFUSED, information)
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
