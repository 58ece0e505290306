//! Reads topic names, and the mapping `topics`.

use std::collections::BTreeMap;

use engine::hats::{Loop, Topic, TopicPattern, check_topic};

use super::keys::TOPIC;
use crate::text::diagnostic::DiagnosticKind;
use crate::text::fields::{Fields, SpannedText};
use crate::text::yaml::Yaml;
use crate::workflow::GateReader;

/// Reads the mapping `topics`.
pub fn read_topics(gates: &GateReader, loop_fields: &mut Fields) -> BTreeMap<String, Topic> {
    let mut topics = BTreeMap::new();
    let Some(node) = loop_fields.take("topics") else { return topics };
    let Yaml::Map(entries) = node.value else {
        let message = format!("`topics` must be a mapping of topics to their settings, not {}", node.value.kind());
        loop_fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
        return topics;
    };
    for (key, node) in entries {
        let name = SpannedText { value: key.text, span: key.span };
        if !check_topic_name(&name, loop_fields) {
            continue;
        }
        let mut fields = Fields::of(node, loop_fields.source(), TOPIC.keys);
        fields.refuse_unknown();
        let mut text = |key: &str| fields.text(key).map(|text| text.value).unwrap_or_default();
        let (on_trigger, on_publish) = (text("on_trigger"), text("on_publish"));
        let requires = gates.read_list_requirements("requires", &name.value, &mut fields);
        loop_fields.problems.append(&mut fields.problems);
        topics.insert(name.value, Topic { on_trigger, on_publish, requires });
    }
    topics
}

/// Reads a key whose value is a topic.
pub fn read_topic(key: &str, default: &str, fields: &mut Fields) -> String {
    let text = fields.text(key);
    if let Some(text) = &text {
        check_topic_name(text, fields);
    }
    text.map_or_else(|| default.to_owned(), |text| text.value)
}

pub fn parse_topic_pattern(text: &SpannedText, fields: &mut Fields) -> Option<TopicPattern> {
    match TopicPattern::parse(&text.value) {
        Ok(pattern) if check_not_reserved(text, fields) => Some(pattern),
        Ok(_) => None,
        Err(why) => {
            let message = format!("invalid topic `{}`: {why}", text.value);
            fields.refuse(DiagnosticKind::InvalidValue, message, text.span.clone());
            None
        }
    }
}

/// Reports an invalid or reserved topic name. Returns true if the name is valid.
pub fn check_topic_name(text: &SpannedText, fields: &mut Fields) -> bool {
    if let Err(why) = check_topic(&text.value) {
        let message = format!("invalid topic `{}`: {why}", text.value);
        fields.refuse(DiagnosticKind::InvalidValue, message, text.span.clone());
        return false;
    }
    check_not_reserved(text, fields)
}

fn check_not_reserved(text: &SpannedText, fields: &mut Fields) -> bool {
    let is_reserved = text.value.split('.').next() == Some(Loop::RESERVED);
    if is_reserved {
        let message = format!("reserved topic `{}`: topics `{}.*` belong to Linchpin", text.value, Loop::RESERVED);
        fields.refuse(DiagnosticKind::InvalidValue, message, text.span.clone());
    }
    !is_reserved
}
