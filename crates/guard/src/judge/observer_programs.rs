//! Runs external observer programs. Each program runs at most once for an event, even if the event is judged several
//! times.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::Situation;
use engine::observers::{BehaviorAnswer, ExternalBehavior, Observer};
use policy::Config;

use super::external_behavior;
use crate::Environment;
use crate::project::Project;

/// The maximum time for all programs of one event together. If [`DEADLINE_FRACTION`] of the deadline is less, that is
/// the limit.
const MAX_TIME: Duration = Duration::from_secs(1);
const DEADLINE_FRACTION: f64 = 0.4;

/// The observer programs of one event, with their answers so far and the time that is left.
pub struct ObserverPrograms<'a> {
    environment: &'a Environment,
    /// The names of additional environment variables that the programs inherit.
    extra_variables: &'a [String],
    time_left: RefCell<Duration>,
    answers: RefCell<BTreeMap<String, Result<BehaviorAnswer, String>>>,
}

impl<'a> ObserverPrograms<'a> {
    pub fn new(environment: &'a Environment, config: &'a Config) -> Self {
        let time_left = config.deadline.mul_f64(DEADLINE_FRACTION).min(MAX_TIME);
        Self {
            environment,
            extra_variables: &config.commands.env,
            time_left: RefCell::new(time_left),
            answers: RefCell::default(),
        }
    }

    /// The program's answer for this event.
    pub fn answer(
        &self,
        observer: &Observer,
        external: &ExternalBehavior,
        project: &Project,
        situation: &Situation,
    ) -> Result<BehaviorAnswer, String> {
        // The project and its workflow may have different observers with the same name.
        let key = format!("{}\n{}\n{:?}", project.root.display(), observer.name, external.exec);
        if let Some(answer) = self.answers.borrow().get(&key) {
            return answer.clone();
        }
        let request = ExternalBehavior::input(&situation.event, situation.facts.as_ref());
        let request = request.map_err(|missing| missing.to_string())?.to_string();
        let started = Instant::now();
        let timeout = *self.time_left.borrow();
        let answer = external_behavior::run(
            &external.exec,
            request,
            &project.root,
            self.environment,
            self.extra_variables,
            timeout,
        );
        *self.time_left.borrow_mut() = timeout.saturating_sub(started.elapsed());
        self.answers.borrow_mut().insert(key, answer.clone());
        answer
    }
}
