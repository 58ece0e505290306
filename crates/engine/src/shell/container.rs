//! Containers: what runs in one has files of its own, and reaches those of the host only where they are mounted.
//!
//! What a running container has mounted is not known here, and taken for nothing.

use super::command::{Folders, SimpleCommand, Word};
use super::effects::Effect;
use crate::event::Access;
use crate::paths;
use crate::programs::{Arguments, Flag, Role};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Container {
    mounts: Vec<Mount>,
    /// Whether it may reach more of the host than that.
    is_open: bool,
    /// Where it is started: what sources are relative to.
    started_in: Folders,
    /// Where its command runs in it.
    workdir: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    /// Where it is in the container; absolute and plain.
    target: String,
    /// What it is on the host; `None` for a volume, which is none of its folders.
    source: Option<String>,
    is_read_only: bool,
}

/// With one of these, a container may reach what it has not mounted.
const OPENING: &[&str] = &["--privileged", "--volumes-from"];

/// What disks are called.
const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "mapper", "disk", "loop"];

/// Whether a program runs commands in containers of this machine.
pub(super) fn is_engine(program: &str) -> bool {
    matches!(program, "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose")
}

/// The program that is started instead of the image's own.
pub(super) fn entrypoint(command: &SimpleCommand, arguments: &Arguments) -> Option<Word> {
    let Some(flag) = arguments.flags.iter().find(|flag| flag.name == "--entrypoint") else {
        return program_of_image(command, arguments).map(Word::known);
    };
    let value = flag.value?;
    command.meaning_from(value.word, value.from).filter(|text| !text.is_empty()).map(Word::known)
}

/// What images that are made for one program are called, and the program.
const OF_ONE_PROGRAM: &[(&str, &str)] =
    &[("aws-cli", "aws"), ("git", "git"), ("helm", "helm"), ("kubectl", "kubectl"), ("terraform", "terraform")];

/// Images that are made for one program start that: `alpine/git push`.
fn program_of_image(command: &SimpleCommand, arguments: &Arguments) -> Option<&'static str> {
    let image = arguments.list.iter().find(|argument| argument.role == Role::Host)?;
    let image = command.text_from(image.word, image.from)?.split(['@', ':']).next()?;
    let (_, name) = image.rsplit_once('/')?;
    OF_ONE_PROGRAM.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
}

impl Container {
    pub(super) fn of(command: &SimpleCommand, arguments: &Arguments) -> Self {
        let started_in = command.folders.clone();
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
            // Nobody knows what of the host that is.
            None => self.is_open = true,
        }
    }

    /// The folders that its command may run in. Without a word on it, the image says.
    pub(super) fn folders(&self) -> Folders {
        self.workdir.as_deref().map_or_else(Folders::unknown, Folders::at)
    }

    /// What something that is done within comes to on the host.
    pub(super) fn on_host(&self, effect: &Effect) -> Vec<Effect> {
        let Some(path) = effect.path.as_deref() else {
            let is_reached = self.is_open || self.mounts.iter().any(|mount| mount.lets(effect));
            return is_reached.then(|| effect.clone()).into_iter().collect();
        };
        let places = places(path, &effect.folders);
        let mapped = |places: Vec<String>| places.iter().flat_map(|place| self.mapped(place, effect)).collect();
        let mut found: Vec<Effect> = places.map_or_else(|| self.in_any(path, effect), mapped);
        let is_deletion = |effect: &Effect| effect.access == Some(Access::Delete);
        if self.is_open && is_deletion(effect) && !found.iter().any(is_deletion) {
            found.push(Effect { path: None, ..effect.clone() });
        }
        found
    }

    /// Of a path from a folder that is not known: it may be in any mount.
    fn in_any(&self, path: &str, effect: &Effect) -> Vec<Effect> {
        let doubtful = Effect { access: None, takes_all: false, ..effect.clone() };
        let mounts = self.mounts.iter().filter(|mount| mount.lets(effect));
        mounts.filter_map(|mount| self.behind(mount, path, &doubtful)).collect()
    }

    /// `place`: absolute and plain.
    fn mapped(&self, place: &str, effect: &Effect) -> Vec<Effect> {
        let around = self.mounts.iter().filter(|mount| paths::below(place, &mount.target).is_some());
        // The innermost hides the others.
        let mount = around.max_by_key(|mount| mount.target.len()).filter(|mount| mount.lets(effect));
        let here = mount.and_then(|mount| self.behind(mount, paths::below(place, &mount.target)?, effect));
        // With a folder goes what is mounted in it.
        let all = place.strip_suffix("/*").unwrap_or(place);
        let is_within = |mount: &&Mount| paths::below(&mount.target, all).is_some_and(|rest| !rest.is_empty());
        let within = self.mounts.iter().filter(|mount| effect.takes_all && mount.lets(effect)).filter(is_within);
        here.into_iter().chain(within.filter_map(|mount| self.behind(mount, "", effect))).collect()
    }

    fn behind(&self, mount: &Mount, rest: &str, effect: &Effect) -> Option<Effect> {
        let source = mount.source.as_deref()?;
        let path = if rest.is_empty() { source.to_owned() } else { format!("{}/{rest}", source.trim_end_matches('/')) };
        Some(Effect { path: Some(path), folders: self.started_in.clone(), ..effect.clone() })
    }
}

impl Mount {
    /// `None` without a target.
    fn new(target: Option<&str>, source: Option<&str>, is_read_only: bool) -> Option<Self> {
        let target = paths::tidy(target.filter(|target| target.starts_with('/'))?);
        Some(Self { target, source: source.map(str::to_owned), is_read_only })
    }

    /// `SOURCE:TARGET:OPTIONS`, or a target alone.
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

    /// Whether this can be done to what is in it.
    fn lets(&self, effect: &Effect) -> bool {
        self.source.is_some() && !(self.is_read_only && matches!(effect.access, Some(Access::Write | Access::Delete)))
    }
}

/// Where in the container a path leads; absolute and plain. `None` where that is not known.
fn places(path: &str, folders: &Folders) -> Option<Vec<String>> {
    let at = |path: &str| {
        // Few images have another user.
        let path = path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("/root{rest}"));
        path.starts_with('/').then(|| paths::tidy(&path))
    };
    if paths::is_free(path) {
        return Some(at(path).into_iter().collect());
    }
    folders.list()?.iter().map(|folder| at(&format!("{folder}/{path}"))).collect()
}

/// Whether it is the name of a volume.
fn is_name(source: &str) -> bool {
    !paths::is_free(source) && !source.starts_with('.') && !source.contains('/')
}

fn is_root(path: &str) -> bool {
    path.starts_with('/') && paths::tidy(path) == "/"
}

/// Of the machine, or a part of one.
pub(super) fn is_disk(path: &str) -> bool {
    paths::below(path, "/dev").is_some_and(|name| name.is_empty() || DISKS.iter().any(|disk| name.starts_with(disk)))
}
