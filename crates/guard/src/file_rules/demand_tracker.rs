//! Tracks the demands of file rules in a session: which were made, and which were answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use engine::Level;
use engine::decide::Demand;
use engine::facts::DemandState;
use engine::file_rules::{FileMatch, UnmetFileRule};
use engine::rules::{AckBy, HoldState};
use store::StateChanges;

use super::command_action::CommandResult;
use super::promise::{matches_rule, promises};
use super::queue::{ActionResult, BaselineName, Queue, QueueEntry, QueueStatus, TimesAsked, trigger_hash};

/// Registers the demands of one policy's file rules at one event, and their answers: in the queue and in the session's
/// variables.
pub struct DemandTracker {
    root: std::path::PathBuf,
    queue: Queue,
    session: String,
    /// The key in [`QueueEntry::asked`]: the session, or a subagent in it.
    asker: String,
    /// The current time.
    timestamp: String,
    /// The rule ids and titles in the promises of the agent's last message.
    promised: Vec<String>,
    /// The error if the queue cannot be written.
    problem: Mutex<Option<String>>,
}

type Variables = serde_json::Map<String, serde_json::Value>;

/// Prefix of the session variables that store each rule's open demand.
const VARIABLE_PREFIX: &str = "_demand:";

impl DemandTracker {
    pub fn new(root: &Path, queue: Queue, session: &str, timestamp: String, message: Option<&str>) -> Self {
        Self {
            root: root.to_owned(),
            queue,
            session: session.to_owned(),
            asker: session.to_owned(),
            timestamp,
            promised: message.map(promises).unwrap_or_default(),
            problem: Mutex::default(),
        }
    }

    /// Prepares for a stop of a subagent. The demands of each subagent are counted separately.
    #[must_use]
    pub fn for_subagent(mut self, id: &str) -> Self {
        self.asker = format!("{}/{id}", self.session);
        self
    }

    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The state of a demand. A new demand is written to the queue. Returns `None` if that fails: a demand that cannot
    /// be counted could hold the agent forever.
    pub fn register(&self, demand: &UnmetFileRule<'_>, baseline: &BaselineName) -> Option<DemandState> {
        let answered = answered_files(&self.queue, &self.root, demand, baseline);
        let open = demand.found.clone().without_answered(|trigger| answered.contains(&trigger.path));
        if !open.is_unmet() {
            return Some(DemandState { answered_files: answered, ..DemandState::default() });
        }
        let hash = trigger_hash(demand.id, open.trigger_files(), &baseline.name);
        let stored = self.queue.find_or_discard(demand.id, &hash);
        let entry = if let Some(entry) = stored.filter(|entry| entry.status.is_open()) {
            entry
        } else {
            let content = tree::combined_fingerprint(&self.root, open.trigger_files());
            let entry = self.new_entry(demand.id, &open, baseline, &hash, content);
            self.put(&entry)?;
            entry
        };
        if demand.ack == AckBy::Agent
            && demand.file.command.is_none()
            && matches_rule(&self.promised, demand.id, demand.title)
        {
            self.mark_answered(demand.id, &open, baseline, entry, answer_result("promised by the agent"))?;
            return Some(DemandState {
                answered_files: demand.found.trigger_files().map(str::to_owned).collect(),
                ..DemandState::default()
            });
        }
        let times_asked = self.times_asked(&entry, &open);
        // A warning stops nothing, so it is given once.
        let was_warned = demand.action == Level::Warn && times_asked > 0;
        let is_given_up = was_warned || demand.hold_state(times_asked) == HoldState::GivenUp;
        Some(DemandState { answered_files: answered, times_asked, is_given_up })
    }

    /// How often this session got the demand since it last made progress on it.
    fn times_asked(&self, entry: &QueueEntry, open: &FileMatch) -> u32 {
        // The files are only read if needed, because there may be very many.
        let asked = entry.asked.get(&self.asker);
        asked.filter(|asked| asked.state == self.progress_digest(open)).map_or(0, |asked| asked.times)
    }

    /// A digest that changes if the session makes progress on the demand.
    fn progress_digest(&self, open: &FileMatch) -> String {
        let content = tree::combined_fingerprint(&self.root, open.trigger_files());
        policy::digest(format!("{content}\0{}", open.expected_files().join("\0")))
    }

    /// Answers a demand for all of its open files, and returns their number.
    pub fn acknowledge(
        &self,
        demand: &UnmetFileRule<'_>,
        baseline_name: &BaselineName,
        author_and_reason: &str,
    ) -> Result<usize, String> {
        let is_file_answered = |path: &str| is_answered(&self.queue, &self.root, demand, path, baseline_name);
        let open = demand.found.clone().without_answered(|trigger| is_file_answered(&trigger.path));
        if !open.is_unmet() {
            return Ok(0);
        }
        let content = tree::combined_fingerprint(&self.root, open.trigger_files());
        let hash = trigger_hash(demand.id, open.trigger_files(), &baseline_name.name);
        let stored = self.queue.find_or_discard(demand.id, &hash);
        let entry = stored.unwrap_or_else(|| self.new_entry(demand.id, &open, baseline_name, &hash, content));
        let result = self.mark_answered(demand.id, &open, baseline_name, entry, answer_result(author_and_reason));
        result.map(|()| open.triggers.len()).ok_or_else(|| self.take_problem().unwrap_or_default())
    }

    /// The earlier result of a demand's command, if nothing has changed since.
    pub fn earlier_result(
        &self,
        demand: &Demand,
        baseline_name: &BaselineName,
        tree_digest: Option<&str>,
    ) -> Option<ActionResult> {
        let entry = self.queue.find_or_discard(&demand.rule.id, &demand_hash(demand, baseline_name))?;
        let is_failed = entry.status == QueueStatus::Failed;
        entry
            .action_result
            .filter(|result| is_failed && tree_digest.is_some() && result.tree_digest.as_deref() == tree_digest)
    }

    /// Records the result of a demand's command.
    pub fn record_command_result(
        &self,
        demand: &Demand,
        baseline_name: &BaselineName,
        outcome: &CommandResult,
        tree_digest: Option<String>,
    ) {
        let Demand { rule, found, .. } = demand;
        let content = tree::combined_fingerprint(&self.root, found.trigger_files());
        let hash = demand_hash(demand, baseline_name);
        let entry = self.queue.find_or_discard(&rule.id, &hash);
        let mut entry = entry.unwrap_or_else(|| self.new_entry(&rule.id, found, baseline_name, &hash, String::new()));
        // The command itself may have changed the contents.
        entry.content = content;
        if outcome.is_passed {
            let _ = self.mark_answered(
                &rule.id,
                found,
                baseline_name,
                entry,
                ActionResult { tree_digest, ..outcome.result.clone() },
            );
        } else {
            entry.status = QueueStatus::Failed;
            entry.evaluated_at = Some(self.timestamp.clone());
            entry.action_result = Some(ActionResult { tree_digest, ..outcome.result.clone() });
            let _ = self.put(&entry);
        }
    }

    /// Stores each rule's open demand in the session's variables. `variables` has their stored values, `judged_rules` the
    /// ids of the rules that were judged.
    pub fn store_open_demands(
        &self,
        demands: &[(Demand, BaselineName)],
        variables: &Variables,
        judged_rules: &[String],
        changes: &mut StateChanges,
    ) {
        for (demand, baseline_name) in demands {
            changes.set(self.demand_variable(&demand.rule.id), demand_hash(demand, baseline_name));
        }
        for (name, rule, _) in self.closed_demands(demands, variables, judged_rules) {
            if !demands.iter().any(|(demand, _)| demand.rule.id == rule) {
                changes.unset(name);
            }
        }
    }

    /// Updates the queue after a judgement: counts the demands that were shown, and closes the demands that no longer
    /// exist.
    pub fn write_queue(
        &self,
        demands: &[(Demand, BaselineName)],
        variables: &Variables,
        judged_rules: &[String],
        is_enforced: bool,
    ) {
        for (demand, baseline_name) in demands.iter().filter(|_| is_enforced) {
            let Some(mut entry) = self.queue.find_or_discard(&demand.rule.id, &demand_hash(demand, baseline_name))
            else {
                continue;
            };
            entry.shown = entry.shown.saturating_add(1);
            let asked =
                TimesAsked { times: demand.times_asked.saturating_add(1), state: self.progress_digest(&demand.found) };
            entry.asked.insert(self.asker.clone(), asked);
            let is_for_agent = !demand.rule.runs_command();
            if demand.release_notice.is_some() && is_for_agent {
                entry.status = QueueStatus::Failed;
                entry.evaluated_at = Some(self.timestamp.clone());
                entry.action_result = Some(answer_result("held as often as `max_holds` allows, and not answered"));
            } else if is_for_agent {
                // A demand that one session gave up may be open in another, or become open again.
                entry.status = QueueStatus::Queued;
            }
            // An error is reported by `take_problem`.
            let _ = self.put(&entry);
        }
        for (_, rule, hash) in self.closed_demands(demands, variables, judged_rules) {
            if let Some(mut entry) = self.queue.find_or_discard(rule, hash).filter(|entry| entry.status.is_open()) {
                entry.status = QueueStatus::Skipped;
                entry.evaluated_at = Some(self.timestamp.clone());
                let _ = self.put(&entry);
            }
        }
    }

    /// The variable of a rule's open demand. It contains the policy's root, because two policies may have a rule with
    /// the same id.
    fn demand_variable(&self, rule: &str) -> String {
        format!("{}{rule}", self.variable_prefix())
    }

    fn variable_prefix(&self) -> String {
        format!("{VARIABLE_PREFIX}{}:", policy::digest(self.root.as_os_str().as_encoded_bytes()))
    }

    /// Demands that are stored as open and are not open now, each with its variable, rule id and hash.
    fn closed_demands<'b>(
        &self,
        demands: &'b [(Demand, BaselineName)],
        variables: &'b Variables,
        judged_rules: &'b [String],
    ) -> impl Iterator<Item = (&'b str, &'b str, &'b str)> {
        let prefix = self.variable_prefix();
        variables.iter().filter_map(move |(name, value)| {
            let (rule, hash) = name.strip_prefix(&prefix).zip(value.as_str())?;
            let is_open = |(demand, baseline_name): &(Demand, BaselineName)| {
                demand.rule.id == rule && demand_hash(demand, baseline_name) == hash
            };
            let is_closed = judged_rules.iter().any(|id| id == rule) && !demands.iter().any(is_open);
            is_closed.then_some((name.as_str(), rule, hash))
        })
    }

    /// The error since the last call, if writing to the queue failed.
    pub fn take_problem(&self) -> Option<String> {
        self.problem.lock().ok()?.take()
    }

    fn new_entry(
        &self,
        rule: &str,
        open: &FileMatch,
        baseline_name: &BaselineName,
        hash: &str,
        content: String,
    ) -> QueueEntry {
        QueueEntry {
            rule_name: rule.to_owned(),
            trigger_hash: hash.to_owned(),
            status: QueueStatus::Queued,
            created_at: self.timestamp.clone(),
            evaluated_at: None,
            baseline_ref: baseline_name.name.clone(),
            trigger_files: open.trigger_files().map(str::to_owned).collect(),
            expected_files: open.expected_files().into_iter().map(str::to_owned).collect(),
            matched_files: open.matched.clone(),
            action_result: None,
            session: self.session.clone(),
            shown: 0,
            asked: BTreeMap::new(),
            content,
        }
    }

    /// Marks the demand and each of its files as answered.
    fn mark_answered(
        &self,
        rule: &str,
        open: &FileMatch,
        baseline_name: &BaselineName,
        mut entry: QueueEntry,
        result: ActionResult,
    ) -> Option<()> {
        entry.status = QueueStatus::Passed;
        entry.evaluated_at = Some(self.timestamp.clone());
        entry.action_result = Some(result);
        self.put(&entry)?;
        for path in open.trigger_files() {
            let content = tree::fingerprint(&self.root.join(path));
            self.record_error(self.queue.record_answer(rule, path, baseline_name, &content))?;
        }
        Some(())
    }

    fn put(&self, entry: &QueueEntry) -> Option<()> {
        self.record_error(self.queue.put(entry))
    }

    /// Keeps the error for [`Self::take_problem`].
    fn record_error(&self, result: std::io::Result<()>) -> Option<()> {
        result
            .map_err(|error| {
                if let Ok(mut problem) = self.problem.lock() {
                    *problem = Some(error.to_string());
                }
            })
            .ok()
    }
}

/// The files of a demand for which an answer was given. If the record of an answer is damaged, the answer does not
/// count.
pub fn answered_files(
    queue: &Queue,
    root: &Path,
    demand: &UnmetFileRule<'_>,
    baseline_name: &BaselineName,
) -> BTreeSet<String> {
    let UnmetFileRule { id, found, .. } = *demand;
    let is_file_answered = |path: &&str| is_answered(queue, root, demand, path, baseline_name);
    let answered: BTreeSet<String> = found.trigger_files().filter(is_file_answered).map(str::to_owned).collect();
    let hash = trigger_hash(id, found.trigger_files(), &baseline_name.name);
    if !answered.is_empty() && queue.discard_damaged_answer(id, &hash) {
        queue.remove_answers(id, found.trigger_files(), baseline_name);
        return BTreeSet::new();
    }
    answered
}

/// True if an answer was given for the file. If the rule requires it, the file must also have the same contents as
/// then.
fn is_answered(
    queue: &Queue,
    root: &Path,
    demand: &UnmetFileRule<'_>,
    path: &str,
    baseline_name: &BaselineName,
) -> bool {
    let survives_edits = demand.file.answers_survive_edits();
    let mut fingerprints = queue.answer_fingerprints(demand.id, path, baseline_name).into_iter();
    fingerprints.any(|content| survives_edits || content == tree::fingerprint(&root.join(path)))
}

fn demand_hash(demand: &Demand, baseline_name: &BaselineName) -> String {
    trigger_hash(&demand.rule.id, demand.found.trigger_files(), &baseline_name.name)
}

/// The open demands of a session, from its variables.
pub fn open_queue_entries(queue: &Queue, variables: &Variables) -> Vec<QueueEntry> {
    let hashes = variables.iter().filter_map(|(name, hash)| {
        let (_, rule) = name.strip_prefix(VARIABLE_PREFIX)?.split_once(':')?;
        Some((rule, hash.as_str()?))
    });
    let entries = hashes.filter_map(|(rule, hash)| queue.find_or_discard(rule, hash));
    entries.filter(|entry| entry.status.is_open()).collect()
}

fn answer_result(output: &str) -> ActionResult {
    ActionResult {
        kind: "prompt".to_owned(),
        command: None,
        exit_code: None,
        output: Some(output.to_owned()),
        stdout: None,
        stderr: None,
        tree_digest: None,
    }
}

#[cfg(test)]
mod tests;
