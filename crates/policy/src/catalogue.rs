//! Every rule that is written down, by tier and name, and which of them a name means.

use std::collections::BTreeMap;

use engine::rules::Tier;

use crate::library::Library;
use crate::rule::definition::{Definition, Form};
use crate::text::diagnostic::{Diagnostic, ErrorKind};
use crate::text::fields::Text;
use crate::text::source::Source;

/// From a tier outwards.
const OUTWARDS: [Tier; 3] = [Tier::Project, Tier::User, Tier::Bundled];

#[derive(Debug, Default)]
pub struct Catalogue {
    definitions: BTreeMap<(Tier, String), Definition>,
    libraries: BTreeMap<(Tier, String), Library>,
}

impl Catalogue {
    /// The same name twice in one tier is a mistake; the first stands.
    pub fn add(&mut self, definition: Definition) -> Result<(), Box<Diagnostic>> {
        let key = (definition.owner, definition.rule.id.clone());
        let Some(first) = self.definitions.get(&key) else {
            self.definitions.insert(key, definition);
            return Ok(());
        };
        let (id, tier) = (&definition.rule.id, definition.owner.name());
        let message = format!("the {tier} tier has two rules named `{id}`: this one and {}", first.shown_place());
        let start = definition.text.start;
        Err(Box::new(
            Diagnostic::error(ErrorKind::DuplicateRule, message, &definition.source, Some(start..start))
                .help("give one of them another name; until then the first counts")
                .of_rule(id),
        ))
    }

    pub fn add_library(&mut self, library: Library) {
        self.libraries.insert((library.owner, library.name.clone()), library);
    }

    /// What a tier itself says.
    pub fn of_tier(&self, tier: Tier) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().filter(move |((owner, _), _)| *owner == tier).map(|(_, definition)| definition)
    }

    /// The rule that a name means in a file of this tier.
    pub fn resolve(&self, id: &str, from: Tier) -> Option<&Definition> {
        let mut tiers = OUTWARDS.into_iter().filter(|tier| *tier >= from);
        tiers.find_map(|tier| self.definitions.get(&(tier, id.to_owned())))
    }

    pub fn library(&self, name: &str, from: Tier) -> Option<&Library> {
        let mut tiers = OUTWARDS.into_iter().filter(|tier| *tier >= from);
        tiers.find_map(|tier| self.libraries.get(&(tier, name.to_owned())))
    }

    /// Every name that means something in a file of this tier.
    pub fn names(&self, from: Tier) -> impl Iterator<Item = &str> {
        self.definitions.keys().filter(move |(tier, _)| *tier >= from).map(|(_, id)| id.as_str())
    }

    pub fn into_parts(self) -> (impl Iterator<Item = Definition>, Vec<Library>) {
        (self.definitions.into_values(), self.libraries.into_values().collect())
    }

    /// Made again from what was told apart; rules that only their own file can name are no part of it.
    pub fn from_parts(definitions: &[Definition], libraries: &[Library]) -> Self {
        let mut catalogue = Self::default();
        for definition in definitions.iter().filter(|known| !matches!(known.form, Form::Local | Form::Inline)) {
            let key = (definition.owner, definition.rule.id.clone());
            catalogue.definitions.insert(key, definition.clone());
        }
        for library in libraries {
            catalogue.add_library(library.clone());
        }
        catalogue
    }

    /// The rules that a list of imports brings, by name: a later one wins over an earlier one, a library's own rules
    /// over those that it imports.
    pub fn imported(&self, imports: &[Text], source: &Source, from: Tier) -> Imported<'_> {
        let mut imported = Imported::new(self);
        imported.follow(imports, source, from);
        imported
    }

    /// What is wrong with the imports of libraries, whether or not anything imports them.
    pub fn import_problems(&self) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> = Vec::new();
        for library in self.libraries.values() {
            let mut imported = Imported::new(self);
            imported.chain.push(library.name.clone());
            imported.follow(&library.imports, &library.source, library.owner);
            for problem in imported.problems {
                // A circle is found once from each of its libraries, what is missing on every way that leads there.
                let is_known = |known: &Diagnostic| {
                    known.message == problem.message
                        || (known.source.name == problem.source.name && known.span == problem.span)
                };
                if !problems.iter().any(is_known) {
                    problems.push(problem);
                }
            }
        }
        problems
    }
}

/// More than any honest policy has; a few libraries that import each other twice would otherwise go on for ever.
const STEPS_LIMIT: usize = 1_000;

pub struct Imported<'a> {
    catalogue: &'a Catalogue,
    /// The libraries on the way here.
    chain: Vec<String>,
    steps: usize,
    pub rules: BTreeMap<String, &'a Definition>,
    pub problems: Vec<Diagnostic>,
}

impl<'a> Imported<'a> {
    fn new(catalogue: &'a Catalogue) -> Self {
        Self { catalogue, chain: Vec::new(), steps: 0, rules: BTreeMap::new(), problems: Vec::new() }
    }

    fn follow(&mut self, imports: &[Text], source: &Source, from: Tier) {
        for import in imports {
            self.steps += 1;
            if self.steps > STEPS_LIMIT {
                if self.steps == STEPS_LIMIT + 1 {
                    self.refuse(
                        ErrorKind::TooLarge,
                        "these imports lead to more libraries than are read",
                        source,
                        import,
                    );
                }
                return;
            }
            if let Some(start) = self.chain.iter().position(|name| *name == import.value) {
                let message =
                    format!("imports go in a circle: {}", circle(self.chain.get(start..).unwrap_or_default()));
                self.refuse(ErrorKind::ImportCycle, &message, source, import);
                continue;
            }
            let Some(library) = self.catalogue.library(&import.value, from) else {
                self.refuse_missing(source, import, from);
                continue;
            };
            self.chain.push(library.name.clone());
            self.follow(&library.imports, &library.source, library.owner);
            self.chain.pop();
            let own = self.catalogue.of_tier(library.owner).filter(|rule| rule.source.name == library.source.name);
            self.rules.extend(own.map(|definition| (definition.rule.id.clone(), definition)));
        }
    }

    fn refuse(&mut self, kind: ErrorKind, message: &str, source: &Source, import: &Text) {
        self.problems.push(Diagnostic::error(kind, message, source, Some(import.span.clone())));
    }

    fn refuse_missing(&mut self, source: &Source, import: &Text, from: Tier) {
        let known = self.catalogue.libraries.keys().filter(|(tier, _)| *tier >= from).map(|(_, name)| name.as_str());
        let known: Vec<&str> = known.collect();
        let help = engine::suggest::closest(&import.value, known.iter().copied()).map_or_else(
            || match known.as_slice() {
                [] => "a library is a file `NAME.yml` in the rules folder; there is none".to_owned(),
                names => format!("the libraries are {}", names.join(", ")),
            },
            engine::suggest::did_you_mean,
        );
        let by = match self.chain.as_slice() {
            [] => String::new(),
            chain => format!(", imported by {}", chain.join(" → ")),
        };
        let message = format!("there is no rule library `{}`{by}", import.value);
        let problem =
            Diagnostic::error(ErrorKind::MissingImport, message, source, Some(import.span.clone())).help(help);
        self.problems.push(problem);
    }
}

/// Told from its first name on, so that it reads the same wherever it was entered.
fn circle(chain: &[String]) -> String {
    let first = chain.iter().min().and_then(|least| chain.iter().position(|name| name == least)).unwrap_or(0);
    let around = chain.iter().cycle().skip(first).take(chain.len() + 1);
    around.map(String::as_str).collect::<Vec<_>>().join(" → ")
}
