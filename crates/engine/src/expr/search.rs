//! Regular expressions, with limits on everything that they can cost.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use fancy_regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

const BACKTRACK_LIMIT: usize = 10_000;
const SIZE_LIMIT: usize = 1 << 20;
const PATTERN_LENGTH_LIMIT: usize = 4096;
const NEST_LIMIT: u32 = 64;
const CACHED: usize = 128;

static CACHE: Mutex<BTreeMap<String, Arc<Search>>> = Mutex::new(BTreeMap::new());

/// A regular expression that is compiled only when it is needed: compiling costs a hundred times what it costs to see
/// that the text lacks something that every match contains.
pub(super) struct Search {
    pattern: String,
    required: Option<String>,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Search {
    /// Rules repeat themselves, so what was made before is kept.
    pub(super) fn new(pattern: &str) -> Result<Arc<Self>, String> {
        if pattern.len() > PATTERN_LENGTH_LIMIT {
            return Err(format!("at most {PATTERN_LENGTH_LIMIT} bytes long, not {}", pattern.len()));
        }
        if let Some(search) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(pattern) {
            return Ok(Arc::clone(search));
        }
        // What only the other engine understands, such as look-around, fails to parse and has no required text.
        let hir = regex_syntax::ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(pattern);
        let required = hir.ok().and_then(|hir| required_text(&hir));
        let search = Arc::new(Self { pattern: pattern.to_owned(), required, compiled: OnceLock::new() });
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), Arc::clone(&search));
        Ok(search)
    }

    pub(super) fn compiled(&self) -> Result<&Regex, String> {
        let compile = || {
            RegexBuilder::new(&self.pattern)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(SIZE_LIMIT)
                .delegate_dfa_size_limit(SIZE_LIMIT)
                .build()
                .map_err(|error| error.to_string())
        };
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Whether a match is found anywhere in the text.
    pub(super) fn found_in(&self, text: &str) -> Result<bool, String> {
        if self.required.as_ref().is_some_and(|required| !text.contains(required.as_str())) {
            return Ok(false);
        }
        self.compiled()?.is_match(text).map_err(|error| error.to_string())
    }
}

/// The longest text that stands in every match. Nesting is limited by the parser.
fn required_text(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Capture(capture) => required_text(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_text(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required_text).max_by_key(String::len),
        _ => None,
    }
}
