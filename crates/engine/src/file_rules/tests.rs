//! Tests of file rules, with examples and with arbitrary rules and changes. The corpus of `linchpin check` has more
//! examples.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use path::pattern::Pattern;

fn pattern(text: &str) -> FilePattern {
    FilePattern::new(&Pattern::parse(text).expect("a pattern"))
}

fn patterns(texts: &[&str]) -> Vec<FilePattern> {
    texts.iter().map(|text| pattern(text)).collect()
}

fn rule(kind: FileRuleKind) -> FileRule {
    FileRule { kind, exclude: Vec::new(), scope: ChangeScope::default(), refire: Refire::default(), command: None }
}

fn changed(paths: &[&str]) -> Changes {
    paths.iter().map(|path| Change { status: Status::Modified, path: (*path).to_owned() }).collect()
}

fn pairs(file_match: &FileMatch) -> Vec<String> {
    file_match.pairs().map(|(trigger, missing)| format!("{trigger} → {missing}")).collect()
}

#[test]
fn expected_paths_keep_special_characters_of_the_trigger() {
    let rule = rule(FileRuleKind::Pair { trigger: pattern("src/{path}.py"), expects: patterns(&["docs/{path}.md"]) });
    let file_match = rule.judge(&changed(&["src/a[1]{x}.py"])).expect("a match");
    assert_eq!(pairs(&file_match), ["src/a[1]{x}.py → docs/a[1]{x}.md"]);
    let file_match = rule.judge(&changed(&["src/a[1].py", "docs/a[1].md"])).expect("a match");
    assert!(!file_match.is_unmet());
    assert_eq!(file_match.satisfied_by, ["docs/a[1].md"]);
}

#[test]
fn the_most_specific_member_of_a_set_matches_a_file() {
    let rule = rule(FileRuleKind::Set(patterns(&["{path}.py", "tests/{path}_test.py"])));
    let file_match = rule.judge(&changed(&["tests/a_test.py"])).expect("a match");
    assert_eq!(pairs(&file_match), ["tests/a_test.py → a.py"]);
}

#[test]
fn excluded_files_trigger_nothing_but_can_satisfy() {
    let mut rule = rule(FileRuleKind::Set(patterns(&["src/{path}.c", "gen/{path}.h"])));
    rule.exclude = patterns(&["gen/**"]);
    assert!(!rule.judge(&changed(&["gen/a.h"])).expect("a match").is_unmet());
    assert!(!rule.judge(&changed(&["gen/a.h", "src/a.c"])).expect("a match").is_unmet());
    assert!(rule.judge(&changed(&["src/a.c"])).expect("a match").is_unmet());
}

#[test]
fn placeholders_are_filled_once_and_other_braces_stay() {
    let rule = rule(FileRuleKind::Pair { trigger: pattern("src/{path}.rs"), expects: patterns(&["tests/{path}.rs"]) });
    let file_match = rule.judge(&changed(&["src/a.rs", "src/{missing}.rs"])).expect("a match");
    let text = "{trigger_files} want {expected_files}; {path}; {created_files}; {other} { {missing}";
    assert_eq!(
        Placeholders(&file_match).fill(text),
        "src/a.rs, src/{missing}.rs want tests/a.rs, tests/{missing}.rs; a, {missing}; ; {other} { \
         src/a.rs → tests/a.rs, src/{missing}.rs → tests/{missing}.rs"
    );
}

#[test]
fn long_lists_are_truncated_with_a_count() {
    let rule = rule(FileRuleKind::Created(patterns(&["**"])));
    let changes: Changes =
        (0..25).map(|number| Change { status: Status::Added, path: format!("{number:02}") }).collect();
    let file_match = rule.judge(&changes).expect("a match");
    assert!(list_missing(&file_match).ends_with("19\nand 5 more"), "{}", list_missing(&file_match));
}

#[test]
fn long_variable_lists_are_truncated_with_a_count() {
    let rule = rule(FileRuleKind::Created(patterns(&["src/{name}.rs"])));
    let created = |number: usize| Change { status: Status::Added, path: format!("src/{number:02}.rs") };
    let file_match = rule.judge(&(0..60).map(created).collect()).expect("a match");
    let filled = Placeholders(&file_match).fill("{name}");
    assert!(filled.starts_with("00, 01") && filled.ends_with("49, and 10 more"), "{filled}");
}

/// Generates paths, some of which match the patterns that `kinds` generates.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let directory = select(vec!["src", "tests", "docs", "a", "b/c"]);
    let name = select(vec!["x", "y", "x_test", "deep/x", "x.y"]);
    let end = select(vec![".py", "_test.py", ".md", ""]);
    btree_set((directory, name, end).prop_map(|(directory, name, end)| format!("{directory}/{name}{end}")), 0..8)
        .prop_map(|paths| paths.into_iter().collect())
}

fn kinds() -> impl Strategy<Value = FileRuleKind> {
    let any = || select(vec!["src/**", "**/*.py", "tests/{path}_test.py", "{path}.py", "docs/{name}.md", "a/*"]);
    let bound = || select(vec!["tests/{path}_test.py", "{path}.md", "docs/{path}*", "b/**/{path}.py"]);
    prop_oneof![
        (vec(any(), 1..3), vec(any(), 0..2)).prop_map(|(trigger, safety)| FileRuleKind::Trigger {
            trigger: patterns(&trigger),
            safety: patterns(&safety)
        }),
        vec(bound(), 1..4).prop_map(|members| FileRuleKind::Set(patterns(&members))),
        vec(bound(), 1..3)
            .prop_map(|expects| FileRuleKind::Pair { trigger: pattern("src/{path}.py"), expects: patterns(&expects) }),
        vec(any(), 1..3).prop_map(|created| FileRuleKind::Created(patterns(&created))),
    ]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let status = || select(vec![Status::Modified, Status::Added, Status::Deleted]);
    (paths(), vec(status(), 8)).prop_map(|(paths, statuses)| {
        paths.into_iter().zip(statuses).map(|(path, status)| Change { status, path }).collect()
    })
}

proptest! {
    #[test]
    fn the_order_of_changes_does_not_matter(kind in kinds(), changes in changes(), seed in any::<prop::sample::Index>()) {
        let mut reordered = changes.clone();
        reordered.rotate_left(seed.index(changes.len().max(1)).min(changes.len()));
        let rule = rule(kind);
        let (one, other) = (changes.into_iter().collect(), reordered.into_iter().rev().collect());
        prop_assert_eq!(rule.judge(&one).expect("a match"), rule.judge(&other).expect("a match"));
    }

    #[test]
    fn may_trigger_is_false_only_for_rules_without_triggers(kind in kinds(), changes in changes()) {
        let (rule, changes) = (rule(kind), changes.into_iter().collect());
        let file_match = rule.judge(&changes).expect("a match");
        prop_assert!(rule.may_trigger(&changes) || file_match == FileMatch::default());
        prop_assert!(file_match.trigger_files().all(|path| changes.contains(path)));
        prop_assert!(file_match.pairs().all(|(_, missing)| !changes.contains(missing)));
    }

    #[test]
    fn paths_containing_a_text_are_found(changes in changes(), text in "[a-z/._]{0,3}|src/x|\\.py") {
        let changes: Changes = changes.into_iter().collect();
        let mut actual = changes.paths_containing(&text);
        actual.sort_unstable();
        let expected: Vec<&str> = changes.paths().filter(|path| path.contains(&text)).collect();
        prop_assert_eq!(actual, expected);
        prop_assert_eq!(changes.may_contain(&text), changes.is_empty() && text.is_empty() || changes.paths().any(|path| path.contains(&text)) || text == "\n");
    }

    /// If one of two members of a set changed, the other member is missing. If both changed, nothing is missing.
    #[test]
    fn a_set_is_symmetric(name in "[a-z]{1,3}(/[a-z]{1,3})?", is_reversed in any::<bool>()) {
        let mut members = ["src/{path}.rs", "tests/{path}_test.rs"];
        if is_reversed {
            members.reverse();
        }
        let rule = rule(FileRuleKind::Set(patterns(&members)));
        let (source, test) = (format!("src/{name}.rs"), format!("tests/{name}_test.rs"));
        let judge_change_of = |path: &str| rule.judge(&changed(&[path])).expect("a match");
        prop_assert_eq!(pairs(&judge_change_of(&source)), [format!("{source} → {test}")]);
        prop_assert_eq!(pairs(&judge_change_of(&test)), [format!("{test} → {source}")]);
        prop_assert!(!rule.judge(&changed(&[&source, &test])).expect("a match").is_unmet());
    }

    #[test]
    fn filling_a_pattern_with_its_own_captures_gives_the_path(name in r"[a-z\[\]{}*?\\ é]{1,6}(/[a-z.]{1,3})?") {
        let pattern = Pattern::parse("src/{path}.rs").expect("a pattern");
        let path = format!("src/{name}.rs");
        if let Some(captures) = pattern.captures(&path) {
            match pattern.fill(&captures) {
                Ok(filled) => prop_assert_eq!(filled.only_path(), Some(path.as_str())),
                Err(_) => prop_assert!(path.contains("..")),
            }
        }
    }
}
