//! The handshake, flow control, and unplugging.

use bytes::Bytes;
use mdm_virtual_device::{Applied, Auth, Phone, PhoneConfig, Timing};
use mdm_wire::adb::auth::{PUBLIC_KEY, PublicKey, SIGNATURE, TOKEN};
use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_CHECKSUM, VERSION_SKIP_CHECKSUM};
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Sign, RsaPrivateKey};
use sha1::Sha1;

use crate::host::{Host, phone_and_host, workbench};

#[tokio::test(start_paused = true)]
async fn the_banner_and_both_versions() {
    for version in [VERSION_CHECKSUM, VERSION_SKIP_CHECKSUM] {
        let phone = Phone::new(PhoneConfig::default());
        let mut host = Host::raw(&phone);
        host.send(Command::Connect, version, 4096, &b"host::"[..]).await;
        let answer = host.frame().await.unwrap();
        assert_eq!((answer.command, answer.arg1), (Command::Connect, PAYLOAD_BYTES_MAX));
        let banner = Banner::parse(&answer.payload);
        assert_eq!(
            (banner.kind.as_str(), banner.property("ro.product.model")),
            ("device", Some("Virtual Phone"))
        );
        assert!(
            banner.has_feature("shell_v2")
                && banner.has_feature("sendrecv_v2")
                && !banner.has_feature("delayed_ack")
        );
        // The host takes only 4096 bytes at a time.
        let ids = host.open("exec:screencap").await.unwrap();
        let frame = host.frame().await.unwrap();
        assert_eq!((frame.command, frame.payload.len()), (Command::Write, 4096));
        host.send(Command::Close, ids.0, ids.1, Bytes::new()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_opens_before_the_handshake() {
    let phone = Phone::new(PhoneConfig::default());
    let mut host = Host::raw(&phone);
    host.send(Command::Open, 1, 0, &b"shell:input tap 1 1\0"[..]).await;
    host.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, &b"host::"[..]).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Connect);
    assert_eq!(phone.truth().inputs, []);
}

#[tokio::test(start_paused = true)]
async fn one_write_is_in_flight_and_streams_do_not_block_each_other() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let big = host.open("exec:screencap").await.unwrap();
    let first = host.frame().await.unwrap();
    assert_eq!(first.command, Command::Write);
    // Not acknowledged: nothing more of it comes, and another stream works.
    let output = host.shell("echo free").await;
    assert_eq!(output.out, "free\n");
    host.send(Command::Okay, big.0, big.1, Bytes::new()).await;
    let second = host.frame().await.unwrap();
    assert_eq!((second.command, second.arg0), (Command::Write, big.1));
}

#[tokio::test(start_paused = true)]
async fn a_stream_closes_although_the_last_write_was_not_acknowledged() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let (local, remote) = host.open("exec:echo x").await.unwrap();
    assert_eq!(host.frame().await.unwrap().command, Command::Write);
    let close = host.frame().await.unwrap();
    assert_eq!((close.command, close.arg0, close.arg1), (Command::Close, remote, local));
}

#[tokio::test(start_paused = true)]
async fn unknown_services_and_closed_ports_are_refused() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    for service in ["tcp:9008", "localabstract:mobilecli-server", "nonsense", "dev:/dev/x", ""] {
        assert_eq!(host.open(service).await, None, "{service}");
    }
    let (local, remote) = host.open("tcp:7").await.unwrap();
    host.send(Command::Write, local, remote, &b"echo me"[..]).await;
    let mut heard = Vec::new();
    while heard.is_empty() {
        let frame = host.frame().await.unwrap();
        heard.extend_from_slice(&frame.payload);
    }
    assert_eq!(heard, b"echo me");
    assert!(host.service("root:").await.starts_with(b"adbd cannot run as root"));
}

/// A key made once: generating a safe one takes seconds.
fn key() -> (RsaPrivateKey, PublicKey) {
    let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).unwrap();
    let (p, q) = (number(PRIME_P), number(PRIME_Q));
    let private = RsaPrivateKey::from_p_q(p, q, BigUint::from(65_537u32)).unwrap();
    let bytes = private.n().to_bytes_be();
    let public = PublicKey { modulus: bytes.try_into().unwrap(), exponent: 65_537 };
    (private, public)
}

async fn token(phone: &Phone) -> (Host, Bytes) {
    let mut host = Host::raw(phone);
    host.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, &b"host::"[..]).await;
    let asked = host.frame().await.unwrap();
    assert_eq!((asked.command, asked.arg0, asked.payload.len()), (Command::Auth, TOKEN, 20));
    (host, asked.payload)
}

#[tokio::test(start_paused = true)]
async fn a_known_key_signs_in_and_a_wrong_signature_is_asked_again() {
    let (private, public) = key();
    let phone = Phone::new(PhoneConfig { auth: Auth::Keys(vec![public]), ..PhoneConfig::default() });
    let (mut host, first) = token(&phone).await;
    host.send(Command::Auth, SIGNATURE, 0, vec![7; 256]).await;
    let again = host.frame().await.unwrap();
    assert_eq!((again.command, again.arg0), (Command::Auth, TOKEN));
    assert_ne!(again.payload, first);
    let signature = private.sign(Pkcs1v15Sign::new::<Sha1>(), &again.payload).unwrap();
    host.send(Command::Auth, SIGNATURE, 0, signature).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Connect);
    assert_eq!(host.run("echo in").await, "in\n");
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_accepted_once_and_known_after() {
    let (private, public) = key();
    let phone = Phone::new(PhoneConfig { auth: Auth::AcceptNew, ..PhoneConfig::default() });
    let (mut host, _) = token(&phone).await;
    host.send(Command::Auth, PUBLIC_KEY, 0, public.encode("test@host")).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Connect);
    let (mut host, asked) = token(&phone).await;
    let signature = private.sign(Pkcs1v15Sign::new::<Sha1>(), &asked).unwrap();
    host.send(Command::Auth, SIGNATURE, 0, signature).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Connect);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_stays_outside() {
    let (_, public) = key();
    let phone = Phone::new(PhoneConfig { auth: Auth::Refuse, ..PhoneConfig::default() });
    let (mut host, _) = token(&phone).await;
    host.send(Command::Auth, PUBLIC_KEY, 0, public.encode("test@host")).await;
    host.send(Command::Open, 1, 0, &b"shell:input tap 1 1\0"[..]).await;
    let silence = tokio::time::timeout(std::time::Duration::from_secs(60), host.frame()).await;
    assert!(silence.is_err(), "no answer at all: {silence:?}");
    assert_eq!(phone.truth().inputs, []);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_arrived_may_run_after_the_cable_is_pulled_and_truth_says_so() {
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    host.open("shell,v2,raw:input tap 10 20").await.unwrap();
    phone.cut_connections();
    assert_eq!(host.frame().await, None);
    assert_eq!(phone.truth().inputs, [], "the process is still starting");
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(matches!(phone.truth().inputs.as_slice(), [Applied::Tap { at: (10, 20), .. }]));
    assert_eq!(phone.truth().connections, 0);
}

#[tokio::test(start_paused = true)]
async fn half_a_frame_never_runs_wherever_it_is_cut() {
    let mut whole = bytes::BytesMut::new();
    mdm_wire::adb::frame::Frame::new(Command::Open, 9, 0, &b"shell,v2,raw:input tap 1 2\0"[..])
        .encode(&mut whole);
    for cut in 0..=whole.len() {
        let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
        host.send_bytes(&whole[..cut]).await;
        if cut == whole.len() {
            assert_eq!(host.frame().await.unwrap().command, Command::Okay);
        }
        tokio::task::yield_now().await;
        phone.cut_connections();
        while host.frame().await.is_some() {}
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(phone.truth().inputs.len(), usize::from(cut == whole.len()), "cut after {cut} bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn cutting_in_the_middle_of_output_ends_the_program() {
    let (phone, mut host) = workbench().await;
    let ids = host.open("exec:logcat").await.unwrap();
    assert_eq!(host.frame().await.unwrap().command, Command::Write);
    host.send(Command::Okay, ids.0, ids.1, Bytes::new()).await;
    phone.cut_connections();
    while host.frame().await.is_some() {}
    let mut again = Host::connect(&phone).await;
    assert_eq!(again.run("echo back").await, "back\n");
    assert_eq!(phone.truth().connections, 1);
}

#[tokio::test(start_paused = true)]
async fn an_unplugged_phone_refuses_and_remembers() {
    let (phone, mut host) = workbench().await;
    phone.set_plugged(false);
    assert_eq!(host.frame().await, None);
    assert!(phone.connect().is_err());
    phone.set_plugged(true);
    let mut host = Host::connect(&phone).await;
    assert_eq!(phone.truth().activity, "com.workbench/.LoginActivity");
    assert!(host.dump().await.contains("Sign in to Workbench"));
}

/// Half of a key that only this test uses.
const PRIME_P: &str = "\
    daae4fe85d32a5d4a0f8acfa6a6f06650b8d2903b935d2744ad51837d92834b55f064db67e2bb6cde8e1b999bfdaf7b6\
    83c22ca0d85e92b208beef10b0536f182c7305e1d604aff7bcdb6ded72f0aa3f73e6cb1d99b7916079ace2978a80bdc9\
    3eef49d2ae69443f18039a7811abd9019655260a2eab6f1c38c62ce964799285";
/// Half of a key that only this test uses.
const PRIME_Q: &str = "\
    cc7d73924b518da1fc8aa497f7799e1648f752777f308e1b7a17fa9dac6af113678d1b89c56d473bcf1f817885602583\
    0077bb4e96fb2e338531af205355f19e3eb3228d58b156687f66cc6a7e3030d66852a9440fe9e676a3da36bbc9709eb0\
    1aa12ae4e704efb29720432ccca01bee5290cea2feda0f9b872826eab9542a23";
