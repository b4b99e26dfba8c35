//! Installs an APK by streaming it to the package manager, without a copy on the device.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Adb, AdbError, Script};

const ANSWER_BYTES_MAX: usize = 16 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;

impl Adb {
    /// Installs or replaces a package. `size_bytes` is the exact length of `apk`; `progress` gets the bytes sent.
    pub async fn install(
        &self,
        apk: &mut (impl AsyncRead + Unpin),
        size_bytes: u64,
        mut progress: impl FnMut(u64),
    ) -> Result<(), AdbError> {
        let mut stream = self.open(&self.install_service(size_bytes).await?).await?;
        let mut chunk = vec![0u8; CHUNK_BYTES];
        let mut sent = 0;
        loop {
            let count = apk.read(&mut chunk).await.map_err(|e| AdbError::Local(e.to_string()))?;
            // The package manager may answer and close early; its answer is read below.
            if count == 0 || stream.write_all(&chunk[..count]).await.is_err() {
                break;
            }
            sent += count as u64;
            progress(sent);
        }
        let (answer, _) = stream.read_to_limit(ANSWER_BYTES_MAX).await?;
        let answer = String::from_utf8_lossy(&answer).trim().to_owned();
        if answer.lines().any(|line| line.trim() == "Success") {
            Ok(())
        } else {
            Err(AdbError::Refused(answer))
        }
    }

    async fn install_service(&self, size_bytes: u64) -> Result<String, AdbError> {
        if self.features().await?.abb_exec {
            return Ok(format!("abb_exec:package\0install\0-r\0-S\0{size_bytes}"));
        }
        let size = i64::try_from(size_bytes).map_err(|e| AdbError::Local(e.to_string()))?;
        let script = Script::new("cmd package install -r -S").number(size);
        Ok(format!("exec:{}", script.as_str().unwrap_or_default()))
    }
}
