//! Properties, time and identity.

use tokio::time::Duration;

use super::{Call, ProgramOutput};
use crate::clock::Civil;
use crate::state::{ENTRIES_MAX, State};

pub fn getprop(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    match call.words().as_slice() {
        [] => {
            let lines = state.properties.iter().map(|(key, value)| format!("[{key}]: [{value}]\n"));
            ProgramOutput::out(lines.collect::<String>())
        }
        [key, rest @ ..] => {
            let fallback = rest.first().copied().unwrap_or("");
            let value = state.properties.get(*key).map_or(fallback, String::as_str);
            ProgramOutput::out(format!("{value}\n"))
        }
    }
}

pub fn setprop(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    match call.words().as_slice() {
        [key, _] if key.starts_with("ro.") => {
            ProgramOutput::fail(1, format!("Failed to set property '{key}'.\nSee dmesg for error reason.\n"))
        }
        [key, value] if state.properties.len() < ENTRIES_MAX => {
            state.properties.insert((*key).to_owned(), (*value).to_owned());
            ProgramOutput::ok()
        }
        _ => ProgramOutput::fail(1, "usage: setprop NAME VALUE\n"),
    }
}

pub fn date(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let ms = state.clock.wall_ms(state.now);
    let t = Civil::from_ms(ms);
    let format = call.arguments.iter().find_map(|a| a.strip_prefix('+'));
    let Some(format) = format else {
        return ProgramOutput::out(format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC\n",
            t.year, t.month, t.day, t.hour, t.minute, t.second
        ));
    };
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => out.push_str(&(ms / 1000).to_string()),
            Some('N') => out.push_str(&format!("{:09}", u64::from(t.milli) * 1_000_000)),
            Some('Y') => out.push_str(&format!("{:04}", t.year)),
            Some('m') => out.push_str(&format!("{:02}", t.month)),
            Some('d') => out.push_str(&format!("{:02}", t.day)),
            Some('H') => out.push_str(&format!("{:02}", t.hour)),
            Some('M') => out.push_str(&format!("{:02}", t.minute)),
            Some('S') => out.push_str(&format!("{:02}", t.second)),
            Some('T') => out.push_str(&format!("{:02}:{:02}:{:02}", t.hour, t.minute, t.second)),
            Some('F') => out.push_str(&format!("{:04}-{:02}-{:02}", t.year, t.month, t.day)),
            Some('z') => out.push_str("+0000"),
            Some('Z') => out.push_str("UTC"),
            Some(other) => out.push(other),
            None => {}
        }
    }
    ProgramOutput::out(out + "\n")
}

pub fn id(call: &Call<'_>) -> ProgramOutput {
    // `run-as` leaves the app's number behind.
    if let Some(uid) = call.variables.get("USER_ID") {
        let name = format!("u0_a{}", uid.parse::<u32>().unwrap_or(10_000).saturating_sub(10_000));
        return match call.words().as_slice() {
            ["-u"] | ["-g"] => ProgramOutput::out(format!("{uid}\n")),
            ["-un"] => ProgramOutput::out(format!("{name}\n")),
            _ => ProgramOutput::out(format!(
                "uid={uid}({name}) gid={uid}({name}) groups={uid}({name}),3003(inet),9997(everybody) context=u:r:runas_app:s0:c512,c768\n"
            )),
        };
    }
    match call.words().as_slice() {
        ["-u"] | ["-g"] => ProgramOutput::out("2000\n"),
        ["-un"] => ProgramOutput::out("shell\n"),
        _ => ProgramOutput::out(
            "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats) context=u:r:shell:s0\n",
        ),
    }
}

pub fn uptime(state: &mut State, _call: &Call<'_>) -> ProgramOutput {
    let seconds = state.clock.uptime(state.now).as_secs();
    ProgramOutput::out(format!(
        " 09:{:02}:{:02} up {} min,  0 users,  load average: 0.42, 0.40, 0.38\n",
        seconds / 60 % 60,
        seconds % 60,
        seconds / 60
    ))
}

pub fn which(_state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut answer = ProgramOutput::ok();
    for name in call.arguments.iter().filter(|w| !w.starts_with('-')) {
        if super::PROGRAMS.contains(&name.as_str()) {
            answer.out.extend(format!("/system/bin/{name}\n").into_bytes());
        } else {
            answer.code = 1;
        }
    }
    answer
}

pub fn uname(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let release = if state.config.sdk >= 33 { "6.6.30-android15-8" } else { "5.10.43-android12-9" };
    match call.words().first() {
        Some(&"-a") => {
            ProgramOutput::out(format!("Linux localhost {release} #1 SMP PREEMPT aarch64 Toybox\n"))
        }
        Some(&"-r") => ProgramOutput::out(format!("{release}\n")),
        Some(&"-m") => ProgramOutput::out("aarch64\n"),
        Some(&"-n") => ProgramOutput::out("localhost\n"),
        _ => ProgramOutput::out("Linux\n"),
    }
}

pub fn df(_state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, _) = call.options();
    if flags.contains('h') {
        return ProgramOutput::out(
            "Filesystem       Size  Used Avail Use% Mounted on\n/dev/block/dm-8   50G  8.0G   42G  17% /data\n/dev/fuse         50G  8.0G   42G  17% /storage/emulated\n",
        );
    }
    ProgramOutput::out(
        "Filesystem      1K-blocks    Used Available Use% Mounted on\n/dev/block/dm-8  52428800 8388608  44040192  17% /data\n/dev/fuse        52428800 8388608  44040192  17% /storage/emulated\n",
    )
}

pub fn ip(_state: &mut State, call: &Call<'_>) -> ProgramOutput {
    match call.words().iter().find(|w| !w.starts_with('-')) {
        Some(&("route" | "r" | "ro")) => {
            ProgramOutput::out("10.0.2.0/24 dev wlan0 proto kernel scope link src 10.0.2.16 \n")
        }
        _ => ProgramOutput::out(
            "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n\
             2: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    inet 10.0.2.16/24 brd 10.0.2.255 scope global wlan0\n       valid_lft forever preferred_lft forever\n",
        ),
    }
}

/// Answers for programs that need hardware, root or minutes, as a phone without them does.
pub fn refused(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    match call.name {
        "screenrecord" => ProgramOutput::fail(1, "ERROR: unable to create video/avc codec instance\n"),
        "bugreportz" if call.words().contains(&"-v") => ProgramOutput::fail(0, "1.2\n"),
        "bugreportz" => ProgramOutput::out("FAIL:Error: dumpstate service is not available\n"),
        "getenforce" => ProgramOutput::out("Enforcing\n"),
        "setenforce" => {
            ProgramOutput::fail(1, "setenforce: Couldn't set enforcing status to '0': Permission denied\n")
        }
        "su" => ProgramOutput::fail(127, "/system/bin/sh: su: inaccessible or not found\n"),
        "mktemp" => {
            let path = format!("/data/local/tmp/tmp.{:010x}", state.random.number() & 0xff_ffff_ffff);
            let now = state.now_s();
            let made = if call.words().contains(&"-d") {
                state.fs.make_dir(&path, false, now)
            } else {
                state.fs.write(&path, bytes::Bytes::new(), 0o600, now)
            };
            match made {
                Ok(()) => ProgramOutput::out(format!("{path}\n")),
                Err(error) => {
                    ProgramOutput::fail(1, format!("mktemp: Failed to create {path}: {}\n", error.text()))
                }
            }
        }
        _ => ProgramOutput::fail(1, format!("{}: Operation not permitted\n", call.name)),
    }
}

pub fn env(_state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let lines = call.variables.iter().map(|(name, value)| format!("{name}={value}\n"));
    ProgramOutput::out(lines.collect::<String>())
}

pub async fn sleep(call: &Call<'_>) -> u8 {
    const SECONDS_MAX: f64 = 3600.0;
    let seconds = call.arguments.first().and_then(|word| {
        let number = word.trim_end_matches(['s', 'm']).parse::<f64>().ok()?;
        Some(if word.ends_with('m') { number * 60.0 } else { number })
    });
    match seconds.filter(|s| s.is_finite() && *s >= 0.0) {
        Some(seconds) => {
            tokio::time::sleep(Duration::from_secs_f64(seconds.min(SECONDS_MAX))).await;
            0
        }
        None => 1,
    }
}
