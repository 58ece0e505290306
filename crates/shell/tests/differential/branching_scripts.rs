//! Scripts with all constructs: branches, loops, functions, and words that are not known before the script runs.

use proptest::prelude::*;

use crate::feature::Feature;
use crate::script::{Position, around, call, indirect, lines, with_heredocs, with_variables, wrapped};
use crate::word::{self, Texts, one_of, select};

/// Compound commands. A random script replaces each `@`.
const COMPOUND: [&str; 18] = [
    "( @\n)",
    "( ( @\n))",
    "{ @\n}",
    "{ @\n} > out < input",
    "if @\nthen\n@\nelse\n@\nfi",
    "if [ $A = a ]; then @\nelif @\nthen @\nfi",
    "while @\ndo\n@\nbreak; done",
    "until @\ndo\n@\nbreak; done",
    "for A in p 'q r' $B; do\n@\ndone",
    "for A; do\n@\ndone",
    "case $A in a) @\n;; z|e) @\n;; *) @\n;; esac",
    "case x in (x) @\n;& y) @\nesac",
    "f() { @\n}; f p 'q r'",
    "function f { local A=l; @\n}; f \"$A\"",
    "f() ( @\n)\nf x | f y",
    "( @\n) | { @\n}",
    "( @\n) && ( @\n) || ( @\n)",
    "{ @\n} & wait",
];
const SUBSTITUTION: [&str; 4] = ["mapfile -t lines < <( @\n)", "x=$( @\n)", "A=x$( @\n)y", "alpha \"${C:-$( @\n)}\""];
/// Commands with heredocs. A random call replaces each `@`.
const HEREDOC_TEMPLATES: &[&str] = &[
    "@ <<END\n$(beta in document) ${A:-x} \"\nEND",
    "@ <<'END'\n$(beta in document)\nEND",
    ": \"$(@ <<'END'\n$(beta in document) '\nEND\n)\" | delta",
    "@ <<A; gamma <<'B'\n$A\nA\nbeta\nB",
    "@ \\\n  p <<END\n$(beta in document)\nEND",
    "alpha \\\n  p; @ <<END | beta\n${A:-$(gamma)}\nEND",
];
/// Commands whose program and arguments come from variables.
const VARIABLE_PROGRAMS: &[&str] = &[
    "P=alpha; $P x",
    "P='beta x'; $P y",
    "set -- gamma a; \"$@\"",
    "set -- gamma a; P=\"$*\"; $P",
    "al${C}pha z",
    "$C delta q",
];
const ASSIGNMENTS: &[&str] =
    &["A=z", "B=y; A+=x", "C=$(alpha)", "read -r A <<< 'r s'", "unset C", "export A=e", "local A=l", "(A=sub)"];
/// Calls whose arguments need not be known exactly.
const INPUTS: &[&str] = &[
    "echo p q | xargs -n1 alpha",
    "printf 'p\\0q r\\0' | xargs -0 gamma",
    "alpha | xargs -r beta",
    "xargs -a input delta",
];
const TESTS: &[&str] =
    &[": # alpha in a comment", "true # beta", "false", "[ -f input ] && alpha", "[[ $A = z ]] || beta"];

pub fn scripts() -> Texts {
    with_variables(scripts_in(Position::TOP))
}

fn scripts_in(position: Position) -> Texts {
    let substituted = (position.depth > 0).then(|| scripts_in(position.in_substitution()));
    let words = word::any(substituted.clone());
    let mut calls = vec![(6, call(&words)), (1, select(VARIABLE_PROGRAMS))];
    calls.extend(wrapped(&words).map(|wrapped| (2, wrapped)));
    let calls = one_of(calls);
    let more = prop::collection::vec((select(&["; ", " && ", " || ", " | ", " |& "]), calls.clone()), 0..=2)
        .prop_map(|more| more.into_iter().flat_map(|(operator, call)| [operator, call]).collect::<String>());
    let listed = (calls.clone(), more).prop_map(|(first, more)| first + &more);
    let mut choices = vec![
        (6, listed.boxed()),
        (1, around("! @", &calls)),
        (1, around("time @", &calls)),
        (1, around("@ & wait", &calls)),
        (2, select(ASSIGNMENTS)),
        (1, words.clone().prop_map(|word| format!("A={word}")).boxed()),
        (1, select(TESTS)),
    ];
    if position.has_heredocs {
        choices.push((2, with_heredocs(&words, HEREDOC_TEMPLATES)));
        if Feature::HeredocEndedByParenthesis.is_supported() {
            choices.push((1, with_heredocs(&words, &[": $(@ <<END\nx\nEND)"])));
        }
    }
    if Feature::Xargs.is_supported() {
        choices.push((1, select(INPUTS)));
    }
    if let Some(substituted) = substituted {
        let inner = scripts_in(position.inside());
        choices.extend(COMPOUND.map(|template| (1, around(template, &inner))));
        choices.extend(SUBSTITUTION.map(|template| (1, around(template, &substituted))));
        // Bash parses the following constructs differently if they contain a heredoc.
        if !position.has_heredocs {
            choices.extend(["((@\n) )", "((@\n); ( @\n))"].map(|template| (1, around(template, &inner))));
        }
        if position.has_heredocs {
            choices.push((1, around("alpha \"$( @\n)\" <<'END' | beta\nx\nEND", &substituted)));
        }
        if position.has_heredocs || Feature::ArithmeticBeforeHeredoc.is_supported() {
            choices.push((1, around("for ((i = 0; i < 2; i++)); do\n@\ndone", &inner)));
        }
        choices.extend(indirect(position, &words, &inner, &scripts_in(position.in_new_shell())));
    }
    lines(one_of(choices), position.depth)
}
