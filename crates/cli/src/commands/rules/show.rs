//! `rules show NAME`: the current or an earlier text of a rule.

use guard::Project;
use serde_json::json;
use store::StoredRuleVersion;

use crate::commands::unknown_rule::undefined_rule;
use crate::commands::{Context, journal, log};
use crate::exit_code::ExitCode;
use crate::problem::{CommandOutcome, Problem};

pub fn run(name: &str, version: Option<&str>, context: &Context) -> CommandOutcome {
    if let Some(version) = version {
        return show_version(name, version, context);
    }
    let project = Project::of_person(&context.environment);
    let loaded = project.load(&context.environment);
    let found = loaded.definitions_named(name);
    let Some(definition) = found.first() else { return Err(undefined_rule(name, &loaded)) };
    let rule = &definition.rule;
    context.output.line_or(
        definition.text().trim_end(),
        &json!({
            "name": name,
            "tier": rule.tier.name(),
            "source": definition.display_location(),
            "digest": rule.digest,
            "text": definition.text(),
        }),
    );
    Ok(ExitCode::Done)
}

fn show_version(name: &str, version: &str, context: &Context) -> CommandOutcome {
    let known = journal::open(&Project::of_sessions(&context.environment), context)?.rule_versions(name)?;
    let Some(stored) = known.iter().find(|stored| stored.digest.starts_with(version)) else {
        let problem = Problem::new("NotFound", format!("the journal has no version `{version}` of `{name}`"));
        return Err(problem.help(match known.as_slice() {
            [] => "a version is recorded when an event is judged by it".to_owned(),
            known => format!("it has {}", known.iter().map(version_text).collect::<Vec<_>>().join(", ")),
        }));
    };
    context.output.line_or(
        stored.text.trim_end(),
        &json!({
            "name": name,
            "tier": stored.tier,
            "source": stored.source,
            "digest": stored.digest,
            "text": stored.text,
            "first_seen": stored.first_seen,
            "last_seen": stored.last_seen,
        }),
    );
    Ok(ExitCode::Done)
}

fn version_text(stored: &StoredRuleVersion) -> String {
    format!("{} (last seen {})", stored.digest, log::time(stored.last_seen))
}
