//! Tests of commands that an unknown word before them may run, and of the texts of commands together with their
//! wrappers.

use crate::{RewrittenBranch, SimpleCommand, parse};
use insta::assert_snapshot;

fn assumed(text: &str) -> String {
    let script = parse(text);
    let mut shown: Vec<_> =
        script.commands.iter().filter(|command| command.provenance.is_assumed).map(SimpleCommand::text).collect();
    shown.extend(script.gaps.iter().map(|gap| format!("gap: {gap}")));
    shown.join("\n")
}

#[test]
fn an_unknown_program_may_run_its_arguments() {
    assert_snapshot!(assumed("$SUDO git push -f origin main"), @"git push -f origin main");
    assert_snapshot!(assumed("\"$SUDO\" -u root A=1 /usr/bin/git push"), @"git push");
    assert_snapshot!(assumed("$PY -m pip install x"), @"pip install x");
    assert_snapshot!(assumed("$UV run pip install x"), @"
    run pip install x
    pip install x
    ");
    assert_snapshot!(assumed("$NPM x eslint@8 ."), @"
    x eslint@8 .
    eslint .
    ");
    assert_snapshot!(assumed("$A $B rm x"), @"
    $B rm x
    rm x
    ");
    assert_snapshot!(assumed("$SUDO bash -c 'rm x'"), @"rm x");
}

#[test]
fn a_known_program_is_not_assumed_to_be_another() {
    for text in [
        "sudo git push",
        "$BIN/tool git push",
        "echo $X git push",
        "$CC -c",
        "\"$X\"",
        "for t in tests/*; do $t a; done",
    ] {
        assert_eq!(assumed(text), "", "{text}");
    }
}

#[test]
fn assumed_commands_add_no_gaps() {
    for text in ["$CC -o x -c $SOURCE", "$RUN bash -c \"$SCRIPT\"", "$RUN eval \"$SCRIPT\""] {
        assert!(parse(text).complete, "{text}");
    }
    assert!(!parse("bash -c \"$SCRIPT\"").complete);
}

#[test]
fn assumed_commands_change_nothing_for_later_commands() {
    let directories = |text| parse(text).commands.last().map(|command| command.directories().clone());
    assert_eq!(directories("$X cd sub; make"), directories("make"));
    let has_script = |text: &str| parse(text).commands.iter().any(|command| command.text() == "rm y");
    assert!(has_script("echo 'rm y' > a.sh; $X cp b.sh a.sh; sh a.sh"));
}

#[test]
fn a_chain_of_unknown_words_is_bounded() {
    let chain = "\"$A\" -u \"$B\" ".repeat(200);
    assert!(parse(&format!("{chain} rm x")).commands.len() < 200);
}

#[test]
fn an_unknown_program_may_be_git() {
    let rewrites = |text: &str| {
        let rewrites = parse(text).rewrites();
        rewrites.iter().map(|rewrite| (rewrite.branch.clone(), rewrite.is_certain)).collect::<Vec<_>>()
    };
    let main = RewrittenBranch::Named("main".to_owned());
    assert_eq!(rewrites("$GIT push --force origin main"), [(main.clone(), false)]);
    assert_eq!(rewrites("$SUDO git push --force origin main"), [(main.clone(), false)]);
    assert_eq!(rewrites("git push --force origin main"), [(main, true)]);
    assert_eq!(rewrites("$DOCKER push registry/main"), []);
}

#[test]
fn texts_with_wrappers() {
    let texts = |text: &str| parse(text).texts_with_wrappers().collect::<Vec<_>>().join("\n");
    assert_snapshot!(texts("sudo -u x env A=1 /usr/bin/uv run pytest -q"), @"
    uv run pytest -q
    env A=1 uv run pytest -q
    sudo -u x env A=1 uv run pytest -q
    ");
    assert_snapshot!(texts("npx eslint . && git ls-files | xargs wc -l"), @"
    npx eslint .
    xargs wc -l ./*
    ");
    // Arguments that are data are shown as `…`, also in a text with wrappers.
    assert_snapshot!(texts("timeout 5 echo git push"), @"timeout 5 echo … …");
    // A program that runs a shell script (`bash -c`, `eval`, `ssh`) is not shown as a wrapper of the commands in that
    // script.
    assert_snapshot!(texts("bash -c 'rm x'; eval 'rm x'; ssh host rm x"), @"");
    assert_snapshot!(texts("bash -c 'sudo rm x'; sudo bash -c 'rm y'"), @"sudo rm x");
}
