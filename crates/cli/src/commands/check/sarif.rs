//! A check's report as SARIF 2.1.0, which code hosts display next to the change.

use std::fmt::Write;

use engine::Level;
use engine::file_rules::{Placeholders, TriggeringFile};
use guard::check::CheckedRule;
use serde_json::{Value, json};

use super::report::{CheckReport, level, reason};

/// Returns the report as a SARIF log.
pub fn log(report: &CheckReport) -> Value {
    let rules: Vec<Value> = report.checked.iter().map(rule).collect();
    let results: Vec<Value> = report.unmet().flat_map(|checked| results(checked, &report.prefix)).collect();
    let remarks: Vec<Value> =
        report.remarks().iter().map(|text| json!({ "level": "note", "message": { "text": text } })).collect();
    let is_sound = report.problems.is_empty() && !report.checked.iter().any(super::is_broken);
    let notifications: Vec<Value> = report
        .problems
        .iter()
        .map(|problem| json!({ "level": "error", "message": { "text": problem.message }, "locations": [location(&problem.source.name)] }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "linchpin", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{ "executionSuccessful": is_sound, "toolConfigurationNotifications": notifications, "toolExecutionNotifications": remarks }],
            "results": results,
        }],
    })
}

fn rule(checked: &CheckedRule) -> Value {
    let rule = &checked.rule;
    json!({
        "id": rule.id,
        "name": rule.display_title(),
        "shortDescription": { "text": rule.description.as_deref().unwrap_or(rule.display_title()) },
        "help": { "text": rule.reason },
    })
}

fn results(checked: &CheckedRule, prefix: &str) -> Vec<Value> {
    let level = if level(&checked.outcome) == Some(Level::Warn) { "warning" } else { "error" };
    if super::is_broken(checked) || checked.command.is_some() {
        return vec![json!({ "ruleId": checked.rule.id, "level": level, "message": { "text": reason(checked) } })];
    }
    let body = Placeholders(&checked.file_match).fill(&checked.rule.reason);
    let result = |trigger: &TriggeringFile| {
        let missing_files = trigger.missing_files.iter().map(|missing| format!("{} → {missing}\n", trigger.path));
        json!({
            "ruleId": checked.rule.id,
            "level": level,
            "message": { "text": format!("{}{}", missing_files.collect::<String>(), body.trim()) },
            "locations": [location(&format!("{prefix}{}", trigger.path))],
        })
    };
    checked.file_match.triggers.iter().map(result).collect()
}

fn location(path: &str) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } })
}

/// Encodes a relative path as a URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
