//! What the virtual iPhone needs of Unix: sockets with a name in the file system, and scripts that can be run. On other
//! systems the same names are there, and making one fails with a sentence that says why.

#[cfg(unix)]
mod here {
    use std::io::{self, Write as _};
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
    use std::path::Path;

    pub use std::os::unix::net::UnixStream as BlockingStream;
    pub use tokio::net::{UnixListener, UnixStream};

    /// Listens at this path. A socket that is left there from before is removed; another file is not.
    pub fn listen(socket: &Path) -> io::Result<UnixListener> {
        if std::fs::symlink_metadata(socket).is_ok_and(|found| found.file_type().is_socket()) {
            std::fs::remove_file(socket)?;
        }
        UnixListener::bind(socket)
    }

    pub fn write_script(file: &Path, text: &str) -> io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o755);
        options.open(file)?.write_all(text.as_bytes())
    }
}

/// Compiled for tests too, so that it stays in step with the other one.
#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code, reason = "only its constructors can be tried here"))]
mod elsewhere {
    use std::convert::Infallible;
    use std::io::{self, Read, Write};
    use std::path::Path;

    use tokio::io::DuplexStream;

    fn not_here<T>() -> io::Result<T> {
        let why =
            "sockets and scripts of Unix are not available on this system; give HOST:PORT instead of a path";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    pub struct UnixListener(Infallible);

    impl UnixListener {
        pub fn bind(_: impl AsRef<Path>) -> io::Result<UnixListener> {
            not_here()
        }

        pub async fn accept(&self) -> io::Result<(DuplexStream, ())> {
            match self.0 {}
        }
    }

    pub struct UnixStream;

    impl UnixStream {
        pub async fn connect(_: impl AsRef<Path>) -> io::Result<DuplexStream> {
            not_here()
        }
    }

    pub struct BlockingStream(Infallible);

    impl BlockingStream {
        pub fn connect(_: impl AsRef<Path>) -> io::Result<BlockingStream> {
            not_here()
        }
    }

    impl Read for BlockingStream {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match self.0 {}
        }
    }

    impl Write for BlockingStream {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match self.0 {}
        }
    }

    pub fn listen(_: &Path) -> io::Result<UnixListener> {
        not_here()
    }

    pub fn write_script(_: &Path, _: &str) -> io::Result<()> {
        not_here()
    }
}

#[cfg(not(unix))]
pub use elsewhere::*;
#[cfg(unix)]
pub use here::*;

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use super::elsewhere;

    #[tokio::test]
    async fn another_system_says_what_it_has_not() {
        let path = Path::new("companion.sock");
        let bound = elsewhere::UnixListener::bind(path).err().map(|error| error.to_string());
        assert!(bound.is_some_and(|why| why.contains("HOST:PORT")));
        assert_eq!(elsewhere::listen(path).err().map(|e| e.kind()), Some(ErrorKind::Unsupported));
        assert_eq!(elsewhere::write_script(path, "").err().map(|e| e.kind()), Some(ErrorKind::Unsupported));
        assert!(elsewhere::UnixStream::connect(path).await.is_err());
        assert!(elsewhere::BlockingStream::connect(path).is_err());
    }
}
