//! When the write-ahead log goes back into the database.
//!
//! A lone process rereads the whole log when it opens it, so the log must stay short; a checkpoint costs some
//! milliseconds, so it must be rare, and never at the cost of waiting. SQLite's own rules (on close, or by a count of
//! pages) fit neither; they are off.

use std::fs;

use crate::{Store, files};

/// The size of the log, in bytes, after which whoever committed last empties it: 250 pages, or a good hundred events.
///
/// Measured as processor time of a whole hook process (an empty one: 0.9 ms): limits of 125, 250 and 500 pages cost 1.75,
/// 1.85 and 2.0 ms, and one event in 50, 110 and 200 pays for a checkpoint, 5 to 20 ms on a disk that is asked to sync.
/// At 250 the checkpoints stay outside the slowest hundredth.
pub(crate) const LOG_LIMIT: u64 = 512 * 1024;

impl Store {
    /// Empties the log if it is long and nobody is in the way. If somebody is, the next process will.
    pub(crate) fn checkpoint_if_long(&self) {
        let long = fs::metadata(files::wal(&self.path)).is_ok_and(|log| log.len() > LOG_LIMIT);
        if long {
            let _ =
                self.patience.without(|| self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        }
    }
}
