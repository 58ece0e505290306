//! Prints a check's report for people.

use super::report::{CheckReport, reason};
use crate::commands::Context;
use crate::plural::counted;

pub fn show(report: &CheckReport, context: &Context) {
    let output = &context.output;
    for problem in &report.problems {
        output.rendered(&problem.render(output.style()));
        output.blank();
    }
    let mut unmet = 0;
    for checked in report.unmet() {
        unmet += 1;
        let text = reason(checked);
        let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
        output.line(output.bold(title));
        output.line(rest);
        output.line(output.dim(&format!("({} in {})", checked.rule.id, checked.rule.source)));
        output.blank();
    }
    let waiting = report.waiting().count() + report.undecided().count();
    for remark in report.remarks() {
        output.line(format!("Note: {remark}."));
    }
    let changed = format!("{} changed {}", counted(report.changed_files, "file"), report.since);
    output.line(match (report.checked.len() - waiting, unmet) {
        (0, _) if waiting > 0 => format!("No other file rule was judged; {changed}."),
        (0, _) => "No file rules are in force.".to_owned(),
        (1, 0) => format!("1 file rule met; {changed}."),
        (all, 0) => format!("{all} file rules met; {changed}."),
        (all, unmet) => format!("{unmet} of {} unmet; {changed}.", counted(all, "file rule")),
    });
    if !report.problems.is_empty() {
        let errors = counted(report.problems.len(), "error");
        output.line(format!(
            "{errors} in the policy files: rules with errors were skipped, or judged in their last valid version."
        ));
    }
    for how in report.how_to_acknowledge() {
        output.line(how);
    }
}
