//! Prints a check's report as GitHub workflow commands: one annotation per file.

use engine::Level;
use engine::file_rules::{Placeholders, escaped, safety_hint};
use guard::check::CheckedRule;

use super::report::{CheckReport, level, reason};
use crate::commands::Context;

pub fn show(report: &CheckReport, context: &Context) {
    for problem in &report.problems {
        let file = escaped_property(&problem.source.name);
        context.output.rendered(&format!("::error file={file}::{}", escaped_message(&problem.message)));
    }
    for checked in report.unmet() {
        for line in annotations(checked, &report.prefix) {
            context.output.rendered(&line);
        }
    }
    for remark in report.remarks().into_iter().chain(report.how_to_acknowledge()) {
        context.output.rendered(&format!("::notice::{}", escaped_message(&remark)));
    }
}

fn annotations(checked: &CheckedRule, prefix: &str) -> Vec<String> {
    let command = if level(&checked.outcome) == Some(Level::Warn) { "warning" } else { "error" };
    let title = escaped_property(checked.rule.display_title());
    if super::is_broken(checked) || checked.command.is_some() {
        return vec![format!("::{command} title={title}::{}", escaped_message(&reason(checked)))];
    }
    let body = Placeholders(&checked.file_match).fill(&checked.rule.reason);
    let annotation = |trigger: &engine::file_rules::TriggeringFile| {
        let missing_files =
            trigger.missing_files.iter().map(|missing| format!("{} → {}\n", escaped(&trigger.path), escaped(missing)));
        let hint = safety_hint(trigger, &checked.file_match).map(|hint| format!("{hint}\n"));
        let text = format!("{}{}{}", missing_files.collect::<String>(), hint.unwrap_or_default(), body.trim());
        let file = escaped_property(&format!("{prefix}{}", trigger.path));
        format!("::{command} file={file},title={title}::{}", escaped_message(&text))
    };
    checked.file_match.triggers.iter().map(annotation).collect()
}

fn escaped_message(text: &str) -> String {
    agents::without_control_characters(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped_message(text).replace(':', "%3A").replace(',', "%2C")
}
