//! Installs app files (APK) by streaming them to the package manager, without a copy on the device and without a name of
//! this machine's files (S9).

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Adb, AdbError, Script};

/// The answer of the package manager that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
/// `-r` replaces an installed version, `-t` also takes builds that are marked as made for tests.
const OPTIONS: [&str; 2] = ["-r", "-t"];

impl Adb {
    /// Installs or replaces a package. `size_bytes` is the exact length of `apk`; `progress` gets the bytes sent.
    pub async fn install(
        &self,
        apk: &mut (impl AsyncRead + Unpin),
        size_bytes: u64,
        progress: impl FnMut(u64),
    ) -> Result<(), AdbError> {
        let size = size_bytes.to_string();
        let words = [&["install"], &OPTIONS[..], &["-S", &size]].concat();
        successful(self.package(&words, Some(apk), progress).await?).map(drop)
    }

    /// Installs a base and its splits in one session, which is given up when one of them is refused.
    pub async fn install_splits(&self, files: &mut [(File, u64)]) -> Result<(), AdbError> {
        let create = [&["install-create"], &OPTIONS[..]].concat();
        let created = successful(self.package(&create, None::<&mut File>, |_| {}).await?)?;
        let session = session_of(&created)
            .ok_or_else(|| AdbError::Protocol(format!("no session in the answer {created:.100?}")))?
            .to_string();
        let installed = self.fill_session(&session, files).await;
        if matches!(installed, Err(AdbError::Refused(_) | AdbError::Local(_))) {
            // What it answers changes nothing about the failure.
            drop(self.package(&["install-abandon", &session], None::<&mut File>, |_| {}).await);
        }
        installed
    }

    async fn fill_session(&self, session: &str, files: &mut [(File, u64)]) -> Result<(), AdbError> {
        for (index, (file, size_bytes)) in files.iter_mut().enumerate() {
            let (size, name) = (size_bytes.to_string(), format!("{index}.apk"));
            let words = ["install-write", "-S", &size, session, &name, "-"];
            successful(self.package(&words, Some(file), |_| {}).await?)?;
        }
        successful(self.package(&["install-commit", session], None::<&mut File>, |_| {}).await?).map(drop)
    }

    /// Runs a command of the package manager, with a file as its input, and returns its answer.
    async fn package(
        &self,
        words: &[&str],
        input: Option<&mut (impl AsyncRead + Unpin)>,
        mut progress: impl FnMut(u64),
    ) -> Result<String, AdbError> {
        let mut stream = self.open(&self.package_service(words).await?).await?;
        let mut sent = 0;
        if let Some(input) = input {
            let mut chunk = vec![0u8; CHUNK_BYTES];
            loop {
                let count = input.read(&mut chunk).await.map_err(|e| AdbError::Local(e.to_string()))?;
                // The package manager may answer and close early; its answer is read below.
                if count == 0 || stream.write_all(&chunk[..count]).await.is_err() {
                    break;
                }
                sent += count as u64;
                progress(sent);
            }
        }
        let (answer, _) = stream.read_to_limit(ANSWER_BYTES_MAX).await?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    async fn package_service(&self, words: &[&str]) -> Result<String, AdbError> {
        if self.features().await?.abb_exec {
            return Ok(format!("abb_exec:package\0{}", words.join("\0")));
        }
        let script = words.iter().fold(Script::new("cmd package"), |script, word| script.arg(word));
        Ok(format!("exec:{}", script.as_str().unwrap_or_default()))
    }
}

fn successful(answer: String) -> Result<String, AdbError> {
    match answer.lines().any(|line| line.trim().starts_with("Success")) {
        true => Ok(answer),
        false => Err(AdbError::Refused(answer)),
    }
}

/// The number in `Success: created install session [1234]`.
fn session_of(answer: &str) -> Option<u64> {
    answer.split_once('[')?.1.split_once(']')?.0.parse().ok()
}
