//! Converts rule lists in DeepWork's old format, `.deepwork.rules.yml` or `.deepwork.policy.yml`, to Markdown rules.
//!
//! Returns the converted rules, notes on patterns that changed, and the errors of the list. This module must not write
//! files: [`crate::edit`] writes them, because it also knows the existing rules.

mod instructions;
mod old_pattern;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use engine::expr::Scope;
use engine::file_rules::{Baseline, FilePattern, FileRuleKind};
use engine::rules::{Detector, Tier};
use path::pattern::Pattern;

use crate::rule::definition::RuleOrigin;
use crate::rule::file_rule::BASELINES;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, one_line};
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{self, Key, Keys, ValueType, choice_names};
use crate::text::paragraphs::join_lines;
use crate::text::scalar::Scalar;
use crate::text::source::{Source, SourcePosition};
use crate::text::yaml::{self, Yaml, YamlNode};
use crate::values::pattern::refuse_pattern;
use crate::values::rule_id;

pub const FILE_NAMES: [&str; 4] =
    [".deepwork.policy.yaml", ".deepwork.policy.yml", ".deepwork.rules.yaml", ".deepwork.rules.yml"];

const ENTRY_SYNTAX: &str = "write each rule as a list item: `- name: …`, with `trigger` and `instructions`";

/// The keys of an entry.
static KEYS: Keys = &[&[
    Key::new(
        "compare_to",
        ValueType::Choice(|| choice_names(&BASELINES)),
        "the state that files are compared with to find changes",
    ),
    Key::new("instructions", ValueType::Text, "the text for the agent"),
    Key::new("instructions_file", ValueType::Text, "a file with the text for the agent"),
    Key::new("name", ValueType::Text, "a title"),
    Key::new("safety", ValueType::Patterns, "patterns of files; a change of one such file satisfies the rule"),
    Key::new("trigger", ValueType::Patterns, "patterns of files; a change of one such file triggers the rule"),
]];

/// The result of converting a list.
#[derive(Debug, Default)]
pub struct Conversion {
    /// The entries without errors, in order.
    pub rules: Vec<NewRule>,
    pub problems: Vec<Diagnostic>,
}

/// An entry, converted to a Markdown rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    pub id: String,
    pub text: String,
    /// The span of the entry's name.
    pub name_span: Range<usize>,
    pub conversion_notes: Vec<ConversionNote>,
}

/// A difference between an entry and its rule: a value that changed, or a value whose meaning changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionNote {
    /// The id of the new rule.
    pub rule: String,
    pub key: &'static str,
    pub file: String,
    pub position: SourcePosition,
    pub before: String,
    /// Equals `before` if only the meaning changed.
    pub after: String,
    /// Each starts in lower case and ends without a full stop.
    pub reasons: Vec<String>,
}

impl ConversionNote {
    /// `file:line:column: difference: reason`
    pub fn line(&self) -> String {
        let Self { rule, key, file, position, before, after, reasons } = self;
        let difference =
            if before == after { format!("`{before}` is unchanged") } else { format!("`{before}` → `{after}`") };
        one_line(&format!("{file}:{position}: `{key}` of `{rule}`: {difference}: {}", reasons.join("; ")))
    }
}

/// True if the file is a list in the old format, by its name or because it is a YAML list. No file of Linchpin that can
/// be imported is a list.
pub fn is_old_list(path: &Path, source: &Source) -> bool {
    let has_list_name = path.file_name().is_some_and(|name| FILE_NAMES.iter().any(|list_name| name == *list_name));
    has_list_name || yaml::parse(source, whole_range(source)).is_ok_and(|root| matches!(root.value, Yaml::List(_)))
}

/// Converts a list. `directory` is the directory of the list.
pub fn convert(source: &Source, directory: &Path) -> Conversion {
    let mut conversion = Conversion::default();
    match yaml::parse(source, whole_range(source)) {
        Err(problem) => {
            let is_star = problem
                .span
                .as_ref()
                .is_some_and(|span| source.text.get(span.start..).is_some_and(|text| text.starts_with('*')));
            let help = is_star.then(|| "quote a string that starts with `*`".to_owned());
            conversion.problems.push(problem.maybe_help(help));
        }
        Ok(YamlNode { value: Yaml::List(entries), .. }) if !entries.is_empty() => {
            let mut ids = BTreeSet::new();
            for node in entries {
                conversion.add(node, source, directory, &mut ids);
            }
        }
        Ok(root) => {
            let is_empty = matches!(&root.value, Yaml::List(_)) || root.value == Yaml::Map(Vec::new());
            let actual = if is_empty { "nothing" } else { root.value.kind() };
            let message = format!("expected a list of rules, found {actual}");
            let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(root.span));
            conversion.problems.push(problem.help(ENTRY_SYNTAX));
        }
    }
    conversion
}

fn whole_range(source: &Source) -> Range<usize> {
    0..source.text.len()
}

impl Conversion {
    fn add(&mut self, node: YamlNode, source: &Source, directory: &Path, ids: &mut BTreeSet<String>) {
        let span = node.span.clone();
        if !matches!(node.value, Yaml::Map(_)) {
            let message = format!("expected a rule, found {}", node.value.kind());
            let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(span));
            self.problems.push(problem.help(ENTRY_SYNTAX));
            return;
        }
        let mut fields = Fields::of(node, source, KEYS);
        let rule = OldRule::read(&mut fields, &span, directory).map(|entry| entry.into_rule(source, ids));
        if let Some((entry, rule)) = rule.filter(|_| fields.problems.is_empty()) {
            // The number that makes the id unique may have made it too long.
            if let Err(invalid_id) = rule_id::check(&rule.id) {
                fields.problems.push(invalid_id.diagnostic_at(source, Some(rule.name_span)));
            } else if entry.is_equivalent(&rule) {
                self.rules.push(rule);
            } else {
                fields.problems.push(
                    Diagnostic::error(
                        DiagnosticKind::NotEditable,
                        format!("`{}` cannot be converted without changing its meaning", entry.name.value),
                        source,
                        Some(span),
                    )
                    .help("remove the entry and write the rule by hand"),
                );
            }
        }
        fields.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        self.problems.append(&mut fields.problems);
    }
}

/// An entry of the list.
struct OldRule {
    name: SpannedText,
    trigger: Vec<EntryPattern>,
    safety: Vec<EntryPattern>,
    compare_to: Option<Baseline>,
    body: String,
}

/// A pattern of an entry, before and after conversion.
struct EntryPattern {
    old: SpannedText,
    new: String,
    reasons: Vec<String>,
}

impl OldRule {
    /// `None` if something is missing or invalid, which is reported.
    fn read(fields: &mut Fields, span: &Range<usize>, directory: &Path) -> Option<Self> {
        fields.refuse_unknown();
        for problem in fields.problems.iter_mut().filter(|problem| problem.help.is_none()) {
            problem.help = Some(format!("an entry may only have {}", known_keys()));
        }
        for (key, help) in [
            ("name", "the rule's file is named after it"),
            ("trigger", "say which files it applies to: `trigger: src/**`"),
        ] {
            if !fields.has(key) {
                refuse_missing(&format!("the entry has no `{key}`"), help, span, fields);
            }
        }
        let name = read_non_empty_text("name", fields);
        let trigger = read_patterns("trigger", fields);
        let safety = if fields.has("safety") { read_patterns("safety", fields) } else { Some(Vec::new()) };
        let compare_to = fields.choice("compare_to", &BASELINES);
        let body = read_body(fields, span, directory);
        let name = name.filter(|name| check_name(name, fields))?;
        Some(Self { name, trigger: trigger?, safety: safety?, compare_to, body: body? })
    }

    fn into_rule(self, source: &Source, ids: &mut BTreeSet<String>) -> (Self, NewRule) {
        let id_from_name = rule_id::from_title(&self.name.value);
        let numbered_ids = (2..).map(|number| format!("{id_from_name}-{number}"));
        let id =
            std::iter::once(id_from_name.clone()).chain(numbered_ids).find(|id| !ids.contains(id)).unwrap_or_default();
        ids.insert(id.clone());
        let location = |span: &Range<usize>| (source.name.clone(), source.position(span.start));
        let mut conversion_notes = Vec::new();
        if id != id_from_name {
            let (file, position) = location(&self.name.span);
            let reasons = vec![format!("another entry is already named `{id_from_name}`")];
            let (before, after) = (self.name.value.clone(), id.clone());
            conversion_notes.push(ConversionNote {
                rule: id.clone(),
                key: "name",
                file,
                position,
                before,
                after,
                reasons,
            });
        }
        for (key, patterns) in [("trigger", &self.trigger), ("safety", &self.safety)] {
            conversion_notes.extend(patterns.iter().filter(|pattern| !pattern.reasons.is_empty()).map(|pattern| {
                let (file, position) = location(&pattern.old.span);
                let (before, after, reasons) =
                    (pattern.old.value.clone(), pattern.new.clone(), pattern.reasons.clone());
                ConversionNote { rule: id.clone(), key, file, position, before, after, reasons }
            }));
        }
        let rule = NewRule { text: self.to_markdown(&id), id, name_span: self.name.span.clone(), conversion_notes };
        (self, rule)
    }

    fn to_markdown(&self, id: &str) -> String {
        let mut lines = vec!["---".to_owned()];
        lines.extend(self.title(id).map(|title| format!("name: {}", scalar(title))));
        for (key, patterns) in [("trigger", &self.trigger), ("safety", &self.safety)] {
            match patterns.as_slice() {
                [] => {}
                [pattern] => lines.push(format!("{key}: {}", scalar(&pattern.new))),
                patterns => {
                    lines.push(format!("{key}:"));
                    lines.extend(patterns.iter().map(|pattern| format!("  - {}", scalar(&pattern.new))));
                }
            }
        }
        lines.extend(self.compare_to.map(|baseline| format!("compare_to: {}", baseline.name())));
        lines.push("---".to_owned());
        format!("{}\n{}\n", lines.join("\n"), self.body)
    }

    /// The entry's name, unless it equals the id.
    fn title(&self, id: &str) -> Option<&str> {
        Some(self.name.value.as_str()).filter(|title| *title != id)
    }

    /// Parses the converted rule, and returns true if it means the same as the entry.
    fn is_equivalent(&self, rule: &NewRule) -> bool {
        let source = Source::new(format!("{}.md", rule.id), rule.text.as_str());
        let reader =
            RuleReader { source: &source, file_tier: Tier::Project, scope: &Scope::default(), protected_branches: &[] };
        let Some(read) =
            reader.read_markdown(&rule.id, RuleOrigin::Markdown).definition.map(|definition| definition.rule)
        else {
            return false;
        };
        let Detector::Files(files) = &read.detect else { return false };
        let FileRuleKind::Trigger { trigger, safety } = &files.kind else { return false };
        let same = |read: &[FilePattern], converted: &[EntryPattern]| {
            read.iter().map(|pattern| &pattern.source).eq(converted.iter().map(|pattern| &pattern.new))
        };
        same(trigger, &self.trigger)
            && same(safety, &self.safety)
            && files.scope.compare_to == self.compare_to.unwrap_or_default()
            && read.title.as_deref() == self.title(&rule.id)
            && read.reason == join_lines(&self.body)
    }
}

fn known_keys() -> String {
    let names: Vec<String> = keys::all_keys(KEYS).map(|key| format!("`{}`", key.name)).collect();
    names.join(", ")
}

fn scalar(text: &str) -> String {
    Scalar::Text(text.to_owned()).render()
}

fn refuse_missing(message: &str, help: &str, span: &Range<usize>, fields: &mut Fields) {
    let problem =
        Diagnostic::error(DiagnosticKind::MissingKey, message, fields.source(), Some(span.clone())).help(help);
    fields.problems.push(problem);
}

/// Reads a non-empty string. A missing key is reported elsewhere.
fn read_non_empty_text(key: &str, fields: &mut Fields) -> Option<SpannedText> {
    let key_span = fields.key_span(key)?;
    let before = fields.problems.len();
    let text = fields.text(key);
    if fields.problems.len() > before {
        return None;
    }
    let text = text.filter(|text| !text.value.trim().is_empty());
    if text.is_none() {
        let problem = Diagnostic::error(
            DiagnosticKind::InvalidValue,
            format!("`{key}` is empty"),
            fields.source(),
            Some(key_span),
        );
        fields.problems.push(problem.help("write a value after the key"));
    }
    text
}

fn check_name(name: &SpannedText, fields: &mut Fields) -> bool {
    let id = rule_id::from_title(&name.value);
    let problem = if id.is_empty() {
        let message = format!("no rule id can be derived from `{}`", name.value);
        Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(name.span.clone()))
            .help("use a name with ASCII letters or digits: the rule's file is named after them")
    } else if let Err(invalid_id) = rule_id::check(&id) {
        invalid_id.diagnostic_at(fields.source(), Some(name.span.clone()))
    } else {
        return true;
    };
    fields.problems.push(problem);
    false
}

/// Reads at least one pattern, and converts each.
fn read_patterns(key: &str, fields: &mut Fields) -> Option<Vec<EntryPattern>> {
    let key_span = fields.key_span(key)?;
    let before = fields.problems.len();
    let texts = fields.texts(key).unwrap_or_default();
    if texts.is_empty() && fields.problems.len() == before {
        let message = format!("`{key}` is empty");
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(key_span));
        fields.problems.push(problem.help(if key == "safety" {
            "name some files, or remove the key"
        } else {
            "name some files"
        }));
    }
    let patterns: Vec<EntryPattern> = texts.into_iter().filter_map(|text| convert_pattern(text, fields)).collect();
    (fields.problems.len() == before).then_some(patterns)
}

fn convert_pattern(old: SpannedText, fields: &mut Fields) -> Option<EntryPattern> {
    let old_pattern::ConvertedPattern { pattern, reasons } = old_pattern::convert(&old.value);
    match Pattern::parse(&pattern) {
        Ok(_) => Some(EntryPattern { old, new: pattern, reasons }),
        // The problem's span refers to the converted pattern, which may not be in the file literally.
        Err(problem) => {
            refuse_pattern(&SpannedText { value: pattern, span: old.span }, &problem, fields);
            None
        }
    }
}

fn read_body(fields: &mut Fields, span: &Range<usize>, directory: &Path) -> Option<String> {
    match (fields.key_span("instructions"), fields.key_span("instructions_file")) {
        (None, None) => {
            let help = "say under `instructions` what the agent should do, or name a file with `instructions_file`";
            refuse_missing("the entry has no `instructions`", help, span, fields);
            None
        }
        (Some(_), Some(file)) => {
            let message = "an entry may have `instructions` or `instructions_file`, not both";
            let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(file));
            fields.problems.push(problem.help("remove one of them"));
            None
        }
        (Some(_), None) => read_non_empty_text("instructions", fields).map(|text| text.value.trim().to_owned()),
        (None, Some(_)) => {
            let file = read_non_empty_text("instructions_file", fields)?;
            instructions::read(&file, directory, fields)
        }
    }
}
