//! Many hooks at once lose nothing.

use std::thread;

use super::{NO_DANGER, project};

const PROCESSES: usize = 64;
const EVENTS: usize = 8;

#[test]
fn sixty_four_processes_at_once() {
    let project = project();
    project.rule("no-danger", NO_DANGER);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..PROCESSES)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..EVENTS {
                        let reply = project.hook("claude", &project.bash("danger"));
                        assert_eq!(reply.decision(), "deny", "{}", reply.transcript());
                        assert!(reply.json().get("systemMessage").is_none(), "{}", reply.transcript());
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().expect("no hook failed");
        }
    });
    let log = project.run(&["log", "--limit", "0", "--json"]);
    assert_eq!(log.stdout.lines().count(), PROCESSES * EVENTS);
}
