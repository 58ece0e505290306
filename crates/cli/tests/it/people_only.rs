//! Commands for people only: the guard refuses them to agents in every spelling.

use insta::assert_snapshot;
use testkit::TestProject;

use crate::project;

/// Returns shell commands that run this command in different ways.
fn spellings(command: &str) -> [String; 4] {
    [
        command.to_owned(),
        format!("bash -c '{command}'"),
        format!("cd . && nohup {command} &"),
        format!("/usr/local/bin/{command}"),
    ]
}

fn assert_decisions(project: &TestProject, command: &str, decision: &str) {
    for spelling in spellings(command) {
        assert_eq!(project.decision(&spelling), decision, "{spelling}");
    }
    // A command that removes a variable that identifies an agent is always refused.
    assert_eq!(project.decision(&format!("env -u CLAUDECODE {command}")), "deny");
}

#[test]
fn agents_need_permission_to_move_a_workflow() {
    let project = project();
    for command in ["linchpin abort", "linchpin prev", "linchpin restart", "linchpin start execution"] {
        assert_decisions(&project, command, "deny");
    }
    for command in ["linchpin next", "linchpin continue", "linchpin repeat", "linchpin status", "linchpin abort --help"]
    {
        assert_eq!(project.decision(command), "allow", "{command}");
    }
    project.config("agent_may: [start, status]\n");
    assert_decisions(&project, "linchpin next code_complete", "deny");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    assert_decisions(&project, "linchpin start execution", "allow");
    assert_decisions(&project, "linchpin next code_complete", "deny");
}

const WORKFLOW: &str = "start_node: code\nvariables: {reviewed: false}\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete, \
                    to: done}]}\n";

#[test]
fn permissions_for_agents_from_a_repository_need_trust() {
    let project = project();
    project.file(".linchpin/workflows/work.yml", WORKFLOW);
    project.config("agent_may: [status, start, abort, set]\n");
    insta::assert_snapshot!(project.run(&["validate"]).stdout, @"
    warning: this setting is ignored until a person runs `linchpin trust`, because it allows agents to run more Linchpin commands
     --> .linchpin/config.yml:1:1
      |
    1 | agent_may: [status, start, abort, set]
      | ^^^^^^^^^
      |
      = help: read it, then run `linchpin trust`

    2 rules in force, 1 workflow; 1 warning.
    ");
    let agent = project.agent();
    let commands = [&["start", "work"][..], &["set", "reviewed", "true"], &["abort"]];
    for arguments in commands {
        assert_decisions(&project, &format!("linchpin {}", arguments.join(" ")), "deny");
        assert_eq!(agent.linchpin(arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    for arguments in commands {
        assert_decisions(&project, &format!("linchpin {}", arguments.join(" ")), "allow");
        assert_eq!(agent.linchpin(arguments).code, Some(0), "{arguments:?}");
    }
    // A configuration that lets agents run more commands must be accepted again. Until then, none of its permissions is
    // in effect.
    project.config("agent_may: [status, start, abort, set, prev]\n");
    assert_decisions(&project, "linchpin prev", "deny");
    assert_decisions(&project, "linchpin start work", "deny");
    // Revoking a permission needs no trust.
    project.config("agent_may: [status]\n");
    assert_decisions(&project, "linchpin next", "deny");
    assert!(!project.run(&["validate"]).stdout.contains("agent_may"));
}

#[test]
fn permissions_from_a_repository_do_not_apply_to_the_users_workflow() {
    let project = project();
    let user_policy = project.user_policy();
    std::fs::create_dir_all(user_policy.join("workflows")).expect("a directory");
    std::fs::write(user_policy.join("workflows/mine.yml"), WORKFLOW).expect("a file");
    project.config("agent_may: [next, status, start, abort, set]\n");
    assert_eq!(project.run(&["trust", "--yes"]).code, Some(0));
    let agent = project.agent();
    insta::assert_snapshot!(agent.linchpin(&["start", "mine"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `mine` belongs to the user's own policy, which does not let agents run `start`
    help: a person can do it; `agent_may: [start, …]` in the user's own config.yml lets agents do it too
    ");
    assert_eq!(project.run(&["start", "mine"]).code, Some(0));
    insta::assert_snapshot!(agent.linchpin(&["abort"]).stderr, @"
    error: workflow `mine` belongs to the user's own policy, which does not let agents run `abort`
    help: a person can do it; `agent_may: [abort, …]` in the user's own config.yml lets agents do it too
    ");
    insta::assert_snapshot!(agent.linchpin(&["set", "reviewed", "true"]).stderr, @"
    error: workflow `mine` belongs to the user's own policy, which does not let agents run `set`
    help: a person can do it; `agent_may: [set, …]` in the user's own config.yml lets agents do it too
    ");
    std::fs::write(user_policy.join("config.yml"), "agent_may: [next, status, abort]\n").expect("a file");
    assert_eq!(agent.linchpin(&["set", "reviewed", "true"]).code, Some(2));
    assert_eq!(agent.linchpin(&["abort"]).code, Some(0));
}

/// Anyone who can write to the repository can add a workflow with the same name as the user's active one.
#[test]
fn a_repository_cannot_replace_the_users_active_workflow() {
    let project = project();
    let user_policy = project.user_policy();
    std::fs::create_dir_all(user_policy.join("workflows")).expect("a directory");
    let strict = "start_node: a\nnodes:\n  a:\n    prompt: A.\n    rules: [{command: {program: danger}, reason: No.}]\n    requires: [{command: ['false']}]\n    transitions: [{when: a_complete, to: done}]\n";
    std::fs::write(user_policy.join("workflows/mine.yml"), strict).expect("a file");
    assert_eq!(project.run(&["start", "mine"]).code, Some(0));
    assert_eq!(project.decision("danger"), "deny");
    project.file(
        ".linchpin/workflows/mine.yml",
        "start_node: a\nnodes:\n  a:\n    prompt: A.\n    transitions: [{when: a_complete, to: done}]\n",
    );
    assert_eq!(project.decision("danger"), "deny");
    let agent = project.agent();
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    assert!(project.run(&["status"]).stdout.contains("mine"));
}

#[test]
fn agents_may_not_acknowledge_rules_with_ack_human() {
    let project = project();
    project.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\n---\nLook at the README.\n");
    project.rule("money", "---\nname: Money\ntrigger: 'pay/**'\nack: human\n---\nAsk.\n");
    assert_decisions(&project, "linchpin ack money --reason seen", "deny");
    assert_eq!(project.decision("linchpin ack Money --reason seen"), "deny");
    assert_decisions(&project, "linchpin ack docs --reason seen", "allow");
}

#[test]
fn agents_may_not_continue_past_a_rule_with_ack_human() {
    let project = project();
    let rule = "{repeated_command: {threshold: 9, window: 60}, ack: human}";
    project.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nnodes:\n  code: {{prompt: Code., rules: [{rule}], transitions: [{{when: code_complete, to: read}}]}}\n  \
             read: {{prompt: Read., transitions: [{{when: read_complete, to: done}}]}}\n"
        ),
    );
    assert_decisions(&project, "linchpin continue", "allow");
    project.run(&["start", "work"]);
    assert_decisions(&project, "linchpin continue", "deny");
    assert_snapshot!(project.hook("claude", &project.bash_payload("linchpin continue")).reason());
    project.run(&["next"]);
    assert_decisions(&project, "linchpin continue", "allow");
}

#[test]
fn an_agents_process_is_recognized_without_its_variables() {
    let project = project();
    let run = |script: &str, claudecode: &str| {
        let mut command = project.command(&[]);
        let linchpin = command.get_program().to_owned();
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", script]).arg("bash").arg(linchpin).current_dir(project.root()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("CLAUDECODE", claudecode);
        command = shell;
        project.run_with_stdin(command, b"")
    };
    for script in [
        "env -u CLAUDECODE \"$1\" pause 1h --reason x; true",
        "unset CLAUDECODE; (\"$1\" pause 1h --reason x); true",
        "ln -s \"$1\" lp; CLAUDECODE= ./lp pause 1h --reason x; true",
    ] {
        let reply = run(script, "1");
        assert!(
            reply.stderr.contains("`CLAUDECODE` shows that an agent started it"),
            "{script}: {}",
            reply.transcript()
        );
    }
    // The process of a script that is run by its path has the name of the script instead of the shell's. The agent must
    // be recognized nevertheless.
    project.file("x.sh", "#!/bin/bash\nunset CLAUDECODE\n\"$1\" pause 1h --reason x\ntrue\n");
    let reply = run("chmod +x x.sh; ./x.sh \"$1\"; true", "1");
    assert!(reply.stderr.contains("`CLAUDECODE` shows that an agent started it"), "{}", reply.transcript());
    let reply = run("\"$1\" pause 1h --reason x", "");
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn flags_with_values_do_not_hide_the_command() {
    let project = project();
    let help = project.run(&["--help"]).stdout;
    let options = help.split("\nOptions:\n").nth(1).expect("options");
    let with_value = options.lines().filter(|line| line.contains('<')).filter_map(|line| {
        let flag = line.split_whitespace().find(|word| word.starts_with("--"))?;
        Some(flag.trim_end_matches(','))
    });
    let flags: Vec<&str> = with_value.collect();
    assert!(flags.contains(&"--color"), "{options}");
    for flag in flags {
        for command in
            [format!("linchpin {flag} always trust --yes"), format!("linchpin rules {flag} always disable x")]
        {
            assert_eq!(project.decision(&command), "deny", "{command}");
        }
    }
}
