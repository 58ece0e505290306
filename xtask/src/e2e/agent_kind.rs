//! The agents whose real clients are tested.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentKind {
    Claude,
    Codex,
    Gemini,
    Copilot,
    OpenCode,
}

impl AgentKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
        }
    }
}
