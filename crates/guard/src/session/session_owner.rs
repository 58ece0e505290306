//! An agent's session.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOwner {
    pub agent: String,
    pub id: String,
}
