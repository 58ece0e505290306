//! The names that an expression is allowed to use, and the errors for other names.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    behavior_conditions,
    builtin::Arity,
    context_names::{CONTEXT, Fields, context_name, is_context},
    error::ExprError,
    functions::{self, FUNCTIONS},
    methods,
    name_reference::{BehaviorCall, NameReference},
};
use crate::{behavior_names::behavior_that_sets, suggest};

/// The name of the function by which templates include guides.
pub(super) const GUIDE: &str = "guide";

/// Checks that a variable can have this name.
pub fn check_variable_name(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if !is_name {
        return Err(format!("invalid variable name `{name}`: use letters, digits and `_`, and start with a letter"));
    }
    if name.starts_with('_') {
        return Err(format!("invalid variable name `{name}`: names that start with `_` are reserved"));
    }
    if is_context(name) || functions::find(name).is_some() || name.starts_with(behavior_conditions::PREFIX) {
        return Err(format!("reserved variable name `{name}`: it already has a meaning in expressions"));
    }
    Ok(())
}

/// The names that an expression is allowed to use, in addition to the names that are available in every expression.
/// These names depend on the part of the policy that contains the expression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    variables: BTreeSet<String>,
    /// The built-in behaviors that observers of this part of the policy use.
    behaviors: BTreeSet<&'static str>,
    /// The functions that read a condition of an external behavior, with their number of arguments.
    conditions: BTreeMap<String, usize>,
    /// The claims of the workflow that contains the expressions; `None` outside of workflows.
    claims: Option<BTreeSet<String>>,
    /// True for the expressions of a workflow that can use claims: the expressions in transitions, `requires`,
    /// `on_enter` and `on_exit`.
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

    /// Declares that an observer uses a built-in behavior, whose variables some functions read.
    pub fn declare_behavior(&mut self, name: &'static str) {
        self.behaviors.insert(name);
    }

    /// Declares a function that reads a condition of an external behavior.
    pub fn declare_condition(&mut self, function: impl Into<String>, arity: usize) {
        self.conditions.insert(function.into(), arity);
    }

    /// The scope inside a workflow with these claims.
    #[must_use]
    pub fn in_workflow(mut self, claims: impl IntoIterator<Item = String>) -> Self {
        self.claims = Some(claims.into_iter().collect());
        self
    }

    /// The scope of the expressions that can also use claims: the expressions in transitions, `requires`, `on_enter`
    /// and `on_exit`.
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

    /// Checks that a declared behavior provides the data that a function reads.
    pub(super) fn check_call(&self, call: &BehaviorCall) -> Option<ExprError> {
        let name = call.name;
        let error = |message: String| ExprError::new(call.span.clone(), message);
        if let Some(behavior) = call.behavior {
            let message = format!("`{name}` needs the behavior `{behavior}`, but no observer uses it");
            let help = format!("add `- behavior: {behavior}` under `observers:` in config.yml");
            return (!self.behaviors.contains(behavior)).then(|| error(message).with_help(Some(help)));
        }
        match self.conditions.get(name) {
            Some(arity) if *arity == call.argument_count => None,
            Some(arity) => {
                Some(error(format!("`{name}` takes {}, not {}", Arity::exactly(*arity), call.argument_count)))
            }
            None => Some(error(format!("no behavior has the condition `{name}`")).with_help(
                suggestion(name, self.conditions.keys().map(String::as_str)).or_else(|| {
                    Some("declare the conditions of an external behavior under `observers:` in config.yml".to_owned())
                }),
            )),
        }
    }

    pub(super) fn check(&self, reference: &NameReference) -> Option<ExprError> {
        let name = reference.name;
        let Some(context) = context_name(name) else {
            return self.check_variable_or_claim(name, &reference.span);
        };
        match context.fields {
            // An expression outside of workflows may use the claims of any workflow.
            Fields::Claims if self.claims.is_none() => return None,
            Fields::Claims if !self.is_for_transitions => {
                return Some(claim_outside_of_transition(name, reference.span.clone()));
            }
            _ => {}
        }
        let (field, span) = reference.field.as_ref()?;
        match context.fields {
            Fields::Fixed(fields) | Fields::OfWorkflow(fields) if !fields.contains(field) => Some(
                ExprError::new(span.clone(), format!("`{name}` has no field `{field}`"))
                    .with_help(suggestion(field, fields.iter().copied()).or_else(|| Some(list_fields(name, fields)))),
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

    fn check_variable_or_claim(&self, name: &str, span: &Range<usize>) -> Option<ExprError> {
        if self.variables.contains(name) || (self.is_for_transitions && self.is_claim(name)) {
            return None;
        }
        if self.is_claim(name) {
            return Some(claim_outside_of_transition(name, span.clone()));
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

fn list_fields(name: &str, fields: &[&str]) -> String {
    format!("fields of `{name}`: `{}`", fields.join("`, `"))
}

/// The error for a claim in an expression of a workflow that is not allowed to use claims.
fn claim_outside_of_transition(name: &str, span: Range<usize>) -> ExprError {
    let message = format!("`{name}` cannot be used here: claims have values only during `linchpin next`");
    let help = "use claims only in transitions, `requires`, `on_enter` and `on_exit`";
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

/// Suggests a known name in place of a misspelled one.
pub(super) fn suggestion<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    suggest::closest(name, known).map(suggest::did_you_mean)
}
