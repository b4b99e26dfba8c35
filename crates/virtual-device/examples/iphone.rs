//! Starts a virtual iPhone with its faces and prints where they are, for trying other people's programs by hand:
//! `cargo run -p mdm-virtual-device --example iphone -- FOLDER`.

use std::io::{self, Write as _};
use std::path::Path;

use mdm_virtual_device::{IPhone, IPhoneConfig, IPhoneKind, xcrun};
use tokio::net::TcpListener;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [stand_in, socket, rest @ ..] if stand_in == xcrun::STAND_IN => {
            let streams = xcrun::Streams {
                stdin: &mut io::stdin(),
                stdout: &mut io::stdout(),
                stderr: &mut io::stderr(),
            };
            let code = xcrun::client(Path::new(socket), rest, streams)?;
            std::process::exit(i32::from(code));
        }
        [folder] => run(Path::new(folder)),
        _ => Err(io::Error::other("usage: iphone FOLDER")),
    }
}

fn run(folder: &Path) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let simulator = IPhone::new(IPhoneConfig::default());
        let listener = simulator.install_xcrun(folder, &std::env::current_exe()?)?;
        let device = IPhone::new(IPhoneConfig {
            udid: "00008130-001A2B3C4D5E6F70".to_owned(),
            ios_version: "16.7".to_owned(),
            kind: IPhoneKind::Device,
            ..IPhoneConfig::default()
        });
        let usbmuxd = TcpListener::bind("127.0.0.1:0").await?;
        let mut out = io::stdout();
        writeln!(out, "xcrun: {}", folder.display())?;
        writeln!(out, "usbmuxd: {}", usbmuxd.local_addr()?)?;
        out.flush()?;
        // The log of the device has something to say every second.
        let busy = device.clone();
        tokio::spawn(async move {
            loop {
                busy.launch_app("com.shop", true);
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        });
        tokio::select! {
            done = simulator.serve_xcrun(listener) => done,
            done = device.serve_usbmuxd(usbmuxd) => done,
        }
    })
}
