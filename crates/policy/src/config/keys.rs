//! The keys of `config.yml`.

use super::nested_rules::NESTED_RULES;
use super::{JournalMode, PolicyMode, Sandbox};
use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, Mapping, ValueType, choice_names};

pub const JOURNALS: [(&str, JournalMode); 2] = [("lean", JournalMode::Lean), ("full", JournalMode::Full)];
pub const MODES: [(&str, PolicyMode); 2] =
    [(PolicyMode::Enforce.name(), PolicyMode::Enforce), (PolicyMode::Observe.name(), PolicyMode::Observe)];
pub const SANDBOXES: [(&str, Sandbox); 3] =
    [("off", Sandbox::Off), ("repo", Sandbox::Repo), ("require", Sandbox::Require)];
/// The workflow and variable commands that agents may run by default.
pub const DEFAULT_AGENT_MAY: [&str; 4] = ["next", "continue", "repeat", "status"];
/// All workflow and variable commands that `agent_may` can allow.
pub const AGENT_COMMANDS: [&str; 9] =
    ["next", "continue", "repeat", "status", "set", "start", "prev", "restart", "abort"];

pub static CONFIG: Mapping = Mapping::new(
    "config",
    "Linchpin's settings for one project, or for all projects of a user. Every key is optional.",
    &[KEYS],
);

static KEYS: &[Key] = &[
    Key::new(
        "agent_may",
        ValueType::Choices(|| AGENT_COMMANDS.to_vec()),
        "the commands for workflows and variables that an agent may run; a project may remove commands, and needs \
         `linchpin trust` to add some",
    )
    .with_default("[next, continue, repeat, status]"),
    Key::new("check_rules", ValueType::Texts, "names of rules to put in force; the same as under `rules`")
        .with_default("[]"),
    Key::new(
        "command_env",
        ValueType::Texts,
        "names of additional environment variables that commands of rules and gates get; in a project, needs \
         `linchpin trust`",
    )
    .with_default("[]"),
    Key::new(
        "default_branch",
        ValueType::Text,
        "the default branch, for `git.default_branch`; if left out, it is detected",
    ),
    Key::new("deadline", ValueType::Duration, "the time limit for a verdict, `50ms` to `20s`").with_default("2s"),
    Key::new(
        "enabled",
        ValueType::Boolean,
        "`false` switches off every rule except those that protect Linchpin itself; in a project, needs `linchpin \
         trust`",
    )
    .with_default("true"),
    Key::new("imports", ValueType::Texts, "names of rule libraries whose rules may be named under `rules`")
        .with_default("[]"),
    Key::new(
        "journal",
        ValueType::Choice(|| choice_names(&JOURNALS)),
        "`full` stores complete events, with secrets masked",
    )
    .with_default("lean"),
    Key::new(
        "max_holds",
        ValueType::Integer,
        "how often a rule of the same tier may hold a stop within one turn, or, with `live: block`, refuse a call \
         within one phase; by default 3",
    ),
    Key::new(
        "mode",
        ValueType::Choice(|| choice_names(&MODES)),
        "with `observe`, every verdict is recorded, but nothing is refused; in a project, needs `linchpin trust`",
    )
    .with_default("enforce"),
    Key::new("observers", ValueType::List(&OBSERVER), "observers, which set variables on events").with_default("[]"),
    Key::new(
        "output_limit",
        ValueType::Size,
        "the maximum size of the reasons that an agent is shown at once, `1 KiB` to `64 KiB`; of the rest, only the \
         number is shown",
    )
    .with_default("8 KiB"),
    Key::new(
        "progress_command",
        ValueType::Text,
        "a program that gets the texts of `linchpin progress` in a run on its stdin; in a project, needs `linchpin \
         trust`",
    ),
    Key::new(
        "protected_branches",
        ValueType::Texts,
        "the branches that must not be rewritten; by default `default_branch`, or else `main` and `master`",
    ),
    Key::new("requires_version", ValueType::Version, "the oldest Linchpin version that supports this policy"),
    Key::new("retention", ValueType::Duration, "how long `linchpin log prune` keeps the journal").with_default("90d"),
    Key::new(
        "rule_definitions",
        ValueType::Named(&ValueType::Mapping(&ENTRY)),
        "rules by name; they are in force if `rules` names them",
    )
    .with_default("{}"),
    Key::new(
        "rules",
        ValueType::Either(&[
            ValueType::List(&ValueType::Either(&[ValueType::Text, ValueType::Mapping(&ENTRY)])),
            ValueType::Mapping(&NESTED_RULES),
        ]),
        "rules to put in force: names of bundled rules, of library rules or of `rule_definitions`, and inline \
         rules; Markdown rules are in force without being named",
    )
    .with_default("[]"),
    Key::new(
        "rules_dir",
        ValueType::Text,
        "the folder of a project's rules, relative to the project root; by default `.linchpin/rules`",
    ),
    Key::new(
        "sandbox",
        ValueType::Choice(|| choice_names(&SANDBOXES)),
        "where commands of rules may write: `repo`, only in the repository and in caches, if the system supports a \
         sandbox; `require`, the same, but commands do not run without a sandbox; `off`, anywhere; in a project, \
         `off` needs `linchpin trust`",
    )
    .with_default("repo"),
    Key::new(
        "tool_rules",
        ValueType::List(&ValueType::Mapping(&ENTRY)),
        "tool rules to put in force; the same as under `rules`",
    )
    .with_default("[]"),
    Key::new(
        "triggers",
        ValueType::Named(&ValueType::List(&ValueType::Mapping(&ACTION))),
        "actions by event name, as in a workflow, but always active",
    )
    .with_default("{}"),
    Key::new(
        "variables",
        ValueType::Named(&ValueType::Anything),
        "names and initial values of variables for expressions",
    )
    .with_default("{}"),
];
