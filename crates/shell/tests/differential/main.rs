//! Compares the commands that Linchpin finds in scripts with the commands that bash runs.
//!
//! A real bash runs random scripts, in which all programs are stand-ins that record their calls ([`bash`]). Every call
//! must be among the commands that [`shell::parse`] lists, unless the script counts as incomplete. In scripts without
//! branches, every call must be known exactly.
//!
//! By default, there are 64 scripts of each kind, always the same scripts. With
//! `PROPTEST_CASES=5000 cargo test -p linchpin-shell --test differential` there are 5000 scripts of each kind, and
//! different scripts each time. Features that are not supported yet are listed in [`feature::UNSUPPORTED`].

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the helpers of tests may end a test, as the tests themselves may"
)]

mod bash;
mod branching_scripts;
mod feature;
mod linear_scripts;
mod parsed_script;
mod script;
mod word;

use std::cell::Cell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use bash::{Bash, Call};
use feature::{Feature, UNSUPPORTED};
use parsed_script::ParsedScript;
use word::Texts;

const CASES: u32 = 64;

/// By default, generates the same few scripts each time. With `PROPTEST_CASES`, generates different scripts each time.
#[expect(clippy::disallowed_methods, reason = "the variable is proptest's own")]
fn runner() -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return TestRunner::new(config);
    }
    let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config { cases: CASES, ..config }, generator)
}

/// Runs random scripts, and checks each script that is parsed completely. `find_difference` returns a description of a
/// difference between the parsed commands and the recorded calls. Most scripts must be parsed completely.
fn compare(scripts: &Texts, find_difference: impl Fn(&ParsedScript, &[Call]) -> Option<String>) {
    let bash = Bash::new();
    let (tried, complete, ran) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let refused = Cell::new(0);
    let outcome = runner().run(scripts, |script| {
        let Some(calls) = bash.run(&script) else {
            refused.set(refused.get() + 1);
            return Ok(());
        };
        let parsed_script = ParsedScript::of(&script);
        tried.set(tried.get() + 1);
        ran.set(ran.get() + calls.len());
        if !parsed_script.is_complete() {
            return Ok(());
        }
        complete.set(complete.get() + 1);
        find_difference(&parsed_script, &calls)
            .map_or(Ok(()), |difference| Err(TestCaseError::fail(format!("{difference}, of\n{script}"))))
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (tried, complete, ran) = (tried.get(), complete.get(), ran.get());
    let refused = refused.get();
    assert!(refused * 100 <= tried, "bash cannot read {refused} scripts beside {tried}: the generator is wrong");
    assert!(ran > tried * 2, "the scripts run too little to tell anything: {ran} calls of {tried} scripts");
    assert!(complete * 10 > tried * 6, "only {complete} of {tried} scripts are parsed completely");
}

#[test]
fn everything_that_runs_is_listed() {
    compare(&branching_scripts::scripts(), ParsedScript::unlisted);
}

#[test]
fn linear_scripts_are_known_exactly() {
    compare(&linear_scripts::scripts(), ParsedScript::difference);
}

/// [`UNSUPPORTED`] contains exactly the features that are not supported.
#[test]
fn unsupported_features_are_listed() {
    let bash = Bash::new();
    let mut wrong = Vec::new();
    for feature in Feature::ALL {
        let script = feature.sample();
        let calls = bash.run(script).unwrap();
        assert!(!calls.is_empty(), "the sample of {feature:?} runs nothing");
        let parsed_script = ParsedScript::of(script);
        let difference = match parsed_script.is_complete() {
            true if feature.is_exact() => parsed_script.difference(&calls),
            true => parsed_script.unlisted(&calls),
            false => Some("it is not parsed completely".to_owned()),
        };
        match (UNSUPPORTED.contains(&feature), difference) {
            (true, None) => wrong.push(format!("{feature:?} is supported now: remove it from `UNSUPPORTED`")),
            (false, Some(difference)) => wrong.push(format!("{feature:?}: {difference}, of\n{script}")),
            (true, Some(_)) => println!("not supported: {feature:?}"),
            (false, None) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn calls_are_recorded() {
    let calls = Bash::new().run("alpha 'a b' \"\" $'c\\nd' | beta; ./tools/gamma; nothing-of-this-name").unwrap();
    let mut calls: Vec<Vec<_>> = calls.iter().map(|call| call.iter().map(String::as_str).collect()).collect();
    calls.sort();
    assert_eq!(calls, [vec!["alpha", "a b", "", "c\nd"], vec!["beta"], vec!["gamma"]]);
}
