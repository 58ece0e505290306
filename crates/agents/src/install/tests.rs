use std::fs;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::{Installed, SettingsError, SettingsScope, install, remove, settings_path, uninstall, write};
use crate::Agent;

const PROGRAM: &str = "/usr/local/bin/linchpin";

/// Settings that are formatted in various unusual ways.
const SETTINGS: [&str; 24] = [
    "{}",
    "{ }\n",
    "{\n}\n",
    "{\n  // nothing yet\n}\n",
    "\u{FEFF}{\n  \"model\": \"opus\"\n}\n",
    "{\"model\":\"opus\"}",
    "{ \"model\": \"opus\" }",
    "{\n  \"model\": \"opus\",\n}\n",
    "{\n  \"model\": \"opus\" // the large one   \n}\n",
    "{\n  \"model\": \"opus\", // the large one\n  // more to come\n}\n",
    "{\r\n\t\"model\": \"opus\" // large\r\n}\r\n",
    "{\r\n    \"hooks\": {}\r\n}\r\n",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": { /* none */ }\n}\n",
    "{\"hooks\":{\"PreToolUse\":[]}}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [ ],\n    \"Stop\": [\n    ]\n  }\n}\n",
    "{\n   \"hooks\": {\n      \"PreToolUse\": [\n         {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"check.sh\"}]}\n      ]\n   },\n   \"model\": \"opus\"\n}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]}, /* last */\n    ],\n    // stop\n    \"Stop\": [{\"hooks\": []}]  ,\n  }, // end of hooks\n}\n",
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]}],\"Other\":5}}\n\n\n",
    "// settings\n{\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]}\n}\n// end",
    "\n\n{\n\n  \"a\": 1\n\n\n}",
    "{\n  \"a\": 1\n  ,\n  \"b\": 2\n  ,\n}",
    "{\n        \"deep\": {\n                \"hooks\": [{\"command\": \"linchpin hook claude\"}]\n        }\n}\n",
    "{\"ünï\":\"…\" /* ✓ */ }",
];

/// Inspects settings of a project, with a deadline of two seconds.
fn inspect(agent: Agent, text: &str) -> Result<Installed, SettingsError> {
    super::inspect(agent, SettingsScope::Project, text, Duration::from_secs(2))
}

/// Agents whose hooks are entries in a settings file.
fn with_entries() -> impl Iterator<Item = Agent> {
    Agent::ALL.into_iter().filter(|agent| *agent != Agent::OpenCode)
}

#[test]
fn uninstall_restores_the_original_settings() {
    for agent in with_entries() {
        for scope in SettingsScope::ALL {
            for before in SETTINGS {
                let after = install(agent, scope, Some(before), PROGRAM).unwrap();
                let found = super::inspect(agent, scope, &after, Duration::from_secs(2)).unwrap();
                assert_eq!(found.missing, [""; 0], "{after}");
                assert_eq!(found.differences, [], "{after}");
                assert_eq!(uninstall(agent, &after).unwrap().as_deref(), Some(before), "{after}");
            }
        }
    }
}

#[test]
fn a_second_install_changes_nothing() {
    for agent in with_entries() {
        for before in SETTINGS {
            let once = install(agent, SettingsScope::User, Some(before), PROGRAM).unwrap();
            assert_eq!(install(agent, SettingsScope::User, Some(&once), PROGRAM).unwrap(), once);
        }
    }
}

#[test]
fn a_new_program_or_scope_replaces_the_old_entries() {
    for agent in with_entries() {
        for before in SETTINGS {
            let old = install(agent, SettingsScope::User, Some(before), "/old/place/linchpin").unwrap();
            let new = install(agent, SettingsScope::Project, Some(&old), "linchpin").unwrap();
            assert!(!new.contains("/old/place"), "{new}");
            assert_eq!(new, install(agent, SettingsScope::Project, Some(before), "linchpin").unwrap());
            assert_eq!(uninstall(agent, &new).unwrap().as_deref(), Some(before));
        }
    }
}

#[test]
fn a_file_with_only_linchpins_entries_is_deleted() {
    for agent in Agent::ALL {
        for blank in [None, Some(""), Some(" \n")] {
            let text = install(agent, SettingsScope::Project, blank, PROGRAM).unwrap();
            assert_eq!(uninstall(agent, &text).unwrap(), None);
            assert_eq!(install(agent, SettingsScope::Project, Some(&text), PROGRAM).unwrap(), text);
        }
    }
    // A file to which somebody else has added settings is kept.
    let text = install(Agent::Claude, SettingsScope::Project, None, PROGRAM).unwrap();
    let added = text.replacen('{', "{\n  \"model\": \"opus\",", 1);
    assert_eq!(uninstall(Agent::Claude, &added).unwrap().as_deref(), Some("{\n  \"model\": \"opus\"\n}\n"));
}

#[test]
fn install_writes_readable_settings() {
    insta::assert_snapshot!(
        "claude_project",
        install(Agent::Claude, SettingsScope::Project, None, "linchpin").unwrap()
    );
    insta::assert_snapshot!(
        "codex_project",
        install(Agent::Codex, SettingsScope::Project, None, "/opt/my tools/linchpin").unwrap()
    );
    for agent in [Agent::Gemini, Agent::Antigravity, Agent::Cursor, Agent::Copilot] {
        let name = format!("{}_project", agent.name());
        insta::assert_snapshot!(name, install(agent, SettingsScope::Project, None, "linchpin").unwrap());
    }
    let before = "{\n    // my settings\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"check.sh\"}]}\n        ]\n    }\n}\n";
    insta::assert_snapshot!(
        "claude_user_merged",
        install(Agent::Claude, SettingsScope::User, Some(before), PROGRAM).unwrap()
    );
}

#[test]
fn only_a_module_with_linchpins_first_line_is_linchpins() {
    let agent = Agent::OpenCode;
    let text = install(agent, SettingsScope::Project, None, "/opt/my \"tools\"/linchpin").unwrap();
    let found = inspect(agent, &text).unwrap();
    assert_eq!(found.entries.first().map(|entry| entry.program.as_str()), Some("/opt/my \"tools\"/linchpin"));
    assert_eq!(found.problems, [""; 0]);
    assert!(inspect(agent, &format!("{text}// more\n")).unwrap().differences.len() == 1);
    assert_ne!(text, install(agent, SettingsScope::User, None, "/opt/my \"tools\"/linchpin").unwrap());

    let others = "export default {}\n";
    assert!(install(agent, SettingsScope::Project, Some(others), PROGRAM).is_err());
    assert_eq!(uninstall(agent, others).unwrap().as_deref(), Some(others));
    assert_eq!(inspect(agent, others).unwrap().entries, []);
}

#[test]
fn uninstall_keeps_a_version_of_others() {
    for agent in [Agent::Cursor, Agent::Copilot] {
        for before in [
            "{\"version\": 1}",
            "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
            "{\n  \"hooks\": {},\n  \"version\": 1\n}\n",
        ] {
            let after = install(agent, SettingsScope::Project, Some(before), PROGRAM).unwrap();
            assert_eq!(inspect(agent, &after).unwrap().problems, [""; 0], "{after}");
            assert_eq!(uninstall(agent, &after).unwrap().as_deref(), Some(before), "{after}");
        }
        let without = install(agent, SettingsScope::Project, Some("{}"), PROGRAM).unwrap();
        assert_eq!(inspect(agent, &without).unwrap().problems.len(), 1);
    }
}

#[test]
fn fail_closed_fields_are_never_committed() {
    let project = install(Agent::Claude, SettingsScope::Project, None, PROGRAM).unwrap();
    assert!(!project.contains("onFailure"));
    for scope in [SettingsScope::User, SettingsScope::Local] {
        let own = install(Agent::Claude, scope, None, PROGRAM).unwrap();
        assert_eq!(own.matches("\"onFailure\": \"block\"").count(), 1);
    }
}

#[test]
fn changed_entries_are_reported() {
    let text = r#"{"hooks": {
      "PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "check.sh"},
        {"type": "command", "command": "'/my tools/linchpin' hook claude --x", "async": true, "if": "Bash(git *)"}
      ]}],
      "Setup": [{"hooks": [{"type": "command", "command": "C:\\bin\\linchpin.exe", "args": ["hook", "claude"]}]}],
      "Stop": [{"hooks": [{"type": "command", "command": "linchpin hook codex"}, {"type": "command", "command": "linchpin check"}]}]
    }}"#;
    insta::assert_debug_snapshot!(inspect(Agent::Claude, text).unwrap());
    let without = uninstall(Agent::Claude, text).unwrap().unwrap();
    insta::assert_snapshot!(without, @r#"
    {"hooks": {
          "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "check.sh"}
          ]}],
          "Setup": [],
          "Stop": [{"hooks": [{"type": "command", "command": "linchpin hook codex"}, {"type": "command", "command": "linchpin check"}]}]
        }}
    "#);
    let again = install(Agent::Claude, SettingsScope::Project, Some(text), PROGRAM).unwrap();
    assert!(again.contains("check.sh") && !again.contains("my tools") && !again.contains("linchpin.exe"), "{again}");
}

#[test]
fn calls_within_other_commands_are_found_with_any_quoting() {
    for program in ["linchpin", "/opt/linchpin", "'/a b/é/linchpin'", r"/a\\ b/linchpin"] {
        let text =
            format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"command": "{program} hook claude|cat"}}]}}]}}}}"#);
        let found = inspect(Agent::Claude, &text).unwrap();
        assert_eq!(found.problems.len(), 1, "{program}: {:?}", found.problems);
    }
}

#[test]
fn disabling_settings_are_reported() {
    let claude = install(Agent::Claude, SettingsScope::Project, Some("{\"disableAllHooks\": true}"), PROGRAM).unwrap();
    assert_eq!(
        inspect(Agent::Claude, &claude).unwrap().switches,
        ["`disableAllHooks` is on, so Claude Code calls no hooks"]
    );
    let codex = install(Agent::Codex, SettingsScope::Project, Some("{\"version\": 1}"), PROGRAM).unwrap();
    assert_eq!(
        inspect(Agent::Codex, &codex).unwrap().problems,
        ["Codex rejects the whole file because of the key `version`"]
    );
}

#[test]
fn invalid_settings_are_not_changed() {
    let broken = [
        "{\n  \"a\": 1",
        "{\n  \"a\" 1\n}",
        "[]",
        "{'a': 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\n  \"hooks\": []\n}",
        "{\"hooks\": null}",
        "{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}",
        "{\"hooks\": {},\n \"hooks\": {}}",
        "{\"hooks\": {\"Stop\": [],\n\"Stop\": []}}",
    ];
    let mut errors: Vec<String> = broken
        .iter()
        .map(|text| install(Agent::Claude, SettingsScope::User, Some(text), PROGRAM).unwrap_err().to_string())
        .collect();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    errors.push(install(Agent::Claude, SettingsScope::User, Some(&deep), PROGRAM).unwrap_err().to_string());
    insta::assert_debug_snapshot!(errors);
}

#[test]
fn settings_paths_of_all_agents() {
    let at = |agent, scope, moved: &str| {
        let lookup = |name: &str| {
            (!moved.is_empty()
                && name.ends_with(if agent == Agent::Claude { "CLAUDE_CONFIG_DIR" } else { "CODEX_HOME" }))
            .then(|| moved.to_owned())
        };
        settings_path(agent, scope, Path::new("/p"), Path::new("/home/dev"), lookup)
            .map(|path| path.display().to_string())
    };
    let path = |text: &str| Some(text.to_owned());
    assert_eq!(at(Agent::Claude, SettingsScope::Project, ""), path("/p/.claude/settings.json"));
    assert_eq!(at(Agent::Claude, SettingsScope::Local, ""), path("/p/.claude/settings.local.json"));
    assert_eq!(at(Agent::Claude, SettingsScope::User, ""), path("/home/dev/.claude/settings.json"));
    assert_eq!(at(Agent::Claude, SettingsScope::User, "/c"), path("/c/settings.json"));
    assert_eq!(at(Agent::Codex, SettingsScope::Project, ""), path("/p/.codex/hooks.json"));
    assert_eq!(at(Agent::Codex, SettingsScope::Local, ""), None);
    assert_eq!(at(Agent::Codex, SettingsScope::User, "/c"), path("/c/hooks.json"));
    assert_eq!(at(Agent::Codex, SettingsScope::User, ""), path("/home/dev/.codex/hooks.json"));
}

#[cfg(unix)]
#[test]
fn writing_keeps_symlinks_and_modes() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().join("dotfiles/settings.json");
    let link = directory.path().join("home/.claude/settings.json");
    write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../../dotfiles/settings.json", &link).unwrap();

    write(&link, "new").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(real.parent().unwrap()).unwrap().count(), 1);

    remove(&link).unwrap();
    assert!(!real.exists());
    remove(&real).unwrap();
    // The target of a dangling symlink is created.
    write(&link, "again").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "again");
    let symlink_loop = directory.path().join("symlink_loop");
    symlink("symlink_loop", &symlink_loop).unwrap();
    write(&symlink_loop, "x").unwrap_err();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_is_settings_or_refused(text in r#"([{}\[\]":,/*\n \r\t#]|"hooks"|"Stop"|"command"|"linchpin hook claude"|//|/\*|\*/|true|1|\PC){0,40}"#) {
        for agent in Agent::ALL {
            let _ = inspect(agent, &text);
            let _ = uninstall(agent, &text);
            let _ = install(agent, SettingsScope::User, Some(&text), PROGRAM);
        }
    }

    /// `uninstall` restores settings with random white space, comments, trailing commas and hooks.
    #[test]
    fn uninstall_undoes_install(
        space in proptest::collection::vec(r"( |\t|\n|\r\n|/\*c\*/|//c \n){0,3}", 12),
        groups in proptest::collection::vec(prop_oneof![
            Just(r#"{"hooks":[]}"#),
            Just(r#"{"matcher":"Bash","hooks":[{"type":"command","command":"a"}]}"#),
            Just("5"),
        ], 0..3),
        has_hooks: bool,
        has_other: bool,
        trailing: [bool; 3],
        event in prop_oneof![Just("PreToolUse"), Just("Stop"), Just("Unheard")],
    ) {
        let mut space = space.iter().map(String::as_str).cycle();
        let mut list = |open: &str, items: Vec<String>, trailing: bool, close: &str| {
            let mut next = || space.next().unwrap();
            let count = items.len();
            let mut text = format!("{open}{}", next());
            for (index, item) in items.into_iter().enumerate() {
                text += &item;
                text += next();
                if index + 1 < count || trailing {
                    text += ",";
                    text += next();
                }
            }
            text + close
        };
        let groups = list("[", groups.into_iter().map(str::to_owned).collect(), trailing[0], "]");
        let hooks = list("{", vec![format!("\"{event}\":{groups}")], trailing[1], "}");
        let mut members = Vec::new();
        if has_other {
            members.push("\"model\":\"opus\"".to_owned());
        }
        if has_hooks {
            members.push(format!("\"hooks\":{hooks}"));
        }
        let before = list("{", members, trailing[2], "}");
        for agent in with_entries() {
            let after = install(agent, SettingsScope::Local, Some(&before), PROGRAM).unwrap();
            let back = uninstall(agent, &after).unwrap();
            prop_assert_eq!(back.as_deref(), Some(before.as_str()), "{}", after);
        }
    }
}
