//! `cargo xtask generate`: writes the reference pages, man pages and schemas that are generated from the code.
//!
//! The generated files are checked in; `--check` fails if one is out of date. Pages about commands are generated from
//! the binary's argument definitions, schemas from the tables that the policy readers use.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Command;
use clap::error::ErrorKind;
use clap_mangen::Man;

use crate::arguments;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerateMode {
    Write,
    Check,
}

/// Directories that contain only generated files.
const DIRECTORIES: [&str; 2] = ["man", "schemas"];

pub fn run(mode: GenerateMode) -> Result<()> {
    let files = files()?;
    let mut stale = Vec::new();
    for (path, text) in &files {
        if fs::read_to_string(path).is_ok_and(|current| current == *text) {
            continue;
        }
        stale.push(path.clone());
        if mode == GenerateMode::Write {
            let directory = Path::new(path).parent().context("a generated file lies in a directory")?;
            fs::create_dir_all(directory)?;
            fs::write(path, text)?;
        }
    }
    for path in obsolete_files(&files) {
        if mode == GenerateMode::Write {
            fs::remove_file(&path)?;
        }
        stale.push(path);
    }
    if mode == GenerateMode::Check && !stale.is_empty() {
        bail!("out of date: {}; run `cargo xtask generate`", stale.join(", "));
    }
    Ok(())
}

/// Returns the contents of every generated file, by path.
fn files() -> Result<BTreeMap<String, String>> {
    let mut command = arguments::help::command(Some(100));
    command.build();
    let mut files = BTreeMap::from([
        ("docs/reference/commands.md".to_owned(), commands_page(&command)?),
        ("docs/reference/bundled-rules.md".to_owned(), bundled_rules_page()?),
        ("docs/reference/keys.md".to_owned(), policy::key_reference()),
        ("docs/reference/agents.md".to_owned(), agents::capability_table::reference()),
    ]);
    for (name, schema) in policy::schemas() {
        files.insert(format!("schemas/{name}.json"), format!("{}\n", serde_json::to_string_pretty(&schema)?));
    }
    for command in with_subcommands(&command) {
        files.insert(format!("man/{}.1", page_name(command)), man_page(command)?);
    }
    Ok(files)
}

/// Returns files in the generated directories that this task does not generate, such as those that an earlier version
/// of it wrote.
fn obsolete_files(files: &BTreeMap<String, String>) -> Vec<String> {
    let entries = DIRECTORIES.into_iter().filter_map(|directory| Some((directory, fs::read_dir(directory).ok()?)));
    let paths = entries.flat_map(|(directory, entries)| {
        entries.filter_map(move |entry| Some(format!("{directory}/{}", entry.ok()?.file_name().to_string_lossy())))
    });
    paths.filter(|path| !files.contains_key(path)).collect()
}

/// Returns a command and all of its visible subcommands.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set()).flat_map(with_subcommands);
    std::iter::once(command).chain(subcommands).collect()
}

fn commands_page(command: &Command) -> Result<String> {
    let mut text = String::from("# Commands\n\n<!-- Made by `cargo xtask generate`. -->\n");
    for command in with_subcommands(command) {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let help = help_text(name)?;
        let help: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n"))?;
    }
    Ok(text)
}

/// Returns the output of `--help`, as the argument parser formats it.
fn help_text(name: &str) -> Result<String> {
    let words = name.split(' ').chain(["--help"]);
    match arguments::help::command(Some(100)).try_get_matches_from(words) {
        Err(help) if help.kind() == ErrorKind::DisplayHelp => Ok(help.to_string()),
        _ => bail!("`{name} --help` shows no help"),
    }
}

/// Returns the name of a command's man page, such as `linchpin-rules-new`.
fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn man_page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    // Sets an empty date, so that the same definitions always yield the same page. Without the quotes, `man` would read
    // the next field as the date.
    let man = Man::new(command.clone()).title(page_name(command)).date("\"\"");
    man.source(concat!("linchpin ", env!("CARGO_PKG_VERSION"))).manual("Linchpin").render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

fn bundled_rules_page() -> Result<String> {
    let mut text = String::from(
        "# Bundled rules\n\n<!-- Made by `cargo xtask generate`. -->\n\nThese rules are embedded in the binary. They are \
         written like any other rule. `linchpin init` lists them in `config.yml`. Locked rules among them are in force \
         wherever there is a policy.\n",
    );
    for rule in policy::bundled_rules() {
        write!(text, "\n## `{}`\n\n```markdown\n{}\n```\n", rule.id, rule.text.trim_end())?;
    }
    Ok(text)
}
