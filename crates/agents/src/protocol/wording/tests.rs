use engine::{Finding, Level, SectionKind, Verdict};

use super::{approval, notices, reasons, reasons_and_agent_texts, without_control_characters};
use crate::protocol::capabilities::BlockEffect;
use crate::protocol::hold_echo::is_hold_text;

fn finding(rule: &str, level: Level, reason: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        level,
        reason: reason.to_owned(),
        because: Vec::new(),
        digest: None,
        protects_guard: false,
        section: None,
        is_combined: false,
    }
}

fn several() -> Verdict {
    let mut verdict = Verdict::of(vec![
        finding("tidy-paths", Level::Warn, "Prefer a path inside the project."),
        finding("no-force-push", Level::Block, "Do not force-push.\nPush to a branch of your own instead."),
        finding("linchpin", Level::Ask, "`rules/x.md` is broken (line 3)."),
        finding("read-all", Level::Allow, ""),
    ]);
    verdict.notices.push("observing only: nothing is stopped".to_owned());
    verdict
}

#[test]
fn every_finding_has_its_paragraph() {
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &several()));
}

#[test]
fn shared_findings_are_left_out_after_a_refusal() {
    let vague = |level| Finding { is_combined: true, ..finding("others", level, "It may be anything.") };
    let refused = Verdict::of(vec![finding("sure", Level::Block, "Do not."), vague(Level::Ask)]);
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &refused), @"Blocked by Linchpin rule `sure`: Do not.");
    let asked = Verdict::of(vec![finding("sure", Level::Ask, "Do you?"), vague(Level::Ask)]);
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &asked), @"
    Approval required by Linchpin: It may be anything.

    Approval required by Linchpin rule `sure`: Do you?
    ");
}

#[test]
fn the_first_words_name_a_hold_or_an_objection() {
    let verdict = Verdict::of(vec![finding("tests-ran", Level::Block, "Run the tests first.")]);
    insta::assert_snapshot!(reasons(BlockEffect::Held, &verdict), @"Held by Linchpin rule `tests-ran`: Run the tests first.");
    insta::assert_snapshot!(reasons(BlockEffect::Objected, &verdict), @"Not allowed by Linchpin rule `tests-ran`, but this action could not be stopped: Run the tests first.");
}

#[test]
fn there_is_always_a_reason() {
    let nameless = Verdict { level: Level::Block, ..Verdict::empty() };
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &nameless), @"Blocked by Linchpin.");
    let blank = Verdict::of(vec![finding("a", Level::Ask, " \u{7}\n")]);
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &blank), @"Approval required by Linchpin rule `a`");
}

#[test]
fn an_approval_names_its_rules() {
    let mut verdict = Verdict::empty();
    insta::assert_snapshot!(approval(&verdict), @"Approved by Linchpin");
    verdict.findings.push(finding("reads", Level::Allow, "fine"));
    insta::assert_snapshot!(approval(&verdict), @"Approved by Linchpin rule `reads`");
    verdict.findings.push(finding("tests", Level::Allow, "fine"));
    insta::assert_snapshot!(approval(&verdict), @"Approved by Linchpin rules `reads`, `tests`");
}

#[test]
fn an_approval_does_not_name_a_rule_that_approves_nothing() {
    let partial = Finding {
        because: vec!["approves nothing: `make` is not covered".to_owned()],
        ..finding("partial", Level::Allow, "fine")
    };
    // Only the rule `reads` approves the call.
    let verdict = Verdict { approved: true, ..Verdict::of(vec![partial, finding("reads", Level::Allow, "fine")]) };
    insta::assert_snapshot!(approval(&verdict), @"Approved by Linchpin rule `reads`");
}

#[test]
fn notices_are_prefixed() {
    insta::assert_snapshot!(notices(&several()).unwrap(), @"Linchpin: observing only: nothing is stopped");
    assert_eq!(notices(&Verdict::empty()), None);
}

#[test]
fn a_recorded_refusal_says_how_a_person_can_allow_the_call() {
    let refused = Verdict { refusal_id: Some(17), ..Verdict::of(vec![finding("no-danger", Level::Block, "No.")]) };
    insta::assert_snapshot!(reasons(BlockEffect::Refused, &refused), @"
    Blocked by Linchpin rule `no-danger`: No.

    A person can allow this call once: `linchpin allow 17`
    ");
}

#[test]
fn control_characters_are_removed() {
    assert_eq!(without_control_characters("a\u{1b}[31mb\r\n\tc\u{202e}d\u{0}\u{9b}"), "a[31mb\n\tcd");
}

/// Findings of every kind that the text of a held stop can contain, including some that do not hold the stop.
fn held_by() -> Vec<Finding> {
    let section = |rule: &str, level, section| Finding { section: Some(section), ..finding(rule, level, "## A title") };
    vec![
        finding("tests-ran", Level::Block, "Run the tests first."),
        finding("linchpin", Level::Block, "The policy cannot be read."),
        Finding { is_combined: true, ..finding("others", Level::Block, "It may be anything.") },
        section("demand", Level::Block, SectionKind::Demand),
        section("persons", Level::Block, SectionKind::HumanAckDemand),
        section("command", Level::Block, SectionKind::FailedCommand),
        finding("tidy", Level::Warn, "Tidy up."),
        finding("broken", Level::Ask, "It cannot be judged."),
        section("told", Level::Warn, SectionKind::Demand),
    ]
}

#[test]
fn every_text_of_a_held_stop_is_recognized() {
    let all = held_by();
    for chosen in 0_u32..1 << all.len() {
        let findings: Vec<Finding> =
            all.iter().enumerate().filter(|(bit, _)| chosen & (1 << bit) != 0).map(|(_, one)| one.clone()).collect();
        let mut verdict = Verdict::of(findings);
        verdict.agent_texts.push("You are at the end.".to_owned());
        let text = reasons_and_agent_texts(BlockEffect::Held, &verdict);
        assert_eq!(is_hold_text(&text), verdict.level == Level::Block, "{text}");
    }
    let nameless = Verdict { level: Level::Block, ..Verdict::empty() };
    assert!(is_hold_text(&reasons(BlockEffect::Held, &nameless)));
}

#[test]
fn a_persons_prompt_about_a_hold_is_not_a_hold_text() {
    for text in [
        "Held by Linchpin? Then run the tests.",
        "Held by Linchpin rules, it says. Why?",
        "The following rules require attention: naming, and tests.",
        "The following rules require attention:\n\n- naming\n- tests",
        "Warning by Linchpin rule `tidy`: Tidy up.\n\nWhat does that mean?",
        "Why is it `Held by Linchpin rule `tests-ran`: Run the tests first.`?",
        "",
    ] {
        assert!(!is_hold_text(text), "{text}");
    }
}
