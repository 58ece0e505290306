//! The subject at the end of a reason.

use insta::assert_snapshot;

use super::{about_command, bash, path_pattern, rule, verdict, wildcard};
use crate::rules::{BranchClause, CommandMatcher, Detector, PathClause, PathKey, Rule, ToolRule};
use crate::{Level, Verdict};

fn tool(tool: ToolRule) -> Rule {
    rule("tool", Detector::Tool(Box::new(tool)))
}

fn about_paths(about: PathKey, pattern: &str) -> PathClause {
    PathClause { key: about, patterns: vec![path_pattern(pattern)], except: Vec::new() }
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
fn a_rule_about_commands_names_the_command() {
    let push = about_command("^git push");
    assert_snapshot!(reason(&push, "cd x && git  push 'origin' main"), @"block: no Matched: `git push origin main`");
    assert_snapshot!(reason(&push, "git $DO origin"), @"ask: Linchpin can't tell what this command does. It might break this rule. no Possible match: `git $DO origin`");
    assert_snapshot!(reason(&tool(ToolRule { matchers: vec![program("deploy")], ..ToolRule::default() }), "./deploy -m 'all of it' now"), @"block: no Matched: `deploy -m … now`");
    let rewrites = Some(BranchClause { branches: vec![wildcard("main")] });
    let rewrites = tool(ToolRule { rewrites, ..ToolRule::default() });
    assert_snapshot!(reason(&rewrites, "git fetch; git push -f origin x; git push -f origin main"), @"block: no Matched: `git push -f origin main`");
    assert_snapshot!(reason(&rewrites, "git push -f origin \"$B\""), @"ask: Linchpin can't tell what this command does. It might rewrite or delete a protected branch. no Possible match: `git push -f origin $B`");
}

#[test]
fn the_innermost_command_is_named() {
    let build = about_command("make");
    assert_snapshot!(reason(&build, "sudo -u me bash -c 'cd x; make all'"), @"block: no Matched: `make all`");
    assert_snapshot!(reason(&build, "docker run image make all"), @"block: no Matched: `make all`");
    assert_snapshot!(reason(&build, "printf 'make all\\n' > x.sh; bash x.sh"), @"block: no Matched: `make all`");
}

#[test]
fn a_rule_about_paths_names_the_path_as_it_was_written() {
    let writes = tool(ToolRule { paths: vec![about_paths(PathKey::Writes, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&writes, "cd src && touch ./a.rs"), @"block: no Matched: `./a.rs`");
    assert_snapshot!(reason(&writes, "echo x > \"src/a b\""), @"block: no Matched: `src/a b`");
    assert_snapshot!(reason(&writes, "unheard-of --into=src/a"), @"ask: Linchpin can't tell what this does to `src/a`. It might change files that this rule protects. no Possible match: `unheard-of --into=src/a`");
    let deletes = tool(ToolRule { paths: vec![about_paths(PathKey::Deletes, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&deletes, "rm -f a \"$X\""), @r#"ask: Linchpin can't tell what this does to `"$X"`. It might delete files that this rule protects. no Possible match: `rm -f a $X`"#);
}

#[test]
fn access_to_a_folder_names_the_protected_file() {
    let writes = tool(ToolRule { paths: vec![about_paths(PathKey::Writes, ".git")], ..ToolRule::default() });
    assert_snapshot!(reason(&writes, "git clean -fdx; rm -r ."), @"block: no Matched: `.git`");
}

#[test]
fn a_rule_about_both_names_the_command_of_the_path() {
    let paths = vec![about_paths(PathKey::Reads, "src/**")];
    let both = tool(ToolRule { matchers: vec![program("cat")], paths, ..ToolRule::default() });
    assert_snapshot!(reason(&both, "cat a; cat src/b; cat c"), @"block: no Matched: `cat src/b`");
}

#[test]
fn long_subjects_are_truncated_and_on_one_line() {
    let push = about_command("^git push");
    assert_snapshot!(reason(&push, &format!("git push {}", "é".repeat(200))), @"block: no Matched: `git push ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…`");
    let reads = tool(ToolRule { paths: vec![about_paths(PathKey::Reads, "src/**")], ..ToolRule::default() });
    assert_snapshot!(reason(&reads, "cat 'src/a\nb'"), @"block: no Matched: `src/a b`");
}

#[test]
fn after_several_paragraphs_the_subject_has_its_own() {
    let rule = Rule { reason: "One.\n\nTwo.".to_owned(), ..about_command("^git push") };
    assert_snapshot!(reason(&rule, "git push"), @"
    block: One.

    Two.

    Matched: `git push`
    ");
}

#[test]
fn rules_that_allow_or_match_no_command_or_path_name_no_subject() {
    let allow = Rule { action: Level::Allow, ..about_command("^git push") };
    assert_snapshot!(reason(&allow, "git push"), @"allow: no");
    assert_snapshot!(reason(&rule("event", Detector::Event), "git push"), @"block: no");
    assert_snapshot!(reason(&about_command("^git push"), "git push; if then"), @"ask: The command cannot be parsed: the script is incomplete: it ends unexpectedly. Linchpin can't tell whether this breaks the rule `command`. Write the commands out in full, or split them into simpler ones.");
}
