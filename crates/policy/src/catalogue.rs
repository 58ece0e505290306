//! The catalogue of all rule definitions by tier and id, in force or not, and name lookup in it.

use std::collections::BTreeMap;

use engine::rules::Tier;

use crate::library::Library;
use crate::rule::definition::{RuleDefinition, RuleOrigin};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::fields::SpannedText;
use crate::text::source::Source;

const STRONGEST_FIRST: [Tier; 3] = [Tier::Project, Tier::User, Tier::Bundled];

#[derive(Debug, Default)]
pub struct Catalogue {
    definitions: BTreeMap<(Tier, String), RuleDefinition>,
    libraries: BTreeMap<(Tier, String), Library>,
}

impl Catalogue {
    /// Adds a definition. If the tier already has a rule of that id, the first one stays.
    pub fn add(&mut self, definition: RuleDefinition) -> Result<(), Box<Diagnostic>> {
        let key = (definition.file_tier, definition.rule.id.clone());
        let Some(existing) = self.definitions.get(&key) else {
            self.definitions.insert(key, definition);
            return Ok(());
        };
        let (id, tier) = (&definition.rule.id, definition.file_tier.name());
        let message = format!("duplicate rule `{id}` in the {tier} tier: this one and {}", existing.display_location());
        let start = definition.span.start;
        Err(Box::new(
            Diagnostic::error(DiagnosticKind::DuplicateRule, message, &definition.source, Some(start..start))
                .help("rename one of them; until then the first is used")
                .of_rule(id),
        ))
    }

    pub fn add_library(&mut self, library: Library) {
        self.libraries.insert((library.file_tier, library.name.clone()), library);
    }

    pub fn definitions_of_tier(&self, tier: Tier) -> impl Iterator<Item = &RuleDefinition> {
        self.definitions
            .iter()
            .filter(move |((definition_tier, _), _)| *definition_tier == tier)
            .map(|(_, definition)| definition)
    }

    /// The rule that a name refers to in a file of this tier: the rule of the same tier, or else of the latest earlier
    /// tier that has one.
    pub fn resolve(&self, id: &str, from: Tier) -> Option<&RuleDefinition> {
        let mut tiers = STRONGEST_FIRST.into_iter().filter(|tier| *tier >= from);
        tiers.find_map(|tier| self.definitions.get(&(tier, id.to_owned())))
    }

    pub fn library(&self, name: &str, from: Tier) -> Option<&Library> {
        let mut tiers = STRONGEST_FIRST.into_iter().filter(|tier| *tier >= from);
        tiers.find_map(|tier| self.libraries.get(&(tier, name.to_owned())))
    }

    /// Every name that a file of this tier can refer to.
    pub fn names(&self, from: Tier) -> impl Iterator<Item = &str> {
        self.definitions.keys().filter(move |(tier, _)| *tier >= from).map(|(_, id)| id.as_str())
    }

    pub fn into_parts(self) -> (impl Iterator<Item = RuleDefinition>, Vec<Library>) {
        (self.definitions.into_values(), self.libraries.into_values().collect())
    }

    /// The inverse of [`Self::into_parts`]. `definitions` may also have local and inline rules, which are skipped: only
    /// their own file can name them.
    pub fn from_parts(definitions: &[RuleDefinition], libraries: &[Library]) -> Self {
        let mut catalogue = Self::default();
        for definition in
            definitions.iter().filter(|definition| !matches!(definition.origin, RuleOrigin::Local | RuleOrigin::Inline))
        {
            let key = (definition.file_tier, definition.rule.id.clone());
            catalogue.definitions.insert(key, definition.clone());
        }
        for library in libraries {
            catalogue.add_library(library.clone());
        }
        catalogue
    }

    /// The rules that a list of imports makes available, by name. Later imports override earlier ones, and a library's
    /// own rules override those that it imports. The problems are those of this list; see [`Self::import_problems`] for
    /// those of the imported libraries.
    pub fn imported(&self, imports: &[SpannedText], source: &Source, from: Tier) -> ImportedRules<'_> {
        let mut imported = ImportedRules::new(self);
        imported.follow(imports, source, from);
        let is_of_list = |problem: &Diagnostic| problem.source.name == source.name;
        imported.problems.retain(|problem| is_of_list(problem) || problem.kind == DiagnosticKind::TooLarge);
        imported
    }

    /// Errors in the imports of all libraries, including libraries that nothing imports.
    pub fn import_problems(&self) -> Vec<Diagnostic> {
        let mut problems: Vec<Diagnostic> = Vec::new();
        for library in self.libraries.values() {
            let mut imported = ImportedRules::new(self);
            imported.chain.push(library.name.clone());
            imported.follow(&library.imports, &library.source, library.file_tier);
            for problem in imported.problems {
                // A cycle is found once for each of its libraries, and a missing library once for each import path.
                let is_reported = |reported: &Diagnostic| {
                    reported.message == problem.message
                        || (reported.source.name == problem.source.name && reported.span == problem.span)
                };
                if !problems.iter().any(is_reported) {
                    problems.push(problem);
                }
            }
        }
        problems
    }
}

/// Maximum number of imports that are followed. Without it, libraries that each import the next one twice would take
/// exponential time.
const IMPORTS_LIMIT: usize = 1_000;

pub struct ImportedRules<'a> {
    catalogue: &'a Catalogue,
    /// The libraries that are being imported, outermost first.
    chain: Vec<String>,
    followed: usize,
    pub rules: BTreeMap<String, &'a RuleDefinition>,
    pub problems: Vec<Diagnostic>,
}

impl<'a> ImportedRules<'a> {
    fn new(catalogue: &'a Catalogue) -> Self {
        Self { catalogue, chain: Vec::new(), followed: 0, rules: BTreeMap::new(), problems: Vec::new() }
    }

    fn follow(&mut self, imports: &[SpannedText], source: &Source, from: Tier) {
        for import in imports {
            self.followed += 1;
            if self.followed > IMPORTS_LIMIT {
                if self.followed == IMPORTS_LIMIT + 1 {
                    self.refuse(
                        DiagnosticKind::TooLarge,
                        "these imports exceed the maximum number of libraries",
                        source,
                        import,
                    );
                }
                return;
            }
            if let Some(start) = self.chain.iter().position(|name| *name == import.value) {
                let message =
                    format!("imports form a cycle: {}", cycle_text(self.chain.get(start..).unwrap_or_default()));
                self.refuse(DiagnosticKind::ImportCycle, &message, source, import);
                continue;
            }
            let Some(library) = self.catalogue.library(&import.value, from) else {
                self.refuse_missing(source, import, from);
                continue;
            };
            self.chain.push(library.name.clone());
            self.follow(&library.imports, &library.source, library.file_tier);
            self.chain.pop();
            let library_rules = self
                .catalogue
                .definitions_of_tier(library.file_tier)
                .filter(|rule| rule.source.name == library.source.name);
            self.rules.extend(library_rules.map(|definition| (definition.rule.id.clone(), definition)));
        }
    }

    fn refuse(&mut self, kind: DiagnosticKind, message: &str, source: &Source, import: &SpannedText) {
        self.problems.push(Diagnostic::error(kind, message, source, Some(import.span.clone())));
    }

    fn refuse_missing(&mut self, source: &Source, import: &SpannedText, from: Tier) {
        let known_libraries =
            self.catalogue.libraries.keys().filter(|(tier, _)| *tier >= from).map(|(_, name)| name.as_str());
        let known_libraries: Vec<&str> = known_libraries.collect();
        let help = engine::suggest::closest(&import.value, known_libraries.iter().copied()).map_or_else(
            || match known_libraries.as_slice() {
                [] => "there are no libraries; create a file `NAME.yml` in the rules folder".to_owned(),
                names => format!("known libraries: {}", names.join(", ")),
            },
            engine::suggest::did_you_mean,
        );
        let imported_by = match self.chain.as_slice() {
            [] => String::new(),
            chain => format!(", imported by {}", chain.join(" → ")),
        };
        let message = format!("unknown rule library `{}`{imported_by}", import.value);
        let problem =
            Diagnostic::error(DiagnosticKind::MissingImport, message, source, Some(import.span.clone())).help(help);
        self.problems.push(problem);
    }
}

/// Lists a cycle from its alphabetically first name on, so that the text does not depend on where the cycle was
/// entered.
fn cycle_text(chain: &[String]) -> String {
    let start = chain.iter().min().and_then(|least| chain.iter().position(|name| name == least)).unwrap_or(0);
    let cycle = chain.iter().cycle().skip(start).take(chain.len() + 1);
    cycle.map(String::as_str).collect::<Vec<_>>().join(" → ")
}
