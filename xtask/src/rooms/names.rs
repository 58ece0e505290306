//! Checks that no two public types of the workspace have the same name.

use std::collections::BTreeMap;

use syn::{Ident, Item, Visibility};

use super::source::Crate;
use super::{Check, Finding};

pub fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for module in crates.iter().flat_map(|one| &one.modules) {
        for name in module.items.iter().filter_map(public_type) {
            places.entry(name.to_string()).or_default().push(&module.file);
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    twice.map(|(name, places)| Finding { check: Check::TypeName, place: name, detail: places.join(", ") }).collect()
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
