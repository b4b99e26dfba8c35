//! The phone's TCP/IP inside a tunnel: packets on one side, pipes to services on the other.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::Ipv6Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::{tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpProtocol, Ipv6Packet, TcpPacket};
use tokio::io::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

use super::Datagram;
use crate::iphone::usbmux::Wire;

const HEAD_BYTES: usize = 40;
/// Connections at once; a further one is refused.
const FLOWS_MAX: usize = 128;
/// Packets that wait on either side before no more are taken.
const PACKETS_MAX: usize = 256;
const BUFFER_BYTES: usize = 256 * 1024;
const READ_BYTES: usize = 64 * 1024;
/// The port from which the phone sends datagrams.
const DATAGRAM_PORT: u16 = 50_001;
const DATAGRAMS: usize = 64;

pub struct Stack {
    interface: Interface,
    sockets: SocketSet<'static>,
    packets: Packets,
    flows: Vec<Flow>,
    sender: SocketHandle,
    client: Ipv6Addr,
    started: tokio::time::Instant,
    /// What came and is no whole packet yet.
    received: Vec<u8>,
    /// What goes out, from this byte on.
    outgoing: Vec<u8>,
    sent: usize,
}

/// A TCP connection and the service behind it.
struct Flow {
    socket: SocketHandle,
    pipe: DuplexStream,
    /// The service has nothing more to say, or the client.
    pipe_ended: bool,
    client_ended: bool,
}

impl Stack {
    pub fn new(phone: Ipv6Addr, client: Ipv6Addr, mtu: usize) -> Stack {
        let mut packets = Packets { mtu, incoming: VecDeque::new(), outgoing: VecDeque::new() };
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut packets, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // A new list has room for the one address.
            let _ = addresses.push(IpCidr::new(IpAddress::Ipv6(phone), 64));
        });
        let mut sockets = SocketSet::new(Vec::new());
        let buffer =
            || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; DATAGRAMS], vec![0; READ_BYTES]);
        let mut sender = udp::Socket::new(buffer(), buffer());
        // A new socket is bound to no other port.
        let _ = sender.bind(DATAGRAM_PORT);
        let sender = sockets.add(sender);
        let started = tokio::time::Instant::now();
        let (flows, received, outgoing) = (Vec::new(), Vec::new(), Vec::new());
        Stack { interface, sockets, packets, flows, sender, client, started, received, outgoing, sent: 0 }
    }

    /// Carries packets until the client hangs up. `open` connects to what listens on a port.
    pub async fn run(
        mut self,
        wire: &mut (impl Wire + ?Sized),
        open: impl Fn(u16) -> Option<DuplexStream>,
        mut datagrams: mpsc::Receiver<Datagram>,
    ) -> io::Result<()> {
        loop {
            let now = Instant::from_micros(self.started.elapsed().as_micros() as i64);
            self.interface.poll(now, &mut self.packets, &mut self.sockets);
            self.forget_closed();
            for packet in self.packets.outgoing.drain(..) {
                self.outgoing.extend(packet);
            }
            let rest = self.interface.poll_delay(now, &self.sockets);
            let rest = rest.map(|rest| tokio::time::Duration::from_micros(rest.total_micros()));
            let timer = async {
                match rest {
                    Some(rest) => tokio::time::sleep(rest).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                moved = poll_fn(|context| self.poll_move(context, wire, &open)) => moved?,
                Some(datagram) = datagrams.recv() => self.send_datagram(&datagram),
                () = timer => {}
            }
        }
    }

    /// Moves whatever can be moved; ready when something was.
    fn poll_move(
        &mut self,
        context: &mut Context<'_>,
        wire: &mut (impl Wire + ?Sized),
        open: &impl Fn(u16) -> Option<DuplexStream>,
    ) -> Poll<io::Result<()>> {
        let mut moved = false;
        while self.sent < self.outgoing.len() {
            let rest = self.outgoing.get(self.sent..).unwrap_or_default();
            match Pin::new(&mut *wire).poll_write(context, rest)? {
                Poll::Ready(written) => self.sent += written,
                Poll::Pending => break,
            }
        }
        if self.sent == self.outgoing.len() {
            (self.outgoing, self.sent) = (Vec::new(), 0);
            let _ = Pin::new(&mut *wire).poll_flush(context)?;
        }
        if self.packets.incoming.len() < PACKETS_MAX {
            let mut bytes = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut bytes);
            if Pin::new(&mut *wire).poll_read(context, &mut read)?.is_ready() {
                if read.filled().is_empty() {
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
                self.received.extend_from_slice(read.filled());
                self.take_packets(open)?;
                moved = true;
            }
        }
        // A slow client is not sent ever more.
        if self.outgoing.len() < PACKETS_MAX * self.packets.mtu {
            for flow in &mut self.flows {
                let socket = self.sockets.get_mut::<tcp::Socket<'_>>(flow.socket);
                moved |= flow.poll_move(context, socket);
            }
        }
        if moved { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn take_packets(&mut self, open: &impl Fn(u16) -> Option<DuplexStream>) -> io::Result<()> {
        loop {
            let Some(head) = self.received.get(..HEAD_BYTES) else { return Ok(()) };
            if head.first().is_none_or(|byte| byte >> 4 != 6) {
                return Err(io::Error::other("no packet of IPv6"));
            }
            let length = HEAD_BYTES + usize::from(Ipv6Packet::new_unchecked(head).payload_len());
            let Some(packet) = self.received.get(..length) else { return Ok(()) };
            let packet = packet.to_vec();
            self.received.drain(..length);
            if let Some((client_port, port)) = asked_ports(&packet) {
                self.listen(client_port, port, open);
            }
            self.packets.incoming.push_back(packet);
        }
    }

    /// Readies a socket for a connection that is being asked for. Without one the client is refused.
    fn listen(&mut self, client_port: u16, port: u16, open: &impl Fn(u16) -> Option<DuplexStream>) {
        let waits = |flow: &Flow| {
            let socket = self.sockets.get::<tcp::Socket<'_>>(flow.socket);
            let asked_again = socket.remote_endpoint().is_some_and(|client| client.port == client_port);
            socket.is_listening() && socket.listen_endpoint().port == port || asked_again
        };
        if self.flows.len() >= FLOWS_MAX || self.flows.iter().any(waits) {
            return;
        }
        let Some(pipe) = open(port) else { return };
        let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER_BYTES]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_ack_delay(None);
        socket.set_nagle_enabled(false);
        if socket.listen(port).is_ok() {
            let socket = self.sockets.add(socket);
            self.flows.push(Flow { socket, pipe, pipe_ended: false, client_ended: false });
        }
    }

    fn forget_closed(&mut self) {
        let sockets = &mut self.sockets;
        self.flows.retain(|flow| {
            let closed = sockets.get::<tcp::Socket<'_>>(flow.socket).state() == tcp::State::Closed;
            if closed {
                sockets.remove(flow.socket);
            }
            !closed
        });
    }

    fn send_datagram(&mut self, datagram: &Datagram) {
        let to = (IpAddress::Ipv6(self.client), datagram.to_port);
        // Networks lose datagrams.
        let _ = self.sockets.get_mut::<udp::Socket<'_>>(self.sender).send_slice(&datagram.bytes, to);
    }
}

impl Flow {
    fn poll_move(&mut self, context: &mut Context<'_>, socket: &mut tcp::Socket<'_>) -> bool {
        let mut moved = false;
        while socket.can_recv() && !self.pipe_ended {
            let pipe = Pin::new(&mut self.pipe);
            let taken = socket.recv(|bytes| match pipe.poll_write(context, bytes) {
                Poll::Ready(Ok(count)) => (count, Some(count)),
                // The service has gone: what it does not read is lost.
                Poll::Ready(Err(_)) => (bytes.len(), Some(bytes.len())),
                Poll::Pending => (0, None),
            });
            match taken {
                Ok(Some(_)) => moved = true,
                _ => break,
            }
        }
        let said_all = !socket.may_recv() && socket.recv_queue() == 0;
        let is_open = !matches!(socket.state(), tcp::State::Listen | tcp::State::SynReceived);
        if said_all && is_open && !self.client_ended {
            self.client_ended = Pin::new(&mut self.pipe).poll_shutdown(context).is_ready();
            moved |= self.client_ended;
        }
        while socket.can_send() && !self.pipe_ended {
            let pipe = Pin::new(&mut self.pipe);
            let given = socket.send(|room| {
                let mut read = ReadBuf::new(room);
                match pipe.poll_read(context, &mut read) {
                    Poll::Ready(Ok(())) => (read.filled().len(), Some(read.filled().len())),
                    Poll::Ready(Err(_)) => (0, Some(0)),
                    Poll::Pending => (0, None),
                }
            });
            match given {
                Ok(Some(0)) => {
                    self.pipe_ended = true;
                    socket.close();
                    moved = true;
                }
                Ok(Some(_)) => moved = true,
                _ => break,
            }
        }
        moved
    }
}

/// The ports of the client and of the phone between which a packet asks for a connection.
fn asked_ports(packet: &[u8]) -> Option<(u16, u16)> {
    let packet = Ipv6Packet::new_checked(packet).ok()?;
    if packet.next_header() != IpProtocol::Tcp {
        return None;
    }
    let segment = TcpPacket::new_checked(packet.payload()).ok()?;
    (segment.syn() && !segment.ack()).then(|| (segment.src_port(), segment.dst_port()))
}

/// The packets between the tunnel and the stack.
struct Packets {
    mtu: usize,
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
}

struct Incoming(Vec<u8>);

struct Outgoing<'a>(&'a mut VecDeque<Vec<u8>>);

impl Device for Packets {
    type RxToken<'a> = Incoming;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Incoming, Outgoing<'_>)> {
        let packet = self.incoming.pop_front()?;
        Some((Incoming(packet), Outgoing(&mut self.outgoing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Outgoing<'_>> {
        (self.outgoing.len() < PACKETS_MAX).then_some(Outgoing(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

impl phy::RxToken for Incoming {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

impl phy::TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.0.push_back(packet);
        result
    }
}
