//! Other people's clients through the proxy: curl and Java's own HTTP client, HTTP and HTTPS.
//!
//! A client that is not installed is said to be skipped; in CI that is a failure.

use std::process::Stdio;

use mdm_proxy::{Kind, Proxy, Record, Tls};
use tokio::process::Command;

use crate::world::{Folder, PublicCa, ended, http_server, https_server, opening_proxy, proxy};

#[expect(clippy::disallowed_methods, reason = "other people's clients are processes")]
/// Runs a program and returns its exit code and what it printed; nothing if it is not there.
async fn run(program: &str, arguments: &[&str]) -> Option<(i32, String)> {
    let done = Command::new(program)
        .args(arguments)
        .env_remove("http_proxy")
        .env_remove("https_proxy")
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    match done {
        Ok(done) => {
            let text = [done.stdout, done.stderr].concat();
            Some((done.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{program}: {error}");
            eprintln!("skipped: {program} is not there ({error})");
            None
        }
    }
}

async fn curl(proxy: &Proxy, arguments: &[&str]) -> Option<(i32, String)> {
    let address = format!("http://127.0.0.1:{}", proxy.port());
    // The servers stand on this machine, which curl would ask without a proxy.
    let fixed = ["-sS", "--max-time", "20", "--noproxy", "", "--proxy", &address];
    run("curl", &[&fixed, arguments].concat()).await
}

fn find<'a>(records: &'a [Record], path: &str) -> &'a Record {
    records
        .iter()
        .find(|record| record.url.ends_with(path))
        .unwrap_or_else(|| panic!("no {path} in {records:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_over_http() {
    let (server, proxy) = (http_server().await, proxy().await);
    let Some((code, text)) = curl(&proxy, &["-d", "a=1", &format!("http://127.0.0.1:{server}/form")]).await
    else {
        return;
    };
    assert_eq!((code, text.as_str()), (0, format!("POST 127.0.0.1:{server} /form [a=1] ").as_str()));
    let record = ended(&proxy, 1).await.remove(0);
    assert_eq!((record.method.as_str(), record.status, record.request.bytes), ("POST", Some(200), 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_over_https_without_our_authority_is_a_tunnel() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let (server, proxy) = (https_server(&ca).await, proxy().await);
    let pem = folder.0.join("public.pem");
    std::fs::write(&pem, &ca.pem).unwrap();
    let url = format!("https://127.0.0.1:{server}/secret");
    let Some((code, text)) = curl(&proxy, &["--cacert", pem.to_str().unwrap(), &url]).await else { return };
    assert_eq!((code, text.contains("/secret")), (0, true), "{text}");
    let record = ended(&proxy, 1).await.remove(0);
    assert_eq!((record.kind, record.tls, record.status), (Kind::Tunnel, Tls::Tunnelled, None));
    assert_eq!(record.url, format!("127.0.0.1:{server}"));
    assert!(record.request.bytes > 300 && record.response.bytes > 300, "{record:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_over_https_with_our_authority_is_read() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let server = https_server(&ca).await;
    let (proxy, authority) = opening_proxy(&ca, &folder).await;
    let pem = authority.certificate_file().to_str().unwrap();
    for (version, path) in [("--http1.1", "/one"), ("--http2", "/two")] {
        let url = format!("https://127.0.0.1:{server}{path}");
        let Some((code, text)) = curl(&proxy, &["--cacert", pem, version, "-d", "pin=1234", &url]).await
        else {
            return;
        };
        assert_eq!((code, text.contains("[pin=1234]")), (0, true), "{version}: {text}");
    }
    let records = ended(&proxy, 2).await;
    for (path, version) in [("/one", "HTTP/1.1"), ("/two", "HTTP/2")] {
        let record = find(&records, path);
        assert_eq!((record.tls, record.status, record.version), (Tls::Opened, Some(200), version));
        assert_eq!(record.request.body, b"pin=1234");
    }
    assert!(proxy.refusing_hosts().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_that_does_not_trust_us_is_told_of_and_tunnelled_from_then_on() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let server = https_server(&ca).await;
    let (proxy, _) = opening_proxy(&ca, &folder).await;
    let pem = folder.0.join("public.pem");
    std::fs::write(&pem, &ca.pem).unwrap();
    let url = format!("https://127.0.0.1:{server}/x");
    let arguments = ["--cacert", pem.to_str().unwrap(), url.as_str()];
    let Some((code, _)) = curl(&proxy, &arguments).await else { return };
    assert_eq!(code, 60, "curl's code for a certificate that it does not trust");
    let refused = ended(&proxy, 1).await.remove(0);
    assert_eq!(refused.tls, Tls::Refused);
    assert!(refused.error.as_ref().is_some_and(|why| why.contains("UnknownCA")), "{refused:?}");
    assert_eq!(proxy.refusing_hosts(), ["127.0.0.1"]);
    assert_eq!(curl(&proxy, &arguments).await.unwrap().0, 0, "the second time it is a tunnel");
    assert_eq!(ended(&proxy, 2).await[1].tls, Tls::Tunnelled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_we_do_not_trust_is_not_passed_on() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let server = https_server(&PublicCa::new()).await;
    let (proxy, authority) = opening_proxy(&ca, &folder).await;
    let url = format!("https://127.0.0.1:{server}/x");
    let pem = authority.certificate_file().to_str().unwrap();
    let Some((code, text)) = curl(&proxy, &["--cacert", pem, "-i", &url]).await else { return };
    assert_eq!(code, 0);
    assert!(text.contains("502") && text.contains("invalid peer certificate"), "{text}");
}

const JAVA: &str = r#"
import java.io.FileInputStream;
import java.net.*;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

/** Asks an address through a proxy: Fetch PROXY_PORT URL CA_FILE MODE, with MODE http (java.net.http) or url. */
public class Fetch {
    public static void main(String[] a) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(a[2])));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        InetSocketAddress proxy = new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0]));
        try {
            if (a[3].equals("http")) {
                HttpClient client = HttpClient.newBuilder().sslContext(context).proxy(ProxySelector.of(proxy)).build();
                HttpRequest request = HttpRequest.newBuilder(URI.create(a[1])).POST(HttpRequest.BodyPublishers.ofString("java")).build();
                HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                System.out.println(answer.statusCode() + " " + answer.version() + " " + answer.body());
            } else {
                HttpURLConnection connection = (HttpURLConnection) new URL(a[1]).openConnection(new Proxy(Proxy.Type.HTTP, proxy));
                if (connection instanceof HttpsURLConnection) ((HttpsURLConnection) connection).setSSLSocketFactory(context.getSocketFactory());
                String body = new String(connection.getInputStream().readAllBytes());
                System.out.println(connection.getResponseCode() + " " + body);
            }
        } catch (SSLHandshakeException e) {
            System.out.println("handshake: " + e.getMessage());
        }
    }
}
"#;

async fn java(folder: &Folder, proxy: &Proxy, url: &str, pem: &str, mode: &str) -> Option<String> {
    let file = folder.0.join("Fetch.java");
    std::fs::write(&file, JAVA).unwrap();
    let port = proxy.port().to_string();
    // Java leaves addresses of this machine to itself unless told otherwise.
    let arguments = ["-Dhttp.nonProxyHosts=", "-Xshare:auto", file.to_str().unwrap(), &port, url, pem, mode];
    run("java", &arguments).await.map(|(_, text)| text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn java_over_http_and_https_with_and_without_our_authority() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let (http, https) = (http_server().await, https_server(&ca).await);
    let (opening, authority) = opening_proxy(&ca, &folder).await;
    let ours = authority.certificate_file().to_str().unwrap().to_owned();
    let public = folder.0.join("public.pem");
    std::fs::write(&public, &ca.pem).unwrap();
    let public = public.to_str().unwrap();
    for mode in ["http", "url"] {
        let Some(text) =
            java(&folder, &opening, &format!("http://127.0.0.1:{http}/plain-{mode}"), &ours, mode).await
        else {
            return;
        };
        assert!(text.starts_with("200 ") && text.contains(&format!("/plain-{mode}")), "{text}");
        let url = format!("https://127.0.0.1:{https}/tls-{mode}");
        let text = java(&folder, &opening, &url, &ours, mode).await.unwrap();
        assert!(text.starts_with("200 ") && text.contains(&format!("/tls-{mode}")), "{text}");
    }
    let records = ended(&opening, 4).await;
    for (path, tls) in [
        ("/plain-http", Tls::None),
        ("/plain-url", Tls::None),
        ("/tls-http", Tls::Opened),
        ("/tls-url", Tls::Opened),
    ] {
        assert_eq!((find(&records, path).tls, find(&records, path).status), (tls, Some(200)), "{path}");
    }
    assert_eq!(find(&records, "/tls-http").request.body, b"java");
    let url = format!("https://127.0.0.1:{https}/x");
    let text = java(&folder, &opening, &url, public, "url").await.unwrap();
    assert!(text.starts_with("handshake: "), "a client that does not trust us: {text}");
    let refused = ended(&opening, 5).await.remove(4);
    assert_eq!(refused.tls, Tls::Refused, "{refused:?}");
    let text = java(&folder, &opening, &url, public, "url").await.unwrap();
    assert!(text.starts_with("200 "), "the second time it is a tunnel: {text}");
}
