//! Rules by name in one mapping: a rule library, or the `rule_definitions` of another file.

use engine::rules::Tier;

use crate::rule::ENTRY;
use crate::rule::definition::{Definition, Form};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};
use crate::text::keys::{Key, Mapping, Takes};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::rule_id;

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
    pub fn read(&mut self, reader: RuleReader, rules: Vec<(YamlKey, YamlNode)>, end: usize, form: Form) {
        let ends = yaml::ends(&rules, end);
        for ((key, node), end) in rules.into_iter().zip(ends) {
            if form == Form::Library && key.text == IMPORTS {
                continue;
            }
            if let Err(wrong) = rule_id::check(&key.text) {
                self.problems.push(wrong.at(reader.source, Some(key.span)));
                continue;
            }
            let text = reader.source.extent(key.span.start, end);
            let reading = reader.entry(&key.text, form, node, text);
            self.problems.extend(reading.problems);
            match reading.definition {
                Some(definition) => self.definitions.push(definition),
                None => self.broken.push(key.text),
            }
        }
    }
}
