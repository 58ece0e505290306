//! The `rules` list of a file: which rules its names mean, and the rules that are written there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::rules::{Detector, Rule, Tier};
use engine::suggest;

use crate::catalogue::Catalogue;
use crate::config::ConfigFile;
use crate::library::Entries;
use crate::listing::{ListOf, Listing, RuleItem};
use crate::rule::definition::{Definition, Form};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Text;
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlNode};
use crate::values::rule_id;

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

/// Which rules the names in one file mean: its own ones, then those that it imports, then those of its tier and of
/// farther ones.
pub struct NamedRules<'a> {
    pub source: &'a Source,
    pub tier: Tier,
    pub own: &'a Entries,
    pub imported: &'a BTreeMap<String, &'a Definition>,
    pub catalogue: &'a Catalogue,
    /// Names of rules that cannot be used, which is said where they are written.
    pub broken: &'a BTreeSet<String>,
}

impl NamedRules<'_> {
    /// `None` where what is wrong with the rule was said elsewhere.
    pub fn get(&self, name: &Text) -> Result<Option<&Definition>, Box<Diagnostic>> {
        self.found(name, "rules", |_| true)
    }

    /// The same for a rule about files that change: what is not meant can only be one.
    pub fn file_rule(&self, name: &Text) -> Result<Option<&Definition>, Box<Diagnostic>> {
        let is_file_rule = |definition: &Definition| definition.rule.as_file_rule().is_some();
        match self.found(name, "file rules", is_file_rule)? {
            Some(found) if !is_file_rule(found) => {
                let message = format!("`{}` is no rule about files that change", name.value);
                let problem = Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(name.span.clone()));
                Err(Box::new(problem.help(suggestion(&name.value, "file rules", &self.known(is_file_rule)))))
            }
            found => Ok(found),
        }
    }

    fn meant(&self, name: &str) -> Option<&Definition> {
        let own = self.own.definitions.iter().find(|definition| definition.rule.id == name);
        let found = own.or_else(|| self.imported.get(name).copied());
        found.or_else(|| self.catalogue.resolve(name, self.tier))
    }

    /// Every name that means such a rule, in order.
    fn known(&self, is_such: impl Fn(&Definition) -> bool) -> Vec<&str> {
        let own = self.own.definitions.iter().map(|definition| definition.rule.id.as_str());
        let names: BTreeSet<&str> =
            own.chain(self.imported.keys().map(String::as_str)).chain(self.catalogue.names(self.tier)).collect();
        names.into_iter().filter(|name| self.meant(name).is_some_and(&is_such)).collect()
    }

    /// `noun`: what such rules are called.
    fn found(
        &self,
        name: &Text,
        noun: &str,
        is_such: impl Fn(&Definition) -> bool,
    ) -> Result<Option<&Definition>, Box<Diagnostic>> {
        match self.meant(&name.value) {
            Some(found) if found.enabled => Ok(Some(found)),
            Some(found) => Err(Box::new(switched_off(name, found, self.source))),
            None if self.broken.contains(&name.value) || self.own.broken.contains(&name.value) => Ok(None),
            None => {
                let message = format!("no rule is named `{}`", name.value);
                let problem = Diagnostic::error(ErrorKind::UnknownRule, message, self.source, Some(name.span.clone()));
                Err(Box::new(problem.help(suggestion(&name.value, noun, &self.known(is_such)))))
            }
        }
    }
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
        let mut listed = Listed { problems: std::mem::take(&mut local.problems), ..Listed::default() };
        listed.problems.extend(imported.problems);
        let (catalogue, broken) = (self.catalogue, self.broken);
        let names = NamedRules { source, tier, own: &local, imported: &imported.rules, catalogue, broken };
        let lists = file.lists.into_iter();
        let items = lists.flat_map(|Listing { key, of, items, when }| {
            items.into_iter().map(move |item| (key, of, when.clone(), item))
        });
        for (number, (key, of, when, item)) in (1..).zip(items) {
            match item {
                RuleItem::Inline(node, end) => {
                    let span = node.span.clone();
                    let Some(mut definition) = self.read_inline(node, number, end, &mut listed) else { continue };
                    if let (ListOf::ToolRules, Some(problem)) = (of, no_tool_rule(key, &definition, span, source)) {
                        listed.problems.push(problem);
                        continue;
                    }
                    definition.rule.when = both(when.as_deref(), definition.rule.when);
                    listed.written.push(definition.clone());
                    listed.chosen.push(definition);
                }
                RuleItem::Name(name) if of == ListOf::ToolRules => {
                    listed.problems.push(no_name(key, name.span, source));
                }
                RuleItem::Name(name) => match names.get(&name) {
                    Ok(found) => listed.chosen.extend(found.cloned()),
                    Err(problem) => listed.problems.push(*problem),
                },
            }
        }
        listed.written.append(&mut local.definitions);
        listed
    }

    fn read_inline(&self, node: YamlNode, place: usize, end: usize, listed: &mut Listed) -> Option<Definition> {
        let id = inline_id(&node, self.reader.owner, place);
        let text = self.reader.source.extent(node.span.start, end);
        let reading = self.reader.entry(&id, Form::Inline, node, text);
        listed.problems.extend(reading.problems);
        reading.definition.or_else(|| self.last_good(&id, Form::Inline))
    }

    /// A rule of this file that is broken now, as it last was.
    fn last_good(&self, id: &str, form: Form) -> Option<Definition> {
        let source = &self.reader.source.name;
        let is_it = |rule: &&Rule| rule.id == id && rule.tier == Tier::Local && rule.source == *source;
        self.before.iter().find(is_it).map(|rule| Definition::last_good(rule, form, self.reader.owner))
    }
}

/// What must be true where a list and a rule in it each say something.
pub fn both(of_list: Option<&str>, own: Option<String>) -> Option<String> {
    match (of_list, own) {
        (Some(outer), Some(own)) => Some(format!("({outer}) and ({own})")),
        (outer, own) => outer.map(str::to_owned).or(own),
    }
}

/// Why a name cannot stand in a list of tool rules.
pub fn no_name(key: &str, span: Range<usize>, source: &Source) -> Diagnostic {
    let message = format!("`{key}` takes rules, not names of rules");
    Diagnostic::error(ErrorKind::InvalidValue, message, source, Some(span)).help("name it under `rules`")
}

/// Why a rule cannot stand in a list of tool rules.
pub fn no_tool_rule(key: &str, definition: &Definition, span: Range<usize>, source: &Source) -> Option<Diagnostic> {
    let is_tool_rule = matches!(definition.rule.detect, Detector::Tool(_));
    (!is_tool_rule).then(|| {
        let message = format!("`{key}` takes rules about tool calls, and this is none");
        Diagnostic::error(ErrorKind::InvalidValue, message, source, Some(span))
            .help("put it under `rules`")
            .of_rule(&definition.rule.id)
    })
}

fn switched_off(name: &Text, found: &Definition, source: &Source) -> Diagnostic {
    let message = format!("`{}` is named here and switched off in {}", name.value, found.shown_place());
    Diagnostic::warning(ErrorKind::InvalidValue, message, source, Some(name.span.clone()))
        .help("`linchpin rules enable` switches it on")
}

/// A rule in a list needs no name; one that has a title goes by it.
pub fn inline_id(node: &YamlNode, tier: Tier, place: usize) -> String {
    title_id(node).unwrap_or_else(|| match tier {
        // The places of two tiers' lists have nothing to do with each other.
        Tier::User => format!("user-inline-{place}"),
        _ => format!("inline-{place}"),
    })
}

/// The id that a rule has by its `name`.
pub fn title_id(node: &YamlNode) -> Option<String> {
    let Yaml::Map(entries) = &node.value else { return None };
    let (_, title) = entries.iter().find(|(key, _)| key.text == "name")?;
    let Yaml::Text(title) = &title.value else { return None };
    Some(rule_id::of_title(title)).filter(|id| !id.is_empty())
}

fn suggestion(name: &str, noun: &str, known: &[&str]) -> String {
    match (suggest::closest(name, known.iter().copied()), known) {
        (Some(close), _) => suggest::did_you_mean(close),
        (None, []) => format!("there are no {noun}"),
        (None, known) => format!("the {noun} are {}", known.join(", ")),
    }
}
