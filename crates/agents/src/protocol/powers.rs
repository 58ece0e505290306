//! What an agent lets a hook do on one of its events. The one description of that: answers are made by it, and the
//! capability table is read from it.

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

impl Powers {
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
