#![expect(clippy::string_slice, reason = "a test that slices wrongly should fail")]

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../../../../corpus/patterns.jsonl");

#[test]
fn corpus_cases_match_as_expected() {
    let mut failures = Vec::new();
    for (number, line) in CASES.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let pattern = case["pattern"].as_str().unwrap();
        let path = case["path"].as_str().unwrap();
        let actual = match Pattern::parse(pattern) {
            Err(_) => serde_json::json!({"pattern": pattern, "path": path, "error": true}),
            Ok(parsed) => match parsed.captures(path) {
                None => serde_json::json!({"pattern": pattern, "path": path, "matches": false}),
                Some(captures) => {
                    serde_json::json!({"pattern": pattern, "path": path, "matches": true, "captures": captures})
                }
            },
        };
        if actual != case {
            failures.push(format!("line {}: expected {case}\n  actual {actual}", number + 1));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns the pattern, carets under the span of its error, and the message.
fn error_of(text: &str) -> String {
    render(text, &Pattern::parse(text).unwrap_err())
}

fn render(text: &str, error: &PatternError) -> String {
    let span = error.span();
    let indent = " ".repeat(text[..span.start].chars().count());
    let carets = "^".repeat(text[span].chars().count().max(1));
    format!("{text}\n{indent}{carets} {error}")
}

#[test]
fn every_parse_error() {
    assert_snapshot!(Pattern::parse("").unwrap_err(), @"a pattern cannot be empty");
    assert_snapshot!(error_of("./"), @"
    ./
    ^^ a pattern cannot be empty
    ");
    assert_snapshot!(error_of("src/{path"), @r"
    src/{path
        ^ this `{` is not closed; write `\{` for a literal brace
    ");
    assert_snapshot!(error_of("src/path}"), @r"
    src/path}
            ^ unmatched `}`; write `\}` for a literal brace
    ");
    assert_snapshot!(error_of("src/{}.py"), @r"
    src/{}.py
        ^^ empty braces; name a variable, `{name}`, or write `\{\}`
    ");
    assert_snapshot!(error_of("src/{,}.py"), @r"
    src/{,}.py
        ^^^ empty braces; name a variable, `{name}`, or write `\{\}`
    ");
    assert_snapshot!(error_of("{a,{b,c}}"), @r"
    {a,{b,c}}
       ^ braces inside braces; write one pattern for each case, or `\{` for a literal brace
    ");
    assert_snapshot!(error_of("{a,{name}}"), @r"
    {a,{name}}
       ^ braces inside braces; write one pattern for each case, or `\{` for a literal brace
    ");
    assert_snapshot!(error_of("v{1..3}.rs"), @"
    v{1..3}.rs
     ^^^^^^ ranges such as `{1..3}` are not supported; list the alternatives, `{1,2,3}`, or use a set, `[1-3]`
    ");
    assert_snapshot!(error_of("src/[ab.rs"), @r"
    src/[ab.rs
        ^ unclosed `[`; write `\[` for a literal bracket
    ");
    assert_snapshot!(error_of("src/[a/b].rs"), @r"
    src/[a/b].rs
        ^ unclosed `[`; write `\[` for a literal bracket
    ");
    assert_snapshot!(error_of("!src/**"), @r"
    !src/**
    ^ a pattern cannot start with `!`; to leave paths out, list them under `exclude`; write `\!` for a name that starts with `!`
    ");
    assert_snapshot!(error_of("/etc/passwd"), @"
    /etc/passwd
    ^ a pattern cannot start with `/`; paths are relative to the project root
    ");
    assert_snapshot!(error_of("~/.ssh/*"), @"
    ~/.ssh/*
    ^^ a pattern cannot start with `~/`; paths are relative to the project root
    ");
    assert_snapshot!(error_of("src/../x"), @"
    src/../x
        ^^ a pattern cannot contain `..`; write the path relative to the project root, without `..`
    ");
    assert_snapshot!(error_of(r"src\main.rs"), @r"
    src\main.rs
       ^^ `\` before `m` has no meaning, because `m` needs no escape; directories are separated by `/`; a backslash itself is `\\`
    ");
    assert_snapshot!(error_of(r"[\a]"), @r"
    [\a]
     ^^ `\` before `a` has no meaning, because `a` needs no escape; remove the `\`; a backslash itself is `\\`
    ");
    assert_snapshot!(error_of(r"src\"), @r"
    src\
       ^ the pattern ends with `\`, which must be followed by the character to escape; a backslash itself is `\\`
    ");
    assert_snapshot!(error_of("{2nd}.py"), @"
    {2nd}.py
    ^^^^^ `2nd` is not a variable name; names are letters, digits and `_`, and do not start with a digit; alternatives need a comma
    ");
    assert_snapshot!(error_of("{my name}.py"), @"
    {my name}.py
    ^^^^^^^^^ `my name` is not a variable name; names are letters, digits and `_`, and do not start with a digit; alternatives need a comma
    ");
    assert_snapshot!(error_of("{***}"), @"
    {***}
    ^^^^^ `*` is not a variable name; names are letters, digits and `_`, and do not start with a digit; alternatives need a comma
    ");
    assert_snapshot!(error_of("{a}/{a}.py"), @"
    {a}/{a}.py
        ^^^ the variable `{a}` is used twice; give the second one another name
    ");
    assert_snapshot!(error_of("{a}{b}.py"), @"
    {a}{b}.py
       ^^^ two variables with nothing between them; put a literal between them, such as `-`; otherwise it is unclear where the second begins
    ");
    assert_snapshot!(Pattern::parse(&"a".repeat(2000)).unwrap_err(), @"a pattern is at most 1024 bytes long");
    assert_snapshot!(Pattern::parse(&format!("{{{}}}", ",a".repeat(65))).unwrap_err(), @"more than 64 alternatives");
}

#[test]
fn errors_between_patterns() {
    let pattern = |text| Pattern::parse(text).unwrap();
    let expected = pattern("tests/{name}_test.rs");
    assert!(check_variables_bound(&pattern("src/{name}.rs"), &expected).is_ok());
    assert_snapshot!(render(expected.source(), &check_variables_bound(&pattern("src/{path}.rs"), &expected).unwrap_err()), @"
    tests/{name}_test.rs
          ^^^^^^ `{name}` is not a variable of the trigger `src/{path}.rs`; use `{path}`, or put `{name}` into the trigger
    ");
    assert_snapshot!(render(expected.source(), &check_variables_bound(&pattern("src/*.rs"), &expected).unwrap_err()), @"
    tests/{name}_test.rs
          ^^^^^^ `{name}` is not a variable of the trigger `src/*.rs`; put `{name}` into the trigger
    ");

    assert!(check_same_variables(&[pattern("{path}/{name}.rs"), pattern("t/{name}/{path}.rs")]).is_ok());
    let members = [pattern("{path}.rs"), pattern("t/{path}.rs"), pattern("t/{name}.rs")];
    let (index, error) = check_same_variables(&members).unwrap_err();
    assert_eq!(index, 2);
    assert_snapshot!(render(members[index].source(), &error), @"
    t/{name}.rs
    ^^^^^^^^^^^ the members of a `set` must have the same variables as its first, `{path}.rs`; use `pair` if one file must change with the other, but not the reverse
    ");
}

#[test]
fn warnings() {
    let warnings = |text: &str| {
        let pattern = Pattern::parse_relative_or_absolute(text).unwrap();
        pattern.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(warnings("src/"), @"a directory alone matches no file; did you mean `src/**`?");
    assert_snapshot!(warnings("a//b"), @"this pattern can never match: a directory name is empty");
    assert_snapshot!(warnings("a/./b"), @"this pattern can never match: a directory is named `.`");
    assert_snapshot!(warnings("."), @"this pattern can never match: a directory is named `.`");
    assert_snapshot!(warnings("v[9-0].rs"), @"this pattern can never match: the range is backwards");
    assert_snapshot!(warnings("src/**.rs"), @"`**` crosses directories only as a whole segment; here it means `*`");
    for fine in ["src/**", "./src/a.rs", "**", "/", "/etc/**", "~/.ssh/*", "a..b/c", "{a,b}/**/*.rs"] {
        assert_eq!(warnings(fine), "", "{fine}");
    }
}

#[test]
fn patterns_may_be_absolute_if_the_caller_allows_it() {
    let matches = |pattern: &str, path| Pattern::parse_relative_or_absolute(pattern).unwrap().matches(path);
    assert!(matches("/etc/**", "/etc/ssh/config"));
    assert!(matches("/etc/**", "/etc"));
    assert!(matches("/**", "/"));
    assert!(matches("/**", "/a/b"));
    assert!(matches("~/.ssh/*", "~/.ssh/id"));
    assert!(!matches("~/.ssh/*", "a/.ssh/id"));
    assert!(matches("src/*", "src/a"));
    assert!(matches("**/.env", ".env"));
}

#[test]
fn literal_length_and_required_literal() {
    let pattern = |text| Pattern::parse(text).unwrap();
    assert_eq!(pattern("tests/{path}_test.py").literal_length(), 14);
    assert_eq!(pattern("{path}.py").literal_length(), 3);
    assert_eq!(pattern("src/**").literal_length(), 4);
    assert_eq!(pattern("{a,bcd}.x").literal_length(), 3);
    assert_eq!(pattern("tests/{path}_test.py").required_literal(), "_test.py");
    assert_eq!(pattern("src/**").required_literal(), "src");
    assert_eq!(pattern("{a,bcd}*").required_literal(), "");
}

fn filled_source(pattern: &str, values: &[(&str, &str)]) -> String {
    let captures = values.iter().copied().collect();
    match Pattern::parse_relative_or_absolute(pattern).unwrap().fill(&captures) {
        Ok(filled) => filled.source().to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn captures_fill_other_patterns() {
    assert_snapshot!(filled_source("tests/{path}_test.*", &[("path", "a/b")]), @"tests/a/b_test.*");
    assert_snapshot!(filled_source("src/{name}.py", &[("name", "a[1]")]), @r"src/a\[1\].py");
    assert_snapshot!(filled_source("{a}-{b}", &[("a", "{b}"), ("b", "*")]), @r"\{b\}-\*");
    assert_snapshot!(filled_source("{name}", &[("name", "!x")]), @r"\!x");
    assert_snapshot!(filled_source("{name}/x", &[("name", "~")]), @r"\~/x");
    assert_snapshot!(filled_source("{name}", &[]), @"error: `{name}` has no value");
    assert_snapshot!(filled_source("src/{path}", &[("path", "../x")]), @"error: with its values the pattern becomes `src/../x`: a pattern cannot contain `..`; write the path relative to the project root, without `..`");
    assert_snapshot!(filled_source("src/{name}./x", &[("name", ".")]), @"error: with its values the pattern becomes `src/../x`: a pattern cannot contain `..`; write the path relative to the project root, without `..`");
    assert_snapshot!(filled_source("{path}", &[("path", "/etc/passwd")]), @"error: with its values the pattern becomes `/etc/passwd`: a pattern cannot start with `/`; paths are relative to the project root");
    assert_snapshot!(filled_source("/etc/{name}", &[("name", "passwd")]), @"/etc/passwd");
}

#[test]
fn serialized_as_its_source() {
    for text in ["src/{path}.rs", "/etc/**", "~/x"] {
        let pattern = Pattern::parse_relative_or_absolute(text).unwrap();
        let json = serde_json::to_string(&pattern).unwrap();
        assert_eq!(json, format!("{text:?}"));
        assert_eq!(serde_json::from_str::<Pattern>(&json).unwrap(), pattern);
    }
    let error = serde_json::from_str::<Pattern>(r#""{a""#).unwrap_err();
    assert_snapshot!(error, @r"this `{` is not closed; write `\{` for a literal brace");
}

/// For these patterns, a matcher that does not remember which choices failed takes exponential time.
#[test]
fn hostile_patterns_finish() {
    let stars = format!("{}b", "*a".repeat(200));
    assert!(!Pattern::parse(&stars).unwrap().matches(&"a".repeat(4000)));
    let directories = format!("{}b", "**/a/".repeat(100));
    assert!(Pattern::parse(&directories).unwrap().may_match_below(&"a/".repeat(2000)));
    assert!(!Pattern::parse(&directories).unwrap().matches(&"a/".repeat(2000)));
    let alternatives = format!("{}b", "{a,aa,*}".repeat(100));
    assert!(!Pattern::parse(&alternatives).unwrap().matches(&"a".repeat(4000)));
    let variables: Vec<_> = (0..100).map(|number| format!("{{**v{number}}}")).collect();
    assert!(!Pattern::parse(&variables.join("a")).unwrap().matches(&"b/".repeat(2000)));
}

/// Translates a pattern to a regular expression, independently of the implementation under test.
fn reference_regex(pattern: &str) -> regex::Regex {
    let mut segments: Vec<_> = pattern.split('/').collect();
    segments.dedup_by(|left, right| *left == "**" && *right == "**");
    let pattern = segments.join("/");
    let mut regex = String::from(r"\A");
    let mut rest = pattern.as_str();
    let mut in_braces = false;
    while let Some(character) = rest.chars().next() {
        let (length, equivalent) = if pattern == "**" {
            (2, "(?:[^/]+(?:/[^/]+)*)?".to_owned())
        } else if rest == "/**" {
            (3, "(?:/[^/]+)*".to_owned())
        } else if rest.starts_with("**/") && (rest.len() == pattern.len() || regex.ends_with(['/', '*'])) {
            (3, "(?:[^/]+/)*".to_owned())
        } else if let Some(end) = rest.find('}').filter(|end| character == '{' && !rest[..*end].contains(',')) {
            let any_character = if rest[1..end].contains("**") || &rest[1..end] == "path" { "." } else { "[^/]" };
            (end + 1, format!("({any_character}+)"))
        } else {
            let equivalent = match character {
                '*' => "[^/]*".to_owned(),
                '?' => "[^/]".to_owned(),
                '{' => "(?:".to_owned(),
                '}' => ")".to_owned(),
                ',' if in_braces => "|".to_owned(),
                other => regex::escape(&other.to_string()),
            };
            in_braces = character == '{' || in_braces && character != '}';
            (character.len_utf8(), equivalent)
        };
        regex.push_str(&equivalent);
        rest = &rest[length..];
    }
    regex.push_str(r"\z");
    regex::RegexBuilder::new(&regex).dot_matches_new_line(true).build().unwrap()
}

/// Generates patterns segment by segment, so that `**` occurs both as a whole segment and inside one.
fn random_pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ab.]{1,2}",
        2 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("{a,bb,}".to_owned()),
        1 => Just("{b/a,*a}".to_owned()),
        1 => Just("{name}".to_owned()),
        1 => Just("{**deep}".to_owned()),
        1 => Just("{path}".to_owned()),
    ];
    let segment = prop_oneof![
        1 => Just("**".to_owned()),
        3 => proptest::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat()),
    ];
    proptest::collection::vec(segment, 1..5).prop_map(|segments| segments.join("/"))
}

/// Generates patterns in which one or two letters match each segment, so that [`all_short_paths`] contains a match of
/// each pattern.
fn short_pattern() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => "[ab]{1,2}",
        2 => Just("**".to_owned()),
        1 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("[!a]".to_owned()),
        1 => Just("b*".to_owned()),
        1 => Just("{a,bb}".to_owned()),
        1 => Just("{b/a,*a}".to_owned()),
        1 => Just("a{,/b}".to_owned()),
    ];
    let variable = prop_oneof![3 => Just(""), 1 => Just("{name}/"), 1 => Just("{path}/"), 1 => Just("{**deep}/")];
    (variable, proptest::collection::vec(segment, 1..4))
        .prop_map(|(variable, segments)| format!("{variable}{}", segments.join("/")))
}

/// Returns every path of up to four segments, each of one or two letters `a` and `b`.
fn all_short_paths() -> Vec<String> {
    let names = ["a", "b", "aa", "ab", "ba", "bb"];
    let mut paths: Vec<String> = names.map(str::to_owned).to_vec();
    let mut longest = paths.clone();
    for _ in 1..4 {
        longest = longest.iter().flat_map(|path| names.map(|name| format!("{path}/{name}"))).collect();
        paths.extend(longest.iter().cloned());
    }
    paths
}

#[test]
fn may_match_below_a_directory() {
    let cases = [
        ("src/**/*.ts", "src", true),
        ("src/**/*.ts", "src/deep/er", true),
        ("src/**/*.ts", "", true),
        ("src/**/*.ts", "source", false),
        ("src/important.txt", "src", true),
        ("src/important.txt", "src/important.txt", false),
        ("src/important.txt", "sr", false),
        ("src/*.ts", "src/deep", false),
        ("src", "src", false),
        ("/etc/*", "/", true),
        ("/etc/*", "/etc/", true),
        ("/**/x", "/", true),
        ("~/.ssh/**", "~", true),
    ];
    for (pattern, directory, expected) in cases {
        let parsed = Pattern::parse_relative_or_absolute(pattern).unwrap();
        assert_eq!(parsed.may_match_below(directory), expected, "{pattern} below {directory}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn never_panics(text in ".{0,60}", path in ".{0,60}") {
        if let Ok(pattern) = Pattern::parse_relative_or_absolute(&text)
            && let Some(captures) = pattern.captures(&path)
        {
            let _ = pattern.fill(&captures);
        }
    }

    #[test]
    fn never_panics_on_its_own_syntax(text in r"[ab/\\{}\[\]*?!,.~-]{0,24}", path in "[ab/.]{0,12}") {
        if let Ok(pattern) = Pattern::parse_relative_or_absolute(&text) {
            let _ = pattern.captures(&path);
        }
    }

    #[test]
    fn an_escaped_path_matches_only_itself(
        path in r"[ab日*?\[\]{}!,~\\ -]{1,6}(/[ab日*?\[\]{}!,~\\.-]{3,6}){0,3}",
        other in r"[ab*?\[\]{}]{1,6}",
    ) {
        prop_assume!(!path.contains(".."));
        let pattern = Pattern::parse(&Pattern::escape(&path)).unwrap();
        prop_assert!(pattern.matches(&path));
        prop_assert_eq!(pattern.matches(&other), other == path);
        prop_assert_eq!(pattern.required_literal(), path);
    }

    #[test]
    fn agrees_with_the_reference_regex(text in random_pattern(), path in "[ab.]{1,3}(/[ab.]{1,3}){0,3}") {
        let Ok(pattern) = Pattern::parse(&text) else { return Ok(()) };
        prop_assume!(!text.starts_with("./"));
        let actual = pattern.captures(&path).map(|captures| {
            captures.iter().map(|(_, value)| value.to_owned()).collect::<Vec<_>>()
        });
        let expected = reference_regex(&text).captures(&path).map(|captures| {
            captures.iter().skip(1).flatten().map(|value| value.as_str().to_owned()).collect::<Vec<_>>()
        });
        prop_assert_eq!(&actual, &expected, "{} on {}", text, path);
        prop_assert_eq!(pattern.matches(&path), actual.is_some());
        if actual.is_some() {
            prop_assert!(path.contains(pattern.required_literal()));
        }
    }

    #[test]
    fn may_match_below_agrees_with_exhaustive_search(text in short_pattern(), directory in "([ab]{1,2}(/[ab]{1,2}){0,2})?") {
        let pattern = Pattern::parse(&text).unwrap();
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let example = all_short_paths().into_iter().find(|path| pattern.matches(&format!("{prefix}{path}")));
        prop_assert_eq!(
            pattern.may_match_below(&directory),
            example.is_some(),
            "{} below {}: {:?}", text, directory, example
        );
    }

    #[test]
    fn a_pattern_filled_from_a_match_matches_that_path(
        text in random_pattern(),
        path in r"[ab*{\]]{1,3}(/[ab!?]{1,3}){0,3}",
    ) {
        let Ok(pattern) = Pattern::parse(&text) else { return Ok(()) };
        let Some(captures) = pattern.captures(&path) else { return Ok(()) };
        let filled = pattern.fill(&captures).unwrap();
        prop_assert_eq!(filled.variables().count(), 0);
        prop_assert!(filled.matches(&path), "{} filled to {}", text, filled.source());
    }
}
