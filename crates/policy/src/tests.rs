//! The readers return in bounded time for any text.

use engine::expr::Scope;
use engine::rules::Tier;
use proptest::prelude::*;

use crate::bundled::bundled_rules;
use crate::config::Config;
use crate::rule::definition::RuleOrigin;
use crate::rule::reader::RuleReader;
use crate::text::diagnostic::{Diagnostic, RenderStyle, Severity};
use crate::text::source::Source;

/// Asserts that every problem can be rendered.
fn assert_rendering(problems: &[Diagnostic]) {
    for problem in problems {
        assert!(!problem.render(RenderStyle::Plain).is_empty());
        assert!(!problem.line().contains('\n'), "{:?}", problem.line());
    }
}

/// Reads the text as a file of every format. Panics if a reader contradicts itself.
fn read_as_every_format(text: &str) {
    let source = Source::new("rule.md", text);
    let reader = RuleReader {
        source: &source,
        file_tier: Tier::Project,
        scope: &Scope::default(),
        protected_branches: &["main".to_owned()],
    };
    let parsed = reader.read_markdown("rule", RuleOrigin::Markdown);
    assert_rendering(&parsed.problems);
    let has_errors = parsed.problems.iter().any(|problem| problem.severity == Severity::Error);
    assert_eq!(parsed.definition.is_none(), has_errors);
    match crate::library::read(reader, "library") {
        Ok((_, entries)) => assert_rendering(&entries.problems),
        Err(problems) => assert_rendering(&problems),
    }
    assert_rendering(&Config::default().overlay(&source, Tier::Project).problems);
    assert_rendering(&crate::workflow::problems("rule", text));
}

fn any_line() -> impl Strategy<Value = String> {
    let keys = [
        "tools",
        "on",
        "when",
        "paths",
        "command_pattern",
        "action",
        "max_holds",
        "enabled",
        "rules",
        "variables",
        "deadline",
        "start_node",
        "nodes",
        "gates",
        "triggers",
        "x",
    ];
    let values = [
        "[Bash]",
        "stop",
        "\"a and (b\"",
        "'**/*.rs'",
        "\"(x\"",
        "block",
        "3",
        "-1",
        "yes",
        "true",
        "{a: 1}",
        "&a [*a]",
        "*a",
        "|",
        ">-",
        "[",
        "]",
        "é: ü",
        "\"\\u0000\"",
        "~",
        "2s",
        "!!binary x",
        "? x",
        "<<: *a",
        "- - -",
        "\u{feff}",
        "'",
        "1e999",
        "0x1f",
    ];
    let line = (prop::sample::select(keys.to_vec()), prop::sample::select(values.to_vec()), 0_usize..4);
    line.prop_map(|(key, value, indent)| format!("{}{key}: {value}\n", " ".repeat(indent)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_can_be_read(text in "\\PC{0,200}") {
        read_as_every_format(&text);
        read_as_every_format(&format!("---\n{text}\n---\nbody\n"));
    }

    #[test]
    fn any_lines_can_be_read(lines in prop::collection::vec(any_line(), 0..8)) {
        read_as_every_format(&format!("---\n{}---\nbody\n", lines.concat()));
        read_as_every_format(&lines.concat());
    }
}

#[test]
fn deeply_nested_or_expanding_yaml_is_refused() {
    let bomb = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        format!("{text}a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1)
    });
    for text in [
        bomb,
        format!("a: {}", "[".repeat(100_000)),
        format!("a: {}{}", "[".repeat(50_000), "]".repeat(50_000)),
        "- ".repeat(50_000),
        "? ".repeat(50_000),
        "a:\n".repeat(10_000),
        (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<Vec<_>>().concat(),
        format!("'{}", "x".repeat(200_000)),
        "&a ".repeat(50_000),
    ] {
        read_as_every_format(&format!("---\n{text}\n---\nbody\n"));
    }
}

#[test]
fn bundled_rules_are_valid_and_have_their_ids() {
    let mut ids: Vec<&str> = bundled_rules().iter().map(|rule| rule.id).collect();
    for bundled in bundled_rules() {
        let source = bundled.source();
        let reader = RuleReader {
            source: &source,
            file_tier: Tier::Bundled,
            scope: &Scope::default(),
            protected_branches: &["main".to_owned()],
        };
        let parsed = reader.read_markdown(bundled.id, RuleOrigin::Bundled);
        assert_eq!(parsed.problems, [], "{}", bundled.id);
        let rule = parsed.definition.expect("a rule").rule;
        assert!(rule.title.is_some() && rule.description.is_some(), "{}", bundled.id);
    }
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), bundled_rules().len());
}
