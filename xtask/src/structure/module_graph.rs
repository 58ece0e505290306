//! Finds which modules of a crate use which others, from the paths in the crate's code.
//!
//! An edge leads to the module that defines a name, not to a module that reexports it. Method calls are not recognized,
//! because no path in the code names the module that defines the method.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, Macro, Path, UseTree};

use super::source::{Crate, Module};
use super::{Check, Finding};

/// The maximum number of reexports to follow for one name.
const MAX_STEPS: usize = 16;

type ModulePath = Vec<String>;

/// Returns the modules that each module uses.
pub fn edges(krate: &Crate) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let scopes: BTreeMap<&[String], Scope> =
        krate.modules.iter().map(|module| (module.path.as_slice(), Scope::of(module))).collect();
    let graph = Graph { scopes };
    let of_module = |module: &Module| {
        let paths = Paths::of(module).paths;
        let used = paths.iter().filter_map(|path| graph.defining_module(&module.path, path, MAX_STEPS));
        (module.path.clone(), used.filter(|used| *used != module.path).collect())
    };
    krate.modules.iter().map(of_module).collect()
}

/// Finds paths with `super::super`.
pub fn super_super(krate: &Crate) -> Vec<Finding> {
    let has_super_super = |path: &ModulePath| path.windows(2).any(|pair| pair.iter().all(|part| part == "super"));
    let of_module = |module: &Module| {
        let count = Paths::of(module).paths.iter().filter(|path| has_super_super(path)).count();
        let detail = format!("climbs with super::super {count} times");
        (count > 0).then(|| Finding { check: Check::SuperSuper, location: module.file.clone(), detail })
    };
    krate.modules.iter().filter_map(of_module).collect()
}

/// The names in a module's scope.
struct Scope {
    defined: BTreeSet<String>,
    /// Imported names, each with the path of its `use`.
    imported: BTreeMap<String, ModulePath>,
    /// Modules that are imported with `*`.
    globs: Vec<ModulePath>,
}

impl Scope {
    fn of(module: &Module) -> Self {
        let mut scope = Self { defined: BTreeSet::new(), imported: BTreeMap::new(), globs: Vec::new() };
        for item in &module.items {
            match item {
                Item::Use(item) => scope.import(&item.tree, &[]),
                item => scope.defined.extend(defined_name(item)),
            }
        }
        scope
    }

    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        for (name, path) in imports(tree, prefix) {
            match name {
                Some(name) => {
                    self.imported.insert(name, path);
                }
                None => self.globs.push(path),
            }
        }
    }
}

fn defined_name(item: &Item) -> Option<String> {
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
fn imports(tree: &UseTree, prefix: &[String]) -> Vec<(Option<String>, ModulePath)> {
    let with = |name: &dyn ToString| [prefix, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => imports(&path.tree, &with(&path.ident)),
        UseTree::Name(name) if name.ident == "self" => vec![(prefix.last().cloned(), prefix.to_vec())],
        UseTree::Name(name) => vec![(Some(name.ident.to_string()), with(&name.ident))],
        UseTree::Rename(rename) => vec![(Some(rename.rename.to_string()), with(&rename.ident))],
        UseTree::Glob(_) => vec![(None, prefix.to_vec())],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| imports(tree, prefix)).collect(),
    }
}

struct Graph<'a> {
    scopes: BTreeMap<&'a [String], Scope>,
}

impl Graph<'_> {
    /// Returns the module that defines the item at `path`, as seen from `module`. `None` if the item is not in this
    /// crate, if the path names only a module, or if more than `steps` reexports would have to be followed.
    fn defining_module(&self, module: &[String], path: &[String], steps: usize) -> Option<ModulePath> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.defining_module_below(&[], rest, steps),
            "self" => self.defining_module_below(module, rest, steps),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first().map(String::as_str) {
                    Some("super") => self.defining_module(parent, rest, steps),
                    _ => self.defining_module_below(parent, rest, steps),
                }
            }
            _ => self.defining_module_below(module, path, steps),
        }
    }

    /// Like [`Self::defining_module`], for a path that does not begin with `crate`, `self` or `super`.
    fn defining_module_below(&self, module: &[String], path: &[String], steps: usize) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let child = [module, std::slice::from_ref(first)].concat();
        if self.scopes.contains_key(child.as_slice()) {
            return self.defining_module_below(&child, rest, steps.checked_sub(1)?);
        }
        let scope = self.scopes.get(module)?;
        if scope.defined.contains(first) {
            return Some(module.to_vec());
        }
        if let Some(import) = scope.imported.get(first) {
            let full_path = [import.as_slice(), rest].concat();
            return self.defining_module(module, &full_path, steps);
        }
        scope.globs.iter().find_map(|glob| self.defining_module(module, &[glob.as_slice(), path].concat(), steps))
    }
}

/// The paths in a module: in its code, in its imports except reexports, and in the arguments of its macros.
#[derive(Default)]
struct Paths {
    paths: Vec<ModulePath>,
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
    fn collect_from_tokens(&mut self, tokens: TokenStream) {
        let mut path: ModulePath = Vec::new();
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
                    self.collect_from_tokens(group.stream());
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

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.collect_from_tokens(mac.tokens.clone());
        visit::visit_macro(self, mac);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // A reexport is skipped, because the module itself does not use the name.
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.paths.extend(imports(&item.tree, &[]).into_iter().map(|(_, path)| path));
        }
    }
}
