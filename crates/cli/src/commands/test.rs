//! `test`: runs the test cases in rules and in `tests/`.

use std::collections::BTreeSet;

use engine::decide::{self, ConsideredRule};
use engine::file_rules::Change;
use engine::rules::{Rule, RuleSet};
use engine::{Decision, Level};
use guard::Project;
use guard::replay::rule_cases;
use policy::{CaseSubject, Cases, Diagnostic, Expectation, LoadedPolicy, PolicyCase, RuleOrigin, RuleStatus};
use serde_json::{Value, json};

use super::unknown_rule::undefined_rule;
use super::{Context, explain};
use crate::arguments::TestArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &TestArguments, context: &Context) -> CommandOutcome {
    let project = Project::of_person(&context.environment);
    super::validate::require_policy(&project)?;
    let loaded = project.load(&context.environment);
    let mut results = Vec::new();
    let mut problems: Vec<Diagnostic> = loaded.errors().cloned().collect();
    for definition in &loaded.definitions {
        // Skips rules that another rule replaces, because they have no effect, and bundled rules that the arguments do
        // not name, because the project did not write them.
        let is_replaced = matches!(loaded.rule_status(definition), RuleStatus::Shadowed(_));
        let is_unnamed_bundled = definition.origin == RuleOrigin::Bundled && arguments.rules.is_empty();
        if is_replaced || is_unnamed_bundled || !is_wanted(Some(&definition.rule.id), arguments) {
            continue;
        }
        let cases = definition.cases();
        problems.extend(cases.problems);
        let rules = pack(std::slice::from_ref(&definition.rule))?;
        for case in cases.cases {
            results.push(CaseResult::new(case, &rules, Some(&definition.rule), &loaded)?);
        }
    }
    if is_wanted(None, arguments) {
        let rules = pack(&loaded.in_force_rules())?;
        for folder in project.tiers.folders() {
            let cases = Cases::of_folder(folder);
            problems.extend(cases.problems);
            for case in cases.cases {
                results.push(CaseResult::new(case, &rules, None, &loaded)?);
            }
        }
    }
    let is_unknown = |name: &&String| loaded.definitions_named(name).is_empty();
    if let (true, Some(name)) = (problems.is_empty(), arguments.rules.iter().find(is_unknown)) {
        return Err(undefined_rule(name, &loaded));
    }
    if let (true, Some(name)) = (results.is_empty() && problems.is_empty(), arguments.rules.first()) {
        return Err(Problem::new("NotFound", format!("rule `{name}` has no test cases"))
            .help("write test cases under the rule's `tests`"));
    }
    let code = match (problems.is_empty(), results.iter().all(CaseResult::passed)) {
        (false, _) => ExitCode::Usage,
        (true, false) => ExitCode::No,
        (true, true) => ExitCode::Done,
    };
    if context.output.json {
        let problems: Vec<Value> = problems.iter().map(super::validate::to_json).collect();
        let failed = results.iter().filter(|result| !result.passed()).count();
        let cases: Vec<Value> = results.iter().map(CaseResult::to_json).collect();
        let passed = results.len() - failed;
        context.output.value(&json!({ "passed": passed, "failed": failed, "cases": cases, "problems": problems }));
    } else {
        show(&results, &problems, context);
    }
    Ok(code)
}

fn is_wanted(rule: Option<&String>, arguments: &TestArguments) -> bool {
    arguments.rules.is_empty() || rule.is_some_and(|rule| arguments.rules.contains(rule))
}

fn pack(rules: &[Rule]) -> Result<RuleSet, Problem> {
    RuleSet::pack(rules).map_err(|error| Problem::new("Internal", error.to_string()))
}

/// A test case and its result.
struct CaseResult {
    case: PolicyCase,
    decision: Decision,
    /// The actual result of the case's rule, or of the whole policy.
    got: Expectation,
}

impl CaseResult {
    fn new(case: PolicyCase, rules: &RuleSet, rule: Option<&Rule>, loaded: &LoadedPolicy) -> Result<Self, Problem> {
        let decision = rule_cases::judge(&case, rules, &loaded.config)
            .map_err(|error| Problem::new("Internal", error.to_string()))?;
        let verdict = &decision.verdict;
        // If an `allow` rule does not approve the call, the agent asks as usual.
        let is_left_to_agent = rule.is_some_and(|rule| rule.action == Level::Allow) && !verdict.approved;
        let got = match &case.expect {
            Expectation::Verdict(_) if is_left_to_agent => Expectation::Verdict(verdict.level.max(Level::Ask)),
            Expectation::Verdict(_) => Expectation::Verdict(verdict.level),
            Expectation::Met | Expectation::Unmet(_) if decision.demands.is_empty() => Expectation::Met,
            Expectation::Met | Expectation::Unmet(_) => {
                let pairs = decision.demands.iter().flat_map(|demand| demand.file_match.pairs());
                Expectation::Unmet(Some(pairs.map(|(one, other)| [one.to_owned(), other.to_owned()]).collect()))
            }
            Expectation::Fires(_) => {
                let fires = |considered: &ConsideredRule| matches!(considered.outcome, decide::RuleOutcome::Matched(_));
                Expectation::Fires(decision.considered.iter().any(fires))
            }
        };
        Ok(Self { case, decision, got })
    }

    fn passed(&self) -> bool {
        match (&self.case.expect, &self.got) {
            (Expectation::Unmet(None), Expectation::Unmet(_)) => true,
            (Expectation::Unmet(Some(expected)), Expectation::Unmet(Some(got))) => {
                let sorted = |pairs: &[[String; 2]]| pairs.iter().cloned().collect::<BTreeSet<_>>();
                sorted(expected) == sorted(got)
            }
            (expected, got) => expected == got,
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.case.source.name, self.case.source.position(self.case.start))
    }

    /// Returns the case's name, or else a description of its event.
    fn title(&self) -> String {
        let subject = || match &self.case.subject {
            CaseSubject::Command(command) => command.clone(),
            CaseSubject::Tool { name, input } => format!("{name} {input}"),
            CaseSubject::Event(event) => event.kind.name().to_owned(),
            CaseSubject::Files(changes) => {
                let change = |change: &Change| format!("{} {}", change.status.letter(), change.path);
                changes.iter().map(change).collect::<Vec<_>>().join(", ")
            }
            CaseSubject::Phase { activities, now } => {
                format!("{} in {now} seconds", counted(activities.len(), "event"))
            }
        };
        self.case.name.clone().unwrap_or_else(subject)
    }

    /// Returns the rules whose judgements explain the result: the case's own rule, or all rules that applied.
    fn considered(&self) -> impl Iterator<Item = &ConsideredRule> {
        let has_own_rule = self.case.rule.is_some();
        let applied = |considered: &&ConsideredRule| considered.outcome != decide::RuleOutcome::NotApplied;
        self.decision.considered.iter().filter(move |considered| has_own_rule || applied(considered))
    }

    fn to_json(&self) -> Value {
        let position = self.case.source.position(self.case.start);
        json!({
            "rule": self.case.rule,
            "name": self.title(),
            "file": self.case.source.name,
            "line": position.line,
            "column": position.column,
            "expect": self.case.expect.name(),
            "got": self.got.name(),
            "passed": self.passed(),
            "rules": self.considered().map(explain::consideration_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns an expectation as text: a verdict, or the files that a file rule demands.
fn expectation_text(expectation: &Expectation, output: &Output) -> String {
    match expectation {
        Expectation::Verdict(level) => output.level(*level),
        Expectation::Unmet(Some(pairs)) if !pairs.is_empty() => {
            let pairs: Vec<String> = pairs.iter().map(|[one, other]| format!("{one} → {other}")).collect();
            format!("{} ({})", expectation.name(), pairs.join(", "))
        }
        Expectation::Met | Expectation::Unmet(_) | Expectation::Fires(_) => expectation.name().to_owned(),
    }
}

fn show(results: &[CaseResult], problems: &[Diagnostic], context: &Context) {
    let output = &context.output;
    for problem in problems {
        output.rendered(&problem.render(output.style()));
        output.blank();
    }
    for result in results.iter().filter(|result| !result.passed()) {
        let about = result.case.rule.as_deref().map_or_else(String::new, |rule| format!("{rule}: "));
        output.line(output.bold(&format!("{about}{}", result.title())));
        output.line(output.dim(&format!("  {}", result.place())));
        output.line(format!(
            "  expected {}, got {}",
            expectation_text(&result.case.expect, output),
            expectation_text(&result.got, output)
        ));
        let mut considered = result.considered().peekable();
        if considered.peek().is_none() {
            output.line("  no rule has a condition that applies to this case");
        }
        for considered in considered {
            explain::show_consideration(considered, "  ", context);
        }
        output.blank();
    }
    let failed = results.iter().filter(|result| !result.passed()).count();
    let passed = counted(results.len() - failed, "case");
    let errors = counted(problems.len(), "error");
    output.line(match (results.len(), failed, problems.len()) {
        (0, _, 1..) => format!("{errors} in the policy files; no case was run."),
        (0, _, _) => "No cases: write them under a rule's `tests`, or in `.linchpin/tests/*.yml`.".to_owned(),
        (_, 0, 0) => format!("{passed} passed."),
        (_, _, 0) => format!("{passed} passed, {failed} failed."),
        (_, 0, _) => format!("{passed} passed; {errors} in the policy files, whose cases were not run."),
        _ => format!("{passed} passed, {failed} failed; {errors} in the policy files, whose cases were not run."),
    });
}
