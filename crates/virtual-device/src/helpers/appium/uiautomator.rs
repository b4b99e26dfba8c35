//! Parses the Java expressions `new UiSelector().text("x")…` and `new UiScrollable(…).scrollIntoView(…)`.

use crate::helpers::selector::{CHAIN_MAX, Relation, Selector, SelectorStep, Test};

pub enum Query {
    Select(Selector),
    ScrollIntoView { list: Selector, target: Selector },
}

/// Parses an expression; anything else gives nothing.
pub fn parse(text: &str) -> Option<Query> {
    let mut reader = Reader { rest: text.trim().trim_end_matches(';') };
    let query = if reader.starts("new UiScrollable(") {
        reader.expect("new UiScrollable(")?;
        let list = reader.selector(0)?;
        reader.expect(")")?;
        while reader.expect(".setMaxSearchSwipes(").or_else(|| reader.expect(".setAsVerticalList(")).is_some()
        {
            reader.until(')')?;
        }
        let target = if reader.expect(".scrollIntoView(").is_some() {
            reader.selector(0)?
        } else {
            reader.expect(".scrollTextIntoView(")?;
            let test = Test::text("text", &reader.string()?)?;
            Selector { first: SelectorStep { tests: vec![test], instance: None }, then: Vec::new() }
        };
        reader.expect(")")?;
        Query::ScrollIntoView { list, target }
    } else {
        Query::Select(reader.selector(0)?)
    };
    reader.rest.is_empty().then_some(query)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn starts(&self, words: &str) -> bool {
        self.rest.starts_with(words)
    }

    fn expect(&mut self, words: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(words)?.trim_start();
        Some(())
    }

    fn until(&mut self, end: char) -> Option<&'a str> {
        let (before, after) = self.rest.split_once(end)?;
        self.rest = after.trim_start();
        Some(before)
    }

    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.strip_prefix('"')?.char_indices();
        let mut out = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 2..)?.trim_start();
                    return Some(out);
                }
                '\\' => out.push(chars.next()?.1),
                c => out.push(c),
            }
        }
        None
    }

    fn selector(&mut self, depth: usize) -> Option<Selector> {
        if depth >= CHAIN_MAX {
            return None;
        }
        self.expect("new UiSelector()")?;
        let mut selector = Selector::default();
        while self.expect(".").is_some() {
            let name = self.until('(')?.trim();
            match name {
                "childSelector" | "fromParent" => {
                    let inner = self.selector(depth + 1)?;
                    let how = if name == "fromParent" { Relation::Sibling } else { Relation::Child };
                    selector.then.push((how, inner.first));
                    selector.then.extend(inner.then);
                }
                "instance" => {
                    selector.first.instance = Some(self.rest.split(')').next()?.trim().parse().ok()?)
                }
                "index" => {
                    let index = self.rest.split(')').next()?.trim().parse().ok()?;
                    selector.first.tests.push(Test::Index(index));
                }
                name if self.starts("\"") => {
                    let value = self.string()?;
                    selector.first.tests.push(Test::text(name, &value)?);
                }
                name => {
                    let value = self.rest.split(')').next()?.trim().parse().ok()?;
                    selector.first.tests.push(Test::flag(name, value)?);
                }
            }
            self.until(')')?;
        }
        Some(selector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_as_java() {
        let text = r#"new UiSelector().className("a.B").childSelector(new UiSelector().text("say \"hi\" (x)").instance(1))"#;
        let Some(Query::Select(selector)) = parse(text) else { panic!("{text}") };
        let shown = |test: &dyn std::fmt::Debug| format!("{test:?}");
        assert_eq!(shown(&selector.first.tests), shown(&[Test::text("className", "a.B").unwrap()]));
        let (relation, step) = &selector.then[0];
        assert_eq!((*relation, step.instance), (Relation::Child, Some(1)));
        assert_eq!(shown(&step.tests), shown(&[Test::text("text", "say \"hi\" (x)").unwrap()]));
    }

    #[test]
    fn scrollables_are_read_too_and_anything_else_is_not() {
        let scroll = r#"new UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().text("x"));"#;
        assert!(matches!(parse(scroll), Some(Query::ScrollIntoView { .. })));
        for junk in [
            "",
            "new",
            "new UiSelector",
            "new UiSelector().",
            "new UiSelector().text(",
            "new UiSelector().text(\"",
            "new UiSelector().nothing(\"x\")",
            "new UiSelector().text(\"x\") y",
        ] {
            assert!(parse(junk).is_none(), "{junk}");
        }
        let deep = "new UiSelector().childSelector(".repeat(5000);
        assert!(parse(&deep).is_none());
    }
}
