//! Trust between this computer and a phone. A phone without a record in usbmuxd is asked for it, as every computer does
//! into which a phone is plugged: it shows a dialog, and its owner answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use idevice::lockdown::LockdownClient;
use idevice::{IdeviceError, IdeviceService as _};
use mdm_core::port::DeviceError;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::LABEL;
use super::error::{Effect, told};
use super::link::{Link, connect_mux};

/// How long the owner has to answer, and how long a caller waits for that.
const ANSWER_MAX: Duration = Duration::from_secs(120);
const CALLER_WAIT: Duration = Duration::from_secs(1);
/// Phones that are remembered; an older question may then be asked again.
const PHONES_MAX: usize = 64;

type Asking = JoinHandle<Result<(), DeviceError>>;

/// The phones that are being asked, by their id. The question goes on between two calls.
#[derive(Default)]
pub struct Pairings {
    asking: StdMutex<BTreeMap<String, Arc<Mutex<Option<Asking>>>>>,
}

impl Pairings {
    /// Asks the phone to trust this computer, unless it is being asked. The error says what its owner has to do.
    pub async fn ask(&self, link: &Link) -> Result<(), DeviceError> {
        let own = self.of(&link.udid);
        let mut asking = own.lock().await;
        let task = asking.get_or_insert_with(|| {
            let link = link.clone();
            tokio::spawn(async move {
                let answered = tokio::time::timeout(ANSWER_MAX, pair(&link)).await;
                answered.unwrap_or_else(|_| Err(pending(&link)))
            })
        });
        let Ok(ended) = tokio::time::timeout(CALLER_WAIT, task).await else { return Err(pending(link)) };
        *asking = None;
        ended.unwrap_or_else(|_| {
            let odd = IdeviceError::UnexpectedResponse("the pairing broke off".to_owned());
            Err(told(odd, &link.udid, Effect::Reads))
        })
    }

    /// Each phone has a question of its own, so that one whose owner is away keeps no other waiting.
    fn of(&self, udid: &str) -> Arc<Mutex<Option<Asking>>> {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if asking.len() >= PHONES_MAX {
            asking.clear();
        }
        Arc::clone(asking.entry(udid.to_owned()).or_default())
    }
}

fn pending(link: &Link) -> DeviceError {
    told(IdeviceError::PairingDialogResponsePending, &link.udid, Effect::Reads)
}

/// Asks until the owner has answered, and gives the record to usbmuxd, which keeps it for every program.
async fn pair(link: &Link) -> Result<(), DeviceError> {
    let (mut ids, mut keeper) = (connect_mux(&link.mux).await?, connect_mux(&link.mux).await?);
    let udid = link.udid.clone();
    link.with(Effect::Acts, async move |provider| {
        let buid = ids.get_buid().await?;
        let mut lockdown = LockdownClient::connect(&provider).await?;
        let host = Uuid::new_v4().to_string().to_uppercase();
        let record = lockdown.pair(host, buid, Some(LABEL)).await?;
        keeper.save_pair_record(&udid, record.serialize()?).await
    })
    .await
}
