//! Notices for a person, by how often they are given in a session.

/// A notice for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNotice {
    /// Given once in a session.
    Once(String),
    /// Given at every event that causes it.
    Always(String),
}
