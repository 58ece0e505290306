//! Concurrent hooks lose no events.

use std::thread;

use super::{NO_DANGER, project};

const PROCESSES: usize = 64;
const EVENTS: usize = 8;

#[test]
fn concurrent_hooks_are_all_recorded() {
    let project = project();
    // The long deadline is for slow machines: the test is not about duration.
    project.config("deadline: 20s\n").rule("no-danger", NO_DANGER);
    let replies: Vec<String> = thread::scope(|scope| {
        let hooks =
            || (0..EVENTS).map(|_| project.hook("claude", &project.bash_payload("danger")).transcript()).collect();
        let workers: Vec<thread::ScopedJoinHandle<Vec<String>>> = (0..PROCESSES).map(|_| scope.spawn(hooks)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no hook failed to run")).collect()
    });
    let unexpected: Vec<&String> =
        replies.iter().filter(|reply| !reply.contains("\"deny\"") || reply.contains("systemMessage")).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let log = project.run(&["log", "--limit", "0", "--json"]);
    assert_eq!(log.stdout.lines().count(), PROCESSES * EVENTS);
}
