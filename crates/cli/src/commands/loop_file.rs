//! Reads the loop of a project from its `loop.yml`.

use engine::hats::Loop;
use guard::Project;
use policy::LoopFile;

use super::Context;
use crate::problem::Problem;

/// Reads the loop file. Succeeds even if the file has errors.
pub fn read(project: &Project, context: &Context) -> Result<LoopFile, Problem> {
    policy::loop_file(&project.tiers, &project.load(&context.environment)).ok_or_else(|| {
        Problem::new("NotFound", "this project has no loop: `.linchpin/loop.yml` does not exist")
            .help("`linchpin hats new` lists loops to start from")
    })
}

/// Reads the loop. Fails if its file has errors.
pub fn valid_loop(project: &Project, context: &Context) -> Result<Loop, Problem> {
    let file = read(project, context)?;
    let source = file.source;
    file.the_loop.ok_or_else(|| {
        Problem::new("BrokenPolicy", format!("`{source}` has errors"))
            .at(&source, None)
            .help("`linchpin hats validate` shows them")
    })
}
