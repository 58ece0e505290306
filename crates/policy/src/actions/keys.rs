//! The keys of an action.

use crate::rule::ENTRY;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType};

pub static ACTION: Mapping =
    Mapping::new("workflow action", "What a workflow does by itself: one of the first three.", &[ACTION_KEYS])
        .constraints(&[
            KeyConstraint::OneGroup(&[&["set"], &["inject"], &["block_tools"], &["action"]]),
            KeyConstraint::RequiresAnyOf("rules", &["action"]),
        ]);

static ACTION_KEYS: &[Key] = &[
    Key::new(
        "action",
        ValueType::Word(|| vec!["block_tools"]),
        "`block_tools`, with its rules under `rules`; the same as `block_tools: […]`",
    ),
    Key::new(
        "block_tools",
        ValueType::List(&ValueType::Mapping(&ENTRY)),
        "rules about tool calls: under `before_tool` they hold in the whole workflow, under `on_enter` in the node",
    ),
    Key::new("inject", ValueType::Text, "a text for the agent, as a prompt is one"),
    Key::new("rules", ValueType::List(&ValueType::Mapping(&ENTRY)), "the rules of `action: block_tools`"),
    Key::new("set", ValueType::Named(&ValueType::Anything), "variables and their new values, as of an observer"),
    Key::new("when", ValueType::Expression, "what must be true for it"),
];
