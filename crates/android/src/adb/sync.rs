//! Copies files to and from the device.

use bytes::BytesMut;
use mdm_wire::adb::sync::{
    CHUNK_BYTES_MAX, HEADER_BYTES, Header, Id, PATH_BYTES_MAX, Stat, put_message, put_word,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Adb, AdbError, AdbStream};

/// Limit of the text of a failure.
const FAIL_BYTES_MAX: usize = 4096;

impl Adb {
    /// Reads the attributes of a file; `None` if it does not exist.
    pub async fn stat(&self, path: &str) -> Result<Option<Stat>, AdbError> {
        let v2 = self.features().await?.stat_v2;
        let mut stream = self.sync(if v2 { Id::StatV2 } else { Id::Stat }, path).await?;
        let id = Id::parse(&stream.read_array::<4>().await?)?;
        let stat = match id {
            Id::StatV2 => Stat::decode_v2(&stream.read_array().await?),
            Id::Stat => Stat::decode_v1(&stream.read_array().await?),
            other => return Err(AdbError::Protocol(format!("{other:?} in answer to a stat request"))),
        };
        Ok((stat.error == 0 && stat.mode != 0).then_some(stat))
    }

    /// Writes everything from `source` to `path` on the device. `progress` gets the bytes sent so far.
    pub async fn push(
        &self,
        source: &mut (impl AsyncRead + Unpin),
        path: &str,
        mode: u32,
        mtime: u32,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, AdbError> {
        let mut stream = self.sync(Id::Send, &format!("{path},{}", 0o100_000 | mode)).await?;
        let mut chunk = vec![0u8; CHUNK_BYTES_MAX];
        let mut out = BytesMut::with_capacity(CHUNK_BYTES_MAX + HEADER_BYTES);
        let mut sent = 0;
        loop {
            let count = source.read(&mut chunk).await.map_err(|e| AdbError::Local(e.to_string()))?;
            if count == 0 {
                break;
            }
            out.clear();
            put_message(&mut out, Id::Data, &chunk[..count]);
            // A device that refuses the file sends the reason and closes; the reason is read instead of "broken pipe".
            if stream.write_all(&out).await.is_err() {
                break;
            }
            sent += count as u64;
            progress(sent);
        }
        out.clear();
        put_word(&mut out, Id::Done, mtime);
        drop(stream.write_all(&out).await);
        match read_header(&mut stream).await? {
            Header { id: Id::Okay, .. } => Ok(sent),
            header => Err(failure(&mut stream, header).await),
        }
    }

    /// Reads `path` from the device into `target`, unless it is larger than `bytes_max`.
    pub async fn pull(
        &self,
        path: &str,
        bytes_max: u64,
        target: &mut (impl AsyncWrite + Unpin),
        mut progress: impl FnMut(u64),
    ) -> Result<u64, AdbError> {
        let mut stream = self.sync(Id::Receive, path).await?;
        let mut received = 0;
        loop {
            let header = read_header(&mut stream).await?;
            match header.id {
                Id::Data => {
                    let chunk = stream.read_vec(header.length(CHUNK_BYTES_MAX)?).await?;
                    received += chunk.len() as u64;
                    if received > bytes_max {
                        return Err(AdbError::Local(format!("{path} has more than {bytes_max} bytes")));
                    }
                    target.write_all(&chunk).await.map_err(|e| AdbError::Local(e.to_string()))?;
                    progress(received);
                }
                Id::Done => break,
                _ => return Err(failure(&mut stream, header).await),
            }
        }
        target.flush().await.map_err(|e| AdbError::Local(e.to_string()))?;
        Ok(received)
    }

    async fn sync(&self, id: Id, path: &str) -> Result<AdbStream, AdbError> {
        if path.len() > PATH_BYTES_MAX || path.contains('\0') {
            return Err(AdbError::Unsendable("the path is too long for a device or holds a NUL character"));
        }
        let mut stream = self.open("sync:").await?;
        let mut request = BytesMut::new();
        put_message(&mut request, id, path.as_bytes());
        stream.write_all(&request).await.map_err(AdbError::lost)?;
        Ok(stream)
    }
}

async fn read_header(stream: &mut AdbStream) -> Result<Header, AdbError> {
    Ok(Header::decode(&stream.read_array::<HEADER_BYTES>().await?)?)
}

async fn failure(stream: &mut AdbStream, header: Header) -> AdbError {
    if header.id != Id::Fail {
        return AdbError::Protocol(format!("{:?} in the middle of a transfer", header.id));
    }
    match header.length(FAIL_BYTES_MAX) {
        Ok(length) => match stream.read_vec(length).await {
            Ok(text) => AdbError::Refused(String::from_utf8_lossy(&text).into_owned()),
            Err(error) => error,
        },
        Err(error) => error.into(),
    }
}
