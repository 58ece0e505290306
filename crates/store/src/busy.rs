//! Waiting for a lock.
//!
//! SQLite's own `busy_timeout` sleeps 1, 2, 5, 10 … 100 ms, which is long against a lock that is held for a tenth of
//! a millisecond. Here a wait starts at a fraction of a millisecond and stays short, and differs between processes, so
//! that those that met at one lock do not meet at the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How long a connection waits; can be told not to wait for a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patience {
    impatient: Arc<AtomicBool>,
}

impl Patience {
    /// Makes `connection` wait up to `limit` for a lock.
    pub(crate) fn install(&self, connection: &mut Connection, limit: Duration) -> rusqlite::Result<()> {
        let impatient = Arc::clone(&self.impatient);
        let mut since = Instant::now();
        connection.busy_handler(Some(move |attempts: i32| {
            if attempts == 0 {
                since = Instant::now();
            }
            if impatient.load(Ordering::Relaxed) || since.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(pause(attempts));
            true
        }))
    }

    /// Runs `work` without waiting for any lock.
    pub(crate) fn without<T>(&self, work: impl FnOnce() -> T) -> T {
        self.impatient.store(true, Ordering::Relaxed);
        let result = work();
        self.impatient.store(false, Ordering::Relaxed);
        result
    }
}

/// From 0.2 ms, growing to at most 4 ms, up to half of it by the process's own number.
pub(crate) fn pause(attempts: i32) -> Duration {
    let step = u64::from(attempts.unsigned_abs().min(18)) + 2;
    let spread = u64::from(std::process::id().wrapping_add(attempts.unsigned_abs().wrapping_mul(7)) % 16);
    Duration::from_micros(step * 100 + step * 100 * spread / 16)
}
