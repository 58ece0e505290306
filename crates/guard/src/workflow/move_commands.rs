//! Commands that move a workflow: `start`, `next`, `repeat`, `prev`, `restart`, `abort`.
//!
//! A move is written in one transaction, and only if the workflow is still at the node at which the move was decided:
//! of two concurrent moves, one is refused, and a killed process leaves either the old or the new state. Only the
//! revision of the workflow's state is checked, not that of the session's. Hooks may write variables while a gate's
//! command runs. The move is not decided again after that: its conditions, pace rules and gates count as they were when
//! `next` was called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::Situation;
use engine::rules::{Rule, Tier};
use engine::workflow::{Action, Node, Requirement, Transition, Workflow};
use serde_json::{Map, Value, json};
use store::{CountedOutcome, NoteKind, RecordedRuleOutcome, StateChanges};
use tree::Repository;

use super::actions::{ActionOutput, run_actions};
use super::gates::{Gates, NO_SESSION, is_true};
use super::stored_state::StoredState;
use super::write_move::moved_meanwhile_error;
use super::{Claims, FailedGate, Force, Step, StepOutcome, WorkflowCommands, WorkflowError};
use crate::facts::{ActiveWorkflow, LiveFacts, SESSION_VARIABLE};
use crate::position::Position;
use crate::rule_outcomes;
use crate::session::SessionOwner;

/// The state changes and texts that come from a move's actions.
#[derive(Default)]
struct MoveOutput {
    changes: StateChanges,
    /// Texts for the agent.
    texts: Vec<String>,
    /// Notices for the person.
    notices: Vec<String>,
}

impl WorkflowCommands<'_> {
    /// Starts a workflow at `node`, or at its first node.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, WorkflowError> {
        self.may_move("start", || Ok(Some((name.to_owned(), None))))?;
        let stored = self.stored_state()?;
        if let Some(position) = Position::of(&stored.state.variables) {
            let node = position.node().to_owned();
            return Err(WorkflowError::AlreadyActive { workflow: position.workflow, node });
        }
        let workflow = self.workflow(name, None)?;
        let first = node.unwrap_or(&workflow.start);
        find(&workflow, first)?;
        let position = Position {
            tier: Some(workflow.tier),
            ..Position::start(name, &workflow.digest, first, self.now, &stored.state.variables)
        };
        let fields = self.fields([("workflow", json!(name)), ("to", json!(first))]);
        self.enter(workflow, position, stored, NoteKind::Start, &fields, MoveOutput::default())
    }

    /// Makes the move that follows from the claims.
    pub fn next(&self, words: &[String], force: &Force) -> Result<Step, WorkflowError> {
        if *force != Force::None {
            self.must_be_a_person("next --force")?;
        }
        self.may_move_active("next")?;
        let (stored, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let claims = Claims::read(words, &node.name, &active.workflow)?;
        let (passed_over, pace_rules) = Self::pace_rules(&active, force)?;
        let active = Arc::new(ActiveWorkflow { claims: claims.as_map().clone(), ..active });
        let (situation, facts) = self.situation_and_facts(&active, &stored);
        let Some(transition) = first_transition(&node, &situation)? else {
            let leading_claims =
                self.transitions_by_claim(&node, &active, &stored).into_iter().map(|(claim, _)| claim).collect();
            let claimed = claims.names().into_iter().map(str::to_owned).collect();
            let step = stay(&active, StepOutcome::NoTransition { claimed, leading_claims });
            return Ok(Step { notices: self.whose_variables(&facts).into_iter().collect(), ..step });
        };
        if let Some(violated) = self.violated_pace_rule(&pace_rules, &active, &stored)? {
            let rule = &violated.rule;
            let phase = Some(active.position.phase_name());
            let blocked = rule_outcomes::about([rule.id.as_str()].into_iter(), CountedOutcome::Blocked, phase);
            return self.refuse(&active, &rule.id, violated.outcome(), Some(rule), blocked.collect());
        }
        let failed_gates =
            self.gates(&active, &situation).failed_gates(node.requires.iter().chain(&transition.requires));
        if !failed_gates.is_empty() {
            let step = self.refuse_by_gates(&active, failed_gates)?;
            return Ok(Step { notices: self.whose_variables(&facts).into_iter().collect(), ..step });
        }
        if self.gate_runners.command.is_cancelled() {
            return Err(WorkflowError::Cancelled);
        }
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(node.name)),
            ("to", json!(transition.to)),
            ("claims", json!(claims.names())),
            ("forced", json!(force.noted())),
        ]);
        // Hooks may have written to the workflow while gates ran.
        let whose = self.whose_variables(&facts);
        let step = Self::retry_on_conflict(|| {
            let (stored, now) = self.active()?;
            if now.position != active.position {
                return Err(moved_meanwhile_error(Some(&now.position)));
            }
            let now = Arc::new(ActiveWorkflow { claims: active.claims.clone(), ..now });
            let mut output = MoveOutput::default();
            let passed_over = passed_over.iter().map(|rule| rule.id.as_str());
            output.changes.rule_outcomes.extend(rule_outcomes::about(
                passed_over,
                CountedOutcome::Forced,
                Some(now.position.phase_name()),
            ));
            self.run_node_actions("on_exit", &node.on_exit, &now, &stored, &mut output);
            self.go(&now, &transition.to, stored, NoteKind::Move, &fields, output)
        })?;
        Ok(Step { notices: whose.into_iter().chain(step.notices).collect(), ..step })
    }

    fn refuse_by_gates(&self, active: &ActiveWorkflow, failed: Vec<FailedGate>) -> Result<Step, WorkflowError> {
        let gate_ids: Vec<&str> = failed.iter().map(|gate| gate.gate.as_str()).collect();
        // Two gates may contain the same rule.
        let rules: BTreeSet<&str> = failed.iter().flat_map(|gate| &gate.rules).map(String::as_str).collect();
        let phase = Some(active.position.phase_name());
        let outcomes = rule_outcomes::about(rules.into_iter(), CountedOutcome::Blocked, phase).collect();
        self.refuse(active, &gate_ids.join(", "), StepOutcome::GatesFailed(failed), None, outcomes)
    }

    /// If session variables were used, a notice that names their session.
    fn whose_variables(&self, facts: &LiveFacts) -> Option<String> {
        let SessionOwner { agent, session } = self.session.as_ref()?;
        let is_asked = facts.used().keys().any(|name| name.starts_with(SESSION_VARIABLE));
        is_asked.then(|| format!("Session variables were read from session `{session}` ({agent})."))
    }

    fn gates<'a>(&'a self, active: &'a ActiveWorkflow, situation: &'a Arc<Situation>) -> Gates<'a> {
        Gates {
            active,
            situation,
            project: self.project,
            environment: self.environment,
            config: &self.policy.config,
            gate_runners: &self.gate_runners,
            variables: self
                .hat_phase
                .as_ref()
                .map_or_else(Vec::new, |hat_phase| hat_phase.gate_variables(&self.project.root)),
            is_in_run: self.hat_phase.is_some(),
            since_activation: self.hat_phase.as_ref().is_some_and(|hat_phase| hat_phase.baseline.is_some()),
        }
    }

    /// The gates of a hat that do not pass.
    pub(crate) fn failed_gates_of_hat<'r>(
        &self,
        required: impl Iterator<Item = &'r Requirement> + Clone,
    ) -> Result<Vec<FailedGate>, WorkflowError> {
        let (stored, active) = self.active()?;
        let active = Arc::new(active);
        if let Some(hat_phase) = &self.hat_phase {
            let changed = hat_phase.changed_gates(required.clone(), &active.position, self.project, self.environment);
            if !changed.is_empty() {
                return Ok(changed);
            }
        }
        let situation = self.situation(&active, &stored);
        Ok(self.gates(&active, &situation).failed_gates(required))
    }

    /// Prints the prompt again.
    pub fn repeat(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("repeat")?;
        let (stored, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &stored)?;
        Ok(stay(&active, StepOutcome::Prompt(prompt)))
    }

    /// Goes back to the node from which the current one was reached. No gate is checked.
    pub fn prev(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("prev")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.active()?;
            let to = active.position.previous_node().ok_or(WorkflowError::NothingBefore)?.to_owned();
            let position = active.position.went_back(&to, &active.workflow.digest, self.now);
            self.jump(position, "prev", stored, &active)
        })
    }

    /// Goes to the first node again.
    pub fn restart(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("restart")?;
        Self::retry_on_conflict(|| {
            let (stored, active) = self.active()?;
            let Workflow { start, digest, .. } = &active.workflow;
            let position = active.position.moved(start, digest, self.now);
            self.jump(position, "restart", stored, &active)
        })
    }

    /// Ends the workflow. Variables of the session are kept.
    pub fn abort(&self) -> Result<Step, WorkflowError> {
        self.may_move_active("abort")?;
        Self::retry_on_conflict(|| {
            let mut stored = self.stored_state()?;
            // A workflow whose file is broken can be aborted too.
            let position = Position::of(&stored.state.variables).ok_or(WorkflowError::NoWorkflow)?;
            let mut changes = StateChanges::default();
            Position::forget_all(&stored.state.variables, &mut changes);
            let fields = self.fields([("workflow", json!(position.workflow)), ("from", json!(position.node()))]);
            self.write(&mut stored, NoteKind::Abort, &fields, &changes)?;
            Ok(ended(position.workflow, Workflow::ABORTED))
        })
    }

    fn jump(
        &self,
        to: Position,
        how: &str,
        stored: StoredState,
        active: &ActiveWorkflow,
    ) -> Result<Step, WorkflowError> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("to", json!(to.node())),
            ("how", json!(how)),
        ]);
        let mut output = MoveOutput::default();
        active.forget_phase(&mut output.changes);
        self.enter(active.workflow.clone(), to, stored, NoteKind::Move, &fields, output)
    }

    /// Moves to a node or to an end.
    fn go(
        &self,
        active: &ActiveWorkflow,
        to: &str,
        mut stored: StoredState,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut output: MoveOutput,
    ) -> Result<Step, WorkflowError> {
        if Workflow::is_end(to) && active.workflow.node(to).is_none() {
            Position::forget_all(&stored.state.variables, &mut output.changes);
            self.write(&mut stored, kind, fields, &output.changes)?;
            let MoveOutput { texts, notices, .. } = output;
            return Ok(Step { texts, notices, ..ended(active.workflow.name.clone(), to) });
        }
        active.forget_phase(&mut output.changes);
        let position = active.position.moved(to, &active.workflow.digest, self.now).claiming(active.claims.clone());
        self.enter(active.workflow.clone(), position, stored, kind, fields, output)
    }

    /// Enters a node: runs its actions, renders its prompt, and then writes the move.
    fn enter(
        &self,
        workflow: Workflow,
        position: Position,
        mut stored: StoredState,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut output: MoveOutput,
    ) -> Result<Step, WorkflowError> {
        let node = find(&workflow, position.node())?.clone();
        let position = position.at_commit(Repository::of(&self.project.root).and_then(|repository| repository.head()));
        let mut state = stored.state.clone();
        // `on_enter` sees the variables that `on_exit` set.
        apply(&output.changes.workflow, &mut state.variables);
        apply(&output.changes.variables, &mut stored.session.variables);
        let entering = Arc::new(self.active_at(workflow, position, state));
        self.run_node_actions("on_enter", &node.on_enter, &entering, &stored, &mut output);
        let MoveOutput { mut changes, texts, notices } = output;
        let mut state = entering.state.clone();
        apply(&changes.workflow, &mut state.variables);
        let entered = Arc::new(ActiveWorkflow { state, ..(*entering).clone() });
        apply(&changes.variables, &mut stored.session.variables);
        let prompt = self.prompt(&node, &entered, &stored)?;
        let workflow = entered.workflow.name.clone();
        if Workflow::is_end(&node.name) {
            // An end may have a node with a prompt, but the workflow is over.
            Position::forget_all(&entered.state.variables, &mut changes);
            self.write(&mut stored, kind, fields, &changes)?;
            let texts = texts.into_iter().chain([prompt]).filter(|text| !text.trim().is_empty()).collect();
            return Ok(Step { texts, notices, ..ended(workflow, &node.name) });
        }
        entered.position.remember(&mut changes);
        self.write(&mut stored, kind, fields, &changes)?;
        Ok(Step { workflow, node: node.name, moved: true, outcome: StepOutcome::Prompt(prompt), texts, notices })
    }

    fn refuse(
        &self,
        active: &ActiveWorkflow,
        why: &str,
        outcome: StepOutcome,
        interrupting: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<Step, WorkflowError> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("why", json!(why)),
        ]);
        self.record_refused_move(&fields, &active.position, interrupting, rule_outcomes)?;
        Ok(stay(active, outcome))
    }

    /// Runs a node's actions.
    fn run_node_actions(
        &self,
        site: &str,
        actions: &[Action],
        active: &Arc<ActiveWorkflow>,
        stored: &StoredState,
        output: &mut MoveOutput,
    ) {
        if actions.is_empty() {
            return;
        }
        let (situation, facts) = self.situation_and_facts(active, stored);
        let place = format!("`{site}` of workflow `{}`", active.workflow.name);
        let ActionOutput { texts, notices } =
            run_actions(&place, actions.iter(), &active.workflow.guides, &situation, &facts);
        output.texts.extend(texts);
        output.notices.extend(notices);
        for (name, value) in facts.observed() {
            if active.declares(&name) {
                output.changes.workflow.insert(name, value);
            } else if self.session.is_some() {
                output.changes.variables.insert(name, value);
            } else {
                output.notices.push(format!("{place} did not set `{name}`: {NO_SESSION}"));
            }
        }
    }

    pub(super) fn prompt(
        &self,
        node: &Node,
        active: &Arc<ActiveWorkflow>,
        stored: &StoredState,
    ) -> Result<String, WorkflowError> {
        let situation = self.situation_for_prompt(active, stored);
        active
            .workflow
            .rendered(&node.prompt, &situation)
            .map_err(|error| WorkflowError::Prompt { node: node.name.clone(), why: error.to_string() })
    }

    /// Checks whether the caller may run the command. `moved` returns the workflow that the command would move, if any.
    pub(super) fn may_move(
        &self,
        verb: &'static str,
        moved: impl FnOnce() -> Result<Option<(String, Option<Tier>)>, WorkflowError>,
    ) -> Result<(), WorkflowError> {
        // `continue` and `set` are allowed in a run: rules of a hat interrupt too, and a hat's workflow may declare
        // variables.
        if self.hat_phase.is_some() && !["continue", "set"].contains(&verb) {
            return Err(WorkflowError::InRun(verb));
        }
        let config = &self.policy.config;
        if !self.is_by_agent || config.agent_permissions.user_allows(verb) {
            return Ok(());
        }
        if !config.agent_permissions.allows(verb) {
            return Err(WorkflowError::NotForAgents(verb));
        }
        // A project's permissions for agents do not apply to the user's own workflows.
        let moved = if self.hat_phase.is_none() { moved()? } else { None };
        let users = moved.filter(|(name, tier)| {
            let workflow = self.project.workflow(name, *tier, &self.policy, false, self.environment);
            workflow.is_some_and(|compiled| compiled.workflow.tier == Tier::User)
        });
        users.map_or(Ok(()), |(name, _)| Err(WorkflowError::OfUser { verb, what: format!("workflow `{name}`") }))
    }

    pub(super) fn may_move_active(&self, verb: &'static str) -> Result<(), WorkflowError> {
        self.may_move(verb, || {
            let position = Position::of(&self.stored_state()?.state.variables);
            Ok(position.map(|position| (position.workflow, position.tier)))
        })
    }

    /// Refuses agents, regardless of `agent_may`.
    pub(super) fn must_be_a_person(&self, verb: &'static str) -> Result<(), WorkflowError> {
        if self.is_by_agent { Err(WorkflowError::PeopleOnly(verb)) } else { Ok(()) }
    }
}

pub(super) fn stay(active: &ActiveWorkflow, outcome: StepOutcome) -> Step {
    let (workflow, node) = (active.workflow.name.clone(), active.position.node().to_owned());
    Step { workflow, node, moved: false, outcome, texts: Vec::new(), notices: Vec::new() }
}

fn ended(workflow: String, node: &str) -> Step {
    Step {
        workflow,
        node: node.to_owned(),
        moved: true,
        outcome: StepOutcome::Ended,
        texts: Vec::new(),
        notices: Vec::new(),
    }
}

pub(super) fn find<'w>(workflow: &'w Workflow, node: &str) -> Result<&'w Node, WorkflowError> {
    workflow.node(node).ok_or_else(|| WorkflowError::NodeNotFound {
        workflow: workflow.name.clone(),
        node: node.to_owned(),
        nodes: workflow.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}

/// The first transition whose `when` is true. If an earlier `when` fails, this returns an error, because that
/// transition might be the first.
pub(super) fn first_transition<'n>(
    node: &'n Node,
    situation: &Arc<Situation>,
) -> Result<Option<&'n Transition>, WorkflowError> {
    for transition in &node.transitions {
        match is_true(&transition.when, situation) {
            Ok(true) => return Ok(Some(transition)),
            Ok(false) => {}
            Err(why) => {
                return Err(WorkflowError::When { node: node.name.clone(), when: transition.when.clone(), why });
            }
        }
    }
    Ok(None)
}

fn apply(changes: &BTreeMap<String, Option<Value>>, variables: &mut Map<String, Value>) {
    for (name, value) in changes {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
}
