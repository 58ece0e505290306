//! Tests with real processes, in a temporary directory. When a test needs a second process of this crate, it starts
//! this test binary again.

mod bounded_process;
mod environment;
mod path_locks;
mod sandbox;
mod scratch_project;

use std::ffi::OsString;

use crate::shim;

/// Returns the command that starts this binary again, as a child process with this task.
fn child_command(task: &str) -> Vec<OsString> {
    let options = ["--exact", "tests::child", "--nocapture", "--format=terse", "--test-threads=1", "--", task];
    let program = std::env::current_exe().unwrap();
    [program.into_os_string()].into_iter().chain(options.map(OsString::from)).collect()
}

/// Not a test: the entry point of child processes. It does nothing in the process that runs the tests.
#[test]
fn child() {
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    match arguments.next().as_ref().and_then(|task| task.to_str()) {
        Some(shim::SHIM_ARGUMENT) => shim::run(arguments),
        Some(path_locks::COUNT) => path_locks::count(arguments),
        _ => {}
    }
}
