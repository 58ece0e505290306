//! The keys of an observer.

use engine::behavior_names;
use engine::event::CallOutcome;

use crate::text::keys::{Key, KeyConstraint, Keys, Mapping, ValueType, words};
use crate::values::event_name::event_names;

/// An entry of `observers`.
pub static OBSERVER: ValueType =
    ValueType::Either(&[ValueType::Mapping(&DECLARED), ValueType::Mapping(&BEHAVIOR), ValueType::Mapping(&EXTERNAL)]);
static DECLARED: Mapping = Mapping::new(
    "observer",
    "On these events, where all of this matches, these variables are set.",
    &[NAME, DECLARED_KEYS],
)
.constraints(&[KeyConstraint::AllOf(&["name", "on", "match", "set"])]);
pub static MATCH: Mapping =
    Mapping::new("match", "What of an event has to match, all of it; `{}` matches every event.", &[MATCH_KEYS]);
pub static BEHAVIOR: Mapping =
    Mapping::new("behavior", "A behavior in the box; only the first takes settings.", &[NAME, BEHAVIOR_KEY, TASK_KEYS])
        .constraints(&[
            KeyConstraint::AllOf(&["behavior"]),
            KeyConstraint::OnlyWithValue(
                || TASK_KEYS.iter().map(|key| key.name).collect(),
                "behavior",
                behavior_names::TASK_CLAIM_TRACKING,
            ),
        ]);
pub static EXTERNAL: Mapping = Mapping::new(
    "behavior from outside",
    "A behavior that is a program; a project's has to be accepted with `linchpin trust`.",
    &[NAME, EXTERNAL_BEHAVIOR],
)
.constraints(&[KeyConstraint::AllOf(&["name", "behavior"])]);
pub static PROGRAM: Mapping = Mapping::new("program", "How a behavior from outside is run.", &[PROGRAM_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["exec"])]);

static NAME: &[Key] = &[Key::new(
    "name",
    ValueType::Text,
    "what messages and the journal call it; a behavior in the box has a name already",
)];
pub static DECLARED_KEYS: &[Key] = &[
    Key::new("on", ValueType::Choices(event_names), "the events"),
    Key::new("match", ValueType::Mapping(&MATCH), "what of the event has to match"),
    Key::new(
        "set",
        ValueType::Named(&ValueType::Anything),
        "variables and their values; a text with `{{ }}` holds expressions, `null` unsets",
    ),
];
pub static MATCH_KEYS: &[Key] = &[
    Key::new("tool", ValueType::Globs, "the call's name"),
    Key::new("mcp_server", ValueType::Globs, "the server of an MCP tool that the call reaches"),
    Key::new("mcp_tool", ValueType::Globs, "that tool"),
    Key::new("command_pattern", ValueType::Regexes, "found in the normalised text of a simple command"),
    Key::new("path", ValueType::Patterns, "matches a path that the call is known to read, write or delete"),
    Key::new("outcome", ValueType::Word(|| words(&OUTCOMES)), "how the call went").or("any"),
];
pub const OUTCOMES: [(&str, Option<CallOutcome>); 3] =
    [("ok", Some(CallOutcome::Ok)), ("failed", Some(CallOutcome::Failed)), ("any", None)];
static BEHAVIOR_KEY: &[Key] =
    &[Key::new("behavior", ValueType::Word(|| behavior_names::BEHAVIORS.to_vec()), "what is observed, by its name")];
static TASK_KEYS: &[Key] = &[
    Key::new("servers", ValueType::Globs, "the MCP servers whose task tools count").or("[]"),
    Key::new("claim", ValueType::Globs, "the tools that claim a task").or("claim_task"),
    Key::new("close", ValueType::Globs, "the tools that close one").or("close_task"),
    Key::new(
        "create",
        ValueType::Globs,
        "the tools that create one; it is claimed where they are called with `claim: true`",
    )
    .or("create_task"),
    Key::new("update", ValueType::Globs, "the tools that claim or close one by the `status` that they set")
        .or("update_task"),
];
static EXTERNAL_BEHAVIOR: &[Key] = &[Key::new("behavior", ValueType::Mapping(&PROGRAM), "the program")];
static PROGRAM_KEYS: &[Key] = &[
    Key::new("exec", ValueType::Texts, "the program and its arguments"),
    Key::new(
        "conditions",
        ValueType::Named(&ValueType::Count),
        "the conditions that it answers, each with its number of arguments, 0 to 8; expressions call them \
         `behavior_<name>_<condition>`",
    )
    .or("{}"),
];

/// The keys of an entry whose form is not known yet. It includes `behavior`, so that a typo of it is recognized.
pub static ANY_ENTRY: Keys = &[NAME, BEHAVIOR_KEY, DECLARED_KEYS];
pub static WITHOUT_SETTINGS: Keys = &[NAME, BEHAVIOR_KEY];
