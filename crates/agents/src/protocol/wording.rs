//! Composes the texts for agents and people from findings and notices. The texts are the same for all agents.

use std::borrow::Cow;

use engine::{Event, Finding, Level, SectionKind, Verdict};

use super::capabilities::BlockEffect;

/// Returns the reasons of the verdict: one paragraph per finding, strictest first, then the demands of file rules, then
/// how a person can allow the call. The text is never empty.
pub(crate) fn reasons(block_effect: BlockEffect, verdict: &Verdict) -> String {
    // If the finding of a single rule blocks, findings that combine several rules add nothing and are left out.
    let is_refused = verdict.reported_findings().any(|finding| finding.level == Level::Block && !finding.is_combined);
    let shown = verdict.reported_findings().filter(|finding| !(is_refused && finding.is_combined));
    let (mut sections, sentences): (Vec<_>, Vec<_>) = shown.partition(|finding| finding.section.is_some());
    sections.sort_by_key(|finding| finding.section);
    let mut paragraphs: Vec<String> = sentences.into_iter().map(|finding| paragraph(block_effect, finding)).collect();
    if !sections.is_empty() {
        paragraphs.push(demands(&sections, verdict.level));
    }
    if paragraphs.is_empty() {
        paragraphs.push(format!("{} by Linchpin.", lead(block_effect, verdict.level)));
    }
    paragraphs.extend(verdict.refusal_id.map(|id| format!("A person can allow this call once: `linchpin allow {id}`")));
    paragraphs.join("\n\n")
}

/// Returns the reasons, followed by the texts for the agent.
pub(crate) fn reasons_and_agent_texts(block_effect: BlockEffect, verdict: &Verdict) -> String {
    let reasons = reasons(block_effect, verdict);
    match agent_texts(verdict) {
        Some(texts) => format!("{reasons}\n\n{texts}"),
        None => reasons,
    }
}

/// Joins the texts that the agent has to read whatever the verdict is.
pub(crate) fn agent_texts(verdict: &Verdict) -> Option<String> {
    let texts: Vec<String> = verdict.agent_texts.iter().map(|text| without_control_characters(text.trim())).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Turns the texts for the agent into notices for the person. Used at events at which the agent accepts no text, so
/// that the texts are not lost.
pub(crate) fn agent_texts_as_notices<'v>(event: &Event, verdict: &'v Verdict) -> Cow<'v, Verdict> {
    if verdict.agent_texts.is_empty() {
        return Cow::Borrowed(verdict);
    }
    let mut changed = verdict.clone();
    let texts = changed.agent_texts.drain(..);
    changed
        .notices
        .extend(texts.map(|text| format!("the agent accepts no text at {}, so only you see this: {text}", event.name)));
    Cow::Owned(changed)
}

/// Composes the demands of file rules, one section each. If the demands hold a stop, a text about how to answer them
/// follows.
fn demands(sections: &[&Finding], level: Level) -> String {
    let texts = |sections: &[&Finding]| -> String {
        sections
            .iter()
            .map(|finding| without_control_characters(finding.reason.trim()))
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    // Demands that block the stop, and demands that only inform.
    let (sections, informative): (Vec<&Finding>, Vec<&Finding>) =
        sections.iter().partition(|finding| finding.level == Level::Block);
    // If the stop is not held, only the person reads the text, so it does not say how to answer.
    if level < Level::Block || sections.is_empty() {
        return format!("The following rules are unmet:\n\n{}", texts(&informative));
    }
    let informative = match informative.as_slice() {
        [] => String::new(),
        informative => {
            format!("\n\nThe following rules are also unmet, but do not hold the stop:\n\n{}", texts(informative))
        }
    };
    let names = |wanted: Option<SectionKind>| -> Vec<String> {
        let found = sections.iter().filter(|finding| wanted.is_none() || finding.section == wanted);
        found.map(|finding| without_control_characters(&finding.rule)).collect()
    };
    let ack = |name: &str| format!("{ACKNOWLEDGE}{name} --reason \"…\"`");
    let first = |wanted: SectionKind| names(Some(wanted)).into_iter().next();
    let answer = if let Some(name) = first(SectionKind::Demand) {
        format!(
            "If you have done what a rule asks, or it does not apply, write `<promise>{name}</promise>` in your last message \
             (outside code), or run {}.",
            ack(&name)
        )
    } else if let Some(name) = first(SectionKind::FailedCommand) {
        // A promise cannot answer a failed command.
        format!("If a rule does not apply, run {}.", ack(&name))
    } else {
        let name = first(SectionKind::HumanAckDemand).unwrap_or_default();
        format!("If a rule does not apply, ask a person to run {}.", ack(&name))
    };
    let persons = names(Some(SectionKind::HumanAckDemand));
    let others: Vec<String> = names(None).into_iter().filter(|name| !persons.contains(name)).collect();
    let rule_list = match (others.len(), persons.len()) {
        _ if sections.len() == 1 => String::new(),
        (_, 0) => format!(" Do it for each rule: {}.", others.join(", ")),
        (0, _) => format!(" Do it for each rule: {}.", persons.join(", ")),
        _ => format!(
            " Do it for each rule: {}; only a person can acknowledge {}.",
            others.join(", "),
            persons.join(", ")
        ),
    };
    format!("{ATTENTION}\n\n{}{informative}\n\n{answer}{rule_list}", texts(&sections))
}

pub(super) const ATTENTION: &str = "The following rules require attention:";
pub(super) const ACKNOWLEDGE: &str = "`linchpin ack ";

/// Returns the reason of an approval: the rules that approved the call.
pub(crate) fn approval(verdict: &Verdict) -> String {
    let approving = verdict.findings.iter().filter(|finding| finding.why_not_approved().is_none());
    let rules: Vec<String> =
        approving.map(|finding| format!("`{}`", without_control_characters(&finding.rule))).collect();
    match rules.as_slice() {
        [] => "Approved by Linchpin".to_owned(),
        [rule] => format!("Approved by Linchpin rule {rule}"),
        _ => format!("Approved by Linchpin rules {}", rules.join(", ")),
    }
}

/// Returns the notices for the person.
pub(crate) fn notices(verdict: &Verdict) -> Option<String> {
    let lines: Vec<String> =
        verdict.notices.iter().map(|notice| format!("Linchpin: {}", without_control_characters(notice))).collect();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}

/// Returns the notices, followed by `more`.
pub(crate) fn notices_and(verdict: &Verdict, more: String) -> String {
    match notices(verdict) {
        Some(notices) => format!("{notices}\n\n{more}"),
        None => more,
    }
}

fn paragraph(block_effect: BlockEffect, finding: &Finding) -> String {
    let lead = lead(block_effect, finding.level);
    let happened = if lead == NOT_ALLOWED { ", but this action could not be stopped" } else { "" };
    let reason = without_control_characters(finding.reason.trim());
    // A finding of the guard itself, or one that combines several rules, is shown without the name of a rule.
    if finding.is_of_guard() || finding.is_combined {
        format!("{lead} by Linchpin{happened}: {reason}")
    } else {
        let colon = if reason.is_empty() { "" } else { ": " };
        let rule = without_control_characters(&finding.rule);
        format!("{lead} by Linchpin rule `{rule}`{happened}{colon}{reason}")
    }
}

/// The first words of a paragraph about a block that prevents nothing, because the action has already happened or a
/// hook cannot refuse it.
const NOT_ALLOWED: &str = "Not allowed";

/// Returns the first words of a paragraph about a finding of this level. "by Linchpin" always follows them.
pub(super) fn lead(block_effect: BlockEffect, level: Level) -> &'static str {
    match (level, block_effect) {
        (Level::Block, BlockEffect::Held) => "Held",
        (Level::Block, BlockEffect::Refused) => "Blocked",
        (Level::Block, BlockEffect::Objected | BlockEffect::Reported) => NOT_ALLOWED,
        (Level::Ask, _) => "Approval required",
        (Level::Warn, _) => "Warning",
        (Level::Allow, _) => "Allowed",
    }
}

/// Removes characters that change the writing direction, and all control characters except line breaks and tabs.
pub fn without_control_characters(text: &str) -> String {
    let hidden = |char: char| {
        (char.is_control() && char != '\n' && char != '\t')
            || matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|char| !hidden(*char)).collect()
}

#[cfg(test)]
mod tests;
