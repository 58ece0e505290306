//! Decides when the write-ahead log (WAL) is checkpointed into the database.
//!
//! A process that opens the database while no other one has it open reads the whole WAL, so the WAL must stay
//! short. A checkpoint takes some milliseconds, so it must be rare, and it must never wait. SQLite's automatic
//! checkpoints (when a connection closes, or when the WAL reaches a number of pages) meet neither condition and are
//! switched off.

use std::fs;

use crate::{Store, files};

/// The size of the WAL above which the process that committed checkpoints it: 125 pages, or about 60 events.
///
/// Measured: CPU time of a whole process that records one event (an empty process: 0.87 ms), and the number of
/// checkpoints in 1,000 events. A checkpoint takes 5 to 20 ms if the disk has to sync.
///
/// | page | limit | median | checkpoints |
/// |---|---|---|---|
/// | 4 KiB | 1 MiB | 2.09 ms | 8 |
/// | 4 KiB | 512 KiB | 1.89 ms | 16 |
/// | 2 KiB | 512 KiB | 1.87 ms | 9 |
/// | 1 KiB | 256 KiB | 1.78 ms | 10, but reading a million events through takes 1.5 times as long |
///
/// Later, on a machine that syncs faster, with 2 KiB pages: 2,000 hooks in a row, including checkpoints, took 4.4 s
/// with a limit of 512 KiB and 4.1 s with 256 KiB, the median hook 2.07 and 1.86 ms (a fifth of the gain came from
/// another change).
///
/// Smaller limits do not help. 1,500 hooks of each kind in turns (`/bin/true`: 0.575 ms):
///
/// | limit | median | mean |
/// |---|---|---|
/// | 256 KiB | 2.05 ms | 2.11 ms |
/// | 128 KiB | 2.02 ms | 2.10 ms |
/// | 64 KiB | 2.02 ms | 2.12 ms |
/// | 32 KiB | 2.03 ms | 2.18 ms |
pub(crate) const MAX_WAL_BYTES: u64 = 256 * 1024;

impl Store {
    /// Checkpoints the WAL if it is above the maximum size. Does not wait for locks: if another process holds one, the
    /// checkpoint is left to a later process.
    pub(crate) fn checkpoint_long_wal(&self) {
        let is_long = fs::metadata(files::wal_path(&self.path)).is_ok_and(|wal| wal.len() > MAX_WAL_BYTES);
        if is_long {
            let _ = self
                .busy_wait
                .without_waiting(|| self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        }
    }
}
