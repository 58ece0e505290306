//! Checks whether output to stdout can arrive.
//!
//! If stdout is not open for writing, the standard library reports success for writes to it. If stdout is closed when
//! the process starts, the standard library opens `/dev/null` for reading and writing instead.

/// True if stdout is not open for writing.
#[cfg(unix)]
pub fn is_unwritable() -> bool {
    access_mode() == Some(rustix::fs::OFlags::RDONLY)
}

/// True if stdout was closed when the process started. Also true if the caller redirected stdout to `/dev/null` opened
/// for reading and writing, as Python's `DEVNULL` and Node's `ignore` do, because the two cannot be told apart.
#[cfg(unix)]
pub fn was_closed() -> bool {
    access_mode() == Some(rustix::fs::OFlags::RDWR) && is_null()
}

#[cfg(unix)]
fn access_mode() -> Option<rustix::fs::OFlags> {
    rustix::fs::fcntl_getfl(std::io::stdout()).ok().map(|flags| flags & rustix::fs::OFlags::RWMODE)
}

#[cfg(unix)]
fn is_null() -> bool {
    let null = rustix::fs::stat("/dev/null").map(|null| null.st_rdev);
    let stdout = rustix::fs::fstat(std::io::stdout());
    stdout.is_ok_and(|stdout| {
        rustix::fs::FileType::from_raw_mode(stdout.st_mode).is_char_device() && null == Ok(stdout.st_rdev)
    })
}

#[cfg(not(unix))]
pub fn is_unwritable() -> bool {
    false
}

#[cfg(not(unix))]
pub fn was_closed() -> bool {
    false
}
