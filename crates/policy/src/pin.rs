//! The policy that a session is held to.
//!
//! An edited or added rule counts at the next event. One that is removed, switched off or made milder while a session
//! runs does not: the session keeps it as it was until a person says so. A pin is the memory of that. It names the
//! policy that the session was last judged by and holds the rules that only the session still has; it lies in the
//! user's own folder, like the compiled policies that it refers to.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use engine::rules::{Rule, RuleSet};
use serde::{Deserialize, Serialize};

use crate::cache::{self, BUILD, Compiled};
use crate::private_folder::create_private_folder;
use crate::weakened::{Weakened, weakened};

#[derive(Debug, Serialize, Deserialize)]
struct Pin {
    build: String,
    /// The compiled policy that the session was last judged by.
    generation: String,
    kept: Vec<Weakened>,
    /// That policy with the rules that were kept, packed; empty where none were.
    rules: Vec<u8>,
}

/// A policy as it counts for one session.
#[derive(Debug)]
pub struct Held {
    pub policy: Compiled,
    /// What stays in force for this session alone.
    pub kept: Vec<Weakened>,
    /// Those of them that were not kept before.
    pub news: Vec<Weakened>,
}

/// Holds a session to what it was last judged by. `pin` is its memory, `cache` where `policy` was compiled to;
/// `accepted` says whether a person wanted a change. What cannot be read or written is as if it were the first event.
pub fn hold(policy: Compiled, pin: &Path, cache: &Path, accepted: impl Fn(&Weakened) -> bool) -> Held {
    let Some(old) = Pin::read(pin) else {
        Pin::new(&policy).write(pin);
        return Held { policy, kept: Vec::new(), news: Vec::new() };
    };
    let is_same = old.generation == policy.generation;
    if is_same && !old.kept.iter().any(&accepted) {
        return old.apply(policy);
    }
    // Somebody switched everything off, and only a person can.
    let before = if policy.config.enabled { old.rules_before(cache) } else { Vec::new() };
    let Ok(now) = policy.rules.all() else { return Held { policy, kept: Vec::new(), news: Vec::new() } };
    let mut lost = weakened(&before, &now);
    lost.retain(|(change, _)| !accepted(change));
    let mut next = Pin::new(&policy);
    if !lost.is_empty() {
        let is_kept = |rule: &Rule| lost.iter().any(|(change, _)| change.rule == rule.id);
        let mut rules: Vec<Rule> = now.into_iter().filter(|rule| !is_kept(rule)).collect();
        rules.extend(lost.iter().map(|(_, rule)| (*rule).clone()));
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        if let Ok(packed) = RuleSet::pack(&rules) {
            next.rules = packed.as_bytes().to_vec();
            next.kept = lost.into_iter().map(|(change, _)| change).collect();
        }
    }
    next.write(pin);
    let news = next.kept.iter().filter(|change| !old.kept.contains(change)).cloned().collect();
    Held { news, ..next.apply(policy) }
}

/// What a session keeps, without judging by it.
pub fn kept(pin: &Path) -> Vec<Weakened> {
    Pin::read(pin).map(|pin| pin.kept).unwrap_or_default()
}

impl Pin {
    fn new(policy: &Compiled) -> Self {
        Self { build: BUILD.to_owned(), generation: policy.generation.clone(), kept: Vec::new(), rules: Vec::new() }
    }

    fn read(path: &Path) -> Option<Self> {
        let pin: Self = postcard::from_bytes(&fs::read(path).ok()?).ok()?;
        (pin.build == BUILD).then_some(pin)
    }

    fn write(&self, path: &Path) {
        let written = || -> io::Result<()> {
            let folder = path.parent().unwrap_or(Path::new("."));
            create_private_folder(folder)?;
            let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&bytes)?;
            file.persist(path)?;
            Ok(())
        };
        // Where nothing can be written, every event is judged by the policy as it is.
        let _ = written();
    }

    fn rules_before(&self, cache: &Path) -> Vec<Rule> {
        if self.kept.is_empty() {
            return cache::rules_of_generation(cache, &self.generation);
        }
        RuleSet::from_bytes(self.rules.clone(), 0).all().unwrap_or_default()
    }

    fn apply(self, mut policy: Compiled) -> Held {
        if !self.kept.is_empty() {
            policy.rules = RuleSet::from_bytes(self.rules, 0);
        }
        Held { policy, kept: self.kept, news: Vec::new() }
    }
}
