//! What happens in an iteration of a run: its beginning, the gates of its hat, and the hand-over.
//!
//! The driver of a run writes a [`HatPhase`](crate::session::HatPhase) before each agent starts. The hooks and
//! `linchpin` commands that the agent runs find the hat phase by the environment variable `LINCHPIN_RUN`. This module
//! does not start agents.

mod close;
mod emit;
mod enter;
mod hat_gates;
mod running_gates;

pub use close::ClosingRefused;
pub use emit::{Emission, EmitRefused};

#[cfg(test)]
mod tests {
    use agents::Agent;
    use agents::transcript::{TranscriptPosition, usage};
    use engine::hats::AgentChoice;

    /// The token limit of a loop counts tokens from transcripts, so it needs agents whose transcripts can be read.
    #[test]
    fn agents_that_report_tokens_have_readable_transcripts() {
        let empty = tempfile::NamedTempFile::new().expect("a file");
        let has_readable_transcript = |name: &str| {
            Agent::from_name(name)
                .is_some_and(|agent| usage(agent, empty.path(), TranscriptPosition::default(), 1000).is_ok())
        };
        for name in AgentChoice::NAMES {
            let reports_tokens = AgentChoice::Named(name.to_owned()).reports_tokens();
            assert_eq!(reports_tokens, has_readable_transcript(name), "{name}");
        }
    }
}
