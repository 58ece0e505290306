//! The compiled policy that hooks read.
//!
//! A hook has no time to parse a thousand files, so what they say lies ready in one. It knows every file and folder it
//! was made from by name and stamp: a stat of each tells whether it still speaks for them, without a listing. It also
//! remembers how every file last was when it was sound, which is what stays in force while the file is broken. Because
//! of that it lives in the user's own folder, out of reach of the repository that it judges.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use engine::rules::{Rule, RuleSet};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::definition::Definition;
use crate::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::digest::digest;
use crate::folder::Tiers;
use crate::inputs;
use crate::load::{Before, Loaded, SoundConfig, load};
use crate::private::write_private_file;

/// A policy, ready to judge by.
#[derive(Debug)]
pub struct Compiled {
    pub config: Arc<Config>,
    pub rules: RuleSet,
    /// The files that cannot be used as they are now.
    pub broken: Vec<BrokenFile>,
    /// What is left out until a person accepts it, a line each.
    pub untrusted: Vec<String>,
    /// Names these rules: others have another.
    pub generation: String,
    /// The rules that were read for this, in force or not; none where it was compiled before.
    pub read: Vec<Definition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// `file:line:column: message`.
    pub problem: String,
    /// An earlier version of it stays in force.
    pub has_last_good: bool,
}

impl BrokenFile {
    /// What that means, for people.
    pub fn consequence(&self) -> &'static str {
        if self.has_last_good { "its last good version stays in force" } else { "it is not in force" }
    }
}

/// What does not grow with the number of rules.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// Another build may lay out everything else in another way.
    build: String,
    tiers: Vec<std::path::PathBuf>,
    /// Whether what weakens a guard was accepted when this was made, and what that was.
    weakening: String,
    accepted: bool,
    /// One of the inputs was so new that it could change once more without showing.
    unsettled: bool,
    compiled: SystemTime,
    config: Config,
    sound_configs: Vec<SoundConfig>,
    broken: Vec<BrokenFile>,
    untrusted: Vec<String>,
    generation: String,
}

/// Changes with every build, because a development build of the same version may lay things out differently.
pub(crate) const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("LINCHPIN_BUILD"));

/// The policy of these tiers: from the cache where that still holds, else read anew and written there. A cache that
/// cannot be written only costs time. A project folder that is named and no longer there counts as it last was.
pub fn compiled(tiers: &Tiers, cache: &Path, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, Some(cache), &trusted, |header, inputs, rules| {
        // A read-only disk is no reason not to judge.
        let _ = write(cache, header, inputs, rules);
    })
}

/// The same for those who only look: nothing is written, so that whoever judges next still learns that the policy is new.
pub fn looked_at(tiers: &Tiers, cache: &Path, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, Some(cache), &trusted, |_, _, _| {})
}

/// How the policy was when it was last compiled; every file is to be read again.
pub fn before(cache: &Path) -> Before {
    let before = Stored::read(cache).map(Stored::into_before).unwrap_or_default();
    Before { files: BTreeMap::new(), ..before }
}

/// The policy as its files are now, whatever was there before.
pub fn read_anew(tiers: &Tiers, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, None, &trusted, |_, _, _| {})
}

fn get(
    tiers: &Tiers,
    cache: Option<&Path>,
    trusted: &impl Fn(&str) -> bool,
    keep: impl Fn(&Header, &[u8], &RuleSet),
) -> Compiled {
    let before = match cache.and_then(Stored::read) {
        Some(stored) if stored.is_current(tiers, trusted) || stored.has_vanished(tiers) => {
            return stored.into_compiled();
        }
        Some(stored) => stored.into_before(),
        None => Before::default(),
    };
    // Taken before the files are read: what changes from now on must look newer.
    let now = SystemTime::now();
    let mut loaded = load(tiers, &before, trusted);
    let read = std::mem::take(&mut loaded.definitions).into_iter().filter(|rule| !rule.text.is_empty()).collect();
    let inputs = loaded.inputs.to_bytes();
    let (header, rules) = compile(loaded, tiers, trusted, now);
    if let Some(inputs) = inputs {
        keep(&header, &inputs, &rules);
    }
    Compiled { read, ..header.into_compiled(rules) }
}

fn compile(loaded: Loaded, tiers: &Tiers, trusted: &impl Fn(&str) -> bool, now: SystemTime) -> (Header, RuleSet) {
    let rules = loaded.in_force_rules();
    let last_good = |problem: &Diagnostic| {
        let mut definitions = loaded.rules.iter().map(|in_force| &in_force.definition);
        loaded.last_good_configs.contains(&problem.source.name)
            || definitions.any(|definition| definition.is_last_good && definition.rule.source == problem.source.name)
    };
    let mut broken: Vec<BrokenFile> = Vec::new();
    let mut seen = Vec::new();
    for problem in loaded.errors() {
        // One line a file: its first error.
        if !seen.contains(&problem.source.name) {
            seen.push(problem.source.name.clone());
            broken.push(BrokenFile { problem: problem.line(), has_last_good: last_good(problem) });
        }
    }
    let untrusted = loaded.diagnostics.iter().filter(|problem| {
        problem.severity == Severity::Warning && matches!(problem.kind, ErrorKind::Untrusted | ErrorKind::Overruled)
    });
    let header = Header {
        build: BUILD.to_owned(),
        tiers: tiers.folders().map(|folder| folder.path.clone()).collect(),
        accepted: trusted(&loaded.weakening),
        untrusted: untrusted.map(Diagnostic::line).collect(),
        unsettled: loaded.inputs.is_unsettled(now),
        compiled: now,
        weakening: loaded.weakening,
        config: loaded.config,
        sound_configs: loaded.sound_configs,
        broken,
        generation: String::new(),
    };
    // Rules that were just read can be packed; if one day they cannot, an empty set must not pass for the policy.
    match RuleSet::pack(&rules) {
        Ok(packed) => (Header { generation: digest(packed.as_bytes()), ..header }, packed),
        Err(error) => {
            let problem = format!("the policy cannot be compiled: {error}");
            let broken = vec![BrokenFile { problem, has_last_good: false }];
            (Header { broken, unsettled: true, ..header }, RuleSet::default())
        }
    }
}

impl Header {
    fn into_compiled(self, rules: RuleSet) -> Compiled {
        Compiled {
            config: Arc::new(self.config),
            rules,
            broken: self.broken,
            untrusted: self.untrusted,
            generation: self.generation,
            read: Vec::new(),
        }
    }
}

/// The cache as it lies on disk: the header, the inputs and the rules, each of the first two behind its length.
struct Stored {
    header: Header,
    bytes: Vec<u8>,
    inputs: Range<usize>,
}

impl Stored {
    /// `None` where there is none, or it is not one that this build wrote.
    fn read(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let header = section(&bytes, 0)?;
        let inputs = section(&bytes, header.end)?;
        let header: Header = postcard::from_bytes(bytes.get(header)?).ok()?;
        (header.build == BUILD).then_some(Self { header, bytes, inputs })
    }

    fn is_of(&self, tiers: &Tiers) -> bool {
        self.header.tiers.iter().eq(tiers.folders().map(|folder| &folder.path))
    }

    fn is_current(&self, tiers: &Tiers, trusted: &impl Fn(&str) -> bool) -> bool {
        let header = &self.header;
        self.is_of(tiers)
            && !header.unsettled
            && self.bytes.get(self.inputs.clone()).is_some_and(inputs::are_unchanged)
            && (header.weakening.is_empty() || trusted(&header.weakening) == header.accepted)
    }

    /// The project's policy is gone, though it is asked for: what was last read of it still counts.
    fn has_vanished(&self, tiers: &Tiers) -> bool {
        self.is_of(tiers) && tiers.project.as_ref().is_some_and(|folder| !folder.has_policy())
    }

    fn into_compiled(self) -> Compiled {
        let rules = RuleSet::from_bytes(self.bytes, self.inputs.end);
        self.header.into_compiled(rules)
    }

    fn into_before(self) -> Before {
        let mut files = self.bytes.get(self.inputs.clone()).map(inputs::stamps).unwrap_or_default();
        // What was new then may have changed once more without showing.
        files.retain(|_, stamp| !stamp.is_fresh(self.header.compiled));
        let is_sound = self.header.broken.is_empty();
        let rules = RuleSet::from_bytes(self.bytes, self.inputs.end);
        Before {
            rules: rules.all().unwrap_or_default(),
            configs: self.header.sound_configs,
            files: if is_sound { files } else { BTreeMap::new() },
        }
    }
}

/// The bytes behind a length.
fn section(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let (length, rest) = bytes.get(start..)?.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let start = start + 4;
    (length <= rest.len()).then_some(start..start + length)
}

fn write(path: &Path, header: &Header, inputs: &[u8], rules: &RuleSet) -> io::Result<()> {
    let header = postcard::to_stdvec(header).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    for part in [header.as_slice(), inputs] {
        bytes.extend(u32::try_from(part.len()).map_err(io::Error::other)?.to_le_bytes());
        bytes.extend(part);
    }
    bytes.extend(rules.as_bytes());
    write_private_file(path, bytes)
}

/// The rules of a compiled policy, wherever it lies; none where it cannot be read.
pub(crate) fn rules_in(file: &Path) -> Vec<Rule> {
    let stored = Stored::read(file);
    stored.and_then(|stored| stored.into_compiled().rules.all().ok()).unwrap_or_default()
}
