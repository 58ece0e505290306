//! Incremental compilation: reads only the rule files that changed.
//!
//! Reading a thousand files because one changed takes longer than an agent should wait. If only Markdown rules changed,
//! and no other rule or setting depends on them, only those files are read. A change that involves lists, libraries,
//! ids that exist twice, other tiers or trust needs a full [`crate::load`], and so does every error.

use std::path::{Path, PathBuf};

use engine::Level;
use engine::expr::Scope;
use engine::rules::RuleSet;

use crate::bundled::bundled_rules;
use crate::config::Config;
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::load::LoadedPolicy;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::rule::reader::RuleReader;
use crate::values::rule_id;

/// A compiled policy without errors or untrusted parts, to which changes can be applied.
pub struct IncrementalCompiler<'a> {
    pub tiers: &'a PolicyFolders,
    pub config: &'a Config,
    pub rules: &'a RuleSet,
    /// Rule ids with several definitions, or with one that is not in force. A change to such a rule needs a full load.
    pub contested_ids: &'a [String],
}

pub struct IncrementalUpdate {
    /// All rules, with the changes applied.
    pub rules: RuleSet,
    /// Only the rules that changed.
    pub changed: RuleSet,
    /// The definitions that were read.
    pub definitions_read: Vec<RuleDefinition>,
}

/// Rule ids with several definitions, or with one that is not in force.
pub fn contested_ids(loaded: &LoadedPolicy) -> Vec<String> {
    let ids = || loaded.definitions.iter().map(|definition| definition.rule.id.as_str());
    let mut sorted_ids: Vec<&str> = ids().collect();
    sorted_ids.sort_unstable();
    let is_single_and_in_force = |names: &[&str]| match names {
        [id] => loaded.rules.binary_search_by(|rule| rule.definition.rule.id.as_str().cmp(id)).is_ok(),
        _ => false,
    };
    let contested = sorted_ids.chunk_by(|a, b| a == b).filter(|names| !is_single_and_in_force(names));
    // Bundled ids are checked separately.
    let contested = contested.filter_map(|names| names.first()).filter(|id| !is_bundled(id));
    contested.map(|id| (*id).to_owned()).collect()
}

fn is_bundled(id: &str) -> bool {
    bundled_rules().iter().any(|rule| rule.id == id)
}

impl IncrementalCompiler<'_> {
    /// Applies the changes, or returns `None` if a full load is needed. `changed`: every file and directory whose stamp
    /// differs from the one in `inputs`; the stamps are updated.
    pub fn update(&self, changed: &[PathBuf], inputs: &mut Inputs) -> Option<IncrementalUpdate> {
        if !self.config.enabled {
            return None;
        }
        let mut scope = Scope::default();
        self.config.declare_in(&mut scope);
        let protected_branches = self.config.branches.protected(self.tiers.user.is_some());
        let mut definitions_read = Vec::new();
        for (folder, path) in self.find_changed_markdown(changed, inputs)? {
            // The stamp is taken first, so that a concurrent write shows as a change.
            inputs.record(&path);
            let source = reading::read(folder, &path).ok()??;
            let reader = RuleReader {
                source: &source,
                file_tier: folder.tier,
                scope: &scope,
                protected_branches: &protected_branches,
            };
            let parsed = reader.read_markdown(path.file_stem()?.to_str()?, RuleOrigin::Markdown);
            let definition = parsed.definition.filter(|_| parsed.problems.is_empty())?;
            // Two changed rules with the same id need a full load.
            if definitions_read.iter().any(|other: &RuleDefinition| other.rule.id == definition.rule.id) {
                return None;
            }
            definitions_read.push(self.if_uncontested(definition)?);
        }
        let changed: Vec<_> = definitions_read.iter().map(|definition| definition.rule.clone()).collect();
        let rules = self.rules.with_rules(&changed).ok()?;
        Some(IncrementalUpdate { rules, changed: RuleSet::pack(&changed).ok()?, definitions_read })
    }

    /// Finds the Markdown rules that changed or are new, and records the stamps of directories. `None` if anything else
    /// changed.
    fn find_changed_markdown<'a>(
        &'a self,
        changed: &[PathBuf],
        inputs: &mut Inputs,
    ) -> Option<Vec<(&'a PolicyFolder, PathBuf)>> {
        let folders: Vec<_> = self.tiers.folders().map(|folder| (folder, self.config.rules_dir(folder))).collect();
        let mut files: Vec<(&PolicyFolder, PathBuf)> = Vec::new();
        for path in changed {
            if let Some((folder, _)) = folders.iter().find(|(_, rules)| path == rules) {
                inputs.record(path);
                let listed = reading::rule_files(path).ok()?;
                if listed.problems(folder).next().is_some()
                    || listed.libraries.iter().any(|library| !inputs.includes(library))
                {
                    return None;
                }
                let added = listed.markdown.into_iter().filter(|file| !inputs.includes(file));
                files.extend(added.map(|file| (*folder, file)));
                continue;
            }
            let (folder, _) = folders.iter().find(|(_, rules)| path.parent() == Some(rules))?;
            let is_markdown = path.extension().is_some_and(|extension| extension == "md");
            if !is_markdown || reading::is_readme(path) {
                return None;
            }
            files.push((*folder, path.clone()));
        }
        let has_valid_name = |path: &Path| {
            let id = path.file_stem().and_then(|stem| stem.to_str());
            id.is_some_and(|id| rule_id::check(id).is_ok())
        };
        files.iter().all(|(_, path)| has_valid_name(path)).then_some(files)
    }

    /// Returns the definition if it is new or replaces the previous version in the same file, and if it affects no other
    /// rule.
    fn if_uncontested(&self, mut definition: RuleDefinition) -> Option<RuleDefinition> {
        definition.set_default_max_holds(self.config.max_holds(definition.file_tier));
        let rule = &definition.rule;
        let previous = self.rules.get(&rule.id).ok()?;
        let is_same_file =
            previous.is_none_or(|previous| previous.source == rule.source && previous.action > Level::Allow);
        // Rules that approve calls or run a command may need trust.
        let is_simple = definition.enabled && rule.action > Level::Allow && !rule.runs_command() && is_same_file;
        let is_contested = self.contested_ids.contains(&rule.id) || is_bundled(&rule.id);
        (is_simple && !is_contested).then_some(definition)
    }
}

#[cfg(test)]
mod tests;
