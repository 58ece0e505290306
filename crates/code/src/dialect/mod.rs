//! Tables for each language: its functions with their effects, its constants, keywords and operators.

mod javascript;
mod perl;
mod python;
mod ruby;

use crate::Language;
use crate::function_effect::{FunctionEffect, PathMethodEffect};
use crate::value::Value;
use path::Access;

pub(super) struct Dialect {
    /// The program that runs source files of the language.
    pub(super) interpreter: &'static str,
    /// The effects of functions, by their dotted names. The name of a module that is also a common variable name begins
    /// with `@`: the module is recognized only if the program imports it.
    pub(super) functions: &'static [(&'static str, FunctionEffect)],
    /// Objects whose members run subcommands of a program: the object, and the first words of the command. `()` stands
    /// for the result of a call: `git.Repo()`.
    pub(super) command_objects: &'static [(&'static str, &'static [&'static str])],
    /// Methods of objects that a module passes to callbacks of the program: the module, the method, and its effect.
    pub(super) callback_methods: &'static [(&'static str, &'static str, FunctionEffect)],
    /// Methods of path objects, with their effects.
    pub(super) path_methods: &'static [(&'static str, PathMethodEffect)],
    /// Names of methods that are so specific that they show the effect even if the object is unknown.
    pub(super) distinctive_methods: &'static [&'static str],
    /// Dotted names that stand for constants, each with its value.
    pub(super) constants: &'static [(&'static str, &'static str)],
    /// The name of the list of command line arguments, and the number of elements before the first argument.
    pub(super) argv: Option<(&'static str, usize)>,
    /// Constants for the path of the source file, or of its directory.
    pub(super) source_file_constants: &'static [(&'static str, SourceFileConstant)],
    /// The name of the object whose members are environment variables.
    pub(super) environment: &'static str,
    /// The names of stdin, stdout and stderr.
    pub(super) standard_streams: &'static [&'static str],
    /// Prefixes that a global name can have and that do not change its meaning: `globalThis.`.
    pub(super) global_prefixes: &'static [&'static str],
    /// Keywords that can precede a value or a statement without changing its effects.
    pub(super) prefix_keywords: &'static [&'static str],
    /// Functions that only inspect their arguments: arguments do not escape through a call of them.
    pub(super) non_escaping_functions: &'static [&'static str],
    /// The operator that concatenates strings.
    pub(super) concat_operator: &'static str,
    /// True if functions can be called without parentheses.
    pub(super) allows_bare_calls: bool,
}

/// The meaning of a constant such as `__file__`.
#[derive(Clone, Copy)]
pub(super) enum SourceFileConstant {
    Path,
    Directory,
}

impl Dialect {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::Python => &python::DIALECT,
            Language::JavaScript => &javascript::DIALECT,
            Language::Perl => &perl::DIALECT,
            Language::Ruby => &ruby::DIALECT,
        }
    }

    pub(super) fn argv_name(&self) -> Option<&'static str> {
        self.argv.map(|(name, _)| name)
    }

    /// Returns the list of command line arguments as a value. In an inline program (`node -e`), at most one element
    /// precedes the arguments, because there is no script file.
    pub(super) fn argv_value(&self, words: &[Option<String>], is_inline: bool) -> Value {
        let count_before = self.argv.map_or(0, |(_, count)| if is_inline { count.min(1) } else { count });
        let words = words.iter().map(|word| word.as_ref().map_or(Value::Unknown, Value::string));
        Value::List(std::iter::repeat_n(Value::ArgvPrefix, count_before).chain(words).collect())
    }

    /// Returns the effect of a function by its dotted name.
    pub(super) fn function_effect(&self, name: &str) -> Option<FunctionEffect> {
        let name = self.global_prefixes.iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name);
        self.exact_function_effect(name).or_else(|| self.member_command_effect(name)).or_else(|| {
            // A module that imports another one has it as a member: `shutil.os.remove`.
            let mut inner = name_suffixes(name).filter(|inner| inner.contains('.'));
            inner.find_map(|inner| self.exact_function_effect(inner))
        })
    }

    /// Splits the name of a member of a command object. Returns the first words of the command, and the names after the
    /// object: for `repo.git.reset`, the word `git` and the name `reset`.
    pub(super) fn split_member_command<'n>(&self, name: &'n str) -> Option<(&'static [&'static str], Vec<&'n str>)> {
        self.command_objects.iter().find_map(|(object, words)| {
            let members = name.strip_prefix(object)?.strip_prefix('.')?;
            Some((*words, members.split('.').collect()))
        })
    }

    fn member_command_effect(&self, name: &str) -> Option<FunctionEffect> {
        self.split_member_command(name).map(|_| FunctionEffect::MemberCommand)
    }

    /// True if the tables contain members of the function's result: `zipfile.ZipFile().write`.
    pub(super) fn returns_known_object(&self, function: &str) -> bool {
        let is_member_of_result =
            |listed: &str| listed.strip_prefix(function).is_some_and(|rest| rest.starts_with("()"));
        self.functions.iter().any(|(listed, _)| is_member_of_result(listed))
            || self.command_objects.iter().any(|(object, _)| is_member_of_result(object))
    }

    fn exact_function_effect(&self, name: &str) -> Option<FunctionEffect> {
        self.functions.iter().find(|(listed, _)| *listed == name).map(|(_, effect)| *effect)
    }

    /// True if some member of this module or object is a function with effects.
    pub(super) fn has_effectful_members(&self, name: &str) -> bool {
        let is_member = |listed: &str, name: &str| listed.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        // An object whose functions only read or unpack files does not count: it may be passed to code that the
        // analysis does not follow.
        let is_object = name.ends_with("()");
        let is_limited =
            |effect: &FunctionEffect| effect.only_reads() || matches!(effect, FunctionEffect::AccessOrDefault(..));
        let has_effect = |effect: &FunctionEffect| !(effect.is_harmless() || is_object && is_limited(effect));
        let has_effectful =
            |name: &str| self.functions.iter().any(|(listed, effect)| has_effect(effect) && is_member(listed, name));
        let has_commands = self.command_objects.iter().any(|(object, _)| *object == name || is_member(object, name));
        has_effectful(name) || has_commands || name_suffixes(name).any(|inner| WIDELY_IMPORTED_MODULES.contains(&inner))
    }

    /// True for the object whose members are all global names.
    pub(super) fn is_global_object(&self, name: &str) -> bool {
        self.global_prefixes.iter().any(|root| root.strip_suffix('.') == Some(name))
    }
}

/// Modules that many other modules import. Their functions can therefore be called as members of these other modules.
const WIDELY_IMPORTED_MODULES: &[&str] = &["os", "subprocess", "shutil", "fs", "child_process"];

/// Returns the name without its first segment, without its first two, and so on.
fn name_suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(|(index, _)| name.get(index + 1..))
}

impl FunctionEffect {
    fn only_reads(self) -> bool {
        matches!(self, Self::Access(accesses) if accesses.iter().all(|(access, _)| *access == Access::Read))
    }

    /// True if the function does at most this: compute a value, change the program's own state, list files, or create a
    /// temporary file.
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
                | Self::NewTemporaryPath(_)
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
