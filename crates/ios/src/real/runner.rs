//! WebDriverAgent's runner on a real phone: found among the apps, and run as a test through testmanagerd.
//!
//! The library runs the test. What the phone says when it refuses to start a runner is lost in it, so that the phone is
//! asked once more for its words.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use idevice::IdeviceService as _;
use idevice::dvt::message::AuxValue;
use idevice::dvt::remote_server::RemoteServerClient;
use idevice::dvt::xctest::listener::XCUITestListener;
use idevice::dvt::xctest::{TestConfig, XCUITestService};
use idevice::{IdeviceError, ReadWrite};
use mdm_core::port::{DeviceError, DeviceErrorKind};
use plist::{Dictionary, Value};

use super::core_device::{TunnelKind, tunnel_of};
use super::error::{Effect, told};
use super::link::Link;
use super::tunnel::KeptTunnel;
use super::{DeviceApp, RealDevice};

/// What Xcode puts behind the bundle id of tests that run as an app.
const RUNNER_SUFFIX: &str = ".xctrunner";
/// What the name of the wanted runner says, or its bundle id.
const WANTED: &str = "webdriveragent";
/// testmanagerd in the tunnel.
const TESTS: &str = "com.apple.dt.testmanagerd.remote";
const PROCESSES: &str = "com.apple.instruments.server.services.processcontrol";
const LAUNCH: &str = "launchSuspendedProcessWithDevicePath:bundleIdentifier:environment:arguments:options:";
/// How long the phone is waited for when it is asked why it started nothing.
const WORDS_WAIT: Duration = Duration::from_secs(5);
/// Before iOS 17 a runner reads a file if this is not empty, and no such file was written.
const CONFIGURATION: &str = "XCTestConfigurationFilePath";
const DIED: &str = "it crashed, or was ended on the phone";

type Stream = Box<dyn ReadWrite>;

/// Tells of a test that could not begin.
struct Listener;

impl XCUITestListener for Listener {
    async fn initialization_for_ui_testing_did_fail(&mut self, why: &str) -> Result<(), IdeviceError> {
        Err(IdeviceError::UnexpectedResponse(format!("its test could not begin: {why}")))
    }

    async fn did_fail_to_bootstrap(&mut self, why: &str) -> Result<(), IdeviceError> {
        Err(IdeviceError::UnexpectedResponse(format!("its test could not begin: {why}")))
    }
}

impl RealDevice {
    /// Returns the bundle id of an installed runner of WebDriverAgent: the one that is named, or else the first one.
    pub async fn find_runner(&self, named: Option<&str>) -> Result<Option<String>, DeviceError> {
        let apps = match named {
            Some(named) => self.app(named).await?.into_iter().collect(),
            None => self.apps(false).await?,
        };
        Ok(apps.into_iter().find(|app| named.is_some() || is_runner(app)).map(|app| app.bundle))
    }

    /// Runs an installed runner until its test ends, and returns why: WebDriverAgent's has no end of its own. The
    /// runner ends with this future.
    pub async fn run_runner(&self, bundle: &str) -> DeviceError {
        let version = match self.facts().await {
            Ok(facts) => facts.ios_version,
            Err(error) => return error,
        };
        if let Err(error) = self.check_services(&version).await {
            return error;
        }
        let runner = bundle.to_owned();
        let has_file = tunnel_of(&version) == TunnelKind::None;
        let provider = match self.link.provider().await {
            Ok(provider) => provider,
            Err(error) => return error,
        };
        let ended = super::link::guarded(async move {
            let mut apps = super::installed_apps(&provider).await?;
            let mut config = TestConfig::from_installation_proxy(&mut apps, &runner, None).await?;
            drop(apps);
            if has_file {
                let none = (CONFIGURATION.to_owned(), Value::from(""));
                config.runner_env = Some([none].into_iter().collect());
            }
            XCUITestService::new(Arc::new(provider)).run(config, &mut Listener, None).await
        });
        match ended.await {
            Err(error) => error,
            Ok(Ok(())) => gone("its test ended"),
            Ok(Err(error)) => self.why_ended(error, bundle, &version).await,
        }
    }

    /// Sees whether the phone runs tests at all; the error says what is missing.
    async fn check_services(&self, version: &str) -> Result<(), DeviceError> {
        match tunnel_of(version) {
            TunnelKind::None => return Ok(()),
            TunnelKind::OfAdministrators => {
                let detail = format!(
                    "tests of an iPhone with iOS {version} are started through a tunnel that needs an administrator; \
                     from iOS 17.4 on none is needed: update iOS, or start WebDriverAgent with Xcode"
                );
                return Err(DeviceError::new(DeviceErrorKind::ServiceMissing, detail));
            }
            TunnelKind::OverCable => {}
        }
        let tunnel = KeptTunnel::new(self.link.clone());
        match tunnel.discover().await?.offers(TESTS) {
            true => Ok(()),
            false => Err(tunnel.why_missing(TESTS).await),
        }
    }

    async fn why_ended(&self, error: IdeviceError, bundle: &str, version: &str) -> DeviceError {
        let rejected = |detail: String| DeviceError::new(DeviceErrorKind::Rejected, detail);
        match error {
            IdeviceError::AppNotInstalled => {
                let detail = format!("{bundle} is not installed on the iPhone (any more)");
                DeviceError::new(DeviceErrorKind::AppNotInstalled, detail)
            }
            IdeviceError::TestRunnerDisconnected => gone(DIED),
            // The same, when the library noticed it elsewhere first.
            IdeviceError::Socket(error) if error.kind() == io::ErrorKind::BrokenPipe => gone(DIED),
            IdeviceError::TestRunnerTimeout | IdeviceError::XcTestTimeout(_) => {
                rejected("its process runs, but its test does not answer: unlock the phone".to_owned())
            }
            IdeviceError::UnexpectedResponse(why) if why.starts_with("its test") => rejected(why),
            // So the library calls every answer that is no process.
            IdeviceError::UnexpectedResponse(_) | IdeviceError::InternalError(_) => {
                let asked = tokio::time::timeout(WORDS_WAIT, self.ask_why(bundle, version)).await;
                rejected(refusal(asked.ok().and_then(Result::ok).flatten()))
            }
            error => match told(error, &self.link.udid, Effect::Reads) {
                error if error.kind == DeviceErrorKind::ServiceMissing => {
                    KeptTunnel::new(self.link.clone()).why_missing("testmanagerd").await
                }
                error => error,
            },
        }
    }

    /// Asks the phone to start the runner as an app, only to read its words.
    async fn ask_why(&self, bundle: &str, version: &str) -> Result<Option<String>, DeviceError> {
        let bundle = bundle.to_owned();
        let ask = async move |mut service: RemoteServerClient<Stream>| {
            let mut channel = service.make_channel(PROCESSES).await?;
            let empty = || Value::Dictionary(Dictionary::new());
            let arguments = [Value::from(""), bundle.into(), empty(), Value::Array(Vec::new()), empty()];
            let arguments = arguments.map(AuxValue::archived_value).to_vec();
            channel.call_method(Some(LAUNCH), Some(arguments), true).await?;
            let answer = channel.read_message().await?;
            Ok(answer.raw_data.as_deref().and_then(reason))
        };
        if tunnel_of(version) == TunnelKind::OverCable {
            return KeptTunnel::new(self.link.clone()).with(Effect::Reads, ask).await;
        }
        let link: &Link = &self.link;
        link.with(Effect::Reads, async move |provider| {
            ask(RemoteServerClient::connect(&provider).await?).await
        })
        .await
    }
}

fn is_runner(app: &DeviceApp) -> bool {
    let says = |words: &str| words.to_lowercase().contains(WANTED);
    app.bundle.ends_with(RUNNER_SUFFIX) && (says(&app.bundle) || says(&app.name))
}

fn gone(why: &str) -> DeviceError {
    DeviceError::new(DeviceErrorKind::Offline, format!("WebDriverAgent ended: {why}"))
}

/// What the phone said, with what mends it where that is known.
fn refusal(words: Option<String>) -> String {
    let Some(words) = words else {
        return "the iPhone did not start it and does not say why: unlock it, and see that WebDriverAgent starts by \
                hand"
            .to_owned();
    };
    let mend = match words.contains("explicitly trusted") || words.contains("code signature") {
        true => {
            ": trust the developer in Settings, General, VPN & Device Management, or sign WebDriverAgent again if its \
             certificate is too old"
        }
        false => "",
    };
    format!("the iPhone did not start it{mend}. It says: {words:.400}")
}

/// The reason of an `NSError` in a keyed archive.
fn reason(bytes: &[u8]) -> Option<String> {
    let archive = plist::from_bytes::<Dictionary>(bytes).ok()?;
    let objects = archive.get("$objects")?.as_array()?;
    let at = |value: &Value| objects.get(usize::try_from(value.as_uid()?.get()).ok()?);
    let root = at(archive.get("$top")?.as_dictionary()?.get("root")?)?.as_dictionary()?;
    let information = at(root.get("NSUserInfo")?)?.as_dictionary()?;
    let (keys, values) =
        (information.get("NS.keys")?.as_array()?, information.get("NS.objects")?.as_array()?);
    let text = |wanted: &str| {
        let mut pairs = keys.iter().zip(values);
        let (_, value) = pairs.find(|(key, _)| at(key).and_then(Value::as_string) == Some(wanted))?;
        at(value)?.as_string().map(str::to_owned)
    };
    text("NSLocalizedFailureReason").or_else(|| text("NSLocalizedDescription"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_known_by_its_id_or_its_name() {
        let app = |bundle: &str, name: &str| DeviceApp {
            bundle: bundle.to_owned(),
            name: name.to_owned(),
            ..DeviceApp::default()
        };
        assert!(is_runner(&app("com.facebook.WebDriverAgentRunner.xctrunner", "")));
        assert!(is_runner(&app("org.ada.tests.xctrunner", "WebDriverAgentRunner-Runner")));
        assert!(!is_runner(&app("org.ada.ShopUITests.xctrunner", "ShopUITests-Runner")));
        assert!(!is_runner(&app("com.facebook.WebDriverAgentLib", "WebDriverAgentLib")));
    }

    #[test]
    fn nonsense_has_no_reason() {
        assert_eq!(reason(b""), None);
        assert_eq!(reason(b"bplist00"), None);
    }
}
