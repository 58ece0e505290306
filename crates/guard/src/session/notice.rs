/// A notice for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNotice {
    /// Given once per session.
    Once(String),
    Always(String),
}
