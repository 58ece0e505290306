//! What the watcher of a process decides while it runs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    GoOn,
    /// The process gave a sign of life by another way than its output.
    SignOfLife,
    /// The process is to be ended.
    End,
}
