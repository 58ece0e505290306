//! What an agent lets a hook do at an event. Both the answers and the capability table are derived from this.

use engine::EventKind;

/// What a hook can do at an event, and what happens to a verdict that the hook cannot carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCapabilities {
    pub refuse: RefusalMethod,
    pub ask: AskEffect,
    /// True if the hook can approve a call, so that the agent does not ask the person.
    pub approve: bool,
    /// True if the agent reads a text from the hook, with or without a decision.
    pub context: bool,
    /// True if the agent shows the person a text from the hook, with or without a decision.
    pub message: bool,
}

/// How a hook can prevent what is about to happen; at a stop, how it can hold the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalMethod {
    Never,
    ByAnswer,
    /// By exit code 2. Agents understand that even at events that Linchpin does not know.
    ByExitCode,
}

/// The effect of a verdict that asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskEffect {
    /// The agent asks the person.
    Asks,
    /// The agent cannot ask, so the call is refused until a person allows it with `linchpin allow`.
    Refuses,
    /// Nothing can be asked at this event, or the agent asks by itself. The reason is shown to the [`Audience`].
    Explains,
}

/// The effect of a verdict that blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockEffect {
    /// The agent is kept from stopping.
    Held,
    /// The action is refused.
    Refused,
    /// The action has happened already. The agent reads that the action was not allowed.
    Objected,
    /// The hook cannot refuse the action. The objection is shown to the [`Audience`].
    Reported,
}

/// Who sees a text from the hook that is not part of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    AgentAndPerson,
    Agent,
    Person,
    Nobody,
}

impl HookCapabilities {
    /// The effect of a block at an event of this kind.
    pub fn block_effect(self, kind: EventKind) -> BlockEffect {
        match self.refuse {
            RefusalMethod::Never => BlockEffect::Reported,
            _ if kind.is_stop() => BlockEffect::Held,
            _ if has_happened(kind) => BlockEffect::Objected,
            _ => BlockEffect::Refused,
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

    /// The agent ignores the hook's answer.
    pub(crate) const NONE: Self =
        Self { refuse: RefusalMethod::Never, ask: AskEffect::Explains, approve: false, context: false, message: false };
    /// The person sees a text.
    pub(crate) const MESSAGE: Self = Self { message: true, ..Self::NONE };
    /// The agent and the person see a text.
    pub(crate) const CONTEXT: Self = Self { context: true, ..Self::MESSAGE };
    /// The action can be refused, or the stop held; the person sees a text.
    pub(crate) const REFUSE: Self = Self { refuse: RefusalMethod::ByAnswer, ..Self::MESSAGE };
    pub(crate) const REFUSE_OR_CONTEXT: Self = Self { context: true, ..Self::REFUSE };
    /// The capabilities at an event that Linchpin does not know.
    pub(crate) const UNKNOWN: Self = Self { refuse: RefusalMethod::ByExitCode, ask: AskEffect::Refuses, ..Self::NONE };
}

/// True if events of this kind are reported after the action, so that nothing can be prevented any more.
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
