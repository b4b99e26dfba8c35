//! What a program needs from the system that runs it, read from the file itself. `ldd` runs the loader and says
//! "statically linked" of some files that name one; the file's own headers cannot be mistaken.

use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{Endianness, elf};

const MAGIC: &[u8] = b"\x7fELF";

/// What the headers of an ELF file ask for.
#[derive(Debug, PartialEq, Eq)]
pub struct Linkage {
    /// The loader that the kernel starts in the program's place (PT_INTERP).
    pub interpreter: Option<String>,
    /// How many shared libraries the loader has to find (DT_NEEDED).
    pub libraries: usize,
    /// Names of functions are in it, for debuggers.
    pub has_symbols: bool,
}

impl Linkage {
    pub fn is_static(&self) -> bool {
        self.interpreter.is_none() && self.libraries == 0
    }
}

impl std::fmt::Display for Linkage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.interpreter {
            None if self.libraries == 0 => f.write_str("static: no PT_INTERP, no DT_NEEDED"),
            interpreter => {
                let loader = interpreter.as_deref().unwrap_or("no loader");
                write!(f, "dynamic: PT_INTERP {loader}, {} times DT_NEEDED", self.libraries)
            }
        }
    }
}

/// `None` for a file of another system, whose programs are never wholly static.
pub fn of(bytes: &[u8]) -> Result<Option<Linkage>, String> {
    if !bytes.starts_with(MAGIC) {
        return Ok(None);
    }
    let wrong = |error: object::Error| format!("not a 64-bit ELF file that can be read: {error}");
    let header = FileHeader64::<Endianness>::parse(bytes).map_err(wrong)?;
    let endian = header.endian().map_err(wrong)?;
    let mut linkage = Linkage { interpreter: None, libraries: 0, has_symbols: false };
    for segment in header.program_headers(endian, bytes).map_err(wrong)? {
        if let Some(loader) = segment.interpreter(endian, bytes).map_err(wrong)? {
            linkage.interpreter = Some(String::from_utf8_lossy(loader).into_owned());
        }
        let entries = segment.dynamic(endian, bytes).map_err(wrong)?.unwrap_or_default();
        let entries = entries.iter().take_while(|entry| entry.d_tag(endian) != elf::DT_NULL);
        linkage.libraries += entries.filter(|entry| entry.d_tag(endian) == DT_NEEDED).count();
    }
    let sections = header.section_headers(endian, bytes).map_err(wrong)?;
    linkage.has_symbols = sections.iter().any(|section| section.sh_type(endian) == elf::SHT_SYMTAB);
    Ok(Some(linkage))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segment types of ELF.
    const PT_DYNAMIC: u32 = 2;
    const PT_INTERP: u32 = 3;

    /// An ELF file of headers only, with these segments at its end.
    fn elf(segments: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let (header_bytes, entry_bytes) = (64_u64, 56_u64);
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        file.extend([3, 0, 62, 0, 1, 0, 0, 0]);
        file.extend(0_u64.to_le_bytes());
        file.extend(header_bytes.to_le_bytes());
        file.extend([0; 8 + 4]);
        file.extend(64_u16.to_le_bytes());
        file.extend(56_u16.to_le_bytes());
        file.extend(u16::try_from(segments.len()).unwrap().to_le_bytes());
        file.extend([64, 0, 0, 0, 0, 0]);
        let mut at = header_bytes + entry_bytes * segments.len() as u64;
        for (kind, bytes) in segments {
            file.extend(kind.to_le_bytes());
            file.extend(4_u32.to_le_bytes());
            for number in [at, at, at, bytes.len() as u64, bytes.len() as u64, 8] {
                file.extend(number.to_le_bytes());
            }
            at += bytes.len() as u64;
        }
        file.extend(segments.iter().flat_map(|(_, bytes)| bytes.clone()));
        file
    }

    fn dynamic(tags: &[u64]) -> Vec<u8> {
        tags.iter().flat_map(|tag| [*tag, 1]).flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn a_loader_or_a_library_is_found() {
        let loader = (PT_INTERP, b"/lib64/ld.so\0\0\0\0".to_vec());
        let found = of(&elf(&[loader, (PT_DYNAMIC, dynamic(&[1, 1, 5, 0]))])).unwrap().unwrap();
        assert!(!found.is_static());
        assert_eq!(found.to_string(), "dynamic: PT_INTERP /lib64/ld.so, 2 times DT_NEEDED");
        let library = of(&elf(&[(PT_DYNAMIC, dynamic(&[1, 0]))])).unwrap().unwrap();
        assert!(!library.is_static(), "{library}");
    }

    #[test]
    fn a_position_independent_static_program_has_a_dynamic_segment_and_is_static() {
        let found = of(&elf(&[(PT_DYNAMIC, dynamic(&[5, 0, 1]))])).unwrap().unwrap();
        assert!(found.is_static(), "what stands after the end of the table does not count: {found}");
    }

    #[test]
    fn the_program_that_runs_this_test_is_dynamic() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        if let Some(found) = of(&own).unwrap() {
            assert_eq!(found.is_static(), cfg!(target_feature = "crt-static"), "{found}");
            assert!(found.has_symbols);
        }
    }

    #[test]
    fn other_files_are_no_elf_and_broken_ones_are_refused() {
        assert_eq!(of(b"MZ\x90\0").unwrap(), None);
        assert!(of(b"\x7fELF\x02\x01").is_err());
        let mut cut = elf(&[(PT_DYNAMIC, dynamic(&[1, 0]))]);
        cut.truncate(cut.len() - 8);
        assert!(of(&cut).is_err());
    }
}
