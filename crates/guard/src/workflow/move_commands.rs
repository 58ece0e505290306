//! Commands that move a workflow: `start`, `next`, `repeat`, `prev`, `restart`, `abort`.
//!
//! A move is written in one transaction, and only if the workflow is still at the node where the move was decided: of
//! two concurrent moves one is refused, and a killed process leaves the old or the new state. Hooks may write variables
//! while a gate's command runs. The decision is not repeated then: conditions, pace rules and gates count as they were
//! when `next` was called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::Situation;
use engine::rules::{Rule, Tier};
use engine::workflow::{Action, Node, Requirement, Transition, Workflow};
use serde_json::{Map, Value, json};
use store::{CountedOutcome, NoteKind, RecordedRuleOutcome, StateChanges};
use tree::Repository;

use super::acting::{Acted, act};
use super::gates::{Gates, NO_SESSION, holds};
use super::noting::moved_meanwhile;
use super::scene::Scene;
use super::{Claims, Force, Lack, Moves, Refusal, Step, StepOutcome};
use crate::facts::{Active, LiveFacts, Position, SESSION_VARIABLE};
use crate::rule_deeds;
use crate::session::SessionOwner;

/// State changes and output of a move's actions.
#[derive(Default)]
struct Doing {
    changes: StateChanges,
    /// For the agent.
    texts: Vec<String>,
    /// For the person.
    notices: Vec<String>,
}

impl Moves<'_> {
    /// Starts a workflow, at its first node or another.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, Refusal> {
        self.may_move("start", || Ok(Some((name.to_owned(), None))))?;
        let scene = self.scene()?;
        if let Some(position) = Position::of(&scene.state.variables) {
            let node = position.node().to_owned();
            return Err(Refusal::AlreadyActive { workflow: position.workflow, node });
        }
        let workflow = self.workflow(name, None)?;
        let first = node.unwrap_or(&workflow.start);
        find(&workflow, first)?;
        let position = Position {
            tier: Some(workflow.tier),
            ..Position::start(name, &workflow.digest, first, self.now, &scene.state.variables)
        };
        let fields = self.fields([("workflow", json!(name)), ("to", json!(first))]);
        self.enter(workflow, position, scene, NoteKind::Start, &fields, Doing::default())
    }

    /// Makes the move that the claims choose.
    pub fn next(&self, words: &[String], force: &Force) -> Result<Step, Refusal> {
        if *force != Force::None {
            self.must_be_a_person("next --force")?;
        }
        self.may_move_active("next")?;
        let (scene, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let claims = Claims::read(words, &node.name, &active.workflow)?;
        let (passed_over, pace_rules) = Self::pace_rules(&active, force)?;
        let active = Arc::new(Active { claims: claims.as_map().clone(), ..active });
        let (situation, facts) = self.known(&active, &scene);
        let Some(way) = first_way(&node, &situation)? else {
            let would = self.led_by_claims(&node, &active, &scene).into_iter().map(|(claim, _)| claim).collect();
            let claimed = claims.names().into_iter().map(str::to_owned).collect();
            let step = stay(&active, StepOutcome::NoWay { claimed, would });
            return Ok(Step { notices: self.whose_variables(&facts).into_iter().collect(), ..step });
        };
        if let Some((rule, outcome)) = self.interrupted(&pace_rules, &active, &scene)? {
            let rule_outcomes = rule_deeds::about(
                [rule.id.as_str()].into_iter(),
                CountedOutcome::Blocked,
                Some(active.position.phase_named()),
            );
            return self.held(&active, &rule.id, outcome, Some(&rule), rule_outcomes.collect());
        }
        let lacks = self.gates(&active, &situation).lacks(node.requires.iter().chain(&way.requires));
        if !lacks.is_empty() {
            let why: Vec<String> = lacks.iter().map(|lack| lack.gate.clone()).collect();
            // Two gates may contain the same rule.
            let rules: BTreeSet<&str> = lacks.iter().flat_map(|lack| &lack.rules).map(String::as_str).collect();
            let rule_outcomes =
                rule_deeds::about(rules.into_iter(), CountedOutcome::Blocked, Some(active.position.phase_named()))
                    .collect();
            let step = self.held(&active, &why.join(", "), StepOutcome::Held(lacks), None, rule_outcomes)?;
            return Ok(Step { notices: self.whose_variables(&facts).into_iter().collect(), ..step });
        }
        if self.outside.holding.is_interrupted() {
            return Err(Refusal::Interrupted);
        }
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(node.name)),
            ("to", json!(way.to)),
            ("claims", json!(claims.names())),
            ("forced", json!(force.noted())),
        ]);
        // Hooks may have written to the workflow while gates ran.
        let whose = self.whose_variables(&facts);
        let step = Self::until_written(|| {
            let (scene, now) = self.active()?;
            if now.position != active.position {
                return Err(moved_meanwhile(Some(&now.position)));
            }
            let now = Arc::new(Active { claims: active.claims.clone(), ..now });
            let mut doing = Doing::default();
            let passed_over = passed_over.iter().map(|rule| rule.id.as_str());
            doing.changes.rule_outcomes.extend(rule_deeds::about(
                passed_over,
                CountedOutcome::Forced,
                Some(now.position.phase_named()),
            ));
            self.act("on_exit", &node.on_exit, &now, &scene, &mut doing);
            self.go(&now, &way.to, scene, NoteKind::Move, &fields, doing)
        })?;
        Ok(Step { notices: whose.into_iter().chain(step.notices).collect(), ..step })
    }

    /// A notice of the session whose variables were used, if any were.
    fn whose_variables(&self, facts: &LiveFacts) -> Option<String> {
        let SessionOwner { agent, session } = self.session.as_ref()?;
        let is_asked = facts.used().keys().any(|name| name.starts_with(SESSION_VARIABLE));
        is_asked.then(|| format!("Variables of the session are those of session `{session}` ({agent})."))
    }

    fn gates<'a>(&'a self, active: &'a Active, situation: &'a Arc<Situation>) -> Gates<'a> {
        Gates {
            active,
            situation,
            project: self.project,
            environment: self.environment,
            config: &self.policy.config,
            outside: &self.outside,
            variables: self.stage.as_ref().map_or_else(Vec::new, |stage| stage.gate_variables(&self.project.root)),
            is_in_run: self.stage.is_some(),
            since_activation: self.stage.as_ref().is_some_and(|stage| stage.baseline.is_some()),
        }
    }

    /// The gates that do not pass, for a hat.
    pub(crate) fn lacks_of_stage<'r>(
        &self,
        required: impl Iterator<Item = &'r Requirement> + Clone,
    ) -> Result<Vec<Lack>, Refusal> {
        let (scene, active) = self.active()?;
        let active = Arc::new(active);
        if let Some(stage) = &self.stage {
            let changed = stage.changed_gates(required.clone(), &active.position, self.project, self.environment);
            if !changed.is_empty() {
                return Ok(changed);
            }
        }
        let situation = self.situation(&active, &scene);
        Ok(self.gates(&active, &situation).lacks(required))
    }

    /// Prints the prompt again.
    pub fn repeat(&self) -> Result<Step, Refusal> {
        self.may_move_active("repeat")?;
        let (scene, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &scene)?;
        Ok(stay(&active, StepOutcome::Prompt(prompt)))
    }

    /// Goes back to the node from which the current one was reached. No gate is checked.
    pub fn prev(&self) -> Result<Step, Refusal> {
        self.may_move_active("prev")?;
        Self::until_written(|| {
            let (scene, active) = self.active()?;
            let to = active.position.way_back().ok_or(Refusal::NothingBefore)?.to_owned();
            let position = active.position.went_back(&to, &active.workflow.digest, self.now);
            self.jump(position, "prev", scene, &active)
        })
    }

    /// Goes to the first node again.
    pub fn restart(&self) -> Result<Step, Refusal> {
        self.may_move_active("restart")?;
        Self::until_written(|| {
            let (scene, active) = self.active()?;
            let Workflow { start, digest, .. } = &active.workflow;
            let position = active.position.moved(start, digest, self.now);
            self.jump(position, "restart", scene, &active)
        })
    }

    /// Ends the workflow. Variables of the session are kept.
    pub fn abort(&self) -> Result<Step, Refusal> {
        self.may_move_active("abort")?;
        Self::until_written(|| {
            let mut scene = self.scene()?;
            // A workflow whose file is broken can be aborted too.
            let position = Position::of(&scene.state.variables).ok_or(Refusal::NoWorkflow)?;
            let mut changes = StateChanges::default();
            Position::forget_all(&scene.state.variables, &mut changes);
            let fields = self.fields([("workflow", json!(position.workflow)), ("from", json!(position.node()))]);
            self.write(&mut scene, NoteKind::Abort, &fields, &changes)?;
            Ok(ended(position.workflow, Workflow::ABORTED))
        })
    }

    fn jump(&self, to: Position, how: &str, scene: Scene, active: &Active) -> Result<Step, Refusal> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("to", json!(to.node())),
            ("how", json!(how)),
        ]);
        let mut doing = Doing::default();
        active.forget_phase(&mut doing.changes);
        self.enter(active.workflow.clone(), to, scene, NoteKind::Move, &fields, doing)
    }

    /// Moves to a node or to an end.
    fn go(
        &self,
        active: &Active,
        to: &str,
        mut scene: Scene,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut doing: Doing,
    ) -> Result<Step, Refusal> {
        if Workflow::is_end(to) && active.workflow.node(to).is_none() {
            Position::forget_all(&scene.state.variables, &mut doing.changes);
            self.write(&mut scene, kind, fields, &doing.changes)?;
            let Doing { texts, notices, .. } = doing;
            return Ok(Step { texts, notices, ..ended(active.workflow.name.clone(), to) });
        }
        active.forget_phase(&mut doing.changes);
        let position = active.position.moved(to, &active.workflow.digest, self.now).claiming(active.claims.clone());
        self.enter(active.workflow.clone(), position, scene, kind, fields, doing)
    }

    /// Enters a node: runs its actions, renders its prompt, and then writes the move.
    fn enter(
        &self,
        workflow: Workflow,
        position: Position,
        mut scene: Scene,
        kind: NoteKind,
        fields: &Map<String, Value>,
        mut doing: Doing,
    ) -> Result<Step, Refusal> {
        let node = find(&workflow, position.node())?.clone();
        let position = position.at_commit(Repository::of(&self.project.root).and_then(|repository| repository.head()));
        let mut state = scene.state.clone();
        // `on_enter` sees the variables that `on_exit` set.
        apply(&doing.changes.workflow, &mut state.variables);
        apply(&doing.changes.variables, &mut scene.session.variables);
        let entering = Arc::new(self.active_at(workflow, position, state));
        self.act("on_enter", &node.on_enter, &entering, &scene, &mut doing);
        let Doing { mut changes, texts, notices } = doing;
        let mut state = entering.state.clone();
        apply(&changes.workflow, &mut state.variables);
        let entered = Arc::new(Active { state, ..(*entering).clone() });
        apply(&changes.variables, &mut scene.session.variables);
        let prompt = self.prompt(&node, &entered, &scene)?;
        let workflow = entered.workflow.name.clone();
        if Workflow::is_end(&node.name) {
            // An end may have a node with a prompt, but the workflow is over.
            Position::forget_all(&entered.state.variables, &mut changes);
            self.write(&mut scene, kind, fields, &changes)?;
            let texts = texts.into_iter().chain([prompt]).filter(|text| !text.trim().is_empty()).collect();
            return Ok(Step { texts, notices, ..ended(workflow, &node.name) });
        }
        entered.position.remember(&mut changes);
        self.write(&mut scene, kind, fields, &changes)?;
        Ok(Step { workflow, node: node.name, moved: true, outcome: StepOutcome::Prompt(prompt), texts, notices })
    }

    fn held(
        &self,
        active: &Active,
        why: &str,
        outcome: StepOutcome,
        interrupting: Option<&Rule>,
        rule_outcomes: Vec<RecordedRuleOutcome>,
    ) -> Result<Step, Refusal> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("why", json!(why)),
        ]);
        self.note_held(&fields, &active.position, interrupting, rule_outcomes)?;
        Ok(stay(active, outcome))
    }

    /// Runs a node's actions.
    fn act(&self, site: &str, actions: &[Action], active: &Arc<Active>, scene: &Scene, doing: &mut Doing) {
        if actions.is_empty() {
            return;
        }
        let (situation, facts) = self.known(active, scene);
        let place = format!("`{site}` of workflow `{}`", active.workflow.name);
        let Acted { texts, notices } = act(&place, actions.iter(), &active.workflow.guides, &situation, &facts);
        doing.texts.extend(texts);
        doing.notices.extend(notices);
        for (name, value) in facts.observed() {
            if active.declares(&name) {
                doing.changes.workflow.insert(name, value);
            } else if self.session.is_some() {
                doing.changes.variables.insert(name, value);
            } else {
                doing.notices.push(format!("{place} did not set `{name}`: {NO_SESSION}"));
            }
        }
    }

    pub(super) fn prompt(&self, node: &Node, active: &Arc<Active>, scene: &Scene) -> Result<String, Refusal> {
        let situation = self.situation_for_prompt(active, scene);
        active
            .workflow
            .rendered(&node.prompt, &situation)
            .map_err(|error| Refusal::Prompt { node: node.name.clone(), why: error.to_string() })
    }

    /// Checks whether the caller may run the command. `moved` returns the workflow that the command would move, if any.
    pub(super) fn may_move(
        &self,
        verb: &'static str,
        moved: impl FnOnce() -> Result<Option<(String, Option<Tier>)>, Refusal>,
    ) -> Result<(), Refusal> {
        // `continue` and `set` are allowed in a run: rules of a hat interrupt too, and a hat's workflow may declare
        // variables.
        if self.stage.is_some() && !["continue", "set"].contains(&verb) {
            return Err(Refusal::InRun(verb));
        }
        let config = &self.policy.config;
        if !self.is_agents || config.agent_permissions.user_allows(verb) {
            return Ok(());
        }
        if !config.agent_permissions.allows(verb) {
            return Err(Refusal::NotForAgents(verb));
        }
        // A project's permissions for agents do not apply to the user's own workflows.
        let moved = if self.stage.is_none() { moved()? } else { None };
        let users = moved.filter(|(name, tier)| {
            let workflow = self.project.workflow(name, *tier, &self.policy, false, self.environment);
            workflow.is_some_and(|compiled| compiled.workflow.tier == Tier::User)
        });
        users.map_or(Ok(()), |(name, _)| Err(Refusal::OfUser { verb, what: format!("workflow `{name}`") }))
    }

    pub(super) fn may_move_active(&self, verb: &'static str) -> Result<(), Refusal> {
        self.may_move(verb, || {
            let position = Position::of(&self.scene()?.state.variables);
            Ok(position.map(|position| (position.workflow, position.tier)))
        })
    }

    /// Refuses agents, regardless of `agent_may`.
    pub(super) fn must_be_a_person(&self, verb: &'static str) -> Result<(), Refusal> {
        if self.is_agents { Err(Refusal::PeopleOnly(verb)) } else { Ok(()) }
    }
}

pub(super) fn stay(active: &Active, outcome: StepOutcome) -> Step {
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

pub(super) fn find<'w>(workflow: &'w Workflow, node: &str) -> Result<&'w Node, Refusal> {
    workflow.node(node).ok_or_else(|| Refusal::NodeNotFound {
        workflow: workflow.name.clone(),
        node: node.to_owned(),
        nodes: workflow.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}

/// The first transition whose `when` is true. An error in an earlier `when` is an error, because it might be the first.
pub(super) fn first_way<'n>(node: &'n Node, situation: &Arc<Situation>) -> Result<Option<&'n Transition>, Refusal> {
    for way in &node.transitions {
        match holds(&way.when, situation) {
            Ok(true) => return Ok(Some(way)),
            Ok(false) => {}
            Err(why) => {
                return Err(Refusal::When { node: node.name.clone(), when: way.when.clone(), why });
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
