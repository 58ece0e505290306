//! The kinds of files that people write, each with what it holds.

use crate::case::CASE;
use crate::config::CONFIG;
use crate::library::LIBRARY;
use crate::loops::LOOP;
use crate::rule::FRONTMATTER;
use crate::text::keys::{self, Mapping, Takes};
use crate::workflow::WORKFLOW;

pub struct Format {
    /// The schema's file is named so.
    pub name: &'static str,
    pub title: &'static str,
    /// Where such files are.
    pub files: &'static str,
    pub holds: Takes,
}

pub static FORMATS: [Format; 6] = [
    Format {
        name: "rule",
        title: "The fields of a Linchpin rule",
        files: ".linchpin/rules/*.md",
        holds: Takes::Mapping(&FRONTMATTER),
    },
    Format {
        name: "library",
        title: "A library of Linchpin rules",
        files: ".linchpin/rules/*.yml",
        holds: Takes::Mapping(&LIBRARY),
    },
    Format {
        name: "config",
        title: "Linchpin's configuration",
        files: ".linchpin/config.yml",
        holds: Takes::Mapping(&CONFIG),
    },
    Format {
        name: "workflow",
        title: "A Linchpin workflow",
        files: ".linchpin/workflows/*.yml",
        holds: Takes::Mapping(&WORKFLOW),
    },
    Format { name: "loop", title: "A Linchpin loop", files: ".linchpin/loop.yml", holds: Takes::Mapping(&LOOP) },
    Format {
        name: "cases",
        title: "Cases for Linchpin's policy",
        files: ".linchpin/tests/*.yml",
        holds: Takes::List(&Takes::Mapping(&CASE)),
    },
];

impl Format {
    /// Every mapping that it may hold, each once, the outer before the inner.
    pub fn mappings(&self) -> Vec<&'static Mapping> {
        let mut found = Vec::new();
        add_mappings(&self.holds, &mut found);
        found
    }
}

// No mapping holds itself, so this ends.
fn add_mappings(takes: &Takes, found: &mut Vec<&'static Mapping>) {
    match takes {
        Takes::Mapping(mapping) => {
            if !found.iter().any(|known| known.name == mapping.name) {
                found.push(mapping);
            }
            let inner = keys::each(mapping.keys).map(|key| &key.takes);
            inner.chain(mapping.others).for_each(|takes| add_mappings(takes, found));
        }
        Takes::Named(inner) | Takes::List(inner) => add_mappings(inner, found),
        Takes::Either(several) => several.iter().for_each(|takes| add_mappings(takes, found)),
        _ => {}
    }
}
