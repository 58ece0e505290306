//! An incremental update gives the same policy as a full load.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::{CompiledPolicy, compile_uncached, compiled_policy};

/// A user and a project, each with a policy.
struct TestProject {
    directory: tempfile::TempDir,
    tiers: PolicyFolders,
    /// True if a person trusted everything in the project's policy.
    trusted: bool,
}

const BLOCK: &str = "---\ntools: [Bash]\n---\nNo.\n";
const WARN: &str = "---\ntools: [Bash]\naction: warn\n---\nCareful.\n";

impl TestProject {
    fn new(files: &[(String, String)], trusted: bool) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let user = PolicyFolder::of_user(&directory.path().join("user"));
        let project = PolicyFolder::of_project(&directory.path().join("project"));
        fs::create_dir_all(user.rules()).expect("a directory");
        fs::create_dir_all(project.rules()).expect("a directory");
        let project = Self { directory, tiers: PolicyFolders { project: Some(project), user: Some(user) }, trusted };
        for (path, text) in files {
            project.write(path, text);
        }
        project.wait_and_compile();
        project
    }

    /// Waits until the stamps of written files are unambiguous, and compiles the policy.
    fn wait_and_compile(&self) {
        std::thread::sleep(Duration::from_millis(60));
        self.compiled();
    }

    /// The path of a file that is named `user/…` or `project/…`.
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name.replace("project/", "project/.linchpin/"))
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn compiled(&self) -> CompiledPolicy {
        compiled_policy(&self.tiers, &self.directory.path().join("cache"), |_| self.trusted)
    }

    fn compiled_uncached(&self) -> CompiledPolicy {
        compile_uncached(&self.tiers, |_| self.trusted)
    }

    /// Writes a file, compiles the policy again, and returns the ids of the rules that were read from files for this.
    fn rules_read_after(&self, name: &str, text: &str) -> Vec<String> {
        self.wait_and_compile();
        self.write(name, text);
        let mut read: Vec<String> = self.compiled().definitions_read.into_iter().map(|rule| rule.rule.id).collect();
        read.retain(|id| !super::is_bundled(id));
        read
    }
}

fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn only_the_edited_or_added_rule_is_read() {
    let start = files(&[
        ("project/config.yml", "max_holds: 2\n"),
        ("project/rules/a.md", BLOCK),
        ("project/rules/b.md", BLOCK),
        ("user/rules/u.md", BLOCK),
    ]);
    let project = TestProject::new(&start, false);
    for (file, id) in
        [("project/rules/a", "a"), ("user/rules/u", "u"), ("project/rules/new", "new"), ("user/rules/v", "v")]
    {
        assert_eq!(project.rules_read_after(&format!("{file}.md"), WARN), [id]);
        assert_eq!(project.compiled().rules, project.compiled_uncached().rules, "{file}");
    }
    project.wait_and_compile();
    assert_eq!(project.compiled().definitions_read, []);
}

#[test]
fn other_changes_need_a_full_load() {
    let allow = "---\ntools: [Bash]\naction: allow\n---\nYes.\n";
    let off = "---\ntools: [Bash]\nenabled: false\n---\nNo.\n";
    let nothing = ("project/config.yml", "");
    let cases = [
        // A rule with the same id is in another tier, in a library, in a list, or bundled.
        (nothing, ("project/rules/u.md", BLOCK)),
        (("project/rules/l.yml", "idle: {tools: [Bash], reason: no}\n"), ("project/rules/idle.md", BLOCK)),
        (("project/config.yml", "rules: [{name: c, tools: [Bash], reason: no}]\n"), ("project/rules/c.md", BLOCK)),
        (nothing, ("project/rules/hard-reset.md", BLOCK)),
        (("project/config.yml", "rules: [hard-reset]\n"), ("project/rules/hard-reset.md", BLOCK)),
        // The old or the new version approves calls, is switched off, or has errors; or the file name is not an id.
        (nothing, ("project/rules/a.md", allow)),
        (("project/rules/a.md", allow), ("project/rules/a.md", BLOCK)),
        (nothing, ("project/rules/a.md", off)),
        (("project/rules/a.md", off), ("project/rules/a.md", BLOCK)),
        (nothing, ("project/rules/a.md", "---\ntool: [Bash]\n---\nNo.\n")),
        (("project/rules/c.md", "---\ntool: [Bash]\n---\nNo.\n"), ("project/rules/a.md", WARN)),
        (nothing, ("project/rules/A B.md", BLOCK)),
        // The file is not a rule.
        (nothing, ("project/rules/m.yml", "imports: []\n")),
        (nothing, ("project/rules/m.yaml", "")),
        (nothing, ("project/config.yml", "mode: observe\n")),
        // Everything is switched off.
        (("user/config.yml", "enabled: false\n"), ("project/rules/a.md", WARN)),
        (("project/config.yml", "enabled: false\n"), ("project/rules/c.md", WARN)),
    ];
    for (before, (path, text)) in cases {
        let start = [("project/rules/a.md", BLOCK), ("project/rules/b.md", BLOCK), ("user/rules/u.md", BLOCK), before];
        let project = TestProject::new(&files(&start), true);
        let read = project.rules_read_after(path, text);
        assert!(read.contains(&"b".to_owned()), "{before:?} {path} {text:?}: {read:?}");
    }
}

#[test]
fn two_new_rules_of_one_id_need_a_full_load() {
    let project = TestProject::new(&files(&[("project/rules/a.md", BLOCK), ("user/rules/u.md", BLOCK)]), false);
    project.write("user/rules/d.md", "---\ntools: [Bash]\nlocked: true\n---\nNo.\n");
    project.write("project/rules/d.md", WARN);
    assert_eq!(project.compiled().rules, project.compiled_uncached().rules);
}

/// Sessions notice a new policy by its digest.
#[test]
fn the_same_text_in_another_rule_gives_another_digest() {
    let project = TestProject::new(&files(&[("project/rules/a.md", BLOCK)]), false);
    project.write("project/rules/b.md", WARN);
    let with_b = project.compiled().rules_digest;
    fs::remove_file(project.path("project/rules/b.md")).expect("deleted");
    project.wait_and_compile();
    project.write("project/rules/a.md", WARN);
    assert_ne!(project.compiled().rules_digest, with_b);
}

fn any_rule() -> impl Strategy<Value = String> {
    let lines = prop::sample::subsequence(
        vec!["action: warn", "action: allow", "enabled: false", "when: vars.x == 1", "locked: true", "max_holds: 2"],
        0..3,
    );
    (lines, 0..3).prop_map(|(lines, number)| {
        let lines = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        format!("---\ntools: [Bash]\n{lines}---\nReason {number}.\n")
    })
}

fn any_file() -> impl Strategy<Value = (String, String)> {
    let name = prop::sample::select(vec!["a", "b", "c", "hard-reset", "protect-guardrails"]);
    let tier = prop::sample::select(vec!["project", "project", "user"]);
    let markdown =
        (tier.clone(), name, any_rule()).prop_map(|(tier, name, text)| (format!("{tier}/rules/{name}.md"), text));
    let ids = prop::sample::subsequence(vec!["a", "b", "d", "hard-reset"], 0..3);
    let library = (tier.clone(), ids.clone()).prop_map(|(tier, ids)| {
        let rules =
            ids.iter().map(|id| format!("{id}: {{tools: [Read], reason: Library}}\n")).collect::<Vec<_>>().concat();
        (format!("{tier}/rules/l.yml"), rules)
    });
    let settings =
        prop::sample::subsequence(vec!["enabled: false", "max_holds: 7", "variables: {x: 1}", "imports: [l]"], 0..3);
    let config = (tier, ids, settings).prop_map(|(tier, ids, settings)| {
        let settings = settings.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        (format!("{tier}/config.yml"), format!("{settings}rules: [{}]\n", ids.join(", ")))
    });
    prop_oneof![6 => markdown, 1 => library, 3 => config]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_incremental_update_equals_a_full_load(
        before in prop::collection::vec(any_file(), 0..10),
        edits in prop::collection::vec(any_file(), 1..6),
        trusted: bool,
    ) {
        let project = TestProject::new(&before, trusted);
        project.compiled();
        for (path, text) in edits {
            project.write(&path, &text);
            let (updated, full) = (project.compiled(), project.compiled_uncached());
            if full.broken.is_empty() {
                prop_assert_eq!(updated.rules.all().expect("rules"), full.rules.all().expect("rules"));
                prop_assert_eq!(updated.config, full.config);
                prop_assert_eq!(updated.untrusted, full.untrusted);
                prop_assert_eq!(updated.broken, []);
            }
        }
    }
}
