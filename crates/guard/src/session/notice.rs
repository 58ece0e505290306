/// What a person should hear about how facts were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNotice {
    /// To be told once a session.
    Once(String),
    Always(String),
}
