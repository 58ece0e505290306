//! Tests of judging events by rules: headers because of which rules are skipped, and clauses about commands with
//! unknown words.

mod directories;
mod exemptions;
mod subjects;
mod wrappers;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::{AckBy, CommandRegex, Detector, McpPattern, PathClause, PathKey, PathPattern, Rule, RuleSet, Tier};
use super::{BranchClause, CommandMatcher, FlagPattern, ToolName, ToolRule, Wildcard};
use crate::bounded_regex::RegexSource;
use crate::event::{EventKind, EventKinds, FileAccess, McpTool, ShellText, ToolCall};
use crate::facts::NoFacts;
use crate::{BaseDirectories, DecisionRequest, Event, Level, Situation, Verdict, decide};
use path::Access;
use path::pattern::Pattern;

fn event(kind: EventKind, tool: Option<ToolCall>) -> Event {
    let event =
        json!({ "kind": kind.name(), "name": "Event", "agent": "claude", "session": "s", "time": 1, "cwd": "/r" });
    Event { tool, ..serde_json::from_value(event).expect("an event") }
}

fn bash(command: &str) -> Event {
    let shell = Some(ShellText::Command(command.to_owned()));
    let call = ToolCall { name: "Bash".to_owned(), input: json!({ "command": command }), shell, ..ToolCall::default() };
    event(EventKind::BeforeTool, Some(call))
}

fn rule(id: &str, detect: Detector) -> Rule {
    Rule {
        id: id.to_owned(),
        title: None,
        description: None,
        tier: Tier::Project,
        source: format!("{id}.md"),
        digest: String::new(),
        on: EventKinds::default().with(EventKind::BeforeTool),
        detect,
        when: None,
        action: Level::Block,
        on_error: None,
        tags: Vec::new(),
        max_holds: None,
        ack: AckBy::Agent,
        locked: false,
        reason: "no".to_owned(),
    }
}

fn rule_for_command(pattern: &str) -> Rule {
    let command_regex = CommandRegex { pattern: Some(RegexSource::new(pattern)), not_pattern: None };
    rule("command", Detector::Tool(Box::new(ToolRule { command_regex, ..ToolRule::default() })))
}

fn base_directories() -> BaseDirectories {
    BaseDirectories {
        root: "/r".to_owned(),
        home: Some("/home/u".to_owned()),
        temp: Some("/tmp".to_owned()),
        aliases: Vec::new(),
        is_subdirectory: false,
    }
}

fn verdict(rules: &[Rule], event: Event, evaluate_all: bool) -> Verdict {
    let situation = Arc::new(Situation::new(Arc::new(event), base_directories(), Arc::new(NoFacts)));
    let rules = RuleSet::pack(rules).expect("rules are packed");
    decide(&DecisionRequest { situation: &situation, rules: &rules, evaluate_all }).expect("rules are read").verdict
}

#[test]
fn packed_rules_round_trip() {
    let rules = [rule_for_command("^git push"), rule("event", Detector::Event)];
    assert_eq!(RuleSet::pack(&rules).expect("packed").all().expect("read"), rules);
    assert_eq!(RuleSet::pack(&[]).expect("packed").all().expect("read"), []);
}

#[test]
fn sets_are_compared_and_changed_by_id() {
    let named = |id: &str, reason: &str| Rule { reason: reason.to_owned(), ..rule(id, Detector::Event) };
    let set = |rules: &[Rule]| RuleSet::pack(rules).expect("packed");
    let before = [named("b", "1"), named("d", "1"), named("f", "1")];
    let now = [named("a", "2"), named("b", "1"), named("d", "2"), named("e", "2"), named("f", "1"), named("g", "2")];
    let changes = [named("g", "2"), named("d", "2"), named("a", "2"), named("e", "2")];
    assert_eq!(set(&before).with_rules(&changes).expect("changed"), set(&now));
    assert_eq!(set(&[]).with_rules(&before).expect("changed"), set(&before));
    assert_eq!(set(&before).with_rules(&[]).expect("changed"), set(&before));
    let ids = |rules: Vec<Rule>| rules.into_iter().map(|rule| rule.id + &rule.reason).collect::<Vec<_>>();
    let differences = |before: &[Rule], now: &[Rule]| {
        let (old_versions, new_versions) = set(before).differences(&set(now)).expect("read");
        (ids(old_versions).join(" "), ids(new_versions).join(" "))
    };
    assert_eq!(differences(&before, &now), ("d1".to_owned(), "a2 d2 e2 g2".to_owned()));
    assert_eq!(differences(&now, &before), ("a2 d2 e2 g2".to_owned(), "d1".to_owned()));
    assert_eq!(differences(&before, &[]), ("b1 d1 f1".to_owned(), String::new()));
    assert_eq!(differences(&[], &before), (String::new(), "b1 d1 f1".to_owned()));
    assert_eq!(differences(&before, &before), (String::new(), String::new()));
    assert_eq!(set(&now).get("e").expect("read"), Some(named("e", "2")));
    assert_eq!(set(&now).get("c").expect("read"), None);
}

#[test]
fn a_wrong_count_of_rules_is_an_error() {
    let rules = [rule("a", Detector::Event), rule("b", Detector::Event)];
    let mut bytes = RuleSet::pack(&rules).expect("packed").as_bytes().to_vec();
    for count in [0, 1, 3, u8::MAX] {
        *bytes.first_mut().expect("a count") = count;
        let set = RuleSet::from_bytes(Arc::new(bytes.clone()), 0);
        assert!(set.all().is_err() && !set.is_complete(), "{count}");
    }
}

#[test]
fn corrupt_bytes_are_an_error_and_never_an_empty_policy() {
    let whole = RuleSet::pack(&[rule_for_command("^git push"), rule_for_command("x")]).expect("packed");
    for length in 0..whole.as_bytes().len() {
        let truncated = RuleSet::from_bytes(Arc::new(whole.as_bytes()[..length].to_vec()), 0);
        assert!(truncated.all().is_err(), "{length} bytes");
        assert!(truncated.with_rules(&[]).is_err() && !truncated.is_complete(), "{length} bytes");
        assert!(truncated.differences(&whole).is_err() && whole.differences(&truncated).is_err(), "{length} bytes");
    }
}

#[test]
fn an_unknown_word_matters_only_if_it_could_complete_a_match() {
    let cases = [
        ("^rm -rf", "rm -rf x", Level::Block),
        ("^rm -rf", "$X -rf x", Level::Ask),
        ("^rm -rf", "${X} -rf x", Level::Ask),
        ("^rm -rf", "$X x", Level::Allow),
        ("^rm -rf", "rm $X x", Level::Allow),
        ("^rm -rf", "\"$X\" \"$Y\"", Level::Allow),
        ("git push .*main", "git push origin \"$BRANCH\"", Level::Ask),
        ("git push .*main", "git push origin feature-$N", Level::Ask),
        (r"git push .*\+main", "git push origin +$BRANCH", Level::Ask),
        ("git push .*--force", "git push origin \"$BRANCH\"", Level::Allow),
        ("git push .*--force", "git push --force origin \"$BRANCH\"", Level::Block),
        ("deploy (now|later)", "deploy $WHEN", Level::Ask),
        ("deploy (now|later)", "deploy 'now'", Level::Block),
        ("deploy (now|later)", "echo deploy now", Level::Allow),
        // Commands with a word that is partly unknown.
        ("^rm -rf", "r$@m -rf /", Level::Ask),
        ("^rm -rf", "r${X}m -rf /", Level::Ask),
        ("^rm -rf", "x$Y -rf /", Level::Allow),
        // Commands with several unknown words.
        ("^git push origin main", "git push $R $B", Level::Ask),
        ("^git push origin main", "git pull $R $B", Level::Allow),
        // Regexes whose constant parts cannot all be determined.
        ("^mkfs(?= )", "$X /dev/sda", Level::Ask),
        ("(?i)^mkfs", "$X /dev/sda", Level::Ask),
        ("^git -[a-zA-Z]*n", "$X commit", Level::Allow),
    ];
    for (pattern, command, expected) in cases {
        assert_eq!(
            verdict(&[rule_for_command(pattern)], bash(command), false).level,
            expected,
            "{pattern} on {command}"
        );
    }
}

#[test]
fn a_graphql_request_passes_the_header_of_a_rule_with_rewrites() {
    let rewrites = Some(BranchClause { branches: vec![wildcard("main")] });
    let rule = rule("push", Detector::Tool(Box::new(ToolRule { rewrites, ..ToolRule::default() })));
    let command = r#"curl https://git.example.com/graphql --data-raw '{"query":"mutation{updateRef(input:{})}"}'"#;
    assert_eq!(verdict(&[rule], bash(command), false).level, Level::Ask);
}

#[test]
fn a_command_without_a_program_matches_no_command_regex() {
    let command_regex = CommandRegex { pattern: None, not_pattern: Some(RegexSource::new("^cargo ")) };
    let only_cargo = rule("only-cargo", Detector::Tool(Box::new(ToolRule { command_regex, ..ToolRule::default() })));
    assert_eq!(verdict(std::slice::from_ref(&only_cargo), bash("X=1; cargo test"), false).level, Level::Allow);
    assert_eq!(verdict(&[only_cargo], bash("cargo test; ls"), false).level, Level::Block);
}

fn any_tool_rule() -> impl Strategy<Value = ToolRule> {
    let tools = prop::sample::subsequence(vec!["Bash", "Edit", "mcp__*", "*", "Read"], 0..3);
    let mcp = prop::sample::subsequence(vec![("github", "*"), ("*", "merge"), ("files", "read")], 0..2);
    let regex = || {
        let regexes =
            ["^git push", "rm .*-rf", "(?i)DROP", "a|b", "", "x{2,}", "(?=git)g", "^cargo (test|build)( |$)", "é"];
        prop::option::of(prop::sample::select(regexes.to_vec()))
    };
    let pattern =
        prop::sample::select(vec!["src/**", "**/*.rs", "*", "~/.ssh/**", "/etc/*", "{name}.lock", "outside_project"]);
    let paths = prop::option::of((
        prop::collection::vec(pattern, 1..3),
        prop::sample::select(vec![PathKey::Paths, PathKey::Reads, PathKey::Writes, PathKey::Deletes]),
    ));
    let matchers = prop::collection::vec(any_matcher(), 0..2);
    let branch = prop::option::of(prop::sample::select(vec!["main", "release/*"]));
    let parts = (tools, mcp, regex(), regex(), paths, matchers, branch);
    parts.prop_map(|(tools, mcp, pattern, not_pattern, paths, matchers, branch)| ToolRule {
        tools: tools.into_iter().map(|name| ToolName(name.to_owned())).collect(),
        mcp_tools: mcp
            .into_iter()
            .map(|(server, tool)| McpPattern { server: server.into(), tool: tool.into() })
            .collect(),
        command_regex: CommandRegex {
            pattern: pattern.map(RegexSource::new),
            not_pattern: not_pattern.map(RegexSource::new),
        },
        matchers,
        rewrites: branch.map(|branch| BranchClause { branches: vec![wildcard(branch)] }),
        paths: paths
            .into_iter()
            .map(|(patterns, key)| PathClause {
                key,
                patterns: patterns.into_iter().map(path_pattern).collect(),
                except: Vec::new(),
            })
            .collect(),
        incomplete: None,
        exemptions: None,
    })
}

fn any_matcher() -> impl Strategy<Value = CommandMatcher> {
    let program = prop::sample::subsequence(vec!["git", "rm", "v*", "bash", "cat"], 0..3);
    let subcommand = prop::sample::subsequence(vec!["push", "push origin"], 0..2);
    let flag = prop::sample::subsequence(vec!["--force", "-r", "-C"], 0..2);
    let interactive = prop::option::of(any::<bool>());
    (program, subcommand, flag, interactive).prop_map(|(program, subcommand, flags, interactive)| CommandMatcher {
        program: program.into_iter().map(wildcard).collect(),
        subcommand: subcommand.into_iter().map(str::to_owned).collect(),
        flags_any: flags.into_iter().map(|name| FlagPattern { name: name.to_owned(), value: None }).collect(),
        interactive,
        ..CommandMatcher::default()
    })
}

fn wildcard(text: &str) -> Wildcard {
    Wildcard::parse(text).expect("a pattern")
}

fn path_pattern(text: &str) -> PathPattern {
    if text == PathPattern::OUTSIDE_PROJECT {
        return PathPattern::OutsideProject;
    }
    let literal = Pattern::parse_relative_or_absolute(text).expect("a pattern").required_literal().to_owned();
    PathPattern::Glob { source: text.to_owned(), literal }
}

fn any_event() -> impl Strategy<Value = Event> {
    let commands = [
        "git push origin main",
        "git push -f",
        "git push $X origin main",
        "curl x | sh",
        "bash",
        "rm -rf /",
        "cargo test && $X build",
        "echo 'drop' > src/a.rs",
        "cat ~/.ssh/id /etc/passwd",
        "if then",
        "x=1",
        "$A $B",
        "xx é",
        "",
        "git -C sub push",
        "vi Cargo.lock src/x/y.rs",
        "rm -r \"$X\"",
        "rm -r src",
        "mv src/x y",
        "ssh host cat src/x",
        "curl -X DELETE https://git.example.com/repos/o/r/git/refs/heads/main",
    ];
    let shell = prop::sample::select(commands.to_vec()).prop_map(bash);
    let path = prop::sample::select(vec![
        "/r/src/a.rs",
        "/r/Cargo.lock",
        "/etc/hosts",
        "/home/u/.ssh/key",
        "/tmp/x",
        "~/.ssh/config",
    ]);
    let access = prop::sample::select(vec![Access::Read, Access::Write, Access::Delete]);
    let file = (path, access).prop_map(|(path, access)| {
        let files = vec![FileAccess::new(path.to_owned(), access)];
        let call =
            ToolCall { name: "Edit".to_owned(), aliases: vec!["apply_patch".to_owned()], files, ..ToolCall::default() };
        event(EventKind::BeforeTool, Some(call))
    });
    let mcp = Just(McpTool { server: "github".to_owned(), tool: "merge".to_owned() }).prop_map(|tool| {
        let call = ToolCall { name: "mcp__github__merge".to_owned(), mcp: vec![tool], ..ToolCall::default() };
        event(EventKind::BeforeTool, Some(call))
    });
    prop_oneof![shell, file, mcp, Just(event(EventKind::Stop, None))]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let action = prop::sample::select(vec![Level::Block, Level::Ask, Level::Warn, Level::Allow]);
    let detect =
        prop_oneof![4 => any_tool_rule().prop_map(|tool| Detector::Tool(Box::new(tool))), 1 => Just(Detector::Event)];
    let when =
        prop::option::of(prop::sample::select(vec!["event.tool == 'Bash'", "'x' in event.commands", "int('x')"]));
    let on = prop::sample::subsequence(vec![EventKind::BeforeTool, EventKind::Stop], 1..=2);
    (detect, action, when, on).prop_map(|(detect, action, when, on)| Rule {
        action,
        when: when.map(str::to_owned),
        on: on.into_iter().collect(),
        ..rule("r", detect)
    })
}

proptest! {
    /// The headers of a [`RuleSet`] save time, but have no effect on the verdict.
    #[test]
    fn skipping_rules_by_header_does_not_change_the_verdict(rules in prop::collection::vec(any_rule(), 0..6), event in any_event()) {
        let rules: Vec<Rule> = rules.into_iter().enumerate().map(|(number, rule)| Rule { id: format!("r{number}"), ..rule }).collect();
        let by_headers = verdict(&rules, event.clone(), false);
        let of_all = verdict(&rules, event, true);
        prop_assert_eq!(without_clauses(by_headers), without_clauses(of_all));
    }

    #[test]
    fn the_order_of_rules_does_not_change_the_verdict(rules in prop::collection::vec(any_rule(), 0..6), event in any_event()) {
        let mut rules: Vec<Rule> = rules.into_iter().enumerate().map(|(number, rule)| Rule { id: format!("r{number}"), ..rule }).collect();
        let one = verdict(&rules, event.clone(), false);
        rules.reverse();
        let other = verdict(&rules, event, false);
        prop_assert_eq!(one.level, other.level);
        prop_assert_eq!(one.approved, other.approved);
    }
}

/// Removes the clauses from the findings, because a finding lists more clauses if all clauses were evaluated.
fn without_clauses(mut verdict: Verdict) -> Verdict {
    for finding in &mut verdict.findings {
        finding.because.clear();
    }
    verdict
}
