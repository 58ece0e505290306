//! Actions: what a workflow or a configuration does by itself, and the guides that prompts and injected texts include.
//!
//! Knows neither workflows nor configurations: those say where an action stands, and get the rules of its `block_tools`.

mod bundled_guides;
mod guides;
mod keys;
mod reader;
mod triggers;

pub use bundled_guides::{BundledGuide, GUIDES};
pub use guides::{Guides, Templates};
pub use keys::ACTION;
pub use reader::{ActionReader, Site};
