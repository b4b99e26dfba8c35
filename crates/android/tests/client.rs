//! Runs the adb client against the virtual phone, directly and through an adb server. Both routes must give the same
//! results.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::sync::Arc;

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::server::AdbServer as ServerAddress;
use mdm_android::adb::{Adb, AdbError, Script};
use mdm_virtual_device::{AdbServer, Auth, Phone, PhoneConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MIB: usize = 1024 * 1024;

fn direct(phone: &Phone, key: HostKey) -> Adb {
    let phone = phone.clone();
    let connector = Arc::new(move || {
        let connected = phone.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
    });
    Adb::direct(Link::new(connector, key))
}

fn no_key() -> HostKey {
    HostKey::at("/nonexistent/adbkey")
}

/// Returns a phone with both routes to it.
async fn both_routes() -> (Phone, [Adb; 2]) {
    let phone = Phone::new(PhoneConfig::default());
    let server = AdbServer::new();
    server.add("phone", "device", phone.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { server.serve(listener).await });
    let routes = [direct(&phone, no_key()), Adb::through_server(ServerAddress::at(address), "phone")];
    (phone, routes)
}

#[tokio::test]
async fn commands_return_exit_code_stdout_and_stderr() {
    let (_phone, routes) = both_routes().await;
    for adb in routes {
        let output = adb.shell(&Script::new("echo out; echo err >&2; exit 7"), MIB).await.unwrap();
        assert_eq!(
            (&output.stdout[..], &output.stderr[..], output.exit_code),
            (&b"out\n"[..], &b"err\n"[..], 7)
        );
        let words = Script::new("printf %s").arg("it's; $(id) & \"x\" 日本 😀");
        assert_eq!(adb.shell(&words, MIB).await.unwrap().stdout, "it's; $(id) & \"x\" 日本 😀", "SE-01");
        let cut = adb.shell(&Script::new("echo 0123456789"), 4).await.unwrap();
        assert_eq!((&cut.stdout[..], cut.truncated), (&b"0123"[..], true), "output is bounded");
        let (bytes, _) = adb.exec(&Script::new("echo raw"), MIB).await.unwrap();
        assert_eq!(bytes, "raw\n");
    }
}

#[tokio::test]
async fn files_are_pushed_and_pulled_with_progress() {
    let (_phone, routes) = both_routes().await;
    let content: Vec<u8> = (0..3 * MIB + 17).map(|i| (i * 31 % 251) as u8).collect();
    for adb in routes {
        let path = "/data/local/tmp/there and back";
        let mut progress = Vec::new();
        let sent =
            adb.push(&mut &content[..], path, 0o644, 1_700_000_000, |n| progress.push(n)).await.unwrap();
        assert_eq!(sent, content.len() as u64);
        assert!(
            progress.is_sorted() && progress.len() > 10 && progress.last() == Some(&sent),
            "progress is reported"
        );
        let stat = adb.stat(path).await.unwrap().expect("the file is there");
        assert_eq!((stat.size, stat.mtime, stat.mode & 0o777), (sent, 1_700_000_000, 0o644));
        let mut back = Vec::new();
        adb.pull(path, 1 << 30, &mut back, |_| {}).await.unwrap();
        assert!(back == content, "intact");
        assert_eq!(adb.stat("/data/local/tmp/nothing").await.unwrap(), None);
        assert!(matches!(
            adb.pull("/data/local/tmp/nothing", 1 << 30, &mut back, |_| {}).await,
            Err(AdbError::Refused(_))
        ));
        let refused = adb.push(&mut &b"x"[..], "/system/x", 0o644, 0, |_| {}).await;
        assert!(matches!(refused, Err(AdbError::Refused(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn packages_are_installed_by_streaming() {
    let (phone, routes) = both_routes().await;
    let mut apk = b"PK\x03\x04".to_vec();
    apk.resize(200_000, 7);
    for adb in routes {
        adb.install(&mut &apk[..], apk.len() as u64, |_| {}).await.unwrap();
        assert!(phone.truth().packages.len() > 1);
        let junk = vec![0u8; 1000];
        let refused = adb.install(&mut &junk[..], 1000, |_| {}).await;
        let Err(AdbError::Refused(why)) = refused else { panic!("junk was installed: {refused:?}") };
        assert!(why.contains("INSTALL_PARSE_FAILED"), "{why}");
    }
}

#[tokio::test]
async fn a_local_port_is_forwarded_to_the_phone() {
    let (_phone, routes) = both_routes().await;
    for adb in routes {
        let forward = adb.forward(0, "tcp:7").await.unwrap();
        for _ in 0..2 {
            let mut stream = TcpStream::connect(("127.0.0.1", forward.port)).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            let mut echo = [0; 5];
            stream.read_exact(&mut echo).await.unwrap();
            assert_eq!(&echo, b"hello");
        }
        let port = forward.port;
        drop(forward);
        tokio::task::yield_now().await;
        assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "it ends with its handle");
        let closed = adb.open("tcp:9").await;
        assert!(closed.is_err(), "no service listens there");
    }
}

#[tokio::test]
async fn the_phone_reaches_a_local_port_by_reverse_forwarding() {
    let phone = Phone::new(PhoneConfig::default());
    let adb = direct(&phone, no_key());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host_port = listener.local_addr().unwrap().port();
    let device_port = adb.reverse(8099, host_port).await.unwrap();
    assert_eq!(device_port, 8099);
    let accept = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"from the host").await.unwrap();
    });
    let mut stream = phone.connect_from_device("tcp:8099").await.unwrap();
    let mut text = [0; 13];
    stream.read_exact(&mut text).await.unwrap();
    assert_eq!(&text, b"from the host");
    accept.await.unwrap();
    adb.remove_reverse(8099).await.unwrap();
    assert!(phone.connect_from_device("tcp:8099").await.is_err());
}

#[tokio::test]
async fn the_log_is_followed_line_by_line() {
    let (_phone, routes) = both_routes().await;
    for adb in routes {
        let mut log = adb.logcat(&Script::new("logcat -v threadtime")).await.unwrap();
        adb.shell(&Script::new("monkey -p com.workbench -c android.intent.category.LAUNCHER 1"), MIB)
            .await
            .unwrap();
        let mut seen = false;
        while !seen {
            let goes_on = log.next(|line| {
                assert!(!line.contains('\n'), "W35");
                seen |= line.contains("com.workbench");
            });
            assert!(goes_on.await.unwrap(), "the log goes on");
        }
        adb.shell(&Script::new("am force-stop com.workbench"), MIB).await.unwrap();
    }
}

#[tokio::test]
async fn a_phone_that_requires_a_key_accepts_ours() {
    let folder = std::env::temp_dir().join(format!("mdm-key-{}", std::process::id()));
    let key = HostKey::at(folder.join("adbkey"));
    // A person accepts the new key, which is created during the handshake.
    let phone = Phone::new(PhoneConfig { auth: Auth::AcceptNew, ..PhoneConfig::default() });
    let adb = direct(&phone, key.clone());
    assert_eq!(adb.shell(&Script::new("echo in"), MIB).await.unwrap().stdout, "in\n");
    // The known key needs only its signature.
    let public = mdm_wire::adb::auth::PublicKey::decode(&key.public().await.unwrap()).unwrap();
    let phone = Phone::new(PhoneConfig { auth: Auth::Keys(vec![public]), ..PhoneConfig::default() });
    assert_eq!(direct(&phone, key).shell(&Script::new("echo in"), MIB).await.unwrap().stdout, "in\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.join("adbkey")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else may read the key");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_refuses_the_key_is_unauthorized() {
    let folder = std::env::temp_dir().join(format!("mdm-refused-{}", std::process::id()));
    let phone = Phone::new(PhoneConfig { auth: Auth::Refuse, ..PhoneConfig::default() });
    let refused =
        direct(&phone, HostKey::at(folder.join("adbkey"))).shell(&Script::new("echo in"), MIB).await;
    assert!(matches!(refused, Err(AdbError::Unauthorized(_))), "{refused:?}");
    // The clock is paused, so the key may or may not exist when the timeout ends.
    drop(std::fs::remove_dir_all(folder));
}

#[tokio::test(start_paused = true)]
async fn many_streams_share_one_connection() {
    let phone = Phone::new(PhoneConfig::default());
    let adb = direct(&phone, no_key());
    let commands = (0..40u32).map(|number| {
        let adb = adb.clone();
        tokio::spawn(async move {
            let script = Script::new("sleep 0.1; echo").number(number.into());
            adb.shell(&script, MIB).await.unwrap().stdout_text()
        })
    });
    for (number, command) in commands.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(command.await.unwrap(), number.to_string());
    }
    assert_eq!(phone.truth().connections, 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_command_keeps_the_connection() {
    let phone = Phone::new(PhoneConfig::default());
    let adb = direct(&phone, no_key());
    let script = Script::new("sleep 60");
    let waiting = adb.shell(&script, MIB);
    assert!(tokio::time::timeout(std::time::Duration::from_secs(1), waiting).await.is_err());
    assert_eq!(adb.shell(&Script::new("echo still here"), MIB).await.unwrap().stdout, "still here\n");
    assert_eq!(adb.generation(), 1, "the same connection");
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_an_error_and_is_reopened() {
    let phone = Phone::new(PhoneConfig::default());
    let adb = direct(&phone, no_key());
    let cutter = phone.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        cutter.cut_connections();
    });
    let lost = adb.shell(&Script::new("echo begin; sleep 1; echo end"), MIB).await;
    assert!(matches!(lost, Err(AdbError::Lost(_))), "{lost:?}");
    assert_eq!(adb.shell(&Script::new("echo again"), MIB).await.unwrap().stdout, "again\n");
    assert_eq!(adb.generation(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_peer_without_an_answer_is_unreachable_and_not_unauthorized() {
    let connector = Arc::new(|| {
        let (ours, theirs) = tokio::io::duplex(1024);
        Box::pin(async move {
            // Keeps the other end open without an answer.
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                drop(theirs);
            });
            Ok(Box::new(ours) as Box<dyn Transport>)
        }) as _
    });
    let result = Adb::direct(Link::new(connector, no_key())).shell(&Script::new("true"), MIB).await;
    assert!(matches!(result, Err(AdbError::Unreachable(_))), "{result:?}");
}
