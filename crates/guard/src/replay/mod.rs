//! Judges recorded events again, by the present rules and the facts in the journal.
//!
//! Entries are read in order and rebuilt from what was recorded. Facts come from the record ([`RecordedFacts`]), never
//! from the present state of the world. These rules decide how the old verdict compares with the new one:
//!
//! - A rule that needs a missing fact is undecidable. If the same version of the rule had a finding at the time, that
//! finding is reused, because the same rule says the same about the same event. Otherwise the verdict is undecidable,
//! unless the rule could not have changed it.
//! - If a secret in a command was masked, the command is judged with the mask, with an unknown word, and with an
//! example of each kind of secret. A rule that judges them differently depends on the secret and is undecidable.
//! - Findings of the guard itself (payload unreadable, deadline exceeded) did not come from rules, so they are kept.
//! - Holds are counted again, because they depend on the rules.
//!
//! For a workflow that was active, the rules come from its present file, at the node where it was.

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
use policy::{CompiledPolicy, PolicyFolder, Tiers};
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

/// A journal and the rules it is judged by.
pub struct Replay<'a> {
    environment: &'a Environment,
    root: &'a Path,
    policy: CompiledPolicy,
    /// Policies of directories below the root, loaded when an event first needs them.
    nested: BTreeMap<PathBuf, CompiledPolicy>,
    journal: Arc<Mutex<Store>>,
    sessions: BTreeMap<(String, String), Past>,
    workflows: PresentWorkflows<'a>,
    /// Rules of workflows at each node so far, by workflow and node.
    at_nodes: BTreeMap<(String, String), AtNode>,
    /// The workflow's state at the current entry.
    stood: Arc<PastWorkflow>,
}

/// Selects events. All conditions that are set must hold.
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

/// The comparison of one old verdict with the new one.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayOutcome {
    Same,
    Changed(Box<VerdictChange>),
    /// Rules with missing facts that could have changed the verdict.
    Undecidable(Vec<UndecidedRule>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct VerdictChange {
    /// The new verdict.
    pub verdict: Verdict,
    /// Findings of the old verdict that the new one lacks.
    pub then: Vec<Silenced>,
    /// Findings of the new verdict that the old one lacks.
    pub now: Vec<Finding>,
}

/// A finding that is no longer made.
#[derive(Debug, Clone, PartialEq)]
pub struct Silenced {
    pub finding: Finding,
    pub since: Since,
    /// The rule's clauses that are not true now; empty if the rule no longer exists.
    pub clauses: Vec<Clause>,
}

/// How a rule changed since it made a finding.
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

/// The number of verdicts by outcome.
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

/// The policy of another directory in place of the project's: a directory with `config.yml` or `rules/`, or a project
/// with a policy. `None` if there is no policy. Weakenings in it count too, because it is only tried out, not put in
/// force.
pub fn policy_of_folder(folder: &Path, project: &Project) -> Option<CompiledPolicy> {
    let found = policy_folder(folder)?;
    let tiers = Tiers { project: Some(found), user: project.tiers.user.clone() };
    Some(policy::compile_uncached(&tiers, |_| true))
}

/// The policy folder in the directory, or the directory itself as a policy folder.
fn policy_folder(folder: &Path) -> Option<PolicyFolder> {
    let of_project = PolicyFolder::of_project(folder);
    let itself = PolicyFolder { path: folder.to_owned(), ..PolicyFolder::of_project(folder) };
    [of_project, itself].into_iter().find(PolicyFolder::has_policy)
}

/// The project's policy as its files are now, without what running sessions are pinned to.
pub fn policy_of_project(project: &Project, environment: &Environment) -> CompiledPolicy {
    let trust = Trust::of(&project.root, environment);
    policy::compile_uncached(&project.tiers, |weakening| trust.accepts(weakening))
}

fn has_policy(folder: &Path) -> bool {
    PolicyFolder::of_project(folder).has_policy()
}

/// A policy that applies to an event.
struct ApplicablePolicy<'a> {
    root: &'a Path,
    /// The policy's directory relative to the project's root; empty for the project's own.
    folder: &'a Path,
    policy: &'a CompiledPolicy,
    /// The workflow, if these are its rules.
    workflow: Option<&'a Arc<Workflow>>,
}

/// The result of judging one event again.
struct Trial {
    verdict: Verdict,
    undecided: Vec<UndecidedRule>,
    holds: Vec<(String, u32)>,
    /// Only filled by a thorough trial.
    considered: Vec<ConsideredRule>,
}

impl<'a> Replay<'a> {
    /// `journal` is a second, read-only connection to the journal that the entries come from.
    pub fn new(project: &'a Project, policy: CompiledPolicy, journal: Store, environment: &'a Environment) -> Self {
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

    /// Uses the workflows of another directory, if it has some, as [`policy_of_folder`] does for rules.
    #[must_use]
    pub fn with_workflows_of(mut self, folder: &Path) -> Self {
        if let Some(folder) = policy_folder(folder) {
            self.workflows = self.workflows.or_of(folder);
        }
        self
    }

    /// Judges every event in the scope again, oldest first, and calls `visit` for each.
    pub fn run(
        &mut self,
        entries: &Store,
        scope: &ReplayScope,
        mut visit: impl FnMut(&JournalEntry, &ReplayOutcome),
    ) -> Result<ReplayTally, ReplayError> {
        // All earlier entries have to be read, because later ones depend on them.
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

    /// Judges one entry with every rule, after replaying its session up to it.
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

    /// The filter for the entries to read. If there were workflows, all entries are needed, because workflows are
    /// shared by all sessions.
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

    /// The rules of the active workflow at its node.
    fn at_node(&self) -> Option<&AtNode> {
        let position = self.stood.position.as_ref()?;
        self.at_nodes.get(&(position.workflow.clone(), position.node().to_owned()))
    }

    /// How the rule of a finding has changed since.
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

    /// `None` if the entry is not an agent's event, or is not wanted.
    fn step(&mut self, entry: &Arc<JournalEntry>, is_wanted: bool) -> Result<Option<ReplayOutcome>, ReplayError> {
        self.follow(entry)?;
        let Some(event) = recorded_event(entry) else { return Ok(None) };
        let event = Arc::new(event);
        self.meet_policies(entry, &event);
        // Of unwanted entries, only stops matter: they change the counts of holds.
        if !is_wanted && !event.kind.is_stop() {
            return Ok(None);
        }
        let trial = self.try_again(entry, &event, false)?;
        let outcome = if is_wanted { Some(self.compare(entry, &event, &trial)?) } else { None };
        // A stop that was not enforced does not count as held.
        let is_enforced = entry.verdict.not_enforced.is_none();
        if let Some(past) = self.sessions.get_mut(&session_of(entry)).filter(|_| is_enforced) {
            past.holds.extend(trial.holds);
        }
        Ok(outcome)
    }

    /// Applies an entry's changes to its session's past.
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

    /// Loads the nested policies that apply to an event, unless they are loaded.
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

    /// A workflow whose file is broken could have said anything.
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
        // With masked or unresolved paths, rules must not be skipped early because their known paths do not match.
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

/// True if the same version of the rule made the finding.
fn is_the_same(rule: &UndecidedRule, finding: &Finding) -> bool {
    finding.rule == rule.rule && finding.digest.as_deref() == Some(rule.digest.as_str())
}

/// True if the rule could make the verdict stricter, or approve the call.
fn matters(rule: &UndecidedRule, verdict: &Verdict) -> bool {
    let could_approve = rule.strictest == Level::Allow && verdict.level == Level::Allow && !verdict.approved;
    rule.strictest > verdict.level || could_approve
}

/// Possible originals of an event with a masked command.
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

/// True if the rule judges the two versions of the event differently.
fn is_told_apart(one: &ConsideredRule, other: &ConsideredRule) -> bool {
    let truth = |considered: &ConsideredRule| {
        considered.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    };
    one.outcome != other.outcome || truth(one) != truth(other)
}

#[cfg(test)]
mod tests;
