//! Judges recorded events again, by the current rules and the facts in the journal.
//!
//! The journal's entries are read in order, and their events are rebuilt as far as they were recorded. All facts come
//! from the journal ([`RecordedFacts`]), never from the current state of files or git or from the clock. The old and
//! the new verdict are compared in this way:
//!
//! - A rule that needs a missing fact is undecidable. If the same version of the rule had a finding in the old
//!   verdict, that finding is used again, because the same rule judges the same event in the same way. Otherwise the
//!   verdict is undecidable, unless the rule could not change the verdict.
//! - If a secret in a command was masked, the command is judged several times: with the mask, with an unknown word,
//!   and with an example of each kind of secret. If a rule does not judge all these commands in the same way, the
//!   rule's result depends on the secret, so the rule is undecidable.
//! - Findings of Linchpin itself (payload unreadable, deadline exceeded) did not come from rules, so they are kept.
//! - Holds are counted anew, because they depend on the rules.
//!
//! If a workflow was active, its rules are those of its current file, for the node at which the workflow was.

mod current_workflows;
mod dry_run;
mod masked_command;
mod recorded_event;
pub mod rule_cases;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::decide::{ConsideredRule, RuleOutcome, UndecidedRule};
use engine::event::ShellText;
use engine::facts::EventPart;
use engine::rules::{Clause, RuleSetError, Truth};
use engine::workflow::Workflow;
use engine::{BaseDirectories, Decision, DecisionRequest, Event, Finding, Level, Situation, Verdict};
use policy::{CompiledPolicy, PolicyFolder, PolicyFolders};
use store::{JournalEntry, JournalFilter, SessionKey, Store, StoreError};

use self::current_workflows::{CurrentWorkflows, NodePolicy};
use self::recorded_event::recorded_event;
use crate::Environment;
use crate::facts::{
    PastSession, PastWorkflow, RecordedFacts, base_directories, directory_of_changes, hold_counter, input_record,
    missing_paths_fact,
};
use crate::grants::Trust;
use crate::judge::nested_roots;
use crate::project::Project;

pub use dry_run::{AttemptedAct, DryRun};

/// A journal, and the rules by which its events are judged again.
pub struct Replay<'a> {
    environment: &'a Environment,
    root: &'a Path,
    policy: CompiledPolicy,
    /// Policies of directories below the root. Each is loaded when an event first needs it.
    nested: BTreeMap<PathBuf, CompiledPolicy>,
    journal: Arc<Mutex<Store>>,
    sessions: BTreeMap<(String, String), PastSession>,
    workflows: CurrentWorkflows<'a>,
    /// The policies of all workflow nodes that were reached so far, by the names of workflow and node.
    node_policies: BTreeMap<(String, String), NodePolicy>,
    /// The workflow's state at the current entry.
    past_workflow: Arc<PastWorkflow>,
}

/// Selects the events that are judged again. If both fields are set, both conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplayScope {
    /// Events before this time are not selected. In milliseconds since 1970.
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

/// The result of comparing the old verdict on an event with the new one.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayOutcome {
    Same,
    Changed(Box<VerdictChange>),
    /// The undecidable rules that could change the verdict.
    Undecidable(Vec<UndecidedRule>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct VerdictChange {
    /// The new verdict.
    pub verdict: Verdict,
    /// Findings of the old verdict that the new verdict lacks.
    pub lost: Vec<LostFinding>,
    /// Findings of the new verdict that the old verdict lacks.
    pub new: Vec<Finding>,
}

/// A finding of the old verdict that the new verdict lacks.
#[derive(Debug, Clone, PartialEq)]
pub struct LostFinding {
    pub finding: Finding,
    pub rule_change: RuleChange,
    /// The clauses of the current rule that are false or unknown; empty if the rule no longer exists.
    pub clauses: Vec<Clause>,
}

/// How a rule changed since it made a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChange {
    Same,
    Changed,
    Gone,
}

impl RuleChange {
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

/// The policy of another directory, to be tried out in place of the project's policy; `None` if the directory has no
/// policy. The directory is a project with a policy, or itself a policy directory (with `config.yml` or `rules/`). All
/// parts of the policy apply without trust, because the policy is only tried out.
pub fn policy_of_directory(directory: &Path, project: &Project) -> Option<CompiledPolicy> {
    let policy = policy_directory(directory)?;
    let tiers = PolicyFolders { project: Some(policy), user: project.tiers.user.clone() };
    Some(policy::compile_uncached(&tiers, |_| true))
}

/// The policy directory of the project in `directory`, or else `directory` itself if it is a policy directory; `None`
/// if there is no policy.
fn policy_directory(directory: &Path) -> Option<PolicyFolder> {
    let of_project = PolicyFolder::of_project(directory);
    let itself = PolicyFolder { path: directory.to_owned(), ..PolicyFolder::of_project(directory) };
    [of_project, itself].into_iter().find(PolicyFolder::has_policy)
}

/// The project's policy as its files are now. Stricter versions that running sessions keep are not considered.
pub fn policy_of_project(project: &Project, environment: &Environment) -> CompiledPolicy {
    let trust = Trust::of(&project.root, environment);
    policy::compile_uncached(&project.tiers, |text| trust.accepts(text))
}

fn has_policy(directory: &Path) -> bool {
    PolicyFolder::of_project(directory).has_policy()
}

/// A policy that applies to an event.
struct ApplicablePolicy<'a> {
    root: &'a Path,
    /// The policy's directory relative to the project's root; empty for the project's own policy.
    directory: &'a Path,
    policy: &'a CompiledPolicy,
    /// The workflow, if the policy has the rules of one.
    workflow: Option<&'a Arc<Workflow>>,
}

/// The result of judging one event again.
struct Rejudged {
    verdict: Verdict,
    undecided: Vec<UndecidedRule>,
    holds: Vec<(String, u32)>,
    /// The rules for this kind of event, with their results; empty unless every rule is evaluated.
    considered: Vec<ConsideredRule>,
}

impl<'a> Replay<'a> {
    /// `journal` is a second, read-only connection to the journal whose events are judged again.
    pub fn new(project: &'a Project, policy: CompiledPolicy, journal: Store, environment: &'a Environment) -> Self {
        Self {
            environment,
            root: &project.root,
            policy,
            nested: BTreeMap::new(),
            journal: Arc::new(Mutex::new(journal)),
            sessions: BTreeMap::new(),
            workflows: CurrentWorkflows::of_project(project, environment),
            node_policies: BTreeMap::new(),
            past_workflow: Arc::default(),
        }
    }

    /// Uses the workflows of another directory in place of the project's, if that directory has workflows.
    #[must_use]
    pub fn with_workflows_of(mut self, directory: &Path) -> Self {
        if let Some(directory) = policy_directory(directory) {
            self.workflows = self.workflows.with_workflows_of(directory);
        }
        self
    }

    /// Judges every event in the scope again, oldest first, and calls `report` for each.
    pub fn run(
        &mut self,
        entries: &Store,
        scope: &ReplayScope,
        mut report: impl FnMut(&JournalEntry, &ReplayOutcome),
    ) -> Result<ReplayTally, ReplayError> {
        // Entries before `scope.since` have to be read too, because the state at later entries depends on them.
        let session_filter = JournalFilter { session: scope.session.clone(), ..JournalFilter::default() };
        let filter = self.prepare(entries, session_filter)?;
        let mut tally = ReplayTally::default();
        let mut failed = None;
        entries.for_each_entry(&filter, |entry| {
            if failed.is_some() {
                return;
            }
            self.apply_to_workflow(&entry);
            if scope.session.as_ref().is_some_and(|session| *session != entry.session.id) {
                return;
            }
            let entry = Arc::new(entry);
            let is_wanted = scope.since.is_none_or(|since| entry.time >= since);
            match self.replay_entry(&entry, is_wanted) {
                Ok(Some(outcome)) => {
                    tally.count(&entry, &outcome);
                    report(&entry, &outcome);
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        })?;
        failed.map_or(Ok(tally), Err)
    }

    /// Judges the event of one entry by every rule. The state before this event is derived from earlier entries.
    pub fn explain(&mut self, entries: &Store, wanted: &JournalEntry) -> Result<Vec<ConsideredRule>, ReplayError> {
        let session_filter = JournalFilter {
            agent: Some(wanted.session.agent.clone()),
            session: Some(wanted.session.id.clone()),
            ..JournalFilter::default()
        };
        let filter = self.prepare(entries, session_filter)?;
        let mut explained = Ok(Vec::new());
        entries.for_each_entry(&filter, |entry| {
            if explained.is_err() || entry.id > wanted.id {
                return;
            }
            self.apply_to_workflow(&entry);
            if session_of(&entry) != session_of(wanted) {
                return;
            }
            let is_wanted = entry.id == wanted.id;
            let entry = Arc::new(entry);
            if is_wanted {
                explained = self.consider_entry(&entry);
            } else if let Err(error) = self.replay_entry(&entry, false) {
                explained = Err(error);
            }
        })?;
        explained
    }

    /// Prepares the replay, and returns the filter for the entries that must be read. If a workflow was ever started in
    /// the project, these are all entries, because all sessions share a workflow. Otherwise, they are those that
    /// `session_filter` selects.
    fn prepare(&mut self, entries: &Store, session_filter: JournalFilter) -> Result<JournalFilter, StoreError> {
        if entries.workflow_state()?.first_seen.is_none() {
            return Ok(session_filter);
        }
        self.past_workflow = Arc::new(PastWorkflow::before_first_entry(entries)?);
        Ok(JournalFilter::default())
    }

    /// Applies an entry to the state of the workflow, and loads the policy of the workflow's node if it is not loaded
    /// yet.
    fn apply_to_workflow(&mut self, entry: &JournalEntry) {
        let Self { past_workflow, workflows, node_policies, policy, .. } = self;
        Arc::make_mut(past_workflow).apply_entry(entry);
        if let Some(position) = &past_workflow.position {
            let (name, node) = (&position.workflow_name, position.node());
            node_policies.entry((name.clone(), node.to_owned())).or_insert_with(|| workflows.at(name, node, policy));
        }
    }

    /// The policy of the active workflow at its node; `None` if no workflow is active.
    fn node_policy(&self) -> Option<&NodePolicy> {
        let position = self.past_workflow.position.as_ref()?;
        self.node_policies.get(&(position.workflow_name.clone(), position.node().to_owned()))
    }

    /// How the rule of a finding has changed since the finding was made.
    pub fn rule_change(&self, finding: &Finding) -> Result<RuleChange, RuleSetError> {
        let mut change = RuleChange::Gone;
        let of_workflows = self.node_policies.values().filter_map(|node_policy| match node_policy {
            NodePolicy::Loaded { policy, .. } => Some(&**policy),
            NodePolicy::Gone | NodePolicy::Broken => None,
        });
        for policy in std::iter::once(&self.policy).chain(self.nested.values()).chain(of_workflows) {
            for rule in policy.rules.all()?.iter().filter(|rule| rule.id == finding.rule) {
                let is_same = finding.digest.as_ref().is_none_or(|digest| *digest == rule.digest);
                change = if is_same || change == RuleChange::Same { RuleChange::Same } else { RuleChange::Changed };
            }
        }
        Ok(change)
    }

    /// Judges the event of an entry by every rule. Returns an empty list if the entry is a note.
    fn consider_entry(&mut self, entry: &Arc<JournalEntry>) -> Result<Vec<ConsideredRule>, ReplayError> {
        self.apply_to_session(entry)?;
        let Some(event) = recorded_event(entry) else { return Ok(Vec::new()) };
        let event = Arc::new(event);
        self.load_nested_policies(entry, &event);
        Ok(self.judge_again(entry, &event, true)?.considered)
    }

    /// Judges the event of an entry again. Returns `None` if the entry is a note, or if `is_wanted` is false.
    fn replay_entry(
        &mut self,
        entry: &Arc<JournalEntry>,
        is_wanted: bool,
    ) -> Result<Option<ReplayOutcome>, ReplayError> {
        self.apply_to_session(entry)?;
        let Some(event) = recorded_event(entry) else { return Ok(None) };
        let event = Arc::new(event);
        self.load_nested_policies(entry, &event);
        // A stop must be judged even if its result is not wanted, because stops change the counts of holds.
        if !is_wanted && !event.kind.is_stop() {
            return Ok(None);
        }
        let rejudged = self.judge_again(entry, &event, false)?;
        let outcome = if is_wanted { Some(self.compare(entry, &event, &rejudged)?) } else { None };
        // If the recorded verdict on a stop was not enforced, the stop was not held, so its holds do not count.
        let is_enforced = entry.verdict.is_enforced();
        if let Some(past) = self.sessions.get_mut(&session_of(entry)).filter(|_| is_enforced) {
            past.holds.extend(rejudged.holds);
        }
        Ok(outcome)
    }

    /// Applies the variable changes of an entry to the state of its session.
    fn apply_to_session(&mut self, entry: &JournalEntry) -> Result<(), ReplayError> {
        let session = session_of(entry);
        if !self.sessions.contains_key(&session) {
            let key = SessionKey { agent: &entry.session.agent, session: &entry.session.id };
            let stored = self.journal.lock().map_err(|_| StoreError::Locked)?.session_state(key)?;
            let is_pruned = stored.first_seen.is_some_and(|first| first < entry.time);
            self.sessions.insert(session.clone(), PastSession { is_pruned, ..PastSession::default() });
        }
        if let Some(past) = self.sessions.get_mut(&session) {
            past.apply_entry(entry);
        }
        Ok(())
    }

    /// Loads the nested policies that apply to an event, if they are not loaded yet.
    fn load_nested_policies(&mut self, entry: &Arc<JournalEntry>, event: &Arc<Event>) {
        for root in self.nested_roots(entry, event) {
            self.nested
                .entry(root)
                .or_insert_with_key(|root| Project::nested(root).compiled_policy_read_only(self.environment));
        }
    }

    /// The project's own policy.
    fn project_policy(&self) -> ApplicablePolicy<'_> {
        ApplicablePolicy { root: self.root, directory: Path::new(""), policy: &self.policy, workflow: None }
    }

    fn nested_roots(&self, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> BTreeSet<PathBuf> {
        let mut paths = self.situation(&self.project_policy(), entry, event).involved_paths();
        // At a stop, policies of directories that the event does not name may have been used. The names of the recorded
        // facts contain these directories.
        let recorded = entry.facts.keys().filter_map(|name| directory_of_changes(name));
        paths.extend(recorded.map(|directory| self.root.join(directory).to_string_lossy().into_owned()));
        nested_roots(self.root, &paths, has_policy).into_iter().collect()
    }

    fn applicable_policies(&self, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> Vec<ApplicablePolicy<'_>> {
        let project_policy = self.project_policy();
        let roots = self.nested_roots(entry, event);
        let nested = self.nested.iter().filter(|(root, _)| roots.contains(*root));
        let nested = nested.filter_map(|(root, policy)| {
            let directory = root.strip_prefix(self.root).ok()?;
            Some(ApplicablePolicy { root, directory, policy, workflow: None })
        });
        let of_workflow = self.node_policy().and_then(|node_policy| match node_policy {
            NodePolicy::Loaded { workflow, policy } => {
                Some(ApplicablePolicy { policy, workflow: Some(workflow), ..self.project_policy() })
            }
            NodePolicy::Gone | NodePolicy::Broken => None,
        });
        std::iter::once(project_policy).chain(of_workflow).chain(nested).collect()
    }

    /// Judges an event by all policies that apply.
    fn judge_again(
        &self,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        evaluate_all: bool,
    ) -> Result<Rejudged, ReplayError> {
        let mut rejudged =
            Rejudged { verdict: Verdict::empty(), undecided: Vec::new(), holds: Vec::new(), considered: Vec::new() };
        let mut findings: Vec<Finding> =
            entry.verdict.findings.iter().filter(|finding| finding.is_of_guard()).cloned().collect();
        let mut approved = false;
        for applicable in self.applicable_policies(entry, event) {
            let decision = self.decide(&applicable, entry, event, evaluate_all)?;
            approved |= decision.verdict.approved;
            findings.extend(decision.verdict.findings);
            for (rule, count) in decision.holds {
                rejudged.holds.push((hold_counter(applicable.directory, &rule), count));
            }
            for rule in decision.undecided {
                match entry.verdict.findings.iter().find(|finding| was_made_by(&rule, finding)) {
                    Some(earlier) => findings.push(earlier.clone()),
                    None => rejudged.undecided.push(rule),
                }
            }
            rejudged.considered.extend(decision.considered);
        }
        rejudged.undecided.extend(self.undecided_workflow());
        rejudged.verdict = Verdict::of(findings);
        rejudged.verdict.approved = approved && rejudged.verdict.level == Level::Allow;
        Ok(rejudged)
    }

    /// If the file of the active workflow is broken: the workflow in the form of an undecided rule, because the
    /// workflow's rules are unknown, and any of them could match. `None` if the file is not broken.
    fn undecided_workflow(&self) -> Option<UndecidedRule> {
        let name = &self.past_workflow.position.as_ref()?.workflow_name;
        matches!(self.node_policy()?, NodePolicy::Broken).then(|| UndecidedRule {
            rule: name.clone(),
            digest: String::new(),
            strictest: Level::Block,
            facts: vec!["the workflow's file (broken)".to_owned()],
        })
    }

    /// Judges an event by one policy. A rule that does not judge a masked command and all its possible originals in the
    /// same way becomes undecidable.
    fn decide(
        &self,
        applicable: &ApplicablePolicy<'_>,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        evaluate_all: bool,
    ) -> Result<Decision, RuleSetError> {
        let possible_originals = possible_originals(event);
        // If the command or a path is masked, or the facts about paths were not recorded, every rule is evaluated, even
        // if its conditions do not match the recorded part of the event.
        let evaluate_all = evaluate_all || !possible_originals.is_empty() || missing_paths_fact(entry).is_some();
        let mut decision = self.decide_once(applicable, entry, event, evaluate_all)?;
        for original in possible_originals {
            let other = self.decide_once(applicable, entry, &Arc::new(original), true)?;
            for (considered, other) in decision.considered.iter_mut().zip(&other.considered) {
                if !matches!(considered.outcome, RuleOutcome::Undecidable(_))
                    && are_judged_differently(considered, other)
                {
                    let facts = vec![input_record::masked_part_name(EventPart::Command)];
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
        applicable: &ApplicablePolicy<'_>,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        evaluate_all: bool,
    ) -> Result<Decision, RuleSetError> {
        let situation = Arc::new(self.situation(applicable, entry, event));
        engine::decide(&DecisionRequest { situation: &situation, rules: &applicable.policy.rules, evaluate_all })
    }

    fn situation(&self, applicable: &ApplicablePolicy<'_>, entry: &Arc<JournalEntry>, event: &Arc<Event>) -> Situation {
        let past = self.sessions.get(&session_of(entry)).cloned().unwrap_or_default();
        let mut facts = RecordedFacts::new(entry, event, past, applicable.directory, applicable.policy, &self.journal);
        if let Some(workflow) = applicable.workflow {
            facts = facts.in_workflow(Arc::clone(workflow), Arc::clone(&self.past_workflow));
        }
        let base_directories = BaseDirectories {
            is_subdirectory: applicable.root != self.root,
            ..base_directories(applicable.root, &applicable.policy.config, self.environment)
        };
        Situation::new(Arc::clone(event), base_directories, Arc::new(facts))
    }

    /// Compares the recorded verdict of an entry with the new one.
    fn compare(
        &self,
        entry: &Arc<JournalEntry>,
        event: &Arc<Event>,
        rejudged: &Rejudged,
    ) -> Result<ReplayOutcome, ReplayError> {
        let undecided: Vec<UndecidedRule> =
            rejudged.undecided.iter().filter(|rule| could_change_verdict(rule, &rejudged.verdict)).cloned().collect();
        if !undecided.is_empty() {
            return Ok(ReplayOutcome::Undecidable(undecided));
        }
        let (then, now) = (&entry.verdict, &rejudged.verdict);
        if then.strictness() == now.strictness() {
            return Ok(ReplayOutcome::Same);
        }
        let missing_from = |verdict: &Verdict, finding: &Finding| {
            !verdict.findings.iter().any(|other| other.rule == finding.rule && other.level == finding.level)
        };
        let considered = self.judge_again(entry, event, true)?.considered;
        let lost = then.findings.iter().filter(|finding| missing_from(now, finding)).map(|finding| {
            let rule = considered.iter().find(|considered| considered.rule.id == finding.rule);
            let clauses = rule.into_iter().flat_map(|considered| &considered.clauses);
            Ok(LostFinding {
                finding: finding.clone(),
                rule_change: self.rule_change(finding)?,
                clauses: clauses.filter(|clause| clause.truth != Truth::True).cloned().collect(),
            })
        });
        Ok(ReplayOutcome::Changed(Box::new(VerdictChange {
            verdict: now.clone(),
            lost: lost.collect::<Result<_, RuleSetError>>()?,
            new: now.findings.iter().filter(|finding| missing_from(then, finding)).cloned().collect(),
        })))
    }
}

fn session_of(entry: &JournalEntry) -> (String, String) {
    (entry.session.agent.clone(), entry.session.id.clone())
}

/// True if the same version of the rule made the finding.
fn was_made_by(rule: &UndecidedRule, finding: &Finding) -> bool {
    finding.rule == rule.rule && finding.digest.as_deref() == Some(rule.digest.as_str())
}

/// True if the undecided rule could make the verdict stricter, or approve the call.
fn could_change_verdict(rule: &UndecidedRule, verdict: &Verdict) -> bool {
    let could_approve = rule.strictest == Level::Allow && verdict.level == Level::Allow && !verdict.approved;
    rule.strictest > verdict.level || could_approve
}

/// Possible originals of an event with a masked command; empty if the command is not masked.
fn possible_originals(event: &Event) -> Vec<Event> {
    let Some(call) = &event.tool else { return Vec::new() };
    let Some(ShellText::Command(text)) = &call.shell else { return Vec::new() };
    let with = |text| {
        let mut call = call.clone();
        call.shell = Some(ShellText::Command(text));
        Event { tool: Some(call), ..event.clone() }
    };
    masked_command::possible_originals(text).into_iter().map(with).collect()
}

/// True if the rule judges the two versions of the event differently.
fn are_judged_differently(one: &ConsideredRule, other: &ConsideredRule) -> bool {
    let truth = |considered: &ConsideredRule| {
        considered.clauses.iter().fold(Truth::True, |truth, clause| truth.and(clause.truth))
    };
    one.outcome != other.outcome || truth(one) != truth(other)
}

#[cfg(test)]
mod tests;
