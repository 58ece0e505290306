//! The keys of a workflow's file.

use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType};

pub static WORKFLOW: Mapping = Mapping::new(
    "workflow",
    "A workflow: its nodes, the transitions between them, and the rules of each. It is named after its file.",
    &[KEYS, RULE_LISTS],
)
.constraints(&[KeyConstraint::AllOf(&["nodes", "start_node"])]);
pub static NODE: Mapping =
    Mapping::new("node", "One node. `done` and `aborted` exist without being declared.", &[NODE_KEYS, RULE_LISTS]);
pub static TRANSITION: Mapping = Mapping::new("transition", "A transition to another node.", &[TRANSITION_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["when", "to"])]);
pub static GATE: Mapping = Mapping::new(
    "gate",
    "A condition that must hold before a move. It has exactly one of `command`, `shell`, `approval`, `webhook` and \
     `file_rules`.",
    &[GATE_KEYS],
)
.constraints(&[
    KeyConstraint::OneGroup(&[&["command"], &["shell"], &["approval"], &["webhook"], &["file_rules"]]),
    KeyConstraint::RequiresAnyOf("timeout", &["command", "shell"]),
    KeyConstraint::RequiresAnyOf("protect", &["command", "shell"]),
]);
pub static OLD_GATE: Mapping =
    Mapping::new("old gate", "The old syntax of gates: still accepted, with a warning.", &[OLD_GATE_KEYS])
        .constraints(&[KeyConstraint::AllOf(&["type"])]);
pub static WEBHOOK: Mapping =
    Mapping::new("webhook", "A request to another machine; in a project, needs `linchpin trust`.", &[WEBHOOK_KEYS])
        .constraints(&[KeyConstraint::AllOf(&["url"])]);
pub static EXPECT: Mapping = Mapping::new("expect", "The answer that allows the move.", &[EXPECT_KEYS]);

static KEYS: &[Key] = &[
    Key::new("claims", ValueType::Texts, "claims in addition to the `<node>_complete` of every node")
        .with_default("[]"),
    Key::new("gates", ValueType::Named(&ANY_GATE), "gates by name, for use under `requires`").with_default("{}"),
    Key::new("imports", ValueType::Texts, "names of rule libraries whose rules may be named under `rules`")
        .with_default("[]"),
    Key::new("mode", ValueType::Text, "the workflow's name, which must be the file's name"),
    Key::new("nodes", ValueType::Named(&ValueType::Mapping(&NODE)), "the nodes by name"),
    Key::new("observers", ValueType::List(&OBSERVER), "observers that are active while the workflow is")
        .with_default("[]"),
    Key::new(
        "rule_definitions",
        ValueType::Named(&ValueType::Mapping(&ENTRY)),
        "rules by name; they are in force where a `rules` list of this file names them",
    )
    .with_default("{}"),
    Key::new("start_node", ValueType::Text, "the first node"),
    Key::new("triggers", ValueType::Named(&ValueType::List(&ValueType::Mapping(&ACTION))), "actions by event name")
        .with_default("{}"),
    Key::new(
        "variables",
        ValueType::Named(&ValueType::Anything),
        "names and initial values of variables for expressions in this file",
    )
    .with_default("{}"),
];
/// Rules of a workflow are in force while it is active, and rules of a node while it is the current phase.
pub static RULE_LISTS: &[Key] = &[
    Key::new("check_rules", ValueType::Texts, "names of rules; the same as under `rules`").with_default("[]"),
    Key::new(
        "rules",
        ValueType::List(&ValueType::Either(&[ValueType::Text, ValueType::Mapping(&ENTRY)])),
        "rules to put in force here: names, and inline rules",
    )
    .with_default("[]"),
    Key::new("tool_rules", ValueType::List(&ValueType::Mapping(&ENTRY)), "tool rules; the same as under `rules`")
        .with_default("[]"),
];
static NODE_KEYS: &[Key] = &[
    Key::new(
        "allowed_mcp_tools",
        ValueType::Globs,
        "the only MCP tools, `server:tool`, that may be called here; this does not restrict other tools",
    ),
    Key::new(
        "allowed_tools",
        ValueType::Globs,
        "the only tools that may be called here; this does not restrict MCP tools, reading, and Linchpin's own \
         commands",
    ),
    Key::new(
        "blocked_commands",
        ValueType::Regexes,
        "commands that may not run here: regexes, as in `command_pattern`",
    ),
    Key::new("blocked_mcp_tools", ValueType::Globs, "MCP tools, `server:tool`, that may not be called here"),
    Key::new(
        "blocked_tools",
        ValueType::Globs,
        "tools that may not be called here; reading and Linchpin's own commands are always allowed",
    ),
    Key::new("exit_conditions", ValueType::List(&ANY_GATE), "the same as `requires`").with_default("[]"),
    Key::new("exit_when", ValueType::Expression, "an expression; the same as under `requires`"),
    Key::new("on_enter", ValueType::List(&ValueType::Mapping(&ACTION)), "actions on entering the node")
        .with_default("[]"),
    Key::new("on_exit", ValueType::List(&ValueType::Mapping(&ACTION)), "actions on leaving the node")
        .with_default("[]"),
    Key::new(
        "prompt",
        ValueType::Text,
        "what the agent reads: text with `{{ }}`, and guides with `{{ guide('NAME') }}`",
    ),
    Key::new("requires", ValueType::List(&ANY_GATE), "gates that must pass before the node is left").with_default("[]"),
    Key::new(
        "transitions",
        ValueType::List(&ValueType::Mapping(&TRANSITION)),
        "the transitions to other nodes; the first whose `when` is true is taken",
    )
    .with_default("[]"),
];
static TRANSITION_KEYS: &[Key] = &[
    Key::new(
        "requires",
        ValueType::List(&ANY_GATE),
        "gates that must pass for this transition, in addition to those of the node",
    )
    .with_default("[]"),
    Key::new("to", ValueType::Text, "the next node"),
    Key::new("when", ValueType::Expression, "an expression that must be true, such as a claim"),
];
/// A string is an expression, or the name of a gate.
pub static ANY_GATE: ValueType =
    ValueType::Either(&[ValueType::Text, ValueType::Mapping(&GATE), ValueType::Mapping(&OLD_GATE)]);
static GATE_KEYS: &[Key] = &[
    Key::new("approval", ValueType::Text, "the question that a person must approve"),
    Key::new(
        "command",
        ValueType::Texts,
        "a program and its arguments, as text or a list, without a shell; its exit code must be 0; in a project, \
         needs `linchpin trust`",
    ),
    Key::new("file_rules", ValueType::Texts, "names of file rules that must be met"),
    Key::new(
        "protect",
        ValueType::Boolean,
        "in a run of the loop, agents may not change the files of the repository that the command or the script \
         names",
    )
    .with_default("true"),
    Key::new(
        "shell",
        ValueType::Text,
        "a script for `sh -c`; its exit code must be 0; in a project, needs `linchpin trust`",
    ),
    Key::new("timeout", ValueType::Duration, "the time limit for the command or the script, at most `1h`")
        .with_default("10m"),
    Key::new("webhook", ValueType::Mapping(&WEBHOOK), "an HTTP request that must succeed"),
];
static WEBHOOK_KEYS: &[Key] = &[
    Key::new("expect", ValueType::Mapping(&EXPECT), "the expected answer"),
    Key::new(
        "headers",
        ValueType::Named(&ValueType::Text),
        "headers to send; `env:NAME` stands for the value of that environment variable",
    )
    .with_default("{}"),
    Key::new("method", ValueType::Choice(|| METHODS.to_vec()), "the HTTP method").with_default("POST"),
    Key::new("url", ValueType::Text, "the URL, with `https://`, or with `http://` for this machine"),
];
pub const METHODS: [&str; 3] = ["POST", "PUT", "GET"];
static EXPECT_KEYS: &[Key] = &[
    Key::new("json", ValueType::Anything, "JSON that the answer must contain"),
    Key::new("status", ValueType::Integer, "the HTTP status code").with_default("200"),
];
static OLD_GATE_KEYS: &[Key] = &[
    Key::new("expression", ValueType::Expression, "for `expression`: an expression that must be true"),
    Key::new("headers", ValueType::Named(&ValueType::Text), "for `webhook`: the same as in a webhook"),
    Key::new("method", ValueType::Choice(|| METHODS.to_vec()), "for `webhook`: the same as in a webhook"),
    Key::new("prompt", ValueType::Text, "for `user_approval`: the question that a person must approve"),
    Key::new("type", ValueType::Choice(|| OLD_GATES.to_vec()), "the kind of gate"),
    Key::new("url", ValueType::Text, "for `webhook`: the same as in a webhook"),
    Key::new(
        "value",
        ValueType::Anything,
        "for `variable_set`: the value that the variable must have; by default, any true value",
    ),
    Key::new("variable", ValueType::Text, "for `variable_set`: the name of the variable"),
];
pub const OLD_GATES: [&str; 4] = ["variable_set", "expression", "user_approval", "webhook"];
