//! What a short path means: the imports in force, and the module that `self` and `super` start from.

use std::collections::BTreeMap;

use syn::{Item, ItemUse, UseTree};

/// Path segments. An import of everything ends with `*`.
pub type Segments = Vec<String>;

/// Each imported name of one block or module, and its full path.
pub type Scope = BTreeMap<String, Segments>;

/// Imports that a visitor has passed on its way in, the innermost last. A nested module sees those of the modules
/// around it too: nearly all of ours start with `use super::*`.
pub struct Imports {
    module: Segments,
    scopes: Vec<Scope>,
}

impl Imports {
    pub fn of(module: &[String]) -> Imports {
        Imports { module: module.to_vec(), scopes: Vec::new() }
    }

    pub fn enter<'a>(&mut self, items: impl Iterator<Item = &'a Item>) {
        let mut scope = Scope::new();
        for item in items {
            if let Item::Use(item) = item {
                for (name, path) in self.imported(item) {
                    scope.insert(name, path);
                }
            }
        }
        self.scopes.push(scope);
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    pub fn enter_module<'a>(&mut self, name: String, items: impl Iterator<Item = &'a Item>) {
        self.module.push(name);
        self.enter(items);
    }

    pub fn leave_module(&mut self) {
        self.leave();
        self.module.pop();
    }

    /// Name and full path of everything that one `use` brings in.
    pub fn imported(&self, item: &ItemUse) -> Vec<(String, Segments)> {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        found.into_iter().map(|(name, path)| (name, self.absolute(path))).collect()
    }

    /// The full path, as far as the imports tell it.
    pub fn full(&self, path: Segments) -> Segments {
        let Some(first) = path.first() else { return path };
        match self.scopes.iter().rev().find_map(|scope| scope.get(first)) {
            Some(imported) => imported.iter().chain(&path[1..]).cloned().collect(),
            None => self.absolute(path),
        }
    }

    /// Replaces `self` and `super` at the start.
    fn absolute(&self, path: Segments) -> Segments {
        let ups = path.iter().take_while(|part| *part == "super" || *part == "self").count();
        if ups == 0 || path == ["self"] {
            return path;
        }
        let supers = path[..ups].iter().filter(|part| *part == "super").count();
        let kept = self.module.len().saturating_sub(supers);
        let root = std::iter::once("crate".to_owned());
        root.chain(self.module[..kept].iter().cloned()).chain(path[ups..].iter().cloned()).collect()
    }
}

fn flatten(tree: &UseTree, prefix: &mut Segments, found: &mut Vec<(String, Segments)>) {
    let with = |prefix: &Segments, last: String| -> Segments {
        // `use a::{self}` brings in `a`.
        if last == "self" && !prefix.is_empty() {
            prefix.clone()
        } else {
            [prefix.as_slice(), &[last]].concat()
        }
    };
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) => {
            let path = with(prefix, name.ident.to_string());
            found.push((path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(name) => found.push((name.rename.to_string(), with(prefix, name.ident.to_string()))),
        UseTree::Glob(_) => found.push(("*".to_owned(), with(prefix, "*".to_owned()))),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, found)),
    }
}
