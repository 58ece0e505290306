//! Wrappers are not commands of the script, but rules can match them.

use super::*;

fn about_program(program: &str) -> Rule {
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
        assert_eq!(level(&about_program(program), command), Level::Block, "{command}");
        assert_eq!(level(&about_command(&format!("^{program}( |$)")), command), Level::Block, "{command}");
    }
    assert_eq!(level(&about_command("^sudo -u root"), "sudo -u root make"), Level::Block);
}

#[test]
fn mentioned_programs_are_not_wrappers() {
    for command in
        ["git commit -m 'sudo make'", "echo sudo make", "make sudo", "grep -r sudo .", "bash -c 'echo sudo x'"]
    {
        assert_eq!(level(&about_program("sudo"), command), Level::Allow, "{command}");
        assert_eq!(level(&about_command("^sudo( |$)"), command), Level::Allow, "{command}");
        assert_eq!(level(&about_command("sudo -u"), "sudo echo 'sudo -u'"), Level::Allow);
    }
}

#[test]
fn allowing_a_wrapper_does_not_allow_its_command() {
    let allowing = |rule: Rule| Rule { action: Level::Allow, ..rule };
    let approves = |rule: Rule, command: &str| verdict(&[allowing(rule)], bash(command), false).approved;
    assert!(!approves(about_program("timeout"), "timeout 5 make"));
    assert!(!approves(about_command("^timeout"), "timeout 5 make"));
    assert!(approves(about_command("^make"), "timeout 5 make"));
}

#[test]
fn a_negative_pattern_ignores_wrappers() {
    let command_regex = CommandRegex { pattern: None, not_pattern: Some(RegexSource::new("^git ")) };
    let rule = rule("command", Detector::Tool(Box::new(ToolRule { command_regex, ..ToolRule::default() })));
    assert_eq!(level(&rule, "time git status"), Level::Allow);
    assert_eq!(level(&rule, "time make"), Level::Block);
}
