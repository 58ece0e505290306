//! Policy files that end in `.yaml`, and workflows that are started by the path of their file.

use insta::assert_snapshot;

use super::{WORKFLOW, fetch_decision};
use crate::{project, project_without_policy};

#[test]
fn workflows_may_end_in_yaml() {
    let project = project();
    project.file(".linchpin/workflows/feature.yaml", WORKFLOW);
    assert_eq!(project.run(&["start", "feature"]).code, Some(0));
    assert_eq!(project.decision("danger"), "deny");
}

#[test]
fn two_files_with_the_same_stem_are_both_reported() {
    let project = project();
    project.file(".linchpin/workflows/feature.yaml", WORKFLOW).file(".linchpin/workflows/feature.yml", WORKFLOW);
    let library = "no-danger: {command_pattern: '^danger', reason: No.}\n";
    project.file(".linchpin/rules/house.yaml", library).file(".linchpin/rules/house.yml", library);
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `.linchpin/rules/house.yaml` and `.linchpin/rules/house.yml` are both rule libraries named `house`
    --> .linchpin/rules/house.yaml
     = help: delete or rename one of them; until then the `.yml` file is used

    error: `.linchpin/workflows/feature.yaml` and `.linchpin/workflows/feature.yml` are both workflows named `feature`
    --> .linchpin/workflows/feature.yaml
     = help: delete or rename one of them; until then the `.yml` file is used

    2 rules in force, 1 workflow; 2 errors.
    ");
}

#[test]
fn rule_libraries_and_cases_may_end_in_yaml() {
    let project = project();
    project.file(".linchpin/rules/house.yaml", "no-danger: {command_pattern: '^danger', reason: No.}\n");
    project.file(".linchpin/tests/house.yaml", "- {command: danger, expect: block}\n");
    project.config("rules: [no-danger]\n");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(project.run(&["rules", "disable", "no-danger"]).code, Some(0));
    assert_eq!(project.run(&["test"]).code, Some(1));
    assert_eq!(project.run(&["rules", "enable", "no-danger"]).code, Some(0));
    assert_eq!(project.run(&["test"]).code, Some(0));
}

#[test]
fn a_configuration_that_ends_in_yaml_is_reported() {
    let project = project_without_policy();
    project.file(".linchpin/config.yaml", "rules: [hard-reset]\n");
    assert_snapshot!(project.run(&["validate"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy in `[BASE]/project` or above it
    help: `.linchpin/config.yaml` is ignored, because the file must be named `.linchpin/config.yml`: `mv .linchpin/config.yaml .linchpin/config.yml`
    ");
    project.file(".linchpin/workflows/feature.yml", WORKFLOW);
    assert_snapshot!(project.run(&["validate"]).stdout, @"
    error: `.linchpin/config.yaml` is ignored, because the file must be named `.linchpin/config.yml`
    --> .linchpin/config.yaml
     = help: `mv .linchpin/config.yaml .linchpin/config.yml`

    2 rules in force, 1 workflow; 1 error.
    ");
}

#[test]
fn a_workflow_can_be_started_by_its_file() {
    let project = project();
    project.file(".linchpin/workflows/feature.yaml", WORKFLOW).file("flows/other.yaml", WORKFLOW);
    let start = |file: &str| project.run(&["start", file]);
    assert_snapshot!(start("flows/other.yaml").stderr, @"
    error: `flows/other.yaml` is not in a folder from which workflows are read
    help: copy it to `.linchpin/workflows/other.yaml`, check it with `linchpin validate`, then `linchpin start other`
    ");
    assert_snapshot!(start("workflows/discovery.yaml").stderr, @"
    error: file `workflows/discovery.yaml` does not exist
    help: start a workflow by its name: `linchpin start discovery`
    ");
    assert_snapshot!(start("nowhere/feature2.yaml").stderr, @"
    error: file `nowhere/feature2.yaml` does not exist
    help: `linchpin workflows` lists the workflows
    ");
    let started = start(".linchpin/workflows/feature.yaml");
    assert_eq!((started.code, started.stdout.as_str()), (Some(0), "Work.\n"), "{}", started.transcript());
    assert!(project.run(&["status"]).stdout.contains("feature"));
    assert_eq!(project.run(&["workflows", "show", ".linchpin/workflows/feature.yaml"]).code, Some(0));
}

#[test]
fn an_overridden_workflow_cannot_be_started_by_its_file() {
    let project = project();
    project.file(".linchpin/workflows/feature.yml", WORKFLOW);
    let overridden = project.user_policy().join("workflows/feature.yml");
    std::fs::create_dir_all(overridden.parent().expect("a directory")).expect("a directory");
    std::fs::write(&overridden, WORKFLOW).expect("a file");
    let reply = project.run(&["start", &overridden.to_string_lossy()]);
    assert_snapshot!(reply.stderr, @"
    error: the workflow `feature` is read from `.linchpin/workflows/feature.yml`, not from `[BASE]/config/linchpin/workflows/feature.yml`
    help: rename one of the two files
    ");
}

#[test]
fn libraries_to_import_may_end_in_yaml() {
    let project = project();
    project.file("shared/house.yaml", "no-danger: {command_pattern: '^danger', reason: No.}\n");
    let reply = project.run(&["rules", "import", "shared/house.yaml"]);
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
    project.config("rules: [no-danger]\n");
    assert_eq!(project.decision("danger"), "deny");
    assert_eq!(fetch_decision(&project), "allow");
}
