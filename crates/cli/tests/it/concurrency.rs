//! Concurrent hooks lose no events.

use std::thread;

use super::{NO_DANGER, project};

const THREADS: usize = 64;
const HOOKS_PER_THREAD: usize = 8;

#[test]
fn concurrent_hooks_are_all_recorded() {
    let project = project();
    // The deadline is long, so that the test succeeds on slow machines.
    project.config("deadline: 20s\n").rule("no-danger", NO_DANGER);
    let replies: Vec<String> = thread::scope(|scope| {
        let hooks = || {
            (0..HOOKS_PER_THREAD)
                .map(|_| project.hook("claude", &project.bash_payload("danger")).transcript())
                .collect()
        };
        let workers: Vec<thread::ScopedJoinHandle<Vec<String>>> = (0..THREADS).map(|_| scope.spawn(hooks)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a thread")).collect()
    });
    let unexpected: Vec<&String> =
        replies.iter().filter(|reply| !reply.contains("\"deny\"") || reply.contains("systemMessage")).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let log = project.run(&["log", "--limit", "0", "--json"]);
    assert_eq!(log.stdout.lines().count(), THREADS * HOOKS_PER_THREAD);
}
