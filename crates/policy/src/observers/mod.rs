//! Reads `observers`, which set variables on events.
//!
//! Each entry either has `on`, `match` and `set`, or names a `behavior`. Expressions under `set` can use variables that
//! any observer sets, so they are checked only after all observers were read. Until then they are
//! [`UncheckedExpression`]s.

mod keys;

use std::collections::BTreeMap;
use std::ops::Range;

use engine::behavior_names;
use engine::event::{EventKind, EventKinds};
use engine::expr::{self, Scope};
use engine::observers::{
    BuiltinBehavior, DeclaredObserver, ExternalBehavior, Observer, ObserverKind, ObserverMatch, SetValue, TaskTools,
};
use engine::rules::{CommandRegex, McpPattern, Tier, ToolName};
use engine::suggest;

pub use keys::OBSERVER;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};
use crate::values::command_text;
use crate::values::event_name::{has_tool_call, refuse_event};
use crate::values::pattern::{check_name_pattern, parse_path_pattern};
use crate::values::regex::parse_regex;
use crate::values::tool_name::check_tool_name;
use keys::{
    ANY_OBSERVER_KEYS, BEHAVIOR, BEHAVIOR_WITHOUT_SETTINGS, DECLARED_KEYS, EXTERNAL, MATCH, MATCH_KEYS, OUTCOMES,
    PROGRAM,
};

/// Names of built-in observer behaviors in Gobby, and the names that error messages suggest instead.
const GOBBY_BEHAVIORS: &[(&str, &str)] = &[
    ("detect_mcp_call", behavior_names::MCP_CALL_TRACKING),
    ("detect_plan_mode_from_context", behavior_names::DETECT_PLAN_MODE),
    ("detect_task_claim", behavior_names::TASK_CLAIM_TRACKING),
];

/// Maximum number of observers: few enough for every hook to run all of them.
const OBSERVERS_LIMIT: usize = 200;

/// The result of reading one list of observers.
#[derive(Debug, Default)]
pub struct ParsedObservers {
    /// The observers without errors.
    pub observers: Vec<SpannedObserver>,
    pub unchecked: Vec<UncheckedExpression>,
    pub problems: Vec<Diagnostic>,
}

#[derive(Debug)]
pub struct SpannedObserver {
    pub observer: Observer,
    pub span: Range<usize>,
}

/// An expression under `set` whose names were not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncheckedExpression {
    pub observer: String,
    pub tier: Tier,
    source: Source,
    /// The whole value, which may contain more than the expression.
    text: String,
    text_span: Range<usize>,
    /// The range of the expression in `text`.
    part: Range<usize>,
}

impl UncheckedExpression {
    pub fn problems(&self, scope: &Scope) -> Vec<Diagnostic> {
        let expression = self.text.get(self.part.clone()).unwrap_or_default();
        let to_span = |span: &Range<usize>| {
            let span = self.part.start + span.start..self.part.start + span.end;
            self.source.span_of_part(&self.text_span, &self.text, &span)
        };
        let problems = expr::check(expression, scope).into_iter().map(|problem| {
            let span = Some(to_span(&problem.span));
            Diagnostic::error(DiagnosticKind::InvalidExpression, problem.message, &self.source, span)
                .maybe_help(problem.help)
        });
        problems.collect()
    }
}

/// Reads the list under `observers`.
pub fn read(node: YamlNode, source: &Source, tier: Tier) -> ParsedObservers {
    let mut parsed = ParsedObservers::default();
    let Yaml::List(items) = node.value else {
        let message = format!("`observers` must be a list, not {}", node.value.kind());
        parsed.problems.push(Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(node.span)));
        return parsed;
    };
    if items.len() > OBSERVERS_LIMIT {
        let message = format!("the file has {} observers, over the limit of {OBSERVERS_LIMIT}", items.len());
        parsed.problems.push(Diagnostic::error(DiagnosticKind::InvalidValue, message, source, Some(node.span)));
        return parsed;
    }
    for item in items {
        let span = item.span.clone();
        let mut entry =
            ObserverEntry { fields: Fields::of(item, source, ANY_OBSERVER_KEYS), tier, span, unchecked: Vec::new() };
        let observer = entry.read();
        let is_valid = entry.fields.problems.iter().all(|problem| problem.severity == Severity::Warning);
        if let Some(observer) = observer.filter(|_| is_valid) {
            parsed.unchecked.append(&mut entry.unchecked);
            parsed.observers.push(SpannedObserver { observer, span: entry.span });
        }
        parsed.problems.append(&mut entry.fields.problems);
    }
    parsed
}

/// One entry of the list.
struct ObserverEntry<'a> {
    fields: Fields<'a>,
    tier: Tier,
    span: Range<usize>,
    unchecked: Vec<UncheckedExpression>,
}

impl ObserverEntry<'_> {
    fn read(&mut self) -> Option<Observer> {
        if !self.fields.problems.is_empty() {
            // The entry is not a mapping.
            return None;
        }
        if let (true, Some(key)) =
            (self.fields.has("behavior"), DECLARED_KEYS.iter().map(|key| key.name).find(|key| self.fields.has(key)))
        {
            let span = self.fields.key_span(key).unwrap_or_else(|| self.span.clone());
            self.add_error(
                DiagnosticKind::InvalidValue,
                format!(
                    "an observer must have either `behavior` or `on`, `match` and `set`; `{key}` is not allowed \
                     next to `behavior`"
                ),
                span,
                "split it into two observers",
            );
            return None;
        }
        let name = self.fields.text("name");
        if let Some(name) = name.as_ref().filter(|name| !is_name(&name.value)) {
            let message = format!("invalid observer name `{}`", name.value);
            let help = "use letters, digits, `-`, `_` and `.`, and start with a letter or digit";
            self.add_error(DiagnosticKind::InvalidValue, message, name.span.clone(), help);
            return None;
        }
        let (kind, default_name) = if self.fields.has("behavior") {
            self.read_behavior(name.as_ref())?
        } else {
            (self.read_declared_observer(name.as_ref())?, None)
        };
        let Some(name) = name.map(|name| name.value).or(default_name) else {
            let help = "add `name: NAME`; messages and the journal show it";
            self.add_error(DiagnosticKind::MissingKey, "the observer has no `name`", self.span.clone(), help);
            return None;
        };
        Some(Observer { name, tier: self.tier, kind })
    }

    fn add_error(
        &mut self,
        kind: DiagnosticKind,
        message: impl Into<String>,
        span: Range<usize>,
        help: impl Into<String>,
    ) {
        self.fields.problems.push(Diagnostic::error(kind, message, self.fields.source(), Some(span)).help(help));
    }

    // Observers with `on`, `match` and `set`.

    fn read_declared_observer(&mut self, name: Option<&SpannedText>) -> Option<ObserverKind> {
        self.fields.refuse_unknown();
        let missing = DECLARED_KEYS.iter().map(|key| key.name).find(|key| !self.fields.has(key));
        let events = self.fields.texts("on").unwrap_or_default();
        let matching = self.read_match(&events);
        let on = self.read_events(events);
        let set = self.read_set(name.map_or("", |name| name.value.as_str()));
        if let Some(missing) = missing {
            let help = match missing {
                "match" => "to match every such event, write `match: {}`",
                _ => "write `on` (events), `match` (conditions) and `set` (variables), or name a `behavior`",
            };
            self.add_error(
                DiagnosticKind::MissingKey,
                format!("the observer has no `{missing}`"),
                self.span.clone(),
                help,
            );
            return None;
        }
        Some(ObserverKind::Declared(DeclaredObserver { on, matching, set }))
    }

    fn read_events(&mut self, names: Vec<SpannedText>) -> EventKinds {
        let mut kinds = EventKinds::default();
        for name in names {
            match EventKind::from_name(&name.value) {
                Some(kind) => kinds = kinds.with(kind),
                None => refuse_event(name, &mut self.fields),
            }
        }
        if let (true, true, Some(span)) =
            (kinds.is_empty(), self.fields.problems.is_empty(), self.fields.key_span("on"))
        {
            self.add_error(
                DiagnosticKind::InvalidValue,
                "`on` lists no event",
                span,
                "name an event, as in `on: after_tool`",
            );
        }
        kinds
    }

    fn read_match(&mut self, events: &[SpannedText]) -> ObserverMatch {
        let Some(node) = self.fields.take("match") else { return ObserverMatch::default() };
        let mut keys = Fields::of(node, self.fields.source(), MATCH.keys);
        keys.refuse_unknown();
        for event in events {
            let Some(kind) = EventKind::from_name(&event.value) else { continue };
            let inapplicable_key =
                MATCH_KEYS.iter().map(|key| key.name).find(|key| keys.has(key) && !applies_to(key, kind));
            if let Some(key) = inapplicable_key {
                let message = format!("`{key}` never matches on `{}`", event.value);
                let help = match key {
                    "outcome" => "only `after_tool` and `tool_failed` have an outcome",
                    _ => "only `before_tool`, `after_tool`, `tool_failed` and `permission` have a tool call",
                };
                keys.problems.push(
                    Diagnostic::error(DiagnosticKind::InvalidValue, message, keys.source(), Some(event.span.clone()))
                        .help(help),
                );
            }
        }
        let tools = read_names("tool", &mut keys, check_tool_name).unwrap_or_default();
        let mcp = read_mcp_patterns(&mut keys);
        let commands = keys.texts("command_pattern").unwrap_or_default();
        let commands = commands.iter().filter_map(|text| parse_regex(text, &mut keys));
        let commands = commands.map(|search| CommandRegex { pattern: Some(search), not_pattern: None }).collect();
        let paths = keys.texts("path").unwrap_or_default();
        let paths = paths.iter().filter_map(|text| parse_path_pattern(text, &mut keys)).collect();
        let outcome = keys.choice("outcome", &OUTCOMES).flatten();
        self.fields.problems.append(&mut keys.problems);
        ObserverMatch { tools, mcp, commands, paths, outcome }
    }

    fn read_set(&mut self, observer: &str) -> Vec<(String, SetValue)> {
        let Some(node) = self.fields.take("set") else { return Vec::new() };
        let Yaml::Map(entries) = node.value else {
            let message = format!("`set` must be a mapping of variables to values, not {}", node.value.kind());
            self.fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
            return Vec::new();
        };
        entries.into_iter().filter_map(|(key, value)| self.read_variable(observer, key, value)).collect()
    }

    fn read_variable(&mut self, observer: &str, key: YamlKey, value: YamlNode) -> Option<(String, SetValue)> {
        if let Err(why) = expr::check_variable_name(&key.text) {
            self.fields.refuse(DiagnosticKind::InvalidValue, why, key.span);
            return None;
        }
        let Yaml::Text(text) = &value.value else {
            if contains_expression(&value) {
                let help = "build the list or mapping in the expression: `\"{{ {'files': event.paths} }}\"`";
                let message = "an expression must be the whole value of its variable, not part of a list or mapping";
                self.add_error(DiagnosticKind::InvalidValue, message, value.span, help);
                return None;
            }
            return Some((key.text, SetValue::constant(&value.to_json())));
        };
        match SetValue::parse(text) {
            Ok((template, parts)) => {
                self.unchecked.extend(parts.into_iter().map(|part| UncheckedExpression {
                    observer: observer.to_owned(),
                    tier: self.tier,
                    source: self.fields.source().clone(),
                    text: text.clone(),
                    text_span: value.span.clone(),
                    part,
                }));
                Some((key.text, template))
            }
            Err(problem) => {
                let span = self.fields.source().span_of_part(&value.span, text, &problem.span);
                self.add_error(
                    DiagnosticKind::InvalidExpression,
                    problem.message,
                    span,
                    "close the expression with `}}`",
                );
                None
            }
        }
    }

    // Observers with `behavior`.

    /// Reads `behavior`. Returns the observer's kind and default name.
    fn read_behavior(&mut self, name: Option<&SpannedText>) -> Option<(ObserverKind, Option<String>)> {
        let node = self.fields.take("behavior");
        match node.map(|node| (node.value, node.span)) {
            Some((Yaml::Text(behavior), span)) => {
                let behavior = self.read_builtin_behavior(&behavior, span)?;
                let name = behavior.name().to_owned();
                Some((ObserverKind::Builtin(behavior), Some(name)))
            }
            Some((Yaml::Map(entries), span)) => {
                self.fields.narrow_to(EXTERNAL.keys);
                let external = self.read_external_behavior(YamlNode { value: Yaml::Map(entries), span }, name);
                Some((ObserverKind::External(external), None))
            }
            _ => {
                let help =
                    format!("write one of {}, or `{{exec: [program, …]}}`", behavior_names::BEHAVIORS.join(", "));
                self.add_error(DiagnosticKind::InvalidValue, "`behavior` has no name", self.span.clone(), help);
                None
            }
        }
    }

    fn read_builtin_behavior(&mut self, name: &str, span: Range<usize>) -> Option<BuiltinBehavior> {
        match name {
            behavior_names::TASK_CLAIM_TRACKING => {
                self.fields.narrow_to(BEHAVIOR.keys);
                let default = TaskTools::default();
                let mut tools = |key, default| read_names(key, &mut self.fields, check_name_pattern).unwrap_or(default);
                Some(BuiltinBehavior::TaskClaimTracking(TaskTools {
                    servers: tools("servers", default.servers),
                    claim: tools("claim", default.claim),
                    close: tools("close", default.close),
                    create: tools("create", default.create),
                    update: tools("update", default.update),
                }))
            }
            behavior_names::DETECT_PLAN_MODE => {
                self.fields.narrow_to(BEHAVIOR_WITHOUT_SETTINGS);
                Some(BuiltinBehavior::DetectPlanMode)
            }
            behavior_names::MCP_CALL_TRACKING => {
                self.fields.narrow_to(BEHAVIOR_WITHOUT_SETTINGS);
                Some(BuiltinBehavior::McpCallTracking)
            }
            unknown => {
                let from_gobby =
                    GOBBY_BEHAVIORS.iter().find(|(name, _)| *name == unknown).map(|(_, behavior)| *behavior);
                let help = from_gobby.or_else(|| suggest::closest(unknown, behavior_names::BEHAVIORS)).map_or_else(
                    || {
                        format!(
                            "bundled behaviors: {}; to run a program, write `{{exec: [program, …]}}`",
                            behavior_names::BEHAVIORS.join(", ")
                        )
                    },
                    suggest::did_you_mean,
                );
                self.add_error(DiagnosticKind::InvalidValue, format!("unknown behavior `{unknown}`"), span, help);
                None
            }
        }
    }

    fn read_external_behavior(&mut self, node: YamlNode, name: Option<&SpannedText>) -> ExternalBehavior {
        let behavior_span = node.span.clone();
        let mut keys = Fields::of(node, self.fields.source(), PROGRAM.keys);
        keys.refuse_unknown();
        let is_one_text = keys.is_text("exec");
        let exec = keys.texts("exec").unwrap_or_default();
        if let Some(program) = exec.first().filter(|_| is_one_text) {
            command_text::check_program("exec", program, &mut keys);
        }
        match exec.first() {
            None => keys.refuse(DiagnosticKind::MissingKey, "`exec` names no program", behavior_span),
            Some(program) if self.tier == Tier::User && is_relative(&program.value) => keys.problems.push(
                Diagnostic::error(
                    DiagnosticKind::InvalidValue,
                    format!("the relative path `{}` would be a different program in each project", program.value),
                    keys.source(),
                    Some(program.span.clone()),
                )
                .help("write an absolute path, from `/` or `~/`, or the name of a program on the `PATH`"),
            ),
            Some(_) => {}
        }
        let conditions = read_conditions(&mut keys);
        if let Some(name) = name.filter(|name| !is_word(&name.value)) {
            keys.problems.push(
                Diagnostic::error(
                    DiagnosticKind::InvalidValue,
                    format!("invalid name `{}` for an external behavior", name.value),
                    keys.source(),
                    Some(name.span.clone()),
                )
                .help("use letters, digits and `_`: expressions call its conditions `behavior_<name>_<condition>`"),
            );
        }
        self.fields.problems.append(&mut keys.problems);
        ExternalBehavior { exec: exec.into_iter().map(|text| text.value).collect(), conditions }
    }
}

/// True if events of this kind have the property that the key of `match` compares.
fn applies_to(key: &str, kind: EventKind) -> bool {
    match key {
        "outcome" => matches!(kind, EventKind::AfterTool | EventKind::ToolFailed),
        _ => has_tool_call(kind),
    }
}

pub fn contains_expression(node: &YamlNode) -> bool {
    match &node.value {
        Yaml::Text(text) => text.contains("{{"),
        Yaml::List(items) => items.iter().any(contains_expression),
        Yaml::Map(entries) => entries.iter().any(|(_, value)| contains_expression(value)),
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) => false,
    }
}

/// Reads names with globs. `check` reports invalid ones.
fn read_names(key: &str, fields: &mut Fields, check: fn(&SpannedText, &mut Fields) -> bool) -> Option<Vec<ToolName>> {
    let names = fields.texts(key)?;
    Some(names.into_iter().filter_map(|name| check(&name, fields).then_some(ToolName(name.value))).collect())
}

/// Reads `mcp_server` and `mcp_tool`. If one of them is missing, it matches anything.
fn read_mcp_patterns(keys: &mut Fields) -> Vec<McpPattern> {
    let (servers, tools) =
        (read_names("mcp_server", keys, check_name_pattern), read_names("mcp_tool", keys, check_name_pattern));
    if servers.is_none() && tools.is_none() {
        return Vec::new();
    }
    let every = || vec![ToolName("*".to_owned())];
    let tools = tools.unwrap_or_else(every);
    let pairs = servers.unwrap_or_else(every).into_iter().flat_map(|server| {
        let tools = tools.clone();
        tools.into_iter().map(move |tool| McpPattern { server: server.0.clone(), tool: tool.0 })
    });
    pairs.collect()
}

fn read_conditions(keys: &mut Fields) -> BTreeMap<String, usize> {
    let Some(node) = keys.take("conditions") else { return BTreeMap::new() };
    let Yaml::Map(entries) = node.value else {
        let message = "`conditions` must be a mapping of names to numbers of arguments";
        keys.refuse(DiagnosticKind::InvalidValue, message, node.span);
        return BTreeMap::new();
    };
    let mut conditions = BTreeMap::new();
    for (key, value) in entries {
        let arity = match &value.value {
            Yaml::Number(number) => number.as_u64().and_then(|count| usize::try_from(count).ok()),
            _ => None,
        };
        match arity.filter(|count| *count <= ARGUMENTS_LIMIT) {
            _ if !is_word(&key.text) => {
                let message = format!("invalid condition name `{}`: use letters, digits and `_`", key.text);
                keys.refuse(DiagnosticKind::InvalidValue, message, key.span);
            }
            Some(arity) => {
                conditions.insert(key.text, arity);
            }
            None => {
                let message = format!("the number of arguments of `{}` must be 0 to {ARGUMENTS_LIMIT}", key.text);
                keys.refuse(DiagnosticKind::InvalidValue, message, value.span);
            }
        }
    }
    conditions
}

const ARGUMENTS_LIMIT: usize = 8;

/// Observer names follow the syntax of rule ids, because messages show them.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
}

fn is_word(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// True for a path relative to the working directory; names without a slash are looked up in `PATH`.
fn is_relative(program: &str) -> bool {
    program.contains('/') && !program.starts_with('/') && !program.starts_with("~/")
}
