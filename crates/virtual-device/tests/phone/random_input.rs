//! Seeded random input on every screen of every app: nothing panics, every dump is well-formed, and HOME always leads
//! to the launcher. A failure prints its seed and the commands; `MDM_RANDOM_SEED=N` plays that one
//! again, `MDM_RANDOM_SEEDS=N` plays so many.

use std::time::Duration;

use mdm_virtual_device::{AppFile, PhoneConfig, Random};

use crate::host::{Host, phone_and_host};

const SEEDS: u64 = 3;
/// The exit code of a program that panicked.
const ABORTED: u8 = 134;
/// Inputs on each screen.
const STEPS: usize = 10;
const EXAMPLE: &str = include_str!("../../../../examples/apps/trail-log.json");

fn pick<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    random.pick(all).copied().unwrap_or_default()
}

/// Returns a point, mostly on the screen, sometimes far outside.
fn point(random: &mut Random) -> (i64, i64) {
    match random.below(20) {
        0 => (-1, i64::from(i32::MIN)),
        1 => (i64::from(i32::MAX), 99_999),
        _ => (random.below(1080) as i64, random.below(2400) as i64),
    }
}

fn command(random: &mut Random) -> String {
    let ((x, y), (x2, y2)) = (point(random), point(random));
    let ms = [0, 1, 80, 700, 3000][random.below(5)];
    match random.below(16) {
        0..=6 => format!("input tap {x} {y}"),
        7 | 8 => format!("input swipe {x} {y} {x2} {y2} {ms}"),
        9 => format!("input draganddrop {x} {y} {x2} {y2} {ms}"),
        10 => format!("input swipe {x} {y} {x} {y} 900"),
        11 => format!("input text {}", pick(random, &["a", "x%sy", "1234567890", "'<&>\"'", "@example.com"])),
        12 => {
            let option = pick(random, &["", "--longpress ", "--doubletap "]);
            let key = pick(
                random,
                &["BACK", "TAB", "ENTER", "DEL", "DPAD_CENTER", "MOVE_END", "279", "187", "29", "61"],
            );
            format!("input keyevent {option}{key}")
        }
        13 => format!("input motionevent {} {x} {y}", pick(random, &["DOWN", "MOVE", "UP", "CANCEL"])),
        14 => pick(
            random,
            &[
                "wm density 40",
                "wm density 2000",
                "wm density reset",
                "wm size 100x100",
                "wm size 8000x300",
                "wm size reset",
                "settings put system user_rotation 1",
                "settings put system user_rotation 0",
            ],
        )
        .to_owned(),
        _ => pick(
            random,
            &[
                "cmd statusbar expand-notifications",
                "cmd statusbar collapse",
                "cmd uimode night yes",
                "screencap -p /sdcard/s.png",
                "dumpsys window",
                "dumpsys activity activities",
                "input keycombination 113 29",
            ],
        )
        .to_owned(),
    }
}

/// Checks that tags match and attributes are closed, without using one of our parsers.
fn well_formed(tree: &str) -> Result<(), String> {
    let mut reader = quick_xml::Reader::from_str(tree);
    let mut depth = 0i32;
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            quick_xml::events::Event::Eof if depth == 0 => return Ok(()),
            quick_xml::events::Event::Eof => return Err("tags are open at the end".to_owned()),
            quick_xml::events::Event::Start(tag) => {
                depth += 1;
                tag.attributes().try_for_each(|a| a.map(drop)).map_err(|e| e.to_string())?;
            }
            quick_xml::events::Event::Empty(tag) => {
                tag.attributes().try_for_each(|a| a.map(drop)).map_err(|e| e.to_string())?;
            }
            quick_xml::events::Event::End(_) => depth -= 1,
            _ => {}
        }
    }
}

async fn dump(host: &mut Host) -> Option<String> {
    let said = host.shell("rm -f /sdcard/r.xml; uiautomator dump /sdcard/r.xml; cat /sdcard/r.xml").await;
    let at = said.out.find("<?xml")?;
    Some(said.out[at..].to_owned())
}

/// Returns every activity that can be started, by its full name.
async fn screens(host: &mut Host) -> Vec<String> {
    let mut all = crate::statistics::components();
    for screen in ["SignIn", "Trips", "NewTrip", "Trip"] {
        all.push(format!("org.example.traillog/.{screen}Activity"));
    }
    for component in &all {
        let said = host.shell(&format!("am start -n {component}")).await;
        assert!(said.out.starts_with("Starting") && !said.err.contains("Error"), "{component}: {said:?}");
    }
    all
}

async fn play(seed: u64) -> (usize, usize) {
    let config = PhoneConfig { apps: vec![AppFile::parse(EXAMPLE).unwrap()], seed, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    let mut random = Random::new(seed, 0);
    let (mut inputs, mut dumps) = (0, 0);
    for component in screens(&mut host).await {
        host.run(&format!("am start -n {component}")).await;
        let mut done = Vec::new();
        for _ in 0..STEPS {
            let command = command(&mut random);
            done.push(command.clone());
            let said = host.shell(&command).await;
            assert!(
                said.code.is_some_and(|code| code != ABORTED),
                "seed {seed}, {component}: {done:?} {said:?}"
            );
            inputs += 1;
            if let Some(tree) = dump(&mut host).await {
                dumps += 1;
                well_formed(&tree)
                    .unwrap_or_else(|e| panic!("seed {seed}, {component}: {e}\n{done:?}\n{tree}"));
            }
            tokio::time::sleep(Duration::from_millis(random.between(0, 400))).await;
        }
        // A system dialog stays over the launcher; it is answered, and a frozen app is given its time.
        tokio::time::sleep(Duration::from_secs(40)).await;
        host.shell(
            "wm size reset; wm density reset; settings put system user_rotation 0; cmd statusbar collapse",
        )
        .await;
        host.run("input keyevent HOME").await;
        let home = phone.truth().activity;
        assert!(
            home.starts_with("com.android.launcher3/"),
            "seed {seed}, {component}: {home} after {done:?}"
        );
        for _ in 0..10 {
            host.shell("input keyevent BACK").await;
        }
        host.run("input keyevent HOME").await;
        let front = phone.truth().activity;
        let tree = dump(&mut host).await.unwrap_or_default();
        assert!(
            front.starts_with("com.android.launcher3/")
                && tree.contains("com.android.launcher3:id/workspace"),
            "seed {seed}, {component}: {front} after {done:?}\n{tree}"
        );
    }
    (inputs, dumps)
}

#[tokio::test(start_paused = true)]
#[expect(clippy::print_stdout, reason = "what was done is part of the result")]
async fn random_input_never_breaks_a_screen() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let first = number("MDM_RANDOM_SEED").unwrap_or(1);
    let seeds = first..first + number("MDM_RANDOM_SEEDS").unwrap_or(if first == 1 { SEEDS } else { 1 });
    for seed in seeds {
        let (inputs, dumps) = play(seed).await;
        println!(
            "seed {seed}: {inputs} random inputs, {dumps} dumps, all well-formed; HOME always led to the launcher"
        );
        assert!(inputs > 300 && dumps * 10 > inputs * 8, "{inputs} {dumps}");
    }
}
