//! Tracks which demands of file rules were made in a session and which of them were answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use engine::Level;
use engine::decide::Demand;
use engine::facts::DemandState;
use engine::file_rules::{FileMatch, PossibleDemand};
use engine::rules::{AckBy, HoldState};
use store::StateChanges;
use tree::Fingerprints;

use super::baseline_id::BaselineId;
use super::command_action::CommandResult;
use super::open_demand::OpenDemand;
use super::promise::{matches_rule, promises};
use super::queue::{ActionResult, Queue, QueueEntry, QueueStatus, TimesAsked, demand_hash};

/// Tracks the demands of one policy's file rules at one event. The demands and their answers are stored in the queue;
/// the session's variables store which demands are open.
pub struct DemandTracker {
    root: PathBuf,
    queue: Queue,
    /// The fingerprints of changed files. Many rules may ask for the same files.
    fingerprints: Fingerprints,
    session: String,
    /// The key in [`QueueEntry::asked`]: the session, or a subagent of the session.
    asker: String,
    /// The current time.
    timestamp: String,
    /// The rule ids and titles in the promises of the agent's last message.
    promised: Vec<String>,
    /// The last error of a write to the queue.
    problem: Mutex<Option<String>>,
}

type Variables = serde_json::Map<String, serde_json::Value>;

/// Prefix of the session variables that store the hash of each rule's open demand.
const VARIABLE_PREFIX: &str = "_demand:";

impl DemandTracker {
    pub fn new(root: &Path, queue: Queue, session: &str, timestamp: String, message: Option<&str>) -> Self {
        Self {
            root: root.to_owned(),
            queue,
            fingerprints: Fingerprints::of_files_in(root),
            session: session.to_owned(),
            asker: session.to_owned(),
            timestamp,
            promised: message.map(promises).unwrap_or_default(),
            problem: Mutex::default(),
        }
    }

    /// The tracker for a stop of a subagent. How often a subagent was asked is counted separately.
    #[must_use]
    pub fn for_subagent(mut self, id: &str) -> Self {
        self.asker = format!("{}/{id}", self.session);
        self
    }

    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The state of a demand. A new demand is written to the queue. Returns `None` if the write fails: the number of
    /// times that the agent was asked could then not be stored, and the demand could hold the agent forever.
    pub fn register(&self, demand: &PossibleDemand<'_>, baseline_id: &BaselineId) -> Option<DemandState> {
        let answered = answered_files(&self.queue, &self.fingerprints, demand, baseline_id);
        let open = demand.file_match.clone().without_answered(|trigger| answered.contains(&trigger.path));
        if !open.is_unmet() {
            return Some(DemandState { answered_files: answered, ..DemandState::default() });
        }
        let hash = demand_hash(demand.id, open.trigger_files(), &baseline_id.id);
        let stored = self.queue.find_or_discard(demand.id, &hash);
        let entry = if let Some(entry) = stored.filter(|entry| entry.status.is_unanswered()) {
            entry
        } else {
            let content_digest = self.fingerprints.combined(open.trigger_files());
            let entry = self.new_entry(demand.id, &open, baseline_id, &hash, content_digest);
            self.put(&entry)?;
            entry
        };
        if demand.ack == AckBy::Agent
            && demand.file_rule.command.is_none()
            && matches_rule(&self.promised, demand.id, demand.title)
        {
            self.mark_answered(demand.id, &open, baseline_id, entry, answer_result("promised by the agent"))?;
            return Some(DemandState {
                answered_files: demand.file_match.trigger_files().map(str::to_owned).collect(),
                ..DemandState::default()
            });
        }
        let times_asked = self.times_asked(&entry, &open);
        // A warning holds nothing, so it is given once.
        let was_warned = demand.action == Level::Warn && times_asked > 0;
        let is_given_up = was_warned || demand.hold_state(times_asked) == HoldState::AboveMaximum;
        Some(DemandState { answered_files: answered, times_asked, is_given_up })
    }

    /// How often this session was asked to meet the demand since it last made progress on the demand.
    fn times_asked(&self, entry: &QueueEntry, open: &FileMatch) -> u32 {
        // The digest is computed only if the session was asked before, because there may be very many files.
        let asked = entry.asked.get(&self.asker);
        asked.filter(|asked| asked.progress_digest == self.progress_digest(open)).map_or(0, |asked| asked.times)
    }

    /// A digest that changes if the session makes progress on the demand.
    fn progress_digest(&self, open: &FileMatch) -> String {
        let content_digest = self.fingerprints.combined(open.trigger_files());
        policy::digest(format!("{content_digest}\0{}", open.missing_files().join("\0")))
    }

    /// Answers a demand for all of its files that have no answer yet, and returns the number of these files.
    pub fn acknowledge(
        &self,
        demand: &PossibleDemand<'_>,
        baseline_id: &BaselineId,
        author_and_reason: &str,
    ) -> Result<usize, String> {
        let is_file_answered = |path: &str| is_answered(&self.queue, &self.fingerprints, demand, path, baseline_id);
        let open = demand.file_match.clone().without_answered(|trigger| is_file_answered(&trigger.path));
        if !open.is_unmet() {
            return Ok(0);
        }
        let content_digest = self.fingerprints.combined(open.trigger_files());
        let hash = demand_hash(demand.id, open.trigger_files(), &baseline_id.id);
        let stored = self.queue.find_or_discard(demand.id, &hash);
        let entry = stored.unwrap_or_else(|| self.new_entry(demand.id, &open, baseline_id, &hash, content_digest));
        let result = self.mark_answered(demand.id, &open, baseline_id, entry, answer_result(author_and_reason));
        result.map(|()| open.triggers.len()).ok_or_else(|| self.take_problem().unwrap_or_default())
    }

    /// The stored result of a demand's command that failed, if no uncommitted file has changed since.
    pub fn earlier_failure(&self, open: &OpenDemand, uncommitted_digest: Option<&str>) -> Option<ActionResult> {
        let entry = self.queue.find_or_discard(open.rule_id(), &open.hash)?;
        let is_failed = entry.status == QueueStatus::Failed;
        let is_same_tree = |result: &ActionResult| {
            uncommitted_digest.is_some() && result.uncommitted_digest.as_deref() == uncommitted_digest
        };
        entry.action_result.filter(|result| is_failed && is_same_tree(result))
    }

    /// Records the result of a demand's command.
    pub fn record_command_result(
        &self,
        open: &OpenDemand,
        outcome: &CommandResult,
        uncommitted_digest: Option<String>,
    ) {
        // The command may have changed any file.
        self.fingerprints.forget();
        let OpenDemand { demand: Demand { rule, file_match, .. }, baseline_id, hash } = open;
        let content_digest = self.fingerprints.combined(file_match.trigger_files());
        let entry = self.queue.find_or_discard(&rule.id, hash);
        let mut entry = entry.unwrap_or_else(|| self.new_entry(&rule.id, file_match, baseline_id, hash, String::new()));
        // The command itself may have changed the contents.
        entry.content_digest = content_digest;
        if outcome.is_passed {
            let _ = self.mark_answered(
                &rule.id,
                file_match,
                baseline_id,
                entry,
                ActionResult { uncommitted_digest, ..outcome.result.clone() },
            );
        } else {
            entry.status = QueueStatus::Failed;
            entry.evaluated_at = Some(self.timestamp.clone());
            entry.action_result = Some(ActionResult { uncommitted_digest, ..outcome.result.clone() });
            let _ = self.put(&entry);
        }
    }

    /// Adds the hash of each rule's open demand to the changes of the session's variables. `variables` has the stored
    /// variables, `judged_rule_ids` the ids of the rules that were judged.
    pub fn remember_open_hashes(
        &self,
        demands: &[OpenDemand],
        variables: &Variables,
        judged_rule_ids: &[String],
        changes: &mut StateChanges,
    ) {
        for open in demands {
            changes.set(self.demand_variable(open.rule_id()), open.hash.clone());
        }
        for (name, rule, _) in self.closed_demands(demands, variables, judged_rule_ids) {
            if !demands.iter().any(|open| open.rule_id() == rule) {
                changes.unset(name);
            }
        }
    }

    /// Updates the queue after a judgement. If the verdict is enforced, counts that these demands were shown to the
    /// agent. In any case, closes the demands that are no longer made.
    pub fn count_and_close(
        &self,
        demands: &[OpenDemand],
        variables: &Variables,
        judged_rule_ids: &[String],
        is_enforced: bool,
    ) {
        for OpenDemand { demand, hash, .. } in demands.iter().filter(|_| is_enforced) {
            let Some(mut entry) = self.queue.find_or_discard(&demand.rule.id, hash) else { continue };
            entry.shown = entry.shown.saturating_add(1);
            let asked = TimesAsked {
                times: demand.times_asked.saturating_add(1),
                progress_digest: self.progress_digest(&demand.file_match),
            };
            entry.asked.insert(self.asker.clone(), asked);
            let is_for_agent = !demand.rule.runs_command();
            if demand.release_notice.is_some() && is_for_agent {
                entry.status = QueueStatus::Failed;
                entry.evaluated_at = Some(self.timestamp.clone());
                entry.action_result = Some(answer_result("held as often as `max_holds` allows, and not answered"));
            } else if is_for_agent {
                // The demand may have been given up in another session, or earlier in this one.
                entry.status = QueueStatus::Queued;
            }
            // `take_problem` returns the error.
            let _ = self.put(&entry);
        }
        for (_, rule, hash) in self.closed_demands(demands, variables, judged_rule_ids) {
            if let Some(mut entry) = self.queue.find_or_discard(rule, hash).filter(|entry| entry.status.is_unanswered())
            {
                entry.status = QueueStatus::Skipped;
                entry.evaluated_at = Some(self.timestamp.clone());
                let _ = self.put(&entry);
            }
        }
    }

    /// The name of the variable for a rule's open demand. It contains a digest of the policy's root, because two
    /// policies may have a rule with the same id.
    fn demand_variable(&self, rule: &str) -> String {
        format!("{}{rule}", self.variable_prefix())
    }

    fn variable_prefix(&self) -> String {
        format!("{VARIABLE_PREFIX}{}:", policy::digest(self.root.as_os_str().as_encoded_bytes()))
    }

    /// The stored open demands that their rules no longer make, although these rules were judged. Each comes with its
    /// variable, rule id and hash.
    fn closed_demands<'b>(
        &self,
        demands: &'b [OpenDemand],
        variables: &'b Variables,
        judged_rule_ids: &'b [String],
    ) -> impl Iterator<Item = (&'b str, &'b str, &'b str)> {
        let prefix = self.variable_prefix();
        variables.iter().filter_map(move |(name, value)| {
            let (rule, hash) = name.strip_prefix(&prefix).zip(value.as_str())?;
            let is_open = |open: &OpenDemand| open.rule_id() == rule && open.hash == hash;
            let is_closed = judged_rule_ids.iter().any(|id| id == rule) && !demands.iter().any(is_open);
            is_closed.then_some((name.as_str(), rule, hash))
        })
    }

    /// Returns the last error of a write to the queue since the last call.
    pub fn take_problem(&self) -> Option<String> {
        self.problem.lock().ok()?.take()
    }

    fn new_entry(
        &self,
        rule: &str,
        open: &FileMatch,
        baseline_id: &BaselineId,
        hash: &str,
        content_digest: String,
    ) -> QueueEntry {
        QueueEntry {
            rule_name: rule.to_owned(),
            demand_hash: hash.to_owned(),
            status: QueueStatus::Queued,
            created_at: self.timestamp.clone(),
            evaluated_at: None,
            baseline_ref: baseline_id.id.clone(),
            trigger_files: open.trigger_files().map(str::to_owned).collect(),
            expected_files: open.missing_files().into_iter().map(str::to_owned).collect(),
            matched_files: open.satisfied_by.clone(),
            action_result: None,
            session: self.session.clone(),
            shown: 0,
            asked: BTreeMap::new(),
            content_digest,
        }
    }

    /// Writes to the queue that the demand was answered, for each of its files.
    fn mark_answered(
        &self,
        rule: &str,
        open: &FileMatch,
        baseline_id: &BaselineId,
        mut entry: QueueEntry,
        result: ActionResult,
    ) -> Option<()> {
        entry.status = QueueStatus::Passed;
        entry.evaluated_at = Some(self.timestamp.clone());
        entry.action_result = Some(result);
        self.put(&entry)?;
        for path in open.trigger_files() {
            let fingerprint = self.fingerprints.of(path);
            self.keep_error(self.queue.record_answer(rule, path, baseline_id, &fingerprint))?;
        }
        Some(())
    }

    fn put(&self, entry: &QueueEntry) -> Option<()> {
        self.keep_error(self.queue.put(entry))
    }

    /// Keeps the error of a write for [`Self::take_problem`].
    fn keep_error(&self, result: std::io::Result<()>) -> Option<()> {
        result
            .map_err(|error| {
                if let Ok(mut problem) = self.problem.lock() {
                    *problem = Some(error.to_string());
                }
            })
            .ok()
    }
}

/// Those trigger files of a demand that have an answer. If the queue's file of the answered demand is damaged, the
/// demand's answers do not count, and they are removed.
pub fn answered_files(
    queue: &Queue,
    fingerprints: &Fingerprints,
    demand: &PossibleDemand<'_>,
    baseline_id: &BaselineId,
) -> BTreeSet<String> {
    let PossibleDemand { id, file_match, .. } = *demand;
    let is_file_answered = |path: &&str| is_answered(queue, fingerprints, demand, path, baseline_id);
    let answered: BTreeSet<String> = file_match.trigger_files().filter(is_file_answered).map(str::to_owned).collect();
    // Most demands have no answer, and the hash takes long to compute if there are very many files.
    if answered.is_empty() {
        return answered;
    }
    let hash = demand_hash(id, file_match.trigger_files(), &baseline_id.id);
    if queue.discard_answer_if_damaged(id, &hash) {
        queue.remove_answers(id, file_match.trigger_files(), baseline_id);
        return BTreeSet::new();
    }
    answered
}

/// True if an answer was given for the file. For a rule that repeats its demand after each edit, the answer counts only
/// while the file has the contents for which it was given.
fn is_answered(
    queue: &Queue,
    fingerprints: &Fingerprints,
    demand: &PossibleDemand<'_>,
    path: &str,
    baseline_id: &BaselineId,
) -> bool {
    let survives_edits = demand.file_rule.answers_survive_edits();
    let mut answered = queue.answer_fingerprints(demand.id, path, baseline_id).into_iter();
    answered.any(|fingerprint| survives_edits || fingerprint == fingerprints.of(path))
}

/// The unanswered demands whose hashes are stored in the variables of a session.
pub fn open_queue_entries(queue: &Queue, variables: &Variables) -> Vec<QueueEntry> {
    let hashes = variables.iter().filter_map(|(name, hash)| {
        let (_, rule) = name.strip_prefix(VARIABLE_PREFIX)?.split_once(':')?;
        Some((rule, hash.as_str()?))
    });
    let entries = hashes.filter_map(|(rule, hash)| queue.find_or_discard(rule, hash));
    entries.filter(|entry| entry.status.is_unanswered()).collect()
}

/// The result of a demand that was answered or given up without a command.
fn answer_result(message: &str) -> ActionResult {
    ActionResult {
        kind: "prompt".to_owned(),
        command: None,
        exit_code: None,
        message: Some(message.to_owned()),
        stdout: None,
        stderr: None,
        uncommitted_digest: None,
    }
}

#[cfg(test)]
mod tests;
