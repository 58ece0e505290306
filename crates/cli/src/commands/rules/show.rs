//! `rules show NAME`: a rule's text.

use guard::Project;
use serde_json::json;

use super::super::Context;
use crate::exit_code::ExitCode;
use crate::problem::Outcome;

pub fn run(name: &str, context: &Context) -> Outcome {
    let loaded = super::load(&Project::of_person(&context.environment), context);
    let found = loaded.named(name);
    let Some(definition) = found.first() else { return Err(super::unknown(name, &loaded)) };
    let rule = &definition.rule;
    context.output.line_or(
        definition.text().trim_end(),
        &json!({
            "name": name,
            "tier": rule.tier.name(),
            "source": definition.shown_place(),
            "digest": rule.digest,
            "text": definition.text(),
        }),
    );
    Ok(ExitCode::Done)
}
