//! The run of a loop that a session belongs to: which hat is on, what of it is in force, and what it hands over.
//!
//! Whoever drives a run sets the stage before each agent starts; the agent's hooks and commands find it by
//! [`Stage::RUN`] in their environment. Nothing here starts an agent.

mod close;
mod emit;
mod enter;
mod running_gates;
mod tree_digest;

pub use close::ClosingRefused;
pub use emit::{Emission, EmitRefused};
pub use tree_digest::tree_digest;

#[cfg(test)]
mod tests {
    use agents::Agent;
    use agents::transcript::{TranscriptPosition, usage};
    use engine::hats::AgentChoice;

    /// A limit of tokens bounds a loop only where this is so.
    #[test]
    fn agents_that_are_said_to_report_tokens_have_transcripts_that_tell_them() {
        let empty = tempfile::NamedTempFile::new().expect("a file");
        let tells = |name: &str| {
            Agent::from_name(name)
                .is_some_and(|agent| usage(agent, empty.path(), TranscriptPosition::default(), 1000).is_ok())
        };
        for name in AgentChoice::NAMES {
            let said = AgentChoice::Named(name.to_owned()).reports_tokens();
            assert_eq!(said, tells(name), "{name}");
        }
    }
}
