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
use super::workflow_reader::WorkflowReader;
use crate::actions::{ActionReader, ActionSite, Templates};
use crate::library::RuleEntries;
use crate::list_resolver::RuleLookup;
use crate::rule::definition::RuleOrigin;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
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
    let (workflow, mut problems) = WorkflowReader { name, source, tier, context }.read(&mut fields);
    problems.append(&mut fields.problems);
    // Problems of guides come after those of the file itself.
    problems.sort_by_key(|problem| {
        let start = problem.span.as_ref().map_or(usize::MAX, |span| span.start);
        (problem.source.name != source.name, problem.source.name.clone(), start)
    });
    let is_valid = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_valid.then_some(workflow), problems)
}

impl WorkflowReader<'_> {
    fn read(self, fields: &mut Fields) -> (Workflow, Vec<Diagnostic>) {
        let Self { name, source, tier, context } = self;
        let mut problems = Vec::new();
        self.check_mode(fields);
        let entries = self.read_node_entries(fields);
        let declared = self.read_declarations(&entries, fields, &mut problems);
        let (scope, transition_scope) = (&declared.scope, &declared.transition_scope);

        let reader = self.rule_reader(scope);
        let mut local = read_rule_definitions(reader, fields);
        problems.append(&mut local.problems);
        let imported = context.catalogue.imported(&fields.texts("imports").unwrap_or_default(), source, tier);
        problems.extend(imported.problems);
        let (catalogue, broken_ids) = (context.catalogue, &context.loaded.context.broken_ids);
        let rule_lookup = RuleLookup { source, tier, local: &local, imported: &imported.rules, catalogue, broken_ids };

        let mut templates = Templates::new(&context.guides, format!("workflow `{name}`"), scope);
        let initial_value = |name: &str| variables::initial_value(name, &declared.variables, context);
        let gates = GateReader::new(&rule_lookup, transition_scope, name, &initial_value, fields);
        let mut rules = self.rule_collector(RuleOwner::Workflow, reader, &rule_lookup);
        rules.add_lists(fields);
        let triggers = self.read_triggers(scope, &mut rules, &mut templates, fields);
        let targets = entries.iter().map(|(key, _)| key.text.as_str()).chain(Workflow::ENDS).collect();
        let node_context = NodeContext { rule_lookup: &rule_lookup, scope, transition_scope, gates: &gates, targets };
        let start = self.read_start(&node_context.targets, fields);
        let mut spanned_rules = rules.finish(&mut problems);
        let rules = spanned_rules.iter().map(|spanned| spanned.rule.clone()).collect();
        let end = fields.end_of("nodes");
        let (nodes, mut node_rules) = self.read_nodes(&entries, end, &node_context, &mut templates, &mut problems);
        spanned_rules.append(&mut node_rules);
        refuse_same_ids(&spanned_rules, source, &mut problems);
        problems.append(&mut templates.problems);
        let guides = templates.texts;
        let unused_gates = gates.unused_gate_warnings(source);
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

    fn read_triggers(
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
            on_block_tools: &mut |list| rules.add_list(list),
            templates,
            problems: &mut fields.problems,
        };
        reader.read_triggers(node, end)
    }

    fn check_mode(self, fields: &mut Fields) {
        if let Some(mode) = fields.text("mode").filter(|mode| mode.value != self.name) {
            let message = format!("`mode` is `{}`, but the file is named `{}`", mode.value, self.name);
            fields.problems.push(
                Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(mode.span))
                    .help("remove `mode`: the workflow is named after its file"),
            );
        }
    }

    fn read_start(self, targets: &[&str], fields: &mut Fields) -> String {
        let Some(start) = fields.text("start_node") else {
            if !fields.has("start_node") {
                fields.refuse(DiagnosticKind::MissingKey, "the workflow has no `start_node`", 0..0);
            }
            return String::new();
        };
        if Workflow::is_end(&start.value) {
            let message = format!("`{}` cannot be the `start_node`", start.value);
            fields.refuse(DiagnosticKind::InvalidValue, message, start.span);
        } else if !targets.contains(&start.value.as_str()) {
            let node_names = targets.iter().filter(|name| !Workflow::is_end(name)).copied();
            fields.problems.push(self.unknown_node("start_node", &start, node_names.collect()));
        }
        start.value
    }
}

/// Reads `rule_definitions`.
fn read_rule_definitions(reader: RuleReader, fields: &mut Fields) -> RuleEntries {
    let mut local = RuleEntries::default();
    let Some(node) = fields.take("rule_definitions") else { return local };
    match node.value {
        Yaml::Map(entries) => local.read(reader, entries, fields.end_of("rule_definitions"), RuleOrigin::Local),
        other => fields.refuse(
            DiagnosticKind::InvalidValue,
            format!("`rule_definitions` must be a mapping of names to rules, not {}", other.kind()),
            node.span,
        ),
    }
    local
}
