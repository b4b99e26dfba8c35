//! Random choices of what a screen does by itself.

use mdm_virtual_device::Random;

use super::TimedChanges;

impl TimedChanges {
    pub fn random(random: &mut Random) -> TimedChanges {
        // A third of all screens does nothing by itself.
        if random.percent(33) {
            return TimedChanges::default();
        }
        let mut changes = TimedChanges::default();
        if random.percent(30) {
            changes.ready_ms = Some(random.between(50, 3000));
        }
        if random.percent(25) {
            let from = random.between(20, 3000);
            let until = random.percent(50).then(|| from + random.between(100, 4000));
            changes.banner_ms = Some((from, until));
        }
        if random.percent(12) {
            changes.overlay_ms = Some(random.between(20, 4000));
        }
        if random.percent(10) {
            changes.dialog_ms = Some(random.between(100, 5000));
        }
        if random.percent(25) {
            changes.tick_ms = Some(random.between(100, 1200));
        }
        if random.percent(10) {
            changes.churn_ms = Some(random.between(60, 700));
        }
        if random.percent(15) {
            changes.flash_ms = Some((random.between(50, 4000), random.between(20, 900)));
        }
        if random.percent(25) {
            changes.becomes_ms = Some(random.between(50, 5000));
        }
        if random.percent(5) {
            changes.permission_ms = Some(random.between(100, 5000));
        }
        if random.percent(5) {
            changes.freeze_ms = Some((random.between(100, 4000), random.between(500, 9000)));
        }
        changes
    }
}
