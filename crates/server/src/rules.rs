//! What the command line says of who may do what, read before anything is served.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mobile_debug_mcp::app::App;
use mobile_debug_mcp::audit::Audit;
use mobile_debug_mcp::handles::Handles;
use mobile_debug_mcp::http::Config;
use mobile_debug_mcp::http::token::{self, Tokens};
use mobile_debug_mcp::leases::{Leases, TERM_DEFAULT};
use mobile_debug_mcp::offer::{Offer, Wanted};
use mobile_debug_mcp::paths::Roots;
use mobile_debug_mcp::policy::Policy;
use mobile_debug_mcp::secrets::Secrets;
use mobile_debug_mcp::state_folder;
use mobile_debug_mcp::trace_file::TraceFile;

use crate::cli::{DeviceArgs, HttpArgs, RuleArgs};

const TOKEN_VARIABLE: &str = "MOBILE_DEBUG_MCP_TOKEN";
/// Where a token that was made is kept.
const TOKEN_FILE: &str = "http-token";

/// The app with what is offered, allowed, written down and kept secret.
pub fn governed(app: App, args: &RuleArgs, secrets: &Secrets) -> Result<App, String> {
    let kinds: Vec<_> = args.show.iter().map(|kind| (*kind).into()).collect();
    secrets.show(&kinds);
    let mut handles = Handles::default();
    args.secrets.iter().try_for_each(|given| handles.add(given, secrets))?;
    for name in handles.guessable() {
        let words = "is so short that an agent can find it by trying (docs/security.md)";
        // If even stderr is closed there is nobody left to tell.
        drop(writeln!(std::io::stderr(), "secret {name} {words}"));
    }
    let policy = args.policy.as_deref().map(Policy::read).transpose()?.unwrap_or_default();
    let offer = Offer::new(&Wanted {
        toolsets: args.toolsets.clone(),
        tools: args.tools.clone(),
        without: args.exclude_tools.clone(),
        read_only: args.read_only,
        all: args.all_tools,
        allow: policy.tools.allow.clone(),
        deny: policy.tools.deny.clone(),
    })?;
    if !offer.taken_away.is_empty() {
        // If even stderr is closed there is nobody left to tell.
        drop(writeln!(std::io::stderr(), "not offered although named: {}", offer.taken_away.join(", ")));
    }
    let audit = args.audit.as_deref().map(|file| Audit::open(file, secrets.clone())).transpose()?;
    let kept = args.save_trace.as_deref().map(|file| TraceFile::create(file, secrets.clone())).transpose()?;
    let app = app.keeping(secrets.clone()).offering(offer).compatible(args.compat);
    let app = app.governed_by(policy).audited_by(audit).holding(handles);
    Ok(app.traced_in(kept).settling(!args.no_settle))
}

/// The folders that callers may use, without what the server itself keeps in them.
pub fn without_own_files(roots: Roots, args: &DeviceArgs) -> Roots {
    let rules = &args.rules;
    let named = [&rules.policy, &rules.audit, &rules.save_trace, &args.state];
    let secrets = rules.secrets.iter().filter_map(|given| given.split_once("=file:"));
    let state = args.state.clone().or_else(state_folder::of_process);
    let files = named.into_iter().flatten().map(PathBuf::as_path);
    roots.keeping(files.chain(secrets.map(|(_, file)| Path::new(file))).chain(state.as_deref()))
}

pub fn leases(args: &HttpArgs) -> Leases {
    Leases::new(args.lease_seconds.map_or(TERM_DEFAULT, Duration::from_secs), !args.no_take_over)
}

/// Who may come in. Where others than this machine can connect, a token is asked for in any case (SE-03).
pub fn http_config(
    address: SocketAddr,
    args: &HttpArgs,
    state: Option<&Path>,
    secrets: &Secrets,
) -> Result<Config, String> {
    let tokens = match (&args.token_file, std::env::var(TOKEN_VARIABLE)) {
        (Some(file), _) => Tokens::read(file)?,
        (None, Ok(token)) => Tokens::one(&token).map_err(|problem| format!("{TOKEN_VARIABLE}: {problem}"))?,
        (None, Err(_)) if address.ip().is_loopback() => Tokens::default(),
        (None, Err(_)) => kept_token(state)?,
    };
    tokens.texts().for_each(|token| secrets.keep_token(token));
    Ok(Config {
        tokens,
        hosts: args.hosts.clone(),
        origins: args.origins.clone(),
        public_url: args.public_url.clone(),
        issuers: args.issuers.clone(),
    })
}

/// The token that was made when one was first needed. Only its file is named, never itself.
fn kept_token(state: Option<&Path>) -> Result<Tokens, String> {
    let folder = state.map(Path::to_path_buf).or_else(state_folder::of_process);
    let folder = folder.ok_or("there is no folder to keep a token in; give --token-file or --state")?;
    let file = folder.join(TOKEN_FILE);
    if !file.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        write_privately(&file, &token::generate()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    // If even stderr is closed there is nobody left to tell.
    drop(writeln!(std::io::stderr(), "clients need the token in {}", file.display()));
    Tokens::read(&file)
}

fn write_privately(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(file)?.write_all(text.as_bytes())
}
