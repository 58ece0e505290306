//! Reads the hats of a loop.

use engine::hats::{Hat, Loop};
use engine::rules::{Detector, PathPattern, Rule};
use engine::suggest;

use super::keys::HAT;
use super::loop_reader::{LOOP_NAME, LoopReader};
use super::topics::{check_topic_name, parse_topic_pattern};
use super::{agent, built_in_rules};
use crate::list_resolver::RuleLookup;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::digest::digest;
use crate::text::fields::{Fields, SpannedText};
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::pattern::parse_path_pattern;
use crate::workflow::{RuleCollector, RuleOwner};

/// Where the agent of every hat may write notes.
const NOTES: &str = ".linchpin/agent/**";

/// Maximum number of hats. More would be a mistake, and hard to follow.
const HATS_LIMIT: usize = 100;

impl LoopReader<'_> {
    /// `end`: an upper bound for the end of the entries.
    pub fn read_hats(
        self,
        entries: &[(YamlKey, YamlNode)],
        end: usize,
        reader: RuleReader,
        rule_lookup: &RuleLookup,
        problems: &mut Vec<Diagnostic>,
    ) -> Vec<Hat> {
        let ends = yaml::entry_ends(entries, end);
        let hat = |((key, node), end): (&(YamlKey, YamlNode), usize)| {
            self.read_hat((key, node.clone(), end), reader, rule_lookup, problems)
        };
        entries.iter().zip(ends).map(hat).collect()
    }

    fn read_hat(
        self,
        (key, node, end): (&YamlKey, YamlNode, usize),
        reader: RuleReader,
        rule_lookup: &RuleLookup,
        problems: &mut Vec<Diagnostic>,
    ) -> Hat {
        let id = key.text.as_str();
        let mut fields = Fields::of(node, self.source, HAT.keys).with_end(end);
        let is_mapping = fields.problems.is_empty();
        fields.refuse_unknown();
        let triggers = fields.texts("triggers").unwrap_or_default();
        if is_mapping && triggers.is_empty() && fields.has_no_errors() {
            let message = format!("hat `{id}` has no `triggers`, so it never starts");
            fields.refuse(DiagnosticKind::MissingKey, message, key.span.clone());
        }
        let triggers = triggers.into_iter().filter_map(|trigger| parse_topic_pattern(&trigger, &mut fields)).collect();
        let publishes = fields.texts("publishes").unwrap_or_default();
        let publishes: Vec<String> = publishes
            .into_iter()
            .filter(|topic| check_topic_name(topic, &mut fields))
            .map(|topic| topic.value)
            .collect();
        let default_publishes = read_default_publishes(&publishes, &mut fields);
        let max_activations = fields.key_span("max_activations").zip(fields.integer("max_activations"));
        if let Some((span, 0)) = max_activations.clone() {
            fields.refuse(DiagnosticKind::InvalidValue, "`max_activations` must be an integer of at least 1", span);
        }
        let agent = agent::read(&mut fields);
        let mut text = |key: &str| fields.text(key).map(|text| text.value);
        let (name, description, instructions) = (text("name"), text("description"), text("instructions"));
        let mut rules =
            RuleCollector::new(LOOP_NAME, RuleOwner::Hat(id), reader, rule_lookup, &self.context.loaded.config);
        rules.add_lists(&mut fields);
        let span = fields.key_span("writes").unwrap_or_default();
        let writes = fields.texts("writes");
        if let Some(texts) = &writes {
            let rule = allowed_writes_rule(rules.id("writes"), id, texts, &mut fields);
            rules.add(rule, span);
        }
        let observers = self.read_observers(&mut fields, reader.scope).observers;
        let mut rules: Vec<Rule> = rules.finish(problems).into_iter().map(|spanned| spanned.rule).collect();
        rules.extend(built_in_rules::rules(id, &publishes, &self.source.name));
        problems.append(&mut fields.problems);
        Hat {
            id: id.to_owned(),
            name: name.unwrap_or_else(|| id.to_owned()),
            description: description.unwrap_or_default(),
            triggers,
            publishes,
            // Blank instructions count as missing.
            instructions: instructions.filter(|text| !text.trim().is_empty()).unwrap_or_default(),
            default_publishes,
            writes: writes.map(|texts| texts.into_iter().map(|text| text.value).collect()),
            max_activations: max_activations.map(|(_, count)| count),
            agent,
            rules,
            observers,
        }
    }
}

/// Reads the entries of `hats`, and reports invalid ids.
pub fn read_hat_entries(fields: &mut Fields) -> Vec<(YamlKey, YamlNode)> {
    let entries = match fields.take("hats").map(|node| (node.span, node.value)) {
        Some((_, Yaml::Map(entries))) if !entries.is_empty() => entries,
        Some((span, Yaml::Map(_))) => {
            fields.refuse(DiagnosticKind::MissingKey, "the loop has no hats", span);
            return Vec::new();
        }
        Some((span, other)) => {
            let message = format!("`hats` must be a mapping of ids to hats, not {}", other.kind());
            fields.refuse(DiagnosticKind::InvalidValue, message, span);
            return Vec::new();
        }
        None => {
            fields.refuse(DiagnosticKind::MissingKey, "the loop has no `hats`", 0..0);
            return Vec::new();
        }
    };
    if entries.len() > HATS_LIMIT {
        let message = format!("the loop has {} hats, over the limit of {HATS_LIMIT}", entries.len());
        fields.refuse(DiagnosticKind::InvalidValue, message, fields.key_span("hats").unwrap_or_default());
        return Vec::new();
    }
    let is_id = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'))
    };
    for (key, _) in entries.iter().filter(|(key, _)| key.text == Loop::DONE) {
        let message = format!("reserved hat id `{}`: diagrams use it for the end of a run", Loop::DONE);
        fields.refuse(DiagnosticKind::InvalidValue, message, key.span.clone());
    }
    for (key, _) in entries.iter().filter(|(key, _)| !is_id(&key.text)) {
        let message =
            format!("invalid hat id `{}`: use letters, digits, `-` and `_`, and start with a letter", key.text);
        fields.refuse(DiagnosticKind::InvalidValue, message, key.span.clone());
    }
    entries
}

fn read_default_publishes(publishes: &[String], fields: &mut Fields) -> Option<String> {
    let SpannedText { value, span } = fields.text("default_publishes")?;
    if publishes.contains(&value) {
        return Some(value);
    }
    let message = format!("`default_publishes` is `{value}`, which is not in the hat's `publishes`");
    let help = suggest::closest(&value, publishes.iter().map(String::as_str)).map(suggest::did_you_mean);
    fields
        .problems
        .push(Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(span)).maybe_help(help));
    None
}

/// The rule that enforces a hat's `writes`: it blocks writes to all files that the list does not match, except notes.
fn allowed_writes_rule(id: String, hat: &str, texts: &[SpannedText], fields: &mut Fields) -> Rule {
    let listed = texts.iter().map(|text| text.value.as_str()).collect::<Vec<_>>().join(", ");
    let mut except: Vec<PathPattern> = texts.iter().filter_map(|text| parse_path_pattern(text, fields)).collect();
    except.push(PathPattern::Glob { source: NOTES.to_owned(), literal: String::new() });
    let tool = built_in_rules::writing_outside_of(except);
    let reason = format!(
        "The hat `{hat}` may only write {listed}. Write notes into `.linchpin/agent/`, and leave other files to the \
         other hats."
    );
    let digest = digest(format!("{id} {listed}"));
    Rule { digest, ..Rule::synthetic(id, &fields.source().name, Detector::Tool(Box::new(tool)), reason) }
}
