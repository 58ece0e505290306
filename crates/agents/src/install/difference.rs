//! Compares Linchpin's entries with those that `install` would write, and describes the consequences of differences.

use std::time::Duration;

use serde_json::{Map, Value};

use super::command_line::{is_operator, words};
use super::entries::OwnEntry;
use super::handler::{Call, Hook, Nesting};
use super::scope::SettingsScope;
use super::settings::Entries;
use crate::Agent;

/// A difference between an agent's settings and those that `install` would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub text: String,
    /// True if the difference can prevent Linchpin from refusing something; false if the difference is harmless.
    pub weakens: bool,
}

/// The entries that `install` would write, with which the existing ones are compared.
pub(super) struct ExpectedEntries<'a> {
    pub agent: Agent,
    pub scope: SettingsScope,
    pub entries: &'a Entries,
    /// The maximum time that Linchpin takes for an answer.
    pub deadline: Duration,
}

/// A difference between an entry and the one that `install` would write. If several entries have equal differences,
/// these are reported together.
struct FoundDifference {
    event: String,
    what: String,
    effect: String,
    weakens: bool,
}

impl ExpectedEntries<'_> {
    /// Returns the differences of all entries. A difference that several entries share is returned only once, with the
    /// events of all these entries.
    pub fn differences(&self, all: &[OwnEntry]) -> Vec<Difference> {
        let mut by_difference: Vec<(FoundDifference, Vec<String>)> = Vec::new();
        for found in all.iter().flat_map(|own| self.differences_of(own)) {
            let event = format!("`{}`", found.event);
            let is_same = |(other, _): &&mut (FoundDifference, Vec<String>)| {
                (&other.what, &other.effect, other.weakens) == (&found.what, &found.effect, found.weakens)
            };
            match by_difference.iter_mut().find(is_same) {
                Some((_, events)) if events.contains(&event) => {}
                Some((_, events)) => events.push(event),
                None => by_difference.push((found, vec![event])),
            }
        }
        let difference = |(FoundDifference { what, effect, weakens, .. }, events): (FoundDifference, Vec<String>)| {
            Difference { text: format!("{what} at {}{effect}", events.join(", ")), weakens }
        };
        by_difference.into_iter().map(difference).collect()
    }

    fn differences_of(&self, own: &OwnEntry) -> Vec<FoundDifference> {
        let mut list = DifferenceList { event: &own.event, found: Vec::new() };
        let Some(hook) = self.entries.hooks.iter().find(|hook| hook.event == own.event) else {
            list.add_harmless("a hook", ", which Linchpin does not use");
            return list.found;
        };
        if own.is_grouped() == (hook.nesting == Nesting::Flat) {
            list.add_weakening("a hook", format!(" in a place where {} does not look for it", self.agent.title()));
        }
        self.compare_call(own, hook, &mut list);
        self.compare_timeout(own, hook, &mut list);
        list.compare_matcher(own.element.get("matcher"));
        let wanted = self.entries.handler.to_json(self.agent, hook, self.scope, &own.program);
        let is_compared = |key: &str| ["command", "args", "matcher", self.entries.handler.timeout.key].contains(&key);
        for (key, value) in wanted.iter().filter(|(key, _)| !is_compared(key)) {
            if own.handler.get(key) != Some(value) {
                let field = self.entries.handler.agent_fields(hook, self.scope).find(|field| field.key == key);
                list.add_weakening(
                    format!("no `{key}: {value}`"),
                    field.map_or(MIGHT_BE_IGNORED, |field| field.without),
                );
            }
        }
        let group = if own.is_grouped() { own.element.clone() } else { Map::new() };
        let extra = group.iter().filter(|(key, _)| *key != "hooks").chain(&own.handler);
        for (key, value) in extra.filter(|(key, _)| !is_compared(key) && !wanted.contains_key(*key)) {
            if self.fails_closed(key) {
                list.add_harmless(format!("`{key}`"), ", which blocks everyone who does not have Linchpin");
            } else {
                list.add_extra_field(key, value);
            }
        }
        list.found
    }

    /// True for a field that makes the agent refuse calls if Linchpin cannot be run.
    fn fails_closed(&self, key: &str) -> bool {
        let mut fields = self.entries.hooks.iter().flat_map(self.entries.handler.agent_fields);
        fields.any(|field| field.fails_closed && field.key == key)
    }

    fn compare_call(&self, own: &OwnEntry, hook: &Hook, list: &mut DifferenceList<'_>) {
        let call = self.entries.handler.call;
        if call != Call::Exec && own.handler.contains_key("args") {
            let effect =
                format!(", which {} does not know, so it calls Linchpin without the arguments", self.agent.title());
            list.add_weakening("`args`", effect);
        }
        // The first three words are the program, `hook` and the agent's name.
        let mut rest: Vec<String> = words(&own.handler).unwrap_or_default().into_iter().skip(3).collect();
        if call == Call::ShellWithEvent {
            let named = rest.first().filter(|word| !word.contains(is_operator)).cloned();
            match named {
                Some(word) if word == hook.event => drop(rest.remove(0)),
                Some(word) => {
                    list.add_weakening(
                        "the command",
                        format!(" names `{word}`, so Linchpin might judge the wrong event"),
                    );
                    rest.remove(0);
                }
                None => list.add_weakening("the command", " does not name the event, so Linchpin might not know it"),
            }
        }
        if !rest.is_empty() {
            let more = rest.join(" ").replace('\n', ";");
            list.add_weakening(
                "the command",
                format!(" continues with `{more}`, so the agent might not get Linchpin's answer"),
            );
        }
    }

    fn compare_timeout(&self, own: &OwnEntry, hook: &Hook, list: &mut DifferenceList<'_>) {
        let timeout = &self.entries.handler.timeout;
        let Some(value) = own.handler.get(timeout.key) else {
            list.add_harmless(format!("no `{}`", timeout.key), ", so the agent decides how long it waits");
            return;
        };
        let Some(units) = value.as_f64() else {
            list.add_weakening(format!("a `{}` that is not a number", timeout.key), MIGHT_BE_IGNORED);
            return;
        };
        let seconds = units / f64::from(timeout.per_second);
        let wanted = f64::from(hook.timeout);
        if seconds >= wanted {
            return;
        }
        let what = format!("a timeout of {seconds} s");
        let deadline = self.deadline.as_secs_f64();
        if seconds <= deadline {
            let effect = format!(": Linchpin might need {deadline} s, and the agent continues without its answer");
            list.add_weakening(what, effect);
        } else {
            list.add_harmless(
                what,
                format!(
                    ", where `install` writes {wanted} s, so the agent stops waiting after {seconds} s, for example for a file rule's command"
                ),
            );
        }
    }
}

const MIGHT_BE_IGNORED: &str = ", so the agent might ignore the hook";

struct DifferenceList<'a> {
    event: &'a str,
    found: Vec<FoundDifference>,
}

impl DifferenceList<'_> {
    fn add_weakening(&mut self, what: impl Into<String>, effect: impl Into<String>) {
        self.add(what.into(), effect.into(), true);
    }

    fn add_harmless(&mut self, what: impl Into<String>, effect: impl Into<String>) {
        self.add(what.into(), effect.into(), false);
    }

    fn add(&mut self, what: String, effect: String, weakens: bool) {
        self.found.push(FoundDifference { event: self.event.to_owned(), what, effect, weakens });
    }

    fn compare_matcher(&mut self, matcher: Option<&Value>) {
        match matcher {
            None => {}
            Some(Value::String(text)) if matches!(text.as_str(), "" | "*" | ".*") => {}
            Some(Value::String(text)) => {
                self.add_weakening(format!("the matcher `{text}`"), ", so Linchpin does not see other tools");
            }
            Some(_) => self.add_weakening("a matcher that is not a string", MIGHT_BE_IGNORED),
        }
    }

    /// Adds a difference for a field that `install` does not write, unless the field is known to have no effect on how
    /// the agent calls Linchpin.
    fn add_extra_field(&mut self, key: &str, value: &Value) {
        match key {
            "statusMessage" | "description" | "sequential" | "additionalContextLimit" => {}
            "async" | "asyncRewake" if value == &Value::Bool(false) => {}
            "async" | "asyncRewake" => {
                self.add_weakening(format!("`{key}`"), ", so Linchpin cannot block anything there");
            }
            "if" => self.add_weakening("an `if`", ", so Linchpin does not see some calls"),
            "bash" | "powershell" | "exec" | "commandWindows" | "url" => {
                self.add_weakening(format!("`{key}`"), ", which might be run instead of Linchpin");
            }
            _ => self.add_weakening(
                format!("the key `{key}`"),
                ", which `install` does not write, so the key's effect is unknown",
            ),
        }
    }
}
