//! adbd beyond the shell: the first protocol, debuggable processes, services without a shell, links and refusals.

use bytes::{BufMut, BytesMut};
use mdm_virtual_device::{Phone, PhoneConfig};
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::sync::{Id, put_message, put_word};
use mdm_wire::adb::{PAYLOAD_BYTES_LEGACY, PAYLOAD_BYTES_MAX, VERSION_CHECKSUM, VERSION_SKIP_CHECKSUM};

use crate::host::{Host, packets, phone_and_host, workbench};

#[tokio::test(start_paused = true)]
async fn an_old_daemon_speaks_the_first_protocol_only() {
    let phone = Phone::new(PhoneConfig { old_adbd: true, ..PhoneConfig::default() });
    let mut host = Host::raw(&phone);
    host.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, &b"host::"[..]).await;
    let hello = host.frame().await.unwrap();
    assert_eq!((hello.arg0, hello.arg1), (VERSION_CHECKSUM, PAYLOAD_BYTES_LEGACY));
    assert!(!String::from_utf8_lossy(&hello.payload).contains("shell_v2"));
    assert_eq!(host.open("shell,v2,raw:echo x").await, None);
    assert_eq!(host.open("abb_exec:package\0list\0users").await, None);
    assert_eq!(host.service("shell:echo out; exit 3").await, b"out\n");
    let ids = host.open("shell:getprop; getprop; getprop; getprop; getprop").await.unwrap();
    let first = host.frame().await.unwrap();
    assert!(first.payload.len() <= PAYLOAD_BYTES_LEGACY as usize, "{}", first.payload.len());
    host.send(Command::Close, ids.0, ids.1, bytes::Bytes::new()).await;
}

#[tokio::test(start_paused = true)]
async fn debuggers_are_told_of_processes_that_come_and_go() {
    let (phone, mut host) = workbench().await;
    let pid = host.run("pidof com.workbench").await;
    assert_eq!(host.service("jdwp").await, pid.as_bytes());
    let mut viewer = Host::connect(&phone).await;
    let (local, remote) = viewer.open("track-jdwp").await.unwrap();
    let listed = viewer.frame().await.unwrap();
    assert_eq!(listed.payload, format!("{:04x}{pid}", pid.len()));
    viewer.send(Command::Okay, local, remote, bytes::Bytes::new()).await;
    host.run("am force-stop com.workbench").await;
    assert_eq!(viewer.frame().await.unwrap().payload, "0000");
}

#[tokio::test(start_paused = true)]
async fn services_answer_without_a_shell() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert_eq!(host.service("abb_exec:settings\0get\0global\0nope").await, b"null\n");
    let output = packets(&host.service("abb:package\0path\0com.nobody").await);
    assert_eq!((output.out.as_str(), output.code), ("", Some(1)));
    let output = packets(&host.service("abb:activity\0get-current-user").await);
    assert_eq!((output.out.as_str(), output.code), ("0\n", Some(0)));
}

/// A push of one small file, as older hosts do it.
async fn push(host: &mut Host, spec: &str, data: &[u8]) -> Vec<u8> {
    let (local, remote) = host.open("sync:").await.unwrap();
    let mut out = BytesMut::new();
    put_message(&mut out, Id::Send, spec.as_bytes());
    put_message(&mut out, Id::Data, data);
    put_word(&mut out, Id::Done, 7);
    out.put_slice(b"QUIT\0\0\0\0");
    host.send(Command::Write, local, remote, out.freeze()).await;
    host.read_to_end((local, remote)).await
}

#[tokio::test(start_paused = true)]
async fn links_are_pushed_as_links_and_refusals_come_as_failures() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let link = 0o120_777;
    assert!(push(&mut host, &format!("/data/local/tmp/l,{link}"), b"file\0").await.starts_with(b"OKAY"));
    assert_eq!(host.run("readlink /data/local/tmp/l").await, "file\n");
    let refused = push(&mut host, "/system/bin/x,33188", b"data").await;
    assert!(refused.starts_with(b"FAIL") && refused.ends_with(b"Read-only file system"), "{refused:?}");
    assert_eq!(host.run("echo still here").await, "still here\n");
}
