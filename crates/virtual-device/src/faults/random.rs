//! Random numbers of one fault: switching another one on must not shift them.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        // The first numbers of neighbouring seeds resemble each other.
        for _ in 0..3 {
            random.next();
        }
        random
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` up to and without `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % high.saturating_sub(low).max(1)
    }

    pub fn chance(&mut self, share: f64) -> bool {
        // 53 bits are what a float holds.
        ((self.next() >> 11) as f64) < share * (1u64 << 53) as f64
    }
}
