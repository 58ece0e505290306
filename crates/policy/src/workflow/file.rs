//! One workflow's file: its parts in the order in which they depend on each other.

use std::collections::BTreeMap;

use engine::expr::Scope;
use engine::observers::Observer;
use engine::rules::Tier;
use engine::workflow::Workflow;

use super::Around;
use super::gates::GateReader;
use super::keys::WORKFLOW;
use super::nodes::{Ground, unknown_node};
use super::observing;
use super::rules::{Owner, PlacedRule, RuleGathering};
use super::variables;
use crate::actions::{ActionReader, Site, Templates};
use crate::library::Entries;
use crate::rule::definition::Form;
use crate::rule::reader::RuleReader;
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::{Fields, Text};
use crate::text::source::Source;
use crate::text::yaml::{self, Key, Yaml};

/// No more than anybody can follow.
const NODES_LIMIT: usize = 100;

/// None where the file has an error.
pub fn read(name: &str, source: &Source, tier: Tier, around: &Around) -> (Option<Workflow>, Vec<Diagnostic>) {
    let node = match yaml::parse(source, 0..source.text.len()) {
        Ok(node) => node,
        Err(problem) => return (None, vec![*problem]),
    };
    let mut fields = Fields::of(node, source, WORKFLOW.keys);
    if !fields.problems.is_empty() {
        return (None, fields.problems);
    }
    fields.refuse_unknown();
    let (workflow, mut problems) = File { name, source, tier, around }.read(&mut fields);
    problems.append(&mut fields.problems);
    // Those of guides stand behind those of the file itself.
    problems.sort_by_key(|problem| {
        let start = problem.span.as_ref().map_or(usize::MAX, |span| span.start);
        (problem.source.name != source.name, problem.source.name.clone(), start)
    });
    let is_sound = problems.iter().all(|problem| problem.severity == Severity::Warning);
    (is_sound.then_some(workflow), problems)
}

#[derive(Clone, Copy)]
pub struct File<'a> {
    name: &'a str,
    pub source: &'a Source,
    pub tier: Tier,
    pub around: &'a Around<'a>,
}

impl<'a> File<'a> {
    fn read(self, fields: &mut Fields) -> (Workflow, Vec<Diagnostic>) {
        let (source, tier, around) = (self.source, self.tier, self.around);
        let mut problems = Vec::new();
        self.check_mode(fields);
        let variables = variables::read(fields, tier, around);
        let observing = observing::read(fields, source, tier, around);
        let nodes = self.node_entries(fields);
        let claims = self.claims(&nodes, &variables, fields);
        let scope = self.scope(&variables, &observing.observers, &nodes, &claims);
        problems.extend(observing.unchecked.iter().flat_map(|unchecked| unchecked.problems(&scope)));
        let moves = scope.of_moves();

        let reader = self.rule_reader(&scope);
        let mut own = Entries::default();
        if let Some(node) = fields.take("rule_definitions") {
            match node.value {
                Yaml::Map(entries) => own.read(reader, entries, fields.end_of("rule_definitions"), Form::Local),
                other => fields.refuse(
                    ErrorKind::InvalidValue,
                    format!("`rule_definitions` takes a mapping of names to rules, not {}", other.kind()),
                    node.span,
                ),
            }
        }
        problems.append(&mut own.problems);
        let imported = around.catalogue.imported(&fields.texts("imports").unwrap_or_default(), source, tier);
        problems.extend(imported.problems);
        let names = NamedRules {
            source,
            tier,
            own: &own,
            imported: &imported.rules,
            catalogue: around.catalogue,
            broken: &around.loaded.ground.broken,
        };

        let mut templates = Templates::new(&around.guides, format!("workflow `{}`", self.name), &scope);
        let first_value = |name: &str| variables::first_value(name, &variables, around);
        let gates = GateReader::new(&names, &moves, self.name, &first_value, fields);
        let mut rules = self.gathering(Owner::Workflow, reader, &names);
        rules.lists(fields);
        let end = fields.end_of("triggers");
        let triggers = fields.take("triggers").map_or_else(Vec::new, |node| {
            let mut reader = ActionReader {
                site: Site::Enter,
                source,
                tier,
                scope: &scope,
                users_variables: &around.loaded.ground.users_variables,
                blocked: &mut |list| rules.list(list),
                templates: &mut templates,
                problems: &mut fields.problems,
            };
            reader.triggers(node, end)
        });
        let targets = nodes.iter().map(|(key, _)| key.text.as_str()).chain(Workflow::ENDS).collect();
        let ground = Ground { names: &names, scope: &scope, moves: &moves, gates: &gates, targets };
        let start = self.start(&ground.targets, fields);
        let mut placed = rules.finish(&mut problems);
        let workflow_rules = placed.iter().map(|placed| placed.rule.clone()).collect();
        let mut read = Vec::new();
        let ends = yaml::ends(&nodes, fields.end_of("nodes"));
        for ((key, node), end) in nodes.iter().zip(ends) {
            let entry = (key, node.clone(), end);
            let (node, mut found) = self.node(entry, &ground, &mut templates, &mut problems);
            read.push(node);
            placed.append(&mut found);
        }
        refuse_same_ids(&placed, source, &mut problems);
        problems.append(&mut templates.problems);
        let guides = templates.texts;
        let unused_gates = gates.unused(source);
        let gates = gates.declared;
        let workflow = Workflow {
            name: self.name.to_owned(),
            tier,
            source: source.name.clone(),
            digest: digest(&*source.text),
            start,
            variables,
            claims: claims.into_iter().map(|claim| claim.value).collect(),
            rules: workflow_rules,
            observers: observing.observers,
            gates,
            triggers,
            nodes: read,
            guides,
        };
        let is_sound = fields.problems.iter().chain(&problems).all(|problem| problem.severity == Severity::Warning);
        if is_sound {
            problems.extend(unused_gates);
            warn_of_shape(&workflow, &nodes, source, &mut problems);
        }
        (workflow, problems)
    }

    fn check_mode(self, fields: &mut Fields) {
        if let Some(mode) = fields.text("mode").filter(|mode| mode.value != self.name) {
            let message = format!("`mode` says `{}`, and the file's name says `{}`", mode.value, self.name);
            fields.problems.push(
                Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(mode.span))
                    .help("the file's name is the workflow's: leave `mode` out"),
            );
        }
    }

    fn node_entries(self, fields: &mut Fields) -> Vec<(Key, yaml::Node)> {
        let entries = match fields.take("nodes").map(|node| (node.span, node.value)) {
            Some((_, Yaml::Map(entries))) if !entries.is_empty() => entries,
            Some((span, Yaml::Map(_))) => {
                fields.refuse(ErrorKind::MissingKey, "the workflow has no nodes", span);
                return Vec::new();
            }
            Some((span, other)) => {
                let message = format!("`nodes` takes a mapping of names to nodes, not {}", other.kind());
                fields.refuse(ErrorKind::InvalidValue, message, span);
                return Vec::new();
            }
            None => {
                let problem =
                    Diagnostic::error(ErrorKind::MissingKey, "the workflow has no `nodes`", self.source, Some(0..0));
                // Gobby's lifecycle workflows have none.
                let is_always_on = ["triggers", "tool_rules", "check_rules"].iter().any(|key| fields.has(key));
                let help =
                    "`triggers`, `tool_rules` and `check_rules` that are always on stand in `.linchpin/config.yml`";
                fields.problems.push(problem.maybe_help(is_always_on.then(|| help.to_owned())));
                return Vec::new();
            }
        };
        if entries.len() > NODES_LIMIT {
            let message = format!("{} nodes are more than the {NODES_LIMIT} that a workflow may have", entries.len());
            let span = fields.key_span("nodes").unwrap_or_default();
            fields.refuse(ErrorKind::InvalidValue, message, span);
            return Vec::new();
        }
        let is_sound = |key: &Key| {
            key.text.starts_with(|first: char| first.is_ascii_alphabetic())
                && key.text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        for (key, _) in entries.iter().filter(|(key, _)| !is_sound(key)) {
            let message = format!("`{}` cannot name a node", key.text);
            fields.problems.push(
                Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(key.span.clone())).help(
                    "use letters, digits and `_`, beginning with a letter: `<node>_complete` is a name in expressions",
                ),
            );
        }
        entries
    }

    fn claims(
        self,
        nodes: &[(Key, yaml::Node)],
        variables: &BTreeMap<String, String>,
        fields: &mut Fields,
    ) -> Vec<Text> {
        let claims = fields.texts("claims").unwrap_or_default();
        let known = &self.around.loaded.ground.scope;
        let is_variable = |name: &str| variables.contains_key(name) || known.knows_variable(name);
        let shared = |name: &str| format!("`{name}` is a claim and a variable: it can be only one of them");
        for claim in &claims {
            if let Err(why) = engine::expr::check_variable_name(&claim.value) {
                let why = why.replace("a variable", "a claim");
                fields.refuse(ErrorKind::InvalidValue, why, claim.span.clone());
            } else if is_variable(&claim.value) {
                fields.refuse(ErrorKind::InvalidValue, shared(&claim.value), claim.span.clone());
            }
        }
        for (key, _) in nodes {
            let own = Workflow::completion_of(&key.text);
            if is_variable(&own) {
                let message = format!("{} (node `{}`)", shared(&own), key.text);
                fields.refuse(ErrorKind::InvalidValue, message, key.span.clone());
            }
        }
        claims
    }

    fn scope(
        self,
        variables: &BTreeMap<String, String>,
        observers: &[Observer],
        nodes: &[(Key, yaml::Node)],
        claims: &[Text],
    ) -> Scope {
        let mut scope = self.around.loaded.ground.scope.clone();
        for name in variables.keys() {
            scope.declare(name);
        }
        for observer in observers {
            observer.declare_in(&mut scope);
        }
        let own = nodes.iter().filter(|(key, _)| !Workflow::is_end(&key.text));
        let own = own.map(|(key, _)| Workflow::completion_of(&key.text));
        scope.of_workflow(own.chain(claims.iter().map(|claim| claim.value.clone())))
    }

    pub fn rule_reader<'s>(self, scope: &'s Scope) -> RuleReader<'s>
    where
        'a: 's,
    {
        let protected_branches = &self.around.loaded.ground.protected_branches;
        RuleReader { source: self.source, owner: self.tier, scope, protected_branches }
    }

    pub fn gathering<'s>(self, owner: Owner<'s>, reader: RuleReader<'s>, names: &'s NamedRules<'s>) -> RuleGathering<'s>
    where
        'a: 's,
    {
        RuleGathering::new(self.name, owner, reader, names, &self.around.loaded.config)
    }

    fn start(self, targets: &[&str], fields: &mut Fields) -> String {
        let Some(start) = fields.text("start_node") else {
            if !fields.has("start_node") {
                fields.refuse(ErrorKind::MissingKey, "the workflow has no `start_node`", 0..0);
            }
            return String::new();
        };
        if Workflow::is_end(&start.value) {
            let message = format!("a workflow cannot begin with `{}`", start.value);
            fields.refuse(ErrorKind::InvalidValue, message, start.span);
        } else if !targets.contains(&start.value.as_str()) {
            let known = targets.iter().filter(|name| !Workflow::is_end(name)).copied();
            fields.problems.push(unknown_node("start_node", &start, known.collect(), self.source));
        }
        start.value
    }
}

/// Rules are told apart by their ids, wherever in the workflow they stand.
fn refuse_same_ids(placed: &[PlacedRule], source: &Source, problems: &mut Vec<Diagnostic>) {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for PlacedRule { rule, span } in placed {
        let first = known.entry(&rule.id).or_insert(&rule.digest);
        if *first != rule.digest {
            let message = format!("two rules of this workflow go by `{}`", rule.id);
            problems.push(
                Diagnostic::error(ErrorKind::DuplicateRule, message, source, Some(span.clone()))
                    .help("give one of them another `name`")
                    .of_rule(&rule.id),
            );
        }
    }
}

fn warn_of_shape(workflow: &Workflow, nodes: &[(Key, yaml::Node)], source: &Source, problems: &mut Vec<Diagnostic>) {
    let mut warn = |name: &str, kind: ErrorKind, message: String, help: &str| {
        let span = nodes.iter().find(|(key, _)| key.text == name).map(|(key, _)| key.span.clone());
        let mut problem = Diagnostic::warning(kind, message, source, span).help(help);
        problem.node = Some(name.to_owned());
        problems.push(problem);
    };
    for name in workflow.unreachable_nodes() {
        let message = format!("no way leads to the node `{name}`");
        warn(name, ErrorKind::UnreachableNode, message, "let a transition of another node lead there, or leave it out");
    }
    for name in workflow.dead_ends() {
        let message = format!("from the node `{name}`, no way leads to `done`");
        warn(name, ErrorKind::NoWayToDone, message, "add a transition, as `{when: …, to: done}`");
    }
}
