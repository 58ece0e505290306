//! Reads the fields of a tool rule.

use engine::Level;
use engine::rules::{BranchClause, CommandRegex, PathKey, PathPattern, ToolName, ToolRule, Wildcard};

use super::command_matcher;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{Key, ValueType, choice_names};
use crate::values::pattern::{parse_wildcard, read_path_clauses, read_path_patterns};
use crate::values::regex::read_regex;
use crate::values::tool_name::{check_tool_name, parse_mcp_pattern};

/// A rule with any of these keys is a tool rule.
pub static CLAUSES: &[Key] = &[
    Key::new(
        "tools",
        ValueType::Globs,
        "the tool has one of these names, such as `Bash` or `mcp__*`; with `mcp_tools`, either is enough",
    ),
    Key::new("mcp_tools", ValueType::Globs, "the call reaches an MCP tool, `server:tool`, directly or through a proxy"),
    Key::new("command", command_matcher::COMMAND_VALUE, "one of these matches a simple command of the call"),
    Key::new("command_pattern", ValueType::Regex, "a regex that is found in the normalised text of a simple command"),
    Key::new("command_not_pattern", ValueType::Regex, "a regex that is not found in the same command"),
    Key::new("paths", ValueType::Patterns, "one of these matches a path that the call reads, writes or deletes"),
    Key::new("reads", ValueType::Patterns, "one of these matches a path that the call reads"),
    Key::new("writes", ValueType::Patterns, "one of these matches a path that the call writes or deletes"),
    Key::new("deletes", ValueType::Patterns, "one of these matches a path that the call deletes"),
    Key::new(
        BranchClause::KEY,
        ValueType::Globs,
        "one of these matches a remote branch that the call force-pushes or deletes; `protected_branches` stands \
         for the protected branches of the configuration",
    ),
];
/// Options of the clauses.
pub static OPTIONS: &[Key] = &[
    Key::new("exclude", ValueType::Patterns, "paths to which the rule does not apply"),
    Key::new(
        "incomplete",
        ValueType::Choice(|| choice_names(&INCOMPLETE_LEVELS)),
        "the verdict if Linchpin cannot tell whether a clause holds; by default `ask` for rules that block or ask, \
         and `allow` for others",
    ),
];
const INCOMPLETE_LEVELS: [(&str, Level); 3] = [("ask", Level::Ask), ("block", Level::Block), ("allow", Level::Allow)];

/// True if the fields are those of a tool rule.
pub fn has_clause(fields: &Fields) -> bool {
    CLAUSES.iter().any(|key| fields.has(key.name))
}

/// `protected_branches`: the branches that the word `protected_branches` stands for in `rewrites`.
pub fn read(fields: &mut Fields, protected_branches: &[String]) -> ToolRule {
    let tools = fields.texts("tools").unwrap_or_default();
    let tools = tools.into_iter().filter_map(|tool| check_tool_name(&tool, fields).then_some(ToolName(tool.value)));
    let tools = tools.collect();
    let mcp_tools = fields.texts("mcp_tools").unwrap_or_default();
    let mcp_tools = mcp_tools.into_iter().filter_map(|text| parse_mcp_pattern(&text, fields)).collect();
    let command_regex = CommandRegex {
        pattern: read_regex("command_pattern", fields),
        not_pattern: read_regex("command_not_pattern", fields),
    };
    let matchers = command_matcher::read(fields);
    let rewrites = fields.texts(BranchClause::KEY);
    let rewrites = rewrites.map(|texts| BranchClause { branches: read_branches(texts, protected_branches, fields) });
    let except = read_excluded_paths(fields);
    let paths = read_path_clauses(&PathKey::ALL, &except, fields);
    let incomplete = fields.choice("incomplete", &INCOMPLETE_LEVELS);
    ToolRule { tools, mcp_tools, command_regex, matchers, rewrites, paths, incomplete, exemptions: None }
}

fn read_excluded_paths(fields: &mut Fields) -> Vec<PathPattern> {
    let span = fields.key_span("exclude");
    let names_paths = PathKey::ALL.iter().any(|key| fields.has(key.name()));
    if let (false, Some(span)) = (names_paths, span) {
        let message = "`exclude` needs `paths`, `reads`, `writes` or `deletes`";
        fields.refuse(DiagnosticKind::InvalidValue, message, span);
    }
    read_path_patterns("exclude", fields).unwrap_or_default()
}

fn read_branches(texts: Vec<SpannedText>, protected_branches: &[String], fields: &mut Fields) -> Vec<Wildcard> {
    let mut branches = Vec::new();
    if let (true, Some(span)) = (texts.is_empty(), fields.key_span(BranchClause::KEY)) {
        fields.refuse(DiagnosticKind::InvalidValue, "`rewrites` is empty", span);
    }
    for text in texts {
        if text.value == BranchClause::PROTECTED {
            branches.extend(
                protected_branches.iter().map(|name| Wildcard::parse(name).unwrap_or_else(|_| Wildcard::literal(name))),
            );
        } else {
            let name = text.value.strip_prefix("refs/heads/").unwrap_or(&text.value).to_owned();
            branches.extend(parse_wildcard(&SpannedText { value: name, ..text }, fields));
        }
    }
    branches
}
