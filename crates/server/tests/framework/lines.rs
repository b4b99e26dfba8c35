//! Reads the lines that an agent reads, without any of the product's own code.

/// Words in quotes. A long text has lost its middle: `"begin"…+312…"end"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub head: String,
    /// The end behind the cut, and the number of characters between.
    pub cut: Option<(usize, String)>,
}

impl Said {
    /// True if these are the words, all of them or with the middle left out.
    pub fn is(&self, words: &str) -> bool {
        match &self.cut {
            None => self.head == words,
            Some((left_out, tail)) => {
                words.starts_with(&self.head)
                    && words.ends_with(tail.as_str())
                    && words.chars().count() == self.head.chars().count() + left_out + tail.chars().count()
            }
        }
    }
}

/// What is said of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    Length(usize),
    LengthUnknown,
}

/// One line of a tree: what is said of one element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// `e12`
    pub element: String,
    pub role: String,
    pub words: Vec<Said>,
    /// Of `words`: the first one, if it stands right after the role.
    pub has_label: bool,
    /// Of `words`: those behind "=", the content of the element.
    pub value: Option<Said>,
    /// Of `words`: those behind "shows", the content of a field or its hint.
    pub shows: Option<Said>,
    pub hidden: Option<Hidden>,
    /// Words without quotes behind the role: states, numbers, counts.
    pub plain: Vec<String>,
    pub resource: Option<String>,
    pub point: Option<(i32, i32)>,
}

impl Line {
    pub fn says(&self, word: &str) -> bool {
        self.plain.iter().any(|plain| plain == word)
    }

    /// Returns the state of something that is checked or switched.
    pub fn checked(&self) -> Option<bool> {
        if self.says("checked") || self.says("on") {
            return Some(true);
        }
        (self.says("unchecked") || self.says("off")).then_some(false)
    }

    pub fn label(&self) -> Option<&Said> {
        self.words.first().filter(|_| self.has_label)
    }

    /// Returns the number that is said as the element's value, as it is written.
    pub fn number(&self) -> Option<&str> {
        // "4 shown" and "3 more below" count rows.
        let counts = |at: usize| {
            self.plain.get(at + 1).is_some_and(|next| next.starts_with("shown") || next == "more")
        };
        let mut numbers =
            self.plain.iter().enumerate().filter(|(at, word)| {
                word.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !counts(*at)
            });
        numbers.next().map(|(_, word)| word.as_str())
    }
}

/// Reads the lines below the head of a tree.
pub fn read(tree: &str) -> Vec<Line> {
    tree.lines().skip(1).filter_map(line).collect()
}

/// Reads one line, `e12 switch "Wi-Fi" on @540,300`. `None` if it does not begin with an element.
pub fn line(text: &str) -> Option<Line> {
    let tokens = tokens(text.trim_start());
    let mut tokens = tokens.iter().peekable();
    let Some(Token::Plain(element)) = tokens.next() else { return None };
    let is_element =
        element.strip_prefix('e').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let Some(Token::Plain(role)) = tokens.next().filter(|_| is_element) else { return None };
    let mut line = Line {
        text: text.trim().to_owned(),
        element: element.clone(),
        role: role.clone(),
        ..Line::default()
    };
    line.has_label = matches!(tokens.peek(), Some(Token::Quoted(_)));
    let mut before = "";
    for token in tokens {
        match token {
            Token::Quoted(said) => {
                match before {
                    "=" => line.value = Some(said.clone()),
                    "shows" => line.shows = Some(said.clone()),
                    _ => {}
                }
                line.words.push(said.clone());
                before = "";
            }
            Token::Plain(word) if before == "(hidden," => {
                let length = word.trim_end_matches(')').parse();
                line.hidden = Some(length.map_or(Hidden::LengthUnknown, Hidden::Length));
                before = "";
            }
            Token::Plain(word) => {
                match (word.strip_prefix('#'), word.strip_prefix('@').and_then(point)) {
                    (Some(name), _) => line.resource = Some(name.to_owned()),
                    (None, Some(point)) => line.point = Some(point),
                    (None, None) => line.plain.push(word.trim_end_matches(',').to_owned()),
                }
                before = word;
            }
        }
    }
    Some(line)
}

fn point(text: &str) -> Option<(i32, i32)> {
    let (x, y) = text.split_once(',')?;
    Some((x.parse().ok()?, y.trim_end_matches(',').parse().ok()?))
}

enum Token {
    Plain(String),
    Quoted(Said),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('"') {
            let (head, after) = quoted(after);
            let mut said = Said { head, cut: None };
            rest = after;
            if let Some((count, after)) = rest.strip_prefix("…+").and_then(|after| after.split_once("…\""))
            {
                let (tail, after) = quoted(after);
                said.cut = Some((count.parse().unwrap_or(0), tail));
                rest = after;
            }
            out.push(Token::Quoted(said));
        } else {
            let end = rest.find([' ', '"']).unwrap_or(rest.len());
            // A name in quotes behind `#` is one word.
            if end > 0 {
                out.push(Token::Plain(rest[..end].to_owned()));
            }
            rest = if rest[end..].starts_with(' ') { &rest[end + 1..] } else { &rest[end..] };
        }
    }
    out
}

/// Reads up to the closing quote, undoing the escapes of JSON. Returns what follows, too.
fn quoted(text: &str) -> (String, &str) {
    let (mut out, mut units) = (String::new(), Vec::new());
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let plain = match c {
            '"' => {
                flush(&mut units, &mut out);
                return (out, &text[at + 1..]);
            }
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
                    continue;
                }
                Some(other) => other,
                None => break,
            },
            other => other,
        };
        flush(&mut units, &mut out);
        out.push(plain);
    }
    flush(&mut units, &mut out);
    (out, "")
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.push_str(&String::from_utf16_lossy(units));
    units.clear();
}

#[test]
fn a_line_is_read_as_an_agent_reads_it() {
    let line =
        line(r#"    e12 switch "Wi-Fi \"home\", 2" off = "a"…+3…"b" #wifi disabled @540,300"#).unwrap();
    assert_eq!((line.element.as_str(), line.role.as_str(), line.point), ("e12", "switch", Some((540, 300))));
    assert_eq!(
        (line.checked(), line.says("disabled"), line.resource.as_deref()),
        (Some(false), true, Some("wifi"))
    );
    assert!(line.words[0].is("Wi-Fi \"home\", 2") && line.words[1].is("axyzb") && !line.words[1].is("ab"));
    assert_eq!(self::line(r#"e3 list scrollable, 4 shown, 3 more below"#).unwrap().number(), None);
    assert_eq!(self::line(r#"e3 slider "Volume" 38 @1,2"#).unwrap().number(), Some("38"));
    let content = self::line(r#"e4 field "Name" = "Ada" #name"#).unwrap();
    assert!(content.value.is_some_and(|value| value.is("Ada")) && content.shows.is_none());
    assert!(self::line(r#"e4 field shows "Ada""#).unwrap().shows.is_some_and(|shown| shown.is("Ada")));
    let secret = self::line("e5 field = (hidden, 13) #pin").unwrap();
    assert_eq!((secret.hidden, secret.number()), (Some(Hidden::Length(13)), None));
    let secret = self::line("e5 field = (hidden, or empty)").unwrap();
    assert_eq!(secret.hidden, Some(Hidden::LengthUnknown));
    assert_eq!(self::line("device said nothing"), None);
}
