//! The phones: each with an app whose buttons count, behind a port of its own. They run on threads of their own, so that
//! what they compute is not taken for the server's time.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use mdm_virtual_device::{AppFile, Phone, PhoneConfig, Timing};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::disturbances::Disturbances;

pub const APP: &str = "org.example.soak";
/// Enough names that none is used again while the fate of an older touch is unknown.
pub const BUTTONS: usize = 24;

/// The end of the field's id.
pub const FIELD: &str = "note";

pub struct Phones {
    pub all: Vec<Arc<SoakPhone>>,
    /// Ends the phones when it is dropped.
    _runtime: Runtime,
}

pub struct SoakPhone {
    pub phone: Phone,
    /// The id under which the server knows it.
    pub id: String,
    /// The words that only this phone shows.
    pub title: String,
    /// When it was away.
    pub outages: Disturbances,
    /// When a client left it in the middle of an action.
    pub hang_ups: Disturbances,
}

impl SoakPhone {
    fn new(phone: Phone, id: String, title: String) -> SoakPhone {
        SoakPhone { phone, id, title, outages: Disturbances::default(), hang_ups: Disturbances::default() }
    }
}

pub fn button(number: usize) -> String {
    format!("Press {number:02}")
}

impl Phones {
    pub fn start(count: usize, seed: u64) -> Result<Phones, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        for number in 0..count {
            let title = format!("Soak phone {number:03}");
            let app = AppFile::parse(&app(&title)).map_err(|error| format!("the app: {error}"))?;
            let phone = Phone::new(PhoneConfig {
                timing: Timing::Brisk,
                apps: vec![app],
                seed: seed.wrapping_add(number as u64),
                ..PhoneConfig::default()
            });
            let address = serve(&runtime, phone.clone())?;
            all.push(Arc::new(SoakPhone::new(phone, address.to_string(), title)));
        }
        Ok(Phones { all, _runtime: runtime })
    }
}

fn serve(runtime: &Runtime, phone: Phone) -> Result<SocketAddr, String> {
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let address = listener.as_ref().map_err(ToString::to_string);
        let address = address.and_then(|listener| listener.local_addr().map_err(|error| error.to_string()));
        if tell.send(address).is_ok()
            && let Ok(listener) = listener
        {
            // It ends with the runtime.
            drop(phone.serve(listener).await);
        }
    });
    told.recv_timeout(Duration::from_secs(10)).map_err(|error| error.to_string())?
}

fn app(title: &str) -> String {
    let buttons: Vec<String> = (0..BUTTONS)
        .map(|number| {
            let text = button(number);
            format!(r#"{{"type":"button","width":120,"text":"{text}","on_tap":[{{"add":{{"count":1}}}}]}}"#)
        })
        .collect();
    let rows: Vec<String> =
        buttons.chunks(3).map(|row| format!(r#"{{"type":"row","children":[{}]}}"#, row.join(","))).collect();
    format!(
        r#"{{"package":"{APP}","label":"Soak","start":"Main","values":{{"count":0,"note":""}},
        "screens":{{"Main":{{"content":[
            {{"type":"heading","id":"title","text":"{title}"}},
            {{"type":"text","id":"count","text":"Count {{count}}"}},
            {{"type":"field","id":"note","value":"note","hint":"Note"}},
            {}
        ]}}}}}}"#,
        rows.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_is_one_that_a_phone_takes() {
        assert!(AppFile::parse(&app("Soak phone 001")).is_ok());
    }
}
