//! The policy that a session is held to.
//!
//! An edited or added rule counts at the next event. One that is removed, switched off or made milder while a session
//! runs does not: the session keeps it as it was until a person says so. A pin is the memory of that. It names the
//! policy that the session was last judged by and holds the rules that only the session still has; beside it lies that
//! policy itself, as a link to the compiled one, for the day when they differ. Both lie in the user's own folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::rules::{Rule, RuleSet};
use serde::{Deserialize, Serialize};

use crate::cache::{self, BUILD, Compiled};
use crate::config::Mode;
use crate::files::private_files::{create_private_folder, forget_old_files, write_private_file};
use crate::weakened::{Weakened, weakened};

#[derive(Debug, Serialize, Deserialize)]
struct Pin {
    build: String,
    /// The compiled policy that the session was last judged by.
    generation: String,
    /// When that began, in milliseconds since 1970. What a person accepted before does not mean this.
    since: i64,
    enforces: bool,
    kept: Vec<Kept>,
    /// That policy's rules with those that were kept, packed; empty where none were.
    rules: Vec<u8>,
}

/// A change that does not count for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub change: Weakened,
    /// The session has been judged by what was there before since this time at the latest.
    pub since: i64,
}

/// A policy as it counts for one session.
#[derive(Debug)]
pub struct Held {
    pub policy: Compiled,
    /// The changes that do not count and that were not known of before.
    pub news: Vec<Weakened>,
}

/// Where a session's pin lies, and what it is compared with.
pub struct SessionPin<'a> {
    pub path: &'a Path,
    /// Where the policy was compiled to.
    pub cache: &'a Path,
    /// Milliseconds since 1970.
    pub now: i64,
    /// Whether what the session is held to is written down.
    pub is_kept: bool,
}

impl SessionPin<'_> {
    /// Holds a session to what it was last judged by. `accepted` says whether a person wanted a change, at the given time
    /// or later. What cannot be read or written is as if it were the session's first event.
    pub fn hold(&self, policy: Compiled, accepted: impl Fn(&Weakened, i64) -> bool) -> Held {
        let Some(old) = Pin::read(self.path) else {
            self.write(Pin::new(&policy, self.now), &policy);
            return Held { policy, news: Vec::new() };
        };
        if old.is_current(&policy, &accepted) {
            return old.apply(policy);
        }
        if !policy.rules.is_complete() {
            return Held { policy, news: Vec::new() };
        }
        let next = self.next(&old, &policy, accepted);
        let is_news = |kept: &&Kept| !old.kept.contains(kept);
        let news = next.kept.iter().filter(is_news).map(|kept| kept.change.clone()).collect();
        let next = self.write(next, &policy);
        Held { news, ..next.apply(policy) }
    }

    /// The changes that would not count for the session if its next event came now. Writes nothing.
    pub fn kept(&self, policy: &Compiled, accepted: impl Fn(&Weakened, i64) -> bool) -> Vec<Kept> {
        let Some(old) = Pin::read(self.path) else { return Vec::new() };
        if old.is_current(policy, &accepted) {
            return old.kept;
        }
        if !policy.rules.is_complete() {
            return Vec::new();
        }
        self.next(&old, policy, accepted).kept
    }

    /// The pin after an event that is judged by this policy.
    fn next(&self, old: &Pin, policy: &Compiled, accepted: impl Fn(&Weakened, i64) -> bool) -> Pin {
        let before = old.rules_before(self.path);
        let differences = before.and_then(|before| before.differences(&policy.rules).ok());
        let (gone, new) = differences.unwrap_or_default();
        let mut lost = weakened(&gone, &new);
        lost.retain(|(change, _)| !accepted(change, old.since_of(&change.rule)));
        let mut next = Pin::new(policy, self.now);
        let keep = |change: Weakened| Kept { since: old.since_of(&change.rule), change };
        if !lost.is_empty() {
            let kept: Vec<Rule> = lost.iter().map(|(_, rule)| (*rule).clone()).collect();
            if let Ok(packed) = policy.rules.with(&kept) {
                next.rules = packed.as_bytes().to_vec();
                next.kept = lost.into_iter().map(|(change, _)| keep(change)).collect();
            }
        }
        let observing = Weakened::observing();
        if old.enforces && !next.enforces && !accepted(&observing, old.since_of(&observing.rule)) {
            next.enforces = true;
            next.kept.push(keep(observing));
        }
        next
    }

    /// Returns what was written.
    fn write(&self, mut pin: Pin, policy: &Compiled) -> Pin {
        if !self.is_kept {
            return pin;
        }
        let mut written = || -> io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            create_private_folder(folder)?;
            if !self.path.exists() {
                forget_old_files(folder);
            }
            let beside = beside(self.path);
            let link = || -> io::Result<()> {
                let link = tempfile::Builder::new().make_in(folder, |path| fs::hard_link(self.cache, path))?;
                Ok(link.into_temp_path().persist(&beside)?)
            };
            // Another event may have compiled another policy meanwhile, or thrown this one away.
            let is_linked = link().is_ok() && cache::rules_in(&beside, &pin.generation).is_some();
            if pin.rules.is_empty() && !is_linked {
                pin.rules = policy.rules.as_bytes().to_vec();
            }
            let bytes = postcard::to_stdvec(&pin).map_err(io::Error::other)?;
            write_private_file(self.path, bytes)
        };
        // Where nothing can be written, every event is judged by the policy as it is.
        let _ = written();
        pin
    }
}

/// Since when, at the latest, a session has been judged by a policy that enforces; none where it was not.
pub fn enforced_since(pin: &Path) -> Option<i64> {
    let pin = Pin::read(pin).filter(|pin| pin.enforces)?;
    Some(pin.since_of(&Weakened::observing().rule))
}

/// The policy that a pin names.
fn beside(pin: &Path) -> PathBuf {
    pin.with_extension("policy")
}

impl Pin {
    fn new(policy: &Compiled, now: i64) -> Self {
        Self {
            build: BUILD.to_owned(),
            generation: policy.generation.clone(),
            since: now,
            enforces: policy.config.mode == Mode::Enforce,
            kept: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn read(path: &Path) -> Option<Self> {
        let pin: Self = postcard::from_bytes(&fs::read(path).ok()?).ok()?;
        (pin.build == BUILD).then_some(pin)
    }

    fn speaks_for(&self, policy: &Compiled) -> bool {
        let enforces = policy.config.mode == Mode::Enforce;
        self.generation == policy.generation && (self.enforces == enforces || self.keeps_enforcing())
    }

    /// Whether an event that is judged by this policy leaves the pin as it is.
    fn is_current(&self, policy: &Compiled, accepted: impl Fn(&Weakened, i64) -> bool) -> bool {
        self.speaks_for(policy) && !self.kept.iter().any(|kept| accepted(&kept.change, kept.since))
    }

    fn keeps_enforcing(&self) -> bool {
        self.kept.iter().any(|kept| kept.change == Weakened::observing())
    }

    /// Since when, at the latest, the session has been judged by a rule.
    fn since_of(&self, rule: &str) -> i64 {
        self.kept.iter().find(|kept| kept.change.rule == rule).map_or(self.since, |kept| kept.since)
    }

    fn rules_before(&self, pin: &Path) -> Option<RuleSet> {
        if self.rules.is_empty() {
            return cache::rules_in(&beside(pin), &self.generation);
        }
        Some(RuleSet::from_bytes(Arc::new(self.rules.clone()), 0))
    }

    fn apply(self, mut policy: Compiled) -> Held {
        if self.keeps_enforcing() {
            Arc::make_mut(&mut policy.config).mode = Mode::Enforce;
        }
        if !self.rules.is_empty() {
            policy.rules = RuleSet::from_bytes(Arc::new(self.rules), 0);
        }
        Held { policy, news: Vec::new() }
    }
}
