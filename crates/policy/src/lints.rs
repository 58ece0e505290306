//! Lints on rules in the context of the whole policy: unknown rules and claims in expressions, patterns that match no
//! file, and rules that are never judged. The lints give warnings, or errors if judging the rule would always fail.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::vec::IntoIter;

use engine::pace::{LiveMode, PaceLimit};
use engine::rules::{Detector, PathKey, PathPattern, Rule, Tier};
use engine::{expr, suggest};

use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rules_in_force::RuleInForce;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::frontmatter;
use crate::text::yaml::{self, Yaml, YamlNode};

/// Warns of unknown rules in `file_rule_met(…)`, which make the expression fail when it is evaluated.
pub fn unknown_file_rules(rules: &[RuleInForce]) -> Vec<Diagnostic> {
    let file_rules: Vec<&str> = rules
        .iter()
        .map(|in_force| &in_force.definition.rule)
        .filter(|rule| rule.as_file_rule().is_some())
        .map(|rule| rule.id.as_str())
        .collect();
    let mut warnings = Vec::new();
    for RuleDefinition { rule, source, span: rule_span, .. } in rules.iter().map(|in_force| &in_force.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("file_rule_met")) else { continue };
        for name in expr::file_rules_named(when).into_iter().filter(|name| !file_rules.contains(&name.as_str())) {
            let help = match (suggest::closest(&name, file_rules.iter().copied()), file_rules.as_slice()) {
                (Some(close), _) => suggest::did_you_mean(close),
                (None, []) => "no file rule is in force".to_owned(),
                (None, rules) => format!("file rules in force: {}", rules.join(", ")),
            };
            let until_rule_end = source.text.get(..rule_span.end).unwrap_or_default();
            let rule_text = until_rule_end.get(rule_span.start..);
            let call_start = rule_text.and_then(|text| Some(rule_span.start + text.find("file_rule_met")?));
            let start = call_start.and_then(|start| Some(start + until_rule_end.get(start..)?.find(&name)?));
            let span = start.map(|start| start..start + name.len());
            let message = format!(
                "no file rule `{name}` is in force, so this `when` cannot be evaluated, and the rule counts as matched"
            );
            let mut warning = Diagnostic::warning(DiagnosticKind::UnknownRule, message, source, span).help(help);
            warning.rule = Some(rule.id.clone());
            warnings.push(warning);
        }
    }
    warnings
}

/// Errors for unknown claims in expressions. `claims`: all claims that workflows declare.
pub fn unknown_claims(rules: &[RuleInForce], claims: &BTreeSet<String>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for RuleDefinition { rule, source, span: rule_span, .. } in rules.iter().map(|in_force| &in_force.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("claims")) else { continue };
        for name in expr::claims_named(when).into_iter().filter(|name| !claims.contains(name)) {
            let rule_text = source.text.get(rule_span.clone()).unwrap_or_default();
            let when_start = rule_text.find("when").unwrap_or_default();
            let offset = rule_text.get(when_start..).and_then(|text| text.find(&name));
            let help = suggest::closest(&name, claims.iter().map(String::as_str)).map_or_else(
                || {
                    "declare it under `claims` of a workflow; each node `NODE` also has the claim `NODE_complete`"
                        .to_owned()
                },
                suggest::did_you_mean,
            );
            let start = offset.map(|offset| rule_span.start + when_start + offset);
            let span = start.map(|start| start..start + name.len());
            let message = format!("unknown claim `{name}`: no workflow declares it");
            let mut problem = Diagnostic::error(DiagnosticKind::InvalidExpression, message, source, span).help(help);
            problem.rule = Some(rule.id.clone());
            problems.push(problem);
        }
    }
    problems
}

/// Warns of patterns that are the path of a directory, and so match no file.
pub fn directory_patterns(rules: &[RuleInForce], root: &Path) -> Vec<Diagnostic> {
    let has_no_wildcard = |pattern: &&str| !pattern.contains(['*', '?', '[', '{', '\\']);
    // Patterns with a trailing slash are reported when they are parsed.
    let is_directory = |pattern: &&str| !pattern.ends_with('/') && root.join(pattern).is_dir();
    let mut warnings = Vec::new();
    for definition in rules.iter().map(|in_force| &in_force.definition) {
        let RuleDefinition { rule, source, .. } = definition;
        let patterns = if rule.tier == Tier::Bundled { Vec::new() } else { file_patterns(rule) };
        let mut spans: BTreeMap<&str, IntoIter<Range<usize>>> = BTreeMap::new();
        for pattern in patterns.into_iter().filter(has_no_wildcard).filter(is_directory) {
            // A rule can have the same pattern under several keys.
            let span = spans.entry(pattern).or_insert_with(|| pattern_spans(definition, pattern).into_iter()).next();
            let message = format!("`{pattern}` is a folder, so this pattern matches no file");
            let mut warning = Diagnostic::warning(DiagnosticKind::PatternError, message, source, span)
                .help(format!("did you mean `{pattern}/**`?"));
            warning.rule = Some(rule.id.clone());
            warnings.push(warning);
        }
    }
    warnings
}

/// The spans of the values of a rule that equal `pattern`, under the keys that [`file_patterns`] reads.
fn pattern_spans(definition: &RuleDefinition, pattern: &str) -> Vec<Range<usize>> {
    let RuleDefinition { rule, source, span: rule_span, .. } = definition;
    let yaml_range = match definition.origin {
        RuleOrigin::Markdown | RuleOrigin::Bundled => frontmatter::split(source).ok().map(|parts| parts.yaml),
        RuleOrigin::Library | RuleOrigin::Local | RuleOrigin::Inline => Some(0..source.text.len()),
    };
    let keys: &[&str] = match &rule.detect {
        Detector::Files(_) => &["created", "exclude", "expects", "safety", "set", "trigger"],
        _ => &["paths", "reads", "writes"],
    };
    let mut values = Vec::new();
    if let Some(root) = yaml_range.and_then(|range| yaml::parse(source, range).ok()) {
        collect_values_under(keys, &root, &mut values);
    }
    values.retain(|(text, span)| text == pattern && rule_span.start <= span.start && span.end <= rule_span.end);
    values.into_iter().map(|(text, span)| source.span_of_part(&span, &text, &(0..text.len()))).collect()
}

/// Adds the strings under these keys, at any depth and with their spans, to `values`.
fn collect_values_under(keys: &[&str], node: &YamlNode, values: &mut Vec<(String, Range<usize>)>) {
    match &node.value {
        // `tests` is skipped: the test cases have keys of the same names.
        Yaml::Map(entries) => {
            for (key, value) in entries.iter().filter(|(key, _)| key.text != "tests") {
                let items = if let Yaml::List(items) = &value.value { items } else { std::slice::from_ref(value) };
                let texts = items.iter().filter_map(|item| Some((item.value.as_text()?.to_owned(), item.span.clone())));
                values.extend(texts.filter(|_| keys.contains(&key.text.as_str())));
                collect_values_under(keys, value, values);
            }
        }
        Yaml::List(items) => items.iter().for_each(|item| collect_values_under(keys, item, values)),
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Text(_) => {}
    }
}

/// The patterns of a rule that match files: all but those of `deletes`, because directories can be deleted too.
fn file_patterns(rule: &Rule) -> Vec<&str> {
    match &rule.detect {
        Detector::Files(file) => file.patterns().map(|pattern| pattern.source.as_str()).collect(),
        Detector::Tool(tool) => {
            let clauses = tool.paths.iter().chain(tool.matchers.iter().flat_map(|matcher| &matcher.paths));
            let patterns = clauses.filter(|clause| clause.key != PathKey::Deletes).flat_map(|clause| &clause.patterns);
            let globs = patterns.filter_map(|pattern| match pattern {
                PathPattern::Glob { source, .. } => Some(source.as_str()),
                PathPattern::OutsideProject => None,
            });
            globs.collect()
        }
        Detector::Pace(_) | Detector::Event => Vec::new(),
    }
}

/// Warns of pace rules that are judged only at transitions of a workflow, but are in force outside of workflows.
pub fn rules_without_effect(rules: &[RuleInForce]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for RuleDefinition { rule, source, span: rule_span, .. } in rules.iter().map(|in_force| &in_force.definition) {
        let Some(pace) = rule.as_pace_rule() else { continue };
        let key = match (&pace.limit, pace.live) {
            (PaceLimit::RequireCommits { .. }, _) => pace.limit.name(),
            (_, LiveMode::Off) => "live",
            _ => continue,
        };
        let offset = source.text.get(rule_span.clone()).and_then(|text| text.find(key));
        let message = "this rule never applies here: it is only checked when a workflow moves to another phase";
        let span = offset.map(|offset| rule_span.start + offset..rule_span.start + offset + key.len());
        let mut warning = Diagnostic::warning(DiagnosticKind::InvalidValue, message, source, span)
            .help("move it to a node of a workflow, or to a file `.linchpin/rules/NAME.yml`, and name it at a node");
        warning.rule = Some(rule.id.clone());
        warnings.push(warning);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::files::folder::{PolicyFolder, PolicyFolders};
    use crate::load::{LastGoodPolicy, load};

    /// The lines and columns of the warnings about directories, in a project with the directory `src`.
    fn directory_warnings(file: &str, text: &str) -> Vec<String> {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join("src")).expect("a directory");
        let folder = PolicyFolder::of_project(root.path());
        fs::create_dir_all(folder.rules()).expect("a directory");
        fs::write(folder.path.join(file), text).expect("written");
        let tiers = PolicyFolders { project: Some(folder), user: None };
        let loaded = load(&tiers, &LastGoodPolicy::default(), |_| true);
        assert_eq!(loaded.errors().collect::<Vec<_>>(), Vec::<&crate::Diagnostic>::new());
        let warnings = loaded.diagnostics.iter().filter(|problem| problem.message.contains("is a folder"));
        warnings.map(|problem| problem.position().expect("a position").to_string()).collect()
    }

    #[test]
    fn a_warning_about_a_directory_points_at_the_pattern() {
        for (fields, positions) in [
            ("trigger: \"src/*\"\nexclude: src", &["3:10"][..]),
            ("trigger: [\"xsrc/**\", src]\nsafety: [CHANGELOG.md, src]", &["2:22", "3:24"]),
            ("trigger: 'src'", &["2:11"]),
            ("pair: {trigger: src/a.rs, expects: [src/b.rs, src]}", &["2:47"]),
            ("name: src\nset: [a.md, src]\ntests:\n  - {changed: [src], expect: met}", &["3:13"]),
            ("exclude: src\npaths: [src/**, src]", &["3:17"]),
            ("command:\n  - {program: src, deletes: src, reads: src}", &["3:41"]),
        ] {
            let text = format!("---\n{fields}\n---\nsrc\n");
            assert_eq!(directory_warnings("rules/a.md", &text), positions, "{fields}");
        }
        let library = "a:\n  trigger: src/**\n  reason: src\nb:\n  trigger: src\n  reason: src\n";
        let config = format!(
            "rule_definitions:\n  {}rules: [a, b, {{trigger: src, reason: x}}]\n",
            library.replace('\n', "\n  ")
        );
        assert_eq!(directory_warnings("config.yml", &config.replace("  rules:", "rules:")), ["6:14", "8:25"]);
    }
}
