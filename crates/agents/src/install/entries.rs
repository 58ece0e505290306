//! Finds, adds and removes Linchpin's entries in settings: `hooks` → event → groups → handlers, or `hooks` → event →
//! handlers.
//!
//! An entry is Linchpin's own if it runs a program named `linchpin` with the arguments `hook` and the agent's name.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use serde_json::{Map, Value, json};

use super::command_line::words;
use super::document::{Container, Document, SettingsError};
use super::pretty::pretty;
use crate::Agent;

/// One of Linchpin's handlers, by value. Its nodes are looked up again before each edit.
pub(super) struct OwnEntry {
    pub event: String,
    pub program: String,
    /// The element of the event's list: a group, or the handler itself.
    pub element: Map<String, Value>,
    pub handler: Map<String, Value>,
    /// The index in the event's list and, in a group, the index of the handler.
    place: (usize, Option<usize>),
}

impl OwnEntry {
    pub fn is_grouped(&self) -> bool {
        self.place.1.is_some()
    }

    /// True if the handler is in a group with the wanted fields, ignoring other handlers in it.
    fn is_grouped_like(&self, wanted: &Value) -> bool {
        let Value::Object(wanted) = wanted else { return false };
        let others = |group: &Map<String, Value>| {
            let fields = group.iter().filter(|(key, _)| *key != "hooks");
            fields.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
        };
        self.is_grouped() && wanted.contains_key("hooks") && others(&self.element) == others(wanted)
    }
}

/// Returns Linchpin's handlers, in order of the text.
pub(super) fn find(document: &Document, agent: Agent) -> Result<Vec<OwnEntry>, SettingsError> {
    let own = |any: AnyEntry| {
        let AnyEntry { event, element, handler, place } = any;
        Some(OwnEntry { program: program(&handler, agent)?, event, element, handler, place })
    };
    Ok(handlers(document)?.into_iter().filter_map(own).collect())
}

/// Returns events and commands of other hooks that call Linchpin as part of a longer command.
pub(super) fn wrapped(document: &Document, agent: Agent) -> Result<Vec<(String, String)>, SettingsError> {
    // The call may be within a script that is one word (`sh -c '…'`), or separate words. The path may be quoted.
    let call = format!("linchpin hook {}", agent.name());
    let is_call = |words: &[String]| matches!(words, [program, hook, name] if is_linchpin(program) && hook == "hook" && name == agent.name());
    let wrapping = |any: AnyEntry| {
        let command = any.handler.get("command")?.as_str()?;
        let calls = command.contains(&call) || words(&any.handler)?.windows(3).any(is_call);
        let is_wrapping = calls && program(&any.handler, agent).is_none();
        is_wrapping.then(|| (any.event, command.to_owned()))
    };
    Ok(handlers(document)?.into_iter().filter_map(wrapping).collect())
}

/// Returns events whose value is not a list.
pub(super) fn without_list(document: &Document) -> Result<Vec<String>, SettingsError> {
    let syntax = document.syntax()?;
    let Some(hooks) = hooks(document, &syntax.root)? else { return Ok(Vec::new()) };
    let others = hooks.properties.iter().filter(|event| matches!(event.value, Node::Object(_) | Node::StringLit(_)));
    Ok(others.map(|event| event.name.as_str().to_owned()).collect())
}

/// A handler, Linchpin's or another.
struct AnyEntry {
    event: String,
    element: Map<String, Value>,
    handler: Map<String, Value>,
    place: (usize, Option<usize>),
}

fn handlers(document: &Document) -> Result<Vec<AnyEntry>, SettingsError> {
    let syntax = document.syntax()?;
    let mut found = Vec::new();
    let Some(hooks) = hooks(document, &syntax.root)? else { return Ok(found) };
    for event in &hooks.properties {
        let Node::Array(elements) = &event.value else { continue };
        for (element_index, element) in elements.elements.iter().enumerate() {
            let Node::Object(element) = element else { continue };
            let mut add = |handler: &Object<'_>, index: Option<usize>| {
                found.push(AnyEntry {
                    event: event.name.as_str().to_owned(),
                    element: members(element),
                    handler: members(handler),
                    place: (element_index, index),
                });
            };
            match element.get_array("hooks") {
                Some(handlers) => {
                    for (index, handler) in handlers.elements.iter().enumerate() {
                        if let Node::Object(handler) = handler {
                            add(handler, Some(index));
                        }
                    }
                }
                None => add(element, None),
            }
        }
    }
    Ok(found)
}

/// Returns the whole settings by value.
pub(super) fn values(document: &Document) -> Result<Map<String, Value>, SettingsError> {
    Ok(members(&document.syntax()?.root))
}

/// Ensures that the event has exactly one handler of Linchpin's, in a group like `wanted`.
pub(super) fn put(document: &mut Document, agent: Agent, event: &str, wanted: &Value) -> Result<(), SettingsError> {
    let of_event = |document: &Document| {
        Ok(find(document, agent)?.into_iter().filter(|own| own.event == event).collect::<Vec<_>>())
    };
    let mut own: Vec<OwnEntry> = of_event(document)?;
    while own.len() > 1 {
        if let Some(surplus) = own.pop() {
            remove_entry(document, &surplus)?;
        }
        own = of_event(document)?;
    }
    match own.pop() {
        Some(own) if Value::Object(own.element.clone()) == *wanted => Ok(()),
        Some(own) => update_entry(document, &own, event, wanted),
        None => add(document, event, wanted),
    }
}

fn update_entry(document: &mut Document, own: &OwnEntry, event: &str, wanted: &Value) -> Result<(), SettingsError> {
    let syntax = document.syntax()?;
    let Some(place) = place(document, &syntax.root, own)? else { return Ok(()) };
    if place.is_alone {
        document.replace(place.element, &pretty(wanted));
    } else if own.is_grouped_like(wanted) {
        // Somebody has added other handlers to the group: replace only the handler.
        document.replace(place.handler, &pretty(wanted.pointer("/hooks/0").unwrap_or(wanted)));
    } else {
        // The group has other handlers and other fields, such as a matcher, which must not apply to Linchpin's handler.
        remove_entry(document, own)?;
        add(document, event, wanted)?;
    }
    Ok(())
}

fn add(document: &mut Document, event: &str, wanted: &Value) -> Result<(), SettingsError> {
    let syntax = document.syntax()?;
    let member = |name: &str, value: &Value| format!("{}: {}", Value::from(name), pretty(value));
    let (container, item) = match hooks(document, &syntax.root)? {
        None => (Container::from(&syntax.root), member("hooks", &json!({ event: [wanted] }))),
        Some(hooks) => match property(document, hooks, event)? {
            None => (Container::from(hooks), member(event, &json!([wanted]))),
            Some(ObjectProp { value: Node::Array(groups), .. }) => (Container::from(groups), pretty(wanted)),
            Some(other) => {
                return Err(document.error(other.value.range(), format!("`hooks.{event}` must be an array")));
            }
        },
    };
    let tokens = syntax.tokens;
    document.append(&container, &item, &tokens);
    Ok(())
}

/// Removes a handler and the containers that were added together with it. If nothing else would remain in the file,
/// changes nothing and returns false.
pub(super) fn remove_entry(document: &mut Document, own: &OwnEntry) -> Result<bool, SettingsError> {
    let syntax = document.syntax()?;
    let Some(place) = place(document, &syntax.root, own)? else { return Ok(true) };
    let tokens = &syntax.tokens;
    let root = &syntax.root;
    // From the inside out: a container that was added together with its only child is removed with it.
    let mut child = place.handler;
    if place.is_alone {
        child = place.element;
        if Container::from(place.elements).came_with(child, tokens) {
            child = place.event;
            if Container::from(place.hooks).came_with(child, tokens) {
                child = place.hooks_property;
                if without_version(root).came_with(child, tokens) && document.is_only(root.range) {
                    return Ok(false);
                }
            }
        }
    }
    let tokens = syntax.tokens;
    document.remove(child, &tokens);
    Ok(true)
}

/// The root without `version`, if `install` wrote the file for `hooks` alone and added the version at the end.
fn without_version(root: &Object<'_>) -> Container {
    let names: Vec<&str> = root.properties.iter().map(|property| property.name.as_str()).collect();
    let container = Container::from(root);
    if names == ["hooks", "version"] { container.without_last() } else { container }
}

/// The syntax nodes around one handler.
struct EntryNodes<'a> {
    hooks_property: Range,
    hooks: &'a Object<'a>,
    event: Range,
    elements: &'a Array<'a>,
    /// The group of the handler, or the handler itself.
    element: Range,
    handler: Range,
    /// True if the group has no other handler.
    is_alone: bool,
}

fn place<'a>(
    document: &Document,
    root: &'a Object<'a>,
    own: &OwnEntry,
) -> Result<Option<EntryNodes<'a>>, SettingsError> {
    let found = || {
        let hooks_property = root.get("hooks")?;
        let hooks = hooks_property.value.as_object()?;
        let event = hooks.get(&own.event)?;
        let elements = event.value.as_array()?;
        let element = elements.elements.get(own.place.0)?.as_object()?;
        let (handler, is_alone) = match own.place.1 {
            Some(index) => {
                let handlers = element.get_array("hooks")?;
                (handlers.elements.get(index)?.range(), handlers.elements.len() == 1)
            }
            None => (element.range, true),
        };
        Some(EntryNodes {
            hooks_property: hooks_property.range,
            hooks,
            event: event.range,
            elements,
            element: element.range,
            handler,
            is_alone,
        })
    };
    hooks(document, root)?;
    Ok(found())
}

fn hooks<'a>(document: &Document, root: &'a Object<'a>) -> Result<Option<&'a Object<'a>>, SettingsError> {
    let Some(hooks) = property(document, root, "hooks")? else { return Ok(None) };
    let Node::Object(hooks) = &hooks.value else {
        return Err(document.error(hooks.value.range(), "`hooks` must be an object"));
    };
    for event in &hooks.properties {
        property(document, hooks, event.name.as_str())?;
    }
    Ok(Some(hooks))
}

/// Returns the property of this name. A duplicate is an error, because the agent may read either.
fn property<'a>(
    document: &Document,
    object: &'a Object<'a>,
    name: &str,
) -> Result<Option<&'a ObjectProp<'a>>, SettingsError> {
    let mut matching = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = matching.next();
    match matching.next() {
        Some(second) => Err(document.error(second.range, format!("duplicate key `{name}`"))),
        None => Ok(first),
    }
}

/// Returns the program if the handler is Linchpin's. A handler that also runs another command is not.
fn program(handler: &Map<String, Value>, agent: Agent) -> Option<String> {
    let begins_command =
        |word: &&String| !word.is_empty() && word.chars().all(|char| matches!(char, ';' | '|' | '&' | '\n'));
    // A trailing `|| true` does not count as another command.
    let does_more = |rest: &[String]| match rest {
        [.., or, nothing] if or == "||" && matches!(nothing.as_str(), "true" | ":") => {
            rest.iter().filter(begins_command).count() > 1
        }
        rest => rest.iter().any(|word| begins_command(&word)),
    };
    match words(handler)?.as_slice() {
        [program, hook, name, rest @ ..]
            if hook == "hook" && name == agent.name() && is_linchpin(program) && !does_more(rest) =>
        {
            Some(program.clone())
        }
        _ => None,
    }
}

/// True if the program's file name is Linchpin's.
pub fn is_linchpin(program: &str) -> bool {
    let base = program.rsplit(['/', '\\']).next().unwrap_or_default();
    base == "linchpin" || base.eq_ignore_ascii_case("linchpin.exe")
}

fn members(object: &Object<'_>) -> Map<String, Value> {
    object.properties.iter().map(|member| (member.name.as_str().to_owned(), value(&member.value))).collect()
}

fn value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::from(text.value.as_ref()),
        Node::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Node::BooleanLit(boolean) => Value::from(boolean.value),
        Node::Object(object) => Value::Object(members(object)),
        Node::Array(array) => array.elements.iter().map(value).collect(),
        Node::NullKeyword(_) => Value::Null,
    }
}
