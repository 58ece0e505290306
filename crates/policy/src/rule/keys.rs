//! The keys of a rule.

use engine::Level;
use engine::rules::AckBy;

use super::command_action::COMMAND_ACTION;
use super::{file_rule, pace_rule, tool_rule};
use crate::case::CASE;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, words};
use crate::values::event_name::event_names;

/// A rule in a library or list.
pub static ENTRY: Mapping = Mapping::new(
    "rule",
    "A rule; its reason is one of its keys.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::DETAILS,
        file_rule::DETAILS,
        pace_rule::DETAILS,
        REASON,
    ],
)
.constraints(DETECTS_SOMETHING);

/// The fields of a Markdown rule.
pub static FRONTMATTER: Mapping = Mapping::new(
    "frontmatter",
    "The fields of a rule, between the `---` lines of a Markdown file; below them stands the reason.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::DETAILS,
        file_rule::DETAILS,
        pace_rule::DETAILS,
    ],
)
.constraints(DETECTS_SOMETHING);

static DETECTS_SOMETHING: &[KeyConstraint] = &[KeyConstraint::AnyOf(|| {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    clauses.into_iter().flatten().map(|key| key.name).chain(["on"]).collect()
})];

static COMMON: &[Key] = &[
    Key::new(
        "ack",
        ValueType::Word(|| words(&ACKS)),
        "who may acknowledge the rule, where it warns or holds: `agent` (or a person), `human`",
    )
    .or("agent"),
    Key::new(
        "action",
        ValueType::Either(&[ValueType::Word(|| words(&LEVELS)), ValueType::Mapping(&COMMAND_ACTION)]),
        "what a match leads to; left out, `block` for rules about tool calls and files, and `warn` for others. `ask` and \
         `allow` go only with `before_tool` and `permission`; a command only with rules about files",
    ),
    Key::new("description", ValueType::Text, "a sentence about the rule"),
    Key::new("enabled", ValueType::Flag, "`false` switches the rule off").or("true"),
    Key::new(
        "locked",
        ValueType::Flag,
        "no project can replace the rule or switch it off; only in the user's own rules",
    )
    .or("false"),
    Key::new(
        "max_holds",
        ValueType::Count,
        "how often the rule may hold a stop, or with `live: block` refuse a call; left out, as the configuration says",
    ),
    Key::new("name", ValueType::Text, "a title"),
    Key::new(
        "on",
        ValueType::Choices(event_names),
        "the events that it is judged on; left out, `before_tool`, and `stop` and `subagent_stop` for rules about files",
    ),
    Key::new(
        "on_error",
        ValueType::Word(|| words(&LEVELS)),
        "what the rule counts as when it fails at run time; left out, as if it had matched",
    ),
    Key::new("tags", ValueType::Texts, "words to sort rules by; nothing depends on them").or("[]"),
    Key::new(
        "tests",
        ValueType::List(&ValueType::Mapping(&CASE)),
        "cases that `linchpin test` runs with this rule alone",
    )
    .or("[]"),
    Key::new("when", ValueType::Expression, "what else must be true"),
];

/// Not a key of Markdown rules, where the reason is the text below the fields.
static REASON: &[Key] = &[Key::new("reason", ValueType::Text, "what the agent reads: why, and what to do instead")];

pub const LEVELS: [(&str, Level); 4] =
    [("block", Level::Block), ("ask", Level::Ask), ("warn", Level::Warn), ("allow", Level::Allow)];

pub const ACKS: [(&str, AckBy); 2] = [("agent", AckBy::Agent), ("human", AckBy::Human)];
