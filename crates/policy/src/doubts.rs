//! What a sound rule says that it hardly means: clauses that never hold together, texts that are never found, keys that
//! do nothing. Each is a warning, and the rule is what it says.

use std::collections::BTreeSet;
use std::path::Path;

use engine::event::{EventKind, EventKinds};
use engine::pace::{Limit, Live};
use engine::rules::{BranchClause, Detect, PathKey, PathPattern, Rule, Tier, ToolRule};
use engine::{Level, expr, search, suggest};

use crate::definition::Definition;
use crate::enforce::InForce;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::fields::Fields;
use crate::values::tool_name::COMMON_TOOLS;

pub fn warn(detect: &Detect, action: Level, on: EventKinds, fields: &mut Fields) {
    // What is wrong comes first.
    if fields.problems.iter().any(|problem| problem.severity == Severity::Error) {
        return;
    }
    of_holds(detect, on, fields);
    let Detect::Tool(tool) = detect else { return };
    of_tools(tool, fields);
    of_exceptions(tool, fields);
    for (key, search) in [("command_pattern", &tool.search.pattern), ("command_not_pattern", &tool.search.not_pattern)]
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
fn of_holds(detect: &Detect, on: EventKinds, fields: &mut Fields) {
    let (message, help) = match detect {
        Detect::Pace(pace) if pace.live == Live::Block => return,
        Detect::Pace(_) => {
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

/// Expressions that ask about a file rule which is not there are at fault whenever they are judged.
pub fn of_named_rules(rules: &[InForce]) -> Vec<Diagnostic> {
    let file_rules: Vec<&str> = rules
        .iter()
        .map(|known| &known.definition.rule)
        .filter(|rule| rule.as_file_rule().is_some())
        .map(|rule| rule.id.as_str())
        .collect();
    let mut doubts = Vec::new();
    for Definition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("file_rule_met")) else { continue };
        for name in expr::file_rules_named(when).into_iter().filter(|name| !file_rules.contains(&name.as_str())) {
            let help = match (suggest::closest(&name, file_rules.iter().copied()), file_rules.as_slice()) {
                (Some(close), _) => suggest::did_you_mean(close),
                (None, []) => "no file rule is in force".to_owned(),
                (None, rules) => format!("the file rules in force are {}", rules.join(", ")),
            };
            let whole = source.text.get(..text.end).unwrap_or_default();
            let asked = whole.get(text.start..).and_then(|own| Some(text.start + own.find("file_rule_met")?));
            let start = asked.and_then(|asked| Some(asked + whole.get(asked..)?.find(&name)?));
            let span = start.map(|start| start..start + name.len());
            let message =
                format!("no file rule `{name}` is in force, so `file_rule_met` fails wherever this is judged");
            let mut doubt = Diagnostic::warning(ErrorKind::UnknownRule, message, source, span).help(help);
            doubt.rule = Some(rule.id.clone());
            doubts.push(doubt);
        }
    }
    doubts
}

/// Conditions on claims that no workflow declares. `claims`: all that are declared.
pub fn of_claims(rules: &[InForce], claims: &BTreeSet<String>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for Definition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("claims")) else { continue };
        for name in expr::claims_named(when).into_iter().filter(|name| !claims.contains(name)) {
            let own = source.text.get(text.clone()).unwrap_or_default();
            let asked = own.find("when").unwrap_or_default();
            let at = own.get(asked..).and_then(|own| own.find(&name)).map(|at| text.start + asked + at);
            let help = suggest::closest(&name, claims.iter().map(String::as_str)).map_or_else(
                || "a workflow declares it under `claims`; each node `NODE` has `NODE_complete`".to_owned(),
                suggest::did_you_mean,
            );
            let span = at.map(|at| at..at + name.len());
            let message = format!("unknown claim `{name}`: no workflow declares it");
            let mut problem = Diagnostic::error(ErrorKind::InvalidExpression, message, source, span).help(help);
            problem.rule = Some(rule.id.clone());
            problems.push(problem);
        }
    }
    problems
}

/// Patterns that name a folder of the project and nothing in it.
pub fn of_folders(rules: &[InForce], root: &Path) -> Vec<Diagnostic> {
    let is_plain = |pattern: &&str| !pattern.contains(['*', '?', '[', '{', '\\']);
    // One that ends in a slash is spoken of where it is read.
    let is_folder = |pattern: &&str| !pattern.ends_with('/') && root.join(pattern).is_dir();
    let mut doubts = Vec::new();
    for Definition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let patterns = if rule.tier == Tier::Bundled { Vec::new() } else { file_patterns(rule) };
        for folder in patterns.into_iter().filter(is_plain).filter(is_folder) {
            let own = source.text.get(text.clone()).unwrap_or_default();
            let start = KEYS_OF_FILES.iter().filter_map(|key| own.find(&format!("{key}:"))).min().unwrap_or_default();
            let at = own.get(start..).and_then(|own| own.find(folder)).map(|at| text.start + start + at);
            let span = at.map(|at| at..at + folder.len());
            let message = format!("`{folder}` is a folder, and a folder alone matches no file");
            let mut doubt = Diagnostic::warning(ErrorKind::PatternError, message, source, span)
                .help(format!("did you mean `{folder}/**`?"));
            doubt.rule = Some(rule.id.clone());
            doubts.push(doubt);
        }
    }
    doubts
}

/// The keys whose patterns are about files.
const KEYS_OF_FILES: [&str; 9] = ["created", "exclude", "pair", "paths", "reads", "safety", "set", "trigger", "writes"];

/// The patterns of a rule that are about files. A folder can be deleted, so those of `deletes` are none.
fn file_patterns(rule: &Rule) -> Vec<&str> {
    match &rule.detect {
        Detect::Files(file) => file.patterns().map(|pattern| pattern.source.as_str()).collect(),
        Detect::Tool(tool) => {
            let clauses = tool.paths.iter().chain(tool.matchers.iter().flat_map(|matcher| &matcher.paths));
            let patterns =
                clauses.filter(|clause| clause.about != PathKey::Deletes).flat_map(|clause| &clause.patterns);
            let globs = patterns.filter_map(|pattern| match pattern {
                PathPattern::Glob { source, .. } => Some(source.as_str()),
                PathPattern::OutsideProject => None,
            });
            globs.collect()
        }
        Detect::Pace(_) | Detect::Event => Vec::new(),
    }
}

/// Rules that only a move of a workflow asks, in force where nothing moves.
pub fn of_silent_rules(rules: &[InForce]) -> Vec<Diagnostic> {
    let mut doubts = Vec::new();
    for Definition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(pace) = rule.as_pace_rule() else { continue };
        let key = match (&pace.limit, pace.live) {
            (Limit::RequireCommits { .. }, _) => pace.limit.name(),
            (_, Live::Off) => "live",
            _ => continue,
        };
        let own = source.text.get(text.clone()).and_then(|own| own.find(key)).map(|at| text.start + at);
        let message = "only a workflow that moves on asks this rule, so here it never says anything";
        let span = own.map(|start| start..start + key.len());
        let mut doubt = Diagnostic::warning(ErrorKind::InvalidValue, message, source, span)
            .help("write it on a node of a workflow, or in a library under `rules/`, where a node can name it");
        doubt.rule = Some(rule.id.clone());
        doubts.push(doubt);
    }
    doubts
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
    let says_more =
        tool.search.pattern.is_some() || !tool.matchers.is_empty() || tool.rewrites.is_some() || !tool.paths.is_empty();
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
    let outline = search::outline(regex)?;
    let joins = |operator: &str| {
        outline.match_indices(operator).any(|(at, operator)| {
            let (before, after) = (outline.get(..at).unwrap_or_default(), outline.get(at + operator.len()..));
            let after = after.unwrap_or_default();
            let stands_alone = before.ends_with([' ', search::SPACE]) || after.starts_with([' ', search::SPACE]);
            // `find … ;` ends with one, and flags may follow that.
            let next = after.trim_start().chars().next();
            stands_alone && next.is_some_and(|next| next.is_alphanumeric() || next == search::GAP)
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
