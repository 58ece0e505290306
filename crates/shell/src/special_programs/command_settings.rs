//! Settings and variables whose value is a command: `git -c core.pager=…`, `GIT_EDITOR=…`, `ssh -o ProxyCommand=…`.

use std::borrow::Cow;

/// Returns the command in a setting of a program, `name=value`.
pub(crate) fn command_of_setting<'s>(program: &str, setting: &'s str) -> Option<Cow<'s, str>> {
    if program == "cargo" {
        return cargo_command(setting).map(Cow::Owned);
    }
    plain_command_of_setting(program, setting).map(Cow::Borrowed)
}

/// Returns the command in a setting of cargo, which is a list of words or a string:
/// `target.x.runner=["program", "argument"]`.
fn cargo_command(setting: &str) -> Option<String> {
    const COMMANDS: &[&str] = &["runner", "linker", "rustc", "rustdoc", "rustc-wrapper", "rustc-workspace-wrapper"];
    let (name, value) = setting.split_once('=')?;
    let is_command = COMMANDS.contains(&name.trim().rsplit('.').next()?);
    is_command.then(|| value.trim().trim_matches(['[', ']']).replace([',', '"', '\''], " ").trim().to_owned())
}

fn plain_command_of_setting<'s>(program: &str, setting: &'s str) -> Option<&'s str> {
    if matches!(program, "gdb" | "lldb") {
        let setting = setting.trim_start();
        let names = ["shell ", "platform shell ", "!", "make ", "pipe "];
        return names.iter().find_map(|name| setting.strip_prefix(name));
    }
    // In `gh alias set`, the setting is the value of an alias. If the value begins with `!`, the rest of it is a shell
    // command.
    if program == "gh" {
        return setting.strip_prefix('!');
    }
    if program == "socat" {
        let (kind, command) = setting.split_once(':')?;
        let command = command.split(',').next();
        return command.filter(|_| matches!(kind.to_ascii_uppercase().as_str(), "EXEC" | "SYSTEM" | "SHELL"));
    }
    let is_ssh = matches!(program, "ssh" | "scp" | "sftp");
    let (name, value) = setting.split_once(if is_ssh { &['=', ' '][..] } else { &['='] })?;
    let name = name.to_ascii_lowercase();
    match program {
        "git" => git_command(&name, value),
        "npm" => name.starts_with("scripts.").then_some(value),
        "systemd-run" => name.starts_with("exec").then(|| value.trim_start_matches(['-', '@', ':', '+', '!'])),
        "tar" | "bsdtar" | "gtar" => (name == "exec").then_some(value),
        "ssh" | "scp" | "sftp" => {
            matches!(name.as_str(), "proxycommand" | "localcommand" | "knownhostscommand").then_some(value)
        }
        _ => None,
    }
}

fn git_command<'s>(name: &str, value: &'s str) -> Option<&'s str> {
    let (section, rest) = name.split_once('.')?;
    // The subsection, between the section and the key, may contain dots: `credential.https://example.com.helper`.
    let (subsection, key) = rest.rsplit_once('.').map_or((None, rest), |(subsection, key)| (Some(subsection), key));
    let is_command = match (section, key) {
        ("pager", _)
        | ("core", "pager" | "editor" | "sshcommand" | "askpass" | "fsmonitor" | "gitproxy" | "alternaterefscommand")
        | ("sequence", "editor")
        | ("diff", "external")
        | ("gpg", "program" | "defaultkeycommand")
        | ("interactive", "difffilter")
        | ("credential", "helper")
        | ("imap", "tunnel")
        | ("gc", "recentobjectshook")
        | ("sendemail", "sendmailcmd" | "tocmd" | "cccmd" | "headercmd")
        | ("uploadpack", "packobjectshook") => true,
        ("submodule", "update") => value.starts_with('!'),
        (
            _,
            "cmd" | "textconv" | "clean" | "smudge" | "process" | "driver" | "program" | "command" | "uploadpack"
            | "receivepack",
        ) => subsection.is_some(),
        _ => false,
    };
    // A boolean is not a command: `core.fsmonitor=true`.
    let is_flag = matches!(value, "" | "true" | "false" | "yes" | "no" | "cat");
    if is_command && !is_flag {
        return Some(value.strip_prefix('!').unwrap_or(value));
    }
    name.starts_with("alias.").then(|| value.strip_prefix('!')).flatten()
}

/// Commands of a debugger or editor may contain code in a language other than shell. Returns the interpreter and the
/// code: `gdb -ex 'python …'`.
pub(crate) fn code_of_setting<'s>(program: &str, setting: &'s str) -> Option<(&'static str, &'s str)> {
    const DEBUGGERS: &[(&str, &str)] =
        &[("python", "python3"), ("py", "python3"), ("script", "python3"), ("python-interactive", "python3")];
    const EDITORS: &[(&str, &str)] = &[
        ("lua", "lua"),
        ("py", "python3"),
        ("py3", "python3"),
        ("python", "python3"),
        ("python3", "python3"),
        ("pythonx", "python3"),
        ("pyx", "python3"),
        ("ruby", "ruby"),
        ("rub", "ruby"),
        ("perl", "perl"),
        ("pe", "perl"),
    ];
    let names = if matches!(program, "gdb" | "lldb") { DEBUGGERS } else { EDITORS };
    let (name, code) = setting.trim_start_matches([':', ' ']).split_once(' ')?;
    names.iter().find(|(known, _)| *known == name).map(|(_, language)| (*language, code))
}

/// Returns the command that `mvn exec:exec` runs: `-Dexec.executable=program -Dexec.args=words`.
pub(crate) fn command_of_properties<'s>(properties: impl Iterator<Item = &'s str>) -> Option<String> {
    let properties: Vec<(&str, &str)> = properties.filter_map(|property| property.split_once('=')).collect();
    let value = |names: &[&str]| properties.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value);
    let program = value(&["exec.executable"])?;
    Some(format!("{program} {}", value(&["exec.args", "exec.commandlineArgs"]).unwrap_or_default()))
}

/// Returns the name and the value of an alias: `alias.NAME=value`.
pub(crate) fn git_alias(setting: &str) -> Option<(&str, &str)> {
    let (name, value) = setting.split_once('=')?;
    let (section, name) = name.split_once('.')?;
    section.eq_ignore_ascii_case("alias").then_some((name, value))
}

/// True if programs run the value of this environment variable.
pub(crate) fn is_command_variable(name: &str) -> bool {
    let is_runner = name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"));
    is_runner
        || matches!(
            name,
            "GIT_EDITOR"
                | "GIT_SEQUENCE_EDITOR"
                | "EDITOR"
                | "VISUAL"
                | "GIT_SSH_COMMAND"
                | "GIT_SSH"
                | "GIT_PAGER"
                | "PAGER"
                | "MANPAGER"
                | "GIT_EXTERNAL_DIFF"
                | "GIT_ASKPASS"
                | "SSH_ASKPASS"
                | "SUDO_ASKPASS"
                | "GIT_PROXY_COMMAND"
                | "LESSOPEN"
                | "LESSCLOSE"
                | "PROMPT_COMMAND"
                | "BROWSER"
                | "RSYNC_RSH"
                | "CVS_RSH"
                | "FCEDIT"
                | "RUSTC_WRAPPER"
                | "RUSTC_WORKSPACE_WRAPPER"
        )
}
