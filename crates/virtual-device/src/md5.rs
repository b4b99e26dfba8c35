//! MD5, because `md5sum` on the phone is how clients check what they pushed.

const SHIFTS: [u32; 16] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

pub fn hex(data: &[u8]) -> String {
    digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn digest(data: &[u8]) -> [u8; 16] {
    let table: Vec<u32> = (1..=64).map(|i| ((f64::from(i)).sin().abs() * 4_294_967_296.0) as u32).collect();
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut tail = data[data.len() / 64 * 64..].to_vec();
    tail.push(0x80);
    while tail.len() % 64 != 56 {
        tail.push(0);
    }
    tail.extend((data.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in data.chunks_exact(64).chain(tail.chunks_exact(64)) {
        mix(&mut state, block, &table);
    }
    let mut out = [0; 16];
    for (to, word) in out.chunks_exact_mut(4).zip(state) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    out
}

fn mix(state: &mut [u32; 4], block: &[u8], table: &[u32]) {
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().rev().fold(0, |w, b| (w << 8) | u32::from(*b));
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for i in 0..64 {
        let (f, g) = match i / 16 {
            0 => ((b & c) | (!b & d), i),
            1 => ((d & b) | (!d & c), 5 * i + 1),
            2 => (b ^ c ^ d, 3 * i + 5),
            _ => (c ^ (b | !d), 7 * i),
        };
        let sum = a.wrapping_add(f).wrapping_add(table[i]).wrapping_add(words[g % 16]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16 * 4 + i % 4]));
    }
    for (to, from) in state.iter_mut().zip([a, b, c, d]) {
        *to = to.wrapping_add(from);
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn known_digests() {
        assert_eq!(hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(&[b'a'; 200]), "887f30b43b2867f4a9accceee7d16e6c");
    }
}
