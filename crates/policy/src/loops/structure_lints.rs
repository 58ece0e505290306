//! Diagnostics for the structure of a loop, with their spans and suggestions.

use std::ops::Range;

use engine::hats::Loop;
use engine::hats::topology::{LoopError, LoopWarning};
use engine::suggest;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::text::yaml::{YamlKey, YamlNode};

/// A name with its span.
pub type SpannedName = (String, Range<usize>);

/// The spans of the keys that diagnostics point at.
pub struct LoopSpans {
    pub start: Range<usize>,
    pub completion: Range<usize>,
    /// Topics under `completion.after`.
    pub after: Vec<SpannedName>,
    /// Keys of `topics`.
    pub topics: Vec<SpannedName>,
    pub hats: Vec<SpannedName>,
    /// Keys of `limits`.
    pub limits: Vec<SpannedName>,
}

/// All structural errors and warnings of a loop.
pub fn structure_problems(the_loop: &Loop, spans: &LoopSpans, source: &Source) -> Vec<Diagnostic> {
    let errors = the_loop.errors();
    let errors = errors.iter().map(|error| spans.error(error, the_loop, source));
    let warnings = the_loop.warnings();
    errors.chain(warnings.iter().map(|warning| spans.warning(warning, source))).collect()
}

impl LoopSpans {
    /// The spans of a loop's keys, still without the topics under `after`.
    pub fn of_keys(hats: &[(YamlKey, YamlNode)], fields: &Fields) -> Self {
        Self {
            start: fields.key_span("start").unwrap_or_default(),
            completion: fields.key_span("completion").unwrap_or_default(),
            after: Vec::new(),
            topics: fields.keys_of("topics"),
            hats: hats.iter().map(|(key, _)| (key.text.clone(), key.span.clone())).collect(),
            limits: fields.keys_of("limits"),
        }
    }

    fn error(&self, error: &LoopError, the_loop: &Loop, source: &Source) -> Diagnostic {
        let (kind, span, help) = match error {
            LoopError::NoStart { .. } => (
                DiagnosticKind::NoWayToDone,
                self.start.clone(),
                "add the topic to the `triggers` of the first hat".to_owned(),
            ),
            LoopError::SharedTrigger { other, .. } => (
                DiagnosticKind::InvalidValue,
                self.hat_span(other),
                "make sure that each topic triggers only one hat".to_owned(),
            ),
            LoopError::CompletionUnreachable { topic, .. } => (
                DiagnosticKind::NoWayToDone,
                self.completion.clone(),
                did_you_mean_or(
                    the_loop.suggest_topic(topic).filter(|close| close != topic),
                    "add the topic to the `publishes` of the hat that decides when the work is done",
                ),
            ),
            LoopError::UnreachableAfter { .. } => (
                DiagnosticKind::NoWayToDone,
                self.completion.clone(),
                "a topic is accepted once one hat has published it and another hat was triggered by it".to_owned(),
            ),
            LoopError::Unbounded { hats, .. } => (
                DiagnosticKind::InvalidValue,
                hats.first().map(|hat| self.hat_span(hat)).unwrap_or_default(),
                "set `limits: {iterations: 100}`, or `max_activations` on one of these hats".to_owned(),
            ),
            LoopError::UnknownTopic { topic, is_after, suggestion } => (
                DiagnosticKind::InvalidValue,
                span_of(if *is_after { &self.after } else { &self.topics }, topic),
                did_you_mean_or(suggestion.clone(), "add the topic to the `publishes` of a hat, or remove it"),
            ),
            LoopError::UncheckedGate { topic, instead } => {
                let instead = instead.as_deref().unwrap_or(&the_loop.completion.topic);
                let help = format!(
                    "gates are checked when a hat publishes a topic: move them to a topic that a hat publishes, \
                     such as `{instead}: {{requires: […]}}`"
                );
                (DiagnosticKind::InvalidValue, span_of(&self.topics, topic), help)
            }
        };
        Diagnostic::error(kind, error.to_string(), source, Some(span)).help(help)
    }

    fn warning(&self, warning: &LoopWarning, source: &Source) -> Diagnostic {
        let (span, help) = match warning {
            LoopWarning::UnhandledTopic { hat, .. } => {
                (self.hat_span(hat), "add the topic to the `triggers` of a hat, or remove it".to_owned())
            }
            LoopWarning::UnreachableHat { hat } => {
                (self.hat_span(hat), "let another hat publish one of its triggers, or remove the hat".to_owned())
            }
            LoopWarning::PublishesNothing { hat } => {
                (self.hat_span(hat), "add `publishes` with a topic that triggers another hat".to_owned())
            }
            LoopWarning::Unpublished { hat, suggestion, .. } => {
                let help = "add the topic to the `publishes` of a hat, or remove it";
                (self.hat_span(hat), did_you_mean_or(suggestion.clone(), help))
            }
            LoopWarning::UnmeasuredLimit { limit, .. } => {
                let message = warning.to_string();
                return Diagnostic::warning(
                    DiagnosticKind::InvalidValue,
                    message,
                    source,
                    Some(span_of(&self.limits, limit)),
                )
                .help("limit these hats by `iterations`, `runtime` or `max_activations`");
            }
        };
        Diagnostic::warning(DiagnosticKind::UnreachableNode, warning.to_string(), source, Some(span)).help(help)
    }

    fn hat_span(&self, id: &str) -> Range<usize> {
        span_of(&self.hats, id)
    }
}

fn did_you_mean_or(suggestion: Option<String>, help: &str) -> String {
    suggestion.map_or_else(|| help.to_owned(), |suggestion| suggest::did_you_mean(&suggestion))
}

fn span_of(spans: &[SpannedName], name: &str) -> Range<usize> {
    spans.iter().find(|(known, _)| known == name).map(|(_, span)| span.clone()).unwrap_or_default()
}
