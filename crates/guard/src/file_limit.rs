//! How large a file this process may make. The system kills one that goes beyond (`SIGXFSZ`), and an agent takes a hook
//! that was killed for one that has nothing to say.

/// What everything but an old journal is far below.
#[cfg(unix)]
const ENOUGH: u64 = 16 * 1024 * 1024;

/// Whether even small files are too much. What may be raised is raised first.
#[cfg(unix)]
pub fn is_too_low() -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Fsize);
    let is_low = |limit: Option<u64>| limit.is_some_and(|limit| limit < ENOUGH);
    if limit.current == limit.maximum {
        return is_low(limit.current);
    }
    let raised = setrlimit(Resource::Fsize, Rlimit { current: limit.maximum, maximum: limit.maximum });
    is_low(if raised.is_ok() { limit.maximum } else { limit.current })
}

#[cfg(not(unix))]
pub fn is_too_low() -> bool {
    false
}
