//! `linchpin workflows`: lists, shows and draws workflows.

use super::{MINIMAL, with_workflow};
use crate::{project, project_without_policy};

/// A workflow that uses most keys of a workflow file.
const EXECUTION: &str = r#"
start_node: spec
variables: {reviewed: false, research: false, tests_ran: false}
claims: [needs_rework]
rule_definitions:
  no-push: {tools: [Bash], command_pattern: "^git push", reason: "Review first."}
  pairing: {set: ["src/{path}.rs", "tests/{path}.rs"], reason: "Change the test too."}
rules:
  - {tools: [WebFetch], action: ask, reason: "Network while building?"}
gates: {green: {command: "cargo test", timeout: 10m}}
triggers:
  before_tool:
    - {block_tools: [{tools: [WebSearch], reason: "Not now."}], when: "not variables.research"}
  session_start: [{inject: "Read docs/plan.md first."}]
nodes:
  spec:
    prompt: "Write the spec. {{ guide('SPEC_WRITING') }}"
    transitions: [{when: spec_complete, to: code}]
  code:
    prompt: |
      Write the code.
      {% if phase.visit > 1 %}
      It was sent back.
      {% endif %}
    rules:
      - no-push
      - {tools: [Task], reason: "Alone."}
    on_enter: [{set: {reviewed: false}}]
    requires: ["tests_ran and not git.dirty", green, {approval: "Ship it?"}]
    transitions:
      - {when: "code_complete and reviewed", to: done}
      - {when: needs_rework, to: spec}
      - {when: code_complete, to: review, requires: [{file_rules: [pairing]}]}
  review:
    prompt: Read it.
    transitions: [{when: review_complete, to: done}, {when: needs_rework, to: code}]
"#;

#[test]
fn a_valid_workflow_has_no_errors() {
    insta::assert_snapshot!(with_workflow(EXECUTION).run(&["validate"]).transcript(), @"
    exit 0
    --- stdout
    note: .linchpin/workflows/execution.yml: until you run `linchpin trust`, these gates are not met: gate `green`: runs `cargo test`

    2 rules in force, 1 workflow, no errors.
    --- stderr
    ");
}

#[test]
fn a_workflow_is_drawn() {
    let project = with_workflow(EXECUTION);
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution"]).stdout, @"
    execution, from spec
    rule execution/1: ask, Network while building?
    rule execution/2: block, Not now.

    spec
      → code when spec_complete

    code
      rule execution/no-push: block, Review first.
      rule execution/code/2: block, Alone.
      requires tests_ran and not git.dirty
      requires command cargo test
      requires approval: Ship it?
      → done when code_complete and reviewed
      → spec when needs_rework
      → review when code_complete
          requires file rules execution/pairing

    review
      → done when review_complete
      → code when needs_rework
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution", "--format", "mermaid"]).stdout, @r#"
    flowchart TD
      n0(["spec"])
      n1["code"]
      n2["review"]
      n3(["done"])
      n0 -->|"spec_complete"| n1
      n1 -->|"code_complete and reviewed"| n3
      n1 -->|"needs_rework"| n0
      n1 -->|"code_complete"| n2
      n2 -->|"review_complete"| n3
      n2 -->|"needs_rework"| n1
    "#);
    insta::assert_snapshot!(project.run(&["workflows", "show", "execution", "--format", "dot"]).stdout, @r#"
    digraph "execution" {
      "spec" [shape=oval];
      "code" [shape=box];
      "review" [shape=box];
      "done" [shape=oval];
      "spec" -> "code" [label="spec_complete"];
      "code" -> "done" [label="code_complete and reviewed"];
      "code" -> "spec" [label="needs_rework"];
      "code" -> "review" [label="code_complete"];
      "review" -> "done" [label="review_complete"];
      "review" -> "code" [label="needs_rework"];
    }
    "#);
    let shown = project.run(&["workflows", "show", "execution", "--json"]).json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).expect("JSON"));
}

#[test]
fn a_bundled_workflow_can_be_copied() {
    let project = project();
    let printed = project.run(&["workflows", "show", "execution", "--format", "yaml"]).stdout;
    let (_, command) = printed.split_once("#   linchpin ").expect("the command that copies it");
    let command: Vec<&str> = command.lines().next().unwrap_or_default().split(' ').collect();
    insta::assert_snapshot!(project.run(&command).transcript(), @"
    exit 0
    --- stdout
    Wrote .linchpin/workflows/execution.yml. It replaces the bundled workflow. Change it, then run `linchpin validate`.
    --- stderr
    ");
    assert_eq!(
        std::fs::read_to_string(project.root().join(".linchpin/workflows/execution.yml")).expect("a file"),
        printed
    );
    assert_eq!(project.run(&["validate"]).code, Some(0));
    let json = project.run(&["workflows", "show", "execution", "--json"]).json();
    assert_eq!(json["source"], ".linchpin/workflows/execution.yml");
    insta::assert_snapshot!(project.run(&command).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: `.linchpin/workflows/execution.yml` already exists
    help: move it away first: Linchpin does not overwrite your files
    ");
    insta::assert_snapshot!(project.run(&["workflows", "new", "execusion"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no bundled workflow `execusion`
    help: did you mean `execution`?
    ");
    insta::assert_snapshot!(project.run(&["workflows", "new", "feature"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no bundled workflow `feature`
    help: bundled workflows: `developer`, `discovery`, `execution`, `quick`, `refactor`, `research`
    ");
    insta::assert_snapshot!(project_without_policy().run(&command).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `linchpin init` writes one
    ");
}

#[test]
fn an_empty_file_of_a_redirection_is_not_shown() {
    let project = project();
    project.file(".linchpin/workflows/execution.yml", "").file(".linchpin/rules/hard-reset.md", "");
    let shown = project.run(&["workflows", "show", "execution", "--format", "yaml"]);
    assert!(shown.stdout.contains("start_node: spec"), "{}", shown.transcript());
    let exported = project.run(&["rules", "export", "hard-reset"]);
    assert!(exported.stdout.contains("git reset --hard"), "{}", exported.transcript());
}

#[test]
fn a_workflow_of_a_later_tier_overrides_an_earlier_one() {
    let project = with_workflow(EXECUTION);
    let user = project.user_policy().join("workflows");
    std::fs::create_dir_all(&user).expect("a directory");
    std::fs::write(user.join("execution.yml"), MINIMAL).expect("a file");
    std::fs::write(user.join("quickly.yml"), MINIMAL).expect("a file");
    project.file(".linchpin/workflows/wrong.yml", "start_node: x\n");
    insta::assert_snapshot!(project.run(&["workflows"]).stdout, @"
    developer  bundled  claim, plan, code, test, review, commit (bundled workflow developer)
    discovery  bundled  spec, plan, code, learnings, readme (bundled workflow discovery)
    execution  project  spec, code, review (.linchpin/workflows/execution.yml; replaces that of user, bundled)
    quick      bundled  code, test (bundled workflow quick)
    quickly    user     work ([BASE]/config/linchpin/workflows/quickly.yml)
    refactor   bundled  survey, pin, change, review (bundled workflow refactor)
    research   bundled  plan, study, assess, questions (bundled workflow research)
    wrong      project  broken: `linchpin validate` shows the errors (.linchpin/workflows/wrong.yml)
    ");
    insta::assert_snapshot!(project.run(&["workflows", "--json"]).stdout, @r#"{"workflows":[{"name":"developer","tier":"bundled","source":"bundled workflow developer","sound":true,"digest":"9e0fc3b44a237f154730e49f","nodes":["claim","plan","code","test","review","commit"],"hides":[]},{"name":"discovery","tier":"bundled","source":"bundled workflow discovery","sound":true,"digest":"536e2292511e35f77da16f2c","nodes":["spec","plan","code","learnings","readme"],"hides":[]},{"name":"execution","tier":"project","source":".linchpin/workflows/execution.yml","sound":true,"digest":"913d26df310805ce20d1429c","nodes":["spec","code","review"],"hides":[{"tier":"user","source":"[BASE]/config/linchpin/workflows/execution.yml"},{"tier":"bundled","source":"bundled workflow execution"}]},{"name":"quick","tier":"bundled","source":"bundled workflow quick","sound":true,"digest":"2b120cdeff3e9d8764a54dd9","nodes":["code","test"],"hides":[]},{"name":"quickly","tier":"user","source":"[BASE]/config/linchpin/workflows/quickly.yml","sound":true,"digest":"076dc38e920ae3d1d72e0722","nodes":["work"],"hides":[]},{"name":"refactor","tier":"bundled","source":"bundled workflow refactor","sound":true,"digest":"4c3a868f253a766ccf66f771","nodes":["survey","pin","change","review"],"hides":[]},{"name":"research","tier":"bundled","source":"bundled workflow research","sound":true,"digest":"f37cae962a811dcb3b23fe4c","nodes":["plan","study","assess","questions"],"hides":[]},{"name":"wrong","tier":"project","source":".linchpin/workflows/wrong.yml","sound":false,"digest":null,"nodes":null,"hides":[]}]}"#);
    insta::assert_snapshot!(project.run(&["workflows", "show", "wrong"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the workflow `wrong` has errors
    help: `linchpin validate` shows the errors
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execusion"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no workflow `execusion`
    help: did you mean `execution`?
    ");
    insta::assert_snapshot!(project.run(&["workflows", "show", "execusion", "--json"]).stdout, @r#"{"error":{"kind":"NotFound","message":"there is no workflow `execusion`","help":"did you mean `execution`?"}}"#);
}

#[test]
fn a_directory_with_only_workflows_is_a_policy() {
    let project = project_without_policy();
    project.file(".linchpin/workflows/work.yml", MINIMAL);
    assert_eq!(project.run(&["validate"]).code, Some(0));
    let listed = project.run(&["workflows", "--json"]).json();
    let of_project = listed["workflows"].as_array().into_iter().flatten().find(|found| found["tier"] == "project");
    assert_eq!(of_project.map(|found| &found["name"]), Some(&"work".into()));
}
