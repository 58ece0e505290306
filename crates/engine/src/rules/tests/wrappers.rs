//! Programs that only run others are no commands of the script, and yet a rule can be about them.

use super::*;

fn about_program(program: &str) -> Rule {
    let matcher = CommandMatcher { program: vec![Wildcard::exactly(program)], ..CommandMatcher::default() };
    rule("program", Detector::Tool(Box::new(ToolRule { matchers: vec![matcher], ..ToolRule::default() })))
}

fn level(rule: &Rule, command: &str) -> Level {
    verdict(std::slice::from_ref(rule), bash(command), false).level
}

#[test]
fn a_rule_can_be_about_what_a_command_is_run_through() {
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
fn what_is_only_said_is_not_run_through() {
    for command in
        ["git commit -m 'sudo make'", "echo sudo make", "make sudo", "grep -r sudo .", "bash -c 'echo sudo x'"]
    {
        assert_eq!(level(&about_program("sudo"), command), Level::Allow, "{command}");
        assert_eq!(level(&about_command("^sudo( |$)"), command), Level::Allow, "{command}");
        assert_eq!(level(&about_command("sudo -u"), "sudo echo 'sudo -u'"), Level::Allow);
    }
}

#[test]
fn to_allow_what_runs_others_is_not_to_allow_those() {
    let allowing = |rule: Rule| Rule { action: Level::Allow, ..rule };
    let approves = |rule: Rule, command: &str| verdict(&[allowing(rule)], bash(command), false).approved;
    assert!(!approves(about_program("timeout"), "timeout 5 make"));
    assert!(!approves(about_command("^timeout"), "timeout 5 make"));
    assert!(approves(about_command("^make"), "timeout 5 make"));
}

#[test]
fn all_but_some_means_the_commands_themselves() {
    let search = CommandRegex { pattern: None, not_pattern: Some(RegexSource::new("^git ")) };
    let rule = rule("command", Detector::Tool(Box::new(ToolRule { search, ..ToolRule::default() })));
    assert_eq!(level(&rule, "time git status"), Level::Allow);
    assert_eq!(level(&rule, "time make"), Level::Block);
}
