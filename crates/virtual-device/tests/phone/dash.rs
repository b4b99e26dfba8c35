//! Random scripts, run by this shell and by the system's /bin/sh: both must give the same result.

use mdm_virtual_device::{PhoneConfig, Random};

use crate::host::phone_and_host;

const SCRIPTS: u64 = 400;
/// The nesting of commands.
const DEPTH: u32 = 3;

fn pick(r: &mut Random, from: &[&str]) -> String {
    r.pick(from).map_or_else(String::new, |word| (*word).to_owned())
}

fn word(r: &mut Random) -> String {
    pick(
        r,
        &[
            "a",
            "b",
            "'c d'",
            "\"$x\"",
            "$x",
            "${x:-d}",
            "${y:-'e f'}",
            "\"${x}z\"",
            "$((1+2*3))",
            "$(echo in)",
            "\"$(echo q r)\"",
            "\\$x",
            "''",
            "\"\"",
            "x=y",
            "${x%b}",
            "${x#a}",
            "$#",
            "\"$@\"",
            "'*'",
            "$((x2+1))",
            "`echo back`",
            "${x:+set}",
            "${#x}",
            "-",
        ],
    )
}

fn test(r: &mut Random) -> String {
    let (left, right) = (word(r), word(r));
    match r.below(5) {
        0 => format!("[ \"{}\" = \"{}\" ]", pick(r, &["$x", "a", ""]), pick(r, &["$y", "a", "ab"])),
        1 => format!("[ {} {} {} ]", r.below(5), pick(r, &["-eq", "-lt", "-ge", "-ne"]), r.below(5)),
        2 => format!("[ {} \"$x\" ]", pick(r, &["-n", "-z"])),
        3 => format!("test ! {}", pick(r, &["a", "''"])),
        _ => format!(
            "case {left} in {}) true;; *) false;; esac",
            if right.starts_with('"') {
                "a*".to_owned()
            } else {
                pick(r, &["a*", "[bc]", "?", "'*'", "$x", "ab|d"])
            }
        ),
    }
}

fn command(r: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return simple(r);
    }
    let d = depth - 1;
    match r.below(13) {
        0 => format!("if {}; then {}; else {}; fi", test(r), command(r, d), command(r, d)),
        1 => format!("for i in {} {}; do echo \"<$i>\"; {}; done", word(r), word(r), command(r, d)),
        2 => format!("{{ {}; }}", command(r, d)),
        3 => format!("( {} )", command(r, d)),
        4 => format!("{} && {}", command(r, d), command(r, d)),
        5 => format!("{} || {}", test(r), command(r, d)),
        6 => format!("{{ {}; }} | cat", command(r, d)),
        7 => format!("f{d}() {{ {}; return {}; }}; f{d} {}; echo $?", command(r, d), r.below(4), word(r)),
        8 => format!("n=0; while [ $n -lt 2 ]; do n=$((n+1)); {}; done", simple(r)),
        9 => format!("! {}; echo $?", test(r)),
        10 => format!(
            "case {} in a*) {};; 'c d') echo cd;; *) {};; esac",
            word(r),
            command(r, d),
            command(r, d)
        ),
        11 => format!("set -- {} {}; echo $# \"$1\"; [ $# -eq 0 ] || shift; echo \"$*\"", word(r), word(r)),
        _ => format!("{}; {}", command(r, d), command(r, d)),
    }
}

fn simple(r: &mut Random) -> String {
    match r.below(11) {
        0 => format!("x={}", word(r)),
        1 => format!("y=\"{}\"", pick(r, &["p q", "$x", "r"])),
        2 => format!("printf '%s|' {} {}; echo", word(r), word(r)),
        3 => test(r),
        4 => pick(r, &["true", "false", ":", "unset x", "echo $?", "x=$(false); echo $?"]),
        5 => format!("echo {} | tr a-c A-C", word(r)),
        6 => format!("echo {} >/dev/null", word(r)),
        7 => format!("x2={}; echo $((x2*2))", r.below(9)),
        8 => format!("cat <<E\n{} $x\nE\n:", pick(r, &["one", "two"])),
        9 => format!("IFS=: ; v=a:b::c; set -- $v; echo $#; unset IFS; echo {}", word(r)),
        _ => format!("echo {} {}", word(r), word(r)),
    }
}

#[tokio::test(start_paused = true)]
#[expect(clippy::print_stderr, reason = "the figures of a comparison, or why there is none")]
#[expect(clippy::disallowed_methods, reason = "the other shell is a process of this system")]
async fn random_scripts_do_what_they_do_in_the_systems_shell() {
    let shell = std::path::Path::new("/bin/sh");
    if !std::fs::canonicalize(shell).is_ok_and(|real| real.ends_with("dash")) {
        eprintln!("skipped: /bin/sh is not dash");
        return;
    }
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let mut random = Random::new(0x5eed_1234_5678_9abd, 0);
    let mut different = Vec::new();
    for _ in 0..SCRIPTS {
        let script = format!("x=ab; {}", command(&mut random, DEPTH));
        let theirs = std::process::Command::new(shell)
            .args(["-c", &script])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .output()
            .expect("the shell runs");
        let ours = host.shell(&script).await;
        let wanted = String::from_utf8_lossy(&theirs.stdout).into_owned();
        let code = theirs.status.code().map(|code| code as u8);
        if (&ours.out, ours.code) != (&wanted, code) {
            different.push(format!(
                "{script}\n  dash: {wanted:?} {code:?}\n  ours: {:?} {:?} {:?}",
                ours.out, ours.code, ours.err
            ));
        }
    }
    eprintln!("{} of {SCRIPTS} scripts behave as in dash", SCRIPTS as usize - different.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
}
