//! Merges a configuration file into the configuration of earlier tiers.

use std::fmt::Write;
use std::time::Duration;

use engine::rules::Tier;

use super::keys::{CONFIG, JOURNALS};
use super::{Config, ConfigFile, nested_rules};
use crate::files::folder::PolicyFolder;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::{Fields, SpannedText};
use crate::text::source::Source;
use crate::text::yaml::{self, Yaml};
use crate::values::quantity::{read_duration, read_output_limit};

/// Every agent lets a call through if its hook times out, so judging must end well before that.
const LONGEST_DEADLINE: Duration = Duration::from_secs(20);
const SHORTEST_DEADLINE: Duration = Duration::from_millis(50);

impl Config {
    /// Merges the file of a later tier into this configuration. Settings with errors are skipped, the others apply. Of
    /// duplicate keys, the first applies.
    pub fn overlay(&mut self, source: &Source, tier: Tier) -> ConfigFile {
        let mut file = ConfigFile::default();
        let mut node = match yaml::parse_with_duplicate_keys(source, 0..source.text.len()) {
            Ok(node) => node,
            Err(problem) => {
                file.problems.push(*problem);
                return file;
            }
        };
        let mut problems: Vec<Diagnostic> = yaml::duplicate_key(&node, source).into_iter().collect();
        problems.extend(nested_rules::move_to_top_level(&mut node, source));
        let mut fields = Fields::of(node, source, CONFIG.keys);
        fields.problems.append(&mut problems);
        fields.refuse_unknown();
        if let Some(version) = fields.text_or_number("requires_version") {
            check_version(&version, &mut fields);
        }
        file.take_rules(&mut fields);
        file.settings_needing_trust = self.take_settings_needing_trust(&mut fields, tier);
        self.take_observers(&mut fields, tier, &mut file);
        self.take_variables(&mut fields, tier, &mut file);
        self.take_plain_settings(&mut fields, tier);
        if tier != Tier::Project {
            for untrusted in std::mem::take(&mut file.settings_needing_trust) {
                self.apply(untrusted.setting);
            }
        }
        fields.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        file.problems = fields.problems;
        file
    }

    /// Reads settings that a project can make without trust.
    fn take_plain_settings(&mut self, fields: &mut Fields, tier: Tier) {
        if let Some(max_holds) = fields.integer("max_holds") {
            self.max_holds.insert(tier, max_holds);
        }
        if let Some((deadline, span)) = read_duration("deadline", fields) {
            if (SHORTEST_DEADLINE..=LONGEST_DEADLINE).contains(&deadline) {
                self.deadline = deadline;
            } else {
                let message = format!(
                    "`deadline` must be between {}ms and {}s: agents allow a call when its hook takes longer",
                    SHORTEST_DEADLINE.as_millis(),
                    LONGEST_DEADLINE.as_secs()
                );
                fields.refuse(DiagnosticKind::InvalidValue, message, span);
            }
        }
        self.journal = fields.choice("journal", &JOURNALS).unwrap_or(self.journal);
        self.output_limit = read_output_limit(fields).unwrap_or(self.output_limit);
        self.retention = read_duration("retention", fields).map_or(self.retention, |(duration, _)| duration);
        self.branches.take(fields, tier);
        if let Some(folder) = fields.text("rules_dir") {
            let parts: Vec<&str> = folder.value.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
            if folder.value.starts_with('/') || parts.contains(&"..") {
                fields.refuse(DiagnosticKind::InvalidValue, "`rules_dir` must be inside the project", folder.span);
            } else if parts.starts_with(&[PolicyFolder::NAME, "agent"]) {
                let message = "`rules_dir` must not be the agent's folder, because the agent could write its own \
                               rules there";
                fields.refuse(DiagnosticKind::InvalidValue, message, folder.span);
            } else {
                self.rules_dir = Some(folder.value);
            }
        }
    }

    fn take_variables(&mut self, fields: &mut Fields, tier: Tier, file: &mut ConfigFile) {
        let Some(node) = fields.take("variables") else { return };
        let Yaml::Map(entries) = node.value else {
            fields.refuse(
                DiagnosticKind::InvalidValue,
                "`variables` must be a mapping of names to initial values",
                node.span,
            );
            return;
        };
        for (key, value) in entries {
            let _ = writeln!(file.variables_text, "{}: {}", key.text, value.to_json());
            if let Err(why) = engine::expr::check_variable_name(&key.text) {
                fields.refuse(DiagnosticKind::InvalidValue, why, key.span);
                continue;
            }
            if tier == Tier::User {
                self.variables.declared_by_user.insert(key.text.clone());
            } else if let Some(owner) =
                self.users_observers().find(|observer| observer.variables().contains(&key.text.as_str()))
            {
                let message = format!(
                    "the initial value of `{}` is ignored: the user's observer `{}` sets this variable",
                    key.text, owner.name
                );
                let problem = Diagnostic::warning(DiagnosticKind::Overruled, message, fields.source(), Some(key.span));
                fields.problems.push(problem.help("declare a variable with another name"));
                continue;
            }
            self.variables.declare(key.text, &value.to_json());
        }
    }
}

fn check_version(required: &SpannedText, fields: &mut Fields) {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        let text = text.strip_prefix(">=").unwrap_or(text).trim();
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    let version = env!("CARGO_PKG_VERSION");
    match (numbers(&required.value), numbers(version)) {
        (Some(minimum), Some(current)) if minimum > current => fields.refuse(
            DiagnosticKind::UnsupportedVersion,
            format!("this policy requires Linchpin {} or newer, but this is Linchpin {version}", required.value),
            required.span.clone(),
        ),
        (None, _) => fields.refuse(
            DiagnosticKind::InvalidValue,
            format!("`requires_version` must be a version such as `0.2` or `1.0.3`, not `{}`", required.value),
            required.span.clone(),
        ),
        _ => {}
    }
}
