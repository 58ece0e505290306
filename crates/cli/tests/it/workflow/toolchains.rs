//! Tests, for each tool of the table in `docs/toolchains.md`, which commands the bundled workflows recognize as a build
//! or a test run.

use serde_json::Value;

use crate::project;

const CASES: &str = include_str!("../../../../../corpus/toolchains.jsonl");
const PAGE: &str = include_str!("../../../../../docs/toolchains.md");
const WORKFLOWS: [(&str, &str); 6] = [
    ("developer", include_str!("../../../../policy/src/bundled_workflows/developer.yml")),
    ("discovery", include_str!("../../../../policy/src/bundled_workflows/discovery.yml")),
    ("execution", include_str!("../../../../policy/src/bundled_workflows/execution.yml")),
    ("quick", include_str!("../../../../policy/src/bundled_workflows/quick.yml")),
    ("refactor", include_str!("../../../../policy/src/bundled_workflows/refactor.yml")),
    ("research", include_str!("../../../../policy/src/bundled_workflows/research.yml")),
];

/// Returns the regular expression for all tools together: the only line of the page that begins with `^(`.
fn expression() -> &'static str {
    PAGE.lines().find(|line| line.starts_with("^(")).expect("the combined expression")
}

fn check_tool(tool: &str) {
    let project = project();
    project.rule("builds", &format!("---\ncommand_pattern: '{}'\n---\nA build.\n", expression()));
    let cases = CASES.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case"));
    let cases: Vec<Value> = cases.filter(|case| case["tool"] == tool).collect();
    for counts in [true, false] {
        assert!(cases.iter().any(|case| case["counts"] == counts), "{tool} has no case that counts: {counts}");
    }
    for case in cases {
        let command = case["command"].as_str().expect("a command");
        let reply = project.hook("claude", &project.bash_payload(command));
        assert_eq!(reply.stdout.contains("`builds`"), case["counts"] == true, "{command}: {}", reply.stdout);
    }
}

macro_rules! test_each_tool {
    ($($tool:ident),*) => { $(#[test] fn $tool() { check_tool(stringify!($tool)); })* };
}

test_each_tool!(cargo, npm, pnpm, yarn, pytest, tox, go, make, gradle, mvn, dotnet);

#[test]
fn bundled_workflows_use_the_documented_expression() {
    let mut workflows_with_pattern = Vec::new();
    for (name, text) in WORKFLOWS {
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("pattern: '^(")) {
            assert_eq!(format!("^({}", line.trim_end_matches('\'')), expression(), "{name}");
            workflows_with_pattern.push(name);
        }
    }
    assert!(
        workflows_with_pattern.contains(&"discovery") && workflows_with_pattern.contains(&"execution"),
        "{workflows_with_pattern:?}"
    );
}
