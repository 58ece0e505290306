//! Random words, with all kinds of quoting.

use proptest::prelude::*;
use proptest::strategy::Union;

use crate::bash::STAND_INS;
use crate::feature::Feature;

/// The variables of scripts, with their initial values.
pub const VARIABLES: [(&str, &str); 3] = [("A", "a"), ("B", "'b c'"), ("C", "")];

pub type Texts = BoxedStrategy<String>;

/// Chooses one of several strategies, each by its weight.
pub fn one_of(choices: Vec<(u32, Texts)>) -> Texts {
    Union::new_weighted(choices).boxed()
}

pub fn select(texts: &'static [&'static str]) -> Texts {
    prop::sample::select(texts).prop_map(str::to_owned).boxed()
}

/// Up to `most` pieces, concatenated, between an opening and a closing delimiter.
fn joined(open: &'static str, pieces: Texts, most: usize, close: &'static str) -> Texts {
    prop::collection::vec(pieces, 0..=most).prop_map(move |pieces| format!("{open}{}{close}", pieces.concat())).boxed()
}

fn plain() -> Texts {
    "[a-z0-9_./=,:@%+-][a-z0-9_./=,:@%+-]{0,4}".boxed()
}

fn single_quoted() -> Texts {
    joined("'", "[a-zé $`\"\\\\;&|<>(){}*?#!~\n=-]{1,3}".boxed(), 2, "'")
}

fn double_quoted(expansions: Option<Texts>) -> Texts {
    let escape = select(&["\\$", "\\\"", "\\\\", "\\`", "\\x", "\\'"]);
    let mut pieces = vec![(4, "[a-zé ';&|<>(){}*?#~=\n-]{1,3}".boxed()), (2, escape)];
    pieces.extend(expansions.map(|expansions| (2, expansions)));
    joined("\"", one_of(pieces), 3, "\"")
}

fn ansi_c_quoted() -> Texts {
    let escape = select(&[
        "\\n", "\\t", "\\'", "\\\"", "\\\\", "\\x41", "\\x4", "\\101", "\\7", "\\u0041", "\\e", "\\cB", "\\q",
    ]);
    joined("$'", one_of(vec![(2, "[a-z \"$;]{1,3}".boxed()), (2, escape)]), 3, "'")
}

fn escaped() -> Texts {
    select(&["\\ ", "\\$x", "\\;", "\\&", "\\'", "\\\"", "\\a", "\\*", "\\{", "\\#", "\\\\", "\\~"])
}

fn braces() -> Texts {
    select(&[
        "{a,b}",
        "{1..3}",
        "{a..c}",
        "{a,'b c'}",
        "{a}x",
        "{}",
        "{a,b{c,d}}",
        "{a,b}{c,d}",
        "{a\\,b}",
        "{3..1}",
        "{a..e..2}",
        "{01..03}",
        "{a,\"b,c\"}",
    ])
}

/// Pieces of a constant word.
fn constant() -> Vec<(u32, Texts)> {
    let mut pieces = vec![
        (6, plain()),
        (3, single_quoted()),
        (3, double_quoted(None)),
        (2, ansi_c_quoted()),
        (2, escaped()),
        (2, braces()),
        (1, select(&["$\"x y\"", "''", "\"\"", "a''b"])),
    ];
    if Feature::EscapedDollarBeforeQuote.is_supported() {
        pieces.push((1, select(&["\\$", "\\$''"])));
    }
    if Feature::ContinuationInAnsiCQuotes.is_supported() {
        pieces.push((1, select(&["$'a\\\nb'"])));
    }
    if Feature::EmptyAlternatives.is_supported() {
        pieces.push((1, select(&["{,'z'}", "{\"a\",,}"])));
    }
    pieces
}

fn word(pieces: Vec<(u32, Texts)>) -> Texts {
    prop::collection::vec(one_of(pieces), 1..=3).prop_map(|pieces| pieces.concat()).boxed()
}

/// Words whose values can be determined from the script. A new shell process has none of [`VARIABLES`].
pub fn known(with_variables: bool) -> Texts {
    let mut pieces = constant();
    pieces.push((1, select(&["a\\\nb", "\"a\\\nb\""])));
    if with_variables && Feature::Variables.is_supported() {
        pieces.push((3, select(&["${A}", "\"$A\"", "\"$B\"", "\"${B}x\"", "\"$C\"", "'$A'"])));
    }
    if Feature::ConstantSubstitution.is_supported() {
        pieces
            .push((1, select(&["\"$(echo a)\"", "$(echo b)", "$(printf c)", "\"$(printf '%s' 'd e')\"", "`echo f`"])));
    }
    word(pieces)
}

/// Words with all kinds of expansions. `scripts`: the scripts inside command substitutions.
pub fn any(scripts: Option<Texts>) -> Texts {
    let expansion = select(&[
        "$A",
        "${A}",
        "$B",
        "${C:-d}",
        "${C:+d}",
        "${A#a}",
        "${#B}",
        "$((1 + 2))",
        "$1",
        "$@",
        "$#",
        "$?",
        "${B// /_}",
        "$[1+1]",
        "${A:-$(beta in default)}",
        "`gamma in backquotes`",
        "$(echo a)",
        "${A:0:1}",
        "$(( $(echo 1) + 1 ))",
        "${nothing}",
    ]);
    let mut pieces = constant();
    pieces.push((2, expansion.clone()));
    pieces.push((1, select(&["$'a\\0b'", "*", "in*", "?nput", "[a-z]"])));
    let mut quoted = vec![(3, expansion)];
    if let Some(scripts) = scripts {
        let substitution = scripts.prop_map(|script| format!("$( {script}\n)")).boxed();
        pieces.push((1, substitution.clone()));
        quoted.push((1, substitution));
    }
    pieces.push((2, double_quoted(Some(one_of(quoted)))));
    let mut words = vec![(8, word(pieces)), (1, select(&["~", "~/x", "~+/y", "~nobody-here", "x~"]))];
    if Feature::TildeAfterEquals.is_supported() {
        words.push((1, select(&["of=~", "of=~/x", "PATH=x:~/y"])));
    }
    one_of(words)
}

/// The name of a stand-in, written in one of several ways.
pub fn program() -> Texts {
    let written = |name: &'static str| {
        let (start, end) = name.split_at(2);
        let spellings = vec![
            name.to_owned(),
            format!("'{name}'"),
            format!("{start}\"{end}\""),
            format!("\\{name}"),
            format!("$'{start}'{end}"),
            format!("./tools/{name}"),
            format!("{start}''{end}"),
        ];
        let others = spellings.clone();
        one_of(vec![(3, Just(name.to_owned()).boxed()), (1, prop::sample::select(others).boxed())])
    };
    one_of(STAND_INS.into_iter().map(|name| (1, written(name))).collect())
}
