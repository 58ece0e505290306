//! The keys of a rule.

use engine::Level;
use engine::rules::AckBy;

use super::command_action::COMMAND_ACTION;
use super::{file_rule, pace_rule, tool_rule};
use crate::case::CASE;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, choice_names};
use crate::values::event_name::event_names;

/// A rule in a library or list.
pub static ENTRY: Mapping = Mapping::new(
    "rule",
    "A rule, with its reason as one of its keys.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::OPTIONS,
        file_rule::OPTIONS,
        pace_rule::OPTIONS,
        REASON,
    ],
)
.constraints(HAS_A_CLAUSE);

/// The fields of a Markdown rule.
pub static FRONTMATTER: Mapping = Mapping::new(
    "frontmatter",
    "The fields of a rule, between the `---` lines of a Markdown file; the reason follows below them.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::OPTIONS,
        file_rule::OPTIONS,
        pace_rule::OPTIONS,
    ],
)
.constraints(HAS_A_CLAUSE);

static HAS_A_CLAUSE: &[KeyConstraint] = &[KeyConstraint::AnyOf(|| {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    clauses.into_iter().flatten().map(|key| key.name).chain(["on"]).collect()
})];

static COMMON: &[Key] = &[
    Key::new(
        "ack",
        ValueType::Choice(|| choice_names(&ACKS)),
        "who may acknowledge the rule when it warns or holds: `agent` (an agent or a person), or `human`",
    )
    .with_default("agent"),
    Key::new(
        "action",
        ValueType::Either(&[ValueType::Choice(|| choice_names(&LEVELS)), ValueType::Mapping(&COMMAND_ACTION)]),
        "what happens if the rule matches; by default `block` for tool rules and file rules, and `warn` for others. \
         `ask` and `allow` are only allowed on `before_tool` and `permission`, and a command only in file rules",
    ),
    Key::new("description", ValueType::Text, "one sentence about the rule"),
    Key::new("enabled", ValueType::Boolean, "`false` switches the rule off").with_default("true"),
    Key::new(
        "locked",
        ValueType::Boolean,
        "`true`: no project can replace the rule or switch it off; only allowed in the user's rules",
    )
    .with_default("false"),
    Key::new(
        "max_holds",
        ValueType::Integer,
        "how often the rule may hold a stop, or, with `live: block`, refuse a call; by default as in the \
         configuration",
    ),
    Key::new("name", ValueType::Text, "a title"),
    Key::new(
        "on",
        ValueType::Choices(event_names),
        "the events on which the rule is checked; by default `before_tool`, and for file rules `stop` and \
         `subagent_stop`",
    ),
    Key::new(
        "on_error",
        ValueType::Choice(|| choice_names(&LEVELS)),
        "the verdict if the rule fails at run time; by default as if the rule had matched",
    ),
    Key::new("tags", ValueType::Texts, "words for filtering rules; they have no effect on verdicts").with_default("[]"),
    Key::new(
        "tests",
        ValueType::List(&ValueType::Mapping(&CASE)),
        "cases that `linchpin test` runs with only this rule",
    )
    .with_default("[]"),
    Key::new("when", ValueType::Expression, "an expression that must also be true"),
];

/// The key is not allowed in Markdown rules, where the reason is the text below the fields.
static REASON: &[Key] = &[Key::new("reason", ValueType::Text, "what the agent reads: why, and what to do instead")];

pub const LEVELS: [(&str, Level); 4] =
    [("block", Level::Block), ("ask", Level::Ask), ("warn", Level::Warn), ("allow", Level::Allow)];

pub const ACKS: [(&str, AckBy); 2] = [("agent", AckBy::Agent), ("human", AckBy::Human)];
