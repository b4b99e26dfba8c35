//! Starts the helper on a device and connects to it.

use std::sync::Arc;

use bytes::BytesMut;
use mdm_wire::adb::shell::Packet;
use mdm_wire::helper::{
    Answer, FAILED_START, Hello, MAIN_CLASS, NONCE_BYTES, READY_LINE, Request, VERSION, Welcome,
};
use rsa::rand_core::{OsRng, RngCore};
use tokio::time::{Duration, timeout};

use super::heard::EventMemory;
use super::jar::JAR;
use super::link::Link;
use crate::adb::shell::ShellStream;
use crate::adb::{Adb, AdbError, Script};

/// A phone takes about a second to start a virtual machine; a slow one with a full memory takes several.
const START_MAX: Duration = Duration::from_secs(15);
/// Output before the ready line that is read.
const OUTPUT_BYTES_MAX: usize = 8 * 1024;
const JAR_MODE: u32 = 0o644;

/// What belongs to one start.
pub struct Names {
    pub file: String,
    pub socket: String,
}

impl Names {
    pub fn new(session: u64, number: u64) -> Names {
        let name = format!("{session:016x}-{number}");
        Names {
            file: format!("/data/local/tmp/.mdm-helper-{name}.jar"),
            socket: format!("mdm-helper-{name}"),
        }
    }
}

/// Why the helper does not run.
pub enum StartError {
    /// There is no device.
    Adb(AdbError),
    /// What is wrong with the helper, for people.
    Failed(String),
}

impl From<AdbError> for StartError {
    fn from(error: AdbError) -> StartError {
        if super::is_no_device(&error) { StartError::Adb(error) } else { failed(error.to_string()) }
    }
}

fn failed(why: impl Into<String>) -> StartError {
    StartError::Failed(why.into())
}

/// Starts the helper and greets it.
pub async fn start(
    adb: &Adb,
    names: &Names,
    memory: Arc<EventMemory>,
) -> Result<(Link, Welcome), StartError> {
    match timeout(START_MAX, start_at_leisure(adb, names, memory)).await {
        Ok(started) => started,
        Err(_) => Err(failed(format!("it was not ready within {} s", START_MAX.as_secs()))),
    }
}

async fn start_at_leisure(
    adb: &Adb,
    names: &Names,
    memory: Arc<EventMemory>,
) -> Result<(Link, Welcome), StartError> {
    if !adb.features().await?.shell_v2 {
        return Err(failed("the device's adbd is too old to tell a command's input from its output"));
    }
    let mut nonce = [0; NONCE_BYTES];
    OsRng.fill_bytes(&mut nonce);
    adb.push(&mut &*JAR, &names.file, JAR_MODE, 0, |_| {}).await?;
    let script = Script::new("CLASSPATH=")
        .joined(&names.file)
        .then(" app_process /")
        .arg(MAIN_CLASS)
        .arg(&names.socket)
        .arg(&names.file);
    let mut shell = adb.shell_stream(&script).await?;
    let mut line: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
    line.push('\n');
    shell.write_stdin(line.as_bytes()).await?;
    wait_until_ready(&mut shell).await?;
    let stream = adb.open(&format!("localabstract:{}", names.socket)).await?;
    let link = Link::new(stream, shell, memory);
    match link.request(&Request::Hello(Hello { version: VERSION, nonce })).await {
        Ok(Answer::Hello(welcome)) if welcome.version == VERSION => Ok((link, welcome)),
        Ok(Answer::Hello(welcome)) => {
            Err(failed(format!("it speaks version {} of the protocol", welcome.version)))
        }
        Ok(other) => Err(failed(format!("it answered a greeting with {other:.80?}"))),
        Err(error) => Err(failed(mdm_core::port::DeviceError::from(error).detail)),
    }
}

/// Reads up to the line that says that the helper listens.
async fn wait_until_ready(shell: &mut ShellStream) -> Result<(), StartError> {
    let (mut stdout, mut said) = (BytesMut::new(), BytesMut::new());
    loop {
        match shell.next().await? {
            Some(Packet::Stdout(data)) => stdout.extend_from_slice(&data),
            Some(Packet::Stderr(data)) => said.extend_from_slice(&data),
            Some(Packet::Exit(code)) => {
                said.extend_from_slice(&stdout);
                return Err(failed(format!("it ended with exit code {code}: {}", first_words(&said))));
            }
            Some(_) => {}
            None => return Err(failed(format!("its shell was closed: {}", first_words(&said)))),
        }
        let text = String::from_utf8_lossy(&stdout);
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim);
        for line in lines {
            if line == READY_LINE {
                return Ok(());
            }
            if let Some(why) = line.strip_prefix(FAILED_START) {
                return Err(failed(format!("it says: {why:.200}")));
            }
        }
        if stdout.len() + said.len() > OUTPUT_BYTES_MAX {
            return Err(failed(format!("it wrote much and was never ready: {}", first_words(&said))));
        }
    }
}

fn first_words(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.chars().take(200).collect()
}
