//! Adding and searching memories.

use proptest::prelude::*;

use super::TestDatabase;
use crate::{Memory, MemoryError, MemoryFilter, MemoryKind, WorkDatabase};

fn add(work: &WorkDatabase, kind: MemoryKind, text: &str, tags: &[&str]) -> Memory {
    let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
    work.memories().add(kind, text, &tags, 1).expect("added")
}

fn matching_ids(work: &WorkDatabase, words: &str) -> Vec<String> {
    let matches = work.memories().search(words, MemoryFilter::default(), 20).expect(words).0;
    matches.iter().map(|memory| memory.id.to_string()).collect()
}

fn most_relevant_ids(work: &WorkDatabase, text: &str) -> Vec<String> {
    work.memories().most_relevant(text).expect("read").iter().map(|memory| memory.id.to_string()).collect()
}

fn filled_database(database: &TestDatabase) -> WorkDatabase {
    let work = database.work();
    add(&work, MemoryKind::Fix, "When the tests time out, the database was locked: close the pool first.", &["db"]);
    add(&work, MemoryKind::Pattern, "Handlers live in src/http/handlers, one file a route.", &["http", "layout"]);
    add(&work, MemoryKind::Decision, "SQLite over Postgres: one file, no server.", &["db"]);
    add(&work, MemoryKind::Context, "Der Prüfstand läuft nur in Zürich; `foo_bar()` is its entry.", &[]);
    work
}

#[test]
fn the_best_match_comes_first() {
    let database = TestDatabase::new();
    let work = filled_database(&database);
    assert_eq!(matching_ids(&work, "database locked"), ["m1"]);
    assert_eq!(matching_ids(&work, "TEST"), ["m1"], "upper case and the plural do not matter");
    assert_eq!(matching_ids(&work, "file"), ["m3", "m2"], "the word weighs more in a shorter text");
    assert_eq!(matching_ids(&work, "zurich prufstand"), ["m4"], "diacritics do not matter");
    assert_eq!(matching_ids(&work, "foo_bar()"), ["m4"]);
    assert_eq!(matching_ids(&work, "layout"), ["m2"], "tags are searched too");
    assert_eq!(matching_ids(&work, "database nowhere"), [""; 0], "all words count");
    assert_eq!(most_relevant_ids(&work, "the database was locked again, nowhere else"), ["m1"]);
    assert_eq!(most_relevant_ids(&work, "-- !! --"), [""; 0]);
}

#[test]
fn memories_are_filtered_by_kind_and_tag() {
    let database = TestDatabase::new();
    let work = filled_database(&database);
    let memories = work.memories();
    let listed = |kind, tag| {
        let listed = memories.list(MemoryFilter { kind, tag }).expect("read");
        listed.iter().map(|memory| memory.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, None), ["m4", "m3", "m2", "m1"]);
    assert_eq!(listed(None, Some("db")), ["m3", "m1"]);
    assert_eq!(listed(Some(MemoryKind::Fix), Some("db")), ["m1"]);
    assert_eq!(listed(None, Some("d")), [""; 0]);
    let filter = MemoryFilter { kind: Some(MemoryKind::Decision), tag: None };
    assert_eq!(memories.search("file", filter, 20).expect("found").1, 1);
    let (shown, total) = memories.search("file", MemoryFilter::default(), 1).expect("found");
    assert_eq!((shown.len(), total), (1, 2));
}

#[test]
fn a_deleted_memory_is_not_found_and_its_id_is_not_reused() {
    let database = TestDatabase::new();
    let work = filled_database(&database);
    let memories = work.memories();
    let last = memories.find("M4").expect("there").id;
    memories.delete(last).expect("deleted");
    assert_eq!(matching_ids(&work, "Prüfstand"), [""; 0]);
    insta::assert_snapshot!(memories.delete(last).expect_err("gone"), @"there is no memory `m4`");
    assert_eq!(add(&work, MemoryKind::Context, "New", &[]).id.to_string(), "m5");
    assert!(matches!(memories.find("m"), Err(MemoryError::NotFound(_))));
}

#[test]
fn invalid_memories_and_searches_are_errors() {
    let database = TestDatabase::new();
    let work = database.work();
    let memories = work.memories();
    let add = |text: &str, tag: &str| memories.add(MemoryKind::Fix, text, &[tag.to_owned()], 1).expect_err("refused");
    let errors = [
        add(" \n ", "a"),
        add(&"x".repeat(64 * 1024 + 1), "a"),
        add("Text", ""),
        add("Text", "two words"),
        add("Text", &"x".repeat(51)),
        memories.search("\" * -", MemoryFilter::default(), 1).expect_err("no words"),
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"), @r#"
    the text is empty
    the text has 65537 bytes; the maximum is 65536 (64 KiB)
    a tag is empty
    `two words` cannot be a tag
    a tag has 51 characters; the maximum is 50
    `" * -` has no words to search for
    "#);
    let memory = memories.add(MemoryKind::Fix, "export API_KEY=sk-ant-REDACTED", &[], 1);
    assert_eq!(memory.expect("added").text, "export API_KEY=***");
}

#[test]
fn memories_for_a_prompt_are_limited_in_size() {
    let database = TestDatabase::new();
    let work = database.work();
    for number in 0..10 {
        add(&work, MemoryKind::Context, &format!("needle {number} {}", "hay ".repeat(150)), &[]);
    }
    add(&work, MemoryKind::Context, &format!("needle needle needle {}", "needle ".repeat(700)), &[]);
    let fitting = work.memories().most_relevant("Where is the needle?").expect("read");
    let size: usize = fitting.iter().map(|memory| memory.text.len()).sum();
    assert!(size <= 4096 && size > 3000, "{size}");
    assert!(
        fitting.iter().all(|memory| memory.id.to_string() != "m11"),
        "a memory that is too long does not keep out others"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// No text is interpreted as a search operator or causes an error.
    #[test]
    fn any_text_can_be_searched_for(text in "[a-z\"'*^:(){}+~ \\-\u{0}-\u{9f}]{0,40}|(AND|OR|NOT|NEAR|text:|\\*|\"| |a){0,9}|\\PC{0,40}") {
        let database = TestDatabase::new();
        let work = filled_database(&database);
        match work.memories().search(&text, MemoryFilter::default(), 20) {
            Ok(_) | Err(MemoryError::NoWords(_)) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
        prop_assert!(work.memories().most_relevant(&text).is_ok());
    }
}
