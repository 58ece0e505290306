//! Calls of shell functions and aliases.

use std::rc::Rc;

use super::Walker;
use crate::interpret::delegation::DelegatedCommand;
use crate::interpret::possible_output::PossibleOutput;
use crate::interpret::state::{DefinedFunction, Function, ParameterList, Value};
use crate::limits::Gap;
use crate::model::SimpleCommand;

/// The maximum number of nested calls of one function that are walked with a known state. At most two more nested calls
/// are walked, with an unknown state.
const MAX_RECURSION: usize = 3;

impl Walker<'_> {
    /// Returns the script that the command's name stands for: an alias, or another name of a program (`hash -p`). A
    /// name that refers to itself is expanded once.
    pub(super) fn script_of_alias(&self, command: &SimpleCommand) -> Option<DelegatedCommand> {
        let name = command.words().first()?.value.as_deref()?;
        let alias =
            self.state.commands.aliases.get(name).map(|text| &**text).or_else(|| self.state.commands.real_name(name));
        let text = alias.filter(|_| !self.enclosing.via.iter().any(|via| via == name))?;
        let (text, arguments) = (Some(format!("{text} \"$@\"")), command.words().get(1..)?.to_vec());
        Some(DelegatedCommand::Script { text, in_new_shell: true, gets_more_arguments: false, name: None, arguments })
    }

    /// Returns the function that the command calls.
    pub(super) fn called_function(&self, command: &SimpleCommand) -> Option<DefinedFunction> {
        self.state.commands.function(command.words().first()?.value.as_deref()?)
    }

    /// Walks the function that a command calls.
    pub(super) fn call_function(&mut self, name: &str, function: &Function, mut command: SimpleCommand) {
        self.uncalled.remove(name);
        let depth = self.enclosing.via.iter().filter(|via| *via == name).count();
        let arguments: ParameterList = command.words().iter().skip(1).map(Value::of).collect();
        let has_same_arguments = self.state.has_arguments(&arguments);
        // This call does nothing new if a recursive call with an unknown state, or with the same arguments, was already
        // walked.
        let was_walked = depth > MAX_RECURSION + 1 || depth > MAX_RECURSION && has_same_arguments;
        let before = self.script.commands.len();
        if was_walked {
            self.streams.output = PossibleOutput::default();
        } else {
            let outer = self.state.enter_function(arguments.clone());
            if depth >= MAX_RECURSION {
                self.state.forget_changed_by_functions();
            }
            if depth == MAX_RECURSION && has_same_arguments {
                self.state.set_arguments(arguments);
            }
            self.enclosing.via.push(name.to_owned());
            let input = self.streams.input.clone();
            if let Some(redirected) = self.redirected_input(command.redirects()) {
                self.streams.input = redirected.text;
            }
            self.until_return(|walker| walker.walk_function_body(function));
            self.streams.input = input;
            self.enclosing.via.pop();
            self.state.leave_function(outer);
        }
        // A fork bomb is a function that does nothing but call itself: `:(){ :|:& };:`.
        let mut found = self.script.commands.iter().skip(before);
        if depth == 0
            && found.all(|command| command.program() == Some(name))
            && function.body.0.to_string().contains(name)
        {
            self.add_gap(Gap::TooDeep);
        }
        if !command.redirects().is_empty() || !command.assignments().is_empty() {
            command.invocation.words.clear();
            self.run_command(command);
            self.streams.output = PossibleOutput::default();
        }
    }

    fn walk_function_body(&mut self, function: &Function) {
        let outer = std::mem::replace(&mut self.hidden, Rc::clone(&function.hidden));
        let input = self.streams.input.clone();
        if let Some(redirected) = self.add_redirects_of_compound(function.body.1.as_ref()) {
            self.streams.input = redirected.text;
        }
        self.one_level_deeper(|walker| walker.walk_compound(&function.body.0));
        self.streams.input = input;
        self.hidden = outer;
    }

    /// Walks the functions that the script defines but does not call, because unknown code may call them.
    pub(super) fn walk_uncalled_functions(&mut self) {
        while let Some((name, function)) = self.uncalled.pop_first().filter(|_| self.has_budget()) {
            self.state.forget();
            self.state.is_unreachable = false;
            self.enclosing.via.push(name);
            self.walk_function_body(&function);
            self.enclosing.via.pop();
        }
    }
}
