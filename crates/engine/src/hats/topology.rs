//! What the shape of a loop says before anything runs: who hands over to whom, whether the end can be reached, and whether
//! the work could go round for ever.
//!
//! A run is a walk: an iteration takes one topic, and the hat that is on hands over by one of those that it publishes.

use std::collections::{BTreeSet, VecDeque};

use super::{Hat, Loop};

/// Nothing can run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("no hat takes the topic `{topic}`, which opens a run")]
    NoStart { topic: String },
    #[error("hats `{one}` and `{other}` both take `{example}`")]
    SharedTrigger { one: String, other: String, example: String },
    #[error("`{topic}` is never published on a way from `{start}`, so no run can be completed")]
    CompletionUnreachable { topic: String, start: String },
    #[error("no run accepts {missing} before `{topic}`, so none can be completed", missing = quoted(missing))]
    NeverAfter { topic: String, missing: Vec<String> },
    #[error("{hats} hand over to each other without an end: there is no limit of iterations, time, tokens or cost, and none of them has `max_activations`", hats = quoted(hats))]
    Unbounded { hats: Vec<String> },
}

/// It can run, and is hardly meant so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("hat `{hat}` publishes `{topic}`, which no hat takes: the run would end there")]
    Untaken { hat: String, topic: String },
    #[error("no run gets to hat `{hat}`")]
    UnreachableHat { hat: String },
}

impl Loop {
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> = self.shared_triggers().collect();
        if self.taker(&self.start).is_none() {
            faults.push(Fault::NoStart { topic: self.start.clone() });
            return faults;
        }
        faults.extend(self.never_completed());
        faults.extend(self.unbounded());
        faults
    }

    pub fn doubts(&self) -> Vec<Doubt> {
        let reached = self.reached();
        let unreachable = self.hats.iter().filter(|hat| !reached.contains(hat.id.as_str()));
        let mut doubts: Vec<Doubt> = unreachable.map(|hat| Doubt::UnreachableHat { hat: hat.id.clone() }).collect();
        for hat in &self.hats {
            let untaken = hat.publishes.iter().filter(|topic| !self.ends(topic) && self.taker(topic).is_none());
            doubts.extend(untaken.map(|topic| Doubt::Untaken { hat: hat.id.clone(), topic: topic.clone() }));
        }
        doubts
    }

    fn ends(&self, topic: &str) -> bool {
        topic == self.completion.topic
    }

    fn shared_triggers(&self) -> impl Iterator<Item = Fault> {
        let pairs = self.hats.iter().enumerate().flat_map(|(at, one)| {
            let others = self.hats.get(at + 1..).unwrap_or_default();
            others.iter().map(move |other| (one, other))
        });
        pairs.filter_map(|(one, other)| {
            let both = one.triggers.iter().flat_map(|ours| other.triggers.iter().map(move |theirs| (ours, theirs)));
            let example = both.into_iter().find_map(|(ours, theirs)| ours.common(theirs))?;
            Some(Fault::SharedTrigger { one: one.id.clone(), other: other.id.clone(), example })
        })
    }

    /// Hats that a hat may hand over to.
    fn followers<'a>(&'a self, hat: &'a Hat) -> impl Iterator<Item = &'a Hat> {
        hat.publishes.iter().filter(|topic| !self.ends(topic)).filter_map(|topic| self.taker(topic))
    }

    /// The hats that a run may get to.
    fn reached(&self) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Hat> = self.taker(&self.start).into_iter().collect();
        while let Some(hat) = open.pop() {
            if reached.insert(hat.id.as_str()) {
                open.extend(self.followers(hat));
            }
        }
        reached
    }

    /// Whether some walk accepts all that completion comes after, and then gets to it.
    fn never_completed(&self) -> Option<Fault> {
        let topic = &self.completion.topic;
        let after: Vec<&str> = self.completion.after.iter().map(String::as_str).take(Self::MOST_AFTER).collect();
        let all = (0..after.len()).fold(0, |marks, at| marks | 1 << at);
        let first = self.taker(&self.start)?;
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
                let Some(taker) = self.taker(next) else { continue };
                let place = (taker.id.as_str(), marked(marks, next));
                if known.insert(place) {
                    open.push_back(place);
                }
            }
        }
        if !is_published {
            return Some(Fault::CompletionUnreachable { topic: topic.clone(), start: self.start.clone() });
        }
        let missing = after.iter().enumerate().filter(|(at, _)| most & (1 << at) == 0);
        Some(Fault::NeverAfter { topic: topic.clone(), missing: missing.map(|(_, name)| (*name).to_owned()).collect() })
    }

    /// A round of hats that nothing ends.
    fn unbounded(&self) -> Option<Fault> {
        let limits = &self.limits;
        let is_bounded = limits.iterations.is_some()
            || limits.runtime.is_some()
            || limits.tokens.is_some()
            || limits.cost_usd.is_some();
        if is_bounded {
            return None;
        }
        let reached = self.reached();
        let endless = |hat: &&Hat| reached.contains(hat.id.as_str()) && hat.max_activations.is_none();
        let hats = self.hats.iter().filter(endless);
        hats.into_iter().find_map(|hat| self.round_of(hat)).map(|hats| Fault::Unbounded { hats })
    }

    /// The shortest way from a hat back to itself, by hats that may be put on as often as anybody likes.
    fn round_of(&self, start: &Hat) -> Option<Vec<String>> {
        let mut known = BTreeSet::new();
        let mut open = VecDeque::from([vec![start]]);
        while let Some(way) = open.pop_front() {
            let last = way.last()?;
            for next in self.followers(last).filter(|hat| hat.max_activations.is_none()) {
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
