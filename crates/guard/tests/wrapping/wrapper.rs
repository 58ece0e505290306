//! Ways to wrap a command so that the wrapped command does the same as the command alone.

use data_encoding::BASE64;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
pub enum Wrapper {
    /// The wrapper puts these words before a simple command.
    Prefix(&'static str),
    /// The wrapper is a script that can contain any other script. In it, `%` is replaced by the other script, `'%'` by
    /// the other script in single quotes, `"%"` by the other script in double quotes, and `%64` by the other script in
    /// base64.
    Around(&'static str),
}

const PREFIXES: &[&str] = &[
    "sudo",
    "sudo -u root --",
    "env",
    "env -i A=1",
    "nohup",
    "nice -n 5",
    "ionice -c 3",
    "timeout -k 1 5",
    "time",
    "command",
    "setsid",
    "stdbuf -oL",
    "exec",
    "doas",
    "busybox",
    "A=1",
    "! ",
    "\\",
    "chronic",
    "xvfb-run -a",
    "systemd-run --user --",
    "unbuffer",
    "strace -f",
    "flock /tmp/lock",
];

const AROUND: &[&str] = &[
    "(\n%\n)",
    "{ %\n}",
    "if true; then\n%\nfi",
    "for i in 1; do\n%\ndone",
    "while true; do\n%\nbreak\ndone",
    "case x in x)\n%\n;; esac",
    "wrapped_up() {\n%\n}; wrapped_up",
    "true &&\n%",
    "false ||\n%",
    "cd . && {\n%\n}",
    "echo before; %\necho after",
    "{ %\n} | cat",
    "{ %\n} > out.txt 2>&1",
    "(\n%\n) &",
    "echo \"$(\n%\n)\"",
    "x=`echo`\n%",
    "cat <(\n%\n)",
    "bash -c '%'",
    "sh -c \"%\"",
    "bash -euxo pipefail -c '%' name",
    "env bash -c '%'",
    "eval '%'",
    "bash <<'OUTER'\n%\nOUTER",
    "bash -s <<< '%'",
    "printf '%s' '%' | bash",
    "echo %64 | base64 -d | sh",
    "find . -maxdepth 0 -exec sh -c '%' \\;",
    "echo x | xargs -I{} sh -c '%'",
    "trap '%' EXIT",
    "script -qc '%' /dev/null",
    "watch -n 5 '%'",
    "parallel ::: '%'",
    "git -c core.pager='%' log",
    "GIT_EDITOR='%' git commit",
    "python3 -c 'import os; os.system(r\"\"\"%\"\"\")'",
    "cat > run.sh <<'OUTER'\n%\nOUTER\nbash run.sh",
    "X='%'; eval \"$X\"",
];

impl Wrapper {
    pub fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            prop::sample::select(PREFIXES.to_vec()).prop_map(Self::Prefix),
            prop::sample::select(AROUND.to_vec()).prop_map(Self::Around),
        ]
    }

    /// The wrapped script; `None` if the wrapper would change what the script does, or if the parser does not
    /// understand the result.
    pub fn wrap(self, script: &str) -> Option<String> {
        match self {
            Self::Prefix(prefix) => is_one_command(script).then(|| format!("{prefix} {script}").replace("\\ ", "\\")),
            Self::Around(text) => {
                // The script must not end the wrapper's heredoc (at a line `OUTER`) or its quoted string (at a quote)
                // too early.
                let is_safe = !(text.contains("OUTER") && script.contains("OUTER"))
                    && !(text.contains("\"\"\"") && (script.contains(['"', '\\', '\'']) || script.ends_with('"')));
                // `find -exec` and `xargs -I{}` replace each `{}`, also those in the script.
                let is_safe = is_safe && !((text.contains("-exec") || text.contains("-I{}")) && script.contains("{}"));
                // In a loop, the script would run again in the directory to which its own `cd` leads, and the effects
                // of `eval` and `source` on later iterations are unknown.
                let moves = ["cd ", "eval ", "source "].iter().any(|word| script.contains(word));
                let is_safe = is_safe && !(text.starts_with("while") && moves);
                // The parser ends `$(…)` at the first pattern of a `case`, and reports that it does not understand the
                // rest.
                let is_safe = is_safe && !(text.contains("$(") && script.contains("case "));
                // The parser takes an escaped `$` before a quote for the beginning of `$'…'`, and reports a problem.
                let is_safe = is_safe && !(text.contains("\"%\"") && script.contains("$'"));
                // A script that uses `run.sh` would overwrite or run the file of this name that the wrapper creates.
                let is_safe = is_safe && !(text.contains("run.sh") && script.contains("run.sh"));
                // In a command substitution, the parser does not find the end of an arithmetic expression, so it cannot
                // tell whether a `<<` after the expression begins a heredoc.
                let is_safe = is_safe && !(text.contains("$(") && script.contains("((") && script.contains("<<"));
                // Git appends the name of the file to edit to the text in `GIT_EDITOR`. If the text ends in `xargs`,
                // the name comes before the arguments from `xargs`: `git reset FILE --hard`, which git refuses.
                let ends_in_xargs =
                    script.rsplit('|').next().is_some_and(|last| last.trim_start().starts_with("xargs"));
                let is_safe = is_safe && !(text.contains("GIT_EDITOR") && ends_in_xargs);
                let is_one_line = !script.contains('\n');
                let is_whole = is_one_line || !text.contains(":::");
                (is_safe && is_whole).then(|| filled(text, script))
            }
        }
    }
}

fn filled(text: &str, script: &str) -> String {
    let in_double_quotes = || {
        let escaped = script.chars().flat_map(|letter| {
            let escape = matches!(letter, '"' | '\\' | '$' | '`').then_some('\\');
            escape.into_iter().chain([letter])
        });
        format!("\"{}\"", escaped.collect::<String>())
    };
    let marks: [(&str, &dyn Fn() -> String); 5] = [
        ("'%'", &|| format!("'{}'", script.replace('\'', r"'\''"))),
        ("\"\"\"%\"\"\"", &|| format!("\"\"\"{script}\"\"\"")),
        ("\"%\"", &in_double_quotes),
        ("%64", &|| BASE64.encode(script.as_bytes())),
        ("%", &|| script.to_owned()),
    ];
    // This `%s` belongs to a `printf` of the wrapper, and must not be replaced by the script.
    let text = text.replace("'%s'", "'\u{1}s'");
    let (mark, fill) = marks.iter().find(|(mark, _)| text.contains(mark)).expect("a place for the script");
    let (before, behind) = text.split_once(mark).expect("it is there");
    format!("{before}{}{behind}", fill()).replace('\u{1}', "%")
}

/// True for a simple command without any operators, so that a prefix applies to all of it.
fn is_one_command(script: &str) -> bool {
    let parsed = shell::parse(script);
    let first = script.chars().next().unwrap_or(' ');
    let is_word = first.is_alphanumeric() || matches!(first, '/' | '.' | '~');
    let word = script.split_whitespace().next().unwrap_or_default();
    let is_reserved = matches!(
        word,
        "if" | "for"
            | "while"
            | "until"
            | "case"
            | "function"
            | "select"
            | "time"
            | "coproc"
            | "cd"
            | "eval"
            | "source"
            | "."
            | "trap"
            | "exec"
            | "export"
            | "alias"
            | "set"
            | "shopt"
            | "builtin"
            | "command"
            | "read"
            | "unset"
            | "local"
            | "declare"
            | "readonly"
            | "pushd"
            | "popd"
    );
    parsed.complete
        && is_word
        && !is_reserved
        && !word.contains('=')
        && !script.contains(['\n', '|', '&', ';', '(', ')', '`', '{'])
}
