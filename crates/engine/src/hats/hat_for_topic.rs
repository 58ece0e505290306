//! Finds the hat that a topic triggers. (`next_topic.rs` in the crate `driver` chooses the topic of the next iteration.)

use super::{Hat, Loop};

impl Loop {
    /// Returns the hat that a topic triggers. A valid loop has at most one such hat.
    pub fn hat_for(&self, topic: &str) -> Option<&Hat> {
        self.hats.iter().find(|hat| hat.is_triggered_by(topic))
    }
}
