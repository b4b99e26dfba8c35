//! Streams that the phone opens.

use bytes::Bytes;
use mdm_virtual_device::PhoneConfig;
use mdm_wire::adb::frame::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::host::phone_and_host;

#[tokio::test(start_paused = true)]
async fn a_program_on_the_phone_reaches_the_host() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert_eq!(host.service("reverse:forward:tcp:8081;tcp:3000").await, b"OKAY");
    assert_eq!(host.service("reverse:list-forward").await, b"001c(reverse) tcp:8081 tcp:3000\n");
    let connecting = {
        let phone = phone.clone();
        tokio::spawn(async move { phone.connect_from_device("tcp:8081").await })
    };
    let open = host.frame().await.unwrap();
    assert_eq!((open.command, &open.payload[..]), (Command::Open, &b"tcp:3000\0"[..]));
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    let mut socket = connecting.await.unwrap().unwrap();
    socket.write_all(b"GET /").await.unwrap();
    let written = host.frame().await.unwrap();
    assert_eq!((written.command, written.arg1, &written.payload[..]), (Command::Write, 77, &b"GET /"[..]));
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    host.send(Command::Write, 77, open.arg0, &b"200"[..]).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Okay);
    host.send(Command::Close, 77, open.arg0, Bytes::new()).await;
    let mut heard = Vec::new();
    socket.read_to_end(&mut heard).await.unwrap();
    assert_eq!(heard, b"200");
}

#[tokio::test(start_paused = true)]
async fn refused_and_forgotten_forwards() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert!(phone.connect_from_device("tcp:1").await.is_err());
    let answer = String::from_utf8(host.service("reverse:forward:tcp:0;tcp:3000").await).unwrap();
    assert_eq!(answer, "OKAY000540000");
    let again = host.service("reverse:forward:norebind:tcp:40000;tcp:1").await;
    assert!(again.starts_with(b"FAIL"));
    let connecting = {
        let phone = phone.clone();
        tokio::spawn(async move { phone.connect_from_device("tcp:40000").await })
    };
    let open = host.frame().await.unwrap();
    host.send(Command::Close, 0, open.arg0, Bytes::new()).await;
    assert!(connecting.await.unwrap().is_err(), "the host refused");
    assert!(host.service("reverse:killforward:tcp:9").await.starts_with(b"FAIL"));
    assert_eq!(host.service("reverse:killforward:tcp:40000").await, b"OKAY");
    host.service("reverse:forward:tcp:5;tcp:6").await;
    phone.cut_connections();
    while host.frame().await.is_some() {}
    tokio::task::yield_now().await;
    assert!(phone.connect_from_device("tcp:5").await.is_err(), "listeners die with their transport");
}
