//! The compiled cache: one file from which hooks read the policy.
//!
//! A hook has no time to parse a thousand files. The cache stores the path and stamp of each file and directory that it
//! was compiled from, so one `stat` for each tells whether the cache is fresh, without listing directories. It also
//! stores the last good version of each file, which stays in force while the file has errors. For that reason the cache
//! is in the user's state directory, where a repository cannot change it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use engine::rules::RuleSet;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::files::folder::PolicyFolders;
use crate::files::freshness::{ChangedInputs, FreshnessCheck};
use crate::files::inputs::Inputs;
use crate::files::private_files::write_private_file;
use crate::incremental::{IncrementalCompiler, contested_ids};
use crate::load::{LastGoodConfig, LastGoodPolicy, LoadedPolicy, load};
use crate::rule::definition::RuleDefinition;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind, Severity};
use crate::text::digest::digest;

/// A compiled policy, with which events can be judged.
#[derive(Debug)]
pub struct CompiledPolicy {
    pub config: Arc<Config>,
    pub rules: RuleSet,
    /// Files with errors.
    pub broken: Vec<BrokenFile>,
    /// The parts that are left out until a person trusts them, one line for each.
    pub untrusted: Vec<String>,
    /// Differs if the rules differ. The same rules may have several digests, because an incremental update derives a
    /// digest from the previous one.
    pub rules_digest: String,
    /// When the files were last read. Rules that are not in force may change without changing `rules_digest`.
    pub read_at: SystemTime,
    /// The definitions that were read, in force or not; empty if the policy came from the cache.
    pub definitions_read: Vec<RuleDefinition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// `file:line:column: message`.
    pub problem: String,
    /// An earlier version of the file stays in force.
    pub has_last_good: bool,
    /// Only a part of the file is ignored; the rest is in force.
    pub is_partial: bool,
}

impl BrokenFile {
    /// Explains which part or version of the file is in force instead.
    pub fn consequence(&self) -> &'static str {
        match self {
            Self { has_last_good: true, .. } => "its last valid version stays in force",
            Self { is_partial: true, .. } => "this part of the file is ignored; the rest is in force",
            _ => "the file is ignored",
        }
    }
}

/// The content of the cache except the rules and the inputs. Its size does not depend on the number of rules.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CacheHeader {
    /// The build that wrote the cache. Another build may use another format.
    build: String,
    /// The policy folders, in order.
    tiers: Vec<PathBuf>,
    /// See [`LoadedPolicy::text_to_trust`].
    text_to_trust: String,
    /// True if a person had trusted `text_to_trust` when the policy was compiled.
    is_trusted: bool,
    compiled_at: SystemTime,
    config: Config,
    valid_configs: Vec<LastGoodConfig>,
    broken: Vec<BrokenFile>,
    untrusted: Vec<String>,
    contested_ids: Vec<String>,
    rules_digest: String,
}

/// Identifies the build, because development builds of the same version may use different formats.
pub(crate) const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("LINCHPIN_BUILD"));

/// Returns the policy of these tiers from the cache if that is fresh; otherwise compiles it and writes the cache. If
/// the project's policy folder was deleted, its last compiled version applies.
pub fn compiled_policy(tiers: &PolicyFolders, cache: &Path, trusted: impl Fn(&str) -> bool) -> CompiledPolicy {
    read_or_compile(tiers, Some(cache), &trusted, |fresh| {
        // Without a cache, for example on a read-only disk, hooks are only slower.
        let _ = fresh.write(cache);
    })
}

/// Like [`compiled_policy`], but does not write the cache: for commands that only show the policy. The next hook must
/// still notice that the policy is new.
pub fn compiled_policy_read_only(
    tiers: &PolicyFolders,
    cache: &Path,
    trusted: impl Fn(&str) -> bool,
) -> CompiledPolicy {
    read_or_compile(tiers, Some(cache), &trusted, |_| {})
}

/// The last good versions that the cache stores.
pub fn last_good_policy(cache: &Path) -> LastGoodPolicy {
    OpenCache::open(cache).and_then(OpenCache::read).map(|cached| cached.last_good()).unwrap_or_default()
}

/// Compiles the current files without a cache and without last good versions.
pub fn compile_uncached(tiers: &PolicyFolders, trusted: impl Fn(&str) -> bool) -> CompiledPolicy {
    read_or_compile(tiers, None, &trusted, |_| {})
}

fn read_or_compile(
    tiers: &PolicyFolders,
    cache: Option<&Path>,
    trusted: &impl Fn(&str) -> bool,
    save: impl Fn(&FreshPolicy),
) -> CompiledPolicy {
    let fresh = match cache.and_then(OpenCache::open).and_then(|opened| opened.read_with_changes(tiers, trusted)) {
        None => compile(tiers, &LastGoodPolicy::default(), trusted),
        Some((cached, changes)) => {
            if changes.is_none() || cached.is_project_deleted(tiers) {
                return cached.into_compiled();
            }
            let updated = match changes {
                ChangedInputs::Files(files) => cached.update(tiers, &files),
                ChangedInputs::Unknown => None,
            };
            updated.unwrap_or_else(|| compile(tiers, &cached.last_good(), trusted))
        }
    };
    save(&fresh);
    CompiledPolicy { definitions_read: fresh.definitions_read, ..fresh.header.into_compiled(fresh.rules) }
}

/// A policy that was just compiled.
struct FreshPolicy {
    header: CacheHeader,
    /// Serialized; `None` if they cannot be serialized, or the policy must not be cached.
    inputs: Option<Vec<u8>>,
    rules: RuleSet,
    definitions_read: Vec<RuleDefinition>,
}

fn compile(tiers: &PolicyFolders, last_good: &LastGoodPolicy, trusted: &impl Fn(&str) -> bool) -> FreshPolicy {
    // Taken before the files are read, so that later changes look newer.
    let now = SystemTime::now();
    let loaded = load(tiers, last_good, trusted);
    let inputs = loaded.inputs.to_bytes();
    let packed = RuleSet::pack(&loaded.in_force_rules());
    let header = CacheHeader {
        build: BUILD.to_owned(),
        tiers: tiers.folders().map(|folder| folder.path.clone()).collect(),
        is_trusted: trusted(&loaded.text_to_trust),
        untrusted: loaded.left_out_parts().map(Diagnostic::line).collect(),
        compiled_at: now,
        broken: broken_files(&loaded),
        contested_ids: contested_ids(&loaded),
        text_to_trust: loaded.text_to_trust,
        config: loaded.config,
        valid_configs: loaded.valid_configs,
        rules_digest: String::new(),
    };
    let definitions_read = loaded.definitions.into_iter().filter(|definition| !definition.span.is_empty()).collect();
    // Packing rules that were just read should not fail. If it does, an empty rule set must not be cached.
    match packed {
        Ok(rules) => {
            let header = CacheHeader { rules_digest: digest(rules.as_bytes()), ..header };
            FreshPolicy { header, inputs, rules, definitions_read }
        }
        Err(error) => {
            let problem = format!("the policy cannot be compiled: {error}");
            let broken = vec![BrokenFile { problem, has_last_good: false, is_partial: false }];
            FreshPolicy {
                header: CacheHeader { broken, ..header },
                inputs: None,
                rules: RuleSet::default(),
                definitions_read,
            }
        }
    }
}

/// The files with errors, each with its first error.
fn broken_files(loaded: &LoadedPolicy) -> Vec<BrokenFile> {
    let has_last_good = |problem: &Diagnostic| {
        let mut definitions = loaded.rules.iter().map(|in_force| &in_force.definition);
        loaded.replaced_configs.contains(&problem.source.name)
            || definitions.any(|definition| definition.is_last_good && definition.rule.source == problem.source.name)
    };
    let mut seen = BTreeSet::new();
    let first_errors = loaded.errors().filter(|problem| seen.insert(problem.source.name.as_str()));
    let is_partial = |problem: &Diagnostic| match problem.kind {
        DiagnosticKind::UnknownRule | DiagnosticKind::DuplicateRule => true,
        DiagnosticKind::InvalidYaml => false,
        _ => loaded.current_configs.contains(&problem.source.name),
    };
    let broken = |problem: &Diagnostic| BrokenFile {
        problem: problem.line(),
        has_last_good: has_last_good(problem),
        is_partial: is_partial(problem),
    };
    first_errors.map(broken).collect()
}

impl LoadedPolicy {
    /// The rules and settings of the project that are not in force because they are not trusted, or because the user's
    /// tier has priority.
    fn left_out_parts(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|problem| {
            problem.severity == Severity::Warning
                && matches!(problem.kind, DiagnosticKind::Untrusted | DiagnosticKind::Overruled)
        })
    }
}

impl CacheHeader {
    fn into_compiled(self, rules: RuleSet) -> CompiledPolicy {
        CompiledPolicy {
            config: Arc::new(self.config),
            rules,
            broken: self.broken,
            untrusted: self.untrusted,
            rules_digest: self.rules_digest,
            read_at: self.compiled_at,
            definitions_read: Vec::new(),
        }
    }
}

impl FreshPolicy {
    fn write(&self, path: &Path) -> io::Result<()> {
        let Some(inputs) = &self.inputs else { return Ok(()) };
        let header = postcard::to_stdvec(&self.header).map_err(io::Error::other)?;
        let length = |part: &[u8]| u32::try_from(part.len()).map(u32::to_le_bytes).map_err(io::Error::other);
        let lengths = [length(&header)?, length(inputs)?].concat();
        write_private_file(path, [&lengths, &header, inputs, self.rules.as_bytes()].concat())
    }
}

/// The cache file after its header and inputs were read. The file has the lengths of the header and the inputs, then
/// the header, the inputs and the rules.
struct OpenCache {
    file: fs::File,
    header: CacheHeader,
    inputs: Arc<Vec<u8>>,
}

/// The cache file, read completely.
struct CachedPolicy {
    header: CacheHeader,
    inputs: Arc<Vec<u8>>,
    rules: RuleSet,
}

impl OpenCache {
    /// `None` if there is no cache, or another build wrote it.
    fn open(path: &Path) -> Option<Self> {
        let mut file = fs::File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let mut lengths = [0; 8];
        file.read_exact(&mut lengths).ok()?;
        let (header, inputs) = lengths.split_first_chunk::<4>()?;
        let [header, inputs] = [*header, *inputs.first_chunk()?].map(|length| u32::from_le_bytes(length) as usize);
        // In a damaged file the lengths can be anything.
        if u64::try_from(header + inputs).is_ok_and(|both| both > length) {
            return None;
        }
        let [mut header, mut inputs] = [header, inputs].map(|length| vec![0; length]);
        file.read_exact(&mut header).ok()?;
        file.read_exact(&mut inputs).ok()?;
        let header: CacheHeader = postcard::from_bytes(&header).ok()?;
        (header.build == BUILD).then(|| Self { file, header, inputs: Arc::new(inputs) })
    }

    fn read(mut self) -> Option<CachedPolicy> {
        let mut rules = Vec::new();
        self.file.read_to_end(&mut rules).ok()?;
        let Self { header, inputs, .. } = self;
        Some(CachedPolicy { header, inputs, rules: RuleSet::from_bytes(Arc::new(rules), 0) })
    }

    /// Reads the rules, and finds out what has changed since the policy was compiled. Checking the stamps takes about
    /// as long as reading the rules, so both are done at the same time.
    fn read_with_changes(
        self,
        tiers: &PolicyFolders,
        trusted: &impl Fn(&str) -> bool,
    ) -> Option<(CachedPolicy, ChangedInputs)> {
        let header = &self.header;
        let has_same_trust = header.text_to_trust.is_empty() || trusted(&header.text_to_trust) == header.is_trusted;
        if !has_same_trust || !header.is_for(tiers) {
            return Some((self.read()?, ChangedInputs::Unknown));
        }
        let check = FreshnessCheck::begin(Arc::clone(&self.inputs), header.compiled_at);
        let cached = self.read()?;
        Some((cached, check.finish()))
    }
}

impl CacheHeader {
    fn is_for(&self, tiers: &PolicyFolders) -> bool {
        self.tiers.iter().eq(tiers.folders().map(|folder| &folder.path))
    }
}

impl CachedPolicy {
    /// True if the project's policy was deleted; its cached version then still applies.
    fn is_project_deleted(&self, tiers: &PolicyFolders) -> bool {
        self.header.is_for(tiers) && tiers.project.as_ref().is_some_and(|folder| !folder.has_policy())
    }

    fn into_compiled(self) -> CompiledPolicy {
        self.header.into_compiled(self.rules)
    }

    /// Reads only the changed rules; `None` if the whole policy must be compiled again.
    fn update(&self, tiers: &PolicyFolders, changed: &[PathBuf]) -> Option<FreshPolicy> {
        let header = &self.header;
        if !header.broken.is_empty() || !header.untrusted.is_empty() {
            return None;
        }
        // Taken before the files are read, so that later changes look newer.
        let compiled_at = SystemTime::now();
        let (config, contested_ids) = (&header.config, &*header.contested_ids);
        let compiler = IncrementalCompiler { tiers, config, rules: &self.rules, contested_ids };
        let mut inputs = Inputs::from_bytes(&self.inputs)?;
        let update = compiler.update(changed, &mut inputs)?;
        let rules_digest = digest([header.rules_digest.as_bytes(), update.changed.as_bytes()].concat());
        Some(FreshPolicy {
            header: CacheHeader { compiled_at, rules_digest, ..header.clone() },
            inputs: inputs.to_bytes(),
            rules: update.rules,
            definitions_read: update.definitions_read,
        })
    }

    fn last_good(&self) -> LastGoodPolicy {
        LastGoodPolicy { rules: self.rules.all().unwrap_or_default(), configs: self.header.valid_configs.clone() }
    }
}

/// The rules in a copy of the cache, if it has this digest.
pub(crate) fn rules_in(file: &Path, rules_digest: &str) -> Option<RuleSet> {
    let opened = OpenCache::open(file).filter(|opened| opened.header.rules_digest == rules_digest)?;
    opened.read().map(|cached| cached.rules)
}
