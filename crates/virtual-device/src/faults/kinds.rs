//! The kinds of faults and how often they happen.

use std::str::FromStr;

/// One kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A dump takes one to six seconds longer.
    SlowDump,
    /// A dump takes a minute longer.
    HangingDump,
    /// A dump prints an error and exits with 0, or is killed.
    FailingDump,
    /// A dump succeeds and holds no node, or no byte.
    EmptyDump,
    /// A dump shows the screen as the dump before showed it.
    StaleDump,
    /// A dump ends anywhere.
    TruncatedDump,
    /// For a while after an activity was opened there is no root.
    NullRoot,
    LostTap,
    /// A tap is applied up to 1.5 seconds after its command has ended.
    LateTap,
    /// A tap is applied again a moment later.
    DoubleTap,
    /// All connections drop and may be made again at once.
    DroppedConnection,
    /// The cable is out for some seconds.
    Offline,
    /// The phone trusts no host for some seconds.
    Unauthorized,
    /// The wall clock is set, forwards or back.
    ClockSkew,
    /// The system ends an app, more often one in the background.
    LowMemory,
    /// A dialog of the system covers the screen until it is answered.
    SystemDialog,
    /// Our helper does not start: its virtual machine aborts.
    HelperStart,
    /// Our helper dies in the middle of a request, before or after it did what was asked.
    HelperDeath,
    /// Another program holds UiAutomation when our helper wants it.
    HelperRefused,
    /// Our helper tells another tree than a dump does.
    HelperLie,
    /// Our helper tells of no change any more.
    HelperSilence,
    /// Our helper tells of thousands of changes.
    HelperFlood,
    /// Our helper takes one to six seconds longer.
    HelperDelay,
}

/// How often each fault happens: a share from 0 to 1 for dumps, taps and activities, times a minute for everything
/// else.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Faults {
    pub slow_dump: f64,
    pub hanging_dump: f64,
    pub failing_dump: f64,
    pub empty_dump: f64,
    pub stale_dump: f64,
    pub truncated_dump: f64,
    pub null_root: f64,
    pub lost_tap: f64,
    pub late_tap: f64,
    pub double_tap: f64,
    pub dropped_connection: f64,
    pub offline: f64,
    pub unauthorized: f64,
    pub clock_skew: f64,
    pub low_memory: f64,
    pub system_dialog: f64,
    pub helper_start: f64,
    pub helper_death: f64,
    pub helper_refused: f64,
    pub helper_lie: f64,
    pub helper_silence: f64,
    pub helper_flood: f64,
    pub helper_delay: f64,
}

/// The highest rate, in times a minute.
const PER_MINUTE_MAX: f64 = 600.0;

impl Fault {
    /// Faults that every client meets.
    pub const ALL: [Fault; 16] = [
        Fault::SlowDump,
        Fault::FailingDump,
        Fault::EmptyDump,
        Fault::StaleDump,
        Fault::TruncatedDump,
        Fault::NullRoot,
        Fault::LostTap,
        Fault::LateTap,
        Fault::DoubleTap,
        Fault::DroppedConnection,
        Fault::Offline,
        Fault::Unauthorized,
        Fault::ClockSkew,
        Fault::LowMemory,
        Fault::SystemDialog,
        Fault::HangingDump,
    ];

    /// Faults that only a client with our helper meets.
    pub const OF_HELPER: [Fault; 7] = [
        Fault::HelperStart,
        Fault::HelperDeath,
        Fault::HelperRefused,
        Fault::HelperLie,
        Fault::HelperSilence,
        Fault::HelperFlood,
        Fault::HelperDelay,
    ];

    pub(crate) fn every() -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().chain(Fault::OF_HELPER)
    }

    /// Faults that happen at a time of their own; the others happen to a dump, a tap or an activity.
    pub(crate) const TIMED: [Fault; 6] = [
        Fault::DroppedConnection,
        Fault::Offline,
        Fault::Unauthorized,
        Fault::ClockSkew,
        Fault::LowMemory,
        Fault::SystemDialog,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fault::SlowDump => "slow-dump",
            Fault::HangingDump => "hanging-dump",
            Fault::FailingDump => "failing-dump",
            Fault::EmptyDump => "empty-dump",
            Fault::StaleDump => "stale-dump",
            Fault::TruncatedDump => "truncated-dump",
            Fault::NullRoot => "null-root",
            Fault::LostTap => "lost-tap",
            Fault::LateTap => "late-tap",
            Fault::DoubleTap => "double-tap",
            Fault::DroppedConnection => "dropped-connection",
            Fault::Offline => "offline",
            Fault::Unauthorized => "unauthorized",
            Fault::ClockSkew => "clock-skew",
            Fault::LowMemory => "low-memory",
            Fault::SystemDialog => "system-dialog",
            Fault::HelperStart => "helper-start",
            Fault::HelperDeath => "helper-death",
            Fault::HelperRefused => "helper-refused",
            Fault::HelperLie => "helper-lie",
            Fault::HelperSilence => "helper-silence",
            Fault::HelperFlood => "helper-flood",
            Fault::HelperDelay => "helper-delay",
        }
    }

    fn is_timed(self) -> bool {
        Fault::TIMED.contains(&self)
    }
}

impl Faults {
    pub fn rate(&self, fault: Fault) -> f64 {
        let mut copy = *self;
        *copy.rate_mut(fault)
    }

    pub fn rate_mut(&mut self, fault: Fault) -> &mut f64 {
        match fault {
            Fault::SlowDump => &mut self.slow_dump,
            Fault::HangingDump => &mut self.hanging_dump,
            Fault::FailingDump => &mut self.failing_dump,
            Fault::EmptyDump => &mut self.empty_dump,
            Fault::StaleDump => &mut self.stale_dump,
            Fault::TruncatedDump => &mut self.truncated_dump,
            Fault::NullRoot => &mut self.null_root,
            Fault::LostTap => &mut self.lost_tap,
            Fault::LateTap => &mut self.late_tap,
            Fault::DoubleTap => &mut self.double_tap,
            Fault::DroppedConnection => &mut self.dropped_connection,
            Fault::Offline => &mut self.offline,
            Fault::Unauthorized => &mut self.unauthorized,
            Fault::ClockSkew => &mut self.clock_skew,
            Fault::LowMemory => &mut self.low_memory,
            Fault::SystemDialog => &mut self.system_dialog,
            Fault::HelperStart => &mut self.helper_start,
            Fault::HelperDeath => &mut self.helper_death,
            Fault::HelperRefused => &mut self.helper_refused,
            Fault::HelperLie => &mut self.helper_lie,
            Fault::HelperSilence => &mut self.helper_silence,
            Fault::HelperFlood => &mut self.helper_flood,
            Fault::HelperDelay => &mut self.helper_delay,
        }
    }
}

/// Parses `NAME` or `NAME=RATE`, separated by commas. The default rate is 0.2, or twice a minute.
impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, rate) = word.split_once('=').map_or((word, None), |(n, r)| (n, Some(r)));
            let fault = Fault::every().find(|fault| fault.name() == name).ok_or_else(|| {
                let names: Vec<&str> = Fault::every().map(Fault::name).collect();
                format!("no fault {name:?}; there are {}", names.join(", "))
            })?;
            let (usual, most) = if fault.is_timed() { (2.0, PER_MINUTE_MAX) } else { (0.2, 1.0) };
            let rate = rate.map_or(Ok(usual), str::parse::<f64>).map_err(|e| format!("{word}: {e}"))?;
            if !(0.0..=most).contains(&rate) {
                return Err(format!("{word}: a rate from 0 to {most}"));
            }
            *faults.rate_mut(fault) = rate;
        }
        Ok(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rates_are_read_and_nonsense_is_named() {
        let faults: Faults = "lost-tap,slow-dump=0.5,offline=3".parse().expect("valid");
        assert_eq!(faults, Faults { lost_tap: 0.2, slow_dump: 0.5, offline: 3.0, ..Faults::default() });
        assert!("tap".parse::<Faults>().expect_err("unknown").contains("lost-tap"));
        for wrong in ["lost-tap=2", "lost-tap=-1", "lost-tap=NaN", "lost-tap=x", "offline=1e9"] {
            assert!(wrong.parse::<Faults>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_fault_has_a_name_and_a_rate_of_its_own() {
        for fault in Fault::every() {
            let faults: Faults = format!("{}=1", fault.name()).parse().expect("its name");
            let set: Vec<Fault> = Fault::every().filter(|f| faults.rate(*f) > 0.0).collect();
            assert_eq!(set, [fault]);
        }
    }
}
