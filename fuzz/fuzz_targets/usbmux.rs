//! Any bytes as usbmuxd and as the phone behind it: frames, property lists and lockdownd's answers. The library that reads
//! them runs in tasks, where a panic is an error of one call; everywhere else it is a finding.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::{answering, runtime};
use mdm_ios::real::RealDevices;

/// Limit of the waiting for one answer, in the time of the paused clock.
const ANSWER_MAX: Duration = Duration::from_secs(30);

fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| {
        runtime().block_on(async {
            let devices = RealDevices::with(answering::usbmuxd(data));
            let Ok(Ok(list)) = tokio::time::timeout(ANSWER_MAX, devices.list()).await else { return };
            let Some(first) = list.first() else { return };
            let phone = devices.device(&first.udid);
            let _ = tokio::time::timeout(ANSWER_MAX, phone.facts()).await;
            let _ = tokio::time::timeout(ANSWER_MAX, phone.check_trust()).await;
            let _ = tokio::time::timeout(ANSWER_MAX, phone.apps(true)).await;
        });
    }
);
