//! The file formats of a policy, with their key tables.

use crate::case::CASE;
use crate::config::CONFIG;
use crate::library::LIBRARY;
use crate::loops::LOOP;
use crate::rule::FRONTMATTER;
use crate::text::keys::{self, Mapping, ValueType};
use crate::workflow::WORKFLOW;

pub struct FileFormat {
    /// The name of the schema's file.
    pub name: &'static str,
    pub title: &'static str,
    /// A glob for files of this format.
    pub files: &'static str,
    pub value_type: ValueType,
}

pub static FORMATS: [FileFormat; 6] = [
    FileFormat {
        name: "rule",
        title: "The fields of a Linchpin rule",
        files: ".linchpin/rules/*.md",
        value_type: ValueType::Mapping(&FRONTMATTER),
    },
    FileFormat {
        name: "library",
        title: "A library of Linchpin rules",
        files: ".linchpin/rules/*.yml",
        value_type: ValueType::Mapping(&LIBRARY),
    },
    FileFormat {
        name: "config",
        title: "Linchpin's configuration",
        files: ".linchpin/config.yml",
        value_type: ValueType::Mapping(&CONFIG),
    },
    FileFormat {
        name: "workflow",
        title: "A Linchpin workflow",
        files: ".linchpin/workflows/*.yml",
        value_type: ValueType::Mapping(&WORKFLOW),
    },
    FileFormat {
        name: "loop",
        title: "A Linchpin loop",
        files: ".linchpin/loop.yml",
        value_type: ValueType::Mapping(&LOOP),
    },
    FileFormat {
        name: "cases",
        title: "Test cases for Linchpin's policy",
        files: ".linchpin/tests/*.yml",
        value_type: ValueType::List(&ValueType::Mapping(&CASE)),
    },
];

impl FileFormat {
    /// All mappings in the format without duplicates, outer ones before inner ones.
    pub fn mappings(&self) -> Vec<&'static Mapping> {
        let mut mappings = Vec::new();
        add_mappings(&self.value_type, &mut mappings);
        mappings
    }
}

// No mapping contains itself, so the recursion ends.
fn add_mappings(value_type: &ValueType, mappings: &mut Vec<&'static Mapping>) {
    match value_type {
        ValueType::Mapping(mapping) => {
            if !mappings.iter().any(|known| known.name == mapping.name) {
                mappings.push(mapping);
            }
            let inner = keys::all_keys(mapping.keys).map(|key| &key.value_type);
            inner.chain(mapping.other_keys).for_each(|value_type| add_mappings(value_type, mappings));
        }
        ValueType::Named(inner) | ValueType::List(inner) => add_mappings(inner, mappings),
        ValueType::Either(several) => several.iter().for_each(|value_type| add_mappings(value_type, mappings)),
        _ => {}
    }
}
