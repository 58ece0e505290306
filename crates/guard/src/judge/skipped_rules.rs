//! Notices about rules that were skipped, because these rules need stored state that cannot be read or written.

use engine::decide::SkippedRule;
use engine::facts::FactStore;

use super::load::ApplicablePolicy;
use crate::notices;

/// The notices about skipped rules, and about a queue that cannot be written.
pub(super) fn skipped_rule_notices(applicable: &ApplicablePolicy<'_>, skipped: &[SkippedRule]) -> Vec<String> {
    let file_facts = applicable.facts.file_facts_if_used();
    let write_error = file_facts.and_then(|file_facts| file_facts.demand_tracker.take_problem());
    let notices = skipped.iter().map(|SkippedRule { rule, unavailable }| match (&write_error, unavailable) {
        (Some(why), FactStore::Queue) => format!("rule `{rule}` was skipped: {why}"),
        _ => notices::skipped_rule_notice(rule, *unavailable),
    });
    let notices: Vec<String> = notices.collect();
    let is_explained = skipped.iter().any(|skipped| skipped.unavailable == FactStore::Queue);
    notices.into_iter().chain(write_error.filter(|_| !is_explained)).collect()
}
