//! Checks placeholders (`{name}`) in a file rule's command and reason.

use engine::file_rules::{FileRule, FileRuleKind};
use engine::suggest;
use path::pattern::Pattern;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};

const COMMAND_PLACEHOLDERS: [&str; 3] = ["file", "files", "repo_root"];
const REASON_PLACEHOLDERS: [&str; 4] = ["trigger_files", "expected_files", "missing", "created_files"];

/// The variables that the patterns for triggering files bind.
pub fn captured_variables(kind: &FileRuleKind) -> Vec<String> {
    let parsed = kind.trigger_patterns().iter().filter_map(|pattern| Pattern::parse(&pattern.source).ok());
    parsed.flat_map(|pattern| pattern.variables().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Warns of unknown placeholders in a command, which would be passed to the program literally.
pub fn warn_of_command(text: &SpannedText, words: &[String], captured_variables: &[String], fields: &mut Fields) {
    let known_placeholders: Vec<&str> =
        COMMAND_PLACEHOLDERS.into_iter().chain(captured_variables.iter().map(String::as_str)).collect();
    for name in words.iter().flat_map(|word| placeholder_names(word)).filter(|name| !known_placeholders.contains(name))
    {
        let help = suggest::closest(name, known_placeholders.iter().copied()).map_or_else(
            || {
                format!(
                    "the program gets this text unchanged; known placeholders: {}",
                    join_placeholders(&known_placeholders)
                )
            },
            suggest::did_you_mean,
        );
        warn_of_unknown(name, help, Some(text.span.clone()), fields);
    }
}

/// Refuses placeholders in scripts: a file name inserted into a script could run commands. Scripts get the files as
/// arguments instead.
pub fn refuse_in_script(script: &SpannedText, captured_variables: &[String], fields: &mut Fields) {
    let placeholder_names = COMMAND_PLACEHOLDERS.into_iter().chain(captured_variables.iter().map(String::as_str));
    for placeholder in
        placeholder_names.map(|name| format!("{{{name}}}")).filter(|placeholder| script.value.contains(placeholder))
    {
        let message = format!("`{placeholder}` is not replaced in a script");
        let problem =
            Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(script.span.clone()));
        let help = "the script gets the files as its arguments: `\"$@\"`, or `\"$1\"` with `run_for: each_match`; \
                    it runs in the project root";
        fields.problems.push(problem.help(help));
    }
}

/// Warns of unknown placeholders in a reason, but only of likely typos and of placeholders for commands: in prose,
/// braces have many meanings.
pub fn warn_of_reason(text: &str, file: &FileRule, fields: &mut Fields) {
    let captured_variables = captured_variables(&file.kind);
    let known_placeholders: Vec<&str> =
        REASON_PLACEHOLDERS.into_iter().chain(captured_variables.iter().map(String::as_str)).collect();
    for name in placeholder_names(text).filter(|name| !known_placeholders.contains(name)) {
        let help = if COMMAND_PLACEHOLDERS.contains(&name) {
            "this placeholder is for commands; in the text, use `{trigger_files}`".to_owned()
        } else if let Some(close) = suggest::closest(name, known_placeholders.iter().copied()) {
            suggest::did_you_mean(close)
        } else {
            continue;
        };
        // The reason follows the fields, so the last occurrence is the one in the reason.
        let placeholder = format!("{{{name}}}");
        let span = fields.source().text.rfind(&placeholder).map(|start| start..start + placeholder.len());
        warn_of_unknown(name, help, span, fields);
    }
}

fn warn_of_unknown(name: &str, help: String, span: Option<std::ops::Range<usize>>, fields: &mut Fields) {
    let message = format!("unknown placeholder `{{{name}}}`");
    let problem = Diagnostic::warning(DiagnosticKind::InvalidValue, message, fields.source(), span);
    fields.problems.push(problem.help(help));
}

/// Every `{name}` except `${name}`, which is shell syntax.
fn placeholder_names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(start, _)| {
        let is_shell_variable = text.get(..start)?.ends_with('$');
        let (name, _) = text.get(start + 1..)?.split_once('}')?;
        let is_name = name.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        (is_name && !is_shell_variable).then_some(name)
    })
}

fn join_placeholders(placeholder_names: &[&str]) -> String {
    let placeholder_names: Vec<String> = placeholder_names.iter().map(|name| format!("`{{{name}}}`")).collect();
    match placeholder_names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => placeholder_names.concat(),
    }
}
