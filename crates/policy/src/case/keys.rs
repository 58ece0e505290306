//! The keys of a case.

use engine::Level;

use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, words};
use crate::values::event_name::event_names;

pub static CASE: Mapping = Mapping::new("case", "What happens, and what the policy is to say to it.", &[KEYS])
    .constraints(&[
        KeyConstraint::AllOf(&["expect"]),
        KeyConstraint::OneGroup(&[&["command"], &["tool"], &["event"], FILES, &["events", "now"]]),
        KeyConstraint::RequiresAnyOf("input", &["tool"]),
    ]);

const FILES: &[&str] = &["changed", "created", "deleted"];

pub static EVENT: Mapping =
    Mapping::new("event", "An event of any kind, with the fields that expressions name.", &[EVENT_KEYS]);

static KEYS: &[Key] = &[
    Key::new("changed", ValueType::Texts, "paths of files that changed").or("[]"),
    Key::new("command", ValueType::Text, "a shell command that is about to run"),
    Key::new("created", ValueType::Texts, "paths of files that are new").or("[]"),
    Key::new("deleted", ValueType::Texts, "paths of files that are gone").or("[]"),
    Key::new("event", ValueType::Mapping(&EVENT), "any other event"),
    Key::new(
        "events",
        ValueType::List(&ValueType::List(&ValueType::Anything)),
        "what happened in a phase that began at 0, each as `[seconds, kind, text]`; kinds are `command`, `failed_command`, \
         `edit`, and `tokens` with `{input, output, id}`",
    )
    .or("[]"),
    Key::new(
        "expect",
        ValueType::Word(|| words(&EXPECTATIONS)),
        "the verdict; for files, `met` or `unmet`; for a phase, `fires` or `quiet`",
    ),
    Key::new("git", ValueType::Named(&ValueType::Anything), "what `git` says in expressions").or("{}"),
    Key::new("input", ValueType::Anything, "the input of the `tool`").or("{}"),
    Key::new("name", ValueType::Text, "what the case shows"),
    Key::new("now", ValueType::Count, "how many seconds of a phase have passed"),
    Key::new(
        "pairs",
        ValueType::List(&ValueType::List(&ValueType::Text)),
        "all that is missing, as `[file, what it lacks]`; left out, anything may be",
    ),
    Key::new(
        "tasks",
        ValueType::Named(&ValueType::Anything),
        "what `tasks` says in expressions, 0 where nothing is said; `complete` and `needs_review` list tasks for \
         `task_tree_complete` and `task_needs_user_review`",
    )
    .or("{}"),
    Key::new("tool", ValueType::Text, "the name of a tool that is about to be called"),
    Key::new("variables", ValueType::Named(&ValueType::Anything), "the session's variables").or("{}"),
];

static EVENT_KEYS: &[Key] = &[
    Key::new("agent", ValueType::Text, "the agent's name"),
    Key::new("command", ValueType::Text, "the shell command of a tool call"),
    Key::new("input", ValueType::Anything, "the input of a tool call"),
    Key::new(
        "kind",
        ValueType::Word(event_names),
        "which event; a rule's own case may leave it out where the rule is judged on one event only",
    ),
    Key::new("message", ValueType::Text, "the text of a message"),
    Key::new("outcome", ValueType::Word(|| words(&OUTCOMES)), "how a tool call went"),
    Key::new("output", ValueType::Anything, "what a tool call gave back"),
    Key::new("prompt", ValueType::Text, "what a person asked for"),
    Key::new("tool", ValueType::Text, "the name of the tool"),
];

/// The values of `outcome`, and if each means a failure.
pub const OUTCOMES: [(&str, bool); 2] = [("ok", false), ("failed", true)];

pub const EXPECTATIONS: [(&str, ExpectedWord); 8] = [
    ("allow", ExpectedWord::Verdict(Level::Allow)),
    ("warn", ExpectedWord::Verdict(Level::Warn)),
    ("ask", ExpectedWord::Verdict(Level::Ask)),
    ("block", ExpectedWord::Verdict(Level::Block)),
    ("met", ExpectedWord::Met),
    ("unmet", ExpectedWord::Unmet),
    ("fires", ExpectedWord::Fires(true)),
    ("quiet", ExpectedWord::Fires(false)),
];

/// The value of `expect`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ExpectedWord {
    Verdict(Level),
    Met,
    Unmet,
    Fires(bool),
}
