//! How many tokens a session or a phase has used, as the transcripts of its agents tell it.
//!
//! Nothing is read before somebody asks, and then what was appended since the last time. Events name transcripts; which
//! ones is remembered with the phase while a workflow is active, and with the session where somebody asks. What messages
//! come to is the journal's matter (`store::tokens`), how they are written the agents'.
//!
//! Unknown is not zero: where no transcript can be read there is no number.

mod reading;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::pace::Tokens;
use engine::{Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{PERSON_SESSION, SessionKey, SessionState, StateChanges, Store, StoreError, TranscriptChunk};

use self::reading::{Read, Reading};
use super::position::Position;
use crate::Environment;
use crate::project::Project;
use crate::session::SessionNotice;

/// The variable in which a session, or a phase, keeps the transcripts that were named in it.
pub const TRANSCRIPTS: &str = "_transcripts";
/// Of more transcripts than this, the latest are remembered.
const MOST_TRANSCRIPTS: usize = 200;
/// The field in which agents name the transcript of a subagent that stops.
const SUBAGENTS: &str = "agent_transcript_path";

/// Bytes that one hook reads, of all transcripts together; some ten milliseconds. What is left is for the next one.
const HOOK_LIMIT: u64 = 1024 * 1024;
/// Bytes that a command reads: all there are.
const COMMAND_LIMIT: u64 = u64::MAX;
/// A hook may hold the lock itself, while it judges for the second time.
const HOOK_PATIENCE: Duration = Duration::from_millis(100);

/// What is known of the tokens of a session or a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    Known(Tokens),
    /// No transcript can be read.
    Unknown,
    /// There is more to read than may be read at once.
    Behind,
}

impl Spent {
    pub fn known(self) -> Option<Tokens> {
        match self {
            Self::Known(tokens) => Some(tokens),
            Self::Unknown | Self::Behind => None,
        }
    }
}

/// Counted at most once an event, however often it is judged.
pub struct TokenCount {
    event: Arc<Event>,
    store: PathBuf,
    options: store::StoreOptions,
    limit: u64,
    /// None where the journal cannot be used.
    counted: OnceLock<Option<Counted>>,
}

struct Counted {
    session: Spent,
    /// The current one, by its name.
    phase: Option<(String, Spent)>,
    /// Why the session's own transcripts cannot be read.
    problem: Option<String>,
}

/// A transcript, and the session that named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Transcript {
    agent: String,
    session: String,
    path: String,
}

impl Transcript {
    fn key(&self) -> SessionKey<'_> {
        SessionKey { agent: &self.agent, session: &self.session }
    }

    /// As the journal keeps it.
    fn masked(self) -> Self {
        Self { path: store::mask(&self.path).into_owned(), ..self }
    }
}

/// Of the phase that lasts now, as a command asks for it; none where no workflow is active.
pub fn of_current_phase(project: &Project, environment: &Environment, options: store::StoreOptions) -> Option<Spent> {
    let store = project.store(environment);
    // To ask is no reason to make a journal.
    if !store.exists() {
        return None;
    }
    let nobody = Event::unknown(PERSON_SESSION.agent, options.now);
    let count = TokenCount::of_command(Arc::new(nobody), store, options);
    count.count().ok()?.phase.map(|(_, spent)| spent)
}

/// Whether transcripts have something new to tell: a model has just been at work.
pub fn is_news_at(kind: EventKind) -> bool {
    matches!(kind, EventKind::AfterTool | EventKind::ToolFailed) || kind.is_stop()
}

/// Those that a session or a phase remembers.
fn remembered(variables: &Map<String, Value>) -> Vec<Transcript> {
    let kept = variables.get(TRANSCRIPTS).cloned();
    kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default()
}

impl TokenCount {
    pub fn of_hook(event: Arc<Event>, store: PathBuf, options: store::StoreOptions) -> Self {
        let options = store::StoreOptions { busy: options.busy.min(HOOK_PATIENCE), ..options };
        Self { event, store, options, limit: HOOK_LIMIT, counted: OnceLock::new() }
    }

    pub fn of_command(event: Arc<Event>, store: PathBuf, options: store::StoreOptions) -> Self {
        Self { event, store, options, limit: COMMAND_LIMIT, counted: OnceLock::new() }
    }

    /// Of a phase, or else of the session. None where the journal cannot be used.
    pub fn spent(&self, phase: Option<&str>) -> Option<Spent> {
        let counted = self.counted.get_or_init(|| self.count().ok()).as_ref()?;
        Some(match phase {
            None => counted.session,
            Some(phase) => counted.phase.as_ref().map_or(Spent::Unknown, |(current, spent)| {
                // One that is being entered has no transcripts yet.
                if current == phase { *spent } else { Spent::Unknown }
            }),
        })
    }

    /// What the session should hear, where somebody asked.
    pub fn notice(&self) -> Option<SessionNotice> {
        // Before that, there may be no transcript yet.
        if !is_news_at(self.event.kind) {
            return None;
        }
        let problem = self.counted.get()?.as_ref()?.problem.as_ref()?;
        Some(SessionNotice::Once(format!(
            "the tokens of this session are unknown, and rules that count tokens go without them: {problem}"
        )))
    }

    /// Remembers the transcripts that the event names, where somebody may ask for them later. `workflow`: the state of the one
    /// that is active.
    pub fn remember(&self, state: Option<&SessionState>, workflow: Option<&SessionState>, changes: &mut StateChanges) {
        if let Some(state) = state.filter(|_| self.counted.get().is_some())
            && let Some(all) = self.with_named(&state.variables)
        {
            changes.set(TRANSCRIPTS, all);
        }
        if let Some(all) = workflow.and_then(|workflow| self.with_named(&workflow.variables)) {
            changes.workflow.insert(TRANSCRIPTS.to_owned(), Some(all));
        }
    }

    /// The transcripts that are remembered, and those that the event names; nothing where these are nothing new.
    fn with_named(&self, variables: &Map<String, Value>) -> Option<Value> {
        let mut all = remembered(variables);
        let number = all.len();
        for named in self.named().map(Transcript::masked) {
            if !all.contains(&named) {
                all.push(named);
            }
        }
        if all.len() == number {
            return None;
        }
        all.drain(..all.len().saturating_sub(MOST_TRANSCRIPTS));
        serde_json::to_value(all).ok()
    }

    fn named(&self) -> impl Iterator<Item = Transcript> {
        let of_subagent = self.event.extra.get(SUBAGENTS).and_then(Value::as_str);
        let paths = self.event.transcript.as_deref().into_iter().chain(of_subagent);
        let (agent, session) = (&self.event.agent, &self.event.session);
        paths.filter(|path| !path.is_empty()).map(|path| Transcript {
            agent: agent.clone(),
            session: session.clone(),
            path: path.to_owned(),
        })
    }

    fn count(&self) -> Result<Counted, StoreError> {
        let is_dry_run = self.event.is_dry_run;
        let open = if is_dry_run { Store::open_existing_read } else { Store::open };
        let mut store = open(&self.store, self.options)?;
        let own = SessionKey { agent: &self.event.agent, session: &self.event.session };
        let workflow = store.workflow()?;
        let position = Position::of(&workflow.variables);
        let mut transcripts: Vec<Transcript> = self.named().collect();
        transcripts.extend(remembered(&store.session(own)?.variables));
        if position.is_some() {
            transcripts.extend(remembered(&workflow.variables));
        }
        let mut paths = BTreeSet::new();
        transcripts.retain(|transcript| paths.insert(transcript.path.clone()));

        let mut reading = Reading::new(&store, self.limit);
        let (mut is_any_known, mut is_own_known) = (false, false);
        let mut problem = "its agent names no transcript".to_owned();
        for transcript in &transcripts {
            // A dry run goes by what was counted so far: what is read has to be written down.
            match if is_dry_run { Ok(()) } else { reading.read(transcript)? } {
                Ok(()) => {
                    is_any_known = true;
                    is_own_known |= transcript.key() == own;
                }
                Err(error) if transcript.key() == own => {
                    problem = format!("`{}` cannot be read ({error})", transcript.path);
                }
                Err(_) => {}
            }
        }
        let Reading { read, mut is_behind, .. } = reading;
        if !read.is_empty() {
            let stretches: Vec<TranscriptChunk<'_>> = read.iter().map(Read::stretch).collect();
            let phases = position.as_ref().map(Position::phase_starts).unwrap_or_default();
            // What cannot be written now is read again the next time.
            is_behind |= store.add_token_usage(&stretches, &phases).is_err();
        }

        let spent = |is_known: bool, key: SessionKey<'_>| match is_known {
            _ if is_behind => Ok(Spent::Behind),
            true => store.tokens(key).map(Spent::Known),
            false => Ok(Spent::Unknown),
        };
        let phase = match position.map(|position| position.phase()) {
            Some(phase) => Some((phase.clone(), spent(is_any_known, store::phase_key(&phase))?)),
            None => None,
        };
        let session = spent(is_own_known, own)?;
        Ok(Counted { session, phase, problem: (session == Spent::Unknown).then_some(problem) })
    }
}
