//! A compiled policy, with the few rule files read again that changed.
//!
//! Reading a thousand files because of one takes longer than an agent should wait. So where files of rules changed, and
//! nothing else can come of it than those rules being other ones, they alone are read. Whatever a name, a list, another
//! tier or a person's acceptance has a part in is left to [`crate::load`], and so is everything that is wrong.

use std::path::{Path, PathBuf};

use engine::Level;
use engine::expr::Scope;
use engine::rules::RuleSet;

use crate::bundled::bundled_rules;
use crate::config::Config;
use crate::files::folder::{PolicyFolder, Tiers};
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::load::Loaded;
use crate::rule::definition::{Definition, Form};
use crate::rule::reader::RuleReader;
use crate::values::rule_id;

/// A policy as it was compiled, sound and with nothing left out.
pub struct Sound<'a> {
    pub tiers: &'a Tiers,
    pub config: &'a Config,
    pub rules: &'a RuleSet,
    /// Names of rules that are written down otherwise than once and in force.
    pub contested: &'a [String],
}

/// What is different now.
pub struct Amended {
    pub rules: RuleSet,
    /// Those of them that are new.
    pub changed: RuleSet,
    /// The rules that were read.
    pub read: Vec<Definition>,
}

/// Names of which more is to be known than which rule is in force.
pub fn contested(loaded: &Loaded) -> Vec<String> {
    let ids = || loaded.definitions.iter().map(|definition| definition.rule.id.as_str());
    let mut seen: Vec<&str> = ids().collect();
    seen.sort_unstable();
    let is_once_and_in_force = |names: &[&str]| match names {
        [id] => loaded.rules.binary_search_by(|rule| rule.definition.rule.id.as_str().cmp(id)).is_ok(),
        _ => false,
    };
    let contested = seen.chunk_by(|a, b| a == b).filter(|names| !is_once_and_in_force(names));
    // Those in the box are known without being written down once more.
    let contested = contested.filter_map(|names| names.first()).filter(|id| !is_bundled(id));
    contested.map(|id| (*id).to_owned()).collect()
}

fn is_bundled(id: &str) -> bool {
    bundled_rules().iter().any(|rule| rule.id == id)
}

impl Sound<'_> {
    /// `None`: the policy is to be read as a whole. `changed`: every file and folder that differs from what `inputs` say,
    /// which are brought up to date.
    pub fn amend(&self, changed: &[PathBuf], inputs: &mut Inputs) -> Option<Amended> {
        if !self.config.enabled {
            return None;
        }
        let mut scope = Scope::default();
        self.config.declare_in(&mut scope);
        let protected_branches = self.config.branches.protected(self.tiers.user.is_some());
        let mut read = Vec::new();
        for (folder, path) in self.rule_files(changed, inputs)? {
            // The stamp is taken first: a write in between shows as a change.
            inputs.note(&path);
            let source = reading::read(folder, &path).ok()??;
            let reader = RuleReader {
                source: &source,
                owner: folder.tier,
                scope: &scope,
                protected_branches: &protected_branches,
            };
            let reading = reader.markdown(path.file_stem()?.to_str()?, Form::Markdown);
            let definition = reading.definition.filter(|_| reading.problems.is_empty())?;
            // Two of one name are no simple change.
            if read.iter().any(|other: &Definition| other.rule.id == definition.rule.id) {
                return None;
            }
            read.push(self.in_place(definition)?);
        }
        let changed: Vec<_> = read.iter().map(|definition| definition.rule.clone()).collect();
        Some(Amended { rules: self.rules.with(&changed).ok()?, changed: RuleSet::pack(&changed).ok()?, read })
    }

    /// The Markdown rules among what changed, and those that are new, where nothing else changed.
    fn rule_files<'a>(&'a self, changed: &[PathBuf], inputs: &mut Inputs) -> Option<Vec<(&'a PolicyFolder, PathBuf)>> {
        let folders: Vec<_> = self.tiers.folders().map(|folder| (folder, self.config.rules_dir(folder))).collect();
        let mut files: Vec<(&PolicyFolder, PathBuf)> = Vec::new();
        for path in changed {
            if let Some((folder, _)) = folders.iter().find(|(_, rules)| path == rules) {
                inputs.note(path);
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
        let has_good_name = |path: &Path| {
            let id = path.file_stem().and_then(|stem| stem.to_str());
            id.is_some_and(|id| rule_id::check(id).is_ok())
        };
        files.iter().all(|(_, path)| has_good_name(path)).then_some(files)
    }

    /// A rule that takes its own place, or one that was nobody's.
    fn in_place(&self, mut definition: Definition) -> Option<Definition> {
        definition.complete(self.config.max_holds(definition.owner));
        let rule = &definition.rule;
        let before = self.rules.get(&rule.id).ok()?;
        let is_own_place = before.is_none_or(|before| before.source == rule.source && before.action > Level::Allow);
        let is_simple = definition.enabled && rule.action > Level::Allow && !rule.runs_command() && is_own_place;
        let is_contested = self.contested.contains(&rule.id) || is_bundled(&rule.id);
        (is_simple && !is_contested).then_some(definition)
    }
}

#[cfg(test)]
mod tests;
