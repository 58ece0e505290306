//! Reads the cases of a rule, or of the files in `tests/`.

use std::ops::Range;
use std::path::Path;

use engine::EventKind;
use engine::file_rules::{Change, Status, is_project_path};
use engine::pace::Tokens;
use serde_json::{Map, Value};

use super::keys::{CASE, EVENT, EXPECTATIONS, ExpectedWord, OUTCOMES};
use super::{CaseActivity, CaseSubject, Cases, EventFields, Expectation, PolicyCase, TimedActivity};
use crate::files::folder::PolicyFolder;
use crate::files::reading;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml, YamlNode};
use crate::values::event_name::refuse_event;

impl Cases {
    /// Reads the cases under a rule's `tests`. `kind`: the kind of an event that has no `kind` of its own.
    pub fn of_rule(rule: &str, tests: Option<&YamlNode>, source: &Source, kind: Option<EventKind>) -> Self {
        let mut cases = Self::default();
        if let Some(Yaml::List(items)) = tests.map(|node| &node.value) {
            for item in items {
                cases.read(item.clone(), source, Some(rule), kind);
            }
        }
        cases
    }

    /// Reads a policy folder's `tests/*.yml` and `tests/*.yaml`, in order of the file names.
    pub fn of_folder(folder: &PolicyFolder) -> Self {
        let mut cases = Self::default();
        let path = folder.path.join("tests");
        match reading::yaml_files(&path) {
            Ok(files) => files.iter().for_each(|file| cases.read_file(folder, file)),
            Err(error) => cases.problems.push(reading::unreadable(folder, &path, &error)),
        }
        cases
    }

    fn read_file(&mut self, folder: &PolicyFolder, path: &Path) {
        let source = match reading::read(folder, path) {
            Ok(Some(source)) => source,
            Ok(None) => return,
            Err(problem) => return self.problems.push(*problem),
        };
        self.read_list(&source);
    }

    /// Reads a file, which is a list of cases.
    pub(crate) fn read_list(&mut self, source: &Source) {
        match yaml::parse(source, 0..source.text.len()) {
            Ok(YamlNode { value: Yaml::List(items), .. }) => {
                for item in items {
                    self.read(item, source, None, None);
                }
            }
            Ok(YamlNode { value: Yaml::Null, .. }) => {}
            Ok(node) => self.problems.push(Diagnostic::error(
                DiagnosticKind::InvalidValue,
                format!("a file of cases must be a list, not {}", node.value.kind()),
                source,
                Some(node.span),
            )),
            Err(problem) => self.problems.push(*problem),
        }
    }

    fn read(&mut self, node: YamlNode, source: &Source, rule: Option<&str>, kind: Option<EventKind>) {
        let start = node.span.start;
        let mut fields = Fields::of(node, source, CASE.keys);
        let case = read_case(&mut fields, start, rule, kind);
        fields.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        let is_valid = fields.problems.is_empty();
        let problems = fields.problems.into_iter();
        self.problems.extend(problems.map(|problem| match rule {
            Some(rule) => problem.of_rule(rule),
            None => problem,
        }));
        self.cases.extend(case.filter(|_| is_valid));
    }
}

fn read_case(fields: &mut Fields, start: usize, rule: Option<&str>, kind: Option<EventKind>) -> Option<PolicyCase> {
    fields.refuse_unknown();
    let case_start = start..start;
    let subject = read_subject(fields, &case_start, kind);
    if !fields.has("expect") {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::MissingKey,
                "the case has no `expect`",
                fields.source(),
                Some(case_start),
            )
            .help("add `expect: allow`, `warn`, `ask` or `block`; for files, `met` or `unmet`; for a phase, `fires` or `quiet`"),
        );
    }
    let expect = read_expectation(subject.as_ref(), fields);
    Some(PolicyCase {
        rule: rule.map(str::to_owned),
        name: fields.text("name").map(|text| text.value),
        subject: subject?,
        variables: read_mapping("variables", fields),
        git: read_mapping("git", fields),
        tasks: read_mapping("tasks", fields),
        expect: expect?,
        source: fields.source().clone(),
        start,
    })
}

fn read_subject(fields: &mut Fields, case_start: &Range<usize>, kind: Option<EventKind>) -> Option<CaseSubject> {
    let command = fields.text("command");
    let tool = fields.text("tool");
    let input = fields.take("input");
    let event = fields.take("event");
    let files = read_changed_files(fields);
    let phase = read_phase(fields);
    let subjects = [command.is_some(), tool.is_some(), event.is_some(), files.is_some(), phase.is_some()];
    if subjects.into_iter().filter(|is_present| *is_present).count() != 1 {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                "a case must have exactly one of `command`, `tool`, `event`, changed files and `events`",
                fields.source(),
                Some(case_start.clone()),
            )
            .help(
                "write `command: git push`, or `tool: Write` with its `input`, or `event: {kind: stop}`, or `changed: \
                 [src/a.rs]`, or `events: [[5, command, cargo build]]` with `now: 60`",
            ),
        );
        return None;
    }
    if let (Some(input), None) = (&input, &tool) {
        fields.refuse(DiagnosticKind::InvalidValue, "`input` needs a `tool`", input.span.clone());
    }
    if let Some(files) = files {
        return Some(CaseSubject::Files(files));
    }
    if phase.is_some() {
        return phase;
    }
    match (command, tool, event) {
        (Some(command), ..) => Some(CaseSubject::Command(command.value)),
        (_, Some(tool), _) => {
            let input = input.map_or_else(|| Value::Object(Map::new()), |node| node.to_json());
            Some(CaseSubject::Tool { name: tool.value, input })
        }
        (.., Some(event)) => read_event(event, kind, fields).map(|event| CaseSubject::Event(Box::new(event))),
        _ => None,
    }
}

/// Reads `events` and `now`; `None` if the case has neither.
fn read_phase(fields: &mut Fields) -> Option<CaseSubject> {
    if !fields.has("events") && !fields.has("now") {
        return None;
    }
    let mut activities = Vec::new();
    if let Some(node) = fields.take("events") {
        let Yaml::List(items) = node.value else {
            fields.refuse(
                DiagnosticKind::InvalidValue,
                "`events` must be a list of `[seconds, kind, text]`",
                node.span,
            );
            return None;
        };
        for item in items {
            let event = read_activity(&item);
            if event.is_none() {
                let message = "an event must be `[seconds, kind, text]`; the kind is `command`, `failed_command`, \
                               `edit` or `tokens`, and for `tokens` the text is `{input: 5, output: 3, id: m1}`";
                fields.refuse(DiagnosticKind::InvalidValue, message, item.span);
            }
            activities.extend(event);
        }
    }
    let last = activities.iter().map(|event| event.at).max().unwrap_or(0);
    let now = fields.integer("now").map_or(last, i64::from);
    Some(CaseSubject::Phase { activities, now })
}

fn read_activity(node: &YamlNode) -> Option<TimedActivity> {
    let Yaml::List(parts) = &node.value else { return None };
    let [at, kind, text] = parts.as_slice() else { return None };
    let (Yaml::Number(at), Yaml::Text(kind)) = (&at.value, &kind.value) else { return None };
    let json = text.to_json();
    let text = || json.as_str().map(str::to_owned);
    let activity = match kind.as_str() {
        "command" => CaseActivity::Command { text: text()?, has_failed: false },
        "failed_command" => CaseActivity::Command { text: text()?, has_failed: true },
        "edit" => CaseActivity::Edit(text()?),
        "tokens" => {
            let number = |key: &str| json.get(key).map_or(Some(0), Value::as_u64);
            let tokens = Tokens {
                input: number("input")?,
                output: number("output")?,
                cache_read: number("cache_read")?,
                cache_write: number("cache_write")?,
            };
            CaseActivity::Tokens { message: json.get("id")?.as_str()?.to_owned(), tokens }
        }
        _ => return None,
    };
    Some(TimedActivity { at: at.as_i64()?, activity })
}

/// Reads `changed`, `created` and `deleted`; `None` if the case has none of them.
fn read_changed_files(fields: &mut Fields) -> Option<Vec<Change>> {
    let keys = [("changed", Status::Modified), ("created", Status::Added), ("deleted", Status::Deleted)];
    if !keys.iter().any(|(key, _)| fields.has(key)) {
        return None;
    }
    let mut changes = Vec::new();
    for (key, status) in keys {
        let paths = fields.texts(key).unwrap_or_default();
        for SpannedText { value: path, span } in paths {
            let is_listed = |change: &Change| change.path == path;
            if !is_project_path(&path) {
                let message = format!("`{path}` is not a path relative to the project root");
                fields.refuse(DiagnosticKind::InvalidValue, message, span);
            } else if changes.iter().any(is_listed) {
                fields.refuse(DiagnosticKind::InvalidValue, format!("`{path}` is listed twice"), span);
            } else {
                changes.push(Change { status, path });
            }
        }
    }
    Some(changes)
}

fn read_expectation(subject: Option<&CaseSubject>, fields: &mut Fields) -> Option<Expectation> {
    let span = fields.key_span("expect");
    let expected = fields.choice("expect", &EXPECTATIONS);
    let pairs_span = fields.key_span("pairs");
    let pairs = read_pairs(fields);
    let fits_subject = |expected: ExpectedWord| match subject {
        Some(CaseSubject::Files(_)) => {
            (matches!(expected, ExpectedWord::Met | ExpectedWord::Unmet), "`met` or `unmet`")
        }
        Some(CaseSubject::Phase { .. }) => (matches!(expected, ExpectedWord::Fires(_)), "`fires` or `quiet`"),
        _ => (matches!(expected, ExpectedWord::Verdict(_)), "`allow`, `warn`, `ask` or `block`"),
    };
    if let (Some((false, words)), Some(span), Some(_)) = (expected.map(fits_subject), span, subject) {
        fields.refuse(DiagnosticKind::InvalidValue, format!("`expect` must be {words} here"), span);
        return None;
    }
    if let (Some(span), true) = (pairs_span, expected != Some(ExpectedWord::Unmet)) {
        fields.refuse(DiagnosticKind::InvalidValue, "`pairs` is only allowed with `expect: unmet`", span);
    }
    Some(match expected? {
        ExpectedWord::Verdict(level) => Expectation::Verdict(level),
        ExpectedWord::Met => Expectation::Met,
        ExpectedWord::Unmet => Expectation::Unmet(pairs),
        ExpectedWord::Fires(fires) => Expectation::Fires(fires),
    })
}

fn read_pairs(fields: &mut Fields) -> Option<Vec<[String; 2]>> {
    let node = fields.take("pairs")?;
    let text = |node: &YamlNode| match &node.value {
        Yaml::Text(text) => Some(text.clone()),
        _ => None,
    };
    let pair = |node: &YamlNode| match &node.value {
        Yaml::List(pair) => <[String; 2]>::try_from(pair.iter().map(text).collect::<Option<Vec<_>>>()?).ok(),
        _ => None,
    };
    let pairs = match &node.value {
        Yaml::List(items) => items.iter().map(pair).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    if pairs.is_none() {
        let message = "`pairs` must be a list of pairs: `[[src/a.rs, tests/a_test.rs]]`";
        fields.refuse(DiagnosticKind::InvalidValue, message, node.span);
    }
    pairs
}

fn read_event(node: YamlNode, default: Option<EventKind>, outer: &mut Fields) -> Option<EventFields> {
    let span = node.span.clone();
    let mut fields = Fields::of(node, outer.source(), EVENT.keys);
    fields.refuse_unknown();
    let kind = read_event_kind(default, span, &mut fields);
    let text = |fields: &mut Fields, key: &str| fields.text(key).map(|text| text.value);
    let failed = fields.choice("outcome", &OUTCOMES);
    let event = kind.map(|kind| EventFields {
        kind,
        agent: text(&mut fields, "agent"),
        tool: text(&mut fields, "tool"),
        input: fields.take("input").map(|node| node.to_json()),
        output: fields.take("output").map(|node| node.to_json()),
        failed,
        command: text(&mut fields, "command"),
        prompt: text(&mut fields, "prompt"),
        message: text(&mut fields, "message"),
    });
    outer.problems.append(&mut fields.problems);
    event
}

fn read_event_kind(default: Option<EventKind>, span: Range<usize>, fields: &mut Fields) -> Option<EventKind> {
    let Some(SpannedText { value, span }) = fields.text("kind") else {
        if default.is_none() && !fields.has("kind") {
            fields.refuse(DiagnosticKind::MissingKey, "the event has no `kind`", span);
        }
        return default;
    };
    let kind = EventKind::from_name(&value);
    if kind.is_none() {
        refuse_event(SpannedText { value, span }, fields);
    }
    kind
}

fn read_mapping(key: &str, fields: &mut Fields) -> Map<String, Value> {
    let Some(node) = fields.take(key) else { return Map::new() };
    if let Value::Object(map) = node.to_json() {
        return map;
    }
    fields.refuse(DiagnosticKind::InvalidValue, format!("`{key}` must be a mapping of names to values"), node.span);
    Map::new()
}
