//! Reads `command`: one command matcher or a list of them.

use engine::rules::{CommandMatcher, FlagPattern, PathKey, VariablePattern, Wildcard};

use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType};
use crate::text::yaml::{Yaml, YamlNode};
use crate::values::pattern::{parse_wildcard, read_path_clauses};

pub const COMMAND_VALUE: ValueType =
    ValueType::Either(&[ValueType::Mapping(&COMMAND), ValueType::List(&ValueType::Mapping(&COMMAND))]);

static COMMAND: Mapping = Mapping::new(
    "command",
    "Conditions on a simple command, all of which must hold for the same command. In programs, operands and values, \
     `*` matches anything.",
    &[KEYS],
)
.constraints(&[KeyConstraint::AnyOf(|| KEYS.iter().map(|key| key.name).collect())]);

static KEYS: &[Key] = &[
    Key::new("program", ValueType::Globs, "the base name of the program is one of these"),
    Key::new(
        "subcommand",
        ValueType::Texts,
        "the words after the program, without flags, start with these: `push`, `remote add`",
    ),
    Key::new(
        "flags_any",
        ValueType::Texts,
        "the command has one of these flags: `-f`, `--force`, or `--mode=fast` with this value; `-fu` has `-f` and \
         `-u`, and `--forc` is `--force`",
    ),
    Key::new("flags_all", ValueType::Texts, "the command has all of these flags"),
    Key::new(
        "operands_any",
        ValueType::Globs,
        "one of these matches an operand: a word that is not a flag, a flag's value or data",
    ),
    Key::new(
        "sets",
        ValueType::Texts,
        "one of these environment variables is set for the command: `NAME`, or `NAME=value`",
    ),
    Key::new(
        "unsets",
        ValueType::Texts,
        "one of these environment variables is unset for the command, by `unset`, `env -u` or `env -i`",
    ),
    Key::new(
        "runs_output_of",
        ValueType::Globs,
        "the command runs the output of one of these programs: `sh <(curl …)`",
    ),
    Key::new("interactive", ValueType::Boolean, "`true`: the command is an interactive shell or interpreter"),
    Key::new("reads", ValueType::Patterns, "one of these matches a path that the command reads"),
    Key::new("writes", ValueType::Patterns, "one of these matches a path that the command writes or deletes"),
    Key::new("deletes", ValueType::Patterns, "one of these matches a path that the command deletes"),
];

pub fn read(fields: &mut Fields) -> Vec<CommandMatcher> {
    let Some(node) = fields.take("command") else { return Vec::new() };
    let nodes = match node.value {
        Yaml::List(items) if items.is_empty() => {
            fields.refuse(DiagnosticKind::InvalidValue, "`command` is empty", node.span);
            return Vec::new();
        }
        Yaml::List(items) if items.iter().any(|item| matches!(item.value, Yaml::Text(_))) => {
            let problem = Diagnostic::error(
                DiagnosticKind::InvalidValue,
                "`command` must be a mapping or a list of mappings, not a list of words",
                fields.source(),
                Some(node.span),
            );
            let words: Vec<&str> = items.iter().filter_map(|item| item.value.as_text()).collect();
            fields.problems.push(problem.help(match words.as_slice() {
                [program, subcommand] => format!("write `command: {{program: {program}, subcommand: {subcommand}}}`"),
                words => format!("write `command: {{program: {}}}`", words.first().copied().unwrap_or_default()),
            }));
            return Vec::new();
        }
        Yaml::List(items) => items,
        Yaml::Text(_) => {
            let problem = Diagnostic::error(
                DiagnosticKind::InvalidValue,
                "`command` must be a mapping or a list of mappings, not text",
                fields.source(),
                Some(node.span),
            );
            fields.problems.push(problem.help("to search the text of commands, write `command_pattern`"));
            return Vec::new();
        }
        _ => vec![node],
    };
    nodes.into_iter().map(|node| read_matcher(node, fields)).collect()
}

fn read_matcher(node: YamlNode, rule_fields: &mut Fields) -> CommandMatcher {
    let span = node.span.clone();
    let mut fields = Fields::of(node, rule_fields.source(), COMMAND.keys);
    if fields.problems.is_empty() {
        fields.refuse_unknown();
    }
    let wildcards = |key: &str, fields: &mut Fields| -> Vec<Wildcard> {
        let texts = fields.texts(key).unwrap_or_default();
        texts.iter().filter_map(|text| parse_wildcard(text, fields)).collect()
    };
    let matcher = CommandMatcher {
        program: read_programs(&mut fields),
        subcommand: read_subcommands(&mut fields),
        flags_any: read_flags("flags_any", &mut fields),
        flags_all: read_flags("flags_all", &mut fields),
        operands_any: read_operands(&mut fields),
        sets: read_variables("sets", &mut fields),
        unsets: read_variables("unsets", &mut fields).into_iter().map(|variable| variable.name).collect(),
        runs_output_of: wildcards("runs_output_of", &mut fields),
        interactive: fields.boolean("interactive"),
        paths: read_path_clauses(&[PathKey::Reads, PathKey::Writes, PathKey::Deletes], &[], &mut fields),
    };
    if fields.problems.is_empty() && matcher == CommandMatcher::default() {
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::MissingKey, "the matcher has no conditions", fields.source(), Some(span))
                .help("add at least a `program`"),
        );
    }
    rule_fields.problems.append(&mut fields.problems);
    matcher
}

fn read_programs(fields: &mut Fields) -> Vec<Wildcard> {
    let texts = fields.texts("program").unwrap_or_default();
    let is_name = |text: &&SpannedText| !text.value.contains(['/', '|']) && !text.value.contains(char::is_whitespace);
    for text in texts.iter().filter(|text| !is_name(text)) {
        let message = format!("invalid program name `{}`", text.value);
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone())).help(
                "write only the base name, such as `git`, or a list of names; write what follows under `subcommand`",
            ),
        );
    }
    texts.iter().filter(is_name).filter_map(|text| parse_wildcard(text, fields)).collect()
}

fn read_operands(fields: &mut Fields) -> Vec<Wildcard> {
    let texts = fields.texts("operands_any").unwrap_or_default();
    for text in texts.iter().filter(|text| text.value.starts_with('-')) {
        let message = format!("`{}` is a flag, not an operand", text.value);
        fields.problems.push(
            Diagnostic::error(DiagnosticKind::InvalidValue, message, fields.source(), Some(text.span.clone()))
                .help("move it to `flags_any` or `flags_all`"),
        );
    }
    texts.iter().filter_map(|text| parse_wildcard(text, fields)).collect()
}

fn read_subcommands(fields: &mut Fields) -> Vec<String> {
    let texts = fields.texts("subcommand").unwrap_or_default();
    for text in texts.iter().filter(|text| text.value.trim().is_empty() || text.value.contains(['*', '|'])) {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                format!("invalid subcommand `{}`", text.value),
                fields.source(),
                Some(text.span.clone()),
            )
            .help("write its words, such as `push` or `remote add`, or a list of subcommands"),
        );
    }
    texts.into_iter().map(|text| text.value).collect()
}

fn read_flags(key: &str, fields: &mut Fields) -> Vec<FlagPattern> {
    let texts = fields.texts(key).unwrap_or_default();
    texts.iter().filter_map(|text| parse_flag(text, fields)).collect()
}

fn parse_flag(text: &SpannedText, fields: &mut Fields) -> Option<FlagPattern> {
    let (name, value) = split_at_equals(&text.value);
    let without_dashes = name.trim_start_matches('-');
    if !name.starts_with('-') || without_dashes.is_empty() || name.contains(char::is_whitespace) {
        fields.problems.push(
            Diagnostic::error(
                DiagnosticKind::InvalidValue,
                format!("invalid flag `{}`", text.value),
                fields.source(),
                Some(text.span.clone()),
            )
            .help("flags start with a dash: `-f`, `--force`, `--mode=fast`"),
        );
        return None;
    }
    let value =
        value.map(|value| parse_wildcard(&SpannedText { value: value.to_owned(), span: text.span.clone() }, fields));
    Some(FlagPattern { name: name.to_owned(), value: value.flatten() })
}

fn read_variables(key: &str, fields: &mut Fields) -> Vec<VariablePattern> {
    let texts = fields.texts(key).unwrap_or_default();
    let pattern = |text: &SpannedText| {
        let (name, value) = split_at_equals(&text.value);
        let is_name =
            !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if !is_name {
            let message = format!("invalid variable name `{}`", text.value);
            fields.refuse(DiagnosticKind::InvalidValue, message, text.span.clone());
            return None;
        }
        let value = value
            .map(|value| parse_wildcard(&SpannedText { value: value.to_owned(), span: text.span.clone() }, fields));
        Some(VariablePattern { name: name.to_owned(), value: value.flatten() })
    };
    texts.iter().filter_map(pattern).collect()
}

fn split_at_equals(text: &str) -> (&str, Option<&str>) {
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)))
}
