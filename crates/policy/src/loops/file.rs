//! Reads `loop.yml`, each part after the parts that it depends on.

use std::collections::BTreeMap;

use engine::hats::{AgentChoice, Loop, prompt};
use engine::rules::Tier;
use engine::workflow::Requirement;

use super::completion::read_completion;
use super::hats::read_hat_entries;
use super::keys::{LOOP, TASKS};
use super::loop_reader::{LOOP_NAME, LoopReader};
use super::structure_lints::{self, LoopSpans};
use super::topics::{read_topic, read_topics};
use super::{agent, limits};
use crate::library::RuleEntries;
use crate::list_resolver::RuleLookup;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;
use crate::text::yaml;
use crate::workflow::{GateReader, WorkflowContext, initial_value, read_variables};

const START: &str = "task.start";
const SCRATCHPAD: &str = ".linchpin/agent/scratchpad.md";
const SPECS: &str = "specs/";

/// The loop is `None` if the file has errors.
pub fn read(source: &Source, context: &WorkflowContext) -> (Option<Loop>, Vec<Diagnostic>) {
    let node = match yaml::parse(source, 0..source.text.len()) {
        Ok(node) => node,
        Err(problem) => return (None, vec![*problem]),
    };
    let mut fields = Fields::of(node, source, LOOP.keys);
    if !fields.problems.is_empty() {
        return (None, fields.problems);
    }
    fields.refuse_unknown();
    let (the_loop, mut problems) = LoopReader { source, context }.read(&mut fields);
    problems.append(&mut fields.problems);
    problems.sort_by_key(|problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start));
    let is_valid = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_valid.then_some(the_loop).flatten(), problems)
}

impl LoopReader<'_> {
    fn read(self, fields: &mut Fields) -> (Option<Loop>, Vec<Diagnostic>) {
        let Self { source, context } = self;
        let mut problems = Vec::new();
        if !fields.has("agent") {
            fields.refuse(DiagnosticKind::MissingKey, "the loop has no `agent`", 0..0);
        }
        let agent = agent::read(fields);
        let variables = read_variables(fields, Tier::Project, context);
        let hats = read_hat_entries(fields);
        let mut spans = LoopSpans::of_keys(&hats, fields);
        let limits = limits::read(fields);
        let scope = self.scope(&variables);
        // A loop cannot define or import rules.
        let (local, imported) = (RuleEntries::default(), BTreeMap::new());
        let (tier, catalogue, broken_ids) = (Tier::Project, context.catalogue, &context.loaded.context.broken_ids);
        let rule_lookup = RuleLookup { source, tier, local: &local, imported: &imported, catalogue, broken_ids };
        let initial_value = |name: &str| initial_value(name, &variables, context);
        let gates = GateReader::new(&rule_lookup, &scope, LOOP_NAME, &initial_value, fields);
        let (completion, after) = read_completion(&gates, fields);
        spans.after = after;
        let close_requires = self.read_close_requires(&gates, fields);
        let topics = read_topics(&gates, fields);
        let hats = self.read_hats(&hats, fields.end_of("hats"), self.rule_reader(&scope), &rule_lookup, &mut problems);
        let start = read_topic("start", START, fields);
        let guardrails = read_guardrails(fields);
        let scratchpad = read_project_path("scratchpad", fields).unwrap_or_else(|| SCRATCHPAD.to_owned());
        let specs_dir = read_project_path("specs_dir", fields).unwrap_or_else(|| SPECS.to_owned());
        let unused_gates = gates.unused_gate_warnings(source);
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
        let is_valid = fields.problems.iter().chain(&problems).all(|problem| problem.severity == Severity::Warning);
        if is_valid {
            problems.extend(unused_gates);
            problems.extend(structure_lints::structure_problems(&the_loop, &spans, source));
        }
        (is_valid.then_some(the_loop), problems)
    }

    fn read_close_requires(self, gates: &GateReader, loop_fields: &mut Fields) -> Vec<Requirement> {
        let Some(node) = loop_fields.take("tasks") else { return Vec::new() };
        let mut fields = Fields::of(node, self.source, TASKS.keys);
        fields.refuse_unknown();
        let requires = gates.read_list_requirements("close_requires", "tasks", &mut fields);
        loop_fields.problems.append(&mut fields.problems);
        requires
    }
}

fn read_guardrails(fields: &mut Fields) -> Vec<String> {
    fields.texts("guardrails").map_or_else(
        || prompt::GUARDRAILS.map(str::to_owned).to_vec(),
        |texts| texts.into_iter().map(|text| text.value).collect(),
    )
}

/// Reads a relative path that stays in the project.
fn read_project_path(key: &str, fields: &mut Fields) -> Option<String> {
    let SpannedText { value, span } = fields.text(key)?;
    let is_inside = !value.is_empty() && !value.starts_with(['/', '~']) && value.split('/').all(|part| part != "..");
    if !is_inside {
        let message = format!("`{key}` must be a path inside the project, not `{value}`");
        fields.refuse(DiagnosticKind::InvalidValue, message, span);
        return None;
    }
    Some(value)
}
