//! `cargo xtask generate`: the parts of the documentation that the code itself knows best.
//!
//! They are checked in, so that people can read them; `--check` fails where one is stale.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{Program, cargo};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Write,
    Check,
}

const COMMANDS: &[&[&str]] = &[
    &[],
    &["init"],
    &["install"],
    &["uninstall"],
    &["doctor"],
    &["trust"],
    &["demo"],
    &["hook"],
    &["ack"],
    &["allow"],
    &["pause"],
    &["resume"],
    &["validate"],
    &["explain"],
    &["explain", "event"],
    &["explain", "last"],
    &["explain", "command"],
    &["explain", "pattern"],
    &["explain", "when"],
    &["replay"],
    &["log"],
    &["log", "prune"],
    &["rules"],
    &["rules", "new"],
    &["rules", "edit"],
    &["rules", "enable"],
    &["rules", "disable"],
    &["rules", "delete"],
    &["rules", "import"],
    &["rules", "export"],
    &["rules", "propose"],
    &["rules", "accept"],
    &["status"],
];

pub fn run(mode: Mode) -> Result<()> {
    let files = [("docs/reference/commands.md", commands()?), ("docs/reference/bundled-rules.md", bundled_rules()?)];
    let mut stale = Vec::new();
    for (path, text) in files {
        if fs::read_to_string(path).is_ok_and(|current| current == text) {
            continue;
        }
        match mode {
            Mode::Check => stale.push(path),
            Mode::Write => {
                let folder = Path::new(path).parent().context("a generated file lies in a folder")?;
                fs::create_dir_all(folder)?;
                fs::write(path, text)?;
            }
        }
    }
    if !stale.is_empty() {
        bail!("stale: {}; `cargo xtask generate` makes them anew", stale.join(", "));
    }
    Ok(())
}

fn commands() -> Result<String> {
    cargo(&["build", "--quiet", "--package", "linchpin"]).run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let binary = format!("{target}/debug/linchpin");
    let mut text = String::from("# Commands\n\n<!-- Made by `cargo xtask generate`. -->\n");
    for command in COMMANDS {
        let mut arguments = command.to_vec();
        // `hook` takes no options: it is answered before the argument parser.
        if command == &["hook"] {
            text.push_str("\n## `linchpin hook`\n\n```text\nUsage: linchpin hook <AGENT> < EVENT\n```\n");
            continue;
        }
        arguments.push("--help");
        let help = Program::new(&binary, &arguments).env("COLUMNS", "100").output()?;
        let name = [&["linchpin"], *command].concat().join(" ");
        let help: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n"))?;
    }
    Ok(text)
}

fn bundled_rules() -> Result<String> {
    let mut text = String::from(
        "# Bundled rules\n\n<!-- Made by `cargo xtask generate`. -->\n\nOrdinary rules, embedded in the binary. \
         `linchpin init` names them in `config.yml`; the locked ones are in force wherever there is a policy.\n",
    );
    for rule in policy::bundled_rules() {
        write!(text, "\n## `{}`\n\n```markdown\n{}\n```\n", rule.id, rule.text.trim_end())?;
    }
    Ok(text)
}
