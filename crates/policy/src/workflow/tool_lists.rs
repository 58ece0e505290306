//! Converts the tool lists of a node, such as `allowed_tools` and `blocked_tools`, to tool rules.

use engine::rules::{CommandRegex, Detector, Exemptions, McpPattern, Rule, ToolName, ToolRule};

use super::rules::RuleCollector;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::digest::digest;
use crate::text::fields::{Fields, SpannedText};
use crate::values::regex::parse_regex;
use crate::values::tool_name::{check_tool_name, parse_mcp_pattern};

/// Converts the items of a list to tool rules.
type ToolRules = fn(&[SpannedText], &mut Fields) -> Vec<ToolRule>;

const LISTS: [(&str, ToolRules); 5] = [
    ("allowed_tools", allowed_tools),
    ("allowed_mcp_tools", allowed_mcp_tools),
    ("blocked_tools", blocked_tools),
    ("blocked_mcp_tools", blocked_mcp_tools),
    ("blocked_commands", blocked_commands),
];

/// Adds a rule for each list, with the list's key in its id.
pub fn read(node: &str, rules: &mut RuleCollector, fields: &mut Fields) {
    for (key, tool_rules) in LISTS {
        let Some(span) = fields.key_span(key) else { continue };
        let text = fields.source().entry_span(span.start, fields.end_of(key));
        let text = fields.source().text.get(text).unwrap_or_default();
        let Some(names) = fields.texts(key) else { continue };
        let names_text = names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(", ");
        let tool_rules = tool_rules(&names, fields);
        let is_numbered = tool_rules.len() > 1;
        for (index, tool) in tool_rules.into_iter().enumerate() {
            let number = if is_numbered { format!("/{}", index + 1) } else { String::new() };
            let (id, detect) = (rules.id(&format!("{key}{number}")), Detector::Tool(Box::new(tool)));
            let rule = Rule::synthetic(id, &fields.source().name, detect, reason(key, node, &names_text));
            rules.add(Rule { digest: digest(format!("{text}{number}")), ..rule }, span.clone());
        }
    }
}

fn allowed_tools(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolRule> {
    if let [all] = names
        && all.value == "all"
    {
        let message = "`all` is not a tool, so every tool would be blocked";
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(all.span.clone()));
        fields.problems.push(problem.help("to allow every tool, remove `allowed_tools`"));
        return Vec::new();
    }
    let exemptions =
        Exemptions { tools: tool_names(names, fields), mcp_tools: vec![any_mcp_tool()], ..Exemptions::harmless() };
    vec![ToolRule { tools: vec![any_tool()], exemptions: Some(exemptions), ..ToolRule::default() }]
}

fn allowed_mcp_tools(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolRule> {
    let exemptions = Exemptions { mcp_tools: mcp_patterns(names, fields), ..Exemptions::default() };
    vec![ToolRule { mcp_tools: vec![any_mcp_tool()], exemptions: Some(exemptions), ..ToolRule::default() }]
}

fn blocked_tools(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolRule> {
    warn_of_reading_tools(names, fields);
    let tools = tool_names(names, fields);
    // A rule without tools would match every tool.
    if tools.is_empty() {
        return Vec::new();
    }
    vec![ToolRule { tools, exemptions: Some(Exemptions::harmless()), ..ToolRule::default() }]
}

fn blocked_mcp_tools(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolRule> {
    let mcp_tools = mcp_patterns(names, fields);
    if mcp_tools.is_empty() {
        return Vec::new();
    }
    vec![ToolRule { mcp_tools, ..ToolRule::default() }]
}

fn blocked_commands(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolRule> {
    let searches = names.iter().filter_map(|name| parse_regex(name, fields));
    let rule = |pattern| ToolRule {
        command_regex: CommandRegex { pattern: Some(pattern), not_pattern: None },
        exemptions: Some(Exemptions { linchpin: true, ..Exemptions::default() }),
        ..ToolRule::default()
    };
    searches.map(rule).collect()
}

fn tool_names(names: &[SpannedText], fields: &mut Fields) -> Vec<ToolName> {
    let names = names.iter().filter(|name| check_tool_name(name, fields));
    names.map(|name| ToolName(name.value.clone())).collect()
}

fn mcp_patterns(names: &[SpannedText], fields: &mut Fields) -> Vec<McpPattern> {
    names.iter().filter_map(|name| parse_mcp_pattern(name, fields)).collect()
}

/// Warns of read-only tools under `blocked_tools`, which are never blocked.
fn warn_of_reading_tools(names: &[SpannedText], fields: &mut Fields) {
    for name in names.iter().filter(|name| Exemptions::READ_ONLY_TOOLS.contains(&name.value.as_str())) {
        let message = format!("`{}` is not blocked here, because reading is always allowed", name.value);
        let span = Some(name.span.clone());
        let problem = Diagnostic::warning(DiagnosticKind::InvalidValue, message, fields.source(), span);
        fields.problems.push(problem.help("to block it, add a rule under `rules`: `{tools: [Read], reason: …}`"));
    }
}

fn any_tool() -> ToolName {
    ToolName("*".to_owned())
}

fn any_mcp_tool() -> McpPattern {
    McpPattern { server: "*".to_owned(), tool: "*".to_owned() }
}

fn reason(key: &str, node: &str, names_text: &str) -> String {
    let names_text = if names_text.is_empty() { "none" } else { names_text };
    let restriction = match key {
        "allowed_tools" => format!("The phase `{node}` allows only reading and these tools: {names_text}."),
        "allowed_mcp_tools" => format!("The phase `{node}` allows only these MCP tools: {names_text}."),
        "blocked_commands" => format!("The phase `{node}` does not allow commands such as: {names_text}."),
        _ => format!("The phase `{node}` does not allow: {names_text}."),
    };
    format!(
        "{restriction} To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`."
    )
}
