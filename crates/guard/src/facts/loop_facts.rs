//! Facts about the run of a loop.

use std::path::PathBuf;
use std::sync::Arc;

use engine::facts::LoopField;
use serde_json::{Value, json};
use work::{RunId, WorkDatabase};

use crate::session::HatPhase;

/// Facts about a run. The database of tasks and runs is opened only if a rule asks for a fact from it, because at most
/// events no rule does.
pub struct LoopFacts {
    pub hat_phase: Option<Arc<HatPhase>>,
    pub work_path: PathBuf,
}

impl LoopFacts {
    /// The value of a field of `loop` in expressions. If the session belongs to no run, `active` is false, and all
    /// other fields are null.
    pub fn field(&self, field: LoopField) -> Result<Value, work::WorkError> {
        let Some(hat_phase) = &self.hat_phase else {
            return Ok(if field == LoopField::Active { json!(false) } else { Value::Null });
        };
        let run = hat_phase.run_id();
        let work = || WorkDatabase::open(&self.work_path);
        Ok(match field {
            LoopField::Active => json!(true),
            LoopField::Hat => json!(hat_phase.hat()),
            LoopField::Iteration => json!(hat_phase.iteration),
            LoopField::Topics => json!(work()?.accepted_topics(run)?),
            LoopField::Elapsed => json!(work()?.usage(run)?.time / 1000),
            LoopField::Tokens => json!(work()?.usage(run)?.tokens),
            LoopField::HandedOver => json!(work()?.handed_over_topic(run, hat_phase.iteration)?),
            LoopField::WaitsFor => json!(work()?.awaited_gate(run, hat_phase.iteration)?),
            LoopField::Unfinished => {
                let unfinished = work()?.tasks().started_by(&hat_phase.starter())?;
                unfinished.iter().map(|task| json!(task.id.to_string())).collect()
            }
        })
    }

    /// True if a person asked a session or run to stop. `session` is the id of the session or run; `None` means the
    /// session `current` and its run. After the session's next prompt, a request to stop the session no longer counts;
    /// a request to stop a run still counts. `last_prompt` returns the time of a session's last prompt.
    pub fn is_stop_requested(
        &self,
        session: Option<&str>,
        current: &str,
        last_prompt: impl FnOnce(&str) -> Option<i64>,
    ) -> Result<bool, work::WorkError> {
        let Some(work) = WorkDatabase::open_existing(&self.work_path)? else { return Ok(false) };
        let target = session.unwrap_or(current);
        let run = match (session, &self.hat_phase) {
            (None, Some(hat_phase)) => Some(hat_phase.run_id()),
            (Some(name), _) => name.parse::<RunId>().ok().filter(|_| name.starts_with('r')),
            (None, None) => None,
        };
        let is_run_stopping = run.map(|run| work.run_stop_request(run)).transpose()?.flatten().is_some();
        let request = work.session_stop_request(target)?;
        Ok(is_run_stopping || request.is_some_and(|request| last_prompt(target).is_none_or(|prompt| prompt < request)))
    }
}
