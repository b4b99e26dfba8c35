//! The log of the phone, as text and as records.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::iphone::IPhone;
use crate::iphone::system_log::LogMessage;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::plists::{dictionary, read_dictionary, text, write};

/// Bytes of one record before its texts.
const RECORD_HEAD_BYTES: usize = 129;
const TEXT_BYTES_MAX: usize = 32 * 1024;

/// `syslog_relay`: lines, each with a zero byte after it, from now on.
pub async fn relay(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    // The name of the phone stands in each line as a host's does, so it has no blanks.
    let host = phone.config().name.replace(' ', "-");
    follow(phone, stream, |message| format!("{}\n\0", message.relayed(&host)).into_bytes()).await
}

/// `os_trace_relay`: the same as records with their parts apart.
pub async fn trace(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    loop {
        let request = read_dictionary(stream).await?;
        stream.write_u8(1).await?;
        match text(&request, "Request") {
            Some("PidList") => {
                let pids = phone.apps().into_iter().filter_map(|app| {
                    let name = dictionary([("ProcessName", app.executable.as_str().into())]);
                    Some((app.pid?.to_string(), name))
                });
                let payload = plist::Value::Dictionary(pids.collect());
                let answer = dictionary([("Payload", payload), ("Status", "RequestSuccessful".into())]);
                write(stream, &answer).await?;
            }
            Some("StartActivity") => {
                write(stream, &dictionary([("Status", "RequestSuccessful".into())])).await?;
                return follow(phone, stream, record).await;
            }
            _ => return write(stream, &dictionary([("Status", "RequestFailed".into())])).await,
        }
    }
}

async fn follow(
    phone: &IPhone,
    stream: &mut (impl Wire + ?Sized),
    print: impl Fn(&LogMessage) -> Vec<u8>,
) -> io::Result<()> {
    let mut changed = phone.phone().log_watch();
    let (_, mut next) = phone.log_since(0);
    loop {
        let (messages, after) = phone.log_since(next);
        next = after;
        for message in &messages {
            stream.write_all(&print(message)).await?;
        }
        stream.flush().await?;
        let mut ignored = [0; 256];
        tokio::select! {
            grows = phone.log_grows(&mut changed) => if !grows {
                return Ok(());
            },
            read = stream.read(&mut ignored) => if read? == 0 {
                return Ok(());
            },
        }
    }
}

/// A byte 2, the length, a head of fixed places, then five texts that end with zero.
fn record(message: &LogMessage) -> Vec<u8> {
    let cut = |text: &str| {
        let letters = text.char_indices().take_while(|(at, letter)| at + letter.len_utf8() <= TEXT_BYTES_MAX);
        let kept: String = letters.map(|(_, letter)| letter).filter(|letter| *letter != '\0').collect();
        let mut bytes = kept.into_bytes();
        bytes.push(0);
        bytes
    };
    let file = cut(&format!("/private/var/containers/Bundle/Application/{0}.app/{0}", message.process));
    let (image, text) = (cut(&message.process), cut(&message.text));
    let (subsystem, category) = (cut(&message.bundle), cut(&message.category));
    let mut head = vec![0; RECORD_HEAD_BYTES];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = head.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    put(9, &message.pid.to_le_bytes());
    put(13, &u64::from(message.pid).to_le_bytes());
    put(55, &((message.wall_ms / 1000) as u32).to_le_bytes());
    put(63, &((message.wall_ms % 1000 * 1000) as u32).to_le_bytes());
    let level = match message.kind {
        "Info" => 1,
        "Debug" => 2,
        "Error" => 0x10,
        "Fault" => 0x11,
        _ => 0,
    };
    put(68, &[level]);
    put(83, &u64::from(message.thread).to_le_bytes());
    put(107, &(image.len() as u16).to_le_bytes());
    put(109, &(text.len() as u16).to_le_bytes());
    put(117, &(subsystem.len() as u32).to_le_bytes());
    put(121, &(category.len() as u32).to_le_bytes());
    let body = [head, file, image, text, subsystem, category].concat();
    let mut out = vec![2];
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    out.extend_from_slice(&body);
    out
}
