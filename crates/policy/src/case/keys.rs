//! The keys of a case, which is a test of a policy.

use engine::Level;

use crate::text::keys::{Key, KeyConstraint, Mapping, ValueType, choice_names};
use crate::values::event_name::event_names;

pub static CASE: Mapping =
    Mapping::new("case", "A test case: what happens, and the verdict that the policy must give.", &[KEYS]).constraints(
        &[
            KeyConstraint::AllOf(&["expect"]),
            KeyConstraint::OneGroup(&[&["command"], &["tool"], &["event"], FILES, &["events", "now"]]),
            KeyConstraint::RequiresAnyOf("input", &["tool"]),
        ],
    );

const FILES: &[&str] = &["changed", "created", "deleted"];

pub static EVENT: Mapping =
    Mapping::new("event", "An event of any kind, with the fields that expressions can read.", &[EVENT_KEYS]);

static KEYS: &[Key] = &[
    Key::new("changed", ValueType::Texts, "paths of changed files").with_default("[]"),
    Key::new("command", ValueType::Text, "the shell command of a tool call that is about to run"),
    Key::new("created", ValueType::Texts, "paths of new files").with_default("[]"),
    Key::new("deleted", ValueType::Texts, "paths of deleted files").with_default("[]"),
    Key::new("event", ValueType::Mapping(&EVENT), "an event of another kind"),
    Key::new(
        "events",
        ValueType::List(&ValueType::List(&ValueType::Anything)),
        "what happened in a phase that began at second 0, each as `[seconds, kind, text]`; the kind is `command`, \
         `failed_command`, `edit`, or `tokens` with `{input, output, id}` as text",
    )
    .with_default("[]"),
    Key::new(
        "expect",
        ValueType::Choice(|| choice_names(&EXPECTATIONS)),
        "the expected verdict; for changed files, `met` or `unmet`; for a phase, `fires` or `quiet`",
    ),
    Key::new("git", ValueType::Named(&ValueType::Anything), "the fields of `git` in expressions").with_default("{}"),
    Key::new("input", ValueType::Anything, "the input of `tool`").with_default("{}"),
    Key::new("name", ValueType::Text, "what the case shows, as a title"),
    Key::new("now", ValueType::Integer, "how many seconds have passed since the phase began"),
    Key::new(
        "pairs",
        ValueType::List(&ValueType::List(&ValueType::Text)),
        "everything that is missing, as `[trigger file, missing file]`; if left out, it is not compared",
    ),
    Key::new(
        "tasks",
        ValueType::Named(&ValueType::Anything),
        "the fields of `tasks` in expressions, by default 0; `complete` and `needs_review` list tasks for \
         `task_tree_complete` and `task_needs_user_review`",
    )
    .with_default("{}"),
    Key::new("tool", ValueType::Text, "the name of the tool that is about to be called"),
    Key::new("variables", ValueType::Named(&ValueType::Anything), "variables of the session").with_default("{}"),
];

static EVENT_KEYS: &[Key] = &[
    Key::new("agent", ValueType::Text, "the agent's name"),
    Key::new("command", ValueType::Text, "the shell command of a tool call"),
    Key::new("input", ValueType::Anything, "the input of a tool call"),
    Key::new(
        "kind",
        ValueType::Choice(event_names),
        "the kind of event; a case inside a rule may leave it out if the rule is checked on only one event",
    ),
    Key::new("message", ValueType::Text, "the text of the message"),
    Key::new("outcome", ValueType::Choice(|| choice_names(&OUTCOMES)), "the outcome of the tool call"),
    Key::new("output", ValueType::Anything, "the result of the tool call"),
    Key::new("prompt", ValueType::Text, "the prompt of a person"),
    Key::new("tool", ValueType::Text, "the name of the tool"),
];

/// The values of `outcome`, and whether each means a failure.
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
