//! Real processes, in a scratch folder. Where another process of ours is needed, it is this test binary, started again.

mod environment;
mod path_locks;
mod process;
mod sandbox;
mod stage;

use std::ffi::OsString;

use crate::shim;

/// The words that start such a process. Behind the `--`, they say what it is to do.
fn own_call(task: &str) -> Vec<OsString> {
    let options = ["--exact", "tests::child", "--nocapture", "--format=terse", "--test-threads=1", "--", task];
    let program = std::env::current_exe().unwrap();
    [program.into_os_string()].into_iter().chain(options.map(OsString::from)).collect()
}

/// Not a test but what the other processes do; does nothing in the first one.
#[test]
fn child() {
    let mut words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    match words.next().as_ref().and_then(|task| task.to_str()) {
        Some(shim::WORD) => shim::run(words),
        Some(path_locks::COUNT) => path_locks::count(words),
        _ => {}
    }
}
