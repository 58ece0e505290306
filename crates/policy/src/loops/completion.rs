//! Reads `completion`: the topic that ends a run, and its conditions.

use engine::hats::{Completion, Loop};

use super::keys::COMPLETION;
use super::structure_lints::SpannedName;
use super::topics::{check_topic_name, read_topic};
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::Fields;
use crate::workflow::GateReader;

/// Reads `completion`. Also returns the spans of the topics under `after`.
pub fn read_completion(gates: &GateReader, loop_fields: &mut Fields) -> (Completion, Vec<SpannedName>) {
    let mut completion = Completion { topic: Loop::COMPLETE.to_owned(), requires: Vec::new(), after: Vec::new() };
    let Some(node) = loop_fields.take("completion") else { return (completion, Vec::new()) };
    let mut fields = Fields::of(node, loop_fields.source(), COMPLETION.keys);
    fields.refuse_unknown();
    completion.topic = read_topic("topic", Loop::COMPLETE, &mut fields);
    completion.requires = gates.read_list_requirements("requires", "completion", &mut fields);
    let after = fields.texts("after").unwrap_or_default();
    if let Some(first) = after.get(Loop::MAX_AFTER) {
        let message = format!("`after` has {} topics, over the limit of {}", after.len(), Loop::MAX_AFTER);
        fields.refuse(DiagnosticKind::InvalidValue, message, first.span.clone());
    }
    let after = after.into_iter().filter(|topic| check_topic_name(topic, &mut fields));
    let after: Vec<SpannedName> = after.map(|topic| (topic.value, topic.span)).collect();
    completion.after = after.iter().map(|(topic, _)| topic.clone()).collect();
    loop_fields.problems.append(&mut fields.problems);
    (completion, after)
}
