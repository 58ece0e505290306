//! Recorded history, judged again: by the rules as they are now, and by what the journal kept.
//!
//! Every entry is taken in order and rebuilt as far as it was kept; its facts come from the record
//! ([`RecordedFacts`]), never from the world as it is. Four things decide how a verdict of then compares with one of
//! now:
//!
//! - A rule that needs what was not kept is undecidable. If the very same text spoke then, it is taken at its word: the
//!   same rule on the same event says the same. Otherwise the verdict is undecidable, unless the rule could not have
//!   made a difference.
//! - Where a secret in a command was masked, the command is judged with the mask as its text, as something unknown and
//!   as secrets of every known shape. A rule that judges them differently depends on the secret, and is undecidable.
//! - What the guard itself said then (it could not read the payload, it ran out of time) no rule decided: it stays.
//! - Holds are counted anew, because they follow from the rules.
//!
//! The rules of a workflow that was active then are those of its file now, at the node where it stood.

mod dry_run;
mod masked_command;
mod present_workflows;
mod recorded_event;
pub mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::decide::{ConsideredRule, RuleOutcome, UndecidedRule};
use engine::event::ShellText;
use engine::facts::EventPart;
use engine::rules::{Clause, RuleSetError, Truth};
use engine::workflow::Workflow;
use engine::{BaseFolders, Decision, DecisionRequest, Event, Finding, Level, Situation, Verdict};
use policy::{Compiled, PolicyFolder, Tiers};
use store::{JournalEntry, JournalFilter, SessionKey, Store, StoreError};

use self::present_workflows::{AtNode, PresentWorkflows};
use self::recorded_event::recorded_event;
use crate::Environment;
use crate::facts::{Past, PastWorkflow, RecordedFacts, hold_counter, input_record, place, unsure_paths};
use crate::failure::GUARD;
use crate::grants::Trust;
use crate::judge::nested_roots;
use crate::project::Project;

pub use dry_run::{AttemptedAct, DryRun};

/// A history and the rules that it is judged by.
pub struct Replay<'a> {
    environment: &'a Environment,
    root: &'a Path,
    policy: Compiled,
    /// The policies of folders below the root, as events come to speak of them.
    nested: BTreeMap<PathBuf, Compiled>,
    journal: Arc<Mutex<Store>>,
    sessions: BTreeMap<(String, String), Past>,
    workflows: PresentWorkflows<'a>,
    /// What workflows say at the nodes that were met so far, by both their names.
    at_nodes: BTreeMap<(String, String), AtNode>,
    /// Where the workflow stood at the entry that was come to.
    stood: Arc<PastWorkflow>,
}

/// Which events; all that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayScope {
    /// Milliseconds since 1970, inclusive.
    pub since: Option<i64>,
    pub session: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Rules(#[from] RuleSetError),
}

/// What became of one verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayOutcome {
    Same,
    Changed(Box<VerdictChange>),
    /// The rules that need what was not kept and could have made a difference.
    Undecidable(Vec<UndecidedRule>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct VerdictChange {
    /// What is said now.
    pub verdict: Verdict,
    /// What was said then and is not said now.
    pub then: Vec<Silenced>,
    /// What is said now and was not said then.
    pub now: Vec<Finding>,
}

/// A finding of then that is not made now.
#[derive(Debug, Clone, PartialEq)]
pub struct Silenced {
    pub finding: Finding,
    pub since: Since,
    /// The rule's clauses that are not true now; none where it is gone.
    pub clauses: Vec<Clause>,
}

/// What became of a rule since it spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    Same,
    Changed,
    Gone,
}

impl Since {
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

/// How many verdicts became what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayTally {
    pub events: usize,
    pub same: usize,
    pub stricter: usize,
    pub milder: usize,
    pub undecidable: usize,
}

impl ReplayTally {
    pub fn changed(self) -> usize {
        self.stricter + self.milder
    }

    fn count(&mut self, entry: &JournalEntry, outcome: &ReplayOutcome) {
        self.events += 1;
        match outcome {
            ReplayOutcome::Same => self.same += 1,
            ReplayOutcome::Undecidable(_) => self.undecidable += 1,
            ReplayOutcome::Changed(change) if change.verdict.strictness() > entry.verdict.strictness() => {
                self.stricter += 1;
            }
            ReplayOutcome::Changed(_) => self.milder += 1,
        }
    }
}

/// The rules of another folder in the place of the project's: one with `config.yml` or `rules/`, or a project that has a
/// policy. `None` where there is no policy. What weakens a guard counts too: nothing of this is put in force.
pub fn policy_of_folder(folder: &Path, project: &Project) -> Option<Compiled> {
    let found = policy_folder(folder)?;
    let tiers = Tiers { project: Some(found), user: project.tiers.user.clone() };
    Some(policy::read_anew(&tiers, |_| true))
}

/// The folder's own policy, or the folder as one.
fn policy_folder(folder: &Path) -> Option<PolicyFolder> {
    let of_project = PolicyFolder::of_project(folder);
    let itself = PolicyFolder { path: folder.to_owned(), ..PolicyFolder::of_project(folder) };
    [of_project, itself].into_iter().find(PolicyFolder::has_policy)
}

/// The project's rules as its files are now, whatever an earlier state of them still means to a session.
pub fn policy_of_project(project: &Project, environment: &Environment) -> Compiled {
    let trust = Trust::of(&project.root, environment);
    policy::read_anew(&project.tiers, |weakening| trust.accepts(weakening))
}

fn has_policy(folder: &Path) -> bool {
    PolicyFolder::of_project(folder).has_policy()
}

/// A policy that an event falls under.
struct ApplicablePolicy<'a> {
    root: &'a Path,
    /// Below the project's root; empty for the project itself.
    folder: &'a Path,
    policy: &'a Compiled,
    /// The workflow whose rules these are.
    workflow: Option<&'a Arc<Workflow>>,
}

/// One event, judged again.
struct Trial {
    verdict: Verdict,
    undecided: Vec<UndecidedRule>,
    holds: Vec<(String, u32)>,
    /// Where the trial was thorough.
    considered: Vec<ConsideredRule>,
}

impl<'a> Replay<'a> {
    /// `journal`: open to read; the one that the entries come from, once more.
    pub fn new(project: &'a Project, policy: Compiled, journal: Store, environment: &'a Environment) -> Self {
        Self {
            environment,
            root: &project.root,
            policy,
            nested: BTreeMap::new(),
            journal: Arc::new(Mutex::new(journal)),
            sessions: BTreeMap::new(),
            workflows: PresentWorkflows::of_project(project, environment),
            at_nodes: BTreeMap::new(),
            stood: Arc::default(),
        }
    }

    /// By the workflows of another folder, if it has some, as by its rules ([`policy_of_folder`]).
    #[must_use]
    pub fn with_workflows_of(mut self, folder: &Path) -> Self {
        if let Some(folder) = policy_folder(folder) {
            self.workflows = self.workflows.or_of(folder);
        }
        self
    }

    /// Judges every event of the scope again, oldest first, and tells `visit` of each.
    pub fn run(
        &mut self,
        entries: &Store,
        scope: &ReplayScope,
        mut visit: impl FnMut(&JournalEntry, &ReplayOutcome),
    ) -> Result<ReplayTally, ReplayError> {
        // All that came before has to be followed, whatever is to be shown.
        let of_session = JournalFilter { session: scope.session.clone(), ..JournalFilter::default() };
        let filter = self.begin(entries, of_session)?;
        let mut tally = ReplayTally::default();
        let mut failed = None;
        entries.log(&filter, |entry| {
            if failed.is_some() {
                return;
            }
            self.follow_workflow(&entry);
            if scope.session.as_ref().is_some_and(|session| *session != entry.session.id) {
                return;
            }
            let entry = Arc::new(entry);
            let is_wanted = scope.since.is_none_or(|since| entry.time >= since);
            match self.step(&entry, is_wanted) {
                Ok(Some(outcome)) => {
                    tally.count(&entry, &outcome);
                    visit(&entry, &outcome);
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        })?;
        failed.map_or(Ok(tally), Err)
    }

    /// Every rule's work on an entry, with the session followed up to it.
    pub fn explain(&mut self, entries: &Store, wanted: &JournalEntry) -> Result<Vec<ConsideredRule>, ReplayError> {
        let of_session = JournalFilter {
            agent: Some(wanted.session.agent.clone()),
            session: Some(wanted.session.id.clone()),
            ..JournalFilter::default()
        };
        let filter = self.begin(entries, of_session)?;
        let mut explained = Ok(Vec::new());
        entries.log(&filter, |entry| {
            if explained.is_err() || entry.id > wanted.id {
                return;
            }
            self.follow_workflow(&entry);
            if session_of(&entry) != session_of(wanted) {
                return;
            }
            let is_wanted = entry.id == wanted.id;
            let entry = Arc::new(entry);
            if is_wanted {
                explained = self.consider(&entry);
            } else if let Err(error) = self.step(&entry, false) {
                explained = Err(error);
            }
        })?;
        explained
    }

    /// Which entries have to be read for those of a session: where there were workflows, all, because every session counts
    /// for those.
    fn begin(&mut self, entries: &Store, of_session: JournalFilter) -> Result<JournalFilter, StoreError> {
        if entries.workflow()?.first_seen.is_none() {
            return Ok(of_session);
        }
        self.stood = Arc::new(PastWorkflow::before(entries)?);
        Ok(JournalFilter::default())
    }

    fn follow_workflow(&mut self, entry: &JournalEntry) {
        let Self { stood, workflows, at_nodes, policy, .. } = self;
        Arc::make_mut(stood).follow(entry);
        if let Some(position) = &stood.position {
            let (name, node) = (&position.workflow, position.node());
            at_nodes.entry((name.clone(), node.to_owned())).or_insert_with(|| workflows.at(name, node, policy));
        }
    }

    /// What the workflow that was active says now at the node where it stood.
    fn at_node(&self) -> Option<&AtNode> {
        let position = self.stood.position.as_ref()?;
        self.at_nodes.get(&(position.workflow.clone(), position.node().to_owned()))
    }

    /// What became of the rule that made a finding.
    pub fn since(&self, finding: &Finding) -> Result<Since, RuleSetError> {
        let mut since = Since::Gone;
        let of_workflows = self.at_nodes.values().filter_map(|at_node| match at_node {
            AtNode::Sound { policy, .. } => Some(&**policy),
            AtNode::Gone | AtNode::Broken => None,
        });
        for policy in std::iter::once(&self.policy).chain(self.nested.values()).chain(of_workflows) {
            for rule in policy.rules.all()?.iter().filter(|rule| rule.id == finding.rule) {
                let is_same = finding.digest.as_ref().is_none_or(|digest| *digest == rule.digest);
                since = if is_same || since == Since::Same { Since::Same } else { Since::Changed };
            }
        }
        Ok(since)
    }

    fn consider(&mut self, entry: &Arc<JournalEntry>) -> Result<Vec<ConsideredRule>, ReplayError> {
        self.follow(entry)?;
        let Some(event) = recorded_event(entry) else { return Ok(Vec::new()) };
        let event = Arc::new(event);
        self.meet_policies(entry, &event);
        Ok(self.try_again(entry, &event, true)?.considered)
    }

    /// `None`: not an agent's event, or not wanted.
    fn step(&mut self, entry: &Arc<JournalEntry>, is_wanted: bool) -> Result<Option<ReplayOutcome>, ReplayError> {
        self.follow(entry)?;
        let Some(event) = recorded_event(entry) else { return Ok(None) };
        let event = Arc::new(event);
        self.meet_policies(entry, &event);
        // Of what is not wanted, only holds have consequences.
        if !is_wanted && !event.kind.is_stop() {
            return Ok(None);
        }
        let trial = self.try_again(entry, &event, false)?;
        let outcome = if is_wanted { Some(self.compare(entry, &event, &trial)?) } else { None };
        // A stop that was not held in fact does not count as one.
        let is_enforced = entry.verdict.not_enforced.is_none();
        if let Some(past) = self.sessions.get_mut(&session_of(entry)).filter(|_| is_enforced) {
            past.holds.extend(trial.holds);
        }
        Ok(outcome)
    }

    /// Goes on to an entry: its session's past, and its own changes.
    fn follow(&mut self, entry: &JournalEntry) -> Result<(), ReplayError> {
        let session = session_of(entry);
        if !self.sessions.contains_key(&session) {
            let key = SessionKey { agent: &entry.session.agent, session: &entry.session.id };
            let known = self.journal.lock().map_err(|_| StoreError::Locked)?.session(key)?;
            let is_cut = known.first_seen.is_some_and(|first| first < entry.time);
            self.sessions.insert(session.clone(), Past { is_cut, ..Past::default() });
        }
        if let Some(past) = self.sessions.get_mut(&session) {
            past.follow(entry);
        }
        Ok(())
    }

    /// Reads the policies of folders that an event falls under, where they were not met before.
    fn meet_policies(&mut self, entry: &Arc<JournalEntry>, event: &Arc<Event>) {
        for root in self.nested_roots(entry, event) {
            self.nested.entry(root).or_insert_with_key(|root| Project::nested(root).looked_at(self.environment));
        }
    }

    fn own(&self) -> ApplicablePolicy<'_> {
        ApplicablePolicy { root: self.root, folder: Path::new(""), policy: &self.policy, workflow: None }
    }

    fn nested_roots(&self, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> BTreeSet<PathBuf> {
        nested_roots(self.root, &self.situation(&self.own(), entry, event), has_policy).into_iter().collect()
    }

    fn jurisdictions(&self, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> Vec<ApplicablePolicy<'_>> {
        let own = self.own();
        let roots = self.nested_roots(entry, event);
        let nested = self.nested.iter().filter(|(root, _)| roots.contains(*root));
        let nested = nested.filter_map(|(root, policy)| {
            let folder = root.strip_prefix(self.root).ok()?;
            Some(ApplicablePolicy { root, folder, policy, workflow: None })
        });
        let of_workflow = self.at_node().and_then(|at_node| match at_node {
            AtNode::Sound { workflow, policy } => {
                Some(ApplicablePolicy { policy, workflow: Some(workflow), ..self.own() })
            }
            AtNode::Gone | AtNode::Broken => None,
        });
        std::iter::once(own).chain(of_workflow).chain(nested).collect()
    }

    fn try_again(&self, entry: &Arc<JournalEntry>, event: &Arc<Event>, thorough: bool) -> Result<Trial, ReplayError> {
        let mut trial =
            Trial { verdict: Verdict::empty(), undecided: Vec::new(), holds: Vec::new(), considered: Vec::new() };
        let mut findings: Vec<Finding> =
            entry.verdict.findings.iter().filter(|finding| finding.rule == GUARD).cloned().collect();
        let mut approved = false;
        for here in self.jurisdictions(entry, event) {
            let decision = self.decide(&here, entry, event, thorough)?;
            approved |= decision.verdict.approved;
            findings.extend(decision.verdict.findings);
            for (rule, count) in decision.holds {
                trial.holds.push((hold_counter(here.folder, &rule), count));
            }
            for rule in decision.undecided {
                match entry.verdict.findings.iter().find(|finding| is_the_same(&rule, finding)) {
                    Some(spoken) => findings.push(spoken.clone()),
                    None => trial.undecided.push(rule),
                }
            }
            trial.considered.extend(decision.considered);
        }
        trial.undecided.extend(self.undecided_workflow());
        trial.verdict = Verdict::of(findings);
        trial.verdict.approved = approved && trial.verdict.level == Level::Allow;
        Ok(trial)
    }

    /// A workflow whose file is broken could say anything.
    fn undecided_workflow(&self) -> Option<UndecidedRule> {
        let name = &self.stood.position.as_ref()?.workflow;
        matches!(self.at_node()?, AtNode::Broken).then(|| UndecidedRule {
            rule: name.clone(),
            digest: String::new(),
            strictest: Level::Block,
            facts: vec!["the workflow's file (broken)".to_owned()],
        })
    }

    fn decide(
        &self,
        here: &ApplicablePolicy<'_>,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        thorough: bool,
    ) -> Result<Decision, RuleSetError> {
        let readings = readings(event);
        // A rule that is passed over for the paths that it knows might be about one that is not known.
        let thorough = thorough || !readings.is_empty() || unsure_paths(entry).is_some();
        let mut decision = self.decide_once(here, entry, event, thorough)?;
        for reading in readings {
            let other = self.decide_once(here, entry, &Arc::new(reading), true)?;
            for (considered, other) in decision.considered.iter_mut().zip(&other.considered) {
                if !matches!(considered.outcome, RuleOutcome::Undecidable(_)) && is_told_apart(considered, other) {
                    let facts = vec![input_record::masked(EventPart::Command)];
                    decision.undecided.push(UndecidedRule::of(&considered.rule, &facts));
                    decision.verdict.findings.retain(|finding| finding.rule != considered.rule.id);
                    considered.outcome = RuleOutcome::Undecidable(facts);
                }
            }
        }
        Ok(decision)
    }

    fn decide_once(
        &self,
        here: &ApplicablePolicy<'_>,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        thorough: bool,
    ) -> Result<Decision, RuleSetError> {
        let situation = Arc::new(self.situation(here, entry, event));
        engine::decide(&DecisionRequest { situation: &situation, rules: &here.policy.rules, evaluate_all: thorough })
    }

    fn situation(&self, here: &ApplicablePolicy<'_>, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> Situation {
        let past = self.sessions.get(&session_of(entry)).cloned().unwrap_or_default();
        let mut facts = RecordedFacts::new(entry, event, past, here.folder, here.policy, &self.journal);
        if let Some(workflow) = here.workflow {
            facts = facts.in_workflow(Arc::clone(workflow), Arc::clone(&self.stood));
        }
        let is_part = here.root != self.root;
        let place = BaseFolders { is_subfolder: is_part, ..place(here.root, &here.policy.config, self.environment) };
        Situation::new(Arc::clone(event), place, Arc::new(facts))
    }

    fn compare(
        &self,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        trial: &Trial,
    ) -> Result<ReplayOutcome, ReplayError> {
        let undecided: Vec<UndecidedRule> =
            trial.undecided.iter().filter(|rule| matters(rule, &trial.verdict)).cloned().collect();
        if !undecided.is_empty() {
            return Ok(ReplayOutcome::Undecidable(undecided));
        }
        let (then, now) = (&entry.verdict, &trial.verdict);
        if then.strictness() == now.strictness() {
            return Ok(ReplayOutcome::Same);
        }
        let missing_from = |verdict: &Verdict, finding: &Finding| {
            !verdict.findings.iter().any(|other| other.rule == finding.rule && other.level == finding.level)
        };
        let considered = self.try_again(entry, event, true)?.considered;
        let silenced = then.findings.iter().filter(|finding| missing_from(now, finding)).map(|finding| {
            let clauses = considered.iter().find(|considered| considered.rule.id == finding.rule);
            let clauses = clauses.into_iter().flat_map(|considered| &considered.clauses);
            Ok(Silenced {
                finding: finding.clone(),
                since: self.since(finding)?,
                clauses: clauses.filter(|clause| clause.truth != Truth::True).cloned().collect(),
            })
        });
        Ok(ReplayOutcome::Changed(Box::new(VerdictChange {
            verdict: now.clone(),
            then: silenced.collect::<Result<_, RuleSetError>>()?,
            now: now.findings.iter().filter(|finding| missing_from(then, finding)).cloned().collect(),
        })))
    }
}

fn session_of(entry: &JournalEntry) -> (String, String) {
    (entry.session.agent.clone(), entry.session.id.clone())
}

/// The rule's very text spoke then.
fn is_the_same(rule: &UndecidedRule, finding: &Finding) -> bool {
    finding.rule == rule.rule && finding.digest.as_deref() == Some(rule.digest.as_str())
}

/// Whether a rule could make the verdict another one: a stricter one, or one that approves.
fn matters(rule: &UndecidedRule, verdict: &Verdict) -> bool {
    let could_approve = rule.strictest == Level::Allow && verdict.level == Level::Allow && !verdict.approved;
    rule.strictest > verdict.level || could_approve
}

/// What the event may have been, where a secret in its command is masked.
fn readings(event: &Event) -> Vec<Event> {
    let Some(call) = &event.tool else { return Vec::new() };
    let Some(ShellText::Command(text)) = &call.shell else { return Vec::new() };
    let with = |text| {
        let mut call = call.clone();
        call.shell = Some(ShellText::Command(text));
        Event { tool: Some(call), ..event.clone() }
    };
    masked_command::readings(text).into_iter().map(with).collect()
}

/// Whether a rule makes something else of one reading than of the other.
fn is_told_apart(one: &ConsideredRule, other: &ConsideredRule) -> bool {
    let truth = |considered: &ConsideredRule| {
        considered.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    };
    one.outcome != other.outcome || truth(one) != truth(other)
}

#[cfg(test)]
mod tests;
