//! What must be known of each language: its words, its signs, and what its functions do.

mod node;
mod perl;
mod python;
mod ruby;

use crate::Language;
use crate::function_effect::{FunctionEffect, PathMethodEffect};
use crate::value::Value;
use path::Access;

pub(super) struct Dialect {
    /// The program that runs a file of the language.
    pub(super) interpreter: &'static str,
    /// Functions by their full dotted names.
    pub(super) functions: &'static [(&'static str, FunctionEffect)],
    /// What all members of something are: programs, or forms of one. `git.Repo()` is what that call gives.
    pub(super) forms: &'static [(&'static str, &'static [&'static str])],
    /// Methods of what a module hands to the functions of a text: the module, the method, and what it does.
    pub(super) handed: &'static [(&'static str, &'static str, FunctionEffect)],
    /// Methods of path objects.
    pub(super) path_methods: &'static [(&'static str, PathMethodEffect)],
    /// Names of methods that say what they do, whatever they are called on.
    pub(super) telling_methods: &'static [&'static str],
    /// Dotted names that are constants.
    pub(super) constants: &'static [(&'static str, &'static str)],
    /// The list of what a text is given, and how many names stand before that.
    pub(super) given: Option<(&'static str, usize)>,
    /// Names of the file that a text stands in, and of its folder.
    pub(super) own_file: &'static [(&'static str, Own)],
    /// What the variables of the environment are members of.
    pub(super) environment: &'static str,
    /// Names of standard streams.
    pub(super) streams: &'static [&'static str],
    /// Names of folders of names that mean the same without them.
    pub(super) roots: &'static [&'static str],
    /// Words before a value that do not change it.
    pub(super) prefixes: &'static [&'static str],
    /// Functions that only look at what they are given.
    pub(super) onlookers: &'static [&'static str],
    /// Puts two texts together.
    pub(super) concat: &'static str,
    /// Whether a function is called without parentheses too.
    pub(super) bare_calls: bool,
}

/// Of the file that a text stands in.
#[derive(Clone, Copy)]
pub(super) enum Own {
    File,
    Folder,
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

    pub(super) fn given_name(&self) -> Option<&'static str> {
        self.given.map(|(name, _)| name)
    }

    /// That list. `node -e` has one name less before them.
    pub(super) fn given(&self, words: &[Option<String>], in_command: bool) -> Value {
        let names = self.given.map_or(0, |(_, names)| if in_command { names.min(1) } else { names });
        let words = words.iter().map(|word| word.as_ref().map_or(Value::Unknown, Value::text));
        Value::List(std::iter::repeat_n(Value::Instance, names).chain(words).collect())
    }

    pub(super) fn function(&self, name: &str) -> Option<FunctionEffect> {
        let name = self.roots.iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name);
        self.named(name).or_else(|| self.form(name)).or_else(|| {
            // A module has the modules that it uses as members: `shutil.os.remove`.
            let mut inner = inner_names(name).filter(|inner| inner.contains('.'));
            inner.find_map(|inner| self.named(inner))
        })
    }

    /// Words of a form stand in the name: `sh.git.reset`.
    pub(super) fn form_words<'n>(&self, name: &'n str) -> Option<(&'static [&'static str], Vec<&'n str>)> {
        self.forms.iter().find_map(|(owner, words)| {
            let members = name.strip_prefix(owner)?.strip_prefix('.')?;
            Some((*words, members.split('.').collect()))
        })
    }

    fn form(&self, name: &str) -> Option<FunctionEffect> {
        self.form_words(name).map(|_| FunctionEffect::Form)
    }

    /// Whether members of what a function gives are known: `zipfile.ZipFile().write`.
    pub(super) fn gives_object(&self, function: &str) -> bool {
        let is_its = |known: &str| known.strip_prefix(function).is_some_and(|rest| rest.starts_with("()"));
        self.functions.iter().any(|(known, _)| is_its(known)) || self.forms.iter().any(|(owner, _)| is_its(owner))
    }

    fn named(&self, name: &str) -> Option<FunctionEffect> {
        self.functions.iter().find(|(known, _)| *known == name).map(|(_, effect)| *effect)
    }

    /// Whether functions that do something are members of this.
    pub(super) fn is_telling_module(&self, name: &str) -> bool {
        let is_member = |known: &str, name: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        // What only reads or unpacks may be handed on.
        let is_object = name.ends_with("()");
        let is_mild = |effect: &FunctionEffect| effect.only_reads() || matches!(effect, FunctionEffect::TouchOr(..));
        let does = |effect: &FunctionEffect| !(effect.is_harmless() || is_object && is_mild(effect));
        let tells = |name: &str| self.functions.iter().any(|(known, effect)| does(effect) && is_member(known, name));
        let has_forms = self.forms.iter().any(|(owner, _)| *owner == name || is_member(owner, name));
        tells(name) || has_forms || inner_names(name).any(|inner| MUCH_USED_MODULES.contains(&inner))
    }

    /// Whether everything there is can be found in this.
    pub(super) fn is_root(&self, name: &str) -> bool {
        self.roots.iter().any(|root| root.strip_suffix('.') == Some(name))
    }
}

/// Modules that are found as members of many others.
const MUCH_USED_MODULES: &[&str] = &["os", "subprocess", "shutil", "fs", "child_process"];

/// The name without its first part, without its first two, and so on.
fn inner_names(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(|(place, _)| name.get(place + 1..))
}

impl FunctionEffect {
    fn only_reads(self) -> bool {
        matches!(self, Self::Touch(touches) if touches.iter().all(|(access, _)| *access == Access::Read))
    }

    /// Whether it only gives a value.
    pub(super) fn is_harmless(self) -> bool {
        matches!(
            self,
            Self::JoinPath
                | Self::ResolvePath
                | Self::MakePath
                | Self::Gives(_)
                | Self::Variable(_)
                | Self::Same(_)
                | Self::Changes
                | Self::Temporary
                | Self::NewIn(_)
                | Self::Forgets(_)
                | Self::Glob
                | Self::Walks
                | Self::Entries
                | Self::Folder(_)
                | Self::Maps
                | Self::Option
                | Self::Options
                | Self::Names
                | Self::Dedents(_)
                | Self::Wraps
                | Self::Passes
                | Self::Reorders
        )
    }
}
