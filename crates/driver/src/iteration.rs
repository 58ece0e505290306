//! One iteration: a hat is put on, its agent works, and what it handed over is what it came to.

use std::sync::Arc;

use engine::hats::prompt::Prompt;
use engine::hats::{Hat, Loop};
use guard::loops::Emission;
use guard::session::Stage;
use guard::workflow::Moves;
use runner::AttendedEnd;
use work::{IterationEnd, IterationOutcome, Published, Run, RunUsage};

use crate::attention::{Attention, Cut};
use crate::drive::{Driver, NotDriven, Sitting};
use crate::known::{incoming, known, remark_of_nothing};
use crate::limit::{shown, time_left};
use crate::news::News;
use crate::said::Said;
use crate::trouble;
use crate::turn::{Turn, TurnEnd};

/// So many lines are looked at for what is the matter with an agent.
const LAST_LINES: usize = 3;
/// So much is quoted of what an agent said, in characters.
const QUOTED: usize = 200;

/// What an iteration came to, for the run.
#[derive(Debug)]
pub enum Came {
    /// A topic was accepted.
    To(String),
    /// The hat publishes nothing, and its agent ended well.
    ToItsEnd,
    ToNothing,
    /// The agent failed.
    ToFailure(String),
    /// The agent cannot work at all, or cannot be started.
    ToTrouble(String),
    /// The time of the run is over.
    TimeOver,
    Cut(Cut),
}

impl Driver<'_> {
    pub(crate) fn iteration(
        &self,
        run: &Run,
        published: &Published,
        hat: &Hat,
        spent: RunUsage,
        sitting: &mut Sitting<'_>,
    ) -> Result<Came, NotDriven> {
        let work = sitting.work;
        let number = work.begin_iteration(run.id, published, &hat.id, (self.clock)())?;
        let mut stage = Stage::new(&self.the_loop, hat, (run.id, number), self.project, self.environment);
        stage.protect(&sitting.gate_files);
        let moves = self.moves(&stage);
        moves.enter_iteration(&mut stage, &published.topic)?;
        (sitting.tell)(News::Iteration { number, hat: &hat.id, topic: &published.topic, spent });

        let events = incoming(published);
        let known = known(run.objective.as_deref(), &events, &self.the_loop, work, &self.project.root)?;
        let prompt = Prompt { the_loop: &self.the_loop, hat, events: &events, known: &known }.to_string();
        let mut attention = Attention::new(work, sitting.signals, run.id, number, self.clock, sitting.told);
        let log = self.log(run, number);
        let turn =
            Turn { stage: &stage, hat, prompt: &prompt, log: &log, time: time_left(&self.the_loop.limits, &spent) };
        let worked = self.take_turn(&turn, &mut attention, sitting.tell);
        attention.pass_on(|text| self.progress(text, sitting.tell));
        sitting.told = attention.told;
        let (end, said) = match worked {
            Ok(worked) => worked,
            Err(not_started) => {
                let end = IterationEnd {
                    outcome: Some(IterationOutcome::Failed),
                    remark: Some(not_started.why.clone()),
                    ..IterationEnd::default()
                };
                work.end_iteration(run.id, number, &end, (self.clock)())?;
                return Ok(Came::ToTrouble(not_started.why));
            }
        };
        self.settle(run, &stage, hat, end, &said, sitting)
    }

    /// Writes down what the iteration came to.
    fn settle(
        &self,
        run: &Run,
        stage: &Stage,
        hat: &Hat,
        (end, cut): TurnEnd,
        said: &Said,
        sitting: &mut Sitting<'_>,
    ) -> Result<Came, NotDriven> {
        let (work, number) = (sitting.work, stage.iteration);
        let moves = self.moves(stage);
        let mut handed_over = work.handed_over(run.id, number)?;
        let refused = if handed_over.is_none() { work.refusal(run.id, number)? } else { None };
        // A script that ends with a refused `emit` has its exit code: what was refused says more than the code.
        let failure = failure(end, &self.the_loop).map(|failure| match &refused {
            Some(refused) => format!("{failure}; its last attempt: {refused}"),
            None => failure,
        });
        let mut outcome = handed_over.as_ref().map(|_| IterationOutcome::HandedOver);
        let mut remark = failure.as_ref().map(|failure| format!("its agent {failure}"));
        let mut for_the_next = None;
        let mut came = None;
        if handed_over.is_none() && failure.is_none() && hat.publishes.is_empty() {
            outcome = Some(IterationOutcome::Done);
            came = Some(Came::ToItsEnd);
        } else if handed_over.is_none() && failure.is_none() {
            if work.waits_for(run.id, number)?.is_none() {
                self.publish_default(stage, hat, refused.as_deref());
            }
            handed_over = work.handed_over(run.id, number)?;
            if handed_over.is_some() {
                outcome = Some(IterationOutcome::Default);
                remark = refused;
            } else {
                outcome = Some(IterationOutcome::Nothing);
                // What the agent tried says more than what was tried in its place.
                remark = refused.map_or_else(|| work.refusal(run.id, number), |refused| Ok(Some(refused)))?;
                for_the_next = Some(remark_of_nothing(hat, remark.as_deref()));
                came = Some(Came::ToNothing);
            }
        } else if handed_over.is_none() {
            let (failed, why) = match (end, cut) {
                (AttendedEnd::Told, Some(cut)) => (IterationOutcome::CutOff, Came::Cut(cut)),
                (AttendedEnd::TimeOver, _) => (IterationOutcome::CutOff, Came::TimeOver),
                (AttendedEnd::Exited(_), _) => {
                    (IterationOutcome::Failed, self.failed(hat, failure.unwrap_or_default(), said))
                }
                _ => (IterationOutcome::Failed, Came::ToFailure(failure.unwrap_or_default())),
            };
            outcome = Some(failed);
            came = Some(why);
        } else if let (AttendedEnd::Told, Some(Cut::Interrupted)) = (end, cut) {
            came = Some(Came::Cut(Cut::Interrupted));
        }
        let refused = remark.as_deref().and_then(first_line).map(str::to_owned);
        let end = IterationEnd {
            outcome,
            remark,
            for_the_next,
            tree: self.tree(),
            // Both may tell of the same session.
            tokens: moves.tokens_of_iteration().max(said.usage.tokens),
            cost_usd: said.usage.cost_usd,
        };
        work.end_iteration(run.id, number, &end, (self.clock)())?;
        Ok(match (came, handed_over) {
            (Some(came), _) => came,
            (None, Some(topic)) => {
                let is_default = outcome == Some(IterationOutcome::Default);
                let refused = refused.as_deref().filter(|_| is_default);
                (sitting.tell)(News::HandedOver { hat: &hat.id, topic: &topic, is_default, refused });
                Came::To(topic)
            }
            (None, None) => Came::ToNothing,
        })
    }

    /// Publishes what the hat says in the place of an agent that published nothing, if it is accepted. `refused`: what was said
    /// to the agent's own attempt. (Where a person is asked for something, a default would hide that.)
    fn publish_default(&self, stage: &Stage, hat: &Hat, refused: Option<&str>) {
        let Some(topic) = hat.default_publishes.as_deref() else { return };
        let summary = match refused.and_then(first_line) {
            // The same hat would begin again without a word of what was refused.
            Some(_) if self.the_loop.taker(topic).is_some_and(|taker| taker.id == hat.id) => return,
            Some(refused) => format!("(the hat `{}` ended without handing anything over; {refused})", hat.id),
            None => format!("(the hat `{}` ended without a word of its own)", hat.id),
        };
        // Why it is not is kept with the iteration.
        let _ = self.moves(stage).emit(stage, Emission { topic, summary: &summary, payload: None });
    }

    fn failed(&self, hat: &Hat, failure: String, said: &Said) -> Came {
        let agent = hat.agent.as_ref().unwrap_or(&self.the_loop.agent);
        let end = said.end();
        // What it says last; before that, it may have been at work on just that.
        let lines: Vec<&str> = end.lines().filter(|line| !line.trim().is_empty()).collect();
        let end = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n");
        match trouble::recognised(&end) {
            Some(trouble) => {
                let said = end.lines().rev().find(|line| trouble::recognised(line).is_some()).unwrap_or_default();
                let said: String = said.trim().chars().take(QUOTED).collect();
                Came::ToTrouble(format!("{agent} cannot go on: {trouble} ({said})"))
            }
            None => Came::ToFailure(failure),
        }
    }

    pub(crate) fn moves(&self, stage: &Stage) -> Moves<'_> {
        Moves {
            project: self.project,
            environment: self.environment,
            policy: Arc::clone(&self.policy),
            now: (self.clock)(),
            session: None,
            stage: Some(Arc::new(stage.clone())),
            is_agents: false,
            outside: self.outside.clone(),
        }
    }
}

/// A refusal in one line.
pub(crate) fn first_line(refused: &str) -> Option<&str> {
    refused.lines().next()
}

/// How an agent ended, in words, where it did not end well.
fn failure(end: AttendedEnd, the_loop: &Loop) -> Option<String> {
    match end {
        AttendedEnd::Exited(0) => None,
        AttendedEnd::Exited(code) => Some(format!("ended with exit code {code}")),
        AttendedEnd::Signal(signal) => Some(format!("was ended by signal {signal}")),
        AttendedEnd::Silent => {
            let idle = the_loop.limits.idle.map(shown).unwrap_or_default();
            Some(format!("neither printed anything nor called Linchpin for {idle}, and was ended"))
        }
        AttendedEnd::TimeOver | AttendedEnd::Told => Some("was ended".to_owned()),
    }
}
