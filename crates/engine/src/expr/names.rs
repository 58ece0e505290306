//! The names that an expression may use, and errors for those that it may not.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    builtin::Arity,
    conditions,
    context_names::{CONTEXT, Fields, context_name, is_context},
    error::ExprError,
    functions::{self, FUNCTIONS},
    methods,
    name_reference::{BehaviorCall, NameReference},
};
use crate::{behavior_names::behavior_that_sets, suggest};

/// The function by which templates include guides.
pub(super) const GUIDE: &str = "guide";

/// Checks that a variable can have this name.
pub fn check_variable_name(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name {
        return Err(format!("invalid variable name `{name}`: use letters, digits and `_`, and start with a letter"));
    }
    if name.starts_with('_') {
        return Err(format!("invalid variable name `{name}`: names that start with `_` are reserved"));
    }
    if is_context(name) || functions::find(name).is_some() || name.starts_with(conditions::PREFIX) {
        return Err(format!("reserved variable name `{name}`: it already has a meaning in expressions"));
    }
    Ok(())
}

/// The names that expressions in a certain place may use, in addition to the names that are available everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    variables: BTreeSet<String>,
    /// Built-in behaviors that are declared.
    behaviors: BTreeSet<&'static str>,
    /// Condition functions of external behaviors, with their number of arguments.
    conditions: BTreeMap<String, usize>,
    /// Claims of the surrounding workflow; `None` outside of workflows.
    claims: Option<BTreeSet<String>>,
    /// True in expressions that decide a transition: only there claims are known.
    is_for_transitions: bool,
}

impl Scope {
    /// A scope with these variables.
    pub fn with_variables<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { variables: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub fn declare(&mut self, name: impl Into<String>) {
        self.variables.insert(name.into());
    }

    /// Declares a built-in behavior, for the functions that read its variables.
    pub fn declare_behavior(&mut self, name: &'static str) {
        self.behaviors.insert(name);
    }

    /// Declares the function of an external behavior's condition.
    pub fn declare_condition(&mut self, function: impl Into<String>, arity: usize) {
        self.conditions.insert(function.into(), arity);
    }

    /// The scope inside a workflow with these claims.
    #[must_use]
    pub fn in_workflow(mut self, claims: impl IntoIterator<Item = String>) -> Self {
        self.claims = Some(claims.into_iter().collect());
        self
    }

    /// The scope of expressions that belong to a transition, which also know the claims.
    #[must_use]
    pub fn for_transitions(&self) -> Self {
        Self { is_for_transitions: true, ..self.clone() }
    }

    pub fn knows_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    fn is_claim(&self, name: &str) -> bool {
        self.claims.as_ref().is_some_and(|claims| claims.contains(name))
    }

    /// Checks that a declared behavior provides the data of a function.
    pub(super) fn check_call(&self, call: &BehaviorCall) -> Option<ExprError> {
        let name = call.name;
        let error = |message: String| ExprError::new(call.span.clone(), message);
        if let Some(behavior) = call.behavior {
            let message = format!("`{name}` needs the behavior `{behavior}`, but no observer uses it");
            let help = format!("add `- behavior: {behavior}` under `observers:` in config.yml");
            return (!self.behaviors.contains(behavior)).then(|| error(message).with_help(Some(help)));
        }
        match self.conditions.get(name) {
            Some(arity) if *arity == call.arguments => None,
            Some(arity) => Some(error(format!("`{name}` takes {}, not {}", Arity::exactly(*arity), call.arguments))),
            None => Some(error(format!("no behavior has the condition `{name}`")).with_help(
                suggestion(name, self.conditions.keys().map(String::as_str)).or_else(|| {
                    Some("declare the conditions of an external behavior under `observers:` in config.yml".to_owned())
                }),
            )),
        }
    }

    pub(super) fn check(&self, mention: &NameReference) -> Option<ExprError> {
        let name = mention.name;
        let Some(context) = context_name(name) else { return self.check_bare(name, &mention.span) };
        match context.fields {
            // Outside of workflows the claims are unknown.
            Fields::Claims if self.claims.is_none() => return None,
            Fields::Claims if !self.is_for_transitions => return Some(only_in_transitions(name, mention.span.clone())),
            _ => {}
        }
        let (field, span) = mention.field.as_ref()?;
        match context.fields {
            Fields::Fixed(fields) | Fields::OfWorkflow(fields) if !fields.contains(field) => Some(
                ExprError::new(span.clone(), format!("`{name}` has no field `{field}`"))
                    .with_help(suggestion(field, fields.iter().copied())),
            ),
            Fields::Variables if !self.variables.contains(*field) => Some(
                ExprError::new(span.clone(), format!("unknown variable `{field}`")).with_help(
                    suggestion(field, self.variables())
                        .or_else(|| Some(format!("declare it, or read it with `variables.get('{field}')`"))),
                ),
            ),
            Fields::Claims if !self.is_claim(field) => Some(
                ExprError::new(span.clone(), format!("unknown claim `{field}`")).with_help(
                    suggestion(field, self.claims.iter().flatten().map(String::as_str))
                        .or_else(|| Some("declare it under `claims:`".to_owned())),
                ),
            ),
            _ => None,
        }
    }

    fn check_bare(&self, name: &str, span: &Range<usize>) -> Option<ExprError> {
        if self.variables.contains(name) || (self.is_for_transitions && self.is_claim(name)) {
            return None;
        }
        if self.is_claim(name) {
            return Some(only_in_transitions(name, span.clone()));
        }
        let help = if functions::find(name).is_some() {
            Some(format!("`{name}` is a function: write `{name}(…)`"))
        } else if let Some(behavior) = behavior_that_sets(name) {
            Some(format!("add `- behavior: {behavior}` to `observers`; this behavior sets the variable"))
        } else {
            let claims = self.claims.iter().flatten().filter(|_| self.is_for_transitions).map(String::as_str);
            suggestion(name, self.variables().chain(claims).chain(CONTEXT.iter().map(|context| context.name)))
                .or_else(|| Some(self.how_to_declare(name)))
        };
        Some(ExprError::new(span.clone(), format!("unknown name `{name}`")).with_help(help))
    }
}

impl Scope {
    fn how_to_declare(&self, name: &str) -> String {
        if self.is_for_transitions {
            format!("a claim is declared with `claims: [{name}]`, a variable under `variables:`, both in this workflow")
        } else {
            "a variable is declared under `variables:`".to_owned()
        }
    }
}

/// Outside of transitions a claim would never be true.
fn only_in_transitions(name: &str, span: Range<usize>) -> ExprError {
    let message = format!("`{name}` is only known while Linchpin decides a move");
    let help = "use claims only in transitions, `requires`, `on_enter` and `on_exit`; `linchpin next` makes them";
    ExprError::new(span, message).with_help(Some(help.to_owned()))
}

pub(super) fn unknown_function(name: &str, span: Range<usize>) -> ExprError {
    let help = if methods::arity(name).is_some() {
        Some(format!("`{name}` is a method: write `value.{name}(…)`"))
    } else if name == GUIDE {
        Some("use it only in a prompt or guide, in braces of its own: `{{ guide('NAME') }}`".to_owned())
    } else {
        suggestion(name, FUNCTIONS.iter().map(|function| function.name))
    };
    ExprError::new(span, format!("unknown function `{name}`")).with_help(help)
}

/// A suggestion for a mistyped name.
pub(super) fn suggestion<'n>(written: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    suggest::closest(written, known).map(suggest::did_you_mean)
}
