//! Lints on rules in the context of the whole policy: unknown rules and claims in expressions, patterns that match no
//! file, and rules that are never judged. They are warnings, or errors if a rule could never be judged without failing.

use std::collections::BTreeSet;
use std::path::Path;

use engine::pace::{LiveMode, PaceLimit};
use engine::rules::{Detector, PathKey, PathPattern, Rule, Tier};
use engine::{expr, suggest};

use crate::rule::definition::RuleDefinition;
use crate::rules_in_force::RuleInForce;
use crate::text::diagnostic::{Diagnostic, ErrorKind};

/// Warns of unknown rules in `file_rule_met(…)`. They make the expression fail at run time.
pub fn unknown_file_rules(rules: &[RuleInForce]) -> Vec<Diagnostic> {
    let file_rules: Vec<&str> = rules
        .iter()
        .map(|known| &known.definition.rule)
        .filter(|rule| rule.as_file_rule().is_some())
        .map(|rule| rule.id.as_str())
        .collect();
    let mut warnings = Vec::new();
    for RuleDefinition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("file_rule_met")) else { continue };
        for name in expr::file_rules_named(when).into_iter().filter(|name| !file_rules.contains(&name.as_str())) {
            let help = match (suggest::closest(&name, file_rules.iter().copied()), file_rules.as_slice()) {
                (Some(close), _) => suggest::did_you_mean(close),
                (None, []) => "no file rule is in force".to_owned(),
                (None, rules) => format!("file rules in force: {}", rules.join(", ")),
            };
            let whole = source.text.get(..text.end).unwrap_or_default();
            let asked = whole.get(text.start..).and_then(|own| Some(text.start + own.find("file_rule_met")?));
            let start = asked.and_then(|asked| Some(asked + whole.get(asked..)?.find(&name)?));
            let span = start.map(|start| start..start + name.len());
            let message = format!("no file rule `{name}` is in force, so `file_rule_met` always fails");
            let mut warning = Diagnostic::warning(ErrorKind::UnknownRule, message, source, span).help(help);
            warning.rule = Some(rule.id.clone());
            warnings.push(warning);
        }
    }
    warnings
}

/// Errors for unknown claims in expressions. `claims`: all claims that workflows declare.
pub fn unknown_claims(rules: &[RuleInForce], claims: &BTreeSet<String>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for RuleDefinition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(when) = rule.when.as_deref().filter(|when| when.contains("claims")) else { continue };
        for name in expr::claims_named(when).into_iter().filter(|name| !claims.contains(name)) {
            let own = source.text.get(text.clone()).unwrap_or_default();
            let asked = own.find("when").unwrap_or_default();
            let at = own.get(asked..).and_then(|own| own.find(&name)).map(|at| text.start + asked + at);
            let help = suggest::closest(&name, claims.iter().map(String::as_str)).map_or_else(
                || {
                    "declare it under `claims` of a workflow; each node `NODE` also has the claim `NODE_complete`"
                        .to_owned()
                },
                suggest::did_you_mean,
            );
            let span = at.map(|at| at..at + name.len());
            let message = format!("unknown claim `{name}`: no workflow declares it");
            let mut problem = Diagnostic::error(ErrorKind::InvalidExpression, message, source, span).help(help);
            problem.rule = Some(rule.id.clone());
            problems.push(problem);
        }
    }
    problems
}

/// Warns of patterns that are just a folder's path, which match no file.
pub fn folder_patterns(rules: &[RuleInForce], root: &Path) -> Vec<Diagnostic> {
    let is_plain = |pattern: &&str| !pattern.contains(['*', '?', '[', '{', '\\']);
    // Patterns with a trailing slash are reported when they are parsed.
    let is_folder = |pattern: &&str| !pattern.ends_with('/') && root.join(pattern).is_dir();
    let mut warnings = Vec::new();
    for RuleDefinition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let patterns = if rule.tier == Tier::Bundled { Vec::new() } else { file_patterns(rule) };
        for folder in patterns.into_iter().filter(is_plain).filter(is_folder) {
            let own = source.text.get(text.clone()).unwrap_or_default();
            let start =
                FILE_PATTERN_KEYS.iter().filter_map(|key| own.find(&format!("{key}:"))).min().unwrap_or_default();
            let at = own.get(start..).and_then(|own| own.find(folder)).map(|at| text.start + start + at);
            let span = at.map(|at| at..at + folder.len());
            let message = format!("`{folder}` is a folder, so this pattern matches no file");
            let mut warning = Diagnostic::warning(ErrorKind::PatternError, message, source, span)
                .help(format!("did you mean `{folder}/**`?"));
            warning.rule = Some(rule.id.clone());
            warnings.push(warning);
        }
    }
    warnings
}

/// The keys whose patterns match files.
const FILE_PATTERN_KEYS: [&str; 9] =
    ["created", "exclude", "pair", "paths", "reads", "safety", "set", "trigger", "writes"];

/// The patterns of a rule that match files. Those of `deletes` are excluded, because folders can be deleted too.
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
    for RuleDefinition { rule, source, text, .. } in rules.iter().map(|known| &known.definition) {
        let Some(pace) = rule.as_pace_rule() else { continue };
        let key = match (&pace.limit, pace.live) {
            (PaceLimit::RequireCommits { .. }, _) => pace.limit.name(),
            (_, LiveMode::Off) => "live",
            _ => continue,
        };
        let own = source.text.get(text.clone()).and_then(|own| own.find(key)).map(|at| text.start + at);
        let message = "this rule never applies here: it is only checked when a workflow moves to another phase";
        let span = own.map(|start| start..start + key.len());
        let mut warning = Diagnostic::warning(ErrorKind::InvalidValue, message, source, span)
            .help("move it to a node of a workflow, or to a library under `rules/` that a node can name");
        warning.rule = Some(rule.id.clone());
        warnings.push(warning);
    }
    warnings
}
