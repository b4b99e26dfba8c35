//! Patterns of file names and of `case`.

/// The length of a pattern times that of a text; beyond it nothing matches.
const WILDCARD_WORK_MAX: usize = 4_000_000;

/// One step of a pattern.
enum Token {
    Star,
    Any,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn fits(&self, c: char) -> bool {
        match self {
            Token::Star => false,
            Token::Any => true,
            Token::Char(own) => *own == c,
            Token::Set { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
        }
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        at += 1;
        out.push(match c {
            '*' => Token::Star,
            '?' => Token::Any,
            '\\' => {
                at += 1;
                Token::Char(chars.get(at - 1).copied().unwrap_or('\\'))
            }
            '[' => match set(&chars, at) {
                Some((token, next)) => {
                    at = next;
                    token
                }
                None => Token::Char('['),
            },
            c => Token::Char(*c),
        });
    }
    out
}

/// Parses a set in brackets after its `[`, and returns where it ends.
fn set(chars: &[char], mut at: usize) -> Option<(Token, usize)> {
    let negated = matches!(chars.get(at), Some('!' | '^'));
    at += usize::from(negated);
    let mut ranges = Vec::new();
    loop {
        let mut c = *chars.get(at)?;
        at += 1;
        if c == ']' && !ranges.is_empty() {
            return Some((Token::Set { negated, ranges }, at));
        }
        if c == '\\' {
            c = *chars.get(at)?;
            at += 1;
        }
        let to = match (chars.get(at), chars.get(at + 1)) {
            (Some('-'), Some(to)) if *to != ']' => {
                at += 2;
                *to
            }
            _ => c,
        };
        ranges.push((c, to));
    }
}

/// Matches `*`, `?` and `[a-z]` against a whole text, without recursion: on a mismatch the last star takes one more
/// character.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<Token>, Vec<char>) = (tokens(pattern), text.chars().collect());
    if pattern.len().saturating_mul(text.len()) > WILDCARD_WORK_MAX {
        return false;
    }
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(Token::Star) => {
                star = Some((p, t));
                p += 1;
            }
            Some(token) if token.fits(text[t]) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|token| matches!(token, Token::Star))
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn wildcards() {
        assert!(
            wildcard("*.xml", "a.xml")
                && wildcard("a*b*c", "aXXbYYc")
                && wildcard("?", "é")
                && wildcard("*", "")
        );
        assert!(
            wildcard("[a-c]x", "bx")
                && wildcard("[!a-c]x", "dx")
                && wildcard("\\*", "*")
                && wildcard("[", "[")
        );
        assert!(!wildcard("\\*", "a") && !wildcard("[!a-c]x", "bx"));
        assert!(!wildcard("*.xml", "a.xm") && !wildcard("?", "") && !wildcard("a", "ab"));
    }
}
