//! `linchpin doctor`: problems of hooks, settings and the journal, and the consequences of these problems.

mod agent_settings;
mod hooks;
mod storage;
mod submodule;

use std::fs;
use std::path::PathBuf;

use testkit::TestProject;

use crate::project;

/// A project with an agent's hooks, and the settings file that contains these hooks.
struct Hooks {
    project: TestProject,
    agent: &'static str,
    scope: &'static [&'static str],
    file: PathBuf,
}

impl Hooks {
    fn of(agent: &'static str, scope: &'static [&'static str]) -> Self {
        let project = project();
        let arguments: Vec<&str> = ["install", agent, "--json"].into_iter().chain(scope.iter().copied()).collect();
        let reply = project.run(&arguments);
        assert_eq!(reply.code, Some(0), "{agent}: {}{}", reply.stdout, reply.stderr);
        let shown = reply.json()["file"].as_str().expect("a file").to_owned();
        let base = project.root().parent().expect("a directory").display().to_string();
        let file = PathBuf::from(shown.replace("[BASE]", &base));
        Self { project, agent, scope, file }
    }

    fn read_settings(&self) -> String {
        fs::read_to_string(&self.file).expect("settings")
    }

    /// Returns the program that the hooks call, as the settings contain it: in quotes if it is part of a command line.
    fn program(&self) -> String {
        let text = self.read_settings();
        let command = text.split("\"command\": \"").nth(1).expect("a command");
        let command = command.split('"').next().expect("a command");
        command.split(" hook ").next().expect("a program").to_owned()
    }

    /// Replaces `from` with `to` in the settings file, and returns the problems that `doctor` then reports. Checks that
    /// `install` fixes the problems for which `doctor` suggests it.
    fn problems_after_change(&self, from: &str, to: &str) -> String {
        let before = self.read_settings();
        assert!(before.contains(from), "{from} is not in {before}");
        fs::write(&self.file, before.replacen(from, to, 1)).expect("written");
        let problems_text = self.problems();
        if problems_text.contains("` again") {
            let arguments: Vec<&str> = ["install", self.agent].into_iter().chain(self.scope.iter().copied()).collect();
            assert_eq!(self.project.run(&arguments).code, Some(0));
            assert!(!self.problems().contains("` again"), "{}", self.problems());
        }
        fs::write(&self.file, before).expect("written");
        problems_text
    }

    fn write_in_home(&self, file: &str, text: &str) {
        let path = self.project.home().join(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("written");
    }

    fn problems(&self) -> String {
        problems(&self.project)
    }
}

/// Returns the exit code of `doctor`, and its output without the lines that report no problem.
fn problems(project: &TestProject) -> String {
    let reply = project.run(&["doctor"]);
    let is_ok =
        |line: &&str| line.starts_with("ok ") || line.starts_with("Linchpin ") || line.contains("no journal yet");
    let lines: Vec<&str> = reply.stdout.lines().filter(|line| !line.is_empty() && !is_ok(line)).collect();
    project.redacted(&format!("exit {}\n{}", reply.code.unwrap_or(-1), lines.join("\n")))
}

#[test]
fn file_rules_outside_of_git_are_reported() {
    let project = project();
    project.rule("readme", "---\ntrigger: src/**\nsafety: README.md\n---\nCheck the README.\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    note: file rules are off: [BASE]/project is not in a git repository

    3 rules in force, no errors.
    ");
    let off = "file rules are off: ";
    assert!(project.run(&["doctor"]).stdout.contains(&format!("note  {off}")));
    project.git(&["init", "-q"]);
    assert!(!project.run(&["doctor"]).stdout.contains(off));
    assert!(!project.run(&["validate"]).stdout.contains(off));
}

#[test]
fn an_empty_folder_of_user_rules_is_not_a_policy() {
    let project = crate::project_without_policy();
    project.user_rule("no-danger", crate::NO_DANGER);
    assert!(!problems(&project).contains("no policy"));
    assert_eq!(project.run(&["rules", "delete", "no-danger", "--user"]).code, Some(0));
    assert!(project.user_policy().join("rules").is_dir());
    assert!(problems(&project).contains("bad   no policy: every event is allowed"), "{}", problems(&project));
    assert!(project.run(&["try", "danger"]).stdout.contains("there is no policy here"));
}
