//! Tests which commands and gaps are found in the syntactic constructs of a script.

use std::fmt::Write;

use serde_json::Value;

use super::*;
use insta::assert_snapshot;

mod assumed;
mod containers;
mod random_scripts;
mod running;

const CASES: &str = include_str!("../../../corpus/command_text.jsonl");

#[test]
fn corpus() {
    let mut failures = Vec::new();
    for (number, line) in CASES.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let expected: Vec<_> = case["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let script = parse(case["command"].as_str().unwrap());
        let found: Vec<_> = script.texts().collect();
        if found != expected || !script.complete {
            failures.push(format!("line {}: {line}\n   found {found:?} {:?}", number + 1, script.gaps));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn texts(text: &str) -> String {
    let script = parse(text);
    let mut shown: Vec<_> = script.texts().collect();
    shown.extend(script.gaps.iter().map(|gap| format!("gap: {gap}")));
    shown.join("\n")
}

/// All properties of each command, one command per line.
fn details(text: &str) -> String {
    let script = parse(text);
    let mut shown = String::new();
    let word = |word: &Word| {
        let mut shown = match &word.value {
            Some(value) => format!("{value:?}"),
            None => format!("unknown({})", word.raw),
        };
        for (flag, name) in [(word.is_data(), " data"), (word.glob, " glob"), (word.tilde, " tilde")] {
            if flag {
                shown.push_str(name);
            }
        }
        shown
    };
    for command in &script.commands {
        let mut parts: Vec<_> = command.words().iter().map(word).collect();
        parts.extend(command.assignments().iter().map(|set| format!("set {}={}", set.name, word(&set.value))));
        parts.extend(command.redirects().iter().map(|redirect| {
            let descriptor = redirect.descriptor.map(|number| number.to_string()).unwrap_or_default();
            format!("{descriptor}{:?} {}", redirect.kind, word(&redirect.target))
        }));
        if !command.piped_from().is_empty() {
            parts.push(format!("from {:?}", command.piped_from()));
        }
        if command.context.shell > 0 {
            parts.push(format!("shell {}", command.context.shell));
        }
        writeln!(shown, "{}", parts.join(", ")).unwrap();
    }
    for gap in &script.gaps {
        writeln!(shown, "gap: {gap}").unwrap();
    }
    shown
}

#[test]
fn a_tilde_inside_a_word_is_not_expanded() {
    assert_snapshot!(details("A=~; B=x$A; export C=y$HOME; beta a\"$A\" $A ${B%y} $C a~ ${A:0:1} ${HOME#/}"), @r#"
    set A="~" tilde
    set B="x~" tilde
    "export", "C=y~" tilde
    "beta", "a~" tilde, "~" tilde, "x~" tilde, "y~" tilde, "a~", unknown(${A:0:1}), unknown(${HOME#/})
    "#);
}

#[test]
fn commands_are_found_in_every_construct() {
    assert_snapshot!(texts("a; b & c && d || e | f |& g\nh"), @"
    a
    b
    c
    d
    e
    f
    g
    h
    ");
    assert_snapshot!(texts("{ a; (b; c); } > x"), @"
    a
    b
    c
    ");
    assert_snapshot!(texts("if a; then b; elif c; then d; else e; fi"), @"
    a
    b
    c
    d
    e
    ");
    assert_snapshot!(texts("while a; do b; done; until c; do d; done"), @"
    a
    b
    c
    d
    ");
    assert_snapshot!(texts("for x in 1 $(a); do b; done; for y; do c; done; for ((i=$(d); i<3; i++)); do e; done"), @"
    a
    b
    c
    d
    e
    ");
    assert_snapshot!(texts("case $(a) in x|$(b)) c;; (y) d;& *) e; esac"), @"
    a
    b
    c
    d
    e
    ");
    assert_snapshot!(texts("f() { a; }; function g { b; }; h() ( c ) > $(d); f"), @"
    a
    b
    d
    c
    ");
}

#[test]
fn substitutions_are_found_in_every_construct() {
    assert_snapshot!(texts("[[ -f $(a) && $(b) =~ x || ! ( $(c) == y ) ]] && d"), @"
    a
    b
    c
    d
    ");
    assert_snapshot!(texts("(( x = $(a) + 1 )) && b $((1 + $(c))) $[ $(d) ]"), @"
    a
    c
    d
    b … …
    ");
    assert_snapshot!(texts("a <(b) >(c | d) < <(e)"), @"
    b
    c
    d
    e
    a <(…) >(…)
    ");
    assert_snapshot!(texts("a --file=<(b)"), @"
    b
    a --file <(…)
    ");
    assert_snapshot!(texts("! a; time -p b; coproc c; coproc n { d; }"), @"
    a
    b
    c
    d
    ");
    assert_snapshot!(texts("x=$(a) y=`b` z=($(c) [$(d)]=e) f g=$(h)"), @"
    a
    b
    c
    d
    h
    f g=$(h)
    ");
    assert_snapshot!(texts("a <<E $b `c`\n$(d) `e` ${x:-$(f)}\n\\$(g)\nE\nh <<'E'\n$(i)\nE\nj <<< $(k)"), @"
    f
    d
    e
    f
    c
    a $b `c`
    h
    k
    j
    ");
    assert_snapshot!(texts("a \"$(b \"$(c)\")\" '$(d)' \"`e \\`f\\``\" ${x:-$(g)} \"${y:-'$(h)'}\" ${z:-'$(i)'}"), @"
    c
    b $(c)
    f
    e `f`
    g
    g
    h
    a … $(d) … ${x:-$(g)} ${y:-'$(h)'} ${z:-'$(i)'}
    c
    b $(c)
    f
    e `f`
    g
    g
    h
    a … $(d) … ${x:-$(g)} $(h) $(i)
    ");
    assert_snapshot!(texts("a $(b # )\n) c # $(d)\n# e"), @"
    b
    a … c
    ");
    assert_snapshot!(texts("a $( (b); c ) $((d); (e))"), @"
    b
    c
    d
    e
    a … …
    ");
    assert_snapshot!(texts("!(a b)"), @"a b");
}

#[test]
fn a_message_from_a_heredoc() {
    assert_snapshot!(
        texts("git commit -m \"$(cat <<'EOF'\nit's (a \"fix\n\nnever `git push`\nEOF\n)\" && git push"),
        @"
    cat
    git commit -m …
    git push
    "
    );
}

#[test]
fn expansions_after_a_heredoc() {
    assert_snapshot!(texts("a <<E $(b)\nE"), @"
    b
    a $(b)
    ");
    assert_snapshot!(texts("a <<E > ${x}.y \"$(b \"$(c)\")\"z | d # $(e)\n${f:-$(g)}\nE\nh"), @"gap: the command cannot be parsed: an expansion after `<<` on the same line");
    assert_snapshot!(texts("a $(b <<E $(c)\nE\n) # d"), @"
    c
    b $(c)
    a …
    ");
    assert_snapshot!(details("a <<E > ${x}.y $((1))\nE"), @r#""a", "1", Heredoc "" data, Write unknown(${x}.y)"#);
    assert_snapshot!(texts("case x in y) a <<E $(b);; esac\nE"), @"
    b
    a $(b)
    ");
    assert_snapshot!(texts("a \u{e000} <<E $(b)\nE"), @"gap: the command cannot be parsed: an expansion after `<<` on the same line");
}

#[test]
fn quote_removal() {
    assert_snapshot!(details(r#"'r'm r\m "r"m r''m $'\x72m' $"rm" r\
m /bin/rm"#), @r#""rm", "rm", "rm", "rm", "rm", "rm", "rm", "/bin/rm""#);
    assert_snapshot!(details(r#"a 'it'\''s' "\$x \a \" \\" \$x '' "" $ "$" a$"#), @r#""a", "it's", "$x \\a \" \\", "$x", "", "", "$", "$", "a$""#);
    assert_snapshot!(details(r#"a $x "$x" ${x} $1 $@ $? x$(y)z `z` $((1)) '$x' "a"$x"#), @r#"
    "y", shell 1
    "z", shell 2
    "a", unknown($x), unknown("$x"), unknown(${x}), unknown($1), unknown($@), unknown($?), unknown(x$(y)z), unknown(`z`), "1", "$x", unknown("a"$x)
    "#);
    assert_snapshot!(details(r"a * '*' ~ ~/x '~' x[0-9] {b,c}{1..2} '{d,e}' {$f,g} \{h,i} ${j}"), @r#""a", "*" glob, "*", "~" tilde, "~/x" tilde, "~", "x[0-9]" glob, "b1", "b2", "c1", "c2", "{d,e}", unknown({$f,g}), "g", "{h,i}", unknown(${j})"#);
    assert_snapshot!(details(r"a $'\xff' $'b\tc'"), @r#""a", unknown($'\xff'), "b\tc""#);
}

#[test]
fn redirections_and_assignments() {
    assert_snapshot!(details("A=1 B=$x C+=2 D[0]=3 E=(1 2) cmd F=4 > out 2>&1 < in >> app <> rw >| clob &> all &>> more"), @r#""cmd", "F=4", set A="1", set B=unknown($x), set C=unknown(2), set D[0]="3", set E=unknown((1 2)), Write "out", 2DuplicateOutput "1", Read "in", Append "app", ReadWrite "rw", Clobber "clob", WriteAll "all", AppendAll "more""#);
    assert_snapshot!(details("cat <<E > x\na $b\nE"), @r#"
    "cat", Heredoc unknown(a $b
    ) data, Write "x"
    "#);
    assert_snapshot!(details("cat <<-'E'\n\ta $b\n\tE"), @r#""cat", Heredoc "a $b\n" data"#);
    assert_snapshot!(details("while read l; do echo $l; done < .env"), @r#"
    Read ".env"
    "read", "l"
    "echo", unknown($l) data
    "#);
    assert_snapshot!(details("A=1; > x; <<< y"), @r#"
    set A="1"
    Write "x"
    HereString "y" data
    "#);
}

#[test]
fn pipes_and_child_shells() {
    assert_snapshot!(details("a | b | c"), @r#"
    "a", shell 1
    "b", from 0..1, shell 2
    "c", from 1..2, shell 3
    "#);
    assert_snapshot!(details("cd x; (cd y; a) & b $(cd z)"), @r#"
    "cd", "x"
    "cd", "y", shell 2
    "a", shell 2
    "cd", "z", shell 3
    "b"
    "#);
    assert_snapshot!(details("{ a; b; } | while c; do d; done"), @r#"
    "a", shell 1
    "b", shell 1
    "c", from 0..2, shell 2
    "d", from 0..2, shell 2
    "#);
}

#[test]
fn data_operands() {
    assert_snapshot!(texts("echo -n a --force; printf -v x %s b; : c"), @"
    echo -n … …
    printf -v x … …
    : …
    ");
    assert_snapshot!(texts("grep -rn a b; grep -e a b -- c; grep -A 3 a b; grep --regexp=a b; grep -f x b; rg -tjs a b"), @"
    grep -rn … b
    grep -e … b -- c
    grep -A 3 … b
    grep --regexp=… b
    grep -f x b
    rg -tjs … b
    ");
    assert_snapshot!(texts("sed -i s/a/b/ f; sed -ne p f; awk -F: '{print}' f; jq --arg a b .x f"), @"
    sed -i … f
    sed -ne … f
    awk -F: … f
    jq --arg … … … f
    ");
    assert_snapshot!(
        texts("git -C x commit -am y; git commit --message=y -my; git tag v1 -m y; git log --grep=a --oneline; git grep a b"),
        @"
    git -C x commit -am …
    git commit --message=… -m…
    git tag v1 -m …
    git log --grep=… --oneline
    git grep … b
    "
    );
    assert_snapshot!(texts("git push -m x; gh pr create --title x -b y; /usr/bin/git -c a=b stash push -m x"), @"
    git push -m x
    gh pr create --title … -b …
    git -c a=b stash push -m …
    ");
    assert_snapshot!(texts("git commit -m $MSG; git push origin \"$(git branch --show-current)\" \"$B\""), @"
    git commit -m …
    git branch --show-current
    git push origin … $B
    ");
}

#[test]
fn select_is_a_loop() {
    assert_snapshot!(texts("select x in a b; do c $x; done"), @"
    c a
    c b
    ");
    assert_snapshot!(texts("x || select y in a; do select z in b\n do c; done; done"), @"
    x
    c
    ");
    assert_snapshot!(texts("echo select x in a"), @"echo … … … …");
}

#[test]
fn unsupported_syntax_is_a_gap() {
    assert_snapshot!(texts("select x y z; do c; done"), @"gap: the command cannot be parsed: from `x` on, at line 1, column 8");
    assert_snapshot!(texts("a 'b"), @"gap: the command cannot be parsed: the single quote at line 1, column 3 is not closed");
    assert_snapshot!(texts("a <<E\nb"), @"gap: the command cannot be parsed: the heredoc has no end: `E` is missing");
    assert_snapshot!(texts("a <<\"E\"\nb"), @"gap: the command cannot be parsed: the heredoc has no end: `E` is missing");
    assert_snapshot!(texts("a <<'EOF'\nb"), @"gap: the command cannot be parsed: the heredoc has no end: `EOF` is missing");
    assert_snapshot!(texts("a $(b"), @"gap: the command cannot be parsed: an expansion, such as `${` or `$(`, is not closed");
    assert_snapshot!(texts("a; $(if)"), @"
    a
    $(if)
    gap: the command cannot be parsed: the script is incomplete: it ends unexpectedly
    gap: part of the command is known only at run time: `$(if)`
    ");
    assert_snapshot!(texts("a\0b"), @"gap: the command contains a NUL character");
    assert_snapshot!(texts("x 99999999999> y"), @"gap: the command cannot be parsed: file descriptor out of range");
    assert_snapshot!(texts("x 99999999999 > y"), @"x 99999999999");
    assert_snapshot!(texts("echo {1..1000000000}"), @"
    echo …
    gap: the command's braces expand to too many words
    ");
    assert_snapshot!(texts(&"a ".repeat(40_000)), @"gap: the command is longer than 65536 bytes");
    assert_snapshot!(texts("a > ${x} <<'E' && b\n<< ${y}\nE"), @"
    a
    b
    ");
    assert_snapshot!(texts("a $((1<<2)) ${x}"), @"a 4 ${x}");
    assert_snapshot!(texts("a =(b); print -l *(.)"), @"gap: the command cannot be parsed: from `;` on, at line 1, column 7");
}

/// Without the limits, each of these scripts overflows the stack of the parser, makes the parser panic, or takes
/// exponential time.
#[test]
fn hostile_nesting_is_incomplete() {
    let nested = [
        ("{ ", "; }"),
        ("( ", " )"),
        ("(", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${a:-", "}"),
        ("$((", "))"),
        ("$[", "]"),
        ("if a; then ", "; fi"),
        ("if ", "; then a; fi"),
        ("while a; do ", "; done"),
        ("for x in y; do ", "; done"),
        ("case x in x) ", " ; esac"),
        ("case x in x) ", " ;; esac"),
        ("case x in x) ( ", " ) ; esac"),
        ("f() { ", "; }"),
        ("function f { ", "; }"),
        ("f() (", ")"),
        ("coproc ", ""),
        ("coproc n { ", "; }"),
        ("f() coproc ", ""),
        ("cat <(", ")"),
        ("cat < <(", ")"),
        ("2> <(", ")"),
        ("case x in esac ) ", ""),
        ("for x in done; do ", "; done"),
        ("while a > done; do ", "; done"),
        ("if echo then fi; then ", "; fi"),
        ("{ echo } }; ", "}; "),
        ("[[ ]] =~ (a", ""),
        ("cat 2< <(", ")"),
        ("case x in x) 2> <(((", ")))"),
        ("[[ ", ""),
        ("((", "))"),
        ("$( ')' ", ""),
        ("$(a <<E\n", "\nE\n)"),
        ("`", "`"),
        ("a[", "]=1"),
        ("a=( ", " )"),
        ("x=${y[", "]}"),
    ];
    for (open, close) in nested {
        for count in [20, 70, 1000] {
            for middle in ["x", "a;b", ""] {
                let text = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
                let _ = parse(&text);
                let _ = parse(&format!("{}{middle}", open.repeat(count)));
                let _ = parse(&format!("echo \"{text}\" {text}"));
            }
        }
        let deep = format!("{}x{}", open.repeat(70), close.repeat(70));
        if !matches!(open, "`" | "a[" | "a=( ") {
            assert!(!parse(&deep).complete, "{open}");
        }
    }
    let tests = [format!("[[ {}x ]]", "! ".repeat(20_000)), format!("[[ x =~ {} ]]", "(".repeat(40))];
    assert_snapshot!(tests.map(|test| texts(&test)).join("\n"), @"
    gap: the command is nested more than 64 levels deep (fewer for `case` and `[[ … ]]`)
    gap: the command is nested more than 64 levels deep (fewer for `case` and `[[ … ]]`)
    ");
}

#[test]
fn long_flat_text_is_fine() {
    for piece in [
        "a && ",
        "a | ",
        "a; ",
        "! ",
        "x=1 ",
        "\n",
        "a > b; ",
        "[[ a ]] && ",
        "{ a; } && ",
        "if a; then b; fi; ",
        "(case x in y) z;; esac\n); ",
    ] {
        let script = parse(&format!("{}x", piece.repeat(5000 / piece.len())));
        assert!(script.complete, "{piece}: {:?}", script.gaps);
    }
    let quoted = "echo \"${a}\" \"$(b)\" ".repeat(200);
    assert!(parse(&quoted).complete);
}
