//! `completion`: which topic ends a run, and what it takes.

use engine::hats::{Completion, Loop};

use super::faults::Spanned;
use super::keys::COMPLETION;
use super::topics::{is_topic, topic};
use crate::text::diagnostic::ErrorKind;
use crate::text::fields::Fields;
use crate::workflow::GateReader;

/// With where each topic under `after` stands.
pub fn completion(gates: &GateReader, around: &mut Fields) -> (Completion, Vec<Spanned>) {
    let mut completion = Completion { topic: Loop::COMPLETE.to_owned(), requires: Vec::new(), after: Vec::new() };
    let Some(node) = around.take("completion") else { return (completion, Vec::new()) };
    let mut fields = Fields::of(node, around.source(), COMPLETION.keys);
    fields.refuse_unknown();
    completion.topic = topic("topic", Loop::COMPLETE, &mut fields);
    completion.requires = gates.of_list("requires", "completion", &mut fields);
    let after = fields.texts("after").unwrap_or_default();
    if let Some(first) = after.get(Loop::MAX_AFTER) {
        let message =
            format!("{} topics under `after` are more than the {} that there may be", after.len(), Loop::MAX_AFTER);
        fields.refuse(ErrorKind::InvalidValue, message, first.span.clone());
    }
    let after = after.into_iter().filter(|topic| is_topic(topic, &mut fields));
    let after: Vec<Spanned> = after.map(|topic| (topic.value, topic.span)).collect();
    completion.after = after.iter().map(|(topic, _)| topic.clone()).collect();
    around.problems.append(&mut fields.problems);
    (completion, after)
}
