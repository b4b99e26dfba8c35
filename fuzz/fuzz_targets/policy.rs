//! Any text as a policy, as an origin and as a pattern of names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mobile_debug_mcp::http::Origin;
use mobile_debug_mcp::pattern::Pattern;
use mobile_debug_mcp::policy::Policy;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(policy) = Policy::parse(text) {
        let _ = policy.check_app("com.example.app");
        assert_eq!(policy.check_device("emulator-5554").is_ok(), policy.allows_device("emulator-5554"));
    }
    let _ = text.parse::<Origin>();
    let (given, name) = text.split_once('\n').unwrap_or((text, text));
    if let Ok(pattern) = given.parse::<Pattern>() {
        let found = pattern.matches(name);
        if !given.contains('*') {
            assert_eq!(found, given == name);
        }
        assert!(!given.trim_matches('*').is_empty() || found, "a star stands for everything");
    }
});
