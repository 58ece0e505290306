//! Git settings from environment variables, and from files that the script has written.

use super::file_tracker::FileTracker;
use crate::model::{FileContents, SimpleCommand};

/// Settings: lower-case names, and values.
type Settings = Vec<(String, String)>;

/// More settings count as unknown.
const MAX_COUNT: usize = 64;

/// Variables that name a file with git settings, or a directory that contains such files. The paths of the files are
/// the value of the variable with each of the listed endings.
const FILES: &[(&str, &[&str])] = &[
    ("GIT_CONFIG_GLOBAL", &[""]),
    ("GIT_CONFIG_SYSTEM", &[""]),
    ("HOME", &["/.gitconfig", "/.config/git/config"]),
    ("XDG_CONFIG_HOME", &["/git/config"]),
];
/// The files that git always reads.
const DEFAULT_FILES: &[&str] = &[".git/config", "~/.gitconfig", "~/.config/git/config"];

/// Returns the settings that a `git` command gets from its environment and from written files; `None` if these settings
/// are not known.
pub(crate) fn settings_from_environment(command: &SimpleCommand, files: &FileTracker) -> Option<Settings> {
    let mut settings = numbered_settings(command)?;
    if let Some(parameters) = command.variable("GIT_CONFIG_PARAMETERS") {
        settings.extend(parse_parameters(parameters.known()?)?);
    }
    for (name, ends) in FILES {
        let Some(path) = command.variable(name) else { continue };
        // The settings in an unknown file are ignored if the table of programs lists the command. Otherwise, the
        // subcommand may be an alias in that file, so the settings count as unknown.
        let Some(path) = path.known() else {
            return command.is_in_table().then_some(settings);
        };
        for file in ends.iter().filter_map(|end| files.contents_of(command, &format!("{path}{end}"))) {
            settings.extend(settings_in_file(&file)?);
        }
    }
    for file in DEFAULT_FILES.iter().filter_map(|path| files.written_by_script(command, path)) {
        settings.extend(settings_in_file(&file).unwrap_or_default());
    }
    Some(settings)
}

/// Reads the settings in numbered variables: `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=name GIT_CONFIG_VALUE_0=value`.
fn numbered_settings(command: &SimpleCommand) -> Option<Settings> {
    let Some(count) = command.variable("GIT_CONFIG_COUNT") else { return Some(Vec::new()) };
    let count: usize = count.known()?.parse().ok().filter(|count| *count <= MAX_COUNT)?;
    let part = |kind: &str, number: usize| command.variable(&format!("GIT_CONFIG_{kind}_{number}"))?.known();
    (0..count)
        .map(|number| Some((part("KEY", number)?.to_ascii_lowercase(), part("VALUE", number)?.to_owned())))
        .collect()
}

/// Reads the settings in `GIT_CONFIG_PARAMETERS`: `'name=value' 'name'='value'`.
fn parse_parameters(parameters: &str) -> Option<Settings> {
    let mut settings = Vec::new();
    let mut rest = parameters.trim();
    while !rest.is_empty() {
        let (first, after) = rest.strip_prefix('\'')?.split_once('\'')?;
        let (setting, after) = match after.strip_prefix("='").and_then(|value| value.split_once('\'')) {
            Some((value, after)) => ((first, value), after),
            None => (first.split_once('=').unwrap_or((first, "true")), after),
        };
        settings.push((setting.0.to_ascii_lowercase(), setting.1.to_owned()));
        rest = after.trim_start();
    }
    Some(settings)
}

fn settings_in_file(file: &FileContents) -> Option<Settings> {
    let FileContents::Text(text) = file else { return None };
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.replace("\\\n", " ").lines().map(str::trim) {
        let after = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            Some((name, after)) => {
                // `[remote "origin"]` is the section `remote.origin`.
                section = name.replace(" \"", ".").replace('"', "");
                after.trim()
            }
            None => line,
        };
        if after.is_empty() || after.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = after.split_once('=').unwrap_or((after, "true"));
        let value = value.trim().replace("\\\"", "\u{1}").replace('"', "").replace('\u{1}', "\"");
        settings.push((format!("{section}.{}", key.trim()).to_ascii_lowercase(), value));
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_texts() {
        let file = "# x\n[core]\n\tpager = less\n[alias] x = \"!ls \\\"a\\\"\"\n[remote \"origin\"]\n\tmirror\n";
        let read = settings_in_file(&FileContents::Text(file.into())).unwrap_or_default();
        let shown: Vec<String> = read.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["core.pager=less", "alias.x=!ls \"a\"", "remote.origin.mirror=true"]);
        let read = parse_parameters("'alias.x=!ls' 'Core.Pager'='less -R'").unwrap_or_default();
        let shown: Vec<String> = read.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["alias.x=!ls", "core.pager=less -R"]);
        assert_eq!(parse_parameters("alias.x"), None);
    }
}
