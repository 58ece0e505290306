//! Concurrent writers, each with its own connection, neither lose nor duplicate anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use super::TestDatabase;
use crate::{MemoryKind, TaskDraft, TaskId, TaskState, WorkDatabase, starter_id};

/// An operation of a writer.
#[derive(Debug, Clone)]
enum Operation {
    Add,
    Ensure(u8),
    Start(i64),
    Close(i64),
    Remember,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Add),
        (0..4u8).prop_map(Operation::Ensure),
        (1..6i64).prop_map(Operation::Start),
        (1..6i64).prop_map(Operation::Close),
        Just(Operation::Remember),
    ]
}

#[derive(Default)]
struct Results {
    added: Vec<TaskId>,
    ensured: Vec<(u8, TaskId, bool)>,
    started: Vec<TaskId>,
    remembered: usize,
}

fn perform(work: &WorkDatabase, operations: &[Operation], writer: u64) -> Results {
    let tasks = work.tasks();
    let starter = starter_id(&format!("r{writer}"), 1);
    let id = |number: &i64| TaskId::parse(&number.to_string()).expect("an id");
    let mut results = Results::default();
    for operation in operations {
        match operation {
            Operation::Add => {
                let title = format!("by {writer}");
                let draft = TaskDraft { title: &title, ..TaskDraft::default() };
                results.added.push(tasks.add(None, &draft, 1).expect("added").id);
            }
            Operation::Ensure(key) => {
                let draft = TaskDraft { title: "Once", ..TaskDraft::default() };
                let ensured = tasks.ensure(&format!("key {key}"), &draft, 1).expect("ensured");
                results.ensured.push((*key, ensured.task.id, ensured.is_new));
            }
            Operation::Start(number) => match tasks.start(id(number), Some(&starter), 1) {
                Ok(change) if !change.is_unchanged => results.started.push(change.task.id),
                _ => {}
            },
            Operation::Close(number) => {
                let _ = tasks.close(id(number), 1);
            }
            Operation::Remember => {
                work.memories().add(MemoryKind::Fix, "remembered", &[], 1).expect("kept");
                results.remembered += 1;
            }
        }
    }
    results
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn concurrent_writers_lose_nothing(operations in prop::collection::vec(prop::collection::vec(operation(), 0..12), 2..6)) {
        let database = TestDatabase::new();
        let path = database.path();
        let barrier = Barrier::new(operations.len());
        let results: Vec<Results> = thread::scope(|scope| {
            let writers = operations.iter().zip(1..).map(|(operations, writer)| {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    // The database does not exist when the writers start.
                    perform(&WorkDatabase::open(path).expect("opened"), operations, writer)
                })
            });
            let writers: Vec<_> = writers.collect();
            writers.into_iter().map(|writer| writer.join().expect("ended")).collect()
        });
        let work = database.work();
        let all = work.tasks().all().expect("read");
        let ids: BTreeSet<TaskId> = all.iter().map(|task| task.id).collect();

        let added: Vec<TaskId> = results.iter().flat_map(|results| &results.added).copied().collect();
        prop_assert_eq!(added.iter().collect::<BTreeSet<_>>().len(), added.len(), "ids are unique");
        let mut by_key: BTreeMap<u8, BTreeSet<TaskId>> = BTreeMap::new();
        for (key, id, _) in results.iter().flat_map(|results| &results.ensured) {
            by_key.entry(*key).or_default().insert(*id);
        }
        prop_assert!(by_key.values().all(|ids| ids.len() == 1), "one task per key");
        let created = results.iter().flat_map(|results| &results.ensured).filter(|(_, _, is_new)| *is_new).count();
        prop_assert_eq!(created, by_key.len(), "each key is created once");
        let expected: BTreeSet<TaskId> = added.iter().copied().chain(by_key.into_values().flatten()).collect();
        prop_assert_eq!(&ids, &expected, "nothing is lost");

        let started: Vec<TaskId> = results.iter().flat_map(|results| &results.started).copied().collect();
        prop_assert_eq!(started.iter().collect::<BTreeSet<_>>().len(), started.len(), "a task is started by one writer");
        for task in all.iter().filter(|task| task.state == TaskState::InProgress) {
            prop_assert!(started.contains(&task.id) && task.started_by.is_some());
        }
        let remembered: usize = results.iter().map(|results| results.remembered).sum();
        let (_, total) = work.memories().search("remembered", crate::MemoryFilter::default(), 1).expect("found");
        prop_assert_eq!(total, remembered);
    }
}
