//! Texts for the clients of databases. Beside queries, they take commands that run others: `\! ls`, `.shell ls`.

/// The texts that a shell would run.
pub(super) fn commands(text: &str) -> Vec<String> {
    let run = |line: &str| {
        let line = line.trim_start();
        let behind = ["\\!", ".shell ", ".system ", "system "].iter().find_map(|name| line.strip_prefix(name));
        behind.map(|text| text.trim().to_owned())
    };
    text.lines().filter_map(run).collect()
}
