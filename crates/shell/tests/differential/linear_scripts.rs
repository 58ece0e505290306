//! Scripts in which everything runs, and in which all words can be determined from the script.

use proptest::prelude::*;

use crate::feature::Feature;
use crate::script::{Position, around, call, indirect, lines, with_heredocs, with_variables, wrapped};
use crate::word::{self, Texts, one_of, select};

/// Compound commands. A random script replaces each `@`.
const COMPOUND: [&str; 5] = ["( @\n)", "{ @\n}", "{ @\n} > out", "( @\n) | ( @\n)", "if true; then\n@\nfi"];
const SUBSTITUTION: [&str; 3] = [": \"$( @\n)\"", "x=$( @\n)", "x=`:`$( @\n)"];
/// Commands with heredocs. A random call replaces each `@`.
const HEREDOC_TEMPLATES: &[&str] = &[
    "@ <<'END'\nalpha $(beta) \"\nEND",
    "@ <<-'END'\n\talpha x\n\tEND",
    "@ <<END\nplain text 'x'\nEND",
    ": \"$(@ <<'END'\nalpha `beta` '\nEND\n)\" | delta",
];
/// Statements that call no stand-in.
const NO_CALLS: &[&str] = &[": # alpha in a comment", ":", "true # beta", "shift 0; cd sub; cd .."];

pub fn scripts() -> Texts {
    with_variables(scripts_in(Position::TOP))
}

fn scripts_in(position: Position) -> Texts {
    let words = word::known(position.has_variables);
    let mut calls = vec![(4, call(&words))];
    calls.extend(wrapped(&words).map(|wrapped| (2, wrapped)));
    let calls = one_of(calls);
    let listed = (prop::collection::vec(calls.clone(), 1..=3), select(&["; ", " && ", " | ", " |& "]))
        .prop_map(|(calls, operator)| calls.join(&operator));
    let mut choices =
        vec![(6, listed.boxed()), (1, around("! @", &calls)), (1, around("@ & wait", &calls)), (1, select(NO_CALLS))];
    if position.has_heredocs {
        choices.push((2, with_heredocs(&words, HEREDOC_TEMPLATES)));
    }
    if position.depth > 0 {
        let inner = scripts_in(position.inside());
        let substituted = scripts_in(position.in_substitution());
        choices.extend(COMPOUND.map(|template| (1, around(template, &inner))));
        choices.extend(SUBSTITUTION.map(|template| (1, around(template, &substituted))));
        choices.extend(indirect(position, &words, &inner, &scripts_in(position.in_new_shell())));
    }
    let mut through_variables = |feature: Feature, start: &'static str, end: &'static str| {
        if feature.is_supported() {
            let words = prop::collection::vec(words.clone(), 1..=3);
            choices.push((1, words.prop_map(move |words| format!("{start} {}{end}", words.join(" "))).boxed()));
        }
    };
    through_variables(Feature::LoopVariables, "for v in", "; do alpha \"$v\" x; done");
    through_variables(Feature::Arguments, "f() { alpha \"$@\" \"$#\"; }; f", "");
    lines(one_of(choices), position.depth)
}
