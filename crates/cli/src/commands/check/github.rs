//! Prints a check's report as GitHub workflow commands: one annotation per file.

use engine::Level;
use engine::file_rules::{Placeholders, escaped, safety_hint};
use guard::check::CheckedRule;

use super::report::{CheckReport, level, reason};
use crate::commands::Context;

pub fn show(report: &CheckReport, context: &Context) {
    for problem in &report.problems {
        let file = property(&problem.source.name);
        context.output.rendered(&format!("::error file={file}::{}", data(&problem.message)));
    }
    for checked in report.unmet() {
        for line in annotations(checked, &report.prefix) {
            context.output.rendered(&line);
        }
    }
    for remark in report.remarks().into_iter().chain(report.how_to_answer()) {
        context.output.rendered(&format!("::notice::{}", data(&remark)));
    }
}

fn annotations(checked: &CheckedRule, prefix: &str) -> Vec<String> {
    let command = if level(&checked.outcome) == Some(Level::Warn) { "warning" } else { "error" };
    let title = property(checked.rule.display_title());
    if super::is_broken(checked) || checked.command.is_some() {
        return vec![format!("::{command} title={title}::{}", data(&reason(checked)))];
    }
    let body = Placeholders(&checked.found).fill(&checked.rule.reason);
    let annotation = |trigger: &engine::file_rules::TriggeringFile| {
        let lacking =
            trigger.missing.iter().map(|missing| format!("{} → {}\n", escaped(&trigger.path), escaped(missing)));
        let answer = safety_hint(trigger, &checked.found).map(|answer| format!("{answer}\n"));
        let text = format!("{}{}{}", lacking.collect::<String>(), answer.unwrap_or_default(), body.trim());
        format!("::{command} file={},title={title}::{}", property(&format!("{prefix}{}", trigger.path)), data(&text))
    };
    checked.found.triggers.iter().map(annotation).collect()
}

fn data(text: &str) -> String {
    agents::without_control_characters(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
