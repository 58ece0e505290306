//! A Markdown rule: its fields between `---` lines, its reason below.

use engine::event::{EventKind, EventKinds};
use engine::expr::{self, Scope};
use engine::pattern::Pattern;
use engine::rules::{
    AckBy, CommandSearch, Detect, McpPattern, PathClause, PathKey, PathPattern, Rule, TextSearch, Tier, ToolName,
    ToolRule,
};
use engine::search::Search;
use engine::{Level, suggest};

use crate::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::digest::digest;
use crate::fields::{Fields, Text};
use crate::frontmatter;
use crate::source::Source;
use crate::yaml::{self, Yaml};

/// A rule as its file says, whether or not it is in force.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFile {
    pub rule: Rule,
    pub enabled: bool,
}

/// What reading one file gave. A rule with an error in its file is no rule.
pub struct Reading {
    pub file: Option<RuleFile>,
    pub problems: Vec<Diagnostic>,
}

const COMMON_KEYS: &[&str] = &[
    "ack",
    "action",
    "description",
    "enabled",
    "locked",
    "max_holds",
    "name",
    "on",
    "on_error",
    "tags",
    "tests",
    "when",
];
const TOOL_KEYS: &[&str] = &[
    "tools",
    "mcp_tools",
    "command_pattern",
    "command_not_pattern",
    "paths",
    "reads",
    "writes",
    "deletes",
    "incomplete",
];
/// Part of the language, not of this version.
const LATER_KEYS: &[(&str, &str)] = &[
    ("attribute", "file rules"),
    ("command", "structured command matchers"),
    ("compare_to", "file rules"),
    ("created", "file rules"),
    ("exclude", "file rules"),
    ("live", "pace rules"),
    ("pair", "file rules"),
    ("phase_timeout", "pace rules"),
    ("refire", "file rules"),
    ("repeated_command", "pace rules"),
    ("repeated_file_edit", "pace rules"),
    ("require_commits", "pace rules"),
    ("safety", "file rules"),
    ("set", "file rules"),
    ("token_budget", "pace rules"),
    ("trigger", "file rules"),
    ("type", "pace rules"),
];

const LEVELS: [(&str, Level); 4] =
    [("block", Level::Block), ("ask", Level::Ask), ("warn", Level::Warn), ("allow", Level::Allow)];

/// Reads one rule. `id` is the file's stem.
pub fn read(source: &Source, id: &str, tier: Tier, scope: &Scope) -> Reading {
    let mut reader = Reader { id, tier, scope, problems: Vec::new() };
    let file = reader.read(source);
    for problem in &mut reader.problems {
        problem.rule = Some(id.to_owned());
    }
    reader.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
    let broken = reader.problems.iter().any(|problem| problem.severity == Severity::Error);
    Reading { file: file.filter(|_| !broken), problems: reader.problems }
}

struct Reader<'a> {
    id: &'a str,
    tier: Tier,
    scope: &'a Scope,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read(&mut self, source: &Source) -> Option<RuleFile> {
        let parsed = frontmatter::split(source)
            .and_then(|parts| yaml::parse(source, parts.yaml.clone()).map(|node| (parts, node)));
        let (parts, node) = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.problems.push(*problem);
                return None;
            }
        };
        let whole = parts.yaml.start..parts.yaml.end.max(parts.yaml.start);
        let mut fields = Fields::of(node, source);
        refuse_later_and_unknown(&mut fields);
        let is_tool_rule = TOOL_KEYS.iter().any(|key| *key != "incomplete" && fields.has(key));
        let action = fields.choice("action", &LEVELS);
        let default_action = if is_tool_rule { Level::Block } else { Level::Warn };
        let action_span = fields.key_span("action");
        let action = action.unwrap_or(default_action);
        let on = events(&mut fields, is_tool_rule, action, &whole);
        let detect = if is_tool_rule { Detect::Tool(Box::new(tool_rule(&mut fields))) } else { Detect::Event };
        check_action(action, on, action_span.unwrap_or(whole), &mut fields);
        let when = fields.text("when");
        if let Some(when) = &when {
            self.check_expression(when, &mut fields);
        }
        let title = fields.text("name").map(|text| text.value);
        let description = fields.text("description").map(|text| text.value);
        let locked_span = fields.key_span("locked");
        let locked = fields.flag("locked").unwrap_or(false);
        if let (true, Tier::Project, Some(span)) = (locked, self.tier, locked_span) {
            fields.refuse(ErrorKind::InvalidValue, "only a user's own rules and bundled ones can be locked", span);
        }
        check_tests(&mut fields);
        let reason = self.reason(parts.body, title.as_deref(), description.as_deref(), source);
        let rule = Rule {
            id: self.id.to_owned(),
            title,
            description,
            tier: self.tier,
            source: source.name.clone(),
            digest: digest(&*source.text),
            on,
            detect,
            when: when.map(|text| text.value),
            action,
            on_error: fields.choice("on_error", &LEVELS),
            tags: fields.texts("tags").unwrap_or_default().into_iter().map(|tag| tag.value).collect(),
            max_holds: fields.count("max_holds"),
            ack: fields.choice("ack", &[("agent", AckBy::Agent), ("human", AckBy::Human)]).unwrap_or_default(),
            locked,
            reason,
        };
        let enabled = fields.flag("enabled").unwrap_or(true);
        self.problems.append(&mut fields.problems);
        Some(RuleFile { rule, enabled })
    }

    fn check_expression(&self, when: &Text, fields: &mut Fields) {
        for problem in expr::check(&when.value, self.scope) {
            let span = fields.source().within(&when.span, &when.value, &problem.span);
            fields.problems.push(
                Diagnostic::error(ErrorKind::InvalidExpression, problem.message, fields.source(), Some(span))
                    .maybe_help(problem.help),
            );
        }
    }

    fn reason(&mut self, body: &str, title: Option<&str>, description: Option<&str>, source: &Source) -> String {
        if !body.is_empty() {
            return body.to_owned();
        }
        self.problems.push(
            Diagnostic::warning(ErrorKind::MissingKey, "the rule gives no reason", source, None)
                .help("write below the second `---` what the agent should know, and do instead"),
        );
        description.or(title).map_or_else(|| format!("The rule `{}` says so.", self.id), str::to_owned)
    }
}

fn refuse_later_and_unknown(fields: &mut Fields) {
    for (key, part) in LATER_KEYS {
        if let Some(span) = fields.key_span(key) {
            let message = format!("`{key}` belongs to {part}, which are not part of this version of Linchpin");
            fields.refuse(ErrorKind::Unsupported, message, span);
        }
    }
    if let Some(span) = fields.key_span("reason") {
        fields.problems.push(
            Diagnostic::error(ErrorKind::UnknownKey, "unknown key `reason`", fields.source(), Some(span))
                .help("in a Markdown rule the reason is the text below the second `---`"),
        );
    }
    let later = LATER_KEYS.iter().map(|(key, _)| *key);
    let known: Vec<&str> = COMMON_KEYS.iter().chain(TOOL_KEYS).copied().chain(later).chain(["reason"]).collect();
    fields.refuse_unknown(&known);
}

fn events(fields: &mut Fields, is_tool_rule: bool, action: Level, whole: &std::ops::Range<usize>) -> EventKinds {
    let Some(names) = fields.texts("on") else {
        if !is_tool_rule && !fields.has("on") && fields.problems.is_empty() {
            fields.problems.push(
                Diagnostic::error(
                    ErrorKind::MissingKey,
                    "the rule has no way to detect anything",
                    fields.source(),
                    Some(whole.clone()),
                )
                .help("say which `tools`, `command_pattern` or `paths` it is about, or `on` which event it is judged"),
            );
        }
        let default = EventKinds::default().with(EventKind::BeforeTool);
        // An agent that lets only its permission request be approved is answered there.
        return if action == Level::Allow { default.with(EventKind::Permission) } else { default };
    };
    let mut kinds = EventKinds::default();
    for name in names {
        match EventKind::from_name(&name.value) {
            Some(kind) if is_tool_rule && !has_tool_call(kind) => fields.problems.push(
                Diagnostic::error(
                    ErrorKind::InvalidValue,
                    format!("`{}` has no tool call for this rule to be about", name.value),
                    fields.source(),
                    Some(name.span),
                )
                .help("tool rules are judged on before_tool, after_tool, tool_failed or permission"),
            ),
            Some(kind) => kinds = kinds.with(kind),
            None => refuse_event(name, fields),
        }
    }
    kinds
}

pub(crate) fn refuse_event(name: Text, fields: &mut Fields) {
    let known = EventKind::ALL.map(EventKind::name);
    let agents_own = AGENTS_EVENTS.iter().find(|(event, _)| *event == name.value).map(|(_, kind)| *kind);
    let help = agents_own
        .or_else(|| suggest::closest(&name.value, known))
        .map_or_else(|| format!("the events are {}", known.join(", ")), suggest::did_you_mean);
    let message = format!("unknown event `{}`", name.value);
    fields
        .problems
        .push(Diagnostic::error(ErrorKind::UnknownEvent, message, fields.source(), Some(name.span)).help(help));
}

/// What people may remember from an agent's own settings.
const AGENTS_EVENTS: &[(&str, &str)] = &[
    ("Notification", "notification"),
    ("PermissionRequest", "permission"),
    ("PostCompact", "after_compact"),
    ("PostToolUse", "after_tool"),
    ("PostToolUseFailure", "tool_failed"),
    ("PreCompact", "before_compact"),
    ("PreToolUse", "before_tool"),
    ("SessionEnd", "session_end"),
    ("SessionStart", "session_start"),
    ("Stop", "stop"),
    ("SubagentStart", "subagent_start"),
    ("SubagentStop", "subagent_stop"),
    ("UserPromptSubmit", "prompt"),
];

pub(crate) fn has_tool_call(kind: EventKind) -> bool {
    matches!(kind, EventKind::BeforeTool | EventKind::AfterTool | EventKind::ToolFailed | EventKind::Permission)
}

/// `ask` and `allow` answer a question that only some events put.
fn check_action(action: Level, on: EventKinds, span: std::ops::Range<usize>, fields: &mut Fields) {
    let deaf = on.iter().find(|kind| !kind.awaits_permission());
    if let (Level::Ask | Level::Allow, Some(kind)) = (action, deaf) {
        fields.problems.push(
            Diagnostic::error(
                ErrorKind::InvalidValue,
                format!(
                    "`action: {}` has no meaning on `{}`: nobody waits for permission there",
                    action.name(),
                    kind.name()
                ),
                fields.source(),
                Some(span),
            )
            .help("use `block` or `warn`, or judge it on before_tool or permission"),
        );
    }
}

/// The cases themselves are run by another command; here they only have to be a list.
fn check_tests(fields: &mut Fields) {
    if let Some(node) = fields.take("tests")
        && !matches!(&node.value, Yaml::List(cases) if cases.iter().all(|case| matches!(case.value, Yaml::Map(_))))
    {
        fields.refuse(ErrorKind::InvalidValue, "`tests` takes a list of cases, each a mapping", node.span);
    }
}

fn tool_rule(fields: &mut Fields) -> ToolRule {
    let tools = fields.texts("tools").unwrap_or_default();
    let tools = tools.into_iter().filter_map(|tool| check_glob(&tool, fields).then_some(ToolName(tool.value)));
    let tools = tools.collect();
    let mcp_tools = fields.texts("mcp_tools").unwrap_or_default();
    let mcp_tools = mcp_tools.into_iter().filter_map(|text| mcp_pattern(&text, fields)).collect();
    let command =
        CommandSearch { pattern: regex("command_pattern", fields), not_pattern: regex("command_not_pattern", fields) };
    let paths = [PathKey::Paths, PathKey::Reads, PathKey::Writes, PathKey::Deletes]
        .into_iter()
        .filter_map(|about| {
            let patterns = fields.texts(about.name())?;
            let patterns = patterns.into_iter().filter_map(|text| path_pattern(&text, fields)).collect();
            Some(PathClause { about, patterns })
        })
        .collect();
    let incomplete =
        fields.choice("incomplete", &[("ask", Level::Ask), ("block", Level::Block), ("allow", Level::Allow)]);
    ToolRule { tools, mcp_tools, command, paths, incomplete }
}

pub(crate) fn check_glob(text: &Text, fields: &mut Fields) -> bool {
    let sound = check_name_pattern(text, fields);
    if sound {
        warn_of_odd_name(text, fields);
    }
    sound
}

/// A name with globs, of a tool or of anything else.
pub(crate) fn check_name_pattern(text: &Text, fields: &mut Fields) -> bool {
    if text.value.is_empty() {
        fields.refuse(ErrorKind::InvalidValue, "a tool's name is empty", text.span.clone());
        return false;
    }
    let parsed = Pattern::parse(&text.value);
    if let Err(problem) = &parsed {
        refuse_pattern(text, problem, fields);
    }
    parsed.is_ok()
}

/// The tools that every agent's own are mapped to. Others may exist; one that nearly has such a name hardly does.
const COMMON_TOOLS: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
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

fn refuse_pattern(text: &Text, problem: &engine::pattern::PatternError, fields: &mut Fields) {
    let span = fields.source().within(&text.span, &text.value, &problem.span());
    fields.problems.push(
        Diagnostic::error(ErrorKind::PatternError, problem.message(), fields.source(), Some(span))
            .maybe_help(problem.help().map(str::to_owned)),
    );
}

fn mcp_pattern(text: &Text, fields: &mut Fields) -> Option<McpPattern> {
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

pub(crate) fn text_search(text: &Text, fields: &mut Fields) -> Option<TextSearch> {
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

pub(crate) fn path_pattern(text: &Text, fields: &mut Fields) -> Option<PathPattern> {
    if text.value == PathPattern::OUTSIDE_PROJECT {
        return Some(PathPattern::OutsideProject);
    }
    match Pattern::parse_anywhere(&text.value) {
        Ok(pattern) => {
            for warning in pattern.warnings() {
                fields.problems.push(Diagnostic::warning(
                    ErrorKind::PatternError,
                    warning.to_string(),
                    fields.source(),
                    Some(text.span.clone()),
                ));
            }
            let literal = pattern.required_literal().to_owned();
            Some(PathPattern::Glob { source: text.value.clone(), literal })
        }
        Err(problem) => {
            refuse_pattern(text, &problem, fields);
            None
        }
    }
}
