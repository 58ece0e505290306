//! `linchpin hats`: writes, validates, shows and draws the loop of a project.

use super::rules::run_as_agent;
use super::{project, project_without_policy};
use testkit::TestProject;

const PRESETS: [&str; 4] = ["builder-reviewer", "spec-driven", "bug-hunt", "docs"];

fn with_preset(name: &str) -> TestProject {
    let project = project();
    let written = project.run(&["hats", "new", name]);
    assert_eq!(written.code, Some(0), "{}", written.transcript());
    project
}

#[test]
fn a_bundled_loop_is_copied_once() {
    let project = project();
    insta::assert_snapshot!(project.run(&["hats", "list"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "new"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "new", "doc"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "new", "docs"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "new", "docs"]).transcript());
    insta::assert_snapshot!(project_without_policy().run(&["hats", "new", "docs"]).transcript());
}

#[test]
fn bundled_loops_are_valid_and_drawn() {
    for name in PRESETS {
        let project = with_preset(name);
        project.run(&["install", "claude"]);
        let validated = project.run(&["hats", "validate"]);
        assert_eq!(validated.code, Some(0), "{}", validated.transcript());
        assert!(validated.stdout.contains("no errors"), "{}", validated.stdout);
        insta::assert_snapshot!(format!("{name}-list"), project.run(&["hats", "list"]).stdout);
        insta::assert_snapshot!(format!("{name}-graph"), project.run(&["hats", "graph"]).stdout);
    }
    insta::assert_snapshot!(with_preset("docs").run(&["hats", "graph", "--format", "dot"]).stdout);
}

#[test]
fn bundled_loops_show_their_prompts() {
    for name in PRESETS {
        let project = with_preset(name);
        let listed = project.run(&["hats", "list", "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
        for hat in listed["hats"].as_array().expect("hats") {
            let id = hat["id"].as_str().expect("an id");
            insta::assert_snapshot!(format!("{name}-{id}"), project.run(&["hats", "show", id]).stdout);
        }
    }
}

#[test]
fn an_unknown_hat_is_an_error() {
    insta::assert_snapshot!(with_preset("docs").run(&["hats", "show", "writers"]).transcript());
}

#[test]
fn errors_of_a_loop_have_positions() {
    let project = project();
    project
        .file(".linchpin/loop.yml", "agent: claude\nhats:\n  a: {triggers: [task.start], publish: [loop.complete]}\n");
    insta::assert_snapshot!(project.run(&["hats", "validate"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "list"]).transcript());
    insta::assert_snapshot!(project.run(&["validate"]).transcript());
}

#[test]
fn agents_without_hooks_are_warned_about() {
    let project = with_preset("docs");
    insta::assert_snapshot!(project.run(&["hats", "validate"]).transcript());
    let the_loop = "agent: {command: [sh, agent.sh]}\nhats:
  one: {triggers: [task.start], publishes: [two], writes: [src/**]}
  two: {triggers: [two], publishes: [three], agent: amp}
  three: {triggers: [three], publishes: [loop.complete]}\n";
    project.file(".linchpin/loop.yml", the_loop);
    insta::assert_snapshot!(project.run(&["hats", "validate"]).transcript());
    insta::assert_snapshot!(project.run(&["hats", "validate", "--json"]).stdout);
}

#[test]
fn a_bundled_loop_runs_the_tests_of_its_project() {
    let project = project();
    project.file("Cargo.toml", "[package]\nname = \"x\"\n").file("Makefile", "all:\n");
    project.run(&["hats", "new", "builder-reviewer"]);
    let listed = project.run(&["hats", "list"]).stdout;
    assert!(listed.contains("requires tests (command cargo test)"), "{listed}");
    assert!(!listed.contains("make"), "{listed}");
}

#[test]
fn a_guessed_test_command_is_reported() {
    let project = project();
    project.file("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#);
    let output = project.run(&["hats", "new", "builder-reviewer"]).stdout;
    assert!(output.contains("`make test` in it is a guess"), "{output}");
}

#[test]
fn a_named_pipe_as_makefile_does_not_block() {
    let project = project();
    let pipe = project.root().join("Makefile");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    let output = project.run(&["hats", "new", "builder-reviewer"]).stdout;
    assert!(output.contains("`make test` in it is a guess"), "{output}");
}

#[test]
fn only_a_makefile_with_a_test_target_gives_a_test_command() {
    for (makefile, is_guess) in [("all:\n\tcc x.c\n", true), ("all:\n\ntest: all\n\t./x\n", false)] {
        let project = project();
        project.file("Makefile", makefile);
        let output = project.run(&["hats", "new", "builder-reviewer"]).stdout;
        assert_eq!(output.contains("`make test` in it is a guess"), is_guess, "{makefile}: {output}");
    }
}

#[test]
fn a_poetry_project_runs_its_tests_with_poetry() {
    for manifest in ["[tool.poetry]\nname = 'x'\n", "[build-system]\nbuild-backend = \"poetry.core.masonry.api\"\n"] {
        let project = project();
        project.file("pyproject.toml", manifest);
        project.run(&["hats", "new", "builder-reviewer"]);
        let listed = project.run(&["hats", "list"]).stdout;
        assert!(listed.contains("requires tests (command poetry run pytest)"), "{manifest}: {listed}");
    }
}

#[test]
fn agents_cannot_write_loops() {
    let project = project();
    insta::assert_snapshot!(run_as_agent(&project, &["hats", "new", "docs"], "").transcript());
    assert!(!project.root().join(".linchpin/loop.yml").exists());
}

#[test]
fn gates_on_a_topic_that_no_hat_publishes_are_an_error() {
    let project = project();
    project.file(
        ".linchpin/loop.yml",
        "agent: {command: [sh, agent.sh]}\ntopics:\n  task.start: {on_trigger: Begin., requires: ['true']}\n  task.resume: {on_trigger: Go on.}\n\
         hats:\n  worker: {triggers: [task.start, task.resume], publishes: [loop.complete]}\n",
    );
    insta::assert_snapshot!(project.run(&["hats", "validate"]).transcript(), @"
    exit 2
    --- stdout
    error: `requires` of `task.start` is never checked: no hat publishes `task.start`, only Linchpin itself
     --> .linchpin/loop.yml:3:3
      |
    3 |   task.start: {on_trigger: Begin., requires: ['true']}
      |   ^^^^^^^^^^
      |
      = help: gates are checked when a hat publishes a topic: move them to a topic that a hat publishes, such as `loop.complete: {requires: […]}`

    .linchpin/loop.yml: 1 error.
    --- stderr
    ");
}

#[test]
fn an_unused_gate_is_reported() {
    let project = project();
    project.file(
        ".linchpin/loop.yml",
        "agent: {command: [sh, agent.sh]}\ngates: {tests: {command: make test}, docs: {command: make docs}}\ncompletion: {requires: [tests]}\n\
         hats:\n  worker: {triggers: [task.start], publishes: [loop.complete]}\n",
    );
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: nothing requires the gate `docs`, so it is never checked
     --> .linchpin/loop.yml:2:38
      |
    2 | gates: {tests: {command: make test}, docs: {command: make docs}}
      |                                      ^^^^
      |
      = help: add it where it must hold, as `requires: [docs]`, or remove it

    2 rules in force; 1 warning.
    ");
}
