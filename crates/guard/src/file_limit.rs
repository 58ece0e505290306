//! The process's file size limit (`ulimit -f`). The system kills a process that exceeds it (`SIGXFSZ`), and agents run
//! the call if its hook is killed.

/// Every file that Linchpin writes is far smaller, except an old journal.
#[cfg(unix)]
const MIN_LIMIT: u64 = 16 * 1024 * 1024;

/// True if the limit is too low even for small files. The soft limit is raised to the hard limit first.
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
