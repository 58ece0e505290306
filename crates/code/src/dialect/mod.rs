//! Keywords, operators and functions of each language, and the effects of the functions.

mod node;
mod perl;
mod python;
mod ruby;

use crate::Language;
use crate::function_effect::{FunctionEffect, PathMethodEffect};
use crate::value::Value;
use path::Access;

pub(super) struct Dialect {
    /// The program that runs files of the language.
    pub(super) interpreter: &'static str,
    /// Functions by their dotted names.
    pub(super) functions: &'static [(&'static str, FunctionEffect)],
    /// Objects whose members are commands: the object, and the first words of the command. A name such as `git.Repo()`
    /// is the result of a call.
    pub(super) command_objects: &'static [(&'static str, &'static [&'static str])],
    /// Methods of the object that a module passes to the program's functions: the module, the method, and its effect.
    pub(super) callback_methods: &'static [(&'static str, &'static str, FunctionEffect)],
    pub(super) path_methods: &'static [(&'static str, PathMethodEffect)],
    /// Names of methods whose effect does not depend on the object.
    pub(super) distinctive_methods: &'static [&'static str],
    /// Dotted names with a constant value.
    pub(super) constants: &'static [(&'static str, &'static str)],
    /// The name of the argument list, and how many elements precede the arguments.
    pub(super) argv: Option<(&'static str, usize)>,
    /// Names of the file that the source is in, and of its directory.
    pub(super) own_file: &'static [(&'static str, OwnFile)],
    /// The object whose members are environment variables.
    pub(super) environment: &'static str,
    pub(super) standard_streams: &'static [&'static str],
    /// Prefixes of global names that can be omitted: `globalThis.`.
    pub(super) global_prefixes: &'static [&'static str],
    /// Keywords before a value that do not change it.
    pub(super) prefix_keywords: &'static [&'static str],
    /// Functions that only inspect their arguments.
    pub(super) non_escaping_functions: &'static [&'static str],
    /// The operator that concatenates strings.
    pub(super) concat_operator: &'static str,
    /// True if functions can be called without parentheses.
    pub(super) bare_calls: bool,
}

/// A value that refers to the file that the source is in.
#[derive(Clone, Copy)]
pub(super) enum OwnFile {
    Path,
    Directory,
}

impl Dialect {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::Python => &python::DIALECT,
            Language::Node => &node::DIALECT,
            Language::Perl => &perl::DIALECT,
            Language::Ruby => &ruby::DIALECT,
        }
    }

    pub(super) fn argv_name(&self) -> Option<&'static str> {
        self.argv.map(|(name, _)| name)
    }

    /// Returns the argument list as a value. In an inline program, at most one element precedes the arguments, because
    /// there is no script file: `node -e`.
    pub(super) fn argv_value(&self, words: &[Option<String>], in_command: bool) -> Value {
        let names = self.argv.map_or(0, |(_, names)| if in_command { names.min(1) } else { names });
        let words = words.iter().map(|word| word.as_ref().map_or(Value::Unknown, Value::string));
        Value::List(std::iter::repeat_n(Value::Instance, names).chain(words).collect())
    }

    pub(super) fn function(&self, name: &str) -> Option<FunctionEffect> {
        let name = self.global_prefixes.iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name);
        self.exact_function(name).or_else(|| self.member_command(name)).or_else(|| {
            // Modules are members of the modules that import them: `shutil.os.remove`.
            let mut inner = inner_names(name).filter(|inner| inner.contains('.'));
            inner.find_map(|inner| self.exact_function(inner))
        })
    }

    /// Returns the first words of the command, and the members after its object: `reset` in `repo.git.reset`.
    pub(super) fn split_member_command<'n>(&self, name: &'n str) -> Option<(&'static [&'static str], Vec<&'n str>)> {
        self.command_objects.iter().find_map(|(owner, words)| {
            let members = name.strip_prefix(owner)?.strip_prefix('.')?;
            Some((*words, members.split('.').collect()))
        })
    }

    fn member_command(&self, name: &str) -> Option<FunctionEffect> {
        self.split_member_command(name).map(|_| FunctionEffect::MemberCommand)
    }

    /// True if the tables list members of the function's result: `zipfile.ZipFile().write`.
    pub(super) fn returns_known_object(&self, function: &str) -> bool {
        let is_member_of_result = |known: &str| known.strip_prefix(function).is_some_and(|rest| rest.starts_with("()"));
        self.functions.iter().any(|(known, _)| is_member_of_result(known))
            || self.command_objects.iter().any(|(owner, _)| is_member_of_result(owner))
    }

    fn exact_function(&self, name: &str) -> Option<FunctionEffect> {
        self.functions.iter().find(|(known, _)| *known == name).map(|(_, effect)| *effect)
    }

    /// True if functions with effects are members of this module or object.
    pub(super) fn has_effectful_members(&self, name: &str) -> bool {
        let is_member = |known: &str, name: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        // An object that only reads or unpacks may be passed on.
        let is_object = name.ends_with("()");
        let is_mild =
            |effect: &FunctionEffect| effect.only_reads() || matches!(effect, FunctionEffect::TouchOrDefault(..));
        let has_effect = |effect: &FunctionEffect| !(effect.is_harmless() || is_object && is_mild(effect));
        let has_effectful =
            |name: &str| self.functions.iter().any(|(known, effect)| has_effect(effect) && is_member(known, name));
        let has_forms = self.command_objects.iter().any(|(owner, _)| *owner == name || is_member(owner, name));
        has_effectful(name) || has_forms || inner_names(name).any(|inner| MUCH_USED_MODULES.contains(&inner))
    }

    /// True for the object that holds all global names.
    pub(super) fn is_global_object(&self, name: &str) -> bool {
        self.global_prefixes.iter().any(|root| root.strip_suffix('.') == Some(name))
    }
}

/// Modules that many other modules import, so that they are members of these.
const MUCH_USED_MODULES: &[&str] = &["os", "subprocess", "shutil", "fs", "child_process"];

/// Returns the name without its first segment, without its first two, and so on.
fn inner_names(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(|(place, _)| name.get(place + 1..))
}

impl FunctionEffect {
    fn only_reads(self) -> bool {
        matches!(self, Self::Touch(touches) if touches.iter().all(|(access, _)| *access == Access::Read))
    }

    /// True if the function only returns a value.
    pub(super) fn is_harmless(self) -> bool {
        matches!(
            self,
            Self::JoinPath
                | Self::ResolvePath
                | Self::MakePath
                | Self::Constant(_)
                | Self::EnvironmentVariable(_)
                | Self::SameString(_)
                | Self::MutateFirst
                | Self::NewTemporaryFile
                | Self::NewTemporaryIn(_)
                | Self::UnsetVariable(_)
                | Self::Glob
                | Self::Walk
                | Self::ListEntries
                | Self::ParentDirectory(_)
                | Self::Map
                | Self::DeclareOption
                | Self::ParseOptions
                | Self::ListNames
                | Self::Dedent(_)
                | Self::SameFunction
                | Self::SameList
                | Self::ReorderList
        )
    }
}
