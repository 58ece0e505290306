//! The keys of an observer.

use engine::behavior_names;
use engine::event::CallOutcome;

use crate::text::keys::{Key, KeyConstraint, Keys, Mapping, ValueType, choice_names};
use crate::values::event_name::event_names;

/// An entry of `observers`.
pub static OBSERVER: ValueType =
    ValueType::Either(&[ValueType::Mapping(&DECLARED), ValueType::Mapping(&BEHAVIOR), ValueType::Mapping(&EXTERNAL)]);
static DECLARED: Mapping =
    Mapping::new("observer", "Sets variables on events that match all conditions.", &[NAME, DECLARED_KEYS])
        .constraints(&[KeyConstraint::AllOf(&["name", "on", "match", "set"])]);
pub static MATCH: Mapping =
    Mapping::new("match", "Conditions on an event, all of which must hold; `{}` matches every event.", &[MATCH_KEYS]);
pub static BEHAVIOR: Mapping = Mapping::new(
    "behavior",
    "A bundled behavior. Only `task_claim_tracking` has settings.",
    &[NAME, BEHAVIOR_KEY, TASK_KEYS],
)
.constraints(&[
    KeyConstraint::AllOf(&["behavior"]),
    KeyConstraint::OnlyWithValue(
        || TASK_KEYS.iter().map(|key| key.name).collect(),
        "behavior",
        behavior_names::TASK_CLAIM_TRACKING,
    ),
]);
pub static EXTERNAL: Mapping = Mapping::new(
    "external behavior",
    "A behavior that is a program; in a project, needs `linchpin trust`.",
    &[NAME, EXTERNAL_BEHAVIOR],
)
.constraints(&[KeyConstraint::AllOf(&["name", "behavior"])]);
pub static PROGRAM: Mapping = Mapping::new("program", "How to run an external behavior.", &[PROGRAM_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["exec"])]);

static NAME: &[Key] =
    &[Key::new("name", ValueType::Text, "the name in messages and in the journal; a bundled behavior already has one")];
pub static DECLARED_KEYS: &[Key] = &[
    Key::new("on", ValueType::Choices(event_names), "the events"),
    Key::new("match", ValueType::Mapping(&MATCH), "conditions on the event"),
    Key::new(
        "set",
        ValueType::Named(&ValueType::Anything),
        "variables and their values; text with `{{ }}` contains expressions, `null` unsets the variable",
    ),
];
pub static MATCH_KEYS: &[Key] = &[
    Key::new("tool", ValueType::Globs, "the name of the tool"),
    Key::new("mcp_server", ValueType::Globs, "the server of the MCP tool that the call reaches"),
    Key::new("mcp_tool", ValueType::Globs, "the MCP tool that the call reaches"),
    Key::new("command_pattern", ValueType::Regexes, "a regex that is found in the normalised text of a simple command"),
    Key::new(
        "path",
        ValueType::Patterns,
        "a pattern that matches a path that the call is known to read, write or delete",
    ),
    Key::new("outcome", ValueType::Choice(|| choice_names(&OUTCOMES)), "the outcome of the call").with_default("any"),
];
pub const OUTCOMES: [(&str, Option<CallOutcome>); 3] =
    [("ok", Some(CallOutcome::Ok)), ("failed", Some(CallOutcome::Failed)), ("any", None)];
static BEHAVIOR_KEY: &[Key] =
    &[Key::new("behavior", ValueType::Choice(|| behavior_names::BEHAVIORS.to_vec()), "the name of the behavior")];
static TASK_KEYS: &[Key] = &[
    Key::new("servers", ValueType::Globs, "the MCP servers whose task tools are observed").with_default("[]"),
    Key::new("claim", ValueType::Globs, "the tools that claim a task").with_default("claim_task"),
    Key::new("close", ValueType::Globs, "the tools that close a task").with_default("close_task"),
    Key::new(
        "create",
        ValueType::Globs,
        "the tools that create a task; it is claimed if they are called with `claim: true`",
    )
    .with_default("create_task"),
    Key::new("update", ValueType::Globs, "the tools that claim or close a task by setting its `status`")
        .with_default("update_task"),
];
static EXTERNAL_BEHAVIOR: &[Key] = &[Key::new("behavior", ValueType::Mapping(&PROGRAM), "the program")];
static PROGRAM_KEYS: &[Key] = &[
    Key::new("exec", ValueType::Texts, "the program and its arguments"),
    Key::new(
        "conditions",
        ValueType::Named(&ValueType::Integer),
        "the conditions that the program reports, each with its number of arguments, 0 to 8; expressions call them \
         `behavior_<name>_<condition>`",
    )
    .with_default("{}"),
];

/// The keys of an observer with or without a `behavior`. For either kind, a typo of `behavior` gets a suggestion.
pub static ANY_OBSERVER_KEYS: Keys = &[NAME, BEHAVIOR_KEY, DECLARED_KEYS];
pub static BEHAVIOR_WITHOUT_SETTINGS: Keys = &[NAME, BEHAVIOR_KEY];
