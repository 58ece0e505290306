//! Reads mappings from ids to rules: a rule library, or the `rule_definitions` of another file.

use engine::rules::Tier;

use crate::rule::ENTRY;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{Key, Mapping, ValueType};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::rule_id;

/// The only key of a library that is not a rule id.
const IMPORTS: &str = "imports";

pub static LIBRARY: Mapping =
    Mapping::new("library", "Rules by name; they are in force if something names them.", &[KEYS])
        .other_keys(&ValueType::Mapping(&ENTRY));
static KEYS: &[Key] = &[Key::new(
    IMPORTS,
    ValueType::Texts,
    "names of other libraries whose rules may be named together with the rules of this one",
)
.with_default("[]")];

/// A rule library without its rules.
#[derive(Debug, Clone)]
pub struct Library {
    /// The name that `imports` uses.
    pub name: String,
    /// The tier of the file.
    pub file_tier: Tier,
    pub source: Source,
    pub imports: Vec<SpannedText>,
}

/// The rules of one mapping.
#[derive(Debug, Default)]
pub struct RuleEntries {
    pub definitions: Vec<RuleDefinition>,
    /// Ids of rules with errors.
    pub broken_ids: Vec<String>,
    pub problems: Vec<Diagnostic>,
}

/// Reads a library. `Err` means that none of its rules can be used.
pub fn read(reader: RuleReader, name: &str) -> Result<(Library, RuleEntries), Vec<Diagnostic>> {
    let source = reader.source;
    let node = yaml::parse(source, 0..source.text.len()).map_err(|problem| vec![*problem])?;
    if matches!(node.value, Yaml::List(_)) {
        let problem = Diagnostic::error(
            DiagnosticKind::InvalidValue,
            "a rule library must be a mapping of names to rules, but this is a list",
            source,
            Some(node.span),
        );
        let help = "write `NAME: {…}` for each rule; to convert a list in DeepWork's old format, run `linchpin \
                    rules import FILE`";
        return Err(vec![problem.help(help)]);
    }
    let mut fields = Fields::of(node.clone(), source, LIBRARY.keys);
    let imports = fields.texts(IMPORTS).unwrap_or_default();
    let mut entries = RuleEntries { problems: fields.problems, ..RuleEntries::default() };
    if let Yaml::Map(rules) = node.value {
        entries.read(reader, rules, source.text.len(), RuleOrigin::Library);
    }
    Ok((Library { name: name.to_owned(), file_tier: reader.file_tier, source: source.clone(), imports }, entries))
}

impl RuleEntries {
    /// Reads the entries of a mapping that ends before offset `end`.
    pub fn read(&mut self, reader: RuleReader, rules: Vec<(YamlKey, YamlNode)>, end: usize, origin: RuleOrigin) {
        let ends = yaml::entry_ends(&rules, end);
        for ((key, node), end) in rules.into_iter().zip(ends) {
            if origin == RuleOrigin::Library && key.text == IMPORTS {
                continue;
            }
            if let Err(invalid_id) = rule_id::check(&key.text) {
                self.problems.push(invalid_id.diagnostic_at(reader.source, Some(key.span)));
                continue;
            }
            let text = reader.source.entry_span(key.span.start, end);
            let parsed = reader.read_entry(&key.text, origin, node, text);
            self.problems.extend(parsed.problems);
            match parsed.definition {
                Some(definition) => self.definitions.push(definition),
                None => self.broken_ids.push(key.text),
            }
        }
    }
}
