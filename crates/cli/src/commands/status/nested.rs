//! The nested policies in `status`: those of the working directory and of the directories above it, up to the project's
//! root.

use std::path::PathBuf;

use engine::rules::{Rule, Tier};
use guard::Project;
use policy::BrokenFile;
use serde_json::{Value, json};

use super::rule_line::{rule_json, show_rule};
use crate::commands::Context;
use crate::output::Output;
use crate::plural::counted;
use crate::problem::Problem;

/// A policy in a directory below the project's root. Its rules apply in addition to the project's.
pub struct NestedPolicy {
    root: PathBuf,
    rules: Vec<Rule>,
    broken: Vec<BrokenFile>,
}

impl NestedPolicy {
    pub fn all(project: &Project, context: &Context) -> Result<Vec<Self>, Problem> {
        let nested = project.nested_above(&context.environment.cwd).into_iter();
        let read = nested.map(|nested| {
            let compiled = nested.compiled_policy_read_only(&context.environment);
            let rules = compiled.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?;
            // Bundled rules are in force already through the project's policy.
            let rules = rules.into_iter().filter(|rule| rule.tier == Tier::Project).collect();
            Ok(Self { root: nested.root, rules, broken: compiled.broken })
        });
        read.collect()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "root": self.root,
            "rules": self.rules.iter().map(rule_json).collect::<Vec<_>>(),
            "broken": self.broken.iter().map(|file| &file.problem).collect::<Vec<_>>(),
        })
    }

    pub fn show(&self, output: &Output) {
        let count = counted(self.rules.len(), "rule");
        output.line(format!("{} {count} in force in {}", output.bold("Nested "), self.root.display()));
        self.rules.iter().for_each(|rule| show_rule(rule, output));
        for file in &self.broken {
            output.line(format!("  broken, {}: {}", file.consequence(), file.problem));
        }
    }
}
