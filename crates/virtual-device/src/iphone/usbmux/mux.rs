//! usbmuxd: lists the phone, keeps pairing records, and connects to ports of the phone.

use std::io;

use plist::{Dictionary, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

use super::device::StartedService;
use super::plists::{dictionary, text};
use super::{Wire, lockdown, pairing, services};
use crate::iphone::{IPhone, IPhoneKind};

const HEAD_BYTES: u32 = 16;
const MESSAGE_BYTES_MAX: u32 = 1024 * 1024;
const PLIST_VERSION: u32 = 1;
const PLIST_MESSAGE: u32 = 8;
/// Answers of a result.
const OK: u64 = 0;
const BAD_COMMAND: u64 = 1;
const BAD_DEVICE: u64 = 2;
const REFUSED: u64 = 3;
const BAD_VERSION: u64 = 6;
const DEVICE_ID: u64 = 5;
const BUID: &str = "30142955-444094379208051516";

type Stream = Box<dyn Wire>;

/// What is behind a port of the phone.
enum Target {
    Lockdown,
    Service(StartedService),
    Program(tokio::io::DuplexStream),
}

pub async fn serve(phone: &IPhone, mut stream: Stream) -> io::Result<()> {
    pairing::prepare(phone);
    loop {
        let (version, tag, request) = read(&mut stream).await?;
        if version != PLIST_VERSION {
            result(&mut stream, tag, BAD_VERSION).await?;
            continue;
        }
        match text(&request, "MessageType") {
            Some("ListDevices") => {
                let devices: Vec<Value> = attached(phone).into_iter().collect();
                write(&mut stream, tag, &dictionary([("DeviceList", Value::Array(devices))])).await?;
            }
            Some("Listen") => {
                result(&mut stream, tag, OK).await?;
                return listen(phone, &mut stream).await;
            }
            Some("ReadBUID") => write(&mut stream, tag, &dictionary([("BUID", BUID.into())])).await?,
            Some("ReadPairRecord") => {
                let udid = text(&request, "PairRecordID").unwrap_or_default();
                match phone.device(|device| device.record(udid)) {
                    Some(record) => {
                        write(&mut stream, tag, &dictionary([("PairRecordData", Value::Data(record))]))
                            .await?;
                    }
                    None => result(&mut stream, tag, BAD_DEVICE).await?,
                }
            }
            Some("SavePairRecord") => {
                let record = request.get("PairRecordData").and_then(Value::as_data).map(<[u8]>::to_vec);
                let saved = text(&request, "PairRecordID").zip(record);
                let code = if saved.is_some() { OK } else { BAD_COMMAND };
                if let Some((udid, record)) = saved {
                    phone.device(|device| device.save_record(udid, record));
                }
                result(&mut stream, tag, code).await?;
            }
            Some("DeletePairRecord") => {
                let udid = text(&request, "PairRecordID").unwrap_or_default();
                let gone = phone.device(|device| device.delete_record(udid));
                result(&mut stream, tag, if gone { OK } else { BAD_DEVICE }).await?;
            }
            Some("Connect") => match target(phone, &request) {
                Ok(target) => {
                    result(&mut stream, tag, OK).await?;
                    return connect(phone, stream, target).await;
                }
                Err(code) => result(&mut stream, tag, code).await?,
            },
            _ => result(&mut stream, tag, BAD_COMMAND).await?,
        }
    }
}

/// The phone as usbmuxd describes it, while it is plugged in.
fn attached(phone: &IPhone) -> Option<Value> {
    let config = phone.config();
    if config.kind != IPhoneKind::Device || !phone.phone().is_plugged() {
        return None;
    }
    let properties = dictionary([
        ("ConnectionSpeed", 480_000_000_u64.into()),
        ("ConnectionType", "USB".into()),
        ("DeviceID", DEVICE_ID.into()),
        ("LocationID", 1_048_576_u64.into()),
        ("ProductID", 4776_u64.into()),
        ("SerialNumber", config.udid.as_str().into()),
        ("USBSerialNumber", config.udid.replace('-', "").into()),
    ]);
    Some(dictionary([
        ("DeviceID", DEVICE_ID.into()),
        ("MessageType", "Attached".into()),
        ("Properties", properties),
    ]))
}

/// Tells when the phone comes and goes, until the client hangs up.
async fn listen(phone: &IPhone, stream: &mut Stream) -> io::Result<()> {
    let (sender, mut plugged) = watch::channel(0);
    phone.phone().on_plug(sender);
    let mut shown = false;
    loop {
        let present = attached(phone);
        match (&present, shown) {
            (Some(device), false) => write(stream, 0, device).await?,
            (None, true) => {
                let detached =
                    dictionary([("DeviceID", DEVICE_ID.into()), ("MessageType", "Detached".into())]);
                write(stream, 0, &detached).await?;
            }
            _ => {}
        }
        shown = present.is_some();
        let mut byte = [0];
        tokio::select! {
            changed = plugged.changed() => if changed.is_err() {
                return Ok(());
            },
            read = stream.read(&mut byte) => if read? == 0 {
                return Ok(());
            },
        }
    }
}

fn target(phone: &IPhone, request: &Dictionary) -> Result<Target, u64> {
    let number = |key: &str| request.get(key).and_then(Value::as_unsigned_integer);
    if number("DeviceID") != Some(DEVICE_ID) || attached(phone).is_none() {
        return Err(BAD_DEVICE);
    }
    // The port is in the order of the network inside a number in the order of the host.
    let port =
        number("PortNumber").and_then(|port| u16::try_from(port).ok()).ok_or(BAD_COMMAND)?.swap_bytes();
    if port == lockdown::PORT {
        return Ok(Target::Lockdown);
    }
    if let Some(service) = phone.device(|device| device.take_service(port)) {
        return Ok(Target::Service(service));
    }
    let program = match phone.runner_listens(port) {
        true => Some(phone.connect_wda()),
        false => phone.device(|device| device.port(port)),
    };
    match program {
        Some(Ok(program)) => Ok(Target::Program(program)),
        _ => Err(REFUSED),
    }
}

/// Runs what is behind the port until either side ends it, or the cable is pulled.
async fn connect(phone: &IPhone, mut stream: Stream, target: Target) -> io::Result<()> {
    let (sender, mut plugged) = watch::channel(0);
    phone.phone().on_plug(sender);
    let unplugged = async { while phone.phone().is_plugged() && plugged.changed().await.is_ok() {} };
    let work = async {
        match target {
            Target::Lockdown => lockdown::serve(phone, stream).await,
            Target::Service(service) => services::serve(phone, stream, &service).await,
            Target::Program(mut program) => {
                tokio::io::copy_bidirectional(&mut stream, &mut program).await.map(drop)
            }
        }
    };
    tokio::select! {
        () = unplugged => Ok(()),
        done = work => done,
    }
}

async fn read(stream: &mut Stream) -> io::Result<(u32, u32, Dictionary)> {
    let length = stream.read_u32_le().await?;
    let version = stream.read_u32_le().await?;
    let message = stream.read_u32_le().await?;
    let tag = stream.read_u32_le().await?;
    if !(HEAD_BYTES..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(io::Error::other("a bad length"));
    }
    let mut bytes = vec![0; (length - HEAD_BYTES) as usize];
    stream.read_exact(&mut bytes).await?;
    if message != PLIST_MESSAGE {
        return Ok((0, tag, Dictionary::new()));
    }
    let request = plist::from_bytes::<Value>(&bytes).ok().and_then(Value::into_dictionary);
    Ok((version, tag, request.unwrap_or_default()))
}

async fn result(stream: &mut Stream, tag: u32, number: u64) -> io::Result<()> {
    write(stream, tag, &dictionary([("MessageType", "Result".into()), ("Number", number.into())])).await
}

async fn write(stream: &mut Stream, tag: u32, message: &Value) -> io::Result<()> {
    let mut content = Vec::new();
    message.to_writer_xml(&mut content).map_err(io::Error::other)?;
    let length = u32::try_from(content.len()).map_err(io::Error::other)? + HEAD_BYTES;
    // In one piece: clients read the head with one call and want it whole.
    let mut bytes = [length, PLIST_VERSION, PLIST_MESSAGE, tag].map(u32::to_le_bytes).concat();
    bytes.extend_from_slice(&content);
    stream.write_all(&bytes).await?;
    stream.flush().await
}
