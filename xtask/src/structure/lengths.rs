//! Checks the length of files and functions, and the number of fields of structs.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Fields, ImplItemFn, ItemFn, ItemStruct, Signature};

use super::source::{Crate, Module, is_cfg_test};
use super::{Check, Finding};

const MAX_FILE_LINES: usize = 600;
const MAX_FUNCTION_LINES: usize = 60;
const MAX_FIELDS: usize = 16;

pub fn check(krate: &Crate) -> Vec<Finding> {
    krate.modules.iter().flat_map(check_module).collect()
}

fn check_module(module: &Module) -> Vec<Finding> {
    let mut lengths = Lengths { file: &module.file, findings: Vec::new() };
    if module.lines > MAX_FILE_LINES {
        lengths.add(Check::FileLength, "", format!("{} lines; {MAX_FILE_LINES} are allowed", module.lines));
    }
    for item in &module.items {
        lengths.visit_item(item);
    }
    lengths.findings
}

struct Lengths<'a> {
    file: &'a str,
    findings: Vec<Finding>,
}

impl Lengths<'_> {
    fn add(&mut self, check: Check, name: &str, detail: String) {
        let location = if name.is_empty() { self.file.to_owned() } else { format!("{} {name}", self.file) };
        self.findings.push(Finding { check, location, detail });
    }

    fn check_function(&mut self, signature: &Signature, block: &Block) {
        let lines = lines_between(signature.span(), block.span());
        if lines > MAX_FUNCTION_LINES {
            let detail = format!("{lines} lines; {MAX_FUNCTION_LINES} are allowed");
            self.add(Check::FunctionLength, &signature.ident.to_string(), detail);
        }
    }
}

impl<'ast> Visit<'ast> for Lengths<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.check_function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !item.attrs.iter().any(is_cfg_test) {
            self.check_function(&item.sig, &item.block);
        }
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if let Fields::Named(fields) = &item.fields
            && fields.named.len() > MAX_FIELDS
        {
            let detail = format!("{} fields; {MAX_FIELDS} are allowed", fields.named.len());
            self.add(Check::Fields, &item.ident.to_string(), detail);
        }
    }
}

fn lines_between(from: Span, to: Span) -> usize {
    to.end().line + 1 - from.start().line
}
