//! Container images that a script builds, and what runs in them by default.

use crate::syntax::quoting::quoted;

/// Returns the command of a `Dockerfile` as a script for a shell. `given`: the words after the name of the image.
pub(crate) fn commands(text: &str, given: &[&str]) -> String {
    let entry = last(text, "ENTRYPOINT").unwrap_or_default();
    let words = match given {
        [] => last(text, "CMD").unwrap_or_default(),
        given => given.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    format!("{entry} {words}").trim().to_owned()
}

/// Returns the last of these instructions, which is a list of words or a string.
fn last(text: &str, instruction: &str) -> Option<String> {
    let mut instructions = text.lines().filter_map(|line| line.trim_start().split_once(char::is_whitespace));
    let (_, said) = instructions.rfind(|(name, _)| name.eq_ignore_ascii_case(instruction))?;
    let said = said.trim();
    let words: Option<Vec<String>> = serde_json::from_str(said).ok();
    let words = words.map(|words| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    Some(words.unwrap_or_else(|| said.to_owned()))
}

/// Returns the services of a `compose.yml`, each as the `docker run` command that would start it.
pub(crate) fn services(text: &str) -> String {
    let mut calls = String::new();
    let mut service = Service::default();
    let mut level = None;
    let mut list = "";
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let depth = line.len() - line.trim_start().len();
        let (key, value) = line.trim().split_once(':').map_or((line.trim(), ""), |(key, value)| (key, value.trim()));
        match (key, value) {
            // The next service has the same indentation as the first.
            (_, "") if depth > 0 && level.is_none_or(|level| depth <= level) => {
                level = Some(depth);
                calls.push_str(&std::mem::take(&mut service).call());
            }
            ("image", image) => image.clone_into(&mut service.image),
            ("entrypoint" | "command" | "volumes", "") => list = key,
            ("entrypoint", said) => service.entrypoint = words(said),
            ("command", said) => service.command = words(said),
            ("volumes", said) => service.volumes = flow(said),
            // A volume in the long form, with one line for each side.
            ("- source" | "- src", side) if list == "volumes" => service.volumes.push(unquoted(side)),
            ("source" | "src", side) if list == "volumes" => service.join_side(&unquoted(side), true),
            ("target" | "dst" | "destination", side) if list == "volumes" => service.join_side(&unquoted(side), false),
            ("- type", _) if list == "volumes" => service.volumes.push(String::new()),
            _ => match (line.trim().strip_prefix("- "), list) {
                (Some(entry), "volumes") => service.volumes.push(unquoted(entry)),
                (Some(entry), "entrypoint") => service.entrypoint.push(quoted(&unquoted(entry))),
                (Some(entry), "command") => service.command.push(quoted(&unquoted(entry))),
                (None, "volumes") => {}
                _ => list = "",
            },
        }
    }
    calls + &service.call()
}

#[derive(Default)]
struct Service {
    image: String,
    volumes: Vec<String>,
    /// As script text for a shell.
    entrypoint: Vec<String>,
    command: Vec<String>,
}

impl Service {
    fn join_side(&mut self, side: &str, is_source: bool) {
        let Some(volume) = self.volumes.last_mut() else { return };
        *volume = match (volume.is_empty(), is_source) {
            (true, _) => side.to_owned(),
            (false, true) => format!("{side}:{volume}"),
            (false, false) => format!("{volume}:{side}"),
        };
    }

    fn call(&self) -> String {
        let words = [self.entrypoint.as_slice(), &self.command].concat();
        if words.is_empty() {
            return String::new();
        }
        let volumes: String = self.volumes.iter().flat_map(|volume| [" -v ".to_owned(), quoted(volume)]).collect();
        let image = if self.image.is_empty() { "image" } else { &self.image };
        format!("docker run{volumes} {} {}\n", quoted(image), words.join(" "))
    }
}

/// Returns a command as script text for a shell: a list of words, or a string.
fn words(said: &str) -> Vec<String> {
    if said.starts_with('[') { flow(said).iter().map(|word| quoted(word)).collect() } else { vec![unquoted(said)] }
}

/// `[a, "b"]`, or a single string.
fn flow(said: &str) -> Vec<String> {
    let Some(entries) = said.strip_prefix('[').and_then(|said| said.strip_suffix(']')) else {
        return vec![unquoted(said)];
    };
    let mut quote = None;
    let parts = entries.split(|letter: char| {
        match quote {
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            Some(open) if open == letter => quote = None,
            _ => {}
        }
        letter == ',' && quote.is_none()
    });
    parts.map(unquoted).collect()
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inside.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_an_image() {
        let text = "FROM a\nENTRYPOINT [\"x\", \"-y\"]\nCMD [\"z\"]\n";
        assert_eq!(commands(text, &[]), "'x' '-y' 'z'");
        assert_eq!(commands(text, &["w"]), "'x' '-y' 'w'");
        assert_eq!(commands("FROM a\ncmd\tx y\n", &[]), "x y");
    }

    #[test]
    fn commands_of_services() {
        let text = "services:\n  x:\n    image: a\n    volumes: [\"/b:/c\"]\n    command: x y\n  z:\n    image: d\n";
        assert_eq!(services(text), "docker run -v '/b:/c' 'a' x y\n");
        let text = "services:\n  x:\n    image: a\n    volumes:\n      - /b:/c\n    command:\n      - x\n      - y\n";
        assert_eq!(services(text), "docker run -v '/b:/c' 'a' 'x' 'y'\n");
        let text = "services:\n  x:\n    command: [\"-c\", 'a, b']\n    entrypoint: x\n    volumes:\n      - type: bind\n        source: /b\n        target: /c\n";
        assert_eq!(services(text), "docker run -v '/b:/c' 'image' x '-c' 'a, b'\n");
    }
}
