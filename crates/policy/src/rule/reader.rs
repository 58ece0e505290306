//! Reads one rule from a Markdown file, a library or a list.

use std::ops::Range;

use engine::expr::Scope;
use engine::pace::LiveMode;
use engine::rules::{Detector, Rule, Tier};
use engine::{Level, suggest};

use super::definition::{RuleDefinition, RuleOrigin};
use super::events::{check_action, events};
use super::keys::{ACKS, ENTRY, LEVELS};
use super::kind::{RuleKind, action};
use super::{file_rule, lints, pace_rule, placeholders, tool_rule};
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::Fields;
use crate::text::frontmatter;
use crate::text::keys;
use crate::text::paragraphs::join_lines;
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlKey, YamlNode};
use crate::values::expression::check_expression;

/// The result of reading one rule.
pub struct RuleReading {
    /// `None` if the rule has errors.
    pub definition: Option<RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

/// Reads the rules of one file.
#[derive(Clone, Copy)]
pub struct RuleReader<'a> {
    pub source: &'a Source,
    /// The tier of the file.
    pub owner: Tier,
    pub scope: &'a Scope,
    /// The branches that `protected_branches` stands for in a rule.
    pub protected_branches: &'a [String],
}

impl RuleReader<'_> {
    /// Reads a Markdown file with one rule; `id` is the file's stem.
    pub fn markdown(&self, id: &str, origin: RuleOrigin) -> RuleReading {
        let parsed = frontmatter::split(self.source)
            .and_then(|parts| yaml::parse(self.source, parts.yaml.clone()).map(|node| (parts, node)));
        match parsed {
            Ok((parts, node)) => {
                let text = RuleText {
                    id,
                    origin,
                    text: 0..self.source.text.len(),
                    fields: parts.yaml,
                    body: Some(parts.body),
                };
                self.read(&text, node)
            }
            Err(problem) => {
                RuleReading { definition: None, problems: vec![Diagnostic { rule: Some(id.to_owned()), ..*problem }] }
            }
        }
    }

    /// Reads a rule that is a mapping. `text`: the span of the whole entry, including its key.
    pub fn entry(&self, id: &str, origin: RuleOrigin, node: YamlNode, text: Range<usize>) -> RuleReading {
        let fields = node.span.start..text.end.max(node.span.start);
        self.read(&RuleText { id, origin, text, fields, body: None }, node)
    }

    fn read(&self, written: &RuleText, node: YamlNode) -> RuleReading {
        let mut fields = Fields::of(node, self.source, ENTRY.keys);
        let definition = self.definition(written, &mut fields);
        let mut problems = fields.problems;
        for problem in &mut problems {
            problem.rule = Some(written.id.to_owned());
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
        RuleReading { definition: (!broken).then_some(definition), problems }
    }

    fn definition(&self, written: &RuleText, fields: &mut Fields) -> RuleDefinition {
        refuse_unknown(written, fields);
        let kind = RuleKind::of(fields);
        let default_action = if matches!(kind, RuleKind::Event | RuleKind::Pace) { Level::Warn } else { Level::Block };
        let action_span = fields.key_span("action").unwrap_or_else(|| written.fields.clone());
        let (action, command) = action(kind, fields);
        let action = action.unwrap_or(default_action);
        let on = events(fields, kind, action, &written.fields);
        let detect = self.detect(kind, command, fields);
        check_action(action, on, action_span, fields);
        let action = if let Detector::Pace(pace) = &detect { level_of(pace.live) } else { action };
        let when = fields.text("when");
        if let Some(when) = &when {
            check_expression(when, self.scope, fields);
        }
        let title = fields.text("name").map(|text| text.value);
        let description = fields.text("description").map(|text| text.value);
        let tests = tests(fields);
        let enabled = fields.flag("enabled").unwrap_or(true);
        // Pace rules and failed commands produce their own text.
        let has_own_text = kind == RuleKind::Pace || matches!(&detect, Detector::Files(file) if file.command.is_some());
        let reason = reason(written, has_own_text, title.as_deref(), description.as_deref(), fields);
        if let Detector::Files(file) = &detect {
            placeholders::warn_of_reason(&reason, file, fields);
        }
        let max_holds = fields.count("max_holds");
        lints::warn(&detect, action, on, fields);
        let rule = Rule {
            id: written.id.to_owned(),
            title,
            description,
            tier: match written.origin {
                RuleOrigin::Local | RuleOrigin::Inline => Tier::Local,
                RuleOrigin::Markdown | RuleOrigin::Library | RuleOrigin::Bundled => self.owner,
            },
            source: self.source.name.clone(),
            digest: digest(self.source.text.get(written.text.clone()).unwrap_or_default()),
            on,
            detect,
            when: when.map(|text| text.value),
            action,
            on_error: fields.choice("on_error", &LEVELS),
            tags: fields.texts("tags").unwrap_or_default().into_iter().map(|tag| tag.value).collect(),
            max_holds,
            ack: fields.choice("ack", &ACKS).unwrap_or_default(),
            locked: self.locked(fields),
            reason,
        };
        let (source, text) = (self.source.clone(), written.text.clone());
        RuleDefinition {
            rule,
            origin: written.origin,
            owner: self.owner,
            enabled,
            is_last_good: false,
            source,
            text,
            tests,
        }
    }

    /// `command`: the value of `action`, if it is a command.
    fn detect(&self, kind: RuleKind, command: Option<YamlNode>, fields: &mut Fields) -> Detector {
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
            file_rule::refuse_details(fields);
        }
        if kind != RuleKind::Pace {
            pace_rule::refuse_details(fields);
        }
        detect
    }

    fn locked(&self, fields: &mut Fields) -> bool {
        let span = fields.key_span("locked");
        let locked = fields.flag("locked").unwrap_or(false);
        if let (true, Tier::Project, Some(span)) = (locked, self.owner, span) {
            fields.refuse(ErrorKind::InvalidValue, "only the user's rules and bundled rules can be locked", span);
        }
        locked
    }
}

/// The place of a rule in its file.
struct RuleText<'a> {
    id: &'a str,
    origin: RuleOrigin,
    /// The whole definition.
    text: Range<usize>,
    fields: Range<usize>,
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

fn reason(
    written: &RuleText,
    has_own_text: bool,
    title: Option<&str>,
    description: Option<&str>,
    fields: &mut Fields,
) -> String {
    let (given, span, how) = match written.body {
        Some(body) => (Some(body.to_owned()), None, "write below the second `---`"),
        None => (
            fields.text("reason").map(|text| text.value.trim().to_owned()),
            Some(written.text.start..written.text.start),
            "say under `reason`",
        ),
    };
    if let Some(given) = given.filter(|reason| !reason.is_empty()) {
        return join_lines(&given);
    }
    if has_own_text || fields.problems.iter().any(|problem| problem.kind == ErrorKind::UnknownRuleType) {
        return String::new();
    }
    fields.problems.push(
        Diagnostic::warning(ErrorKind::MissingKey, "the rule has no reason", fields.source(), span)
            .help(format!("{how} why, and what the agent should do instead")),
    );
    description.or(title).unwrap_or_default().to_owned()
}

fn refuse_unknown(written: &RuleText, fields: &mut Fields) {
    if let (Some(span), Some(_)) = (fields.key_span("reason"), written.body) {
        fields.problems.push(
            Diagnostic::error(ErrorKind::UnknownKey, "unknown key `reason`", fields.source(), Some(span))
                .help("in a Markdown rule, write the reason below the second `---`"),
        );
    }
    let types = unknown_types(fields);
    for key in &types {
        pace_rule::refuse_type(&key.text, key.span.clone(), fields);
    }
    fields.refuse_unknown_except(&types.iter().map(|key| key.text.as_str()).collect::<Vec<_>>());
}

/// Unknown keys that are probably meant as a kind of rule: `foo_rule: {…}` in a rule without any known clause.
fn unknown_types(fields: &Fields) -> Vec<YamlKey> {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    let mut detects = clauses.into_iter().flatten().map(|key| key.name).chain(["on"]);
    if detects.any(|key| fields.has(key)) {
        return Vec::new();
    }
    let known = || keys::each(ENTRY.keys).map(|key| key.name);
    let is_typo =
        |key: &YamlKey| suggest::closest(&key.text, known()).is_some_and(|close| !pace_rule::is_limit_kind(close));
    fields.unknown_mappings().into_iter().filter(|key| !is_typo(key)).collect()
}

/// Checks that `tests` is a list of mappings. The cases themselves are parsed when they are run.
fn tests(fields: &mut Fields) -> Option<YamlNode> {
    let node = fields.take("tests")?;
    if !matches!(&node.value, Yaml::List(cases) if cases.iter().all(|case| matches!(case.value, Yaml::Map(_)))) {
        fields.refuse(ErrorKind::InvalidValue, "`tests` must be a list of cases, each a mapping", node.span);
        return None;
    }
    Some(node)
}
