//! Reading a mapping key by key: each is asked for by name and type, and what is not in the table of keys is an error.
//!
//! Problems are collected, so that one look shows all that is wrong with a file.

use std::ops::Range;

use engine::suggest;

use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::keys::{self, Keys};
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

/// Text with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    pub value: String,
    pub span: Range<usize>,
}

/// Words that people bring from elsewhere, and ours.
const SYNONYMS: &[(&str, &str)] = &[
    ("approve", "allow"),
    ("confirm", "ask"),
    ("deny", "block"),
    ("forbid", "block"),
    ("pass", "allow"),
    ("prompt", "ask"),
    ("refuse", "block"),
    ("reject", "block"),
    ("require_approval", "ask"),
];

/// Keys that people try, and what to write instead: a key of ours, and how.
const OTHER_KEYS: &[(&str, &str, &str)] = &[
    ("allow", "action", "write `action: allow`"),
    ("ask", "action", "write `action: ask`"),
    ("block", "action", "write `action: block`"),
    ("deny", "action", "write `action: block`"),
    ("warn", "action", "write `action: warn`"),
    ("flags", "flags_any", "it is `flags_any` or `flags_all`"),
    ("flag", "flags_any", "it is `flags_any` or `flags_all`"),
    ("operands", "operands_any", "it is `operands_any`"),
    ("args", "operands_any", "it is `operands_any`, and `flags_any` or `flags_all`"),
    ("pattern", "command_pattern", "it is `command_pattern`"),
    ("regex", "command_pattern", "it is `command_pattern`"),
    ("files", "paths", "it is `paths`, or `reads`, `writes`, `deletes`"),
    ("message", "reason", "it is `reason`"),
    ("instructions", "reason", "it is `reason`, or in a Markdown rule the text below the second `---`"),
    ("instructions_file", "reason", "its text goes under `reason`, or in a Markdown rule below the second `---`"),
    ("window_secs", "window", "it is `window`, in seconds"),
    ("max_duration_secs", "max_duration", "it is `max_duration`, in seconds"),
    ("pattern", "path_pattern", "it is `path_pattern`"),
    ("path_pattern", "pattern", "it is `pattern`"),
    // The second word tells that this is a workflow.
    ("steps", "start_node", "it is `nodes`: the phases by name, `nodes: {claim: {prompt: …}}`"),
    ("initial_step", "start_node", "it is `start_node`"),
    ("name", "start_node", "the file's name is the workflow's: leave it out"),
    ("type", "start_node", "leave it out; what is always on stands in `.linchpin/config.yml`"),
    (
        "core",
        "specs_dir",
        "write its `scratchpad`, `specs_dir` and `guardrails` without `core`; in the place of `workspace_root`, the root is the folder that has `.linchpin` in it",
    ),
    ("workspace_root", "specs_dir", "leave it out: the root is the folder that has `.linchpin` in it"),
    ("events", "topics", "it is `topics`"),
    ("subscriptions", "triggers", "it is `triggers`"),
    // The second word tells that this is a loop.
    ("subscriptions", "hats", "each hat has its own, as `triggers`: `hats: {builder: {triggers: [task.start]}}`"),
    (
        "cli",
        "hats",
        "it is `agent`: a known agent's name, `agent: claude`, or a command, `agent: {command: [sh, agent.sh]}`",
    ),
    (
        "event_loop",
        "hats",
        "write its settings without it: `starting_event` is `start`, `completion_promise` is `completion: {topic: …}`, \
         `max_iterations` is `limits: {iterations: …}`; the prompt is given with `linchpin run -p`",
    ),
];

pub struct Fields<'a> {
    source: &'a Source,
    keys: Keys,
    entries: Vec<(YamlKey, Option<YamlNode>)>,
    /// Where the mapping ends at the latest.
    end: usize,
    pub problems: Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    pub fn of(node: YamlNode, source: &'a Source, keys: Keys) -> Self {
        let end = source.text.len();
        let mut fields = Self { source, keys, entries: Vec::new(), end, problems: Vec::new() };
        match node.value {
            Yaml::Map(entries) => {
                fields.entries = entries.into_iter().map(|(key, node)| (key, Some(node))).collect();
            }
            Yaml::Null => {}
            other => fields.refuse(
                ErrorKind::InvalidValue,
                format!("expected a mapping of fields, found {}", other.kind()),
                node.span,
            ),
        }
        fields
    }

    /// For a mapping with more of the file behind it, where that is known.
    #[must_use]
    pub fn until(mut self, end: usize) -> Self {
        self.end = end;
        self
    }

    pub fn source(&self) -> &'a Source {
        self.source
    }

    pub fn refuse(&mut self, kind: ErrorKind, message: impl Into<String>, span: Range<usize>) {
        self.problems.push(Diagnostic::error(kind, message, self.source, Some(span)));
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, _)| entry.text == key)
    }

    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|(entry, _)| entry.text == key).map(|(entry, _)| entry.span.clone())
    }

    /// The keys of the mapping behind a key, with their places.
    pub fn keys_of(&self, key: &str) -> Vec<(String, Range<usize>)> {
        let node = self.entries.iter().find(|(entry, _)| entry.text == key).and_then(|(_, node)| node.as_ref());
        let Some(YamlNode { value: Yaml::Map(entries), .. }) = node else { return Vec::new() };
        entries.iter().map(|(key, _)| (key.text.clone(), key.span.clone())).collect()
    }

    /// Where the next key starts, or the mapping ends: the value ends before that.
    pub fn end_of(&self, key: &str) -> usize {
        let start = self.key_span(key).map_or(0, |span| span.start);
        let later = self.entries.iter().map(|(entry, _)| entry.span.start).filter(|other| *other > start);
        later.min().unwrap_or(self.end)
    }

    /// The value, once; a key with nothing behind it counts as left out.
    pub fn take(&mut self, key: &str) -> Option<YamlNode> {
        debug_assert!(keys::each(self.keys).any(|known| known.name == key), "`{key}` is in no table of keys");
        let (_, value) = self.entries.iter_mut().find(|(entry, _)| entry.text == key)?;
        value.take().filter(|node| node.value != Yaml::Null)
    }

    /// The keys that are in no table and have a mapping, or nothing, behind them.
    pub fn unknown_mappings(&self) -> Vec<YamlKey> {
        let is_known = |key: &YamlKey| keys::each(self.keys).any(|known| known.name == key.text);
        let is_mapping =
            |node: &Option<YamlNode>| node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Map(_) | Yaml::Null));
        let unknown = self.entries.iter().filter(|(key, node)| !is_known(key) && is_mapping(node));
        unknown.map(|(key, _)| key.clone()).collect()
    }

    /// Whether a mapping stands behind the key.
    pub fn is_mapping(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Map(_)))
        })
    }

    /// Whether just this text stands behind the key.
    pub fn says(&self, key: &str, text: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| node.value == Yaml::Text(text.to_owned()))
        })
    }

    /// Whether one text stands behind the key.
    pub fn is_text(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Text(_)))
        })
    }

    /// Whether nothing worse than a warning was found so far.
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }

    pub fn text(&mut self, key: &str) -> Option<Text> {
        let node = self.take(key)?;
        let found = self.as_text(node, key)?;
        Some(found)
    }

    /// A text that people forget to quote where it looks like a number.
    pub fn text_or_number(&mut self, key: &str) -> Option<Text> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Number(number) => Some(Text { value: number.to_string(), span: node.span }),
            _ => self.as_text(node, key),
        }
    }

    fn as_text(&mut self, node: YamlNode, key: &str) -> Option<Text> {
        match node.value {
            Yaml::Text(value) => Some(Text { value, span: node.span }),
            other => {
                self.refuse_type(key, "text", &other, node.span);
                None
            }
        }
    }

    /// A text, or a list of texts.
    pub fn texts(&mut self, key: &str) -> Option<Vec<Text>> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Text(value) => Some(vec![Text { value, span: node.span }]),
            Yaml::List(items) => Some(items.into_iter().filter_map(|item| self.as_text(item, key)).collect()),
            other => {
                self.refuse_type(key, "text or a list of texts", &other, node.span);
                None
            }
        }
    }

    pub fn flag(&mut self, key: &str) -> Option<bool> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Bool(value) => Some(value),
            other => {
                self.refuse_type(key, "`true` or `false`", &other, node.span);
                None
            }
        }
    }

    pub fn count(&mut self, key: &str) -> Option<u32> {
        let node = self.take(key)?;
        let number = match &node.value {
            Yaml::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        if number.is_none() {
            self.refuse(ErrorKind::InvalidValue, format!("`{key}` takes a whole number from 0 on"), node.span);
        }
        number
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text.value) {
            return Some(*choice);
        }
        let listed: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("`{key}` is one of {}, not `{}`", listed.join(", "), text.value);
        let synonym = SYNONYMS.iter().find(|(word, _)| *word == text.value).map(|(_, meant)| *meant);
        let names = || choices.iter().map(|(name, _)| *name);
        let help = synonym
            .filter(|meant| names().any(|name| name == *meant))
            .or_else(|| suggest::closest(&text.value, names()));
        self.problems.push(
            Diagnostic::error(ErrorKind::InvalidValue, message, self.source, Some(text.span))
                .maybe_help(help.map(suggest::did_you_mean)),
        );
        None
    }

    fn refuse_type(&mut self, key: &str, expected: &str, found: &Yaml, span: Range<usize>) {
        self.refuse(ErrorKind::InvalidValue, format!("`{key}` takes {expected}, not {}", found.kind()), span);
    }

    /// Refuses every key that is not in the table.
    pub fn refuse_unknown(&mut self) {
        self.refuse_unknown_beside(&[]);
    }

    /// From here on only these keys are known.
    pub fn narrow_to(&mut self, keys: Keys) {
        self.keys = keys;
        self.refuse_unknown();
    }

    /// As [`Self::refuse_unknown`], but for some more keys that are spoken of elsewhere.
    pub fn refuse_unknown_beside(&mut self, more: &[&str]) {
        let mut known: Vec<&str> = keys::each(self.keys).map(|key| key.name).collect();
        known.extend(more);
        let unknown: Vec<YamlKey> = self
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| !known.contains(&key.text.as_str()))
            .cloned()
            .collect();
        for key in unknown {
            let other = OTHER_KEYS.iter().find(|(word, ours, _)| *word == key.text && known.contains(ours));
            let close = || suggest::closest(&key.text, known.iter().copied()).map(suggest::did_you_mean);
            let help = other.map(|(_, _, help)| (*help).to_owned()).or_else(close);
            self.problems.push(
                Diagnostic::error(
                    ErrorKind::UnknownKey,
                    format!("unknown key `{}`", key.text),
                    self.source,
                    Some(key.span),
                )
                .maybe_help(help),
            );
        }
    }
}
