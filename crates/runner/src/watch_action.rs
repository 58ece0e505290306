//! The decision of a process's watcher while the process runs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchAction {
    Continue,
    /// Restarts the idle timeout: the process showed activity other than output.
    KeepAlive,
    /// Ends the process.
    Stop,
}
