//! Whether what is written to stdout can arrive.
//!
//! The standard library takes a write to a descriptor that is not open for writing for a success, and opens `/dev/null` to
//! read and write in the place of a descriptor that is closed when the process starts.

/// Whether stdout is not open for writing.
#[cfg(unix)]
pub fn is_unwritable() -> bool {
    access_mode() == Some(rustix::fs::OFlags::RDONLY)
}

/// Whether stdout was closed, or leads nowhere in the same way: Python's `DEVNULL` and Node's `ignore` are such a `/dev/null`.
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
