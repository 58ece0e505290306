//! The hats of a loop.

use engine::hats::{Hat, Loop, TopicPattern, check_topic};
use engine::rules::{Detect, PathPattern, Rule};
use engine::suggest;

use super::file::{File, LOOP_NAME};
use super::keys::HAT;
use super::{agent, enforced};
use crate::rule::reader::RuleReader;
use crate::rule_list::NamedRules;
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::digest::digest;
use crate::text::fields::{Fields, Text};
use crate::text::yaml::{Key, Node};
use crate::values::pattern::path_pattern;
use crate::workflow::{Owner, RuleGathering};

/// Where agents keep notes, whatever their hat may write.
const NOTES: &str = ".linchpin/agent/**";

impl File<'_> {
    pub fn hat(
        self,
        (key, node, end): (&Key, Node, usize),
        reader: RuleReader,
        names: &NamedRules,
        problems: &mut Vec<Diagnostic>,
    ) -> Hat {
        let id = key.text.as_str();
        let mut fields = Fields::of(node, self.source, HAT.keys).until(end);
        let is_mapping = fields.problems.is_empty();
        fields.refuse_unknown();
        let triggers = fields.texts("triggers").unwrap_or_default();
        if is_mapping && triggers.is_empty() && fields.is_sound() {
            let message = format!("the hat `{id}` has no `triggers`, so nothing would put it on");
            fields.refuse(ErrorKind::MissingKey, message, key.span.clone());
        }
        let triggers = triggers.into_iter().filter_map(|trigger| pattern(&trigger, &mut fields)).collect();
        let publishes = fields.texts("publishes").unwrap_or_default();
        let publishes: Vec<String> =
            publishes.into_iter().filter(|topic| is_topic(topic, &mut fields)).map(|topic| topic.value).collect();
        let default_publishes = default_publishes(&publishes, &mut fields);
        let max_activations = fields.key_span("max_activations").zip(fields.count("max_activations"));
        if let Some((span, 0)) = max_activations.clone() {
            fields.refuse(ErrorKind::InvalidValue, "`max_activations` is a whole number from 1 on", span);
        }
        let agent = agent::read(&mut fields);
        let mut text = |key: &str| fields.text(key).map(|text| text.value);
        let (name, description, instructions) = (text("name"), text("description"), text("instructions"));
        let mut rules = RuleGathering::new(LOOP_NAME, Owner::Hat(id), reader, names, &self.around.loaded.config);
        rules.lists(&mut fields);
        let span = fields.key_span("writes").unwrap_or_default();
        let writes = fields.texts("writes");
        if let Some(texts) = &writes {
            let rule = only_writes(rules.id("writes"), id, texts, &mut fields);
            rules.made(rule, span);
        }
        let observers = self.observers(&mut fields, reader.scope).observers;
        let mut rules: Vec<Rule> = rules.finish(problems).into_iter().map(|placed| placed.rule).collect();
        rules.extend(enforced::rules(id, &publishes, &self.source.name));
        problems.append(&mut fields.problems);
        Hat {
            id: id.to_owned(),
            name: name.unwrap_or_else(|| id.to_owned()),
            description: description.unwrap_or_default(),
            triggers,
            publishes,
            // What is blank says nothing.
            instructions: instructions.filter(|text| !text.trim().is_empty()).unwrap_or_default(),
            default_publishes,
            writes: writes.map(|texts| texts.into_iter().map(|text| text.value).collect()),
            max_activations: max_activations.map(|(_, count)| count),
            agent,
            rules,
            observers,
        }
    }
}

fn default_publishes(publishes: &[String], fields: &mut Fields) -> Option<String> {
    let Text { value, span } = fields.text("default_publishes")?;
    if publishes.contains(&value) {
        return Some(value);
    }
    let message = format!("`default_publishes` is `{value}`, which the hat does not publish");
    let help = suggest::closest(&value, publishes.iter().map(String::as_str)).map(suggest::did_you_mean);
    fields
        .problems
        .push(Diagnostic::error(ErrorKind::InvalidValue, message, fields.source(), Some(span)).maybe_help(help));
    None
}

fn pattern(text: &Text, fields: &mut Fields) -> Option<TopicPattern> {
    match TopicPattern::parse(&text.value) {
        Ok(pattern) if is_free(text, fields) => Some(pattern),
        Ok(_) => None,
        Err(why) => {
            let message = format!("`{}` is no topic: {why}", text.value);
            fields.refuse(ErrorKind::InvalidValue, message, text.span.clone());
            None
        }
    }
}

/// Whether it names one topic that people may use.
pub fn is_topic(text: &Text, fields: &mut Fields) -> bool {
    if let Err(why) = check_topic(&text.value) {
        let message = format!("`{}` is no topic: {why}", text.value);
        fields.refuse(ErrorKind::InvalidValue, message, text.span.clone());
        return false;
    }
    is_free(text, fields)
}

fn is_free(text: &Text, fields: &mut Fields) -> bool {
    let is_reserved = text.value.split('.').next() == Some(Loop::RESERVED);
    if is_reserved {
        let message = format!("`{}` is one of Linchpin's own topics, as all of `{}.*` are", text.value, Loop::RESERVED);
        fields.refuse(ErrorKind::InvalidValue, message, text.span.clone());
    }
    !is_reserved
}

/// `writes`, as a rule against all other writing.
fn only_writes(id: String, hat: &str, texts: &[Text], fields: &mut Fields) -> Rule {
    let listed = texts.iter().map(|text| text.value.as_str()).collect::<Vec<_>>().join(", ");
    let mut except: Vec<PathPattern> = texts.iter().filter_map(|text| path_pattern(text, fields)).collect();
    except.push(PathPattern::Glob { source: NOTES.to_owned(), literal: String::new() });
    let tool = enforced::writing_outside_of(except);
    let reason = format!(
        "The hat `{hat}` writes only: {listed}. Notes go into `.linchpin/agent/`; other work is another hat's."
    );
    let digest = digest(format!("{id} {listed}"));
    Rule { digest, ..Rule::made(id, &fields.source().name, Detect::Tool(Box::new(tool)), reason) }
}
