//! The schemas and the readers accept the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use engine::expr::Scope;
use engine::rules::Tier;
use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::schemas;
use crate::bundled::bundled_rules;
use crate::case::Cases;
use crate::config::{CONFIG, Config};
use crate::format::{FORMATS, FileFormat};
use crate::library::{self, RuleEntries};
use crate::rule::FRONTMATTER;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::{ParsedRule, RuleReader};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::frontmatter;
use crate::text::keys::{self, Key, Keys};
use crate::text::source::Source;
use crate::text::yaml::{self, YamlNode};
use crate::unresolved_list::RuleItem;
use crate::{loops, observers, workflow};

/// A document of each format that has every key.
const EVERYTHING: [(&str, &str); 6] = [
    ("config", include_str!("everything/config.yml")),
    ("rule", include_str!("everything/rule.yml")),
    ("library", include_str!("everything/library.yml")),
    ("workflow", include_str!("everything/workflow.yml")),
    ("loop", include_str!("everything/loop.yml")),
    ("cases", include_str!("everything/cases.yml")),
];

fn validator(format: &str) -> &'static Validator {
    static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
        let built = schemas().into_iter().map(|(name, schema)| (name, jsonschema::draft7::new(&schema)));
        built.map(|(name, validator)| (name, validator.expect("a valid schema"))).collect()
    });
    VALIDATORS.get(format).expect("a format")
}

fn source(text: &str) -> Source {
    Source::new("file", text)
}

fn parse(text: &str) -> YamlNode {
    let source = source(text);
    yaml::parse(&source, 0..text.len()).expect("valid YAML")
}

fn frontmatter_of(rule: &str) -> Option<Value> {
    let source = source(rule);
    let parts = frontmatter::split(&source).ok()?;
    Some(yaml::parse(&source, parts.yaml).ok()?.to_json())
}

fn every_key() -> impl Iterator<Item = &'static Key> {
    FORMATS.iter().flat_map(FileFormat::mappings).flat_map(|mapping| keys::all_keys(mapping.keys))
}

// The problems that the readers find in a document and its test cases.

fn problems(format: &str, text: &str) -> Vec<Diagnostic> {
    match format {
        "config" => config_problems(text),
        "rule" => rule_problems(&format!("---\n{text}\n---\nReason.\n")),
        "library" => library_problems(text),
        "workflow" => workflow::problems("everything", text),
        "loop" => loops::problems(text),
        _ => {
            let mut cases = Cases::default();
            cases.read_list(&source(text));
            cases.problems
        }
    }
}

fn errors(format: &str, document: &Value) -> Vec<Diagnostic> {
    // JSON is YAML.
    let mut problems = problems(format, &document.to_string());
    problems.retain(|problem| problem.severity == Severity::Error);
    problems
}

fn scope() -> Scope {
    let mut scope = Scope::default();
    scope.declare("tests_ran");
    scope
}

/// Reads as a user's configuration, which may have all settings.
fn reader<'a>(source: &'a Source, scope: &'a Scope) -> RuleReader<'a> {
    RuleReader { source, file_tier: Tier::User, scope, protected_branches: &[] }
}

fn rule_problems(text: &str) -> Vec<Diagnostic> {
    with_cases(reader(&source(text), &scope()).read_markdown("example", RuleOrigin::Markdown))
}

fn with_cases(parsed: ParsedRule) -> Vec<Diagnostic> {
    [parsed.problems, cases_of(parsed.definition.as_slice())].concat()
}

fn cases_of(definitions: &[RuleDefinition]) -> Vec<Diagnostic> {
    definitions.iter().flat_map(|definition| definition.cases().problems).collect()
}

fn library_problems(text: &str) -> Vec<Diagnostic> {
    match library::read(reader(&source(text), &scope()), "library") {
        Ok((_, entries)) => [entries.problems, cases_of(&entries.definitions)].concat(),
        Err(problems) => problems,
    }
}

fn config_problems(text: &str) -> Vec<Diagnostic> {
    let (source, scope) = (source(text), scope());
    let mut config = Config::default();
    let file = config.overlay(&source, Tier::User);
    let mut problems = file.problems;
    problems.extend(config.check_observers(&scope));
    let mut entries = RuleEntries::default();
    let (definitions, end) = file.definitions;
    entries.read(reader(&source, &scope), definitions, end, RuleOrigin::Local);
    problems.extend([entries.problems, cases_of(&entries.definitions)].concat());
    for item in file.lists.into_iter().flat_map(|list| list.items) {
        if let RuleItem::Inline(node, end) = item {
            let text = node.span.start..end;
            problems.extend(with_cases(reader(&source, &scope).read_entry("example", RuleOrigin::Inline, node, text)));
        }
    }
    problems
}

// Positions in a document.

/// The JSON pointers to every value in a mapping, outer ones first.
fn value_paths(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value, bool)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.replace('/', "~1"), value, true)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(path, item)| (path.to_string(), item, false)).collect(),
        _ => Vec::new(),
    };
    let mut paths = Vec::new();
    for (step, value, has_key) in inner {
        paths.extend(has_key.then(|| format!("/{step}")));
        paths.extend(value_paths(value).into_iter().map(|path| format!("/{step}{path}")));
    }
    paths
}

fn last_step(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Values of all types. Hardly any key accepts all of them.
fn plain_values() -> Vec<Value> {
    vec![
        json!(true),
        json!(7),
        json!(-1),
        json!("x y"),
        json!([]),
        json!(["x y"]),
        json!([7]),
        json!({}),
        json!({"x": 7}),
    ]
}

#[test]
fn schemas_are_valid_and_describe_every_key() {
    for (name, schema) in schemas() {
        assert!(jsonschema::draft7::meta::is_valid(&schema), "{name}");
    }
    for key in every_key() {
        let about = key.about;
        assert!(!about.is_empty() && !about.ends_with('.') && !about.contains('|'), "{}: {about}", key.name);
    }
}

#[test]
fn documents_with_every_key_are_valid() {
    for (format, text) in EVERYTHING {
        // Some combinations of keys cause warnings.
        let errors = problems(format, text).into_iter().filter(|problem| problem.severity == Severity::Error);
        let errors: Vec<_> = errors.collect();
        assert!(errors.is_empty(), "{format}: {errors:#?}");
        let document = parse(text).to_json();
        let schema_errors: Vec<String> =
            validator(format).iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(schema_errors.is_empty(), "{format}: {schema_errors:#?}");
    }
    let present_keys: BTreeSet<String> = EVERYTHING
        .iter()
        .flat_map(|(_, text)| value_paths(&parse(text).to_json()))
        .map(|path| last_step(&path).to_owned())
        .collect();
    for key in every_key() {
        assert!(present_keys.contains(key.name), "`{}` is in no document here", key.name);
    }
}

/// A schema rejects only what the reader rejects. This also finds keys of a table that no reader reads.
#[test]
fn readers_reject_what_schemas_reject() {
    let mut unrestricted = Vec::new();
    for (format, text) in EVERYTHING {
        let validator = validator(format);
        let document = parse(text).to_json();
        for path in value_paths(&document) {
            let mut refused = 0;
            for value in plain_values() {
                let mut changed = document.clone();
                *changed.pointer_mut(&path).expect("a value") = value.clone();
                if !validator.is_valid(&changed) {
                    refused += 1;
                    assert!(!errors(format, &changed).is_empty(), "{format}: the reader accepts {value} at {path}");
                }
            }
            if refused == 0 {
                unrestricted.push(format!("{format}{path}"));
            }
            let mut without = document.clone();
            let (outer, key) = path.rsplit_once('/').expect("a pointer");
            without.pointer_mut(outer).and_then(Value::as_object_mut).expect("a mapping").remove(key);
            if !validator.is_valid(&without) {
                assert!(!errors(format, &without).is_empty(), "{format}: the reader accepts a file without {path}");
            }
        }
    }
    let accepts_anything = [
        "/variables/",
        "/set/",
        "/git/",
        "/input/",
        "/output/",
        "/input",
        "/output",
        "/events/",
        "/json",
        "/json/ok",
        "/value",
    ];
    unrestricted.retain(|path| !accepts_anything.iter().any(|part| path.contains(part)));
    assert_eq!(unrestricted, [""; 0], "the schema accepts any value at these paths");
}

#[test]
fn existing_policies_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| fs::read_to_string(path).expect("a file");
    let init = root.join("crates/cli/src/commands/init");
    let mut rules: Vec<String> = bundled_rules().iter().map(|rule| rule.text.to_owned()).collect();
    rules.push(read(&init.join("keep-commit-hooks.md")));
    let mut configs = vec![read(&init.join("config.yml"))];
    let pages = fs::read_dir(root.join("docs")).expect("docs").filter_map(|entry| entry.ok().map(|entry| entry.path()));
    for page in pages.filter(|path| path.is_file()).chain([root.join("README.md")]) {
        let page = read(&page);
        rules.extend(blocks(&page, "markdown"));
        configs.extend(blocks(&page, "yaml").into_iter().filter(|block| block.starts_with("observers:")));
    }
    assert!(rules.len() >= 8 && configs.len() >= 4, "{} rules, {} configurations", rules.len(), configs.len());
    for rule in rules {
        let fields = frontmatter_of(&rule).expect("frontmatter");
        assert!(validator("rule").is_valid(&fields), "{rule}");
    }
    for config in configs {
        assert!(validator("config").is_valid(&parse(&config).to_json()), "{config}");
    }
}

/// The fenced code blocks of one language.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let opening = format!("```{kind}\n");
    page.split(&opening).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default().to_owned()).collect()
}

/// The schemas reject every deliberately broken file whose error a schema can express.
#[test]
fn schemas_reject_broken_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/it/broken");
    for name in ["config.yml", "observers.yml"] {
        let text = fs::read_to_string(directory.join(name)).expect("a file");
        assert!(!validator("config").is_valid(&parse(&text).to_json()), "{name}");
    }
    let mut invalid = Vec::new();
    for path in
        fs::read_dir(directory.join("rules")).expect("rules").filter_map(|entry| entry.ok().map(|entry| entry.path()))
    {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some(fields) = frontmatter_of(&text) else { continue };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_valid = validator("rule").is_valid(&fields);
        let expressible = rule_problems(&text).into_iter().find(is_expressible);
        if let (true, Some(problem)) = (is_valid, &expressible) {
            panic!("{name} is valid, but {}", problem.message);
        }
        if !is_valid {
            invalid.push(name);
        }
    }
    invalid.sort();
    insta::assert_debug_snapshot!(invalid, @r#"
    [
        "bad-choices",
        "byte-order-mark",
        "carriage-returns",
        "command-as-text",
        "not-a-mapping",
        "nothing-to-detect",
        "pace-flat",
        "pace-missing",
        "pace-rule",
        "pace-type",
        "structured-command",
        "unknown-event",
        "unknown-key",
        "wrong-types",
    ]
    "#);
}

fn is_expressible(problem: &Diagnostic) -> bool {
    let has_wrong_type = ["` must be ", "expected a mapping"].iter().any(|phrase| problem.message.contains(phrase));
    match problem.kind {
        DiagnosticKind::UnknownKey | DiagnosticKind::Unsupported | DiagnosticKind::UnknownEvent => true,
        DiagnosticKind::InvalidValue => has_wrong_type,
        _ => false,
    }
}

/// Setting a key to its default changes nothing.
#[test]
fn defaults_equal_missing_keys() {
    let with_defaults = |keys: Keys| {
        let lines = keys::all_keys(keys).filter_map(|key| Some(format!("{}: {}\n", key.name, key.default?)));
        lines.collect::<String>()
    };
    let read = |text: &str| {
        let mut config = Config::default();
        assert!(config.overlay(&source(text), Tier::User).problems.is_empty(), "{text}");
        config
    };
    assert_eq!(read(&with_defaults(CONFIG.keys)), Config::default());

    let rule = |fields: &str| {
        let text = format!("---\ntools: [Bash]\n{fields}---\nReason.\n");
        let definition =
            reader(&source(&text), &scope()).read_markdown("example", RuleOrigin::Markdown).definition.expect("a rule");
        engine::rules::Rule { digest: String::new(), ..definition.rule }
    };
    assert_eq!(rule(&with_defaults(FRONTMATTER.keys)), rule(""));

    let observer = |fields: &str| {
        let text = format!("- behavior: task_claim_tracking\n{}", fields.replace('\n', "\n  "));
        let parsed = observers::read(parse(text.trim_end()), &source(&text), Tier::User);
        assert!(parsed.problems.is_empty(), "{text}");
        parsed.observers.into_iter().map(|spanned| spanned.observer).collect::<Vec<_>>()
    };
    let mappings = FORMATS.iter().flat_map(FileFormat::mappings);
    let tracking = mappings.into_iter().find(|mapping| mapping.name == "behavior").expect("a mapping");
    assert_eq!(observer(&format!("\n{}", with_defaults(tracking.keys))), observer(""));
}

fn any_key() -> impl Strategy<Value = String> {
    let known_keys: Vec<&str> = every_key().map(|key| key.name).collect();
    prop_oneof![prop::sample::select(known_keys).prop_map(str::to_owned), "[a-z_]{1,12}", "[^`\\pC]{1,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The reader accepts a key if and only if the schema does.
    #[test]
    fn readers_and_schemas_know_the_same_keys(keys in prop::collection::btree_map(any_key(), prop::sample::select(plain_values()), 1..5)) {
        let document: Value = keys.into_iter().collect::<serde_json::Map<_, _>>().into();
        for format in ["config", "rule"] {
            let is_unknown = |problem: &Diagnostic| {
                matches!(
                    problem.kind,
                    DiagnosticKind::UnknownKey | DiagnosticKind::Unsupported | DiagnosticKind::UnknownRuleType
                )
            };
            let quoted = |problem: &Diagnostic| problem.message.split('`').nth(1).unwrap_or_default().to_owned();
            // Keys of nested mappings are checked separately.
            let refused: BTreeSet<String> = errors(format, &document)
                .iter()
                .filter(|problem| is_unknown(problem))
                .map(quoted)
                .filter(|key| document.get(key).is_some())
                .collect();
            let unexpected: BTreeSet<String> = validator(format).iter_errors(&document).filter_map(|error| match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected } if error.instance_path().as_str().is_empty() => {
                    Some(unexpected.clone())
                }
                _ => None,
            }).flatten().collect();
            prop_assert_eq!(refused, unexpected);
        }
    }
}
