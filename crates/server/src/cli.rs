//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mdm_virtual_device::Faults;

#[derive(Parser)]
#[command(name = "mobile-debug-mcp", version, about = "An MCP server that an agent can trust with a phone")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options for serving, which is the default command.
    #[command(flatten)]
    pub devices: DeviceArgs,
    /// Write what happens to stderr, from this level up
    #[arg(long, value_name = "LEVEL", global = true)]
    pub log: Option<LogLevel>,
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
    /// Serve MCP over stdin and stdout (the default)
    Serve {
        #[command(flatten)]
        devices: DeviceArgs,
    },
    /// Debug an app on the embedded phone as an agent would, and print every step
    Demo,
    /// Check whether devices can be reached, and say how to fix what prevents it
    Doctor {
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
        #[command(flatten)]
        devices: DeviceArgs,
    },
    /// Read a screen from a file, as get_ui_tree would answer
    Tree(TreeArgs),
    /// Look for an element on a screen from a file, as find_element would answer
    Find(FindArgs),
    /// Compare two screens from files
    Diff(DiffArgs),
    /// Run an embedded device by itself
    Virtual {
        #[command(subcommand)]
        device: VirtualDevice,
    },
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
pub struct DeviceArgs {
    /// Serve an embedded device as well
    #[arg(long = "virtual", value_name = "PLATFORM")]
    pub virtual_device: Option<VirtualPlatform>,
    /// An adbd to reach without an adb server
    #[arg(long = "device", value_name = "HOST:PORT")]
    pub addresses: Vec<String>,
    /// Do not use the adb server of this machine
    #[arg(long)]
    pub no_adb_server: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum VirtualPlatform {
    Android,
}

#[derive(Subcommand)]
pub enum VirtualDevice {
    /// A phone that any adb client can connect to
    Android(VirtualAndroid),
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
