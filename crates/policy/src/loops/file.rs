//! The file itself: its parts in the order in which they depend on each other.

use std::collections::BTreeMap;

use engine::expr::Scope;
use engine::hats::{AgentChoice, Completion, Hat, Loop, Topic, prompt};
use engine::rules::Tier;

use super::faults::{Spanned, Spans};
use super::hats::is_topic;
use super::keys::{COMPLETION, LOOP, TASKS, TOPIC};
use super::{agent, faults, limits};
use crate::library::Entries;
use crate::rule::reader::RuleReader;
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::{Fields, Text};
use crate::text::source::Source;
use crate::text::yaml::{self, Key, Node, Yaml};
use crate::workflow::{Around, GateReader, Observing, first_value, read_observers, read_variables};

/// What rules and gates of a loop are named after.
pub const LOOP_NAME: &str = "loop";
/// No more than anybody can follow.
const HATS_LIMIT: usize = 100;
const START: &str = "task.start";
const SCRATCHPAD: &str = ".linchpin/agent/scratchpad.md";
const SPECS: &str = "specs/";

/// None where the file has an error.
pub fn read(source: &Source, around: &Around) -> (Option<Loop>, Vec<Diagnostic>) {
    let node = match yaml::parse(source, 0..source.text.len()) {
        Ok(node) => node,
        Err(problem) => return (None, vec![*problem]),
    };
    let mut fields = Fields::of(node, source, LOOP.keys);
    if !fields.problems.is_empty() {
        return (None, fields.problems);
    }
    fields.refuse_unknown();
    let (the_loop, mut problems) = File { source, around }.read(&mut fields);
    problems.append(&mut fields.problems);
    problems.sort_by_key(|problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start));
    let is_sound = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_sound.then_some(the_loop).flatten(), problems)
}

#[derive(Clone, Copy)]
pub struct File<'a> {
    pub source: &'a Source,
    pub around: &'a Around<'a>,
}

impl File<'_> {
    fn read(self, fields: &mut Fields) -> (Option<Loop>, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        if !fields.has("agent") {
            fields.refuse(ErrorKind::MissingKey, "the loop has no `agent`", 0..0);
        }
        let agent = agent::read(fields);
        let limits = limits::read(fields);
        let variables = read_variables(fields, Tier::Project, self.around);
        let hats = hat_entries(fields);
        let mut spans = Spans {
            start: fields.key_span("start").unwrap_or_default(),
            completion: fields.key_span("completion").unwrap_or_default(),
            after: Vec::new(),
            topics: fields.keys_of("topics"),
            hats: hats.iter().map(|(key, _)| (key.text.clone(), key.span.clone())).collect(),
        };
        let mut scope = self.around.loaded.ground.scope.clone();
        for name in variables.keys() {
            scope.declare(name);
        }
        // An iteration is a phase to what is written here; nothing is claimed in it.
        let scope = scope.of_workflow([]);
        let (own, imported) = (Entries::default(), BTreeMap::new());
        let names = NamedRules {
            source: self.source,
            tier: Tier::Project,
            own: &own,
            imported: &imported,
            catalogue: self.around.catalogue,
            broken: &self.around.loaded.ground.broken,
        };
        let first_value = |name: &str| first_value(name, &variables, self.around);
        let gates = GateReader::new(&names, &scope, LOOP_NAME, &first_value, fields);
        let (completion, after) = completion(&gates, fields);
        spans.after = after;
        let close_requires = self.close_requires(&gates, fields);
        let topics = self.topics(&gates, fields);
        let ends = yaml::ends(&hats, fields.end_of("hats"));
        let reader = self.rule_reader(&scope);
        let hats: Vec<Hat> = hats
            .iter()
            .zip(ends)
            .map(|((key, node), end)| self.hat((key, node.clone(), end), reader, &names, &mut problems))
            .collect();
        let start = topic("start", START, fields);
        let guardrails = fields.texts("guardrails").map_or_else(
            || prompt::GUARDRAILS.map(str::to_owned).to_vec(),
            |texts| texts.into_iter().map(|text| text.value).collect(),
        );
        let mut below = |key: &str, default: &str| place(key, fields).unwrap_or_else(|| default.to_owned());
        let (scratchpad, specs_dir) = (below("scratchpad", SCRATCHPAD), below("specs_dir", SPECS));
        let unused_gates = gates.unused(self.source);
        let gates = gates.declared;
        let the_loop = Loop {
            source: self.source.name.clone(),
            digest: digest(&*self.source.text),
            agent: agent.unwrap_or_else(|| AgentChoice::Named(String::new())),
            start,
            completion,
            limits,
            guardrails,
            scratchpad,
            specs_dir,
            close_requires,
            variables,
            topics,
            gates,
            hats,
        };
        let is_sound = fields.problems.iter().chain(&problems).all(|problem| problem.severity == Severity::Warning);
        if is_sound {
            problems.extend(unused_gates);
            problems.extend(faults::of_shape(&the_loop, &spans, self.source));
        }
        (is_sound.then_some(the_loop), problems)
    }

    pub fn observers(self, fields: &mut Fields, scope: &Scope) -> Observing {
        let observing = read_observers(fields, self.source, Tier::Project, self.around);
        let problems = observing.unchecked.iter().flat_map(|unchecked| unchecked.problems(scope));
        fields.problems.extend(problems);
        observing
    }

    fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        Self: 's,
    {
        let protected_branches = &self.around.loaded.ground.protected_branches;
        RuleReader { source: self.source, owner: Tier::Project, scope, protected_branches }
    }

    fn close_requires(self, gates: &GateReader, around: &mut Fields) -> Vec<engine::workflow::Requirement> {
        let Some(node) = around.take("tasks") else { return Vec::new() };
        let mut fields = Fields::of(node, self.source, TASKS.keys);
        fields.refuse_unknown();
        let requires = gates.of_list("close_requires", "tasks", &mut fields);
        around.problems.append(&mut fields.problems);
        requires
    }

    fn topics(self, gates: &GateReader, around: &mut Fields) -> BTreeMap<String, Topic> {
        let mut topics = BTreeMap::new();
        let Some(node) = around.take("topics") else { return topics };
        let Yaml::Map(entries) = node.value else {
            let message = format!("`topics` takes a mapping of topics to what they mean, not {}", node.value.kind());
            around.refuse(ErrorKind::InvalidValue, message, node.span);
            return topics;
        };
        for (key, node) in entries {
            let name = Text { value: key.text, span: key.span };
            if !is_topic(&name, around) {
                continue;
            }
            let mut fields = Fields::of(node, self.source, TOPIC.keys);
            fields.refuse_unknown();
            let mut text = |key: &str| fields.text(key).map(|text| text.value).unwrap_or_default();
            let (on_trigger, on_publish) = (text("on_trigger"), text("on_publish"));
            let requires = gates.of_list("requires", &name.value, &mut fields);
            around.problems.append(&mut fields.problems);
            topics.insert(name.value, Topic { on_trigger, on_publish, requires });
        }
        topics
    }
}

fn hat_entries(fields: &mut Fields) -> Vec<(Key, Node)> {
    let entries = match fields.take("hats").map(|node| (node.span, node.value)) {
        Some((_, Yaml::Map(entries))) if !entries.is_empty() => entries,
        Some((span, Yaml::Map(_))) => {
            fields.refuse(ErrorKind::MissingKey, "the loop has no hats", span);
            return Vec::new();
        }
        Some((span, other)) => {
            let message = format!("`hats` takes a mapping of ids to hats, not {}", other.kind());
            fields.refuse(ErrorKind::InvalidValue, message, span);
            return Vec::new();
        }
        None => {
            fields.refuse(ErrorKind::MissingKey, "the loop has no `hats`", 0..0);
            return Vec::new();
        }
    };
    if entries.len() > HATS_LIMIT {
        let message = format!("{} hats are more than the {HATS_LIMIT} that a loop may have", entries.len());
        fields.refuse(ErrorKind::InvalidValue, message, fields.key_span("hats").unwrap_or_default());
        return Vec::new();
    }
    let is_id = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
    };
    for (key, _) in entries.iter().filter(|(key, _)| key.text == Loop::DONE) {
        let message = format!("a hat cannot have the id `{}`: drawings have that at the end", Loop::DONE);
        fields.refuse(ErrorKind::InvalidValue, message, key.span.clone());
    }
    for (key, _) in entries.iter().filter(|(key, _)| !is_id(&key.text)) {
        let message = format!("`{}` cannot be a hat's id: use letters, digits, `-` and `_`, a letter first", key.text);
        fields.refuse(ErrorKind::InvalidValue, message, key.span.clone());
    }
    entries
}

/// A path from the root that stays below it.
fn place(key: &str, fields: &mut Fields) -> Option<String> {
    let Text { value, span } = fields.text(key)?;
    let is_below = !value.is_empty() && !value.starts_with(['/', '~']) && value.split('/').all(|part| part != "..");
    if !is_below {
        let message = format!("`{key}` is a path below the project's root, not `{value}`");
        fields.refuse(ErrorKind::InvalidValue, message, span);
        return None;
    }
    Some(value)
}

fn topic(key: &str, default: &str, fields: &mut Fields) -> String {
    let text = fields.text(key);
    if let Some(text) = &text {
        is_topic(text, fields);
    }
    text.map_or_else(|| default.to_owned(), |text| text.value)
}

/// With where each topic under `after` stands.
fn completion(gates: &GateReader, around: &mut Fields) -> (Completion, Vec<Spanned>) {
    let mut completion = Completion { topic: Loop::COMPLETE.to_owned(), requires: Vec::new(), after: Vec::new() };
    let Some(node) = around.take("completion") else { return (completion, Vec::new()) };
    let mut fields = Fields::of(node, around.source(), COMPLETION.keys);
    fields.refuse_unknown();
    completion.topic = topic("topic", Loop::COMPLETE, &mut fields);
    completion.requires = gates.of_list("requires", "completion", &mut fields);
    let after = fields.texts("after").unwrap_or_default();
    if let Some(first) = after.get(Loop::MOST_AFTER) {
        let message =
            format!("{} topics under `after` are more than the {} that there may be", after.len(), Loop::MOST_AFTER);
        fields.refuse(ErrorKind::InvalidValue, message, first.span.clone());
    }
    let after = after.into_iter().filter(|topic| is_topic(topic, &mut fields));
    let after: Vec<Spanned> = after.map(|topic| (topic.value, topic.span)).collect();
    completion.after = after.iter().map(|(topic, _)| topic.clone()).collect();
    around.problems.append(&mut fields.problems);
    (completion, after)
}
