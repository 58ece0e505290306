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
    /// Functions by their dotted names. An `@` begins modules whose names are also common variable names: they must be
    /// imported.
    pub(super) functions: &'static [(&'static str, FunctionEffect)],
    /// Objects whose members are subcommands: the object, and the first words of the command. `()` stands for the
    /// result of a call: `git.Repo()`.
    pub(super) command_objects: &'static [(&'static str, &'static [&'static str])],
    /// Methods of an object that a module passes to functions of the program: the module, the method, and its effect.
    pub(super) callback_methods: &'static [(&'static str, &'static str, FunctionEffect)],
    /// Methods of path objects.
    pub(super) path_methods: &'static [(&'static str, PathMethodEffect)],
    /// Method names that are specific enough to tell the effect even if the object is unknown.
    pub(super) distinctive_methods: &'static [&'static str],
    /// Dotted names with a constant value.
    pub(super) constants: &'static [(&'static str, &'static str)],
    /// The name of the list of command line arguments, and the number of elements before the first argument.
    pub(super) argv: Option<(&'static str, usize)>,
    /// Constants for the path of the source file, or of its directory.
    pub(super) source_file_constants: &'static [(&'static str, SourceFileConstant)],
    /// The object whose members are environment variables.
    pub(super) environment: &'static str,
    /// The names of stdin, stdout and stderr.
    pub(super) standard_streams: &'static [&'static str],
    /// Prefixes of global names that can be omitted: `globalThis.`.
    pub(super) global_prefixes: &'static [&'static str],
    /// Keywords that may precede a value or statement, and do not change its effects.
    pub(super) prefix_keywords: &'static [&'static str],
    /// Functions that inspect their arguments, but do not call or store them.
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
    /// precedes them, because there is no script file.
    pub(super) fn argv_value(&self, words: &[Option<String>], is_inline: bool) -> Value {
        let count_before = self.argv.map_or(0, |(_, count)| if is_inline { count.min(1) } else { count });
        let words = words.iter().map(|word| word.as_ref().map_or(Value::Unknown, Value::string));
        Value::List(std::iter::repeat_n(Value::Instance, count_before).chain(words).collect())
    }

    /// Returns the effect of a function by its dotted name.
    pub(super) fn function(&self, name: &str) -> Option<FunctionEffect> {
        let name = self.global_prefixes.iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name);
        self.exact_function(name).or_else(|| self.member_command(name)).or_else(|| {
            // A module has the modules that it imports as members: `shutil.os.remove`.
            let mut inner = name_suffixes(name).filter(|inner| inner.contains('.'));
            inner.find_map(|inner| self.exact_function(inner))
        })
    }

    /// Returns the first words of the command, and the members after its object: `reset` in `repo.git.reset`.
    pub(super) fn split_member_command<'n>(&self, name: &'n str) -> Option<(&'static [&'static str], Vec<&'n str>)> {
        self.command_objects.iter().find_map(|(object, words)| {
            let members = name.strip_prefix(object)?.strip_prefix('.')?;
            Some((*words, members.split('.').collect()))
        })
    }

    fn member_command(&self, name: &str) -> Option<FunctionEffect> {
        self.split_member_command(name).map(|_| FunctionEffect::MemberCommand)
    }

    /// True if the tables list members of the function's result: `zipfile.ZipFile().write`.
    pub(super) fn returns_known_object(&self, function: &str) -> bool {
        let is_member_of_result =
            |listed: &str| listed.strip_prefix(function).is_some_and(|rest| rest.starts_with("()"));
        self.functions.iter().any(|(listed, _)| is_member_of_result(listed))
            || self.command_objects.iter().any(|(object, _)| is_member_of_result(object))
    }

    fn exact_function(&self, name: &str) -> Option<FunctionEffect> {
        self.functions.iter().find(|(listed, _)| *listed == name).map(|(_, effect)| *effect)
    }

    /// True if some member of this module or object is a function with effects.
    pub(super) fn has_effectful_members(&self, name: &str) -> bool {
        let is_member = |listed: &str, name: &str| listed.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        // Unknown code may get a file object that can only read or unpack files.
        let is_object = name.ends_with("()");
        let is_limited =
            |effect: &FunctionEffect| effect.only_reads() || matches!(effect, FunctionEffect::AccessOrDefault(..));
        let has_effect = |effect: &FunctionEffect| !(effect.is_harmless() || is_object && is_limited(effect));
        let has_effectful =
            |name: &str| self.functions.iter().any(|(listed, effect)| has_effect(effect) && is_member(listed, name));
        let has_commands = self.command_objects.iter().any(|(object, _)| *object == name || is_member(object, name));
        has_effectful(name) || has_commands || name_suffixes(name).any(|inner| WIDELY_IMPORTED_MODULES.contains(&inner))
    }

    /// True for the object that holds all global names.
    pub(super) fn is_global_object(&self, name: &str) -> bool {
        self.global_prefixes.iter().any(|root| root.strip_suffix('.') == Some(name))
    }
}

/// Modules that many others import, so that their members can be reached through these.
const WIDELY_IMPORTED_MODULES: &[&str] = &["os", "subprocess", "shutil", "fs", "child_process"];

/// Returns the name without its first segment, without its first two, and so on.
fn name_suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(|(index, _)| name.get(index + 1..))
}

impl FunctionEffect {
    fn only_reads(self) -> bool {
        matches!(self, Self::Access(accesses) if accesses.iter().all(|(access, _)| *access == Access::Read))
    }

    /// True if the function has no effects outside of the program.
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
