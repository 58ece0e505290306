//! Static checks of a loop: whether hats hand over to each other correctly, whether the run can complete, and whether
//! it could run forever.
//!
//! A run is a walk through the graph of hats: each iteration takes one topic, and its hat hands over by publishing one
//! of its topics.

use std::collections::{BTreeSet, VecDeque};

use super::{Hat, Loop, TopicPattern};
use crate::suggest;

/// An error that prevents any run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopError {
    #[error("no hat is triggered by `{topic}`, the first topic of a run")]
    NoStart { topic: String },
    #[error("hats `{one}` and `{other}` are both triggered by `{example}`")]
    SharedTrigger { one: String, other: String, example: String },
    #[error("the loop cannot complete: no path from `{start}` publishes `{topic}`")]
    CompletionUnreachable { topic: String, start: String },
    #[error("the loop cannot complete: no path accepts {missing} before `{topic}`", missing = quoted(missing))]
    UnreachableAfter { topic: String, missing: Vec<String> },
    #[error("{cycle} without end: the loop has no limit of iterations or time, and no `max_activations`{unmeasured}", cycle = cycle(hats), unmeasured = not_measured(unmeasured))]
    Unbounded {
        hats: Vec<String>,
        /// Limits that are set, but whose values the agents of these hats do not report.
        unmeasured: Vec<&'static str>,
    },
    #[error(
        "nothing publishes `{topic}`: it is not in the `publishes` of any hat, and it is not the first topic of a \
         run"
    )]
    UnknownTopic {
        topic: String,
        /// True if the topic is under `completion.after`, false if it is under `topics`.
        is_after: bool,
        /// The topic that was probably meant.
        close: Option<String>,
    },
    #[error("`requires` of `{topic}` is never checked: no hat publishes `{topic}`, only Linchpin itself")]
    UncheckedGate {
        topic: String,
        /// A topic that the triggered hat publishes.
        instead: Option<String>,
    },
}

/// A likely mistake that does not prevent a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopWarning {
    #[error("hat `{hat}` publishes `{topic}`, which triggers no hat, so the run would end there")]
    UnhandledTopic { hat: String, topic: String },
    #[error("hat `{hat}` is unreachable")]
    UnreachableHat { hat: String },
    #[error("hat `{hat}` publishes nothing, so a run that reaches it ends unfinished")]
    PublishesNothing { hat: String },
    #[error("hat `{hat}` is triggered by `{topic}`, which nothing publishes")]
    Unpublished {
        hat: String,
        topic: String,
        /// The topic that was probably meant.
        close: Option<String>,
    },
}

impl Loop {
    pub fn errors(&self) -> Vec<LoopError> {
        let mut errors: Vec<LoopError> = self.shared_triggers().collect();
        if self.hat_for(&self.start).is_none() {
            errors.push(LoopError::NoStart { topic: self.start.clone() });
            return errors;
        }
        let unknown = self.unknown_topics();
        // A typo under `after` also makes completion unreachable; only the typo is reported.
        if !unknown.iter().any(|error| matches!(error, LoopError::UnknownTopic { is_after: true, .. })) {
            errors.extend(self.completion_error());
        }
        errors.extend(unknown);
        errors.extend(self.unchecked_gates());
        errors.extend(self.unbounded_cycle());
        errors
    }

    /// All topics that a run may accept: those that start or resume it, and those that hats publish.
    pub fn published(&self) -> BTreeSet<&str> {
        let by_hats = self.hats.iter().flat_map(|hat| &hat.publishes).map(String::as_str);
        by_hats.chain([self.start.as_str(), Self::TASK_RESUME]).collect()
    }

    /// Topics in the file that nothing publishes, so that a gate on one would never be checked.
    fn unknown_topics(&self) -> Vec<LoopError> {
        let published = self.published();
        let error = |topic: &String, is_after: bool| {
            let is_unknown = !published.contains(topic.as_str()) && *topic != self.completion.topic;
            is_unknown.then(|| LoopError::UnknownTopic {
                topic: topic.clone(),
                is_after,
                close: self.suggest_topic(topic),
            })
        };
        let declared = self.topics.keys().filter_map(|topic| error(topic, false));
        declared.chain(self.completion.after.iter().filter_map(|topic| error(topic, true))).collect()
    }

    /// Gates on topics that start or resume a run. Gates are checked only when a hat hands over.
    fn unchecked_gates(&self) -> impl Iterator<Item = LoopError> {
        let own = [self.start.as_str(), Self::TASK_RESUME];
        let is_of_a_hat = |topic: &str| self.hats.iter().any(|hat| hat.publishes(topic));
        let required = self.topics.iter().filter(|(_, topic)| !topic.requires.is_empty()).map(|(name, _)| name);
        let never = required.filter(move |name| own.contains(&name.as_str()) && !is_of_a_hat(name));
        never.map(|topic| {
            let instead = self.hat_for(topic).and_then(|hat| hat.publishes.first()).cloned();
            LoopError::UncheckedGate { topic: topic.clone(), instead }
        })
    }

    /// The published topic that was probably meant.
    pub fn suggest_topic(&self, topic: &str) -> Option<String> {
        suggest::closest(topic, self.published()).map(str::to_owned)
    }

    pub fn warnings(&self) -> Vec<LoopWarning> {
        let (reached, published) = (self.reached(), self.published());
        let unreachable = self.hats.iter().filter(|hat| !reached.contains(hat.id.as_str()));
        let mut warnings: Vec<LoopWarning> =
            unreachable.map(|hat| LoopWarning::UnreachableHat { hat: hat.id.clone() }).collect();
        for hat in &self.hats {
            let unhandled =
                hat.publishes.iter().filter(|topic| !self.is_completion(topic) && self.hat_for(topic).is_none());
            warnings.extend(
                unhandled.map(|topic| LoopWarning::UnhandledTopic { hat: hat.id.clone(), topic: topic.clone() }),
            );
            if !reached.contains(hat.id.as_str()) {
                continue;
            }
            if hat.publishes.is_empty() {
                warnings.push(LoopWarning::PublishesNothing { hat: hat.id.clone() });
            }
            let taken = hat.triggers.iter().filter_map(TopicPattern::as_exact);
            let unpublished = taken.filter(|topic| !published.contains(topic.as_str()));
            warnings.extend(unpublished.map(|topic| {
                let close = self.suggest_topic(&topic);
                LoopWarning::Unpublished { hat: hat.id.clone(), topic, close }
            }));
        }
        warnings
    }

    fn is_completion(&self, topic: &str) -> bool {
        topic == self.completion.topic
    }

    fn shared_triggers(&self) -> impl Iterator<Item = LoopError> {
        let pairs = self.hats.iter().enumerate().flat_map(|(at, one)| {
            let others = self.hats.get(at + 1..).unwrap_or_default();
            others.iter().map(move |other| (one, other))
        });
        pairs.filter_map(|(one, other)| {
            let both = one.triggers.iter().flat_map(|ours| other.triggers.iter().map(move |theirs| (ours, theirs)));
            let example = both.into_iter().find_map(|(ours, theirs)| ours.common_topic(theirs))?;
            Some(LoopError::SharedTrigger { one: one.id.clone(), other: other.id.clone(), example })
        })
    }

    fn followers<'a>(&'a self, hat: &'a Hat) -> impl Iterator<Item = &'a Hat> {
        hat.publishes.iter().filter(|topic| !self.is_completion(topic)).filter_map(|topic| self.hat_for(topic))
    }

    /// Ids of all hats that a run can reach.
    fn reached(&self) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Hat> =
            [&self.start, Self::TASK_RESUME].into_iter().filter_map(|topic| self.hat_for(topic)).collect();
        while let Some(hat) = open.pop() {
            if reached.insert(hat.id.as_str()) {
                open.extend(self.followers(hat));
            }
        }
        reached
    }

    /// The error if no walk accepts all topics of `completion.after` and then completes.
    fn completion_error(&self) -> Option<LoopError> {
        let topic = &self.completion.topic;
        let after: Vec<&str> = self.completion.after.iter().map(String::as_str).take(Self::MAX_AFTER).collect();
        let all = (0..after.len()).fold(0, |marks, at| marks | 1 << at);
        let first = self.hat_for(&self.start)?;
        // States of a walk: the current hat, and a bit mask of the accepted topics of `after`.
        let marked = |marks: u32, topic: &str| {
            let positions = after.iter().enumerate().filter(|(_, name)| **name == topic);
            positions.fold(marks, |marks, (at, _)| marks | 1 << at)
        };
        let begin = (first.id.as_str(), marked(0, &self.start));
        let mut known = BTreeSet::from([begin]);
        let mut open = VecDeque::from([begin]);
        let mut is_published = false;
        let mut best = 0_u32;
        while let Some((id, marks)) = open.pop_front() {
            let Some(hat) = self.hat(id) else { continue };
            if marks.count_ones() > best.count_ones() {
                best = marks;
            }
            if hat.publishes(topic) {
                is_published = true;
                if marked(marks, topic) == all {
                    return None;
                }
            }
            for next in hat.publishes.iter().filter(|next| !self.is_completion(next)) {
                let Some(next_hat) = self.hat_for(next) else { continue };
                let state = (next_hat.id.as_str(), marked(marks, next));
                if known.insert(state) {
                    open.push_back(state);
                }
            }
        }
        if !is_published {
            return Some(LoopError::CompletionUnreachable { topic: topic.clone(), start: self.start.clone() });
        }
        let missing = after.iter().enumerate().filter(|(at, _)| best & (1 << at) == 0);
        Some(LoopError::UnreachableAfter {
            topic: topic.clone(),
            missing: missing.map(|(_, name)| (*name).to_owned()).collect(),
        })
    }

    /// The error if a cycle of hats has no limit.
    fn unbounded_cycle(&self) -> Option<LoopError> {
        if self.limits.iterations.is_some() || self.limits.runtime.is_some() {
            return None;
        }
        let reached = self.reached();
        let endless = |hat: &&Hat| reached.contains(hat.id.as_str()) && !self.is_bounded(hat);
        let hats = self.hats.iter().filter(endless).find_map(|hat| self.cycle_through(hat))?;
        let unmeasured =
            [self.limits.tokens.is_some().then_some("tokens"), self.limits.cost_usd.is_some().then_some("cost_usd")];
        Some(LoopError::Unbounded { hats, unmeasured: unmeasured.into_iter().flatten().collect() })
    }

    /// True if a limit ends a run that repeats this hat. A limit counts only if the hat's agent reports the limited
    /// value.
    fn is_bounded(&self, hat: &Hat) -> bool {
        let agent = hat.agent.as_ref().unwrap_or(&self.agent);
        hat.max_activations.is_some()
            || (self.limits.tokens.is_some() && agent.reports_tokens())
            || (self.limits.cost_usd.is_some() && agent.reports_cost())
    }

    /// The shortest cycle from a hat back to itself through unlimited hats.
    fn cycle_through(&self, start: &Hat) -> Option<Vec<String>> {
        let mut known = BTreeSet::new();
        let mut open = VecDeque::from([vec![start]]);
        while let Some(way) = open.pop_front() {
            let last = way.last()?;
            for next in self.followers(last).filter(|hat| !self.is_bounded(hat)) {
                if next.id == start.id {
                    return Some(way.iter().map(|hat| hat.id.clone()).collect());
                }
                if known.insert(next.id.as_str()) {
                    open.push_back(way.iter().copied().chain([next]).collect());
                }
            }
        }
        None
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn cycle(hats: &[String]) -> String {
    match hats {
        [hat] => format!("`{hat}` hands over to itself"),
        hats => format!("{} hand over to each other", quoted(hats)),
    }
}

fn not_measured(limits: &[&str]) -> String {
    let names: Vec<String> = limits.iter().map(|limit| format!("`{limit}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", and the agents do not report what {} would count", names.join(" and ")),
    }
}
