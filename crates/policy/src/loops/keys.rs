//! The keys of `loop.yml`.

use engine::hats::PromptDelivery;

use crate::observers::OBSERVER;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, choice_names};
use crate::workflow::{ANY_GATE, RULE_LISTS};

pub static LOOP: Mapping =
    Mapping::new("loop", "A loop: hats that hand over work to each other, what ends a run, and its gates.", &[KEYS])
        .constraints(&[KeyConstraint::AllOf(&["agent", "hats"])]);
pub static COMPLETION: Mapping = Mapping::new("completion", "When a run is complete.", &[COMPLETION_KEYS]);
pub static LIMITS: Mapping =
    Mapping::new("limits", "Limits that end a run early. `none` removes a limit.", &[LIMIT_KEYS]);
pub static TASKS: Mapping = Mapping::new("tasks", "Settings for the tasks of a run.", &[TASK_KEYS]);
pub static TOPIC: Mapping =
    Mapping::new("topic", "What a topic means, and which gates must pass to publish it.", &[TOPIC_KEYS]);
pub static HAT: Mapping =
    Mapping::new("hat", "One role: which topics trigger it, and which it publishes.", &[HAT_KEYS, RULE_LISTS])
        .constraints(&[KeyConstraint::AllOf(&["triggers"])]);
pub static AGENT: Mapping = Mapping::new("agent", "A program that gets the prompt and does the work.", &[AGENT_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["command"])]);

/// The value that removes a limit.
pub const NO_LIMIT: &str = "none";
pub const PROMPT_DELIVERIES: &[(&str, PromptDelivery)] =
    &[("stdin", PromptDelivery::Stdin), ("arg", PromptDelivery::Argument), ("file", PromptDelivery::File)];

const NONE: ValueType = ValueType::Choice(|| vec![NO_LIMIT]);
const ANY_AGENT: ValueType = ValueType::Either(&[ValueType::Text, ValueType::Mapping(&AGENT)]);

static KEYS: &[Key] = &[
    Key::new(
        "agent",
        ANY_AGENT,
        "the agent that does the work: the name of a known agent, or a command; in a project, needs `linchpin trust`",
    ),
    Key::new("completion", ValueType::Mapping(&COMPLETION), "when a run is complete"),
    Key::new("gates", ValueType::Named(&ANY_GATE), "gates by name, for use under `requires`").with_default("{}"),
    Key::new(
        "guardrails",
        ValueType::Texts,
        "guardrails at the end of every prompt, instead of the built-in ones; `[]` for none",
    ),
    Key::new("hats", ValueType::Named(&ValueType::Mapping(&HAT)), "the hats by id"),
    Key::new("limits", ValueType::Mapping(&LIMITS), "limits that end a run early"),
    Key::new("scratchpad", ValueType::Text, "the file in which agents keep notes for the next iteration")
        .with_default(".linchpin/agent/scratchpad.md"),
    Key::new("specs_dir", ValueType::Text, "the folder of the specifications").with_default("specs/"),
    Key::new("start", ValueType::Text, "the first topic of a run").with_default("task.start"),
    Key::new("tasks", ValueType::Mapping(&TASKS), "settings for tasks"),
    Key::new("topics", ValueType::Named(&ValueType::Mapping(&TOPIC)), "settings of topics by name").with_default("{}"),
    Key::new(
        "variables",
        ValueType::Named(&ValueType::Anything),
        "names and initial values of variables for expressions in this file",
    )
    .with_default("{}"),
];
static COMPLETION_KEYS: &[Key] = &[
    Key::new("after", ValueType::Texts, "topics that must have been accepted earlier in the run").with_default("[]"),
    Key::new("requires", ValueType::List(&ANY_GATE), "gates that must pass").with_default("[]"),
    Key::new("topic", ValueType::Text, "the topic that completes the run").with_default("loop.complete"),
];
static LIMIT_KEYS: &[Key] = &[
    Key::new(
        "cost_usd",
        ValueType::Either(&[ValueType::Number, NONE]),
        "the maximum cost in US dollars, if the agent reports it",
    )
    .with_default("none"),
    Key::new(
        "failures",
        ValueType::Either(&[ValueType::Integer, NONE]),
        "the maximum number of failed agents in a row",
    )
    .with_default("5"),
    Key::new(
        "idle",
        ValueType::Either(&[ValueType::Duration, NONE]),
        "how long an agent may neither print anything nor call Linchpin before it is stopped",
    )
    .with_default("5m"),
    Key::new("iterations", ValueType::Either(&[ValueType::Integer, NONE]), "the maximum number of iterations")
        .with_default("100"),
    Key::new("runtime", ValueType::Either(&[ValueType::Duration, NONE]), "the maximum duration of a run")
        .with_default("4h"),
    Key::new(
        "stale",
        ValueType::Either(&[ValueType::Integer, NONE]),
        "how often the same topic with the same payload may be published while nothing changes",
    )
    .with_default("3"),
    Key::new(
        "tokens",
        ValueType::Either(&[ValueType::Integer, ValueType::Amount, NONE]),
        "the maximum number of tokens, such as `5M` or `200K`, if the agent reports them",
    )
    .with_default("none"),
];
static TASK_KEYS: &[Key] =
    &[Key::new("close_requires", ValueType::List(&ANY_GATE), "gates that must pass before a task is closed")
        .with_default("[]")];
static TOPIC_KEYS: &[Key] = &[
    Key::new("on_publish", ValueType::Text, "when to publish the topic, for hats without instructions"),
    Key::new("on_trigger", ValueType::Text, "what to do on the topic, for hats without instructions"),
    Key::new("requires", ValueType::List(&ANY_GATE), "gates that must pass before the topic is accepted")
        .with_default("[]"),
];
static HAT_KEYS: &[Key] = &[
    Key::new("agent", ANY_AGENT, "the agent of this hat, if it is not the loop's"),
    Key::new("default_publishes", ValueType::Text, "the topic that Linchpin publishes if the agent publishes nothing"),
    Key::new("description", ValueType::Text, "the role in one line"),
    Key::new(
        "instructions",
        ValueType::Text,
        "the instructions for the agent; if empty, they are derived from the topics",
    ),
    Key::new("max_activations", ValueType::Integer, "how often the hat may be activated in one run"),
    Key::new("name", ValueType::Text, "the name of the role in the prompt; by default the hat's id"),
    Key::new("observers", ValueType::List(&OBSERVER), "observers that are active while the hat is").with_default("[]"),
    Key::new(
        "publishes",
        ValueType::Texts,
        "the topics that the agent may publish; without any, the hat is done when its agent ends",
    )
    .with_default("[]"),
    Key::new(
        "triggers",
        ValueType::Texts,
        "the topics that trigger the hat; `*` matches one part, `**` any number of parts",
    ),
    Key::new(
        "writes",
        ValueType::Patterns,
        "the only files that the agent may write, apart from those in `.linchpin/agent/`",
    ),
];
static AGENT_KEYS: &[Key] = &[
    Key::new("command", ValueType::Texts, "a program and its arguments, as one text or a list"),
    Key::new("prompt", ValueType::Choice(|| choice_names(PROMPT_DELIVERIES)), "how the program gets the prompt")
        .with_default("stdin"),
];
