//! Files that are fetched, under the names that their addresses have: `curl -O`, `wget`.

use crate::model::SimpleCommand;

/// The folder that they come into, where it is not the one it runs in.
const FOLDER: &[&str] = &["--output-dir", "-P", "--directory-prefix", "--dir"];

/// Whether what it writes is what it has fetched.
pub(crate) fn fetches(program: &str) -> bool {
    matches!(program, "aria2c" | "curl" | "http" | "https" | "wget" | "xh")
}

pub(crate) fn fetched(command: &SimpleCommand) -> Vec<String> {
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
    let addresses = arguments.operands.iter().filter(|_| keeps_names).filter_map(|place| command.text_from(*place, 0));
    let folder = arguments.flags.iter().rfind(|flag| FOLDER.contains(&flag.name.as_str())).and_then(|flag| flag.value);
    let folder = folder.and_then(|folder| command.meaning_from(folder.word, folder.from));
    let placed = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
    let name = |address: &str| {
        let path = address.split(['?', '#']).next().unwrap_or(address);
        let path = path.split_once("://").map_or(path, |(_, path)| path);
        path.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty()).map(placed)
    };
    addresses.filter_map(name).collect()
}
