//! Resolves the `rules` lists of a configuration: looks up names, and reads inline rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use engine::rules::{Detector, Rule, Tier};
use engine::suggest;

use crate::catalogue::Catalogue;
use crate::config::ConfigFile;
use crate::library::RuleEntries;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::SpannedText;
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlNode};
use crate::unresolved_list::{ListKind, RuleItem, UnresolvedList};
use crate::values::rule_id;

pub struct ListResolver<'a> {
    pub reader: RuleReader<'a>,
    pub catalogue: &'a Catalogue,
    /// Ids of rules with errors. The errors are reported where the rules are defined.
    pub broken_ids: &'a BTreeSet<String>,
    /// Last good versions, for rules that have errors now.
    pub last_good: &'a [Rule],
}

#[derive(Debug, Default)]
pub struct ResolvedRules {
    /// Rules that the file itself defines.
    pub defined_here: Vec<RuleDefinition>,
    /// Rules that the lists put in force, in their order.
    pub in_force: Vec<RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

/// Looks up rules by name for one file: first the rules that it defines, then imported ones, then those of its tier and
/// of earlier tiers.
pub struct RuleLookup<'a> {
    pub source: &'a Source,
    pub tier: Tier,
    /// The rules that the file itself defines.
    pub local: &'a RuleEntries,
    pub imported: &'a BTreeMap<String, &'a RuleDefinition>,
    pub catalogue: &'a Catalogue,
    /// Ids of rules with errors. The errors are reported where the rules are defined.
    pub broken_ids: &'a BTreeSet<String>,
}

impl RuleLookup<'_> {
    /// `None` if the rule has errors, which are reported at its definition.
    pub fn get(&self, name: &SpannedText) -> Result<Option<&RuleDefinition>, Box<Diagnostic>> {
        self.look_up(name, "rules", |_| true)
    }

    /// Like [`Self::get`], for a file rule. Suggestions for an unknown name are only file rules.
    pub fn file_rule(&self, name: &SpannedText) -> Result<Option<&RuleDefinition>, Box<Diagnostic>> {
        let is_file_rule = |definition: &RuleDefinition| definition.rule.as_file_rule().is_some();
        match self.look_up(name, "file rules", is_file_rule)? {
            Some(found) if !is_file_rule(found) => {
                let message = format!("`{}` is not a file rule", name.value);
                let problem =
                    Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(name.span.clone()));
                Err(Box::new(problem.help(suggestion(&name.value, "file rules", &self.matching_names(is_file_rule)))))
            }
            found => Ok(found),
        }
    }

    fn find(&self, name: &str) -> Option<&RuleDefinition> {
        let local = self.local.definitions.iter().find(|definition| definition.rule.id == name);
        let definition = local.or_else(|| self.imported.get(name).copied());
        definition.or_else(|| self.catalogue.resolve(name, self.tier))
    }

    /// The names of all matching rules, in order.
    fn matching_names(&self, matches: impl Fn(&RuleDefinition) -> bool) -> Vec<&str> {
        let local = self.local.definitions.iter().map(|definition| definition.rule.id.as_str());
        let names: BTreeSet<&str> =
            local.chain(self.imported.keys().map(String::as_str)).chain(self.catalogue.names(self.tier)).collect();
        names.into_iter().filter(|name| self.find(name).is_some_and(&matches)).collect()
    }

    /// `noun` and `matches` describe the rules that a message suggests for an unknown name.
    fn look_up(
        &self,
        name: &SpannedText,
        noun: &str,
        matches: impl Fn(&RuleDefinition) -> bool,
    ) -> Result<Option<&RuleDefinition>, Box<Diagnostic>> {
        match self.find(&name.value) {
            Some(found) if found.enabled => Ok(Some(found)),
            Some(found) => Err(Box::new(switched_off_warning(name, found, self.source))),
            None if self.broken_ids.contains(&name.value) || self.local.broken_ids.contains(&name.value) => Ok(None),
            None => {
                let message = format!("there is no rule `{}`", name.value);
                let problem =
                    Diagnostic::error(DiagnosticKind::UnknownRule, message, self.source, Some(name.span.clone()));
                Err(Box::new(problem.help(suggestion(&name.value, noun, &self.matching_names(matches)))))
            }
        }
    }
}

impl ListResolver<'_> {
    pub fn resolve(&self, file: ConfigFile) -> ResolvedRules {
        let RuleReader { source, file_tier: tier, .. } = self.reader;
        let mut local = RuleEntries::default();
        let (definitions, end) = file.definitions;
        local.read(self.reader, definitions, end, RuleOrigin::Local);
        let last_good = local.broken_ids.iter().filter_map(|id| self.last_good(id, RuleOrigin::Local));
        local.definitions.extend(last_good.collect::<Vec<_>>());
        let imported = self.catalogue.imported(&file.imports, source, tier);
        let mut resolved = ResolvedRules { problems: std::mem::take(&mut local.problems), ..ResolvedRules::default() };
        resolved.problems.extend(imported.problems);
        let (catalogue, broken_ids) = (self.catalogue, self.broken_ids);
        let rule_lookup = RuleLookup { source, tier, local: &local, imported: &imported.rules, catalogue, broken_ids };
        let lists = file.lists.into_iter();
        let items = lists.flat_map(|UnresolvedList { key, kind, items, when }| {
            items.into_iter().map(move |item| (key, kind, when.clone(), item))
        });
        for (number, (key, kind, when, item)) in (1..).zip(items) {
            match item {
                RuleItem::Inline(node, end) => {
                    let span = node.span.clone();
                    let Some(mut definition) = self.read_inline(node, number, end, &mut resolved) else { continue };
                    if let (ListKind::ToolRules, Some(problem)) =
                        (kind, non_tool_rule_error(key, &definition, span, source))
                    {
                        resolved.problems.push(problem);
                        continue;
                    }
                    definition.rule.when = join_conditions(when.as_deref(), definition.rule.when);
                    resolved.defined_here.push(definition.clone());
                    resolved.in_force.push(definition);
                }
                RuleItem::Name(name) if kind == ListKind::ToolRules => {
                    resolved.problems.push(name_in_tool_rules_error(key, name.span, source));
                }
                RuleItem::Name(name) => match rule_lookup.get(&name) {
                    Ok(definition) => resolved.in_force.extend(definition.cloned()),
                    Err(problem) => resolved.problems.push(*problem),
                },
            }
        }
        resolved.defined_here.append(&mut local.definitions);
        resolved
    }

    fn read_inline(
        &self,
        node: YamlNode,
        number: usize,
        end: usize,
        resolved: &mut ResolvedRules,
    ) -> Option<RuleDefinition> {
        let id = inline_id(&node, self.reader.file_tier, number);
        let text = self.reader.source.entry_span(node.span.start, end);
        let parsed = self.reader.read_entry(&id, RuleOrigin::Inline, node, text);
        resolved.problems.extend(parsed.problems);
        parsed.definition.or_else(|| self.last_good(&id, RuleOrigin::Inline))
    }

    /// The last good version of a rule of this file that has errors now.
    fn last_good(&self, id: &str, origin: RuleOrigin) -> Option<RuleDefinition> {
        let source = &self.reader.source.name;
        let matches = |rule: &&Rule| rule.id == id && rule.tier == Tier::Local && rule.source == *source;
        self.last_good.iter().find(matches).map(|rule| RuleDefinition::last_good(rule, origin, self.reader.file_tier))
    }
}

/// Joins the `when` of a list and that of a rule in it with `and`.
pub fn join_conditions(list_condition: Option<&str>, rule_condition: Option<String>) -> Option<String> {
    match (list_condition, rule_condition) {
        (Some(list_condition), Some(rule_condition)) => Some(format!("({list_condition}) and ({rule_condition})")),
        (list_condition, rule_condition) => list_condition.map(str::to_owned).or(rule_condition),
    }
}

/// The error for a name in a list of tool rules.
pub fn name_in_tool_rules_error(key: &str, span: Range<usize>, source: &Source) -> Diagnostic {
    let message = format!("`{key}` must list rules, not names of rules");
    Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(span)).help("name it under `rules`")
}

/// The error for a rule of another kind in a list of tool rules.
pub fn non_tool_rule_error(
    key: &str,
    definition: &RuleDefinition,
    span: Range<usize>,
    source: &Source,
) -> Option<Diagnostic> {
    let is_tool_rule = matches!(definition.rule.detect, Detector::Tool(_));
    (!is_tool_rule).then(|| {
        let message = format!("`{key}` must list tool rules, and this is not one");
        Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(span))
            .help("move it to `rules`")
            .of_rule(&definition.rule.id)
    })
}

fn switched_off_warning(name: &SpannedText, definition: &RuleDefinition, source: &Source) -> Diagnostic {
    let message = format!("`{}` is named here, but switched off in {}", name.value, definition.display_location());
    Diagnostic::warning(DiagnosticKind::InvalidValue, message, source, Some(name.span.clone()))
        .help("to switch it on, run `linchpin rules enable`")
}

/// The id of an inline rule: from its `name` if it has one, otherwise from its number in the lists of the file.
pub fn inline_id(node: &YamlNode, tier: Tier, number: usize) -> String {
    id_from_title(node).unwrap_or_else(|| match tier {
        // Each tier counts its own lists.
        Tier::User => format!("user-inline-{number}"),
        _ => format!("inline-{number}"),
    })
}

/// The id derived from a rule's `name`.
pub fn id_from_title(node: &YamlNode) -> Option<String> {
    let Yaml::Map(entries) = &node.value else { return None };
    let (_, title) = entries.iter().find(|(key, _)| key.text == "name")?;
    let Yaml::Text(title) = &title.value else { return None };
    Some(rule_id::from_title(title)).filter(|id| !id.is_empty())
}

fn suggestion(name: &str, noun: &str, known_names: &[&str]) -> String {
    match (suggest::closest(name, known_names.iter().copied()), known_names) {
        (Some(close), _) => suggest::did_you_mean(close),
        (None, []) => format!("there are no {noun}"),
        (None, known) => format!("known {noun}: {}", known.join(", ")),
    }
}
