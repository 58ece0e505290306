//! Moves and answers that are a person's: the guard refuses them, however an agent writes them.

use insta::assert_snapshot;
use testkit::Scratch;

use crate::project;

/// However it is wrapped.
fn ways(command: &str) -> [String; 4] {
    [
        command.to_owned(),
        format!("bash -c '{command}'"),
        format!("cd . && nohup {command} &"),
        format!("/usr/local/bin/{command}"),
    ]
}

fn assert_all(scratch: &Scratch, command: &str, decision: &str) {
    for way in ways(command) {
        assert_eq!(scratch.decision(&way), decision, "{way}");
    }
    // Whoever takes the variables away by which a command knows that an agent runs it means no good.
    assert_eq!(scratch.decision(&format!("env -u CLAUDECODE {command}")), "deny");
}

#[test]
fn moves_that_agents_may_not_make() {
    let scratch = project();
    for command in ["linchpin abort", "linchpin prev", "linchpin restart", "linchpin start execution"] {
        assert_all(&scratch, command, "deny");
    }
    for command in ["linchpin next", "linchpin continue", "linchpin repeat", "linchpin status", "linchpin abort --help"]
    {
        assert_eq!(scratch.decision(command), "allow", "{command}");
    }
    scratch.config("agent_may: [start, status]\n");
    assert_all(&scratch, "linchpin next code_complete", "deny");
    assert_eq!(scratch.run(&["trust", "--yes"]).code, Some(0));
    assert_all(&scratch, "linchpin start execution", "allow");
    assert_all(&scratch, "linchpin next code_complete", "deny");
}

const FLOW: &str = "start_node: code\nvariables: {reviewed: false}\nnodes:\n  code: {prompt: Code., transitions: [{when: code_complete, \
                    to: done}]}\n";

#[test]
fn what_a_repository_lets_agents_do_needs_trust() {
    let scratch = project();
    scratch.file(".linchpin/workflows/work.yml", FLOW);
    scratch.config("agent_may: [status, start, abort, set]\n");
    insta::assert_snapshot!(scratch.run(&["validate"]).stdout, @"
    warning: lets agents run more commands of Linchpin by themselves; it is not in force until a person accepts it
     --> .linchpin/config.yml:1:1
      |
    1 | agent_may: [status, start, abort, set]
      | ^^^^^^^^^
      |
      = help: run `linchpin trust` once you have read it

    2 rules in force, 1 workflow; 1 warning.
    ");
    let agent = scratch.agent();
    let moves = [&["start", "work"][..], &["set", "reviewed", "true"], &["abort"]];
    for words in moves {
        assert_all(&scratch, &format!("linchpin {}", words.join(" ")), "deny");
        assert_eq!(agent.linchpin(words).code, Some(2), "{words:?}");
    }
    assert_eq!(scratch.run(&["trust", "--yes"]).code, Some(0));
    for words in moves {
        assert_all(&scratch, &format!("linchpin {}", words.join(" ")), "allow");
        assert_eq!(agent.linchpin(words).code, Some(0), "{words:?}");
    }
    // A running session sees no more than what was accepted.
    scratch.config("agent_may: [status, start, abort, set, prev]\n");
    assert_all(&scratch, "linchpin prev", "deny");
    assert_all(&scratch, "linchpin start work", "deny");
    // To take something away needs nobody's yes.
    scratch.config("agent_may: [status]\n");
    assert_all(&scratch, "linchpin next", "deny");
    assert!(!scratch.run(&["validate"]).stdout.contains("agent_may"));
}

#[test]
fn what_a_repository_lets_agents_do_does_not_reach_the_users_own_workflow() {
    let scratch = project();
    let own = scratch.user_policy();
    std::fs::create_dir_all(own.join("workflows")).expect("a folder");
    std::fs::write(own.join("workflows/mine.yml"), FLOW).expect("a file");
    scratch.config("agent_may: [next, status, start, abort, set]\n");
    assert_eq!(scratch.run(&["trust", "--yes"]).code, Some(0));
    let agent = scratch.agent();
    insta::assert_snapshot!(agent.linchpin(&["start", "mine"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: workflow `mine` is the user's own, and the user does not let agents run `start`
    help: a person can do it; `agent_may: [start, …]` in the user's own config.yml lets agents do it too
    ");
    assert_eq!(scratch.run(&["start", "mine"]).code, Some(0));
    insta::assert_snapshot!(agent.linchpin(&["abort"]).stderr, @"
    error: workflow `mine` is the user's own, and the user does not let agents run `abort`
    help: a person can do it; `agent_may: [abort, …]` in the user's own config.yml lets agents do it too
    ");
    insta::assert_snapshot!(agent.linchpin(&["set", "reviewed", "true"]).stderr, @"
    error: workflow `mine` is the user's own, and the user does not let agents run `set`
    help: a person can do it; `agent_may: [set, …]` in the user's own config.yml lets agents do it too
    ");
    std::fs::write(own.join("config.yml"), "agent_may: [next, status, abort]\n").expect("a file");
    assert_eq!(agent.linchpin(&["set", "reviewed", "true"]).code, Some(2));
    assert_eq!(agent.linchpin(&["abort"]).code, Some(0));
}

/// A repository may have a workflow of the same name, on any of its branches.
#[test]
fn the_users_own_workflow_stays_the_users_while_it_is_active() {
    let scratch = project();
    let own = scratch.user_policy();
    std::fs::create_dir_all(own.join("workflows")).expect("a folder");
    let strict = "start_node: a\nnodes:\n  a:\n    prompt: A.\n    rules: [{command: {program: danger}, reason: No.}]\n    requires: [{command: ['false']}]\n    transitions: [{when: a_complete, to: done}]\n";
    std::fs::write(own.join("workflows/mine.yml"), strict).expect("a file");
    assert_eq!(scratch.run(&["start", "mine"]).code, Some(0));
    assert_eq!(scratch.decision("danger"), "deny");
    scratch.file(
        ".linchpin/workflows/mine.yml",
        "start_node: a\nnodes:\n  a:\n    prompt: A.\n    transitions: [{when: a_complete, to: done}]\n",
    );
    assert_eq!(scratch.decision("danger"), "deny");
    let agent = scratch.agent();
    assert_eq!(agent.linchpin(&["next"]).code, Some(1));
    assert!(scratch.run(&["status"]).stdout.contains("mine"));
}

#[test]
fn answers_to_rules_that_wait_for_a_person() {
    let scratch = project();
    scratch.rule("docs", "---\ntrigger: 'src/**'\nsafety: README.md\n---\nLook at the README.\n");
    scratch.rule("money", "---\nname: Money\ntrigger: 'pay/**'\nack: human\n---\nAsk.\n");
    assert_all(&scratch, "linchpin ack money --reason seen", "deny");
    assert_eq!(scratch.decision("linchpin ack Money --reason seen"), "deny");
    assert_all(&scratch, "linchpin ack docs --reason seen", "allow");
}

#[test]
fn going_on_past_a_rule_that_waits_for_a_person() {
    let scratch = project();
    let rule = "{repeated_command: {threshold: 9, window: 60}, ack: human}";
    scratch.file(
        ".linchpin/workflows/work.yml",
        format!(
            "start_node: code\nnodes:\n  code: {{prompt: Code., rules: [{rule}], transitions: [{{when: code_complete, to: read}}]}}\n  \
             read: {{prompt: Read., transitions: [{{when: read_complete, to: done}}]}}\n"
        ),
    );
    assert_all(&scratch, "linchpin continue", "allow");
    scratch.run(&["start", "work"]);
    assert_all(&scratch, "linchpin continue", "deny");
    assert_snapshot!(scratch.hook("claude", &scratch.bash("linchpin continue")).reason());
    scratch.run(&["next"]);
    assert_all(&scratch, "linchpin continue", "allow");
}

#[test]
fn an_agents_shell_stays_an_agents_shell() {
    let scratch = project();
    let run = |script: &str, mark: &str| {
        let mut command = scratch.command(&[]);
        let linchpin = command.get_program().to_owned();
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", script]).arg("bash").arg(linchpin).current_dir(scratch.root()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("CLAUDECODE", mark);
        command = shell;
        scratch.feed(command, b"")
    };
    for script in [
        "env -u CLAUDECODE \"$1\" pause 1h --reason x; true",
        "unset CLAUDECODE; (\"$1\" pause 1h --reason x); true",
        "ln -s \"$1\" lp; CLAUDECODE= ./lp pause 1h --reason x; true",
    ] {
        let reply = run(script, "1");
        assert!(reply.stderr.contains("`CLAUDECODE` shows that an agent runs it"), "{script}: {}", reply.transcript());
    }
    // A script that is run by its name goes by that.
    scratch.file("x.sh", "#!/bin/bash\nunset CLAUDECODE\n\"$1\" pause 1h --reason x\ntrue\n");
    let reply = run("chmod +x x.sh; ./x.sh \"$1\"; true", "1");
    assert!(reply.stderr.contains("`CLAUDECODE` shows that an agent runs it"), "{}", reply.transcript());
    let reply = run("\"$1\" pause 1h --reason x", "");
    assert_eq!(reply.code, Some(0), "{}", reply.transcript());
}

#[test]
fn no_option_with_a_value_hides_the_command_behind_it() {
    let scratch = project();
    let help = scratch.run(&["--help"]).stdout;
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
            assert_eq!(scratch.decision(&command), "deny", "{command}");
        }
    }
}
