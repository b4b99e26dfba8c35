//! The sync service, which pushes and pulls files.

use bytes::{BufMut, Bytes, BytesMut};
use mdm_wire::adb::sync::{
    CHUNK_BYTES_MAX, HEADER_BYTES, Header, Id, PATH_BYTES_MAX, Stat, put_message, put_word,
};

use super::stream::{Closed, StreamIo};
use crate::fs::{FsError, Node, TOTAL_BYTES_MAX};
use crate::phone::Phone;

/// DATA messages are sent together up to this size.
const BATCH_BYTES: usize = 512 * 1024;
const DEFAULT_MODE: u32 = 0o644;
/// The file type bits of a mode, and their value for a symbolic link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

pub async fn run(phone: &Phone, io: StreamIo) {
    let mut session = SyncSession { phone: phone.clone(), io };
    // Anything that is not the protocol ends the stream, as adbd does.
    while let Ok(true) = session.request().await {}
}

struct SyncSession {
    phone: Phone,
    io: StreamIo,
}

impl SyncSession {
    async fn header(&mut self) -> Result<Header, Closed> {
        let bytes = self.io.reader.exact(HEADER_BYTES).await?;
        let mut fixed = [0; HEADER_BYTES];
        fixed.copy_from_slice(&bytes);
        Header::decode(&fixed).map_err(|_| Closed)
    }

    /// Handles one request; returns false after QUIT.
    async fn request(&mut self) -> Result<bool, Closed> {
        let header = self.header().await?;
        let length = header.length(PATH_BYTES_MAX).map_err(|_| Closed)?;
        let path = self.io.reader.exact(length).await?;
        let path = crate::fs::shown(&String::from_utf8_lossy(&path));
        match header.id {
            Id::Quit => return Ok(false),
            Id::Stat => self.stat_v1(&path).await?,
            Id::StatV2 | Id::LstatV2 => self.stat_v2(header.id, &path).await?,
            Id::List => self.list(&path, false).await?,
            Id::ListV2 => self.list(&path, true).await?,
            Id::Receive => self.receive(&path).await?,
            Id::ReceiveV2 => {
                // Repeats the id, then flags: compression, which was not announced.
                self.io.reader.exact(HEADER_BYTES).await?;
                self.receive(&path).await?;
            }
            Id::Send => {
                let (path, mode) = path.rsplit_once(',').unwrap_or((&path, ""));
                return self.send(path, mode.parse().unwrap_or(DEFAULT_MODE)).await;
            }
            Id::SendV2 => {
                // Repeats the id, then mode and flags.
                let setup = self.io.reader.exact(HEADER_BYTES + 4).await?;
                let mode = setup[4..8].iter().rev().fold(0u32, |word, byte| (word << 8) | u32::from(*byte));
                return self.send(&path, mode).await;
            }
            Id::Dent | Id::DentV2 | Id::Data | Id::Done | Id::Okay | Id::Fail => return Err(Closed),
        }
        Ok(true)
    }

    /// Returns file attributes. The first protocol and LST2 describe a link itself, STA2 its target.
    fn stat(&self, path: &str, follow: bool) -> Stat {
        let found = self.phone.with(|state| {
            if follow { state.fs.get(path).cloned() } else { state.fs.get_link(path).cloned() }
        });
        match found {
            Ok(node) => stat_of(&node),
            Err(error) => Stat { error: error.errno(), ..Stat::default() },
        }
    }

    async fn stat_v1(&mut self, path: &str) -> Result<(), Closed> {
        let mut out = BytesMut::new();
        out.put_slice(&Id::Stat.bytes());
        self.stat(path, false).put_v1(&mut out);
        self.io.writer.write(out.freeze()).await
    }

    async fn stat_v2(&mut self, id: Id, path: &str) -> Result<(), Closed> {
        let mut out = BytesMut::new();
        out.put_slice(&id.bytes());
        self.stat(path, id == Id::StatV2).put_v2(&mut out);
        self.io.writer.write(out.freeze()).await
    }

    /// Lists a directory; one that cannot be read has no entries.
    async fn list(&mut self, path: &str, second: bool) -> Result<(), Closed> {
        let (here, entries) = self.phone.with(|state| (state.fs.get(path).cloned(), state.fs.list(path)));
        // Like readdir: the directory itself and its parent come first.
        let dots =
            here.into_iter().flat_map(|node| [(".".to_owned(), node.clone()), ("..".to_owned(), node)]);
        let entries = entries.map(|list| dots.chain(list).collect::<Vec<_>>()).unwrap_or_default();
        let mut out = BytesMut::new();
        for (name, node) in entries {
            let stat = stat_of(&node);
            out.put_slice(&if second { Id::DentV2 } else { Id::Dent }.bytes());
            if second {
                stat.put_v2(&mut out)
            } else {
                stat.put_v1(&mut out)
            }
            out.put_u32_le(name.len() as u32);
            out.put_slice(name.as_bytes());
        }
        out.put_slice(&Id::Done.bytes());
        let rest = if second { Stat::V2_REST_BYTES } else { Stat::V1_REST_BYTES } + 4;
        out.put_bytes(0, rest);
        self.io.writer.write(out.freeze()).await
    }

    async fn receive(&mut self, path: &str) -> Result<(), Closed> {
        let mut data = match self.phone.with(|state| state.fs.read(path)) {
            Ok(data) => data,
            Err(error) => return self.fail(&format!("open failed: {}", error.text())).await,
        };
        let mut out = BytesMut::new();
        while !data.is_empty() {
            put_message(&mut out, Id::Data, &data.split_to(data.len().min(CHUNK_BYTES_MAX)));
            if out.len() >= BATCH_BYTES {
                self.io.writer.write(out.split().freeze()).await?;
            }
        }
        put_word(&mut out, Id::Done, 0);
        self.io.writer.write(out.freeze()).await
    }

    /// Receives a file; returns false when the session must end. The bytes of a refused file are read and dropped,
    /// because an older host reads the answer only after it has sent everything.
    async fn send(&mut self, path: &str, mode: u32) -> Result<bool, Closed> {
        if let Err(error) = self.phone.with(|state| state.fs.check_place(path)) {
            self.fail(&format!("couldn't create file: {}", error.text())).await?;
            self.take_file(0).await?;
            return Ok(false);
        }
        let (data, mtime) = self.take_file(TOTAL_BYTES_MAX).await?;
        let written = match data {
            Some(data) => self.store(path, data, mode, mtime),
            None => Err(FsError::NoSpace),
        };
        match written {
            Ok(()) => {
                let mut out = BytesMut::new();
                put_word(&mut out, Id::Okay, 0);
                self.io.writer.write(out.freeze()).await?;
                Ok(true)
            }
            Err(error) => {
                self.fail(&format!("couldn't create file: {}", error.text())).await?;
                Ok(false)
            }
        }
    }

    /// Reads everything up to DONE and returns it with the file's time; without the bytes if there were too many to
    /// keep.
    async fn take_file(&mut self, bytes_max: usize) -> Result<(Option<Bytes>, u32), Closed> {
        let mut data = BytesMut::new();
        let mut too_big = false;
        loop {
            let header = self.header().await?;
            match header.id {
                Id::Data => {
                    let length = header.length(CHUNK_BYTES_MAX).map_err(|_| Closed)?;
                    let chunk = self.io.reader.exact(length).await?;
                    too_big |= data.len().saturating_add(chunk.len()) > bytes_max;
                    if !too_big {
                        data.extend_from_slice(&chunk);
                    }
                }
                Id::Done => return Ok(((!too_big).then(|| data.freeze()), header.word)),
                _ => return Err(Closed),
            }
        }
    }

    /// Stores a file and creates missing directories on the way, as `fixed_push_mkdir` promises.
    fn store(&self, path: &str, data: Bytes, mode: u32, mtime: u32) -> Result<(), FsError> {
        self.phone.with(|state| {
            let now = state.now_s();
            if let Some((parent, _)) = path.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
                state.fs.make_dir(parent, true, now)?;
            }
            if mode & KIND == LINK {
                // The host sends the target, with a zero at its end.
                let target = String::from_utf8_lossy(&data).trim_end_matches('\0').to_owned();
                let _ = state.fs.remove(path, false);
                return state.fs.symlink(&target, path, mtime);
            }
            state.fs.write(path, data, mode, mtime)
        })
    }

    async fn fail(&mut self, message: &str) -> Result<(), Closed> {
        let mut out = BytesMut::new();
        put_message(&mut out, Id::Fail, message.as_bytes());
        self.io.writer.write(out.freeze()).await
    }
}

fn stat_of(node: &Node) -> Stat {
    Stat { error: 0, mode: node.mode, size: node.size(), mtime: node.mtime_s }
}
