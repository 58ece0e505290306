//! The `rules` list of a file: which rules its names mean, and the rules that are written there.

use std::collections::BTreeSet;

use engine::rules::{Rule, Tier};
use engine::suggest;

use crate::catalogue::Catalogue;
use crate::config::{ConfigFile, RuleItem};
use crate::definition::{Definition, Form};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::Text;
use crate::library::{Entries, extent};
use crate::load::last_good;
use crate::rule::RuleReader;
use crate::rule_id;
use crate::source::Source;
use crate::yaml::{Node, Yaml};

/// What a list is read by.
pub struct RuleList<'a> {
    pub reader: RuleReader<'a>,
    pub catalogue: &'a Catalogue,
    /// Names of rules that cannot be used, which is said where they are written.
    pub broken: &'a BTreeSet<String>,
    /// The rules that were in force before, for those that are broken now.
    pub before: &'a [Rule],
}

/// What a list gave.
#[derive(Debug, Default)]
pub struct Listed {
    /// The rules that the file itself holds.
    pub written: Vec<Definition>,
    /// The rules that the list puts in force, in its order.
    pub chosen: Vec<Definition>,
    pub problems: Vec<Diagnostic>,
}

impl RuleList<'_> {
    pub fn read(&self, file: ConfigFile) -> Listed {
        let RuleReader { source, owner: tier, .. } = self.reader;
        let mut local = Entries::default();
        let (definitions, end) = file.definitions;
        local.read(self.reader, definitions, end, Form::Local);
        let last = local.broken.iter().filter_map(|id| self.last_good(id, Form::Local));
        local.definitions.extend(last.collect::<Vec<_>>());
        let imported = self.catalogue.imported(&file.imports, source, tier);
        let mut listed = Listed { problems: local.problems, ..Listed::default() };
        listed.problems.extend(imported.problems);
        for (place, item) in file.rules.into_iter().enumerate() {
            let name = match item {
                RuleItem::Inline(node, end) => {
                    self.read_inline(node, place + 1, end, &mut listed);
                    continue;
                }
                RuleItem::Name(name) => name,
            };
            let own = local.definitions.iter().find(|definition| definition.rule.id == name.value);
            let found = own.or_else(|| imported.rules.get(&name.value).copied());
            match found.or_else(|| self.catalogue.resolve(&name.value, tier)) {
                Some(found) if found.enabled => listed.chosen.push(found.clone()),
                Some(found) => listed.problems.push(switched_off(&name, found, source)),
                None if self.broken.contains(&name.value) || local.broken.contains(&name.value) => {}
                None => {
                    let local = local.definitions.iter().map(|definition| definition.rule.id.as_str());
                    let imported = imported.rules.keys().map(String::as_str);
                    let known = local.chain(imported).chain(self.catalogue.names(tier));
                    listed.problems.push(unknown_rule(&name, source, known.collect()));
                }
            }
        }
        listed.written.append(&mut local.definitions);
        listed
    }

    fn read_inline(&self, node: Node, place: usize, end: usize, listed: &mut Listed) {
        let id = inline_id(&node, self.reader.owner, place);
        let text = extent(self.reader.source, node.span.start, end);
        let reading = self.reader.entry(&id, Form::Inline, node, text);
        listed.problems.extend(reading.problems);
        let definition = reading.definition.or_else(|| self.last_good(&id, Form::Inline));
        listed.written.extend(definition.clone());
        listed.chosen.extend(definition);
    }

    /// A rule of this file that is broken now, as it last was.
    fn last_good(&self, id: &str, form: Form) -> Option<Definition> {
        let source = &self.reader.source.name;
        let is_it = |rule: &&Rule| rule.id == id && rule.tier == Tier::Local && rule.source == *source;
        self.before.iter().find(is_it).map(|rule| last_good(rule, form, self.reader.owner))
    }
}

fn switched_off(name: &Text, found: &Definition, source: &Source) -> Diagnostic {
    let message = format!("`{}` is named here and switched off in {}", name.value, found.shown_place());
    Diagnostic::warning(ErrorKind::InvalidValue, message, source, Some(name.span.clone()))
        .help("`linchpin rules enable` switches it on")
}

/// A rule in a list needs no name; one that has a title goes by it.
pub fn inline_id(node: &Node, tier: Tier, place: usize) -> String {
    let title = match &node.value {
        Yaml::Map(entries) => entries.iter().find(|(key, _)| key.text == "name").map(|(_, value)| &value.value),
        _ => None,
    };
    let title = if let Some(Yaml::Text(title)) = title { title } else { "" };
    let id = rule_id::of_title(title);
    match tier {
        _ if !id.is_empty() => id,
        // The places of two tiers' lists have nothing to do with each other.
        Tier::User => format!("user-inline-{place}"),
        _ => format!("inline-{place}"),
    }
}

fn unknown_rule(name: &Text, source: &Source, mut known: Vec<&str>) -> Diagnostic {
    known.sort_unstable();
    known.dedup();
    let help = suggest::closest(&name.value, known.iter().copied())
        .map_or_else(|| format!("the rules are {}", known.join(", ")), suggest::did_you_mean);
    let message = format!("no rule is named `{}`", name.value);
    Diagnostic::error(ErrorKind::UnknownRule, message, source, Some(name.span.clone())).help(help)
}
