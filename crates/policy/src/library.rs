//! Rules by name in one mapping: a rule library, or the `rule_definitions` of another file.

use std::ops::Range;

use engine::rules::Tier;

use crate::definition::{Definition, Form};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::{Fields, Text};
use crate::keys::{Key, Mapping, Takes};
use crate::rule::{ENTRY, RuleReader};
use crate::rule_id;
use crate::source::Source;
use crate::yaml::{self, Node, Yaml};

/// The key of a library that is no rule.
const IMPORTS: &str = "imports";

pub static LIBRARY: Mapping = Mapping::new("library", "Rules by name, in force where something names them.", &[KEYS])
    .others(&Takes::Mapping(&ENTRY));
static KEYS: &[Key] =
    &[Key::new(IMPORTS, Takes::Texts, "names of other libraries, whose rules can then be named with this one's")
        .or("[]")];

/// A rule library, by the name that `imports` knows it under.
#[derive(Debug, Clone)]
pub struct Library {
    pub name: String,
    pub owner: Tier,
    pub source: Source,
    pub imports: Vec<Text>,
}

/// What a mapping of rules gave.
#[derive(Debug, Default)]
pub struct Entries {
    pub definitions: Vec<Definition>,
    /// The names of those that are written down and cannot be used.
    pub broken: Vec<String>,
    pub problems: Vec<Diagnostic>,
}

/// Reads a library. `Err`: nothing of it can be used.
pub fn read(reader: RuleReader, name: &str) -> Result<(Library, Entries), Vec<Diagnostic>> {
    let source = reader.source;
    let node = yaml::parse(source, 0..source.text.len()).map_err(|problem| vec![*problem])?;
    if matches!(node.value, Yaml::List(_)) {
        let problem = Diagnostic::error(
            ErrorKind::InvalidValue,
            "a rule library is a mapping of names to rules, and this is a list",
            source,
            Some(node.span),
        );
        let help = "write `NAME: {…}` for each rule; a list in DeepWork's old format becomes rules with `linchpin rules import FILE`";
        return Err(vec![problem.help(help)]);
    }
    let mut fields = Fields::of(node.clone(), source, LIBRARY.keys);
    let imports = fields.texts(IMPORTS).unwrap_or_default();
    let mut entries = Entries { problems: fields.problems, ..Entries::default() };
    if let Yaml::Map(rules) = node.value {
        entries.read(reader, rules, source.text.len(), Form::Library);
    }
    Ok((Library { name: name.to_owned(), owner: reader.owner, source: source.clone(), imports }, entries))
}

impl Entries {
    /// Reads each entry of a mapping that ends at `end`.
    pub fn read(&mut self, reader: RuleReader, rules: Vec<(yaml::Key, Node)>, end: usize, form: Form) {
        let ends = yaml::ends(&rules, end);
        for ((key, node), end) in rules.into_iter().zip(ends) {
            if form == Form::Library && key.text == IMPORTS {
                continue;
            }
            if let Err(wrong) = rule_id::check(&key.text) {
                self.problems.push(wrong.at(reader.source, Some(key.span)));
                continue;
            }
            let text = extent(reader.source, key.span.start, end);
            let reading = reader.entry(&key.text, form, node, text);
            self.problems.extend(reading.problems);
            match reading.definition {
                Some(definition) => self.definitions.push(definition),
                None => self.broken.push(key.text),
            }
        }
    }
}

/// The lines from `start` on that belong to one entry: what is blank or a comment at their end is about the next one.
pub fn extent(source: &Source, start: usize, next: usize) -> Range<usize> {
    let text = source.text.get(start..next).unwrap_or_default();
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let said = line.trim();
        // The dash of the next item of a list.
        if !said.is_empty() && !said.starts_with('#') && said != "-" {
            end = at - (line.len() - line.trim_end().len());
        }
    }
    start..start + end
}
