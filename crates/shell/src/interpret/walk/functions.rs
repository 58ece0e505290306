//! Functions and aliases of the shell, and how they are called.

use std::rc::Rc;

use super::Walker;
use crate::interpret::delegation::Runs;
use crate::interpret::printed::Printed;
use crate::interpret::state::{Defined, Function, Positional, Value};
use crate::limits::Gap;
use crate::model::SimpleCommand;

/// Rounds of a function that calls itself. Behind them nothing is known any more.
const MAX_ROUNDS: usize = 3;

impl Walker<'_> {
    /// What stands behind an alias of the shell. One that names itself is not followed twice.
    pub(super) fn by_alias(&self, command: &SimpleCommand) -> Option<Runs> {
        let name = command.words().first()?.value.as_deref()?;
        let alias =
            self.state.commands.aliases.get(name).map(|text| &**text).or_else(|| self.state.commands.real_name(name));
        let text = alias.filter(|_| !self.around.via.iter().any(|via| via == name))?;
        let (text, arguments) = (Some(format!("{text} \"$@\"")), command.words().get(1..)?.to_vec());
        Some(Runs::Text { text, in_own_shell: true, is_beginning: false, name: None, arguments })
    }

    /// The function that a command calls.
    pub(super) fn called(&self, command: &SimpleCommand) -> Option<Defined> {
        self.state.commands.function(command.words().first()?.value.as_deref()?)
    }

    pub(super) fn call(&mut self, name: &str, function: &Function, mut command: SimpleCommand) {
        self.uncalled.remove(name);
        let rounds = self.around.via.iter().filter(|via| *via == name).count();
        let arguments: Positional = command.words().iter().skip(1).map(Value::of).collect();
        let has_same = self.state.is_given(&arguments);
        // A round with nothing known, or with nothing but the same arguments, was walked: this one does no other
        // things.
        let is_walked = rounds > MAX_ROUNDS + 1 || rounds > MAX_ROUNDS && has_same;
        let before = self.script.commands.len();
        if is_walked {
            self.streams.output = Printed::default();
        } else {
            let around = self.state.enter_function(arguments.clone());
            if rounds >= MAX_ROUNDS {
                self.state.forget_by_functions();
            }
            if rounds == MAX_ROUNDS && has_same {
                self.state.give(arguments);
            }
            self.around.via.push(name.to_owned());
            let input = self.streams.input.clone();
            if let Some(fed) = self.fed_by(command.redirects()) {
                self.streams.input = fed.text;
            }
            self.until_return(|walker| walker.function_body(function));
            self.streams.input = input;
            self.around.via.pop();
            self.state.leave_function(around);
        }
        // It does nothing but call itself, as in `:(){ :|:& };:`.
        let mut ran = self.script.commands.iter().skip(before);
        if rounds == 0 && ran.all(|ran| ran.program() == Some(name)) && function.body.0.to_string().contains(name) {
            self.gap(Gap::TooDeep);
        }
        if !command.redirects().is_empty() || !command.assignments().is_empty() {
            command.invocation.words.clear();
            self.run(command);
            self.streams.output = Printed::default();
        }
    }

    fn function_body(&mut self, function: &Function) {
        let around = std::mem::replace(&mut self.hidden, Rc::clone(&function.hidden));
        let input = self.streams.input.clone();
        if let Some(fed) = self.redirects_of_compound(function.body.1.as_ref()) {
            self.streams.input = fed.text;
        }
        self.deeper(|walker| walker.compound(&function.body.0));
        self.streams.input = input;
        self.hidden = around;
    }

    /// Functions that are only defined may be called by what is not seen here.
    pub(super) fn uncalled_functions(&mut self) {
        while let Some((name, function)) = self.uncalled.pop_first().filter(|_| self.goes_on()) {
            self.state.forget();
            self.state.is_over = false;
            self.around.via.push(name);
            self.function_body(&function);
            self.around.via.pop();
        }
    }
}
