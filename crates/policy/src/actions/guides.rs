//! Guides: texts that prompts put into themselves, and that may do so with others.
//!
//! They are looked for by name in the `guides` folder of each tier, nearest first, and nowhere else.

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
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::source::Source;

/// Every guide that can be named.
pub struct Guides<'a> {
    /// Nearest first.
    folders: Vec<&'a PolicyFolder>,
    bundled: &'a [BundledGuide],
    read: RefCell<Read>,
}

#[derive(Default)]
struct Read {
    guides: BTreeMap<String, Result<Option<Source>, Box<Diagnostic>>>,
    inputs: Inputs<'static>,
}

impl<'a> Guides<'a> {
    pub fn new(folders: Vec<&'a PolicyFolder>, bundled: &'a [BundledGuide]) -> Self {
        Self { folders, bundled, read: RefCell::default() }
    }

    /// The files that were looked at.
    pub fn into_inputs(self) -> Inputs<'static> {
        self.read.into_inner().inputs
    }

    fn get(&self, name: &str) -> Result<Option<Source>, Box<Diagnostic>> {
        let known = self.read.borrow().guides.get(name).cloned();
        known.unwrap_or_else(|| {
            let mut read = self.read.borrow_mut();
            let found = self.look_for(name, &mut read.inputs);
            read.guides.insert(name.to_owned(), found.clone());
            found
        })
    }

    fn look_for(&self, name: &str, inputs: &mut Inputs<'static>) -> Result<Option<Source>, Box<Diagnostic>> {
        for folder in &self.folders {
            let path = folder.guides().join(format!("{name}.md"));
            inputs.note(&path);
            if leads_out(&folder.guides(), &path) {
                let source = Source::new(folder.shown(&path), "");
                let message = "a link that leads out of the folder of guides is not followed";
                return Err(Box::new(Diagnostic::error(ErrorKind::Unreadable, message, &source, None)));
            }
            if let Some(source) = reading::read(folder, &path)? {
                return Ok(Some(source));
            }
        }
        Ok(self.bundled.iter().find(|guide| guide.name == name).map(BundledGuide::source))
    }

    /// What to do with a guide that lies in the project's own `guides` folder, where Hegel has them.
    fn elsewhere(&self, name: &str) -> Option<String> {
        let folder = self.folders.iter().find(|folder| folder.tier == Tier::Project)?;
        let file = folder.base.join("guides").join(format!("{name}.md"));
        let target = folder.shown(&folder.guides());
        (is_name(name) && file.is_file())
            .then(|| format!("copy `guides/{name}.md` into `{target}`: guides are read from there"))
    }

    /// Where a guide of this name would be read from.
    fn place_for(&self, name: &str) -> Option<String> {
        let folder = self.folders.first()?;
        Some(format!("create `{}`", folder.shown(&folder.guides().join(format!("{name}.md")))))
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

fn leads_out(folder: &Path, path: &Path) -> bool {
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => !path.starts_with(folder),
        _ => false,
    }
}

/// A name and nothing that could be a path.
fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= 100 && name.chars().all(allowed)
}

/// The texts of one workflow that are templates, checked with all the guides that they reach.
pub struct Templates<'a> {
    guides: &'a Guides<'a>,
    /// What the texts are of, as people call it.
    owner: String,
    scope: &'a Scope,
    /// The guides that were reached.
    pub texts: BTreeMap<String, String>,
    /// How many guides each of them has within itself, one in another.
    heights: BTreeMap<String, usize>,
    pub problems: Vec<Diagnostic>,
    /// Where the workflow names the guide that is being followed.
    place: String,
}

/// A text whose guides were followed.
struct Followed {
    text: String,
    /// How many guides lie in each other.
    height: usize,
}

impl<'a> Templates<'a> {
    pub fn new(guides: &'a Guides<'a>, owner: String, scope: &'a Scope) -> Self {
        let (texts, heights, problems) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { guides, owner, scope, texts, heights, problems, place: String::new() }
    }

    /// Returns the text to render. `place` tells where in the source a part of the text is.
    pub fn check(&mut self, text: &str, source: &Source, place: impl Fn(&Range<usize>) -> Range<usize>) -> String {
        self.follow(text, source, &place, &mut Vec::new()).text
    }

    fn follow(
        &mut self,
        text: &str,
        source: &Source,
        place: &dyn Fn(&Range<usize>) -> Range<usize>,
        chain: &mut Vec<String>,
    ) -> Followed {
        let mut checked = template::check(text, self.scope);
        let text = self.take_bare_guides(text, &mut checked);
        self.explain_hyphens(&text, &mut checked);
        for problem in checked.problems {
            let span = Some(place(&problem.span));
            // One guide may be right for one workflow and wrong for another.
            let message = match chain.as_slice() {
                [] => problem.message,
                _ => format!("{} (in a guide of {}, {})", problem.message, self.owner, self.place),
            };
            let found = Diagnostic::error(ErrorKind::InvalidExpression, message, source, span);
            self.problems.push(found.maybe_help(problem.help));
        }
        let mut height = 0;
        for mention in checked.guides {
            let span = place(&mention.span);
            if chain.is_empty() {
                self.place = format!("{}:{}", source.name, source.position(span.start));
            }
            height = height.max(self.guide(&mention.name, source, span, chain));
        }
        Followed { text, height }
    }

    /// `{{ NAME }}` is the guide of that name where the name means nothing else: Hegel writes guides so. Returns the text
    /// with each of these as `{{ guide('NAME') }}`.
    fn take_bare_guides(&self, text: &str, checked: &mut TemplateCheck) -> String {
        let mut rewritten = text.to_owned();
        for mention in std::mem::take(&mut checked.bare_names).into_iter().rev() {
            let Some(at) = checked.problems.iter().position(|problem| problem.span == mention.span) else { continue };
            if is_name(&mention.name) && matches!(self.guides.get(&mention.name), Ok(None)) {
                if let Some(problem) = checked.problems.get_mut(at) {
                    let close = suggest::closest(&mention.name, self.guides.names().iter().map(String::as_str))
                        .map(|close| format!("did you mean the guide `{close}`?"));
                    let own = problem.help.take().map(|help| {
                        let is_close = help.starts_with("did you mean");
                        let place = self.guides.place_for(&mention.name).map(|place| format!(": {place}"));
                        let (name, place) = (&mention.name, place.unwrap_or_default());
                        if is_close { help } else { format!("there is no guide `{name}` either{place}; {help}") }
                    });
                    problem.help = self.guides.elsewhere(&mention.name).or(close).or(own);
                }
                continue;
            }
            checked.problems.remove(at);
            rewritten.replace_range(mention.span.clone(), &format!("guide('{}')", mention.name));
            checked.guides.push(mention);
        }
        checked.guides.sort_by_key(|mention| mention.span.start);
        rewritten
    }

    /// `{{ A-B }}` is a difference. Where there is a guide of that name, it is what was meant.
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
            problem.message = format!("`{{{{ {name} }}}}` is read as a difference, because of the `-`");
            problem.help = Some(format!("for the guide, write `{{{{ guide('{name}') }}}}`"));
            problem.span = braces.clone();
            explained.push(braces);
            true
        });
    }

    fn guide(&mut self, name: &str, source: &Source, span: Range<usize>, chain: &mut Vec<String>) -> usize {
        if let Some(start) = chain.iter().position(|known| known == name) {
            let circle: Vec<&str> = chain.iter().skip(start).map(String::as_str).chain([name]).collect();
            let message = format!("guides go in a circle: {}", circle.join(" → "));
            self.problems.push(Diagnostic::error(ErrorKind::GuideCycle, message, source, Some(span)));
            return 0;
        }
        let height = match self.heights.get(name) {
            Some(height) => *height,
            // It would be one too many, whatever it holds.
            None if chain.len() == template::GUIDE_DEPTH => 1,
            None => self.read(name, source, &span, chain),
        };
        if chain.len() + height > template::GUIDE_DEPTH {
            let way: Vec<&str> = chain.iter().map(String::as_str).chain([name]).collect();
            let message = format!("more than {} guides lie in each other: {}", template::GUIDE_DEPTH, way.join(" → "));
            self.problems.push(Diagnostic::error(ErrorKind::GuideCycle, message, source, Some(span)));
            // Said once, not by every text on the way.
            return 0;
        }
        height
    }

    fn read(&mut self, name: &str, source: &Source, span: &Range<usize>, chain: &mut Vec<String>) -> usize {
        let found = if is_name(name) { self.guides.get(name) } else { Ok(None) };
        let guide = match found {
            Ok(Some(guide)) => guide,
            Ok(None) => {
                self.problems.push(self.missing(name, source, span.clone()));
                return 0;
            }
            Err(problem) => {
                self.problems.push(*problem);
                return 0;
            }
        };
        chain.push(name.to_owned());
        let followed = self.follow(&guide.text, &guide, &Range::clone, chain);
        let height = 1 + followed.height;
        chain.pop();
        self.heights.insert(name.to_owned(), height);
        self.texts.insert(name.to_owned(), followed.text);
        height
    }

    fn missing(&self, name: &str, source: &Source, span: Range<usize>) -> Diagnostic {
        if !is_name(name) {
            return Diagnostic::error(
                ErrorKind::MissingGuide,
                format!("`{name}` cannot name a guide"),
                source,
                Some(span),
            )
            .help("a guide is named without a folder and without `.md`: letters, digits, `-` and `_`");
        }
        let known = self.guides.names();
        let elsewhere = self.guides.elsewhere(name);
        let place = self.guides.place_for(name);
        let place = place.unwrap_or_else(|| "a guide is a file `NAME.md` in the folder `guides`".to_owned());
        let help = suggest::closest(name, known.iter().map(String::as_str)).map_or_else(
            || match known.as_slice() {
                [] => place,
                known => format!("{place}; the guides are {}", known.join(", ")),
            },
            suggest::did_you_mean,
        );
        let help = elsewhere.unwrap_or(help);
        Diagnostic::error(ErrorKind::MissingGuide, format!("there is no guide `{name}`"), source, Some(span)).help(help)
    }
}
