//! `CONNECT`: a tunnel of bytes, or TLS that is opened with the user's own authority.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::uri::Authority as UriAuthority;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_util::sync::CancellationToken;

use crate::authority::Authority;
use crate::body::{self, Body};
use crate::forward::{self, Cut, Scope, chain, plain};
use crate::record::{Kind, Record, Tls};
use crate::rules::Effect;
use crate::serve::{HEAD_BYTES_MAX, HEAD_TIME_MAX, HEADERS_MAX, Head, Shared};

/// From the first byte of TLS to the end of the handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(20);
/// A tunnel in which nothing passes is closed.
const TUNNEL_IDLE_MAX: Duration = Duration::from_secs(600);
/// The first byte of TLS.
const TLS_HANDSHAKE: u8 = 0x16;
const COPY_BYTES: usize = 16 * 1024;
/// Requests at the same time on one connection of HTTP/2.
const STREAMS_MAX: u32 = 100;

pub async fn connect(
    shared: Arc<Shared>,
    mut request: Request<Incoming>,
    stop: CancellationToken,
) -> Result<Response<Body>, Cut> {
    let Some((authority, host, port)) = target(request.uri().authority()) else {
        return Ok(plain(StatusCode::BAD_REQUEST, "CONNECT needs HOST:PORT\n"));
    };
    let head = Head { method: "CONNECT".to_owned(), url: format!("{host}:{port}"), host: host.clone() };
    let client = hyper::upgrade::on(&mut request);
    if let Some(ca) = shared.authority().filter(|_| !shared.refuses(&host)) {
        if shared.rules.is_offline() {
            begin(&shared, &head, Some("offline by a rule"));
            return Err(Cut);
        }
        let opened = Opened {
            shared: Arc::clone(&shared),
            ca,
            scope: Scope { authority, host },
            port,
            stop: stop.clone(),
        };
        spawn(&shared, stop, async move {
            if let Ok(client) = client.await {
                opened.serve(TokioIo::new(client)).await;
            }
        });
        return Ok(Response::new(body::empty()));
    }
    let id = begin(&shared, &head, None);
    let cause = shared.ask_cause(&head);
    if let Some((rule, said)) = shared.rules.take_for_tunnel(&head, &cause) {
        shared.store.change(id, |record| record.rule = Some(rule));
        tokio::time::sleep(Duration::from_millis(said.delay_ms)).await;
        if said.effect != Effect::Pass {
            let why = if said.effect == Effect::Offline { "offline by a rule" } else { "cut by a rule" };
            end(&shared, id, Some(why));
            return Err(Cut);
        }
    }
    let server = match shared.dialer.tunnel(&host, port).await {
        Ok(server) => server,
        Err(error) => {
            let error = chain(&error);
            end(&shared, id, Some(&error));
            return Ok(plain(StatusCode::BAD_GATEWAY, format!("the proxy could not connect: {error}\n")));
        }
    };
    let ending = Ending { shared: Arc::clone(&shared), id };
    spawn(&shared, stop, async move {
        if let Ok(client) = client.await {
            copy(&ending.shared, id, TokioIo::new(client), server).await;
        }
        drop(ending);
    });
    Ok(Response::new(body::empty()))
}

fn target(authority: Option<&UriAuthority>) -> Option<(UriAuthority, String, u16)> {
    let authority = authority?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    (!host.is_empty()).then_some(())?;
    Some((authority.clone(), host, authority.port_u16()?))
}

fn spawn(shared: &Arc<Shared>, stop: CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
    let cut = shared.cut_token();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = cut.cancelled() => {}
            () = work => {}
        }
    });
}

fn begin(shared: &Arc<Shared>, head: &Head, error: Option<&str>) -> u64 {
    let cause = shared.ask_cause(head);
    let mut record = Record::new(Kind::Tunnel, &head.method, &head.url, cause, shared.now_ms());
    record.tls = Tls::Tunnelled;
    record.error = error.map(str::to_owned);
    record.ended_ms = error.map(|_| record.began_ms);
    shared.store.begin(record)
}

fn end(shared: &Shared, id: u64, error: Option<&str>) {
    let now_ms = shared.now_ms();
    shared.store.change(id, |record| {
        record.ended_ms = Some(now_ms);
        record.error = record.error.take().or(error.map(str::to_owned));
    });
}

/// Notes the end of a tunnel, also of one that is dropped.
struct Ending {
    shared: Arc<Shared>,
    id: u64,
}

impl Drop for Ending {
    fn drop(&mut self) {
        end(&self.shared, self.id, None);
    }
}

/// Copies both ways, counts, and ends when either side does or nothing passes for long.
pub async fn copy(
    shared: &Shared,
    id: u64,
    client: impl AsyncRead + AsyncWrite + Unpin,
    server: impl AsyncRead + AsyncWrite + Unpin,
) {
    let (client_in, client_out) = tokio::io::split(client);
    let (server_in, server_out) = tokio::io::split(server);
    let sent = one_way(client_in, server_out, |count| {
        let now_ms = shared.now_ms();
        shared.store.change(id, |record| {
            record.request.bytes += count;
            record.active_ms = now_ms;
        });
    });
    let received = one_way(server_in, client_out, |count| {
        let now_ms = shared.now_ms();
        shared.store.change(id, |record| {
            record.response.bytes += count;
            record.answered_ms.get_or_insert(now_ms);
            record.active_ms = now_ms;
        });
    });
    // One direction may end before the other: a client may close its side and read on.
    tokio::join!(sent, received);
}

async fn one_way(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, note: impl Fn(u64)) {
    let mut buffer = vec![0u8; COPY_BYTES];
    loop {
        let count = match tokio::time::timeout(TUNNEL_IDLE_MAX, from.read(&mut buffer)).await {
            Ok(Ok(count)) if count > 0 => count,
            _ => break,
        };
        note(count as u64);
        if to.write_all(&buffer[..count]).await.is_err() || to.flush().await.is_err() {
            break;
        }
    }
    // The other side may be gone already.
    drop(to.shutdown().await);
}

/// A connection whose TLS is opened.
struct Opened {
    shared: Arc<Shared>,
    ca: Arc<Authority>,
    scope: Scope,
    port: u16,
    stop: CancellationToken,
}

impl Opened {
    async fn serve(self, mut client: TokioIo<hyper::upgrade::Upgraded>) {
        let first = match tokio::time::timeout(HEAD_TIME_MAX, client.read_u8()).await {
            Ok(Ok(first)) => first,
            _ => return,
        };
        let client = Rewound { first: Some(first), inner: client };
        if first == TLS_HANDSHAKE { self.serve_tls(client).await } else { self.tunnel(client).await }
    }

    fn head(&self) -> Head {
        let host = self.scope.host.clone();
        Head { method: "CONNECT".to_owned(), url: format!("{host}:{}", self.port), host }
    }

    /// Something else than TLS is passed on as it is.
    async fn tunnel(self, client: Rewound<TokioIo<hyper::upgrade::Upgraded>>) {
        let id = begin(&self.shared, &self.head(), None);
        match self.shared.dialer.tunnel(&self.scope.host, self.port).await {
            Ok(server) => {
                let _ending = Ending { shared: Arc::clone(&self.shared), id };
                let server: TcpStream = server;
                copy(&self.shared, id, client, server).await;
            }
            Err(error) => end(&self.shared, id, Some(&chain(&error))),
        }
    }

    async fn serve_tls(self, client: Rewound<TokioIo<hyper::upgrade::Upgraded>>) {
        let handshake = async {
            let start = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), client).await?;
            let name =
                start.client_hello().server_name().map_or(self.scope.host.clone(), str::to_ascii_lowercase);
            let config =
                self.ca.config(&name, self.shared.now_ms()).map_err(|error| io::Error::other(error.0))?;
            start.into_stream(config).await
        };
        let stream = match tokio::time::timeout(HANDSHAKE_MAX, handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return self.note_refusal(&error),
            Err(_) => return self.note_refusal(&io::Error::from(io::ErrorKind::TimedOut)),
        };
        let (shared, scope, stop) = (Arc::clone(&self.shared), self.scope.clone(), self.stop.clone());
        let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let has_asked = Arc::clone(&asked);
        let service = service_fn(move |request| {
            has_asked.store(true, std::sync::atomic::Ordering::Relaxed);
            forward::exchange(Arc::clone(&shared), Some(scope.clone()), request, stop.clone())
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .preserve_header_case(true);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(HEAD_TIME_MAX)
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX as u32);
        // A client that breaks off is gone: there is nobody to tell.
        drop(builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await);
        if !asked.load(std::sync::atomic::Ordering::Relaxed)
            && self.shared.note_silence(&self.scope.host, false)
        {
            self.note("the client closes every opened connection without a request: it may pin its server's certificate; this host is tunnelled from now on");
        }
    }

    /// The client ended the handshake. Its host is tunnelled from now on, so that the app works again.
    fn note_refusal(&self, error: &io::Error) {
        self.shared.note_silence(&self.scope.host, true);
        let why = match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(alert)) => format!("alert {alert:?}"),
            _ => error.to_string(),
        };
        self.note(&format!(
            "the client refused the proxy's certificate ({why}): install the CA where the app trusts it; this host is \
             tunnelled from now on"
        ));
    }

    fn note(&self, error: &str) {
        let id = begin(&self.shared, &self.head(), Some(error));
        self.shared.store.change(id, |record| record.tls = Tls::Refused);
    }
}

/// A stream whose first byte was looked at.
struct Rewound<S> {
    first: Option<u8>,
    inner: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0
            && let Some(first) = self.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
