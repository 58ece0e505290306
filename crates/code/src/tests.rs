use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// One case a line: the source, and the expected effects. Omitted fields are empty; `complete` defaults to true.
const CASES: &str = include_str!("cases.jsonl");

fn language(name: &str) -> Language {
    match name {
        "python" => Language::Python,
        "node" => Language::Node,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        other => panic!("no language {other}"),
    }
}

/// Analyses a program without arguments; written contents and output are dropped.
fn read(language: Language, source: &str) -> OneLiner {
    OneLiner { contents: Vec::new(), prints: Vec::new(), ..super::read(language, source, &ProgramInputs::default()) }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn expected(case: &Value) -> OneLiner {
    let touches = case["touches"].as_array().into_iter().flatten().map(|touch| {
        let access: Access = serde_json::from_value(touch[0].clone()).unwrap();
        (access, touch[1].as_str().unwrap().to_owned())
    });
    let shell = strings(&case["shell"]).into_iter().map(Spawn::command_line);
    let words = case["words"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|words| Spawn::words(strings(words).into_iter().map(Some).collect()));
    let is_complete = case["complete"].as_bool().unwrap_or(true);
    let directories: Vec<_> = strings(&case["directories"]).into_iter().map(Some).collect();
    let stdin = case["stdin"].as_str().map_or(Stdin::Inherited, |text| Stdin::Piped(Some(text.to_owned())));
    let with_options = |spawn| Spawn { directories: directories.clone(), stdin: stdin.clone(), ..spawn };
    let spawns = shell.chain(words).map(with_options).collect();
    OneLiner { touches: touches.collect(), spawns, is_complete, ..OneLiner::default() }
}

/// True if every name in the result is constant.
fn is_fully_known(found: &OneLiner) -> bool {
    let is_constant = |spawn: &Spawn| match &spawn.command {
        SpawnedCommand::CommandLine(text) => !text.contains(UNKNOWN_WORD),
        SpawnedCommand::Words(words) => words.iter().all(Option::is_some),
    };
    found.is_complete && found.unknown_touches.is_empty() && found.spawns.iter().all(is_constant)
}

#[test]
fn cases_have_the_expected_effects() {
    let mut failures = Vec::new();
    for (number, line) in CASES.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let expected = expected(&case);
        let found = read(language(case["language"].as_str().unwrap()), case["text"].as_str().unwrap());
        // For an incomplete program, only the effects that must be found are listed.
        let holds = if expected.is_complete {
            found == expected
        } else {
            !is_fully_known(&found)
                && expected.touches.iter().all(|touch| found.touches.contains(touch))
                && expected.spawns.iter().all(|spawn| found.spawns.contains(spawn))
        };
        if !holds {
            failures.push(format!("line {}: {line}\n   found {found:?}", number + 1));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Programs that delete a file through a name of the test's choice, including imports.
fn renamed(language: Language, alias: &str) -> Vec<String> {
    match language {
        Language::Python => vec![
            format!("import os as {alias}; {alias}.remove('/x')"),
            format!("from os import remove as {alias}\n{alias}('/x')"),
            format!("import os\n{alias} = os.remove\n{alias}('/x')"),
            format!("{alias} = __import__('os'); {alias}.remove('/x')"),
            format!("import os; {alias} = '/x'; os.remove({alias})"),
        ],
        Language::Node => vec![
            format!("const {alias} = require('fs'); {alias}.rmSync('/x')"),
            format!("const {{rmSync: {alias}}} = require('node:fs'); {alias}('/x')"),
            format!("import {{rmSync as {alias}}} from 'fs'; {alias}('/x')"),
            format!("import * as {alias} from 'fs'; {alias}.rmSync('/x')"),
            format!("let {alias} = fs.rmSync; {alias}('/x')"),
            format!("var {alias} = `/x`; fs.rmSync({alias})"),
        ],
        Language::Perl => {
            vec![format!("my ${alias} = '/x'; unlink ${alias}"), format!("my @{alias} = ('/x'); unlink @{alias}")]
        }
        Language::Ruby => {
            vec![format!("{alias} = File; {alias}.delete('/x')"), format!("{alias} = '/x'; File.delete {alias}")]
        }
    }
}

/// Programs that contain a call without executing it.
fn mentioned(language: Language, call: &str) -> Vec<String> {
    match language {
        Language::Python => vec![
            format!("print(\"{call}\")"),
            format!("x = '''{call}'''"),
            format!("print(rb\"{call}\")"),
            format!("print(f\"{call}\")"),
            format!("# {call}\nprint(1)"),
        ],
        Language::Node => vec![
            format!("console.log(\"{call}\")"),
            format!("console.log(`{call}`)"),
            format!("// {call}\n1"),
            format!("/* {call} */ 1"),
        ],
        Language::Perl => vec![
            format!("print \"{call}\""),
            format!("print q{{{call}}}"),
            format!("# {call}\nprint 1"),
            format!("print <<'E';\n{call}\nE\n"),
            format!("print 1\n__END__\n{call}"),
        ],
        Language::Ruby => vec![
            format!("puts \"{call}\""),
            format!("puts %q[{call}]"),
            format!("# {call}\nputs 1"),
            format!("puts <<~'E'\n  {call}\nE\n"),
            format!("=begin\n{call}\n=end\nputs 1"),
        ],
    }
}

fn calls(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["os.remove('/x')", "__import__('os').system('id')", "open('/x', 'w')", "exec(input())"],
        Language::Node => {
            &["fs.rmSync('/x')", "require('child_process').execSync('id')", "eval(unknown)", "process.binding('fs')"]
        }
        Language::Perl => &["unlink '/x'", "system('id')", "open(F, '>/x')", "eval $unknown"],
        Language::Ruby => &["File.delete('/x')", "system 'id'", "eval gets", "IO.popen('id')"],
    }
}

fn any_language() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::Python), Just(Language::Node), Just(Language::Perl), Just(Language::Ruby)]
}

/// Pieces of programs, in which brackets and quotes rarely match.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "(", ")", "[", "]", "{", "}", "'", "\"", "`", "/", "\\", "#", "$", "@", "%", "&", "|", "<", ">", "=", ":", ";",
            ",", ".", "->", "=>", "::", "<<", "<<~E", "\nE\n", "#{", "${", "f'{", "s/", "qw(", "qx{", "%w[", "'''", "\n", " ",
            "=begin\n", "//", "/*", "1", "?", "!", "~", "+", "-", "*", "é", "𝐨", "<>", "s{a}{", "}e", "y=", "@{[", "|x|",
        ]),
        4 => prop::sample::select(vec![
            "os", "open", "remove", "import ", "from ", "as ", "for ", "in ", "def ", "lambda ", "exec", "eval", "fs", "rmSync",
            "require", "const ", "function ", "of ", "unlink ", "system ", "my ", "sub ", "do ", "if ", "File", "delete", "send",
            "$x", "@ARGV", "x", "y", "= x + x", "Path", "globals()", "join", "each", "'a'", "\"b\"", "end", "s", "q",
        ]),
        1 => any::<char>().prop_map(String::from).prop_map(|text| &*text.leak()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn analysis_of_any_string_terminates(language in any_language(), text in any::<String>()) {
        read(language, &text);
    }

    #[test]
    fn analysis_of_any_pieces_terminates(language in any_language(), text in pieces()) {
        read(language, &text);
    }

    #[test]
    fn aliases_are_followed(language in any_language(), alias in "[a-z]{1,3}_[a-z]{1,8}") {
        // A built-in name also keeps its own meaning: `rm_r` of Ruby.
        prop_assume!(dialect::Dialect::of(language).function(&alias).is_none());
        for text in renamed(language, &alias) {
            let found = read(language, &text);
            prop_assert!(found.is_complete, "{text}");
            prop_assert_eq!(found.touches, vec![(Access::Delete, "/x".to_owned())], "{}", text);
        }
    }
}

#[test]
fn other_code_does_not_hide_a_call() {
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let expected = expected(&case);
        if !expected.is_complete {
            continue;
        }
        let language = language(case["language"].as_str().unwrap());
        let text = case["text"].as_str().unwrap();
        for call in calls(language) {
            let alone = read(language, call);
            for together in [format!("{text}\n;{call}"), format!("{call};\n{text}")] {
                let found = read(language, &together);
                assert!(alone.touches.iter().all(|touch| found.touches.contains(touch)), "{together}");
                assert!(alone.spawns.iter().all(|spawn| found.spawns.contains(spawn)), "{together}");
                assert!(is_fully_known(&alone) || !is_fully_known(&found), "{together}");
            }
        }
    }
}

#[test]
fn exported_variables_are_found() {
    let cases = [
        (Language::Python, "import os; os.environ['A_B'] = 'x'; os.system('ls')", Some("x")),
        (Language::Python, "import os; os.environ.setdefault('A_B', y); os.system('ls')", None),
        (Language::Python, "import os; os.putenv('A_B', 'x'); os.system('ls')", Some("x")),
        (Language::Python, "import os,subprocess as s; s.run(['ls'], env=dict(os.environ, A_B='x'))", Some("x")),
        (Language::Python, "import os,subprocess as s; s.run(['ls'], env={**os.environ, 'A_B': 'x'})", Some("x")),
        (Language::Node, "process.env.A_B = 'x'; require('child_process').execSync('ls')", Some("x")),
        (Language::Node, "require('child_process').execSync('ls', {env: {...process.env, A_B: 'x'}})", Some("x")),
        (Language::Ruby, "ENV['A_B'] = 'x'; system 'ls'", Some("x")),
        (Language::Perl, "$ENV{A_B} = 'x'; system 'ls'", Some("x")),
    ];
    for (language, text, value) in cases {
        let expected = vec![("A_B".to_owned(), value.map(str::to_owned))];
        assert_eq!(read(language, text).exported_variables, expected, "{text}");
    }
    for text in ["import os; X = 'a'; os.system('ls')", "import os; print(os.environ['HOME']); os.system('ls')"] {
        assert_eq!(read(Language::Python, text).exported_variables, [], "{text}");
    }
}

#[test]
fn constant_output_is_found() {
    let prints = |language, text| super::read(language, text, &ProgramInputs::default()).prints;
    assert_eq!(prints(Language::Python, "print('a', 'b'); print(x)"), ["a b"]);
    assert_eq!(prints(Language::Node, "console.log('a' + 'b')"), ["ab"]);
}

#[test]
fn strings_and_comments_are_not_calls() {
    for language in [Language::Python, Language::Node, Language::Perl, Language::Ruby] {
        for call in calls(language) {
            let done = read(language, call);
            assert!(!is_fully_known(&done) || !done.touches.is_empty() || !done.spawns.is_empty(), "{call}");
            for text in mentioned(language, call) {
                assert_eq!(read(language, &text), OneLiner { is_complete: true, ..OneLiner::default() }, "{text}");
            }
        }
    }
}

/// The work is bounded: none of these may take long, and a program over a limit is incomplete.
#[test]
fn programs_over_a_limit_are_incomplete() {
    let long = format!("print('{}')", "x".repeat(MAX_BYTES));
    assert!(!read(Language::Python, &long).is_complete);
    let repeated = |piece: &str| piece.repeat(MAX_BYTES / 4 / piece.len());
    for language in [Language::Python, Language::Node, Language::Perl, Language::Ruby] {
        for piece in [
            "(", "[", "{", "a(", "a=", "a.b", "x=x+x;", "f'{", "`${", "\"#{", "\"@{[", "\"$x{", "<<\"", "<", "s/a/",
            "eval('", "lambda ", "for ", "import ", "const {", "'a'+", "my (", "|", "a,", "a=>", "%w", "/", "qq{",
            "<<A ", "\\", "\n.", "a\n",
        ] {
            read(language, &repeated(piece));
        }
    }
    let doubling = format!("s='x'\n{}exec(s)", "s=s+s\n".repeat(100));
    assert!(!read(Language::Python, &doubling).is_complete);
    let steps: Vec<_> = (0..60).map(|step| format!("a{}=a{step}+a{step}", step + 1)).collect();
    assert!(!read(Language::Python, &format!("a0='x'\n{}\nexec(a60)", steps.join("\n"))).is_complete);
    let lists: Vec<_> = (0..60).map(|step| format!("a{}=[a{step},a{step}]", step + 1)).collect();
    read(Language::Python, &format!("a0=['x']\n{}\nprint(a60)", lists.join("\n")));
    let layers: Vec<_> = (0..4000).map(|step| format!("a{}=[a{step}]", step + 1)).collect();
    read(Language::Node, &format!("a0=['x']\n{}", layers.join("\n")));
    let nested = (0..200).fold("os.remove('/x')".to_owned(), |text, _| format!("({text})"));
    assert!(!read(Language::Python, &nested).is_complete);
}
