//! The keys of `loop.yml`.

use engine::hats::PromptDelivery;

use crate::observers::OBSERVER;
use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, words};
use crate::workflow::{ANY_GATE, RULE_LISTS};

pub static LOOP: Mapping = Mapping::new(
    "loop",
    "Hats that hand the work over to each other, what ends it, and what has to hold on the way.",
    &[KEYS],
)
.constraints(&[KeyConstraint::AllOf(&["agent", "hats"])]);
pub static COMPLETION: Mapping = Mapping::new("completion", "When a run has done what it was for.", &[COMPLETION_KEYS]);
pub static LIMITS: Mapping =
    Mapping::new("limits", "What ends a run before its work is done. `none` takes a limit away.", &[LIMIT_KEYS]);
pub static TASKS: Mapping = Mapping::new("tasks", "What holds for the tasks of a run.", &[TASK_KEYS]);
pub static TOPIC: Mapping =
    Mapping::new("topic", "What a topic means, and what has to hold to publish it.", &[TOPIC_KEYS]);
pub static HAT: Mapping =
    Mapping::new("hat", "One role: what puts it on, and what it hands over.", &[HAT_KEYS, RULE_LISTS])
        .constraints(&[KeyConstraint::AllOf(&["triggers"])]);
pub static AGENT: Mapping = Mapping::new("agent", "A program that gets the prompt and does the work.", &[AGENT_KEYS])
    .constraints(&[KeyConstraint::AllOf(&["command"])]);

/// Removes a limit.
pub const NO_LIMIT: &str = "none";
pub const PROMPT_BY: &[(&str, PromptDelivery)] =
    &[("stdin", PromptDelivery::Stdin), ("arg", PromptDelivery::Argument), ("file", PromptDelivery::File)];

const NONE: ValueType = ValueType::Word(|| vec![NO_LIMIT]);
const ANY_AGENT: ValueType = ValueType::Either(&[ValueType::Text, ValueType::Mapping(&AGENT)]);

static KEYS: &[Key] = &[
    Key::new(
        "agent",
        ANY_AGENT,
        "who does the work: a known agent's name, or a command; a project's has to be accepted",
    ),
    Key::new("completion", ValueType::Mapping(&COMPLETION), "when the work is done"),
    Key::new("gates", ValueType::Named(&ANY_GATE), "gates by name, for `requires`").or("{}"),
    Key::new(
        "guardrails",
        ValueType::Texts,
        "what every prompt ends with, instead of the built-in ones; `[]` for none",
    ),
    Key::new("hats", ValueType::Named(&ValueType::Mapping(&HAT)), "the hats by id"),
    Key::new("limits", ValueType::Mapping(&LIMITS), "what ends a run before that"),
    Key::new("scratchpad", ValueType::Text, "where agents keep notes for the next one")
        .or(".linchpin/agent/scratchpad.md"),
    Key::new("specs_dir", ValueType::Text, "where the work is described").or("specs/"),
    Key::new("start", ValueType::Text, "the topic that opens a run").or("task.start"),
    Key::new("tasks", ValueType::Mapping(&TASKS), "what holds for tasks"),
    Key::new("topics", ValueType::Named(&ValueType::Mapping(&TOPIC)), "what is said of topics, by name").or("{}"),
    Key::new(
        "variables",
        ValueType::Named(&ValueType::Anything),
        "names and first values that expressions here may use",
    )
    .or("{}"),
];
static COMPLETION_KEYS: &[Key] = &[
    Key::new("after", ValueType::Texts, "topics that must have been accepted earlier in the run").or("[]"),
    Key::new("requires", ValueType::List(&ANY_GATE), "what has to hold").or("[]"),
    Key::new("topic", ValueType::Text, "the topic that says so").or("loop.complete"),
];
static LIMIT_KEYS: &[Key] = &[
    Key::new(
        "cost_usd",
        ValueType::Either(&[ValueType::Number, NONE]),
        "what it may cost, where the agent reports that",
    )
    .or("none"),
    Key::new("failures", ValueType::Either(&[ValueType::Count, NONE]), "of agents, one after another").or("5"),
    Key::new(
        "idle",
        ValueType::Either(&[ValueType::Duration, NONE]),
        "an agent that neither prints anything nor calls Linchpin for so long is ended",
    )
    .or("5m"),
    Key::new("iterations", ValueType::Either(&[ValueType::Count, NONE]), "how often an agent is started").or("100"),
    Key::new("runtime", ValueType::Either(&[ValueType::Duration, NONE]), "how long a run takes in all").or("4h"),
    Key::new(
        "stale",
        ValueType::Either(&[ValueType::Count, NONE]),
        "the same topic and payload so often, while nothing changes",
    )
    .or("3"),
    Key::new(
        "tokens",
        ValueType::Either(&[ValueType::Count, ValueType::Amount, NONE]),
        "as `5M` or `200K`, where the agent reports them",
    )
    .or("none"),
];
static TASK_KEYS: &[Key] =
    &[Key::new("close_requires", ValueType::List(&ANY_GATE), "what has to hold before a task is closed").or("[]")];
static TOPIC_KEYS: &[Key] = &[
    Key::new("on_publish", ValueType::Text, "when to publish it, for a hat without instructions"),
    Key::new("on_trigger", ValueType::Text, "what to do when it comes, for a hat without instructions"),
    Key::new("requires", ValueType::List(&ANY_GATE), "what has to hold before it is accepted").or("[]"),
];
static HAT_KEYS: &[Key] = &[
    Key::new("agent", ANY_AGENT, "another agent than the loop's"),
    Key::new("default_publishes", ValueType::Text, "what is published in the agent's place where it publishes nothing"),
    Key::new("description", ValueType::Text, "the role in one line"),
    Key::new("instructions", ValueType::Text, "what the agent is told; empty: what its topics say"),
    Key::new("max_activations", ValueType::Count, "how often it may be put on in one run"),
    Key::new("name", ValueType::Text, "what the agent is called; left out, the hat's id"),
    Key::new("observers", ValueType::List(&OBSERVER), "what turns events into variables while it is on").or("[]"),
    Key::new(
        "publishes",
        ValueType::Texts,
        "the topics that its agent may publish; without any it is done when its agent ends",
    )
    .or("[]"),
    Key::new("triggers", ValueType::Texts, "the topics that put it on; `*` is one part, `**` any number"),
    Key::new(
        "writes",
        ValueType::Patterns,
        "the only files that its agent may write, beside those in `.linchpin/agent/`",
    ),
];
static AGENT_KEYS: &[Key] = &[
    Key::new("command", ValueType::Texts, "a program and its arguments, as one text or a list"),
    Key::new("prompt", ValueType::Word(|| words(PROMPT_BY)), "how it gets the prompt").or("stdin"),
];
