//! Value types that several formats share, one module for each. The readers report invalid values with their spans.
//!
//! This module is independent of formats and files: readers take their values from
//! [`Fields`](crate::text::fields::Fields).

pub mod command_text;
pub mod event_name;
pub mod expression;
pub mod pattern;
pub mod quantity;
pub mod regex;
pub mod rule_id;
pub mod tool_name;
pub mod user_variable;
