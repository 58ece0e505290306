//! Tests the values that result from reading workflow files. Diagnostics are tested elsewhere.

use std::fs;
use std::path::Path;

use engine::rules::{Rule, Tier};
use engine::workflow::{ActionKind, Gate, Workflow};

use super::bundled::{BundledWorkflow, WORKFLOWS};
use super::{Workflows, read_all};
use crate::actions::{BundledGuide, GUIDES};
use crate::files::folder::{PolicyFolder, PolicyFolders};
use crate::load::{LastGoodPolicy, load};

/// A minimal workflow, with additional lines at its top level and in its only node.
fn minimal_workflow(top: &str, node: &str) -> String {
    format!(
        "{top}\nstart_node: work\nnodes:\n  work:\n    prompt: Work.\n    transitions: [{{when: work_complete, to: done}}]\n{node}\n"
    )
}

/// A directory with the policies of a project and of a user.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().expect("a directory"));
        scratch.file("project/.linchpin/config.yml", "").file("user/config.yml", "");
        scratch
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
        self
    }

    fn read(&self, workflows: &[BundledWorkflow], guides: &[BundledGuide]) -> Workflows {
        let tiers = PolicyFolders {
            project: Some(PolicyFolder::of_project(&self.0.path().join("project"))),
            user: Some(PolicyFolder::of_user(&self.0.path().join("user"))),
        };
        let loaded = load(&tiers, &LastGoodPolicy::default(), |_| true);
        assert_eq!(loaded.errors().count(), 0, "{:?}", loaded.diagnostics);
        read_all(&tiers, &loaded, workflows, guides)
    }
}

/// The one workflow of a project.
fn workflow(text: &str) -> Workflow {
    let scratch = Scratch::new();
    scratch.file("project/.linchpin/workflows/one.yml", text);
    valid_workflow(scratch.read(&[], &[]), "one")
}

fn valid_workflow(workflows: Workflows, name: &str) -> Workflow {
    let lines: Vec<String> = workflows.diagnostics.iter().map(crate::Diagnostic::line).collect();
    assert!(workflows.errors().count() == 0, "{lines:#?}");
    let file = workflows.files.into_iter().find(|file| file.name == name).expect("a file");
    file.workflow.expect("a workflow")
}

/// The rules without digests, which depend on the surrounding text.
fn without_digests(rules: &[Rule]) -> Vec<Rule> {
    rules.iter().cloned().map(|rule| Rule { digest: String::new(), ..rule }).collect()
}

fn ids(rules: &[Rule]) -> Vec<&str> {
    rules.iter().map(|rule| rule.id.as_str()).collect()
}

#[test]
fn tool_rules_are_blocked_tools_before_a_tool() {
    let rules =
        "[{tools: [WebFetch], reason: Not now.}, {tools: [Bash], command_pattern: '^make', when: 'True', reason: No.}]";
    let by_rules = workflow(&minimal_workflow(&format!("rules: {rules}"), ""));
    let by_tool_rules = workflow(&minimal_workflow(&format!("tool_rules: {rules}"), ""));
    let by_trigger = workflow(&minimal_workflow(&format!("triggers: {{before_tool: [{{block_tools: {rules}}}]}}"), ""));
    assert_eq!(by_rules.rules.len(), 2);
    assert_eq!(without_digests(&by_rules.rules), without_digests(&by_tool_rules.rules));
    assert_eq!(without_digests(&by_tool_rules.rules), without_digests(&by_trigger.rules));
    assert!(by_trigger.triggers.is_empty());

    let node = |lists: &str| workflow(&minimal_workflow("", &format!("    {lists}"))).nodes.remove(0).rules;
    let by_tool_rules = node(&format!("tool_rules: {rules}"));
    assert_eq!(ids(&by_tool_rules), ["one/work/1", "one/work/2"]);
    assert_eq!(without_digests(&by_tool_rules), without_digests(&node(&format!("rules: {rules}"))));
    let on_entering = node(&format!("on_enter: [{{block_tools: {rules}}}]"));
    assert_eq!(without_digests(&by_tool_rules), without_digests(&on_entering));
}

#[test]
fn conditions_of_a_trigger_and_its_rule_are_joined() {
    let trigger = "triggers: {before_tool: [{block_tools: [{tools: [Bash], when: 'not a', reason: No.}, {tools: [Task], reason: No.}], when: 'a or b'}]}";
    let workflow = workflow(&minimal_workflow(&format!("variables: {{a: 1, b: 2}}\n{trigger}"), ""));
    let conditions: Vec<Option<&str>> = workflow.rules.iter().map(|rule| rule.when.as_deref()).collect();
    assert_eq!(conditions, [Some("(a or b) and (not a)"), Some("a or b")]);
}

#[test]
fn a_name_refers_to_the_rule_of_the_latest_tier() {
    let rule = |reason: &str| format!("{{tools: [Bash], reason: {reason}}}");
    let scratch = Scratch::new();
    scratch.file("user/rules/people.yml", format!("shared: {}\nusers: {}\n", rule("user"), rule("user")));
    scratch.file("project/.linchpin/rules/first.yml", format!("both: {}\nshared: {}\n", rule("first"), rule("first")));
    scratch.file("project/.linchpin/rules/second.md", format!("---\n{}\n---\nx\n", "tools: [Bash]"));
    scratch.file(
        "project/.linchpin/workflows/one.yml",
        minimal_workflow(
            &format!("rule_definitions: {{own: {}, both: {}}}", rule("own"), rule("own")),
            "    rules: [own, both, shared, users, second, hard-reset, own]\n",
        ),
    );
    let workflow = valid_workflow(scratch.read(&[], &[]), "one");
    let rules: Vec<(&str, &str)> =
        workflow.nodes[0].rules.iter().map(|rule| (rule.id.as_str(), rule.reason.as_str())).collect();
    assert_eq!(
        rules[..5],
        [("one/own", "own"), ("one/both", "own"), ("shared", "first"), ("users", "user"), ("second", "x")]
    );
    assert_eq!(rules[5].0, "hard-reset");
    assert_eq!(rules.len(), 6, "a rule that is named twice is in force once");
}

#[test]
fn of_two_imports_the_later_wins() {
    let library = |reason: &str| format!("shared: {{tools: [Bash], reason: {reason}}}\n");
    let scratch = Scratch::new();
    scratch.file("user/rules/first.yml", library("first"));
    scratch.file("project/.linchpin/rules/second.yml", library("second"));
    for (imports, expected) in [("[second, first]", "first"), ("[first, second]", "second")] {
        let text = minimal_workflow(&format!("imports: {imports}"), "    check_rules: shared");
        scratch.file("project/.linchpin/workflows/one.yml", text);
        assert_eq!(valid_workflow(scratch.read(&[], &[]), "one").nodes[0].rules[0].reason, expected);
    }
}

#[test]
fn other_spellings_of_requires_are_equivalent() {
    let node = |lists: &str| {
        workflow(&minimal_workflow("variables: {a: 1}", &format!("    {lists}"))).nodes.remove(0).requires
    };
    assert_eq!(node("requires: [a, a == 1, {approval: Yes}]"), node("exit_conditions: [a, a == 1, {approval: Yes}]"));
    assert_eq!(node("requires: [a]"), node("exit_when: a"));
    let old = "exit_conditions: [{type: variable_set, variable: a}, {type: variable_set, variable: a, value: 1}, {type: expression, expression: a}, {type: user_approval, prompt: Yes}]";
    assert_eq!(node(old), node("requires: [a, a == 1, a, {approval: Yes}]"));
    let old_webhook = "exit_conditions: [{type: webhook, url: 'https://example.com/x'}]";
    assert_eq!(node(old_webhook), node("requires: [{webhook: {url: 'https://example.com/x', expect: {status: 200}}}]"));
}

#[test]
fn commands_are_words() {
    let node = |gate: &str| {
        workflow(&minimal_workflow("", &format!("    requires: [{gate}]"))).nodes.remove(0).requires.remove(0)
    };
    let Gate::Command { text, words, timeout, .. } = node("{command: \"cargo test 'a b'\", timeout: 90s}").gate else {
        panic!("no command");
    };
    assert_eq!((text.as_str(), timeout.as_secs()), ("cargo test 'a b'", 90));
    assert_eq!(words, ["cargo", "test", "a b"]);
    let Gate::Command { text, words, .. } = node("{command: [cargo, test, a b]}").gate else { panic!("no command") };
    assert_eq!((text.as_str(), words.len()), ("cargo test 'a b'", 3));
}

#[test]
fn actions_of_a_workflow_are_read() {
    let workflow = workflow(&minimal_workflow(
        "variables: {a: 1}\ntriggers: {session_start: [{inject: 'Read {{ a }}.', when: a}], prompt: [{set: {a: '{{ a + 1 }}'}}]}",
        "    on_enter: [{set: {a: null}, when: work_complete}]",
    ));
    let on: Vec<_> = workflow.triggers.iter().map(|trigger| (trigger.on.name(), trigger.actions.len())).collect();
    assert_eq!(on, [("session_start", 1), ("prompt", 1)]);
    let first = workflow.actions_on(engine::EventKind::SessionStart).next().expect("an action");
    assert_eq!((first.when.as_deref(), &first.kind), (Some("a"), &ActionKind::Inject("Read {{ a }}.".to_owned())));
    assert_eq!(workflow.nodes[0].on_enter[0].when.as_deref(), Some("work_complete"));
}

#[test]
fn project_workflows_override_user_and_bundled_ones() {
    let scratch = Scratch::new();
    let text = |guide: &str| minimal_workflow("", "").replace("Work.", &format!("\"{{{{ guide('{guide}') }}}}\""));
    let leaked: &'static str = Box::leak(text("A").into_boxed_str());
    let workflows = [BundledWorkflow { name: "one", text: leaked }, BundledWorkflow { name: "two", text: leaked }];
    let guides = ["A", "B", "C"].map(|name| BundledGuide { name, text: "bundled" });
    scratch.file("project/.linchpin/workflows/one.yml", text("A"));
    scratch.file("user/workflows/one.yml", text("B"));
    scratch.file("user/guides/A.md", "the user's").file("user/guides/B.md", "the user's");
    scratch.file("project/.linchpin/guides/A.md", "the project's, {{ guide('B') }} and {{ guide('C') }}");
    let workflows = scratch.read(&workflows, &guides);
    let tiers: Vec<(&str, Tier)> = workflows.files.iter().map(|file| (file.name.as_str(), file.tier)).collect();
    assert_eq!(tiers, [("one", Tier::Project), ("one", Tier::User), ("one", Tier::Bundled), ("two", Tier::Bundled)]);
    let guides_of = |file: &super::WorkflowFile| {
        let guides = file.workflow.as_ref().expect("a valid workflow").guides.iter();
        guides.map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        workflows.files.iter().map(guides_of).collect::<Vec<_>>(),
        [
            "A: the project's, {{ guide('B') }} and {{ guide('C') }}; B: the user's; C: bundled",
            "B: the user's",
            "A: bundled",
            "A: bundled",
        ]
    );
    assert_eq!(workflows.named("one").expect("one").tier, Tier::Project);
    assert!(
        workflows.inputs.includes(&scratch.0.path().join("project/.linchpin/guides/C.md")),
        "the file may be created later"
    );
}

#[test]
fn every_bundled_file_is_listed_and_valid() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bundled_workflows");
    let stems = |directory: &Path, extension: &str| {
        let files = crate::files::reading::files_with_extension(directory, extension).expect("a directory");
        files.iter().map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let workflows: Vec<&str> = WORKFLOWS.iter().map(|file| file.name).collect();
    assert_eq!(workflows, stems(&directory, "yml"));
    let guides: Vec<&str> = GUIDES.iter().map(|file| file.name).collect();
    assert_eq!(guides, stems(&directory.join("guides"), "md"));
    let workflows = read_all(
        &PolicyFolders::default(),
        &load(&PolicyFolders::default(), &LastGoodPolicy::default(), |_| true),
        WORKFLOWS,
        GUIDES,
    );
    assert_eq!(workflows.diagnostics, []);
}

#[test]
fn tool_lists_become_rules() {
    let lists = "    allowed_tools: [Edit]\n    blocked_tools: [Task]\n    allowed_mcp_tools: ['github:*']\n    blocked_mcp_tools: ['github:merge']\n    blocked_commands: ['^make', '^ninja']\n";
    let node = workflow(&minimal_workflow("", lists)).nodes.remove(0);
    assert_eq!(
        ids(&node.rules),
        [
            "one/work/allowed_tools",
            "one/work/allowed_mcp_tools",
            "one/work/blocked_tools",
            "one/work/blocked_mcp_tools",
            "one/work/blocked_commands/1",
            "one/work/blocked_commands/2",
        ]
    );
    let reasons: Vec<&str> = node.rules.iter().map(|rule| rule.reason.as_str()).collect();
    insta::assert_snapshot!(reasons.join("\n"), @"
    The phase `work` allows only reading and these tools: Edit. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    The phase `work` allows only these MCP tools: github:*. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    The phase `work` does not allow: Task. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    The phase `work` does not allow: github:merge. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    The phase `work` does not allow commands such as: ^make, ^ninja. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    The phase `work` does not allow commands such as: ^make, ^ninja. To see the current phase, run `linchpin status`. Once the phase is done, run `linchpin next`.
    ");
    assert!(
        workflow(&minimal_workflow("", "    blocked_tools: []\n    blocked_mcp_tools: []")).nodes[0].rules.is_empty()
    );
    assert_eq!(workflow(&minimal_workflow("", "    allowed_tools: []")).nodes[0].rules.len(), 1, "none is allowed");
}

/// The digest of a rule, which verdicts contain, depends only on the rule's own text.
#[test]
fn a_rules_digest_depends_on_its_own_text() {
    let text = |other: &str| {
        format!(
            "start_node: a\ntriggers:\n  before_tool:\n    - block_tools:\n        - {{tools: [Task], reason: One.}}\n  prompt: [{{inject: {other}}}]\nnodes:\n  a:\n    prompt: {other}\n    blocked_tools: [Bash]\n    on_enter:\n      - block_tools:\n          - tools: [Bash]\n            reason: Two.\n      - inject: {other}\n    transitions: [{{when: a_complete, to: b}}]\n    rules:\n      - tools: [Bash]\n        reason: Three.\n  b:\n    prompt: {other}\n    transitions: [{{when: b_complete, to: done}}]\n"
        )
    };
    let (before, after) = (workflow(&text("x")), workflow(&text("something else")));
    assert_ne!(before.digest, after.digest);
    assert_eq!(before.rules, after.rules);
    assert_eq!(ids(&before.nodes[0].rules), ["one/a/1", "one/a/blocked_tools", "one/a/2"]);
    assert_eq!(before.nodes[0].rules, after.nodes[0].rules);
}

#[test]
fn an_observer_of_the_user_is_not_added_again() {
    let scratch = Scratch::new();
    scratch.file("user/config.yml", "observers: [{behavior: detect_plan_mode}]\n");
    let text = minimal_workflow(
        "observers: [{behavior: detect_plan_mode}, {behavior: mcp_call_tracking}]",
        "    exit_when: plan_mode",
    );
    scratch.file("project/.linchpin/workflows/one.yml", text);
    let workflow = valid_workflow(scratch.read(&[], &[]), "one");
    let names: Vec<&str> = workflow.observers.iter().map(|observer| observer.name.as_str()).collect();
    assert_eq!(names, ["mcp_call_tracking"]);
}
