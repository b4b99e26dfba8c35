//! How a device reaches the network: its proxy, and ports of it that lead to this machine.

/// What is asked of a device's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkCommand {
    /// Tells which proxy apps are sent to, and which ports of the device lead to this machine.
    Read,
    /// Makes this port of this machine reachable from the device, under a port that the device chooses.
    Open { host_port: u16 },
    /// Takes back a port that was opened.
    Close { device_port: u16 },
    /// Sends apps to this proxy, as `host:port`, or to none.
    UseProxy { address: Option<String> },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkReport {
    /// The proxy that is set, as `host:port`.
    pub proxy: Option<String>,
    /// The port of the device that was opened.
    pub device_port: Option<u16>,
    /// Ports of the device and the ports of this machine that they lead to.
    pub opened: Vec<(u16, u16)>,
}
