//! Reads of a picture which of its parts have one colour: enough to see whether something was painted over.

use std::collections::HashMap;

/// Pixels of a block's side.
const BLOCK: usize = 8;

/// The brightness of a baseline JPEG's blocks.
pub struct Blocks {
    pub height: usize,
    columns: usize,
    /// By rows: the brightness, where the whole block has one.
    flat: Vec<Option<i32>>,
}

#[derive(Default)]
struct Component {
    across: usize,
    down: usize,
    tables: (u8, u8),
    last: i32,
}

/// The symbols of codes, by length and bits.
type Codes = HashMap<(u32, u32), u8>;

impl Blocks {
    pub fn read(jpeg: &[u8]) -> Blocks {
        assert_eq!(jpeg[..2], [0xff, 0xd8], "a JPEG");
        let (mut at, mut codes, mut components, mut size) = (2, HashMap::new(), Vec::new(), (0, 0));
        loop {
            let (marker, length) = (jpeg[at + 1], usize::from(jpeg[at + 2]) << 8 | usize::from(jpeg[at + 3]));
            let body = &jpeg[at + 4..at + 2 + length];
            at += 2 + length;
            match marker {
                0xc0 | 0xc1 => {
                    let two = |at: usize| usize::from(body[at]) << 8 | usize::from(body[at + 1]);
                    size = (two(3), two(1));
                    components = body[6..].chunks_exact(3).map(component).collect();
                }
                0xc4 => read_codes(body, &mut codes),
                0xda => {
                    for (component, named) in components.iter_mut().zip(body[1..].chunks_exact(2)) {
                        component.tables = (named[1] >> 4, named[1] & 15);
                    }
                    break;
                }
                _ => {}
            }
        }
        assert!(!components.is_empty(), "a baseline JPEG");
        scan(&mut Bits { bytes: &jpeg[at..], at: 0, held: 0, count: 0 }, components, &codes, size)
    }

    /// The brightness of all blocks within a part of the picture; `None` for those that show something.
    pub fn within(&self, [left, top, right, bottom]: [usize; 4]) -> Vec<Option<i32>> {
        let (left, top) = (left.div_ceil(BLOCK), top.div_ceil(BLOCK));
        let (right, bottom) = (right / BLOCK, bottom / BLOCK);
        assert!(left < right && top < bottom, "a block lies within");
        let rows = (top..bottom).map(|row| &self.flat[row * self.columns..][left..right]);
        rows.flatten().copied().collect()
    }
}

fn component(of: &[u8]) -> Component {
    Component { across: usize::from(of[1] >> 4), down: usize::from(of[1] & 15), ..Component::default() }
}

fn read_codes(mut body: &[u8], all: &mut HashMap<u8, Codes>) {
    while let [class, rest @ ..] = body {
        let (counts, mut symbols) = rest.split_at(16);
        let (mut codes, mut code) = (Codes::new(), 0);
        for (length, count) in (1..).zip(counts) {
            let (own, after) = symbols.split_at(usize::from(*count));
            for symbol in own {
                codes.insert((length, code), *symbol);
                code += 1;
            }
            (symbols, code) = (after, code << 1);
        }
        all.insert(*class, codes);
        body = symbols;
    }
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn next(&mut self, count: u32) -> u32 {
        while self.count < count {
            let byte = self.bytes[self.at];
            // A zero stands behind each ff that is data.
            self.at += if byte == 0xff { 2 } else { 1 };
            self.held = self.held << 8 | u32::from(byte);
            self.count += 8;
        }
        self.count -= count;
        let bits = self.held >> self.count & ((1 << count) - 1);
        self.held &= (1 << self.count) - 1;
        bits
    }

    fn symbol(&mut self, codes: &Codes) -> u8 {
        let mut code = 0;
        for length in 1..=16 {
            code = code << 1 | self.next(1);
            if let Some(symbol) = codes.get(&(length, code)) {
                return *symbol;
            }
        }
        panic!("no code of the picture");
    }

    fn number(&mut self, bits: u8) -> i32 {
        let bits = u32::from(bits);
        let number = self.next(bits) as i32;
        if bits > 0 && number < 1 << (bits - 1) { number - (1 << bits) + 1 } else { number }
    }
}

fn scan(
    bits: &mut Bits<'_>,
    mut components: Vec<Component>,
    codes: &HashMap<u8, Codes>,
    (width, height): (usize, usize),
) -> Blocks {
    let (across, down) = (components[0].across, components[0].down);
    let (units, rows) = (width.div_ceil(BLOCK * across), height.div_ceil(BLOCK * down));
    let columns = units * across;
    let mut flat = vec![None; columns * rows * down];
    for unit in 0..units * rows {
        for (number, component) in components.iter_mut().enumerate() {
            for part in 0..component.across * component.down {
                let is_flat = block(bits, component, codes);
                if number == 0 {
                    let (x, y) = (unit % units * across + part % across, unit / units * down + part / across);
                    flat[y * columns + x] = is_flat.then_some(component.last);
                }
            }
        }
    }
    Blocks { height, columns, flat }
}

/// Reads one block; true if it has one colour.
fn block(bits: &mut Bits<'_>, component: &mut Component, codes: &HashMap<u8, Codes>) -> bool {
    let length = bits.symbol(&codes[&component.tables.0]);
    component.last += bits.number(length);
    let (mut at, mut is_flat) = (1, true);
    while at < 64 {
        let symbol = bits.symbol(&codes[&(0x10 | component.tables.1)]);
        match symbol {
            0 => break,
            0xf0 => at += 16,
            _ => {
                at += usize::from(symbol >> 4) + 1;
                is_flat &= bits.number(symbol & 15) == 0;
            }
        }
    }
    is_flat
}
