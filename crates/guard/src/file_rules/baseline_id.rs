//! The identity of a baseline, which demands and answers contain.

/// The id of the baseline of changes: a commit, or a snapshot at a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineId {
    pub id: String,
    /// A second baseline. An answer to a demand with this id counts for both baselines.
    pub also: Option<String>,
}

impl From<String> for BaselineId {
    fn from(id: String) -> Self {
        Self { id, also: None }
    }
}

impl BaselineId {
    /// The ids of all baselines for which an answer counts.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_str()).chain(self.also.as_deref())
    }
}
