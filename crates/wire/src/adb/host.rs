//! The host protocol of the adb server: four hexadecimal digits of length, then text.

use super::{WireError, wire_error};

/// Largest text that a length prefix can express.
const TEXT_BYTES_MAX: usize = 0xffff;

pub const OKAY: &[u8; 4] = b"OKAY";
pub const FAIL: &[u8; 4] = b"FAIL";

/// Encodes a text with its length: `000chost:version`. A longer text than the prefix can express is an error.
pub fn encode_text(text: &str) -> Result<Vec<u8>, WireError> {
    if text.len() > TEXT_BYTES_MAX {
        return wire_error(format!("request of {} bytes exceeds {TEXT_BYTES_MAX}", text.len()));
    }
    Ok(format!("{:04x}{text}", text.len()).into_bytes())
}

pub fn decode_length(prefix: &[u8; 4]) -> Result<usize, WireError> {
    let text = std::str::from_utf8(prefix).unwrap_or("");
    if !text.bytes().all(|b| b.is_ascii_hexdigit()) || text.is_empty() {
        return wire_error(format!("expected four hexadecimal digits, got {prefix:02x?}"));
    }
    usize::from_str_radix(text, 16).or_else(|e| wire_error(e.to_string()))
}

/// One line of `host:devices-l`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLine {
    pub serial: String,
    /// `device`, `offline`, `unauthorized`, `authorizing`, `no permissions`, `recovery`, …
    pub state: String,
    pub model: Option<String>,
}

/// Parses the device list. Lines that are not devices are skipped, because the server's text is untrusted.
pub fn parse_devices(text: &str) -> Vec<DeviceLine> {
    text.lines().filter_map(parse_device_line).collect()
}

fn parse_device_line(line: &str) -> Option<DeviceLine> {
    let (serial, rest) = line.split_once([' ', '\t'])?;
    let rest = rest.trim_start();
    let attribute = |key: &str| {
        rest.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix(':')).map(str::to_owned)
    };
    // "no permissions (reason); see [url]" is the only state with a space in it.
    let state = if rest.starts_with("no permissions") { "no permissions" } else { rest.split(' ').next()? };
    if serial.is_empty() || state.is_empty() {
        return None;
    }
    Some(DeviceLine { serial: serial.to_owned(), state: state.to_owned(), model: attribute("model") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_prefixes_are_encoded_and_decoded() {
        assert_eq!(encode_text("host:version").unwrap(), b"000chost:version");
        assert_eq!(decode_length(b"00fF").unwrap(), 255);
        assert!(decode_length(b"+0ff").is_err());
        assert!(decode_length(b"\xff\xff\xff\xff").is_err());
        assert!(encode_text(&"x".repeat(TEXT_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn device_lines_are_parsed_in_every_state() {
        let text = "emulator-5554          device product:sdk model:Pixel_9 device:emu transport_id:1\n\
                    R58M\tunauthorized\n192.168.0.7:5555 offline\n\
                    0123  no permissions (missing udev rules?); see [http://x] usb:1-1\n\njunk\n";
        let devices = parse_devices(text);
        let states: Vec<_> = devices.iter().map(|d| (d.serial.as_str(), d.state.as_str())).collect();
        assert_eq!(
            states,
            [
                ("emulator-5554", "device"),
                ("R58M", "unauthorized"),
                ("192.168.0.7:5555", "offline"),
                ("0123", "no permissions")
            ]
        );
        assert_eq!(devices[0].model.as_deref(), Some("Pixel_9"));
    }
}
