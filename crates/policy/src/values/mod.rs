//! Values that keys of several formats take: one reader a kind of value. Each refuses what it cannot read, with its place.
//!
//! Knows no format and no file: a reader is given the fields that it takes its value from.

pub mod command_text;
pub mod event_name;
pub mod expression;
pub mod pattern;
pub mod quantity;
pub mod regex;
pub mod rule_id;
pub mod tool_name;
pub mod users_variable;
