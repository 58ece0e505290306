//! Tests of the conversion of old lists: which rules and errors it gives, and that it changes no other file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use path::pattern::Pattern;
use proptest::prelude::*;

use super::convert;
use super::old_pattern::{self, ConvertedPattern};
use crate::edit::{EditOutcome, EditRefusal, Editor};
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::load::{LastGoodPolicy, load};
use crate::text::diagnostic::{RenderStyle, Severity};
use crate::text::source::Source;

/// A project with a list in the old format.
struct TestProject {
    directory: tempfile::TempDir,
    tiers: PolicyFolders,
}

impl TestProject {
    fn new(list: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let project = PolicyFolder::of_project(&directory.path().join("project"));
        fs::create_dir_all(project.rules()).expect("a directory");
        let user = PolicyFolder::of_user(&directory.path().join("user"));
        let project = Self { directory, tiers: PolicyFolders { project: Some(project), user: Some(user) } };
        project.write("project/.deepwork.rules.yml", list);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn import(&self, list: &str, replace: bool) -> Result<EditOutcome, EditRefusal> {
        let project = self.tiers.project.as_ref().expect("a project");
        Editor::open(&self.tiers, project).import(&self.path(list), replace)
    }

    /// Every file, by its path.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, files);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap_or_default());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(self.directory.path(), &mut files);
        files
    }

    fn refusal_text(&self, list: &str, replace: bool) -> String {
        let before = self.files();
        let refusal = self.import(list, replace).expect_err("a refusal");
        assert_eq!(self.files(), before);
        let rendered = refusal.problems.iter().map(|problem| problem.render(RenderStyle::Plain));
        let message = refusal
            .help
            .iter()
            .fold(format!("error: {}", refusal.message), |messages, help| format!("{messages}\nhelp: {help}"));
        let parts: Vec<String> = rendered.chain([message]).collect();
        parts.join("\n").replace(&*self.directory.path().to_string_lossy(), "[BASE]")
    }
}

fn render_outcome(changed: &EditOutcome) -> String {
    let files = changed
        .changes
        .iter()
        .map(|change| format!("=== {}\n{}", change.name, change.after.as_deref().unwrap_or_default()));
    let notes = changed.conversion_notes.iter().map(|note| {
        let line = note.line();
        line.find(".deepwork").and_then(|at| line.get(at..)).unwrap_or_default().to_owned() + "\n"
    });
    files.chain(notes).collect()
}

/// The rendered problems of a list.
fn problems(list: &str) -> String {
    let project = TestProject::new("");
    project.write("project/empty.md", "\n");
    project.write("project/latin1.md", [0xe9]);
    project.write("project/long.md", "x".repeat(300 * 1024));
    project.write("secret.md", "secret");
    fs::create_dir(project.path("project/folder")).expect("a directory");
    std::os::unix::fs::symlink("../secret.md", project.path("project/door.md")).expect("a symlink");
    let conversion = convert(&Source::new(".deepwork.rules.yml", list), &project.path("project"));
    assert!(conversion.problems.iter().all(|problem| problem.span.is_some() && problem.severity == Severity::Error));
    let rendered: Vec<String> = conversion.problems.iter().map(|problem| problem.render(RenderStyle::Plain)).collect();
    rendered.join("\n")
}

const LIST: &str = "\
# The team's rules.
- name: README Accuracy
  trigger: \"src/**/*\"
  safety: README.md
  instructions: |
    The code changed. See that README.md is true:

      1. what it does
      2. how it is installed

- name: migrations
  trigger: [\"*.sql\", 'db/*.py', \"**/*\"]
  safety: [docs/db.md, \"CHANGELOG*\"]
  compare_to: prompt
  instructions_file: rules/migrations.md
- {name: \"It's: a #title\", trigger: \"*.{ts,tsx}\", instructions: Short., compare_to: base}
- name: README accuracy!
  trigger: \"{{cookiecutter.slug}}/**\"
  instructions: \"---\\nA line.\"
";

#[test]
fn a_list_becomes_rules() {
    let project = TestProject::new(LIST);
    project.write("project/rules/migrations.md", "\u{feff}# Migrations\r\n\r\nThey go both ways.\r\n");
    let changed = project.import("project/.deepwork.rules.yml", false).expect("rules");
    insta::assert_snapshot!(render_outcome(&changed), @r"
    === .linchpin/rules/readme-accuracy.md
    ---
    name: 'README Accuracy'
    trigger: 'src/**'
    safety: README.md
    ---
    The code changed. See that README.md is true:

      1. what it does
      2. how it is installed
    === .linchpin/rules/migrations.md
    ---
    trigger:
      - '**/*.sql'
      - 'db/**/*.py'
      - '**'
    safety:
      - docs/db.md
      - 'CHANGELOG*'
    compare_to: prompt
    ---
    # Migrations

    They go both ways.
    === .linchpin/rules/it-s-a-title.md
    ---
    name: 'It''s: a #title'
    trigger: '**/*.{ts,tsx}'
    compare_to: base
    ---
    Short.
    === .linchpin/rules/readme-accuracy-2.md
    ---
    name: 'README accuracy!'
    trigger: '\{\{cookiecutter.slug\}\}/**'
    ---
    ---
    A line.
    .deepwork.rules.yml:3:12: `trigger` of `readme-accuracy`: `src/**/*` → `src/**`: matches the same files
    .deepwork.rules.yml:12:13: `trigger` of `migrations`: `*.sql` → `**/*.sql`: `*` crossed folders in the old format, but does not here
    .deepwork.rules.yml:12:22: `trigger` of `migrations`: `db/*.py` → `db/**/*.py`: `*` crossed folders in the old format, but does not here
    .deepwork.rules.yml:12:33: `trigger` of `migrations`: `**/*` → `**`: matches the same files
    .deepwork.rules.yml:13:24: `safety` of `migrations`: `CHANGELOG*` is unchanged: `*` crossed folders in the old format, but does not here
    .deepwork.rules.yml:16:37: `trigger` of `it-s-a-title`: `*.{ts,tsx}` → `**/*.{ts,tsx}`: braces were literal in the old format, but `{a,b}` means `a` or `b` here; `*` crossed folders in the old format, but does not here
    .deepwork.rules.yml:17:9: `name` of `readme-accuracy-2`: `README accuracy!` → `readme-accuracy-2`: another entry is already named `readme-accuracy`
    .deepwork.rules.yml:18:12: `trigger` of `readme-accuracy-2`: `{{cookiecutter.slug}}/**` → `\{\{cookiecutter.slug\}\}/**`: a literal brace is escaped with `\`
    ");
    // The files have the shown text, and no errors.
    for change in &changed.changes {
        assert_eq!(fs::read_to_string(&change.path).ok(), change.after);
    }
    let loaded = load(&project.tiers, &LastGoodPolicy::default(), |_| true);
    // There is no warning that the list is not read.
    assert_eq!(loaded.diagnostics, []);
    for id in ["readme-accuracy", "migrations", "it-s-a-title", "readme-accuracy-2"] {
        assert!(loaded.in_force(id).is_some(), "{id}");
    }
    assert_eq!(fs::read_to_string(project.path("project/.deepwork.rules.yml")).expect("a file"), LIST);
}

#[test]
fn a_list_is_recognized_by_name_or_content() {
    let entry = "- {name: a, trigger: b, instructions: c}\n";
    let project = TestProject::new("");
    project.write("project/.deepwork.policy.yml", entry);
    project.write("project/other.yml", entry.replace("name: a", "name: other"));
    assert_eq!(project.import("project/.deepwork.policy.yml", false).expect("a rule").changes.len(), 1);
    assert_eq!(project.import("project/other.yml", false).expect("a rule").changes.len(), 1);
    // A library is copied unchanged.
    project.write("project/library.yml", "no-x:\n  command_pattern: x\n  reason: No.\n");
    let copied = project.import("project/library.yml", false).expect("a library");
    assert_eq!(copied.changes.first().map(|change| change.name.as_str()), Some(".linchpin/rules/library.yml"));
    assert_eq!(copied.conversion_notes, []);
}

#[test]
fn an_import_is_atomic_and_replaces_nothing() {
    let list = "- {name: Mine, trigger: a, instructions: b}\n- {name: New, trigger: a, instructions: b}\n";
    let mine = "---\non: stop\n---\nMine.\n";
    let mut messages = Vec::new();
    for (existing_file, text) in [
        ("project/.linchpin/rules/mine.md", mine),
        ("project/.linchpin/rules/mine.md", "broken"),
        ("project/.linchpin/rules/all.yml", "new: {on: stop, reason: New.}\n"),
        ("user/rules/mine.md", mine),
    ] {
        let project = TestProject::new(list);
        project.write(existing_file, text);
        let first = project.refusal_text("project/.deepwork.rules.yml", false);
        // `--force` does not allow the replacement either.
        assert_eq!(first, project.refusal_text("project/.deepwork.rules.yml", true));
        messages.push(first);
    }
    let project = TestProject::new(
        "- {name: New, trigger: a, instructions: b}\n- {name: Hard reset, trigger: a, instructions: b}\n",
    );
    messages.push(project.refusal_text("project/.deepwork.rules.yml", true));
    // A dangling symlink occupies its name too.
    let project = TestProject::new(list);
    std::os::unix::fs::symlink("../../outside.md", project.path("project/.linchpin/rules/new.md")).expect("a symlink");
    messages.push(project.refusal_text("project/.deepwork.rules.yml", false));
    // One entry with errors prevents the whole import.
    let project = TestProject::new("- {name: New, trigger: a, instructions: b}\n- {name: Other, instructions: b}\n");
    messages.push(project.refusal_text("project/.deepwork.rules.yml", false));
    insta::assert_snapshot!(messages.join("\n\n"), @"
    error: rule `mine` already exists in the project tier
     --> [BASE]/project/.deepwork.rules.yml:1:10
      |
    1 | - {name: Mine, trigger: a, instructions: b}
      |          ^^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `mine` already exists in the project tier

    error: rule `mine` already exists in the project tier
     --> [BASE]/project/.deepwork.rules.yml:1:10
      |
    1 | - {name: Mine, trigger: a, instructions: b}
      |          ^^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `mine` already exists in the project tier

    error: rule `new` already exists in the project tier
     --> [BASE]/project/.deepwork.rules.yml:2:10
      |
    2 | - {name: New, trigger: a, instructions: b}
      |          ^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `new` already exists in the project tier

    error: rule `mine` already exists in the user tier
     --> [BASE]/project/.deepwork.rules.yml:1:10
      |
    1 | - {name: Mine, trigger: a, instructions: b}
      |          ^^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `mine` already exists in the user tier

    error: rule `hard-reset` already exists in the bundled tier
     --> [BASE]/project/.deepwork.rules.yml:2:10
      |
    2 | - {name: Hard reset, trigger: a, instructions: b}
      |          ^^^^^^^^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `hard-reset` already exists in the bundled tier

    error: rule `new` already exists in the project tier
     --> [BASE]/project/.deepwork.rules.yml:2:10
      |
    2 | - {name: New, trigger: a, instructions: b}
      |          ^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `new` already exists in the project tier

    error: the entry has no `trigger`
     --> [BASE]/project/.deepwork.rules.yml:2:3
      |
    2 | - {name: Other, instructions: b}
      |   ^
      |
      = help: say which files it applies to: `trigger: src/**`
    error: nothing was written: the entry has no `trigger`
    ");
}

#[test]
fn a_second_import_changes_nothing() {
    let project = TestProject::new("- {name: New, trigger: a, instructions: b}\n");
    project.import("project/.deepwork.rules.yml", false).expect("a rule");
    insta::assert_snapshot!(project.refusal_text("project/.deepwork.rules.yml", true), @"
    error: rule `new` already exists in the project tier
     --> [BASE]/project/.deepwork.rules.yml:1:10
      |
    1 | - {name: New, trigger: a, instructions: b}
      |          ^^^
      |
      = help: change the `name` here, or remove the entry
    error: nothing was written: rule `new` already exists in the project tier
    ");
}

#[test]
fn files_that_are_not_a_list_of_rules_are_refused() {
    let messages: Vec<String> =
        ["", "# nothing\n", "[]\n", "rules: []\n", "- a\n- 3\n- [x]\n-\n", "- name: [\n", "just text\n"]
            .map(problems)
            .into();
    insta::assert_snapshot!(messages.join("\n\n"), @"
    error: expected a list of rules, found nothing
     --> .deepwork.rules.yml:1:1
      |
    1 |
      | ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`

    error: expected a list of rules, found nothing
     --> .deepwork.rules.yml:1:1
      |
    1 | # nothing
      | ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`

    error: expected a list of rules, found nothing
     --> .deepwork.rules.yml:1:1
      |
    1 | []
      | ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`

    error: expected a list of rules, found a mapping
     --> .deepwork.rules.yml:1:1
      |
    1 | rules: []
      | ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`

    error: expected a rule, found text
     --> .deepwork.rules.yml:1:3
      |
    1 | - a
      |   ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`
    error: expected a rule, found a number
     --> .deepwork.rules.yml:2:3
      |
    2 | - 3
      |   ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`
    error: expected a rule, found a list
     --> .deepwork.rules.yml:3:3
      |
    3 | - [x]
      |   ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`
    error: expected a rule, found nothing
     --> .deepwork.rules.yml:4:2
      |
    4 | -
      |  ^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`

    error: invalid YAML: unclosed bracket '['
     --> .deepwork.rules.yml:1:9
      |
    1 | - name: [
      |         ^

    error: expected a list of rules, found text
     --> .deepwork.rules.yml:1:1
      |
    1 | just text
      | ^^^^^^^^^
      |
      = help: write each rule as a list item: `- name: …`, with `trigger` and `instructions`
    ");
}

#[test]
fn entries_with_missing_keys_are_refused() {
    insta::assert_snapshot!(problems("\
- trigger: a
  instructions: b
- name: No trigger
  instructions: b
- name: No instructions
  trigger: a
- name: Both
  trigger: a
  instructions: b
  instructions_file: c.md
- safety: x
- name:
  trigger:
  safety: ~
  instructions:
- {name: ' ', trigger: [], safety: [], instructions: ' '}
- {name: Empty file name, trigger: a, instructions_file: ''}
"), @"
    error: the entry has no `name`
     --> .deepwork.rules.yml:1:3
      |
    1 | - trigger: a
      |   ^
      |
      = help: the rule's file is named after it
    error: the entry has no `trigger`
     --> .deepwork.rules.yml:3:3
      |
    3 | - name: No trigger
      |   ^
      |
      = help: say which files it applies to: `trigger: src/**`
    error: the entry has no `instructions`
     --> .deepwork.rules.yml:5:3
      |
    5 | - name: No instructions
      |   ^
      |
      = help: say under `instructions` what the agent should do, or name a file with `instructions_file`
    error: an entry may have `instructions` or `instructions_file`, not both
      --> .deepwork.rules.yml:10:3
       |
    10 |   instructions_file: c.md
       |   ^^^^^^^^^^^^^^^^^
       |
       = help: remove one of them
    error: the entry has no `name`
      --> .deepwork.rules.yml:11:3
       |
    11 | - safety: x
       |   ^
       |
       = help: the rule's file is named after it
    error: the entry has no `trigger`
      --> .deepwork.rules.yml:11:3
       |
    11 | - safety: x
       |   ^
       |
       = help: say which files it applies to: `trigger: src/**`
    error: the entry has no `instructions`
      --> .deepwork.rules.yml:11:3
       |
    11 | - safety: x
       |   ^
       |
       = help: say under `instructions` what the agent should do, or name a file with `instructions_file`
    error: `name` is empty
      --> .deepwork.rules.yml:12:3
       |
    12 | - name:
       |   ^^^^
       |
       = help: write a value after the key
    error: `trigger` is empty
      --> .deepwork.rules.yml:13:3
       |
    13 |   trigger:
       |   ^^^^^^^
       |
       = help: name some files
    error: `safety` is empty
      --> .deepwork.rules.yml:14:3
       |
    14 |   safety: ~
       |   ^^^^^^
       |
       = help: name some files, or remove the key
    error: `instructions` is empty
      --> .deepwork.rules.yml:15:3
       |
    15 |   instructions:
       |   ^^^^^^^^^^^^
       |
       = help: write a value after the key
    error: `name` is empty
      --> .deepwork.rules.yml:16:4
       |
    16 | - {name: ' ', trigger: [], safety: [], instructions: ' '}
       |    ^^^^
       |
       = help: write a value after the key
    error: `trigger` is empty
      --> .deepwork.rules.yml:16:15
       |
    16 | - {name: ' ', trigger: [], safety: [], instructions: ' '}
       |               ^^^^^^^
       |
       = help: name some files
    error: `safety` is empty
      --> .deepwork.rules.yml:16:28
       |
    16 | - {name: ' ', trigger: [], safety: [], instructions: ' '}
       |                            ^^^^^^
       |
       = help: name some files, or remove the key
    error: `instructions` is empty
      --> .deepwork.rules.yml:16:40
       |
    16 | - {name: ' ', trigger: [], safety: [], instructions: ' '}
       |                                        ^^^^^^^^^^^^
       |
       = help: write a value after the key
    error: `instructions_file` is empty
      --> .deepwork.rules.yml:17:39
       |
    17 | - {name: Empty file name, trigger: a, instructions_file: ''}
       |                                       ^^^^^^^^^^^^^^^^^
       |
       = help: write a value after the key
    ");
}

#[test]
fn unknown_keys_and_invalid_values_are_refused() {
    insta::assert_snapshot!(problems("\
- {name: Keys, trigger: a, instructions: b, compare_with: base, set: [x], Safety: y}
- {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
- {name: Lists, trigger: [a, 4, [b]], instructions: b}
- {name: Baseline, trigger: a, instructions: b, compare_to: main}
- {name: Baseline, trigger: a, instructions: b, compare_to: promt}
"), @"
    error: unknown key `compare_with`
     --> .deepwork.rules.yml:1:45
      |
    1 | - {name: Keys, trigger: a, instructions: b, compare_with: base, set: [x], Safety: y}
      |                                             ^^^^^^^^^^^^
      |
      = help: did you mean `compare_to`?
    error: unknown key `set`
     --> .deepwork.rules.yml:1:65
      |
    1 | - {name: Keys, trigger: a, instructions: b, compare_with: base, set: [x], Safety: y}
      |                                                                 ^^^
      |
      = help: an entry may only have `compare_to`, `instructions`, `instructions_file`, `name`, `safety`, `trigger`
    error: unknown key `Safety`
     --> .deepwork.rules.yml:1:75
      |
    1 | - {name: Keys, trigger: a, instructions: b, compare_with: base, set: [x], Safety: y}
      |                                                                           ^^^^^^
      |
      = help: did you mean `safety`?
    error: `name` must be text, not a number
     --> .deepwork.rules.yml:2:10
      |
    2 | - {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
      |          ^
    error: `trigger` must be text or a list of texts, not a number
     --> .deepwork.rules.yml:2:22
      |
    2 | - {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
      |                      ^
    error: `safety` must be text or a list of texts, not true or false
     --> .deepwork.rules.yml:2:33
      |
    2 | - {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
      |                                 ^^^^
    error: `instructions` must be text, not a list
     --> .deepwork.rules.yml:2:53
      |
    2 | - {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
      |                                                     ^
    error: `compare_to` must be text, not a mapping
     --> .deepwork.rules.yml:2:70
      |
    2 | - {name: 3, trigger: 4, safety: true, instructions: [b], compare_to: {}}
      |                                                                      ^
    error: each item of `trigger` must be text, not a number
     --> .deepwork.rules.yml:3:30
      |
    3 | - {name: Lists, trigger: [a, 4, [b]], instructions: b}
      |                              ^
    error: each item of `trigger` must be text, not a list
     --> .deepwork.rules.yml:3:33
      |
    3 | - {name: Lists, trigger: [a, 4, [b]], instructions: b}
      |                                 ^
    error: `compare_to` must be one of `base`, `default_tip`, `prompt`, not `main`
     --> .deepwork.rules.yml:4:61
      |
    4 | - {name: Baseline, trigger: a, instructions: b, compare_to: main}
      |                                                             ^^^^
    error: `compare_to` must be one of `base`, `default_tip`, `prompt`, not `promt`
     --> .deepwork.rules.yml:5:61
      |
    5 | - {name: Baseline, trigger: a, instructions: b, compare_to: promt}
      |                                                             ^^^^^
      |
      = help: did you mean `prompt`?
    ");
}

#[test]
fn names_without_a_valid_id_are_refused() {
    let (long, longest) = ("abcdefghi ".repeat(11), "abcdefghi ".repeat(10));
    insta::assert_snapshot!(problems(&format!("\
- {{name: linchpin, trigger: a, instructions: b}}
- {{name: 规则, trigger: a, instructions: b}}
- {{name: {long}, trigger: a, instructions: b}}
- {{name: {longest}, trigger: a, instructions: b}}
- {{name: {longest}, trigger: a, instructions: b}}
")), @"
    error: reserved rule id `linchpin`: Linchpin uses it for its own messages
     --> .deepwork.rules.yml:1:10
      |
    1 | - {name: linchpin, trigger: a, instructions: b}
      |          ^^^^^^^^
      |
      = help: choose another name
    error: no rule id can be derived from `规则`
     --> .deepwork.rules.yml:2:10
      |
    2 | - {name: 规则, trigger: a, instructions: b}
      |          ^^^^
      |
      = help: use a name with ASCII letters or digits: the rule's file is named after them
    error: the rule id has 109 characters, over the limit of 100
     --> .deepwork.rules.yml:3:10
      |
    3 | - {name: abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi , trigger: a, ...
      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: choose a shorter name
    error: the rule id has 101 characters, over the limit of 100
     --> .deepwork.rules.yml:5:10
      |
    5 | - {name: abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi , trigger: a, instructio...
      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: choose a shorter name
    ");
}

#[test]
fn invalid_yaml_is_refused() {
    insta::assert_snapshot!(problems("- name: Star\n  trigger: *.py\n  instructions: b\n"), @"
    error: invalid YAML: alias references unknown anchor
     --> .deepwork.rules.yml:2:12
      |
    2 |   trigger: *.py
      |            ^
      |
      = help: quote a string that starts with `*`
    ");
    insta::assert_snapshot!(problems("- name: Twice\n  trigger: a\n  trigger: b\n  instructions: b\n"), @"
    error: duplicate key `trigger`
     --> .deepwork.rules.yml:3:3
      |
    3 |   trigger: b
      |   ^^^^^^^
      |
      = help: the first `trigger` is in line 2: keep one of them
    ");
}

#[test]
fn invalid_patterns_are_refused() {
    insta::assert_snapshot!(problems("\
- name: Patterns
  trigger:
    - /src/*.py
    - '!src/a.py'
    - ../other/**
    - src/[ab
    - src\\lib.py
    - ''
  safety: ~/notes.md
  instructions: b
"), @r"
    error: a pattern cannot start with `/`
     --> .deepwork.rules.yml:3:7
      |
    3 |     - /src/*.py
      |       ^^^^^^^^^
      |
      = help: paths are relative to the project root
    error: a pattern cannot start with `!`
     --> .deepwork.rules.yml:4:8
      |
    4 |     - '!src/a.py'
      |        ^
      |
      = help: to leave paths out, list them under `exclude`; write `\!` for a name that starts with `!`
    error: a pattern cannot contain `..`
     --> .deepwork.rules.yml:5:7
      |
    5 |     - ../other/**
      |       ^^
      |
      = help: write the path relative to the project root, without `..`
    error: unclosed `[`
     --> .deepwork.rules.yml:6:11
      |
    6 |     - src/[ab
      |           ^
      |
      = help: write `\[` for a literal bracket
    error: `\` before `l` has no meaning, because `l` needs no escape
     --> .deepwork.rules.yml:7:10
      |
    7 |     - src\lib.py
      |          ^^
      |
      = help: directories are separated by `/`; a backslash itself is `\\`
    error: a pattern cannot be empty
     --> .deepwork.rules.yml:8:7
      |
    8 |     - ''
      |       ^^
    error: a pattern cannot start with `~/`
     --> .deepwork.rules.yml:9:11
      |
    9 |   safety: ~/notes.md
      |           ^^
      |
      = help: paths are relative to the project root
    ");
}

#[test]
fn instructions_that_cannot_be_read_are_refused() {
    insta::assert_snapshot!(problems("\
- {name: a, trigger: a, instructions_file: missing.md}
- {name: b, trigger: a, instructions_file: ../secret.md}
- {name: c, trigger: a, instructions_file: folder/../../secret.md}
- {name: d, trigger: a, instructions_file: /etc/hostname}
- {name: e, trigger: a, instructions_file: door.md}
- {name: f, trigger: a, instructions_file: folder}
- {name: g, trigger: a, instructions_file: empty.md}
- {name: h, trigger: a, instructions_file: latin1.md}
- {name: i, trigger: a, instructions_file: long.md}
- {name: j, trigger: a, instructions_file: empty.md/x}
"), @"
    error: `missing.md` does not exist
     --> .deepwork.rules.yml:1:44
      |
    1 | - {name: a, trigger: a, instructions_file: missing.md}
      |                                            ^^^^^^^^^^
      |
      = help: paths are relative to the list's folder; if the file no longer exists, put the text under `instructions`
    error: `../secret.md` is outside the list's folder
     --> .deepwork.rules.yml:2:44
      |
    2 | - {name: b, trigger: a, instructions_file: ../secret.md}
      |                                            ^^^^^^^^^^^^
      |
      = help: copy the file next to the list, or put its text under `instructions`
    error: `folder/../../secret.md` is outside the list's folder
     --> .deepwork.rules.yml:3:44
      |
    3 | - {name: c, trigger: a, instructions_file: folder/../../secret.md}
      |                                            ^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: copy the file next to the list, or put its text under `instructions`
    error: `/etc/hostname` is outside the list's folder
     --> .deepwork.rules.yml:4:44
      |
    4 | - {name: d, trigger: a, instructions_file: /etc/hostname}
      |                                            ^^^^^^^^^^^^^
      |
      = help: copy the file next to the list, or put its text under `instructions`
    error: `door.md` is outside the list's folder
     --> .deepwork.rules.yml:5:44
      |
    5 | - {name: e, trigger: a, instructions_file: door.md}
      |                                            ^^^^^^^
      |
      = help: copy the file next to the list, or put its text under `instructions`
    error: `folder` cannot be read: not a regular file
     --> .deepwork.rules.yml:6:44
      |
    6 | - {name: f, trigger: a, instructions_file: folder}
      |                                            ^^^^^^
      |
      = help: name a file that can be read
    error: `empty.md` is empty
     --> .deepwork.rules.yml:7:44
      |
    7 | - {name: g, trigger: a, instructions_file: empty.md}
      |                                            ^^^^^^^^
      |
      = help: say in the file what the agent should do, or use `instructions`
    error: `latin1.md` is not UTF-8 text
     --> .deepwork.rules.yml:8:44
      |
    8 | - {name: h, trigger: a, instructions_file: latin1.md}
      |                                            ^^^^^^^^^
      |
      = help: save it as UTF-8
    error: `long.md` is larger than the limit of 256 KiB
     --> .deepwork.rules.yml:9:44
      |
    9 | - {name: i, trigger: a, instructions_file: long.md}
      |                                            ^^^^^^^
      |
      = help: shorten it: the agent has to read all of it
    error: `empty.md/x` cannot be read: Not a directory (os error 20)
      --> .deepwork.rules.yml:10:44
       |
    10 | - {name: j, trigger: a, instructions_file: empty.md/x}
       |                                            ^^^^^^^^^^
       |
       = help: paths are relative to the list's folder; if the file no longer exists, put the text under `instructions`
    ");
}

#[test]
fn patterns_are_converted() {
    let patterns = [
        "*",
        "*.py",
        "*_test.py",
        "*.test.*",
        "*.{ts,tsx}",
        "README.md",
        "docs/a.md",
        "Makefile*",
        "test?.py",
        "src/*",
        "src/*.py",
        "*/a.py",
        "a/*/b.py",
        "**",
        "**/*",
        "src/**",
        "src/**/*",
        "src/**/*.py",
        "**/*.py",
        "src/**/test_*.py",
        "packages/*/src/**",
        "**/tests/**",
        "**/tests/**/*",
        "src/**.py",
        "./src/*.py",
        ".*",
        "{a}/x.py",
        "{{a}}/x",
        "a{b,c}d",
        "a{,}",
        "a{b",
        "a}b",
        "a\\{b,c\\}",
        "src\\*.py",
        "[ab]*.py",
    ];
    let lines = patterns.map(|old| {
        let ConvertedPattern { pattern, reasons } = old_pattern::convert(old);
        let line = format!("{old:20} {pattern:20} {}", reasons.join("; "));
        line.trim_end().to_owned()
    });
    insta::assert_snapshot!(lines.join("\n"), @r"
    *                    **                   `*` crossed folders in the old format, but does not here
    *.py                 **/*.py              `*` crossed folders in the old format, but does not here
    *_test.py            **/*_test.py         `*` crossed folders in the old format, but does not here
    *.test.*             *.test.*             `*` crossed folders in the old format, but does not here
    *.{ts,tsx}           **/*.{ts,tsx}        braces were literal in the old format, but `{a,b}` means `a` or `b` here; `*` crossed folders in the old format, but does not here
    README.md            README.md
    docs/a.md            docs/a.md
    Makefile*            Makefile*            `*` crossed folders in the old format, but does not here
    test?.py             test?.py
    src/*                src/**               `*` crossed folders in the old format, but does not here
    src/*.py             src/**/*.py          `*` crossed folders in the old format, but does not here
    */a.py               */a.py               `*` crossed folders in the old format, but does not here
    a/*/b.py             a/*/b.py             `*` crossed folders in the old format, but does not here
    **                   **
    **/*                 **                   matches the same files
    src/**               src/**
    src/**/*             src/**               matches the same files
    src/**/*.py          src/**/*.py
    **/*.py              **/*.py
    src/**/test_*.py     src/**/test_*.py     `*` crossed folders in the old format, but does not here
    packages/*/src/**    packages/*/src/**    `packages/*/src/` was a literal name in the old format, but is a pattern here
    **/tests/**          **/tests/**          `**` matched at least one folder in the old format, but may match none here
    **/tests/**/*        **/tests/**          `**` matched at least one folder in the old format, but may match none here
    src/**.py            src/**.py
    ./src/*.py           ./src/**/*.py        `*` crossed folders in the old format, but does not here
    .*                   .*                   `*` crossed folders in the old format, but does not here
    {a}/x.py             \{a\}/x.py           a literal brace is escaped with `\`
    {{a}}/x              \{\{a\}\}/x          a literal brace is escaped with `\`
    a{b,c}d              a{b,c}d              braces were literal in the old format, but `{a,b}` means `a` or `b` here
    a{,}                 a\{,\}               a literal brace is escaped with `\`
    a{b                  a\{b                 a literal brace is escaped with `\`
    a}b                  a\}b                 a literal brace is escaped with `\`
    a\{b,c\}             a\{b,c\}             `\` meant `/` in the old format, but escapes the next character here
    src\*.py             src\*.py             `\` meant `/` in the old format, but escapes the next character here; `*` crossed folders in the old format, but does not here
    [ab]*.py             [ab]*.py             `*` crossed folders in the old format, but does not here
    ");
}

/// Matches a text by the rules of Python's `fnmatch`, which the old format used.
fn fnmatch(text: &str, pattern: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        None => text.is_empty(),
        Some('*') => (0..=text.len()).filter_map(|at| text.get(at..)).any(|rest| fnmatch(rest, characters.as_str())),
        Some(character) => {
            let mut text = text.chars();
            text.next().is_some_and(|next| character == '?' || character == next)
                && fnmatch(text.as_str(), characters.as_str())
        }
    }
}

/// Matches a path by the rules of the old format.
fn old_format_matches(path: &str, pattern: &str) -> bool {
    let [before, after] = pattern.split("**").collect::<Vec<_>>()[..] else { return fnmatch(path, pattern) };
    let before = before.trim_end_matches('/');
    let rest = match path.strip_prefix(before) {
        Some(rest) if before.is_empty() || rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => return false,
    };
    let after = after.trim_start_matches('/');
    let tails = rest.match_indices('/').filter_map(|(at, _)| rest.get(at + 1..)).chain([rest]);
    after.is_empty() || tails.into_iter().any(|tail| fnmatch(tail, after))
}

#[test]
fn the_reimplementation_of_the_old_matching_is_correct() {
    for (path, pattern, is_match) in [
        ("a/b.py", "*.py", true),
        ("src/a/b.py", "src/*.py", true),
        ("docs/README.md", "README.md", false),
        ("src/a.py", "src/**/*.py", true),
        ("src/a/b.py", "src/**/*.py", true),
        ("srcs/a.py", "src/**/*", false),
        ("tests/a", "**/tests/**", false),
        ("a/tests/b", "**/tests/**", true),
    ] {
        assert_eq!(old_format_matches(path, pattern), is_match, "{path} {pattern}");
    }
}

/// All paths of up to three segments.
fn paths() -> Vec<String> {
    let names = ["a", "b", "ab", "a.py", ".py"];
    let below = |directories: &[String]| -> Vec<String> {
        directories.iter().flat_map(|directory| names.map(|name| format!("{directory}/{name}"))).collect()
    };
    let first: Vec<String> = names.map(str::to_owned).into();
    let second = below(&first);
    let third = below(&second);
    [first, second, third].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// A pattern that was rewritten, or that has no notes, matches the same paths as in the old format.
    #[test]
    fn patterns_keep_their_meaning(
        pieces in prop::collection::vec(prop::sample::select(vec!["*", "**/", "/**", "/", "a", "b", ".py"]), 1..6),
    ) {
        let old = pieces.concat();
        let ConvertedPattern { pattern, reasons } = old_pattern::convert(&old);
        let is_rewritten = pattern != old && !old.trim_start_matches('*').contains('*');
        let Ok(parsed) = Pattern::parse(&pattern) else { return Ok(()) };
        // Unusual patterns, such as `**` inside a name, are reported when the rule is read.
        let is_equivalent = reasons.is_empty() || reasons == ["matches the same files"] || is_rewritten;
        if is_equivalent && parsed.warnings().is_empty() {
            for path in paths() {
                prop_assert_eq!(parsed.matches(&path), old_format_matches(&path, &old), "{} {} {}", path, old, pattern);
            }
        }
    }

    #[test]
    fn any_entry_gives_an_equivalent_rule_or_an_error(
        name in "\\PC{0,30}|[a-c \n\t\"'#:-]{0,12}",
        body in "(?s).{0,60}",
        trigger in "[a*/{},\\\\\\[\\]!?.]{0,10}",
    ) {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let list = format!("- name: {}\n  trigger: {}\n  instructions: {}\n", text(&name), text(&trigger), text(&body));
        let source = Source::new("list.yml", list);
        let conversion = convert(&source, Path::new("."));
        prop_assert_eq!(conversion.rules.len(), usize::from(conversion.problems.is_empty()));
        for problem in &conversion.problems {
            prop_assert!(problem.span.is_some() && !problem.line().contains('\n'), "{}", problem.line());
        }
        for note in conversion.rules.iter().flat_map(|rule| &rule.conversion_notes) {
            prop_assert!(!note.line().contains('\n'));
        }
    }
}
