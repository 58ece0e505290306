//! Judges the cases of `corpus/file_rules.jsonl`.

use serde_json::Value;

use super::project;

/// Runs `linchpin check` once for each case. The frontmatter is written as JSON, which is valid YAML.
#[test]
fn every_corpus_case_has_the_expected_outcome() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/file_rules.jsonl"));
    let text = text.expect("a corpus");
    let project = project();
    let mut wrong = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        project.rule("case", &format!("---\n{}\n---\nNo.\n", case["rule"]));
        let changes = case["changes"].as_array().expect("changes").iter();
        let changes =
            changes.map(|change| [&change[0], &change[1]].map(|part| part.as_str().expect("text")).join("\t"));
        let changes = changes.collect::<Vec<_>>().join("\n");
        let reply =
            project.run_with_stdin(project.command(&["check", "--changed-from", "-", "--json"]), changes.as_bytes());
        let report = reply.json();
        let pairs = |value: &Value| {
            let mut pairs: Vec<String> = value.as_array().into_iter().flatten().map(Value::to_string).collect();
            pairs.sort();
            pairs
        };
        let is_unmet = case["unmet"] == Value::Bool(true);
        let is_correct = report["unmet"] == case["unmet"]
            && reply.code == Some(i32::from(is_unmet))
            && (case["pairs"].is_null() || pairs(&report["rules"][0]["pairs"]) == pairs(&case["pairs"]));
        if !is_correct {
            wrong.push(format!("{line}\n  {}", reply.stdout));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
