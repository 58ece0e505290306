//! How a connection waits while another process holds a lock of the database.
//!
//! SQLite's own `busy_timeout` sleeps 1, 2, 5, 10 … 100 ms, which is long compared with a lock that is held for a tenth
//! of a millisecond. The delays here start at a fraction of a millisecond and stay short. They differ between
//! processes, so that two processes that collided once do not collide again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// The busy handler of a connection. Waiting can be disabled temporarily.
#[derive(Debug, Clone, Default)]
pub(crate) struct BusyWait {
    is_disabled: Arc<AtomicBool>,
}

impl BusyWait {
    /// Makes `connection` wait up to `timeout` for a lock.
    pub(crate) fn install(&self, connection: &mut Connection, timeout: Duration) -> rusqlite::Result<()> {
        let is_disabled = Arc::clone(&self.is_disabled);
        let mut waiting_since = Instant::now();
        connection.busy_handler(Some(move |attempts: i32| {
            if attempts == 0 {
                waiting_since = Instant::now();
            }
            if is_disabled.load(Ordering::Relaxed) || waiting_since.elapsed() >= timeout {
                return false;
            }
            std::thread::sleep(retry_delay(attempts));
            true
        }))
    }

    /// Runs `work` without waiting for locks.
    pub(crate) fn without_waiting<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_disabled.store(true, Ordering::Relaxed);
        let result = work();
        self.is_disabled.store(false, Ordering::Relaxed);
        result
    }
}

/// Returns a delay that grows from 0.2 ms to at most 4 ms. Up to half of it is jitter from the process id.
pub(crate) fn retry_delay(attempts: i32) -> Duration {
    let step = u64::from(attempts.unsigned_abs().min(18)) + 2;
    let jitter = u64::from(std::process::id().wrapping_add(attempts.unsigned_abs().wrapping_mul(7)) % 16);
    Duration::from_micros(step * 100 + step * 100 * jitter / 16)
}
