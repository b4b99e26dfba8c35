//! What screens do by themselves.

use super::Weather;
use mdm_virtual_device::Random;

impl Weather {
    pub fn random(random: &mut Random) -> Weather {
        // A third of all screens does nothing by itself.
        if random.percent(33) {
            return Weather::default();
        }
        let mut weather = Weather::default();
        if random.percent(30) {
            weather.ready_ms = Some(random.between(50, 3000));
        }
        if random.percent(25) {
            let from = random.between(20, 3000);
            let until = random.percent(50).then(|| from + random.between(100, 4000));
            weather.banner_ms = Some((from, until));
        }
        if random.percent(12) {
            weather.overlay_ms = Some(random.between(20, 4000));
        }
        if random.percent(10) {
            weather.dialog_ms = Some(random.between(100, 5000));
        }
        if random.percent(25) {
            weather.tick_ms = Some(random.between(100, 1200));
        }
        if random.percent(10) {
            weather.churn_ms = Some(random.between(60, 700));
        }
        if random.percent(15) {
            weather.flash_ms = Some((random.between(50, 4000), random.between(20, 900)));
        }
        if random.percent(25) {
            weather.becomes_ms = Some(random.between(50, 5000));
        }
        weather
    }
}
