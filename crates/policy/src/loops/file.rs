//! The file itself: its parts in the order in which they depend on each other.

use std::collections::BTreeMap;

use engine::hats::{AgentChoice, Loop, prompt};
use engine::rules::Tier;
use engine::workflow::Requirement;

use super::completion::completion;
use super::faults::{self, Spans};
use super::hats::hat_entries;
use super::keys::{LOOP, TASKS};
use super::loop_source::{LOOP_NAME, LoopSource};
use super::topics::{topic, topics};
use super::{agent, limits};
use crate::library::Entries;
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::{Fields, Text};
use crate::text::source::Source;
use crate::text::yaml;
use crate::workflow::{Around, GateReader, first_value, read_variables};

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
    let (the_loop, mut problems) = LoopSource { source, around }.read(&mut fields);
    problems.append(&mut fields.problems);
    problems.sort_by_key(|problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start));
    let is_sound = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_sound.then_some(the_loop).flatten(), problems)
}

impl LoopSource<'_> {
    fn read(self, fields: &mut Fields) -> (Option<Loop>, Vec<Diagnostic>) {
        let Self { source, around } = self;
        let mut problems = Vec::new();
        if !fields.has("agent") {
            fields.refuse(ErrorKind::MissingKey, "the loop has no `agent`", 0..0);
        }
        let agent = agent::read(fields);
        let limits = limits::read(fields);
        let variables = read_variables(fields, Tier::Project, around);
        let hats = hat_entries(fields);
        let mut spans = Spans::of_keys(&hats, fields);
        let scope = self.scope(&variables);
        // A loop defines and imports no rules.
        let (own, imported) = (Entries::default(), BTreeMap::new());
        let (tier, catalogue, broken) = (Tier::Project, around.catalogue, &around.loaded.context.broken);
        let names = NamedRules { source, tier, own: &own, imported: &imported, catalogue, broken };
        let first_value = |name: &str| first_value(name, &variables, around);
        let gates = GateReader::new(&names, &scope, LOOP_NAME, &first_value, fields);
        let (completion, after) = completion(&gates, fields);
        spans.after = after;
        let close_requires = self.close_requires(&gates, fields);
        let topics = topics(&gates, fields);
        let hats = self.hats(&hats, fields.end_of("hats"), self.rule_reader(&scope), &names, &mut problems);
        let start = topic("start", START, fields);
        let guardrails = guardrails(fields);
        let scratchpad = place("scratchpad", fields).unwrap_or_else(|| SCRATCHPAD.to_owned());
        let specs_dir = place("specs_dir", fields).unwrap_or_else(|| SPECS.to_owned());
        let unused_gates = gates.unused(source);
        let gates = gates.declared;
        let the_loop = Loop {
            source: source.name.clone(),
            digest: digest(&*source.text),
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
            problems.extend(faults::of_shape(&the_loop, &spans, source));
        }
        (is_sound.then_some(the_loop), problems)
    }

    fn close_requires(self, gates: &GateReader, around: &mut Fields) -> Vec<Requirement> {
        let Some(node) = around.take("tasks") else { return Vec::new() };
        let mut fields = Fields::of(node, self.source, TASKS.keys);
        fields.refuse_unknown();
        let requires = gates.of_list("close_requires", "tasks", &mut fields);
        around.problems.append(&mut fields.problems);
        requires
    }
}

fn guardrails(fields: &mut Fields) -> Vec<String> {
    fields.texts("guardrails").map_or_else(
        || prompt::GUARDRAILS.map(str::to_owned).to_vec(),
        |texts| texts.into_iter().map(|text| text.value).collect(),
    )
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
