//! Templates: texts with expressions, such as the prompts and guides of workflows.
//!
//! `{{ … }}` is replaced by the value of an expression; `{% if … %}`, `{% elif … %}`, `{% else %}` and `{% endif %}`
//! choose text; `{# … #}` is a comment; `{% raw %}` keeps its content unchanged. `{{ guide('NAME') }}`, alone between
//! its braces, includes a guide, which is a template itself. Templates have no loops and no assignments, and cannot
//! include anything but guides. The output is never parsed again, so an expression in a text from an agent is not
//! evaluated.
//!
//! This module reads no files; the caller supplies the guides.

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
    context::NameSource,
    error::{EvaluationError, ExprError, wrong_arity},
    fact_reader::{FactReader, OnMissing},
    lower::{self, Lowering},
    names::GUIDE,
    source::{SYNTAX, Source, range},
    work_budget,
};
use crate::file_rules::ChangeScope;
use crate::situation::Situation;

/// Maximum nesting of guides.
pub const GUIDE_DEPTH: usize = 8;
/// The maximum number of guides that one text includes, counting repetitions. Without this limit, the text could grow
/// exponentially if each guide includes the next guide several times.
const GUIDES_LIMIT: usize = 200;

/// The name of the function that writes a value into the output. Source text cannot contain this name.
pub(super) const SHOW: &str = "@show";

/// The result of checking a template.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TemplateCheck {
    /// Problems in the order of the text.
    pub problems: Vec<ExprError>,
    /// The guides that the template includes. A guide that is included twice is listed twice.
    pub guides: Vec<TemplateReference>,
    /// The names that stand alone in double braces, as in `{{ NAME }}`.
    pub bare_names: Vec<TemplateReference>,
}

/// The name of a guide, or another name, in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateReference {
    pub name: String,
    /// Byte range in the template.
    pub span: Range<usize>,
}

/// Checks one template. The guides that the template includes are not checked.
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
    let problems = problems.into_iter().map(|problem| source.original_error(problem)).collect();
    let in_original =
        |reference: TemplateReference| TemplateReference { span: source.original_span(reference.span), ..reference };
    let guides = template.guides.into_iter().map(in_original).collect();
    let bare_names = template.bare_names.into_iter().map(in_original).collect();
    TemplateCheck { problems, guides, bare_names }
}

/// Renders a template. A missing or recursive guide is an error. The position of a run-time error is the whole text,
/// because the error may have occurred in a guide.
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
    let tree = Inlining { sources: &sources, enclosing_guides: Vec::new(), guide_count: 0 }.inline(&source)?;
    let mut generator = CodeGenerator::new("", &source.text);
    generator.compile_stmt(&tree);
    let (instructions, blocks) = generator.finish();
    let mut output = String::new();
    let facts = Arc::new(FactReader::new(situation, on_missing));
    let root = Value::from_object(NameSource::Situation(Arc::clone(&facts), ChangeScope::default()));
    let out = &mut machinery::make_string_output(&mut output);
    let rendered = machinery::eval(&ENVIRONMENT, &instructions, root, &blocks, out, AutoEscape::None);
    facts.check()?;
    rendered.map_err(|error| ExprError { span: 0..text.len(), ..ExprError::from_engine(&error, text.len()) })?;
    Ok(output)
}

fn parse<'s>(source: &'s Source<'_>) -> Result<Stmt<'s>, ExprError> {
    machinery::parse(&source.text, "", SYNTAX.clone()).map_err(|error| source.syntax_error(&error))
}

/// Inlines the trees of guides into the tree of a template.
struct Inlining<'s> {
    sources: &'s BTreeMap<&'s str, Source<'s>>,
    /// The names of the guides that are being inlined, the outermost first; empty for the text of the template itself.
    enclosing_guides: Vec<&'s str>,
    /// The number of guides included so far.
    guide_count: usize,
}

impl<'s> Inlining<'s> {
    fn inline(&mut self, source: &'s Source<'s>) -> Result<Stmt<'s>, ExprError> {
        let tree = parse(source).map_err(|error| self.with_guide_name(error))?;
        let mut template = TemplateLowering::new(&source.text);
        let mut failure = None;
        let tree = template
            .lower(&tree, &mut |name, span| self.inline_guide(name, &span).map_err(|error| failure = Some(error)).ok());
        if let Some(error) = failure {
            return Err(error);
        }
        let mut errors = template.errors.into_iter().chain(template.lowering.errors);
        match errors.next() {
            Some(error) => Err(self.with_guide_name(source.original_error(error))),
            None => Ok(tree),
        }
    }

    /// Adds the guide's name to the message, because the position of the error is a position in the guide and not in
    /// the text that includes the guide.
    fn with_guide_name(&self, error: ExprError) -> ExprError {
        match self.enclosing_guides.last() {
            Some(guide) => ExprError { message: format!("guide `{guide}`: {}", error.message), ..error },
            None => error,
        }
    }

    fn inline_guide(&mut self, name: &'s str, span: &Range<usize>) -> Result<Stmt<'s>, ExprError> {
        let error = |message: String| ExprError::new(span.clone(), message);
        self.guide_count += 1;
        if self.enclosing_guides.len() == GUIDE_DEPTH {
            let chain = self.enclosing_guides.join(" → ");
            return Err(error(format!("guides are nested more than {GUIDE_DEPTH} deep: {chain}")));
        }
        if self.guide_count > GUIDES_LIMIT {
            return Err(error(format!("the text would include more than {GUIDES_LIMIT} guides")));
        }
        let source = self.sources.get(name).ok_or_else(|| error(format!("unknown guide `{name}`")))?;
        self.enclosing_guides.push(name);
        let tree = self.inline(source);
        self.enclosing_guides.pop();
        tree.map_err(|problem| ExprError { span: span.clone(), ..problem })
    }
}

/// A function that returns the syntax tree of a guide, or `None` to render nothing in place of the guide.
type GuideInliner<'f, 's> = &'f mut dyn FnMut(&'s str, Range<usize>) -> Option<Stmt<'s>>;

/// Converts minijinja's syntax tree of a template to the constructs of this language.
struct TemplateLowering<'s> {
    lowering: Lowering<'s>,
    errors: Vec<ExprError>,
    guides: Vec<TemplateReference>,
    bare_names: Vec<TemplateReference>,
}

impl<'s> TemplateLowering<'s> {
    fn new(text: &'s str) -> Self {
        Self { lowering: Lowering::new(text), errors: Vec::new(), guides: Vec::new(), bare_names: Vec::new() }
    }

    /// Recursion is safe, because [`Source::read_template`] has limited the number of blocks.
    fn lower(&mut self, statement: &Stmt<'s>, guide: GuideInliner<'_, 's>) -> Stmt<'s> {
        match statement {
            Stmt::Template(template) => template_of(self.lower_all(&template.children, guide), template.span()),
            Stmt::EmitRaw(raw) => Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw: raw.raw }, raw.span())),
            Stmt::EmitExpr(emit) => self.emit(&emit.expr, emit.span(), guide),
            Stmt::IfCond(choice) => {
                let expr = self.lowering.lower(&choice.expr);
                let true_body = self.lower_all(&choice.true_body, guide);
                let false_body = self.lower_all(&choice.false_body, guide);
                Stmt::IfCond(Spanned::new(ast::IfCond { expr, true_body, false_body }, choice.span()))
            }
            other => {
                let span = span_of(other);
                let error = ExprError::new(range(span), "unsupported block in a prompt or guide");
                self.errors.push(error.with_help(Some("use `{% if … %}` or `{% raw %}`".to_owned())));
                template_of(Vec::new(), span)
            }
        }
    }

    fn lower_all(&mut self, statements: &[Stmt<'s>], guide: GuideInliner<'_, 's>) -> Vec<Stmt<'s>> {
        statements.iter().map(|statement| self.lower(statement, guide)).collect()
    }

    fn emit(&mut self, expr: &Expr<'s>, span: Span, guide: GuideInliner<'_, 's>) -> Stmt<'s> {
        if let Some(args) = guide_call(expr) {
            let name = match args {
                [CallArg::Pos(name)] => self.lowering.constant_text(name),
                _ => None,
            };
            let Some((name, name_span)) = name else {
                let error = ExprError::new(range(expr.span()), "`guide` needs the name of a guide in quotes");
                self.errors.push(error.with_help(Some("write it as in `{{ guide('REVIEW') }}`".to_owned())));
                return template_of(Vec::new(), span);
            };
            self.guides.push(TemplateReference { name: name.to_owned(), span: name_span.clone() });
            return guide(name, name_span).unwrap_or_else(|| template_of(Vec::new(), span));
        }
        if let Expr::Var(name) = expr {
            self.bare_names.push(TemplateReference { name: name.id.to_owned(), span: range(name.span()) });
        }
        let expr = lower::call(SHOW, vec![self.lowering.lower(expr)], span);
        Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, span))
    }
}

fn template_of(children: Vec<Stmt<'_>>, span: Span) -> Stmt<'_> {
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

/// Formats a value for the output. Undefined and null become an empty string.
pub(super) fn show(state: &mut State, args: &[Value]) -> Result<Value, minijinja::Error> {
    let [value] = args else { return Err(wrong_arity()) };
    if is_missing(value) {
        return Ok(Value::from(""));
    }
    work_budget::text(value, work_budget::of(state)).map(Value::from)
}
