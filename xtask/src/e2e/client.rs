//! The agents whose own clients are run.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Claude,
    Codex,
    Gemini,
    Copilot,
    OpenCode,
}

impl Client {
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
