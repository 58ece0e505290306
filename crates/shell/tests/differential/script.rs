//! The parts of random scripts. Every loop in the scripts ends, and the scripts only write to their working directory.
//!
//! Each statement is on a line of its own, so that a heredoc can follow any statement.

use proptest::prelude::*;

use crate::feature::Feature;
use crate::word::{self, Texts, VARIABLES, one_of, select};

const DEPTH: u32 = 3;

/// The position of a script inside another script.
#[derive(Clone, Copy)]
pub struct Position {
    /// How deep scripts may nest at this position.
    pub depth: u32,
    /// True if the script may contain heredocs. Bash 5.2 loses track of heredocs in nested substitutions, so a
    /// substitution only contains the heredocs of its template.
    pub has_heredocs: bool,
    /// True if [`VARIABLES`] are set. A new shell process does not have these variables.
    pub has_variables: bool,
}

impl Position {
    pub const TOP: Self = Self { depth: DEPTH, has_heredocs: true, has_variables: true };

    pub fn inside(self) -> Self {
        Self { depth: self.depth - 1, ..self }
    }

    pub fn in_substitution(self) -> Self {
        Self { has_heredocs: false, ..self.inside() }
    }

    pub fn in_new_shell(self) -> Self {
        Self { has_variables: false, ..self.inside() }
    }
}

/// Begins each script with assignments to [`VARIABLES`].
pub fn with_variables(scripts: Texts) -> Texts {
    let start: String = VARIABLES.iter().flat_map(|(name, value)| [*name, "=", *value, "\n"]).collect();
    scripts.prop_map(move |script| format!("{start}{script}")).boxed()
}

/// A script of a few statements, one per line.
pub fn lines(statements: Texts, depth: u32) -> Texts {
    let most = if depth == DEPTH { 4 } else { 2 };
    prop::collection::vec(statements, 1..=most).prop_map(|statements| statements.join("\n")).boxed()
}

/// Replaces each `@` in the template by a random script.
pub fn around(template: &'static str, scripts: &Texts) -> Texts {
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

/// A call of a stand-in with arguments, and with redirections before or after the arguments.
pub fn call(words: &Texts) -> Texts {
    let arguments = prop::collection::vec(words.clone(), 0..=3).prop_map(|words| words.join(" "));
    let prefix = select(&["", "", "", "", "X=1 ", "X='y z' Y= ", "> out "]);
    (prefix, word::program(), arguments, redirections())
        .prop_map(|(prefix, program, arguments, redirections)| format!("{prefix}{program} {arguments}{redirections}"))
        .boxed()
}

/// Calls through supported wrappers.
pub fn wrapped(words: &Texts) -> Option<Texts> {
    let programs: &[(Feature, &'static [&'static str])] = &[
        (Feature::Env, &["env ", "env X=1 ", "env -u X ", "env -- ", "env -u X Y='1 2' "]),
        (Feature::Nice, &["nice ", "nice -n 1 ", "nice -1 ", "nice --adjustment=1 "]),
        (Feature::Nohup, &["nohup ", "nohup -- "]),
        (Feature::Timeout, &["timeout 9 ", "timeout -s KILL 9 ", "timeout --signal=KILL -k 1 9 "]),
    ];
    let mut understood: Vec<_> = programs
        .iter()
        .filter(|(feature, _)| feature.is_supported())
        .map(|(_, spellings)| (1, select(spellings)))
        .collect();
    // `command` is a builtin, so it must precede all other wrappers.
    let first = match Feature::Command.is_supported() {
        true => select(&["", "command ", "command -- ", "command command "]),
        false if understood.is_empty() => return None,
        false => select(&[""]),
    };
    understood.push((1, select(&[""])));
    let wrappers = prop::collection::vec(one_of(understood), 0..=2).prop_map(|wrappers| wrappers.concat());
    let arguments = prop::collection::vec(words.clone(), 0..=2).prop_map(|words| words.join(" "));
    let call = (first, wrappers, select(&["alpha", "'beta'", "./tools/gamma"]), arguments);
    Some(call.prop_map(|(first, wrappers, program, words)| format!("{first}{wrappers}{program} {words}")).boxed())
}

/// Statements that run text or words as commands, for each supported feature. `inner`: scripts that run in the same
/// shell; `alone`: scripts that run in a new shell process.
pub fn indirect(position: Position, words: &Texts, inner: &Texts, alone: &Texts) -> Vec<(u32, Texts)> {
    let mut choices = Vec::new();
    let mut add = |feature: Feature, statements: Texts| {
        if feature.is_supported() {
            choices.push((1, statements));
        }
    };
    add(Feature::Exec, words.clone().prop_map(|word| format!("(exec alpha {word})")).boxed());
    add(
        Feature::Xargs,
        select(&[
            "printf 'p q' | xargs alpha a",
            "echo p q | xargs -- alpha",
            "xargs -I{} beta {}z <<< p",
            "xargs delta <<< 'p q'",
        ]),
    );
    let shell = select(&["bash -c", "bash -uc", "bash --norc -c", "bash -o pipefail -c", "bash -c --"]);
    let arguments = select(&["", " x", " x y 'z z'"]);
    let script = (shell, alone.clone(), arguments);
    add(Feature::BashC, script.prop_map(|(shell, script, rest)| format!("{shell} {}{rest}", quoted(&script))).boxed());
    add(Feature::Eval, inner.clone().prop_map(|script| format!("eval {}", quoted(&script))).boxed());
    add(Feature::Eval, select(&["eval alpha a b", "eval 'alpha' '\"b c\"'"]));
    let tag = format!("FED{}", position.depth);
    if position.has_heredocs {
        let script = alone.clone().prop_map(move |script| format!("bash <<'{tag}'\n{script}\n{tag}"));
        add(Feature::ShellWithHeredoc, script.boxed());
    }
    add(Feature::ShellWithHeredoc, alone.clone().prop_map(|script| format!("bash <<< {}", quoted(&script))).boxed());
    add(
        Feature::PipedShell,
        alone.clone().prop_map(|script| format!("printf '%s\\n' {} | bash", quoted(&script))).boxed(),
    );
    choices
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Statements with heredocs.
pub fn with_heredocs(words: &Texts, templates: &'static [&'static str]) -> Texts {
    (call(words), select(templates)).prop_map(|(call, template)| template.replace('@', &call)).boxed()
}
