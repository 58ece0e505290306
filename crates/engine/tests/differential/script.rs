//! Random scripts, as text. Every loop in them ends, and they write nowhere but in the folder they run in.
//!
//! Statements stand on lines of their own, so that a here-document can follow any of them.

use proptest::prelude::*;

use crate::feature::Feature;
use crate::word::{self, Texts, VARIABLES, one_of, select};

const DEPTH: u32 = 3;

/// Where a script stands.
#[derive(Clone, Copy)]
struct Place {
    /// How deep scripts may nest in it.
    depth: u32,
    /// Whether here-documents may stand in it. Bash 5.2 loses track of them in substitutions within substitutions, so
    /// those have only the ones that a template gives them.
    documents: bool,
    /// Whether its variables are those of [`VARIABLES`], which a shell of its own does not know.
    variables: bool,
}

impl Place {
    const TOP: Self = Self { depth: DEPTH, documents: true, variables: true };

    fn inside(self) -> Self {
        Self { depth: self.depth - 1, ..self }
    }

    fn in_substitution(self) -> Self {
        Self { documents: false, ..self.inside() }
    }

    fn in_own_shell(self) -> Self {
        Self { variables: false, ..self.inside() }
    }
}

/// Scripts with everything in them.
pub fn any() -> Texts {
    with_variables(any_script(Place::TOP))
}

/// Scripts that run all that stands in them.
pub fn straight() -> Texts {
    with_variables(straight_script(Place::TOP))
}

fn with_variables(scripts: Texts) -> Texts {
    let start: String = VARIABLES.iter().flat_map(|(name, value)| [*name, "=", *value, "\n"]).collect();
    scripts.prop_map(move |script| format!("{start}{script}")).boxed()
}

fn lines(statements: Texts, depth: u32) -> Texts {
    let most = if depth == DEPTH { 4 } else { 2 };
    prop::collection::vec(statements, 1..=most).prop_map(|statements| statements.join("\n")).boxed()
}

/// A text with each `@` replaced by a script of its own.
fn around(template: &'static str, scripts: &Texts) -> Texts {
    let parts: Vec<&'static str> = template.split('@').collect();
    prop::collection::vec(scripts.clone(), parts.len() - 1)
        .prop_map(move |scripts| {
            let mut scripts = scripts.into_iter();
            parts.iter().flat_map(|part| [(*part).to_owned(), scripts.next().unwrap_or_default()]).collect::<String>()
        })
        .boxed()
}

fn redirections() -> Texts {
    select(&[
        "",
        "",
        "",
        "",
        " > out",
        " >> 'out 2'",
        " 2>/dev/null",
        " 2>&1",
        " < input",
        " > out 2>&1",
        " &> out",
        " <<< 'text of it'",
        " >| out",
        " 3> out",
        " >&2",
        " <&-",
        " 2>&-",
    ])
}

/// A stand-in with words, and redirections before or behind them.
fn call(words: &Texts) -> Texts {
    let arguments = prop::collection::vec(words.clone(), 0..=3).prop_map(|words| words.join(" "));
    let prefix = select(&["", "", "", "", "X=1 ", "X='y z' Y= ", "> out "]);
    (prefix, word::program(), arguments, redirections())
        .prop_map(|(prefix, program, arguments, redirections)| format!("{prefix}{program} {arguments}{redirections}"))
        .boxed()
}

/// Calls through programs that run others, as far as they are understood.
fn wrapped(words: &Texts) -> Option<Texts> {
    let wrappers: &[(Feature, &'static [&'static str])] = &[
        (Feature::Env, &["env", "env X=1", "env -u X", "env --", "env -u X Y='1 2'"]),
        (Feature::Nice, &["nice", "nice -n 1", "nice -1", "nice --adjustment=1"]),
        (Feature::Nohup, &["nohup", "nohup --"]),
        (Feature::Timeout, &["timeout 9", "timeout -s KILL 9", "timeout --signal=KILL -k 1 9"]),
        (Feature::Command, &["command", "command --", "command -p command"]),
    ];
    let understood: Vec<_> =
        wrappers.iter().filter(|(feature, _)| feature.is_understood()).map(|(_, ways)| (1, select(ways))).collect();
    if understood.is_empty() {
        return None;
    }
    let wrappers = prop::collection::vec(one_of(understood), 1..=2);
    let arguments = prop::collection::vec(words.clone(), 0..=2);
    let call = (wrappers, select(&["alpha", "'beta'", "./tools/gamma"]), arguments);
    Some(
        call.prop_map(|(wrappers, program, words)| format!("{} {program} {}", wrappers.join(" "), words.join(" ")))
            .boxed(),
    )
}

/// Statements that run text or words as commands, as far as they are understood.
fn indirect(words: &Texts, inner: &Texts, alone: &Texts) -> Vec<(u32, Texts)> {
    let mut choices = Vec::new();
    let mut add = |feature: Feature, statements: Texts| {
        if feature.is_understood() {
            choices.push((1, statements));
        }
    };
    add(Feature::Exec, words.clone().prop_map(|word| format!("(exec alpha {word})")).boxed());
    add(
        Feature::Xargs,
        select(&[
            "printf 'p q' | xargs alpha a",
            "echo p q | xargs -n1 alpha",
            "xargs -I{} beta {}z <<< p",
            "printf 'p\\0q r\\0' | xargs -0 gamma",
            "xargs -n 1 -- delta < /dev/null",
        ]),
    );
    let shell = select(&["bash -c", "bash -ec", "bash --norc -c", "bash -o pipefail -c", "bash -c --"]);
    let arguments = select(&["", " x", " x y 'z z'"]);
    let script = (shell, alone.clone(), arguments);
    add(Feature::BashC, script.prop_map(|(shell, script, rest)| format!("{shell} {}{rest}", quoted(&script))).boxed());
    add(Feature::Eval, inner.clone().prop_map(|script| format!("eval {}", quoted(&script))).boxed());
    add(Feature::Eval, select(&["eval alpha a b", "eval 'alpha' '\"b c\"'"]));
    add(Feature::FedShell, alone.clone().prop_map(|script| format!("bash <<'FED'\n{script}\nFED")).boxed());
    add(Feature::FedShell, alone.clone().prop_map(|script| format!("bash <<< {}", quoted(&script))).boxed());
    add(
        Feature::PipedShell,
        alone.clone().prop_map(|script| format!("printf '%s\\n' {} | bash", quoted(&script))).boxed(),
    );
    choices
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Statements that hold here-documents.
fn documents(words: &Texts, templates: &'static [&'static str]) -> Texts {
    (call(words), select(templates)).prop_map(|(call, template)| template.replace('@', &call)).boxed()
}

fn straight_script(place: Place) -> Texts {
    let words = word::known(place.variables);
    let mut simple = vec![(4, call(&words))];
    simple.extend(wrapped(&words).map(|wrapped| (2, wrapped)));
    let simple = one_of(simple);
    let listed = (prop::collection::vec(simple.clone(), 1..=3), select(&["; ", " && ", " | ", " |& "]))
        .prop_map(|(calls, operator)| calls.join(&operator))
        .boxed();
    let mut choices = vec![
        (6, listed),
        (1, around("! @", &simple)),
        (1, around("@ & wait", &simple)),
        (1, select(&["# alpha in a comment", ":", "true # beta", "shift 0; cd sub; cd ..", ""])),
    ];
    if place.documents {
        choices.push((
            2,
            documents(
                &words,
                &[
                    "@ <<'END'\nalpha $(beta) \"\nEND",
                    "@ <<-'END'\n\talpha x\n\tEND",
                    "@ <<END\nplain text 'x'\nEND",
                    ": \"$(@ <<'END'\nalpha `beta` '\nEND\n)\" | delta",
                ],
            ),
        ));
    }
    if place.depth > 0 {
        let inner = straight_script(place.inside());
        for template in ["( @\n)", "{ @\n}", "{ @\n} > out", "( @\n) | ( @\n)", "if true; then\n@\nfi"] {
            choices.push((1, around(template, &inner)));
        }
        let substituted = straight_script(place.in_substitution());
        for template in [": \"$( @\n)\"", "x=$( @\n)", "x=`:`$( @\n)"] {
            choices.push((1, around(template, &substituted)));
        }
        if Feature::LoopVariables.is_understood() {
            let loops = prop::collection::vec(words.clone(), 1..=3)
                .prop_map(|words| format!("for v in {}; do alpha \"$v\" x; done", words.join(" ")));
            choices.push((1, loops.boxed()));
        }
        if Feature::Arguments.is_understood() {
            let calls = prop::collection::vec(words.clone(), 0..=3)
                .prop_map(|words| format!("f() {{ alpha \"$@\" \"$#\"; }}; f {}", words.join(" ")));
            choices.push((1, calls.boxed()));
        }
        choices.extend(indirect(&words, &inner, &straight_script(place.in_own_shell())));
    }
    lines(one_of(choices), place.depth)
}

fn any_script(place: Place) -> Texts {
    let substituted = (place.depth > 0).then(|| any_script(place.in_substitution()));
    let words = word::any(substituted.clone());
    let mut simple = vec![(6, call(&words))];
    simple.extend(wrapped(&words).map(|wrapped| (2, wrapped)));
    // Programs and all of their words out of variables.
    simple.push((
        1,
        select(&["P=alpha; $P x", "P='beta x'; $P y", "set -- gamma a; \"$@\"", "al${C}pha z", "$C delta q"]),
    ));
    let simple = one_of(simple);
    let operator = select(&["; ", " && ", " || ", " | ", " |& "]);
    let listed = prop::collection::vec((simple.clone(), operator), 1..=3).prop_map(|calls| {
        let mut text = String::new();
        let last = calls.len() - 1;
        for (place, (call, operator)) in calls.into_iter().enumerate() {
            text += &call;
            text += if place < last { &operator } else { "" };
        }
        text
    });
    let mut choices = vec![
        (6, listed.boxed()),
        (1, around("! @", &simple)),
        (1, around("time @", &simple)),
        (1, around("@ & wait", &simple)),
        (
            2,
            select(&[
                "A=z",
                "B=y; A+=x",
                "C=$(alpha)",
                "read -r A <<< 'r s'",
                "unset C",
                "export A=e",
                "local A=l",
                "(A=sub)",
            ]),
        ),
        (1, words.clone().prop_map(|word| format!("A={word}")).boxed()),
        (
            1,
            select(&[
                "# alpha in a comment",
                ":",
                "true # beta",
                "false",
                "[ -f input ] && alpha",
                "[[ $A = z ]] || beta",
            ]),
        ),
    ];
    if place.documents {
        choices.push((
            2,
            documents(
                &words,
                &[
                    "@ <<END\n$(beta in document) ${A:-x} \"\nEND",
                    "@ <<'END'\n$(beta in document)\nEND",
                    ": \"$(@ <<'END'\n$(beta in document) '\nEND\n)\" | delta",
                    "@ <<A; gamma <<'B'\n$A\nA\nbeta\nB",
                ],
            ),
        ));
    }
    if let Some(substituted) = substituted {
        let inner = any_script(place.inside());
        for template in [
            "mapfile -t lines < <( @\n)",
            "x=$( @\n)",
            "A=x$( @\n)y",
            "alpha \"${C:-$( @\n)}\"",
            "alpha \"$( @\n)\" <<'END' | beta\nx\nEND",
        ] {
            choices.push((1, around(template, &substituted)));
        }
        for template in [
            "( @\n)",
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
        ] {
            choices.push((1, around(template, &inner)));
        }
        if place.documents || Feature::ArithmeticBeforeHereDocument.is_understood() {
            choices.push((1, around("for ((i = 0; i < 2; i++)); do\n@\ndone", &inner)));
        }
        choices.extend(indirect(&words, &inner, &any_script(place.in_own_shell())));
    }
    lines(one_of(choices), place.depth)
}
