//! One binary: an MCP server, the same tools on the command line, a demonstration, and a phone.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod cli;
mod demo;
mod docs;
mod doctor;
mod log;
mod manual;
mod offline;
mod rules;
mod virtual_iphone;
mod virtual_phone;

use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use mdm_android::adb::server_start::Environment;
use mobile_debug_mcp::answer::{Answer, Image};
use mobile_debug_mcp::app::{App, Devices, IosDevices};
use mobile_debug_mcp::compat::{self, Block, Rendered};
use mobile_debug_mcp::killed::Processes;
use mobile_debug_mcp::mcp::McpServer;
use mobile_debug_mcp::mcp::conformance::Conformance;
use mobile_debug_mcp::paths::Roots;
use mobile_debug_mcp::secrets::Secrets;
use mobile_debug_mcp::tools::{By, Entry};
use mobile_debug_mcp::{args, http, mcp, state_folder};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use cli::{Cli, Command, DeviceArgs, HttpArgs, ServeArgs, VirtualDevice, VirtualPlatform};

const WORKERS: usize = 2;

fn main() -> ExitCode {
    let cli = Cli::of_process();
    let secrets = Secrets::default();
    if let Some(level) = cli.log {
        log::start(level, secrets.clone());
    }
    // A call waits for its device nearly all the time. The second thread serves the others while one reads a large
    // screen or searches it with a costly pattern (F64).
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(run(cli, &secrets));
            // A read of stdin that nobody needs any more must not keep the process alive.
            runtime.shutdown_background();
            code
        }
        Err(error) => fail(&format!("cannot start: {error}")),
    }
}

async fn run(cli: Cli, secrets: &Secrets) -> ExitCode {
    match cli.command {
        None => serve(&cli.serve, secrets).await,
        Some(Command::Serve(args)) => serve(&args, secrets).await,
        Some(Command::Demo { platform, out }) => demo::run(platform, out).await,
        Some(Command::Doctor { try_helper: true, devices: args }) => match devices(&args) {
            Ok(devices) => doctor::try_helper(devices).await,
            Err(problem) => fail(&problem),
        },
        Some(Command::Doctor { devices, .. }) => with_app(&devices, secrets, doctor::run).await,
        Some(Command::Tools { json, markdown }) => print(&match (json, markdown) {
            (true, _) => docs::json(),
            (_, true) => docs::markdown(),
            _ => docs::plain(),
        }),
        Some(Command::Call { tool, json, out, devices }) => {
            with_app(&devices, secrets, |app| call(app, tool, json, out)).await
        }
        Some(Command::Tree(args)) => answered(offline::tree(&args)),
        Some(Command::Find(args)) => answered(offline::find(&args)),
        Some(Command::Diff(args)) => answered(offline::diff(&args)),
        Some(Command::Log(args)) => answered(offline::log(&args)),
        Some(Command::Virtual { device: VirtualDevice::Android(options) }) => {
            virtual_phone::run(options).await
        }
        Some(Command::Completions { shell }) => print(&manual::completions(shell)),
        Some(Command::Man { out }) => match manual::man(out.as_deref()) {
            Ok(text) => print(&text),
            Err(problem) => fail(&problem),
        },
        Some(Command::XcrunStandIn { socket, arguments }) => virtual_iphone::xcrun(&socket, &arguments),
        Some(Command::CompanionStandIn { socket, udid, arguments }) => {
            virtual_iphone::companion(&socket, &udid, &arguments).await
        }
        Some(Command::Virtual { device: VirtualDevice::Ios(options) }) => virtual_iphone::run(options).await,
    }
}

/// Runs a command with the devices that were asked for, unless one of them cannot be.
async fn with_app<F: Future<Output = ExitCode>>(
    args: &DeviceArgs,
    secrets: &Secrets,
    command: impl FnOnce(App) -> F,
) -> ExitCode {
    let governed = |devices| rules::governed(App::new(devices), &args.rules, secrets);
    // Noted for as long as the command runs.
    let processes = Processes::begin(args.state.clone().or_else(state_folder::of_process).as_deref());
    let numbered =
        |devices| Devices { number: Some(processes.own), killed: processes.killed.clone(), ..devices };
    match (devices(args).map(numbered).and_then(governed), Roots::new(&args.roots)) {
        (Ok(app), Ok(roots)) => {
            let app = app.allowing(rules::without_own_files(roots, args));
            let (companions, runners) = (app.companions.clone(), Arc::clone(&app.runners));
            let code = command(match &args.state {
                Some(folder) => app.keeping_state_in(folder.clone()),
                None => app,
            })
            .await;
            runners.end_all().await;
            // Nor must a companion outlive the program that started it.
            if let Some(companions) = companions {
                companions.end_all().await;
            }
            code
        }
        (Err(problem), _) | (_, Err(problem)) => fail(&problem),
    }
}

fn devices(args: &DeviceArgs) -> Result<Devices, String> {
    let wanted = |platform| args.virtual_device == Some(platform);
    Ok(Devices {
        phone: wanted(VirtualPlatform::Android).then(|| virtual_phone::embedded(args)).transpose()?,
        addresses: args.addresses.clone(),
        adb_server: !args.no_adb_server,
        helper: args.helper.unwrap_or_default(),
        number: None,
        killed: Vec::new(),
        iphone: wanted(VirtualPlatform::Ios).then(|| virtual_iphone::embedded(args)).transpose()?,
        ios: IosDevices {
            idb: args.idb.clone(),
            wda: args.wda.clone(),
            usbmuxd: args.usbmuxd.clone(),
            wda_bundle: args.wda_bundle.clone(),
            xcrun: args.xcrun.clone(),
            usual_places: !args.no_ios,
        },
    })
}

async fn serve(args: &ServeArgs, secrets: &Secrets) -> ExitCode {
    match args.http.address {
        None => with_app(&args.devices, secrets, serve_pipe).await,
        Some(address) => {
            let secrets_of_http = secrets.clone();
            let http =
                |app| serve_http(app, address, &args.http, args.devices.state.as_deref(), secrets_of_http);
            with_app(&args.devices, secrets, http).await
        }
    }
}

async fn serve_http(
    app: App,
    address: SocketAddr,
    args: &HttpArgs,
    state: Option<&Path>,
    secrets: Secrets,
) -> ExitCode {
    let config = match rules::http_config(address, args, state, &secrets) {
        Ok(config) => config,
        Err(problem) => return fail(&problem),
    };
    let roots = app.roots.clone().keeping(args.token_file.as_deref());
    let app = app.leasing(rules::leases(args)).allowing(roots);
    let conformance = args.conformance;
    let listener = match TcpListener::bind(address).await {
        Ok(listener) => listener,
        Err(error) => return fail(&format!("{address}: {error}")),
    };
    serving(app, |app| async move {
        // Whoever asked for any free port has to be told which.
        if let Ok(address) = listener.local_addr() {
            drop(writeln!(std::io::stderr(), "listening on http://{address}{}", http::MCP_PATH));
        }
        let ended = mcp::when_a_session_ends(&app);
        let server = McpServer::alone(app);
        let served = if conformance {
            let server = Conformance::before(server)?;
            http::serve(listener, config, secrets, move || server.for_another(), ended, asked_to_end()).await
        } else {
            http::serve(listener, config, secrets, move || server.for_another(), ended, asked_to_end()).await
        };
        served.map_err(|error| error.to_string())
    })
    .await
}

async fn serve_pipe(app: App) -> ExitCode {
    serving(app, |app| async move {
        let (read, write) = rmcp::transport::stdio_pipes();
        let hung_up = async {
            tokio::select! {
                () = stdout_closed() => {}
                () = asked_to_end() => {}
            }
        };
        mcp::serve(app, read, write, hung_up).await
    })
    .await
}

/// What is the same however clients come in: what was left behind is put right before, and everything after.
async fn serving<F: Future<Output = Result<(), String>>>(
    app: App,
    clients: impl FnOnce(Arc<App>) -> F,
) -> ExitCode {
    let app = Arc::new(app);
    let processes = app.processes.clone();
    log::follow(&app);
    for problem in Environment::of_process().problems() {
        tracing::warn!("{problem}");
    }
    let recovering = tokio::spawn({
        let app = Arc::clone(&app);
        async move { app.proxies.recover(&app).await }
    });
    let served = clients(Arc::clone(&app)).await;
    recovering.abort();
    app.proxies.restore_all(&app).await;
    // A build must not outlive the program that started it.
    processes.end_all().await;
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

/// Waits for a signal that ends a program: devices are put back as they were and builds are ended first.
async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        // A signal that cannot be heard of ends the program as ever.
        let mut heard: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let any = heard.iter_mut().map(|signal| Box::pin(signal.recv()));
        if any.len() > 0 {
            futures_util::future::select_all(any).await;
            return;
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_ok() {
        return;
    }
    std::future::pending().await
}

/// Waits until nobody reads stdout any more. Where the system does not tell, only a failed write does.
async fn stdout_closed() {
    #[cfg(target_os = "linux")]
    {
        let stdout = tokio::net::unix::pipe::OpenOptions::new().open_sender("/proc/self/fd/1");
        if let Ok(stdout) = stdout
            && stdout.ready(tokio::io::Interest::ERROR).await.is_ok()
        {
            return;
        }
    }
    std::future::pending().await
}

async fn call(app: App, tool: String, json: String, out: Option<PathBuf>) -> ExitCode {
    let Some(entry) = app.offer.find(&tool) else {
        return fail(&format!("there is no tool {tool:?} here; `mobile-debug-mcp tools` lists them"));
    };
    let arguments: args::JsonObject = match serde_json::from_str(&json) {
        Ok(arguments) => arguments,
        Err(error) => return fail(&format!("the arguments are not a JSON object: {error}")),
    };
    if app.policy.question(entry, &arguments).is_some() && !app.policy.may_do_without_asking() {
        return fail(&format!("the policy wants a person to agree to {tool}, and nobody can be asked here"));
    }
    let app = Arc::new(app);
    log::follow(&app);
    let printed = printed(&app, entry, arguments).await;
    app.proxies.restore_all(&app).await;
    let mut text = app.secrets.redact_answer(&printed.text).into_owned();
    match (&printed.image, &out) {
        (Some(image), out) => {
            text.push_str(&format!("\n[{} of {} bytes", image.mime_type, image.bytes.len()));
            match out {
                None => text.push_str("; --out FILE saves it]"),
                Some(file) => match std::fs::write(file, &image.bytes) {
                    Ok(()) => text.push_str(&format!(", saved as {}]", file.display())),
                    Err(error) => return fail(&format!("{}: {error}", file.display())),
                },
            }
        }
        (None, Some(file)) if !printed.is_error => {
            return fail(&format!("{tool} answered without a picture; {} was not written", file.display()));
        }
        (None, _) => {}
    }
    exit_code(print(&text), printed.is_error)
}

/// An answer on its way to the terminal.
struct Printed {
    text: String,
    image: Option<Image>,
    is_error: bool,
}

/// Makes the call, which ends early when the program is asked to end.
async fn printed(app: &App, entry: &'static Entry, arguments: args::JsonObject) -> Printed {
    let cancelled = CancellationToken::new();
    let by = By::new(app, Arc::clone(&app.own), cancelled.clone());
    let calling = async {
        if app.compat {
            return Printed::from(compat::call(app, entry, arguments, by).await);
        }
        let answer = entry.call_by(app, arguments, by).await;
        Printed { text: answer.text(), is_error: answer.is_error, image: answer.image }
    };
    tokio::pin!(calling);
    tokio::select! {
        printed = &mut calling => printed,
        () = asked_to_end() => {
            cancelled.cancel();
            calling.await
        }
    }
}

impl From<Rendered> for Printed {
    fn from(rendered: Rendered) -> Printed {
        let (mut texts, mut image) = (Vec::new(), None);
        for block in rendered.blocks {
            match block {
                Block::Text(text) => texts.push(text),
                Block::Image(picture) => image = Some(picture),
            }
        }
        Printed { text: texts.join("\n"), image, is_error: rendered.is_error }
    }
}

fn answered(answer: Result<Answer, String>) -> ExitCode {
    match answer {
        Ok(answer) => exit_code(print(&answer.text()), answer.is_error),
        Err(problem) => fail(&problem),
    }
}

/// The exit code says whether the answer is an error, as MCP clients are told (F45, F49).
fn exit_code(printed: ExitCode, is_error: bool) -> ExitCode {
    if is_error { ExitCode::FAILURE } else { printed }
}

/// To stdout, for commands that are not the server.
fn print(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader went away (`| head`): nothing is wrong and nobody listens.
        Err(_) => ExitCode::FAILURE,
    }
}

fn fail(text: &str) -> ExitCode {
    // If even stderr is closed there is nobody left to tell.
    drop(writeln!(std::io::stderr(), "mobile-debug-mcp: {text}"));
    ExitCode::from(2)
}
