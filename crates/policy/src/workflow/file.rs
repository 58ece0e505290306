//! Reads a workflow's file, each part after the parts that it depends on.

use engine::expr::Scope;
use engine::rules::Tier;
use engine::workflow::{EventTrigger, Workflow};

use super::WorkflowContext;
use super::gates::GateReader;
use super::graph_lints::{refuse_same_ids, warn_of_unreachable_nodes};
use super::keys::WORKFLOW;
use super::nodes::NodeContext;
use super::rules::{RuleCollector, RuleOwner};
use super::variables;
use super::workflow_source::WorkflowSource;
use crate::actions::{ActionReader, ActionSite, Templates};
use crate::library::RuleEntries;
use crate::list_resolver::RuleLookup;
use crate::rule::definition::RuleOrigin;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml};

/// The workflow is `None` if the file has errors.
pub fn read(name: &str, source: &Source, tier: Tier, context: &WorkflowContext) -> (Option<Workflow>, Vec<Diagnostic>) {
    let node = match yaml::parse(source, 0..source.text.len()) {
        Ok(node) => node,
        Err(problem) => return (None, vec![*problem]),
    };
    let mut fields = Fields::of(node, source, WORKFLOW.keys);
    if !fields.problems.is_empty() {
        return (None, fields.problems);
    }
    fields.refuse_unknown();
    let (workflow, mut problems) = WorkflowSource { name, source, tier, context }.read(&mut fields);
    problems.append(&mut fields.problems);
    // Problems of guides come after those of the file itself.
    problems.sort_by_key(|problem| {
        let start = problem.span.as_ref().map_or(usize::MAX, |span| span.start);
        (problem.source.name != source.name, problem.source.name.clone(), start)
    });
    let is_valid = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_valid.then_some(workflow), problems)
}

impl WorkflowSource<'_> {
    fn read(self, fields: &mut Fields) -> (Workflow, Vec<Diagnostic>) {
        let Self { name, source, tier, context } = self;
        let mut problems = Vec::new();
        self.check_mode(fields);
        let entries = self.node_entries(fields);
        let declared = self.declarations(&entries, fields, &mut problems);
        let (scope, moves) = (&declared.scope, &declared.moves);

        let reader = self.rule_reader(scope);
        let mut own = rule_definitions(reader, fields);
        problems.append(&mut own.problems);
        let imported = context.catalogue.imported(&fields.texts("imports").unwrap_or_default(), source, tier);
        problems.extend(imported.problems);
        let (catalogue, broken) = (context.catalogue, &context.loaded.context.broken);
        let names = RuleLookup { source, tier, own: &own, imported: &imported.rules, catalogue, broken };

        let mut templates = Templates::new(&context.guides, format!("workflow `{name}`"), scope);
        let first_value = |name: &str| variables::first_value(name, &declared.variables, context);
        let gates = GateReader::new(&names, moves, name, &first_value, fields);
        let mut rules = self.rule_collector(RuleOwner::Workflow, reader, &names);
        rules.lists(fields);
        let triggers = self.triggers(scope, &mut rules, &mut templates, fields);
        let targets = entries.iter().map(|(key, _)| key.text.as_str()).chain(Workflow::ENDS).collect();
        let node_context = NodeContext { names: &names, scope, moves, gates: &gates, targets };
        let start = self.start(&node_context.targets, fields);
        let mut placed = rules.finish(&mut problems);
        let rules = placed.iter().map(|placed| placed.rule.clone()).collect();
        let end = fields.end_of("nodes");
        let (nodes, mut of_nodes) = self.nodes(&entries, end, &node_context, &mut templates, &mut problems);
        placed.append(&mut of_nodes);
        refuse_same_ids(&placed, source, &mut problems);
        problems.append(&mut templates.problems);
        let guides = templates.texts;
        let unused_gates = gates.unused(source);
        let gates = gates.declared;
        let workflow = Workflow {
            name: name.to_owned(),
            tier,
            source: source.name.clone(),
            digest: digest(&*source.text),
            start,
            variables: declared.variables,
            claims: declared.claims,
            rules,
            observers: declared.observers,
            gates,
            triggers,
            nodes,
            guides,
        };
        let is_valid = fields.problems.iter().chain(&problems).all(|problem| problem.severity == Severity::Warning);
        if is_valid {
            problems.extend(unused_gates);
            warn_of_unreachable_nodes(&workflow, &entries, source, &mut problems);
        }
        (workflow, problems)
    }

    fn triggers(
        self,
        scope: &Scope,
        rules: &mut RuleCollector,
        templates: &mut Templates,
        fields: &mut Fields,
    ) -> Vec<EventTrigger> {
        let end = fields.end_of("triggers");
        let Some(node) = fields.take("triggers") else { return Vec::new() };
        let mut reader = ActionReader {
            site: ActionSite::Enter,
            source: self.source,
            tier: self.tier,
            scope,
            users_variables: &self.context.loaded.context.users_variables,
            blocked: &mut |list| rules.list(list),
            templates,
            problems: &mut fields.problems,
        };
        reader.triggers(node, end)
    }

    fn check_mode(self, fields: &mut Fields) {
        if let Some(mode) = fields.text("mode").filter(|mode| mode.value != self.name) {
            let message = format!("`mode` is `{}`, but the file is named `{}`", mode.value, self.name);
            fields.problems.push(
                Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(mode.span))
                    .help("remove `mode`: the workflow is named after its file"),
            );
        }
    }

    fn start(self, targets: &[&str], fields: &mut Fields) -> String {
        let Some(start) = fields.text("start_node") else {
            if !fields.has("start_node") {
                fields.refuse(ErrorKind::MissingKey, "the workflow has no `start_node`", 0..0);
            }
            return String::new();
        };
        if Workflow::is_end(&start.value) {
            let message = format!("`{}` cannot be the `start_node`", start.value);
            fields.refuse(ErrorKind::InvalidValue, message, start.span);
        } else if !targets.contains(&start.value.as_str()) {
            let known = targets.iter().filter(|name| !Workflow::is_end(name)).copied();
            fields.problems.push(self.unknown_node("start_node", &start, known.collect()));
        }
        start.value
    }
}

/// Reads `rule_definitions`.
fn rule_definitions(reader: RuleReader, fields: &mut Fields) -> RuleEntries {
    let mut own = RuleEntries::default();
    let Some(node) = fields.take("rule_definitions") else { return own };
    match node.value {
        Yaml::Map(entries) => own.read(reader, entries, fields.end_of("rule_definitions"), RuleOrigin::Local),
        other => fields.refuse(
            ErrorKind::InvalidValue,
            format!("`rule_definitions` must be a mapping of names to rules, not {}", other.kind()),
            node.span,
        ),
    }
    own
}
