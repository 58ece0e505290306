//! The policy as its files say: every tier read, checked, and laid over the farther ones.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Level;
use engine::expr::Scope;
use engine::rules::{Rule, Tier};

use crate::bundled::bundled_rules;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::folder::{PolicyFolder, Tiers};
use crate::inputs::Inputs;
use crate::rule_file::{self, RuleFile};
use crate::source::Source;

const FILE_LIMIT: u64 = 256 * 1024;
const FILES_LIMIT: usize = 10_000;
/// Of one file.
const PROBLEMS_LIMIT: usize = 50;

/// All that the policy files say.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    /// In force, in byte order of their ids.
    pub rules: Vec<InForce>,
    /// Every problem of every file: by tier, then by file.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file and folder that was looked at, as it was before it was read.
    pub inputs: Inputs,
    /// The configuration files whose text is sound, for when one of them later is not.
    pub sound_configs: Vec<SoundConfig>,
    /// What in the project's policy weakens a guard, as one text; empty: nothing.
    pub weakening: String,
    /// How many rule files were read, in force or not.
    pub files: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    pub rule: Rule,
    pub reason: Reason,
}

/// Why a rule is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A Markdown rule of its tier.
    RuleFile,
    /// The configuration names it.
    Named,
    Locked,
    /// Its file is broken now; this is how it last was.
    LastGood,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SoundConfig {
    pub path: PathBuf,
    pub text: String,
}

/// What is known from before.
#[derive(Debug, Default)]
pub struct Before {
    pub rules: Vec<Rule>,
    pub configs: Vec<SoundConfig>,
}

/// Reads every tier. `trusted` says whether a person accepted a text of what weakens a guard; what they have not
/// accepted is left out.
pub fn load(tiers: &Tiers, before: &Before, trusted: impl Fn(&str) -> bool) -> Loaded {
    let mut loader = Loader { before, loaded: Loaded::empty(), rules: BTreeMap::new(), pending: Vec::new() };
    let mut folders = Vec::new();
    for folder in tiers.folders() {
        let rules_dir = loader.read_config(folder);
        folders.push((folder, rules_dir));
    }
    let mut scope = Scope::default();
    loader.loaded.config.declare_in(&mut scope);
    let problems = loader.loaded.config.check_observers(&scope);
    loader.say(problems);
    loader.add_bundled(&scope);
    for (folder, rules_dir) in folders {
        loader.read_rules(folder, &rules_dir, &scope);
    }
    loader.finish(trusted)
}

impl Loaded {
    fn empty() -> Self {
        Self {
            config: Config::default(),
            rules: Vec::new(),
            diagnostics: Vec::new(),
            inputs: Inputs::default(),
            sound_configs: Vec::new(),
            weakening: String::new(),
            files: 0,
        }
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

struct Loader<'a> {
    before: &'a Before,
    loaded: Loaded,
    /// By id: what is in force so far.
    rules: BTreeMap<String, InForce>,
    /// Changes by the project that weaken a guard: they count once a person has accepted them.
    pending: Vec<Weakening>,
}

/// A project's rule that approves, replaces or switches off, and what it says.
struct Weakening {
    what: String,
    rule: RuleFile,
    source: Source,
}

impl Loader<'_> {
    /// Returns the folder with the rules.
    fn read_config(&mut self, folder: &PolicyFolder) -> PathBuf {
        let path = folder.config();
        // Its own folder too: that is where a configuration appears.
        self.loaded.inputs.note(&folder.path);
        let source = self.read_file(folder, &path);
        let last_good = self.before.configs.iter().find(|sound| sound.path == path).cloned();
        if let (None, Some(last_good), true) = (&source, last_good.clone(), path.exists()) {
            // It is there and cannot be read, which was said.
            self.loaded.config.overlay(&Source::new(folder.shown(&path), last_good.text.as_str()), folder.tier);
            self.loaded.sound_configs.push(last_good);
        } else if let Some(source) = source {
            let mut config = self.loaded.config.clone();
            let problems = config.overlay(&source, folder.tier);
            let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
            if let (true, Some(last_good)) = (broken, last_good) {
                config = self.loaded.config.clone();
                config.overlay(&Source::new(&source.name, last_good.text.as_str()), folder.tier);
                self.loaded.sound_configs.push(last_good);
            } else if !broken {
                self.loaded.sound_configs.push(SoundConfig { path, text: source.text.to_string() });
            }
            self.loaded.config = config;
            self.say(problems);
        }
        let named = self.loaded.config.rules_dir.as_ref().filter(|_| folder.tier == Tier::Project);
        named.map_or_else(|| folder.rules(), |name| folder.base.join(name))
    }

    fn add_bundled(&mut self, scope: &Scope) {
        for bundled in bundled_rules() {
            let reading = rule_file::read(&bundled.source(), bundled.id, Tier::Bundled, scope);
            self.say(reading.problems);
            let Some(file) = reading.file else { continue };
            let reason = if self.loaded.config.rules.contains_key(bundled.id) {
                Reason::Named
            } else if file.rule.locked {
                Reason::Locked
            } else {
                continue;
            };
            self.rules.insert(bundled.id.to_owned(), InForce { rule: file.rule, reason });
        }
    }

    fn read_rules(&mut self, folder: &PolicyFolder, rules_dir: &Path, scope: &Scope) {
        self.loaded.inputs.note(rules_dir);
        for path in self.rule_files(folder, rules_dir) {
            let Some(id) = self.rule_id(folder, &path) else { continue };
            let Some(source) = self.read_file(folder, &path) else {
                self.keep_last_good(&id, folder.tier, &folder.shown(&path));
                continue;
            };
            self.loaded.files += 1;
            let reading = rule_file::read(&source, &id, folder.tier, scope);
            self.say(reading.problems);
            match reading.file {
                Some(file) => self.add(file, source),
                None => self.keep_last_good(&id, folder.tier, &source.name),
            }
        }
    }

    fn rule_files(&mut self, folder: &PolicyFolder, rules_dir: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = match fs::read_dir(rules_dir) {
            Ok(entries) => entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                self.unreadable(folder, rules_dir, &error);
                let known: Vec<_> = self.before.rules.iter().filter(|rule| rule.tier == folder.tier).collect();
                for rule in known {
                    self.keep_last_good(&rule.id, rule.tier, &rule.source);
                }
                Vec::new()
            }
        };
        files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        files.sort();
        if files.len() > FILES_LIMIT {
            let source = Source::new(folder.shown(rules_dir), "");
            let message = format!("{} rule files are more than the {FILES_LIMIT} that are read", files.len());
            self.loaded.diagnostics.push(Diagnostic::error(ErrorKind::TooLarge, message, &source, None));
            files.truncate(FILES_LIMIT);
        }
        files
    }

    fn rule_id(&mut self, folder: &PolicyFolder, path: &Path) -> Option<String> {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        if stem == "linchpin" {
            let source = Source::new(folder.shown(path), "");
            self.loaded.diagnostics.push(
                Diagnostic::error(
                    ErrorKind::InvalidValue,
                    "`linchpin` cannot be a rule's id: the guard itself speaks under it",
                    &source,
                    None,
                )
                .help("give the file another name"),
            );
            return None;
        }
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if stem.starts_with(|first: char| first.is_ascii_alphanumeric()) && stem.chars().all(allowed) {
            return Some(stem);
        }
        let source = Source::new(folder.shown(path), "");
        self.loaded.diagnostics.push(
            Diagnostic::error(ErrorKind::InvalidValue, format!("`{stem}` cannot be a rule's id"), &source, None)
                .help("name the file with letters, digits, `-`, `_` and `.`, beginning with a letter or digit"),
        );
        None
    }

    /// A file can be wrong in more ways than anybody wants to read.
    fn say(&mut self, mut problems: Vec<Diagnostic>) {
        let rest = problems.len().saturating_sub(PROBLEMS_LIMIT);
        problems.truncate(PROBLEMS_LIMIT);
        if let (Some(last), true) = (problems.last().cloned(), rest > 0) {
            let message = format!("and {rest} more problems in this file");
            problems.push(Diagnostic { message, help: None, span: None, severity: Severity::Error, ..last });
        }
        self.loaded.diagnostics.extend(problems);
    }

    /// A rule whose file is broken stays as it last was.
    fn keep_last_good(&mut self, id: &str, tier: Tier, source: &str) {
        let last = self.before.rules.iter().find(|rule| rule.id == id && rule.tier == tier && rule.source == source);
        let is_locked = self.rules.get(id).is_some_and(|farther| farther.rule.locked);
        if let Some(rule) = last.filter(|_| !is_locked) {
            self.rules.insert(id.to_owned(), InForce { rule: rule.clone(), reason: Reason::LastGood });
        }
    }

    fn add(&mut self, file: RuleFile, source: Source) {
        let farther = self.rules.get(&file.rule.id).map(|in_force| &in_force.rule);
        if let Some(locked) = farther.filter(|rule| rule.locked) {
            let message =
                format!("`{}` is locked in the {} tier and cannot be replaced", locked.id, locked.tier.name());
            self.loaded.diagnostics.push(
                Diagnostic::error(ErrorKind::LockedRule, message, &source, None).help("give this rule another name"),
            );
            return;
        }
        // What the user chose: a rule of their own, or a bundled one that their configuration names.
        let users = farther
            .filter(|rule| rule.tier == Tier::User || self.loaded.config.rules.get(&rule.id) == Some(&Tier::User));
        let weakens = match users {
            _ if file.rule.tier != Tier::Project => None,
            Some(_) if file.enabled => Some("takes the place of a rule that the user chose"),
            Some(_) => Some("switches off a rule that the user chose"),
            _ if file.enabled && file.rule.action == Level::Allow => Some("approves calls without asking"),
            _ => None,
        };
        match weakens {
            Some(what) => self.pending.push(Weakening { what: what.to_owned(), rule: file, source }),
            None => self.put(file),
        }
    }

    fn put(&mut self, mut file: RuleFile) {
        file.rule.max_holds = file.rule.max_holds.or(self.loaded.config.max_holds(file.rule.tier));
        if file.enabled {
            let in_force = InForce { rule: file.rule, reason: Reason::RuleFile };
            self.rules.insert(in_force.rule.id.clone(), in_force);
        } else {
            self.rules.remove(&file.rule.id);
        }
    }

    fn finish(mut self, trusted: impl Fn(&str) -> bool) -> Loaded {
        let texts = self.pending.iter().flat_map(|change| [change.source.name.as_str(), &change.source.text]);
        self.loaded.weakening = texts.collect::<Vec<_>>().join("\n");
        let accepted = self.pending.is_empty() || trusted(&self.loaded.weakening);
        for change in std::mem::take(&mut self.pending) {
            if accepted {
                self.put(change.rule);
                continue;
            }
            let message = format!("{}; it is not in force until a person accepts it", change.what);
            self.loaded.diagnostics.push(
                Diagnostic::warning(ErrorKind::Untrusted, message, &change.source, None)
                    .help("run `linchpin trust` once you have read it"),
            );
        }
        self.loaded.rules = self.rules.into_values().collect();
        self.loaded
    }

    /// `None` where there is no such file, or it cannot be read, which is said.
    fn read_file(&mut self, folder: &PolicyFolder, path: &Path) -> Option<Source> {
        // The stamp is taken first: a write in between shows as a change.
        self.loaded.inputs.note(path);
        let name = folder.shown(path);
        match read_text(path) {
            Ok(text) => Some(Source::new(name, Arc::from(text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                let message = format!("the file is larger than the {} KiB that are read", FILE_LIMIT / 1024);
                let source = Source::new(name, "");
                self.loaded.diagnostics.push(Diagnostic::error(ErrorKind::TooLarge, message, &source, None));
                None
            }
            Err(error) => {
                self.unreadable(folder, path, &error);
                None
            }
        }
    }

    fn unreadable(&mut self, folder: &PolicyFolder, path: &Path, error: &std::io::Error) {
        let source = Source::new(folder.shown(path), "");
        let message = if error.kind() == std::io::ErrorKind::InvalidData {
            "the file is not UTF-8 text".to_owned()
        } else {
            format!("cannot be read: {error}")
        };
        self.loaded.diagnostics.push(Diagnostic::error(ErrorKind::Unreadable, message, &source, None));
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    // A pipe or device would make the hook wait, as soon as it is opened.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let file = fs::File::open(path)?;
    let mut text = String::new();
    let read = file.take(FILE_LIMIT + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_LIMIT {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}
