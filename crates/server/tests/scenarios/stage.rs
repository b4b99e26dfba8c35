//! The phones that scenarios are played on.

use std::path::PathBuf;

use mdm_android::HelperMode;
use mdm_ios::route::Way;
use mdm_virtual_device::{
    FrameworkApp, FrameworkConfig, FrameworkPool, IPhone, IPhoneConfig, Phone, PhoneConfig,
};

use crate::file::Scenario;
use crate::world::World;

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
const FRAMEWORK_SDK: u32 = 34;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The phone that we draw.
    Android,
    IPhone,
    /// The phone that Android's own views draw.
    Framework,
    /// The framework phone with our helper on it.
    Helped,
}

impl Stage {
    /// The stages whose own calls are made here, the first of them if there is one.
    pub fn own_calls(self) -> &'static [Stage] {
        match self {
            Stage::Android => &[],
            Stage::IPhone => &[Stage::IPhone],
            Stage::Framework => &[Stage::Framework],
            Stage::Helped => &[Stage::Helped, Stage::Framework],
        }
    }

    /// The folder of its pages below `scenarios`.
    pub fn folder(self) -> &'static str {
        match self {
            Stage::Android => "",
            Stage::IPhone => "ios",
            Stage::Framework => "framework",
            Stage::Helped => "helper",
        }
    }
}

/// What makes the phones of a stage.
pub struct Phones {
    pub stage: Stage,
    /// One Java process for all scenarios: each start takes seconds.
    pool: Option<FrameworkPool>,
}

impl Phones {
    pub fn of(stage: Stage) -> Phones {
        Phones { stage, pool: None }
    }

    /// The framework phone, without the helper and with it. `None` when it is not there, which has been said.
    pub fn of_framework() -> Option<[Phones; 2]> {
        let Some(home) = std::env::var_os(VARIABLE) else {
            let message = format!("skipped: {VARIABLE} is not set, get it with: cargo xtask framework");
            assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
            println!("{message}");
            return None;
        };
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scenarios.log");
        let app = FrameworkApp::Builtin("workbench".to_owned());
        let framework = FrameworkConfig { home: home.into(), app, sdk: FRAMEWORK_SDK, log: Some(log) };
        let pool = Some(FrameworkPool::new(framework));
        Some([Stage::Framework, Stage::Helped].map(|stage| Phones { stage, pool: pool.clone() }))
    }

    /// A new phone, which was just switched on, and the server.
    pub fn world(&self, scenario: &Scenario) -> Result<World, String> {
        let config = &scenario.config;
        let Some(pool) = &self.pool else {
            return Ok(match self.stage {
                Stage::IPhone => World::reaching(&IPhone::new(iphone_config(config)), &[Way::Idb, Way::Wda]),
                _ => World::with(config.clone()),
            });
        };
        let (apps, android_version) = (Vec::new(), "14".to_owned());
        let (sdk, timing) = (FRAMEWORK_SDK, scenario.framework_timing);
        let config = PhoneConfig { sdk, android_version, timing, apps, ..config.clone() };
        let helper = if self.stage == Stage::Helped { HelperMode::Always } else { HelperMode::Never };
        Ok(World::around(Phone::with_pool(config, pool)?, helper))
    }
}

/// The same phone with Apple's protocols in front.
fn iphone_config(config: &PhoneConfig) -> IPhoneConfig {
    IPhoneConfig {
        apps: config.apps.clone(),
        timing: config.timing,
        faults: config.faults,
        ..IPhoneConfig::default()
    }
}
