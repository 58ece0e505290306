//! Reads the fields of a pace rule.
//!
//! A pace rule has its limit as a key (`repeated_command: {threshold: 5, window: 120}`), or is flat: it has
//! `type: repeated_command` and the same fields next to it. Both forms are equivalent.

use std::ops::Range;

use engine::event::{EventKind, EventKinds};
use engine::pace::{LiveMode, PaceLimit, PaceRule, TokenKind};
use engine::suggest;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::keys::{Key, KeyConstraint, Keys, Mapping, ValueType, choice_names};
use crate::text::yaml::Yaml;
use crate::values::quantity::{DAY, parse_duration};
use crate::values::regex::read_regex;

/// A rule with one of these keys is a pace rule. No rule has two of them.
pub static CLAUSES: &[Key] = &[
    Key::new("phase_timeout", ValueType::Mapping(&PHASE_TIMEOUT), "fires when a phase lasts too long"),
    Key::new("repeated_command", ValueType::Mapping(&REPEATED_COMMAND), "fires when commands are run over and over"),
    Key::new(
        "repeated_file_edit",
        ValueType::Mapping(&REPEATED_FILE_EDIT),
        "fires when files are edited over and over",
    ),
    Key::new("require_commits", ValueType::Mapping(&REQUIRE_COMMITS), "fires when nothing was committed"),
    Key::new("token_budget", ValueType::Mapping(&TOKEN_BUDGET), "fires when a phase uses too many tokens"),
    Key::new(
        "type",
        ValueType::Choice(|| choice_names(&LIMIT_KINDS)),
        "the kind of pace rule; write its fields next to `type`, not inside",
    ),
];
/// Options of the clauses. All except `live` are also keys of the mappings under the clauses.
pub static OPTIONS: &[Key] =
    &[LIVE, PATTERN, PATH_PATTERN, THRESHOLD, WINDOW, FAILURES_ONLY, MAX_DURATION, MAX_TOKENS, COUNT, LOOKBACK_PHASES];

const LIVE: Key = Key::new(
    "live",
    ValueType::Choice(|| choice_names(&LIVE_MODES)),
    "what a pace rule does between moves: `warn` warns the agent once, `block` refuses calls until `linchpin \
     continue`, `off` does nothing until the move",
);
const PATTERN: Key = Key::new(
    "pattern",
    ValueType::Regex,
    "a regex that is found in the normalised text of a simple command; all matching commands count together. By \
     default, each command counts by itself",
);
const PATH_PATTERN: Key = Key::new(
    "path_pattern",
    ValueType::Regex,
    "a regex that is found in the path relative to the project root; all matching files count together. By default, \
     each file counts by itself",
);
const THRESHOLD: Key = Key::new("threshold", ValueType::Integer, "how many commands or edits are too many");
const WINDOW: Key =
    Key::new("window", SECONDS, "the time window: seconds, or a duration such as `2m`; at most 30 days");
const FAILURES_ONLY: Key = Key::new("failures_only", ValueType::Boolean, "`true`: only failed commands count");
const MAX_DURATION: Key =
    Key::new("max_duration", SECONDS, "how long a phase may last: seconds, or a duration such as `10m`");
const MAX_TOKENS: Key = Key::new("max_tokens", ValueType::Integer, "how many tokens a phase may take");
const COUNT: Key = Key::new(
    "count",
    ValueType::Choices(|| choice_names(&TOKEN_KINDS)),
    "which tokens count; by default `input` and `output`",
);
const LOOKBACK_PHASES: Key = Key::new(
    "lookback_phases",
    ValueType::Integer,
    "in how many phases to look for a commit; 1 means only the current one",
);
const SECONDS: ValueType = ValueType::Either(&[ValueType::Integer, ValueType::Duration]);

static REPEATED_COMMAND: Mapping =
    Mapping::new("repeated_command", "Fires when commands are run over and over.", REPEATED_COMMAND_KEYS)
        .constraints(&[KeyConstraint::AllOf(&["threshold", "window"])]);
const REPEATED_COMMAND_KEYS: Keys = &[&[FAILURES_ONLY, PATTERN, THRESHOLD, WINDOW]];
static REPEATED_FILE_EDIT: Mapping =
    Mapping::new("repeated_file_edit", "Fires when files are edited over and over.", REPEATED_FILE_EDIT_KEYS)
        .constraints(&[KeyConstraint::AllOf(&["threshold", "window"])]);
const REPEATED_FILE_EDIT_KEYS: Keys = &[&[PATH_PATTERN, THRESHOLD, WINDOW]];
static PHASE_TIMEOUT: Mapping = Mapping::new("phase_timeout", "Fires when a phase lasts too long.", PHASE_TIMEOUT_KEYS)
    .constraints(&[KeyConstraint::AllOf(&["max_duration"])]);
const PHASE_TIMEOUT_KEYS: Keys = &[&[MAX_DURATION]];
static TOKEN_BUDGET: Mapping =
    Mapping::new("token_budget", "Fires when a phase uses too many tokens.", TOKEN_BUDGET_KEYS)
        .constraints(&[KeyConstraint::AllOf(&["max_tokens"])]);
const TOKEN_BUDGET_KEYS: Keys = &[&[COUNT, MAX_TOKENS]];
static REQUIRE_COMMITS: Mapping =
    Mapping::new("require_commits", "Fires when nothing was committed.", REQUIRE_COMMITS_KEYS)
        .constraints(&[KeyConstraint::AllOf(&["lookback_phases"])]);
const REQUIRE_COMMITS_KEYS: Keys = &[&[LOOKBACK_PHASES]];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitKind {
    RepeatedCommand,
    RepeatedFileEdit,
    PhaseTimeout,
    TokenBudget,
    RequireCommits,
}

const LIMIT_KINDS: [(&str, LimitKind); 5] = [
    ("repeated_command", LimitKind::RepeatedCommand),
    ("repeated_file_edit", LimitKind::RepeatedFileEdit),
    ("phase_timeout", LimitKind::PhaseTimeout),
    ("token_budget", LimitKind::TokenBudget),
    ("require_commits", LimitKind::RequireCommits),
];
const LIVE_MODES: [(&str, LiveMode); 3] =
    [("warn", LiveMode::Warn), ("block", LiveMode::Block), ("off", LiveMode::Off)];
const TOKEN_KINDS: [(&str, TokenKind); 4] = [
    ("input", TokenKind::Input),
    ("output", TokenKind::Output),
    ("cache_read", TokenKind::CacheRead),
    ("cache_write", TokenKind::CacheWrite),
];

/// Maximum window in seconds. Longer windows are refused, because events from more than a month ago say nothing about
/// the current pace.
const LONGEST_WINDOW: u64 = 30 * DAY;

impl LimitKind {
    fn keys(self) -> Keys {
        match self {
            Self::RepeatedCommand => REPEATED_COMMAND_KEYS,
            Self::RepeatedFileEdit => REPEATED_FILE_EDIT_KEYS,
            Self::PhaseTimeout => PHASE_TIMEOUT_KEYS,
            Self::TokenBudget => TOKEN_BUDGET_KEYS,
            Self::RequireCommits => REQUIRE_COMMITS_KEYS,
        }
    }
}

/// True if the fields are those of a pace rule.
pub fn has_clause(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// The events on which a pace rule is judged. `require_commits` is judged when the agent stops. `token_budget` is
/// judged on stops too, because tokens are also used without tool calls.
pub fn events(fields: &Fields) -> EventKinds {
    let has_limit = |limit: &str| fields.has(limit) || fields.has_text("type", limit);
    if has_limit("require_commits") {
        return EventKinds::default().with(EventKind::Stop);
    }
    let calls =
        EventKinds::default().with(EventKind::BeforeTool).with(EventKind::AfterTool).with(EventKind::ToolFailed);
    if has_limit("token_budget") { calls.with(EventKind::Stop).with(EventKind::SubagentStop) } else { calls }
}

/// Returns `None` if the limit is invalid, and reports why.
pub fn read(fields: &mut Fields) -> Option<PaceRule> {
    let clauses: Vec<(&str, Range<usize>)> =
        CLAUSES.iter().filter_map(|key| Some((key.name, fields.key_span(key.name)?))).collect();
    if let [(first, _), (second, span), ..] = clauses.as_slice() {
        let message = format!("a pace rule may have only one limit, not `{first}` and `{second}`");
        fields.refuse(DiagnosticKind::InvalidValue, message, span.clone());
    }
    let live = fields.choice("live", &LIVE_MODES).unwrap_or_default();
    let (clause, span) = clauses.first()?.clone();
    let limit = if clause == "type" { read_flat(fields)? } else { read_nested(clause, span, fields)? };
    Some(PaceRule { limit, live })
}

/// True if `name` is a kind of limit.
pub fn is_limit_kind(name: &str) -> bool {
    LIMIT_KINDS.iter().any(|(known, _)| *known == name)
}

/// Refuses the options of pace rules in a rule of another kind.
pub fn refuse_options(fields: &mut Fields) {
    for key in OPTIONS {
        if let Some(span) = fields.key_span(key.name) {
            let help = if key.name == "pattern" {
                "to match the commands of a call, use `command_pattern`"
            } else {
                "add a limit, as in `repeated_command: {threshold: 5, window: 2m}`"
            };
            let message = format!("`{}` needs a pace limit, and the rule has none", key.name);
            fields
                .problems
                .push(Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(span)).help(help));
        }
    }
}

/// Reads `type: repeated_command` with its fields next to it.
fn read_flat(fields: &mut Fields) -> Option<PaceLimit> {
    let text = fields.text("type")?;
    let Some((_, kind)) = LIMIT_KINDS.iter().find(|(name, _)| *name == text.value) else {
        refuse_type(&text.value, text.span, fields);
        return None;
    };
    for key in OPTIONS.iter().filter(|key| key.name != LIVE.name) {
        let is_key_of_kind = crate::text::keys::all_keys(kind.keys()).any(|known_key| known_key.name == key.name);
        if let (false, Some(span)) = (is_key_of_kind, fields.key_span(key.name)) {
            let message = format!("`{}` is not a field of `{}`", key.name, text.value);
            let help = match (key.name, kind) {
                ("pattern", LimitKind::RepeatedFileEdit) => Some("use `path_pattern`".to_owned()),
                ("path_pattern", LimitKind::RepeatedCommand) => Some("use `pattern`".to_owned()),
                _ => None,
            };
            let problem = Diagnostic::error(DiagnosticKind::UnknownKey, message, fields.source(), Some(span));
            fields.problems.push(problem.maybe_help(help));
        }
    }
    read_limit(*kind, &text.value, text.span.clone(), fields)
}

/// Reads `repeated_command: {…}`.
fn read_nested(clause: &str, span: Range<usize>, rule_fields: &mut Fields) -> Option<PaceLimit> {
    let (_, kind) = LIMIT_KINDS.iter().find(|(name, _)| *name == clause)?;
    for key in OPTIONS.iter().filter(|key| key.name != LIVE.name) {
        if let Some(misplaced) = rule_fields.key_span(key.name) {
            let message = format!("`{}` belongs inside `{clause}`, not next to it", key.name);
            rule_fields.refuse(DiagnosticKind::InvalidValue, message, misplaced);
        }
    }
    let Some(node) = rule_fields.take(clause) else {
        rule_fields.refuse(DiagnosticKind::MissingKey, format!("`{clause}` is empty"), span);
        return None;
    };
    let mut fields = Fields::of(node, rule_fields.source(), kind.keys());
    fields.refuse_unknown();
    let limit = read_limit(*kind, clause, span, &mut fields);
    rule_fields.problems.append(&mut fields.problems);
    limit
}

fn read_limit(kind: LimitKind, name: &str, limit_span: Range<usize>, fields: &mut Fields) -> Option<PaceLimit> {
    let required = match kind {
        LimitKind::RepeatedCommand | LimitKind::RepeatedFileEdit => &["threshold", "window"][..],
        LimitKind::PhaseTimeout => &["max_duration"],
        LimitKind::TokenBudget => &["max_tokens"],
        LimitKind::RequireCommits => &["lookback_phases"],
    };
    for key in required {
        if !fields.has(key) {
            fields.refuse(DiagnosticKind::MissingKey, format!("`{name}` needs `{key}`"), limit_span.clone());
        }
    }
    Some(match kind {
        LimitKind::RepeatedCommand => {
            let pattern = read_regex("pattern", fields);
            let (threshold, window) = read_repetition(fields);
            let failures_only = fields.boolean("failures_only").unwrap_or(false);
            PaceLimit::RepeatedCommand { pattern, threshold: threshold?, window: window?, failures_only }
        }
        LimitKind::RepeatedFileEdit => {
            let pattern = read_regex("path_pattern", fields);
            let (threshold, window) = read_repetition(fields);
            PaceLimit::RepeatedFileEdit { pattern, threshold: threshold?, window: window? }
        }
        LimitKind::PhaseTimeout => PaceLimit::PhaseTimeout { max_duration: read_seconds("max_duration", fields)? },
        LimitKind::TokenBudget => {
            let max_tokens = read_positive_integer("max_tokens", fields);
            let count = read_token_kinds(fields);
            PaceLimit::TokenBudget { max_tokens: max_tokens?, count }
        }
        LimitKind::RequireCommits => {
            let phases = read_positive_integer("lookback_phases", fields)?;
            PaceLimit::RequireCommits { lookback_phases: u32::try_from(phases).unwrap_or(u32::MAX) }
        }
    })
}

fn read_repetition(fields: &mut Fields) -> (Option<u32>, Option<u64>) {
    let threshold = read_positive_integer("threshold", fields).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    (threshold, read_seconds("window", fields))
}

/// Reads a positive integer.
fn read_positive_integer(key: &str, fields: &mut Fields) -> Option<u64> {
    let node = fields.take(key)?;
    let number = match &node.value {
        Yaml::Number(number) => number.as_u64().filter(|number| *number > 0),
        _ => None,
    };
    if number.is_none() {
        let message = format!("`{key}` must be an integer of at least 1");
        fields.refuse(DiagnosticKind::InvalidRuleThreshold, message, node.span);
    }
    number
}

/// Reads a number of seconds, or a duration with a unit.
fn read_seconds(key: &str, fields: &mut Fields) -> Option<u64> {
    let node = fields.take(key)?;
    let seconds = match &node.value {
        Yaml::Number(number) => number.as_u64(),
        Yaml::Text(text) => parse_duration(text).map(|duration| duration.as_secs()),
        _ => None,
    };
    match seconds {
        Some(1..=LONGEST_WINDOW) => seconds,
        Some(longer) if longer > LONGEST_WINDOW => {
            fields.refuse(DiagnosticKind::InvalidRuleThreshold, format!("`{key}` must be at most 30 days"), node.span);
            None
        }
        _ => {
            let message =
                format!("`{key}` must be a number of seconds of at least 1, or a duration such as `90s`, `2m` or `1h`");
            fields.refuse(DiagnosticKind::InvalidRuleThreshold, message, node.span);
            None
        }
    }
}

fn read_token_kinds(fields: &mut Fields) -> Vec<TokenKind> {
    let Some(texts) = fields.texts("count") else { return TokenKind::DEFAULT.to_vec() };
    let mut kinds = Vec::new();
    for text in texts {
        match TOKEN_KINDS.iter().find(|(name, _)| *name == text.value) {
            Some((_, kind)) if !kinds.contains(kind) => kinds.push(*kind),
            Some(_) => {}
            None => {
                let message = format!(
                    "unknown kind of tokens `{}`: use `input`, `output`, `cache_read` or `cache_write`",
                    text.value
                );
                fields.refuse(DiagnosticKind::InvalidValue, message, text.span);
            }
        }
    }
    kinds
}

/// Refuses an unknown kind of limit.
pub fn refuse_type(name: &str, span: Range<usize>, fields: &mut Fields) {
    let help = suggest::closest(name, LIMIT_KINDS.iter().map(|(name, _)| *name))
        .map_or_else(|| format!("known types: {}", choice_names(&LIMIT_KINDS).join(", ")), suggest::did_you_mean);
    let message = format!("unknown rule type `{name}`");
    fields
        .problems
        .push(Diagnostic::error(DiagnosticKind::UnknownRuleType, message, fields.source(), Some(span)).help(help));
}
