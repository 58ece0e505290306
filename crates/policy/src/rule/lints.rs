//! Warnings about valid rules that are probably mistakes: clauses that never match together, patterns that never match,
//! and keys without effect.

use engine::event::{EventKind, EventKinds};
use engine::pace::LiveMode;
use engine::rules::{BranchClause, Detector, ToolRule};
use engine::{Level, bounded_regex};

use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::fields::Fields;
use crate::values::tool_name::COMMON_TOOLS;

pub fn warn(detect: &Detector, action: Level, on: EventKinds, fields: &mut Fields) {
    // A rule with errors gets no lints.
    if fields.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return;
    }
    warn_of_useless_max_holds(detect, on, fields);
    let Detector::Tool(tool) = detect else { return };
    warn_of_tools_without_commands(tool, fields);
    warn_of_lone_exception(tool, fields);
    for (key, command_regex) in
        [("command_pattern", &tool.command_regex.pattern), ("command_not_pattern", &tool.command_regex.not_pattern)]
    {
        if let Some((message, help)) =
            command_regex.as_ref().and_then(|regex_source| why_never_matches(&regex_source.regex))
        {
            warn_key(key, message, help, fields);
        }
    }
    if action == Level::Allow {
        warn_of_useless_approval(tool, fields);
    }
}

/// `max_holds` limits held stops, and calls that pace rules refuse. Other rules have no use for it.
fn warn_of_useless_max_holds(detect: &Detector, on: EventKinds, fields: &mut Fields) {
    let (message, help) = match detect {
        Detector::Pace(pace) if pace.live == LiveMode::Block => return,
        Detector::Pace(_) => (
            "`max_holds` has no effect: it counts refused calls, and this rule refuses none",
            "remove it, or write `live: block`",
        ),
        _ if on.iter().any(EventKind::is_stop) => return,
        _ => (
            "`max_holds` has no effect: it counts held stops, and this rule is not checked on a stop",
            "remove it: a blocked call stays blocked",
        ),
    };
    warn_key("max_holds", message, help, fields);
}

fn warn_key(key: &str, message: &str, help: &str, fields: &mut Fields) {
    if let Some(span) = fields.key_span(key) {
        let problem = Diagnostic::warning(DiagnosticKind::InvalidValue, message, fields.source(), Some(span));
        fields.problems.push(problem.help(help));
    }
}

/// Only shell calls have commands, so command clauses never match calls of other tools. MCP tools are not checked here,
/// because the adapter decides by their names which of them are shells.
fn warn_of_tools_without_commands(tool: &ToolRule, fields: &mut Fields) {
    let runs_no_shell = |name: &str| COMMON_TOOLS.contains(&name) && !matches!(name, "Bash" | "Monitor" | "PowerShell");
    let names_tools = !tool.tools.is_empty() && tool.mcp_tools.is_empty();
    let clause = ["command_pattern", "command_not_pattern", "command", BranchClause::KEY];
    let Some(key) = clause.into_iter().find(|key| fields.has(key)) else { return };
    if names_tools && tool.tools.iter().all(|name| runs_no_shell(&name.0)) {
        let message = format!("`{key}` never matches these tools: only shell calls have commands");
        let help = "write `tools: [Bash]`, or remove `tools`; for what file tools do, use `reads`, `writes` or `paths`";
        warn_key("tools", &message, help, fields);
    }
}

/// `command_not_pattern` without another clause matches every other command.
fn warn_of_lone_exception(tool: &ToolRule, fields: &mut Fields) {
    let has_other_clause = tool.command_regex.pattern.is_some()
        || !tool.matchers.is_empty()
        || tool.rewrites.is_some()
        || !tool.paths.is_empty();
    if !has_other_clause {
        warn_key(
            "command_not_pattern",
            "`command_not_pattern` alone matches every command in which it is not found",
            "add the commands that it is an exception from as `command` or `command_pattern`; `command_pattern: \
             '.'` matches all",
            fields,
        );
    }
}

/// An `allow` rule with clauses on branches, or on paths of a command, never approves anything.
fn warn_of_useless_approval(tool: &ToolRule, fields: &mut Fields) {
    let help = "to allow commands, use `command_pattern`, or `command` without paths; see \"Several rules\" in \
                docs/rules.md";
    if tool.rewrites.is_some() {
        warn_key(BranchClause::KEY, "an `allow` rule with `rewrites` never allows anything", help, fields);
    }
    if !tool.matchers.is_empty() && tool.matchers.iter().all(|matcher| !matcher.paths.is_empty()) {
        warn_key(
            "command",
            "this `allow` rule never allows anything: a condition on the paths of a command cannot allow the command",
            help,
            fields,
        );
    }
}

/// Operators between two commands of a script. The text of a simple command has them only inside words.
const OPERATORS: &[&str] = &["&&", "||", "|", ";"];

/// The message and help text for a regex that cannot match any simple command; `None` if it can.
fn why_never_matches(regex: &str) -> Option<(&'static str, &'static str)> {
    let skeleton = bounded_regex::literal_skeleton(regex)?;
    let joins_commands = |operator: &str| {
        skeleton.match_indices(operator).any(|(offset, operator)| {
            let (before, after) = (skeleton.get(..offset).unwrap_or_default(), skeleton.get(offset + operator.len()..));
            let after = after.unwrap_or_default();
            let is_separate = before.ends_with([' ', bounded_regex::WHITESPACE_MARK])
                || after.starts_with([' ', bounded_regex::WHITESPACE_MARK]);
            // `find -exec … ;` has an operator as its last word, perhaps followed by flags.
            let next = after.trim_start().chars().next();
            is_separate && next.is_some_and(|next| next.is_alphanumeric() || next == bounded_regex::VARIABLE_MARK)
        })
    };
    if OPERATORS.iter().any(|operator| joins_commands(operator)) {
        return Some((
            "this never matches: it spans two commands, but each simple command is searched separately",
            "search for one of them; for output that is piped into a shell, use `command` with `runs_output_of`",
        ));
    }
    skeleton.contains("  ").then_some((
        "this never matches: it has two spaces, but words are joined by one",
        "write one space; a word that contains spaces is shown as `…`",
    ))
}
