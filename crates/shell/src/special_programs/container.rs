//! The arguments of `docker run` and similar commands: mounts, working directory, and the program to start.

use super::disk::is_disk;
use crate::model::{Container, Mount, SimpleCommand, Word};
use crate::programs::{Arguments, Flag, Role};

/// With one of these flags, a container may reach files of the host outside of its mounts.
const HOST_ACCESS_FLAGS: &[&str] = &["--privileged", "--volumes-from"];

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
    command.value_or_placeholder_from(value.word, value.from).filter(|text| !text.is_empty()).map(Word::known)
}

/// Images that are made for one program: the name of the image, and the program.
const SINGLE_PROGRAM_IMAGES: &[(&str, &str)] =
    &[("aws-cli", "aws"), ("git", "git"), ("helm", "helm"), ("kubectl", "kubectl"), ("terraform", "terraform")];

/// Returns the program of an image that is made for one program: `alpine/git push`.
fn program_of_image(command: &SimpleCommand, arguments: &Arguments) -> Option<&'static str> {
    let image = arguments.with_roles.iter().find(|argument| argument.role == Role::Host)?;
    let image = command.text_from(image.word, image.from)?.split(['@', ':']).next()?;
    let (_, name) = image.rsplit_once('/')?;
    SINGLE_PROGRAM_IMAGES.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
}

impl Container {
    pub(crate) fn of(command: &SimpleCommand, arguments: &Arguments) -> Self {
        let started_in = command.directories().clone();
        let mut container = Self { mounts: Vec::new(), may_reach_host: false, started_in, workdir: None };
        for flag in &arguments.flags {
            container.may_reach_host |= HOST_ACCESS_FLAGS.contains(&flag.name.as_str());
            container.read_flag(flag, command);
        }
        container
    }

    fn read_flag(&mut self, flag: &Flag, command: &SimpleCommand) {
        let Some(value) = flag.value else { return };
        let text = command.value_or_placeholder_from(value.word, value.from);
        // In `-v=/:/host`, the value starts after the `=`.
        let text = text.map(|text| text.strip_prefix('=').unwrap_or(text));
        let is_volume_name =
            |source: &str| command.text_from(value.word, value.from).is_some() && is_volume_name(source);
        let mount = match flag.name.as_str() {
            "-v" | "--volume" => text.map(|text| Mount::of_volume(text, is_volume_name)),
            "--mount" => text.map(|text| Mount::of_settings(text, is_volume_name)),
            "--tmpfs" => text.map(|text| Mount::new(text.split(':').next(), None, false)),
            "--device" => {
                self.may_reach_host |= text.is_none_or(|text| is_disk(text.split(':').next().unwrap_or(text)));
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
                self.may_reach_host |= source.is_some_and(|source| is_root(source) || is_disk(source));
                self.mounts.extend(mount);
            }
            // The value of the flag, and so the mount, is not known.
            None => self.may_reach_host = true,
        }
    }
}

impl Mount {
    /// Returns `None` if the target is not an absolute path.
    fn new(target: Option<&str>, source: Option<&str>, is_read_only: bool) -> Option<Self> {
        let target = path::normalize(target.filter(|target| target.starts_with('/'))?);
        Some(Self { target, source: source.map(str::to_owned), is_read_only })
    }

    /// Reads the value of `--volume`: `SOURCE:TARGET:OPTIONS`, or only a target.
    fn of_volume(text: &str, is_volume_name: impl Fn(&str) -> bool) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [target] => Self::new(Some(target), None, false),
            [source, target, options @ ..] => {
                let is_read_only = options.iter().any(|options| options.split(',').any(|option| option == "ro"));
                Self::new(Some(target), Some(*source).filter(|source| !is_volume_name(source)), is_read_only)
            }
            [] => None,
        }
    }

    /// Reads the value of `--mount`: `type=bind,source=…,target=…,readonly`.
    fn of_settings(text: &str, is_volume_name: impl Fn(&str) -> bool) -> Option<Self> {
        let settings = || text.split(',').map(|setting| setting.split_once('=').unwrap_or((setting, "")));
        let value = |names: &[&str]| settings().find(|(name, _)| names.contains(name)).map(|(_, value)| value);
        let is_read_only =
            settings().any(|(name, value)| matches!(name, "readonly" | "ro") && !matches!(value, "false" | "0"));
        let source = value(&["source", "src"]).filter(|source| !is_volume_name(source));
        Self::new(value(&["target", "destination", "dst"]), source, is_read_only)
    }
}

/// True for the name of a volume.
fn is_volume_name(source: &str) -> bool {
    !path::is_rooted(source) && !source.starts_with('.') && !source.contains('/')
}

fn is_root(path: &str) -> bool {
    path.starts_with('/') && path::normalize(path) == "/"
}
