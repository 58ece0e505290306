//! Ways to wrap a command so that it does the same.

use data_encoding::BASE64;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
pub enum Wrapper {
    /// Words before a simple command.
    Prefix(&'static str),
    /// A script that can be put around any script. In it, `%` is replaced by the script, `'%'` by the script in single
    /// quotes, `"%"` by the script in double quotes, and `%64` by the script in base64.
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

    /// `None` if wrapping would change what the script does.
    pub fn wrap(self, script: &str) -> Option<String> {
        match self {
            Self::Prefix(prefix) => is_one_command(script).then(|| format!("{prefix} {script}").replace("\\ ", "\\")),
            Self::Around(text) => {
                // A heredoc ends at the first line with its delimiter; `'` ends a quoted string.
                let is_safe = !(text.contains("OUTER") && script.contains("OUTER"))
                    && !(text.contains("\"\"\"") && (script.contains(['"', '\\', '\'']) || script.ends_with('"')));
                // The commands in these wrappers substitute `{}`.
                let is_safe = is_safe && !((text.contains("-exec") || text.contains("-I{}")) && script.contains("{}"));
                // In a loop, each `cd` goes one directory deeper, and the effect of `eval` is unknown.
                let moves = ["cd ", "eval ", "source "].iter().any(|word| script.contains(word));
                let is_safe = is_safe && !(text.starts_with("while") && moves);
                // The parser ends `$(…)` at the first pattern of a `case`, and reports that it does not understand the
                // rest.
                let is_safe = is_safe && !(text.contains("$(") && script.contains("case "));
                // The parser takes an escaped `$` before a quote for the beginning of `$'…'`, and reports that as a
                // problem.
                let is_safe = is_safe && !(text.contains("\"%\"") && script.contains("$'"));
                // The script would overwrite or run the wrapper's file.
                let is_safe = is_safe && !(text.contains("run.sh") && script.contains("run.sh"));
                // In a substitution, the parser does not find the end of an arithmetic expression, so it cannot be sure
                // about a heredoc after it.
                let is_safe = is_safe && !(text.contains("$(") && script.contains("((") && script.contains("<<"));
                // The editor's file comes before the arguments from `xargs`: `git reset FILE --hard`, which git
                // refuses.
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
    // This `%s` is for `printf`, not for the script.
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
