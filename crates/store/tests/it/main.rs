//! The crate's one test binary. Run with `LINCHPIN_STORE_CHILD` set, it is one of the processes that
//! `processes.rs` starts.
fn main() {}
