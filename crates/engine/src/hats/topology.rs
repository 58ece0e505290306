//! Static checks of a loop: whether hats hand over to each other correctly, whether the run can complete, and whether
//! the run could continue forever.
//!
//! A run is a walk through the graph of hats: a topic starts each iteration, and the hat hands over by publishing one
//! of its topics.

use std::collections::{BTreeSet, VecDeque};

use super::{AgentChoice, Hat, Loop, TopicPattern};
use crate::suggest;

/// An error because of which no run of the loop can start.
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
    #[error("{cycle} without end: the loop has no limit of iterations or time, and no `max_activations`{unmeasured}", cycle = describe_cycle(hats), unmeasured = describe_unmeasured(unmeasured))]
    Unbounded {
        hats: Vec<String>,
        /// The limits that are set but have no effect, because the agents of these hats do not report the values that
        /// are limited.
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
        /// A published topic with a similar name.
        suggestion: Option<String>,
    },
    #[error("`requires` of `{topic}` is never checked: no hat publishes `{topic}`, only Linchpin itself")]
    UncheckedGate {
        topic: String,
        /// A topic on which the gate would be checked: a topic that is published by the hat that `topic` triggers.
        instead: Option<String>,
    },
}

/// A likely mistake in a loop. Runs of the loop can start in spite of this mistake.
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
        /// A published topic with a similar name.
        suggestion: Option<String>,
    },
    /// `limit` is the limit's key under `limits`.
    #[error("the limit `{limit}` counts nothing for {}: the agent is not known to report it", quoted(hats))]
    UnmeasuredLimit { limit: &'static str, hats: Vec<String> },
}

impl Loop {
    pub fn errors(&self) -> Vec<LoopError> {
        let mut errors: Vec<LoopError> = self.shared_triggers().collect();
        if self.hat_for(&self.start).is_none() {
            errors.push(LoopError::NoStart { topic: self.start.clone() });
            return errors;
        }
        let unknown = self.unknown_topics();
        // A typo under `after` also makes the completion unreachable, but only the typo is reported.
        if !unknown.iter().any(|error| matches!(error, LoopError::UnknownTopic { is_after: true, .. })) {
            errors.extend(self.completion_error());
        }
        errors.extend(unknown);
        errors.extend(self.unchecked_gates());
        errors.extend(self.unbounded_cycle());
        errors
    }

    /// The topics that a run can accept: the topics that start or resume the run, and the topics that hats publish.
    pub fn published(&self) -> BTreeSet<&str> {
        let by_hats = self.hats.iter().flat_map(|hat| &hat.publishes).map(String::as_str);
        by_hats.chain([self.start.as_str(), Self::TASK_RESUME]).collect()
    }

    /// Errors for topics under `topics` and `completion.after` that neither a hat nor Linchpin publishes. A gate on
    /// such a topic would never be checked.
    fn unknown_topics(&self) -> Vec<LoopError> {
        let published = self.published();
        let error = |topic: &String, is_after: bool| {
            let is_unknown = !published.contains(topic.as_str()) && *topic != self.completion.topic;
            is_unknown.then(|| LoopError::UnknownTopic {
                topic: topic.clone(),
                is_after,
                suggestion: self.suggest_topic(topic),
            })
        };
        let declared = self.topics.keys().filter_map(|topic| error(topic, false));
        declared.chain(self.completion.after.iter().filter_map(|topic| error(topic, true))).collect()
    }

    /// Errors for gates on topics that only start or resume a run. Gates are checked only when a hat hands over.
    fn unchecked_gates(&self) -> impl Iterator<Item = LoopError> {
        let from_linchpin = [self.start.as_str(), Self::TASK_RESUME];
        let is_from_hat = |topic: &str| self.hats.iter().any(|hat| hat.publishes(topic));
        let gated = self.topics.iter().filter(|(_, topic)| !topic.requires.is_empty()).map(|(name, _)| name);
        let unchecked = gated.filter(move |name| from_linchpin.contains(&name.as_str()) && !is_from_hat(name));
        unchecked.map(|topic| {
            let instead = self.hat_for(topic).and_then(|hat| hat.publishes.first()).cloned();
            LoopError::UncheckedGate { topic: topic.clone(), instead }
        })
    }

    /// Suggests a published topic with a similar name.
    pub fn suggest_topic(&self, topic: &str) -> Option<String> {
        suggest::closest(topic, self.published()).map(str::to_owned)
    }

    pub fn warnings(&self) -> Vec<LoopWarning> {
        let (reachable, published) = (self.reachable_hats(), self.published());
        let unreachable = self.hats.iter().filter(|hat| !reachable.contains(hat.id.as_str()));
        let mut warnings: Vec<LoopWarning> =
            unreachable.map(|hat| LoopWarning::UnreachableHat { hat: hat.id.clone() }).collect();
        for hat in &self.hats {
            let unhandled =
                hat.publishes.iter().filter(|topic| !self.is_completion(topic) && self.hat_for(topic).is_none());
            warnings.extend(
                unhandled.map(|topic| LoopWarning::UnhandledTopic { hat: hat.id.clone(), topic: topic.clone() }),
            );
            if !reachable.contains(hat.id.as_str()) {
                continue;
            }
            if hat.publishes.is_empty() {
                warnings.push(LoopWarning::PublishesNothing { hat: hat.id.clone() });
            }
            let triggers = hat.triggers.iter().filter_map(TopicPattern::as_exact);
            let unpublished = triggers.filter(|topic| !published.contains(topic.as_str()));
            warnings.extend(unpublished.map(|topic| {
                let suggestion = self.suggest_topic(&topic);
                LoopWarning::Unpublished { hat: hat.id.clone(), topic, suggestion }
            }));
        }
        warnings.extend(self.unmeasured_limits());
        warnings
    }

    /// Warnings for limits that count nothing for some hats, because their agents do not report tokens or costs.
    fn unmeasured_limits(&self) -> impl Iterator<Item = LoopWarning> {
        let hats_without = |is_reported: fn(&AgentChoice) -> bool| -> Vec<String> {
            let unmeasured = self.hats.iter().filter(|hat| !is_reported(self.agent_of(hat)));
            unmeasured.map(|hat| hat.id.clone()).collect()
        };
        let tokens = self.limits.tokens.map(|_| ("tokens", hats_without(AgentChoice::reports_tokens)));
        let cost = self.limits.cost_usd.map(|_| ("cost_usd", hats_without(AgentChoice::reports_cost)));
        let limits = tokens.into_iter().chain(cost).filter(|(_, hats)| !hats.is_empty());
        limits.map(|(limit, hats)| LoopWarning::UnmeasuredLimit { limit, hats })
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

    /// The hats to which a hat can hand over.
    fn next_hats<'a>(&'a self, hat: &'a Hat) -> impl Iterator<Item = &'a Hat> {
        hat.publishes.iter().filter(|topic| !self.is_completion(topic)).filter_map(|topic| self.hat_for(topic))
    }

    /// The ids of all hats that a run can reach.
    fn reachable_hats(&self) -> BTreeSet<&str> {
        let mut reachable = BTreeSet::new();
        let mut unvisited: Vec<&Hat> =
            [&self.start, Self::TASK_RESUME].into_iter().filter_map(|topic| self.hat_for(topic)).collect();
        while let Some(hat) = unvisited.pop() {
            if reachable.insert(hat.id.as_str()) {
                unvisited.extend(self.next_hats(hat));
            }
        }
        reachable
    }

    /// Returns an error if no walk accepts all topics of `completion.after` before the completion topic is published.
    fn completion_error(&self) -> Option<LoopError> {
        let topic = &self.completion.topic;
        let after: Vec<&str> = self.completion.after.iter().map(String::as_str).take(Self::MAX_AFTER).collect();
        let all = (0..after.len()).fold(0, |accepted, at| accepted | 1 << at);
        let first = self.hat_for(&self.start)?;
        // The state of a walk is the current hat and a bit mask of the topics of `after` that were accepted.
        let accept = |accepted: u32, topic: &str| {
            let positions = after.iter().enumerate().filter(|(_, name)| **name == topic);
            positions.fold(accepted, |accepted, (at, _)| accepted | 1 << at)
        };
        let first_state = (first.id.as_str(), accept(0, &self.start));
        let mut visited = BTreeSet::from([first_state]);
        let mut unvisited = VecDeque::from([first_state]);
        let mut is_published = false;
        let mut most_accepted = 0_u32;
        while let Some((id, accepted)) = unvisited.pop_front() {
            let Some(hat) = self.hat(id) else { continue };
            if accepted.count_ones() > most_accepted.count_ones() {
                most_accepted = accepted;
            }
            if hat.publishes(topic) {
                is_published = true;
                if accept(accepted, topic) == all {
                    return None;
                }
            }
            for next in hat.publishes.iter().filter(|next| !self.is_completion(next)) {
                let Some(next_hat) = self.hat_for(next) else { continue };
                let state = (next_hat.id.as_str(), accept(accepted, next));
                if visited.insert(state) {
                    unvisited.push_back(state);
                }
            }
        }
        if !is_published {
            return Some(LoopError::CompletionUnreachable { topic: topic.clone(), start: self.start.clone() });
        }
        let missing = after.iter().enumerate().filter(|(at, _)| most_accepted & (1 << at) == 0);
        Some(LoopError::UnreachableAfter {
            topic: topic.clone(),
            missing: missing.map(|(_, name)| (*name).to_owned()).collect(),
        })
    }

    /// Returns an error if no limit ends a run that repeats a cycle of hats.
    fn unbounded_cycle(&self) -> Option<LoopError> {
        if self.limits.iterations.is_some() || self.limits.runtime.is_some() {
            return None;
        }
        let reachable = self.reachable_hats();
        let is_unbounded = |hat: &&Hat| reachable.contains(hat.id.as_str()) && !self.is_bounded(hat);
        let hats = self.hats.iter().filter(is_unbounded).find_map(|hat| self.cycle_through(hat))?;
        let unmeasured =
            [self.limits.tokens.is_some().then_some("tokens"), self.limits.cost_usd.is_some().then_some("cost_usd")];
        Some(LoopError::Unbounded { hats, unmeasured: unmeasured.into_iter().flatten().collect() })
    }

    /// True if a limit on activations, tokens or cost ends a run that repeats this hat. A limit on tokens or cost ends
    /// the run only if the hat's agent reports tokens or cost.
    fn is_bounded(&self, hat: &Hat) -> bool {
        let agent = self.agent_of(hat);
        hat.max_activations.is_some()
            || (self.limits.tokens.is_some() && agent.reports_tokens())
            || (self.limits.cost_usd.is_some() && agent.reports_cost())
    }

    /// The shortest cycle that leads from a hat back to this hat and contains only hats without a limit; `None` if
    /// there is no such cycle.
    fn cycle_through(&self, start: &Hat) -> Option<Vec<String>> {
        let mut visited = BTreeSet::new();
        let mut paths = VecDeque::from([vec![start]]);
        while let Some(path) = paths.pop_front() {
            let last = path.last()?;
            for next in self.next_hats(last).filter(|hat| !self.is_bounded(hat)) {
                if next.id == start.id {
                    return Some(path.iter().map(|hat| hat.id.clone()).collect());
                }
                if visited.insert(next.id.as_str()) {
                    paths.push_back(path.iter().copied().chain([next]).collect());
                }
            }
        }
        None
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn describe_cycle(hats: &[String]) -> String {
    match hats {
        [hat] => format!("`{hat}` hands over to itself"),
        hats => format!("{} hand over to each other", quoted(hats)),
    }
}

fn describe_unmeasured(limits: &[&str]) -> String {
    let names: Vec<String> = limits.iter().map(|limit| format!("`{limit}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", and the agents do not report what {} would count", names.join(" and ")),
    }
}
