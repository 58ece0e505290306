//! Topics: their names wherever a loop has them, and the mapping `topics` that says what they mean.

use std::collections::BTreeMap;

use engine::hats::{Loop, Topic, TopicPattern, check_topic};

use super::keys::TOPIC;
use crate::text::diagnostic::ErrorKind;
use crate::text::fields::{Fields, Text};
use crate::text::yaml::Yaml;
use crate::workflow::GateReader;

/// The mapping `topics`.
pub fn topics(gates: &GateReader, around: &mut Fields) -> BTreeMap<String, Topic> {
    let mut topics = BTreeMap::new();
    let Some(node) = around.take("topics") else { return topics };
    let Yaml::Map(entries) = node.value else {
        let message = format!("`topics` takes a mapping of topics to what they mean, not {}", node.value.kind());
        around.refuse(ErrorKind::InvalidValue, message, node.span);
        return topics;
    };
    for (key, node) in entries {
        let name = Text { value: key.text, span: key.span };
        if !is_topic(&name, around) {
            continue;
        }
        let mut fields = Fields::of(node, around.source(), TOPIC.keys);
        fields.refuse_unknown();
        let mut text = |key: &str| fields.text(key).map(|text| text.value).unwrap_or_default();
        let (on_trigger, on_publish) = (text("on_trigger"), text("on_publish"));
        let requires = gates.of_list("requires", &name.value, &mut fields);
        around.problems.append(&mut fields.problems);
        topics.insert(name.value, Topic { on_trigger, on_publish, requires });
    }
    topics
}

/// A key that names one topic.
pub fn topic(key: &str, default: &str, fields: &mut Fields) -> String {
    let text = fields.text(key);
    if let Some(text) = &text {
        is_topic(text, fields);
    }
    text.map_or_else(|| default.to_owned(), |text| text.value)
}

pub fn topic_pattern(text: &Text, fields: &mut Fields) -> Option<TopicPattern> {
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
