//! Checks that no two public types or traits of the workspace have the same name.

use std::collections::BTreeMap;

use syn::{Ident, Item, Visibility};

use super::source::Crate;
use super::{Check, Finding};

pub fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for module in crates.iter().flat_map(|krate| &krate.modules) {
        for name in module.items.iter().filter_map(public_type) {
            files.entry(name.to_string()).or_default().push(&module.file);
        }
    }
    let duplicates = files.into_iter().filter(|(_, files)| files.len() > 1);
    duplicates
        .map(|(name, files)| Finding { check: Check::TypeName, location: name, detail: files.join(", ") })
        .collect()
}

fn public_type(item: &Item) -> Option<&Ident> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then_some(name)
}
