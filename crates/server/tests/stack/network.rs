//! Requests of the phone's apps through the proxy: seen, answered, delayed and cut, and the phone put back as it was.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mdm_core::port::NetworkCommand;
use mdm_core::screen::snapshot::Platform;
use mdm_engine::Progress;
use mdm_virtual_device::{AppFile, Network, Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, Devices, VIRTUAL_ANDROID_ID};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::world::{World, fact};

static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// A folder for one test, removed afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("mdm-network-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Reads one request and answers 200 with what was asked for.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let length = text
        .to_lowercase()
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.split('\r').next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let said = format!("answer to {}", text.lines().next().unwrap_or(""));
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", said.len());
    let _ = stream.write_all(format!("{head}{said}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A server on this machine, which an emulator finds at 10.0.2.2.
pub async fn http_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    port
}

/// A server with TLS, and the authority that its certificate is from.
async fn https_server() -> (u16, String) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, "public test CA");
    let ca_key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&ca_key).unwrap().pem();
    let issuer = Issuer::new(params, ca_key);
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["10.0.2.2".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    answer(stream).await;
                }
            });
        }
    });
    (port, pem)
}

const PACKAGE: &str = "org.example.net";

/// An app with a button that asks `url` and shows the status and the answer.
fn app_file(url: &str, trusts_user: bool) -> Arc<AppFile> {
    let text = format!(
        r#"{{"package":"{PACKAGE}","label":"Net","start":"Home","trusts_user_certificates":{trusts_user},
        "values":{{"code":-1,"said":"","n":0}},
        "screens":{{"Home":{{"content":[
          {{"type":"button","id":"ask","text":"Ask","on_tap":[{{"add":{{"n":1}}}},{{"set":{{"code":-1}}}},
            {{"http":{{"method":"POST","url":"{url}/login?token=hush&n={{n}}","body":"secret=1&n={{n}}",
              "status_to":"code","body_to":"said"}}}}]}},
          {{"type":"text","id":"code","text":"code {{code}}"}},
          {{"type":"text","id":"said","text":"said {{said}}"}}]}}}}}}"#
    );
    AppFile::parse(&text).unwrap()
}

struct NetworkWorld {
    world: World,
    folder: Folder,
}

impl NetworkWorld {
    async fn new(url: &str, trusts_user: bool, certificates: Vec<String>) -> NetworkWorld {
        let config = PhoneConfig {
            timing: Timing::Instant,
            apps: vec![app_file(url, trusts_user)],
            network: Network::On { api: None },
            system_certificates: certificates,
            ..PhoneConfig::default()
        };
        let phone = Phone::new(config);
        let devices = Devices { phone: Some(phone.clone()), ..Devices::default() };
        let folder = Folder::new();
        let app = App::new(devices).keeping_state_in(folder.0.clone());
        let world = World { phone, app: Arc::new(app) };
        world.ok("start_app", &format!(r#"{{"appId":"{PACKAGE}"}}"#)).await;
        NetworkWorld { world, folder }
    }

    /// Taps the button, and waits until the screen shows this status; 0 when there was no answer.
    async fn ask(&self, status: u16) -> String {
        let expect = format!(
            r#"{{"selector":{{"text":"Ask"}},"expect":{{"text":"code {status}"}},"timeout_ms":15000}}"#
        );
        self.world.ok("tap_element", &expect).await
    }

    async fn setting(&self) -> String {
        setting(&self.world.app).await.unwrap_or_default()
    }
}

/// The proxy that the phone's settings name.
async fn setting(app: &App) -> Option<String> {
    let progress = Progress::new(Duration::from_secs(5), CancellationToken::new());
    let session = app.fleet.find(VIRTUAL_ANDROID_ID, Some(Platform::Android), &progress).await.unwrap();
    session.network(&NetworkCommand::Read, &progress).await.unwrap().proxy
}

#[tokio::test(start_paused = true)]
async fn a_request_through_the_proxy_carries_its_action() {
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://10.0.2.2:{server}"), false, vec![]).await;
    let asked = net.world.ok("mock_network", "{}").await;
    assert_eq!(
        (fact(&asked, "proxy"), net.setting().await),
        ("off".into(), String::new()),
        "asking changes nothing"
    );
    let on = net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    assert_eq!(fact(&on, "proxy"), "on", "{on}");
    assert!(net.setting().await.starts_with("127.0.0.1:"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let tapped = net.ask(200).await;
    let action = fact(&tapped, "action_id");
    let seen = net.world.ok("get_network_activity", r#"{"bodies":true}"#).await;
    assert_eq!((fact(&seen, "source"), fact(&seen, "count")), ("proxy".into(), "1".into()), "{seen}");
    assert!(
        seen.contains(&format!("POST \"http://10.0.2.2:{server}/login?token=***&n=1\" 200 success")),
        "SE-06: {seen}"
    );
    assert!(seen.contains(&action) && !seen.contains("action_certain"), "{seen}");
    assert!(seen.contains("secret=***&n=1") && !seen.contains("hush"), "SE-06: {seen}");
    let by_id = format!(r#"{{"action_id":"{action}"}}"#);
    assert_eq!(fact(&net.world.ok("get_network_activity", &by_id).await, "count"), "1");
    assert_eq!(
        net.world.code("get_network_activity", r#"{"action_id":"tap_0_0"}"#).await,
        "INVALID_ARGUMENT"
    );
    // The phone says the same of the cause.
    let truth = net.world.phone.truth();
    assert_eq!((truth.requests.len(), truth.requests[0].cause), (1, Some(truth.inputs.len() as u64 - 1)));
    // Right after it another action is in reach of the next request.
    net.ask(200).await;
    let seen = net.world.ok("get_network_activity", "{}").await;
    assert!(seen.contains("action_certain:false(another_action)"), "{seen}");
    net.world.ok("mock_network", r#"{"proxy":"off"}"#).await;
    assert_eq!(net.setting().await, "", "put back");
}

#[tokio::test(start_paused = true)]
async fn without_the_proxy_the_log_tells() {
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://127.0.0.1:{server}"), false, vec![]).await;
    net.ask(200).await;
    let seen = net.world.ok("get_network_activity", &format!(r#"{{"app_id":"{PACKAGE}"}}"#)).await;
    assert_eq!((fact(&seen, "source"), fact(&seen, "count")), ("log".into(), "1".into()), "{seen}");
    assert!(
        seen.contains("/login?token=***&n=1\" 200 success")
            && seen.contains("action_certain:false(log_time)"),
        "{seen}"
    );
}

#[tokio::test(start_paused = true)]
async fn mocks_answer_delay_fail_cut_and_go_offline() {
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://10.0.2.2:{server}"), false, vec![]).await;
    let mock = async |json: &str| net.world.ok("mock_network", json).await;
    let made = mock(r#"{"url":"/login","method":"POST","status":401,"body":"{\"error\":\"no\"}"}"#).await;
    assert!(made.contains("rule 1 POST url \"/login\" answers 401 with 14 bytes"), "{made}");
    net.ask(401).await;
    assert!(net.world.tree().await.contains("error"));
    mock(r#"{"clear":true,"url":"*login*","effect":"fail","for":1}"#).await;
    net.ask(503).await;
    net.ask(200).await;
    mock(r#"{"clear":true,"url":"/login/","delay_ms":3000}"#).await;
    net.ask(200).await;
    mock(r#"{"clear":true,"url":"/log.n\\?/","delay_ms":3000}"#).await;
    net.ask(200).await;
    let slow = net.world.ok("get_network_activity", "{}").await;
    let ms: u64 = slow.split(" ms ").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(ms >= 3000, "{slow}");
    mock(r#"{"clear":true,"effect":"cut"}"#).await;
    net.ask(0).await;
    mock(r#"{"clear":true,"effect":"offline"}"#).await;
    net.ask(0).await;
    let failed = net.world.ok("get_network_activity", r#"{"failed_only":true}"#).await;
    assert!(
        failed.contains("retryable") && failed.contains("mocked error \"offline by a rule\""),
        "{failed}"
    );
    mock(r#"{"clear":true,"status":418,"for":"next_action"}"#).await;
    net.ask(418).await;
    net.ask(200).await;
    assert_eq!(net.world.code("mock_network", r#"{"status":99}"#).await, "INVALID_ARGUMENT");
    assert_eq!(net.world.code("mock_network", r#"{"url":"/x"}"#).await, "INVALID_ARGUMENT");
    assert_eq!(net.world.code("mock_network", r#"{"status":200,"for":"tap_9_9"}"#).await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn https_is_a_tunnel_until_the_ca_is_installed_where_the_app_trusts_it() {
    let (server, public) = https_server().await;
    let url = format!("https://10.0.2.2:{server}");
    let net = NetworkWorld::new(&url, false, vec![public.clone()]).await;
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    net.ask(200).await;
    let seen = net.world.ok("get_network_activity", "{}").await;
    assert!(
        seen.contains(&format!("CONNECT \"10.0.2.2:{server}\" success")) && seen.contains("tunnel"),
        "{seen}"
    );
    assert!(!seen.contains("/login"), "its content is not seen: {seen}");
    // Opened for an app that does not trust the user's certificates: it is told, and the app works again.
    let on = net.world.ok("mock_network", r#"{"proxy":"tls"}"#).await;
    let ca = std::fs::read_to_string(fact(&on, "ca")).unwrap();
    assert!(net.world.phone.install_certificate(&ca));
    net.ask(0).await;
    let seen = net.world.ok("get_network_activity", "{}").await;
    assert!(seen.contains("the client refused the proxy's certificate"), "{seen}");
    net.ask(200).await;
    let again = net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    assert!(again.contains(r#""refused_by":["10.0.2.2"]"#), "{again}");
}

#[tokio::test(start_paused = true)]
async fn https_of_an_app_that_trusts_the_ca_is_read_and_mocked() {
    let (server, public) = https_server().await;
    let net = NetworkWorld::new(&format!("https://10.0.2.2:{server}"), true, vec![public]).await;
    let on = net.world.ok("mock_network", r#"{"proxy":"tls"}"#).await;
    assert!(net.world.phone.install_certificate(&std::fs::read_to_string(fact(&on, "ca")).unwrap()));
    // The server is not one that this machine trusts, so the proxy does not pass the request on.
    net.ask(502).await;
    net.world.ok("mock_network", r#"{"url":"/login","status":201,"body":"made up"}"#).await;
    let tapped = net.ask(201).await;
    let seen = net.world.ok("get_network_activity", r#"{"bodies":true}"#).await;
    assert!(
        seen.contains(&format!("POST \"https://10.0.2.2:{server}/login?token=***&n=2\" 201 success")),
        "{seen}"
    );
    assert!(
        seen.contains("mocked") && seen.contains("made up") && seen.contains(&fact(&tapped, "action_id")),
        "{seen}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_har_is_written_only_where_files_are_allowed() {
    // SE-02, SE-06
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://10.0.2.2:{server}"), false, vec![]).await;
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    net.ask(200).await;
    let file = net.folder.0.join("session.har");
    let wrote =
        net.world.ok("get_network_activity", &format!(r#"{{"export_har":"{}"}}"#, file.display())).await;
    assert_eq!(fact(&wrote, "har"), file.canonicalize().unwrap().display().to_string());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(r#""status":200"#) && !text.contains("hush"), "{text}");
    for bad in ["/etc/session.har", "/dev/null", "", "../../../../../../etc/x.har"] {
        let json = format!(r#"{{"export_har":"{bad}"}}"#);
        assert_eq!(net.world.code("get_network_activity", &json).await, "INVALID_ARGUMENT", "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_phone_is_put_back_and_a_users_own_proxy_is_not_overwritten() {
    let net = NetworkWorld::new("http://10.0.2.2:1", false, vec![]).await;
    let app = &net.world.app;
    let progress = Progress::new(Duration::from_secs(60), CancellationToken::new());
    let session = app.fleet.find(VIRTUAL_ANDROID_ID, Some(Platform::Android), &progress).await.unwrap();
    for own in ["127.0.0.1:8888", "192.0.2.1:3128"] {
        let used = NetworkCommand::UseProxy { address: Some(own.to_owned()) };
        session.network(&used, &progress).await.unwrap();
        assert_eq!(net.world.code("mock_network", r#"{"proxy":"on"}"#).await, "INVALID_ARGUMENT", "{own}");
        assert_eq!(net.setting().await, own, "left alone");
    }
    session.network(&NetworkCommand::UseProxy { address: None }, &progress).await.unwrap();
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    assert_eq!(std::fs::read_dir(net.folder.0.join("proxied")).unwrap().count(), 1);
    app.proxies.restore_all(app).await;
    assert_eq!(
        (net.setting().await, std::fs::read_dir(net.folder.0.join("proxied")).unwrap().count()),
        (String::new(), 0)
    );
    let report = session.network(&NetworkCommand::Read, &progress).await.unwrap();
    assert_eq!(report.opened, [], "the port is closed");
    // What somebody else has set meanwhile is theirs.
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    let other = NetworkCommand::UseProxy { address: Some("10.1.1.1:3128".to_owned()) };
    session.network(&other, &progress).await.unwrap();
    net.world.ok("mock_network", r#"{"proxy":"off"}"#).await;
    assert_eq!(net.setting().await, "10.1.1.1:3128");
}

#[tokio::test(start_paused = true)]
async fn the_way_to_the_proxy_is_mended_after_the_phone_was_plugged_in_again() {
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://10.0.2.2:{server}"), false, vec![]).await;
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    net.ask(200).await;
    net.world.phone.set_plugged(false);
    net.world.phone.set_plugged(true);
    net.world.ok("mock_network", r#"{"proxy":"on"}"#).await;
    net.ask(200).await;
    net.world.phone.set_plugged(false);
    net.world.phone.set_plugged(true);
    net.ask(0).await;
    let seen = net.world.ok("get_network_activity", "{}").await;
    assert!(seen.contains("lost the way to the proxy"), "{seen}");
    net.ask(200).await;
}

#[tokio::test(start_paused = true)]
async fn an_expectation_that_is_not_met_is_told_with_the_request_that_failed() {
    // TR-02
    let server = http_server().await;
    let net = NetworkWorld::new(&format!("http://10.0.2.2:{server}"), false, vec![]).await;
    net.world.ok("mock_network", r#"{"url":"/login","status":401}"#).await;
    let json = r#"{"selector":{"text":"Ask"},"expect":{"text":"Welcome"},"timeout_ms":5000}"#;
    let text = net.world.told("tap_element", json).await;
    println!("{text}");
    let line = text.lines().find(|line| line.starts_with("request: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("/login") && line.contains(" 401 failure") && line.contains("mocked"), "{line}");
    assert!(!line.contains("hush"), "SE-06: {line}");
}
