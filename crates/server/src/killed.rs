//! Processes of this program that were killed, by the numbers in the names of their files on devices: what they were writing
//! when they ended may still be there. A process notes its number when it starts and removes it when it ends; the system
//! gives a killed one's lock back, by which the next start knows that it is gone (SE-07).

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

const FOLDER: &str = "processes";
/// Processes that have a note at the same time; further ones have none.
const NOTES_MAX: usize = 16;
/// Bytes of one note; what is behind them is not read.
const NOTE_BYTES_MAX: u64 = 1024;
/// Killed processes that one note names, the newest ones.
const KILLED_MAX: usize = 8;

/// The number of this process, and those that were killed before it.
#[derive(Debug)]
pub struct Processes {
    pub own: u64,
    pub killed: Vec<u64>,
    /// Locked for as long as this process lives.
    note: Option<File>,
}

impl Processes {
    /// Without a folder, where it cannot be written, and on systems without such locks, nothing is noted and nothing is known.
    pub fn begin(state: Option<&Path>) -> Processes {
        let own = number();
        let (mut killed, mut note) = (Vec::new(), None);
        if cfg!(unix)
            && let Some(folder) = state.map(|state| state.join(FOLDER))
            && std::fs::create_dir_all(&folder).is_ok()
        {
            for slot in 0..NOTES_MAX {
                let Some(mut file) = open(&folder.join(slot.to_string()), note.is_some()) else { continue };
                killed.extend(read(&mut file));
                match note {
                    None => note = Some(file),
                    // Its numbers are in ours from now on.
                    Some(_) => write(&mut file, &[]),
                }
            }
        }
        killed.truncate(KILLED_MAX);
        let mut processes = Processes { own, killed, note };
        let all: Vec<u64> = [own].into_iter().chain(processes.killed.iter().copied()).collect();
        processes.write(&all);
        processes
    }

    fn write(&mut self, numbers: &[u64]) {
        if let Some(note) = &mut self.note {
            write(note, numbers);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Which devices were cleaned after the killed ones is not known, so they stay noted.
        let killed = std::mem::take(&mut self.killed);
        self.write(&killed);
    }
}

/// A number unlike that of any other process that uses the same device.
fn number() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

/// The note, if its process is gone. `is_known`: only one that is there already.
fn open(file: &Path, is_known: bool) -> Option<File> {
    let file = OpenOptions::new().read(true).write(true).create(!is_known).truncate(false).open(file).ok()?;
    lock(&file).then_some(file)
}

#[cfg(unix)]
fn lock(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Where locks are not known nobody can be told to be gone, so `begin` opens no note.
#[cfg(not(unix))]
fn lock(_: &File) -> bool {
    false
}

fn read(note: &mut File) -> Vec<u64> {
    let mut text = String::new();
    if note.take(NOTE_BYTES_MAX).read_to_string(&mut text).is_err() {
        return Vec::new();
    }
    text.lines().filter_map(|line| u64::from_str_radix(line, 16).ok()).take(KILLED_MAX + 1).collect()
}

/// A note that cannot be written is one that says less.
fn write(note: &mut File, numbers: &[u64]) {
    let text: String = numbers.iter().map(|number| format!("{number:016x}\n")).collect();
    if note.set_len(0).and_then(|()| note.seek(SeekFrom::Start(0))).is_ok() {
        drop(note.write_all(text.as_bytes()));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn killed_processes_are_known_to_the_next_start_and_living_ones_are_not() {
        // SE-07
        let folder = std::env::temp_dir().join(format!("mdm-killed-{}", std::process::id()));
        let begin = || Processes::begin(Some(&folder));
        let first = begin();
        assert_eq!(first.killed, Vec::<u64>::new());
        let living = begin();
        assert_eq!(living.killed, Vec::<u64>::new(), "the first one lives");
        let gone = first.own;
        // Killed: its lock is given back, its note stays.
        kill(first);
        let next = begin();
        assert_eq!(next.killed, [gone]);
        let own = next.own;
        drop(next);
        assert_eq!(begin().killed, [gone], "it ended by itself: only the killed one is noted");
        assert!(own != gone && own != living.own);
        drop(living);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Processes::begin(None).killed, Vec::<u64>::new());
    }

    /// Ends it as the system does: nothing is written any more.
    fn kill(mut processes: Processes) {
        processes.note = None;
    }

    #[test]
    fn a_broken_note_is_read_as_far_as_it_goes() {
        let folder = std::env::temp_dir().join(format!("mdm-killed-broken-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(FOLDER)).unwrap();
        let many: String = (0..100).map(|number| format!("{number:x}\nno number\n")).collect();
        std::fs::write(folder.join(FOLDER).join("0"), many).unwrap();
        assert_eq!(Processes::begin(Some(&folder)).killed.len(), KILLED_MAX);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
