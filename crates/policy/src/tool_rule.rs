//! The fields of a rule about tool calls.

use engine::rules::{
    BranchClause, CommandSearch, McpPattern, PathClause, PathKey, PathPattern, TextSearch, ToolName, ToolRule, Wildcard,
};
use engine::search::Search;
use engine::{Level, suggest};
use path::pattern::Pattern;

use crate::command_matcher;
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::fields::{Fields, Text};
use crate::keys::{Key, Takes, words};

/// Each of these alone makes a rule one about tool calls.
pub static CLAUSES: &[Key] = &[
    Key::new(
        "tools",
        Takes::Globs,
        "the call has one of these names, `Bash` or `mcp__*`; with `mcp_tools`, either is enough",
    ),
    Key::new("mcp_tools", Takes::Globs, "the call reaches an MCP tool, `server:tool`, directly or through a proxy"),
    Key::new("command", command_matcher::TAKES, "one of them speaks of a simple command of the call"),
    Key::new("command_pattern", Takes::Regex, "found in the normalised text of a simple command"),
    Key::new("command_not_pattern", Takes::Regex, "not found in that same command"),
    Key::new("paths", Takes::Patterns, "one matches a path that the call reads, writes or deletes"),
    Key::new("reads", Takes::Patterns, "one matches a path that the call reads"),
    Key::new("writes", Takes::Patterns, "one matches a path that the call writes or deletes"),
    Key::new("deletes", Takes::Patterns, "one matches a path that the call deletes"),
    Key::new(
        BranchClause::KEY,
        Takes::Globs,
        "one matches a branch of a remote that the call force-pushes or deletes; `protected_branches` are those that the \
         configuration names",
    ),
];
/// These say more of the clauses, and make no rule by themselves.
pub static DETAILS: &[Key] = &[
    Key::new("exclude", Takes::Patterns, "paths that the rule is not about"),
    Key::new(
        "incomplete",
        Takes::Word(|| words(&INCOMPLETES)),
        "what it means that a clause cannot be known; left out, `ask` for rules that block or ask, `allow` for others",
    ),
];
const INCOMPLETES: [(&str, Level); 3] = [("ask", Level::Ask), ("block", Level::Block), ("allow", Level::Allow)];

/// Whether the fields are those of a tool rule.
pub fn is_meant(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// `protected`: the branches that `protected_branches` stands for.
pub fn read(fields: &mut Fields, protected: &[String]) -> ToolRule {
    let tools = fields.texts("tools").unwrap_or_default();
    let tools = tools.into_iter().filter_map(|tool| check_glob(&tool, fields).then_some(ToolName(tool.value)));
    let tools = tools.collect();
    let mcp_tools = fields.texts("mcp_tools").unwrap_or_default();
    let mcp_tools = mcp_tools.into_iter().filter_map(|text| mcp_pattern(&text, fields)).collect();
    let search =
        CommandSearch { pattern: regex("command_pattern", fields), not_pattern: regex("command_not_pattern", fields) };
    let matchers = command_matcher::read(fields);
    let rewrites = fields.texts(BranchClause::KEY);
    let rewrites = rewrites.map(|texts| BranchClause { branches: branches(texts, protected, fields) });
    let except = excluded(fields);
    let paths = path_clauses(&PathKey::ALL, &except, fields);
    let incomplete = fields.choice("incomplete", &INCOMPLETES);
    ToolRule { tools, mcp_tools, search, matchers, rewrites, paths, incomplete, unless: None }
}

/// `except`: what the clauses are not about.
pub fn path_clauses(keys: &[PathKey], except: &[PathPattern], fields: &mut Fields) -> Vec<PathClause> {
    let clause = |about: &PathKey| {
        let patterns = path_patterns(about.name(), fields)?;
        Some(PathClause { about: *about, patterns, except: except.to_vec() })
    };
    keys.iter().filter_map(clause).collect()
}

fn path_patterns(key: &str, fields: &mut Fields) -> Option<Vec<PathPattern>> {
    let texts = fields.texts(key)?;
    Some(texts.iter().filter_map(|text| path_pattern(text, fields)).collect())
}

fn excluded(fields: &mut Fields) -> Vec<PathPattern> {
    let span = fields.key_span("exclude");
    let names_paths = PathKey::ALL.iter().any(|key| fields.has(key.name()));
    if let (false, Some(span)) = (names_paths, span) {
        let message = "`exclude` takes paths out of `paths`, `reads`, `writes` or `deletes`, and there are none";
        fields.refuse(ErrorKind::InvalidValue, message, span);
    }
    path_patterns("exclude", fields).unwrap_or_default()
}

fn branches(texts: Vec<Text>, protected: &[String], fields: &mut Fields) -> Vec<Wildcard> {
    let mut branches = Vec::new();
    if let (true, Some(span)) = (texts.is_empty(), fields.key_span(BranchClause::KEY)) {
        fields.refuse(ErrorKind::InvalidValue, "`rewrites` names no branch", span);
    }
    for text in texts {
        if text.value == BranchClause::PROTECTED {
            branches
                .extend(protected.iter().map(|name| Wildcard::parse(name).unwrap_or_else(|_| Wildcard::exactly(name))));
        } else {
            let name = text.value.strip_prefix("refs/heads/").unwrap_or(&text.value).to_owned();
            branches.extend(wildcard(&Text { value: name, ..text }, fields));
        }
    }
    branches
}

pub fn wildcard(text: &Text, fields: &mut Fields) -> Option<Wildcard> {
    if text.value.is_empty() {
        fields.refuse(ErrorKind::InvalidValue, "an empty text matches nothing", text.span.clone());
        return None;
    }
    Wildcard::parse(&text.value).map_err(|problem| refuse_pattern(text, &problem, fields)).ok()
}

pub fn check_glob(text: &Text, fields: &mut Fields) -> bool {
    let sound = check_name_pattern(text, fields);
    if sound {
        warn_of_odd_name(text, fields);
    }
    sound
}

/// A name with globs, of a tool or of anything else.
pub fn check_name_pattern(text: &Text, fields: &mut Fields) -> bool {
    if text.value.is_empty() {
        fields.refuse(ErrorKind::InvalidValue, "a name is empty", text.span.clone());
        return false;
    }
    let parsed = Pattern::parse(&text.value);
    if let Err(problem) = &parsed {
        refuse_pattern(text, problem, fields);
    }
    parsed.is_ok()
}

/// The tools that every agent's own are mapped to. Others may exist; one that nearly has such a name hardly does.
pub const COMMON_TOOLS: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "PowerShell",
    "Read",
    "Task",
    "WebFetch",
    "WebSearch",
    "Write",
];

fn warn_of_odd_name(text: &Text, fields: &mut Fields) {
    let name = text.value.as_str();
    if COMMON_TOOLS.contains(&name) {
        return;
    }
    if let Some(close) = suggest::closest(name, COMMON_TOOLS.iter().copied()) {
        fields.problems.push(
            Diagnostic::warning(
                ErrorKind::InvalidValue,
                format!("no agent is known to have a tool `{name}`"),
                fields.source(),
                Some(text.span.clone()),
            )
            .help(suggest::did_you_mean(close)),
        );
    }
}

pub fn refuse_pattern(text: &Text, problem: &path::pattern::PatternError, fields: &mut Fields) {
    let span = fields.source().within(&text.span, &text.value, &problem.span());
    fields.problems.push(
        Diagnostic::error(ErrorKind::PatternError, problem.message(), fields.source(), Some(span))
            .maybe_help(problem.help().map(str::to_owned)),
    );
}

pub fn mcp_pattern(text: &Text, fields: &mut Fields) -> Option<McpPattern> {
    let Some((server, tool)) =
        text.value.split_once(':').filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
    else {
        fields.problems.push(
            Diagnostic::error(
                ErrorKind::InvalidValue,
                format!("`{}` is not `server:tool`", text.value),
                fields.source(),
                Some(text.span.clone()),
            )
            .help("either side may be `*`, as in `github:*`"),
        );
        return None;
    };
    let part = |value: &str| Text { value: value.to_owned(), span: text.span.clone() };
    let sound = check_glob(&part(server), fields) && check_glob(&part(tool), fields);
    sound.then(|| McpPattern { server: server.to_owned(), tool: tool.to_owned() })
}

fn regex(key: &str, fields: &mut Fields) -> Option<TextSearch> {
    let text = fields.text(key)?;
    text_search(&text, fields)
}

pub fn text_search(text: &Text, fields: &mut Fields) -> Option<TextSearch> {
    match Search::parse(&text.value) {
        Ok(_) => Some(TextSearch::new(&text.value)),
        Err(problem) => {
            let span = problem.span.unwrap_or(0..text.value.len());
            let span = fields.source().within(&text.span, &text.value, &span);
            fields.refuse(ErrorKind::InvalidRulePattern, problem.message, span);
            None
        }
    }
}

/// What a pattern probably does not mean.
pub fn warn_of_pattern(text: &Text, pattern: &Pattern, fields: &mut Fields) {
    for warning in pattern.warnings() {
        let (message, span) = (warning.to_string(), Some(text.span.clone()));
        fields.problems.push(Diagnostic::warning(ErrorKind::PatternError, message, fields.source(), span));
    }
}

pub fn path_pattern(text: &Text, fields: &mut Fields) -> Option<PathPattern> {
    if text.value == PathPattern::OUTSIDE_PROJECT {
        return Some(PathPattern::OutsideProject);
    }
    match Pattern::parse_anywhere(&text.value) {
        Ok(pattern) => {
            warn_of_pattern(text, &pattern, fields);
            let literal = pattern.required_literal().to_owned();
            Some(PathPattern::Glob { source: text.value.clone(), literal })
        }
        Err(problem) => {
            refuse_pattern(text, &problem, fields);
            None
        }
    }
}
