//! Tests of the message and position of every error.

use std::fmt::Write;

use super::evaluate_with;
use crate::expr::{Scope, check, source::LENGTH_LIMIT};

fn display(source: &str, error: &crate::expr::ExprError) -> String {
    let marked = source.get(error.span.clone()).expect("within the text");
    let help = error.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("  [{marked}] {error}{help}\n")
}

fn problems(sources: &[&str]) -> String {
    let scope = Scope::with_variables(["release", "attempts"]);
    let mut report = String::new();
    for source in sources {
        writeln!(report, "{source}").expect("text");
        for error in check(source, &scope) {
            report.push_str(&display(source, &error));
        }
    }
    report
}

fn failures(sources: &[&str]) -> String {
    let names = serde_json::json!({"n": 5, "text": "abc", "list": [1], "map": {}, "flag": true, "nothing": null});
    let mut report = String::new();
    for source in sources {
        writeln!(report, "{source}").expect("text");
        let error = evaluate_with(source, names.as_object().expect("an object")).expect_err(source);
        report.push_str(&display(source, &error));
    }
    report
}

#[test]
fn errors_of_names() {
    insta::assert_snapshot!(problems(&[
        "relase and not nonsense",
        "variables.atempts > 3",
        "variables['atempts'] > 3",
        "variables.nonsense",
        "variables.get('nonsense') or variables.release or attempts",
        "event.tol == 'Bash' or event.nonsense",
        "event['tol'] and event['tool'] and event.get('tol')",
        "git.brnach == 'main' and git.branch",
        "tool_nam == 'Bash' and tool_input.anything.at.all and source and tool_name",
        "len > 3",
        "workflow.node == 'a' and phase.visit > 1",
        "claims.done or files.changed or loop.hat or tasks.open or tasks.ready_",
        "event.kind and event.agent and event.session and event.tool and event.input and event.output and event.outcome \
         and event.command and event.commands and event.paths and event.prompt and event.message and event.cwd and event.time",
    ]), @"
    relase and not nonsense
      [relase] unknown name `relase` (did you mean `release`?)
      [nonsense] unknown name `nonsense` (a variable is declared under `variables:`)
    variables.atempts > 3
      [atempts] unknown variable `atempts` (did you mean `attempts`?)
    variables['atempts'] > 3
      [atempts] unknown variable `atempts` (did you mean `attempts`?)
    variables.nonsense
      [nonsense] unknown variable `nonsense` (declare it, or read it with `variables.get('nonsense')`)
    variables.get('nonsense') or variables.release or attempts
    event.tol == 'Bash' or event.nonsense
      [tol] `event` has no field `tol` (did you mean `tool`?)
      [nonsense] `event` has no field `nonsense` (fields of `event`: `kind`, `agent`, `session`, `tool`, `input`, `output`, `outcome`, `command`, `commands`, `paths`, `prompt`, `message`, `cwd`, `time`)
    event['tol'] and event['tool'] and event.get('tol')
      [tol] `event` has no field `tol` (did you mean `tool`?)
    git.brnach == 'main' and git.branch
      [brnach] `git` has no field `brnach` (did you mean `branch`?)
    tool_nam == 'Bash' and tool_input.anything.at.all and source and tool_name
      [tool_nam] unknown name `tool_nam` (did you mean `tool_name`?)
    len > 3
      [len] unknown name `len` (`len` is a function: write `len(…)`)
    workflow.node == 'a' and phase.visit > 1
    claims.done or files.changed or loop.hat or tasks.open or tasks.ready_
      [ready_] `tasks` has no field `ready_` (did you mean `ready`?)
    event.kind and event.agent and event.session and event.tool and event.input and event.output and event.outcome and event.command and event.commands and event.paths and event.prompt and event.message and event.cwd and event.time
    ");
}

#[test]
fn errors_of_functions_methods_filters_and_tests() {
    insta::assert_snapshot!(problems(&[
        "lenn('a') or nofunc(1) or startswith('a', 'b')",
        "len() or len(1, 2) or max() or list(1, 2) or command_ran() or 'a'.replace('b')",
        "event.command.starswith('git') or event.command.nonsense()",
        "event.command.lower(1) or event.input.get()",
        "event.command|uper or event.command|nonsense or event.command|length(1)",
        "event.command is defined or event.command is None(1)",
        "mcp_called('github') or mcp_failed('a', 'b') or mcp_result_is_null('a', 'b')",
        "mcp_result_has('a', 'b', 'c', 1) or task_tree_complete(None) or task_needs_user_review('a')",
        "has_stop_signal() or file_rule_met('a') or behavior_lint_clean()",
        "mcp_called()",
        "event.command.split(sep=',')",
        "len(*event.paths)",
        "(event.command)() or event.paths[0]()",
        "event.command[1:2]",
        "matches(event.command, '(') or command_ran('[') or glob(event.cwd, '{')",
        "event.command is None if release else lenn(1)",
    ]), @r"
    lenn('a') or nofunc(1) or startswith('a', 'b')
      [lenn] unknown function `lenn` (did you mean `len`?)
      [nofunc] unknown function `nofunc`
      [startswith] unknown function `startswith` (`startswith` is a method: write `value.startswith(…)`)
    len() or len(1, 2) or max() or list(1, 2) or command_ran() or 'a'.replace('b')
      [len] `len` takes 1 argument, not 0
      [len] `len` takes 1 argument, not 2
      [max] `max` takes at least 1 argument, not 0
      [list] `list` takes 0 or 1 arguments, not 2
      [command_ran] `command_ran` takes 1 or 2 arguments, not 0
      [replace] `replace` takes 2 or 3 arguments, not 1
    event.command.starswith('git') or event.command.nonsense()
      [starswith] unknown method `starswith` (did you mean `startswith`?)
      [nonsense] unknown method `nonsense`
    event.command.lower(1) or event.input.get()
      [lower] `lower` takes no arguments, not 1
      [get] `get` takes 1 or 2 arguments, not 0
    event.command|uper or event.command|nonsense or event.command|length(1)
      [uper] unknown filter `uper` (did you mean `upper`?)
      [nonsense] unknown filter `nonsense`
      [length] `length` takes no arguments, not 1
    event.command is defined or event.command is None(1)
      [defined] unknown test `is defined` (use `is` with `None`, `True` or `False`, and `==` with everything else)
      [None] `is None` takes no arguments
    mcp_called('github') or mcp_failed('a', 'b') or mcp_result_is_null('a', 'b')
      [mcp_called] `mcp_called` needs the behavior `mcp_call_tracking`, but no observer uses it (add `- behavior: mcp_call_tracking` under `observers:` in config.yml)
      [mcp_failed] `mcp_failed` needs the behavior `mcp_call_tracking`, but no observer uses it (add `- behavior: mcp_call_tracking` under `observers:` in config.yml)
      [mcp_result_is_null] `mcp_result_is_null` needs the behavior `mcp_call_tracking`, but no observer uses it (add `- behavior: mcp_call_tracking` under `observers:` in config.yml)
    mcp_result_has('a', 'b', 'c', 1) or task_tree_complete(None) or task_needs_user_review('a')
      [mcp_result_has] `mcp_result_has` needs the behavior `mcp_call_tracking`, but no observer uses it (add `- behavior: mcp_call_tracking` under `observers:` in config.yml)
    has_stop_signal() or file_rule_met('a') or behavior_lint_clean()
      [behavior_lint_clean] no behavior has the condition `behavior_lint_clean` (declare the conditions of an external behavior under `observers:` in config.yml)
    mcp_called()
      [mcp_called] `mcp_called` takes 1 or 2 arguments, not 0
    event.command.split(sep=',')
      [=] unsupported operator `=` (use `==` to compare; named arguments are not supported)
    len(*event.paths)
      [event.paths] named arguments are not supported
    (event.command)() or event.paths[0]()
      [command] unknown method `command`
      [.paths[0]] only a function or a method can be called
    event.command[1:2]
      [event.command] slices are not supported
    matches(event.command, '(') or command_ran('[') or glob(event.cwd, '{')
      ['('] invalid regex: unclosed group
      ['['] invalid regex: unclosed character class
      ['{'] invalid pattern: this `{` is not closed; write `\{` for a literal brace
    event.command is None if release else lenn(1)
      [lenn] unknown function `lenn` (did you mean `len`?)
    ");
}

#[test]
fn errors_of_functions_that_need_a_behavior() {
    let mut scope = Scope::default();
    scope.declare_behavior("mcp_call_tracking");
    scope.declare_condition("behavior_lint_clean", 1);
    let problems = |source: &str| -> Vec<String> {
        check(source, &scope)
            .into_iter()
            .map(|error| format!("{} ({})", error.message, error.help.unwrap_or_default()))
            .collect()
    };
    assert_eq!(problems("mcp_called('a') and behavior_lint_clean('b')"), [""; 0]);
    assert_eq!(problems("behavior_lint_clean()"), ["`behavior_lint_clean` takes 1 argument, not 0 ()"]);
    assert_eq!(
        problems("behavior_lint_clear('a')"),
        ["no behavior has the condition `behavior_lint_clear` (did you mean `behavior_lint_clean`?)"]
    );
}

#[test]
fn syntax_errors() {
    insta::assert_snapshot!(problems(&[
        "release and",
        "",
        "(release",
        "release)",
        "release attempts",
        "release && attempts",
        "release || attempts",
        "!release",
        "attempts = 3",
        "attempts / 2",
        "attempts ** 2",
        "'a' ~ 'b'",
        "'open",
        "attempts == 3 $",
        "{{ release }}",
        "release }} attempts",
        "[x for x in y]",
        "lambda: 1",
        "1e999",
        "é",
    ]), @r#"
    release and
      [and] syntax error: unexpected end of input, expected expression

      [] syntax error: unexpected end of input, expected expression
    (release
      [release] syntax error: unexpected end of input, expected `)`
    release)
      [)] syntax error: unexpected input after expression
    release attempts
      [attempts] syntax error: unexpected input after expression
    release && attempts
      [&] syntax error: unexpected character (write `and`)
    release || attempts
      [|] syntax error: unexpected `|`, expected identifier (write `or`)
    !release
      [!] syntax error: unexpected character (write `not`)
    attempts = 3
      [=] unsupported operator `=` (use `==` to compare; named arguments are not supported)
    attempts / 2
      [/] unsupported operator `/` (use `//`, which divides and rounds down)
    attempts ** 2
      [**] unsupported operator `**`
    'a' ~ 'b'
      [~] unsupported operator `~` (use `+` to join text)
    'open
      [] syntax error: unexpected end of string
    attempts == 3 $
      [$] syntax error: unexpected character
    {{ release }}
      [}] syntax error: unexpected `}`, expected `:`
    release }} attempts
      [}}] unexpected text after the end of the expression
    [x for x in y]
      [for] syntax error: unexpected identifier, expected `,`
    lambda: 1
      [:] syntax error: unexpected input after expression
    1e999
      [1e999] the number is too large
    é
      [é] syntax error: unexpected character
    "#);
}

#[test]
fn errors_at_limits() {
    let long = " ".repeat(LENGTH_LIMIT + 1);
    let deep = "(".repeat(100);
    let chain = format!("1{}", " or 1".repeat(300));
    let messages: Vec<String> = [long, deep, chain]
        .iter()
        .flat_map(|source| check(source, &Scope::default()))
        .map(|error| format!("{:?} {error} {:?}", error.span, error.help))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    0..4097 the expression has 4097 bytes, over the limit of 4096 None
    32..33 the expression is nested too deeply Some("use `in` with a list instead of many comparisons, or split the rule into two")
    0..1501 the expression is nested too deeply Some("use `in` with a list instead of many comparisons, or split the rule into two")
    "#);
}

#[test]
fn run_time_errors() {
    insta::assert_snapshot!(failures(&[
        "n and int('x')",
        "int(list)",
        "len(n)",
        "n.lower()",
        "text.get('a')",
        "text.startswith(n)",
        "missing + 1",
        "nothing * 2",
        "text + n",
        "-text",
        "n // 0",
        "n % 0.0",
        "1e308 * 10",
        "170141183460469231731687303715884105727 + 1",
        "99999999999999999999999999",
        "text in n",
        "list(n)",
        "max(1, text)",
        "dict(list)",
        "{list: 1}",
        "[1, 'a']|sort",
        "matches(n, 'a')",
        "matches(text, nothing)",
        "matches(text, '(')",
        "glob(text, '{')",
        "glob(n, '*')",
        "command_ran('a')",
        "text * 1000000000",
        "str([[[0] * 1000] * 1000] * 1000)",
        "[[[0] * 1000] * 1000] * 1000",
        "text.join(n)",
        "n is None if missing else int(text)",
    ]), @r"
    n and int('x')
      [int('x')] `int` cannot convert this to an integer
    int(list)
      [int(list)] `int` does not accept a list
    len(n)
      [len(n)] a number has no length
    n.lower()
      [.lower()] a number has no method `lower`
    text.get('a')
      [.get('a')] text has no method `get`
    text.startswith(n)
      [.startswith(n)] `startswith`: startswith argument must be string or a tuple of strings, not number
    missing + 1
      [missing + 1] `+` does not accept an undefined value and a number
    nothing * 2
      [nothing * 2] `*` does not accept null and a number
    text + n
      [text + n] `+` does not accept text and a number
    -text
      [-text] `-` does not accept text
    n // 0
      [n // 0] division by zero with `//`
    n % 0.0
      [n % 0.0] division by zero with `%`
    1e308 * 10
      [1e308 * 10] the result of `*` is too large
    170141183460469231731687303715884105727 + 1
      [170141183460469231731687303715884105727 + 1] the result of `+` is too large
    99999999999999999999999999
      [99999999999999999999999999] the number is too large
    text in n
      [text in n] `in` needs text, a list or a dictionary on its right side, not a number
    list(n)
      [list(n)] a number has no items
    max(1, text)
      [max(1, text)] cannot compare a number and text
    dict(list)
      [dict(list)] a number has no items
    {list: 1}
      [{list: 1}] a list cannot be the key of a dictionary
    [1, 'a']|sort
      [sort] `sort` needs a list of numbers or a list of texts
    matches(n, 'a')
      [matches(n, 'a')] `matches` takes text, not a number
    matches(text, nothing)
      [matches(text, nothing)] `matches` needs a regular expression
    matches(text, '(')
      [matches(text, '(')] invalid regex: unclosed group
    glob(text, '{')
      [glob(text, '{')] invalid glob pattern: this `{` is not closed; write `\{` for a literal brace
    glob(n, '*')
      [glob(n, '*')] `glob` takes text, not a number
    command_ran('a')
      [command_ran('a')] `command_ran` needs the history of a session
    text * 1000000000
      [text * 1000000000] the expression processes too much text or too many items
    str([[[0] * 1000] * 1000] * 1000)
      [str([[[0] * 1000] * 1000] * 1000)] the expression processes too much text or too many items
    [[[0] * 1000] * 1000] * 1000
      [[[[0] * 1000] * 1000] * 1000] the expression processes too much text or too many items
    text.join(n)
      [.join(n)] a number has no items
    n is None if missing else int(text)
      [int(text)] `int` cannot convert this to an integer
    ");
}
