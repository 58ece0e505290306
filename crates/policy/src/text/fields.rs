//! Reads a YAML mapping key by key, by name and type. Keys that are not in the format's table are errors.
//!
//! Problems are collected, so that a user sees all errors of a file at once.

use std::ops::Range;

use engine::suggest;

use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::keys::{self, Keys};
use crate::text::source::Source;
use crate::text::yaml::{Yaml, YamlKey, YamlNode};

#[derive(Debug, Clone, PartialEq)]
pub struct SpannedText {
    pub value: String,
    pub span: Range<usize>,
}

/// Values that other tools use, and Linchpin's value for each.
const VALUE_SYNONYMS: &[(&str, &str)] = &[
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

/// Help texts for unknown keys: the unknown key, a key that the format must have for the help to apply, and the text.
const KEY_SUGGESTIONS: &[(&str, &str, &str)] = &[
    ("allow", "action", "write `action: allow`"),
    ("ask", "action", "write `action: ask`"),
    ("block", "action", "write `action: block`"),
    ("deny", "action", "write `action: block`"),
    ("warn", "action", "write `action: warn`"),
    ("flags", "flags_any", "use `flags_any` or `flags_all`"),
    ("flag", "flags_any", "use `flags_any` or `flags_all`"),
    ("operands", "operands_any", "use `operands_any`"),
    ("args", "operands_any", "use `operands_any`, and `flags_any` or `flags_all`"),
    ("pattern", "command_pattern", "use `command_pattern`"),
    ("regex", "command_pattern", "use `command_pattern`"),
    ("files", "paths", "use `paths`, `reads`, `writes` or `deletes`"),
    ("except", "exclude", "use `exclude`"),
    ("message", "reason", "use `reason`"),
    ("instructions", "reason", "use `reason`, or in a Markdown rule the text below the second `---`"),
    ("instructions_file", "reason", "write the text under `reason`, or in a Markdown rule below the second `---`"),
    ("window_secs", "window", "use `window`, in seconds"),
    ("max_duration_secs", "max_duration", "use `max_duration`, in seconds"),
    ("pattern", "path_pattern", "use `path_pattern`"),
    ("path_pattern", "pattern", "use `pattern`"),
    // Only a workflow has `start_node`.
    ("steps", "start_node", "use `nodes`, a mapping of node names: `nodes: {claim: {prompt: …}}`"),
    ("initial_step", "start_node", "use `start_node`"),
    ("name", "start_node", "remove it: the workflow is named after its file"),
    ("type", "start_node", "remove it; write what is always active into `.linchpin/config.yml`"),
    // Only a loop has `specs_dir`, `topics` and `hats`, and only a hat has `triggers` without `hats`.
    (
        "core",
        "specs_dir",
        "move `scratchpad`, `specs_dir` and `guardrails` out of `core`; remove `workspace_root`, because the root \
         is the folder with `.linchpin`",
    ),
    ("workspace_root", "specs_dir", "remove it: the root is the folder with `.linchpin`"),
    ("events", "topics", "use `topics`"),
    ("subscriptions", "triggers", "use `triggers`"),
    ("subscriptions", "hats", "write `triggers` in each hat: `hats: {builder: {triggers: [task.start]}}`"),
    (
        "cli",
        "hats",
        "use `agent` with the name of a known agent, `agent: claude`, or with a command, `agent: {command: [sh, \
         agent.sh]}`",
    ),
    (
        "event_loop",
        "hats",
        "move its settings out of it: `starting_event` becomes `start`, `completion_promise` becomes `completion: \
         {topic: …}`, `max_iterations` becomes `limits: {iterations: …}`; pass the prompt with `linchpin run -p`",
    ),
];

pub struct Fields<'a> {
    source: &'a Source,
    keys: Keys,
    entries: Vec<(YamlKey, Option<YamlNode>)>,
    /// An upper bound for the end of the mapping.
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
                DiagnosticKind::InvalidValue,
                format!("expected a mapping of fields, found {}", other.kind()),
                node.span,
            ),
        }
        fields
    }

    /// Sets an upper bound for the end of the mapping. By default, that is the end of the file.
    #[must_use]
    pub fn with_end(mut self, end: usize) -> Self {
        self.end = end;
        self
    }

    pub fn source(&self) -> &'a Source {
        self.source
    }

    pub fn refuse(&mut self, kind: DiagnosticKind, message: impl Into<String>, span: Range<usize>) {
        self.problems.push(Diagnostic::error(kind, message, self.source, Some(span)));
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, _)| entry.text == key)
    }

    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|(entry, _)| entry.text == key).map(|(entry, _)| entry.span.clone())
    }

    /// The keys of the mapping that is the value of `key`, with their spans.
    pub fn keys_of(&self, key: &str) -> Vec<(String, Range<usize>)> {
        let node = self.entries.iter().find(|(entry, _)| entry.text == key).and_then(|(_, node)| node.as_ref());
        let Some(YamlNode { value: Yaml::Map(entries), .. }) = node else { return Vec::new() };
        entries.iter().map(|(key, _)| (key.text.clone(), key.span.clone())).collect()
    }

    /// An upper bound for the end of the key's value: the start of the next key, or the end of the mapping.
    pub fn end_of(&self, key: &str) -> usize {
        let start = self.key_span(key).map_or(0, |span| span.start);
        let following_starts = self.entries.iter().map(|(entry, _)| entry.span.start).filter(|other| *other > start);
        following_starts.min().unwrap_or(self.end)
    }

    /// Removes and returns the key's value. A key without a value is treated as missing.
    pub fn take(&mut self, key: &str) -> Option<YamlNode> {
        debug_assert!(keys::all_keys(self.keys).any(|known| known.name == key), "`{key}` is in no table of keys");
        let (_, value) = self.entries.iter_mut().find(|(entry, _)| entry.text == key)?;
        value.take().filter(|node| node.value != Yaml::Null)
    }

    /// Unknown keys whose value is a mapping or empty.
    pub fn unknown_mappings(&self) -> Vec<YamlKey> {
        let is_known = |key: &YamlKey| keys::all_keys(self.keys).any(|known| known.name == key.text);
        let is_mapping =
            |node: &Option<YamlNode>| node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Map(_) | Yaml::Null));
        let unknown = self.entries.iter().filter(|(key, node)| !is_known(key) && is_mapping(node));
        unknown.map(|(key, _)| key.clone()).collect()
    }

    /// True if the key's value is a mapping.
    pub fn is_mapping(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Map(_)))
        })
    }

    /// True if the key's value is this string.
    pub fn has_text(&self, key: &str, text: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| node.value == Yaml::Text(text.to_owned()))
        })
    }

    /// True if the key's value is a string.
    pub fn is_text(&self, key: &str) -> bool {
        self.entries.iter().any(|(entry, node)| {
            entry.text == key && node.as_ref().is_some_and(|node| matches!(node.value, Yaml::Text(_)))
        })
    }

    /// True if there are only warnings so far.
    pub fn has_no_errors(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }

    pub fn text(&mut self, key: &str) -> Option<SpannedText> {
        let node = self.take(key)?;
        let text = self.expect_text(node, key)?;
        Some(text)
    }

    /// Reads a string that looks like a number if it is not quoted.
    pub fn text_or_number(&mut self, key: &str) -> Option<SpannedText> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Number(number) => Some(SpannedText { value: number.to_string(), span: node.span }),
            _ => self.expect_text(node, key),
        }
    }

    fn expect_text(&mut self, node: YamlNode, key: &str) -> Option<SpannedText> {
        match node.value {
            Yaml::Text(value) => Some(SpannedText { value, span: node.span }),
            other => {
                self.refuse_type(key, "text", &other, node.span);
                None
            }
        }
    }

    /// Returns the text of an item in the list of a key.
    fn expect_item(&mut self, node: YamlNode, key: &str) -> Option<SpannedText> {
        let Yaml::Text(value) = node.value else {
            let message = format!("each item of `{key}` must be text, not {}", node.value.kind());
            self.refuse(DiagnosticKind::InvalidValue, message, node.span);
            return None;
        };
        Some(SpannedText { value, span: node.span })
    }

    /// Reads a string or a list of strings.
    pub fn texts(&mut self, key: &str) -> Option<Vec<SpannedText>> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Text(value) => Some(vec![SpannedText { value, span: node.span }]),
            Yaml::List(items) => Some(items.into_iter().filter_map(|item| self.expect_item(item, key)).collect()),
            other => {
                self.refuse_type(key, "text or a list of texts", &other, node.span);
                None
            }
        }
    }

    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.take(key)?;
        match node.value {
            Yaml::Bool(value) => Some(value),
            other => {
                self.refuse_type(key, "`true` or `false`", &other, node.span);
                None
            }
        }
    }

    pub fn integer(&mut self, key: &str) -> Option<u32> {
        let node = self.take(key)?;
        let number = match &node.value {
            Yaml::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        if number.is_none() {
            self.refuse(DiagnosticKind::InvalidValue, format!("`{key}` must be an integer of at least 0"), node.span);
        }
        number
    }

    /// Reads one of the words in `choices`.
    pub fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text.value) {
            return Some(*choice);
        }
        let listed: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("`{key}` must be one of {}, not `{}`", listed.join(", "), text.value);
        let synonym = VALUE_SYNONYMS.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
        let names = || choices.iter().map(|(name, _)| *name);
        let help = synonym
            .filter(|value| names().any(|name| name == *value))
            .or_else(|| suggest::closest(&text.value, names()));
        self.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidValue, message, self.source, Some(text.span))
                .maybe_help(help.map(suggest::did_you_mean)),
        );
        None
    }

    fn refuse_type(&mut self, key: &str, expected: &str, found: &Yaml, span: Range<usize>) {
        self.refuse(DiagnosticKind::InvalidValue, format!("`{key}` must be {expected}, not {}", found.kind()), span);
    }

    /// Refuses every key that is not in the table.
    pub fn refuse_unknown(&mut self) {
        self.refuse_unknown_except(&[]);
    }

    /// Replaces the table of keys by `keys`, and refuses all other keys.
    pub fn narrow_to(&mut self, keys: Keys) {
        self.keys = keys;
        self.refuse_unknown();
    }

    /// Like [`Self::refuse_unknown`], except for keys that the caller reports.
    pub fn refuse_unknown_except(&mut self, reported_by_caller: &[&str]) {
        let mut known: Vec<&str> = keys::all_keys(self.keys).map(|key| key.name).collect();
        known.extend(reported_by_caller);
        let unknown: Vec<YamlKey> = self
            .entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| !known.contains(&key.text.as_str()))
            .cloned()
            .collect();
        for key in unknown {
            let suggestion =
                KEY_SUGGESTIONS.iter().find(|(word, marker, _)| *word == key.text && known.contains(marker));
            let close = || suggest::closest(&key.text, known.iter().copied()).map(suggest::did_you_mean);
            let help = suggestion.map(|(_, _, help)| (*help).to_owned()).or_else(close);
            self.problems.push(
                Diagnostic::error(
                    DiagnosticKind::UnknownKey,
                    format!("unknown key `{}`", key.text),
                    self.source,
                    Some(key.span),
                )
                .maybe_help(help),
            );
        }
    }
}
