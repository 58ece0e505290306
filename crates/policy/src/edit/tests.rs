//! Edits make the requested change, and change no other byte.

use proptest::prelude::*;

use super::{Document, EditRefusal, Scalar};

fn yaml(text: &str) -> Document {
    Document::of_yaml("config.yml", text).expect("valid YAML")
}

fn add_item(text: &str, item: &str) -> String {
    yaml(text).add_item("rules", item).expect("an edit")
}

fn remove_item(text: &str, item: &str) -> String {
    yaml(text).remove_item("rules", item).expect("an edit")
}

fn remove(text: &str, key: &str) -> String {
    yaml(text).remove(&[], key).expect("an edit")
}

fn set(text: &str, key: &str, value: &str) -> String {
    yaml(text).set(&[], key, &Scalar::Text(value.to_owned())).expect("an edit")
}

#[test]
fn an_item_is_added_to_any_list() {
    for (before, after) in [
        ("", "rules:\n  - x\n"),
        ("# nothing yet\n", "# nothing yet\nrules:\n  - x\n"),
        ("max_holds: 3", "max_holds: 3\nrules:\n  - x"),
        ("max_holds: 3\r\n", "max_holds: 3\r\nrules:\r\n  - x\r\n"),
        ("\u{feff}max_holds: 3\n", "\u{feff}max_holds: 3\nrules:\n  - x\n"),
        ("rules:\n", "rules:\n  - x\n"),
        ("rules:", "rules:\n  - x"),
        ("rules: # none\nmax_holds: 3\n", "rules: # none\n  - x\nmax_holds: 3\n"),
        ("rules: ~\n", "rules: [x]\n"),
        ("rules: []\n", "rules: [x]\n"),
        ("rules: [ ] # none\n", "rules: [x ] # none\n"),
        ("rules: [a, b] # two\n", "rules: [a, b, x] # two\n"),
        ("rules: [a, b,]\n", "rules: [a, b, x,]\n"),
        ("rules: [\n  a, # first\n  b # second\n]\n", "rules: [\n  a, # first\n  b, # second\n  x\n]\n"),
        ("rules: [\n  a,\n  b, # second\n]\n", "rules: [\n  a,\n  b, # second\n  x,\n]\n"),
        ("rules: [\n  a,\n  b]\n", "rules: [\n  a,\n  b, x]\n"),
        ("rules:\n  - a # why\n  # - b\n\nmax_holds: 3\n", "rules:\n  - a # why\n  - x\n  # - b\n\nmax_holds: 3\n"),
        ("rules:\n- a\nmax_holds: 3\n", "rules:\n- a\n- x\nmax_holds: 3\n"),
        ("rules:\n    -   'a'\n", "rules:\n    -   'a'\n    -   x\n"),
        ("rules:\r\n- a\r\n- b", "rules:\r\n- a\r\n- b\r\n- x"),
        ("{rules: [a], max_holds: 3}\n", "{rules: [a, x], max_holds: 3}\n"),
        ("{max_holds: 3}\n", "{max_holds: 3, rules: [x]}\n"),
        ("{}", "{rules: [x]}"),
        ("---\nmax_holds: 3\n...\n", "---\nmax_holds: 3\nrules:\n  - x\n...\n"),
        (
            "rules:\n  - name: inline\n    tools:\n      - Bash\n",
            "rules:\n  - name: inline\n    tools:\n      - Bash\n  - x\n",
        ),
        ("note: |\n  text\n\n", "note: |\n  text\nrules:\n  - x\n\n"),
        ("note: |+\n  text\n\n", "note: |+\n  text\n\nrules:\n  - x\n"),
    ] {
        assert_eq!(add_item(before, "x"), after, "{before:?}");
    }
    assert_eq!(add_item("rules: [a]\n", "no"), "rules: [a, 'no']\n");
    assert_eq!(add_item("rules: [a]\n", "it's: #1"), "rules: [a, 'it''s: #1']\n");
}

#[test]
fn an_item_is_removed_from_any_list() {
    for (before, after) in [
        ("rules: [x]\n", "rules: []\n"),
        ("rules: [ x , ] # none\n", "rules: [] # none\n"),
        ("rules: [x, a]\n", "rules: [a]\n"),
        ("rules: [a, x, b]\n", "rules: [a, b]\n"),
        ("rules: [a, 'x']\n", "rules: [a]\n"),
        ("rules: [\n  a, # first\n  x # second\n]\n", "rules: [\n  a, # first\n]\n"),
        ("rules: [\n  # about x\n  x,\n  # about a\n  a\n]\n", "rules: [\n  # about a\n  a\n]\n"),
        ("rules:\n  - x\n", "rules: []\n"),
        ("rules: # mine\n  # why\n  - x\nmax_holds: 3", "rules: [] # mine\nmax_holds: 3"),
        (
            "rules:\n  # about a\n  - a\n  # about x\n  - x # yes\n  # about b\n  - b\n",
            "rules:\n  # about a\n  - a\n  # about b\n  - b\n",
        ),
        ("rules:\r\n- a\r\n- x\r\nmax_holds: 3\r\n", "rules:\r\n- a\r\nmax_holds: 3\r\n"),
        ("rules:\n- x\n- a", "rules:\n- a"),
        ("max_holds: 3\n", "max_holds: 3\n"),
        ("rules: [a, # about a\n  x]\n", "rules: [a, # about a\n  ]\n"),
        ("rules: [x, a, x]\n", "rules: [a]\n"),
        ("rules:\n- x\n# again\n- x\n", "rules: []\n"),
    ] {
        assert_eq!(remove_item(before, "x"), after, "{before:?}");
    }
}

#[test]
fn an_entry_is_removed_with_its_comments() {
    for (before, after) in [
        ("x: 1\n", ""),
        ("x: 1", ""),
        ("# head\n\n# about x\nx: 1 # one\n\n# about y\ny: 2\n", "# head\n\n# about y\ny: 2\n"),
        ("a: 1\n\nx:\n  reason: |\n    text # no comment\n\n\nb: 2\n", "a: 1\n\n\nb: 2\n"),
        ("a: 1\n\nx: 2\n", "a: 1\n"),
        ("a: |+\n  text\n\nx: 2\n", "a: |+\n  text\n\n"),
        ("a:\n  b: 1\n  # inner\nx: 2\n# end\n", "a:\n  b: 1\n  # inner\n# end\n"),
        ("a: |\n  text\nx:\n  b: 1\n  # inner\n# about c\nc: 2\n", "a: |\n  text\n# about c\nc: 2\n"),
        ("{x: 1, y: 2}\n", "{y: 2}\n"),
        ("{y: 2, x: {a: [1, 2]}}\n", "{y: 2}\n"),
        ("x:\r\n  on: stop\r\ny: 1\r\n", "y: 1\r\n"),
        ("\u{feff}x: 1\ny: 2\n", "\u{feff}y: 2\n"),
        ("'x': [\n  1, # ]\n  2\n]\ny: 2\n", "y: 2\n"),
    ] {
        assert_eq!(remove(before, "x"), after, "{before:?}");
    }
}

#[test]
fn a_key_is_set_in_place_or_added_at_the_end() {
    for (before, after) in [
        ("", "x: v\n"),
        ("a: 1", "a: 1\nx: v"),
        ("x: old # why\na: 1\n", "x: v # why\na: 1\n"),
        ("x: 'o''ld'\n", "x: v\n"),
        ("x: two\n  lines\na: 1\n", "x: v\na: 1\n"),
        ("x:\na: 1\n", "x: v\na: 1\n"),
        ("x : 1\n", "x : v\n"),
        ("{x: 1}\n", "{x: v}\n"),
        ("  a: 1\n", "  a: 1\n  x: v\n"),
        ("a:\n  b: 1\n  # inner\n# outer\n", "a:\n  b: 1\n  # inner\nx: v\n# outer\n"),
    ] {
        assert_eq!(set(before, "x", "v"), after, "{before:?}");
    }
    let nested = yaml("one:\n  a: 1\n  # more\ntwo:\n  a: 1\n");
    let text = nested.set(&["one"], "enabled", &Scalar::Bool(false)).expect("an edit");
    assert_eq!(text, "one:\n  a: 1\n  enabled: false\n  # more\ntwo:\n  a: 1\n");
}

#[test]
fn the_body_of_a_rule_is_not_changed() {
    let text = "---\r\non: stop # when\r\n---\r\nenabled: true\r\n---\r\nNo final line feed";
    let rule = Document::of_rule("rule.md", text).expect("a rule");
    let off = rule.set(&[], "enabled", &Scalar::Bool(false)).expect("an edit");
    assert_eq!(off, "---\r\non: stop # when\r\nenabled: false\r\n---\r\nenabled: true\r\n---\r\nNo final line feed");
    let on = Document::of_rule("rule.md", &off).expect("a rule").remove(&[], "enabled").expect("an edit");
    assert_eq!(on, text);
    let empty = Document::of_rule("rule.md", "---\n---\nBody\n").expect("a rule");
    assert_eq!(empty.set(&[], "enabled", &Scalar::Bool(false)).expect("an edit"), "---\nenabled: false\n---\nBody\n");
}

#[test]
fn edits_that_would_change_more_are_refused() {
    fn message(result: Result<String, EditRefusal>) -> String {
        result.expect_err("a refusal").message
    }
    // A block scalar, or a value of another type.
    let messages = [
        message(yaml("x: |\n  text\n").set(&[], "x", &Scalar::Bool(true))),
        message(yaml("x: {a: 1}\n").set(&[], "x", &Scalar::Bool(true))),
        message(yaml("rules: text\n").add_item("rules", "x")),
        message(yaml("rules: {a: 1}\n").remove_item("rules", "x")),
    ];
    insta::assert_snapshot!(messages.join("\n"), @"
    `x` in `config.yml` cannot be changed safely by a command
    `x` in `config.yml` cannot be changed safely by a command
    `rules` must be a list, but here it is text
    `rules` must be a list, but here it is a mapping
    ");
}

/// An entry of a generated document. `spelling` selects the value and how it is written. Every comment contains the
/// name of its key.
fn entry(key: usize, spelling: usize, comment: bool, blank: bool) -> String {
    let value = match spelling {
        0 => " 1".to_owned(),
        1 => " 'it''s # text'".to_owned(),
        2 => " \"a\\n # b\"".to_owned(),
        3 => String::new(),
        4 => format!(" |\n  # text of k{key}\n  more"),
        5 => format!(" >-\n  folded\n\n  text of k{key}"),
        6 => " [a, {b: c}, 'd']".to_owned(),
        7 => format!(" [\n  a, # in k{key}\n  b\n]"),
        8 => format!("\n- a # in k{key}\n-  b"),
        9 => format!("\n  - a\n  # in k{key}\n  - b: 1\n    c: 2"),
        10 => format!("\n  a: 1 # in k{key}\n  b:\n    c: [x]"),
        11 => " plain text\n  on two lines".to_owned(),
        12 => " { }".to_owned(),
        13 => " é ü".to_owned(),
        14 => format!("\n  a: 1\n  # below, in k{key}"),
        _ => format!(" v # behind k{key}"),
    };
    let above = if comment { format!("# above k{key}\n") } else { String::new() };
    let below = if blank { "\n" } else { "" };
    format!("{above}k{key}:{value}\n{below}")
}

/// The number of spellings of [`entry`].
const SPELLINGS: usize = 16;

fn document() -> impl Strategy<Value = (Vec<String>, String)> {
    let entries = prop::collection::vec((0..SPELLINGS, any::<bool>(), any::<bool>()), 1..7);
    (entries, 0..4_usize, any::<bool>(), any::<bool>()).prop_map(|(entries, head, has_crlf, is_cut)| {
        let keys = (0..entries.len()).map(|key| format!("k{key}")).collect();
        let lines =
            entries.iter().enumerate().map(|(key, (spelling, comment, blank))| entry(key, *spelling, *comment, *blank));
        let head = ["", "# head\n\n", "\u{feff}", "---\n"].into_iter().nth(head).unwrap_or_default();
        let mut text = format!("{head}{}", lines.collect::<String>());
        if is_cut && text.ends_with('\n') {
            text.pop();
        }
        (keys, if has_crlf { text.replace('\n', "\r\n") } else { text })
    })
}

/// The text of every comment.
fn comments(text: &str) -> Vec<&str> {
    let comment_starts = ["# head", "# below, in k", "# above k", "# in k", "# behind k"];
    text.lines()
        .filter_map(|line| {
            comment_starts.iter().find_map(|comment_start| line.find(comment_start).and_then(|start| line.get(start..)))
        })
        .collect()
}

/// True if `after` is `before` with insertions.
fn has_only_insertions(before: &str, after: &str) -> bool {
    let mut characters = after.chars();
    before.chars().all(|character| characters.any(|other| other == character))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn additions_keep_the_rest_of_the_text((keys, text) in document(), key in 0_usize..6) {
        let added = add_item(&text, "x");
        prop_assert!(has_only_insertions(&text, &added), "{text:?} {added:?}");
        prop_assert_eq!(comments(&text), comments(&added));
        let restored = remove(&added, "rules");
        prop_assert_eq!(restored.trim_end(), text.trim_end());
        let set = yaml(&text).set(&[], "enabled", &Scalar::Bool(false)).expect("an edit");
        prop_assert!(has_only_insertions(&text, &set), "{text:?} {set:?}");
        let restored = yaml(&set).remove(&[], "enabled").expect("an edit");
        prop_assert_eq!(restored.trim_end(), text.trim_end());
        // A scalar is replaced in place; other values are refused.
        let key = &keys[key % keys.len()];
        if let Ok(changed) = yaml(&text).set(&[], key, &Scalar::Text("new".to_owned())) {
            prop_assert_eq!(comments(&text), comments(&changed));
        }
    }

    #[test]
    fn removals_remove_the_entry_with_its_comments((keys, text) in document(), key in 0_usize..6) {
        let key = &keys[key % keys.len()];
        let removed = remove(&text, key);
        prop_assert!(has_only_insertions(&removed, &text));
        let key_at_end = format!(" {key}");
        let mut expected = comments(&text);
        expected.retain(|comment| !comment.ends_with(&key_at_end));
        prop_assert_eq!(comments(&removed), expected);
        let remaining_keys: Vec<String> = yaml(&removed).keys().map(str::to_owned).collect();
        let expected_keys: Vec<String> = keys.iter().filter(|other| *other != key).cloned().collect();
        prop_assert_eq!(remaining_keys, expected_keys);
    }

    #[test]
    fn any_text_is_edited_as_requested_or_refused(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..14),
    ) {
        let text = pieces.concat();
        let rule = format!("---\n{text}\n---\nbody\n");
        for parsed in [Document::of_yaml("any.yml", &text), Document::of_rule("any.md", &rule)] {
            let Ok(document) = parsed else { continue };
            if let Ok(added) = document.add_item("rules", "x") {
                prop_assert!(document.with_text(&added).is_ok_and(|document| document.has_item("rules", "x")));
            }
            if let Ok(removed) = document.remove_item("rules", "a") {
                prop_assert!(document.with_text(&removed).is_ok_and(|document| !document.has_item("rules", "a")));
            }
            if let Ok(set) = document.set(&[], "k", &Scalar::Bool(false)) {
                prop_assert!(document.with_text(&set).is_ok_and(|document| document.boolean("k") == Some(false)));
            }
            if let Ok(removed) = document.remove(&[], "k") {
                prop_assert!(document.with_text(&removed).is_ok_and(|document| document.keys().all(|key| key != "k")));
            }
            document.entry_text("k");
        }
    }
}

const PIECES: &[&str] = &[
    "rules:", "k:", "l:", " ", "\n", "\n", "\n  ", "\n- ", "\n  - ", "a", "x", "[", "]", "{", "}", ", ", ": ", "# c\n",
    " # c", "|", "|+", ">-", "'", "\"", "&r ", "*r", "!!str ", "? ", "~", "é", "\u{feff}", "\r\n", "\t", "---\n",
    "...\n", "1", "<<: ", "\\",
];
