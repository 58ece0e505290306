//! Tests of the end of a reason, which names the matched command or path.

use insta::assert_snapshot;

use super::{bash, path_pattern, rule, rule_for_command, verdict, wildcard};
use crate::rules::{BranchClause, CommandMatcher, Detector, PathClause, PathKey, Rule, ToolRule};
use crate::{Level, Verdict};

fn tool(tool: ToolRule) -> Rule {
    rule("tool", Detector::Tool(Box::new(tool)))
}

fn path_clause(key: PathKey, pattern: &str) -> PathClause {
    PathClause { key, patterns: vec![path_pattern(pattern)], except: Vec::new() }
}

fn program(name: &str) -> CommandMatcher {
    CommandMatcher { program: vec![wildcard(name)], ..CommandMatcher::default() }
}

fn reason(rule: &Rule, command: &str) -> String {
    let Verdict { level, findings, .. } = verdict(std::slice::from_ref(rule), bash(command), false);
    let reasons: Vec<String> = findings.into_iter().map(|finding| finding.reason).collect();
    format!("{}: {}", level.name(), reasons.join("; "))
}

#[test]
fn the_reason_of_a_command_rule_names_the_command() {
    let push = rule_for_command("^git push");
    assert_snapshot!(reason(&push, "cd x && git  push 'origin' main"), @"block: no. Matched: `git push origin main`");
    assert_snapshot!(reason(&push, "git $DO origin"), @"ask: Linchpin can't tell what this command does. It might break this rule. no. Possible match: `git $DO origin`");
    assert_snapshot!(reason(&tool(ToolRule { matchers: vec![program("deploy")], ..ToolRule::default() }), "./deploy -m 'all of it' now"), @"block: no. Matched: `deploy -m … now`");
    let rewrites = Some(BranchClause { branches: vec![wildcard("main")] });
    let rewrites = tool(ToolRule { rewrites, ..ToolRule::default() });
    assert_snapshot!(reason(&rewrites, "git fetch; git push -f origin x; git push -f origin main"), @"block: no. Matched: `git push -f origin main`");
    assert_snapshot!(reason(&rewrites, "git push -f origin \"$B\""), @"ask: Linchpin can't tell what this command does. It might rewrite or delete a protected branch. no. Possible match: `git push -f origin $B`");
}

#[test]
fn the_innermost_command_is_named() {
    let build = rule_for_command("make");
    assert_snapshot!(reason(&build, "sudo -u me bash -c 'cd x; make all'"), @"block: no. Matched: `make all`");
    assert_snapshot!(reason(&build, "docker run image make all"), @"block: no. Matched: `make all`");
    assert_snapshot!(reason(&build, "printf 'make all\\n' > x.sh; bash x.sh"), @"block: no. Matched: `make all`");
}

#[test]
fn the_reason_of_a_path_rule_names_the_path_as_it_was_written() {
    let writes = tool(ToolRule { paths: vec![path_clause(PathKey::Writes, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&writes, "cd src && touch ./a.rs"), @"block: no. Matched: `./a.rs`");
    assert_snapshot!(reason(&writes, "echo x > \"src/a b\""), @"block: no. Matched: `src/a b`");
    assert_snapshot!(reason(&writes, "unheard-of --into=src/a"), @"ask: Linchpin can't tell what this does to `src/a`. It might change files that this rule protects. no. Possible match: `unheard-of --into=src/a`");
    let deletes = tool(ToolRule { paths: vec![path_clause(PathKey::Deletes, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&deletes, "rm -f a \"$X\""), @r#"ask: Linchpin can't tell what this does to `"$X"`. It might delete files that this rule protects. no. Possible match: `rm -f a $X`"#);
}

#[test]
fn access_to_a_directory_names_the_protected_file() {
    let writes = tool(ToolRule { paths: vec![path_clause(PathKey::Writes, ".git")], ..ToolRule::default() });
    assert_snapshot!(reason(&writes, "git clean -fdx; rm -r ."), @"block: no. Matched: `.git`");
}

#[test]
fn the_reason_of_a_rule_for_commands_and_paths_names_the_command() {
    let paths = vec![path_clause(PathKey::Reads, "src/**")];
    let both = tool(ToolRule { matchers: vec![program("cat")], paths, ..ToolRule::default() });
    assert_snapshot!(reason(&both, "cat a; cat src/b; cat c"), @"block: no. Matched: `cat src/b`");
}

#[test]
fn a_long_subject_is_truncated_and_put_on_one_line() {
    let push = rule_for_command("^git push");
    assert_snapshot!(reason(&push, &format!("git push {}", "é".repeat(200))), @"block: no. Matched: `git push ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…`");
    let reads = tool(ToolRule { paths: vec![path_clause(PathKey::Reads, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&reads, "cat 'src/a\nb'"), @"block: no. Matched: `src/a b`");
}

#[test]
fn a_reason_of_several_paragraphs_ends_with_the_subject_as_its_own_paragraph() {
    let rule = Rule { reason: "One.\n\nTwo.".to_owned(), ..rule_for_command("^git push") };
    assert_snapshot!(reason(&rule, "git push"), @"
    block: One.

    Two.

    Matched: `git push`
    ");
}

#[test]
fn a_rule_that_allows_or_matches_no_command_or_path_names_no_subject() {
    let allow = Rule { action: Level::Allow, ..rule_for_command("^git push") };
    assert_snapshot!(reason(&allow, "git push"), @"allow: no");
    assert_snapshot!(reason(&rule("event", Detector::Event), "git push"), @"block: no");
    assert_snapshot!(reason(&rule_for_command("^git push"), "git push; if then"), @"ask: The command cannot be parsed: the script is incomplete: it ends unexpectedly. Linchpin can't tell whether this breaks the rule `command`. Write the commands out in full, or split them into simpler ones.");
}
