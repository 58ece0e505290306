//! The fields of a rule about files that change together.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use engine::file_rules::{Attribute, Baseline, CommandAction, FileMode, FilePattern, FileRule, Reach, Refire, RunFor};
use engine::suggest;
use path::pattern::{Pattern, check_bound, check_set};

use crate::placeholders;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::{Fields, Text};
use crate::text::keys::{Key, Mapping, Need, Takes, words};
use crate::text::yaml::Node;
use crate::values::command_text::{self, CommandText, Place};
use crate::values::pattern::{refuse_pattern, warn_of_pattern};
use crate::values::quantity::duration;

/// Each of these makes a rule one about files; no rule has two of them.
pub static CLAUSES: &[Key] = &[
    Key::new("created", Takes::Patterns, "a file that matches one of these is new"),
    Key::new("pair", Takes::Mapping(&PAIR), "when one file changes, others have to, too"),
    Key::new("set", Takes::Patterns, "files that have to change together, whichever of them changed"),
    Key::new("trigger", Takes::Patterns, "a file that matches one of these changed"),
];
/// These say more of the clauses.
pub static DETAILS: &[Key] = &[
    Key::new(
        "attribute",
        Takes::Word(|| words(&ATTRIBUTES)),
        "whose changes count: the session's own, or all in the tree; left out, `session`",
    ),
    Key::new(
        "compare_to",
        Takes::Word(|| words(&BASELINES)),
        "what a change is a change from: where the branch left the default branch, that branch's tip, or how things \
         were at the last prompt; left out, `base`",
    ),
    Key::new(
        "refire",
        Takes::Word(|| words(&REFIRES)),
        "what asks again after an answer: other `files`, or other `content` of the same ones; left out, `files`",
    ),
    Key::new(
        "safety",
        Takes::Patterns,
        "a change of a file that matches one of these answers the `trigger`; with a variable of the `trigger`, only for \
         the file that it was bound by",
    ),
];

static PAIR: Mapping = Mapping::new("pair", "A file, and what follows from a change of it.", &[PAIR_KEYS])
    .needs(&[Need::All(&["trigger", "expects"])]);
static PAIR_KEYS: &[Key] = &[
    Key::new("expects", Takes::Patterns, "each of these has to match a changed file"),
    Key::new("trigger", Takes::Pattern, "a file that matches this changed"),
];

pub static COMMAND_ACTION: Mapping =
    Mapping::new("action", "A command that makes a file rule met. It is run in the project's root.", &[COMMAND_KEYS])
        .needs(&[Need::ExactlyOne(&[&["command"], &["shell"]])]);
static COMMAND_KEYS: &[Key] = &[
    Key::new(
        "command",
        Takes::Texts,
        "the program and its arguments, as one text or a list, without a shell; `{file}`, `{files}`, `{repo_root}` and \
         captured variables are filled in",
    ),
    Key::new(
        "run_for",
        Takes::Word(|| words(&RUNS)),
        "once for each file, or once for all; left out, for each where the command names `{file}`",
    ),
    Key::new(
        "shell",
        Takes::Text,
        "a script for `sh -c`, in place of `command`; the files are its arguments: `\"$@\"`, or `\"$1\"` with `run_for: each_match`",
    ),
    Key::new("timeout", Takes::Duration, "how long one run may take, at most `10m`").or("60s"),
];

const ATTRIBUTES: [(&str, Attribute); 2] =
    [(Attribute::Session.name(), Attribute::Session), (Attribute::Tree.name(), Attribute::Tree)];
pub const BASELINES: [(&str, Baseline); 3] = [
    (Baseline::Base.name(), Baseline::Base),
    (Baseline::DefaultTip.name(), Baseline::DefaultTip),
    (Baseline::Prompt.name(), Baseline::Prompt),
];
const REFIRES: [(&str, Refire); 2] = [("files", Refire::Files), ("content", Refire::Content)];
const RUNS: [(&str, RunFor); 2] = [("each_match", RunFor::EachMatch), ("all_matches", RunFor::AllMatches)];

const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);

/// Whether the fields are those of a file rule.
pub fn is_meant(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// `None` where what there is makes no rule; why is among the problems. `command`: what `action` holds, where that is no
/// word.
pub fn read(fields: &mut Fields, command: Option<Node>) -> Option<FileRule> {
    refuse_second_clause(fields);
    let mode = mode(fields);
    let exclude = patterns("exclude", fields).unwrap_or_default();
    let reach = Reach {
        compare_to: fields.choice("compare_to", &BASELINES).unwrap_or_default(),
        attribute: fields.choice("attribute", &ATTRIBUTES).unwrap_or_default(),
    };
    let refire = fields.choice("refire", &REFIRES).unwrap_or_default();
    let command = command.and_then(|node| command_action(node, mode.as_ref(), fields));
    let exclude = exclude.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
    Some(FileRule { mode: mode?, exclude, reach, refire, command })
}

/// In a rule about something else, each of these says nothing.
pub fn refuse_details(fields: &mut Fields) {
    for key in DETAILS {
        if let Some(span) = fields.key_span(key.name) {
            let message =
                format!("`{}` says more of `trigger`, `set`, `pair` or `created`, and there is none", key.name);
            fields.refuse(ErrorKind::InvalidValue, message, span);
        }
    }
}

fn refuse_second_clause(fields: &mut Fields) {
    let found: Vec<(&str, Range<usize>)> =
        CLAUSES.iter().filter_map(|key| Some((key.name, fields.key_span(key.name)?))).collect();
    if let [(first, _), (second, span), ..] = found.as_slice() {
        let message = format!("a rule has one of `trigger`, `set`, `pair` and `created`, not `{first}` and `{second}`");
        fields.refuse(ErrorKind::InvalidValue, message, span.clone());
    }
    if let (false, Some(span)) = (fields.has("trigger"), fields.key_span("safety")) {
        fields.problems.push(
            Diagnostic::error(
                ErrorKind::InvalidValue,
                "`safety` answers a `trigger`, and there is none",
                fields.source(),
                Some(span),
            )
            .help("`exclude` takes files out of what a rule is about"),
        );
    }
}

fn mode(fields: &mut Fields) -> Option<FileMode> {
    let plain =
        |patterns: Vec<(Pattern, Text)>| patterns.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
    if fields.has("trigger") {
        let trigger = some_patterns("trigger", fields)?;
        let safety = patterns("safety", fields).unwrap_or_default();
        check_safety(&trigger, &safety, fields);
        return Some(FileMode::Trigger { trigger: plain(trigger), safety: plain(safety) });
    }
    if fields.has("created") {
        return some_patterns("created", fields).map(plain).map(FileMode::Created);
    }
    if fields.has("set") {
        return set(fields);
    }
    let node = fields.take("pair")?;
    pair(node, fields)
}

/// A variable of `safety` is one of every trigger, and stands for the same text. Where no trigger has any variable, it stands
/// for any text.
fn check_safety(triggers: &[(Pattern, Text)], safety: &[(Pattern, Text)], fields: &mut Fields) {
    let bound: BTreeSet<&str> = triggers.iter().flat_map(|(trigger, _)| trigger.variables()).collect();
    for (pattern, text) in safety {
        let Some(name) = pattern.variables().next() else { continue };
        if pattern.variables().any(|name| bound.contains(name)) {
            let problem = triggers.iter().find_map(|(trigger, _)| check_bound(trigger, pattern).err());
            if let Some(problem) = problem {
                refuse_pattern(text, &problem, fields);
            }
        } else if bound.is_empty() {
            let message = format!(
                "no `trigger` has `{{{name}}}`, so a change of any file that this matches answers for every trigger"
            );
            let help = "if that is meant, write `*` or `**`; for an answer to each file alone, use the variable in `trigger` too";
            let problem =
                Diagnostic::warning(ErrorKind::PatternError, message, fields.source(), Some(text.span.clone()));
            fields.problems.push(problem.help(help));
        } else {
            let message = format!("no `trigger` has `{{{name}}}`, so it is unclear for which file this is the answer");
            let known: Vec<String> = bound.iter().map(|name| format!("`{{{name}}}`")).collect();
            let meant =
                suggest::closest(name, bound.iter().copied()).map(|close| format!("did you mean `{{{close}}}`?"));
            let meant = meant.unwrap_or_else(|| format!("the triggers have {}.", known.join(", ")));
            let problem = Diagnostic::error(ErrorKind::PatternError, message, fields.source(), Some(text.span.clone()));
            fields.problems.push(problem.help(format!("{meant} For any text, write `*` or `**`")));
        }
    }
}

fn set(fields: &mut Fields) -> Option<FileMode> {
    let span = fields.key_span("set").unwrap_or_default();
    let members = some_patterns("set", fields)?;
    if members.len() < 2 {
        fields.refuse(ErrorKind::InvalidValue, "a `set` has at least two members", span);
        return None;
    }
    let (patterns, texts): (Vec<Pattern>, Vec<Text>) = members.into_iter().unzip();
    if let Err((place, problem)) = check_set(&patterns) {
        if let Some(text) = texts.get(place) {
            refuse_pattern(text, &problem, fields);
        }
        return None;
    }
    Some(FileMode::Set(patterns.iter().map(FilePattern::new).collect()))
}

fn pair(node: Node, around: &mut Fields) -> Option<FileMode> {
    let span = node.span.clone();
    let mut fields = Fields::of(node, around.source(), PAIR.keys);
    if fields.problems.is_empty() {
        fields.refuse_unknown();
    }
    for key in ["trigger", "expects"] {
        if fields.problems.is_empty() && !fields.has(key) {
            fields.refuse(ErrorKind::MissingKey, format!("the `pair` has no `{key}`"), span.clone());
        }
    }
    let trigger = fields.text("trigger").and_then(|text| Some((pattern(&text, &mut fields)?, text)));
    let expects = some_patterns("expects", &mut fields);
    let mode = trigger.zip(expects).map(|((trigger, _), expects)| {
        for (expected, text) in &expects {
            if let Err(problem) = check_bound(&trigger, expected) {
                refuse_pattern(text, &problem, &mut fields);
            }
        }
        let expects = expects.iter().map(|(pattern, _)| FilePattern::new(pattern)).collect();
        FileMode::Pair { trigger: FilePattern::new(&trigger), expects }
    });
    around.problems.append(&mut fields.problems);
    mode
}

/// At least one.
fn some_patterns(key: &str, fields: &mut Fields) -> Option<Vec<(Pattern, Text)>> {
    let span = fields.key_span(key)?;
    let before = fields.problems.len();
    let found = patterns(key, fields).unwrap_or_default();
    if found.is_empty() && fields.problems.len() == before {
        fields.refuse(ErrorKind::InvalidValue, format!("`{key}` names no files"), span);
    }
    (!found.is_empty()).then_some(found)
}

fn patterns(key: &str, fields: &mut Fields) -> Option<Vec<(Pattern, Text)>> {
    let texts = fields.texts(key)?;
    Some(texts.into_iter().filter_map(|text| Some((pattern(&text, fields)?, text))).collect())
}

fn pattern(text: &Text, fields: &mut Fields) -> Option<Pattern> {
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

fn command_action(node: Node, mode: Option<&FileMode>, around: &mut Fields) -> Option<CommandAction> {
    let span = node.span.clone();
    let mut fields = Fields::of(node, around.source(), COMMAND_ACTION.keys);
    if fields.problems.is_empty() {
        fields.refuse_unknown();
    }
    if fields.problems.is_empty() && fields.has("command") == fields.has("shell") {
        let message = if fields.has("shell") {
            "the `action` has `command` and `shell`, and runs only one"
        } else {
            "the `action` has no `command`"
        };
        fields.refuse(ErrorKind::MissingKey, message, span);
    }
    let is_script = fields.has("shell");
    let command = if is_script {
        command_text::shell(&mut fields)
    } else {
        command_text::command(Place::GateOrAction, &mut fields)
    };
    let run_for = fields.choice("run_for", &RUNS);
    let timeout = duration("timeout", &mut fields);
    if let Some((_, span)) = timeout.as_ref().filter(|(timeout, _)| *timeout > LONGEST_TIMEOUT || timeout.is_zero()) {
        fields.refuse(ErrorKind::InvalidValue, "`timeout` is more than nothing and at most `10m`", span.clone());
    }
    let action = command.map(|CommandText { text, mut words }| {
        let captured = mode.map(placeholders::captured).unwrap_or_default();
        if is_script {
            placeholders::refuse_in_script(&text, &captured, &mut fields);
            words.extend(script_arguments(&text.value, run_for));
        }
        let names = |name: &str| words.iter().any(|word| word.contains(&format!("{{{name}}}")));
        let of_one = std::iter::once("file").chain(captured.iter().map(String::as_str)).find(|name| names(name));
        let run_for = run_for.unwrap_or(if of_one.is_some() { RunFor::EachMatch } else { RunFor::AllMatches });
        if let (Some(name), RunFor::AllMatches) = (of_one, run_for) {
            let message = format!("`{{{name}}}` is of one file, and the command is run once for all");
            fields.problems.push(
                Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(text.span.clone()))
                    .help("use `{files}`, or `run_for: each_match`"),
            );
        }
        if names("files") && run_for == RunFor::EachMatch {
            let (message, help) = match of_one {
                Some(name) => (
                    format!("`{{files}}` are all files, and `{{{name}}}` is of one"),
                    "use `{file}` to run the command once for each file, or `{files}` to run it once for all",
                ),
                None => (
                    "`{files}` are all files, and the command is run once for each".to_owned(),
                    "use `{file}`, or `run_for: all_matches`",
                ),
            };
            let problem = Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
            fields.problems.push(problem.help(help));
        }
        if words.iter().any(|word| word.contains("{files}") && word != "{files}") {
            let message = "`{files}` may be many arguments, so it has to be one of its own";
            fields.refuse(ErrorKind::InvalidValue, message, text.span.clone());
        }
        if !is_script {
            placeholders::warn_of_command(&text, &words, &captured, &mut fields);
        }
        let timeout = timeout.map_or(DEFAULT_TIMEOUT, |(timeout, _)| timeout);
        CommandAction { text: text.value, words, run_for, timeout }
    });
    around.problems.append(&mut fields.problems);
    action
}

/// What a script is given: its own name, and the files where it asks for arguments.
fn script_arguments(script: &str, run_for: Option<RunFor>) -> Vec<String> {
    let asks = ["$@", "$*", "$1", "${@", "${*", "${1"].iter().any(|name| script.contains(name));
    let files = if run_for == Some(RunFor::EachMatch) { "{file}" } else { "{files}" };
    std::iter::once("sh").chain(asks.then_some(files)).map(str::to_owned).collect()
}
