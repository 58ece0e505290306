//! The keys of an action.

use crate::rule::ENTRY;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType};

pub static ACTION: Mapping = Mapping::new(
    "workflow action",
    "An action that runs when a workflow enters or leaves a node, or on an event. It has exactly one of `set`, \
     `inject`, `block_tools` and `action`.",
    &[ACTION_KEYS],
)
.constraints(&[
    KeyConstraint::OneGroup(&[&["set"], &["inject"], &["block_tools"], &["action"]]),
    KeyConstraint::RequiresAnyOf("rules", &["action"]),
]);

static ACTION_KEYS: &[Key] = &[
    Key::new(
        "action",
        ValueType::Choice(|| vec!["block_tools"]),
        "`block_tools`, with its rules under `rules`; the same as `block_tools: […]`",
    ),
    Key::new(
        "block_tools",
        ValueType::List(&ValueType::Mapping(&ENTRY)),
        "tool rules; under `before_tool` they are in force in the whole workflow, under `on_enter` in the node",
    ),
    Key::new("inject", ValueType::Text, "text for the agent, with `{{ }}` as in a prompt"),
    Key::new("rules", ValueType::List(&ValueType::Mapping(&ENTRY)), "the rules for `action: block_tools`"),
    Key::new("set", ValueType::Named(&ValueType::Anything), "variables and their new values, as in an observer"),
    Key::new("when", ValueType::Expression, "an expression that must be true for the action to run"),
];
