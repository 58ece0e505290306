//! Tests with random scripts: parsing never panics, and no construct hides a command.

use proptest::prelude::*;

use crate::parse;

/// Tokens in random order reach further into the parser than random characters.
fn random_tokens() -> impl Strategy<Value = String> {
    let token = proptest::sample::select(vec![
        "if ",
        "then ",
        "fi ",
        "case ",
        "in ",
        "esac ",
        ";; ",
        "for ",
        "while ",
        "do ",
        "done ",
        "{ ",
        "} ",
        "( ",
        ") ",
        "((",
        "))",
        "$(",
        "${",
        "}",
        "$((",
        "`",
        "'",
        "\"",
        "\\",
        "[[ ",
        "]] ",
        "=~ ",
        "&& ",
        "|| ",
        "| ",
        "& ",
        "; ",
        "\n",
        "<<E\n",
        "<<E ",
        "<<'' ",
        "<<",
        "E\n",
        "<<-'E'\n",
        "<<< ",
        "<(",
        ">(",
        "> ",
        "2>&1 ",
        "99>",
        "x ",
        "a=",
        "a=(",
        "a[",
        "] ",
        "$x ",
        "$'",
        "{a,b}",
        "{1..3}",
        "! ",
        "time ",
        "coproc ",
        "function ",
        "f() ",
        "#",
        "*",
        "~",
        "echo ",
        "日",
        "\t",
        "\r",
        "|& ",
        "&> ",
    ]);
    proptest::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

/// Quotes a value in one of several styles.
fn quoted(value: &str, style: usize) -> String {
    match style {
        0 => format!("'{}'", value.replace('\'', r"'\''")),
        1 => {
            let escaped = value.chars().map(|c| if "\"\\$`".contains(c) { format!("\\{c}") } else { c.to_string() });
            format!("\"{}\"", escaped.collect::<Vec<_>>().concat())
        }
        2 => {
            let escaped = value.chars().map(|c| if c == '\n' { "'\n'".to_owned() } else { format!("\\{c}") });
            escaped.collect::<Vec<_>>().concat()
        }
        3 => format!("$'{}'", value.replace('\\', r"\\").replace('\'', r"\'")),
        _ => {
            let hex = value.bytes().map(|byte| format!("\\x{byte:02x}"));
            format!("$'{}'", hex.collect::<Vec<_>>().concat())
        }
    }
}

proptest! {
    #[test]
    fn never_panics(text in ".{0,200}") {
        let script = parse(&text);
        prop_assert_eq!(script.complete, script.gaps.is_empty());
    }

    #[test]
    fn random_tokens_are_parsed_or_have_gaps(text in random_tokens()) {
        let script = parse(&text);
        prop_assert_eq!(script.complete, script.gaps.is_empty());
        for command in &script.commands {
            prop_assert!(command.context.shell < script.shells.len());
            prop_assert!(command.piped_from().end <= script.commands.len());
        }
    }

    #[test]
    fn quoting_does_not_change_the_value(value in "[a-z '\"\\\\$`*{},;&|#!~日\n-]{1,12}", style in 0..5_usize) {
        let text = format!("x {}", quoted(&value, style));
        let script = parse(&text);
        // A script with an escaped `$` before a quote may count as doubtful.
        prop_assume!(script.complete || !text.contains("\\$'"));
        prop_assert!(script.complete, "{:?} {:?}", text, script.gaps);
        prop_assert_eq!(script.commands.len(), 1);
        prop_assert_eq!(script.commands[0].words().len(), 2, "{}", text);
        prop_assert_eq!(script.commands[0].words()[1].value.as_deref(), Some(value.as_str()), "{}", text);
    }

    #[test]
    fn surrounding_constructs_do_not_hide_a_command(
        words in proptest::collection::vec("[a-z./=-]{1,6}|'[^'\0]{0,6}'|\"[a-z ]{0,6}\"|\\$[a-z]{1,3}", 1..5),
        construct in 0..13_usize,
    ) {
        let command = format!("rm {}", words.join(" "));
        let text = match construct {
            0 => format!("true && {command}"),
            1 => format!("({command})"),
            2 => format!("{{ {command}; }}"),
            3 => format!("if true; then {command}; fi"),
            4 => format!("a | {command} | b"),
            5 => format!("echo \"$({command})\""),
            6 => format!("for item in 1; do {command}; done"),
            7 => format!("case x in x) {command};; esac"),
            8 => format!("cat <(\n{command}\n)"),
            9 => format!("f() {{ {command}; }}; f"),
            10 => format!("cat <<E\n$({command})\nE\n"),
            11 => format!("x=${{y:-$({command})}}"),
            _ => format!("cat <<E $({command})\nE\n"),
        };
        let alone: Vec<_> = parse(&command).texts().collect();
        let script = parse(&text);
        // With the last construct, the script may be incomplete: a newline in the command ends the line of the
        // heredoc's tag.
        prop_assume!(script.complete || construct < 12);
        let within: Vec<_> = script.texts().collect();
        prop_assert!(within.contains(&alone[0]), "{:?} not in {:?}: {}", alone, within, text);
    }
}
