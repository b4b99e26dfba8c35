//! The sync service and installing.

use bytes::{Buf, BytesMut};
use mdm_virtual_device::PhoneConfig;
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::sync::{Id, Stat, put_message, put_word};

use crate::host::{Host, phone_and_host};

/// Sends requests that end with QUIT and returns the phone's whole answer.
async fn sync(host: &mut Host, requests: BytesMut) -> BytesMut {
    let (local, remote) = host.open("sync:").await.unwrap();
    let mut requests = requests;
    put_word(&mut requests, Id::Quit, 0);
    let mut answer = BytesMut::new();
    let mut rest = requests.freeze();
    // Like a real host: one WRTE, then its OKAY, and answers may come in between.
    while rest.has_remaining() {
        host.send(Command::Write, local, remote, rest.split_to(rest.len().min(512 * 1024))).await;
        loop {
            let frame = host.frame().await.expect("the transport lives");
            match frame.command {
                Command::Okay => break,
                Command::Write => {
                    answer.extend_from_slice(&frame.payload);
                    host.send(Command::Okay, local, remote, bytes::Bytes::new()).await;
                }
                Command::Close => return answer,
                other => panic!("{other:?}"),
            }
        }
    }
    answer.extend_from_slice(&host.read_to_end((local, remote)).await);
    answer
}

fn push(path: &str, data: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    put_message(&mut out, Id::Send, format!("{path},33188").as_bytes());
    for chunk in data.chunks(64 * 1024) {
        put_message(&mut out, Id::Data, chunk);
    }
    put_word(&mut out, Id::Done, 1_700_000_000);
    out
}

fn request(id: Id, path: &str) -> BytesMut {
    let mut out = BytesMut::new();
    put_message(&mut out, id, path.as_bytes());
    out
}

#[tokio::test(start_paused = true)]
async fn fifty_megabytes_survive_both_ways() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let data: Vec<u8> = (0..50_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let answer = sync(&mut host, push("/data/local/tmp/big", &data)).await;
    assert_eq!(&answer[..], b"OKAY\0\0\0\0");
    let mut answer = sync(&mut host, request(Id::Receive, "/data/local/tmp/big")).await;
    let mut got = Vec::with_capacity(data.len());
    loop {
        let id = Id::parse(&answer.split_to(4)).unwrap();
        let length = answer.get_u32_le() as usize;
        if id == Id::Done {
            break;
        }
        assert_eq!(id, Id::Data);
        got.extend_from_slice(&answer.split_to(length));
    }
    assert!(got == data && answer.is_empty());
}

#[tokio::test(start_paused = true)]
async fn stats_and_lists_in_both_versions() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    sync(&mut host, push("/sdcard/new/dir/a.txt", b"hello")).await;
    let answer = sync(&mut host, request(Id::Stat, "/sdcard/new/dir/a.txt")).await;
    let stat = Stat::decode_v1(answer[4..16].try_into().unwrap());
    assert_eq!((stat.mode, stat.size, stat.mtime), (0o100_644, 5, 1_700_000_000));
    let answer = sync(&mut host, request(Id::StatV2, "/sdcard/nope")).await;
    assert_eq!(Stat::decode_v2(answer[4..72].try_into().unwrap()).error, 2, "ENOENT");
    let answer = sync(&mut host, request(Id::LstatV2, "/sdcard/new")).await;
    assert_eq!(&answer[..4], b"LST2");
    assert!(Stat::decode_v2(answer[4..72].try_into().unwrap()).is_dir());
    let answer = sync(&mut host, request(Id::ListV2, "/sdcard/new/dir")).await;
    assert!(answer.windows(5).any(|w| w == b"a.txt"));
    assert_eq!(&answer[answer.len() - 76..answer.len() - 72], b"DONE");
    let answer = sync(&mut host, request(Id::List, "/nope")).await;
    assert_eq!(&answer[..], [&b"DONE"[..], &[0; 16]].concat());
    let answer = sync(&mut host, push("/system/x", b"no")).await;
    assert!(answer.starts_with(b"FAIL") && answer.ends_with(b"Read-only file system"));
    let answer = sync(&mut host, request(Id::Receive, "/nope")).await;
    assert!(answer.starts_with(b"FAIL") && answer.ends_with(b"No such file or directory"));
}

#[tokio::test(start_paused = true)]
async fn a_lying_sync_length_ends_the_stream_only() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let mut lie = BytesMut::new();
    put_word(&mut lie, Id::Stat, u32::MAX);
    assert!(sync(&mut host, lie).await.is_empty(), "SE-07");
    assert_eq!(host.run("echo alive").await, "alive\n");
}

/// Opens a service, streams a body into it and reads the answer.
async fn stream(host: &mut Host, service: &str, body: &'static [u8]) -> String {
    let (local, remote) = host.open(service).await.unwrap();
    host.send(Command::Write, local, remote, body).await;
    String::from_utf8(host.read_to_end((local, remote)).await).unwrap()
}

#[tokio::test(start_paused = true)]
async fn installing_by_every_way() {
    const APK: &[u8] = b"PK\x03\x04 package=com.example.demo;";
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let size = APK.len();
    let answer = stream(&mut host, &format!("exec:cmd package 'install' '-r' -S {size}"), APK).await;
    assert_eq!(answer, "Success\n");
    assert!(phone.truth().packages.contains(&"com.example.demo".to_owned()));
    assert_eq!(host.run("pm uninstall com.example.demo").await, "Success\n");
    assert!(!phone.truth().packages.contains(&"com.example.demo".to_owned()));
    let answer = stream(&mut host, &format!("abb_exec:package\0install\0-r\0-S\0{size}"), APK).await;
    assert_eq!(answer, "Success\n");
    assert_eq!(host.run("pm path com.example.demo").await.lines().count(), 1);
    let answer = stream(&mut host, "exec:cmd package 'install' -S 4", b"junk").await;
    assert!(answer.starts_with("Failure [INSTALL_PARSE_FAILED_NOT_APK"), "{answer}");
    sync(&mut host, push("/data/local/tmp/a.apk", b"PK\x03\x04")).await;
    assert_eq!(host.run("pm 'install' /data/local/tmp/a.apk").await, "Success\n");
}
