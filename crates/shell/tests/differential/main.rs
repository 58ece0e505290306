//! Compares how Linchpin reads scripts with what bash runs.
//!
//! A real bash runs random scripts, in which all programs are stand-ins that record their calls ([`bash`]). Every call
//! must be among the commands that [`shell::parse`] lists, unless the script counts as incomplete. In scripts without
//! branches, every call must be known exactly.
//!
//! By default, there are 64 scripts of each kind, always the same ones. With
//! `PROPTEST_CASES=5000 cargo test -p linchpin-shell --test differential` there are more, and different ones each time.
//! Features that are not supported yet are listed in [`feature::NOT_YET`].

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
mod script;
mod understanding;
mod word;

use std::cell::Cell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use bash::{Bash, Call};
use feature::{Feature, NOT_YET};
use understanding::Understanding;
use word::Texts;

const CASES: u32 = 64;

/// By default, generates the same few scripts each time. With `PROPTEST_CASES`, generates different ones each time.
#[expect(clippy::disallowed_methods, reason = "the variable is proptest's own")]
fn runner() -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return TestRunner::new(config);
    }
    let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config { cases: CASES, ..config }, generator)
}

/// Runs random scripts, and checks each complete one with `wrong`, which returns a difference. Most scripts must be
/// complete.
fn compare(scripts: &Texts, wrong: impl Fn(&Understanding, &[Call]) -> Option<String>) {
    let bash = Bash::new();
    let (tried, complete, ran) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let refused = Cell::new(0);
    let outcome = runner().run(scripts, |script| {
        let Some(calls) = bash.run(&script) else {
            refused.set(refused.get() + 1);
            return Ok(());
        };
        let understanding = Understanding::of(&script);
        tried.set(tried.get() + 1);
        ran.set(ran.get() + calls.len());
        if !understanding.is_complete() {
            return Ok(());
        }
        complete.set(complete.get() + 1);
        wrong(&understanding, &calls).map_or(Ok(()), |what| Err(TestCaseError::fail(format!("{what}, of\n{script}"))))
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (tried, complete, ran) = (tried.get(), complete.get(), ran.get());
    let refused = refused.get();
    assert!(refused * 100 <= tried, "bash cannot read {refused} scripts beside {tried}: the generator is wrong");
    assert!(ran > tried * 2, "the scripts run too little to tell anything: {ran} calls of {tried} scripts");
    assert!(complete * 10 > tried * 6, "only {complete} of {tried} scripts are read completely");
}

#[test]
fn everything_that_runs_is_listed() {
    compare(&branching_scripts::scripts(), Understanding::unlisted);
}

#[test]
fn linear_scripts_are_known_exactly() {
    compare(&linear_scripts::scripts(), Understanding::difference);
}

/// A feature that is supported must not be in the list, and one that is not supported must be in it.
#[test]
fn unsupported_features_are_listed() {
    let bash = Bash::new();
    let mut wrong = Vec::new();
    for feature in Feature::ALL {
        let script = feature.sample();
        let calls = bash.run(script).unwrap();
        assert!(!calls.is_empty(), "the sample of {feature:?} runs nothing");
        let understanding = Understanding::of(script);
        let difference = match understanding.is_complete() {
            true if feature.is_exact() => understanding.difference(&calls),
            true => understanding.unlisted(&calls),
            false => Some("it is not read completely".to_owned()),
        };
        match (NOT_YET.contains(&feature), difference) {
            (true, None) => wrong.push(format!("{feature:?} is understood now: take it off `NOT_YET`")),
            (false, Some(difference)) => wrong.push(format!("{feature:?}: {difference}, of\n{script}")),
            (true, Some(_)) => println!("not yet: {feature:?}"),
            (false, None) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn calls_are_written_down() {
    let calls = Bash::new().run("alpha 'a b' \"\" $'c\\nd' | beta; ./tools/gamma; nothing-of-this-name").unwrap();
    let mut calls: Vec<Vec<_>> = calls.iter().map(|call| call.iter().map(String::as_str).collect()).collect();
    calls.sort();
    assert_eq!(calls, [vec!["alpha", "a b", "", "c\nd"], vec!["beta"], vec!["gamma"]]);
}
