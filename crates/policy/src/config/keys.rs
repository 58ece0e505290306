//! The keys of `config.yml`.

use super::nested_rules::NESTED_RULES;
use super::{JournalMode, PolicyMode, Sandbox};
use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, Mapping, ValueType, words};

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
    "Linchpin's settings for a project, or for all of a user's. Every key is optional.",
    &[KEYS],
);

static KEYS: &[Key] = &[
    Key::new("agent_may", ValueType::Choices(|| AGENT_COMMANDS.to_vec()), "the commands for workflows and variables that an agent may run by itself; a project takes away as it likes, and what it adds has to be accepted with `linchpin trust`")
        .or("[next, continue, repeat, status]"),
    Key::new("check_rules", ValueType::Texts, "names of rules in force; the same as under `rules`").or("[]"),
    Key::new(
        "command_env",
        ValueType::Texts,
        "names of environment variables that commands of rules and gates get beside the usual ones; a project's has to \
         be accepted with `linchpin trust`",
    )
    .or("[]"),
    Key::new("default_branch", ValueType::Text, "what `git.default_branch` says; left out, it is found"),
    Key::new("deadline", ValueType::Duration, "how long judging may take, `50ms` to `20s`").or("2s"),
    Key::new(
        "enabled",
        ValueType::Flag,
        "`false` switches every rule off but those that protect the guard itself; a project's has to be accepted with \
         `linchpin trust`",
    )
    .or("true"),
    Key::new("imports", ValueType::Texts, "names of rule libraries whose rules can be named under `rules`").or("[]"),
    Key::new("journal", ValueType::Word(|| words(&JOURNALS)), "`full` stores whole events, secrets masked").or("lean"),
    Key::new(
        "max_holds",
        ValueType::Count,
        "how often a rule of the same tier may hold a stop within one turn, or with `live: block` refuse a call within one \
         phase; left out, 3",
    ),
    Key::new(
        "mode",
        ValueType::Word(|| words(&MODES)),
        "`observe`: everything is judged and recorded, nothing is stopped; a project's has to be accepted with \
         `linchpin trust`",
    )
    .or("enforce"),
    Key::new("observers", ValueType::List(&OBSERVER), "what turns events into variables").or("[]"),
    Key::new(
        "output_limit",
        ValueType::Size,
        "how much of its reasons an agent is shown at once, `1 KiB` to `64 KiB`; the rest is counted",
    )
    .or("8 KiB"),
    Key::new(
        "progress_command",
        ValueType::Text,
        "a program that gets what `linchpin progress` says in a run, on its standard input; a project's \
         has to be accepted with `linchpin trust`",
    ),
    Key::new(
        "protected_branches",
        ValueType::Texts,
        "the branches that nobody rewrites; left out, `default_branch`, or `main` and `master`",
    ),
    Key::new("requires_version", ValueType::Version, "the least Linchpin that understands this policy"),
    Key::new("retention", ValueType::Duration, "what `linchpin log prune` keeps").or("90d"),
    Key::new("rule_definitions", ValueType::Named(&ValueType::Mapping(&ENTRY)), "rules by name, in force where `rules` names them")
        .or("{}"),
    Key::new(
        "rules",
        ValueType::Either(&[
            ValueType::List(&ValueType::Either(&[ValueType::Text, ValueType::Mapping(&ENTRY)])),
            ValueType::Mapping(&NESTED_RULES),
        ]),
        "rules in force: names of bundled rules, of rules of a library or of `rule_definitions`, and rules written \
         there; Markdown rules need no naming",
    )
    .or("[]"),
    Key::new("rules_dir", ValueType::Text, "where a project's rules are, relative to its root; left out, `.linchpin/rules`"),
    Key::new(
        "sandbox",
        ValueType::Word(|| words(&SANDBOXES)),
        "where commands of rules may write: `repo`, in the repository and in caches where the system can see \
         to it; `require`, they do not run where it cannot; `off`, anywhere, which for a project has to be accepted with \
         `linchpin trust`",
    )
    .or("repo"),
    Key::new(
        "tool_rules",
        ValueType::List(&ValueType::Mapping(&ENTRY)),
        "rules in force about tool calls; the same as under `rules`",
    )
    .or("[]"),
    Key::new(
        "triggers",
        ValueType::Named(&ValueType::List(&ValueType::Mapping(&ACTION))),
        "what is done when an event comes, by the event's name; as in a workflow, and always on",
    )
    .or("{}"),
    Key::new("variables", ValueType::Named(&ValueType::Anything), "names and first values that expressions may use").or("{}"),
];
