//! The virtual iPhone as a separate process.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::process::{BINARY, Folder, Talker, run};

/// A door of the phone for one kind of client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Companion,
    CompanionSocket,
    Wda,
    Usbmuxd,
    Xcrun,
}

impl Face {
    /// How the phone names this face when it says where it is.
    fn name(self) -> &'static str {
        match self {
            Face::Companion => "companion",
            Face::CompanionSocket => "companion socket",
            Face::Wda => "wda",
            Face::Usbmuxd => "usbmuxd",
            Face::Xcrun => "xcrun",
        }
    }

    fn options(self, folder: &Folder) -> [String; 2] {
        let (option, value) = match self {
            Face::Companion => ("--companion-port", "0".to_owned()),
            Face::CompanionSocket => ("--companion-socket", in_folder(folder, "idb.sock")),
            Face::Wda => ("--wda-port", "0".to_owned()),
            Face::Usbmuxd => ("--usbmuxd", "127.0.0.1:0".to_owned()),
            Face::Xcrun => ("--xcrun", in_folder(folder, "bin")),
        };
        [option.to_owned(), value]
    }
}

fn in_folder(folder: &Folder, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

pub struct IPhone {
    /// No other phone has it: idb notes each in a file that all its users share.
    pub udid: String,
    places: Vec<(String, String)>,
    /// For what the phone and its client write.
    pub folder: Folder,
    _talker: Talker,
}

impl IPhone {
    pub fn start(faces: &[Face]) -> IPhone {
        IPhone::start_with(faces, &[])
    }

    /// With options that no face has.
    pub fn start_with(faces: &[Face], options: &[&str]) -> IPhone {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let udid = format!("6B2F5A0C-7F0E-4C57-9F2B-{:08X}{count:04X}", std::process::id());
        let folder = Folder::new();
        let mut command = Command::new(BINARY);
        command.args(["virtual", "ios", "--timing", "instant", "--udid", &udid]);
        command.args(options).args(faces.iter().flat_map(|face| face.options(&folder)));
        let talker = Talker::start(&mut command);
        let places = faces.iter().map(|_| place(&talker)).collect();
        IPhone { udid, places, folder, _talker: talker }
    }

    /// The address or path of a face that was asked for.
    #[track_caller]
    pub fn place(&self, face: Face) -> &str {
        let found = self.places.iter().find(|(name, _)| name == face.name());
        &found.unwrap_or_else(|| panic!("no {} in {:?}", face.name(), self.places)).1
    }
}

fn place(talker: &Talker) -> (String, String) {
    let line = talker.hear().unwrap_or_else(|| panic!("the phone ended: {:?}", talker.hear_stderr()));
    let (name, place) = line.split_once(": ").unwrap_or_else(|| panic!("the phone said {line:?}"));
    (name.to_owned(), place.to_owned())
}

#[test]
fn every_face_says_where_it_is() {
    let faces = [Face::Xcrun, Face::Usbmuxd, Face::CompanionSocket, Face::Wda, Face::Companion];
    let phone = IPhone::start(&faces);
    for face in [Face::Companion, Face::Wda, Face::Usbmuxd] {
        let address = phone.place(face);
        TcpStream::connect(address).unwrap_or_else(|e| panic!("{} at {address}: {e}", face.name()));
    }
    UnixStream::connect(phone.place(Face::CompanionSocket)).unwrap();
    let list = |phone: &IPhone| {
        run(Command::new(phone.place(Face::Xcrun)).args(["simctl", "list", "devices", "-j"])).ok().out()
    };
    let on_a_cable = list(&phone);
    assert!(!on_a_cable.contains(&phone.udid), "a phone on a cable is no simulator: {on_a_cable}");
    let simulator = IPhone::start(&[Face::Xcrun]);
    let listed = list(&simulator);
    assert!(listed.contains(&simulator.udid), "{listed}");
}
