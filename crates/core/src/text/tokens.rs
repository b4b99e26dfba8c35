//! How many tokens a text costs a language model, roughly.

/// An estimate that is seldom below what o200k and its like count, and seldom far above: a word of up to seven letters is
/// one token, longer ones one for every six, digits go by threes, and each mark and each character of a script without
/// spaces is one.
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = Run { kind: Kind::Space, length: 0 };
    for character in text.chars() {
        let kind = Kind::of(character);
        if kind == run.kind && kind != Kind::Single {
            run.length += 1;
        } else {
            tokens += run.tokens();
            run = Run { kind, length: 1 };
        }
    }
    tokens + run.tokens()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Lower,
    Upper,
    Digit,
    Letter,
    Mark,
    Single,
}

impl Kind {
    fn of(character: char) -> Kind {
        match character {
            ' ' => Kind::Space,
            'a'..='z' => Kind::Lower,
            'A'..='Z' => Kind::Upper,
            '0'..='9' => Kind::Digit,
            _ if character.is_ascii() => Kind::Mark,
            _ if character.is_alphabetic() && (character as u32) < 0x0E00 => Kind::Letter,
            _ => Kind::Single,
        }
    }
}

struct Run {
    kind: Kind,
    length: usize,
}

impl Run {
    fn tokens(&self) -> usize {
        match self.kind {
            // One space belongs to the word behind it.
            Kind::Space => usize::from(self.length > 1),
            Kind::Lower => {
                if self.length <= 7 {
                    1
                } else {
                    self.length.div_ceil(6)
                }
            }
            Kind::Upper => usize::from(self.length > 1) * self.length.div_ceil(3),
            Kind::Digit => self.length.div_ceil(3),
            Kind::Letter => self.length.div_ceil(3),
            Kind::Mark => self.length.div_ceil(2),
            Kind::Single => 1,
        }
    }
}
