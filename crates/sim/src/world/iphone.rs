//! The iPhones of a seed, and the programs through which the product reaches them.

use mdm_virtual_device::{AppFile, Faults, IPhone, IPhoneConfig, Phone, Random, Reader};
use mobile_debug_mcp::app::{App, EmbeddedIPhone, Way};

use super::{Face, SECOND, timing};
use crate::plan::Plan;

/// Worlds with a second phone, in percent.
const SECOND_PERCENT: usize = 6;

type Phones = (Phone, Option<Phone>);

pub fn phones(seed: u64, plan: &Plan) -> Result<(Phones, App), String> {
    let mut random = Random::new(seed, 2);
    let ways = match random.below(10) {
        0..=4 => vec![Way::Idb, Way::Wda],
        5..=7 => vec![Way::Wda],
        _ => vec![Way::Idb],
    };
    // With both, trees come from WebDriverAgent.
    let reader = if ways.contains(&Way::Wda) { Reader::WebDriverAgent } else { Reader::Companion };
    let app = AppFile::parse(&plan.file().to_string()).map_err(|error| error.to_string())?;
    let timing = timing(&mut random);
    let faults = faults(&mut random);
    let apps = vec![app];
    let config = IPhoneConfig { timing, faults, seed, apps, film: true, reader, ..IPhoneConfig::default() };
    let first = IPhone::new(config.clone());
    let second = random.percent(SECOND_PERCENT).then(|| {
        let udid = "00008130-001A2B3C4D5E6F70".to_owned();
        IPhone::new(IPhoneConfig { seed: seed + 1, udid, ..config })
    });
    let all = [(Face::Ios.first(), Some(&first)), (SECOND, second.as_ref())];
    let embedded = |phone: &IPhone| EmbeddedIPhone { phone: phone.clone(), ways: ways.clone() };
    let all: Vec<_> = all.into_iter().filter_map(|(id, phone)| Some((id, embedded(phone?)))).collect();
    let phones = (first.phone().clone(), second.as_ref().map(|phone| phone.phone().clone()));
    Ok((phones, App::of_iphones(&all)))
}

/// What goes wrong on an iPhone: readings that take long, fail or come too early, touches, connections, alerts.
fn faults(random: &mut Random) -> Faults {
    let mut faults = Faults::default();
    if !random.percent(55) {
        return faults;
    }
    for _ in 0..=random.below(2) {
        let rate = [0.05, 0.15, 0.3][random.below(3)];
        match random.below(10) {
            0 => faults.slow_dump = rate,
            1 => faults.failing_dump = rate,
            2 => faults.empty_dump = rate,
            3 => faults.null_root = rate * 2.0,
            4 => faults.lost_tap = rate,
            5 => faults.late_tap = rate,
            6 => faults.double_tap = rate,
            7 => faults.dropped_connection = rate * 60.0,
            8 => faults.offline = rate * 20.0,
            _ => faults.system_dialog = rate * 10.0,
        }
    }
    faults
}
