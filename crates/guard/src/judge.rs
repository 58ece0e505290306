//! One event, judged and recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::event::ShellText;
use engine::{Decision, Event, Finding, Inquiry, Place, Situation, Verdict};
use policy::{Compiled, Config, JournalMode, PolicyFolder};
use serde_json::Map;
use store::{Changes, CounterChange, EventId, Journal, Record, Recorded, SessionKey, SessionState, Store, StoreError};

use crate::environment::Environment;
use crate::failure::{self, Failure};
use crate::live_facts::{History, LiveFacts, hold_counter};
use crate::project::Project;

/// How long to wait for other processes at the journal: a part of the deadline, so that there is time to answer.
const STORE_PATIENCE: f64 = 0.5;

/// A project whose policy is loaded.
pub struct Judge<'a> {
    environment: &'a Environment,
    project: &'a Project,
    policy: Compiled,
}

#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// The journal's number of it; none where it could not be recorded.
    pub id: Option<EventId>,
}

impl<'a> Judge<'a> {
    pub fn new(project: &'a Project, environment: &'a Environment) -> Self {
        Self { environment, project, policy: project.compiled(environment) }
    }

    pub fn config(&self) -> &Config {
        &self.policy.config
    }

    pub fn policy(&self) -> &Compiled {
        &self.policy
    }

    /// Judges an event and records it. `is_first`: nothing was heard of the session before.
    pub fn judge(&self, event: &Arc<Event>, is_first: bool) -> Judged {
        match self.judge_with_store(event, is_first) {
            Ok(judged) => judged,
            Err(error) => {
                let (mut verdict, _) = self.verdict(event, None, is_first, false);
                verdict.notices.push(failure::store_notice(&error));
                Judged { verdict, id: None }
            }
        }
    }

    /// Every rule's work on the event, by the state as it is now; nothing is recorded.
    pub fn explain(&self, event: &Arc<Event>) -> Vec<Decision> {
        let options = self.store_options(event);
        let store = Store::open_existing_read(&self.project.store(self.environment), options);
        let state = store.and_then(|store| store.session(SessionKey { agent: &event.agent, session: &event.session }));
        let facts = self.facts(event, Some(state.unwrap_or_default()));
        self.decisions(event, &facts, true).into_iter().filter_map(Result::ok).collect()
    }

    fn judge_with_store(&self, event: &Arc<Event>, is_first: bool) -> Result<Judged, StoreError> {
        let path = self.project.store(self.environment);
        let mut store = Store::open(&path, self.store_options(event))?;
        let notices = store.take_notices();
        let notices: Vec<String> =
            notices.iter().filter(|notice| self.is_news(notice)).map(ToString::to_string).collect();
        let key = SessionKey { agent: &event.agent, session: &event.session };
        let mut judgement = store.begin(key)?;
        loop {
            let state = judgement.state().clone();
            let (mut verdict, effects) = self.verdict(event, Some(state), is_first, true);
            verdict.notices.extend(notices.iter().cloned());
            let record = Record {
                event,
                root: &self.project.root.to_string_lossy(),
                verdict: &verdict,
                facts: &effects.facts,
                fields: &Map::new(),
                changes: &effects.changes,
                journal: match self.policy.config.journal {
                    JournalMode::Lean => Journal::Lean,
                    JournalMode::Full => Journal::Full,
                },
            };
            match judgement.record(&record)? {
                Recorded::Stored(id) => return Ok(Judged { verdict, id: Some(id) }),
                Recorded::Moved(again) => judgement = again,
            }
        }
    }

    /// A journal that was just made is news only to somebody who had one before.
    fn is_news(&self, notice: &store::Notice) -> bool {
        if !matches!(notice, store::Notice::Created { .. }) {
            return true;
        }
        let memory = self.environment.project_state(&self.project.root).join("had-journal");
        let had_one = memory.exists();
        // Where it cannot be remembered, the next new journal is no news either.
        let _ = std::fs::write(memory, "");
        had_one
    }

    fn verdict(
        &self,
        event: &Arc<Event>,
        state: Option<SessionState>,
        is_first: bool,
        stored: bool,
    ) -> (Verdict, Effects) {
        let facts = self.facts(event, state);
        let mut effects = Effects::default();
        let mut findings: Vec<Finding> = Vec::new();
        let mut notices = if is_first { self.policy_notices() } else { Vec::new() };
        let mut approved = false;
        let decisions = self.decisions(event, &facts, false);
        for decision in decisions {
            let Ok(decision) = decision else {
                findings.push(Failure::UnreadablePolicy.finding());
                self.project.forget_compiled(self.environment);
                continue;
            };
            approved |= decision.verdict.approved;
            findings.extend(decision.verdict.findings);
            notices.extend(decision.verdict.notices);
            notices.extend(decision.skipped.iter().map(|rule| failure::skipped_rule_notice(rule)));
            for (rule, count) in decision.holds {
                effects.changes.count(hold_counter(&rule), CounterChange::Set(count.into()));
            }
        }
        if lacks_command(event) {
            findings.push(Failure::MissingCommand.finding());
        }
        let mut verdict = Verdict::of(findings);
        verdict.approved = approved && verdict.level == engine::Level::Allow;
        if verdict.level == engine::Level::Ask && !is_first {
            // The broken file may be the reason why this has to be asked.
            notices.extend(self.broken_notices());
        }
        verdict.notices = notices;
        if stored {
            effects.facts = facts.used();
        }
        (verdict, effects)
    }

    /// One for the project's policy, and one for each policy folder between the root and what the event is about.
    fn decisions(
        &self,
        event: &Arc<Event>,
        facts: &Arc<LiveFacts>,
        thorough: bool,
    ) -> Vec<Result<Decision, engine::rules::RuleSetError>> {
        let decide = |root: &Path, policy: &Compiled| {
            let text = |path: &Path| path.to_string_lossy().into_owned();
            let place = Place {
                root: text(root),
                home: self.environment.home.as_deref().map(text),
                temp: Some(text(&self.environment.temp)),
                known_as: self.environment.known_folders(),
            };
            let situation = Arc::new(Situation::new(Arc::clone(event), place, Arc::clone(facts) as _));
            let max_holds = policy.config.max_holds;
            engine::decide(&Inquiry { situation: &situation, rules: &policy.rules, max_holds, thorough })
        };
        let mut decisions = vec![decide(&self.project.root, &self.policy)];
        for root in nested_roots(&self.project.root, event) {
            let nested = Project { root, tiers: policy::Tiers::default() };
            let folder = PolicyFolder::of_project(&nested.root);
            let nested = Project { tiers: policy::Tiers { project: Some(folder), user: None }, ..nested };
            decisions.push(decide(&nested.root, &nested.compiled(self.environment)));
        }
        decisions
    }

    fn facts(&self, event: &Arc<Event>, state: Option<SessionState>) -> Arc<LiveFacts> {
        let history = History {
            store: self.project.store(self.environment),
            agent: event.agent.clone(),
            session: event.session.clone(),
            options: self.store_options(event),
        };
        Arc::new(LiveFacts::new(&self.project.root, state, self.policy.config.clone(), event.held_before, history))
    }

    fn store_options(&self, event: &Event) -> store::Options {
        store::Options { busy: self.policy.config.deadline.mul_f64(STORE_PATIENCE), now: event.time }
    }

    /// What a person should hear when a session begins.
    fn policy_notices(&self) -> Vec<String> {
        let untrusted = self.policy.untrusted.iter().cloned();
        self.broken_notices().chain(untrusted).collect()
    }

    fn broken_notices(&self) -> impl Iterator<Item = String> {
        self.policy.broken.iter().map(|file| {
            let rest = if file.has_last_good { "its last good version stays in force" } else { "it is not in force" };
            format!("broken policy file, {rest}: {}", file.problem)
        })
    }
}

/// What a judgement leaves behind.
#[derive(Default)]
struct Effects {
    changes: Changes,
    facts: Map<String, serde_json::Value>,
}

fn lacks_command(event: &Event) -> bool {
    event.kind.awaits_permission() && event.tool.as_ref().is_some_and(|call| call.shell == Some(ShellText::Missing))
}

/// The folders below the root that have a policy of their own and that the event is about: where it happens, and the
/// files that it names.
fn nested_roots(root: &Path, event: &Event) -> Vec<PathBuf> {
    let files = event.tool.iter().flat_map(|call| &call.files).map(|file| file.path.as_str());
    let mut roots: Vec<PathBuf> = std::iter::once(event.cwd.as_str())
        .chain(files)
        .map(|path| PathBuf::from(engine::paths::tidy(path)))
        .flat_map(|path| {
            let between = path.ancestors().take_while(|folder| *folder != root && folder.starts_with(root));
            between.filter(|folder| folder.join(PolicyFolder::NAME).is_dir()).map(Path::to_owned).collect::<Vec<_>>()
        })
        .collect();
    roots.sort();
    roots.dedup();
    roots
}

/// The deadline that holds until the configuration is read.
pub const FIRST_DEADLINE: Duration = Duration::from_secs(2);
