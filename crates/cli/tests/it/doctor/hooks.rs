//! Hooks that somebody changed.

use std::fs;

use insta::assert_snapshot;

use super::Hooks;

#[test]
fn a_hook_that_says_another_event() {
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.changed("hook copilot PreToolUse", "hook copilot PostToolUse"), @"
    exit 1
    bad   Copilot CLI: the command at `PreToolUse` says `PostToolUse`, so Linchpin may judge another event
          run `linchpin install copilot --user` again
    ");
    assert_snapshot!(copilot.changed("hook copilot Stop", "hook copilot"), @"
    exit 1
    bad   Copilot CLI: the command at `Stop` does not say which event it is for, so Linchpin may not know
          run `linchpin install copilot --user` again
    ");
    let antigravity = Hooks::of("antigravity", &[]);
    assert_snapshot!(antigravity.changed("hook antigravity PreToolUse", "hook antigravity Stop"), @"
    exit 1
    bad   Antigravity: the command at `PreToolUse` says `Stop`, so Linchpin may judge another event
          run `linchpin install antigravity` again
    ");
}

#[test]
fn a_hook_that_is_muted() {
    let cursor = Hooks::of("cursor", &[]);
    assert_snapshot!(cursor.changed("hook cursor", "hook cursor >/dev/null"), @"
    exit 1
    bad   Cursor: the command at `preToolUse` goes on with `> /dev/null`, so what Linchpin answers may not arrive
          run `linchpin install cursor` again
    ");
    assert_snapshot!(cursor.changed("hook cursor", "hook cursor || true"), @"
    exit 1
    bad   Cursor: the command at `preToolUse` goes on with `|| true`, so what Linchpin answers may not arrive
          run `linchpin install cursor` again
    ");
    assert_snapshot!(cursor.changed("hook cursor", "hook cursor|cat"), @"
    exit 1
    bad   Cursor: no hook for preToolUse
          run `linchpin install cursor` again
    bad   Cursor: `preToolUse` runs Linchpin within `[LINCHPIN] hook cursor|cat`, so what it answers may not arrive
          change it in [BASE]/project/.cursor/hooks.json
    ");
    let claude = Hooks::of("claude", &[]);
    assert_snapshot!(claude.changed(r#"["hook", "claude"]"#, r#"["hook", "claude", "--help"]"#), @"
    exit 1
    bad   Claude Code: the command at `PreToolUse` goes on with `--help`, so what Linchpin answers may not arrive
          run `linchpin install claude` again
    ");
}

#[test]
fn a_hook_within_another_command() {
    let gemini = Hooks::of("gemini", &[]);
    let program = gemini.program();
    assert_snapshot!(gemini.changed(&program, &format!("true || {program}")), @"
    exit 1
    bad   Gemini CLI: no hook for BeforeTool
          run `linchpin install gemini` again
    bad   Gemini CLI: `BeforeTool` runs Linchpin within `true || [LINCHPIN] hook gemini`, so what it answers may not arrive
          change it in [BASE]/project/.gemini/settings.json
    note  Gemini CLI: where folder trust is on, it reads a project's settings only in folders that you trust, but [BASE]/home/.gemini/trustedFolders.json names neither this folder nor one that it lies in: open Gemini CLI there once
    ");
}

#[cfg(unix)]
#[test]
fn a_hook_that_calls_another_linchpin() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &["--user"]);
    let program = claude.program();
    claude.home("bin/linchpin", &format!("#!/bin/sh\nexec '{program}' \"$@\"\n"));
    let other = claude.scratch.home().join("bin/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_snapshot!(claude.changed(&program, &other.display().to_string()), @"
    exit 0
    note  Claude Code: it calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that says this
    ");
    claude.home("bin/linchpin", "#!/bin/sh\n");
    assert_snapshot!(claude.changed(&program, &other.display().to_string()), @"
    exit 1
    note  Claude Code: it calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that says this
    bad   Claude Code: a forged `linchpin trust` was not refused; the hook answered null
          is `[BASE]/home/bin/linchpin` this Linchpin?
    ");
}

#[cfg(unix)]
#[test]
fn a_hook_that_cannot_be_called_or_does_not_come_back() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &["--user"]);
    let program = claude.program();
    let other = claude.scratch.home().join("bin/linchpin");
    assert_snapshot!(claude.changed(&program, &other.display().to_string()), @"
    exit 1
    bad   Claude Code: `[BASE]/home/bin/linchpin` cannot be started: No such file or directory (os error 2)
          the agent runs every call unguarded, or refuses it where its hooks fail closed; run `linchpin install claude --user` again
    ");
    claude.home("bin/linchpin", "#!/bin/sh\nsleep 600\n");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    let before = claude.text();
    fs::write(&claude.file, before.replace(&program, &other.display().to_string())).expect("written");
    assert_snapshot!(claude.doubts(), @"
    exit 1
    note  Claude Code: it calls `[BASE]/home/bin/linchpin`, which is not the Linchpin that says this
    bad   Claude Code: `[BASE]/home/bin/linchpin` did not answer within 10 s
          the agent waits for it in vain; run `linchpin install claude --user` again
    ");
}

/// A link in it may lead anywhere, and what its settings name besides need not be anybody's Linchpin.
#[cfg(unix)]
#[test]
fn a_program_that_only_the_project_names_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &[]);
    let program = claude.program();
    claude.home("elsewhere/linchpin", "#!/bin/sh\ntouch ran\n");
    let other = claude.scratch.home().join("elsewhere/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::create_dir_all(claude.scratch.root().join("tools")).expect("a folder");
    std::os::unix::fs::symlink(&other, claude.scratch.root().join("tools/linchpin")).expect("a link");
    assert_snapshot!(claude.changed(&program, &other.display().to_string()), @"
    exit 0
    note  Claude Code: it calls `[BASE]/home/elsewhere/linchpin`, which is not the Linchpin that says this
    note  Claude Code: it was not tried, because the project alone names `[BASE]/home/elsewhere/linchpin`
    ");
    assert_snapshot!(claude.changed(&program, "./tools/linchpin"), @"
    exit 1
    note  Claude Code: it calls `./tools/linchpin`, which is not the Linchpin that says this
    bad   Claude Code: it calls `./tools/linchpin`, which lies in the project, so it was not tried
          who changes the project changes the guard; run `linchpin install claude` again
    ");
    assert!(!claude.scratch.root().join("ran").exists());
}

#[cfg(unix)]
#[test]
fn a_program_of_the_project_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let claude = Hooks::of("claude", &[]);
    let program = claude.program();
    claude.scratch.file("bin/linchpin", "#!/bin/sh\ntouch ran\n");
    let other = claude.scratch.root().join("bin/linchpin");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a mode");
    assert_snapshot!(claude.changed(&program, &other.display().to_string()), @"
    exit 1
    note  Claude Code: it calls `[BASE]/project/bin/linchpin`, which is not the Linchpin that says this
    bad   Claude Code: it calls `[BASE]/project/bin/linchpin`, which lies in the project, so it was not tried
          who changes the project changes the guard; run `linchpin install claude` again
    ");
    assert!(!claude.scratch.root().join("ran").exists());
}

#[test]
fn a_hook_that_is_not_waited_for() {
    let claude = Hooks::of("claude", &[]);
    assert_snapshot!(claude.changed("\"timeout\": 60", "\"timeout\": 1"), @"
    exit 1
    bad   Claude Code: a timeout of 1 s at `PreToolUse`: Linchpin may need 2 s, and the agent goes on without its answer
          run `linchpin install claude` again
    ");
    assert_snapshot!(claude.changed("\"timeout\": 600", "\"timeout\": 30"), @"
    exit 0
    note  Claude Code: a timeout of 30 s at `Stop`, where `install` writes 600 s: what takes longer is not waited for
    ");
    assert_snapshot!(claude.changed("\"timeout\": 60", "\"timeout\": \"long\""), @"
    exit 1
    bad   Claude Code: a `timeout` that is no number at `PreToolUse`, so the agent may pass the hook over
          run `linchpin install claude` again
    ");
    assert_snapshot!(claude.changed("\"timeout\": 60", "\"timeout\": 120"), @"exit 0");
    let gemini = Hooks::of("gemini", &["--user"]);
    assert_snapshot!(gemini.changed("\"timeout\": 60000", "\"timeout\": 60"), @"
    exit 1
    bad   Gemini CLI: a timeout of 0.06 s at `BeforeTool`: Linchpin may need 2 s, and the agent goes on without its answer
          run `linchpin install gemini --user` again
    ");
    // How long that is, the configuration says.
    claude.scratch.config("deadline: 15s\n");
    assert_snapshot!(claude.changed("\"timeout\": 60", "\"timeout\": 12"), @"
    exit 1
    bad   Claude Code: a timeout of 12 s at `PreToolUse`: Linchpin may need 15 s, and the agent goes on without its answer
          run `linchpin install claude` again
    ");
}

#[test]
fn what_all_hooks_have_in_common_is_said_once() {
    let claude = Hooks::of("claude", &[]);
    fs::write(&claude.file, claude.text().replace("\"timeout\": 60 ", "\"timeout\": 0 ")).expect("written");
    assert_snapshot!(claude.doubts(), @"
    exit 1
    bad   Claude Code: a timeout of 0 s at `PreToolUse`, `PermissionRequest`, `PostToolUse`, `PostToolUseFailure`, `UserPromptSubmit`, `SubagentStart`, `TaskCompleted`, `PreCompact`, `PostCompact`, `Notification`, `SessionStart`: Linchpin may need 2 s, and the agent goes on without its answer
          run `linchpin install claude` again
    ");
}

#[test]
fn a_hook_that_is_not_called_for_everything() {
    let claude = Hooks::of("claude", &["--local"]);
    assert_snapshot!(claude.changed("\"matcher\": \"*\"", "\"matcher\": \"Bash\""), @"
    exit 1
    bad   Claude Code: the matcher `Bash` at `PreToolUse`, so what it does not match passes unseen
          run `linchpin install claude --local` again
    ");
    assert_snapshot!(claude.changed("\"matcher\": \"*\"", "\"matcher\": [\"Bash\"]"), @"
    exit 1
    bad   Claude Code: a matcher that is no text at `PreToolUse`, so the agent may pass the hook over
          run `linchpin install claude --local` again
    ");
    assert_snapshot!(claude.changed("\"matcher\": \"*\"", "\"matcher\": \".*\""), @"exit 0");
    assert_snapshot!(claude.changed("\"onFailure\": \"block\"", "\"if\": \"Bash(git *)\""), @r#"
    exit 1
    bad   Claude Code: no `onFailure: "block"` at `PreToolUse`, so calls run where Linchpin cannot be run
          run `linchpin install claude --local` again
    bad   Claude Code: an `if` at `PreToolUse`, so some calls pass unseen
          run `linchpin install claude --local` again
    "#);
    // In a group of somebody else's, which stays as it is.
    let other = r#"{"type": "command", "command": "check.sh"}"#;
    let group = format!("\"matcher\": \"Bash\",\n        \"hooks\": [\n          {other},");
    assert_snapshot!(claude.changed("\"matcher\": \"*\",\n        \"hooks\": [", &group), @"
    exit 1
    bad   Claude Code: the matcher `Bash` at `PreToolUse`, so what it does not match passes unseen
          run `linchpin install claude --local` again
    ");
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.changed("\"timeoutSec\"", "\"matcher\": \"bash\", \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: the matcher `bash` at `PreToolUse`, so what it does not match passes unseen
          run `linchpin install copilot --user` again
    ");
}

#[test]
fn what_else_is_not_as_install_writes_it() {
    let copilot = Hooks::of("copilot", &["--user"]);
    assert_snapshot!(copilot.changed("\"timeoutSec\"", "\"bash\": \"true\", \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: `bash` at `PreToolUse`, which may be run instead of Linchpin
          run `linchpin install copilot --user` again
    ");
    assert_snapshot!(copilot.changed("\"timeoutSec\"", "\"env\": {\"HOME\": \"/\"}, \"timeoutSec\""), @"
    exit 1
    bad   Copilot CLI: `env` at `PreToolUse`, which `install` does not write: what comes of it is not known
          run `linchpin install copilot --user` again
    ");
    let cursor = Hooks::of("cursor", &["--user"]);
    assert_snapshot!(cursor.changed("\"failClosed\": true", "\"failClosed\": false"), @"
    exit 1
    bad   Cursor: no `failClosed: true` at `preToolUse`, so calls run where Linchpin cannot be run
          run `linchpin install cursor --user` again
    ");
    assert_snapshot!(cursor.changed("\"loop_limit\": null", "\"loop_limit\": 1"), @"
    exit 1
    bad   Cursor: no `loop_limit: null` at `stop`, so the agent ends by itself that a stop is held
          run `linchpin install cursor --user` again
    ");
    let shared = Hooks::of("claude", &[]);
    assert_snapshot!(shared.changed("\"timeout\": 600", "\"timeout\": 600, \"onFailure\": \"block\""), @"
    exit 0
    note  Claude Code: `onFailure` at `Stop`, which locks out everyone who has no Linchpin
    ");
    let gemini = Hooks::of("gemini", &["--user"]);
    assert_snapshot!(gemini.changed("\"name\": \"linchpin\"", "\"name\": \"other\""), @r#"
    exit 1
    bad   Gemini CLI: no `name: "linchpin"` at `BeforeTool`, so `hooksConfig.disabled` may switch it off unnoticed
          run `linchpin install gemini --user` again
    "#);
    assert_snapshot!(gemini.changed("\"hooks\": {\n", "\"hooks\": {\n    \"BeforeModel\": {},\n"), @"
    exit 1
    bad   Gemini CLI: `hooks.BeforeModel` is no list, so the file may not be read
          change it in [BASE]/home/.gemini/settings.json
    ");
    let codex = Hooks::of("codex", &[]);
    let program = codex.program();
    let exec = format!("\"command\": \"{}\", \"args\": [\"hook\", \"codex\"]", program.trim_matches('\''));
    assert_snapshot!(codex.changed(&format!("\"command\": \"{program} hook codex\""), &exec), @"
    exit 1
    bad   Codex CLI: `args` at `PreToolUse`, which Codex CLI does not know, so it calls Linchpin without them
          run `linchpin install codex` again
    note  Codex CLI: it runs hooks only after you accept them, and again after every change, but [BASE]/home/.codex/config.toml names none of these hooks: open Codex and type /hooks
    ");
}

#[test]
fn a_hook_that_stands_twice_in_a_file() {
    let antigravity = Hooks::of("antigravity", &[]);
    let text = antigravity.text();
    let stop =
        text.split("\"Stop\": [").nth(1).expect("an event").split(']').next().expect("its hooks").trim().to_owned();
    assert_snapshot!(antigravity.changed(&stop, &format!("{stop}, {stop}")), @"
    exit 0
    note  Antigravity: more than one hook at `Stop` in [BASE]/project/.agents/hooks.json, so it may call Linchpin that often for each event
    ");
}

#[test]
fn a_plugin_that_somebody_changed() {
    let user = Hooks::of("opencode", &["--user"]);
    assert_snapshot!(user.changed("FAIL_CLOSED = true", "FAIL_CLOSED = false"), @"
    exit 1
    bad   OpenCode: the plugin lets calls run where Linchpin cannot be run
          run `linchpin install opencode --user` again
    ");
    assert_snapshot!(user.changed("throw new Error(answer.refuse)", ""), @"
    exit 1
    bad   OpenCode: the plugin is not the one that this Linchpin writes, so what it does is not known
          run `linchpin install opencode --user` again
    ");
    assert_snapshot!(user.changed("const PROGRAM", "const  PROGRAM"), @"
    exit 1
    bad   OpenCode: the plugin is not the one that this Linchpin writes, so what it does is not known
          run `linchpin install opencode --user` again
    bad   no agent calls Linchpin for this project
          `linchpin install AGENT`, or `linchpin init` for those that are found
    ");
    let project = Hooks::of("opencode", &[]);
    assert_snapshot!(project.changed("FAIL_CLOSED = false", "FAIL_CLOSED = true"), @"
    exit 0
    note  OpenCode: the plugin locks out everyone who has no Linchpin
    ");
    assert_snapshot!(project.changed("// Written by", "// Once written by"), @"
    exit 1
    bad   OpenCode: a plugin lies where Linchpin's should, and is not the one that `install` writes
          change it in [BASE]/project/.opencode/plugins/linchpin.js
    bad   no agent calls Linchpin for this project
          `linchpin install AGENT`, or `linchpin init` for those that are found
    ");
}
