//! Loads the whole policy: reads and checks the files of every tier, and applies the tiers in order: bundled, user,
//! project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::expr::Scope;
use engine::rules::{Rule, Tier};

use crate::bundled::bundled_rules;
use crate::catalogue::Catalogue;
use crate::config::{Config, ConfigFile, SettingNeedingTrust};
use crate::deepwork;
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::library::{self, Library, RuleEntries};
use crate::lints;
use crate::list_resolver::ListResolver;
use crate::people_only;
use crate::read_config_triggers::{self, TriggerContext};
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::rules_in_force::{InForceBuilder, InForceReason, RuleInForce};
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Source;
use crate::values::rule_id;

/// Maximum number of problems that are reported for each file; further problems are only counted.
const PROBLEMS_LIMIT: usize = 50;

/// The policy after all files were read.
#[derive(Debug, Default)]
pub struct LoadedPolicy {
    pub config: Config,
    /// Rules in force, in byte order of their ids.
    pub rules: Vec<RuleInForce>,
    /// Every rule definition, in force or not: by tier, then by id.
    pub definitions: Vec<RuleDefinition>,
    /// Problems of all files: by tier, then by file.
    pub diagnostics: Vec<Diagnostic>,
    /// Files and directories that were read, with their stamps from just before they were read.
    pub inputs: Inputs<'static>,
    /// The configuration files without errors. The cache stores them, to replace later versions with errors.
    pub valid_configs: Vec<LastGoodConfig>,
    /// The parts of the project's policy that make the policy milder or start a program, as one string; empty if there
    /// are none.
    pub text_to_trust: String,
    /// Rules that are left out until a person trusts them.
    pub untrusted_rules: Vec<RuleDefinition>,
    /// Display names of the configurations that were replaced by their last good version.
    pub replaced_configs: Vec<String>,
    /// Display names of the configurations that apply in their current version. If that has errors, only its valid
    /// parts apply.
    pub current_configs: Vec<String>,
    /// Number of rule files that were read, in force or not.
    pub rule_file_count: usize,
    pub(crate) context: PolicyContext,
}

/// Facts about the whole policy that readers of workflows and loops need.
#[derive(Debug, Default)]
pub struct PolicyContext {
    pub libraries: Vec<Library>,
    /// Names that expressions may use everywhere.
    pub scope: Scope,
    /// Variables of the user's own policy, which a project cannot set.
    pub users_variables: BTreeSet<String>,
    pub protected_branches: Vec<String>,
    /// Ids of rules whose definitions have errors.
    pub broken_ids: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LastGoodConfig {
    pub path: PathBuf,
    pub text: String,
}

/// The last good versions of rules and configuration files, for files that have errors now.
#[derive(Debug, Default)]
pub struct LastGoodPolicy {
    pub rules: Vec<Rule>,
    pub configs: Vec<LastGoodConfig>,
}

/// Reads every tier. `trusted` is true if a person trusts the given [`LoadedPolicy::text_to_trust`]; untrusted parts
/// are left out.
pub fn load(tiers: &PolicyFolders, last_good: &LastGoodPolicy, trusted: impl Fn(&str) -> bool) -> LoadedPolicy {
    let (loaded, broken_configs) = read_tiers(tiers, last_good, &[], &trusted);
    let has_last_good = |path: &PathBuf| last_good.configs.iter().any(|config| config.path == *path);
    let replaced: Vec<PathBuf> = broken_configs.into_iter().filter(has_last_good).collect();
    if replaced.is_empty() {
        return loaded;
    }
    // A configuration with an error in its rules is replaced as a whole by its last good version. The diagnostics are
    // those of the current version.
    let (with_last_good, _) = read_tiers(tiers, last_good, &replaced, &trusted);
    LoadedPolicy { diagnostics: loaded.diagnostics, ..with_last_good }
}

/// Reads all tiers. Also returns the configurations with errors in `rules`, `observers` or `triggers`. `replaced`: the
/// configurations to read from their last good versions.
fn read_tiers(
    tiers: &PolicyFolders,
    last_good: &LastGoodPolicy,
    replaced: &[PathBuf],
    trusted: &impl Fn(&str) -> bool,
) -> (LoadedPolicy, Vec<PathBuf>) {
    let mut loader = Loader::new(last_good);
    let mut tier_configs: Vec<TierConfig> =
        tiers.folders().map(|folder| loader.read_config(folder, replaced)).collect();
    loader.declare_names(&tier_configs);
    for tier_config in &mut tier_configs {
        loader.read_triggers(tier_config, tiers);
    }
    loader.add_bundled();
    for tier_config in &tier_configs {
        loader.read_rules(tier_config);
    }
    let problems = loader.catalogue.import_problems();
    loader.report(problems);
    for tier_config in tier_configs {
        loader.put_in_force(tier_config);
    }
    let (mut policy, broken_configs) = loader.finish(trusted);
    if let Some(project) = &tiers.project {
        policy.diagnostics.extend(lints::directory_patterns(&policy.rules, &project.base));
    }
    (policy, broken_configs)
}

impl LoadedPolicy {
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// The policy folder of one tier, and its configuration file.
struct TierConfig<'a> {
    folder: &'a PolicyFolder,
    rules_dir: PathBuf,
    file: ConfigFile,
    source: Source,
}

struct Loader<'a> {
    last_good: &'a LastGoodPolicy,
    loaded: LoadedPolicy,
    catalogue: Catalogue,
    /// Names that expressions may use.
    scope: Scope,
    protected_branches: Vec<String>,
    /// Ids of rules with errors. The errors are reported where a rule is defined, and not where it is named.
    broken_ids: BTreeSet<String>,
    in_force: InForceBuilder,
    broken_configs: Vec<PathBuf>,
}

impl<'a> Loader<'a> {
    fn new(last_good: &'a LastGoodPolicy) -> Self {
        Self {
            last_good,
            loaded: LoadedPolicy::default(),
            catalogue: Catalogue::default(),
            scope: Scope::default(),
            protected_branches: Vec::new(),
            broken_ids: BTreeSet::new(),
            in_force: InForceBuilder::default(),
            broken_configs: Vec::new(),
        }
    }

    fn read_config<'f>(&mut self, folder: &'f PolicyFolder, replaced: &[PathBuf]) -> TierConfig<'f> {
        let path = folder.config();
        let last_good = self.last_good.configs.iter().find(|config| config.path == path).cloned();
        let source_of = |text: &str| Source::new(folder.display_name(&path), text);
        let (mut source, mut file) = (source_of(""), ConfigFile::default());
        match (self.read_file(folder, &path), last_good) {
            // The file exists, and is unreadable or has errors that were already reported.
            (read, Some(last_good)) if replaced.contains(&path) || (read.is_none() && path.exists()) => {
                source = source_of(&last_good.text);
                file = self.loaded.config.overlay(&source, folder.tier);
                self.loaded.replaced_configs.push(source.name.clone());
                self.loaded.valid_configs.push(last_good);
            }
            (None, _) => {}
            (Some(read), last_good) => {
                let mut config = self.loaded.config.clone();
                file = config.overlay(&read, folder.tier);
                let problems = std::mem::take(&mut file.problems);
                let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
                source = read;
                if let (true, Some(last_good)) = (has_errors, last_good) {
                    config = self.loaded.config.clone();
                    source = source_of(&last_good.text);
                    file = config.overlay(&source, folder.tier);
                    self.loaded.replaced_configs.push(source.name.clone());
                    self.loaded.valid_configs.push(last_good);
                } else {
                    self.loaded.current_configs.push(source.name.clone());
                    if !has_errors {
                        self.loaded.valid_configs.push(LastGoodConfig { path, text: source.text.to_string() });
                    }
                }
                self.loaded.config = config;
                self.report(problems);
            }
        }
        let rules_dir = self.loaded.config.rules_dir(folder);
        TierConfig { folder, rules_dir, file, source }
    }

    fn declare_names(&mut self, tier_configs: &[TierConfig]) {
        self.loaded.config.declare_in(&mut self.scope);
        self.loaded.context.users_variables = self.loaded.config.users_variables();
        // External observers that are not trusted yet declare their functions too, so that rules may use these.
        for untrusted in tier_configs.iter().flat_map(|tier_config| &tier_config.file.settings_needing_trust) {
            if let SettingNeedingTrust::External(observer) = &untrusted.setting {
                observer.declare_in(&mut self.scope);
            }
        }
        let problems = self.loaded.config.check_observers(&self.scope);
        let is_broken =
            |tier_config: &&TierConfig| problems.iter().any(|problem| problem.source.name == tier_config.source.name);
        self.broken_configs
            .extend(tier_configs.iter().filter(is_broken).map(|tier_config| tier_config.folder.config()));
        self.report(problems);
        let has_user_tier = tier_configs.iter().any(|tier_config| tier_config.folder.tier == Tier::User);
        self.protected_branches = self.loaded.config.branches.protected(has_user_tier);
        self.in_force.protected_branches.clone_from(&self.protected_branches);
    }

    /// Reads the configuration's `triggers`. Rules under `block_tools` are treated as rules of the configuration's
    /// lists.
    fn read_triggers(&mut self, tier_config: &mut TierConfig, tiers: &PolicyFolders) {
        let Some((node, end)) = tier_config.file.triggers.take() else { return };
        let (source, tier, scope) = (&tier_config.source, tier_config.folder.tier, &self.scope);
        let users_variables = &self.loaded.context.users_variables;
        let context = TriggerContext { tiers, source, tier, scope, users_variables };
        let read = read_config_triggers::read(node, end, &context);
        tier_config.file.lists.extend(read.block_tools_lists);
        self.loaded.config.triggers.push(read.triggers);
        self.loaded.inputs.absorb(read.inputs);
        if read.problems.iter().any(|problem| problem.severity == Severity::Error) {
            self.broken_configs.push(tier_config.folder.config());
        }
        self.report(read.problems);
    }

    fn add_bundled(&mut self) {
        for bundled in bundled_rules() {
            let source = bundled.source();
            let parsed = self.reader(&source, Tier::Bundled).read_markdown(bundled.id, RuleOrigin::Bundled);
            self.report(parsed.problems);
            let Some(definition) = parsed.definition else { continue };
            if definition.rule.locked {
                self.in_force.lock(definition.clone());
            }
            self.catalogue_rule(definition);
        }
    }

    fn read_rules(&mut self, tier_config: &TierConfig) {
        self.loaded.diagnostics.extend(tier_config.folder.misnamed_file_errors());
        if tier_config.folder.tier == Tier::Project {
            self.loaded.diagnostics.extend(deepwork::warnings(tier_config.folder, &tier_config.rules_dir));
            self.loaded.diagnostics.extend(reading::missing_rules_dir(tier_config.folder, &tier_config.rules_dir));
            self.loaded
                .diagnostics
                .extend(reading::unused_default_rules_dir(tier_config.folder, &tier_config.rules_dir));
        }
        self.loaded.inputs.record(&tier_config.rules_dir);
        let rule_files = reading::rule_files(&tier_config.rules_dir);
        match rule_files {
            Ok(files) => {
                self.loaded.diagnostics.extend(files.problems(tier_config.folder));
                self.loaded.diagnostics.extend(files.warnings(tier_config.folder));
                files.readmes.iter().for_each(|path| self.loaded.inputs.record(path));
                files.markdown.iter().for_each(|path| self.read_markdown(tier_config, path));
                files.libraries.iter().for_each(|path| self.read_library(tier_config, path));
            }
            Err(error) => {
                let problem = reading::unreadable(tier_config.folder, &tier_config.rules_dir, &error);
                self.loaded.diagnostics.push(problem);
                let rules_of_tier: Vec<&Rule> =
                    self.last_good.rules.iter().filter(|rule| rule.tier == tier_config.folder.tier).collect();
                for rule in rules_of_tier {
                    self.keep_last_good(tier_config, rule);
                }
            }
        }
    }

    fn read_markdown(&mut self, tier_config: &TierConfig, path: &Path) {
        let Some(id) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        if let Err(invalid_id) = rule_id::check(&id) {
            self.loaded
                .diagnostics
                .push(invalid_id.diagnostic_at(&Source::new(tier_config.folder.display_name(path), ""), None));
            return;
        }
        let Some(source) = self.read_file(tier_config.folder, path) else {
            self.keep_last_good_of(tier_config, path);
            return;
        };
        self.loaded.rule_file_count += 1;
        let reader = self.reader(&source, tier_config.folder.tier);
        let parsed = reader.read_markdown(&id, RuleOrigin::Markdown);
        self.report(parsed.problems);
        let Some(definition) = parsed.definition else {
            self.broken_ids.insert(id);
            self.keep_last_good_of(tier_config, path);
            return;
        };
        self.catalogue_rule(definition);
    }

    fn read_library(&mut self, tier_config: &TierConfig, path: &Path) {
        let Some(name) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        let Some(source) = self.read_file(tier_config.folder, path) else {
            self.keep_last_good_of(tier_config, path);
            return;
        };
        self.loaded.rule_file_count += 1;
        let reader = self.reader(&source, tier_config.folder.tier);
        match library::read(reader, &name) {
            Ok((library, entries)) => {
                self.catalogue.add_library(library);
                self.catalogue_entries(tier_config, entries, path);
            }
            Err(problems) => {
                self.report(problems);
                self.keep_last_good_of(tier_config, path);
            }
        }
    }

    fn catalogue_entries(&mut self, tier_config: &TierConfig, entries: RuleEntries, path: &Path) {
        self.report(entries.problems);
        for definition in entries.definitions {
            self.catalogue_rule(definition);
        }
        let source = tier_config.folder.display_name(path);
        let is_broken = |rule: &&Rule| entries.broken_ids.contains(&rule.id) && rule.source == source;
        let last_good: Vec<&Rule> = self.last_good.rules.iter().filter(is_broken).collect();
        self.broken_ids.extend(entries.broken_ids.iter().cloned());
        for rule in last_good {
            self.keep_last_good(tier_config, rule);
        }
    }

    fn catalogue_rule(&mut self, definition: RuleDefinition) {
        if let Err(problem) = self.catalogue.add(definition) {
            self.loaded.diagnostics.push(*problem);
        }
    }

    /// Keeps the last good version of every rule of a file with errors.
    fn keep_last_good_of(&mut self, tier_config: &TierConfig, path: &Path) {
        let source = tier_config.folder.display_name(path);
        let last_good: Vec<&Rule> = self.last_good.rules.iter().filter(|rule| rule.source == source).collect();
        for rule in last_good {
            self.keep_last_good(tier_config, rule);
        }
    }

    fn keep_last_good(&mut self, tier_config: &TierConfig, rule: &Rule) {
        if rule.tier != tier_config.folder.tier {
            return;
        }
        let is_markdown = Path::new(&rule.source).extension().is_some_and(|extension| extension == "md");
        let origin = if is_markdown { RuleOrigin::Markdown } else { RuleOrigin::Library };
        // `add` fails if there is a valid rule of the same id, which takes precedence.
        let _ = self.catalogue.add(RuleDefinition::last_good(rule, origin, tier_config.folder.tier));
    }

    fn put_in_force(&mut self, tier_config: TierConfig) {
        let tier = tier_config.folder.tier;
        let rule_files: Vec<RuleDefinition> = self
            .catalogue
            .definitions_of_tier(tier)
            .filter(|rule| rule.origin == RuleOrigin::Markdown)
            .cloned()
            .collect();
        for definition in rule_files {
            self.in_force.add(definition, InForceReason::RuleFile);
        }
        if tier == Tier::Project {
            self.in_force.add_settings(&tier_config.file, &tier_config.source);
        }
        self.put_list_in_force(tier_config);
        if tier == Tier::User {
            self.in_force.finish_user_tier();
        }
        self.loaded.diagnostics.append(&mut self.in_force.problems);
    }

    fn finish(self, trusted: &impl Fn(&str) -> bool) -> (LoadedPolicy, Vec<PathBuf>) {
        let mut loaded = self.loaded;
        let in_force = self.in_force.finish(&mut loaded.config, trusted);
        loaded.rules = in_force.rules;
        people_only::add_configured_commands(&mut loaded.rules, &loaded.config);
        loaded.text_to_trust = in_force.text_to_trust;
        loaded.untrusted_rules = in_force.untrusted_rules;
        loaded.diagnostics.extend(lints::unknown_file_rules(&loaded.rules));
        loaded.diagnostics.extend(lints::rules_without_effect(&loaded.rules));
        loaded.diagnostics.extend(in_force.problems);
        let (definitions, libraries) = self.catalogue.into_parts();
        loaded.definitions.extend(definitions);
        loaded.context.libraries = libraries;
        loaded.context.scope = self.scope;
        loaded.context.protected_branches = self.protected_branches;
        loaded.context.broken_ids = self.broken_ids;
        loaded.definitions.sort_by(|a, b| (a.rule.tier, &a.rule.id).cmp(&(b.rule.tier, &b.rule.id)));
        loaded.valid_configs.retain(|config| !self.broken_configs.contains(&config.path));
        // Groups the problems of a file, although they were found at different stages.
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

    /// Puts the rules of the configuration's `rules` lists in force: named ones and inline ones.
    fn put_list_in_force(&mut self, tier_config: TierConfig) {
        let TierConfig { folder, file, source, .. } = tier_config;
        let list = ListResolver {
            reader: self.reader(&source, folder.tier),
            catalogue: &self.catalogue,
            broken_ids: &self.broken_ids,
            last_good: &self.last_good.rules,
        };
        let resolved = list.resolve(file);
        let is_error = |problem: &Diagnostic| problem.severity == Severity::Error && problem.source.name == source.name;
        if resolved.problems.iter().any(is_error) {
            self.broken_configs.push(folder.config());
        }
        self.loaded.definitions.extend(resolved.defined_here);
        self.report(resolved.problems);
        for definition in resolved.in_force {
            self.in_force.add_named(definition, InForceReason::Named(folder.tier), folder.tier);
        }
    }

    fn reader<'s>(&'s self, source: &'s Source, file_tier: Tier) -> RuleReader<'s> {
        RuleReader { source, file_tier, scope: &self.scope, protected_branches: &self.protected_branches }
    }

    /// Adds the problems of one file to the diagnostics, up to [`PROBLEMS_LIMIT`].
    fn report(&mut self, mut problems: Vec<Diagnostic>) {
        let rest = problems.len().saturating_sub(PROBLEMS_LIMIT);
        problems.truncate(PROBLEMS_LIMIT);
        if let (Some(last), true) = (problems.last().cloned(), rest > 0) {
            let noun = if rest == 1 { "problem" } else { "problems" };
            let message = format!("and {rest} more {noun} in this file");
            problems.push(Diagnostic { message, help: None, span: None, severity: Severity::Error, ..last });
        }
        self.loaded.diagnostics.extend(problems);
    }

    /// Returns `None` if the file does not exist. If it cannot be read, reports that and returns `None`.
    fn read_file(&mut self, folder: &PolicyFolder, path: &Path) -> Option<Source> {
        // The stamp is taken first, so that a concurrent write shows as a change.
        self.loaded.inputs.record(path);
        match reading::read(folder, path) {
            Ok(source) => source,
            Err(problem) => {
                self.loaded.diagnostics.push(*problem);
                None
            }
        }
    }
}
