//! Converts minijinja's syntax tree of an expression to calls of this language's operators, functions and methods.
//!
//! The conversion also finds all errors that do not depend on names, and collects the names. Recursion is safe, because
//! the module `source` has limited the depth of the tree.

use std::ops::Range;

use minijinja::{
    Value,
    machinery::{
        Span,
        ast::{self, BinOpKind, CallArg, CompareOpKind, Expr, Spanned, UnaryOpKind},
    },
};

use super::{
    behavior_conditions,
    builtin::Arity,
    error::ExprError,
    filters::{self, FILTERS},
    functions::{self, PatternKind},
    methods::{self, METHODS},
    name_reference::{BehaviorCall, NameReference},
    names::{self, suggestion},
    operators,
    source::{Singleton, range, singleton},
};

/// A constant that an expression passes to a function as a pattern.
pub(super) struct ConstantPattern {
    pub(super) kind: PatternKind,
    pub(super) text: Value,
    pub(super) span: Range<usize>,
}

#[derive(Default)]
pub(super) struct Lowering<'s> {
    pub(super) errors: Vec<ExprError>,
    pub(super) names: Vec<NameReference<'s>>,
    pub(super) behavior_calls: Vec<BehaviorCall<'s>>,
    pub(super) patterns: Vec<ConstantPattern>,
    /// The source text.
    text: &'s str,
}

fn constant<'s>(value: impl Into<Value>, span: Span) -> Expr<'s> {
    Expr::Const(Spanned::new(ast::Const { value: value.into() }, span))
}

pub(super) fn call<'s>(global: &'static str, args: Vec<Expr<'s>>, span: Span) -> Expr<'s> {
    let function = Expr::Var(Spanned::new(ast::Var { id: global }, span));
    let args = args.into_iter().map(CallArg::Pos).collect();
    Expr::Call(Spanned::new(ast::Call { expr: function, args }, span))
}

impl<'s> Lowering<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self { text, ..Self::default() }
    }

    pub(super) fn lower(&mut self, expr: &Expr<'s>) -> Expr<'s> {
        let span = expr.span();
        match expr {
            Expr::Var(var) if var.id == "null" => constant((), span),
            Expr::Var(var) => {
                self.add_name(var.id, span, None);
                Expr::Var(Spanned::new(ast::Var { id: var.id }, span))
            }
            Expr::Const(literal) => self.literal(&literal.value, span),
            Expr::Slice(slice) => {
                self.error(range(slice.expr.span()), "slices are not supported");
                constant((), span)
            }
            Expr::UnaryOp(unary) => self.unary(unary, span),
            Expr::BinOp(binary) => self.binary(binary, span),
            Expr::Compare(chain) => {
                let mut args = vec![self.lower(&chain.expr)];
                for link in &chain.ops {
                    args.push(constant(comparison(link.op), span));
                    args.push(self.lower(&link.expr));
                }
                call(operators::CHAIN, args, span)
            }
            Expr::IfExpr(ternary) => {
                let test_expr = self.lower(&ternary.test_expr);
                let true_expr = self.lower(&ternary.true_expr);
                let false_expr = ternary.false_expr.as_ref().map(|expr| self.lower(expr));
                Expr::IfExpr(Spanned::new(ast::IfExpr { test_expr, true_expr, false_expr }, span))
            }
            Expr::Filter(filter) => self.filter(filter, span),
            Expr::Test(test) => self.test(test, span),
            Expr::GetAttr(get) => {
                let end = span.end_offset as usize;
                let expr = self.lower_object(&get.expr, Some((get.name, end.saturating_sub(get.name.len())..end)));
                Expr::GetAttr(Spanned::new(ast::GetAttr { expr, name: get.name }, span))
            }
            Expr::GetItem(get) => {
                let field = self.constant_text(&get.subscript_expr);
                let args = vec![self.lower_object(&get.expr, field), self.lower(&get.subscript_expr)];
                call(operators::ITEM, args, span)
            }
            Expr::Call(called) => self.call(called, span),
            Expr::List(list) => self.list(&list.items, span),
            Expr::Tuple(tuple) => self.list(&tuple.items, span),
            Expr::Map(map) => self.map(map, span),
        }
    }

    fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.errors.push(ExprError::new(span, message));
    }

    fn add_name(&mut self, name: &'s str, span: Span, field: Option<(&'s str, Range<usize>)>) {
        self.names.push(NameReference { name, span: range(span), field });
    }

    /// Converts the expression that stands before a field or subscript, such as `a` in `a.b` and `a[0]`.
    fn lower_object(&mut self, expr: &Expr<'s>, field: Option<(&'s str, Range<usize>)>) -> Expr<'s> {
        match expr {
            Expr::Var(var) if var.id != "null" => {
                self.add_name(var.id, var.span(), field);
                Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span()))
            }
            other => self.lower(other),
        }
    }

    /// The content of a string literal and its span; `None` if the expression is not a string literal, or if the
    /// literal has escapes.
    pub(super) fn constant_text(&self, expr: &Expr<'s>) -> Option<(&'s str, Range<usize>)> {
        let Expr::Const(literal) = expr else { return None };
        let text = literal.value.as_str()?;
        let Range { start, end } = range(literal.span());
        let inside = start + 1..end.checked_sub(1)?;
        // If the literal has escapes, its value differs from the source text.
        let source_text = self.text.get(inside.clone())?;
        (source_text == text).then_some((source_text, inside))
    }

    fn literal(&mut self, value: &Value, span: Span) -> Expr<'s> {
        if value.is_number() && !f64::try_from(value.clone()).is_ok_and(f64::is_finite) {
            self.error(range(span), "the number is too large");
        }
        constant(value.clone(), span)
    }

    fn unary(&mut self, unary: &ast::UnaryOp<'s>, span: Span) -> Expr<'s> {
        let expr = self.lower(&unary.expr);
        match unary.op {
            UnaryOpKind::Not => Expr::UnaryOp(Spanned::new(ast::UnaryOp { op: UnaryOpKind::Not, expr }, span)),
            UnaryOpKind::Neg => call(operators::NEGATE, vec![expr], span),
        }
    }

    fn binary(&mut self, binary: &ast::BinOp<'s>, span: Span) -> Expr<'s> {
        let (left, right) = (self.lower(&binary.left), self.lower(&binary.right));
        let operator = match binary.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                return Expr::BinOp(Spanned::new(ast::BinOp { op: binary.op, left, right }, span));
            }
            BinOpKind::Eq => "==",
            BinOpKind::Ne => "!=",
            BinOpKind::Lt => "<",
            BinOpKind::Lte => "<=",
            BinOpKind::Gt => ">",
            BinOpKind::Gte => ">=",
            BinOpKind::In => "in",
            BinOpKind::Add => "+",
            BinOpKind::Sub => "-",
            BinOpKind::Mul => "*",
            BinOpKind::FloorDiv => "//",
            BinOpKind::Rem => "%",
            BinOpKind::Div | BinOpKind::Pow | BinOpKind::Concat => {
                self.error(range(span), "unsupported operator");
                return constant((), span);
            }
        };
        call(operator, vec![left, right], span)
    }

    fn filter(&mut self, filter: &ast::Filter<'s>, span: Span) -> Expr<'s> {
        let name_span = name_at_start(span, filter.name);
        let Some(known) = filters::find(filter.name) else {
            let help = suggestion(filter.name, FILTERS.iter().map(|filter| filter.name));
            let message = format!("unknown filter `{}`", filter.name);
            self.errors.push(ExprError::new(name_span, message).with_help(help));
            return constant((), span);
        };
        let mut args: Vec<_> = filter.expr.iter().map(|expr| self.lower(expr)).collect();
        args.extend(self.arguments(&filter.args));
        self.check_arity(filter.name, known.arity, filter.args.len(), name_span);
        call(known.global, args, span)
    }

    fn test(&mut self, test: &ast::Test<'s>, span: Span) -> Expr<'s> {
        let value = self.lower(&test.expr);
        let name_span = name_at_start(span, test.name);
        let global = match singleton(test.name) {
            Some(Singleton::None) => operators::IS_NONE,
            Some(Singleton::True) => operators::IS_TRUE,
            Some(Singleton::False) => operators::IS_FALSE,
            None => {
                let error = ExprError::new(name_span, format!("unknown test `is {}`", test.name));
                let help = "use `is` with `None`, `True` or `False`, and `==` with everything else";
                self.errors.push(error.with_help(Some(help.to_owned())));
                return constant((), span);
            }
        };
        if !test.args.is_empty() {
            self.error(name_span, format!("`is {}` takes no arguments", test.name));
        }
        call(global, vec![value], span)
    }

    fn call(&mut self, called: &ast::Call<'s>, span: Span) -> Expr<'s> {
        match &called.expr {
            Expr::Var(function) => self.function(function.id, &called.args, function.span(), span),
            Expr::GetAttr(method) => self.method(&method.expr, method.name, &called.args, method.span(), span),
            other => {
                self.error(range(other.span()), "only a function or a method can be called");
                constant((), span)
            }
        }
    }

    fn function(&mut self, name: &'s str, args: &[CallArg<'s>], name_span: Span, span: Span) -> Expr<'s> {
        let mut lowered = self.arguments(args);
        let name_span = range(name_span);
        if name.starts_with(behavior_conditions::PREFIX) {
            self.behavior_calls.push(BehaviorCall {
                name,
                span: name_span,
                argument_count: args.len(),
                behavior: None,
            });
            lowered.insert(0, constant(name, span));
            return call(behavior_conditions::BEHAVIOR_CONDITION, lowered, span);
        }
        let Some(function) = functions::find(name) else {
            self.errors.push(names::unknown_function(name, name_span));
            return constant((), span);
        };
        if !self.check_arity(name, function.arity, args.len(), name_span.clone()) {
            return constant((), span);
        }
        if let Some(behavior) = function.behavior {
            self.behavior_calls.push(BehaviorCall {
                name,
                span: name_span,
                argument_count: args.len(),
                behavior: Some(behavior),
            });
        }
        if let Some((index, kind)) = function.pattern
            && let Some(Expr::Const(pattern)) = lowered.get(index)
            && pattern.value.as_str().is_some()
        {
            self.patterns.push(ConstantPattern { kind, text: pattern.value.clone(), span: range(pattern.span()) });
        }
        call(function.global, lowered, span)
    }

    fn method(
        &mut self,
        value: &Expr<'s>,
        name: &'s str,
        args: &[CallArg<'s>],
        attribute: Span,
        span: Span,
    ) -> Expr<'s> {
        let end = attribute.end_offset as usize;
        let name_span = end.saturating_sub(name.len())..end;
        let mut lowered = vec![constant(name, span), self.lower(value)];
        lowered.extend(self.arguments(args));
        if let Some(arity) = methods::arity(name) {
            self.check_arity(name, arity, args.len(), name_span);
        } else {
            let help = suggestion(name, METHODS.iter().map(|(method, _)| *method));
            self.errors.push(ExprError::new(name_span, format!("unknown method `{name}`")).with_help(help));
        }
        call(methods::METHOD, lowered, span)
    }

    fn arguments(&mut self, args: &[CallArg<'s>]) -> Vec<Expr<'s>> {
        args.iter()
            .map(|arg| match arg {
                CallArg::Pos(expr) => self.lower(expr),
                CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                    self.error(range(expr.span()), "named arguments are not supported");
                    constant((), expr.span())
                }
            })
            .collect()
    }

    fn check_arity(&mut self, name: &str, arity: Arity, given: usize, span: Range<usize>) -> bool {
        let allowed = arity.allows(given);
        if !allowed {
            self.error(span, format!("`{name}` takes {arity}, not {given}"));
        }
        allowed
    }

    fn list(&mut self, items: &[Expr<'s>], span: Span) -> Expr<'s> {
        let items = items.iter().map(|item| self.lower(item)).collect();
        Expr::List(Spanned::new(ast::List { items }, span))
    }

    fn map(&mut self, map: &ast::Map<'s>, span: Span) -> Expr<'s> {
        let mut args = Vec::with_capacity(map.keys.len() * 2);
        for (key, value) in map.keys.iter().zip(&map.values) {
            args.push(self.lower(key));
            args.push(self.lower(value));
        }
        call(operators::DICT, args, span)
    }
}

fn name_at_start(span: Span, name: &str) -> Range<usize> {
    let start = span.start_offset as usize;
    start..start + name.len()
}

fn comparison(operator: CompareOpKind) -> &'static str {
    match operator {
        CompareOpKind::Eq => "==",
        CompareOpKind::Ne => "!=",
        CompareOpKind::Lt => "<",
        CompareOpKind::Lte => "<=",
        CompareOpKind::Gt => ">",
        CompareOpKind::Gte => ">=",
        CompareOpKind::In => "in",
        CompareOpKind::NotIn => "not in",
    }
}
