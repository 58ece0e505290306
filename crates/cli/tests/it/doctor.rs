//! `doctor` on hooks that somebody changed, switched off or did not trust: it says what comes of it.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use testkit::Scratch;

use crate::project;

/// A project with an agent's hooks, and the file that they are in.
struct Hooks {
    scratch: Scratch,
    agent: &'static str,
    scope: &'static [&'static str],
    file: PathBuf,
}

impl Hooks {
    fn of(agent: &'static str, scope: &'static [&'static str]) -> Self {
        let scratch = project();
        let arguments: Vec<&str> = ["install", agent, "--json"].into_iter().chain(scope.iter().copied()).collect();
        let reply = scratch.run(&arguments);
        assert_eq!(reply.code, Some(0), "{agent}: {}{}", reply.stdout, reply.stderr);
        let shown = reply.json()["file"].as_str().expect("a file").to_owned();
        let base = scratch.root().parent().expect("a folder").display().to_string();
        let file = PathBuf::from(shown.replace("[BASE]", &base));
        Self { scratch, agent, scope, file }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).expect("settings")
    }

    /// The program that the hooks call, quoted where the settings hold a command line.
    fn program(&self) -> String {
        let text = self.text();
        let command = text.split("\"command\": \"").nth(1).expect("a command");
        let command = command.split('"').next().expect("a command");
        command.split(" hook ").next().expect("a program").to_owned()
    }

    /// What is bad or worth knowing after this change, and that `install` mends what it says it mends.
    fn changed(&self, from: &str, to: &str) -> String {
        let before = self.text();
        assert!(before.contains(from), "{from} is not in {before}");
        fs::write(&self.file, before.replacen(from, to, 1)).expect("written");
        let said = self.doubts();
        if said.contains("` again") {
            let arguments: Vec<&str> = ["install", self.agent].into_iter().chain(self.scope.iter().copied()).collect();
            assert_eq!(self.scratch.run(&arguments).code, Some(0));
            assert!(!self.doubts().contains("` again"), "{}", self.doubts());
        }
        fs::write(&self.file, before).expect("written");
        said
    }

    fn home(&self, file: &str, text: &str) {
        let path = self.scratch.home().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn doubts(&self) -> String {
        doubts(&self.scratch)
    }
}

/// The lines that are not fine, and the exit code.
fn doubts(scratch: &Scratch) -> String {
    let reply = scratch.run(&["doctor"]);
    let fine =
        |line: &&str| line.starts_with("ok ") || line.starts_with("Linchpin ") || line.contains("no journal yet");
    let lines: Vec<&str> = reply.stdout.lines().filter(|line| !line.is_empty() && !fine(line)).collect();
    scratch.shown(&format!("exit {}\n{}", reply.code.unwrap_or(-1), lines.join("\n")))
}

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

#[test]
fn copilots_hooks_are_switched_off_in_its_settings() {
    let off = "{\n  // for now\n  \"disableAllHooks\": true,\n}\n";
    let files = [
        "home/.copilot/settings.json",
        "home/.copilot/config.json",
        "project/.github/copilot/settings.json",
        "project/.github/copilot/settings.local.json",
        "project/.claude/settings.local.json",
    ];
    for file in files {
        let copilot = Hooks::of("copilot", &["--user"]);
        match file.strip_prefix("home/") {
            Some(own) => copilot.home(own, off),
            None => drop(copilot.scratch.file(file.trim_start_matches("project/"), off)),
        }
        let said = "bad   Copilot CLI: `disableAllHooks` is on, so Copilot does not call them";
        assert_eq!(copilot.doubts(), format!("exit 1\n{said}\n      change it in [BASE]/{file}"));
    }
    let copilot = Hooks::of("copilot", &["--user"]);
    copilot.scratch.file(".github/copilot/settings.json", "{ \"disableAllHooks\": true");
    assert_snapshot!(copilot.doubts(), @"
    exit 1
    bad   Copilot CLI: [BASE]/project/.github/copilot/settings.json:1:1: Unterminated object
          whether it switches hooks off cannot be told; mend it
    ");
}

#[test]
fn folders_that_gemini_trusts() {
    let gemini = Hooks::of("gemini", &[]);
    let root = gemini.scratch.root();
    let parent = root.parent().expect("a folder").display().to_string();
    let root = root.display().to_string();
    let said = |rules: &str| {
        gemini.home(".gemini/trustedFolders.json", rules);
        gemini.doubts()
    };
    let trusted = "exit 0\n";
    assert_eq!(said(&format!("{{\"{root}\": \"TRUST_FOLDER\"}}")), trusted);
    assert_eq!(said(&format!("{{\"{root}/\": \"TRUST_FOLDER\"}}")), trusted);
    assert_eq!(said(&format!("{{\n  // all\n  \"{parent}\": \"TRUST_FOLDER\"\n}}")), trusted);
    assert_eq!(said(&format!("{{\"{parent}/other\": \"TRUST_PARENT\"}}")), trusted);
    // The nearer one decides.
    assert_eq!(said(&format!("{{\"{parent}\": \"DO_NOT_TRUST\", \"{root}\": \"TRUST_FOLDER\"}}")), trusted);
    assert_snapshot!(said(&format!("{{\"{parent}\": \"TRUST_FOLDER\", \"{root}\": \"DO_NOT_TRUST\"}}")), @"
    exit 1
    bad   Gemini CLI: `[BASE]/project` is not trusted, so where folder trust is on, it does not read the project's hooks
          change it in [BASE]/home/.gemini/trustedFolders.json
    ");
    assert_snapshot!(said(&format!("{{\"{parent}\": \"DO_NOT_TRUST\"}}")), @"
    exit 1
    bad   Gemini CLI: `[BASE]` is not trusted, so where folder trust is on, it does not read the project's hooks
          change it in [BASE]/home/.gemini/trustedFolders.json
    ");
    // Named, but not meant.
    let others = format!(
        "{{\"{root}-other\": \"TRUST_FOLDER\", \"/x{root}\": \"TRUST_FOLDER\", \"{root}/sub\": \"DO_NOT_TRUST\", \
         \"\": \"TRUST_FOLDER\", \"other\": \"TRUST_PARENT\"}}"
    );
    assert_snapshot!(said(&others), @"
    exit 0
    note  Gemini CLI: where folder trust is on, it reads a project's settings only in folders that you trust, but [BASE]/home/.gemini/trustedFolders.json names neither this folder nor one that it lies in: open Gemini CLI there once
    ");
    assert_snapshot!(said("{\n  \"/a\": \"TRUST\"\n}"), @"
    exit 1
    bad   Gemini CLI: [BASE]/home/.gemini/trustedFolders.json:2:9: `/a` is neither `TRUST_FOLDER`, `TRUST_PARENT` nor `DO_NOT_TRUST`
          the agent may not start, or not run the hooks; mend it
    ");
    assert_snapshot!(said("{ \"/a\""), @"
    exit 1
    bad   Gemini CLI: [BASE]/home/.gemini/trustedFolders.json:1:7: Expected colon after the string or word in object property
          the agent may not start, or not run the hooks; mend it
    ");
}

#[test]
fn a_persons_own_hooks_need_no_trusted_folder() {
    let gemini = Hooks::of("gemini", &["--user"]);
    gemini
        .home(".gemini/trustedFolders.json", &format!("{{\"{}\": \"DO_NOT_TRUST\"}}", gemini.scratch.root().display()));
    assert_eq!(gemini.doubts(), "exit 0\n");
}

#[test]
fn folders_that_copilot_trusts() {
    let copilot = Hooks::of("copilot", &[]);
    let root = copilot.scratch.root().display().to_string();
    let parent = copilot.scratch.root().parent().expect("a folder").display().to_string();
    for list in ["trustedFolders", "trusted_folders"] {
        for folder in [&root, &parent] {
            copilot.home(".copilot/config.json", &format!("// managed\n{{\"{list}\": [\"/a\", \"{folder}\"]}}"));
            assert_eq!(copilot.doubts(), "exit 0\n", "{list} {folder}");
        }
    }
    copilot.home(
        ".copilot/config.json",
        &format!("{{\"trustedFolders\": [\"{root}-other\", \"\", \".\"], \"recent\": \"{root}\"}}"),
    );
    assert_snapshot!(copilot.doubts(), @"
    exit 0
    note  Copilot CLI: headless, it reads a project's hooks only where you trust the folder, but [BASE]/home/.copilot/config.json names neither this folder nor one that it lies in: open Copilot there once
    ");
}

#[test]
fn a_file_that_cannot_be_understood_is_told_once() {
    let copilot = Hooks::of("copilot", &[]);
    copilot.home(".copilot/config.json", "{ \"trustedFolders\": [");
    assert_snapshot!(copilot.doubts(), @"
    exit 1
    bad   Copilot CLI: [BASE]/home/.copilot/config.json:1:21: Unterminated array
          whether it switches hooks off cannot be told; mend it
    ");
    let codex = Hooks::of("codex", &[]);
    fs::create_dir_all(codex.scratch.home().join(".codex/config.toml")).expect("a folder");
    assert_snapshot!(codex.doubts(), @"
    exit 1
    bad   Codex CLI: [BASE]/home/.codex/config.toml is not a file
          whether it switches hooks off cannot be told; mend it
    ");
}

#[test]
fn hooks_that_codex_accepted() {
    let codex = Hooks::of("codex", &[]);
    let hooks = codex.file.display().to_string();
    let said = |config: &str| {
        codex.home(".codex/config.toml", config);
        codex.doubts()
    };
    assert_eq!(said(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n")), "exit 0\n");
    assert_snapshot!(said(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\nenabled = false\n")), @"
    exit 1
    bad   Codex CLI: some of the hooks are switched off, so it does not call them
          change it in [BASE]/home/.codex/config.toml
    ");
    assert_snapshot!(said(&format!("# {hooks}\n[hooks.state.\"/x{hooks}:pre_tool_use:0:0\"]\n")), @"
    exit 0
    note  Codex CLI: it runs hooks only after you accept them, and again after every change, but [BASE]/home/.codex/config.toml names none of these hooks: open Codex and type /hooks
    ");
    codex.scratch.file(".codex/config.toml", "[features]\nhooks = false\n");
    assert_snapshot!(said(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\n")), @"
    exit 1
    bad   Codex CLI: hooks are switched off
          change it in [BASE]/project/.codex/config.toml
    ");
}

#[test]
fn a_fault_counts_where_hooks_of_ours_are() {
    let faults = [
        ("codex", ".codex/hooks.json", "{\"version\": 1}"),
        ("codex", ".codex/hooks.json", "{\"hooks\": {\"Stop\": {}}}"),
        ("antigravity", ".gemini/config/hooks.json", "{\"hooks\": {\"enabled\": false}}"),
    ];
    for (agent, file, fault) in faults {
        let hooks = Hooks::of(agent, &[]);
        let before = hooks.doubts();
        hooks.home(file, fault);
        assert_eq!(hooks.doubts(), before, "{fault}");
    }
    let antigravity = Hooks::of("antigravity", &[]);
    assert_snapshot!(antigravity.changed("\"hooks\": {", "\"hooks\": {\n    \"enabled\": false,"), @"
    exit 1
    bad   Antigravity: `hooks.enabled` is off, so Antigravity calls none of them
          change it in [BASE]/project/.agents/hooks.json
    ");
}

#[test]
fn settings_that_cannot_be_understood() {
    let scratch = project();
    scratch.file(".gemini/settings.json", "{\n  \"hooks\": {\n");
    assert_snapshot!(doubts(&scratch), @"
    exit 1
    bad   Gemini CLI: [BASE]/project/.gemini/settings.json:2:12: Unterminated object
          the agent may not read its hooks from this file; mend it
    bad   no agent calls Linchpin for this project
          `linchpin install AGENT`, or `linchpin init` for those that are found
    ");
    scratch.file(".gemini/settings.json", b"{\"hooks\": \"\xff\"}");
    assert_snapshot!(doubts(&scratch), @"
    exit 1
    bad   Gemini CLI: [BASE]/project/.gemini/settings.json cannot be read: stream did not contain valid UTF-8
          the agent may not read its hooks from this file; mend it
    bad   no agent calls Linchpin for this project
          `linchpin install AGENT`, or `linchpin init` for those that are found
    ");
    let scratch = project();
    fs::create_dir_all(scratch.root().join(".codex/hooks.json")).expect("a folder");
    assert_snapshot!(doubts(&scratch), @"
    exit 1
    bad   Codex CLI: [BASE]/project/.codex/hooks.json is not a file
          the agent may not read its hooks from this file; mend it
    bad   no agent calls Linchpin for this project
          `linchpin install AGENT`, or `linchpin init` for those that are found
    ");
    // Of a person's it is bad only where the agent has hooks.
    let claude = Hooks::of("claude", &[]);
    claude.home(".gemini/settings.json", "{");
    assert_snapshot!(claude.doubts(), @"
    exit 0
    note  Gemini CLI: [BASE]/home/.gemini/settings.json:1:1: Unterminated object
          the agent may not read its hooks from this file; mend it
    ");
    claude.home(".claude/settings.json", "[]");
    assert_snapshot!(claude.doubts(), @"
    exit 1
    bad   Claude Code: [BASE]/home/.claude/settings.json:1:1: settings must be an object
          the agent may not read its hooks from this file; mend it
    note  Gemini CLI: [BASE]/home/.gemini/settings.json:1:1: Unterminated object
          the agent may not read its hooks from this file; mend it
    ");
}

/// What `doctor` says of the journal, and of what is kept beside it.
fn storage(reply: &testkit::Reply) -> String {
    let told = reply.json();
    let checks = told["checks"].as_array().expect("checks").iter();
    let checks =
        checks.filter_map(|check| Some(format!("{}: {}", check["state"].as_str()?, check["message"].as_str()?)));
    checks
        .filter(|check| ["journal", "kept", "ulimit"].iter().any(|word| check.contains(word)))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_journal_that_cannot_be_written_is_no_good_journal() {
    let scratch = project();
    scratch.decision("ls");
    assert_snapshot!(storage(&scratch.run(&["doctor", "--json"])), @"ok: journal at [BASE]/project/.linchpin/state.db");
    let files = || {
        let mut names: Vec<_> = fs::read_dir(scratch.root().join(".linchpin")).expect("a folder").collect();
        names.sort_by_key(|entry| entry.as_ref().map(fs::DirEntry::file_name).ok());
        names.into_iter().filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect::<Vec<_>>()
    };
    let before = files();
    scratch.run(&["doctor"]);
    assert_eq!(files(), before, "doctor leaves nothing behind");
    let holder = rusqlite::Connection::open(scratch.root().join(".linchpin/state.db")).expect("the journal");
    holder.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    assert_snapshot!(storage(&scratch.run(&["doctor", "--json"])), @"bad: the journal is locked by another process");
}

#[test]
fn a_limit_on_files_that_would_have_hooks_killed_is_told() {
    let scratch = project();
    let doctor = scratch.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -f 10; exec \"$0\" doctor --json"]).arg(doctor.get_program());
    shell.current_dir(scratch.root()).env_clear();
    shell.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_snapshot!(storage(&scratch.feed(shell, b"")), @"bad: no file can be written here (`ulimit -f`), and whoever tries is killed");
}

#[cfg(unix)]
fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("a mode");
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            open_to_all(&entry.path());
        } else if kind.is_file() {
            let mode = if entry.path().extension().is_none() { 0o777 } else { 0o666 };
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).expect("a mode");
        }
    }
}

/// The command as a user for whom permissions count. Root may write everywhere, so then it is nobody, with a copy of the
/// program, as its own folder may be closed to others.
#[cfg(unix)]
fn without_root(scratch: &Scratch, arguments: &[&str]) -> std::process::Command {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let command = scratch.command(arguments);
    if scratch.root().metadata().expect("a folder").uid() != 0 {
        return command;
    }
    let base = scratch.root().parent().expect("a folder").to_owned();
    let program = base.join("linchpin");
    if !program.exists() {
        // By another process: what a test beside this one starts would inherit the file while it is written, and keep it busy.
        let copied = std::process::Command::new("cp").arg(command.get_program()).arg(&program).status();
        assert!(copied.expect("a copy").success());
    }
    open_to_all(&base);
    let mut other = std::process::Command::new(&program);
    other.args(arguments).current_dir(scratch.root()).env_clear().uid(NOBODY).gid(NOBODY);
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other
}

#[cfg(unix)]
fn set_mode(folder: &std::path::Path, mode: u32) {
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("a mode");
}

#[test]
#[cfg(unix)]
fn a_read_only_policy_folder_is_told() {
    for has_journal in [true, false] {
        let scratch = project();
        if has_journal {
            scratch.decision("ls");
        }
        let doctor = without_root(&scratch, &["doctor", "--json"]);
        let policy = scratch.root().join(".linchpin");
        set_mode(&policy, 0o555);
        for file in fs::read_dir(&policy).expect("a folder").flatten().filter(|entry| entry.path().is_file()) {
            set_mode(&file.path(), 0o444);
        }
        let reply = scratch.feed(doctor, b"");
        set_mode(&policy, 0o755);
        let told = storage(&reply);
        assert!(told.contains("bad: the journal cannot be written: it is read-only"), "{told}\n{}", reply.transcript());
        assert!(told.contains("so what file rules ask for is kept in "), "{told}");
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_journal_in_a_writable_folder_is_told() {
    let scratch = project();
    scratch.decision("ls");
    let doctor = without_root(&scratch, &["doctor", "--json"]);
    set_mode(&scratch.root().join(".linchpin/state.db"), 0o444);
    let reply = scratch.feed(doctor, b"");
    assert_snapshot!(storage(&reply), @"bad: the journal cannot be written: it is read-only");
}

#[test]
fn a_queue_that_cannot_be_written_is_told() {
    let scratch = project();
    scratch.decision("ls");
    scratch.file(".linchpin/tmp", "in the way\n");
    let told = |reply: testkit::Reply| {
        let lines = reply.stdout.lines().filter(|line| line.contains("file rules") || line.contains("delete it"));
        without_projects(&lines.collect::<Vec<_>>().join("\n"))
    };
    assert_snapshot!(told(scratch.run(&["doctor"])), @"
    note  [BASE]/project/.linchpin/tmp is no folder that can be written in, so what file rules ask for is kept in [BASE]/state/linchpin/projects/[PROJECT]/tmp
          delete it, or make it writable
    ");
    for folder in fs::read_dir(scratch.state().join("projects")).expect("a folder").flatten() {
        fs::write(folder.path().join("tmp"), "in the way\n").expect("a file");
    }
    let reply = scratch.run(&["doctor"]);
    assert_eq!(reply.code, Some(1));
    assert_snapshot!(told(reply), @"
    bad   what file rules ask for cannot be kept in [BASE]/state/linchpin/projects/[PROJECT]/tmp: not a directory
          until it can be written, file rules are skipped when an agent stops
    ");
}

/// Where the user's folder has what belongs to a project, its name is a digest.
fn without_projects(text: &str) -> String {
    let mut parts = text.split("/projects/");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| told + "/projects/[PROJECT]/" + part.split_once('/').map_or("", |(_, rest)| rest))
}

/// A folder with a policy of its own inside of a project with one, as a submodule may be.
fn with_submodule() -> Scratch {
    let scratch = project();
    scratch.rule("outer", crate::NO_DANGER).file("part/.linchpin/rules/inner.md", crate::NO_DANGER);
    scratch.file("part/.linchpin/rules/broken.md", "---\ncommand_patern: x\n---\nNo.\n");
    scratch.file("part/.git", "gitdir: ../.git/modules/part\n");
    scratch
}

fn in_part(scratch: &Scratch, arguments: &[&str]) -> testkit::Reply {
    let mut command = scratch.command(arguments);
    command.current_dir(scratch.root().join("part"));
    scratch.feed(command, b"")
}

#[test]
fn in_a_submodule_both_policies_are_told_of() {
    let scratch = with_submodule();
    scratch.run(&["install", "claude"]);
    assert_snapshot!(in_part(&scratch, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: it begins with the first event
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    note  Claude Code: no hooks in [BASE]/project/part, and it may not read those of a folder above it; `linchpin install claude` there adds them
    --- stderr
    ");
    assert_eq!(in_part(&scratch, &["install", "claude"]).code, Some(0));
    assert_snapshot!(in_part(&scratch, &["doctor"]).transcript(), @"
    exit 1
    --- stdout
    Linchpin 0.1.0, project [BASE]/project
    with the nested policy of [BASE]/project/part

    ok    3 rules in force
    ok    part: 1 rule in force
    bad   part: broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
          `linchpin validate` shows every error
    note  no journal yet: it begins with the first event
    ok    Claude Code: hooks in [BASE]/project/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    ok    Claude Code: hooks in [BASE]/project/part/.claude/settings.json
    ok    Claude Code: a forged `linchpin trust` was refused
    --- stderr
    ");
    // From outside, what is in the folder is not asked about.
    assert_eq!(scratch.run(&["doctor", "--json"]).json()["nested"], serde_json::json!([]));
    assert_snapshot!(in_part(&scratch, &["status"]).transcript(), @"
    exit 0
    --- stdout
    Project [BASE]/project
    Session none yet
    Rules   3 rules in force
      outer                        block  project
      people-only-commands         block  bundled
      protect-guardrails           block  bundled
    Nested  1 rule in force in [BASE]/project/part
      inner                        block  project
      broken, it is not in force: .linchpin/rules/broken.md:2:1: unknown key `command_patern`
    --- stderr
    ");
    let told = in_part(&scratch, &["status", "--json"]).json();
    assert_eq!(told["nested"][0]["rules"][0]["rule"], "inner", "{told}");
}

#[test]
fn hooks_in_a_submodule_are_found_from_there() {
    let scratch = with_submodule();
    assert_eq!(in_part(&scratch, &["install", "claude"]).code, Some(0));
    let told = in_part(&scratch, &["doctor", "--json"]).json()["checks"].to_string();
    assert!(!told.contains("no agent calls Linchpin"), "{told}");
}
