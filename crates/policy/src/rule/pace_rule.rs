//! The fields of a rule about the pace of the work.
//!
//! One is written with its kind as a key (`repeated_command: {threshold: 5, window: 120}`) or flat, with `type` and the
//! same fields beside it. Both read alike.

use std::ops::Range;

use engine::event::{EventKind, EventKinds};
use engine::pace::{LiveMode, PaceLimit, PaceRule, TokenKind};
use engine::suggest;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;
use crate::text::keys::{Key, Keys, Mapping, Need, Takes, words};
use crate::text::yaml::Yaml;
use crate::values::quantity::{DAY, parse_duration};
use crate::values::regex::regex;

/// Each of these makes a rule one about pace; no rule has two of them.
pub static CLAUSES: &[Key] = &[
    Key::new("phase_timeout", Takes::Mapping(&PHASE_TIMEOUT), "a phase that lasts too long"),
    Key::new("repeated_command", Takes::Mapping(&REPEATED_COMMAND), "commands that are run over and over"),
    Key::new("repeated_file_edit", Takes::Mapping(&REPEATED_FILE_EDIT), "files that are edited over and over"),
    Key::new("require_commits", Takes::Mapping(&REQUIRE_COMMITS), "phases in which nothing was committed"),
    Key::new("token_budget", Takes::Mapping(&TOKEN_BUDGET), "a phase in which models read and write too much"),
    Key::new(
        "type",
        Takes::Word(|| words(&KINDS)),
        "one of the kinds of pace rules; its fields then stand beside it, not below",
    ),
];
/// These say more of the clauses.
pub static DETAILS: &[Key] =
    &[LIVE, PATTERN, PATH_PATTERN, THRESHOLD, WINDOW, FAILURES_ONLY, MAX_DURATION, MAX_TOKENS, COUNT, LOOKBACK_PHASES];

const LIVE: Key = Key::new(
    "live",
    Takes::Word(|| words(&LIVES)),
    "what a pace rule does between moves: `warn` tells the agent once, `block` refuses calls until `linchpin continue`, \
     `off` waits for the move",
);
const PATTERN: Key = Key::new(
    "pattern",
    Takes::Regex,
    "found in the normalised text of a simple command; all that match count together. Left out, commands that are the same do",
);
const PATH_PATTERN: Key = Key::new(
    "path_pattern",
    Takes::Regex,
    "found in the path from the project's root; all that match count together. Left out, each file counts by itself",
);
const THRESHOLD: Key = Key::new("threshold", Takes::Count, "how many are too many");
const WINDOW: Key = Key::new("window", SECONDS, "within how long: seconds, or a time such as `2m`; at most 30 days");
const FAILURES_ONLY: Key = Key::new("failures_only", Takes::Flag, "`true`: only commands that failed count");
const MAX_DURATION: Key =
    Key::new("max_duration", SECONDS, "how long a phase may last: seconds, or a time such as `10m`");
const MAX_TOKENS: Key = Key::new("max_tokens", Takes::Count, "how many tokens a phase may take");
const COUNT: Key =
    Key::new("count", Takes::Words(|| words(&TOKEN_KINDS)), "which tokens count; left out, `input` and `output`");
const LOOKBACK_PHASES: Key =
    Key::new("lookback_phases", Takes::Count, "in how many phases a commit is looked for; 1 is this one");
const SECONDS: Takes = Takes::Either(&[Takes::Count, Takes::Duration]);

static REPEATED_COMMAND: Mapping =
    Mapping::new("repeated_command", "Commands that are run over and over.", REPEATED_COMMAND_KEYS)
        .needs(&[Need::All(&["threshold", "window"])]);
const REPEATED_COMMAND_KEYS: Keys = &[&[FAILURES_ONLY, PATTERN, THRESHOLD, WINDOW]];
static REPEATED_FILE_EDIT: Mapping =
    Mapping::new("repeated_file_edit", "Files that are edited over and over.", REPEATED_FILE_EDIT_KEYS)
        .needs(&[Need::All(&["threshold", "window"])]);
const REPEATED_FILE_EDIT_KEYS: Keys = &[&[PATH_PATTERN, THRESHOLD, WINDOW]];
static PHASE_TIMEOUT: Mapping = Mapping::new("phase_timeout", "A phase that lasts too long.", PHASE_TIMEOUT_KEYS)
    .needs(&[Need::All(&["max_duration"])]);
const PHASE_TIMEOUT_KEYS: Keys = &[&[MAX_DURATION]];
static TOKEN_BUDGET: Mapping =
    Mapping::new("token_budget", "A phase in which models read and write too much.", TOKEN_BUDGET_KEYS)
        .needs(&[Need::All(&["max_tokens"])]);
const TOKEN_BUDGET_KEYS: Keys = &[&[COUNT, MAX_TOKENS]];
static REQUIRE_COMMITS: Mapping =
    Mapping::new("require_commits", "Phases in which nothing was committed.", REQUIRE_COMMITS_KEYS)
        .needs(&[Need::All(&["lookback_phases"])]);
const REQUIRE_COMMITS_KEYS: Keys = &[&[LOOKBACK_PHASES]];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    RepeatedCommand,
    RepeatedFileEdit,
    PhaseTimeout,
    TokenBudget,
    RequireCommits,
}

const KINDS: [(&str, Kind); 5] = [
    ("repeated_command", Kind::RepeatedCommand),
    ("repeated_file_edit", Kind::RepeatedFileEdit),
    ("phase_timeout", Kind::PhaseTimeout),
    ("token_budget", Kind::TokenBudget),
    ("require_commits", Kind::RequireCommits),
];
const LIVES: [(&str, LiveMode); 3] = [("warn", LiveMode::Warn), ("block", LiveMode::Block), ("off", LiveMode::Off)];
const TOKEN_KINDS: [(&str, TokenKind); 4] = [
    ("input", TokenKind::Input),
    ("output", TokenKind::Output),
    ("cache_read", TokenKind::CacheRead),
    ("cache_write", TokenKind::CacheWrite),
];

/// Seconds. What happened longer ago than the journal is kept by default is nobody's pace.
const LONGEST_WINDOW: u64 = 30 * DAY;

impl Kind {
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

/// Whether the fields are those of a pace rule.
pub fn is_meant(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// What it is judged on. Whether anything was committed is asked when the work ends; tokens are used without tools, too.
pub fn events(fields: &Fields) -> EventKinds {
    let is_about = |limit: &str| fields.has(limit) || fields.says("type", limit);
    if is_about("require_commits") {
        return EventKinds::default().with(EventKind::Stop);
    }
    let calls =
        EventKinds::default().with(EventKind::BeforeTool).with(EventKind::AfterTool).with(EventKind::ToolFailed);
    if is_about("token_budget") { calls.with(EventKind::Stop).with(EventKind::SubagentStop) } else { calls }
}

/// `None` where what there is makes no rule; why is among the problems.
pub fn read(fields: &mut Fields) -> Option<PaceRule> {
    let found: Vec<(&str, Range<usize>)> =
        CLAUSES.iter().filter_map(|key| Some((key.name, fields.key_span(key.name)?))).collect();
    if let [(first, _), (second, span), ..] = found.as_slice() {
        let message = format!("a rule has one limit on the pace, not `{first}` and `{second}`");
        fields.refuse(ErrorKind::InvalidValue, message, span.clone());
    }
    let live = fields.choice("live", &LIVES).unwrap_or_default();
    let (clause, span) = found.first()?.clone();
    let limit = if clause == "type" { flat(fields)? } else { nested(clause, span, fields)? };
    Some(PaceRule { limit, live })
}

/// Whether this is the name of a limit.
pub fn is_type(name: &str) -> bool {
    KINDS.iter().any(|(known, _)| *known == name)
}

/// In a rule about something else, each of these says nothing.
pub fn refuse_details(fields: &mut Fields) {
    for key in DETAILS {
        if let Some(span) = fields.key_span(key.name) {
            let help = if key.name == "pattern" {
                "for the commands of a call it is `command_pattern`"
            } else {
                "say which, as in `repeated_command: {threshold: 5, window: 2m}`"
            };
            let message = format!("`{}` says more of a limit on the pace, and there is none", key.name);
            fields
                .problems
                .push(Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(span)).help(help));
        }
    }
}

/// `type: repeated_command`, with its fields beside it.
fn flat(fields: &mut Fields) -> Option<PaceLimit> {
    let text = fields.text("type")?;
    let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == text.value) else {
        refuse_type(&text.value, text.span, fields);
        return None;
    };
    for key in DETAILS.iter().filter(|key| key.name != LIVE.name) {
        let is_of_kind = crate::text::keys::each(kind.keys()).any(|own| own.name == key.name);
        if let (false, Some(span)) = (is_of_kind, fields.key_span(key.name)) {
            let message = format!("`{}` is no field of `{}`", key.name, text.value);
            let help = match (key.name, kind) {
                ("pattern", Kind::RepeatedFileEdit) => Some("it is `path_pattern`".to_owned()),
                ("path_pattern", Kind::RepeatedCommand) => Some("it is `pattern`".to_owned()),
                _ => None,
            };
            let problem = Diagnostic::error(ErrorKind::UnknownKey, message, fields.source(), Some(span));
            fields.problems.push(problem.maybe_help(help));
        }
    }
    limit(*kind, &text.value, text.span.clone(), fields)
}

/// `repeated_command: {…}`.
fn nested(clause: &str, span: Range<usize>, around: &mut Fields) -> Option<PaceLimit> {
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == clause)?;
    for key in DETAILS.iter().filter(|key| key.name != LIVE.name) {
        if let Some(beside) = around.key_span(key.name) {
            let message = format!("`{}` stands below `{clause}`, not beside it", key.name);
            around.refuse(ErrorKind::InvalidValue, message, beside);
        }
    }
    let Some(node) = around.take(clause) else {
        around.refuse(ErrorKind::MissingKey, format!("`{clause}` says nothing"), span);
        return None;
    };
    let mut fields = Fields::of(node, around.source(), kind.keys());
    fields.refuse_unknown();
    let limit = limit(*kind, clause, span, &mut fields);
    around.problems.append(&mut fields.problems);
    limit
}

fn limit(kind: Kind, name: &str, here: Range<usize>, fields: &mut Fields) -> Option<PaceLimit> {
    let needs = match kind {
        Kind::RepeatedCommand | Kind::RepeatedFileEdit => &["threshold", "window"][..],
        Kind::PhaseTimeout => &["max_duration"],
        Kind::TokenBudget => &["max_tokens"],
        Kind::RequireCommits => &["lookback_phases"],
    };
    for key in needs {
        if !fields.has(key) {
            fields.refuse(ErrorKind::MissingKey, format!("`{name}` needs `{key}`"), here.clone());
        }
    }
    Some(match kind {
        Kind::RepeatedCommand => {
            let pattern = regex("pattern", fields);
            let (threshold, window) = repetition(fields);
            let failures_only = fields.flag("failures_only").unwrap_or(false);
            PaceLimit::RepeatedCommand { pattern, threshold: threshold?, window: window?, failures_only }
        }
        Kind::RepeatedFileEdit => {
            let pattern = regex("path_pattern", fields);
            let (threshold, window) = repetition(fields);
            PaceLimit::RepeatedFileEdit { pattern, threshold: threshold?, window: window? }
        }
        Kind::PhaseTimeout => PaceLimit::PhaseTimeout { max_duration: seconds("max_duration", fields)? },
        Kind::TokenBudget => {
            let max_tokens = positive("max_tokens", fields);
            let count = token_kinds(fields);
            PaceLimit::TokenBudget { max_tokens: max_tokens?, count }
        }
        Kind::RequireCommits => {
            let phases = positive("lookback_phases", fields)?;
            PaceLimit::RequireCommits { lookback_phases: u32::try_from(phases).unwrap_or(u32::MAX) }
        }
    })
}

fn repetition(fields: &mut Fields) -> (Option<u32>, Option<u64>) {
    let threshold = positive("threshold", fields).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    (threshold, seconds("window", fields))
}

/// A whole number from 1 on.
fn positive(key: &str, fields: &mut Fields) -> Option<u64> {
    let node = fields.take(key)?;
    let number = match &node.value {
        Yaml::Number(number) => number.as_u64().filter(|number| *number > 0),
        _ => None,
    };
    if number.is_none() {
        let message = format!("`{key}` takes a whole number from 1 on");
        fields.refuse(ErrorKind::InvalidRuleThreshold, message, node.span);
    }
    number
}

/// Seconds as a number, or a time with its unit.
fn seconds(key: &str, fields: &mut Fields) -> Option<u64> {
    let node = fields.take(key)?;
    let seconds = match &node.value {
        Yaml::Number(number) => number.as_u64(),
        Yaml::Text(text) => parse_duration(text).map(|duration| duration.as_secs()),
        _ => None,
    };
    match seconds {
        Some(1..=LONGEST_WINDOW) => seconds,
        Some(longer) if longer > LONGEST_WINDOW => {
            fields.refuse(ErrorKind::InvalidRuleThreshold, format!("`{key}` is at most 30 days"), node.span);
            None
        }
        _ => {
            let message = format!("`{key}` takes seconds from 1 on, or a time such as `90s`, `2m` or `1h`");
            fields.refuse(ErrorKind::InvalidRuleThreshold, message, node.span);
            None
        }
    }
}

fn token_kinds(fields: &mut Fields) -> Vec<TokenKind> {
    let Some(texts) = fields.texts("count") else { return TokenKind::DEFAULT.to_vec() };
    let mut kinds = Vec::new();
    for text in texts {
        match TOKEN_KINDS.iter().find(|(name, _)| *name == text.value) {
            Some((_, kind)) if !kinds.contains(kind) => kinds.push(*kind),
            Some(_) => {}
            None => {
                let message = format!(
                    "`{}` is no kind of tokens: they are input, output, cache_read and cache_write",
                    text.value
                );
                fields.refuse(ErrorKind::InvalidValue, message, text.span);
            }
        }
    }
    kinds
}

/// A kind of rule that there is not.
pub fn refuse_type(name: &str, span: Range<usize>, fields: &mut Fields) {
    let help = suggest::closest(name, KINDS.iter().map(|(name, _)| *name))
        .map_or_else(|| format!("the types are {}", words(&KINDS).join(", ")), suggest::did_you_mean);
    let message = format!("unknown rule type `{name}`");
    fields
        .problems
        .push(Diagnostic::error(ErrorKind::UnknownRuleType, message, fields.source(), Some(span)).help(help));
}
