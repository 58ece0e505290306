//! The limit of file sizes of this process (`ulimit -f`). The system kills a process that exceeds the limit
//! (`SIGXFSZ`), and if a hook is killed, agents run the call.

/// The lowest acceptable limit in bytes. Most files that Linchpin writes are far smaller.
#[cfg(unix)]
const MIN_LIMIT: u64 = 16 * 1024 * 1024;

/// Raises the soft limit to the hard limit. Returns true if the limit is still too low.
#[cfg(unix)]
pub fn is_too_low_after_raising() -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Fsize);
    let is_low = |limit: Option<u64>| limit.is_some_and(|limit| limit < MIN_LIMIT);
    if limit.current == limit.maximum {
        return is_low(limit.current);
    }
    let raised = setrlimit(Resource::Fsize, Rlimit { current: limit.maximum, maximum: limit.maximum });
    is_low(if raised.is_ok() { limit.maximum } else { limit.current })
}

#[cfg(not(unix))]
pub fn is_too_low_after_raising() -> bool {
    false
}
