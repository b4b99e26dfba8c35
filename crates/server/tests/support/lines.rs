//! Reads a pipe of another process, for the tests that drive one.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, channel};

/// The lines of a pipe, read by a thread so that a test can wait for one with a limit.
pub fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        let (mut pipe, mut line) = (BufReader::new(pipe), Vec::new());
        while pipe.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            if to.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    from
}
