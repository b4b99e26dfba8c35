//! The adb server. These tests use real sockets, so the clock runs.

use mdm_virtual_device::{AdbServer, Phone, PhoneConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::host::packets;

struct Client(TcpStream);

impl Client {
    async fn connect(port: u16) -> Client {
        Client(TcpStream::connect(("127.0.0.1", port)).await.unwrap())
    }

    async fn ask(&mut self, request: &str) -> [u8; 4] {
        self.0.write_all(format!("{:04x}{request}", request.len()).as_bytes()).await.unwrap();
        self.word().await
    }

    async fn word(&mut self) -> [u8; 4] {
        let mut word = [0; 4];
        self.0.read_exact(&mut word).await.unwrap();
        word
    }

    async fn text(&mut self) -> String {
        let prefix = self.word().await;
        let length = usize::from_str_radix(std::str::from_utf8(&prefix).unwrap(), 16).unwrap();
        let mut text = vec![0; length];
        self.0.read_exact(&mut text).await.unwrap();
        String::from_utf8(text).unwrap()
    }

    async fn rest(mut self) -> Vec<u8> {
        let mut all = Vec::new();
        self.0.read_to_end(&mut all).await.unwrap();
        all
    }
}

async fn server() -> (AdbServer, u16, Phone) {
    let server = AdbServer::new();
    let phone = Phone::new(PhoneConfig::default());
    server.add("R1", "device", phone.clone());
    server.add("192.168.0.7:5555", "unauthorized", Phone::new(PhoneConfig::default()));
    server.add("R3", "offline", Phone::new(PhoneConfig::default()));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(listener).await });
    (server, port, phone)
}

async fn answer(port: u16, request: &str) -> (String, String) {
    let mut client = Client::connect(port).await;
    let status = client.ask(request).await;
    (String::from_utf8(status.to_vec()).unwrap(), client.text().await)
}

#[tokio::test]
async fn lists_and_states() {
    let (server, port, _phone) = server().await;
    assert_eq!(answer(port, "host:version").await, ("OKAY".into(), "0029".into()));
    assert_eq!(
        answer(port, "host:devices").await.1,
        "192.168.0.7:5555\tunauthorized\nR1\tdevice\nR3\toffline\n"
    );
    let long = answer(port, "host:devices-l").await.1;
    assert!(long.contains("R1                     device product:virtual_phone model:Virtual_Phone device:virtual transport_id:1\n"), "{long}");
    assert_eq!(answer(port, "host-serial:192.168.0.7:5555:get-state").await.1, "unauthorized");
    assert!(answer(port, "host-serial:R1:features").await.1.starts_with("shell_v2,"));
    for (serial, why) in [
        ("192.168.0.7:5555", "device unauthorized."),
        ("R3", "device offline"),
        ("no", "device 'no' not found"),
    ] {
        let (status, text) = answer(port, &format!("host:transport:{serial}")).await;
        assert_eq!(status, "FAIL");
        assert!(text.starts_with(why), "{text}");
    }
    server.set_state("R3", "device");
    assert_eq!(answer(port, "host-serial:R3:get-state").await.1, "device");
}

#[tokio::test]
async fn services_run_over_the_phones_daemon() {
    let (_server, port, phone) = server().await;
    let mut client = Client::connect(port).await;
    assert_eq!(&client.ask("host:transport:R1").await, b"OKAY");
    assert_eq!(&client.ask("shell,v2,raw:echo out; echo err >&2; exit 3").await, b"OKAY");
    let output = packets(&client.rest().await);
    assert_eq!((output.out.as_str(), output.err.as_str(), output.code), ("out\n", "err\n", Some(3)));
    let mut client = Client::connect(port).await;
    assert_eq!(&client.ask("host:tport:serial:R1").await, b"OKAY");
    let mut id = [0; 8];
    client.0.read_exact(&mut id).await.unwrap();
    assert_eq!(u64::from_le_bytes(id), 1);
    assert_eq!(&client.ask("exec:input tap 5 6").await, b"OKAY");
    client.rest().await;
    assert_eq!(phone.truth().inputs.len(), 1);
    let mut client = Client::connect(port).await;
    client.ask("host:transport:R1").await;
    assert_eq!(&client.ask("tcp:9008").await, b"FAIL");
    assert_eq!(client.text().await, "closed");
    phone.cut_connections();
    let mut client = Client::connect(port).await;
    client.ask("host:transport:R1").await;
    assert_eq!(&client.ask("exec:echo again").await, b"OKAY", "a new transport after a cut");
    assert_eq!(client.rest().await, b"again\n");
}

#[tokio::test]
async fn trackers_hear_of_changes() {
    let (server, port, phone) = server().await;
    let mut client = Client::connect(port).await;
    assert_eq!(&client.ask("host:track-devices").await, b"OKAY");
    assert_eq!(client.text().await.lines().count(), 3);
    server.remove("R3");
    assert_eq!(client.text().await, "192.168.0.7:5555\tunauthorized\nR1\tdevice\n");
    phone.set_plugged(false);
    assert_eq!(client.text().await, "192.168.0.7:5555\tunauthorized\n");
    phone.set_plugged(true);
    assert_eq!(client.text().await.lines().count(), 2);
    server.set_state("192.168.0.7:5555", "device");
    assert_eq!(client.text().await, "192.168.0.7:5555\tdevice\nR1\tdevice\n");
}

#[tokio::test]
async fn forwards_carry_bytes() {
    let (_server, port, _phone) = server().await;
    let mut client = Client::connect(port).await;
    assert_eq!(&client.ask("host-serial:R1:forward:tcp:0;tcp:7").await, b"OKAY");
    assert_eq!(&client.word().await, b"OKAY");
    let forwarded: u16 = client.text().await.parse().unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", forwarded)).await.unwrap();
    socket.write_all(b"through").await.unwrap();
    let mut heard = [0; 7];
    socket.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"through");
    assert_eq!(answer(port, "host:list-forward").await.1, format!("R1 tcp:{forwarded} tcp:7\n"));
    let again = answer(port, &format!("host-serial:R1:forward:norebind:tcp:{forwarded};tcp:8")).await;
    assert_eq!(again.0, "FAIL");
    let mut client = Client::connect(port).await;
    assert_eq!(&client.ask(&format!("host-serial:R1:killforward:tcp:{forwarded}")).await, b"OKAY");
    assert_eq!(&client.word().await, b"OKAY");
    assert_eq!(answer(port, "host:list-forward").await.1, "");
    assert_eq!(answer(port, "host-serial:R1:killforward:tcp:1").await.0, "FAIL");
}

#[tokio::test]
async fn a_reverse_forward_reaches_a_port_of_the_host() {
    let (_server, port, phone) = server().await;
    let target = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let target_port = target.local_addr().unwrap().port();
    let mut client = Client::connect(port).await;
    client.ask("host:transport:R1").await;
    assert_eq!(&client.ask(&format!("reverse:forward:tcp:8081;tcp:{target_port}")).await, b"OKAY");
    assert_eq!(client.rest().await, b"OKAY");
    let mut socket = phone.connect_from_device("tcp:8081").await.unwrap();
    socket.write_all(b"bundle?").await.unwrap();
    let (mut accepted, _) = target.accept().await.unwrap();
    let mut heard = [0; 7];
    accepted.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"bundle?");
    drop(accepted);
    // The same from a program on the phone.
    let mut client = Client::connect(port).await;
    client.ask("host:transport:R1").await;
    assert_eq!(&client.ask("exec:echo hello | nc 127.0.0.1 8081").await, b"OKAY");
    let (mut accepted, _) = target.accept().await.unwrap();
    let mut heard = [0; 6];
    accepted.read_exact(&mut heard).await.unwrap();
    accepted.write_all(b"world").await.unwrap();
    drop(accepted);
    assert_eq!((&heard, client.rest().await), (b"hello\n", b"world".to_vec()));
}
