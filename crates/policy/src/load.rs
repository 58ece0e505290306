//! The policy as its files say: every tier read, checked, and laid over the farther ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::expr::Scope;
use engine::rules::{Rule, Tier};

use crate::bundled::bundled_rules;
use crate::catalogue::Catalogue;
use crate::config::{Config, ConfigFile, Setting};
use crate::config_triggers::{self, TriggerSource};
use crate::deepwork;
use crate::enforce::{Enforcement, InForce, Reason};
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::library::{self, Entries, Library};
use crate::lints;
use crate::people_only;
use crate::rule::definition::{Definition, Form};
use crate::rule::reader::RuleReader;
use crate::rule_list::RuleList;
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Source;
use crate::values::rule_id;

/// Of one file.
const PROBLEMS_LIMIT: usize = 50;

/// All that the policy files say.
#[derive(Debug, Default)]
pub struct Loaded {
    pub config: Config,
    /// In force, in byte order of their ids.
    pub rules: Vec<InForce>,
    /// Every rule that is written down, in force or not: by tier, then by id.
    pub definitions: Vec<Definition>,
    /// Every problem of every file: by tier, then by file.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file and folder that was looked at, as it was before it was read.
    pub inputs: Inputs<'static>,
    /// The configuration files whose text is sound, for when one of them later is not.
    pub sound_configs: Vec<SoundConfig>,
    /// What in the project's policy weakens a guard or starts a program, as one text; empty: nothing.
    pub weakening: String,
    /// The rules that are left out until a person accepts them.
    pub untrusted: Vec<Definition>,
    /// The configurations that count as they last were, by the names under which people know them.
    pub last_good_configs: Vec<String>,
    /// The configurations that count as they are now, by the same names; of a broken one, what is sound in it.
    pub read_configs: Vec<String>,
    /// How many rule files were read, in force or not.
    pub files: usize,
    /// What workflows are read by.
    pub(crate) context: PolicyContext,
}

/// What is known of the whole policy, for files that are read once it is.
#[derive(Debug, Default)]
pub struct PolicyContext {
    pub libraries: Vec<Library>,
    /// What expressions may name everywhere.
    pub scope: Scope,
    /// The variables that are the user's own.
    pub users_variables: BTreeSet<String>,
    pub protected_branches: Vec<String>,
    /// Names of rules that are written down and cannot be used.
    pub broken: BTreeSet<String>,
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
    let (loaded, broken) = read_tiers(tiers, before, &[], &trusted);
    let has_last_good = |path: &PathBuf| before.configs.iter().any(|sound| sound.path == *path);
    let replaced: Vec<PathBuf> = broken.into_iter().filter(has_last_good).collect();
    if replaced.is_empty() {
        return loaded;
    }
    // A configuration whose list is wrong counts as it last was, whole; what is said is about how it is now.
    let (as_before, _) = read_tiers(tiers, before, &replaced, &trusted);
    Loaded { diagnostics: loaded.diagnostics, ..as_before }
}

/// Also returns the configurations whose `rules` are wrong. `replaced`: those that count as they last were.
fn read_tiers(
    tiers: &Tiers,
    before: &Before,
    replaced: &[PathBuf],
    trusted: &impl Fn(&str) -> bool,
) -> (Loaded, Vec<PathBuf>) {
    let mut loader = Loader::new(before);
    let mut layers: Vec<Layer> = tiers.folders().map(|folder| loader.read_config(folder, replaced)).collect();
    loader.declare_names(&layers);
    for layer in &mut layers {
        loader.read_triggers(layer, tiers);
    }
    loader.add_bundled();
    for layer in &layers {
        loader.read_rules(layer);
    }
    let problems = loader.catalogue.import_problems();
    loader.say(problems);
    for layer in layers {
        loader.enforce(layer);
    }
    let (mut read, broken) = loader.finish(trusted);
    if let Some(project) = &tiers.project {
        read.diagnostics.extend(lints::of_folders(&read.rules, &project.base));
    }
    (read, broken)
}

impl Loaded {
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// One tier's folder, with what its configuration says.
struct Layer<'a> {
    folder: &'a PolicyFolder,
    rules_dir: PathBuf,
    file: ConfigFile,
    source: Source,
}

struct Loader<'a> {
    before: &'a Before,
    loaded: Loaded,
    catalogue: Catalogue,
    /// What expressions may name.
    scope: Scope,
    protected_branches: Vec<String>,
    /// Names of rules that are written down and cannot be used; that is said where they are written.
    broken: BTreeSet<String>,
    enforcement: Enforcement,
    broken_configs: Vec<PathBuf>,
}

impl<'a> Loader<'a> {
    fn new(before: &'a Before) -> Self {
        Self {
            before,
            loaded: Loaded::default(),
            catalogue: Catalogue::default(),
            scope: Scope::default(),
            protected_branches: Vec::new(),
            broken: BTreeSet::new(),
            enforcement: Enforcement::default(),
            broken_configs: Vec::new(),
        }
    }

    fn read_config<'f>(&mut self, folder: &'f PolicyFolder, replaced: &[PathBuf]) -> Layer<'f> {
        let path = folder.config();
        let last_good = self.before.configs.iter().find(|sound| sound.path == path).cloned();
        let named = |text: &str| Source::new(folder.shown(&path), text);
        let (mut source, mut file) = (named(""), ConfigFile::default());
        match (self.read_file(folder, &path), last_good) {
            // It is there and cannot be read, or is wrong, which was said.
            (read, Some(last_good)) if replaced.contains(&path) || (read.is_none() && path.exists()) => {
                source = named(&last_good.text);
                file = self.loaded.config.overlay(&source, folder.tier);
                self.loaded.last_good_configs.push(source.name.clone());
                self.loaded.sound_configs.push(last_good);
            }
            (None, _) => {}
            (Some(read), last_good) => {
                let mut config = self.loaded.config.clone();
                file = config.overlay(&read, folder.tier);
                let problems = std::mem::take(&mut file.problems);
                let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
                source = read;
                if let (true, Some(last_good)) = (broken, last_good) {
                    config = self.loaded.config.clone();
                    source = named(&last_good.text);
                    file = config.overlay(&source, folder.tier);
                    self.loaded.last_good_configs.push(source.name.clone());
                    self.loaded.sound_configs.push(last_good);
                } else {
                    self.loaded.read_configs.push(source.name.clone());
                    if !broken {
                        self.loaded.sound_configs.push(SoundConfig { path, text: source.text.to_string() });
                    }
                }
                self.loaded.config = config;
                self.say(problems);
            }
        }
        let rules_dir = self.loaded.config.rules_dir(folder);
        Layer { folder, rules_dir, file, source }
    }

    fn declare_names(&mut self, layers: &[Layer]) {
        self.loaded.config.declare_in(&mut self.scope);
        self.loaded.context.users_variables = self.loaded.config.users_variables();
        // Programs that wait for acceptance feed functions too: a rule that uses one is not at fault.
        for unaccepted in layers.iter().flat_map(|layer| &layer.file.settings) {
            if let Setting::External(observer) = &unaccepted.setting {
                observer.declare_in(&mut self.scope);
            }
        }
        let problems = self.loaded.config.check_observers(&self.scope);
        let is_broken = |layer: &&Layer| problems.iter().any(|problem| problem.source.name == layer.source.name);
        self.broken_configs.extend(layers.iter().filter(is_broken).map(|layer| layer.folder.config()));
        self.say(problems);
        let has_user_tier = layers.iter().any(|layer| layer.folder.tier == Tier::User);
        self.protected_branches = self.loaded.config.branches.protected(has_user_tier);
        self.enforcement.protected_branches.clone_from(&self.protected_branches);
    }

    /// What a configuration does when events come. The rules among it join those of its lists.
    fn read_triggers(&mut self, layer: &mut Layer, tiers: &Tiers) {
        let Some((node, end)) = layer.file.triggers.take() else { return };
        let (source, tier, scope) = (&layer.source, layer.folder.tier, &self.scope);
        let users_variables = &self.loaded.context.users_variables;
        let around = TriggerSource { tiers, source, tier, scope, users_variables };
        let read = config_triggers::read(node, end, &around);
        layer.file.lists.extend(read.blocked);
        self.loaded.config.triggers.push(read.triggers);
        self.loaded.inputs.absorb(read.inputs);
        if read.problems.iter().any(|problem| problem.severity == Severity::Error) {
            self.broken_configs.push(layer.folder.config());
        }
        self.say(read.problems);
    }

    fn add_bundled(&mut self) {
        for bundled in bundled_rules() {
            let source = bundled.source();
            let reading = self.reader(&source, Tier::Bundled).markdown(bundled.id, Form::Bundled);
            self.say(reading.problems);
            let Some(definition) = reading.definition else { continue };
            if definition.rule.locked {
                self.enforcement.lock(definition.clone());
            }
            self.catalogue_rule(definition);
        }
    }

    fn read_rules(&mut self, layer: &Layer) {
        self.loaded.diagnostics.extend(layer.folder.misnamed());
        if layer.folder.tier == Tier::Project {
            self.loaded.diagnostics.extend(deepwork::warnings(layer.folder, &layer.rules_dir));
            self.loaded.diagnostics.extend(reading::missing(layer.folder, &layer.rules_dir));
            self.loaded.diagnostics.extend(reading::out_of_force(layer.folder, &layer.rules_dir));
        }
        self.loaded.inputs.note(&layer.rules_dir);
        let listed = reading::rule_files(&layer.rules_dir);
        match listed {
            Ok(files) => {
                self.loaded.diagnostics.extend(files.problems(layer.folder));
                self.loaded.diagnostics.extend(files.doubts(layer.folder));
                files.pages.iter().for_each(|path| self.loaded.inputs.note(path));
                files.markdown.iter().for_each(|path| self.read_markdown(layer, path));
                files.libraries.iter().for_each(|path| self.read_library(layer, path));
            }
            Err(error) => {
                let problem = reading::unreadable(layer.folder, &layer.rules_dir, &error);
                self.loaded.diagnostics.push(problem);
                let known: Vec<&Rule> =
                    self.before.rules.iter().filter(|rule| rule.tier == layer.folder.tier).collect();
                for rule in known {
                    self.keep_last_good(layer, rule);
                }
            }
        }
    }

    fn read_markdown(&mut self, layer: &Layer, path: &Path) {
        let Some(id) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        if let Err(wrong) = rule_id::check(&id) {
            self.loaded.diagnostics.push(wrong.at(&Source::new(layer.folder.shown(path), ""), None));
            return;
        }
        let Some(source) = self.read_file(layer.folder, path) else {
            self.keep_last_good_of(layer, path);
            return;
        };
        self.loaded.files += 1;
        let reader = self.reader(&source, layer.folder.tier);
        let reading = reader.markdown(&id, Form::Markdown);
        self.say(reading.problems);
        let Some(definition) = reading.definition else {
            self.broken.insert(id);
            self.keep_last_good_of(layer, path);
            return;
        };
        self.catalogue_rule(definition);
    }

    fn read_library(&mut self, layer: &Layer, path: &Path) {
        let Some(name) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        let Some(source) = self.read_file(layer.folder, path) else {
            self.keep_last_good_of(layer, path);
            return;
        };
        self.loaded.files += 1;
        let reader = self.reader(&source, layer.folder.tier);
        match library::read(reader, &name) {
            Ok((library, entries)) => {
                self.catalogue.add_library(library);
                self.catalogue_entries(layer, entries, path);
            }
            Err(problems) => {
                self.say(problems);
                self.keep_last_good_of(layer, path);
            }
        }
    }

    fn catalogue_entries(&mut self, layer: &Layer, entries: Entries, path: &Path) {
        self.say(entries.problems);
        for definition in entries.definitions {
            self.catalogue_rule(definition);
        }
        let source = layer.folder.shown(path);
        let known = |rule: &&Rule| entries.broken.contains(&rule.id) && rule.source == source;
        let last: Vec<&Rule> = self.before.rules.iter().filter(known).collect();
        self.broken.extend(entries.broken.iter().cloned());
        for rule in last {
            self.keep_last_good(layer, rule);
        }
    }

    fn catalogue_rule(&mut self, definition: Definition) {
        if let Err(problem) = self.catalogue.add(definition) {
            self.loaded.diagnostics.push(*problem);
        }
    }

    /// The rules of a file that is broken stay as they last were.
    fn keep_last_good_of(&mut self, layer: &Layer, path: &Path) {
        let source = layer.folder.shown(path);
        let last: Vec<&Rule> = self.before.rules.iter().filter(|rule| rule.source == source).collect();
        for rule in last {
            self.keep_last_good(layer, rule);
        }
    }

    fn keep_last_good(&mut self, layer: &Layer, rule: &Rule) {
        if rule.tier != layer.folder.tier {
            return;
        }
        let is_markdown = Path::new(&rule.source).extension().is_some_and(|extension| extension == "md");
        let form = if is_markdown { Form::Markdown } else { Form::Library };
        // A sound rule of the same name says more than the memory of a broken one.
        let _ = self.catalogue.add(Definition::last_good(rule, form, layer.folder.tier));
    }

    /// Puts the rules of one tier in force.
    fn enforce(&mut self, layer: Layer) {
        let tier = layer.folder.tier;
        let own: Vec<Definition> =
            self.catalogue.of_tier(tier).filter(|rule| rule.form == Form::Markdown).cloned().collect();
        for definition in own {
            self.enforcement.add(definition, Reason::RuleFile);
        }
        if tier == Tier::Project {
            self.enforcement.add_settings(&layer.file, &layer.source);
        }
        self.enforce_list(layer);
        if tier == Tier::User {
            self.enforcement.end_of_user_tier();
        }
        self.loaded.diagnostics.append(&mut self.enforcement.problems);
    }

    fn finish(self, trusted: &impl Fn(&str) -> bool) -> (Loaded, Vec<PathBuf>) {
        let mut loaded = self.loaded;
        let enforced = self.enforcement.finish(&mut loaded.config, trusted);
        loaded.rules = enforced.rules;
        people_only::complete(&mut loaded.rules, &loaded.config);
        loaded.weakening = enforced.weakening;
        loaded.untrusted = enforced.untrusted;
        loaded.diagnostics.extend(lints::of_named_rules(&loaded.rules));
        loaded.diagnostics.extend(lints::of_silent_rules(&loaded.rules));
        loaded.diagnostics.extend(enforced.problems);
        let (definitions, libraries) = self.catalogue.into_parts();
        loaded.definitions.extend(definitions);
        loaded.context.libraries = libraries;
        loaded.context.scope = self.scope;
        loaded.context.protected_branches = self.protected_branches;
        loaded.context.broken = self.broken;
        loaded.definitions.sort_by(|a, b| (a.rule.tier, &a.rule.id).cmp(&(b.rule.tier, &b.rule.id)));
        loaded.sound_configs.retain(|sound| !self.broken_configs.contains(&sound.path));
        // What was found late belongs to what was found early in the same file.
        let mut files: BTreeMap<String, usize> = BTreeMap::new();
        for problem in &loaded.diagnostics {
            let next = files.len();
            files.entry(problem.source.name.clone()).or_insert(next);
        }
        loaded.diagnostics.sort_by_key(|problem| {
            let start = problem.span.as_ref().map_or(usize::MAX, |span| span.start);
            (files.get(&problem.source.name).copied(), start)
        });
        (loaded, self.broken_configs)
    }

    /// The `rules` list of a configuration: names, and rules written there.
    fn enforce_list(&mut self, layer: Layer) {
        let Layer { folder, file, source, .. } = layer;
        let list = RuleList {
            reader: self.reader(&source, folder.tier),
            catalogue: &self.catalogue,
            broken: &self.broken,
            before: &self.before.rules,
        };
        let listed = list.read(file);
        let is_error = |problem: &Diagnostic| problem.severity == Severity::Error && problem.source.name == source.name;
        if listed.problems.iter().any(is_error) {
            self.broken_configs.push(folder.config());
        }
        self.loaded.definitions.extend(listed.written);
        self.say(listed.problems);
        for definition in listed.chosen {
            self.enforcement.choose(definition, Reason::Named(folder.tier), folder.tier);
        }
    }

    fn reader<'s>(&'s self, source: &'s Source, owner: Tier) -> RuleReader<'s> {
        RuleReader { source, owner, scope: &self.scope, protected_branches: &self.protected_branches }
    }

    /// A file can be wrong in more ways than anybody wants to read.
    fn say(&mut self, mut problems: Vec<Diagnostic>) {
        let rest = problems.len().saturating_sub(PROBLEMS_LIMIT);
        problems.truncate(PROBLEMS_LIMIT);
        if let (Some(last), true) = (problems.last().cloned(), rest > 0) {
            let problems_named = if rest == 1 { "problem" } else { "problems" };
            let message = format!("and {rest} more {problems_named} in this file");
            problems.push(Diagnostic { message, help: None, span: None, severity: Severity::Error, ..last });
        }
        self.loaded.diagnostics.extend(problems);
    }

    /// `None` where there is no such file, or it cannot be read, which is said.
    fn read_file(&mut self, folder: &PolicyFolder, path: &Path) -> Option<Source> {
        // The stamp is taken first: a write in between shows as a change.
        self.loaded.inputs.note(path);
        match reading::read(folder, path) {
            Ok(source) => source,
            Err(problem) => {
                self.loaded.diagnostics.push(*problem);
                None
            }
        }
    }
}
