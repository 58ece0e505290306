//! What an agent lets a hook do on one of its events. The one description of that: answers are made by it, and the
//! capability table is read from it.

use engine::EventKind;

/// What can be done on an event, and what becomes of a verdict where it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Powers {
    pub refuse: Refusing,
    pub ask: Asking,
    /// A call can be let through without the agent's own question.
    pub approve: bool,
    /// The model reads a text beside, or without, a decision.
    pub context: bool,
    /// The person is shown a text.
    pub message: bool,
}

/// Whether what is about to happen can be kept from happening. At a stop: whether the agent can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusing {
    Never,
    ByAnswer,
    /// An event that nobody knows: what it takes is not known, but an exit code it takes.
    ByExitCode,
}

/// What becomes of a verdict that wants a person to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The agent asks.
    Asks,
    /// The agent cannot ask, so it is refused until a person decided elsewhere.
    Refuses,
    /// There is nothing to be asked about, or the agent asks by itself: it is told why.
    Tells,
}

/// What becomes of a verdict that blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocking {
    /// The agent is kept from stopping.
    Held,
    /// It does not happen.
    Refused,
    /// It has happened already, and the agent is told that it should not have.
    Objected,
    /// The agent does not let it be refused. Whoever can be told is told.
    Told,
}

/// Who reads what is said beside a decision, or without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    AgentAndPerson,
    Agent,
    Person,
    Nobody,
}

impl Powers {
    /// What a block comes to at an event of this kind.
    pub fn blocking(self, kind: EventKind) -> Blocking {
        match self.refuse {
            Refusing::Never => Blocking::Told,
            _ if kind.is_stop() => Blocking::Held,
            _ if has_happened(kind) => Blocking::Objected,
            _ => Blocking::Refused,
        }
    }

    pub fn audience(self) -> Audience {
        match (self.context, self.message) {
            (true, true) => Audience::AgentAndPerson,
            (true, false) => Audience::Agent,
            (false, true) => Audience::Person,
            (false, false) => Audience::Nobody,
        }
    }

    /// No answer is read.
    pub(crate) const NONE: Self =
        Self { refuse: Refusing::Never, ask: Asking::Tells, approve: false, context: false, message: false };
    /// The person is told, and nothing else.
    pub(crate) const MESSAGE: Self = Self { message: true, ..Self::NONE };
    /// The model and the person are told.
    pub(crate) const CONTEXT: Self = Self { context: true, ..Self::MESSAGE };
    /// It is refused, or held; the person is told.
    pub(crate) const REFUSE: Self = Self { refuse: Refusing::ByAnswer, ..Self::MESSAGE };
    pub(crate) const REFUSE_OR_CONTEXT: Self = Self { context: true, ..Self::REFUSE };
    /// The event is not known.
    pub(crate) const UNKNOWN: Self = Self { refuse: Refusing::ByExitCode, ask: Asking::Refuses, ..Self::NONE };
}

/// Whether an event of this kind tells of what is done already, so that nobody could keep it from happening.
pub(crate) fn has_happened(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart
            | EventKind::SessionEnd
            | EventKind::AfterTool
            | EventKind::ToolFailed
            | EventKind::AfterCompact
            | EventKind::FileChanged
            | EventKind::Notification
            | EventKind::TaskCompleted
    )
}
