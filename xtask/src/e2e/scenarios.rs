//! The scenarios that are played with real clients, and the expected results.

use super::agent_kind::AgentKind;
use super::model::Step;

pub(super) struct Scenario {
    pub name: &'static str,
    pub clients: &'static [AgentKind],
    /// Rules of the project: file name and text.
    pub rules: &'static [(&'static str, &'static str)],
    /// The model's steps, one per turn.
    pub script: fn() -> Vec<Step>,
    /// Files that must exist in the project at the end, because a call has created them.
    pub made: &'static [&'static str],
    pub not_made: &'static [&'static str],
    /// Texts that the model must have received by the end.
    pub told: &'static [&'static str],
    /// The expected number of requests to the model.
    pub turns: usize,
    /// Commands that a person runs afterwards and that must succeed. `REFUSED` stands for the number of the first
    /// refused call.
    pub person: &'static [&'static [&'static str]],
}

const ALL: &[AgentKind] =
    &[AgentKind::Claude, AgentKind::Codex, AgentKind::Gemini, AgentKind::Copilot, AgentKind::OpenCode];
/// For scenarios in which the model does something that only this client supports.
const CLAUDE: &[AgentKind] = &[AgentKind::Claude];

pub(super) const NO_FORBIDDEN: (&str, &str) = (
    "no-forbidden.md",
    "---\ntools: [Bash]\ncommand_pattern: \"touch forbidden\"\n---\nForbidden files stay unmade.\n",
);

const SOURCE_AND_TEST: (&str, &str) = (
    "source-and-test.md",
    "---\nset: [\"src/{path}.rs\", \"tests/{path}_test.rs\"]\nmax_holds: 2\n---\nChange the test as well.\n",
);

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "forbidden command",
        clients: ALL,
        rules: &[NO_FORBIDDEN],
        script: || vec![Step::shell("touch forbidden.txt"), Step::say("done")],
        made: &[],
        not_made: &["forbidden.txt"],
        told: &["Forbidden files stay unmade.", "no-forbidden"],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "harmless command",
        clients: ALL,
        rules: &[NO_FORBIDDEN],
        script: || vec![Step::shell("touch harmless.txt"), Step::say("done")],
        made: &["harmless.txt"],
        not_made: &[],
        told: &[],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "forbidden file",
        clients: ALL,
        rules: &[("no-secrets.md", "---\nwrites: [\"secrets/**\"]\n---\nSecrets are written by people.\n")],
        script: || vec![Step::new_file("secrets/key.txt"), Step::new_file("notes.txt"), Step::say("done")],
        made: &["notes.txt"],
        not_made: &["secrets/key.txt"],
        told: &["Secrets are written by people."],
        turns: 3,
        person: &[],
    },
    Scenario {
        name: "held stop",
        clients: ALL,
        rules: &[("not-yet.md", "---\non: stop\naction: block\nmax_holds: 1\n---\nNot yet: say it again.\n")],
        script: || vec![Step::say("done"), Step::say("done again"), Step::say("and again")],
        made: &[],
        not_made: &[],
        told: &["Not yet: say it again."],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "tokens",
        clients: ALL,
        rules: &[
            ("not-yet.md", "---\non: stop\naction: block\nmax_holds: 1\n---\nNot yet: go on.\n"),
            ("thrift.md", "---\ntoken_budget: {max_tokens: 20}\n---\n"),
        ],
        script: || {
            // One client does not report its transcript's path before a stop, and writes the transcript with a delay.
            let more = Step::shell("sleep 2; touch more.txt");
            vec![
                Step::shell("touch some.txt"),
                Step::say("done"),
                more,
                Step::say("done again"),
                Step::say("never said"),
            ]
        },
        made: &["some.txt", "more.txt"],
        not_made: &[],
        told: &["Not yet: go on.", "Token budget exceeded"],
        turns: 4,
        person: &[],
    },
    Scenario {
        name: "file rule that is ignored",
        clients: ALL,
        rules: &[SOURCE_AND_TEST],
        script: || {
            let work = Step::shell("mkdir -p src && echo new > src/a.rs");
            vec![work, Step::say("done"), Step::say("done, really"), Step::say("no"), Step::say("never said")]
        },
        made: &["src/a.rs"],
        not_made: &[],
        told: &["src/a.rs → tests/a_test.rs", "Change the test as well."],
        turns: 4,
        person: &[],
    },
    Scenario {
        name: "file rule that is promised",
        clients: ALL,
        rules: &[SOURCE_AND_TEST],
        script: || {
            let work = Step::shell("mkdir -p src && echo new > src/a.rs");
            vec![
                work,
                Step::say("done"),
                Step::say("Nothing to test. <promise>source-and-test</promise>"),
                Step::say("never said"),
            ]
        },
        made: &["src/a.rs"],
        not_made: &[],
        told: &["src/a.rs → tests/a_test.rs"],
        turns: 3,
        person: &[],
    },
    Scenario {
        name: "command that fails again and again",
        clients: ALL,
        rules: &[(
            "circles.md",
            "---\nrepeated_command: {pattern: 'sh build.sh', threshold: 3, window: 10m}\nlive: block\n---\n",
        )],
        script: || {
            let fail = || Step::shell("sh build.sh");
            vec![
                fail(),
                fail(),
                fail(),
                Step::shell("sh build.sh; touch circled.txt"),
                Step::shell("touch elsewhere.txt"),
                Step::shell("linchpin continue"),
                Step::shell("touch after.txt; sh build.sh"),
                Step::say("done"),
            ]
        },
        made: &["after.txt"],
        not_made: &["circled.txt", "elsewhere.txt"],
        told: &[
            "WORKFLOW INTERRUPT: Repeated Command Detected",
            "sh build.sh executed 3 times in 10m",
            "What these rules count begins again: circles.",
        ],
        turns: 8,
        person: &[],
    },
    Scenario {
        name: "huge command",
        clients: ALL,
        rules: &[NO_FORBIDDEN],
        script: || vec![Step::shell(format!(": {}; touch forbidden.txt", "x".repeat(100_000))), Step::say("done")],
        made: &[],
        not_made: &["forbidden.txt"],
        told: &["Linchpin"],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "rule that never ends",
        clients: ALL,
        rules: &[(
            "bomb.md",
            "---\ntools: [Bash]\ncommand_pattern: \"touch (?=a)(a+a+)+(?!a)b\"\n---\nNot such names.\n",
        )],
        script: || vec![Step::shell("touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"), Step::say("done")],
        made: &[],
        not_made: &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"],
        told: &["bomb"],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "deep payload",
        clients: CLAUDE,
        rules: &[NO_FORBIDDEN],
        script: || vec![Step::deep_call(5_000), Step::say("done")],
        made: &[],
        not_made: &[],
        // A person would be asked, but a headless Claude Code refuses instead.
        told: &["Approval required by Linchpin", "\"is_error\":true"],
        turns: 2,
        person: &[],
    },
    Scenario {
        name: "guard itself",
        clients: ALL,
        rules: &[NO_FORBIDDEN],
        script: || {
            let attempts = [
                "sed -i s/touch/xxx/ .linchpin/rules/no-forbidden.md; touch edited.txt",
                "linchpin rules disable no-forbidden; touch disabled.txt",
                "linchpin allow 1 --yes; touch allowed.txt",
                "linchpin trust --yes; touch trusted.txt",
                "linchpin pause 1h --reason later; touch paused.txt",
                "env -u CLAUDECODE -u AI_AGENT -u CODEX_THREAD_ID linchpin trust --yes; touch unset.txt",
                "unset CLAUDECODE AI_AGENT CODEX_THREAD_ID; linchpin rules delete no-forbidden; touch deleted.txt",
                "LINCHPIN_ROOT=/tmp linchpin init; touch moved.txt",
                "mkdir -p sub/.linchpin/rules && touch nested.txt",
                "rm -rf .linchpin && touch removed.txt",
                // The rules stay in force in every directory.
                "cd / && touch forbidden.txt",
                "touch forbidden.txt",
            ];
            let steps = attempts.into_iter().map(Step::shell);
            let edit = Step::new_file(".linchpin/rules/no-forbidden.md");
            std::iter::once(edit).chain(steps).chain([Step::say("done")]).collect()
        },
        made: &[],
        not_made: &[
            "edited.txt",
            "disabled.txt",
            "allowed.txt",
            "trusted.txt",
            "paused.txt",
            "unset.txt",
            "deleted.txt",
            "moved.txt",
            "nested.txt",
            "removed.txt",
            "forbidden.txt",
            "sub/.linchpin",
        ],
        told: &["protect-guardrails", "people-only-commands", "no-forbidden"],
        turns: 14,
        person: &[
            &["allow", "REFUSED", "--yes"],
            &["pause", "1h", "--reason", "a person may"],
            &["resume"],
            &["rules", "disable", "no-forbidden"],
            &["rules", "enable", "no-forbidden"],
            &["rules", "delete", "no-forbidden"],
            &["trust", "--yes"],
        ],
    },
];
