//! The inside of macro calls, which the parser leaves as tokens.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::Lit;

/// What a run of tokens holds.
pub enum Found {
    Text(String),
    Path(Vec<String>),
    Method(String),
    Macro(String),
    Attribute(String),
}

pub fn scan(tokens: TokenStream, tell: &mut impl FnMut(Found, Span)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) => scan(group.stream(), tell),
            TokenTree::Literal(literal) => {
                if let Some(text) = text(&Lit::new(literal.clone())) {
                    tell(Found::Text(text), literal.span());
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(name) = attribute(tokens.get(at)) {
                    tell(Found::Attribute(name), mark.span());
                }
            }
            TokenTree::Punct(_) => {}
            TokenTree::Ident(first) => {
                let is_member = at > 1 && is_punct(tokens.get(at - 2), '.') && !is_range(&tokens, at - 2);
                let mut path = vec![first.to_string()];
                while let Some(TokenTree::Ident(next)) = tokens
                    .get(at + 2)
                    .filter(|_| is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':'))
                {
                    path.push(next.to_string());
                    at += 3;
                }
                let is_call = matches!(tokens.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                if is_punct(tokens.get(at), '!') && !is_punct(tokens.get(at + 1), '=') {
                    tell(Found::Macro(path.last().cloned().unwrap_or_default()), first.span());
                }
                match (is_member, is_call) {
                    (true, true) => tell(Found::Method(first.to_string()), first.span()),
                    (true, false) => {}
                    (false, _) => tell(Found::Path(path), first.span()),
                }
            }
        }
    }
}

/// The text of a string literal of any kind.
pub fn text(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Str(text) => Some(text.value()),
        Lit::ByteStr(text) => Some(String::from_utf8_lossy(&text.value()).into_owned()),
        Lit::CStr(text) => Some(text.value().to_string_lossy().into_owned()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The dot at `dot` is the second of a range, not that of a member.
fn is_range(tokens: &[TokenTree], dot: usize) -> bool {
    dot.checked_sub(1).is_some_and(|before| is_punct(tokens.get(before), '.'))
}

fn attribute(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            match group.stream().into_iter().next() {
                Some(TokenTree::Ident(name)) => Some(name.to_string()),
                _ => None,
            }
        }
        _ => None,
    }
}
