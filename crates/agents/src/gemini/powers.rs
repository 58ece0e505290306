//! What Gemini CLI lets a hook do.

use crate::protocol::powers::{Asking, Powers};

pub(super) fn powers(event: &str) -> Powers {
    match event {
        // It would ask where nobody is there to answer, and wait for ever.
        "BeforeTool" => Powers { ask: Asking::Refuses, ..Powers::REFUSE },
        "BeforeAgent" => Powers::REFUSE_OR_CONTEXT,
        "AfterAgent" => Powers::REFUSE,
        // A refusal after a call would take its output from the model; a text is put beside it.
        "AfterTool" | "SessionStart" => Powers::CONTEXT,
        "SessionEnd" | "Notification" | "PreCompress" => Powers::MESSAGE,
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" => Powers::NONE,
        _ => Powers::UNKNOWN,
    }
}
