//! Tests of checking and rendering templates.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    event::Event,
    expr::{
        OnMissing, Scope,
        template::{check, render},
    },
    facts::{Facts, Missing},
    situation::{BaseDirectories, Situation},
};

struct Session;

impl Facts for Session {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        Ok(match name {
            "topic" => Some(json!("parser {{ topic }} {% raw %}")),
            "reviewed" => Some(json!(true)),
            "files" | "paths" => Some(json!(["a.rs", "b.rs"])),
            _ => None,
        })
    }
}

fn situation() -> Arc<Situation> {
    let event = Event::unknown("claude", 100_000);
    Arc::new(Situation::new(Arc::new(event), BaseDirectories::default(), Arc::new(Session)))
}

fn rendered(text: &str, guides: &[(&str, &str)]) -> String {
    let guides: BTreeMap<String, String> =
        guides.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    render(text, &guides, &situation(), OnMissing::Abort).unwrap_or_else(|error| format!("error: {error}"))
}

fn check_report(text: &str) -> String {
    let scope = Scope::with_variables(["topic", "reviewed"]).in_workflow([]);
    let checked = check(text, &scope);
    let mut report = String::new();
    for problem in checked.problems {
        let help = problem.help.map(|help| format!(" ({help})")).unwrap_or_default();
        let _ = writeln!(report, "[{}] {}{help}", text.get(problem.span).unwrap_or_default(), problem.message);
    }
    for guide in checked.guides {
        let _ = writeln!(report, "guide {} at [{}]", guide.name, text.get(guide.span).unwrap_or_default());
    }
    report
}

#[test]
fn expressions_and_conditions_are_rendered() {
    assert_eq!(rendered("Plain.", &[]), "Plain.");
    assert_eq!(rendered("{{ 1 + 1 }} {{ missing }}|{{ None }}|{{ paths|join(', ') }}", &[]), "2 ||a.rs, b.rs");
    let choice = "A\n{% if reviewed %}\nyes\n{% elif topic %}\nmaybe\n{% else %}\nno\n{% endif %}\nB";
    assert_eq!(rendered(choice, &[]), "A\nyes\nB");
    assert_eq!(rendered("{# nothing #}{% raw %}${{ x }}{% endraw %}", &[]), "${{ x }}");
    assert_eq!(rendered("{{ 'none' if missing is None else 'one' }}", &[]), "none");
}

#[test]
fn output_is_never_parsed_again() {
    assert_eq!(rendered("On {{ topic }}.", &[]), "On parser {{ topic }} {% raw %}.");
    let guides = [("ONE", "{{ topic }}: {{ \"{{ guide('TWO') }}\" }}"), ("TWO", "never")];
    assert_eq!(rendered("{{ guide('ONE') }}", &guides), "parser {{ topic }} {% raw %}: {{ guide('TWO') }}");
}

#[test]
fn guides_are_included_with_limits() {
    let guides = [("ONE", "one, {{ guide('TWO') }}"), ("TWO", "two {{ 1 + 1 }}\n"), ("LOOP", "{{ guide('LOOP') }}")];
    assert_eq!(rendered("{{ guide('ONE') }}.", &guides), "one, two 2.");
    assert_eq!(rendered("{% if not reviewed %}{{ guide('ONE') }}{% endif %}.", &guides), ".");
    insta::assert_snapshot!(rendered("{{ guide('NONE') }}", &guides), @"error: unknown guide `NONE`");
    insta::assert_snapshot!(rendered("{{ guide('LOOP') }}", &guides), @"error: guides are nested more than 8 deep: LOOP → LOOP → LOOP → LOOP → LOOP → LOOP → LOOP → LOOP");
    let many = "{{ guide('ONE') }}".repeat(40);
    let growing = [("ONE", &*many.replace("ONE", "TWO")), ("TWO", &*many.replace("ONE", "THREE")), ("THREE", "x")];
    insta::assert_snapshot!(rendered(&many, &growing), @"error: the text would include more than 200 guides");
}

#[test]
fn errors_are_found_by_check() {
    insta::assert_snapshot!(check_report("{{ topic }} {{ guide('ONE') }} {% if reviewed %}{{ guide(\"TWO\") }}{% endif %}"), @"
    guide ONE at [ONE]
    guide TWO at [TWO]
    ");
    insta::assert_snapshot!(check_report("é {{ topik }} {{ topic|uper }} {% if len() %}{% endif %}"), @"
    [topik] unknown name `topik` (did you mean `topic`?)
    [uper] unknown filter `uper` (did you mean `upper`?)
    [len] `len` takes 1 argument, not 0
    ");
    insta::assert_snapshot!(check_report("{{ guide(topic) }}"), @"[guide(topic)] `guide` needs the name of a guide in quotes (write it as in `{{ guide('REVIEW') }}`)");
    insta::assert_snapshot!(check_report("{{ guide('ONE').upper() }} {{ guide('ONE') + '' }}"), @"
    [guide] unknown function `guide` (use it only in a prompt or guide, in braces of its own: `{{ guide('NAME') }}`)
    [guide] unknown function `guide` (use it only in a prompt or guide, in braces of its own: `{{ guide('NAME') }}`)
    ");
    insta::assert_snapshot!(check_report("{% for x in topic %}{{ x }}{% endfor %}"), @"[for x in topic %}{{ x }}{% endfor] unsupported block in a prompt or guide (use `{% if … %}` or `{% raw %}`)");
    insta::assert_snapshot!(check_report("{% set topic = 1 %}"), @"[=] unsupported operator `=` (use `==` to compare; named arguments are not supported)");
    insta::assert_snapshot!(check_report("{% include 'other' %}"), @"[include] syntax error: unknown statement include");
    insta::assert_snapshot!(check_report("{{ topic "), @"[topic] syntax error: unexpected end of input, expected end of variable block");
    insta::assert_snapshot!(check_report("{% if topic %} x"), @"[ x] syntax error: unexpected end of input, expected end of block");
    insta::assert_snapshot!(check_report("{{ 1 / 2 }}"), @"[/] unsupported operator `/` (use `//`, which divides and rounds down)");
    insta::assert_snapshot!(check_report("{{ topic is None if reviewed else 1 }} {{ topik }}"), @"[topik] unknown name `topik` (did you mean `topic`?)");
}

#[test]
fn hostile_templates_terminate() {
    for text in ["{{ ((((".repeat(20_000), "{% if topic %}".repeat(4_000), "{{ [".to_owned() + &"[".repeat(60_000)] {
        assert!(!check(&text, &Scope::default()).problems.is_empty());
        assert!(rendered(&text, &[]).starts_with("error: "));
    }
    let large = format!("{{{{ '{}' * 1000 }}}}", "x".repeat(4_000)).repeat(15);
    insta::assert_snapshot!(rendered(&large, &[]), @"error: the expression processes too much text or too many items");
}
