//! Files that are downloaded under the names in their URLs: `curl -O`, `wget`.

use crate::model::SimpleCommand;

/// Flags that select the directory for downloads.
const DIRECTORY_FLAGS: &[&str] = &["--output-dir", "-P", "--directory-prefix", "--dir"];

/// True if the files that the program writes are downloads.
pub(crate) fn downloads_files(program: &str) -> bool {
    matches!(program, "aria2c" | "curl" | "http" | "https" | "wget" | "xh")
}

/// Returns the paths of the files that a command downloads under the names in their URLs.
pub(crate) fn downloaded_names(command: &SimpleCommand) -> Vec<String> {
    let Some(arguments) = command.arguments() else { return Vec::new() };
    let keeps_names = match command.program() {
        Some("curl") => arguments.has_flag(&["-O", "--remote-name", "--remote-name-all"]),
        Some("aria2c") => !arguments.has_flag(&["-o", "--out"]),
        Some("http" | "https" | "xh") => {
            arguments.has_flag(&["-d", "--download"]) && !arguments.has_flag(&["-o", "--output"])
        }
        Some("wget") => !arguments.has_flag(&["-O", "--output-document", "--spider"]),
        _ => false,
    };
    let urls = arguments.operands.iter().filter(|_| keeps_names).filter_map(|index| command.text_from(*index, 0));
    let directory =
        arguments.flags.iter().rfind(|flag| DIRECTORY_FLAGS.contains(&flag.name.as_str())).and_then(|flag| flag.value);
    let directory = directory.and_then(|directory| command.value_or_placeholder_from(directory.word, directory.from));
    let in_directory =
        |name: &str| directory.map_or_else(|| name.to_owned(), |directory| format!("{directory}/{name}"));
    let name = |url: &str| {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        let path = path.split_once("://").map_or(path, |(_, path)| path);
        path.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty()).map(in_directory)
    };
    urls.filter_map(name).collect()
}
