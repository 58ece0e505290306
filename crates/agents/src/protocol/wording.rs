//! The text that agents and people read, composed from findings and notices in one place for all agents.

use std::borrow::Cow;

use engine::{Event, Finding, Level, SectionKind, Verdict};

use super::powers::Blocking;

/// Everything the verdict has to say about the event: one paragraph a finding, strictest first, then what file rules ask for,
/// and how a person can decide otherwise. Never empty.
pub(crate) fn reasons(blocking: Blocking, verdict: &Verdict) -> String {
    // After a refusal by a rule, what others might say is noise.
    let is_refused = verdict.reported_findings().any(|finding| finding.level == Level::Block && !finding.is_combined);
    let spoken = verdict.reported_findings().filter(|finding| !(is_refused && finding.is_combined));
    let (mut sections, sentences): (Vec<_>, Vec<_>) = spoken.partition(|finding| finding.section.is_some());
    sections.sort_by_key(|finding| finding.section);
    let mut paragraphs: Vec<String> = sentences.into_iter().map(|finding| paragraph(blocking, finding)).collect();
    if !sections.is_empty() {
        paragraphs.push(demands(&sections, verdict.level));
    }
    if paragraphs.is_empty() {
        paragraphs.push(format!("{} by Linchpin, which gave no reason.", lead(blocking, verdict.level)));
    }
    paragraphs
        .extend(verdict.refusal_id.map(|id| format!("A person can let this call through: `linchpin allow {id}`")));
    paragraphs.join("\n\n")
}

/// The reasons, and behind them what the agent is to read besides.
pub(crate) fn reasons_and_context(blocking: Blocking, verdict: &Verdict) -> String {
    let reasons = reasons(blocking, verdict);
    match context(verdict) {
        Some(context) => format!("{reasons}\n\n{context}"),
        None => reasons,
    }
}

/// What the agent is to read whatever the verdict is, or nothing.
pub(crate) fn context(verdict: &Verdict) -> Option<String> {
    let texts: Vec<String> = verdict.context.iter().map(|text| shown(text.trim())).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The verdict for an event at which the agent takes no text: what it was to read is told to the person, so that it is not
/// lost unseen.
pub(crate) fn untold<'v>(event: &Event, verdict: &'v Verdict) -> Cow<'v, Verdict> {
    if verdict.context.is_empty() {
        return Cow::Borrowed(verdict);
    }
    let mut told = verdict.clone();
    let texts = told.context.drain(..);
    told.notices
        .extend(texts.map(|text| format!("the agent takes no text at {}, so it was not told: {text}", event.name)));
    Cow::Owned(told)
}

/// What file rules ask for, a section each, and how to answer them.
fn demands(sections: &[&Finding], level: Level) -> String {
    let texts = |sections: &[&Finding]| -> String {
        sections.iter().map(|finding| shown(finding.reason.trim())).collect::<Vec<_>>().join("\n\n")
    };
    // A stop that is held by others, or by none.
    let (sections, told): (Vec<&Finding>, Vec<&Finding>) =
        sections.iter().partition(|finding| finding.level == Level::Block);
    // At a stop that is not held, only the person reads this.
    if level < Level::Block || sections.is_empty() {
        return format!("The following rules are not met:\n\n{}", texts(&told));
    }
    let told = match told.as_slice() {
        [] => String::new(),
        told => format!("\n\nThe following rules are not met either, and hold nobody:\n\n{}", texts(told)),
    };
    let names = |wanted: Option<SectionKind>| -> Vec<String> {
        let named = sections.iter().filter(|finding| wanted.is_none() || finding.section == wanted);
        named.map(|finding| shown(&finding.rule)).collect()
    };
    let ack = |name: &str| format!("{ACKNOWLEDGE}{name} --reason \"…\"`");
    let first = |wanted: SectionKind| names(Some(wanted)).into_iter().next();
    let answer = if let Some(name) = first(SectionKind::Demand) {
        format!(
            "Where a rule is seen to or does not apply, say so with `<promise>{name}</promise>` in your last message, outside \
             of code, or run {}.",
            ack(&name)
        )
    } else if let Some(name) = first(SectionKind::FailedCommand) {
        // A command that failed is not put right by saying so.
        format!("Where a rule does not apply, run {}.", ack(&name))
    } else {
        let name = first(SectionKind::HumanAckDemand).unwrap_or_default();
        format!("Where a rule does not apply, a person can say so: {}.", ack(&name))
    };
    let persons = names(Some(SectionKind::HumanAckDemand));
    let others: Vec<String> = names(None).into_iter().filter(|name| !persons.contains(name)).collect();
    let which = match (others.len(), persons.len()) {
        _ if sections.len() == 1 => String::new(),
        (_, 0) => format!(" The rules are {}.", others.join(", ")),
        (0, _) => format!(" The rules are {}.", persons.join(", ")),
        _ => format!(" The rules are {}; only a person can acknowledge {}.", others.join(", "), persons.join(", ")),
    };
    format!("{ATTENTION}\n\n{}{told}\n\n{answer}{which}", texts(&sections))
}

pub(super) const ATTENTION: &str = "The following rules require attention:";
pub(super) const ACKNOWLEDGE: &str = "`linchpin ack ";

/// Why a call was approved, naming the rules that did it.
pub(crate) fn approval(verdict: &Verdict) -> String {
    let rules: Vec<String> = verdict.findings.iter().map(|finding| format!("`{}`", shown(&finding.rule))).collect();
    match rules.as_slice() {
        [] => "Approved by Linchpin".to_owned(),
        [rule] => format!("Approved by Linchpin rule {rule}"),
        _ => format!("Approved by Linchpin rules {}", rules.join(", ")),
    }
}

/// What the person is to know besides, or nothing.
pub(crate) fn notices(verdict: &Verdict) -> Option<String> {
    let lines: Vec<String> = verdict.notices.iter().map(|notice| format!("Linchpin: {}", shown(notice))).collect();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}

/// The notices, and `more` after them.
pub(crate) fn notices_and(verdict: &Verdict, more: String) -> String {
    match notices(verdict) {
        Some(notices) => format!("{notices}\n\n{more}"),
        None => more,
    }
}

fn paragraph(blocking: Blocking, finding: &Finding) -> String {
    let lead = lead(blocking, finding.level);
    let reason = shown(finding.reason.trim());
    let reason = if reason.is_empty() { "it gives no reason" } else { &reason };
    // The guard speaks for itself, and for several rules at once, under its own name.
    if finding.rule == "linchpin" || finding.is_combined {
        format!("{lead} by Linchpin: {reason}")
    } else {
        format!("{lead} by Linchpin rule `{}`: {reason}", shown(&finding.rule))
    }
}

/// How a level is called. Always followed by "by Linchpin".
pub(super) fn lead(blocking: Blocking, level: Level) -> &'static str {
    match (level, blocking) {
        (Level::Block, Blocking::Held) => "Held",
        (Level::Block, Blocking::Refused) => "Blocked",
        (Level::Block, Blocking::Objected | Blocking::Told) => "Objection",
        (Level::Ask, _) => "Approval required",
        (Level::Warn, _) => "Warning",
        (Level::Allow, _) => "Allowed",
    }
}

/// Text fit to be shown: no control characters but line ends and tabs, nothing that turns the writing direction.
pub fn shown(text: &str) -> String {
    let hidden = |char: char| {
        (char.is_control() && char != '\n' && char != '\t')
            || matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|char| !hidden(*char)).collect()
}

#[cfg(test)]
mod tests;
