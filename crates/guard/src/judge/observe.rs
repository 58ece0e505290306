//! Observers, run in their order before the rules of the same event: each sees what those before it set.
//!
//! An observer that fails changes nothing, and is told of. Programs from outside run once an event, however often it
//! is judged; those of a project that nobody trusts are not among the observers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Situation;
use engine::observers::{Answer, Changes, External, Observer, ObserverKind};

use policy::Config;

use super::external_behavior;
use crate::Environment;
use crate::facts::LiveFacts;
use crate::project::Project;

/// How long all programs of one event together may take: a part of the deadline, and never longer than this.
const LONGEST: Duration = Duration::from_secs(1);
const PART_OF_DEADLINE: f64 = 0.4;

/// The programs of one event: what each of them answered, and how much time is left for others.
pub struct Programs<'a> {
    environment: &'a Environment,
    /// What they see of the environment besides.
    variables: &'a [String],
    time_left: RefCell<Duration>,
    answers: RefCell<BTreeMap<String, Result<Answer, String>>>,
}

impl<'a> Programs<'a> {
    pub fn new(environment: &'a Environment, config: &'a Config) -> Self {
        let time_left = config.deadline.mul_f64(PART_OF_DEADLINE).min(LONGEST);
        Self {
            environment,
            variables: &config.command_env,
            time_left: RefCell::new(time_left),
            answers: RefCell::default(),
        }
    }

    fn answer(
        &self,
        observer: &Observer,
        external: &External,
        project: &Project,
        situation: &Situation,
    ) -> Result<Answer, String> {
        // A workflow may have one of the same name.
        let key = format!("{}\n{}\n{:?}", project.root.display(), observer.name, external.exec);
        if let Some(answer) = self.answers.borrow().get(&key) {
            return answer.clone();
        }
        let question = External::question(&situation.event, situation.facts.as_ref());
        let question = question.map_err(|missing| missing.to_string())?.to_string();
        let started = Instant::now();
        let limit = *self.time_left.borrow();
        let answer =
            external_behavior::run(&external.exec, question, &project.root, self.environment, self.variables, limit);
        *self.time_left.borrow_mut() = limit.saturating_sub(started.elapsed());
        self.answers.borrow_mut().insert(key, answer.clone());
        answer
    }
}

/// Runs a project's observers on an event and lays what they change over its facts. What is given back are the notices.
/// `programs`: none where nothing may be started, because the event is only being explained.
pub fn observe(
    observers: &[Observer],
    situation: &Arc<Situation>,
    facts: &LiveFacts,
    project: &Project,
    programs: Option<&Programs>,
) -> Vec<String> {
    // Without a state there is nothing to change, and rules that ask for it are skipped.
    if observers.is_empty() || !facts.has_state() {
        return Vec::new();
    }
    facts.observing(true);
    let mut notices = Vec::new();
    for observer in observers {
        match changes(observer, situation, project, programs) {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => facts.overlay(&changes),
            Err(why) => notices.push(format!("observer `{}` changed nothing: {why}", observer.name)),
        }
    }
    facts.observing(false);
    notices
}

fn changes(
    observer: &Observer,
    situation: &Arc<Situation>,
    project: &Project,
    programs: Option<&Programs>,
) -> Result<Changes, String> {
    match &observer.kind {
        ObserverKind::Declared(declared) => declared.observe(situation),
        ObserverKind::Behavior(behavior) => behavior.observe(situation).map_err(|missing| missing.to_string()),
        ObserverKind::External(external) => match programs {
            Some(programs) => {
                let answer = programs.answer(observer, external, project, situation)?;
                external.changes(&observer.name, answer, situation.facts.as_ref())
            }
            None => Ok(Changes::new()),
        },
    }
}
