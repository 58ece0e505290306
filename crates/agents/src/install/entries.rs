//! Finds, adds and removes Linchpin's entries in settings. Settings are nested: `hooks` → event → groups → handlers or,
//! for some agents, `hooks` → event → handlers.
//!
//! An entry is Linchpin's own if it runs a program named `linchpin` with the arguments `hook` and the agent's name, and
//! no other command.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use serde_json::{Map, Value, json};

use super::command_line::words;
use super::document::{Container, Document, SettingsError};
use super::pretty::pretty;
use crate::Agent;

/// A copy of one of Linchpin's handlers. Its nodes in the syntax tree are looked up again before each edit.
pub(super) struct OwnEntry {
    pub event: String,
    pub program: String,
    /// The element of the event's list: a group, or the handler itself.
    pub element: Map<String, Value>,
    pub handler: Map<String, Value>,
    /// The index of the element in the event's list and, if the element is a group, the index of the handler in the
    /// group.
    indices: (usize, Option<usize>),
}

impl OwnEntry {
    pub fn is_grouped(&self) -> bool {
        self.indices.1.is_some()
    }

    /// True if the handler is in a group whose fields, apart from the handlers, equal those of `wanted`.
    fn is_grouped_like(&self, wanted: &Value) -> bool {
        let Value::Object(wanted) = wanted else { return false };
        let others = |group: &Map<String, Value>| {
            let fields = group.iter().filter(|(key, _)| *key != "hooks");
            fields.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
        };
        self.is_grouped() && wanted.contains_key("hooks") && others(&self.element) == others(wanted)
    }
}

/// Returns Linchpin's handlers in the order in which they are in the text.
pub(super) fn find(document: &Document, agent: Agent) -> Result<Vec<OwnEntry>, SettingsError> {
    let own = |any: AnyEntry| {
        let AnyEntry { event, element, handler, indices } = any;
        Some(OwnEntry { program: program(&handler, agent)?, event, element, handler, indices })
    };
    Ok(handlers(document)?.into_iter().filter_map(own).collect())
}

/// Returns the event and the command of each hook whose command calls Linchpin, but also does something else.
pub(super) fn wrapping_commands(document: &Document, agent: Agent) -> Result<Vec<(String, String)>, SettingsError> {
    // The call of Linchpin may be part of a single word, such as the script in `sh -c '…'`, or consist of separate
    // words. The program's path may be quoted.
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

/// Returns the events whose value is an object or a string instead of a list.
pub(super) fn events_without_list(document: &Document) -> Result<Vec<String>, SettingsError> {
    let syntax = document.syntax()?;
    let Some(hooks) = hooks(document, &syntax.root)? else { return Ok(Vec::new()) };
    let others = hooks.properties.iter().filter(|event| matches!(event.value, Node::Object(_) | Node::StringLit(_)));
    Ok(others.map(|event| event.name.as_str().to_owned()).collect())
}

/// A copy of a handler, whatever program it runs.
struct AnyEntry {
    event: String,
    element: Map<String, Value>,
    handler: Map<String, Value>,
    indices: (usize, Option<usize>),
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
                    indices: (element_index, index),
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

/// Returns a copy of the whole settings as JSON values.
pub(super) fn values(document: &Document) -> Result<Map<String, Value>, SettingsError> {
    Ok(members(&document.syntax()?.root))
}

/// Ensures that the event has exactly one handler of Linchpin's, the one in `wanted`. `wanted`: the handler, or a group
/// with only this handler.
pub(super) fn ensure_entry(
    document: &mut Document,
    agent: Agent,
    event: &str,
    wanted: &Value,
) -> Result<(), SettingsError> {
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
    let Some(nodes) = find_nodes(document, &syntax.root, own)? else { return Ok(()) };
    if nodes.is_alone {
        document.replace(nodes.element, &pretty(wanted));
    } else if own.is_grouped_like(wanted) {
        // Somebody has added other handlers to the group, so only Linchpin's handler is replaced.
        document.replace(nodes.handler, &pretty(wanted.pointer("/hooks/0").unwrap_or(wanted)));
    } else {
        // The group has other handlers too, and its fields, such as the matcher, differ from those of `wanted`. These
        // fields must not apply to Linchpin's handler.
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

/// Removes a handler, together with the objects and lists around the handler that were added with it. If everything in
/// the file was added with the handler, changes nothing and returns false; otherwise returns true.
pub(super) fn remove_entry(document: &mut Document, own: &OwnEntry) -> Result<bool, SettingsError> {
    let syntax = document.syntax()?;
    let Some(nodes) = find_nodes(document, &syntax.root, own)? else { return Ok(true) };
    let tokens = &syntax.tokens;
    let root = &syntax.root;
    // The containers are checked from the innermost one outwards. A container that was added together with its only
    // child is removed together with this child.
    let mut child = nodes.handler;
    if nodes.is_alone {
        child = nodes.element;
        if Container::from(nodes.elements).came_with(child, tokens) {
            child = nodes.event;
            if Container::from(nodes.hooks).came_with(child, tokens) {
                child = nodes.hooks_property;
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

/// Returns the root object, without the key `version` if `install` wrote that key. `install` has written it if the only
/// keys are `hooks` and `version`, in this order.
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
    /// True if the element has no other handler.
    is_alone: bool,
}

fn find_nodes<'a>(
    document: &Document,
    root: &'a Object<'a>,
    own: &OwnEntry,
) -> Result<Option<EntryNodes<'a>>, SettingsError> {
    let found = || {
        let hooks_property = root.get("hooks")?;
        let hooks = hooks_property.value.as_object()?;
        let event = hooks.get(&own.event)?;
        let elements = event.value.as_array()?;
        let element = elements.elements.get(own.indices.0)?.as_object()?;
        let (handler, is_alone) = match own.indices.1 {
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

/// Returns the property of this name. A duplicate is an error, because it is unknown which of the two the agent reads.
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

/// Returns the program if the handler is Linchpin's. A handler that also runs another command is not Linchpin's.
fn program(handler: &Map<String, Value>, agent: Agent) -> Option<String> {
    let begins_command =
        |word: &&String| !word.is_empty() && word.chars().all(|char| matches!(char, ';' | '|' | '&' | '\n'));
    // A trailing `|| true` or `|| :` does not count as another command.
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

/// True if the program's file name is `linchpin` or `linchpin.exe`.
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
