//! One iteration: starts the hat's agent, waits for its end, and stores the result.

use engine::hats::Hat;
use engine::hats::prompt::Prompt;
use guard::session::HatPhase;
use guard::tree_digest;
use work::{IterationEnd, IterationOutcome, PublishedTopic};

use crate::active_run::ActiveRun;
use crate::agent_process::{AgentStart, FinishedAgent};
use crate::agent_result::{AgentResult, first_line};
use crate::agent_watch::AgentWatch;
use crate::driver::{DriveError, Driver};
use crate::limit::time_left;
use crate::prompt::{gather_context, incoming_events};
use crate::run_event::RunEvent;

impl Driver<'_> {
    pub(crate) fn run_iteration(
        &self,
        published: &PublishedTopic,
        hat: &Hat,
        active: &mut ActiveRun<'_>,
    ) -> Result<AgentResult, DriveError> {
        let (id, work, spent) = (active.run.id, active.work, active.spent);
        let number = work.begin_iteration(id, published, &hat.id, (self.clock)())?;
        let mut hat_phase =
            HatPhase::new(&self.the_loop, hat, (id, number), published.id, self.project, self.environment);
        hat_phase.protect(&active.gate_files);
        self.workflow_commands(&hat_phase).enter_iteration(&mut hat_phase, &published.topic)?;
        (active.report)(RunEvent::Iteration { number, hat: &hat.id, topic: &published.topic, spent });

        let events = incoming_events(published);
        let context =
            gather_context(active.run.objective.as_deref(), &events, &self.the_loop, work, &self.project.root)?;
        let prompt = Prompt { the_loop: &self.the_loop, hat, events: &events, context: &context }.to_string();
        let mut watch = AgentWatch::new(work, active.signals, (id, number), self.clock, active.reported_progress);
        let log = self.log_file(id, number);
        let timeout = time_left(&self.the_loop.limits, &spent);
        let agent_start = AgentStart { hat_phase: &hat_phase, hat, prompt: &prompt, log: &log, timeout };
        let finished = self.run_agent(&agent_start, &mut watch, active.report);
        watch.report_new_progress(|text| self.report_progress(text, active.report));
        active.reported_progress = watch.reported_progress;
        match finished {
            Ok(finished) => self.close_iteration(&hat_phase, hat, &finished, active),
            Err(error) => {
                let end = IterationEnd {
                    outcome: Some(IterationOutcome::Failed),
                    remark: Some(error.why.clone()),
                    ..IterationEnd::default()
                };
                work.end_iteration(id, number, &end, (self.clock)())?;
                Ok(AgentResult::Unusable(error.why))
            }
        }
    }

    /// Decides the agent's result, and stores the end of the iteration.
    fn close_iteration(
        &self,
        hat_phase: &HatPhase,
        hat: &Hat,
        finished: &FinishedAgent,
        active: &mut ActiveRun<'_>,
    ) -> Result<AgentResult, DriveError> {
        let (result, end) = self.conclude_iteration(hat_phase, hat, finished, active.work)?;
        let usage = finished.output.usage;
        let end = IterationEnd {
            tree: tree_digest(&self.project.root).ok().flatten(),
            // The larger number, not the sum: the transcript and the agent's own report may cover the same session.
            tokens: self.workflow_commands(hat_phase).tokens_of_iteration().max(usage.tokens),
            cost_usd: usage.cost_usd,
            ..end
        };
        active.work.end_iteration(active.run.id, hat_phase.iteration, &end, (self.clock)())?;
        if let AgentResult::HandedOver(topic) = &result {
            let is_default = end.outcome == Some(IterationOutcome::DefaultTopic);
            let refusal = end.remark.as_deref().and_then(first_line).filter(|_| is_default);
            let summary = active.work.summary(active.run.id, hat_phase.iteration)?.unwrap_or_default();
            (active.report)(RunEvent::HandedOver { hat: &hat.id, topic, summary: &summary, is_default, refusal });
        }
        Ok(result)
    }
}
