//! The keys of `config.yml`.

use super::nested_rules::NESTED_RULES;
use super::{JournalMode, Mode, Sandbox};
use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, Mapping, Takes, words};

pub const JOURNALS: [(&str, JournalMode); 2] = [("lean", JournalMode::Lean), ("full", JournalMode::Full)];
pub const MODES: [(&str, Mode); 2] = [(Mode::Enforce.name(), Mode::Enforce), (Mode::Observe.name(), Mode::Observe)];
pub const SANDBOXES: [(&str, Sandbox); 3] =
    [("off", Sandbox::Off), ("repo", Sandbox::Repo), ("require", Sandbox::Require)];
/// The moves that an agent may make unless the configuration says otherwise.
pub const AGENT_MAY: [&str; 4] = ["next", "continue", "repeat", "status"];
pub const MOVES: [&str; 9] = ["next", "continue", "repeat", "status", "set", "start", "prev", "restart", "abort"];

pub static CONFIG: Mapping = Mapping::new(
    "config",
    "Linchpin's settings for a project, or for all of a user's. Every key is optional.",
    &[KEYS],
);

static KEYS: &[Key] = &[
    Key::new("agent_may", Takes::Words(|| MOVES.to_vec()), "the commands for workflows and variables that an agent may run by itself; a project takes away as it likes, and what it adds has to be accepted with `linchpin trust`")
        .or("[next, continue, repeat, status]"),
    Key::new("check_rules", Takes::Texts, "names of rules in force; the same as under `rules`").or("[]"),
    Key::new(
        "command_env",
        Takes::Texts,
        "names of environment variables that commands of rules and gates get beside the usual ones; a project's has to \
         be accepted with `linchpin trust`",
    )
    .or("[]"),
    Key::new("default_branch", Takes::Text, "what `git.default_branch` says; left out, it is found"),
    Key::new("deadline", Takes::Duration, "how long judging may take, `50ms` to `20s`").or("2s"),
    Key::new(
        "enabled",
        Takes::Flag,
        "`false` switches every rule off but those that protect the guard itself; a project's has to be accepted with \
         `linchpin trust`",
    )
    .or("true"),
    Key::new("imports", Takes::Texts, "names of rule libraries whose rules can be named under `rules`").or("[]"),
    Key::new("journal", Takes::Word(|| words(&JOURNALS)), "`full` stores whole events, secrets masked").or("lean"),
    Key::new(
        "max_holds",
        Takes::Count,
        "how often a rule of the same tier may hold a stop within one turn, or with `live: block` refuse a call within one \
         phase; left out, 3",
    ),
    Key::new(
        "mode",
        Takes::Word(|| words(&MODES)),
        "`observe`: everything is judged and recorded, nothing is stopped; a project's has to be accepted with \
         `linchpin trust`",
    )
    .or("enforce"),
    Key::new("observers", Takes::List(&OBSERVER), "what turns events into variables").or("[]"),
    Key::new(
        "output_limit",
        Takes::Size,
        "how much of its reasons an agent is shown at once, `1 KiB` to `64 KiB`; the rest is counted",
    )
    .or("8 KiB"),
    Key::new(
        "progress_command",
        Takes::Text,
        "a program that gets what `linchpin progress` says in a run, on its standard input; a project's \
         has to be accepted with `linchpin trust`",
    ),
    Key::new(
        "protected_branches",
        Takes::Texts,
        "the branches that nobody rewrites; left out, `default_branch`, or `main` and `master`",
    ),
    Key::new("requires_version", Takes::Version, "the least Linchpin that understands this policy"),
    Key::new("retention", Takes::Duration, "what `linchpin log prune` keeps").or("90d"),
    Key::new("rule_definitions", Takes::Named(&Takes::Mapping(&ENTRY)), "rules by name, in force where `rules` names them")
        .or("{}"),
    Key::new(
        "rules",
        Takes::Either(&[
            Takes::List(&Takes::Either(&[Takes::Text, Takes::Mapping(&ENTRY)])),
            Takes::Mapping(&NESTED_RULES),
        ]),
        "rules in force: names of bundled rules, of rules of a library or of `rule_definitions`, and rules written \
         there; Markdown rules need no naming",
    )
    .or("[]"),
    Key::new("rules_dir", Takes::Text, "where a project's rules are, relative to its root; left out, `.linchpin/rules`"),
    Key::new(
        "sandbox",
        Takes::Word(|| words(&SANDBOXES)),
        "where commands of rules may write: `repo`, in the repository and in caches where the system can see \
         to it; `require`, they do not run where it cannot; `off`, anywhere, which for a project has to be accepted with \
         `linchpin trust`",
    )
    .or("repo"),
    Key::new(
        "tool_rules",
        Takes::List(&Takes::Mapping(&ENTRY)),
        "rules in force about tool calls; the same as under `rules`",
    )
    .or("[]"),
    Key::new(
        "triggers",
        Takes::Named(&Takes::List(&Takes::Mapping(&ACTION))),
        "what is done when an event comes, by the event's name; as in a workflow, and always on",
    )
    .or("{}"),
    Key::new("variables", Takes::Named(&Takes::Anything), "names and first values that expressions may use").or("{}"),
];
