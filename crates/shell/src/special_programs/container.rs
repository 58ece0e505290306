//! The arguments of `docker run` and similar commands: mounts, working directory, and the program to start.

use super::disk::is_disk;
use crate::model::{Container, Mount, SimpleCommand, Word};
use crate::programs::{Arguments, Flag, Role};

/// With one of these flags, a container may reach more of the host than its mounts.
const OPENING: &[&str] = &["--privileged", "--volumes-from"];

/// True if the program runs commands in containers on this machine.
pub(crate) fn is_engine(program: &str) -> bool {
    matches!(program, "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose")
}

/// Returns the program that is started instead of the image's default.
pub(crate) fn entrypoint(command: &SimpleCommand, arguments: &Arguments) -> Option<Word> {
    let Some(flag) = arguments.flags.iter().find(|flag| flag.name == "--entrypoint") else {
        return program_of_image(command, arguments).map(Word::known);
    };
    let value = flag.value?;
    command.meaning_from(value.word, value.from).filter(|text| !text.is_empty()).map(Word::known)
}

/// The names of images that are made for one program, with that program.
const OF_ONE_PROGRAM: &[(&str, &str)] =
    &[("aws-cli", "aws"), ("git", "git"), ("helm", "helm"), ("kubectl", "kubectl"), ("terraform", "terraform")];

/// Returns the program of an image that is made for one program: `alpine/git push`.
fn program_of_image(command: &SimpleCommand, arguments: &Arguments) -> Option<&'static str> {
    let image = arguments.list.iter().find(|argument| argument.role == Role::Host)?;
    let image = command.text_from(image.word, image.from)?.split(['@', ':']).next()?;
    let (_, name) = image.rsplit_once('/')?;
    OF_ONE_PROGRAM.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
}

impl Container {
    pub(crate) fn of(command: &SimpleCommand, arguments: &Arguments) -> Self {
        let started_in = command.directories().clone();
        let mut container = Self { mounts: Vec::new(), is_open: false, started_in, workdir: None };
        for flag in &arguments.flags {
            container.is_open |= OPENING.contains(&flag.name.as_str());
            container.read(flag, command);
        }
        container
    }

    fn read(&mut self, flag: &Flag, command: &SimpleCommand) {
        let Some(value) = flag.value else { return };
        let text = command.meaning_from(value.word, value.from);
        // `-v=/:/host`
        let text = text.map(|text| text.strip_prefix('=').unwrap_or(text));
        let is_name = |source: &str| command.text_from(value.word, value.from).is_some() && is_name(source);
        let mount = match flag.name.as_str() {
            "-v" | "--volume" => text.map(|text| Mount::of_volume(text, is_name)),
            "--mount" => text.map(|text| Mount::of_settings(text, is_name)),
            "--tmpfs" => text.map(|text| Mount::new(text.split(':').next(), None, false)),
            "--device" => {
                self.is_open |= text.is_none_or(|text| is_disk(text.split(':').next().unwrap_or(text)));
                return;
            }
            "-w" | "--workdir" => {
                self.workdir = text.filter(|text| text.starts_with('/')).map(str::to_owned);
                return;
            }
            _ => return,
        };
        match mount {
            Some(mount) => {
                let source = mount.as_ref().and_then(|mount| mount.source.as_deref());
                self.is_open |= source.is_some_and(|source| is_root(source) || is_disk(source));
                self.mounts.extend(mount);
            }
            // It is not known what is mounted.
            None => self.is_open = true,
        }
    }
}

impl Mount {
    /// Returns `None` without an absolute target.
    fn new(target: Option<&str>, source: Option<&str>, is_read_only: bool) -> Option<Self> {
        let target = path::normalize(target.filter(|target| target.starts_with('/'))?);
        Some(Self { target, source: source.map(str::to_owned), is_read_only })
    }

    /// `SOURCE:TARGET:OPTIONS`, or only a target.
    fn of_volume(text: &str, is_name: impl Fn(&str) -> bool) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [target] => Self::new(Some(target), None, false),
            [source, target, options @ ..] => {
                let is_read_only = options.iter().any(|options| options.split(',').any(|option| option == "ro"));
                Self::new(Some(target), Some(*source).filter(|source| !is_name(source)), is_read_only)
            }
            [] => None,
        }
    }

    /// `type=bind,source=…,target=…,readonly`
    fn of_settings(text: &str, is_name: impl Fn(&str) -> bool) -> Option<Self> {
        let settings = || text.split(',').map(|setting| setting.split_once('=').unwrap_or((setting, "")));
        let value = |names: &[&str]| settings().find(|(name, _)| names.contains(name)).map(|(_, value)| value);
        let is_read_only =
            settings().any(|(name, value)| matches!(name, "readonly" | "ro") && !matches!(value, "false" | "0"));
        let source = value(&["source", "src"]).filter(|source| !is_name(source));
        Self::new(value(&["target", "destination", "dst"]), source, is_read_only)
    }
}

/// True for the name of a volume.
fn is_name(source: &str) -> bool {
    !path::is_rooted(source) && !source.starts_with('.') && !source.contains('/')
}

fn is_root(path: &str) -> bool {
    path.starts_with('/') && path::normalize(path) == "/"
}
