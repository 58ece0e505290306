//! What is wrong with the shape of a loop, told with its place and what to do about it.

use std::ops::Range;

use engine::hats::Loop;
use engine::hats::topology::{LoopError, LoopWarning};
use engine::suggest;

use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Fields;
use crate::text::source::Source;
use crate::text::yaml::{YamlKey, YamlNode};

/// A name with its place.
pub type Spanned = (String, Range<usize>);

/// Where the parts stand that a fault may be about.
pub struct Spans {
    pub start: Range<usize>,
    pub completion: Range<usize>,
    /// Topics under `completion.after`.
    pub after: Vec<Spanned>,
    /// Keys of `topics`.
    pub topics: Vec<Spanned>,
    pub hats: Vec<Spanned>,
}

/// Every fault and doubt of a loop that could be read.
pub fn of_shape(the_loop: &Loop, spans: &Spans, source: &Source) -> Vec<Diagnostic> {
    let faults = the_loop.errors();
    let faults = faults.iter().map(|fault| spans.fault(fault, the_loop, source));
    let doubts = the_loop.warnings();
    faults.chain(doubts.iter().map(|doubt| spans.doubt(doubt, source))).collect()
}

impl Spans {
    /// Where the keys of a loop stand; topics under `after` are not known yet.
    pub fn of_keys(hats: &[(YamlKey, YamlNode)], fields: &Fields) -> Self {
        Self {
            start: fields.key_span("start").unwrap_or_default(),
            completion: fields.key_span("completion").unwrap_or_default(),
            after: Vec::new(),
            topics: fields.keys_of("topics"),
            hats: hats.iter().map(|(key, _)| (key.text.clone(), key.span.clone())).collect(),
        }
    }

    fn fault(&self, fault: &LoopError, the_loop: &Loop, source: &Source) -> Diagnostic {
        let (kind, span, help) = match fault {
            LoopError::NoStart { .. } => (
                ErrorKind::NoWayToDone,
                self.start.clone(),
                "add it to the `triggers` of the hat that begins".to_owned(),
            ),
            LoopError::SharedTrigger { other, .. } => {
                (ErrorKind::InvalidValue, self.hat(other), "let each topic put on one hat only".to_owned())
            }
            LoopError::CompletionUnreachable { topic, .. } => (
                ErrorKind::NoWayToDone,
                self.completion.clone(),
                meant_or(
                    the_loop.suggest_topic(topic).filter(|close| close != topic),
                    "add it to the `publishes` of the hat that says when the work is done",
                ),
            ),
            LoopError::UnreachableAfter { .. } => (
                ErrorKind::NoWayToDone,
                self.completion.clone(),
                "a topic counts once it was published by one hat and taken by another".to_owned(),
            ),
            LoopError::Unbounded { hats, .. } => (
                ErrorKind::InvalidValue,
                hats.first().map(|hat| self.hat(hat)).unwrap_or_default(),
                "set `limits: {iterations: 100}`, or `max_activations` on one of these hats".to_owned(),
            ),
            LoopError::UnknownTopic { topic, is_after, close } => (
                ErrorKind::InvalidValue,
                span_of(if *is_after { &self.after } else { &self.topics }, topic),
                meant_or(close.clone(), "add it to the `publishes` of a hat, or leave it out"),
            ),
            LoopError::UncheckedGate { topic, instead } => {
                let instead = instead.as_deref().unwrap_or(&the_loop.completion.topic);
                let help = format!(
                    "gates are asked where a hat hands over: write them under a topic that a hat publishes, such as \
                     `{instead}: {{requires: […]}}`"
                );
                (ErrorKind::InvalidValue, span_of(&self.topics, topic), help)
            }
        };
        Diagnostic::error(kind, fault.to_string(), source, Some(span)).help(help)
    }

    fn doubt(&self, doubt: &LoopWarning, source: &Source) -> Diagnostic {
        let (hat, help) = match doubt {
            LoopWarning::UnhandledTopic { hat, .. } => {
                (hat, "add it to the `triggers` of a hat, or leave it out".to_owned())
            }
            LoopWarning::UnreachableHat { hat } => {
                (hat, "let another hat publish what puts it on, or leave it out".to_owned())
            }
            LoopWarning::PublishesNothing { hat } => {
                (hat, "give it `publishes` with a topic that another hat takes".to_owned())
            }
            LoopWarning::Unpublished { hat, close, .. } => {
                (hat, meant_or(close.clone(), "add it to the `publishes` of a hat, or leave it out"))
            }
        };
        let span = self.hat(hat);
        Diagnostic::warning(ErrorKind::UnreachableNode, doubt.to_string(), source, Some(span)).help(help)
    }

    fn hat(&self, id: &str) -> Range<usize> {
        span_of(&self.hats, id)
    }
}

fn meant_or(close: Option<String>, help: &str) -> String {
    close.map_or_else(|| help.to_owned(), |close| suggest::did_you_mean(&close))
}

fn span_of(spans: &[Spanned], name: &str) -> Range<usize> {
    spans.iter().find(|(known, _)| known == name).map(|(_, span)| span.clone()).unwrap_or_default()
}
