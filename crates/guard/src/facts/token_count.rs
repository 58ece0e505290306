//! Counts the tokens that a session or phase has used. The numbers come from the transcripts that the agents write.
//!
//! Transcripts are read only when the number of tokens is needed, and only the part that was appended since they were
//! last read. Events contain the paths of transcripts. These paths are stored in the variables of the phase while a
//! workflow is active, and in the variables of the session if a rule asked for the session's tokens. The crate `agents`
//! parses the messages of a transcript, and `store::tokens` sums up their tokens.
//!
//! If no transcript can be read, the number of tokens is unknown, not zero.

mod transcript_reader;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::pace::Tokens;
use engine::{Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{PERSON_SESSION, SessionKey, StateChanges, Store, StoreError, StoredState, TranscriptChunk};

use self::transcript_reader::{NewMessages, TranscriptReader};
use crate::Environment;
use crate::position::Position;
use crate::project::Project;
use crate::session::SessionNotice;

/// The name of the variable in which the paths of the transcripts of a session or phase are stored.
pub const TRANSCRIPTS: &str = "_transcripts";
/// The maximum number of transcripts whose paths are stored. The latest are kept.
const MAX_TRANSCRIPTS: usize = 200;
/// The payload field with the transcript of a subagent that stops.
const SUBAGENT_TRANSCRIPT: &str = "agent_transcript_path";

/// The maximum number of bytes that one hook reads from all transcripts together. To read that many takes about ten
/// milliseconds. The next hook reads the rest.
const HOOK_BYTE_LIMIT: u64 = 1024 * 1024;
/// `linchpin` commands have no limit: they read transcripts to the end.
const COMMAND_BYTE_LIMIT: u64 = u64::MAX;
/// How long a hook waits for a locked journal when it counts tokens. This time is short, because the hook itself may
/// hold the lock: it does so while it judges an event for the second time.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// The known token usage of a session or phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokensUsed {
    Known(Tokens),
    /// No transcript is known, or none can be read.
    Unknown,
    /// The transcripts have more new messages than one hook may read, or the tokens of the new messages could not be
    /// stored. The next hook reads these messages.
    Incomplete,
}

impl TokensUsed {
    pub fn known(self) -> Option<Tokens> {
        match self {
            Self::Known(tokens) => Some(tokens),
            Self::Unknown | Self::Incomplete => None,
        }
    }
}

/// Counts the used tokens at one event: at most once, even if the event is judged several times.
pub struct TokenCount {
    event: Arc<Event>,
    journal_path: PathBuf,
    options: store::StoreOptions,
    byte_limit: u64,
    /// The counts, once they are needed; `None` if the journal cannot be used.
    counted: OnceLock<Option<TokenCounts>>,
}

struct TokenCounts {
    session: TokensUsed,
    /// The key of the current phase, and the tokens that were used in it; `None` if no workflow is active.
    phase: Option<(String, TokensUsed)>,
    /// The reason why the tokens of the session are unknown; `None` if they are not.
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

    /// The transcript with secrets in its path masked, so that it can be stored in the journal.
    fn masked(self) -> Self {
        Self { path: store::mask(&self.path).into_owned(), ..self }
    }
}

/// The tokens of the current phase, for a `linchpin` command; `None` if no workflow is active or the journal cannot be
/// used.
pub fn of_current_phase(
    project: &Project,
    environment: &Environment,
    options: store::StoreOptions,
) -> Option<TokensUsed> {
    let journal_path = project.journal_path(environment);
    // This function only reads, so it must not create a journal.
    if !journal_path.exists() {
        return None;
    }
    let event = Event::unknown(PERSON_SESSION.agent, options.now);
    let count = TokenCount::of_command(Arc::new(event), journal_path, options);
    count.count().ok()?.phase.map(|(_, used)| used)
}

/// True for the end of a tool call and for stops: before these events, agents have written new messages of the model to
/// their transcripts.
pub fn has_new_tokens(kind: EventKind) -> bool {
    matches!(kind, EventKind::AfterTool | EventKind::ToolFailed) || kind.is_stop()
}

/// The transcripts that a session or phase has stored.
fn stored_transcripts(variables: &Map<String, Value>) -> Vec<Transcript> {
    let stored = variables.get(TRANSCRIPTS).cloned();
    stored.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_default()
}

impl TokenCount {
    pub fn of_hook(event: Arc<Event>, journal_path: PathBuf, options: store::StoreOptions) -> Self {
        let options = store::StoreOptions { busy_timeout: options.busy_timeout.min(HOOK_LOCK_TIMEOUT), ..options };
        Self { event, journal_path, options, byte_limit: HOOK_BYTE_LIMIT, counted: OnceLock::new() }
    }

    pub fn of_command(event: Arc<Event>, journal_path: PathBuf, options: store::StoreOptions) -> Self {
        Self { event, journal_path, options, byte_limit: COMMAND_BYTE_LIMIT, counted: OnceLock::new() }
    }

    /// The tokens of the phase, or of the session if `phase` is `None`. Returns `None` if the journal cannot be used.
    pub fn tokens_used(&self, phase: Option<&str>) -> Option<TokensUsed> {
        let counted = self.counted.get_or_init(|| self.count().ok()).as_ref()?;
        Some(match phase {
            None => counted.session,
            Some(phase) => counted.phase.as_ref().map_or(TokensUsed::Unknown, |(current, used)| {
                // A phase other than the current one is only being entered. It has no transcripts yet.
                if current == phase { *used } else { TokensUsed::Unknown }
            }),
        })
    }

    /// The notice that the session's tokens are unknown; `None` if they are known, or if no rule asked for tokens at
    /// this event.
    pub fn notice(&self) -> Option<SessionNotice> {
        // Before the model has worked, it is normal that there is no transcript.
        if !has_new_tokens(self.event.kind) {
            return None;
        }
        let problem = self.counted.get()?.as_ref()?.problem.as_ref()?;
        Some(SessionNotice::Once(format!(
            "the tokens of this session are unknown, so rules about tokens are not judged: {problem}"
        )))
    }

    /// Adds the event's transcripts to the changes: to the session's variables if a rule asked for tokens at this
    /// event, and to the workflow's variables if a workflow is active. `session_state` and `workflow_state` are the
    /// stored states of the session and of the active workflow.
    pub fn remember_transcripts(
        &self,
        session_state: Option<&StoredState>,
        workflow_state: Option<&StoredState>,
        changes: &mut StateChanges,
    ) {
        if let Some(state) = session_state.filter(|_| self.counted.get().is_some())
            && let Some(all) = self.with_event_transcripts(&state.variables)
        {
            changes.set(TRANSCRIPTS, all);
        }
        if let Some(all) = workflow_state.and_then(|state| self.with_event_transcripts(&state.variables)) {
            changes.workflow_variables.insert(TRANSCRIPTS.to_owned(), Some(all));
        }
    }

    /// The stored transcripts plus those of the event; `None` if the event adds none.
    fn with_event_transcripts(&self, variables: &Map<String, Value>) -> Option<Value> {
        let mut all = stored_transcripts(variables);
        let stored_count = all.len();
        for transcript in self.event_transcripts().map(Transcript::masked) {
            if !all.contains(&transcript) {
                all.push(transcript);
            }
        }
        if all.len() == stored_count {
            return None;
        }
        all.drain(..all.len().saturating_sub(MAX_TRANSCRIPTS));
        serde_json::to_value(all).ok()
    }

    /// The transcripts whose paths the event contains.
    fn event_transcripts(&self) -> impl Iterator<Item = Transcript> {
        let of_subagent = self.event.extra.get(SUBAGENT_TRANSCRIPT).and_then(Value::as_str);
        let paths = self.event.transcript.as_deref().into_iter().chain(of_subagent);
        let (agent, session) = (&self.event.agent, &self.event.session);
        paths.filter(|path| !path.is_empty()).map(|path| Transcript {
            agent: agent.clone(),
            session: session.clone(),
            path: path.to_owned(),
        })
    }

    /// Reads the new messages of all transcripts and stores their tokens. Returns the sums for the session and the
    /// phase.
    fn count(&self) -> Result<TokenCounts, StoreError> {
        let is_dry_run = self.event.is_dry_run;
        let open = if is_dry_run { Store::open_read_only } else { Store::open };
        let mut store = open(&self.journal_path, self.options)?;
        let session_key = SessionKey { agent: &self.event.agent, session: &self.event.session };
        let workflow_state = store.workflow_state()?;
        let position = Position::of(&workflow_state.variables);
        let mut transcripts: Vec<Transcript> = self.event_transcripts().collect();
        transcripts.extend(stored_transcripts(&store.session_state(session_key)?.variables));
        if position.is_some() {
            transcripts.extend(stored_transcripts(&workflow_state.variables));
        }
        let mut paths = BTreeSet::new();
        transcripts.retain(|transcript| paths.insert(transcript.path.clone()));

        let mut reader = TranscriptReader::new(&store, self.byte_limit);
        let (mut is_any_known, mut is_session_known) = (false, false);
        let mut problem = "the agent did not name its transcript".to_owned();
        for transcript in &transcripts {
            // A dry run reads no transcript and uses the stored counts, because it must not store up to which position
            // it has read.
            match if is_dry_run { Ok(()) } else { reader.read(transcript)? } {
                Ok(()) => {
                    is_any_known = true;
                    is_session_known |= transcript.key() == session_key;
                }
                Err(error) if transcript.key() == session_key => {
                    problem = format!("`{}` cannot be read ({error})", transcript.path);
                }
                Err(_) => {}
            }
        }
        let TranscriptReader { new_messages, mut is_incomplete, .. } = reader;
        if !new_messages.is_empty() {
            let chunks: Vec<TranscriptChunk<'_>> = new_messages.iter().map(NewMessages::as_chunk).collect();
            let phases = position.as_ref().map(Position::phase_starts).unwrap_or_default();
            // If the tokens cannot be stored, these messages are read again at the next event.
            is_incomplete |= store.add_token_usage(&chunks, &phases).is_err();
        }

        let usage = |is_known: bool, key: SessionKey<'_>| match is_known {
            _ if is_incomplete => Ok(TokensUsed::Incomplete),
            true => store.tokens(key).map(TokensUsed::Known),
            false => Ok(TokensUsed::Unknown),
        };
        let phase = match position.map(|position| position.phase_key()) {
            Some(phase) => Some((phase.clone(), usage(is_any_known, store::phase_key(&phase))?)),
            None => None,
        };
        let session = usage(is_session_known, session_key)?;
        Ok(TokenCounts { session, phase, problem: (session == TokensUsed::Unknown).then_some(problem) })
    }
}
