//! The log on stderr, for people who want to see what the server does. Silent unless `--log` asks for it.

use std::sync::Arc;

use mdm_core::action::event::Event;
use mdm_core::text::quote::escape_unreadable;
use mdm_engine::Stamped;
use mobile_debug_mcp::app::App;
use mobile_debug_mcp::secrets::Secrets;
use tracing::Level;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::LogLevel;

const OURS: &str = "mobile_debug_mcp";

/// Writes events of this level and above to stderr, without what is secret; stdout is the MCP channel.
pub fn start(level: LogLevel, secrets: Secrets) {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    // The protocol library logs whole requests when asked for more, and a request may hold a secret (S8).
    let shown = Targets::new().with_target(OURS, level).with_target("rmcp", Level::WARN.min(level));
    let writer = move || LogWriter { secrets: secrets.clone() };
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(shown)).init();
}

/// Gets each line as a whole.
struct LogWriter {
    secrets: Secrets,
}

impl std::io::Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = escape_unreadable(&self.secrets.redact(&text)).into_owned();
        std::io::stderr().write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Logs what happens on the bus, and keeps it where the session is kept, for as long as the server runs. Where neither is
/// wanted nobody listens, and nothing is told.
pub fn follow(app: &Arc<App>) {
    let (kept, logs) = (app.trace_file.clone(), tracing::enabled!(Level::ERROR));
    if kept.is_none() && !logs {
        return;
    }
    let mut listener = app.fleet.bus().listen();
    tokio::spawn(async move {
        while let Some(stamped) = listener.next().await {
            if logs {
                write(&stamped);
            }
            if let Some(kept) = &kept {
                kept.event(&stamped);
            }
        }
    });
}

fn write(stamped: &Stamped) {
    let Stamped { call, device, event, .. } = stamped;
    match event {
        Event::CallBegan { .. } | Event::DeviceCame | Event::DeviceWent => {
            tracing::info!(call, device = &**device, "{event:?}");
        }
        Event::CallEnded { error: Some(code) } => {
            tracing::warn!(call, device = &**device, "failed: {}", code.as_str());
        }
        Event::CallEnded { error: None } => tracing::info!(call, device = &**device, "done"),
        Event::Looked { .. } => tracing::trace!(call, device = &**device, "{event:?}"),
        _ => tracing::debug!(call, device = &**device, "{event:?}"),
    }
}
