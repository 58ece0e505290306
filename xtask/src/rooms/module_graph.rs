//! Finds which module of a crate uses which other one, from the paths in its code.
//!
//! An edge leads to the module that defines a name, not to a module that reexports it. Method calls are not recognized,
//! because no path names the method's module.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, Macro, Path, UseTree};

use super::source::{Crate, Module};
use super::{Check, Finding};

/// The maximum number of reexports to follow for one name.
const MAX_STEPS: usize = 16;

type Name = Vec<String>;

/// Returns the modules that each module uses.
pub fn edges(one: &Crate) -> BTreeMap<Name, BTreeSet<Name>> {
    let scopes: BTreeMap<&[String], Scope> =
        one.modules.iter().map(|module| (module.path.as_slice(), Scope::of(module))).collect();
    let graph = Graph { scopes };
    let of_module = |module: &Module| {
        let paths = Paths::of(module).paths;
        let used = paths.iter().filter_map(|path| graph.definer(&module.path, path, MAX_STEPS));
        (module.path.clone(), used.filter(|used| *used != module.path).collect())
    };
    one.modules.iter().map(of_module).collect()
}

/// Finds paths with `super::super`.
pub fn super_super(one: &Crate) -> Vec<Finding> {
    let climbs = |path: &Name| path.windows(2).any(|pair| pair.iter().all(|part| part == "super"));
    let of_module = |module: &Module| {
        let count = Paths::of(module).paths.iter().filter(|path| climbs(path)).count();
        let detail = format!("climbs with super::super {count} times");
        (count > 0).then(|| Finding { check: Check::SuperSuper, place: module.file.clone(), detail })
    };
    one.modules.iter().filter_map(of_module).collect()
}

/// The names in a module's scope.
struct Scope {
    defined: BTreeSet<String>,
    /// Imported names, each with the path of its `use`.
    imported: BTreeMap<String, Name>,
    /// Modules that are imported with `*`.
    globs: Vec<Name>,
}

impl Scope {
    fn of(module: &Module) -> Self {
        let mut scope = Self { defined: BTreeSet::new(), imported: BTreeMap::new(), globs: Vec::new() };
        for item in &module.items {
            match item {
                Item::Use(item) => scope.import(&item.tree, &[]),
                item => scope.defined.extend(defined(item)),
            }
        }
        scope
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        for (name, path) in leaves(tree, before) {
            match name {
                Some(name) => {
                    self.imported.insert(name, path);
                }
                None => self.globs.push(path),
            }
        }
    }
}

fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}

/// Returns the names that a `use` imports, each with its path. A glob import has no name.
fn leaves(tree: &UseTree, before: &[String]) -> Vec<(Option<String>, Name)> {
    let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident)),
        UseTree::Name(name) if name.ident == "self" => vec![(before.last().cloned(), before.to_vec())],
        UseTree::Name(name) => vec![(Some(name.ident.to_string()), with(&name.ident))],
        UseTree::Rename(rename) => vec![(Some(rename.rename.to_string()), with(&rename.ident))],
        UseTree::Glob(_) => vec![(None, before.to_vec())],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| leaves(tree, before)).collect(),
    }
}

struct Graph<'a> {
    scopes: BTreeMap<&'a [String], Scope>,
}

impl Graph<'_> {
    /// Returns the module that defines the item at `path`, as seen from `module`. None if the item is not in this
    /// crate, or if the path names only a module.
    fn definer(&self, module: &[String], path: &[String], steps: usize) -> Option<Name> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.within(&[], rest, steps),
            "self" => self.within(module, rest, steps),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.definer(parent, rest, steps),
                    _ => self.within(parent, rest, steps),
                }
            }
            _ => self.within(module, path, steps),
        }
    }

    /// Like [`Self::definer`], for a path that is relative to `module`.
    fn within(&self, module: &[String], path: &[String], steps: usize) -> Option<Name> {
        let (first, rest) = path.split_first()?;
        let child = [module, std::slice::from_ref(first)].concat();
        if self.scopes.contains_key(child.as_slice()) {
            return self.within(&child, rest, steps.checked_sub(1)?);
        }
        let scope = self.scopes.get(module)?;
        if scope.defined.contains(first) {
            return Some(module.to_vec());
        }
        if let Some(import) = scope.imported.get(first) {
            let whole = [import.as_slice(), rest].concat();
            return self.definer(module, &whole, steps);
        }
        scope.globs.iter().find_map(|glob| self.definer(module, &[glob.as_slice(), path].concat(), steps))
    }
}

/// Every path in a module: in its code, its imports and the arguments of its macros.
#[derive(Default)]
struct Paths {
    paths: Vec<Name>,
}

impl Paths {
    fn of(module: &Module) -> Self {
        let mut paths = Self::default();
        for item in &module.items {
            paths.visit_item(item);
        }
        paths
    }

    /// Collects paths such as `a::b::c` from tokens.
    fn in_tokens(&mut self, tokens: TokenStream) {
        let mut path: Name = Vec::new();
        let mut is_joined = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if !is_joined {
                        self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    }
                    path.push(ident.to_string());
                    is_joined = false;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => is_joined = true,
                TokenTree::Group(group) => {
                    self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    self.in_tokens(group.stream());
                }
                _ => self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path))),
            }
        }
        self.paths.extend((!path.is_empty()).then_some(path));
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, one: &'ast Macro) {
        self.in_tokens(one.tokens.clone());
        visit::visit_macro(self, one);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // A reexport does not use the name.
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.paths.extend(leaves(&item.tree, &[]).into_iter().map(|(_, path)| path));
        }
    }
}
