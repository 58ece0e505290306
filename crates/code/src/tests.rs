//! Tests of the analysis: the cases in `cases.jsonl`, and properties that hold for generated programs.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// One case per line: the source and its expected effects. A missing list is empty, and `complete` defaults to true.
const CASES: &str = include_str!("cases.jsonl");

fn language(name: &str) -> Language {
    match name {
        "python" => Language::Python,
        "javascript" => Language::JavaScript,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        other => panic!("no language {other}"),
    }
}

/// Analyzes a program without arguments. Written files and printed strings are removed from the result.
fn analyze(language: Language, source: &str) -> ProgramEffects {
    ProgramEffects {
        written_files: Vec::new(),
        printed_strings: Vec::new(),
        ..super::analyze(language, source, &ProgramInputs::default())
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn expected(case: &Value) -> ProgramEffects {
    let accesses = case["accesses"].as_array().into_iter().flatten().map(|pair| {
        let access: Access = serde_json::from_value(pair[0].clone()).unwrap();
        (access, pair[1].as_str().unwrap().to_owned())
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
    ProgramEffects { accesses: accesses.collect(), spawns, is_complete, ..ProgramEffects::default() }
}

/// True if the result is complete, and all paths and commands in it are constant.
fn is_fully_known(effects: &ProgramEffects) -> bool {
    let is_constant = |spawn: &Spawn| match &spawn.command {
        SpawnedCommand::CommandLine(text) => !text.contains(UNKNOWN_WORD),
        SpawnedCommand::Words(words) => words.iter().all(Option::is_some),
    };
    effects.is_complete && effects.unknown_accesses.is_empty() && effects.spawns.iter().all(is_constant)
}

#[test]
fn cases_have_the_expected_effects() {
    let mut failures = Vec::new();
    for (number, line) in CASES.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let expected = expected(&case);
        let effects = analyze(language(case["language"].as_str().unwrap()), case["text"].as_str().unwrap());
        // For an incomplete program, only the effects that must be found are listed.
        let holds = if expected.is_complete {
            effects == expected
        } else {
            !is_fully_known(&effects)
                && expected.accesses.iter().all(|access| effects.accesses.contains(access))
                && expected.spawns.iter().all(|spawn| effects.spawns.contains(spawn))
        };
        if !holds {
            failures.push(format!("line {}: {line}\n   effects {effects:?}", number + 1));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Returns programs that delete the file `/x`. They use `alias` as a name for a module, a function or the path.
fn programs_with_alias(language: Language, alias: &str) -> Vec<String> {
    match language {
        Language::Python => vec![
            format!("import os as {alias}; {alias}.remove('/x')"),
            format!("from os import remove as {alias}\n{alias}('/x')"),
            format!("import os\n{alias} = os.remove\n{alias}('/x')"),
            format!("{alias} = __import__('os'); {alias}.remove('/x')"),
            format!("import os; {alias} = '/x'; os.remove({alias})"),
        ],
        Language::JavaScript => vec![
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

/// Returns programs that contain the call only in a string or comment, so that they do not execute it.
fn programs_with_quoted_call(language: Language, call: &str) -> Vec<String> {
    match language {
        Language::Python => vec![
            format!("print(\"{call}\")"),
            format!("x = '''{call}'''"),
            format!("print(rb\"{call}\")"),
            format!("print(f\"{call}\")"),
            format!("# {call}\nprint(1)"),
        ],
        Language::JavaScript => vec![
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
        Language::JavaScript => {
            &["fs.rmSync('/x')", "require('child_process').execSync('id')", "eval(unknown)", "process.binding('fs')"]
        }
        Language::Perl => &["unlink '/x'", "system('id')", "open(F, '>/x')", "eval $unknown"],
        Language::Ruby => &["File.delete('/x')", "system 'id'", "eval gets", "IO.popen('id')"],
    }
}

fn any_language() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::Python), Just(Language::JavaScript), Just(Language::Perl), Just(Language::Ruby)]
}

/// Generates sequences of program fragments, in which brackets and quotes rarely match.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
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
    prop::collection::vec(fragment, 0..60).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn analysis_of_any_string_terminates(language in any_language(), text in any::<String>()) {
        analyze(language, &text);
    }

    #[test]
    fn analysis_of_any_fragments_terminates(language in any_language(), text in fragments()) {
        analyze(language, &text);
    }

    #[test]
    fn aliases_are_followed(language in any_language(), alias in "[a-z]{1,3}_[a-z]{1,8}") {
        // An alias that is also the name of a built-in function, such as `rm_r` of Ruby, can still refer to that
        // function.
        prop_assume!(dialect::Dialect::of(language).function_effect(&alias).is_none());
        for text in programs_with_alias(language, &alias) {
            let effects = analyze(language, &text);
            prop_assert!(effects.is_complete, "{text}");
            prop_assert_eq!(effects.accesses, vec![(Access::Delete, "/x".to_owned())], "{}", text);
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
            let expected_effects = analyze(language, call);
            for combined in [format!("{text}\n;{call}"), format!("{call};\n{text}")] {
                let effects = analyze(language, &combined);
                assert!(expected_effects.accesses.iter().all(|access| effects.accesses.contains(access)), "{combined}");
                assert!(expected_effects.spawns.iter().all(|spawn| effects.spawns.contains(spawn)), "{combined}");
                assert!(is_fully_known(&expected_effects) || !is_fully_known(&effects), "{combined}");
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
        (Language::JavaScript, "process.env.A_B = 'x'; require('child_process').execSync('ls')", Some("x")),
        (Language::JavaScript, "require('child_process').execSync('ls', {env: {...process.env, A_B: 'x'}})", Some("x")),
        (Language::Ruby, "ENV['A_B'] = 'x'; system 'ls'", Some("x")),
        (Language::Perl, "$ENV{A_B} = 'x'; system 'ls'", Some("x")),
    ];
    for (language, text, value) in cases {
        let expected = vec![("A_B".to_owned(), value.map(str::to_owned))];
        assert_eq!(analyze(language, text).exported_variables, expected, "{text}");
    }
    for text in ["import os; X = 'a'; os.system('ls')", "import os; print(os.environ['HOME']); os.system('ls')"] {
        assert_eq!(analyze(Language::Python, text).exported_variables, [], "{text}");
    }
}

#[test]
fn constant_output_is_found() {
    let printed_strings = |language, text| super::analyze(language, text, &ProgramInputs::default()).printed_strings;
    assert_eq!(printed_strings(Language::Python, "print('a', 'b'); print(x)"), ["a b"]);
    assert_eq!(printed_strings(Language::JavaScript, "console.log('a' + 'b')"), ["ab"]);
}

#[test]
fn strings_and_comments_are_not_calls() {
    for language in [Language::Python, Language::JavaScript, Language::Perl, Language::Ruby] {
        for call in calls(language) {
            let executed = analyze(language, call);
            assert!(
                !is_fully_known(&executed) || !executed.accesses.is_empty() || !executed.spawns.is_empty(),
                "{call}"
            );
            for text in programs_with_quoted_call(language, call) {
                assert_eq!(
                    analyze(language, &text),
                    ProgramEffects { is_complete: true, ..ProgramEffects::default() },
                    "{text}"
                );
            }
        }
    }
}

/// The analysis of none of these programs takes long, and the result for a program over a limit is incomplete.
#[test]
fn results_over_a_limit_are_incomplete() {
    let long = format!("print('{}')", "x".repeat(MAX_BYTES));
    assert!(!analyze(Language::Python, &long).is_complete);
    let repeated = |fragment: &str| fragment.repeat(MAX_BYTES / 4 / fragment.len());
    for language in [Language::Python, Language::JavaScript, Language::Perl, Language::Ruby] {
        for fragment in [
            "(", "[", "{", "a(", "a=", "a.b", "x=x+x;", "f'{", "`${", "\"#{", "\"@{[", "\"$x{", "<<\"", "<", "s/a/",
            "eval('", "lambda ", "for ", "import ", "const {", "'a'+", "my (", "|", "a,", "a=>", "%w", "/", "qq{",
            "<<A ", "\\", "\n.", "a\n",
        ] {
            analyze(language, &repeated(fragment));
        }
    }
    let doubling = format!("s='x'\n{}exec(s)", "s=s+s\n".repeat(100));
    assert!(!analyze(Language::Python, &doubling).is_complete);
    let steps: Vec<_> = (0..60).map(|step| format!("a{}=a{step}+a{step}", step + 1)).collect();
    assert!(!analyze(Language::Python, &format!("a0='x'\n{}\nexec(a60)", steps.join("\n"))).is_complete);
    let lists: Vec<_> = (0..60).map(|step| format!("a{}=[a{step},a{step}]", step + 1)).collect();
    analyze(Language::Python, &format!("a0=['x']\n{}\nprint(a60)", lists.join("\n")));
    let nested_lists: Vec<_> = (0..4000).map(|step| format!("a{}=[a{step}]", step + 1)).collect();
    analyze(Language::JavaScript, &format!("a0=['x']\n{}", nested_lists.join("\n")));
    let nested = (0..200).fold("os.remove('/x')".to_owned(), |text, _| format!("({text})"));
    assert!(!analyze(Language::Python, &nested).is_complete);
}
