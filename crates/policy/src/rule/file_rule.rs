//! Reads the fields of a file rule, which demands that files change together.

use std::collections::BTreeSet;
use std::ops::Range;

use engine::file_rules::{AttributionMode, Baseline, ChangeScope, FilePattern, FileRule, FileRuleKind, Refire};
use engine::suggest;
use path::pattern::{Pattern, check_same_variables, check_variables_bound};

use super::command_action;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, choice_names};
use crate::text::yaml::YamlNode;
use crate::values::pattern::{refuse_pattern, warn_of_pattern};

/// A rule with one of these keys is a file rule. No rule has two of them.
pub static CLAUSES: &[Key] = &[
    Key::new("created", ValueType::Patterns, "a new file matches one of these"),
    Key::new("pair", ValueType::Mapping(&PAIR), "when one file changes, others must change, too"),
    Key::new("set", ValueType::Patterns, "files that must change together, whichever of them changed"),
    Key::new("trigger", ValueType::Patterns, "a changed file matches one of these"),
];
/// Options of the clauses.
pub static OPTIONS: &[Key] = &[
    Key::new(
        "attribute",
        ValueType::Choice(|| choice_names(&ATTRIBUTION_MODES)),
        "whose changes count: those of the session, or all in the working tree; by default `session`",
    ),
    Key::new(
        "compare_to",
        ValueType::Choice(|| choice_names(&BASELINES)),
        "the baseline of changes: where the branch left the default branch, the tip of the default branch, or the \
         state at the last prompt; by default `base`",
    ),
    Key::new(
        "refire",
        ValueType::Choice(|| choice_names(&REFIRE_MODES)),
        "what makes the rule ask again after an answer: other `files`, or other `content` of the same files; by \
         default `files`",
    ),
    Key::new(
        "safety",
        ValueType::Patterns,
        "a change of a file that matches one of these satisfies the `trigger`; with a variable of the `trigger`, \
         only for the file that bound the variable",
    ),
];

static PAIR: Mapping = Mapping::new("pair", "A file, and the files that must change with it.", &[PAIR_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["trigger", "expects"])]);
static PAIR_KEYS: &[Key] = &[
    Key::new("expects", ValueType::Patterns, "each of these must match a changed file"),
    Key::new("trigger", ValueType::Pattern, "a changed file matches this"),
];

const ATTRIBUTION_MODES: [(&str, AttributionMode); 2] = [
    (AttributionMode::Session.name(), AttributionMode::Session),
    (AttributionMode::Tree.name(), AttributionMode::Tree),
];
pub const BASELINES: [(&str, Baseline); 3] = [
    (Baseline::Base.name(), Baseline::Base),
    (Baseline::DefaultTip.name(), Baseline::DefaultTip),
    (Baseline::Prompt.name(), Baseline::Prompt),
];
const REFIRE_MODES: [(&str, Refire); 2] = [("files", Refire::Files), ("content", Refire::Content)];

/// True if the fields are those of a file rule.
pub fn has_clause(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// Returns `None` if the clauses are invalid, and reports why. `command`: the value of `action`, if it is a command.
pub fn read(fields: &mut Fields, command: Option<YamlNode>) -> Option<FileRule> {
    refuse_second_clause(fields);
    let kind = read_kind(fields);
    let exclude = read_patterns("exclude", fields).unwrap_or_default();
    let scope = ChangeScope {
        compare_to: fields.choice("compare_to", &BASELINES).unwrap_or_default(),
        attribute: fields.choice("attribute", &ATTRIBUTION_MODES).unwrap_or_default(),
    };
    let refire = fields.choice("refire", &REFIRE_MODES).unwrap_or_default();
    let command = command.and_then(|node| command_action::read(node, kind.as_ref(), fields));
    let exclude = exclude.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
    Some(FileRule { kind: kind?, exclude, scope, refire, command })
}

/// Refuses the options of file rules in a rule of another kind.
pub fn refuse_options(fields: &mut Fields) {
    for key in OPTIONS {
        if let Some(span) = fields.key_span(key.name) {
            let message = format!("`{}` needs one of `trigger`, `set`, `pair` and `created`", key.name);
            fields.refuse(DiagnosticKind::InvalidValue, message, span);
        }
    }
}

fn refuse_second_clause(fields: &mut Fields) {
    let clauses: Vec<(&str, Range<usize>)> =
        CLAUSES.iter().filter_map(|key| Some((key.name, fields.key_span(key.name)?))).collect();
    if let [(first, _), (second, span), ..] = clauses.as_slice() {
        let message =
            format!("a rule may have only one of `trigger`, `set`, `pair` and `created`, not `{first}` and `{second}`");
        fields.refuse(DiagnosticKind::InvalidValue, message, span.clone());
    }
    if let (false, Some(span)) = (fields.has("trigger"), fields.key_span("safety")) {
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidValue, "`safety` needs a `trigger`", fields.source(), Some(span))
                .help("to exclude files from the rule, use `exclude`"),
        );
    }
}

fn read_kind(fields: &mut Fields) -> Option<FileRuleKind> {
    let plain =
        |patterns: Vec<(Pattern, SpannedText)>| patterns.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
    if fields.has("trigger") {
        let trigger = read_non_empty_patterns("trigger", fields)?;
        let safety = read_patterns("safety", fields).unwrap_or_default();
        check_safety(&trigger, &safety, fields);
        return Some(FileRuleKind::Trigger { trigger: plain(trigger), safety: plain(safety) });
    }
    if fields.has("created") {
        return read_non_empty_patterns("created", fields).map(plain).map(FileRuleKind::Created);
    }
    if fields.has("set") {
        return read_set(fields);
    }
    let node = fields.take("pair")?;
    read_pair(node, fields)
}

/// Checks that every trigger binds the variables of `safety`. If no trigger has variables, the variables of `safety`
/// match any text: that is a warning.
fn check_safety(triggers: &[(Pattern, SpannedText)], safety: &[(Pattern, SpannedText)], fields: &mut Fields) {
    let bound: BTreeSet<&str> = triggers.iter().flat_map(|(trigger, _)| trigger.variables()).collect();
    for (pattern, text) in safety {
        let Some(name) = pattern.variables().next() else { continue };
        if pattern.variables().any(|name| bound.contains(name)) {
            let problem = triggers.iter().find_map(|(trigger, _)| check_variables_bound(trigger, pattern).err());
            if let Some(problem) = problem {
                refuse_pattern(text, &problem, fields);
            }
        } else if bound.is_empty() {
            let message = format!(
                "`{{{name}}}` is in no `trigger`, so one changed file that matches `{}` satisfies the rule for all \
                 triggers",
                text.value
            );
            let help = format!(
                "if that is intended, write `*` or `**` instead of `{{{name}}}`; otherwise use `{{{name}}}` in \
                 `trigger` too"
            );
            let problem =
                Diagnostic::warning(DiagnosticKind::PatternError, message, fields.source(), Some(text.span.clone()));
            fields.problems.push(problem.help(help));
        } else {
            let message = format!("no `trigger` has `{{{name}}}`, so it is unclear which changed file this belongs to");
            let bound_names: Vec<String> = bound.iter().map(|name| format!("`{{{name}}}`")).collect();
            let suggestion =
                suggest::closest(name, bound.iter().copied()).map(|close| format!("did you mean `{{{close}}}`?"));
            let suggestion = suggestion.unwrap_or_else(|| format!("the triggers have {}.", bound_names.join(", ")));
            let problem =
                Diagnostic::error(DiagnosticKind::PatternError, message, fields.source(), Some(text.span.clone()));
            fields.problems.push(problem.help(format!("{suggestion} To match any text, write `*` or `**`")));
        }
    }
}

fn read_set(fields: &mut Fields) -> Option<FileRuleKind> {
    let span = fields.key_span("set").unwrap_or_default();
    let members = read_non_empty_patterns("set", fields)?;
    if members.len() < 2 {
        fields.refuse(DiagnosticKind::InvalidValue, "`set` must have at least two members", span);
        return None;
    }
    let (patterns, texts): (Vec<Pattern>, Vec<SpannedText>) = members.into_iter().unzip();
    if let Err((index, problem)) = check_same_variables(&patterns) {
        if let Some(text) = texts.get(index) {
            refuse_pattern(text, &problem, fields);
        }
        return None;
    }
    Some(FileRuleKind::Set(patterns.iter().map(FilePattern::new).collect()))
}

fn read_pair(node: YamlNode, rule_fields: &mut Fields) -> Option<FileRuleKind> {
    let span = node.span.clone();
    let mut fields = Fields::of(node, rule_fields.source(), PAIR.keys);
    if fields.problems.is_empty() {
        fields.refuse_unknown();
    }
    for key in ["trigger", "expects"] {
        if fields.problems.is_empty() && !fields.has(key) {
            fields.refuse(DiagnosticKind::MissingKey, format!("the `pair` has no `{key}`"), span.clone());
        }
    }
    let trigger = fields.text("trigger").and_then(|text| Some((parse_pattern(&text, &mut fields)?, text)));
    let expects = read_non_empty_patterns("expects", &mut fields);
    let kind = trigger.zip(expects).map(|((trigger, _), expects)| {
        for (expected, text) in &expects {
            if let Err(problem) = check_variables_bound(&trigger, expected) {
                refuse_pattern(text, &problem, &mut fields);
            }
        }
        let expects = expects.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
        FileRuleKind::Pair { trigger: FilePattern::new(&trigger), expects }
    });
    rule_fields.problems.append(&mut fields.problems);
    kind
}

/// Reads at least one pattern.
fn read_non_empty_patterns(key: &str, fields: &mut Fields) -> Option<Vec<(Pattern, SpannedText)>> {
    let span = fields.key_span(key)?;
    let before = fields.problems.len();
    let patterns = read_patterns(key, fields).unwrap_or_default();
    if patterns.is_empty() && fields.problems.len() == before {
        fields.refuse(DiagnosticKind::InvalidValue, format!("`{key}` is empty"), span);
    }
    (!patterns.is_empty()).then_some(patterns)
}

fn read_patterns(key: &str, fields: &mut Fields) -> Option<Vec<(Pattern, SpannedText)>> {
    let texts = fields.texts(key)?;
    Some(texts.into_iter().filter_map(|text| Some((parse_pattern(&text, fields)?, text))).collect())
}

fn parse_pattern(text: &SpannedText, fields: &mut Fields) -> Option<Pattern> {
    match Pattern::parse(&text.value) {
        Ok(pattern) => {
            warn_of_pattern(text, &pattern, fields);
            Some(pattern)
        }
        Err(problem) => {
            refuse_pattern(text, &problem, fields);
            None
        }
    }
}
