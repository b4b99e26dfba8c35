//! Any bytes to every decoder of adb; a decoded value must be the same after it is encoded and decoded again.
#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_wire::adb::auth::PublicKey;
use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::Frame;
use mdm_wire::adb::shell::Packet;
use mdm_wire::adb::sync::{self, Stat};
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, framebuffer, host};

fuzz_target!(|data: &[u8]| {
    let mut input = BytesMut::from(data);
    while let Ok(Some(frame)) = Frame::decode(&mut input, PAYLOAD_BYTES_MAX) {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        assert_eq!(Frame::decode(&mut out, PAYLOAD_BYTES_MAX), Ok(Some(frame)));
    }
    let mut input = BytesMut::from(data);
    while let Ok(Some(packet)) = Packet::decode(&mut input) {
        let mut out = BytesMut::new();
        packet.encode(&mut out);
        assert_eq!(Packet::decode(&mut out), Ok(Some(packet)));
    }
    let banner = Banner::parse(data);
    let _ = banner.encode();
    let _ = PublicKey::decode(data);
    let _ = host::parse_devices(&String::from_utf8_lossy(data));
    if let Some(prefix) = data.first_chunk::<4>() {
        let _ = host::decode_length(prefix);
        let _ = sync::Id::parse(prefix);
        let version = u32::from_le_bytes(*prefix);
        if framebuffer::rest_bytes(version).is_ok() {
            let _ = framebuffer::Header::decode(version, &data[4..]);
        }
    }
    if let Some(head) = data.first_chunk::<{ sync::HEADER_BYTES }>() {
        let _ = sync::Header::decode(head).map(|header| header.length(1024));
    }
    check_stat(data);
});

/// Both forms keep what they have room for.
fn check_stat(data: &[u8]) {
    if let Some(rest) = data.first_chunk::<{ Stat::V1_REST_BYTES }>() {
        let stat = Stat::decode_v1(rest);
        let mut out = BytesMut::new();
        stat.put_v1(&mut out);
        assert_eq!(out[..], rest[..]);
    }
    if let Some(rest) = data.first_chunk::<{ Stat::V2_REST_BYTES }>() {
        let stat = Stat::decode_v2(rest);
        let mut out = BytesMut::new();
        stat.put_v2(&mut out);
        let again = out[..].first_chunk().map(Stat::decode_v2);
        assert_eq!(again, Some(stat));
    }
}
