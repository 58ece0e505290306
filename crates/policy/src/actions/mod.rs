//! Reads actions of workflows and configurations, and the guides that prompts and injected texts include.
//!
//! This module does not depend on workflows and configurations: their readers pass in the site of the action, and
//! receive the rules of its `block_tools`.

mod bundled_guides;
mod guides;
mod keys;
mod reader;
mod trigger_reader;

pub use bundled_guides::{BundledGuide, GUIDES};
pub use guides::{Guides, Templates};
pub use keys::ACTION;
pub use reader::{ActionReader, ActionSite};
