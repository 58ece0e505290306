//! Guides: texts that prompts and other guides include.
//!
//! A guide is looked up by name in the `guides` folder of each tier, from the latest to the earliest, and then among
//! the bundled ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use engine::expr::Scope;
use engine::expr::template::{self, TemplateCheck};
use engine::rules::Tier;
use engine::suggest;

use super::bundled_guides::BundledGuide;
use crate::files::folder::PolicyFolder;
use crate::files::inputs::Inputs;
use crate::files::reading;
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::source::Source;

/// Looks up guides by name, and caches them.
pub struct Guides<'a> {
    /// Folders of the tiers, from the latest to the earliest.
    folders: Vec<&'a PolicyFolder>,
    bundled: &'a [BundledGuide],
    cache: RefCell<GuideCache>,
}

#[derive(Default)]
struct GuideCache {
    guides: BTreeMap<String, Result<Option<Source>, Box<Diagnostic>>>,
    inputs: Inputs<'static>,
}

impl<'a> Guides<'a> {
    pub fn new(folders: Vec<&'a PolicyFolder>, bundled: &'a [BundledGuide]) -> Self {
        Self { folders, bundled, cache: RefCell::default() }
    }

    /// Every file that a guide was looked up in, whether or not it exists.
    pub fn into_inputs(self) -> Inputs<'static> {
        self.cache.into_inner().inputs
    }

    fn get(&self, name: &str) -> Result<Option<Source>, Box<Diagnostic>> {
        let cached = self.cache.borrow().guides.get(name).cloned();
        cached.unwrap_or_else(|| {
            let mut cache = self.cache.borrow_mut();
            let guide = self.look_up(name, &mut cache.inputs);
            cache.guides.insert(name.to_owned(), guide.clone());
            guide
        })
    }

    fn look_up(&self, name: &str, inputs: &mut Inputs<'static>) -> Result<Option<Source>, Box<Diagnostic>> {
        for folder in &self.folders {
            let path = folder.guides().join(format!("{name}.md"));
            inputs.record(&path);
            if is_outside(&folder.guides(), &path) {
                let source = Source::new(folder.display_name(&path), "");
                let message = "this symlink leads out of the guides folder, so it is not followed";
                return Err(Box::new(Diagnostic::error(DiagnosticKind::Unreadable, message, &source, None)));
            }
            if let Some(source) = reading::read(folder, &path)? {
                return Ok(Some(source));
            }
        }
        Ok(self.bundled.iter().find(|guide| guide.name == name).map(BundledGuide::source))
    }

    /// A suggestion for projects that keep the guide where Hegel reads it: in `guides` at the top of the project.
    fn hegel_hint(&self, name: &str) -> Option<String> {
        let folder = self.folders.iter().find(|folder| folder.tier == Tier::Project)?;
        let file = folder.base.join("guides").join(format!("{name}.md"));
        let target = folder.display_name(&folder.guides());
        (is_name(name) && file.is_file())
            .then(|| format!("guides are read from `{target}`: copy `guides/{name}.md` there"))
    }

    /// A suggestion to create the guide's file.
    fn creation_hint(&self, name: &str) -> Option<String> {
        let folder = self.folders.first()?;
        Some(format!("create `{}`", folder.display_name(&folder.guides().join(format!("{name}.md")))))
    }

    fn names(&self) -> Vec<String> {
        let files = self.folders.iter().filter_map(|folder| reading::files_with_extension(&folder.guides(), "md").ok());
        let stems = files.flatten().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
        let mut names: Vec<String> = stems.chain(self.bundled.iter().map(|guide| guide.name.to_owned())).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn is_outside(folder: &Path, path: &Path) -> bool {
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => !path.starts_with(folder),
        _ => false,
    }
}

/// True for a name that cannot be a path.
fn is_name(name: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    !name.is_empty() && name.len() <= 100 && name.chars().all(is_allowed)
}

/// Checks the templates of one workflow or configuration, and collects the guides that they include.
pub struct Templates<'a> {
    guides: &'a Guides<'a>,
    /// The workflow or configuration that contains the templates, as messages name it.
    owner: String,
    scope: &'a Scope,
    /// Texts of the included guides, by name.
    pub texts: BTreeMap<String, String>,
    /// For each guide, the depth to which guides are nested in it.
    depths: BTreeMap<String, usize>,
    pub problems: Vec<Diagnostic>,
    /// `file:line:column` of the outermost inclusion that is being checked.
    include_location: String,
}

/// A template whose includes were checked.
struct CheckedTemplate {
    text: String,
    /// The depth to which guides are nested in the template; 0 if it includes none.
    depth: usize,
}

impl<'a> Templates<'a> {
    pub fn new(guides: &'a Guides<'a>, owner: String, scope: &'a Scope) -> Self {
        let (texts, depths, problems) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { guides, owner, scope, texts, depths, problems, include_location: String::new() }
    }

    /// Checks a template, and returns the text to render. `to_span` maps a range of `text` to a span of `source`.
    pub fn check(&mut self, text: &str, source: &Source, to_span: impl Fn(&Range<usize>) -> Range<usize>) -> String {
        self.check_nested(text, source, &to_span, &mut Vec::new()).text
    }

    /// `chain`: the guides that include this text, outermost first.
    fn check_nested(
        &mut self,
        text: &str,
        source: &Source,
        to_span: &dyn Fn(&Range<usize>) -> Range<usize>,
        chain: &mut Vec<String>,
    ) -> CheckedTemplate {
        let mut checked = template::check(text, self.scope);
        let text = self.rewrite_bare_guides(text, &mut checked);
        self.explain_hyphens(&text, &mut checked);
        for problem in checked.problems {
            let span = Some(to_span(&problem.span));
            // A guide can be valid in one workflow and invalid in another, so the message names the workflow.
            let message = match chain.as_slice() {
                [] => problem.message,
                _ => format!("{} (in a guide of {}, {})", problem.message, self.owner, self.include_location),
            };
            let diagnostic = Diagnostic::error(DiagnosticKind::InvalidExpression, message, source, span);
            self.problems.push(diagnostic.maybe_help(problem.help));
        }
        let mut depth = 0;
        for reference in checked.guides {
            let span = to_span(&reference.span);
            if chain.is_empty() {
                self.include_location = format!("{}:{}", source.name, source.position(span.start));
            }
            depth = depth.max(self.check_guide(&reference.name, source, span, chain));
        }
        CheckedTemplate { text, depth }
    }

    /// Supports Hegel's syntax for guides: `{{ NAME }}`, if no variable has that name. Returns the text with each of
    /// these replaced by `{{ guide('NAME') }}`.
    fn rewrite_bare_guides(&self, text: &str, checked: &mut TemplateCheck) -> String {
        let mut rewritten = text.to_owned();
        for reference in std::mem::take(&mut checked.bare_names).into_iter().rev() {
            let Some(index) = checked.problems.iter().position(|problem| problem.span == reference.span) else {
                continue;
            };
            if is_name(&reference.name) && matches!(self.guides.get(&reference.name), Ok(None)) {
                if let Some(problem) = checked.problems.get_mut(index) {
                    let close = suggest::closest(&reference.name, self.guides.names().iter().map(String::as_str))
                        .map(|close| format!("did you mean the guide `{close}`?"));
                    let fallback = problem.help.take().map(|help| {
                        let is_close = help.starts_with("did you mean");
                        let hint = self.guides.creation_hint(&reference.name).map(|hint| format!(": {hint}"));
                        let (name, hint) = (&reference.name, hint.unwrap_or_default());
                        if is_close { help } else { format!("no guide is named `{name}`{hint}; {help}") }
                    });
                    problem.help = self.guides.hegel_hint(&reference.name).or(close).or(fallback);
                }
                continue;
            }
            checked.problems.remove(index);
            rewritten.replace_range(reference.span.clone(), &format!("guide('{}')", reference.name));
            checked.guides.push(reference);
        }
        checked.guides.sort_by_key(|reference| reference.span.start);
        rewritten
    }

    /// `{{ A-B }}` is a subtraction. If there is a guide of that name, suggests the syntax for guides.
    fn explain_hyphens(&self, text: &str, checked: &mut TemplateCheck) {
        let name_around = |span: &Range<usize>| {
            let start = text.get(..span.start)?.rfind("{{")? + 2;
            let end = span.start + text.get(span.start..)?.find("}}")?;
            let name = text.get(start..end)?.trim();
            let is_guide = is_name(name) && name.contains('-') && matches!(self.guides.get(name), Ok(Some(_)));
            is_guide.then(|| (name.to_owned(), start..end))
        };
        let mut explained: Vec<Range<usize>> = Vec::new();
        checked.problems.retain_mut(|problem| {
            let Some((name, braces)) = name_around(&problem.span) else { return true };
            if explained.contains(&braces) {
                return false;
            }
            problem.message = format!("`{{{{ {name} }}}}` is read as a subtraction, because of the `-`");
            problem.help = Some(format!("to include the guide, write `{{{{ guide('{name}') }}}}`"));
            problem.span = braces.clone();
            explained.push(braces);
            true
        });
    }

    /// Checks an included guide. Returns the depth to which guides are nested in it, plus one.
    fn check_guide(&mut self, name: &str, source: &Source, span: Range<usize>, chain: &mut Vec<String>) -> usize {
        if let Some(start) = chain.iter().position(|guide| guide == name) {
            let cycle: Vec<&str> = chain.iter().skip(start).map(String::as_str).chain([name]).collect();
            let message = format!("guides include each other in a cycle: {}", cycle.join(" → "));
            self.problems.push(Diagnostic::error(DiagnosticKind::GuideCycle, message, source, Some(span)));
            return 0;
        }
        let depth = match self.depths.get(name) {
            Some(depth) => *depth,
            // The guide is nested too deeply already, so its contents need not be read.
            None if chain.len() == template::GUIDE_DEPTH => 1,
            None => self.read_guide(name, source, &span, chain),
        };
        if chain.len() + depth > template::GUIDE_DEPTH {
            let path: Vec<&str> = chain.iter().map(String::as_str).chain([name]).collect();
            let message = format!("guides are nested more than {} deep: {}", template::GUIDE_DEPTH, path.join(" → "));
            self.problems.push(Diagnostic::error(DiagnosticKind::GuideCycle, message, source, Some(span)));
            // Reported only here, not again for each guide of the chain.
            return 0;
        }
        depth
    }

    fn read_guide(&mut self, name: &str, source: &Source, span: &Range<usize>, chain: &mut Vec<String>) -> usize {
        let looked_up = if is_name(name) { self.guides.get(name) } else { Ok(None) };
        let guide = match looked_up {
            Ok(Some(guide)) => guide,
            Ok(None) => {
                self.problems.push(self.missing_guide(name, source, span.clone()));
                return 0;
            }
            Err(problem) => {
                self.problems.push(*problem);
                return 0;
            }
        };
        chain.push(name.to_owned());
        let checked = self.check_nested(&guide.text, &guide, &Range::clone, chain);
        let depth = 1 + checked.depth;
        chain.pop();
        self.depths.insert(name.to_owned(), depth);
        self.texts.insert(name.to_owned(), checked.text);
        depth
    }

    fn missing_guide(&self, name: &str, source: &Source, span: Range<usize>) -> Diagnostic {
        if !is_name(name) {
            return Diagnostic::error(
                DiagnosticKind::MissingGuide,
                format!("invalid guide name `{name}`"),
                source,
                Some(span),
            )
            .help("write the name without folder and `.md`; it may have letters, digits, `-` and `_`");
        }
        let known_guides = self.guides.names();
        let hegel_hint = self.guides.hegel_hint(name);
        let creation_hint = self.guides.creation_hint(name);
        let creation_hint =
            creation_hint.unwrap_or_else(|| "a guide is a file `NAME.md` in the folder `guides`".to_owned());
        let help = suggest::closest(name, known_guides.iter().map(String::as_str)).map_or_else(
            || match known_guides.as_slice() {
                [] => creation_hint,
                known => format!("{creation_hint}; known guides: {}", known.join(", ")),
            },
            suggest::did_you_mean,
        );
        let help = hegel_hint.unwrap_or(help);
        Diagnostic::error(DiagnosticKind::MissingGuide, format!("unknown guide `{name}`"), source, Some(span))
            .help(help)
    }
}
