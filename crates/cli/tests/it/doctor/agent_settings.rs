//! `linchpin doctor`: agents' settings that switch hooks off or cannot be read, and projects that an agent does not
//! trust.

use std::fs;

use insta::assert_snapshot;

use super::{Hooks, problems};
use crate::project;

#[test]
fn hooks_switched_off_in_copilots_settings_are_reported() {
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
            Some(path) => copilot.write_in_home(path, off),
            None => drop(copilot.project.file(file.trim_start_matches("project/"), off)),
        }
        let expected = "bad   Copilot CLI: `disableAllHooks` is on, so Copilot calls no hooks";
        assert_eq!(copilot.problems(), format!("exit 1\n{expected}\n      change it in [BASE]/{file}"));
    }
    let copilot = Hooks::of("copilot", &["--user"]);
    copilot.project.file(".github/copilot/settings.json", "{ \"disableAllHooks\": true");
    assert_snapshot!(copilot.problems(), @"
    exit 1
    bad   Copilot CLI: [BASE]/project/.github/copilot/settings.json:1:1: not valid JSON: unterminated object
          Linchpin can't tell whether the file switches hooks off; fix the file
    ");
}

#[test]
fn folders_that_gemini_does_not_trust_are_reported() {
    let gemini = Hooks::of("gemini", &[]);
    let root = gemini.project.root();
    let parent = root.parent().expect("a directory").display().to_string();
    let root = root.display().to_string();
    let problems_with = |rules: &str| {
        gemini.write_in_home(".gemini/trustedFolders.json", rules);
        gemini.problems()
    };
    let trusted = "exit 0\n";
    assert_eq!(problems_with(&format!("{{\"{root}\": \"TRUST_FOLDER\"}}")), trusted);
    assert_eq!(problems_with(&format!("{{\"{root}/\": \"TRUST_FOLDER\"}}")), trusted);
    assert_eq!(problems_with(&format!("{{\n  // all\n  \"{parent}\": \"TRUST_FOLDER\"\n}}")), trusted);
    assert_eq!(problems_with(&format!("{{\"{parent}/other\": \"TRUST_PARENT\"}}")), trusted);
    // If several paths in `trustedFolders.json` match the project, the longest one decides.
    assert_eq!(problems_with(&format!("{{\"{parent}\": \"DO_NOT_TRUST\", \"{root}\": \"TRUST_FOLDER\"}}")), trusted);
    assert_snapshot!(problems_with(&format!("{{\"{parent}\": \"TRUST_FOLDER\", \"{root}\": \"DO_NOT_TRUST\"}}")), @"
    exit 1
    bad   Gemini CLI: `[BASE]/project` is not trusted, so if folder trust is on, it does not read the project's hooks
          change it in [BASE]/home/.gemini/trustedFolders.json
    ");
    assert_snapshot!(problems_with(&format!("{{\"{parent}\": \"DO_NOT_TRUST\"}}")), @"
    exit 1
    bad   Gemini CLI: `[BASE]` is not trusted, so if folder trust is on, it does not read the project's hooks
          change it in [BASE]/home/.gemini/trustedFolders.json
    ");
    // These paths are similar to the project's path, but do not apply to the project.
    let others = format!(
        "{{\"{root}-other\": \"TRUST_FOLDER\", \"/x{root}\": \"TRUST_FOLDER\", \"{root}/sub\": \"DO_NOT_TRUST\", \
         \"\": \"TRUST_FOLDER\", \"other\": \"TRUST_PARENT\"}}"
    );
    assert_snapshot!(problems_with(&others), @"
    exit 0
    note  Gemini CLI: if folder trust is on, it reads a project's settings only in folders that you trust. [BASE]/home/.gemini/trustedFolders.json lists neither this folder nor a parent folder: open Gemini CLI there once
    ");
    assert_snapshot!(problems_with("{\n  \"/a\": \"TRUST\"\n}"), @"
    exit 1
    bad   Gemini CLI: [BASE]/home/.gemini/trustedFolders.json:2:9: `/a` is neither `TRUST_FOLDER`, `TRUST_PARENT` nor `DO_NOT_TRUST`
          the agent might not start, or might not run the hooks; fix the file
    ");
    assert_snapshot!(problems_with("{ \"/a\""), @"
    exit 1
    bad   Gemini CLI: [BASE]/home/.gemini/trustedFolders.json:1:7: not valid JSON: expected colon after the string or word in object property
          the agent might not start, or might not run the hooks; fix the file
    ");
}

#[test]
fn user_hooks_need_no_trusted_folder() {
    let gemini = Hooks::of("gemini", &["--user"]);
    gemini.write_in_home(
        ".gemini/trustedFolders.json",
        &format!("{{\"{}\": \"DO_NOT_TRUST\"}}", gemini.project.root().display()),
    );
    assert_eq!(gemini.problems(), "exit 0\n");
}

#[test]
fn folders_that_copilot_does_not_trust_are_reported() {
    let copilot = Hooks::of("copilot", &[]);
    let root = copilot.project.root().display().to_string();
    let parent = copilot.project.root().parent().expect("a directory").display().to_string();
    for list in ["trustedFolders", "trusted_folders"] {
        for folder in [&root, &parent] {
            copilot
                .write_in_home(".copilot/config.json", &format!("// managed\n{{\"{list}\": [\"/a\", \"{folder}\"]}}"));
            assert_eq!(copilot.problems(), "exit 0\n", "{list} {folder}");
        }
    }
    copilot.write_in_home(
        ".copilot/config.json",
        &format!("{{\"trustedFolders\": [\"{root}-other\", \"\", \".\"], \"recent\": \"{root}\"}}"),
    );
    assert_snapshot!(copilot.problems(), @"
    exit 0
    note  Copilot CLI: in headless mode it reads a project's hooks only if you trust the folder. [BASE]/home/.copilot/config.json lists neither this folder nor a parent folder: open Copilot once in that folder
    ");
}

#[test]
fn an_unreadable_settings_file_is_reported_once() {
    let copilot = Hooks::of("copilot", &[]);
    copilot.write_in_home(".copilot/config.json", "{ \"trustedFolders\": [");
    assert_snapshot!(copilot.problems(), @"
    exit 1
    bad   Copilot CLI: [BASE]/home/.copilot/config.json:1:21: not valid JSON: unterminated array
          Linchpin can't tell whether the file switches hooks off; fix the file
    ");
    let codex = Hooks::of("codex", &[]);
    fs::create_dir_all(codex.project.home().join(".codex/config.toml")).expect("a directory");
    assert_snapshot!(codex.problems(), @"
    exit 1
    bad   Codex CLI: [BASE]/home/.codex/config.toml is not a file
          Linchpin can't tell whether the file switches hooks off; fix the file
    ");
}

#[test]
fn hooks_that_codex_did_not_accept_are_reported() {
    let codex = Hooks::of("codex", &[]);
    let hooks = codex.file.display().to_string();
    let problems_with = |config: &str| {
        codex.write_in_home(".codex/config.toml", config);
        codex.problems()
    };
    assert_eq!(
        problems_with(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n")),
        "exit 0\n"
    );
    assert_snapshot!(problems_with(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\nenabled = false\n")), @"
    exit 1
    bad   Codex CLI: some of the hooks are switched off, so it does not call them
          change it in [BASE]/home/.codex/config.toml
    ");
    assert_snapshot!(problems_with(&format!("# {hooks}\n[hooks.state.\"/x{hooks}:pre_tool_use:0:0\"]\n")), @"
    exit 1
    bad   Codex CLI: it runs a hook only after you accept it, and you must accept it again after every change. [BASE]/home/.codex/config.toml lists none of these hooks as accepted: open Codex and type /hooks
          until then, the agent calls none of these hooks
    ");
    codex.project.file(".codex/config.toml", "[features]\nhooks = false\n");
    assert_snapshot!(problems_with(&format!("[hooks.state.\"{hooks}:pre_tool_use:0:0\"]\n")), @"
    exit 1
    bad   Codex CLI: hooks are switched off
          change it in [BASE]/project/.codex/config.toml
    ");
}

#[test]
fn settings_problems_count_only_with_linchpins_hooks() {
    let settings = [
        ("codex", ".codex/hooks.json", "{\"version\": 1}"),
        ("codex", ".codex/hooks.json", "{\"hooks\": {\"Stop\": {}}}"),
        ("antigravity", ".gemini/config/hooks.json", "{\"hooks\": {\"enabled\": false}}"),
    ];
    for (agent, file, content) in settings {
        let hooks = Hooks::of(agent, &[]);
        let before = hooks.problems();
        hooks.write_in_home(file, content);
        assert_eq!(hooks.problems(), before, "{content}");
    }
    let antigravity = Hooks::of("antigravity", &[]);
    assert_snapshot!(antigravity.problems_after_change("\"hooks\": {", "\"hooks\": {\n    \"enabled\": false,"), @"
    exit 1
    bad   Antigravity: `hooks.enabled` is off, so Antigravity calls no hooks
          change it in [BASE]/project/.agents/hooks.json
    ");
}

#[test]
fn unreadable_settings_are_reported() {
    let gemini = project();
    gemini.file(".gemini/settings.json", "{\n  \"hooks\": {\n");
    assert_snapshot!(problems(&gemini), @"
    exit 1
    bad   Gemini CLI: [BASE]/project/.gemini/settings.json:2:12: not valid JSON: unterminated object
          the agent might not read its hooks from this file; fix the file
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    ");
    gemini.file(".gemini/settings.json", b"{\"hooks\": \"\xff\"}");
    assert_snapshot!(problems(&gemini), @"
    exit 1
    bad   Gemini CLI: [BASE]/project/.gemini/settings.json cannot be read: stream did not contain valid UTF-8
          the agent might not read its hooks from this file; fix the file
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    ");
    let codex = project();
    fs::create_dir_all(codex.root().join(".codex/hooks.json")).expect("a directory");
    assert_snapshot!(problems(&codex), @"
    exit 1
    bad   Codex CLI: [BASE]/project/.codex/hooks.json is not a file
          the agent might not read its hooks from this file; fix the file
    bad   no agent has Linchpin's hooks for this project
          run `linchpin install AGENT`, or `linchpin init` for all agents that it finds
    ");
    // Unreadable settings in the home directory are an error only if the agent that they belong to has Linchpin's
    // hooks.
    let claude = Hooks::of("claude", &[]);
    claude.write_in_home(".gemini/settings.json", "{");
    assert_snapshot!(claude.problems(), @"
    exit 0
    note  Gemini CLI: [BASE]/home/.gemini/settings.json:1:1: not valid JSON: unterminated object
          the agent might not read its hooks from this file; fix the file
    ");
    claude.write_in_home(".claude/settings.json", "[]");
    assert_snapshot!(claude.problems(), @"
    exit 1
    bad   Claude Code: [BASE]/home/.claude/settings.json:1:1: settings must be an object
          the agent might not read its hooks from this file; fix the file
    note  Gemini CLI: [BASE]/home/.gemini/settings.json:1:1: not valid JSON: unterminated object
          the agent might not read its hooks from this file; fix the file
    ");
}
