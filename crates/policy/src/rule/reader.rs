//! Reads one rule from a Markdown file, a library or a list.

use std::ops::Range;

use engine::expr::Scope;
use engine::pace::LiveMode;
use engine::rules::{Detector, Rule, Tier};
use engine::{Level, suggest};

use super::definition::{RuleDefinition, RuleOrigin};
use super::events::{check_action, read_events};
use super::keys::{ACKS, ENTRY, LEVELS};
use super::kind::{RuleKind, read_action};
use super::{file_rule, lints, pace_rule, placeholders, tool_rule};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::Fields;
use crate::text::frontmatter;
use crate::text::keys;
use crate::text::paragraphs::join_lines;
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::expression::check_expression;

/// The result of reading one rule.
pub struct ParsedRule {
    /// `None` if the rule has errors.
    pub definition: Option<RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

/// Reads the rules of one file.
#[derive(Clone, Copy)]
pub struct RuleReader<'a> {
    pub source: &'a Source,
    /// The tier of the file.
    pub file_tier: Tier,
    pub scope: &'a Scope,
    /// The branches that `protected_branches` stands for in a rule.
    pub protected_branches: &'a [String],
}

impl RuleReader<'_> {
    /// Reads a Markdown file with one rule; `id` is the file's stem.
    pub fn read_markdown(&self, id: &str, origin: RuleOrigin) -> ParsedRule {
        let parsed = frontmatter::split(self.source)
            .and_then(|parts| yaml::parse(self.source, parts.yaml.clone()).map(|node| (parts, node)));
        match parsed {
            Ok((parts, node)) => {
                let parts = RuleParts {
                    id,
                    origin,
                    span: 0..self.source.text.len(),
                    fields_span: parts.yaml,
                    body: Some(parts.body),
                };
                self.read(&parts, node)
            }
            Err(problem) => {
                ParsedRule { definition: None, problems: vec![Diagnostic { rule: Some(id.to_owned()), ..*problem }] }
            }
        }
    }

    /// Reads a rule that is a mapping. `span`: the span of the whole entry, including its key.
    pub fn read_entry(&self, id: &str, origin: RuleOrigin, node: YamlNode, span: Range<usize>) -> ParsedRule {
        let fields_span = node.span.start..span.end.max(node.span.start);
        self.read(&RuleParts { id, origin, span, fields_span, body: None }, node)
    }

    fn read(&self, parts: &RuleParts, node: YamlNode) -> ParsedRule {
        let mut fields = Fields::of(node, self.source, ENTRY.keys);
        let definition = self.read_definition(parts, &mut fields);
        let mut problems = fields.problems;
        for problem in &mut problems {
            problem.rule = Some(parts.id.to_owned());
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
        ParsedRule { definition: (!has_errors).then_some(definition), problems }
    }

    fn read_definition(&self, parts: &RuleParts, fields: &mut Fields) -> RuleDefinition {
        refuse_unknown(parts, fields);
        let kind = RuleKind::read(fields);
        let default_action = if matches!(kind, RuleKind::Event | RuleKind::Pace) { Level::Warn } else { Level::Block };
        let action_span = fields.key_span("action").unwrap_or_else(|| parts.fields_span.clone());
        let (action, command) = read_action(kind, fields);
        let action = action.unwrap_or(default_action);
        let on = read_events(fields, kind, action, &parts.fields_span);
        let has_command = command.is_some();
        let detect = self.read_detector(kind, command, fields);
        check_action(action, on, action_span, fields);
        let action = if let Detector::Pace(pace) = &detect { level_of(pace.live) } else { action };
        let when = fields.text("when");
        if let Some(when) = &when {
            check_expression(when, self.scope, fields);
        }
        let title = fields.text("name").map(|text| text.value);
        let description = fields.text("description").map(|text| text.value);
        let tests = read_tests(fields);
        let enabled = fields.boolean("enabled").unwrap_or(true);
        // The agent reads a generated text if a pace rule fires, or if the command of a file rule fails.
        let has_generated_text = kind == RuleKind::Pace || has_command;
        let reason = read_reason(parts, has_generated_text, title.as_deref(), description.as_deref(), fields);
        if let Detector::Files(file) = &detect {
            placeholders::warn_of_reason(&reason, file, fields);
        }
        let max_holds = fields.integer("max_holds");
        lints::warn(&detect, action, on, fields);
        let rule = Rule {
            id: parts.id.to_owned(),
            title,
            description,
            tier: match parts.origin {
                RuleOrigin::Local | RuleOrigin::Inline => Tier::Local,
                RuleOrigin::Markdown | RuleOrigin::Library | RuleOrigin::Bundled => self.file_tier,
            },
            source: self.source.name.clone(),
            digest: digest(self.source.text.get(parts.span.clone()).unwrap_or_default()),
            on,
            detect,
            when: when.map(|text| text.value),
            action,
            on_error: fields.choice("on_error", &LEVELS),
            tags: fields.texts("tags").unwrap_or_default().into_iter().map(|tag| tag.value).collect(),
            max_holds,
            ack: fields.choice("ack", &ACKS).unwrap_or_default(),
            locked: self.read_locked(fields),
            reason,
        };
        RuleDefinition {
            rule,
            origin: parts.origin,
            file_tier: self.file_tier,
            enabled,
            is_last_good: false,
            source: self.source.clone(),
            span: parts.span.clone(),
            tests,
        }
    }

    /// `command`: the value of `action`, if it is a command.
    fn read_detector(&self, kind: RuleKind, command: Option<YamlNode>, fields: &mut Fields) -> Detector {
        let detect = match kind {
            RuleKind::Tool => Detector::Tool(Box::new(tool_rule::read(fields, self.protected_branches))),
            // Without a valid clause there are errors, so the `Detector::Event` is never used.
            RuleKind::Files => {
                file_rule::read(fields, command).map_or(Detector::Event, |file| Detector::Files(Box::new(file)))
            }
            RuleKind::Pace => pace_rule::read(fields).map_or(Detector::Event, |pace| Detector::Pace(Box::new(pace))),
            RuleKind::Event => Detector::Event,
        };
        if kind != RuleKind::Files {
            file_rule::refuse_options(fields);
        }
        if kind != RuleKind::Pace {
            pace_rule::refuse_options(fields);
        }
        detect
    }

    fn read_locked(&self, fields: &mut Fields) -> bool {
        let span = fields.key_span("locked");
        let locked = fields.boolean("locked").unwrap_or(false);
        if let (true, Tier::Project, Some(span)) = (locked, self.file_tier, span) {
            fields.refuse(DiagnosticKind::InvalidValue, "only the user's rules and bundled rules can be locked", span);
        }
        locked
    }
}

/// A rule in its file, before its fields are read.
struct RuleParts<'a> {
    id: &'a str,
    origin: RuleOrigin,
    /// The whole definition.
    span: Range<usize>,
    fields_span: Range<usize>,
    /// The text below the fields of a Markdown file.
    body: Option<&'a str>,
}

/// The level of a pace rule that fires between transitions.
fn level_of(live: LiveMode) -> Level {
    match live {
        LiveMode::Block => Level::Block,
        LiveMode::Warn | LiveMode::Off => Level::Warn,
    }
}

fn read_reason(
    parts: &RuleParts,
    has_generated_text: bool,
    title: Option<&str>,
    description: Option<&str>,
    fields: &mut Fields,
) -> String {
    let (reason, span, place) = match parts.body {
        Some(body) => (Some(body.to_owned()), None, "below the second `---`"),
        None => (
            fields.text("reason").map(|text| text.value.trim().to_owned()),
            Some(parts.span.start..parts.span.start),
            "under `reason`",
        ),
    };
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        return join_lines(&reason);
    }
    if has_generated_text || fields.problems.iter().any(|problem| problem.kind == DiagnosticKind::UnknownRuleType) {
        return String::new();
    }
    fields.problems.push(
        Diagnostic::warning(DiagnosticKind::MissingKey, "the rule has no reason", fields.source(), span)
            .help(format!("write {place} why the rule exists, and what the agent should do instead")),
    );
    description.or(title).unwrap_or_default().to_owned()
}

fn refuse_unknown(parts: &RuleParts, fields: &mut Fields) {
    if let (Some(span), Some(_)) = (fields.key_span("reason"), parts.body) {
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::UnknownKey, "unknown key `reason`", fields.source(), Some(span))
                .help("in a Markdown rule, write the reason below the second `---`"),
        );
    }
    let rule_types = likely_rule_types(fields);
    for key in &rule_types {
        pace_rule::refuse_type(&key.text, key.span.clone(), fields);
    }
    fields.refuse_unknown_except(&rule_types.iter().map(|key| key.text.as_str()).collect::<Vec<_>>());
}

/// Unknown keys that are probably meant as types of rules, such as `foo_rule: {…}` in a rule without any known clause.
fn likely_rule_types(fields: &Fields) -> Vec<YamlKey> {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    let mut clause_names = clauses.into_iter().flatten().map(|key| key.name).chain(["on"]);
    if clause_names.any(|key| fields.has(key)) {
        return Vec::new();
    }
    let rule_keys = || keys::all_keys(ENTRY.keys).map(|key| key.name);
    let is_typo =
        |key: &YamlKey| suggest::closest(&key.text, rule_keys()).is_some_and(|close| !pace_rule::is_limit_kind(close));
    fields.unknown_mappings().into_iter().filter(|key| !is_typo(key)).collect()
}

/// Checks that `tests` is a list of mappings. The cases themselves are parsed when they are run.
fn read_tests(fields: &mut Fields) -> Option<YamlNode> {
    let node = fields.take("tests")?;
    if !matches!(&node.value, Yaml::List(cases) if cases.iter().all(|case| matches!(case.value, Yaml::Map(_)))) {
        fields.refuse(DiagnosticKind::InvalidValue, "`tests` must be a list of cases, each a mapping", node.span);
        return None;
    }
    Some(node)
}
