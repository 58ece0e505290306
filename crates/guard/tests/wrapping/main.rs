//! Bundled rules judge a command in the same way, no matter how it is wrapped.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "in a test, what is not as expected ends the test")]

mod wrapper;

use std::sync::{Arc, LazyLock};

use engine::event::{EventKind, ShellText, ToolCall};
use engine::facts::{Facts, GitField, Missing};
use engine::rules::RuleSet;
use engine::{BaseDirectories, DecisionRequest, Event, Level, Situation};
use policy::{LastGoodPolicy, PolicyFolders, RuleOrigin};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;
use wrapper::Wrapper;

/// All bundled rules.
static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let loaded = policy::load(&PolicyFolders::default(), &LastGoodPolicy::default(), |_| true);
    let bundled = loaded.definitions.iter().filter(|definition| definition.origin == RuleOrigin::Bundled);
    let rules: Vec<_> = bundled.map(|definition| definition.rule.clone()).collect();
    assert!(rules.len() >= 9, "{}", rules.len());
    RuleSet::pack(&rules).expect("rules")
});

struct Case {
    command: String,
    expect: String,
}

/// The commands of the corpus (`corpus/commands.jsonl`) that must be judged on the branch `feature`, except those about
/// opaque shells.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let text = include_str!("../../../../corpus/commands.jsonl");
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case");
        let field = |name: &str| case[name].as_str().expect("text").to_owned();
        // Opaque shells (shells that run commands Linchpin cannot see) are left out: whether an interactive shell is
        // opaque depends on its stdin, and wrappers redirect stdin.
        let is_wanted = field("branch") == "feature" && field("policy") != "opaque-shell";
        is_wanted.then(|| Case { command: field("command"), expect: field("expect") })
    };
    text.lines().filter_map(case).collect()
});

struct OnFeature;

impl Facts for OnFeature {
    fn git(&self, field: GitField) -> Result<Value, Missing> {
        Ok(if field == GitField::Branch { Value::from("feature") } else { Value::Null })
    }
}

fn judged(command: &str) -> Level {
    let call = ToolCall {
        name: "Bash".to_owned(),
        shell: Some(ShellText::Command(command.to_owned())),
        ..ToolCall::default()
    };
    let event = Event {
        kind: EventKind::BeforeTool,
        cwd: "/project".to_owned(),
        tool: Some(call),
        ..Event::unknown("claude", 0)
    };
    let place = BaseDirectories {
        root: "/project".to_owned(),
        home: Some("/home/user".to_owned()),
        temp: Some("/tmp".to_owned()),
        aliases: Vec::new(),
        is_subdirectory: false,
    };
    let situation = Arc::new(Situation::new(Arc::new(event), place, Arc::new(OnFeature)));
    let decision = engine::decide(&DecisionRequest { situation: &situation, rules: &RULES, evaluate_all: false });
    decision.expect("a decision").verdict.level
}

/// The commands of the corpus for which the verdict `expect` is expected, and which get that verdict (`is_so`) even
/// without facts about files.
fn commands(expect: &str, is_so: fn(Level) -> bool) -> Vec<String> {
    // Commands whose meaning depends on their surroundings are excluded: `break` and `continue`, commands that count
    // their arguments, traps (they run when their shell exits), heredocs with an empty delimiter (the end of the
    // wrapper becomes part of the heredoc), sourced files and arithmetic with outside variables (in loops, they are not
    // judged correctly yet: `sourced-in-loop` and `arithmetic-in-loop` in `not_yet.jsonl`), and `eval` (in an editor of
    // git).
    let is_changed = |command: &str| {
        ["break", "continue", "$#", "trap ", "<<''", "; . /", "(( ", "eval "].iter().any(|word| command.contains(word))
    };
    let wanted = CASES.iter().filter(|case| case.expect == expect && !is_changed(&case.command));
    let wanted = wanted.filter(|case| is_so(judged(&case.command)));
    wanted.map(|case| case.command.clone()).collect()
}

fn wrapped(command: &str, wrappers: &[Wrapper]) -> String {
    wrappers.iter().fold(command.to_owned(), |script, wrapper| wrapper.wrap(&script).unwrap_or(script))
}

static BLOCKED: LazyLock<Vec<String>> = LazyLock::new(|| commands("deny", |level| level == Level::Block));
static HARMLESS: LazyLock<Vec<String>> = LazyLock::new(|| commands("allow", |level| level == Level::Allow));

#[test]
fn there_are_commands_to_wrap() {
    assert!(BLOCKED.len() > 400 && HARMLESS.len() > 400, "{} and {}", BLOCKED.len(), HARMLESS.len());
}

/// Uses the same cases in each run, so that a rare combination does not fail an unrelated change. `PROPTEST_RNG_SEED=n`
/// selects other cases.
fn config() -> ProptestConfig {
    let given = ProptestConfig { cases: 6000, ..ProptestConfig::default() };
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    ProptestConfig { rng_seed, ..given }
}

const SEED: u64 = 4;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_blocked_command_is_never_allowed_when_wrapped(
        command in prop::sample::select(BLOCKED.clone()),
        wrappers in prop::collection::vec(Wrapper::any(), 1..4),
    ) {
        let script = wrapped(&command, &wrappers);
        prop_assert!(judged(&script) >= Level::Ask, "{script}");
    }

    #[test]
    fn a_harmless_command_is_never_stopped_when_wrapped(
        command in prop::sample::select(HARMLESS.clone()),
        wrappers in prop::collection::vec(Wrapper::any(), 1..4),
    ) {
        let script = wrapped(&command, &wrappers);
        prop_assert_eq!(judged(&script), Level::Allow, "{}", script);
    }
}
