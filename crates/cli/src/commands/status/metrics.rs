//! `status --metrics`: how often rules fired, and with which outcome.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use store::{PhaseName, RuleCounts, Store};

use crate::output::Output;
use crate::problem::Problem;

/// The counts of each rule by phase, in the order of phases. Counts outside of workflows come first.
pub struct Metrics(BTreeMap<String, Vec<(Option<PhaseName>, RuleCounts)>>);

impl Metrics {
    /// `store`: the journal, if there is one yet.
    pub fn read(store: Option<&Store>) -> Result<Self, Problem> {
        let counts = store.map(Store::rule_counts).transpose()?.unwrap_or_default();
        let in_order = |phases: BTreeMap<Option<PhaseName>, RuleCounts>| {
            let mut phases: Vec<_> = phases.into_iter().collect();
            phases.sort_by_key(|(phase, _)| phase.as_ref().map(numbers));
            phases
        };
        Ok(Self(counts.into_iter().map(|(rule, phases)| (rule, in_order(phases))).collect()))
    }

    pub fn show(&self, output: &Output) {
        if self.0.is_empty() {
            output.line(format!("{} no rule has fired yet", output.bold("Metrics")));
            return;
        }
        let name = format!("{}{}", output.bold("Metrics"), " ".repeat(NAME_WIDTH - "Metrics".len()));
        output.line(format!("{name} {:>7} {:>7} {:>7} {:>7} {:>7}", "fired", "warned", "blocked", "ack", "forced"));
        for (rule, phases) in &self.0 {
            output.line(row(&format!("  {rule}"), total(phases)));
            for (phase, count) in phases {
                output.line(row(&format!("    {}", phase_text(phase.as_ref())), *count));
            }
        }
    }

    pub fn json(&self) -> Value {
        let rules = self.0.iter().map(|(rule, phases)| {
            let mut value = fields(total(phases));
            value.insert("rule".to_owned(), json!(rule));
            let phases = phases.iter().map(|(phase, count)| {
                let mut value = fields(*count);
                let Some(PhaseName { id, workflow, node }) = phase else { return Value::Object(value) };
                value.extend(
                    [("workflow", workflow), ("node", node), ("phase", id)]
                        .map(|(key, name)| (key.to_owned(), json!(name))),
                );
                Value::Object(value)
            });
            value.insert("phases".to_owned(), phases.collect());
            Value::Object(value)
        });
        rules.collect()
    }
}

/// The width of the column of names.
const NAME_WIDTH: usize = 36;

fn row(name: &str, count: RuleCounts) -> String {
    let RuleCounts { fired, warned, blocked, acknowledged, forced } = count;
    format!("{name:<NAME_WIDTH$} {fired:>7} {warned:>7} {blocked:>7} {acknowledged:>7} {forced:>7}")
}

fn phase_text(phase: Option<&PhaseName>) -> String {
    match phase {
        Some(PhaseName { id, workflow, node }) => format!("{workflow} {id} at {node}"),
        None => "outside workflows".to_owned(),
    }
}

/// Returns the numbers in a phase's id, by which phases are sorted in the order in which they began.
fn numbers(phase: &PhaseName) -> Vec<u64> {
    phase.id.split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

fn total(phases: &[(Option<PhaseName>, RuleCounts)]) -> RuleCounts {
    phases.iter().fold(RuleCounts::default(), |mut total, (_, count)| {
        total.add(*count);
        total
    })
}

fn fields(count: RuleCounts) -> Map<String, Value> {
    let value = serde_json::to_value(count).unwrap_or_default();
    value.as_object().cloned().unwrap_or_default()
}
