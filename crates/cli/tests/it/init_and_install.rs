//! `init`, `install` and `uninstall`: what they write, and what they do not change.

use std::fs;

use super::{project, project_without_policy};

#[test]
fn init_writes_a_policy_and_hooks_and_is_safe_to_run_again() {
    let project = project_without_policy();
    insta::assert_snapshot!(project.run(&["init", "--agent", "claude", "--agent", "codex"]).transcript(), @"
    exit 0
    --- stdout
    A policy for [BASE]/project:
      .linchpin/config.yml
      .linchpin/.gitignore
      .linchpin/rules/keep-commit-hooks.md

    Claude Code: hooks installed in [BASE]/project/.claude/settings.json
    Codex CLI: hooks installed in [BASE]/project/.codex/hooks.json
      It runs a hook only after you accept it, and you must accept it again after every change: open Codex and type /hooks.

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    --- stderr
    ");
    let listed = |directory: &str| {
        let mut names: Vec<String> = fs::read_dir(project.root().join(directory))
            .expect("a directory")
            .filter_map(|entry| entry.ok().map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(listed(".linchpin"), ".gitignore config.yml rules");
    project.config("rules: []\n");
    insta::assert_snapshot!(project.run(&["init", "--agent", "claude", "--agent", "codex"]).transcript(), @"
    exit 0
    --- stdout
    The policy in [BASE]/project/.linchpin was not changed.

    Claude Code: hooks are already in [BASE]/project/.claude/settings.json
    Codex CLI: hooks are already in [BASE]/project/.codex/hooks.json

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    --- stderr
    ");
    assert_eq!(fs::read_to_string(project.root().join(".linchpin/config.yml")).expect("config"), "rules: []\n");
    assert_eq!(project.run(&["validate"]).code, Some(0));
}

#[test]
fn init_finds_installed_agents() {
    let project = project_without_policy();
    let report = project.run(&["init", "--json"]).json();
    assert_eq!(report["hooks"], serde_json::json!([]));
    fs::create_dir(project.home().join(".codex")).expect("a directory");
    let report = project.run(&["init", "--json"]).json();
    assert_eq!(report["hooks"][0]["agent"], "codex");
}

#[test]
fn init_recognizes_antigravity_by_its_own_directories() {
    let is_recognized = |directory: &str| {
        let project = project_without_policy();
        let base = project.root().parent().expect("a directory").to_owned();
        fs::create_dir_all(base.join(directory)).expect("a directory");
        let hooks = project.run(&["init", "--json"]).json()["hooks"].clone();
        hooks.as_array().expect("a list").iter().any(|hooks| hooks["agent"] == "antigravity")
    };
    let signs = ["home/.gemini/antigravity", "home/.gemini/antigravity-cli", "project/.agents/rules"];
    for directory in signs {
        assert!(is_recognized(directory), "{directory}");
    }
    // These directories do not show that Antigravity is used: other agents keep their skills in `.agents`, and Gemini
    // CLI keeps its settings in `.gemini`.
    for directory in ["project/.agents/skills", "home/.gemini"] {
        assert!(!is_recognized(directory), "{directory}");
    }
}

#[test]
fn init_in_a_subdirectory_of_a_repository_writes_to_its_top() {
    let project = project_without_policy();
    project.file(".git/HEAD", "ref: refs/heads/main\n").file("a/b/c", "");
    let mut command = project.command(&["init", "--no-hooks", "--json"]);
    command.current_dir(project.root().join("a/b"));
    assert_eq!(project.run_with_stdin(command, b"").json()["root"], "[BASE]/project");
}

#[test]
fn install_and_uninstall_keep_other_settings_byte_for_byte() {
    let project = project();
    let settings = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]} ]},\n}\n";
    project.file(".claude/settings.json", settings);
    let read = || fs::read_to_string(project.root().join(".claude/settings.json")).expect("settings");
    insta::assert_snapshot!(project.run(&["install", "claude"]).transcript(), @"
    exit 0
    --- stdout
    Claude Code: hooks installed in [BASE]/project/.claude/settings.json
    --- stderr
    ");
    let installed = read();
    assert!(installed.contains("// mine") && installed.contains("say done"), "{installed}");
    insta::assert_snapshot!(project.run(&["install", "claude"]).transcript(), @"
    exit 0
    --- stdout
    Claude Code: hooks are already in [BASE]/project/.claude/settings.json
    --- stderr
    ");
    assert_eq!(read(), installed);
    insta::assert_snapshot!(project.run(&["uninstall", "claude"]).transcript(), @"
    exit 0
    --- stdout
    Claude Code: Linchpin's hooks were removed from [BASE]/project/.claude/settings.json
    --- stderr
    ");
    assert_eq!(read(), settings);
    insta::assert_snapshot!(project.run(&["uninstall", "claude"]).transcript(), @"
    exit 0
    --- stdout
    Claude Code: [BASE]/project/.claude/settings.json has no hooks of Linchpin
    --- stderr
    ");
}

#[test]
fn uninstall_deletes_everything_that_install_created() {
    for agent in agents::Agent::ALL {
        for scope in [&[][..], &["--user"]] {
            let project = project_without_policy();
            let run = |subcommand: &str| {
                let arguments: Vec<&str> =
                    [subcommand, agent.name()].into_iter().chain(scope.iter().copied()).collect();
                assert_eq!(project.run(&arguments).code, Some(0), "{arguments:?}");
            };
            run("install");
            run("uninstall");
            // Environment variables name these directories, so `uninstall` treats them as the person's and keeps them.
            let existing = ["home/.claude", "home/.codex", "config"];
            let left: Vec<String> =
                all_paths(&project).into_iter().filter(|path| !existing.contains(&path.as_str())).collect();
            assert_eq!(left, [""; 0], "{agent:?} {scope:?}");
        }
    }
}

#[test]
fn uninstall_keeps_directories_with_other_files() {
    let project = project_without_policy();
    project.file(".github/workflows/ci.yml", "on: push\n");
    project.run(&["install", "copilot"]);
    project.run(&["uninstall", "copilot"]);
    assert_eq!(
        all_paths(&project),
        ["project/.github", "project/.github/workflows", "project/.github/workflows/ci.yml"]
    );
}

/// A formatter, or the agent itself, could have reformatted the settings after `install`.
#[test]
fn uninstall_deletes_a_created_file_even_if_it_was_reformatted() {
    for (agent, file) in [("claude", ".claude/settings.json"), ("cursor", ".cursor/hooks.json")] {
        let project = project_without_policy();
        project.run(&["install", agent]);
        let path = project.root().join(file);
        let text = fs::read_to_string(&path).expect("settings");
        let compact: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        fs::write(&path, compact.to_string()).expect("written");
        project.run(&["uninstall", agent]);
        assert_eq!(all_paths(&project), [""; 0], "{agent}");
        // Settings that existed before `install` are restored.
        for before in ["{}", "{\"hooks\":{}}"] {
            project.file(file, before);
            project.run(&["install", agent]);
            project.run(&["uninstall", agent]);
            assert_eq!(fs::read_to_string(&path).expect("settings"), before);
        }
    }
}

/// Returns every path in the project, the home directory and the user's configuration, relative to the parent directory
/// of these three.
fn all_paths(project: &testkit::TestProject) -> Vec<String> {
    let base = project.root().parent().expect("a directory").to_owned();
    let mut directories: Vec<_> = ["project", "home", "config"].map(|name| base.join(name)).to_vec();
    let mut found: Vec<String> = Vec::new();
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            found.push(path.strip_prefix(&base).expect("below it").display().to_string());
            directories.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn install_writes_user_and_local_settings() {
    let project = project();
    assert_eq!(
        project.run(&["install", "claude", "--user", "--json"]).json()["file"],
        "[BASE]/home/.claude/settings.json"
    );
    assert_eq!(
        project.run(&["install", "claude", "--local", "--json"]).json()["file"],
        "[BASE]/project/.claude/settings.local.json"
    );
    insta::assert_snapshot!(project.run(&["install", "codex", "--local"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: Codex CLI has no local settings
    help: install it for the project, or with `--user`
    ");
}

#[test]
fn steps_that_the_person_must_do_are_listed() {
    let project = project();
    let output_of_install = |scope: &[&str]| {
        let install = |agent: agents::Agent| {
            let arguments: Vec<&str> = ["install", agent.name()].into_iter().chain(scope.iter().copied()).collect();
            project.run(&arguments).stdout
        };
        agents::Agent::ALL.map(install).concat()
    };
    insta::assert_snapshot!(output_of_install(&[]), @"
    Claude Code: hooks installed in [BASE]/project/.claude/settings.json
    Codex CLI: hooks installed in [BASE]/project/.codex/hooks.json
      It runs a hook only after you accept it, and you must accept it again after every change: open Codex and type /hooks.
    Gemini CLI: hooks installed in [BASE]/project/.gemini/settings.json
      If folder trust is on, it reads a project's settings only in folders that you trust: open Gemini CLI there once.
    Antigravity: hooks installed in [BASE]/project/.agents/hooks.json
    Cursor: hooks installed in [BASE]/project/.cursor/hooks.json
    Copilot CLI: hooks installed in [BASE]/project/.github/hooks/linchpin.json
      In headless mode it reads a project's hooks only if you trust the folder: open Copilot once in that folder.
    OpenCode: hooks installed in [BASE]/project/.opencode/plugins/linchpin.js
      It loads plugins when it starts: start it again.
    ");
    // Hooks in the person's own settings do not depend on trusted directories.
    insta::assert_snapshot!(output_of_install(&["--user"]), @"
    Claude Code: hooks installed in [BASE]/home/.claude/settings.json
    Codex CLI: hooks installed in [BASE]/home/.codex/hooks.json
      It runs a hook only after you accept it, and you must accept it again after every change: open Codex and type /hooks.
    Gemini CLI: hooks installed in [BASE]/home/.gemini/settings.json
    Antigravity: hooks installed in [BASE]/home/.gemini/config/hooks.json
    Cursor: hooks installed in [BASE]/home/.cursor/hooks.json
    Copilot CLI: hooks installed in [BASE]/home/.copilot/hooks/linchpin.json
    OpenCode: hooks installed in [BASE]/config/opencode/plugins/linchpin.js
      It loads plugins when it starts: start it again.
    ");
    // If nothing changed, no next steps are printed.
    assert!(!output_of_install(&[]).contains("  "));
}

#[test]
fn only_settings_that_are_not_shared_get_the_fail_closed_switch() {
    let project = project();
    project.run(&["install", "claude"]);
    project.run(&["install", "claude", "--local"]);
    let read = |path: &str| fs::read_to_string(project.root().join(path)).expect("settings");
    assert!(!read(".claude/settings.json").contains("onFailure"));
    assert!(read(".claude/settings.local.json").contains("onFailure"));
}

/// Hooks that call a program with another name would not be recognized later.
#[test]
fn a_binary_with_another_name_installs_no_hooks() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().canonicalize().expect("a directory").join("linchpin-11");
    let copy = |_| fs::copy(super::PROGRAM, &program).map(drop);
    fs::hard_link(super::PROGRAM, &program).or_else(copy).expect("a program");
    let project = testkit::TestProject::with_policy(&program.display().to_string());
    insta::assert_snapshot!(project.run(&["install", "copilot"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: this Linchpin is `[LINCHPIN]`, and Linchpin recognizes only hooks that call a program named `linchpin`
    help: rename that file to `linchpin`, and run the command again
    ");
    assert_eq!(project.run(&["install", "copilot", "--user"]).code, Some(2));
    assert_eq!(all_paths(&project), ["project/.linchpin", "project/.linchpin/rules"]);
    // Hooks in project settings call `linchpin` by its name, so it is enough if `PATH` has the program under that name.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("linchpin-11", directory.path().join("linchpin")).expect("a symlink");
        let mut command = project.command(&["install", "copilot"]);
        command.env("PATH", directory.path());
        assert_eq!(project.run_with_stdin(command, b"").code, Some(0));
        assert_eq!(project.run(&["uninstall", "copilot", "--json"]).json()["changed"], true);
    }
}

#[test]
fn unreadable_settings_are_left_alone() {
    let project = project();
    for text in ["{ \"hooks\": [", "[]", "{ \"hooks\": 7 }"] {
        project.file(".claude/settings.json", text);
        assert_eq!(project.run(&["install", "claude"]).code, Some(2), "{text}");
        assert_eq!(fs::read_to_string(project.root().join(".claude/settings.json")).expect("settings"), text);
    }
    insta::assert_snapshot!(project.run(&["install", "claude"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: [BASE]/project/.claude/settings.json:1:12: `hooks` must be an object
    help: nothing was written; fix the file and run the command again
    ");
}

#[test]
fn an_unknown_agent_is_an_error() {
    insta::assert_snapshot!(project().run(&["install", "clod"]).transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: unknown agent `clod`
    help: Linchpin knows claude, codex, gemini, antigravity, cursor, copilot, opencode
    ");
    insta::assert_snapshot!(project().run(&["install", "clod", "--json"]).transcript(), @r#"
    exit 2
    --- stdout
    {"error":{"kind":"UnknownAgent","message":"unknown agent `clod`","help":"Linchpin knows claude, codex, gemini, antigravity, cursor, copilot, opencode"}}
    --- stderr
    "#);
}

#[test]
fn an_agent_cannot_install_hooks() {
    let project = project();
    for arguments in [["init", "--no-hooks"], ["install", "claude"], ["uninstall", "claude"]] {
        let mut command = project.command(&arguments);
        command.env("CODEX_THREAD_ID", "t");
        assert_eq!(project.run_with_stdin(command, b"").code, Some(2), "{arguments:?}");
    }
}

#[test]
fn init_without_agents_reports_the_searched_agents() {
    let project = project_without_policy();
    let mut command = project.command(&["init"]);
    let output = command.env("PATH", project.root()).output().expect("it runs");
    let stdout = String::from_utf8_lossy(&output.stdout).replace(&project.root().display().to_string(), "PROJECT");
    insta::assert_snapshot!(stdout, @"
    A policy for PROJECT:
      .linchpin/config.yml
      .linchpin/.gitignore
      .linchpin/rules/keep-commit-hooks.md

    No agent was found: none of `claude`, `codex`, `gemini`, `agy`, `cursor-agent`, `copilot`, `opencode` is on PATH, and there is no folder of an agent in this project or your home directory.
    No hooks are installed, so nothing is checked yet: run `linchpin install AGENT`.
    Linchpin knows these agents: claude, codex, gemini, antigravity, cursor, copilot, opencode.

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    ");
}

/// The target of a symlink may be outside of the repository, and hooks for one project must not get into the settings
/// for all projects.
#[cfg(unix)]
#[test]
fn a_symlink_out_of_the_project_is_not_followed() {
    let project = project();
    assert_eq!(project.run(&["install", "claude", "--user"]).code, Some(0));
    std::os::unix::fs::symlink(project.home().join(".claude"), project.root().join(".claude")).expect("a symlink");
    let before = fs::read_to_string(project.home().join(".claude/settings.json")).expect("settings");
    for subcommand in ["install", "uninstall"] {
        let reply = project.run(&[subcommand, "claude"]);
        assert_eq!(reply.code, Some(2), "{}{}", reply.stdout, reply.stderr);
        insta::assert_snapshot!(format!("symlink_{subcommand}"), project.redacted(&reply.stderr));
    }
    assert_eq!(fs::read_to_string(project.home().join(".claude/settings.json")).expect("settings"), before);
}

#[test]
fn hooks_without_a_policy_are_reported_and_put_at_the_top_of_the_repository() {
    let project = project_without_policy();
    project.git(&["init", "-q"]);
    project.file("sub/file", "");
    let mut command = project.command(&["install", "codex"]);
    command.current_dir(project.root().join("sub"));
    let reply = project.run_with_stdin(command, b"");
    insta::assert_snapshot!(project.redacted(&reply.stdout));
    assert!(project.root().join(".codex/hooks.json").is_file());
}

#[test]
fn commands_appended_to_a_hook_stay() {
    let project = project();
    let settings =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"linchpin hook claude; ./notify.sh"}]}]}}"#;
    project.file(".claude/settings.json", settings);
    assert_eq!(project.run(&["install", "claude"]).code, Some(0));
    assert_eq!(project.run(&["uninstall", "claude"]).code, Some(0));
    let left = fs::read_to_string(project.root().join(".claude/settings.json")).expect("settings");
    assert!(left.contains("./notify.sh"), "{left}");
}

#[test]
fn existing_hooks_are_kept_and_reported() {
    let project = project_without_policy();
    assert_eq!(project.run(&["init", "--agent", "claude"]).code, Some(0));
    let settings = project.root().join(".claude/settings.json");
    let before = fs::read_to_string(&settings).expect("settings");
    insta::assert_snapshot!(project.run(&["init", "--no-hooks"]).stdout, @"
    The policy in [BASE]/project/.linchpin was not changed.

    The hooks of Claude Code were not changed.

    Next: `linchpin doctor` tests the setup; `linchpin status` shows the rules in force.
    ");
    assert_eq!(fs::read_to_string(&settings).expect("settings"), before);
}

/// A limit on the file size simulates a full disk for one process.
#[test]
fn a_policy_that_cannot_be_written_completely_is_not_written() {
    let project = project_without_policy();
    project.git(&["init", "--quiet"]);
    let init = project.command(&[]);
    let mut shell = std::process::Command::new("sh");
    // The shell ignores the signal for writes over the limit, so that such a write fails and does not end the process.
    // The first file that `init` writes is larger than the limit.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" init --no-hooks --pre-commit"]).arg(init.get_program());
    shell.current_dir(project.root()).env_clear();
    shell.envs(init.get_envs().filter_map(|(name, value)| Some((name, value?))));
    insta::assert_snapshot!(project.run_with_stdin(shell, b"").transcript(), @"
    exit 2
    --- stdout
    --- stderr
    error: the policy cannot be written into `[BASE]/project/.linchpin`: File too large (os error 27)
    help: nothing was left behind; free some space and run the command again
    ");
    assert!(!project.root().join(".linchpin").exists());
    assert!(!project.root().join(".git/hooks/pre-commit").exists());
}

#[test]
fn a_policy_is_written_even_if_settings_are_unreadable() {
    let project = project_without_policy();
    project.file(".claude/settings.json", "{ broken");
    let reply = project.run(&["init", "--agent", "claude"]);
    assert_eq!(reply.code, Some(2));
    assert!(project.root().join(".linchpin/config.yml").exists());
    let help = "help: the policy in [BASE]/project/.linchpin was written, but the hooks of Claude Code were not; fix that and run `linchpin install claude`";
    assert!(reply.stderr.contains(help), "{}", reply.stderr);
}

#[test]
fn the_hooks_of_other_agents_are_written_if_settings_are_unreadable() {
    let project = project_without_policy();
    project.file(".claude/settings.json", "{ broken");
    let reply = project.run(&["init", "--agent", "claude", "--agent", "gemini"]);
    assert_eq!(reply.code, Some(2), "{}", reply.transcript());
    assert!(project.root().join(".gemini/settings.json").exists());
    assert!(reply.stdout.contains(".gemini/settings.json"), "{}", reply.transcript());
    assert!(reply.stderr.contains("the hooks of Claude Code were not"), "{}", reply.transcript());
}
