//! Any bytes as a transport; half of the runs begin with a good handshake and use frames with valid headers.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mdm_wire::adb::frame::{Command, Frame};

const COMMANDS: [Command; 8] = [
    Command::Sync,
    Command::Connect,
    Command::Auth,
    Command::Open,
    Command::Okay,
    Command::Close,
    Command::Write,
    Command::StartTls,
];

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    if first % 2 == 0 {
        return mdm_fuzz::attack(rest);
    }
    let mut all = vec![mdm_fuzz::connect()];
    let mut rest = rest;
    while let [command, arg0, arg1, length, tail @ ..] = rest {
        let payload = &tail[..tail.len().min(usize::from(*length))];
        rest = &tail[payload.len()..];
        let command = COMMANDS[usize::from(*command) % COMMANDS.len()];
        let (arg0, arg1) = (u32::from(arg0 % 8), u32::from(arg1 % 8));
        all.push(Frame::new(command, arg0, arg1, Bytes::copy_from_slice(payload)));
    }
    mdm_fuzz::attack(&mdm_fuzz::frames(&all));
});
