//! A small backtracking matcher for the expressions that clients send: no input makes it run for ever.

use std::collections::BTreeMap;

/// Steps that the search in one line may take before it counts as no match.
const STEPS_MAX: u32 = 1_000_000;
/// How deep the matcher may recurse.
const DEPTH_MAX: u32 = 400;
const PATTERN_BYTES_MAX: usize = 256;

/// Alternatives, each a sequence of atoms with repeats.
pub struct Expression {
    alternatives: Vec<Vec<Item>>,
    fold: bool,
}

/// Where an expression was found, in characters.
#[derive(Debug, Clone)]
pub struct Match {
    pub start: usize,
    pub end: usize,
    /// By number, from one.
    pub groups: BTreeMap<usize, (usize, usize)>,
}

#[derive(Debug, Clone)]
struct Item {
    atom: Atom,
    least: usize,
    most: usize,
}

#[derive(Debug, Clone)]
enum Atom {
    Char(char),
    Any,
    Start,
    End,
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// With its number.
    Group(usize, Vec<Vec<Item>>),
}

impl Expression {
    pub fn parse(pattern: &str, fixed: bool, extended: bool, fold: bool) -> Option<Expression> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return None;
        }
        let folded = if fold { pattern.to_lowercase() } else { pattern.to_owned() };
        let alternatives = if fixed {
            folded.split('\n').map(|line| line.chars().map(literal).collect()).collect()
        } else {
            let mut parser = Parser { chars: folded.chars().collect(), at: 0, extended, depth: 0, groups: 0 };
            let all = parser.alternatives()?;
            if parser.at < parser.chars.len() {
                return None;
            }
            all
        };
        Some(Expression { alternatives, fold })
    }

    pub fn is_in(&self, line: &str) -> bool {
        self.find(&self.letters(line), 0).is_some()
    }

    /// The characters that a search goes over. Folding keeps one for one.
    pub fn letters(&self, line: &str) -> Vec<char> {
        let fold = |c: char| c.to_lowercase().next().unwrap_or(c);
        if self.fold { line.chars().map(fold).collect() } else { line.chars().collect() }
    }

    /// The first match that begins at `from` or later.
    pub fn find(&self, line: &[char], from: usize) -> Option<Match> {
        let mut steps = Budget::default();
        for at in from..=line.len() {
            let mut end = at;
            let found = self.alternatives.iter().any(|items| {
                follow(items, line, at, &mut steps, &mut |to, _| {
                    end = to;
                    true
                })
            });
            if found {
                return Some(Match { start: at, end, groups: steps.groups });
            }
        }
        None
    }
}

fn literal(c: char) -> Item {
    Item { atom: Atom::Char(c), least: 1, most: 1 }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    extended: bool,
    depth: u32,
    groups: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Whether a special character stands here, in the notation of this dialect.
    fn special(&mut self, c: char) -> bool {
        let here = if self.extended {
            self.peek() == Some(c)
        } else {
            self.peek() == Some('\\') && self.chars.get(self.at + 1) == Some(&c)
        };
        if here {
            self.at += if self.extended { 1 } else { 2 };
        }
        here
    }

    fn alternatives(&mut self) -> Option<Vec<Vec<Item>>> {
        self.depth += 1;
        if self.depth > 16 {
            return None;
        }
        let mut all = vec![self.sequence()?];
        while self.special('|') {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        Some(all)
    }

    fn sequence(&mut self) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            let start = self.at;
            if self.peek().is_none() || self.special('|') || self.special(')') {
                self.at = start;
                return Some(items);
            }
            let atom = self.atom(items.is_empty())?;
            let (least, most) = self.repeat();
            items.push(Item { atom, least, most });
        }
    }

    fn atom(&mut self, first: bool) -> Option<Atom> {
        if self.special('(') {
            self.groups += 1;
            let number = self.groups;
            let group = self.alternatives()?;
            return self.special(')').then_some(Atom::Group(number, group));
        }
        let c = self.peek()?;
        self.at += 1;
        Some(match c {
            '.' => Atom::Any,
            '^' if first || self.extended => Atom::Start,
            '$' if self.at == self.chars.len() || self.extended => Atom::End,
            '[' => return self.set(),
            '\\' => {
                let escaped = self.peek()?;
                self.at += 1;
                class(escaped).unwrap_or(Atom::Char(escaped))
            }
            c => Atom::Char(c),
        })
    }

    fn set(&mut self) -> Option<Atom> {
        let negated = self.peek() == Some('^');
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        loop {
            let c = self.peek()?;
            self.at += 1;
            if c == '[' && self.peek() == Some(':') {
                ranges.extend(self.named_class()?);
                continue;
            }
            if c == ']' && !ranges.is_empty() {
                return Some(Atom::Set { negated, ranges });
            }
            let to = match (self.peek(), self.chars.get(self.at + 1)) {
                (Some('-'), Some(to)) if *to != ']' => {
                    self.at += 2;
                    *to
                }
                _ => c,
            };
            ranges.push((c, to));
        }
    }

    /// `[:alpha:]` and its relatives, after the first bracket.
    fn named_class(&mut self) -> Option<Vec<(char, char)>> {
        let rest: String = self.chars.get(self.at + 1..)?.iter().collect();
        let name = rest.split(":]").next()?;
        self.at += name.chars().count() + 3;
        (self.at <= self.chars.len()).then(|| class_ranges(name)).flatten()
    }

    fn repeat(&mut self) -> (usize, usize) {
        if self.peek() == Some('*') {
            self.at += 1;
            (0, usize::MAX)
        } else if self.special('+') {
            (1, usize::MAX)
        } else if self.special('?') {
            (0, 1)
        } else {
            self.counted().unwrap_or((1, 1))
        }
    }

    /// `{2}`, `{2,}` and `{2,4}`.
    fn counted(&mut self) -> Option<(usize, usize)> {
        const COUNT_MAX: usize = 255;
        let start = self.at;
        if !self.special('{') {
            return None;
        }
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_digit() || *c == ',') {
            text.push(c);
            self.at += 1;
        }
        let (least, most) = text.split_once(',').unwrap_or((&text, &text));
        let least = least.parse().unwrap_or(0usize);
        let most = if most.is_empty() { usize::MAX } else { most.parse().unwrap_or(usize::MAX) };
        if text.is_empty() || !self.special('}') || least > COUNT_MAX || least > most {
            self.at = start;
            return None;
        }
        Some((least, most))
    }
}

/// What `[:name:]` stands for.
pub fn class_ranges(name: &str) -> Option<Vec<(char, char)>> {
    Some(match name {
        "alpha" => vec![('a', 'z'), ('A', 'Z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![('\t', '\r'), (' ', ' ')],
        "blank" => vec![('\t', '\t'), (' ', ' ')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
        "print" => vec![(' ', '~')],
        "cntrl" => vec![('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        _ => return None,
    })
}

fn class(letter: char) -> Option<Atom> {
    let word = vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
    let space = vec![(' ', ' '), ('\t', '\t')];
    Some(match letter {
        'w' => Atom::Set { negated: false, ranges: word },
        'W' => Atom::Set { negated: true, ranges: word },
        's' => Atom::Set { negated: false, ranges: space },
        'S' => Atom::Set { negated: true, ranges: space },
        'd' => Atom::Set { negated: false, ranges: vec![('0', '9')] },
        _ => return None,
    })
}

#[derive(Default)]
struct Budget {
    steps: u32,
    depth: u32,
    groups: BTreeMap<usize, (usize, usize)>,
}

type Then<'a> = &'a mut dyn FnMut(usize, &mut Budget) -> bool;

/// Greedy backtracking: `then` is asked about every place where the items can end.
fn follow(items: &[Item], line: &[char], at: usize, steps: &mut Budget, then: Then<'_>) -> bool {
    steps.steps += 1;
    if steps.steps > STEPS_MAX || steps.depth > DEPTH_MAX {
        return false;
    }
    steps.depth += 1;
    let found = follow_one(items, line, at, steps, then);
    steps.depth -= 1;
    found
}

fn follow_one(items: &[Item], line: &[char], at: usize, steps: &mut Budget, then: Then<'_>) -> bool {
    let Some((item, rest)) = items.split_first() else { return then(at, steps) };
    match &item.atom {
        Atom::Group(_, alternatives) => {
            if item.least == 0 {
                // A group that may be absent, or repeat: one round at a time.
                if group_round(item, alternatives, rest, line, at, steps, then) {
                    return true;
                }
                return follow(rest, line, at, steps, then);
            }
            group_round(item, alternatives, rest, line, at, steps, then)
        }
        atom => {
            let mut ends = vec![at];
            let mut end = at;
            while ends.len() <= item.most {
                match one(atom, line, end) {
                    Some(next) => {
                        let stuck = next == end;
                        end = next;
                        ends.push(end);
                        if stuck {
                            break;
                        }
                    }
                    None => break,
                }
                if ends.len() > line.len() + 2 {
                    break;
                }
            }
            steps.steps = steps.steps.saturating_add(ends.len() as u32);
            while ends.len() > item.least {
                let Some(end) = ends.pop() else { break };
                if follow(rest, line, end, steps, then) {
                    return true;
                }
            }
            false
        }
    }
}

fn group_round(
    item: &Item,
    alternatives: &[Vec<Item>],
    rest: &[Item],
    line: &[char],
    at: usize,
    steps: &mut Budget,
    then: Then<'_>,
) -> bool {
    alternatives.iter().any(|items| {
        follow(items, line, at, steps, &mut |end, steps| {
            if let Atom::Group(number, _) = item.atom {
                steps.groups.insert(number, (at, end));
            }
            if item.most > 1 && end > at {
                let again = Item { atom: item.atom.clone(), least: 0, most: item.most };
                let more: Vec<Item> = std::iter::once(again).chain(rest.iter().cloned()).collect();
                return follow(&more, line, end, steps, then);
            }
            follow(rest, line, end, steps, then)
        })
    })
}

/// Where one atom ends when it begins at `at`.
fn one(atom: &Atom, line: &[char], at: usize) -> Option<usize> {
    let here = line.get(at).copied();
    let fits = match atom {
        Atom::Start => return (at == 0).then_some(at),
        Atom::End => return (at == line.len()).then_some(at),
        Atom::Any => here.is_some(),
        Atom::Char(c) => here == Some(*c),
        Atom::Set { negated, ranges } => {
            here.is_some_and(|c| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated)
        }
        Atom::Group(..) => false,
    };
    fits.then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::Expression;

    fn check(pattern: &str, line: &str) -> bool {
        Expression::parse(pattern, false, true, false).is_some_and(|e| e.is_in(line))
    }

    #[test]
    fn expressions_that_clients_send() {
        assert!(check("ResumedActivity|mFocusedApp", "  mFocusedApp=ActivityRecord{1}"));
        assert!(check("mCurrentFocus|mFocusedApp", "mCurrentFocus=Window{x}"));
        assert!(check("^package:com\\.(work|play)bench$", "package:com.workbench"));
        assert!(check("[0-9]+x[0-9]+", "Physical size: 1080x2400"));
        assert!(check("a(bc)*d", "abcbcd") && check("a(bc)?d", "ad") && check("x.*y", "x--y"));
        assert!(!check("^abc$", "abcd") && !check("a+", "bbb") && !check("[^a]", "aaa"));
    }

    #[test]
    fn a_hostile_expression_ends() {
        assert!(!check("(a*)*(a*)*(a*)*b", &"a".repeat(60)));
        assert!(Expression::parse(&"(".repeat(100), false, true, false).is_none());
        assert!(Expression::parse("[", false, true, false).is_none());
    }

    #[test]
    fn basic_dialect_takes_brackets_literally() {
        let basic = |p: &str, l: &str| Expression::parse(p, false, false, false).is_some_and(|e| e.is_in(l));
        assert!(basic("a|b", "xa|by") && basic("a\\|b", "b") && !basic("a|b", "a"));
    }
}
