//! Bundled rules pass their own test cases.

use super::project;

#[test]
fn every_bundled_rule_passes_its_cases() {
    let project = project();
    let listed = project.run(&["rules", "list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let ids: Vec<&str> = listed["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .filter(|rule| rule["tier"] == "bundled")
        .map(|rule| rule["name"].as_str().expect("a name"))
        .collect();
    assert!(ids.len() >= 9, "{ids:?}");
    for id in ids {
        let reply = project.run(&["test", id]);
        assert_eq!(reply.code, Some(0), "{}", reply.transcript());
        assert!(reply.stdout.contains("cases passed."), "{}", reply.transcript());
    }
}
