//! The keys of a workflow's file.

use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType};

pub static WORKFLOW: Mapping = Mapping::new(
    "workflow",
    "Phases of work, the ways between them, and what holds in each. The file's name is the workflow's.",
    &[KEYS, RULE_LISTS],
)
.constraints(&[KeyConstraint::AllOf(&["nodes", "start_node"])]);
pub static NODE: Mapping =
    Mapping::new("node", "One phase: `done` and `aborted` are there without being declared.", &[NODE_KEYS, RULE_LISTS]);
pub static TRANSITION: Mapping = Mapping::new("transition", "A way out of a node.", &[TRANSITION_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["when", "to"])]);
pub static GATE: Mapping = Mapping::new("gate", "What has to hold before a move: one of these.", &[GATE_KEYS])
    .constraints(&[
        KeyConstraint::OneGroup(&[&["command"], &["shell"], &["approval"], &["webhook"], &["file_rules"]]),
        KeyConstraint::RequiresAnyOf("timeout", &["command", "shell"]),
        KeyConstraint::RequiresAnyOf("protect", &["command", "shell"]),
    ]);
pub static OLD_GATE: Mapping =
    Mapping::new("old gate", "How gates were once written: still read, with a warning.", &[OLD_GATE_KEYS])
        .constraints(&[KeyConstraint::AllOf(&["type"])]);
pub static WEBHOOK: Mapping =
    Mapping::new("webhook", "A question to another machine; a project's has to be accepted.", &[WEBHOOK_KEYS])
        .constraints(&[KeyConstraint::AllOf(&["url"])]);
pub static EXPECT: Mapping = Mapping::new("expect", "The answer that lets a move through.", &[EXPECT_KEYS]);

static KEYS: &[Key] = &[
    Key::new("claims", ValueType::Texts, "what may be claimed beside the `<node>_complete` that every node has")
        .or("[]"),
    Key::new("gates", ValueType::Named(&ANY_GATE), "gates by name, for `requires`").or("{}"),
    Key::new("imports", ValueType::Texts, "names of rule libraries whose rules can be named under `rules`").or("[]"),
    Key::new("mode", ValueType::Text, "the workflow's name once more"),
    Key::new("nodes", ValueType::Named(&ValueType::Mapping(&NODE)), "the phases by name"),
    Key::new("observers", ValueType::List(&OBSERVER), "what turns events into variables while the workflow is active")
        .or("[]"),
    Key::new(
        "rule_definitions",
        ValueType::Named(&ValueType::Mapping(&ENTRY)),
        "rules by name, in force where a `rules` of this file names them",
    )
    .or("{}"),
    Key::new("start_node", ValueType::Text, "the node that it begins with"),
    Key::new(
        "triggers",
        ValueType::Named(&ValueType::List(&ValueType::Mapping(&ACTION))),
        "what is done when an event comes, by the event's name",
    )
    .or("{}"),
    Key::new(
        "variables",
        ValueType::Named(&ValueType::Anything),
        "names and first values that expressions here may use",
    )
    .or("{}"),
];
/// Rules of a workflow are in force while it is active, and rules of a node while it is the current phase.
pub static RULE_LISTS: &[Key] = &[
    Key::new("check_rules", ValueType::Texts, "names of rules; the same as under `rules`").or("[]"),
    Key::new(
        "rules",
        ValueType::List(&ValueType::Either(&[ValueType::Text, ValueType::Mapping(&ENTRY)])),
        "rules in force here: names, and rules written there",
    )
    .or("[]"),
    Key::new(
        "tool_rules",
        ValueType::List(&ValueType::Mapping(&ENTRY)),
        "rules about tool calls; the same as under `rules`",
    )
    .or("[]"),
];
static NODE_KEYS: &[Key] = &[
    Key::new(
        "allowed_mcp_tools",
        ValueType::Globs,
        "the only MCP tools, `server:tool`, that may be called here; other tools are not meant",
    ),
    Key::new(
        "allowed_tools",
        ValueType::Globs,
        "the only tools that may be called here; MCP tools are not meant, reading and Linchpin's own commands always pass",
    ),
    Key::new("blocked_commands", ValueType::Regexes, "commands that may not run here, as `command_pattern` finds them"),
    Key::new("blocked_mcp_tools", ValueType::Globs, "MCP tools, `server:tool`, that may not be called here"),
    Key::new(
        "blocked_tools",
        ValueType::Globs,
        "tools that may not be called here; reading and Linchpin's own commands always pass",
    ),
    Key::new("exit_conditions", ValueType::List(&ANY_GATE), "the same as `requires`").or("[]"),
    Key::new("exit_when", ValueType::Expression, "an expression; the same as under `requires`"),
    Key::new("on_enter", ValueType::List(&ValueType::Mapping(&ACTION)), "what is done when the node is entered")
        .or("[]"),
    Key::new("on_exit", ValueType::List(&ValueType::Mapping(&ACTION)), "what is done when the node is left").or("[]"),
    Key::new(
        "prompt",
        ValueType::Text,
        "what the agent reads: a text with `{{ }}`, and guides by `{{ guide('NAME') }}`",
    ),
    Key::new("requires", ValueType::List(&ANY_GATE), "what has to hold before the node is left").or("[]"),
    Key::new(
        "transitions",
        ValueType::List(&ValueType::Mapping(&TRANSITION)),
        "the ways out; the first whose `when` is true is taken",
    )
    .or("[]"),
];
static TRANSITION_KEYS: &[Key] = &[
    Key::new("requires", ValueType::List(&ANY_GATE), "what has to hold for this way, beside what the node requires")
        .or("[]"),
    Key::new("to", ValueType::Text, "the node that it leads to"),
    Key::new("when", ValueType::Expression, "what must be true, a claim for example"),
];
/// A string is an expression, or the name of a gate.
pub static ANY_GATE: ValueType =
    ValueType::Either(&[ValueType::Text, ValueType::Mapping(&GATE), ValueType::Mapping(&OLD_GATE)]);
static GATE_KEYS: &[Key] = &[
    Key::new("approval", ValueType::Text, "what a person has to say yes to"),
    Key::new(
        "command",
        ValueType::Texts,
        "a program and its arguments, as one text or a list, without a shell: its exit code has to be 0; a project's has to be \
         accepted",
    ),
    Key::new("file_rules", ValueType::Texts, "names of file rules that have to be met"),
    Key::new(
        "protect",
        ValueType::Flag,
        "in a run of the loop: agents may not change the files of the repository that the command or the script names",
    )
    .or("true"),
    Key::new(
        "shell",
        ValueType::Text,
        "a script for `sh -c`: its exit code has to be 0; a project's has to be accepted",
    ),
    Key::new("timeout", ValueType::Duration, "how long the command or the script may take, at most `1h`").or("10m"),
    Key::new("webhook", ValueType::Mapping(&WEBHOOK), "who has to say yes"),
];
static WEBHOOK_KEYS: &[Key] = &[
    Key::new("expect", ValueType::Mapping(&EXPECT), "what it has to answer"),
    Key::new(
        "headers",
        ValueType::Named(&ValueType::Text),
        "headers to send; `env:NAME` stands for that environment variable's value",
    )
    .or("{}"),
    Key::new("method", ValueType::Word(|| METHODS.to_vec()), "how it is asked").or("POST"),
    Key::new("url", ValueType::Text, "where; `https://`, or `http://` on this machine"),
];
pub const METHODS: [&str; 3] = ["POST", "PUT", "GET"];
static EXPECT_KEYS: &[Key] = &[
    Key::new("json", ValueType::Anything, "what the answer has to hold at least"),
    Key::new("status", ValueType::Count, "the status code").or("200"),
];
static OLD_GATE_KEYS: &[Key] = &[
    Key::new("expression", ValueType::Expression, "of an `expression`: what must be true"),
    Key::new("headers", ValueType::Named(&ValueType::Text), "of a `webhook`: as there"),
    Key::new("method", ValueType::Word(|| METHODS.to_vec()), "of a `webhook`: as there"),
    Key::new("prompt", ValueType::Text, "of a `user_approval`: what a person has to say yes to"),
    Key::new("type", ValueType::Word(|| OLD_GATES.to_vec()), "what it is"),
    Key::new("url", ValueType::Text, "of a `webhook`: as there"),
    Key::new("value", ValueType::Anything, "of a `variable_set`: what the variable has to be; left out, anything true"),
    Key::new("variable", ValueType::Text, "of a `variable_set`: its name"),
];
pub const OLD_GATES: [&str; 4] = ["variable_set", "expression", "user_approval", "webhook"];
