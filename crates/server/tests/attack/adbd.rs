//! A hostile adbd: raw frames over TCP, written here by hand so that it shares nothing with the client.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How the device behaves. Commands that the attack is not about are answered as a healthy phone does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attack {
    /// It answers everything: to prove that this adbd is one.
    None,
    /// Accepts the connection and says nothing.
    Silent,
    /// Asks for a key for ever.
    EndlessAuth,
    /// The first frame says that four gigabytes follow.
    HugeLength,
    /// Connects, and then reads and writes nothing.
    NeverReads,
    /// Writes to the open stream without waiting for an OKAY, and reads nothing.
    FloodOpenStream,
    FloodUnknownStreams,
    FloodOkays,
    FloodCloses,
    FloodOpens,
    /// Each command's output comes byte by byte, one a second.
    OneBytePerSecond,
    /// Within the rules of flow control.
    EndlessOutput,
    EndlessErrorOutput,
    EndlessLog,
    /// A tree of 200 MB.
    GiganticTree,
    DeepTree,
    /// Elements with texts of 60 kB.
    LongLabels,
    EndlessPicture,
    EmptyPicture,
    /// Everything works, except that a tap never comes back.
    StuckTap,
    /// A tap is done, and then its answer is broken.
    TapThenBrokenPacket,
    TapThenExit(u8),
    /// More output than anybody reads, and no exit code.
    TapThenMuchOutput,
    /// After a tap the screen cannot be read any more.
    NoTreeAfterTap,
    /// The connection ends instead of pressing Enter.
    LostAtEnter,
}

const WRITE: &[u8; 4] = b"WRTE";
const CHUNK_BYTES: usize = 64 * 1024;

pub struct Adbd {
    pub address: String,
    inputs: Arc<AtomicUsize>,
}

impl Adbd {
    pub fn start(attack: Attack) -> Adbd {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let inputs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&inputs);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                // Ends with the connection.
                std::thread::spawn(move || {
                    drop(Connection { socket, attack, inputs: counted, waiting: VecDeque::new() }.serve())
                });
            }
        });
        Adbd { address, inputs }
    }

    /// Taps that were done, and texts that were typed.
    pub fn inputs(&self) -> usize {
        self.inputs.load(Ordering::SeqCst)
    }
}

struct Frame {
    command: [u8; 4],
    arg0: u32,
    payload: Vec<u8>,
}

fn frame(command: &[u8; 4], arg0: u32, arg1: u32, payload: &[u8]) -> Vec<u8> {
    let word = u32::from_le_bytes(*command);
    let sum = payload.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
    let header = [word, arg0, arg1, payload.len() as u32, sum, !word];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(payload);
    bytes
}

/// A packet of shell v2: 1 is stdout, 2 stderr, 3 the exit code.
fn packet(kind: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend_from_slice(data);
    bytes
}

struct Connection {
    socket: TcpStream,
    attack: Attack,
    inputs: Arc<AtomicUsize>,
    /// Services that were asked for while another one was answered.
    waiting: VecDeque<Frame>,
}

type Done = std::io::Result<()>;

impl Connection {
    fn read(&mut self) -> std::io::Result<Frame> {
        let mut header = [0u8; 24];
        self.socket.read_exact(&mut header)?;
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let mut payload = vec![0; word(12) as usize];
        self.socket.read_exact(&mut payload)?;
        Ok(Frame { command: header[..4].try_into().unwrap(), arg0: word(4), payload })
    }

    fn send(&mut self, command: &[u8; 4], arg0: u32, arg1: u32, payload: &[u8]) -> Done {
        self.socket.write_all(&frame(command, arg0, arg1, payload))
    }

    /// Writes the same bytes until the other side closes.
    fn flood(&mut self, bytes: &[u8]) -> Done {
        let many = bytes.repeat((CHUNK_BYTES / bytes.len()).max(1));
        loop {
            self.socket.write_all(&many)?;
        }
    }

    /// Keeps the connection open without reading it.
    fn stay(&self) -> Done {
        loop {
            std::thread::park();
        }
    }

    fn serve(mut self) -> Done {
        match self.attack {
            Attack::Silent => return self.stay(),
            Attack::EndlessAuth => return self.flood(&frame(b"AUTH", 1, 0, &[7; 20])),
            Attack::HugeLength => {
                let mut header = frame(b"CNXN", 0x0100_0001, 1 << 20, b"");
                header[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
                return self.flood(&header);
            }
            _ => {}
        }
        self.read()?;
        self.send(b"CNXN", 0x0100_0001, 1 << 20, b"device::ro.product.name=x;features=shell_v2,cmd\0")?;
        match self.attack {
            Attack::NeverReads => self.stay(),
            Attack::FloodUnknownStreams => self.flood(&frame(WRITE, 9, 4_000_000, &[b'x'; 1000])),
            Attack::FloodOkays => self.flood(&frame(b"OKAY", 9, 1, b"")),
            Attack::FloodCloses => self.flood(&frame(b"CLSE", 9, 4_000_000, b"")),
            Attack::FloodOpens => self.flood(&frame(b"OPEN", 9, 0, b"tcp:1\0")),
            _ => self.serve_streams(),
        }
    }

    fn serve_streams(&mut self) -> Done {
        let mut remote = 100;
        loop {
            let open = match self.waiting.pop_front() {
                Some(open) => open,
                None => self.read()?,
            };
            if &open.command != b"OPEN" {
                continue;
            }
            remote += 1;
            let (local, service) = (open.arg0, String::from_utf8_lossy(&open.payload).into_owned());
            self.send(b"OKAY", remote, local, b"")?;
            let stream = Stream { connection: self, local, remote, open: true };
            stream.answer(&service)?;
        }
    }
}

/// One service of the device. They are answered one after the other.
struct Stream<'a> {
    connection: &'a mut Connection,
    local: u32,
    remote: u32,
    open: bool,
}

impl Stream<'_> {
    fn answer(mut self, service: &str) -> Done {
        let has = |part: &str| service.contains(part);
        match self.connection.attack {
            Attack::FloodOpenStream => {
                let bytes = frame(WRITE, self.remote, self.local, &packet(1, &[b'x'; 32_000]));
                return self.connection.flood(&bytes);
            }
            Attack::OneBytePerSecond => {
                while self.open {
                    self.write(&packet(1, b"x"))?;
                    std::thread::park_timeout(Duration::from_secs(1));
                }
                return Ok(());
            }
            Attack::EndlessOutput => return self.endless(&packet(1, &[b'x'; 32_000])),
            Attack::EndlessErrorOutput => return self.endless(&packet(2, &[b'x'; 32_000])),
            Attack::EndlessLog if has("logcat") => {
                let line = "1700000000.123  4321  4330 E Tag: words that fill the log of this phone\n";
                return self.endless(&packet(1, line.repeat(500).as_bytes()));
            }
            Attack::EndlessPicture if has("screencap") => return self.endless(&packet(1, &[7; 32_000])),
            Attack::EmptyPicture if has("screencap") => {
                let header: Vec<u8> = [0u32, 0, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
                return self.end(&header, 0);
            }
            Attack::GiganticTree | Attack::DeepTree | Attack::LongLabels if has("uiautomator") => {
                return self.tree();
            }
            Attack::NoTreeAfterTap if has("uiautomator") && self.inputs() > 0 => {
                return self.end(b"", 1);
            }
            Attack::LostAtEnter if has("input keyevent 66") => {
                return self.connection.socket.shutdown(std::net::Shutdown::Both);
            }
            _ => {}
        }
        if has("input tap") || has("input text") {
            self.connection.inputs.fetch_add(1, Ordering::SeqCst);
            return self.end_input();
        }
        let tree = has("uiautomator").then(small_tree).unwrap_or_default();
        self.end(tree.as_bytes(), 0)
    }

    fn inputs(&self) -> usize {
        self.connection.inputs.load(Ordering::SeqCst)
    }

    /// A tap was done, or a text typed.
    fn end_input(&mut self) -> Done {
        match self.connection.attack {
            Attack::StuckTap => Ok(()),
            // A kind of packet that does not exist, with a length that no packet has.
            Attack::TapThenBrokenPacket => self.write(&[99, 255, 255, 255, 255, 1, 2, 3]),
            Attack::TapThenExit(code) => self.end(b"", code),
            Attack::TapThenMuchOutput => {
                self.write(&packet(1, &[b'x'; 100_000]))?;
                self.connection.send(b"CLSE", self.remote, self.local, b"")
            }
            _ => self.end(b"", 0),
        }
    }

    /// Writes and waits until it was taken, as a healthy device does.
    fn write(&mut self, data: &[u8]) -> Done {
        self.connection.send(WRITE, self.remote, self.local, data)?;
        loop {
            let frame = self.connection.read()?;
            match &frame.command {
                b"OKAY" if frame.arg0 == self.local => return Ok(()),
                b"CLSE" if frame.arg0 == self.local => {
                    self.open = false;
                    return Ok(());
                }
                b"OPEN" => self.connection.waiting.push_back(frame),
                _ => {}
            }
        }
    }

    fn endless(&mut self, data: &[u8]) -> Done {
        while self.open {
            self.write(data)?;
        }
        Ok(())
    }

    fn end(&mut self, stdout: &[u8], code: u8) -> Done {
        for chunk in stdout.chunks(CHUNK_BYTES) {
            if self.open {
                self.write(&packet(1, chunk))?;
            }
        }
        if self.open {
            self.write(&packet(3, &[code]))?;
            self.connection.send(b"CLSE", self.remote, self.local, b"")?;
        }
        Ok(())
    }

    fn tree(mut self) -> Done {
        let attack = self.connection.attack;
        let label = if attack == Attack::LongLabels { "long words ".repeat(5_500) } else { "Row".to_owned() };
        let end = if attack == Attack::DeepTree { ">" } else { "/>" };
        let node = node(&label, "[0,0][1080,2400]", end);
        let piece = node.repeat((CHUNK_BYTES / node.len()).max(1));
        self.write(&packet(
            1,
            format!(
                "<?xml version='1.0' ?><hierarchy rotation=\"0\">{}",
                self::node("", "[0,0][1080,2400]", ">")
            )
            .as_bytes(),
        ))?;
        let mut sent = 0;
        while self.open && sent < 200_000_000 {
            self.write(&packet(1, piece.as_bytes()))?;
            sent += piece.len();
        }
        self.end(b"</node></hierarchy>", 0)
    }
}

fn node(text: &str, bounds: &str, end: &str) -> String {
    format!(
        "<node index=\"0\" text=\"{text}\" resource-id=\"\" class=\"android.widget.Button\" package=\"com.x\" \
         content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"true\" enabled=\"true\" focusable=\"true\" \
         focused=\"false\" scrollable=\"false\" long-clickable=\"false\" password=\"false\" selected=\"false\" \
         bounds=\"{bounds}\"{end}"
    )
}

fn small_tree() -> String {
    let root = node("", "[0,0][1080,2400]", ">");
    let button = node("Go", "[0,0][200,100]", "/>");
    let field = node("abc", "[0,200][900,300]", "/>")
        .replace("android.widget.Button", "android.widget.EditText")
        .replace("focused=\"false\"", "focused=\"true\"");
    format!("<?xml version='1.0' ?><hierarchy rotation=\"0\">{root}{button}{field}</node></hierarchy>")
}
