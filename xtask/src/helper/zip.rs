//! A zip file with one entry that is not packed. Every byte follows from the entry: no time, no compressor.

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const VERSION: u16 = 10;
/// 1 January 1980, the first day that the format knows.
const DATE: u16 = 0x0021;
const LOCAL_BYTES: usize = 30;
/// Android maps an entry into memory without a copy if it begins at a multiple of this.
const ALIGNMENT: usize = 4;

/// The bytes of a zip file with this entry.
pub fn stored(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let size = u32::try_from(bytes.len()).map_err(|_| format!("{name} is too long for a zip"))?;
    let name_size = u16::try_from(name.len()).map_err(|_| format!("{name} is too long a name"))?;
    let padding = (LOCAL_BYTES + name.len()).next_multiple_of(ALIGNMENT) - LOCAL_BYTES - name.len();
    let facts = Facts { crc: crc32(bytes), size, name_size };
    let mut zip = Vec::new();
    zip.extend(LOCAL.to_le_bytes());
    facts.write(&mut zip);
    zip.extend(u16::try_from(padding).unwrap_or(0).to_le_bytes());
    zip.extend(name.as_bytes());
    zip.extend(std::iter::repeat_n(0, padding));
    zip.extend(bytes);
    let central_at = u32::try_from(zip.len()).map_err(|_| format!("{name} is too long for a zip"))?;
    zip.extend(CENTRAL.to_le_bytes());
    zip.extend(VERSION.to_le_bytes());
    facts.write(&mut zip);
    // No extra field, no comment, disk 0, no attributes, and the entry at the start of the file.
    zip.extend([0; 2 + 2 + 2 + 2 + 4 + 4]);
    zip.extend(name.as_bytes());
    let central_size = u32::try_from(zip.len()).unwrap_or(u32::MAX) - central_at;
    zip.extend(END.to_le_bytes());
    zip.extend([0, 0, 0, 0, 1, 0, 1, 0]);
    zip.extend(central_size.to_le_bytes());
    zip.extend(central_at.to_le_bytes());
    zip.extend([0, 0]);
    Ok(zip)
}

/// The fields that both headers have, from the needed version to the size of the name.
struct Facts {
    crc: u32,
    size: u32,
    name_size: u16,
}

impl Facts {
    fn write(&self, zip: &mut Vec<u8>) {
        let (flags, method, time) = (0u16, 0u16, 0u16);
        for word in [VERSION, flags, method, time, DATE] {
            zip.extend(word.to_le_bytes());
        }
        for word in [self.crc, self.size, self.size] {
            zip.extend(word.to_le_bytes());
        }
        zip.extend(self.name_size.to_le_bytes());
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_every_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn the_entry_begins_where_android_can_map_it() {
        let zip = stored("classes.dex", b"dex").unwrap();
        let at = zip.windows(3).position(|part| part == b"dex").unwrap();
        // The name ends with the same three letters; the bytes come after it.
        let at = at + 3 + zip[at + 3..].windows(3).position(|part| part == b"dex").unwrap();
        assert_eq!((at % ALIGNMENT, at), (0, 44));
    }
}
