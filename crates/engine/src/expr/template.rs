//! Templates: the prompts and guides of workflows, text with expressions in it.
//!
//! `{{ … }}` is replaced by the value of an expression, `{% if … %}`, `{% elif … %}`, `{% else %}` and `{% endif %}` choose
//! between texts, `{# … #}` is a comment and `{% raw %}` keeps what it holds as it is. `{{ guide('NAME') }}`, alone between
//! its braces, puts a guide there, which is a template itself. There is nothing else: no loops, no assignments, no other
//! way to another text. What is rendered is not read again, so what an agent wrote stays text.
//!
//! This knows no files. Whoever calls has the guides' texts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use minijinja::{
    AutoEscape, State, Value,
    machinery::{
        self, CodeGenerator, Span,
        ast::{self, CallArg, Expr, Spanned, Stmt},
    },
};

use super::{
    ENVIRONMENT, Scope,
    compare::is_missing,
    context::Root,
    error::{EvaluationError, ExprError, wrong_arity},
    fact_reader::{FactReader, OnMissing},
    lower::{self, Lowering},
    names::GUIDE,
    source::{SYNTAX, Source, range},
    work_budget,
};
use crate::file_rules::ChangeScope;
use crate::situation::Situation;

/// Guides within guides.
pub const GUIDE_DEPTH: usize = 8;
/// Guides in one text, each time that one stands there: a few that name each other often would grow without end.
const GUIDES_LIMIT: usize = 200;

/// What writes a value into the text; no text can contain this name.
pub(super) const SHOW: &str = "@show";

/// What can be known of a template before it is rendered.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TemplateCheck {
    /// In the order of the text.
    pub problems: Vec<ExprError>,
    /// The guides that it names, each time that it does.
    pub guides: Vec<GuideMention>,
    /// Names that stand alone between their braces, as in `{{ NAME }}`.
    pub bare_names: Vec<GuideMention>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideMention {
    pub name: String,
    /// In the template's text.
    pub span: Range<usize>,
}

/// Checks one text; the guides that it names are templates of their own.
pub fn check(text: &str, scope: &Scope) -> TemplateCheck {
    let source = match Source::read_template(text) {
        Ok(source) => source,
        Err(error) => return TemplateCheck { problems: vec![error], ..TemplateCheck::default() },
    };
    let tree = match parse(&source) {
        Ok(tree) => tree,
        Err(error) => return TemplateCheck { problems: vec![error], ..TemplateCheck::default() },
    };
    let mut template = TemplateLowering::new(&source.text);
    template.lower(&tree, &mut |_, _| None);
    let mut problems = super::problems(&mut template.lowering, scope);
    problems.append(&mut template.errors);
    problems.sort_by_key(|problem| problem.span.start);
    let problems = problems.into_iter().map(|problem| source.written_error(problem)).collect();
    let place = |mention: GuideMention| GuideMention { span: source.written_span(mention.span), ..mention };
    let guides = template.guides.into_iter().map(place).collect();
    let bare_names = template.bare_names.into_iter().map(place).collect();
    TemplateCheck { problems, guides, bare_names }
}

/// The text, in this situation. A guide that is missing is an error, as is one that holds itself. What fails while it is
/// rendered may be in a guide, so its place is the whole text.
pub fn render(
    text: &str,
    guides: &BTreeMap<String, String>,
    situation: &Arc<Situation>,
    on_missing: OnMissing,
) -> Result<String, EvaluationError> {
    let mut sources = BTreeMap::new();
    for (name, text) in guides {
        sources.insert(name.as_str(), Source::read_template(text)?);
    }
    let source = Source::read_template(text)?;
    let tree = Inlining { sources: &sources, chain: Vec::new(), guides: 0 }.tree(&source)?;
    let mut generator = CodeGenerator::new("", &source.text);
    generator.compile_stmt(&tree);
    let (instructions, blocks) = generator.finish();
    let mut output = String::new();
    let facts = Arc::new(FactReader::new(situation, on_missing));
    let root = Value::from_object(Root::Situation(Arc::clone(&facts), ChangeScope::default()));
    let out = &mut machinery::make_string_output(&mut output);
    let rendered = machinery::eval(&ENVIRONMENT, &instructions, root, &blocks, out, AutoEscape::None);
    facts.check()?;
    rendered.map_err(|error| ExprError { span: 0..text.len(), ..ExprError::from_engine(&error, text.len()) })?;
    Ok(output)
}

fn parse<'s>(source: &'s Source<'_>) -> Result<Stmt<'s>, ExprError> {
    machinery::parse(&source.text, "", SYNTAX.clone()).map_err(|error| source.syntax_error(&error))
}

/// Puts the trees of guides into that of a template.
struct Inlining<'s> {
    sources: &'s BTreeMap<&'s str, Source<'s>>,
    /// The guides on the way here.
    chain: Vec<&'s str>,
    guides: usize,
}

impl<'s> Inlining<'s> {
    fn tree(&mut self, source: &'s Source<'s>) -> Result<Stmt<'s>, ExprError> {
        let tree = parse(source).map_err(|error| self.named(error))?;
        let mut template = TemplateLowering::new(&source.text);
        let mut failure = None;
        let tree = template
            .lower(&tree, &mut |name, span| self.guide(name, &span).map_err(|error| failure = Some(error)).ok());
        if let Some(error) = failure {
            return Err(error);
        }
        let mut errors = template.errors.into_iter().chain(template.lowering.errors);
        match errors.next() {
            Some(error) => Err(self.named(source.written_error(error))),
            None => Ok(tree),
        }
    }

    /// A place in a guide says nothing in the text that names it, so the guide is named.
    fn named(&self, error: ExprError) -> ExprError {
        match self.chain.last() {
            Some(guide) => ExprError { message: format!("guide `{guide}`: {}", error.message), ..error },
            None => error,
        }
    }

    fn guide(&mut self, name: &'s str, span: &Range<usize>) -> Result<Stmt<'s>, ExprError> {
        let error = |message: String| ExprError::new(span.clone(), message);
        self.guides += 1;
        if self.chain.len() == GUIDE_DEPTH {
            let chain = self.chain.join(" → ");
            return Err(error(format!("guides within guides go deeper than {GUIDE_DEPTH}: {chain}")));
        }
        if self.guides > GUIDES_LIMIT {
            return Err(error(format!("more than {GUIDES_LIMIT} guides would stand in one text")));
        }
        let source = self.sources.get(name).ok_or_else(|| error(format!("there is no guide `{name}`")))?;
        self.chain.push(name);
        let tree = self.tree(source);
        self.chain.pop();
        tree.map_err(|problem| ExprError { span: span.clone(), ..problem })
    }
}

/// What stands in the place of a guide; none where nothing is to be rendered.
type GuideTree<'f, 's> = &'f mut dyn FnMut(&'s str, Range<usize>) -> Option<Stmt<'s>>;

/// From the engine's tree of a template to one that holds only what this language has.
struct TemplateLowering<'s> {
    lowering: Lowering<'s>,
    errors: Vec<ExprError>,
    guides: Vec<GuideMention>,
    bare_names: Vec<GuideMention>,
}

impl<'s> TemplateLowering<'s> {
    fn new(text: &'s str) -> Self {
        Self { lowering: Lowering::new(text), errors: Vec::new(), guides: Vec::new(), bare_names: Vec::new() }
    }

    // How deep blocks nest was limited before.
    fn lower(&mut self, statement: &Stmt<'s>, guide: GuideTree<'_, 's>) -> Stmt<'s> {
        match statement {
            Stmt::Template(template) => of_children(self.each(&template.children, guide), template.span()),
            Stmt::EmitRaw(raw) => Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw: raw.raw }, raw.span())),
            Stmt::EmitExpr(emit) => self.emit(&emit.expr, emit.span(), guide),
            Stmt::IfCond(choice) => {
                let expr = self.lowering.lower(&choice.expr);
                let true_body = self.each(&choice.true_body, guide);
                let false_body = self.each(&choice.false_body, guide);
                Stmt::IfCond(Spanned::new(ast::IfCond { expr, true_body, false_body }, choice.span()))
            }
            other => {
                let span = span_of(other);
                let error = ExprError::new(range(span), "a prompt or guide has no such block");
                self.errors.push(error.with_help(Some("there are `{% if … %}` and `{% raw %}`".to_owned())));
                of_children(Vec::new(), span)
            }
        }
    }

    fn each(&mut self, statements: &[Stmt<'s>], guide: GuideTree<'_, 's>) -> Vec<Stmt<'s>> {
        statements.iter().map(|statement| self.lower(statement, guide)).collect()
    }

    fn emit(&mut self, expr: &Expr<'s>, span: Span, guide: GuideTree<'_, 's>) -> Stmt<'s> {
        if let Some(args) = guide_call(expr) {
            let name = match args {
                [CallArg::Pos(name)] => self.lowering.constant_text(name),
                _ => None,
            };
            let Some((name, place)) = name else {
                let error = ExprError::new(range(expr.span()), "`guide` takes the name of a guide, in quotes");
                self.errors.push(error.with_help(Some("as in `{{ guide('REVIEW') }}`".to_owned())));
                return of_children(Vec::new(), span);
            };
            self.guides.push(GuideMention { name: name.to_owned(), span: place.clone() });
            return guide(name, place).unwrap_or_else(|| of_children(Vec::new(), span));
        }
        if let Expr::Var(name) = expr {
            self.bare_names.push(GuideMention { name: name.id.to_owned(), span: range(name.span()) });
        }
        let expr = lower::call(SHOW, vec![self.lowering.lower(expr)], span);
        Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, span))
    }
}

fn of_children(children: Vec<Stmt<'_>>, span: Span) -> Stmt<'_> {
    Stmt::Template(Spanned::new(ast::Template { children }, span))
}

fn guide_call<'e, 's>(expr: &'e Expr<'s>) -> Option<&'e [CallArg<'s>]> {
    match expr {
        Expr::Call(called) => match &called.expr {
            Expr::Var(function) if function.id == GUIDE => Some(&called.args),
            _ => None,
        },
        _ => None,
    }
}

fn span_of(statement: &Stmt<'_>) -> Span {
    match statement {
        Stmt::Template(node) => node.span(),
        Stmt::EmitExpr(node) => node.span(),
        Stmt::EmitRaw(node) => node.span(),
        Stmt::ForLoop(node) => node.span(),
        Stmt::IfCond(node) => node.span(),
        Stmt::WithBlock(node) => node.span(),
        Stmt::Set(node) => node.span(),
        Stmt::SetBlock(node) => node.span(),
        Stmt::AutoEscape(node) => node.span(),
        Stmt::FilterBlock(node) => node.span(),
        Stmt::Do(node) => node.span(),
    }
}

/// A value as it reads within text: nothing where it is missing.
pub(super) fn show(state: &mut State, args: &[Value]) -> Result<Value, minijinja::Error> {
    let [value] = args else { return Err(wrong_arity()) };
    if is_missing(value) {
        return Ok(Value::from(""));
    }
    work_budget::text(value, work_budget::of(state)).map(Value::from)
}
