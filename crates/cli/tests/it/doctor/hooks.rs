//! `linchpin doctor`: hooks that were changed after `linchpin install`.

use std::fs;

use insta::assert_snapshot;

use super::Hooks;

#[test]
fn a_hook_with_the_wrong_event_is_reported() {
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.problems_after_change("hook copilot PreToolUse", "hook copilot PostToolUse"), @"
    exit 1
    bad   Copilot CLI: the command at `PreToolUse` names `PostToolUse`, so Linchpin might judge the wrong event
          run `linchpin install copilot --user` again
    ");
    assert_snapshot!(copilot.problems_after_change("hook copilot Stop", "hook copilot"), @"
    exit 1
    bad   Copilot CLI: the command at `Stop` does not name the event, so Linchpin might not know it
          run `linchpin install copilot --user` again
    ");
    let antigravity = Hooks::of("antigravity", &[]);
    assert_snapshot!(antigravity.problems_after_change("hook antigravity PreToolUse", "hook antigravity Stop"), @"
    exit 1
    bad   Antigravity: the command at `PreToolUse` names `Stop`, so Linchpin might judge the wrong event
          run `linchpin install antigravity` again
    ");
}

#[test]
fn a_hook_whose_output_is_discarded_is_reported() {
    let cursor = Hooks::of("cursor", &[]);
    assert_snapshot!(cursor.problems_after_change("hook cursor", "hook cursor >/dev/null"), @"
    exit 1
    bad   Cursor: the command at `preToolUse` continues with `> /dev/null`, so the agent might not get Linchpin's answer
          run `linchpin install cursor` again
    ");
    assert_snapshot!(cursor.problems_after_change("hook cursor", "hook cursor || true"), @"
    exit 1
    bad   Cursor: the command at `preToolUse` continues with `|| true`, so the agent might not get Linchpin's answer
          run `linchpin install cursor` again
    ");
    assert_snapshot!(cursor.problems_after_change("hook cursor", "hook cursor|cat"), @"
    exit 1
    bad   Cursor: no hook for preToolUse
          run `linchpin install cursor` again
    bad   Cursor: `preToolUse` runs Linchpin inside `[LINCHPIN] hook cursor|cat`, so the agent might not get its answer
          change it in [BASE]/project/.cursor/hooks.json
    ");
    let claude = Hooks::of("claude", &[]);
    assert_snapshot!(claude.problems_after_change(r#"["hook", "claude"]"#, r#"["hook", "claude", "--help"]"#), @"
    exit 1
    bad   Claude Code: the command at `PreToolUse` continues with `--help`, so the agent might not get Linchpin's answer
          run `linchpin install claude` again
    ");
}

#[test]
fn a_hook_inside_another_command_is_reported() {
    let gemini = Hooks::of("gemini", &[]);
    let program = gemini.program();
    assert_snapshot!(gemini.problems_after_change(&program, &format!("true || {program}")), @"
    exit 1
    bad   Gemini CLI: no hook for BeforeTool
          run `linchpin install gemini` again
    bad   Gemini CLI: `BeforeTool` runs Linchpin inside `true || [LINCHPIN] hook gemini`, so the agent might not get its answer
          change it in [BASE]/project/.gemini/settings.json
    note  Gemini CLI: if folder trust is on, it reads a project's settings only in folders that you trust. [BASE]/home/.gemini/trustedFolders.json lists neither this folder nor a parent folder: open Gemini CLI there once
    ");
}

#[cfg(unix)]
#[test]
fn a_hook_that_calls_another_linchpin_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &["--user"]);
    let program = claude.program();
    claude.write_in_home("bin/linchpin", &format!("#!/bin/sh\nexec '{program}' \"$@\"\n"));
    let other = claude.project.home().join("bin/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_snapshot!(claude.problems_after_change(&program, &other.display().to_string()), @"
    exit 0
    note  Claude Code: its hook calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    ");
    claude.write_in_home("bin/linchpin", "#!/bin/sh\n");
    assert_snapshot!(claude.problems_after_change(&program, &other.display().to_string()), @"
    exit 1
    note  Claude Code: its hook calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    bad   Claude Code: self-test failed: the program would not refuse `linchpin trust`, and answered null
          check that `[BASE]/home/bin/linchpin` is this Linchpin, or run `linchpin install claude --user` again
    ");
}

#[cfg(unix)]
#[test]
fn a_hook_that_cannot_start_or_hangs_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &["--user"]);
    let program = claude.program();
    let other = claude.project.home().join("bin/linchpin");
    assert_snapshot!(claude.problems_after_change(&program, &other.display().to_string()), @"
    exit 1
    bad   Claude Code: `[BASE]/home/bin/linchpin` cannot be started: No such file or directory (os error 2)
          the agent runs every call unchecked, or refuses every call if its hooks fail closed; run `linchpin install claude --user` again
    ");
    claude.write_in_home("bin/linchpin", "#!/bin/sh\nsleep 600\n");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    let before = claude.read_settings();
    fs::write(&claude.file, before.replace(&program, &other.display().to_string())).expect("written");
    assert_snapshot!(claude.problems(), @"
    exit 1
    note  Claude Code: its hook calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    bad   Claude Code: `[BASE]/home/bin/linchpin` did not answer within 10 s
          the agent gets no answer from its hook; run `linchpin install claude --user` again
    ");
}

/// `doctor` must not run a program only because the project's settings name it: the path could be a symlink, or the
/// program could be something else than Linchpin.
#[cfg(unix)]
#[test]
fn a_program_named_in_project_settings_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &[]);
    let program = claude.program();
    claude.write_in_home("elsewhere/linchpin", "#!/bin/sh\ntouch ran\n");
    let other = claude.project.home().join("elsewhere/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::create_dir_all(claude.project.root().join("tools")).expect("a directory");
    std::os::unix::fs::symlink(&other, claude.project.root().join("tools/linchpin")).expect("a symlink");
    assert_snapshot!(claude.problems_after_change(&program, &other.display().to_string()), @"
    exit 0
    note  Claude Code: its hook calls `[BASE]/home/elsewhere/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    note  Claude Code: its hook was not tested, because its path `[BASE]/home/elsewhere/linchpin` comes from the project's settings, which could name any program
    ");
    assert_snapshot!(claude.problems_after_change(&program, "./tools/linchpin"), @"
    exit 1
    note  Claude Code: its hook calls `./tools/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    bad   Claude Code: its hook calls `./tools/linchpin`, which is in the project, so it was not tested
          anyone who can change the project can change the hook; run `linchpin install claude` again
    ");
    assert!(!claude.project.root().join("ran").exists());
}

#[cfg(unix)]
#[test]
fn a_program_inside_the_project_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &[]);
    let program = claude.program();
    claude.project.file("bin/linchpin", "#!/bin/sh\ntouch ran\n");
    let other = claude.project.root().join("bin/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_snapshot!(claude.problems_after_change(&program, &other.display().to_string()), @"
    exit 1
    note  Claude Code: its hook calls `[BASE]/project/bin/linchpin`, which is not the Linchpin that you are running now (`[LINCHPIN]`)
    bad   Claude Code: its hook calls `[BASE]/project/bin/linchpin`, which is in the project, so it was not tested
          anyone who can change the project can change the hook; run `linchpin install claude` again
    ");
    assert!(!claude.project.root().join("ran").exists());
}

#[test]
fn a_hook_timeout_that_is_too_short_is_reported() {
    let claude = Hooks::of("claude", &[]);
    assert_snapshot!(claude.problems_after_change("\"timeout\": 60", "\"timeout\": 1"), @"
    exit 1
    bad   Claude Code: a timeout of 1 s at `PreToolUse`: Linchpin might need 2 s, and the agent continues without its answer
          run `linchpin install claude` again
    ");
    assert_snapshot!(claude.problems_after_change("\"timeout\": 600", "\"timeout\": 30"), @"
    exit 0
    note  Claude Code: a timeout of 30 s at `Stop`, where `install` writes 600 s, so the agent stops waiting after 30 s, for example for a file rule's command
    ");
    assert_snapshot!(claude.problems_after_change("\"timeout\": 60", "\"timeout\": \"long\""), @"
    exit 1
    bad   Claude Code: a `timeout` that is not a number at `PreToolUse`, so the agent might ignore the hook
          run `linchpin install claude` again
    ");
    assert_snapshot!(claude.problems_after_change("\"timeout\": 60", "\"timeout\": 120"), @"exit 0");
    let gemini = Hooks::of("gemini", &["--user"]);
    assert_snapshot!(gemini.problems_after_change("\"timeout\": 60000", "\"timeout\": 60"), @"
    exit 1
    bad   Gemini CLI: a timeout of 0.06 s at `BeforeTool`: Linchpin might need 2 s, and the agent continues without its answer
          run `linchpin install gemini --user` again
    ");
    // The configured deadline determines which timeout is too short.
    claude.project.config("deadline: 15s\n");
    assert_snapshot!(claude.problems_after_change("\"timeout\": 60", "\"timeout\": 12"), @"
    exit 1
    bad   Claude Code: a timeout of 12 s at `PreToolUse`: Linchpin might need 15 s, and the agent continues without its answer
          run `linchpin install claude` again
    ");
}

#[test]
fn problems_shared_by_all_hooks_are_reported_once() {
    let claude = Hooks::of("claude", &[]);
    fs::write(&claude.file, claude.read_settings().replace("\"timeout\": 60 ", "\"timeout\": 0 ")).expect("written");
    assert_snapshot!(claude.problems(), @"
    exit 1
    bad   Claude Code: a timeout of 0 s at `PreToolUse`, `PermissionRequest`, `PostToolUse`, `PostToolUseFailure`, `UserPromptSubmit`, `SubagentStart`, `TaskCompleted`, `PreCompact`, `PostCompact`, `Notification`, `SessionStart`: Linchpin might need 2 s, and the agent continues without its answer
          run `linchpin install claude` again
    ");
}

#[test]
fn a_matcher_that_excludes_tools_is_reported() {
    let claude = Hooks::of("claude", &["--local"]);
    assert_snapshot!(claude.problems_after_change("\"matcher\": \"*\"", "\"matcher\": \"Bash\""), @"
    exit 1
    bad   Claude Code: the matcher `Bash` at `PreToolUse`, so Linchpin does not see other tools
          run `linchpin install claude --local` again
    ");
    assert_snapshot!(claude.problems_after_change("\"matcher\": \"*\"", "\"matcher\": [\"Bash\"]"), @"
    exit 1
    bad   Claude Code: a matcher that is not a string at `PreToolUse`, so the agent might ignore the hook
          run `linchpin install claude --local` again
    ");
    assert_snapshot!(claude.problems_after_change("\"matcher\": \"*\"", "\"matcher\": \".*\""), @"exit 0");
    assert_snapshot!(claude.problems_after_change("\"onFailure\": \"block\"", "\"if\": \"Bash(git *)\""), @r#"
    exit 1
    bad   Claude Code: no `onFailure: "block"` at `PreToolUse`, so calls run unchecked if Linchpin cannot be run
          run `linchpin install claude --local` again
    bad   Claude Code: an `if` at `PreToolUse`, so Linchpin does not see some calls
          run `linchpin install claude --local` again
    "#);
    // Linchpin's hook is in the same group as another tool's hook. `install` must not change the hook of the other
    // tool.
    let other = r#"{"type": "command", "command": "check.sh"}"#;
    let group = format!("\"matcher\": \"Bash\",\n        \"hooks\": [\n          {other},");
    assert_snapshot!(claude.problems_after_change("\"matcher\": \"*\",\n        \"hooks\": [", &group), @"
    exit 1
    bad   Claude Code: the matcher `Bash` at `PreToolUse`, so Linchpin does not see other tools
          run `linchpin install claude --local` again
    ");
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.problems_after_change("\"timeoutSec\"", "\"matcher\": \"bash\", \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: the matcher `bash` at `PreToolUse`, so Linchpin does not see other tools
          run `linchpin install copilot --user` again
    ");
}

#[test]
fn other_differences_from_installed_hooks_are_reported() {
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.problems_after_change("\"timeoutSec\"", "\"bash\": \"true\", \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: `bash` at `PreToolUse`, which might be run instead of Linchpin
          run `linchpin install copilot --user` again
    ");
    assert_snapshot!(copilot.problems_after_change("\"timeoutSec\"", "\"env\": {\"HOME\": \"/\"}, \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: the key `env` at `PreToolUse`, which `install` does not write, so the key's effect is unknown
          run `linchpin install copilot --user` again
    ");
    let cursor = Hooks::of("cursor", &["--user"]);
    assert_snapshot!(cursor.problems_after_change("\"failClosed\": true", "\"failClosed\": false"), @"
    exit 1
    bad   Cursor: no `failClosed: true` at `preToolUse`, so calls run unchecked if Linchpin cannot be run
          run `linchpin install cursor --user` again
    ");
    assert_snapshot!(cursor.problems_after_change("\"loop_limit\": null", "\"loop_limit\": 1"), @"
    exit 1
    bad   Cursor: no `loop_limit: null` at `stop`, so after some holds the agent stops anyway
          run `linchpin install cursor --user` again
    ");
    let shared = Hooks::of("claude", &[]);
    assert_snapshot!(shared.problems_after_change("\"timeout\": 600", "\"timeout\": 600, \"onFailure\": \"block\""), @"
    exit 0
    note  Claude Code: `onFailure` at `Stop`, which blocks everyone who does not have Linchpin
    ");
    let gemini = Hooks::of("gemini", &["--user"]);
    assert_snapshot!(gemini.problems_after_change("\"name\": \"linchpin\"", "\"name\": \"other\""), @r#"
    exit 1
    bad   Gemini CLI: no `name: "linchpin"` at `BeforeTool`, so `hooksConfig.disabled` may switch it off without a warning
          run `linchpin install gemini --user` again
    "#);
    assert_snapshot!(gemini.problems_after_change("\"hooks\": {\n", "\"hooks\": {\n    \"BeforeModel\": {},\n"), @"
    exit 1
    bad   Gemini CLI: `hooks.BeforeModel` is not a list, so the agent might not read the file
          change it in [BASE]/home/.gemini/settings.json
    ");
    let codex = Hooks::of("codex", &[]);
    let program = codex.program();
    let exec = format!("\"command\": \"{}\", \"args\": [\"hook\", \"codex\"]", program.trim_matches('\''));
    assert_snapshot!(codex.problems_after_change(&format!("\"command\": \"{program} hook codex\""), &exec), @"
    exit 1
    bad   Codex CLI: `args` at `PreToolUse`, which Codex CLI does not know, so it calls Linchpin without the arguments
          run `linchpin install codex` again
    bad   Codex CLI: it runs a hook only after you accept it, and you must accept it again after every change. [BASE]/home/.codex/config.toml lists none of these hooks as accepted: open Codex and type /hooks
          until then, the agent calls none of these hooks
    ");
}

#[test]
fn a_duplicate_hook_is_reported() {
    let antigravity = Hooks::of("antigravity", &[]);
    let text = antigravity.read_settings();
    let stop =
        text.split("\"Stop\": [").nth(1).expect("an event").split(']').next().expect("its hooks").trim().to_owned();
    assert_snapshot!(antigravity.problems_after_change(&stop, &format!("{stop}, {stop}")), @"
    exit 0
    note  Antigravity: more than one hook at `Stop` in [BASE]/project/.agents/hooks.json, so it might call Linchpin several times for each event
    ");
}

#[test]
fn a_changed_plugin_is_reported() {
    let user = Hooks::of("opencode", &["--user"]);
    assert_snapshot!(user.problems_after_change("FAIL_CLOSED = true", "FAIL_CLOSED = false"), @"
    exit 1
    bad   OpenCode: the plugin lets calls run unchecked if Linchpin cannot be run
          run `linchpin install opencode --user` again
    ");
    assert_snapshot!(user.problems_after_change("throw new Error(answer.refuse)", ""), @"
    exit 1
    bad   OpenCode: the plugin differs from the one that this Linchpin writes, so its effect is unknown
          run `linchpin install opencode --user` again
    ");
    assert_snapshot!(user.problems_after_change("const PROGRAM", "const  PROGRAM"), @"
    exit 1
    bad   OpenCode: the plugin differs from the one that this Linchpin writes, so its effect is unknown
          run `linchpin install opencode --user` again
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    ");
    let project = Hooks::of("opencode", &[]);
    assert_snapshot!(project.problems_after_change("FAIL_CLOSED = false", "FAIL_CLOSED = true"), @"
    exit 0
    note  OpenCode: the plugin blocks everyone who does not have Linchpin
    ");
    assert_snapshot!(project.problems_after_change("// Written by", "// Once written by"), @"
    exit 1
    bad   OpenCode: the file of Linchpin's plugin contains another plugin
          change it in [BASE]/project/.opencode/plugins/linchpin.js
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    ");
}
