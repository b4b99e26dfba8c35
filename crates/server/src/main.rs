//! One binary: an MCP server, the same tools on the command line, a demonstration, and a phone.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod cli;
mod demo;
mod docs;
mod doctor;
mod log;
mod offline;
mod virtual_phone;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use mobile_debug_mcp::answer::Answer;
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::mcp::McpServer;
use mobile_debug_mcp::{args, tools};
use rmcp::ServiceExt as _;
use tokio_util::sync::CancellationToken;

use cli::{Cli, Command, DeviceArgs, VirtualDevice, VirtualPlatform};

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(level) = cli.log {
        log::start(level);
    }
    // One thread: a call waits for its device nearly all the time, and a small process starts fast.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(run(cli));
            // A read of stdin that nobody needs any more must not keep the process alive.
            runtime.shutdown_background();
            code
        }
        Err(error) => fail(&format!("cannot start: {error}")),
    }
}

async fn run(cli: Cli) -> ExitCode {
    match cli.command {
        None => serve(cli.devices).await,
        Some(Command::Serve { devices }) => serve(devices).await,
        Some(Command::Demo) => demo::run().await,
        Some(Command::Doctor { devices }) => doctor::run(&app(&devices)).await,
        Some(Command::Tools { json, markdown }) => print(&match (json, markdown) {
            (true, _) => docs::json(),
            (_, true) => docs::markdown(),
            _ => docs::plain(),
        }),
        Some(Command::Call { tool, json, devices }) => call(&app(&devices), &tool, &json).await,
        Some(Command::Tree(args)) => answered(offline::tree(&args)),
        Some(Command::Find(args)) => answered(offline::find(&args)),
        Some(Command::Diff(args)) => answered(offline::diff(&args)),
        Some(Command::Virtual { device: VirtualDevice::Android(options) }) => {
            virtual_phone::run(options).await
        }
    }
}

fn app(args: &DeviceArgs) -> App {
    App::new(Devices {
        phone: args.virtual_device.map(|VirtualPlatform::Android| virtual_phone::embedded()),
        addresses: args.addresses.clone(),
        adb_server: !args.no_adb_server,
    })
}

async fn serve(devices: DeviceArgs) -> ExitCode {
    let app = Arc::new(app(&devices));
    log::follow(&app);
    let server = McpServer::new(app);
    let running = match server.serve(rmcp::transport::stdio_pipes()).await {
        Ok(running) => running,
        // A client that goes away before it has said hello is not an error of ours.
        Err(error) => return fail(&format!("no MCP client: {error}")),
    };
    match running.waiting().await {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

async fn call(app: &App, tool: &str, json: &str) -> ExitCode {
    let Some(entry) = tools::find(tool) else {
        return fail(&format!("there is no tool {tool:?}; `mobile-debug-mcp tools` lists them"));
    };
    let arguments: args::JsonObject = match serde_json::from_str(json) {
        Ok(arguments) => arguments,
        Err(error) => return fail(&format!("the arguments are not a JSON object: {error}")),
    };
    let answer = entry.call(app, arguments, CancellationToken::new()).await;
    let mut text = answer.text();
    if let Some(image) = &answer.image {
        text.push_str(&format!("\n[{} of {} bytes]", image.mime_type, image.bytes.len()));
    }
    let printed = print(&text);
    if answer.is_error { ExitCode::FAILURE } else { printed }
}

fn answered(answer: Result<Answer, String>) -> ExitCode {
    match answer {
        Ok(answer) => print(&answer.text()),
        Err(problem) => fail(&problem),
    }
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
