//! Reads gates: `gates`, `requires`, `exit_when` and `exit_conditions`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use engine::expr::{self, Scope};
use engine::suggest;
use engine::workflow::{ExpectedResponse, Gate, Requirement, Webhook, Workflow};
use serde_json::Value;

use super::keys::{EXPECT, GATE, METHODS, OLD_GATE, OLD_GATES, WEBHOOK};
use super::rules::with_workflow_prefix;
use crate::list_resolver::RuleLookup;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};
use crate::values::command_text::{self, CommandPlace, CommandText};
use crate::values::expression::check_expression;
use crate::values::quantity::read_duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
const LONGEST_TIMEOUT: Duration = Duration::from_hours(1);
const DEFAULT_STATUS: u16 = 200;

pub struct GateReader<'a> {
    rule_lookup: &'a RuleLookup<'a>,
    scope: &'a Scope,
    workflow: &'a str,
    /// Returns the initial value of a declared variable.
    initial_value: &'a dyn Fn(&str) -> Option<Value>,
    pub declared: BTreeMap<String, Gate>,
    /// Names of declared gates with errors.
    broken_gates: Vec<String>,
    /// Keys of the declared gates that nothing has required so far.
    unused: RefCell<Vec<YamlKey>>,
}

impl<'a> GateReader<'a> {
    /// Reads `gates`.
    pub fn new(
        rule_lookup: &'a RuleLookup<'a>,
        scope: &'a Scope,
        workflow: &'a str,
        initial_value: &'a dyn Fn(&str) -> Option<Value>,
        fields: &mut Fields,
    ) -> Self {
        let (declared, broken_gates, unused) = (BTreeMap::new(), Vec::new(), RefCell::default());
        let mut gates = Self { rule_lookup, scope, workflow, initial_value, declared, broken_gates, unused };
        let Some(node) = fields.take("gates") else { return gates };
        let Yaml::Map(entries) = node.value else {
            let message = format!("`gates` must be a mapping of names to gates, not {}", node.value.kind());
            fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
            return gates;
        };
        for (key, node) in entries {
            let is_name = key.text.starts_with(|first: char| first.is_ascii_alphanumeric())
                && key
                    .text
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'));
            if !is_name {
                let message = format!("invalid gate name `{}`: use letters, digits, `-` and `_`", key.text);
                fields.refuse(DiagnosticKind::InvalidValue, message, key.span);
                continue;
            }
            let gate = match node.value {
                Yaml::Text(value) => gates.parse_expression(SpannedText { value, span: node.span }, fields),
                _ => gates.parse_mapping(node, fields),
            };
            match gate {
                Some(gate) => {
                    gates.declared.insert(key.text.clone(), gate);
                    gates.unused.get_mut().push(key);
                }
                None => gates.broken_gates.push(key.text),
            }
        }
        gates
    }

    /// A warning for each gate that nothing requires.
    pub fn unused_gate_warnings(&self, source: &Source) -> Vec<Diagnostic> {
        let warning = |key: &YamlKey| {
            let message = format!("nothing requires the gate `{}`, so it is never checked", key.text);
            Diagnostic::warning(DiagnosticKind::InvalidValue, message, source, Some(key.span.clone()))
                .help(format!("add it where it must hold, as `requires: [{}]`, or remove it", key.text))
        };
        self.unused.borrow().iter().map(warning).collect()
    }

    /// Reads `requires`, `exit_when` and `exit_conditions` of a node, in this order.
    pub fn read_node_requirements(&self, node: &str, fields: &mut Fields) -> Vec<Requirement> {
        if Workflow::is_end(node) {
            refuse_gates_of_end(node, fields);
        }
        let mut items = read_gate_list("requires", fields);
        items.extend(fields.text("exit_when").map(|text| YamlNode { value: Yaml::Text(text.value), span: text.span }));
        items.extend(read_gate_list("exit_conditions", fields));
        self.read_requirements(items, node, fields)
    }

    /// Reads `requires` of a transition. `number` starts at 1.
    pub fn read_transition_requirements(&self, node: &str, number: usize, fields: &mut Fields) -> Vec<Requirement> {
        let items = read_gate_list("requires", fields);
        self.read_requirements(items, &format!("{node}/transitions/{number}"), fields)
    }

    /// Reads any other list of gates. `id_prefix`: the prefix of the requirements' ids.
    pub fn read_list_requirements(&self, key: &str, id_prefix: &str, fields: &mut Fields) -> Vec<Requirement> {
        let items = read_gate_list(key, fields);
        self.read_requirements(items, id_prefix, fields)
    }

    fn read_requirements(&self, items: Vec<YamlNode>, id_prefix: &str, fields: &mut Fields) -> Vec<Requirement> {
        let numbered = items.into_iter().enumerate();
        numbered
            .filter_map(|(index, item)| self.read_requirement(item, format!("{id_prefix}/{}", index + 1), fields))
            .collect()
    }

    fn read_requirement(&self, item: YamlNode, id: String, fields: &mut Fields) -> Option<Requirement> {
        let Yaml::Text(value) = item.value else {
            return Some(Requirement { id, gate: self.parse_mapping(item, fields)? });
        };
        if let Some(gate) = self.declared.get(&value) {
            self.unused.borrow_mut().retain(|key| key.text != value);
            return Some(Requirement { id: value, gate: gate.clone() });
        }
        if self.broken_gates.contains(&value) {
            return None;
        }
        Some(Requirement { id, gate: self.parse_expression(SpannedText { value, span: item.span }, fields)? })
    }

    fn parse_expression(&self, text: SpannedText, fields: &mut Fields) -> Option<Gate> {
        if !check_expression(&text, self.scope, fields) {
            let gate = suggest::closest(&text.value, self.declared.keys().map(String::as_str));
            if let Some(problem) = fields.problems.last_mut() {
                match gate {
                    Some(gate) => problem.help = Some(format!("did you mean the gate `{gate}`?")),
                    None => problem.help = problem.help.take().map(|help| with_gate_declaration(help, &text.value)),
                }
            }
            return None;
        }
        Some(Gate::Expression(text.value))
    }

    fn parse_mapping(&self, node: YamlNode, outer: &mut Fields) -> Option<Gate> {
        let span = node.span.clone();
        let Yaml::Map(entries) = &node.value else {
            let message = format!("a gate must be an expression, a name or a mapping, not {}", node.value.kind());
            outer.refuse(DiagnosticKind::InvalidValue, message, span);
            return None;
        };
        let is_old = entries.iter().any(|(key, _)| key.text == "type");
        let mut fields = Fields::of(node, outer.source(), if is_old { OLD_GATE.keys } else { GATE.keys });
        fields.refuse_unknown();
        let gate =
            if is_old { self.read_old_syntax(span, &mut fields) } else { self.read_current_syntax(span, &mut fields) };
        let is_valid = fields.has_no_errors();
        outer.problems.append(&mut fields.problems);
        gate.filter(|_| is_valid)
    }

    fn read_current_syntax(&self, span: Range<usize>, fields: &mut Fields) -> Option<Gate> {
        let kinds = ["command", "shell", "approval", "webhook", "file_rules"];
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| fields.has(kind)).collect();
        if kinds.len() != 1 {
            let message = match kinds.as_slice() {
                [] => "a gate must have one of `command`, `shell`, `approval`, `webhook` and `file_rules`".to_owned(),
                several => format!("a gate may have only one of {}", several.join(", ")),
            };
            fields.refuse(DiagnosticKind::MissingKey, message, span);
            return None;
        }
        let timeout = read_timeout(fields);
        if fields.has("command") || fields.has("shell") {
            let is_script = fields.has("shell");
            let read = if is_script {
                command_text::read_script(fields)
            } else {
                command_text::read_command(CommandPlace::GateOrAction, fields)
            };
            let CommandText { text, words } = read?;
            let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
            let protect = fields.boolean("protect").unwrap_or(true);
            return Some(Gate::Command { text: text.value, words, timeout, protect });
        }
        for key in ["timeout", "protect"] {
            if let Some(span) = fields.key_span(key) {
                fields.refuse(DiagnosticKind::InvalidValue, format!("`{key}` needs a `command` or a `shell`"), span);
            }
        }
        if fields.has("approval") {
            return read_approval("approval", fields);
        }
        if fields.has("file_rules") {
            return self.read_file_rules(fields);
        }
        let node = fields.take("webhook")?;
        let span = node.span.clone();
        let mut inner = Fields::of(node, fields.source(), WEBHOOK.keys);
        inner.refuse_unknown();
        let expect = read_expected_response(&mut inner);
        let webhook = read_webhook(span, expect, &mut inner);
        fields.problems.append(&mut inner.problems);
        webhook
    }

    fn read_file_rules(&self, fields: &mut Fields) -> Option<Gate> {
        let span = fields.key_span("file_rules").unwrap_or_default();
        let names = fields.texts("file_rules")?;
        if names.is_empty() {
            fields.refuse(DiagnosticKind::InvalidValue, "`file_rules` is empty", span);
            return None;
        }
        let mut rules = Vec::new();
        for name in names {
            match self.rule_lookup.file_rule(&name) {
                Ok(Some(found)) => rules.push(with_workflow_prefix(found.clone(), self.workflow).rule),
                // If this were no error, the gate could pass although the broken rule was not checked.
                Ok(None) => {
                    let message = format!("the rule `{}` has errors, so the gate cannot check it", name.value);
                    fields.refuse(DiagnosticKind::UnknownRule, message, name.span.clone());
                }
                Err(problem) => fields.problems.push(*problem),
            }
        }
        Some(Gate::FileRules(rules))
    }

    /// Refuses a value that the variable can never have: `linchpin set` keeps the type of variables that are declared
    /// as booleans or numbers.
    fn check_type(&self, name: &str, value: &Value, span: Range<usize>, fields: &mut Fields) {
        let Some(declared) = (self.initial_value)(name) else { return };
        let kind = match declared {
            Value::Bool(_) if !value.is_boolean() => "a boolean",
            Value::Number(_) if !value.is_number() => "a number",
            _ => return,
        };
        let message = format!(
            "`value` is `{value}`, but `{name}` is declared as {kind} (`{declared}`), so the gate never passes"
        );
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(span));
        fields.problems.push(
            problem.help(format!("write {kind} here, or declare `{name}` as text: `variables: {{{name}: \"\"}}`")),
        );
    }

    /// Reads the deprecated syntax of gates, which has a `type`.
    fn read_old_syntax(&self, span: Range<usize>, fields: &mut Fields) -> Option<Gate> {
        let kinds = OLD_GATES.map(|name| (name, name));
        let kind = fields.choice("type", &kinds)?;
        let required = match kind {
            "variable_set" => "variable",
            "expression" => "expression",
            "user_approval" => "prompt",
            _ => "url",
        };
        if !fields.has(required) {
            let message = format!("the gate has no `{required}`");
            let problem = Diagnostic::error(DiagnosticKind::MissingKey, message, fields.source(), Some(span));
            let help = "write the question for the person: `approval: Ship it?`".to_owned();
            fields.problems.push(problem.maybe_help((kind == "user_approval").then_some(help)));
            return None;
        }
        let (gate, replacement) = match kind {
            "variable_set" => {
                let name = fields.text("variable")?;
                let value = fields.take("value").map(|node| (node.span.clone(), node.to_json()));
                if let Some((span, value)) = &value {
                    self.check_type(&name.value, value, span.clone(), fields);
                }
                let value = value.map(|(_, value)| value);
                let text = value.map_or_else(|| name.value.clone(), |value| format!("{} == {value}", name.value));
                if check_expression(&name, self.scope, fields) && !expr::check(&text, self.scope).is_empty() {
                    fields.refuse(DiagnosticKind::InvalidValue, "`value` is too large for an expression", span.clone());
                }
                (Gate::Expression(text.clone()), format!("write `{text}`"))
            }
            "expression" => {
                let text = fields.text("expression")?;
                check_expression(&text, self.scope, fields);
                (Gate::Expression(text.value), "write only the expression".to_owned())
            }
            "user_approval" => (read_approval("prompt", fields)?, "write `{approval: …}`".to_owned()),
            _ => {
                let expect = ExpectedResponse { status: DEFAULT_STATUS, json: None };
                (read_webhook(span.clone(), expect, fields)?, "write `{webhook: {url: …}}`".to_owned())
            }
        };
        let message = format!("`type: {kind}` is an old syntax of gates");
        let warning =
            Diagnostic::warning(DiagnosticKind::Deprecated, message, fields.source(), fields.key_span("type"));
        fields.problems.push(warning.help(replacement));
        Some(gate)
    }
}

/// Refuses gates on an end node: gates are checked when a node is left, and an end is never left.
fn refuse_gates_of_end(node: &str, fields: &mut Fields) {
    for key in ["requires", "exit_when", "exit_conditions"] {
        let Some(span) = fields.key_span(key) else { continue };
        let message = format!("`{key}` of `{node}` is never checked: gates are checked when a node is left");
        let help = format!("write them on the transition that leads here: `{{when: …, to: {node}, requires: […]}}`");
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(span));
        fields.problems.push(problem.help(help));
    }
}

fn read_gate_list(key: &str, fields: &mut Fields) -> Vec<YamlNode> {
    let Some(node) = fields.take(key) else { return Vec::new() };
    let Yaml::List(items) = node.value else {
        let message = format!("`{key}` must be a list of gates, not {}", node.value.kind());
        fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
        return Vec::new();
    };
    items
}

fn read_timeout(fields: &mut Fields) -> Option<Duration> {
    let (timeout, span) = read_duration("timeout", fields)?;
    if timeout.is_zero() || timeout > LONGEST_TIMEOUT {
        fields.refuse(DiagnosticKind::InvalidValue, "`timeout` must be more than 0 and at most `1h`", span);
    }
    Some(timeout)
}

fn read_approval(key: &str, fields: &mut Fields) -> Option<Gate> {
    let text = fields.text(key)?;
    if text.value.trim().is_empty() {
        fields.refuse(DiagnosticKind::InvalidValue, format!("`{key}` is empty"), text.span);
        return None;
    }
    Some(Gate::Approval(text.value))
}

fn read_webhook(span: Range<usize>, expect: ExpectedResponse, fields: &mut Fields) -> Option<Gate> {
    let is_mapping = fields.problems.is_empty();
    let methods = METHODS.map(|name| (name, name));
    let method = fields.choice("method", &methods).unwrap_or("POST").to_owned();
    let headers = read_headers(fields);
    let Some(url) = fields.text("url") else {
        if is_mapping && !fields.has("url") {
            fields.refuse(DiagnosticKind::MissingKey, "the webhook has no `url`", span);
        }
        return None;
    };
    if let Err((message, help)) = check_webhook_url(&url.value) {
        let problem = Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(url.span));
        fields.problems.push(problem.help(help));
        return None;
    }
    Some(Gate::Webhook(Box::new(Webhook { url: url.value, method, headers, expect })))
}

fn read_expected_response(webhook_fields: &mut Fields) -> ExpectedResponse {
    let mut expect = ExpectedResponse { status: DEFAULT_STATUS, json: None };
    let Some(node) = webhook_fields.take("expect") else { return expect };
    let mut fields = Fields::of(node, webhook_fields.source(), EXPECT.keys);
    fields.refuse_unknown();
    let span = fields.key_span("status").unwrap_or_default();
    if let Some(status) = fields.integer("status") {
        match u16::try_from(status) {
            Ok(status @ 100..=599) => expect.status = status,
            _ => fields.refuse(DiagnosticKind::InvalidValue, "`status` must be an HTTP status code, 100 to 599", span),
        }
    }
    expect.json = fields.take("json").map(|json| json.to_json().to_string());
    webhook_fields.problems.append(&mut fields.problems);
    expect
}

fn read_headers(fields: &mut Fields) -> Vec<(String, String)> {
    let Some(node) = fields.take("headers") else { return Vec::new() };
    let Yaml::Map(entries) = node.value else {
        let message = format!("`headers` must be a mapping of names to text, not {}", node.value.kind());
        fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
        return Vec::new();
    };
    let mut headers = Vec::new();
    for (key, value) in entries {
        let is_token = !key.text.is_empty()
            && key.text.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'));
        match value.value {
            Yaml::Text(text) if is_token && !text.contains(char::is_control) => headers.push((key.text, text)),
            Yaml::Text(_) => {
                let message = format!("invalid header `{}`", key.text);
                fields.refuse(DiagnosticKind::InvalidValue, message, key.span);
            }
            other => {
                let message = format!("`{}` must be text, not {}", key.text, other.kind());
                fields.refuse(DiagnosticKind::InvalidValue, message, value.span);
            }
        }
    }
    headers
}

/// Accepts URLs with HTTPS or a loopback host. Otherwise returns the message and the help text.
fn check_webhook_url(url: &str) -> Result<(), (&'static str, &'static str)> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('\\') || url.contains(|character: char| character.is_control() || character == ' ') {
        return Err((
            "a webhook's `url` must not contain spaces or control characters, or a backslash in its host",
            "remove them, or write them percent-encoded: a space is `%20`",
        ));
    }
    if authority.contains('@') {
        return Err((
            "a webhook's `url` must not contain a user name or password, because it is shown in messages",
            "put credentials into `headers`",
        ));
    }
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_allowed = scheme == "https" || (scheme == "http" && is_loopback);
    if is_allowed && !authority.is_empty() {
        return Ok(());
    }
    Err((
        "a webhook's `url` must start with `https://`, or with `http://` and a loopback host such as `localhost`",
        "write a URL such as `https://example.com/gate` or `http://localhost:8080/gate`",
    ))
}

/// Adds the syntax of gate declarations to a help text about declarations.
fn with_gate_declaration(help: String, name: &str) -> String {
    if help.contains(" is declared ") {
        format!("a gate is declared with `gates: {{{name}: {{command: …}}}}`, {help}")
    } else {
        help
    }
}

#[cfg(test)]
mod tests {
    use super::check_webhook_url;

    #[test]
    fn refused_webhook_urls_give_the_reason() {
        let accepted =
            ["https://example.com", "https://example.com/a@b", "http://localhost:8080/gate", "http://[::1]/x"];
        for url in accepted {
            assert_eq!(check_webhook_url(url), Ok(()), "{url}");
        }
        for (part, urls) in [
            ("user name or password", ["https://me:secret@example.com", "http://me@localhost/x"]),
            ("spaces or control characters", ["https://example.com/a b", "https://example.com/\u{7}"]),
            ("must start with `https://`", ["http://example.com", "example.com"]),
            ("must start with `https://`", ["https://", "ftp://localhost"]),
            ("a backslash in its host", ["https://example.com\\x", "https://\\\\example.com"]),
        ] {
            for url in urls {
                let (message, _) = check_webhook_url(url).expect_err("a refusal");
                assert!(message.contains(part), "{url}: {message}");
            }
        }
    }
}
