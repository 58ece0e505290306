//! The texts of notices about files and stored state that cannot be used.

use engine::facts::FactStore;

/// The notice that the journal cannot be used. Rules that need no stored state are still judged.
pub fn journal_notice(error: &store::StoreError) -> String {
    format!("{error}; rules that need it are skipped, and this is not recorded")
}

/// The notice about a policy file that cannot be used.
pub fn broken_file_notice(file: &policy::BrokenFile) -> String {
    format!("broken policy file, {}: {}", file.consequence(), file.problem)
}

/// The notice that the active workflow's file is broken or missing.
pub fn broken_workflow_notice(name: &str, has_last_good: bool) -> String {
    let consequence = if has_last_good { "its last valid version is used" } else { "its rules are ignored" };
    format!(
        "workflow `{name}` is active, but its file cannot be used, so {consequence}; run `linchpin validate` to see why"
    )
}

/// The notice about a rule that was skipped, because it needs stored state that cannot be read or written.
pub fn skipped_rule_notice(rule: &str, unavailable: FactStore) -> String {
    match unavailable {
        FactStore::Session | FactStore::Journal => {
            format!("rule `{rule}` needs the journal and was skipped; run `linchpin doctor` to see why")
        }
        FactStore::Work => {
            format!(
                "rule `{rule}` needs the project's tasks, which cannot be read, and was skipped; run `linchpin doctor` to see why"
            )
        }
        FactStore::Queue => {
            format!(
                "rule `{rule}` was skipped, because its demand cannot be written to the queue; run `linchpin doctor` to see why"
            )
        }
    }
}
