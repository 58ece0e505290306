//! Tests of rules that match wrappers (`sudo`, `timeout`), which are not commands of the script themselves, and of
//! rules about commands that follow an unknown word, which may be a program that runs them.

use super::*;

fn rule_for_program(program: &str) -> Rule {
    let matcher = CommandMatcher { program: vec![Wildcard::literal(program)], ..CommandMatcher::default() };
    rule("program", Detector::Tool(Box::new(ToolRule { matchers: vec![matcher], ..ToolRule::default() })))
}

fn level(rule: &Rule, command: &str) -> Level {
    verdict(std::slice::from_ref(rule), bash(command), false).level
}

#[test]
fn rules_match_wrappers() {
    for (program, command) in [
        ("sudo", "sudo apt install jq"),
        ("sudo", "cd sub && timeout 5 sudo -u deploy make"),
        ("npx", "npx --yes create-app ."),
        ("xargs", "git ls-files | xargs wc -l"),
        ("bash", "bash -c 'make all'"),
        ("nohup", "nohup make &"),
        ("eval", "eval 'make all'"),
        ("ssh", "ssh host uptime"),
        ("env", "env A=1 make"),
    ] {
        assert_eq!(level(&rule_for_program(program), command), Level::Block, "{command}");
        assert_eq!(level(&rule_for_command(&format!("^{program}( |$)")), command), Level::Block, "{command}");
    }
    assert_eq!(level(&rule_for_command("^sudo -u root"), "sudo -u root make"), Level::Block);
}

#[test]
fn mentioned_programs_are_not_wrappers() {
    for command in
        ["git commit -m 'sudo make'", "echo sudo make", "make sudo", "grep -r sudo .", "bash -c 'echo sudo x'"]
    {
        assert_eq!(level(&rule_for_program("sudo"), command), Level::Allow, "{command}");
        assert_eq!(level(&rule_for_command("^sudo( |$)"), command), Level::Allow, "{command}");
        assert_eq!(level(&rule_for_command("sudo -u"), "sudo echo 'sudo -u'"), Level::Allow);
    }
}

#[test]
fn allowing_a_wrapper_does_not_allow_its_command() {
    let allowing = |rule: Rule| Rule { action: Level::Allow, ..rule };
    let approves = |rule: Rule, command: &str| verdict(&[allowing(rule)], bash(command), false).approved;
    assert!(!approves(rule_for_program("timeout"), "timeout 5 make"));
    assert!(!approves(rule_for_command("^timeout"), "timeout 5 make"));
    assert!(approves(rule_for_command("^make"), "timeout 5 make"));
}

#[test]
fn a_negative_pattern_ignores_wrappers() {
    let command_regex = CommandRegex { pattern: None, not_pattern: Some(RegexSource::new("^git ")) };
    let rule = rule("command", Detector::Tool(Box::new(ToolRule { command_regex, ..ToolRule::default() })));
    assert_eq!(level(&rule, "time git status"), Level::Allow);
    assert_eq!(level(&rule, "time make"), Level::Block);
}

#[test]
fn patterns_match_a_wrapper_together_with_its_command() {
    for (pattern, matching, other) in [
        ("^npx eslint", "npx eslint .", "npx prettier eslint"),
        ("^uv run pytest", "sudo uv run pytest -q", "uv run ruff pytest"),
        ("^bundle exec rspec", "bundle exec rspec spec/a.rb", "bundle exec rake"),
        ("^sudo rm", "bash -c 'sudo /bin/rm x'", "sudo bash -c 'rm x'"),
        ("^timeout 5 git push$", "timeout 5 git push", "timeout 5 echo 'git push'"),
        ("^uv run x\\.py", "uv run x.py", "uv run y.py x.py"),
    ] {
        assert_eq!(level(&rule_for_command(pattern), matching), Level::Block, "{matching}");
        assert_eq!(level(&rule_for_command(pattern), other), Level::Allow, "{other}");
    }
    assert_eq!(level(&rule_for_command("^uv run pytest"), "uv run \"$TOOL\""), Level::Ask);
}

#[test]
fn unknown_arguments_of_wrappers_are_not_parts_of_patterns() {
    let rule = rule_for_command("rm -rf");
    assert_eq!(level(&rule, "sudo -u \"$USER\" ls -rf"), Level::Allow);
    assert_eq!(level(&rule, "sudo -u \"$USER\" rm -rf x"), Level::Block);
    assert_eq!(level(&rule_for_command("^sudo -u [^ ]+ rm"), "sudo -u \"$USER\" rm x"), Level::Block);
}

#[test]
fn an_excepted_command_is_excepted_with_its_wrappers() {
    let command_regex = CommandRegex {
        pattern: Some(RegexSource::new("git push")),
        not_pattern: Some(RegexSource::new("^git push --dry-run")),
    };
    let rule = rule("command", Detector::Tool(Box::new(ToolRule { command_regex, ..ToolRule::default() })));
    assert_eq!(level(&rule, "sudo git push --dry-run"), Level::Allow);
    assert_eq!(level(&rule, "sudo git push"), Level::Block);
}

#[test]
fn allowing_a_wrapper_with_its_command_does_not_allow_the_command() {
    let rule = Rule { action: Level::Allow, ..rule_for_command("^timeout 5 ") };
    assert!(!verdict(&[rule], bash("timeout 5 make"), false).approved);
}

#[test]
fn an_unknown_first_word_may_run_the_rest() {
    let matcher = CommandMatcher {
        program: vec![Wildcard::literal("pip")],
        subcommand: vec!["install".to_owned()],
        ..CommandMatcher::default()
    };
    let rule = rule("pip", Detector::Tool(Box::new(ToolRule { matchers: vec![matcher], ..ToolRule::default() })));
    for command in [
        "$SUDO pip install x",
        "\"$SUDO\" -E pip install x",
        "$PY -m pip install x",
        "$UV run pip install x",
        "$SUDO bash -c 'pip install x'",
        "python -m \"$MODULE\" install x",
        "$PIP install x",
    ] {
        assert_eq!(level(&rule, command), Level::Ask, "{command}");
    }
    for command in
        ["$SUDO pip list", "$PY -m pip list", "$CC -c pip.c", "$EDITOR pip", "$BIN/tool install x", "$MAKE -C pip all"]
    {
        assert_eq!(level(&rule, command), Level::Allow, "{command}");
    }
}

#[test]
fn effects_of_commands_that_may_run_are_unknown() {
    let branches = vec![Wildcard::literal("main")];
    let rewrites = rule(
        "push",
        Detector::Tool(Box::new(ToolRule { rewrites: Some(BranchClause { branches }), ..ToolRule::default() })),
    );
    assert_eq!(level(&rewrites, "$SUDO git push --force origin main"), Level::Ask);
    assert_eq!(level(&rewrites, "$GIT push --force origin main"), Level::Ask);
    assert_eq!(level(&rewrites, "$SUDO git push --force origin topic"), Level::Allow);
    let paths =
        vec![PathClause { key: PathKey::Deletes, patterns: vec![PathPattern::OutsideProject], except: Vec::new() }];
    let deletes = rule("deletes", Detector::Tool(Box::new(ToolRule { paths, ..ToolRule::default() })));
    assert_eq!(level(&deletes, "$SUDO bash -c 'rm -r /etc'"), Level::Ask);
    assert_eq!(level(&deletes, "$SUDO bash -c 'rm -r src'"), Level::Allow);
}
