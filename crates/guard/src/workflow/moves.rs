//! Moves: what `start`, `next`, `continue` and their like do.
//!
//! A move is decided by the state that was read, and written only if nobody changed it in between. So of two that are made
//! at once one is made, and the other is told; and a process that dies leaves the old state or the new one.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::file_rules::Reach;
use engine::pace::{Interrupt, Limit};
use engine::rules::{AckBy, Rule};
use engine::workflow::{Action, Node, Transition, Workflow};
use engine::{Event, EventKind, Level, Situation, expr, suggest};
use policy::Compiled;
use serde_json::{Map, Value, json};
use store::{Changes, Deed, Note, NoteKind, PERSON, RuleDeed, SessionKey, SessionState, Store};
use tree::Repository;

use super::acting::{Acted, act};
use super::gates::Gates;
use super::{Active, Claims, Outside, Position, Refusal, Step, StepOutcome};
use crate::environment::Environment;
use crate::judge::Judge;
use crate::live_facts::LiveFacts;
use crate::pace_facts::{self, PaceFacts};
use crate::project::Project;
use crate::rule_deeds;
use crate::token_count::{Spent, TokenCount};
use crate::whose_session::Whose;

pub struct Moves<'a> {
    pub project: &'a Project,
    pub environment: &'a Environment,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The session whose variables count.
    pub session: Option<Whose>,
    /// Whether an agent makes the move.
    pub is_agents: bool,
    pub outside: Outside,
}

/// The pace rules that are passed over, once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Force {
    #[default]
    None,
    /// By its name, or else its kind.
    One(String),
    All,
}

impl Force {
    fn passes(&self, rule: &Rule) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::One(name) => {
                rule.id == *name
                    || rule.title.as_deref() == Some(name)
                    || rule.as_pace_rule().is_some_and(|pace| pace.limit.name() == name)
            }
        }
    }
}

/// What a move does besides.
#[derive(Default)]
struct Doing {
    changes: Changes,
    /// For the agent.
    texts: Vec<String>,
    /// For the person.
    notices: Vec<String>,
}

/// How a workflow stands while it is being moved.
pub(super) struct Scene {
    pub(super) store: Store,
    policy: Compiled,
    /// Of the workflow.
    pub(super) state: SessionState,
    /// Of the session whose variables count.
    session: SessionState,
}

impl Moves<'_> {
    /// Begins a workflow, at its first node or another.
    pub fn start(&self, name: &str, node: Option<&str>) -> Result<Step, Refusal> {
        self.may_move("start")?;
        let scene = self.scene()?;
        if let Some(position) = Position::of(&scene.state.variables) {
            let node = position.node().to_owned();
            return Err(Refusal::AlreadyActive { workflow: position.workflow, node });
        }
        let workflow = self.workflow(name, &scene)?;
        let first = node.unwrap_or(&workflow.start);
        find(&workflow, first)?;
        let position = Position::start(name, &workflow.digest, first, self.now, &scene.state.variables);
        let fields = self.fields([("workflow", json!(name)), ("to", json!(first))]);
        self.enter(workflow, position, scene, NoteKind::Start, &fields, Doing::default())
    }

    /// The move that the claims lead to.
    pub fn next(&self, words: &[String], force: &Force) -> Result<Step, Refusal> {
        self.may_move("next")?;
        let (scene, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let claims = Claims::read(words, &node.name, &active.workflow)?;
        let (passed_over, pace_rules) = Self::pace_rules(&active, force)?;
        let active = Arc::new(Active { claims: claims.as_map().clone(), ..active });
        let situation = self.situation(&active, &scene);
        let Some(way) = first_way(&node, &situation)? else {
            let would = self.claims_that_would(&node, &active, &scene);
            let claimed = claims.names().into_iter().map(str::to_owned).collect();
            return Ok(stay(&active, StepOutcome::NoWay { claimed, would }));
        };
        if let Some((rule, outcome)) = self.interrupted(&pace_rules, &active, &scene)? {
            let deeds = rule_deeds::about([rule.as_str()].into_iter(), Deed::Blocked, Some(&active.position));
            return self.held(&active, scene, &rule, outcome, deeds.collect());
        }
        let gates = Gates {
            active: &active,
            situation: &situation,
            project: self.project,
            environment: self.environment,
            config: &scene.policy.config,
            outside: &self.outside,
        };
        let lacks = gates.lacks(node.requires.iter().chain(&way.requires));
        if !lacks.is_empty() {
            let why: Vec<String> = lacks.iter().map(|lack| lack.gate.clone()).collect();
            return self.held(&active, scene, &why.join(", "), StepOutcome::Held(lacks), Vec::new());
        }
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(node.name)),
            ("to", json!(way.to)),
            ("claims", json!(claims.names())),
            ("forced", json!(forced(force))),
        ]);
        // Gates take their time, and hooks write meanwhile.
        Self::until_written(|| {
            let (scene, now) = self.active()?;
            if now.position != active.position {
                return Err(moved_meanwhile(Some(&now.position)));
            }
            let now = Arc::new(Active { claims: active.claims.clone(), ..now });
            let mut doing = Doing::default();
            let passed_over = passed_over.iter().map(|rule| rule.id.as_str());
            doing.changes.deeds.extend(rule_deeds::about(passed_over, Deed::Forced, Some(&now.position)));
            self.act("on_exit", &node.on_exit, &now, &scene, &mut doing);
            self.go(&now, &way.to, scene, NoteKind::Move, &fields, doing)
        })
    }

    /// Goes on past what a pace rule said: counts begin again, and nothing moves.
    pub fn go_on(&self) -> Result<Step, Refusal> {
        self.may_move("continue")?;
        Self::until_written(|| {
            let scene = self.scene()?;
            if Position::of(&scene.state.variables).is_none() {
                return self.go_on_in_session(scene);
            }
            self.go_on_in_phase()
        })
    }

    fn go_on_in_phase(&self) -> Result<Step, Refusal> {
        let (mut scene, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let of_people = |rule: &&Rule| rule.as_pace_rule().is_some() && rule.ack == AckBy::Human;
        if let Some(rule) = active.workflow.rules_at(&node.name).find(of_people).filter(|_| self.is_agents) {
            return Err(Refusal::OnlyAPerson(rule.id.clone()));
        }
        // Rules of the session may have interrupted as well. What only a person can answer there stays as it is.
        let of_session = self.interrupting_rules(&scene);
        let is_answered = !self.is_agents || of_session.iter().all(|rule| rule.ack == AckBy::Agent);
        let of_session = if is_answered { of_session } else { Vec::new() };
        let mut changes = Changes::default();
        if !of_session.is_empty() {
            self.go_on_past(&of_session, &scene, &mut changes);
        }
        let is_past_commits = has_missed_commits(&active, &scene)?;
        let position = Position { is_past_commits, ..active.position.continued(self.now) };
        active.forget_interrupts(&mut changes);
        position.remember(&mut changes);
        let rules = active.workflow.rules_at(&node.name).filter(|rule| rule.as_pace_rule().is_some());
        let rules = rules.map(|rule| rule.id.as_str());
        changes.deeds.extend(rule_deeds::about(rules, Deed::WentOn, Some(&active.position)));
        let fields = self.fields([("workflow", json!(active.workflow.name)), ("past", json!(node.name))]);
        self.write(&mut scene, NoteKind::Continue, &fields, &changes)?;
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &scene)?;
        Ok(stay(&active, StepOutcome::Prompt(prompt)))
    }

    /// Where no workflow is active, rules may have interrupted the session itself.
    fn go_on_in_session(&self, mut scene: Scene) -> Result<Step, Refusal> {
        let rules = self.interrupting_rules(&scene);
        if rules.is_empty() {
            return Err(Refusal::NoWorkflow);
        }
        if let Some(rule) = rules.iter().find(|rule| self.is_agents && rule.ack == AckBy::Human) {
            return Err(Refusal::OnlyAPerson(rule.id.clone()));
        }
        let mut changes = Changes::default();
        self.go_on_past(&rules, &scene, &mut changes);
        let names: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
        let fields = self.fields([("past", json!(names.join(", ")))]);
        let (root, cwd) = self.places();
        scene.store.note(&self.note(NoteKind::Continue, &fields, &changes, &root, &cwd))?;
        let outcome = StepOutcome::Counting(names);
        Ok(Step {
            workflow: String::new(),
            node: String::new(),
            moved: false,
            outcome,
            texts: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// What these rules, outside of the workflow, count in the session begins again.
    fn go_on_past(&self, rules: &[Rule], scene: &Scene, changes: &mut Changes) {
        let spent = self.pace_facts().spent(None).ok().and_then(Spent::known);
        pace_facts::continue_session(&scene.session, self.now, spent, changes);
        changes.deeds.extend(rule_deeds::about(rules.iter().map(|rule| rule.id.as_str()), Deed::WentOn, None));
    }

    /// The rules outside of workflows that interrupted the session.
    fn interrupting_rules(&self, scene: &Scene) -> Vec<Rule> {
        let digests: Vec<&str> = pace_facts::interrupting(&scene.session.variables).collect();
        if digests.is_empty() || self.session.is_none() {
            return Vec::new();
        }
        let rules = scene.policy.rules.all().unwrap_or_default();
        rules.into_iter().filter(|rule| digests.contains(&rule.digest.as_str())).collect()
    }

    /// The prompt once more.
    pub fn repeat(&self) -> Result<Step, Refusal> {
        self.may_move("repeat")?;
        let (scene, active) = self.active()?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &scene)?;
        Ok(stay(&active, StepOutcome::Prompt(prompt)))
    }

    /// Back to the phase from which this one was reached; no gate is asked.
    pub fn prev(&self) -> Result<Step, Refusal> {
        self.may_move("prev")?;
        Self::until_written(|| {
            let (scene, active) = self.active()?;
            let to = active.position.way_back().ok_or(Refusal::NothingBefore)?.to_owned();
            let position = active.position.went_back(&to, &active.workflow.digest, self.now);
            self.jump(position, "prev", scene, &active)
        })
    }

    /// To the first node again.
    pub fn restart(&self) -> Result<Step, Refusal> {
        self.may_move("restart")?;
        Self::until_written(|| {
            let (scene, active) = self.active()?;
            let Workflow { start, digest, .. } = &active.workflow;
            let position = active.position.moved(start, digest, self.now);
            self.jump(position, "restart", scene, &active)
        })
    }

    /// Leaves the workflow as it is.
    pub fn abort(&self) -> Result<Step, Refusal> {
        self.may_move("abort")?;
        let mut scene = self.scene()?;
        // One that cannot be read any more can be left all the same.
        let position = Position::of(&scene.state.variables).ok_or(Refusal::NoWorkflow)?;
        let mut changes = Changes::default();
        Position::forget_all(&scene.state.variables, &mut changes);
        let fields = self.fields([("workflow", json!(position.workflow)), ("from", json!(position.node()))]);
        self.write(&mut scene, NoteKind::Abort, &fields, &changes)?;
        Ok(ended(position.workflow, Workflow::ABORTED))
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

    /// To another node, or to an end.
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
        let position = active.position.moved(to, &active.workflow.digest, self.now);
        self.enter(active.workflow.clone(), position, scene, kind, fields, doing)
    }

    /// Enters a node: its own actions first, then the prompt, and only then is anything written.
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
        let mut state = scene.state.clone();
        apply(&doing.changes.workflow, &mut state.variables);
        let entering = Arc::new(self.active_at(workflow, position, state));
        self.act("on_enter", &node.on_enter, &entering, &scene, &mut doing);
        let Doing { mut changes, texts, notices } = doing;
        let mut state = entering.state.clone();
        apply(&changes.workflow, &mut state.variables);
        let entered = Arc::new(Active { state, ..(*entering).clone() });
        apply(&changes.variables, &mut scene.session.variables);
        let prompt = self.prompt(&node, &entered, &scene)?;
        entered.position.remember(&mut changes);
        self.write(&mut scene, kind, fields, &changes)?;
        let workflow = entered.workflow.name.clone();
        Ok(Step { workflow, node: node.name, moved: true, outcome: StepOutcome::Prompt(prompt), texts, notices })
    }

    fn held(
        &self,
        active: &Active,
        mut scene: Scene,
        why: &str,
        outcome: StepOutcome,
        deeds: Vec<RuleDeed>,
    ) -> Result<Step, Refusal> {
        let fields = self.fields([
            ("workflow", json!(active.workflow.name)),
            ("from", json!(active.position.node())),
            ("why", json!(why)),
        ]);
        // What is only noted does not care whether somebody moved meanwhile.
        let (root, cwd) = self.places();
        let changes = Changes { deeds, ..Changes::default() };
        scene.store.note(&self.note(NoteKind::Held, &fields, &changes, &root, &cwd))?;
        Ok(stay(active, outcome))
    }

    /// The first pace rule of the node that says it is too much.
    fn interrupted(
        &self,
        rules: &[Rule],
        active: &Arc<Active>,
        scene: &Scene,
    ) -> Result<Option<(String, StepOutcome)>, Refusal> {
        let facts = self.pace_facts();
        let scope = active.pace_scope();
        let situation = self.situation(active, scene);
        for rule in rules {
            let Some(pace) = rule.as_pace_rule() else { continue };
            let is_meant =
                rule.when.as_ref().is_none_or(|when| expr::holds(when, &situation, Reach::default()).unwrap_or(true));
            if !is_meant {
                continue;
            }
            let commits = |phases: u32| self.commits(phases, active);
            let standing = match facts.at_move(rule, &scope, commits) {
                Ok(Some(standing)) => standing,
                Ok(None) => continue,
                Err(_) if rule.on_error.is_some_and(|level| level <= Level::Warn) => continue,
                Err(error) => return Err(Refusal::Pace { rule: rule.id.clone(), error }),
            };
            if let Some(violation) = pace.judge(&standing) {
                let reason = Some(rule.reason.trim()).filter(|reason| !reason.is_empty());
                let (phase, ack) = (scope.name.as_deref(), rule.ack);
                let text = Interrupt { violation: &violation, phase, reason, ack }.to_string();
                let outcome = StepOutcome::Interrupt { rule: rule.id.clone(), text, violation: Box::new(violation) };
                return Ok(Some((rule.id.clone(), outcome)));
            }
        }
        Ok(None)
    }

    pub(super) fn pace_facts(&self) -> PaceFacts {
        let (event, store) = (Arc::new(self.event()), self.project.store(self.environment));
        let tokens = TokenCount::of_command(Arc::clone(&event), store.clone(), self.options());
        PaceFacts::new(event, store, self.options(), Arc::new(tokens))
    }

    /// The commits of the last phases, and the names of those.
    pub(super) fn commits(&self, phases: u32, active: &Active) -> (Option<u32>, Vec<String>) {
        let visits = active.position.last(usize::try_from(phases).unwrap_or(usize::MAX));
        let since = visits.first().map_or(self.now, |visit| visit.started);
        let repository = Repository::of(&self.project.root);
        let count = repository.and_then(|repository| repository.commits_since(since / 1000));
        (count, visits.iter().map(|visit| visit.node.clone()).collect())
    }

    /// The pace rules of the current node: those that are passed over, and those that are judged.
    fn pace_rules(active: &Active, force: &Force) -> Result<(Vec<Rule>, Vec<Rule>), Refusal> {
        let node = active.position.node();
        let rules: Vec<&Rule> = active.workflow.rules_at(node).filter(|rule| rule.as_pace_rule().is_some()).collect();
        if let Force::One(name) = force
            && !rules.iter().any(|rule| force.passes(rule))
        {
            let known = rules.iter().map(|rule| rule.id.clone()).collect();
            return Err(Refusal::UnknownRule { rule: name.clone(), node: node.to_owned(), known });
        }
        Ok(rules.into_iter().cloned().partition(|rule| force.passes(rule)))
    }

    /// The claims each of which would lead on by itself.
    fn claims_that_would(&self, node: &Node, active: &Arc<Active>, scene: &Scene) -> Vec<String> {
        let leads_on = |claim: &String| {
            let claims = Claims::only(claim).as_map().clone();
            let active = Arc::new(Active { claims, ..(**active).clone() });
            first_way(node, &self.situation(&active, scene)).is_ok_and(|way| way.is_some())
        };
        active.workflow.all_claims().filter(leads_on).collect()
    }

    /// What a node does by itself.
    fn act(&self, site: &str, actions: &[Action], active: &Arc<Active>, scene: &Scene, doing: &mut Doing) {
        if actions.is_empty() {
            return;
        }
        let (situation, facts) = self.known(active, scene);
        let Acted { texts, notices } = act(site, actions.iter(), &active.workflow, &situation, &facts);
        for (name, value) in facts.observed() {
            let kept = if active.declares(&name) { &mut doing.changes.workflow } else { &mut doing.changes.variables };
            kept.insert(name, value);
        }
        doing.texts.extend(texts);
        doing.notices.extend(notices);
    }

    fn prompt(&self, node: &Node, active: &Arc<Active>, scene: &Scene) -> Result<String, Refusal> {
        let situation = self.situation(active, scene);
        active
            .workflow
            .rendered(&node.prompt, &situation)
            .map_err(|error| Refusal::Prompt { node: node.name.clone(), why: error.message })
    }

    fn may_move(&self, verb: &'static str) -> Result<(), Refusal> {
        let policy = self.project.looked_at(self.environment);
        let is_allowed = !self.is_agents || policy.config.agent_may.iter().any(|allowed| allowed == verb);
        if is_allowed { Ok(()) } else { Err(Refusal::NotForAgents(verb)) }
    }

    /// Whatever `agent_may` says.
    pub(super) fn must_be_a_person(&self, verb: &'static str) -> Result<(), Refusal> {
        if self.is_agents { Err(Refusal::NotForAgents(verb)) } else { Ok(()) }
    }

    pub(super) fn scene(&self) -> Result<Scene, Refusal> {
        let policy = self.project.compiled(self.environment);
        let store = Store::open(&self.project.store(self.environment), self.options())?;
        self.project.had_journal(self.environment);
        let state = store.workflow()?;
        let session = match &self.session {
            Some(Whose { agent, session }) => store.session(SessionKey { agent, session })?,
            None => SessionState::default(),
        };
        Ok(Scene { store, policy, state, session })
    }

    pub(super) fn active(&self) -> Result<(Scene, Active), Refusal> {
        let scene = self.scene()?;
        let position = Position::of(&scene.state.variables).ok_or(Refusal::NoWorkflow)?;
        let workflow = self.workflow(&position.workflow, &scene).map_err(|refusal| match refusal {
            Refusal::BrokenWorkflow { name, problem } => {
                Refusal::BrokenUnderWay { workflow: name, node: position.node().to_owned(), problem }
            }
            other => other,
        })?;
        let active = self.active_at(workflow, position, scene.state.clone());
        Ok((scene, active))
    }

    fn active_at(&self, workflow: Workflow, position: Position, state: SessionState) -> Active {
        Active { workflow, position, state, claims: Map::new(), now: self.now }
    }

    /// The workflow as its files say it now.
    fn workflow(&self, name: &str, scene: &Scene) -> Result<Workflow, Refusal> {
        let compiled = self.project.workflow(name, &scene.policy, self.environment);
        if let Some(compiled) = compiled.filter(|compiled| !compiled.is_last_good) {
            return Ok(compiled.workflow);
        }
        let found = policy::workflows(&self.project.tiers, &self.project.load(self.environment));
        let Some(file) = found.named(name) else {
            let known: Vec<String> = found.names().into_iter().map(str::to_owned).collect();
            let close = suggest::closest(name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(Refusal::UnknownWorkflow { name: name.to_owned(), close, known });
        };
        // Or else of one of its guides.
        let problem = found.errors().find(|problem| problem.source.name == file.source).or(found.errors().next());
        let problem = problem.map_or_else(|| "it is broken".to_owned(), policy::Diagnostic::line);
        Err(Refusal::BrokenWorkflow { name: name.to_owned(), problem })
    }

    fn situation(&self, active: &Arc<Active>, scene: &Scene) -> Arc<Situation> {
        self.known(active, scene).0
    }

    fn known(&self, active: &Arc<Active>, scene: &Scene) -> (Arc<Situation>, Arc<LiveFacts>) {
        let judge = Judge::looking(self.project, self.environment);
        judge.situation_in(active, &Arc::new(self.event()), Some(&scene.session))
    }

    /// What whoever moves does.
    fn event(&self) -> Event {
        let (agent, session) = match &self.session {
            Some(Whose { agent, session }) => (agent.as_str(), session.clone()),
            None => (PERSON.agent, String::new()),
        };
        Event {
            kind: EventKind::Other,
            name: "next".to_owned(),
            session,
            cwd: self.project.root.to_string_lossy().into_owned(),
            ..Event::unnamed(agent, self.now)
        }
    }

    fn options(&self) -> store::Options {
        store::Options { busy: PATIENCE, now: self.now }
    }

    pub(super) fn fields<const N: usize>(&self, fields: [(&str, Value); N]) -> Map<String, Value> {
        let by = if self.is_agents { "agent" } else { "person" };
        fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .chain([("by".to_owned(), json!(by))])
            .collect()
    }

    pub(super) fn places(&self) -> (String, String) {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        (text(&self.project.root), text(&self.environment.cwd))
    }

    pub(super) fn note<'n>(
        &'n self,
        kind: NoteKind,
        fields: &'n Map<String, Value>,
        changes: &'n Changes,
        root: &'n str,
        cwd: &'n str,
    ) -> Note<'n> {
        // What changes for a session is the session's, whoever says so.
        let session = match &self.session {
            Some(Whose { agent, session }) if self.is_agents || changes.is_about_a_session() => {
                SessionKey { agent, session }
            }
            _ => PERSON,
        };
        Note { kind, session, time: self.now, root, cwd, fields, changes }
    }

    /// Writes a move, if the workflow still stands where it stood when it was decided.
    fn write(
        &self,
        scene: &mut Scene,
        kind: NoteKind,
        fields: &Map<String, Value>,
        changes: &Changes,
    ) -> Result<(), Refusal> {
        let (root, cwd) = self.places();
        let note = self.note(kind, fields, changes, &root, &cwd);
        if scene.store.note_on_workflow(&note, &scene.state)?.is_some() {
            return Ok(());
        }
        let now = Position::of(&scene.store.workflow()?.variables);
        if now == Position::of(&scene.state.variables) {
            return Err(Refusal::WrittenMeanwhile);
        }
        Err(moved_meanwhile(now.as_ref()))
    }

    /// Every hook writes something of an active workflow, so a move may have to be decided again by how it stands then.
    fn until_written(decide: impl Fn() -> Result<Step, Refusal>) -> Result<Step, Refusal> {
        for _ in 1..ATTEMPTS {
            match decide() {
                Err(Refusal::WrittenMeanwhile) => {}
                step => return step,
            }
        }
        decide()
    }
}

/// More hooks than this do not come in between.
const ATTEMPTS: usize = 50;

fn moved_meanwhile(now: Option<&Position>) -> Refusal {
    let now = now.map(|position| format!("at `{}`", position.node()));
    Refusal::MovedMeanwhile(now.unwrap_or_else(|| "not active any more".to_owned()))
}

/// Others move and are judged in milliseconds.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

fn stay(active: &Active, outcome: StepOutcome) -> Step {
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

fn find<'w>(workflow: &'w Workflow, node: &str) -> Result<&'w Node, Refusal> {
    workflow.node(node).ok_or_else(|| Refusal::NodeNotFound {
        workflow: workflow.name.clone(),
        node: node.to_owned(),
        nodes: workflow.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}

/// The first whose `when` is true. Where one before it cannot be evaluated, nobody knows which that is.
fn first_way<'n>(node: &'n Node, situation: &Arc<Situation>) -> Result<Option<&'n Transition>, Refusal> {
    for way in &node.transitions {
        match expr::holds(&way.when, situation, Reach::default()) {
            Ok(true) => return Ok(Some(way)),
            Ok(false) => {}
            Err(error) => {
                return Err(Refusal::When { node: node.name.clone(), when: way.when.clone(), why: error.message });
            }
        }
    }
    Ok(None)
}

/// Whether a move out of this phase was refused because a commit was missing.
fn has_missed_commits(active: &Active, scene: &Scene) -> Result<bool, Refusal> {
    let asks =
        |rule: &&Rule| rule.as_pace_rule().is_some_and(|pace| matches!(pace.limit, Limit::RequireCommits { .. }));
    let mut rules = active.workflow.rules_at(active.position.node()).filter(asks).peekable();
    if rules.peek().is_none() {
        return Ok(false);
    }
    let phase = Some(active.position.phase_named());
    let counts = scene.store.rule_counts()?;
    Ok(rules
        .any(|rule| counts.get(&rule.id).and_then(|phases| phases.get(&phase)).is_some_and(|count| count.blocked > 0)))
}

fn forced(force: &Force) -> Option<String> {
    match force {
        Force::None => None,
        Force::One(rule) => Some(rule.clone()),
        Force::All => Some("all".to_owned()),
    }
}

fn apply(changes: &BTreeMap<String, Option<Value>>, variables: &mut Map<String, Value>) {
    for (name, value) in changes {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
}
