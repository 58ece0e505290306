//! When the write-ahead log goes back into the database.
//!
//! A lone process rereads the whole log when it opens it, so the log must stay short; a checkpoint costs some
//! milliseconds, so it must be rare, and never at the cost of waiting. SQLite's own rules (on close, or by a count of
//! pages) fit neither; they are off.

use std::fs;

use crate::{Store, files};

/// The size of the log, in bytes, after which whoever committed last empties it: 125 pages, or some sixty events.
///
/// Measured as processor time of a whole process that records one event (an empty process: 0.87 ms), with the checkpoints
/// in 1,000 events, of 5 to 20 ms each where the disk has to sync:
///
/// | page | limit | median | checkpoints |
/// |---|---|---|---|
/// | 4 KiB | 1 MiB | 2.09 ms | 8 |
/// | 4 KiB | 512 KiB | 1.89 ms | 16 |
/// | 2 KiB | 512 KiB | 1.87 ms | 9 |
/// | 1 KiB | 256 KiB | 1.78 ms | 10, but reading a million events through takes 1.5 times as long |
///
/// Later, on a machine that syncs faster, with 2 KiB: 2,000 hooks in a row, checkpoints and all, took 4.4 s with 512 KiB and
/// 4.1 s with 256 KiB, the median of one 2.07 and 1.86 ms (a fifth of that by another change).
pub(crate) const LOG_LIMIT: u64 = 256 * 1024;

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
