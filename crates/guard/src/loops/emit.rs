//! `emit`: a hat hands the work over. Its gates are checked right away, so that the caller can fix what they refuse.

use std::sync::Arc;

use engine::rules::Rule;
use engine::suggest;
use engine::workflow::Gate;
use serde_json::json;
use store::{NoteKind, StateChanges};
use work::{HandOver, HandOverOutcome, WorkDatabase, WorkError};

use crate::facts::Position;
use crate::session::Stage;
use crate::workflow::{Force, Lack, Moves, Refusal, StepOutcome};

/// The arguments of `emit`.
#[derive(Debug, Clone, Copy)]
pub struct Emission<'a> {
    pub topic: &'a str,
    pub summary: &'a str,
    /// A JSON object.
    pub payload: Option<&'a str>,
}

/// The reason why a hand-over is refused.
#[derive(Debug, thiserror::Error)]
pub enum EmitRefused {
    #[error("the hat `{hat}` does not publish `{topic}`")]
    NotItsTopic { hat: String, topic: String, close: Option<String>, known: Vec<String> },
    #[error("this iteration has handed over `{0}` already; nothing follows it")]
    Already(String),
    #[error("the iteration that this belongs to is over")]
    Over,
    #[error("`{topic}` comes only after {} in a run", missing.iter().map(|topic| format!("`{topic}`")).collect::<Vec<_>>().join(", "))]
    TooEarly { topic: String, missing: Vec<String> },
    #[error("rule `{}` interrupts: {text}", rule.id)]
    Interrupted { rule: Box<Rule>, position: Box<Position>, text: String },
    #[error("what has to hold for `{topic}` does not")]
    Held { topic: String, lacks: Vec<Lack> },
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Refusal(#[from] Refusal),
}

impl EmitRefused {
    /// A summary line, followed by the message of each gate.
    fn at_length(&self) -> String {
        let Self::Held { topic, lacks } = self else { return self.to_string() };
        let gates: Vec<&str> = lacks.iter().map(|lack| lack.gate.as_str()).collect();
        let short = format!("`{topic}` was refused: {}", gates.join(", "));
        let lacks = lacks.iter().map(|Lack { gate, why, .. }| format!("\n- {gate}: {}", why.replace('\n', "\n  ")));
        std::iter::once(short).chain(lacks).collect()
    }

    /// The approval that a person has to give, if only approvals are missing.
    fn waits_for(&self, stage: &Stage) -> Option<String> {
        let Self::Held { topic, lacks } = self else { return None };
        let ways = stage.workflow.nodes.iter().flat_map(|node| &node.transitions).filter(|way| way.to == *topic);
        let required: Vec<_> = ways.flat_map(|way| &way.requires).collect();
        let is_persons = |lack: &&Lack| {
            required.iter().any(|required| required.id == lack.gate && matches!(required.gate, Gate::Approval(_)))
        };
        let persons = lacks.iter().filter(is_persons).count();
        (persons == lacks.len()).then(|| lacks.first().map(|lack| lack.gate.clone())).flatten()
    }
}

impl Moves<'_> {
    /// Hands over, if all gates pass.
    pub fn emit(&self, stage: &Stage, emission: Emission<'_>) -> Result<(), EmitRefused> {
        let result = self.judged_emission(stage, emission);
        let why = match &result {
            Ok(()) => None,
            // Neither an iteration that is over nor an I/O error is a refusal worth recording.
            Err(EmitRefused::Work(_) | EmitRefused::Refusal(_) | EmitRefused::Over) => return result,
            Err(EmitRefused::Held { lacks, .. }) => {
                Some(lacks.iter().map(|lack| lack.gate.as_str()).collect::<Vec<_>>().join(", "))
            }
            Err(refused) => Some(refused.to_string()),
        };
        if let Err(refused) = &result {
            // The next iteration is told about it if this one hands nothing over.
            let (said, waits_for) = (refused.at_length(), refused.waits_for(stage));
            let _ = WorkDatabase::open(&stage.work)
                .map(|work| work.note_refusal(stage.id(), stage.iteration, &said, waits_for.as_deref()));
        }
        let fields = self.fields([
            ("run", json!(stage.id().to_string())),
            ("iteration", json!(stage.iteration)),
            ("hat", json!(stage.hat())),
            ("topic", json!(emission.topic)),
            ("why", json!(why)),
        ]);
        if let Err(EmitRefused::Interrupted { rule, position, .. }) = &result {
            let _ = self.note_held(&fields, position, Some(rule), Vec::new());
            return result;
        }
        let kind = if result.is_err() { NoteKind::Held } else { NoteKind::Emit };
        let (root, cwd) = self.places();
        let none = StateChanges::default();
        // The hand-over is accepted even if the note in the journal fails.
        let _ = self.scene().map(|mut scene| scene.store.note(&self.note(kind, &fields, &none, &root, &cwd)));
        result
    }

    /// Judges the hat's pace rules. They apply when it hands over, as those of a phase apply when it is left.
    fn pace_allows(&self) -> Result<(), EmitRefused> {
        let (scene, active) = self.active()?;
        let active = Arc::new(active);
        let (_, rules) = Self::pace_rules(&active, &Force::None)?;
        match self.interrupted(&rules, &active, &scene)? {
            Some((rule, StepOutcome::Interrupt { text, .. })) => {
                let position = Box::new(active.position.clone());
                Err(EmitRefused::Interrupted { rule: Box::new(rule), position, text })
            }
            _ => Ok(()),
        }
    }

    fn judged_emission(&self, stage: &Stage, emission: Emission<'_>) -> Result<(), EmitRefused> {
        let Emission { topic, summary, payload } = emission;
        // A process left over from an earlier iteration must not hand over in this one.
        let is_in_run = self.environment.get(Stage::RUN).is_some();
        if is_in_run && self.environment.get(Stage::TICKET).as_ref() != Some(&stage.ticket) {
            return Err(EmitRefused::Over);
        }
        let ways = stage.workflow.nodes.iter().flat_map(|node| &node.transitions);
        let Some(way) = ways.into_iter().find(|way| way.to == topic) else {
            let known: Vec<String> = stage.publishes().map(str::to_owned).collect();
            let close = suggest::closest(topic, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(EmitRefused::NotItsTopic {
                hat: stage.hat().to_owned(),
                topic: topic.to_owned(),
                close,
                known,
            });
        };
        let work = WorkDatabase::open(&stage.work)?;
        let (run, iteration) = (stage.id(), stage.iteration);
        if let Some(topic) = work.handed_over(run, iteration)? {
            return Err(EmitRefused::Already(topic));
        }
        let is_last = topic == stage.completion.topic;
        if is_last {
            let accepted = work.accepted_topics(run)?;
            let is_missing = |topic: &&String| !accepted.contains(topic);
            let missing: Vec<String> = stage.completion.after.iter().filter(is_missing).cloned().collect();
            if !missing.is_empty() {
                return Err(EmitRefused::TooEarly { topic: topic.to_owned(), missing });
            }
        }
        self.pace_allows()?;
        if !way.requires.is_empty() {
            let lacks = self.lacks_of_stage(way.requires.iter())?;
            if !lacks.is_empty() {
                return Err(EmitRefused::Held { topic: topic.to_owned(), lacks });
            }
        }
        match work.hand_over(run, iteration, stage.hat(), HandOver { topic, summary, payload, is_last })? {
            HandOverOutcome::Accepted => Ok(()),
            HandOverOutcome::AlreadyHandedOver(topic) => Err(EmitRefused::Already(topic)),
            HandOverOutcome::IterationOver => Err(EmitRefused::Over),
        }
    }
}

#[cfg(test)]
mod tests;
