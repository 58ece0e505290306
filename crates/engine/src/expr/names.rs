//! The names that an expression may mention, and what is wrong with those that it may not.

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
    mention::{FedCall, Mention},
    methods,
};
use crate::{behavior_names::behavior_that_sets, suggest};

/// The name by which a template puts a guide into itself.
pub(super) const GUIDE: &str = "guide";

/// Whether a variable can have this name, and why not.
pub fn check_variable_name(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name {
        return Err(format!(
            "`{name}` cannot be a variable: names are letters, digits and `_`, and begin with a letter"
        ));
    }
    if name.starts_with('_') {
        return Err(format!("`{name}` cannot be a variable: names that begin with `_` are Linchpin's own"));
    }
    if is_context(name) || functions::find(name).is_some() || name.starts_with(conditions::PREFIX) {
        return Err(format!("`{name}` cannot be a variable: it already means something in expressions"));
    }
    Ok(())
}

/// What an expression may name at the place where it is written, beside what it may name everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    variables: BTreeSet<String>,
    /// The behaviors in the box that something declares.
    behaviors: BTreeSet<&'static str>,
    /// The functions of behaviors from outside, each with the number of its arguments.
    conditions: BTreeMap<String, usize>,
    /// What may be claimed in the workflow that this is part of; none outside of workflows.
    claims: Option<BTreeSet<String>>,
    /// Claims are given with a move, so only what decides one knows them.
    decides_moves: bool,
}

impl Scope {
    /// Variables that are declared, or set by something in scope.
    pub fn with_variables<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { variables: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub fn declare(&mut self, name: impl Into<String>) {
        self.variables.insert(name.into());
    }

    /// A behavior in the box, for the functions that it feeds.
    pub fn declare_behavior(&mut self, name: &'static str) {
        self.behaviors.insert(name);
    }

    /// A function that reads what a behavior from outside answers.
    pub fn declare_condition(&mut self, function: impl Into<String>, arity: usize) {
        self.conditions.insert(function.into(), arity);
    }

    /// What is written in a workflow with these claims.
    #[must_use]
    pub fn of_workflow(mut self, claims: impl IntoIterator<Item = String>) -> Self {
        self.claims = Some(claims.into_iter().collect());
        self
    }

    /// The same, for what decides a move or belongs to it: it also knows the claims.
    #[must_use]
    pub fn of_moves(&self) -> Self {
        Self { decides_moves: true, ..self.clone() }
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

    /// Whether somebody supplies the facts that a function reads.
    pub(super) fn check_call(&self, call: &FedCall) -> Option<ExprError> {
        let name = call.name;
        let error = |message: String| ExprError::new(call.span.clone(), message);
        if let Some(behavior) = call.fed_by {
            let message = format!("`{name}` needs the behavior `{behavior}`, and no observer here has it");
            let help = format!("add `- behavior: {behavior}` under `observers:` in config.yml");
            return (!self.behaviors.contains(behavior)).then(|| error(message).with_help(Some(help)));
        }
        match self.conditions.get(name) {
            Some(arity) if *arity == call.arguments => None,
            Some(arity) => Some(error(format!("`{name}` takes {}, not {}", Arity::exactly(*arity), call.arguments))),
            None => Some(error(format!("no behavior here has the condition `{name}`")).with_help(
                suggestion(name, self.conditions.keys().map(String::as_str)).or_else(|| {
                    Some("a behavior from outside names its conditions under `observers:` in config.yml".to_owned())
                }),
            )),
        }
    }

    pub(super) fn check(&self, mention: &Mention) -> Option<ExprError> {
        let name = mention.name;
        let Some(context) = context_name(name) else { return self.check_bare(name, &mention.span) };
        match context.fields {
            // Outside of workflows nobody knows which claims there are.
            Fields::Claims if self.claims.is_none() => return None,
            Fields::Claims if !self.decides_moves => return Some(not_at_a_move(name, mention.span.clone())),
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
        if self.variables.contains(name) || (self.decides_moves && self.is_claim(name)) {
            return None;
        }
        if self.is_claim(name) {
            return Some(not_at_a_move(name, span.clone()));
        }
        let help = if functions::find(name).is_some() {
            Some(format!("`{name}` is a function: write `{name}(…)`"))
        } else if let Some(behavior) = behavior_that_sets(name) {
            Some(format!("the behavior `{behavior}` sets it: add `- behavior: {behavior}` to `observers`"))
        } else {
            let claims = self.claims.iter().flatten().filter(|_| self.decides_moves).map(String::as_str);
            suggestion(name, self.variables().chain(claims).chain(CONTEXT.iter().map(|context| context.name)))
                .or_else(|| Some(self.how_to_declare(name)))
        };
        Some(ExprError::new(span.clone(), format!("unknown name `{name}`")).with_help(help))
    }
}

impl Scope {
    fn how_to_declare(&self, name: &str) -> String {
        if self.decides_moves {
            format!("a claim is declared with `claims: [{name}]`, a variable under `variables:`, both in this workflow")
        } else {
            "a variable is declared under `variables:`".to_owned()
        }
    }
}

/// Elsewhere a claim would never be true.
fn not_at_a_move(name: &str, span: Range<usize>) -> ExprError {
    let message = format!("`{name}` is known only while a move is decided");
    let help = "claims are given with `linchpin next`: use them in transitions, `requires`, `on_enter` and `on_exit`";
    ExprError::new(span, message).with_help(Some(help.to_owned()))
}

pub(super) fn unknown_function(name: &str, span: Range<usize>) -> ExprError {
    let help = if methods::arity(name).is_some() {
        Some(format!("`{name}` is a method: write `value.{name}(…)`"))
    } else if name == GUIDE {
        Some("it stands alone in a prompt or guide: `{{ guide('NAME') }}`".to_owned())
    } else {
        suggestion(name, FUNCTIONS.iter().map(|function| function.name))
    };
    ExprError::new(span, format!("unknown function `{name}`")).with_help(help)
}

/// The known name that was most likely meant.
pub(super) fn suggestion<'n>(written: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    suggest::closest(written, known).map(suggest::did_you_mean)
}
