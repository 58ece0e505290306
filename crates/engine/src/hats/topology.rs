//! What the shape of a loop says before anything runs: who hands over to whom, whether the end can be reached, and whether
//! the work could go round for ever.
//!
//! A run is a walk: an iteration takes one topic, and the hat that is on hands over by one of those that it publishes.

use std::collections::{BTreeSet, VecDeque};

use super::{Hat, Loop, TopicPattern};
use crate::suggest;

/// Nothing can run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopError {
    #[error("no hat takes the topic `{topic}`, which opens a run")]
    NoStart { topic: String },
    #[error("hats `{one}` and `{other}` both take `{example}`")]
    SharedTrigger { one: String, other: String, example: String },
    #[error("`{topic}` is never published on a way from `{start}`, so no run can be completed")]
    CompletionUnreachable { topic: String, start: String },
    #[error("no run accepts {missing} before `{topic}`, so none can be completed", missing = quoted(missing))]
    NeverAfter { topic: String, missing: Vec<String> },
    #[error("{round} without an end: there is no limit of iterations or time, and no `max_activations`{unmeasured}", round = round(hats), unmeasured = not_measured(unmeasured))]
    Unbounded {
        hats: Vec<String>,
        /// Limits that are set, but that no agent of these hats reports anything for.
        unmeasured: Vec<&'static str>,
    },
    #[error("nothing publishes `{topic}`: no hat does, and no run begins with it")]
    UnknownTopic {
        topic: String,
        /// Whether it stands under `completion.after`; otherwise under `topics`.
        is_after: bool,
        /// The topic that was probably meant.
        close: Option<String>,
    },
    #[error("`requires` of `{topic}` is never asked: no hat publishes `{topic}`, Linchpin itself does")]
    NeverAsked {
        topic: String,
        /// What the hat publishes that takes the topic.
        instead: Option<String>,
    },
}

/// It can run, and is hardly meant so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopWarning {
    #[error("hat `{hat}` publishes `{topic}`, which no hat takes: the run would end there")]
    Untaken { hat: String, topic: String },
    #[error("no run gets to hat `{hat}`")]
    UnreachableHat { hat: String },
    #[error("hat `{hat}` publishes nothing: a run that gets to it ends there, unfinished")]
    Silent { hat: String },
    #[error("hat `{hat}` takes `{topic}`, which nothing publishes")]
    Unpublished {
        hat: String,
        topic: String,
        /// The topic that was probably meant.
        close: Option<String>,
    },
}

impl Loop {
    pub fn faults(&self) -> Vec<LoopError> {
        let mut faults: Vec<LoopError> = self.shared_triggers().collect();
        if self.hat_for(&self.start).is_none() {
            faults.push(LoopError::NoStart { topic: self.start.clone() });
            return faults;
        }
        let unknown = self.unknown_topics();
        // A mistyped topic under `after` is one fault, not two.
        if !unknown.iter().any(|fault| matches!(fault, LoopError::UnknownTopic { is_after: true, .. })) {
            faults.extend(self.never_completed());
        }
        faults.extend(unknown);
        faults.extend(self.never_asked());
        faults.extend(self.unbounded());
        faults
    }

    /// Every topic that a run may accept: those that open it, and those that hats publish.
    pub fn published(&self) -> BTreeSet<&str> {
        let by_hats = self.hats.iter().flat_map(|hat| &hat.publishes).map(String::as_str);
        by_hats.chain([self.start.as_str(), Self::GO_ON]).collect()
    }

    /// Topics that the file speaks of and that nothing publishes: a gate on one of them would never be asked.
    fn unknown_topics(&self) -> Vec<LoopError> {
        let published = self.published();
        let fault = |topic: &String, is_after: bool| {
            let is_unknown = !published.contains(topic.as_str()) && *topic != self.completion.topic;
            is_unknown.then(|| LoopError::UnknownTopic { topic: topic.clone(), is_after, close: self.close_to(topic) })
        };
        let declared = self.topics.keys().filter_map(|topic| fault(topic, false));
        declared.chain(self.completion.after.iter().filter_map(|topic| fault(topic, true))).collect()
    }

    /// Gates on topics that open a run or resume it: gates are asked where a hat hands over.
    fn never_asked(&self) -> impl Iterator<Item = LoopError> {
        let own = [self.start.as_str(), Self::GO_ON];
        let is_of_a_hat = |topic: &str| self.hats.iter().any(|hat| hat.publishes(topic));
        let required = self.topics.iter().filter(|(_, topic)| !topic.requires.is_empty()).map(|(name, _)| name);
        let never = required.filter(move |name| own.contains(&name.as_str()) && !is_of_a_hat(name));
        never.map(|topic| {
            let instead = self.hat_for(topic).and_then(|hat| hat.publishes.first()).cloned();
            LoopError::NeverAsked { topic: topic.clone(), instead }
        })
    }

    /// The published topic that somebody probably meant.
    pub fn close_to(&self, topic: &str) -> Option<String> {
        suggest::closest(topic, self.published()).map(str::to_owned)
    }

    pub fn doubts(&self) -> Vec<LoopWarning> {
        let (reached, published) = (self.reached(), self.published());
        let unreachable = self.hats.iter().filter(|hat| !reached.contains(hat.id.as_str()));
        let mut doubts: Vec<LoopWarning> =
            unreachable.map(|hat| LoopWarning::UnreachableHat { hat: hat.id.clone() }).collect();
        for hat in &self.hats {
            let untaken = hat.publishes.iter().filter(|topic| !self.ends(topic) && self.hat_for(topic).is_none());
            doubts.extend(untaken.map(|topic| LoopWarning::Untaken { hat: hat.id.clone(), topic: topic.clone() }));
            if !reached.contains(hat.id.as_str()) {
                continue;
            }
            if hat.publishes.is_empty() {
                doubts.push(LoopWarning::Silent { hat: hat.id.clone() });
            }
            let taken = hat.triggers.iter().filter_map(TopicPattern::only);
            let unpublished = taken.filter(|topic| !published.contains(topic.as_str()));
            doubts.extend(unpublished.map(|topic| {
                let close = self.close_to(&topic);
                LoopWarning::Unpublished { hat: hat.id.clone(), topic, close }
            }));
        }
        doubts
    }

    fn ends(&self, topic: &str) -> bool {
        topic == self.completion.topic
    }

    fn shared_triggers(&self) -> impl Iterator<Item = LoopError> {
        let pairs = self.hats.iter().enumerate().flat_map(|(at, one)| {
            let others = self.hats.get(at + 1..).unwrap_or_default();
            others.iter().map(move |other| (one, other))
        });
        pairs.filter_map(|(one, other)| {
            let both = one.triggers.iter().flat_map(|ours| other.triggers.iter().map(move |theirs| (ours, theirs)));
            let example = both.into_iter().find_map(|(ours, theirs)| ours.common(theirs))?;
            Some(LoopError::SharedTrigger { one: one.id.clone(), other: other.id.clone(), example })
        })
    }

    /// Hats that a hat may hand over to.
    fn followers<'a>(&'a self, hat: &'a Hat) -> impl Iterator<Item = &'a Hat> {
        hat.publishes.iter().filter(|topic| !self.ends(topic)).filter_map(|topic| self.hat_for(topic))
    }

    /// The hats that a run may get to.
    fn reached(&self) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Hat> =
            [&self.start, Self::GO_ON].into_iter().filter_map(|topic| self.hat_for(topic)).collect();
        while let Some(hat) = open.pop() {
            if reached.insert(hat.id.as_str()) {
                open.extend(self.followers(hat));
            }
        }
        reached
    }

    /// Whether some walk accepts all that completion comes after, and then gets to it.
    fn never_completed(&self) -> Option<LoopError> {
        let topic = &self.completion.topic;
        let after: Vec<&str> = self.completion.after.iter().map(String::as_str).take(Self::MOST_AFTER).collect();
        let all = (0..after.len()).fold(0, |marks, at| marks | 1 << at);
        let first = self.hat_for(&self.start)?;
        // The places of a walk: under which hat it is, and a mark for each of those that it has accepted.
        let marked = |marks: u32, topic: &str| {
            let places = after.iter().enumerate().filter(|(_, name)| **name == topic);
            places.fold(marks, |marks, (at, _)| marks | 1 << at)
        };
        let begin = (first.id.as_str(), marked(0, &self.start));
        let mut known = BTreeSet::from([begin]);
        let mut open = VecDeque::from([begin]);
        let mut is_published = false;
        let mut most = 0_u32;
        while let Some((id, marks)) = open.pop_front() {
            let Some(hat) = self.hat(id) else { continue };
            if marks.count_ones() > most.count_ones() {
                most = marks;
            }
            if hat.publishes(topic) {
                is_published = true;
                if marked(marks, topic) == all {
                    return None;
                }
            }
            for next in hat.publishes.iter().filter(|next| !self.ends(next)) {
                let Some(taker) = self.hat_for(next) else { continue };
                let place = (taker.id.as_str(), marked(marks, next));
                if known.insert(place) {
                    open.push_back(place);
                }
            }
        }
        if !is_published {
            return Some(LoopError::CompletionUnreachable { topic: topic.clone(), start: self.start.clone() });
        }
        let missing = after.iter().enumerate().filter(|(at, _)| most & (1 << at) == 0);
        Some(LoopError::NeverAfter {
            topic: topic.clone(),
            missing: missing.map(|(_, name)| (*name).to_owned()).collect(),
        })
    }

    /// A round of hats that nothing ends.
    fn unbounded(&self) -> Option<LoopError> {
        if self.limits.iterations.is_some() || self.limits.runtime.is_some() {
            return None;
        }
        let reached = self.reached();
        let endless = |hat: &&Hat| reached.contains(hat.id.as_str()) && !self.is_bounded(hat);
        let hats = self.hats.iter().filter(endless).find_map(|hat| self.round_of(hat))?;
        let unmeasured =
            [self.limits.tokens.is_some().then_some("tokens"), self.limits.cost_usd.is_some().then_some("cost_usd")];
        Some(LoopError::Unbounded { hats, unmeasured: unmeasured.into_iter().flatten().collect() })
    }

    /// Whether something ends a run that puts this hat on again and again. A limit counts only if the hat's agent reports
    /// what the limit is about.
    fn is_bounded(&self, hat: &Hat) -> bool {
        let agent = hat.agent.as_ref().unwrap_or(&self.agent);
        hat.max_activations.is_some()
            || (self.limits.tokens.is_some() && agent.reports_tokens())
            || (self.limits.cost_usd.is_some() && agent.reports_cost())
    }

    /// The shortest way from a hat back to itself, by hats that may be put on as often as anybody likes.
    fn round_of(&self, start: &Hat) -> Option<Vec<String>> {
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

fn round(hats: &[String]) -> String {
    match hats {
        [hat] => format!("`{hat}` hands over to itself"),
        hats => format!("{} hand over to each other", quoted(hats)),
    }
}

fn not_measured(limits: &[&str]) -> String {
    let names: Vec<String> = limits.iter().map(|limit| format!("`{limit}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", and the agents report nothing that {} could count", names.join(" and ")),
    }
}
