//! Session pins: a running session ignores weakenings of its policy until a person accepts them.
//!
//! Added and stricter rules apply from the next event on. If a rule is removed, switched off or made milder while a
//! session runs, the session keeps the old version. The pin file identifies the policy that the session was last judged
//! by, and stores the rules that apply to the session if they differ from that policy. Next to the pin file is a hard
//! link to the compiled policy, so that a later policy can be compared with it. Both files are in the user's state
//! directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::rules::{Rule, RuleSet};
use serde::{Deserialize, Serialize};

use crate::cache::{self, BUILD, CompiledPolicy};
use crate::config::PolicyMode;
use crate::files::private_files::{create_private_directory, delete_old_files_daily, write_private_file};
use crate::weakening::{Weakening, weakenings};

/// The content of a pin file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredPin {
    build: String,
    /// The digest of the policy that the session was last judged by.
    rules_digest: String,
    /// When the session was first judged by it, in milliseconds since 1970. Acceptances older than this do not apply to
    /// later weakenings.
    since: i64,
    enforces: bool,
    ignored: Vec<IgnoredWeakening>,
    /// All rules that apply to the session, packed; empty if they are exactly those of the linked policy.
    rules: Vec<u8>,
}

/// A weakening that does not apply to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredWeakening {
    pub weakening: Weakening,
    /// The session has been judged by the stricter rule since this time or earlier.
    pub since: i64,
}

/// The policy that applies to one session.
#[derive(Debug)]
pub struct PinnedPolicy {
    pub policy: CompiledPolicy,
    /// Weakenings that the session ignores as of this event.
    pub new_weakenings: Vec<Weakening>,
}

/// The location of a session's pin, and how to update it.
pub struct SessionPin<'a> {
    pub path: &'a Path,
    /// The compiled cache of the current policy.
    pub cache: &'a Path,
    /// Milliseconds since 1970.
    pub now: i64,
    /// False for dry runs, which must not write the pin.
    pub is_saved: bool,
}

impl SessionPin<'_> {
    /// Returns `policy` without the weakenings since the session's last event, and updates the pin. `accepted` is true
    /// if a person accepted a weakening at the given time or later. If the pin cannot be read or written, the event is
    /// treated as the first one of the session.
    pub fn pin_policy(&self, policy: CompiledPolicy, accepted: impl Fn(&Weakening, i64) -> bool) -> PinnedPolicy {
        let Some(old) = StoredPin::read(self.path) else {
            self.write(StoredPin::new(&policy, self.now), &policy);
            return PinnedPolicy { policy, new_weakenings: Vec::new() };
        };
        if old.is_current(&policy, &accepted) {
            return old.apply(policy);
        }
        if !policy.rules.is_complete() {
            return PinnedPolicy { policy, new_weakenings: Vec::new() };
        }
        let next = self.next_pin(&old, &policy, accepted);
        let is_new = |ignored: &&IgnoredWeakening| !old.ignored.contains(ignored);
        let new_weakenings = next.ignored.iter().filter(is_new).map(|ignored| ignored.weakening.clone()).collect();
        let next = self.write(next, &policy);
        PinnedPolicy { new_weakenings, ..next.apply(policy) }
    }

    /// Returns the weakenings that the session would ignore at its next event. Writes nothing.
    pub fn ignored_weakenings(
        &self,
        policy: &CompiledPolicy,
        accepted: impl Fn(&Weakening, i64) -> bool,
    ) -> Vec<IgnoredWeakening> {
        let Some(old) = StoredPin::read(self.path) else { return Vec::new() };
        if old.is_current(policy, &accepted) {
            return old.ignored;
        }
        if !policy.rules.is_complete() {
            return Vec::new();
        }
        self.next_pin(&old, policy, accepted).ignored
    }

    /// Returns the pin after an event that is judged by this policy.
    fn next_pin(
        &self,
        old: &StoredPin,
        policy: &CompiledPolicy,
        accepted: impl Fn(&Weakening, i64) -> bool,
    ) -> StoredPin {
        let old_rules = old.pinned_rules(self.path);
        let differences = old_rules.and_then(|old_rules| old_rules.differences(&policy.rules).ok());
        let (removed, added) = differences.unwrap_or_default();
        let mut weakened = weakenings(&removed, &added);
        weakened.retain(|(weakening, _)| !accepted(weakening, old.judged_since(&weakening.rule)));
        let mut next = StoredPin::new(policy, self.now);
        let ignore = |weakening: Weakening| IgnoredWeakening { since: old.judged_since(&weakening.rule), weakening };
        if !weakened.is_empty() {
            let old_versions: Vec<Rule> = weakened.iter().map(|(_, rule)| (*rule).clone()).collect();
            if let Ok(packed) = policy.rules.with_rules(&old_versions) {
                next.rules = packed.as_bytes().to_vec();
                next.ignored = weakened.into_iter().map(|(weakening, _)| ignore(weakening)).collect();
            }
        }
        let to_observe = Weakening::mode_to_observe();
        if old.enforces && !next.enforces && !accepted(&to_observe, old.judged_since(&to_observe.rule)) {
            next.enforces = true;
            next.ignored.push(ignore(to_observe));
        }
        next
    }

    /// Writes the pin, and returns it as written.
    fn write(&self, mut pin: StoredPin, policy: &CompiledPolicy) -> StoredPin {
        if !self.is_saved {
            return pin;
        }
        let mut write = || -> io::Result<()> {
            let directory = self.path.parent().unwrap_or(Path::new("."));
            create_private_directory(directory)?;
            if !self.path.exists() {
                delete_old_files_daily(directory);
            }
            let linked_policy = linked_policy(self.path);
            let link = || -> io::Result<()> {
                let link = tempfile::Builder::new().make_in(directory, |path| fs::hard_link(self.cache, path))?;
                Ok(link.into_temp_path().persist(&linked_policy)?)
            };
            // Another event may have replaced or deleted the compiled policy in the meantime.
            let is_linked = link().is_ok() && cache::rules_in(&linked_policy, &pin.rules_digest).is_some();
            if pin.rules.is_empty() && !is_linked {
                pin.rules = policy.rules.as_bytes().to_vec();
            }
            let bytes = postcard::to_stdvec(&pin).map_err(io::Error::other)?;
            write_private_file(self.path, bytes)
        };
        // If the pin cannot be written, every event is judged by the current policy.
        let _ = write();
        pin
    }
}

/// The session has been judged in enforce mode since this time or earlier; `None` if it is not judged in enforce mode.
pub fn enforced_since(pin: &Path) -> Option<i64> {
    let pin = StoredPin::read(pin).filter(|pin| pin.enforces)?;
    Some(pin.judged_since(&Weakening::mode_to_observe().rule))
}

/// The hard link to the compiled policy, next to the pin.
fn linked_policy(pin: &Path) -> PathBuf {
    pin.with_extension("policy")
}

impl StoredPin {
    fn new(policy: &CompiledPolicy, now: i64) -> Self {
        Self {
            build: BUILD.to_owned(),
            rules_digest: policy.rules_digest.clone(),
            since: now,
            enforces: policy.config.mode == PolicyMode::Enforce,
            ignored: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn read(path: &Path) -> Option<Self> {
        let pin: Self = postcard::from_bytes(&fs::read(path).ok()?).ok()?;
        (pin.build == BUILD).then_some(pin)
    }

    fn matches(&self, policy: &CompiledPolicy) -> bool {
        let enforces = policy.config.mode == PolicyMode::Enforce;
        self.rules_digest == policy.rules_digest && (self.enforces == enforces || self.ignores_observe_mode())
    }

    /// True if an event that is judged by this policy does not change the pin.
    fn is_current(&self, policy: &CompiledPolicy, accepted: impl Fn(&Weakening, i64) -> bool) -> bool {
        self.matches(policy) && !self.ignored.iter().any(|ignored| accepted(&ignored.weakening, ignored.since))
    }

    fn ignores_observe_mode(&self) -> bool {
        self.ignored.iter().any(|ignored| ignored.weakening == Weakening::mode_to_observe())
    }

    /// The session has been judged by the rule since this time or earlier.
    fn judged_since(&self, rule: &str) -> i64 {
        self.ignored.iter().find(|ignored| ignored.weakening.rule == rule).map_or(self.since, |ignored| ignored.since)
    }

    fn pinned_rules(&self, pin: &Path) -> Option<RuleSet> {
        if self.rules.is_empty() {
            return cache::rules_in(&linked_policy(pin), &self.rules_digest);
        }
        Some(RuleSet::from_bytes(Arc::new(self.rules.clone()), 0))
    }

    fn apply(self, mut policy: CompiledPolicy) -> PinnedPolicy {
        if self.ignores_observe_mode() {
            Arc::make_mut(&mut policy.config).mode = PolicyMode::Enforce;
        }
        // A session that keeps rules is not switched off.
        let keeps_rules = self.ignored.iter().any(|ignored| ignored.weakening != Weakening::mode_to_observe());
        if keeps_rules && !policy.config.enabled {
            Arc::make_mut(&mut policy.config).enabled = true;
        }
        if !self.rules.is_empty() {
            policy.rules = RuleSet::from_bytes(Arc::new(self.rules), 0);
        }
        PinnedPolicy { policy, new_weakenings: Vec::new() }
    }
}
