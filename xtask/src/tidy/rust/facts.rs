//! Walks a parsed file and notes what the rules ask for.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Fields, ImplItem, Item, Meta, Stmt, TraitItem};

use super::imports::Imports;
use super::macros::{Found, scan, text};

pub struct Fact {
    pub line: usize,
    /// True under `#[cfg(test)]` and `#[test]`.
    pub is_test: bool,
    /// True where the compiler comes only on Unix, or on one system of its kind.
    pub is_unix: bool,
    pub kind: Kind,
}

#[derive(Debug, PartialEq)]
pub enum Kind {
    /// A string literal's content.
    Text(String),
    /// A doc comment's line.
    Doc(String),
    /// A path with its imports put in: `sleep` after `use tokio::time::sleep` is `tokio::time::sleep`.
    Path(Vec<String>),
    /// What one `use` names; the last segment is `*` for everything.
    Import(Vec<String>),
    /// A method call's name.
    Method(String),
    /// A called macro's name.
    Macro(String),
    Attribute(String),
    /// A struct or an enum, with the names of all its fields.
    Type {
        name: String,
        fields: Vec<String>,
    },
    /// `mod name;`: a module in a file of its own.
    Module(String),
}

/// The file's facts, and whether all of it is for tests.
pub fn facts(module: &[String], source: &str) -> Result<(Vec<Fact>, bool), String> {
    let file =
        syn::parse_file(source).map_err(|e| format!("{}: does not parse: {e}", e.span().start().line))?;
    let mut walk = Walk { imports: Imports::of(module), facts: Vec::new(), test_depth: 0, unix_depth: 0 };
    walk.imports.enter(file.items.iter());
    walk.visit_file(&file);
    Ok((walk.facts, is_for_tests(&file.attrs)))
}

struct Walk {
    imports: Imports,
    facts: Vec<Fact>,
    /// How many of the items around this place are for tests only.
    test_depth: usize,
    /// How many of the items, statements and blocks around it are for Unix only.
    unix_depth: usize,
}

impl Walk {
    fn note(&mut self, span: Span, kind: Kind) {
        let (is_test, is_unix) = (self.test_depth > 0, self.unix_depth > 0);
        self.facts.push(Fact { line: span.start().line, is_test, is_unix, kind });
    }

    fn note_path(&mut self, span: Span, path: Vec<String>) {
        let full = self.imports.full(path);
        // A name alone is a local or an item of this very module.
        if full.len() > 1 {
            self.note(span, Kind::Path(full));
        }
    }

    fn note_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut found = Vec::new();
        scan(tokens, &mut |what, span| found.push((what, span)));
        for (what, span) in found {
            match what {
                Found::Text(text) => self.note(span, Kind::Text(text)),
                Found::Path(path) => self.note_path(span, path),
                Found::Method(name) => self.note(span, Kind::Method(name)),
                Found::Macro(name) => self.note(span, Kind::Macro(name)),
                Found::Attribute(name) => self.note(span, Kind::Attribute(name)),
            }
        }
    }

    fn gated(&mut self, attributes: &[Attribute], walk: impl FnOnce(&mut Self)) {
        let (is_test, is_unix) = (is_for_tests(attributes), is_for_unix(attributes));
        self.test_depth += usize::from(is_test);
        self.unix_depth += usize::from(is_unix);
        walk(self);
        self.test_depth -= usize::from(is_test);
        self.unix_depth -= usize::from(is_unix);
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_item(&mut self, item: &'ast Item) {
        self.gated(attributes_of(item), |walk| visit::visit_item(walk, item));
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &Vec::new(),
        };
        self.gated(attributes, |walk| visit::visit_impl_item(walk, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => &Vec::new(),
        };
        self.gated(attributes, |walk| visit::visit_trait_item(walk, item));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.gated(&field.attrs, |walk| visit::visit_field(walk, field));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.gated(&variant.attrs, |walk| visit::visit_variant(walk, variant));
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => local.attrs.as_slice(),
            Stmt::Macro(call) => call.attrs.as_slice(),
            Stmt::Expr(expression, _) => attributes_of_expression(expression),
            Stmt::Item(_) => &[],
        };
        self.gated(attributes, |walk| visit::visit_stmt(walk, statement));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.gated(&arm.attrs, |walk| visit::visit_arm(walk, arm));
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        match &item.content {
            Some((_, items)) => {
                self.imports.enter_module(item.ident.to_string(), items.iter());
                visit::visit_item_mod(self, item);
                self.imports.leave_module();
            }
            None => {
                self.note(item.ident.span(), Kind::Module(item.ident.to_string()));
                visit::visit_item_mod(self, item);
            }
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.imports.enter(block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        }));
        visit::visit_block(self, block);
        self.imports.leave();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (_, path) in self.imports.imported(item) {
            self.note(item.use_token.span, Kind::Import(path));
        }
        visit::visit_item_use(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let fields = names(&item.fields);
        self.note(item.ident.span(), Kind::Type { name: item.ident.to_string(), fields });
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let fields = item.variants.iter().flat_map(|variant| names(&variant.fields)).collect();
        self.note(item.ident.span(), Kind::Type { name: item.ident.to_string(), fields });
        visit::visit_item_enum(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note_path(first.ident.span(), segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.note(call.method.span(), Kind::Method(call.method.to_string()));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_lit(&mut self, literal: &'ast syn::Lit) {
        if let Some(text) = text(literal) {
            self.note(literal.span(), Kind::Text(text));
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(last) = call.path.segments.last() {
            self.note(last.ident.span(), Kind::Macro(last.ident.to_string()));
        }
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Some(name) = attribute.path().segments.last().map(|last| last.ident.to_string()) else { return };
        let span = attribute.pound_token.span;
        match &attribute.meta {
            Meta::NameValue(pair) if name == "doc" => match &pair.value {
                Expr::Lit(literal) => {
                    if let Some(line) = text(&literal.lit) {
                        self.note(span, Kind::Doc(line));
                    }
                }
                other => self.visit_expr(other),
            },
            Meta::NameValue(pair) => self.visit_expr(&pair.value),
            Meta::List(list) => self.note_tokens(list.tokens.clone()),
            Meta::Path(_) => {}
        }
        self.note(span, Kind::Attribute(name));
    }
}

fn names(fields: &Fields) -> Vec<String> {
    fields.iter().filter_map(|field| field.ident.as_ref().map(ToString::to_string)).collect()
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = attribute.path().segments.last().is_some_and(|last| last.ident == "test");
        is_test
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta)))
    })
}

fn is_for_unix(attributes: &[Attribute]) -> bool {
    let mut conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.any(|attribute| attribute.parse_args::<Meta>().is_ok_and(|meta| needs(&meta, names_unix)))
}

fn needs_test(condition: &Meta) -> bool {
    needs(condition, |part| matches!(part, Meta::Path(path) if path.is_ident("test")))
}

/// `unix`, or one system of that kind.
fn names_unix(part: &Meta) -> bool {
    match part {
        Meta::Path(path) => path.is_ident("unix"),
        Meta::NameValue(pair) if pair.path.is_ident("target_os") => match &pair.value {
            Expr::Lit(literal) => {
                text(&literal.lit).is_some_and(|os| matches!(os.as_str(), "linux" | "macos"))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The part itself, or `all(…)` with it. `any(test, …)` also holds for the product.
fn needs(condition: &Meta, wanted: fn(&Meta) -> bool) -> bool {
    match condition {
        Meta::List(list) if list.path.is_ident("all") => {
            let parts =
                list.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated);
            parts.is_ok_and(|parts| parts.iter().any(|part| needs(part, wanted)))
        }
        part => wanted(part),
    }
}

/// Of those that conditions stand before.
fn attributes_of_expression(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(expression) => &expression.attrs,
        Expr::Block(expression) => &expression.attrs,
        Expr::Call(expression) => &expression.attrs,
        Expr::If(expression) => &expression.attrs,
        Expr::Macro(expression) => &expression.attrs,
        Expr::MethodCall(expression) => &expression.attrs,
        Expr::Return(expression) => &expression.attrs,
        _ => &[],
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is noted about a file of the module `a::b`, with each kind's content in one word.
    fn noted(source: &str) -> Vec<String> {
        let (facts, _) = facts(&["a".to_owned(), "b".to_owned()], source).unwrap();
        facts
            .into_iter()
            .map(|fact| match fact.kind {
                Kind::Text(text) => format!("{}:\"{text}\"", fact.line),
                Kind::Doc(text) => format!("{}:///{text}", fact.line),
                Kind::Path(path) => format!("{}:{}", fact.line, path.join("::")),
                Kind::Import(path) => format!("{}:use {}", fact.line, path.join("::")),
                Kind::Method(name) => format!("{}:.{name}", fact.line),
                Kind::Macro(name) => format!("{}:{name}!", fact.line),
                Kind::Attribute(name) => format!("{}:#{name}", fact.line),
                Kind::Type { name, fields } => format!("{}:{name}{fields:?}", fact.line),
                Kind::Module(name) => format!("{}:mod {name}", fact.line),
            })
            .collect()
    }

    #[test]
    fn a_short_path_is_told_with_its_import() {
        assert_eq!(
            noted("use tokio::time::{self, sleep as nap};\nfn f() { nap(a); time::timeout(b); other(); }"),
            [
                "1:use tokio::time",
                "1:use tokio::time::sleep",
                "2:tokio::time::sleep",
                "2:tokio::time::timeout"
            ]
        );
    }

    #[test]
    fn an_import_holds_only_in_its_block() {
        let found = noted("fn f() { use a::x; x(); }\nfn g() { x(); }");
        assert_eq!(found, ["1:use a::x", "1:a::x"]);
    }

    #[test]
    fn self_and_super_are_told_from_the_root() {
        let found =
            noted("use super::c::D;\nuse self::e::*;\nfn f() { super::super::g::h(); crate::i::j(); }");
        assert_eq!(
            found,
            ["1:use crate::a::c::D", "2:use crate::a::b::e::*", "3:crate::g::h", "3:crate::i::j"]
        );
        let nested = noted("mod m { use super::n::O; }");
        assert_eq!(nested, ["1:use crate::a::b::n::O"]);
    }

    #[test]
    fn macros_are_looked_into() {
        let found = noted(
            "use tokio::time;\nfn f() {\n  select! { () = time::sleep(d) => say(format!(\"{} left\", t.elapsed())), }\n  \
             assert!(a != 0..b.c);\n}",
        );
        assert_eq!(
            found,
            [
                "1:use tokio::time",
                "3:select!",
                "3:tokio::time::sleep",
                "3:format!",
                "3:\"{} left\"",
                "3:.elapsed",
                "4:assert!"
            ]
        );
    }

    #[test]
    fn docs_attributes_and_types_are_told() {
        let found = noted(
            "/// The one.\n#[serde(rename = \"b\")]\nstruct A { /// Text.\n b: String }\nenum C { D { e: u8 }, F(u8) }",
        );
        assert_eq!(
            found,
            [
                "3:A[\"b\"]",
                "1:/// The one.",
                "1:#doc",
                "2:\"b\"",
                "2:#serde",
                "3:/// Text.",
                "3:#doc",
                "5:C[\"e\"]"
            ]
        );
    }
}
