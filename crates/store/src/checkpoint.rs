//! When the write-ahead log goes back into the database.
//!
//! A lone process rereads the whole log when it opens it, so the log must stay short; a checkpoint costs some
//! milliseconds, so it must be rare, and never at the cost of waiting. SQLite's own rules (on close, or by a count of
//! pages) fit neither; they are off.

use std::fs;

use crate::{Store, files};

/// The size of the log, in bytes, after which whoever committed last empties it.
pub(crate) const LOG_LIMIT: u64 = 1024 * 1024;

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
