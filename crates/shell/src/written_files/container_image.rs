//! The default commands of container images, from a `Dockerfile` or a `compose.yml` that the script wrote.

use crate::syntax::quoting::quoted;

/// Returns the command of a `Dockerfile` as a shell script. `arguments`: the words after the name of the image.
pub(crate) fn commands(text: &str, arguments: &[&str]) -> String {
    let entrypoint = last_instruction(text, "ENTRYPOINT").unwrap_or_default();
    let words = match arguments {
        [] => last_instruction(text, "CMD").unwrap_or_default(),
        arguments => arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    format!("{entrypoint} {words}").trim().to_owned()
}

/// Returns the last instruction of this name in a `Dockerfile` as a shell script. The value of the instruction is a
/// JSON list of words, or a string.
fn last_instruction(text: &str, instruction: &str) -> Option<String> {
    let mut instructions = text.lines().filter_map(|line| line.trim_start().split_once(char::is_whitespace));
    let (_, value) = instructions.rfind(|(name, _)| name.eq_ignore_ascii_case(instruction))?;
    let value = value.trim();
    let words: Option<Vec<String>> = serde_json::from_str(value).ok();
    let words = words.map(|words| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    Some(words.unwrap_or_else(|| value.to_owned()))
}

/// Returns the services of a `compose.yml`, each as the `docker run` command that would start it.
pub(crate) fn services(text: &str) -> String {
    let mut commands = String::new();
    let mut service = Service::default();
    let mut service_depth = None;
    let mut list = "";
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let depth = line.len() - line.trim_start().len();
        let (key, value) = line.trim().split_once(':').map_or((line.trim(), ""), |(key, value)| (key, value.trim()));
        match (key, value) {
            // The next service has the same indentation as the first.
            (_, "") if depth > 0 && service_depth.is_none_or(|service_depth| depth <= service_depth) => {
                service_depth = Some(depth);
                commands.push_str(&std::mem::take(&mut service).docker_run());
            }
            ("image", image) => image.clone_into(&mut service.image),
            ("entrypoint" | "command" | "volumes", "") => list = key,
            ("entrypoint", value) => service.entrypoint = words(value),
            ("command", value) => service.command = words(value),
            ("volumes", value) => service.volumes = flow_list(value),
            // A volume in the long form, whose source and target are on separate lines.
            ("- source" | "- src", part) if list == "volumes" => service.volumes.push(unquoted(part)),
            ("source" | "src", part) if list == "volumes" => service.add_volume_part(&unquoted(part), true),
            ("target" | "dst" | "destination", part) if list == "volumes" => {
                service.add_volume_part(&unquoted(part), false);
            }
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
    commands + &service.docker_run()
}

#[derive(Default)]
struct Service {
    image: String,
    volumes: Vec<String>,
    /// The words of the entrypoint, quoted for a shell.
    entrypoint: Vec<String>,
    command: Vec<String>,
}

impl Service {
    fn add_volume_part(&mut self, part: &str, is_source: bool) {
        let Some(volume) = self.volumes.last_mut() else { return };
        *volume = match (volume.is_empty(), is_source) {
            (true, _) => part.to_owned(),
            (false, true) => format!("{part}:{volume}"),
            (false, false) => format!("{volume}:{part}"),
        };
    }

    fn docker_run(&self) -> String {
        let words = [self.entrypoint.as_slice(), &self.command].concat();
        if words.is_empty() {
            return String::new();
        }
        let volumes: String = self.volumes.iter().flat_map(|volume| [" -v ".to_owned(), quoted(volume)]).collect();
        let image = if self.image.is_empty() { "image" } else { &self.image };
        format!("docker run{volumes} {} {}\n", quoted(image), words.join(" "))
    }
}

/// Returns the words of a command, quoted for a shell. The command is a list of words, or a string.
fn words(value: &str) -> Vec<String> {
    if value.starts_with('[') {
        flow_list(value).iter().map(|word| quoted(word)).collect()
    } else {
        vec![unquoted(value)]
    }
}

/// Parses a YAML flow list, `[a, "b"]`, or a single string.
fn flow_list(value: &str) -> Vec<String> {
    let Some(entries) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) else {
        return vec![unquoted(value)];
    };
    let mut quote = None;
    let parts = entries.split(|c: char| {
        match quote {
            None if matches!(c, '"' | '\'') => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        c == ',' && quote.is_none()
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
