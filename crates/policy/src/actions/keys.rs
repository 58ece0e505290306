//! The keys of an action.

use crate::rule::ENTRY;
use crate::text::keys::{Key, Mapping, Need, Takes};

pub static ACTION: Mapping =
    Mapping::new("workflow action", "What a workflow does by itself: one of the first three.", &[ACTION_KEYS]).needs(
        &[
            Need::ExactlyOne(&[&["set"], &["inject"], &["block_tools"], &["action"]]),
            Need::Beside("rules", &["action"]),
        ],
    );

static ACTION_KEYS: &[Key] = &[
    Key::new(
        "action",
        Takes::Word(|| vec!["block_tools"]),
        "`block_tools`, with its rules under `rules`; the same as `block_tools: […]`",
    ),
    Key::new(
        "block_tools",
        Takes::List(&Takes::Mapping(&ENTRY)),
        "rules about tool calls: under `before_tool` they hold in the whole workflow, under `on_enter` in the node",
    ),
    Key::new("inject", Takes::Text, "a text for the agent, as a prompt is one"),
    Key::new("rules", Takes::List(&Takes::Mapping(&ENTRY)), "the rules of `action: block_tools`"),
    Key::new("set", Takes::Named(&Takes::Anything), "variables and their new values, as of an observer"),
    Key::new("when", Takes::Expression, "what must be true for it"),
];
