//! Versions of rules.

use engine::event::EventKind;
use engine::verdict::{Finding, Level, Verdict};
use store::{RuleVersion, StateChanges, StoredRuleVersion};

use crate::sample::{event, new_database_path, open, record};

fn version<'a>(id: &'a str, digest: &'a str, text: &'a str) -> RuleVersion<'a> {
    RuleVersion { id, digest, tier: "project", source: ".linchpin/rules/r.md", text }
}

fn digests(versions: &[StoredRuleVersion]) -> Vec<(&str, i64, i64)> {
    versions.iter().map(|stored| (stored.digest.as_str(), stored.first_seen, stored.last_seen)).collect()
}

#[test]
fn every_version_is_kept_with_its_first_and_last_time() {
    let database = new_database_path();
    let mut store = open(&database.path);
    store.store_rule_versions(&[version("a", "d1", "one"), version("b", "d9", "b")], 10).unwrap();
    store.store_rule_versions(&[version("a", "d2", "two"), version("b", "d9", "b")], 20).unwrap();
    store.store_rule_versions(&[version("a", "d1", "one")], 30).unwrap();
    assert_eq!(digests(&store.rule_versions("a").unwrap()), [("d1", 10, 30), ("d2", 20, 20)]);
    assert_eq!(digests(&store.rule_versions("b").unwrap()), [("d9", 10, 20)]);
    assert_eq!(store.rule_versions("c").unwrap(), []);
    let newest = &store.rule_versions("a").unwrap()[1];
    assert_eq!((newest.id.as_str(), newest.text.as_str(), newest.tier.as_str()), ("a", "two", "project"));
}

#[test]
fn the_same_text_in_another_file_is_the_same_version() {
    let database = new_database_path();
    let mut store = open(&database.path);
    store.store_rule_versions(&[version("a", "d1", "one")], 10).unwrap();
    store
        .store_rule_versions(&[RuleVersion { tier: "user", source: "/u/a.md", ..version("a", "d1", "one") }], 20)
        .unwrap();
    let stored = store.rule_versions("a").unwrap();
    assert_eq!(digests(&stored), [("d1", 10, 20)]);
    assert_eq!((stored[0].tier.as_str(), stored[0].source.as_str()), ("user", "/u/a.md"));
}

/// A rule's text is not secret, and a masked text would not be the one that was in force.
#[test]
fn the_text_of_a_rule_is_not_masked() {
    let database = new_database_path();
    let mut store = open(&database.path);
    let text = "---\ncommand_pattern: 'TOKEN=abc123'\n---\nNo.\n";
    store.store_rule_versions(&[version("a", "d1", text)], 10).unwrap();
    assert_eq!(store.rule_versions("a").unwrap()[0].text, text);
}

#[test]
fn pruning_keeps_versions_in_findings_and_versions_that_may_be_in_force() {
    let database = new_database_path();
    let mut store = open(&database.path);
    for (time, digest) in [(10, "gone"), (20, "named"), (30, "newest")] {
        store.store_rule_versions(&[version("a", digest, digest)], time).unwrap();
    }
    let finding = |digest: &str| Finding {
        rule: "a".to_owned(),
        protects_guard: false,
        section: None,
        is_combined: false,
        level: Level::Warn,
        reason: "hm".to_owned(),
        because: Vec::new(),
        digest: Some(digest.to_owned()),
    };
    for (time, digest) in [(10, "gone"), (200, "named")] {
        let verdict = Verdict::of(vec![finding(digest)]);
        record(&mut store, &event(EventKind::Stop, time), &verdict, &StateChanges::default());
    }
    store.prune(5).unwrap();
    assert_eq!(store.rule_versions("a").unwrap().len(), 3);
    assert_eq!(store.prune(100).unwrap(), 1);
    assert_eq!(digests(&store.rule_versions("a").unwrap()), [("named", 20, 20), ("newest", 30, 30)]);
}
