//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use mdm_android::HelperMode;
use mdm_core::evidence::sensitive::Kind;
use mdm_virtual_device::{Faults, GivenFaults};
use mobile_debug_mcp::app::Named;
use mobile_debug_mcp::http::Origin;

#[derive(Parser)]
#[command(name = "mobile-debug-mcp", version, about = "An MCP server that an agent can trust with a phone")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options for serving, which is the default command.
    #[command(flatten)]
    pub serve: ServeArgs,
    /// Write what happens to stderr, from this level up
    #[arg(long, value_name = "LEVEL", global = true)]
    pub log: Option<LogLevel>,
}

/// The option that every command takes.
const LOG: &str = "log";

impl Cli {
    /// Reads the command line, or says what is wrong with it and ends the program.
    pub fn of_process() -> Cli {
        Cli::of(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    fn of<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Cli, clap::Error> {
        let matches = Cli::command().try_get_matches_from(words)?;
        refuse_options_before(&matches)?;
        Cli::from_arg_matches(&matches)
    }
}

/// An option before a command is one of serving by default. The command would not know of it, and what was to be
/// forbidden would be allowed.
fn refuse_options_before(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((command, _)) = matches.subcommand() else { return Ok(()) };
    let mut cli = Cli::command();
    let is_given = |option: &&Arg| {
        let id = option.get_id().as_str();
        id != LOG && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let Some(option) = cli.get_arguments().find(is_given) else { return Ok(()) };
    let option = option.get_long().unwrap_or_default();
    let message = format!("--{option} stands before {command}, which would not know of it: put it behind");
    Err(cli.error(ErrorKind::ArgumentConflict, message))
}

#[derive(Clone, Copy, ValueEnum)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Subcommand)]
pub enum Command {
    /// Serve MCP over stdin and stdout, or over HTTP (the default)
    #[command(alias = "server")] // the predecessor's name for it
    Serve(ServeArgs),
    /// Debug an app on the embedded phone as an agent would, and print every step
    Demo {
        /// The phone that is embedded
        #[arg(long, value_enum, default_value_t = VirtualPlatform::Android)]
        platform: VirtualPlatform,
        /// Where the pictures and a page about the session go; a new folder among the temporary files by default
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Check whether devices can be reached, and say how to fix what prevents it
    Doctor {
        /// Try the helper on every Android device, and report in lines that can be sent to us: they have no text of the
        /// screen
        #[arg(long = "try-helper")]
        try_helper: bool,
        #[command(flatten)]
        devices: DeviceArgs,
    },
    /// List the tools
    Tools {
        /// As MCP clients see them
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// As docs/tools.md
        #[arg(long)]
        markdown: bool,
    },
    /// Call one tool and print its answer
    Call {
        tool: String,
        /// The arguments as a JSON object
        #[arg(default_value = "{}")]
        json: String,
        /// Save the picture of the answer here
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        devices: DeviceArgs,
    },
    /// Read a screen from a file, as get_ui_tree would answer
    Tree(TreeArgs),
    /// Look for an element on a screen from a file, as find_element would answer
    Find(FindArgs),
    /// Compare two screens from files
    Diff(DiffArgs),
    /// Read a log or a crash report from a file: the crashes in it, and what became of its lines
    Log(LogArgs),
    /// Print a script that completes commands and options in a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man {
        /// Write the pages of this program and of every command into this folder instead
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// What the `xcrun` of an embedded iPhone runs
    #[command(hide = true, name = "xcrun-stand-in")]
    XcrunStandIn {
        socket: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// What the `idb_companion` of an embedded iPhone runs
    #[command(hide = true, name = "companion-stand-in")]
    CompanionStandIn {
        socket: PathBuf,
        udid: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run an embedded device by itself
    Virtual {
        #[command(subcommand)]
        device: VirtualDevice,
    },
}

#[derive(Args)]
pub struct LogArgs {
    /// A log or a crash report of Android or iOS; told apart by content
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
    /// Names frames: a mapping.txt of R8, a binary with debug symbols, or a dSYM
    #[arg(long, value_name = "FILE")]
    pub symbols: Option<PathBuf>,
}

#[derive(Args)]
pub struct TreeArgs {
    /// A uiautomator or Appium hierarchy, a WebDriverAgent or idb answer, or our own JSON; told apart by content
    #[arg(long, value_name = "DUMP")]
    pub file: PathBuf,
    #[arg(long, value_enum, default_value_t = FormatArg::Outline)]
    pub format: FormatArg,
    /// Limit of the outline
    #[arg(long, value_name = "N", default_value_t = 8000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_tokens: u32,
    /// The page of a cut outline, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub page: u32,
    /// Add the points to tap
    #[arg(long)]
    pub coordinates: bool,
    /// Add the developer's identifiers
    #[arg(long)]
    pub ids: bool,
}

#[derive(Args)]
pub struct FindArgs {
    /// As for `tree`
    #[arg(long, value_name = "DUMP")]
    pub file: PathBuf,
    /// An id, an identifier, a text or a role
    #[arg(long, value_name = "WORDS", required_unless_present = "selector", conflicts_with = "selector")]
    pub query: Option<String>,
    /// A selector as the tools take it, in JSON
    #[arg(long, value_name = "JSON")]
    pub selector: Option<String>,
    /// Whole texts only
    #[arg(long)]
    pub exact: bool,
    /// json: candidates for a program; outline: as an agent reads them
    #[arg(long, value_enum, default_value_t = FormatArg::Outline)]
    pub format: FormatArg,
}

#[derive(Args)]
pub struct DiffArgs {
    #[arg(long, value_name = "DUMP")]
    pub before: PathBuf,
    #[arg(long, value_name = "DUMP")]
    pub after: PathBuf,
    #[arg(long, value_enum, default_value_t = FormatArg::Outline)]
    pub format: FormatArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    Outline,
    Json,
}

#[derive(Args, Clone, Default)]
pub struct ServeArgs {
    #[command(flatten)]
    pub devices: DeviceArgs,
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Of serving over HTTP.
#[derive(Args, Clone, Default)]
pub struct HttpArgs {
    /// Serve over HTTP at this address, as http://ADDRESS/mcp, instead of stdin and stdout; port 0 takes any free one
    #[arg(long = "http", value_name = "IP:PORT")]
    pub address: Option<SocketAddr>,
    /// Tokens that clients show, a line each: TOKEN, or NAME TOKEN. Where others than this machine can connect one is
    /// needed: without this and without MOBILE_DEBUG_MCP_TOKEN it is made and kept in the state folder
    #[arg(long, value_name = "FILE", requires = "address")]
    pub token_file: Option<PathBuf>,
    /// A name by which clients may call this server, besides localhost and its address
    #[arg(long = "allow-host", value_name = "NAME", requires = "address")]
    pub hosts: Vec<String>,
    /// An origin whose web pages may call this server, such as http://localhost:3000
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "address")]
    pub origins: Vec<Origin>,
    /// How clients reach this server through whatever stands before it, such as https://phones.example/mcp
    #[arg(long, value_name = "URL", requires = "address")]
    pub public_url: Option<String>,
    /// Who issues tokens to the clients, told in the metadata of the resource (RFC 9728)
    #[arg(long = "oauth-issuer", value_name = "URL", requires = "address")]
    pub issuers: Vec<String>,
    /// For how long a device stays with the client that acted on it last
    #[arg(long, value_name = "N", requires = "address", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub lease_seconds: Option<u64>,
    /// A client may not take a device from another before that time is over
    #[arg(long, requires = "address")]
    pub no_take_over: bool,
    /// Also offer what the official conformance suite wants a server to have
    #[arg(long, requires = "address", hide = true)]
    pub conformance: bool,
}

/// What is offered and allowed.
#[derive(Args, Clone, Default)]
pub struct RuleArgs {
    /// Offer these sets of tools and no others: core, devices, apps, screen, act, verify, logs, network
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    pub toolsets: Vec<String>,
    /// Offer these tools, besides those of --toolsets
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Do not offer these tools
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub exclude_tools: Vec<String>,
    /// Offer only tools that change nothing on a device
    #[arg(long)]
    pub read_only: bool,
    /// List also the tools for which another one does as well; they are answered in any case
    #[arg(long)]
    pub all_tools: bool,
    /// Answer as the TypeScript server of the same name did, key for key (docs/compat.md)
    #[arg(long)]
    pub compat: bool,
    /// What is allowed, and what a person has to agree to (docs/security.md)
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Write a line for every call to this file
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Keep the whole session in this new file: calls, answers and what happened, a line of JSON each (docs/trace-file.md)
    #[arg(long, value_name = "FILE")]
    pub save_trace: Option<PathBuf>,
    /// Actions neither wait for rest nor say what changed, unless a call asks for it
    #[arg(long)]
    pub no_settle: bool,
    /// A secret that agents type as secret://NAME and never see: NAME=env:VARIABLE, NAME=file:PATH or
    /// NAME=keyring:SERVICE/ACCOUNT; may be given more than once
    #[arg(long = "secret", value_name = "NAME=SOURCE")]
    pub secrets: Vec<String>,
    /// Show these as they are instead of [email 1]: emails, cards, tokens
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub show: Vec<ShapeArg>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    Emails,
    Cards,
    Tokens,
}

impl From<ShapeArg> for Kind {
    fn from(arg: ShapeArg) -> Kind {
        match arg {
            ShapeArg::Emails => Kind::Email,
            ShapeArg::Cards => Kind::Card,
            ShapeArg::Tokens => Kind::Token,
        }
    }
}

#[derive(Args, Clone, Default)]
pub struct DeviceArgs {
    /// Serve an embedded device as well
    #[arg(long = "virtual", value_name = "PLATFORM")]
    pub virtual_device: Option<VirtualPlatform>,
    /// Install the app that this file describes on the embedded device; may be given more than once
    #[arg(long = "app", value_name = "FILE", requires = "virtual_device")]
    pub apps: Vec<PathBuf>,
    /// What goes wrong on the embedded device, as for `virtual android` and `virtual ios`
    #[arg(long, value_name = "FAULTS", requires = "virtual_device")]
    pub faults: Option<GivenFaults>,
    /// How long processes on the embedded device take
    #[arg(long, value_enum, requires = "virtual_device")]
    pub timing: Option<TimingArg>,
    /// An adbd to reach without an adb server
    #[arg(long = "device", value_name = "HOST:PORT", value_parser = address)]
    pub addresses: Vec<String>,
    /// Do not use the adb server of this machine
    #[arg(long)]
    pub no_adb_server: bool,
    /// Whether a small program of ours runs on Android devices while they are used, which is faster and tells more than
    /// the shell: auto (once it agreed with a dump, else the shell), never (the default), always (nothing else)
    #[arg(long, value_name = "WHEN")]
    pub helper: Option<HelperMode>,
    /// A companion of idb that runs already: HOST:PORT or the path of its socket
    #[arg(long, value_name = "[UDID=]ADDRESS", value_parser = idb_address)]
    pub idb: Vec<Named>,
    /// A WebDriverAgent that runs already; with its phone's UDID before it when the phone is reached in other ways too
    #[arg(long, value_name = "[UDID=]URL", value_parser = wda_address)]
    pub wda: Vec<Named>,
    /// The bundle id of WebDriverAgent on phones on a cable, where its name does not say that it is one or there are two
    #[arg(long, value_name = "ID")]
    pub wda_bundle: Option<String>,
    /// The usbmuxd through which phones on a cable are reached: HOST:PORT or the path of its socket; the system's by default
    #[arg(long, value_name = "ADDRESS")]
    pub usbmuxd: Option<String>,
    /// The xcrun that lists simulators; the one of this Mac by default
    #[arg(long, value_name = "FILE")]
    pub xcrun: Option<PathBuf>,
    /// Do not look for iPhones and simulators where this machine usually has them
    #[arg(long)]
    pub no_ios: bool,
    /// A folder below which tools may read and write files; may be given more than once. By default the current one and
    /// that for temporary files
    #[arg(long = "root", value_name = "FOLDER")]
    pub roots: Vec<PathBuf>,
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Where the proxy's certificate and the devices that use the proxy are noted; the system's folder for that by default
    #[arg(long, value_name = "FOLDER")]
    pub state: Option<PathBuf>,
}

/// Refuses what cannot be an address; whether anybody answers there is found out later (F48).
fn address(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is not HOST:PORT, such as 192.168.1.20:5555 or [fe80::1]:5555");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_host = match in_brackets {
        Some(host) => host.split('%').next().is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok()),
        None => !host.is_empty() && host.chars().all(allowed),
    };
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if is_host && is_port { Ok(text.to_owned()) } else { Err(wrong()) }
}

fn idb_address(text: &str) -> Result<Named, String> {
    let (id, place) = udid_and_rest(text)?;
    let address = if place.contains('/') { place.to_owned() } else { address(place)? };
    Ok(Named { id, address })
}

fn udid_and_rest(text: &str) -> Result<(Option<String>, &str), String> {
    match text.split_once('=') {
        Some((id, rest)) if !id.is_empty() => Ok((Some(id.to_owned()), rest)),
        Some(_) => Err(format!("{text:?} has no UDID before the equals sign")),
        None => Ok((None, text)),
    }
}

/// Reads `http://HOST:PORT` or `HOST:PORT`, with `UDID=` before it where the phone is known by other ways too.
fn wda_address(text: &str) -> Result<Named, String> {
    let (id, url) = udid_and_rest(text)?;
    let host = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    Ok(Named { id, address: address(host)? })
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VirtualPlatform {
    Android,
    Ios,
}

#[derive(Subcommand)]
pub enum VirtualDevice {
    /// A phone that any adb client can connect to
    Android(VirtualAndroid),
    /// An iPhone for clients of WebDriverAgent, idb, usbmuxd and simctl
    Ios(VirtualIos),
}

/// A port of 0 takes any free one; without a port that face is not there.
#[derive(Args)]
pub struct VirtualIos {
    /// Port of idb's companion
    #[arg(long, value_name = "PORT")]
    pub companion_port: Option<u16>,
    /// Socket of idb's companion
    #[arg(long, value_name = "FILE")]
    pub companion_socket: Option<PathBuf>,
    /// Port of WebDriverAgent
    #[arg(long, value_name = "PORT")]
    pub wda_port: Option<u16>,
    /// HOST:PORT or path of a socket where usbmuxd listens; the phone is then one on a cable
    #[arg(long, value_name = "ADDRESS")]
    pub usbmuxd: Option<String>,
    /// Version of iOS; a phone on a cable has 16.7 unless told, and its developer services in a tunnel from 17.4 on
    #[arg(long, value_name = "VERSION")]
    pub ios_version: Option<String>,
    /// WebDriverAgent is installed on the phone on a cable and does not run: XCTest starts it
    #[arg(long, requires = "usbmuxd")]
    pub wda_installed: bool,
    /// A folder that gets an `xcrun` which knows this phone as a simulator
    #[arg(long, value_name = "FOLDER")]
    pub xcrun: Option<PathBuf>,
    /// Install the app that this file describes (docs/virtual-apps.md); may be given more than once
    #[arg(long = "app", value_name = "FILE")]
    pub apps: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = TimingArg::Brisk)]
    pub timing: TimingArg,
    /// What goes wrong: NAME or NAME=RATE of every phone, NAME or NAME=MS of iPhones, separated by commas
    /// (docs/faults.md, docs/virtual-iphone.md)
    #[arg(long, value_name = "FAULTS", default_value = "")]
    pub faults: GivenFaults,
    /// The same seed gives the same phone and the same faults
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The phone's UDID
    #[arg(long)]
    pub udid: Option<String>,
}

#[derive(Args)]
pub struct VirtualAndroid {
    /// Port of the loopback interface; 0 takes any free one
    #[arg(long, default_value_t = 5555)]
    pub adb_port: u16,
    /// Show this uiautomator dump instead of the phone's own screens
    #[arg(long, value_name = "FILE")]
    pub hierarchy: Option<PathBuf>,
    /// Play this recording (docs/replay.md) instead of the phone's own apps
    #[arg(long, value_name = "FOLDER", conflicts_with = "hierarchy")]
    pub replay: Option<PathBuf>,
    /// Install the app that this file describes (docs/virtual-apps.md); may be given more than once
    #[arg(long = "app", value_name = "FILE", conflicts_with_all = ["hierarchy", "replay"])]
    pub apps: Vec<PathBuf>,
    /// Draw the screen with Android's own framework on a JVM (docs/framework-phone.md); --app is then `widgets`,
    /// `workbench`, `material`, `compose`, `reactnative` or `apidemos`
    #[arg(long, conflicts_with_all = ["hierarchy", "replay", "network"])]
    pub framework: bool,
    /// The API level of the framework phone: 34 (Android 14), 35 or 36, which needs Java 21 or newer
    #[arg(long, value_name = "LEVEL", requires = "framework", default_value_t = 34,
        value_parser = clap::value_parser!(u32).range(34..=36))]
    pub api: u32,
    /// Run this APK on the framework phone
    #[arg(long, value_name = "FILE", requires = "framework", conflicts_with = "apps")]
    pub apk: Option<PathBuf>,
    /// The folder that `cargo xtask framework` made; else MDM_FRAMEWORK_HOME, else .third-party/framework
    #[arg(long, value_name = "FOLDER", requires = "framework")]
    pub framework_home: Option<PathBuf>,
    /// Write what Java prints to this file
    #[arg(long, value_name = "FILE", requires = "framework")]
    pub framework_log: Option<PathBuf>,
    /// Let apps make real requests (plain http); Workbench asks this server when one is named
    #[arg(long, value_name = "http://HOST:PORT", num_args = 0..=1, default_missing_value = "")]
    pub network: Option<String>,
    /// How long processes on the phone take
    #[arg(long, value_enum, default_value_t = TimingArg::Brisk)]
    pub timing: TimingArg,
    /// Whether hosts may connect
    #[arg(long, value_enum, default_value_t = AuthArg::Open)]
    pub auth: AuthArg,
    /// What goes wrong, and how often: NAME or NAME=RATE, separated by commas (docs/faults.md)
    #[arg(long, value_name = "FAULTS", default_value = "")]
    pub faults: Faults,
    /// The same seed gives the same phone and the same faults
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write every shell command to stderr
    #[arg(long)]
    pub trace: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum TimingArg {
    /// Nothing takes time
    Instant,
    /// Fast enough to watch
    Brisk,
    /// As slow as a phone
    Phone,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum AuthArg {
    Open,
    Accept,
    Refuse,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_one_is_refused() {
        // F48
        for good in ["127.0.0.1:5555", "phone.local:41235", "[::1]:5555", "[fe80::1%eth0]:5555", "box:1"] {
            assert_eq!(address(good), Ok(good.to_owned()));
        }
        for bad in ["nonsense", "", ":5555", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "a b:1", "[x]:1"]
        {
            assert!(address(bad).is_err_and(|why| why.contains("HOST:PORT")), "{bad}");
        }
    }

    #[test]
    fn an_option_before_a_command_is_not_lost() {
        // SE-04: what was to be forbidden would be allowed
        let read = |words: &str| Cli::of(std::iter::once("mobile-debug-mcp").chain(words.split(' ')));
        for lost in ["--read-only serve", "--policy p.toml call tap", "--http 127.0.0.1:0 serve"] {
            let why = read(lost).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(why.contains(lost.split(' ').next().unwrap()), "{lost}: {why}");
        }
        for good in ["--log info serve --read-only", "serve --log info", "--read-only", "server"] {
            assert!(read(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn serving_and_calling_can_answer_as_the_predecessor_did() {
        // CO-01
        for given in [vec!["serve", "--compat"], vec!["call", "list_devices", "--compat"], vec!["--compat"]] {
            let cli = Cli::try_parse_from(std::iter::once("mobile-debug-mcp").chain(given)).unwrap();
            let devices = match cli.command {
                Some(Command::Serve(args)) => args.devices,
                Some(Command::Call { devices, .. }) => devices,
                _ => cli.serve.devices,
            };
            assert!(devices.rules.compat);
        }
    }

    #[test]
    fn the_embedded_phone_takes_apps_faults_and_a_timing() {
        // F48
        let given =
            ["mobile-debug-mcp", "serve", "--virtual", "android", "--app", "a.json", "--faults", "lost-tap"];
        let given = given.into_iter().chain(["--timing", "phone"]);
        assert!(Cli::try_parse_from(given).is_ok());
        assert!(Cli::try_parse_from(["mobile-debug-mcp", "serve", "--app", "a.json"]).is_err(), "no phone");
    }

    #[test]
    fn the_embedded_iphone_takes_faults_of_its_own() {
        let faults = |given: &'static str| {
            let serve = ["mobile-debug-mcp", "serve", "--virtual", "ios", "--faults", given];
            Cli::try_parse_from(serve).ok().and_then(|cli| match cli.command {
                Some(Command::Serve(args)) => args.devices.faults,
                _ => None,
            })
        };
        let given = faults("hid-ignored,late-gesture=100,lost-tap=1").expect("known faults");
        assert!(
            given.iphone.hid_ignored && given.iphone.late_gesture_ms == 100 && given.faults.lost_tap == 1.0
        );
        assert!(faults("hid-ignored=2").is_none());
        assert!(
            Cli::try_parse_from(["mobile-debug-mcp", "virtual", "android", "--faults", "hid-ignored"])
                .is_err()
        );
    }
}
