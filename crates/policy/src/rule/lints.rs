//! What a sound rule says that it hardly means: clauses that never hold together, texts that are never found, keys that
//! do nothing. Each is a warning, and the rule is what it says.

use engine::event::{EventKind, EventKinds};
use engine::pace::LiveMode;
use engine::rules::{BranchClause, Detector, ToolRule};
use engine::{Level, bounded_regex};

use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::fields::Fields;
use crate::values::tool_name::COMMON_TOOLS;

pub fn warn(detect: &Detector, action: Level, on: EventKinds, fields: &mut Fields) {
    // What is wrong comes first.
    if fields.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return;
    }
    of_holds(detect, on, fields);
    let Detector::Tool(tool) = detect else { return };
    of_tools(tool, fields);
    of_exceptions(tool, fields);
    for (key, search) in
        [("command_pattern", &tool.command_regex.pattern), ("command_not_pattern", &tool.command_regex.not_pattern)]
    {
        if let Some((message, help)) = search.as_ref().and_then(|search| never_found(&search.regex)) {
            doubt(key, message, help, fields);
        }
    }
    if action == Level::Allow {
        of_approval(tool, fields);
    }
}

/// Stops are held, and pace rules refuse calls, so many times and no more.
fn of_holds(detect: &Detector, on: EventKinds, fields: &mut Fields) {
    let (message, help) = match detect {
        Detector::Pace(pace) if pace.live == LiveMode::Block => return,
        Detector::Pace(_) => {
            ("`max_holds` counts refused calls, and this rule refuses none", "leave it out, or say `live: block`")
        }
        _ if on.iter().any(EventKind::is_stop) => return,
        _ => (
            "`max_holds` counts held stops, and this rule is not judged on a stop",
            "leave it out: a call that is blocked stays blocked",
        ),
    };
    doubt("max_holds", message, help, fields);
}

fn doubt(key: &str, message: &str, help: &str, fields: &mut Fields) {
    if let Some(span) = fields.key_span(key) {
        let problem = Diagnostic::warning(ErrorKind::InvalidValue, message, fields.source(), Some(span));
        fields.problems.push(problem.help(help));
    }
}

/// Only a shell call has commands. (Which MCP tools are shells, their names tell the agent's adapter.)
fn of_tools(tool: &ToolRule, fields: &mut Fields) {
    let has_no_shell = |name: &str| COMMON_TOOLS.contains(&name) && !matches!(name, "Bash" | "Monitor" | "PowerShell");
    let names_tools = !tool.tools.is_empty() && tool.mcp_tools.is_empty();
    let clause = ["command_pattern", "command_not_pattern", "command", BranchClause::KEY];
    let Some(key) = clause.into_iter().find(|key| fields.has(key)) else { return };
    if names_tools && tool.tools.iter().all(|name| has_no_shell(&name.0)) {
        let message = format!("only shell calls have commands, so `{key}` and these tools never go together");
        let help =
            "say `tools: [Bash]`, or leave `tools` out; what a file tool does is told by `reads`, `writes` or `paths`";
        doubt("tools", &message, help, fields);
    }
}

/// An exception from nothing said.
fn of_exceptions(tool: &ToolRule, fields: &mut Fields) {
    let says_more = tool.command_regex.pattern.is_some()
        || !tool.matchers.is_empty()
        || tool.rewrites.is_some()
        || !tool.paths.is_empty();
    if !says_more {
        doubt(
            "command_not_pattern",
            "alone, `command_not_pattern` means every command that it is not found in",
            "say which commands it is an exception from with `command` or `command_pattern`; `command_pattern: '.'` is all",
            fields,
        );
    }
}

/// What is said of branches, or of a command's paths, covers nothing.
fn of_approval(tool: &ToolRule, fields: &mut Fields) {
    let help =
        "an `allow` rule covers commands by `command_pattern`, or by `command` without paths; see \"Several rules\"";
    if tool.rewrites.is_some() {
        doubt(BranchClause::KEY, "a rule about `rewrites` approves nothing", help, fields);
    }
    if !tool.matchers.is_empty() && tool.matchers.iter().all(|matcher| !matcher.paths.is_empty()) {
        doubt("command", "a rule about a command's paths approves nothing", help, fields);
    }
}

/// Between two commands, in a shell's text. In the text of one command they only stand within a word.
const OPERATORS: &[&str] = &["&&", "||", "|", ";"];

/// Why the expression is found in no command, and what to write instead.
fn never_found(regex: &str) -> Option<(&'static str, &'static str)> {
    let outline = bounded_regex::outline(regex)?;
    let joins = |operator: &str| {
        outline.match_indices(operator).any(|(at, operator)| {
            let (before, after) = (outline.get(..at).unwrap_or_default(), outline.get(at + operator.len()..));
            let after = after.unwrap_or_default();
            let stands_alone =
                before.ends_with([' ', bounded_regex::SPACE]) || after.starts_with([' ', bounded_regex::SPACE]);
            // `find … ;` ends with one, and flags may follow that.
            let next = after.trim_start().chars().next();
            stands_alone && next.is_some_and(|next| next.is_alphanumeric() || next == bounded_regex::GAP)
        })
    };
    if OPERATORS.iter().any(|operator| joins(operator)) {
        return Some((
            "this looks for two commands, and each simple command is searched for itself",
            "search for one of them; what is piped into a shell is told by `command` with `runs_output_of`",
        ));
    }
    outline.contains("  ").then_some((
        "this looks for two spaces, and words are joined by one",
        "write one space; a word that has spaces in it reads `…`",
    ))
}
