//! Numbers and texts of the helper's messages, read with every length checked and written without surprises.

/// Why bytes of the helper, or for it, cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken(pub &'static str);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Broken {}

const TOO_SHORT: Broken = Broken("the message ends too early");

/// What is left to be read of a payload.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, Broken> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub fn u16(&mut self) -> Result<u16, Broken> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, Broken> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> Result<i32, Broken> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Broken> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub fn f32(&mut self) -> Result<f32, Broken> {
        Ok(f32::from_be_bytes(self.array()?))
    }

    pub fn flag(&mut self) -> Result<bool, Broken> {
        Ok(self.u8()? != 0)
    }

    /// Half a surrogate of Java's is no UTF-8, so what cannot be read is replaced.
    pub fn text(&mut self) -> Result<String, Broken> {
        let count = self.u32()? as usize;
        Ok(String::from_utf8_lossy(self.bytes(count)?).into_owned())
    }

    /// An unsigned LEB128.
    pub fn v(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return Err(Broken("a number has more than 64 bits"));
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Broken("a number has no end"))
    }

    pub fn v32(&mut self) -> Result<u32, Broken> {
        u32::try_from(self.v()?).map_err(|_| Broken("a number has more than 32 bits"))
    }

    /// A zigzag LEB128.
    pub fn z(&mut self) -> Result<i32, Broken> {
        let number = self.v32()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A count of things of which each has at least one byte; no message may make its reader reserve more than it carries.
    pub fn count(&mut self, most: usize) -> Result<usize, Broken> {
        let count = usize::try_from(self.v()?).unwrap_or(usize::MAX);
        self.at_most(count, most)
    }

    pub fn at_most(&self, count: usize, most: usize) -> Result<usize, Broken> {
        if count > most {
            return Err(Broken("a list is longer than allowed"));
        }
        if count > self.rest.len() {
            return Err(TOO_SHORT);
        }
        Ok(count)
    }

    pub fn end(self) -> Result<(), Broken> {
        if self.rest.is_empty() { Ok(()) } else { Err(Broken("the message goes on after its end")) }
    }
}

/// A payload that is being written.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn u8(&mut self, value: u8) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn u16(&mut self, value: u16) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn u32(&mut self, value: u32) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn i32(&mut self, value: i32) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn u64(&mut self, value: u64) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn f32(&mut self, value: f32) -> &mut Writer {
        self.raw(&value.to_be_bytes())
    }

    pub fn flag(&mut self, value: bool) -> &mut Writer {
        self.u8(value.into())
    }

    pub fn text(&mut self, text: &str) -> &mut Writer {
        self.u32(u32::try_from(text.len()).unwrap_or(u32::MAX)).raw(text.as_bytes())
    }

    pub fn v(&mut self, mut value: u64) -> &mut Writer {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
        self
    }

    pub fn z(&mut self, value: i32) -> &mut Writer {
        self.v(u64::from(((value << 1) ^ (value >> 31)).cast_unsigned()))
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Writer {
        self.bytes.extend_from_slice(bytes);
        self
    }
}
