//! The proxy of the whole device, and ports of it that lead to this machine.

use mdm_core::port::{DeviceError, DeviceErrorKind, NetworkCommand, NetworkReport};

use crate::adb::Script;
use crate::device::AndroidDevice;

/// Output of the commands that read and set the proxy.
const ANSWER_BYTES_MAX: usize = 4096;
/// Clears the proxy at once. Deleting the setting would leave it in force until the next boot.
const NO_PROXY: &str = ":0";

pub async fn command(device: &AndroidDevice, command: &NetworkCommand) -> Result<NetworkReport, DeviceError> {
    match command {
        NetworkCommand::Read => {
            let output = device.run(&Script::new("settings get global http_proxy"), ANSWER_BYTES_MAX).await?;
            // A device without reverse forwards may not know the question; it has none then.
            let opened = device.adb().reverse_list().await.unwrap_or_default();
            Ok(NetworkReport { proxy: proxy(&output.stdout_text()), device_port: None, opened })
        }
        NetworkCommand::Open { host_port } => {
            let port =
                device.adb().reverse(0, *host_port).await.map_err(|error| device.effect_error(error))?;
            Ok(NetworkReport { device_port: Some(port), ..NetworkReport::default() })
        }
        NetworkCommand::Close { device_port } => {
            let closed = device.adb().remove_reverse(*device_port).await;
            closed.map(|()| NetworkReport::default()).map_err(|error| device.effect_error(error))
        }
        NetworkCommand::UseProxy { address } => {
            let value = address.as_deref().unwrap_or(NO_PROXY);
            if !is_address(value) {
                let detail = format!("{value:?} is not HOST:PORT");
                return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
            }
            let output = device.act(&Script::new("settings put global http_proxy").arg(value)).await?;
            // The command ends well when the settings provider refuses, and says so.
            if !output.message().is_empty() {
                let detail = format!("the device did not take the proxy: {:.200}", output.message());
                return Err(DeviceError::new(DeviceErrorKind::Rejected, detail));
            }
            Ok(NetworkReport { proxy: address.clone(), ..NetworkReport::default() })
        }
    }
}

/// The value of the setting; `null`, nothing and `:0` mean none.
fn proxy(value: &str) -> Option<String> {
    let value = value.trim();
    let is_one = !matches!(value, "" | "null" | NO_PROXY) && !value.ends_with(NO_PROXY);
    is_one.then(|| value.to_owned())
}

/// Keeps out what could be taken for an option or break the line.
fn is_address(value: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let port = value.rsplit_once(':').map(|(_, port)| port);
    value.len() <= 300
        && !value.starts_with('-')
        && value.chars().all(allowed)
        && port.is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_is_written_in_three_ways() {
        for none in ["null\n", "", ":0", "\n"] {
            assert_eq!(proxy(none), None, "{none:?}");
        }
        assert_eq!(proxy("10.0.0.5:8080\n").as_deref(), Some("10.0.0.5:8080"));
    }

    #[test]
    fn only_an_address_is_sent() {
        // SE-01
        for good in ["127.0.0.1:40000", ":0", "proxy.example:3128", "[::1]:80"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "-x:1", "a", "a:b", "a b:1", "a:1;reboot", "a:99999", "$(x):1"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
