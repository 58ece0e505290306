//! Counts the tokens that a session or phase has used, from the transcripts of its agents.
//!
//! Transcripts are read only when a rule asks, and only the part that was appended since the last time. Events contain
//! the paths of transcripts. The paths are stored with the phase while a workflow is active, and with the session if a
//! rule asked for its tokens. `store::tokens` sums up the messages; the agents' adapters parse them.
//!
//! Unknown is not zero: if no transcript can be read, there is no number.

mod transcript_reader;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::pace::Tokens;
use engine::{Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{PERSON_SESSION, SessionKey, SessionState, StateChanges, Store, StoreError, TranscriptChunk};

use self::transcript_reader::{NewMessages, TranscriptReader};
use crate::Environment;
use crate::position::Position;
use crate::project::Project;
use crate::session::SessionNotice;

/// The variable in which a session or phase stores the paths of its transcripts.
pub const TRANSCRIPTS: &str = "_transcripts";
/// The maximum number of stored transcripts. The latest are kept.
const MAX_TRANSCRIPTS: usize = 200;
/// The payload field with the transcript of a subagent that stops.
const SUBAGENTS: &str = "agent_transcript_path";

/// The maximum number of bytes that one hook reads from all transcripts together. This takes about ten milliseconds.
/// The next hook continues there.
const HOOK_LIMIT: u64 = 1024 * 1024;
/// A command reads transcripts to their end.
const COMMAND_LIMIT: u64 = u64::MAX;
/// How long a hook waits for a locked journal. It is short, because the lock may be held by the hook itself while it
/// judges for the second time.
const HOOK_PATIENCE: Duration = Duration::from_millis(100);

/// The known token usage of a session or phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokensUsed {
    Known(Tokens),
    /// No transcript can be read.
    Unknown,
    /// The transcripts have more new messages than one hook may read.
    Behind,
}

impl TokensUsed {
    pub fn known(self) -> Option<Tokens> {
        match self {
            Self::Known(tokens) => Some(tokens),
            Self::Unknown | Self::Behind => None,
        }
    }
}

/// Counts at most once per event, even if the event is judged several times.
pub struct TokenCount {
    event: Arc<Event>,
    store: PathBuf,
    options: store::StoreOptions,
    limit: u64,
    /// `None` if the journal cannot be used.
    counted: OnceLock<Option<Counted>>,
}

struct Counted {
    session: TokensUsed,
    /// The current phase's name and usage.
    phase: Option<(String, TokensUsed)>,
    /// The reason why the session's own transcripts cannot be read.
    problem: Option<String>,
}

/// A transcript, and the session whose event contained its path.
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

    /// Masks secrets, for storing in the journal.
    fn masked(self) -> Self {
        Self { path: store::mask(&self.path).into_owned(), ..self }
    }
}

/// The usage of the current phase, for commands; `None` if no workflow is active.
pub fn of_current_phase(
    project: &Project,
    environment: &Environment,
    options: store::StoreOptions,
) -> Option<TokensUsed> {
    let store = project.journal_path(environment);
    // A query must not create a journal.
    if !store.exists() {
        return None;
    }
    let event = Event::unknown(PERSON_SESSION.agent, options.now);
    let count = TokenCount::of_command(Arc::new(event), store, options);
    count.count().ok()?.phase.map(|(_, spent)| spent)
}

/// True for events at which transcripts have new messages, because the model has just been working.
pub fn has_new_tokens(kind: EventKind) -> bool {
    matches!(kind, EventKind::AfterTool | EventKind::ToolFailed) || kind.is_stop()
}

/// The transcripts that a session or phase has stored.
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

    /// The usage of the phase, or of the session if `phase` is `None`; `None` if the journal cannot be used.
    pub fn spent(&self, phase: Option<&str>) -> Option<TokensUsed> {
        let counted = self.counted.get_or_init(|| self.count().ok()).as_ref()?;
        Some(match phase {
            None => counted.session,
            Some(phase) => counted.phase.as_ref().map_or(TokensUsed::Unknown, |(current, spent)| {
                // A phase that is being entered has no transcripts yet.
                if current == phase { *spent } else { TokensUsed::Unknown }
            }),
        })
    }

    /// The notice that the session's tokens are unknown, if a rule asked for them.
    pub fn notice(&self) -> Option<SessionNotice> {
        // At other events, the transcript may not exist yet.
        if !has_new_tokens(self.event.kind) {
            return None;
        }
        let problem = self.counted.get()?.as_ref()?.problem.as_ref()?;
        Some(SessionNotice::Once(format!(
            "the tokens of this session are unknown, so rules about tokens are not judged: {problem}"
        )))
    }

    /// Stores the event's transcripts, if a rule may ask for them later. `workflow` is the state of the active
    /// workflow.
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

    /// The stored transcripts plus those of the event; `None` if the event adds none.
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
        all.drain(..all.len().saturating_sub(MAX_TRANSCRIPTS));
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

        let mut reading = TranscriptReader::new(&store, self.limit);
        let (mut is_any_known, mut is_own_known) = (false, false);
        let mut problem = "the agent did not name its transcript".to_owned();
        for transcript in &transcripts {
            // A dry run uses the last counts, because it cannot store how far it has read.
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
        let TranscriptReader { read, mut is_behind, .. } = reading;
        if !read.is_empty() {
            let stretches: Vec<TranscriptChunk<'_>> = read.iter().map(NewMessages::as_chunk).collect();
            let phases = position.as_ref().map(Position::phase_starts).unwrap_or_default();
            // If the write fails, the next event reads these messages again.
            is_behind |= store.add_token_usage(&stretches, &phases).is_err();
        }

        let spent = |is_known: bool, key: SessionKey<'_>| match is_known {
            _ if is_behind => Ok(TokensUsed::Behind),
            true => store.tokens(key).map(TokensUsed::Known),
            false => Ok(TokensUsed::Unknown),
        };
        let phase = match position.map(|position| position.phase_key()) {
            Some(phase) => Some((phase.clone(), spent(is_any_known, store::phase_key(&phase))?)),
            None => None,
        };
        let session = spent(is_own_known, own)?;
        Ok(Counted { session, phase, problem: (session == TokensUsed::Unknown).then_some(problem) })
    }
}
