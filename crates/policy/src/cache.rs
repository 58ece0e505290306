//! The compiled policy that hooks read.
//!
//! A hook has no time to parse a thousand files, so what they say lies ready in one. It knows every file and folder it
//! was made from by name and stamp: a stat of each tells whether it still speaks for them, without a listing. It also
//! remembers how every file last was when it was sound, which is what stays in force while the file is broken. Because
//! of that it lives in the user's own folder, out of reach of the repository that it judges.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use engine::rules::RuleSet;
use serde::{Deserialize, Serialize};

use crate::amend::{Sound, contested};
use crate::config::Config;
use crate::files::folder::Tiers;
use crate::files::freshness::FreshnessCheck;
use crate::files::inputs::Inputs;
use crate::files::private_files::write_private_file;
use crate::load::{Before, Loaded, SoundConfig, load};
use crate::rule::definition::Definition;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;

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
    /// When its files were last read. A rule that is not in force may have changed since, though the generation is the same.
    pub read_at: SystemTime,
    /// The rules that were read for this, in force or not; none where it was compiled before.
    pub read: Vec<Definition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// `file:line:column: message`.
    pub problem: String,
    /// An earlier version of it stays in force.
    pub has_last_good: bool,
    /// Only a part of it is wrong, and the rest counts.
    pub is_in_part: bool,
}

impl BrokenFile {
    /// What that means, for people.
    pub fn consequence(&self) -> &'static str {
        match self {
            Self { has_last_good: true, .. } => "its last good version stays in force",
            Self { is_in_part: true, .. } => "this part of it is not in force, the rest of the file is",
            _ => "it is not in force",
        }
    }
}

/// What does not grow with the number of rules.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Header {
    /// Another build may lay out everything else in another way.
    build: String,
    tiers: Vec<PathBuf>,
    /// Whether what weakens a guard was accepted when this was made, and what that was.
    weakening: String,
    accepted: bool,
    compiled: SystemTime,
    config: Config,
    sound_configs: Vec<SoundConfig>,
    broken: Vec<BrokenFile>,
    untrusted: Vec<String>,
    contested: Vec<String>,
    generation: String,
}

/// Changes with every build, because a development build of the same version may lay things out differently.
pub(crate) const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("LINCHPIN_BUILD"));

/// The policy of these tiers: from the cache where that still holds, else read anew and written there. A cache that
/// cannot be written only costs time. A project folder that is named and no longer there counts as it last was.
pub fn compiled(tiers: &Tiers, cache: &Path, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, Some(cache), &trusted, |fresh| {
        // A read-only disk is no reason not to judge.
        let _ = fresh.write(cache);
    })
}

/// The same for those who only look: nothing is written, so that whoever judges next still learns that the policy is new.
pub fn looked_at(tiers: &Tiers, cache: &Path, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, Some(cache), &trusted, |_| {})
}

/// How the policy was when it was last compiled.
pub fn before(cache: &Path) -> Before {
    Opened::of(cache).and_then(Opened::read).map(|stored| stored.before()).unwrap_or_default()
}

/// The policy as its files are now, whatever was there before.
pub fn read_anew(tiers: &Tiers, trusted: impl Fn(&str) -> bool) -> Compiled {
    get(tiers, None, &trusted, |_| {})
}

fn get(tiers: &Tiers, cache: Option<&Path>, trusted: &impl Fn(&str) -> bool, keep: impl Fn(&Fresh)) -> Compiled {
    let fresh = match cache.and_then(Opened::of).and_then(|opened| opened.looked_at(tiers, trusted)) {
        None => compile(tiers, &Before::default(), trusted),
        Some((stored, changed)) => {
            if changed.as_ref().is_some_and(Vec::is_empty) || stored.has_vanished(tiers) {
                return stored.into_compiled();
            }
            let amended = changed.and_then(|changed| stored.amended(tiers, &changed));
            amended.unwrap_or_else(|| compile(tiers, &stored.before(), trusted))
        }
    };
    keep(&fresh);
    Compiled { read: fresh.read, ..fresh.header.into_compiled(fresh.rules) }
}

/// A policy that was just read.
struct Fresh {
    header: Header,
    /// As they are written down; none where they cannot be, or the policy is not worth keeping.
    inputs: Option<Vec<u8>>,
    rules: RuleSet,
    read: Vec<Definition>,
}

fn compile(tiers: &Tiers, before: &Before, trusted: &impl Fn(&str) -> bool) -> Fresh {
    // Taken before the files are read: what changes from now on must look newer.
    let now = SystemTime::now();
    let loaded = load(tiers, before, trusted);
    let inputs = loaded.inputs.to_bytes();
    let packed = RuleSet::pack(&loaded.in_force_rules());
    let header = Header {
        build: BUILD.to_owned(),
        tiers: tiers.folders().map(|folder| folder.path.clone()).collect(),
        accepted: trusted(&loaded.weakening),
        untrusted: loaded.left_out().map(with_its_way).collect(),
        compiled: now,
        broken: broken_files(&loaded),
        contested: contested(&loaded),
        weakening: loaded.weakening,
        config: loaded.config,
        sound_configs: loaded.sound_configs,
        generation: String::new(),
    };
    let read = loaded.definitions.into_iter().filter(|rule| !rule.text.is_empty()).collect();
    // Rules that were just read can be packed; if one day they cannot, an empty set must not pass for the policy.
    match packed {
        Ok(rules) => Fresh { header: Header { generation: digest(rules.as_bytes()), ..header }, inputs, rules, read },
        Err(error) => {
            let problem = format!("the policy cannot be compiled: {error}");
            let broken = vec![BrokenFile { problem, has_last_good: false, is_in_part: false }];
            Fresh { header: Header { broken, ..header }, inputs: None, rules: RuleSet::default(), read }
        }
    }
}

/// One line a file: its first error.
fn broken_files(loaded: &Loaded) -> Vec<BrokenFile> {
    let has_last_good = |problem: &Diagnostic| {
        let mut definitions = loaded.rules.iter().map(|in_force| &in_force.definition);
        loaded.last_good_configs.contains(&problem.source.name)
            || definitions.any(|definition| definition.is_last_good && definition.rule.source == problem.source.name)
    };
    let mut seen = BTreeSet::new();
    let first = loaded.errors().filter(|problem| seen.insert(problem.source.name.as_str()));
    let is_in_part = |problem: &Diagnostic| match problem.kind {
        ErrorKind::UnknownRule | ErrorKind::DuplicateRule => true,
        ErrorKind::InvalidYaml => false,
        _ => loaded.read_configs.contains(&problem.source.name),
    };
    let broken = |problem: &Diagnostic| BrokenFile {
        problem: problem.line(),
        has_last_good: has_last_good(problem),
        is_in_part: is_in_part(problem),
    };
    first.map(broken).collect()
}

/// What a person can do about it comes with it: nothing else is shown of it where a line is all there is.
fn with_its_way(problem: &Diagnostic) -> String {
    let way = if problem.kind == ErrorKind::Untrusted { " (`linchpin trust`)" } else { "" };
    format!("{}{way}", problem.line())
}

impl Loaded {
    /// What the project asked for and does not get.
    fn left_out(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|problem| {
            problem.severity == Severity::Warning && matches!(problem.kind, ErrorKind::Untrusted | ErrorKind::Overruled)
        })
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
            read_at: self.compiled,
            read: Vec::new(),
        }
    }
}

impl Fresh {
    fn write(&self, path: &Path) -> io::Result<()> {
        let Some(inputs) = &self.inputs else { return Ok(()) };
        let header = postcard::to_stdvec(&self.header).map_err(io::Error::other)?;
        let length = |part: &[u8]| u32::try_from(part.len()).map(u32::to_le_bytes).map_err(io::Error::other);
        let lengths = [length(&header)?, length(inputs)?].concat();
        write_private_file(path, [&lengths, &header, inputs, self.rules.as_bytes()].concat())
    }
}

/// The cache as it lies on disk: the lengths of the header and the inputs, these two, and the rules, which are not read yet.
struct Opened {
    file: fs::File,
    header: Header,
    inputs: Arc<Vec<u8>>,
}

/// The cache, read.
struct Stored {
    header: Header,
    inputs: Arc<Vec<u8>>,
    rules: RuleSet,
}

impl Opened {
    /// `None` where there is none, or it is not one that this build wrote.
    fn of(path: &Path) -> Option<Self> {
        let mut file = fs::File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let mut lengths = [0; 8];
        file.read_exact(&mut lengths).ok()?;
        let (header, inputs) = lengths.split_first_chunk::<4>()?;
        let [header, inputs] = [*header, *inputs.first_chunk()?].map(|length| u32::from_le_bytes(length) as usize);
        // Bytes of something else may say any length.
        if u64::try_from(header + inputs).is_ok_and(|both| both > length) {
            return None;
        }
        let [mut header, mut inputs] = [header, inputs].map(|length| vec![0; length]);
        file.read_exact(&mut header).ok()?;
        file.read_exact(&mut inputs).ok()?;
        let header: Header = postcard::from_bytes(&header).ok()?;
        (header.build == BUILD).then(|| Self { file, header, inputs: Arc::new(inputs) })
    }

    fn read(mut self) -> Option<Stored> {
        let mut rules = Vec::new();
        self.file.read_to_end(&mut rules).ok()?;
        let Self { header, inputs, .. } = self;
        Some(Stored { header, inputs, rules: RuleSet::from_bytes(Arc::new(rules), 0) })
    }

    /// With the files and folders that it no longer speaks for; `None`: it speaks for nothing that is asked for. To look at
    /// them and to read the rules take about as long, so they are done at the same time.
    fn looked_at(self, tiers: &Tiers, trusted: &impl Fn(&str) -> bool) -> Option<(Stored, Option<Vec<PathBuf>>)> {
        let header = &self.header;
        let is_as_accepted = header.weakening.is_empty() || trusted(&header.weakening) == header.accepted;
        if !is_as_accepted || !header.is_of(tiers) {
            return Some((self.read()?, None));
        }
        let look = FreshnessCheck::begin(Arc::clone(&self.inputs), header.compiled);
        let stored = self.read()?;
        Some((stored, look.finish()))
    }
}

impl Header {
    fn is_of(&self, tiers: &Tiers) -> bool {
        self.tiers.iter().eq(tiers.folders().map(|folder| &folder.path))
    }
}

impl Stored {
    /// The project's policy is gone, though it is asked for: what was last read of it still counts.
    fn has_vanished(&self, tiers: &Tiers) -> bool {
        self.header.is_of(tiers) && tiers.project.as_ref().is_some_and(|folder| !folder.has_policy())
    }

    fn into_compiled(self) -> Compiled {
        self.header.into_compiled(self.rules)
    }

    /// `None` where more than some rules is to be read again.
    fn amended(&self, tiers: &Tiers, changed: &[PathBuf]) -> Option<Fresh> {
        let header = &self.header;
        if !header.broken.is_empty() || !header.untrusted.is_empty() {
            return None;
        }
        // Taken before the files are read: what changes from now on must look newer.
        let compiled = SystemTime::now();
        let sound = Sound { tiers, config: &header.config, rules: &self.rules, contested: &header.contested };
        let mut inputs = Inputs::from_bytes(&self.inputs)?;
        let amended = sound.amend(changed, &mut inputs)?;
        let generation = digest([header.generation.as_bytes(), amended.changed.as_bytes()].concat());
        Some(Fresh {
            header: Header { compiled, generation, ..header.clone() },
            inputs: inputs.to_bytes(),
            rules: amended.rules,
            read: amended.read,
        })
    }

    fn before(&self) -> Before {
        Before { rules: self.rules.all().unwrap_or_default(), configs: self.header.sound_configs.clone() }
    }
}

/// The rules of a compiled policy, wherever it lies, if it is the one of this name.
pub(crate) fn rules_in(file: &Path, generation: &str) -> Option<RuleSet> {
    let opened = Opened::of(file).filter(|opened| opened.header.generation == generation)?;
    opened.read().map(|stored| stored.rules)
}
