//! The keys of a workflow's file.

use crate::actions::ACTION;
use crate::observers::OBSERVER;
use crate::rule::ENTRY;
use crate::text::keys::{Key, Mapping, Need, Takes};

pub static WORKFLOW: Mapping = Mapping::new(
    "workflow",
    "Phases of work, the ways between them, and what holds in each. The file's name is the workflow's.",
    &[KEYS, RULE_LISTS],
)
.needs(&[Need::All(&["nodes", "start_node"])]);
pub static NODE: Mapping =
    Mapping::new("node", "One phase: `done` and `aborted` are there without being declared.", &[NODE_KEYS, RULE_LISTS]);
pub static TRANSITION: Mapping =
    Mapping::new("transition", "A way out of a node.", &[TRANSITION_KEYS]).needs(&[Need::All(&["when", "to"])]);
pub static GATE: Mapping =
    Mapping::new("gate", "What has to hold before a move: one of these.", &[GATE_KEYS]).needs(&[
        Need::ExactlyOne(&[&["command"], &["shell"], &["approval"], &["webhook"], &["file_rules"]]),
        Need::Beside("timeout", &["command", "shell"]),
        Need::Beside("protect", &["command", "shell"]),
    ]);
pub static OLD_GATE: Mapping =
    Mapping::new("old gate", "How gates were once written: still read, with a warning.", &[OLD_GATE_KEYS])
        .needs(&[Need::All(&["type"])]);
pub static WEBHOOK: Mapping =
    Mapping::new("webhook", "A question to another machine; a project's has to be accepted.", &[WEBHOOK_KEYS])
        .needs(&[Need::All(&["url"])]);
pub static EXPECT: Mapping = Mapping::new("expect", "The answer that lets a move through.", &[EXPECT_KEYS]);

static KEYS: &[Key] = &[
    Key::new("claims", Takes::Texts, "what may be claimed beside the `<node>_complete` that every node has").or("[]"),
    Key::new("gates", Takes::Named(&ANY_GATE), "gates by name, for `requires`").or("{}"),
    Key::new("imports", Takes::Texts, "names of rule libraries whose rules can be named under `rules`").or("[]"),
    Key::new("mode", Takes::Text, "the workflow's name once more"),
    Key::new("nodes", Takes::Named(&Takes::Mapping(&NODE)), "the phases by name"),
    Key::new("observers", Takes::List(&OBSERVER), "what turns events into variables while the workflow is active")
        .or("[]"),
    Key::new(
        "rule_definitions",
        Takes::Named(&Takes::Mapping(&ENTRY)),
        "rules by name, in force where a `rules` of this file names them",
    )
    .or("{}"),
    Key::new("start_node", Takes::Text, "the node that it begins with"),
    Key::new(
        "triggers",
        Takes::Named(&Takes::List(&Takes::Mapping(&ACTION))),
        "what is done when an event comes, by the event's name",
    )
    .or("{}"),
    Key::new("variables", Takes::Named(&Takes::Anything), "names and first values that expressions here may use")
        .or("{}"),
];
/// Of a workflow: in force while it is active. Of a node: while it is current.
pub static RULE_LISTS: &[Key] = &[
    Key::new("check_rules", Takes::Texts, "names of rules; the same as under `rules`").or("[]"),
    Key::new(
        "rules",
        Takes::List(&Takes::Either(&[Takes::Text, Takes::Mapping(&ENTRY)])),
        "rules in force here: names, and rules written there",
    )
    .or("[]"),
    Key::new("tool_rules", Takes::List(&Takes::Mapping(&ENTRY)), "rules about tool calls; the same as under `rules`")
        .or("[]"),
];
static NODE_KEYS: &[Key] = &[
    Key::new(
        "allowed_mcp_tools",
        Takes::Globs,
        "the only MCP tools, `server:tool`, that may be called here; other tools are not meant",
    ),
    Key::new(
        "allowed_tools",
        Takes::Globs,
        "the only tools that may be called here; MCP tools are not meant, reading and Linchpin's own commands always pass",
    ),
    Key::new("blocked_commands", Takes::Regexes, "commands that may not run here, as `command_pattern` finds them"),
    Key::new("blocked_mcp_tools", Takes::Globs, "MCP tools, `server:tool`, that may not be called here"),
    Key::new(
        "blocked_tools",
        Takes::Globs,
        "tools that may not be called here; reading and Linchpin's own commands always pass",
    ),
    Key::new("exit_conditions", Takes::List(&ANY_GATE), "the same as `requires`").or("[]"),
    Key::new("exit_when", Takes::Expression, "an expression; the same as under `requires`"),
    Key::new("on_enter", Takes::List(&Takes::Mapping(&ACTION)), "what is done when the node is entered").or("[]"),
    Key::new("on_exit", Takes::List(&Takes::Mapping(&ACTION)), "what is done when the node is left").or("[]"),
    Key::new("prompt", Takes::Text, "what the agent reads: a text with `{{ }}`, and guides by `{{ guide('NAME') }}`"),
    Key::new("requires", Takes::List(&ANY_GATE), "what has to hold before the node is left").or("[]"),
    Key::new(
        "transitions",
        Takes::List(&Takes::Mapping(&TRANSITION)),
        "the ways out; the first whose `when` is true is taken",
    )
    .or("[]"),
];
static TRANSITION_KEYS: &[Key] = &[
    Key::new("requires", Takes::List(&ANY_GATE), "what has to hold for this way, beside what the node requires")
        .or("[]"),
    Key::new("to", Takes::Text, "the node that it leads to"),
    Key::new("when", Takes::Expression, "what must be true, a claim for example"),
];
/// A text is an expression, or the name of a gate.
pub static ANY_GATE: Takes = Takes::Either(&[Takes::Text, Takes::Mapping(&GATE), Takes::Mapping(&OLD_GATE)]);
static GATE_KEYS: &[Key] = &[
    Key::new("approval", Takes::Text, "what a person has to say yes to"),
    Key::new(
        "command",
        Takes::Texts,
        "a program and its arguments, as one text or a list, without a shell: its exit code has to be 0; a project's has to be \
         accepted",
    ),
    Key::new("file_rules", Takes::Texts, "names of file rules that have to be met"),
    Key::new(
        "protect",
        Takes::Flag,
        "in a run of the loop: agents may not change the files of the repository that the command or the script names",
    )
    .or("true"),
    Key::new("shell", Takes::Text, "a script for `sh -c`: its exit code has to be 0; a project's has to be accepted"),
    Key::new("timeout", Takes::Duration, "how long the command or the script may take, at most `1h`").or("10m"),
    Key::new("webhook", Takes::Mapping(&WEBHOOK), "who has to say yes"),
];
static WEBHOOK_KEYS: &[Key] = &[
    Key::new("expect", Takes::Mapping(&EXPECT), "what it has to answer"),
    Key::new(
        "headers",
        Takes::Named(&Takes::Text),
        "headers to send; `env:NAME` stands for that environment variable's value",
    )
    .or("{}"),
    Key::new("method", Takes::Word(|| METHODS.to_vec()), "how it is asked").or("POST"),
    Key::new("url", Takes::Text, "where; `https://`, or `http://` on this machine"),
];
pub const METHODS: [&str; 3] = ["POST", "PUT", "GET"];
static EXPECT_KEYS: &[Key] = &[
    Key::new("json", Takes::Anything, "what the answer has to hold at least"),
    Key::new("status", Takes::Count, "the status code").or("200"),
];
static OLD_GATE_KEYS: &[Key] = &[
    Key::new("expression", Takes::Expression, "of an `expression`: what must be true"),
    Key::new("headers", Takes::Named(&Takes::Text), "of a `webhook`: as there"),
    Key::new("method", Takes::Word(|| METHODS.to_vec()), "of a `webhook`: as there"),
    Key::new("prompt", Takes::Text, "of a `user_approval`: what a person has to say yes to"),
    Key::new("type", Takes::Word(|| OLD_GATES.to_vec()), "what it is"),
    Key::new("url", Takes::Text, "of a `webhook`: as there"),
    Key::new("value", Takes::Anything, "of a `variable_set`: what the variable has to be; left out, anything true"),
    Key::new("variable", Takes::Text, "of a `variable_set`: its name"),
];
pub const OLD_GATES: [&str; 4] = ["variable_set", "expression", "user_approval", "webhook"];
