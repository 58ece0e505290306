//! Reads the `action` of a file rule if its value is a command.

use std::time::Duration;

use engine::file_rules::{CommandAction, FileRuleKind, RunFor};

use super::placeholders;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, choice_names};
use crate::text::yaml::YamlNode;
use crate::values::command_text::{self, CommandPlace, CommandText};
use crate::values::quantity::read_duration;

pub static COMMAND_ACTION: Mapping = Mapping::new(
    "action",
    "A command that Linchpin runs instead of asking the agent for the changes. It runs in the project root.",
    &[COMMAND_KEYS],
)
.constraints(&[KeyConstraint::OneGroup(&[&["command"], &["shell"]])]);
static COMMAND_KEYS: &[Key] = &[
    Key::new(
        "command",
        ValueType::Texts,
        "the program and its arguments, as text or a list, without a shell; `{file}`, `{files}`, `{repo_root}` and \
         captured variables are replaced",
    ),
    Key::new(
        "run_for",
        ValueType::Choice(|| choice_names(&RUN_FOR_VALUES)),
        "once for each file, or once for all files; by default once for each file if the command has `{file}`",
    ),
    Key::new(
        "shell",
        ValueType::Text,
        "a script for `sh -c`, instead of `command`; the files are its arguments: `\"$@\"`, or `\"$1\"` with \
         `run_for: each_match`",
    ),
    Key::new("timeout", ValueType::Duration, "the time limit for one run of the command, at most `10m`")
        .with_default("60s"),
];

const RUN_FOR_VALUES: [(&str, RunFor); 2] = [("each_match", RunFor::EachMatch), ("all_matches", RunFor::AllMatches)];

const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);

/// Returns `None` if the command is invalid, and reports why. `kind`: the rule's file patterns if they are valid; they
/// bind variables that the command can use.
pub fn read(node: YamlNode, kind: Option<&FileRuleKind>, rule_fields: &mut Fields) -> Option<CommandAction> {
    let span = node.span.clone();
    let mut fields = Fields::of(node, rule_fields.source(), COMMAND_ACTION.keys);
    if fields.problems.is_empty() {
        fields.refuse_unknown();
    }
    if fields.problems.is_empty() && fields.has("command") == fields.has("shell") {
        let message = if fields.has("shell") {
            "the `action` must have either `command` or `shell`, not both"
        } else {
            "the `action` has no `command`"
        };
        fields.refuse(DiagnosticKind::MissingKey, message, span);
    }
    let is_script = fields.has("shell");
    let command = if is_script {
        command_text::read_script(&mut fields)
    } else {
        command_text::read_command(CommandPlace::GateOrAction, &mut fields)
    };
    let declared_run_for = fields.choice("run_for", &RUN_FOR_VALUES);
    let timeout = read_timeout(&mut fields);
    let action = command.map(|CommandText { text, mut words }| {
        let captured = kind.map(placeholders::captured_variables).unwrap_or_default();
        if is_script {
            placeholders::refuse_in_script(&text, &captured, &mut fields);
            words.extend(script_arguments(&text.value, declared_run_for));
        }
        let run_for = determine_run_for(declared_run_for, &text, &words, &captured, &mut fields);
        if words.iter().any(|word| word.contains("{files}") && word != "{files}") {
            let message = "`{files}` must be an argument of its own, because it can become several arguments";
            fields.refuse(DiagnosticKind::InvalidValue, message, text.span.clone());
        }
        if !is_script {
            placeholders::warn_of_command(&text, &words, &captured, &mut fields);
        }
        CommandAction { text: text.value, words, run_for, timeout }
    });
    rule_fields.problems.append(&mut fields.problems);
    action
}

fn read_timeout(fields: &mut Fields) -> Duration {
    let Some((timeout, span)) = read_duration("timeout", fields) else { return DEFAULT_TIMEOUT };
    if timeout > LONGEST_TIMEOUT || timeout.is_zero() {
        fields.refuse(DiagnosticKind::InvalidValue, "`timeout` must be more than 0 and at most `10m`", span);
    }
    timeout
}

/// Determines from `declared_run_for`, or else from the placeholders, whether the command runs once for each file or once
/// for all files. Refuses placeholders that do not fit.
fn determine_run_for(
    declared_run_for: Option<RunFor>,
    text: &SpannedText,
    words: &[String],
    captured: &[String],
    fields: &mut Fields,
) -> RunFor {
    let names = |name: &str| words.iter().any(|word| word.contains(&format!("{{{name}}}")));
    let per_file = std::iter::once("file").chain(captured.iter().map(String::as_str)).find(|name| names(name));
    let run_for = declared_run_for.unwrap_or(if per_file.is_some() { RunFor::EachMatch } else { RunFor::AllMatches });
    if let (Some(name), RunFor::AllMatches) = (per_file, run_for) {
        let message = format!("`{{{name}}}` stands for one file, but the command runs once for all files");
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone()))
                .help("use `{files}`, or `run_for: each_match`"),
        );
    }
    if names("files") && run_for == RunFor::EachMatch {
        let (message, help) = match per_file {
            Some(name) => (
                format!(
                    "`{{files}}` and `{{{name}}}` cannot be combined: one stands for all files, the other for one \
                     file"
                ),
                "use `{file}` to run the command once for each file, or `{files}` to run it once for all",
            ),
            None => (
                "`{files}` stands for all files, but the command runs once for each file".to_owned(),
                "use `{file}`, or `run_for: all_matches`",
            ),
        };
        let problem =
            Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone()));
        fields.problems.push(problem.help(help));
    }
    run_for
}

/// The arguments of a script: `$0`, and the files if the script uses its arguments.
fn script_arguments(script: &str, run_for: Option<RunFor>) -> Vec<String> {
    let uses_arguments = ["$@", "$*", "$1", "${@", "${*", "${1"].iter().any(|name| script.contains(name));
    let files = if run_for == Some(RunFor::EachMatch) { "{file}" } else { "{files}" };
    std::iter::once("sh").chain(uses_arguments.then_some(files)).map(str::to_owned).collect()
}
