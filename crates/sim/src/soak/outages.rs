//! Phones that drop out and come back, by the seed's plan.

use std::sync::Arc;
use std::time::Duration;

use mdm_virtual_device::Random;
use tokio::time::sleep;

use crate::phones::SoakPhone;
use crate::run::Shared;

/// Between two outages.
const PAUSE_MS: (u64, u64) = (300, 1500);
/// How long a phone is gone.
const GONE_MS: (u64, u64) = (100, 2500);
/// The share of outages in which only the connections break, in percent.
const CUT_PERCENT: usize = 40;

pub async fn play(phones: Vec<Arc<SoakPhone>>, mut random: Random, shared: Arc<Shared>) {
    while !shared.is_over() {
        sleep(Duration::from_millis(random.between(PAUSE_MS.0, PAUSE_MS.1))).await;
        let Some(one) = random.pick(&phones) else { return };
        // While pings are measured every phone is there, so that every slow call is in flight.
        let _acting = shared.acting.read().await;
        shared.notes().outages += 1;
        if random.percent(CUT_PERCENT) {
            one.outages.note();
            one.phone.cut_connections();
            continue;
        }
        one.outages.begin();
        one.phone.set_plugged(false);
        sleep(Duration::from_millis(random.between(GONE_MS.0, GONE_MS.1))).await;
        one.phone.set_plugged(true);
        one.outages.end();
    }
}
