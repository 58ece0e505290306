//! `set`: sets a variable of the workflow or of a session.

use engine::workflow::Workflow;
use policy::Tiers;
use serde_json::{Value, json};
use store::{NoteKind, StateChanges};

use super::noting::moved_meanwhile;
use super::{Moves, Refusal};
use crate::facts::Position;
use crate::session::SessionOwner;

#[derive(Debug, Clone)]
pub enum VariableOwner {
    /// The name of the active workflow.
    Workflow(String),
    Session(SessionOwner),
}

impl Moves<'_> {
    /// The active workflow, in its last version without errors; in a run, the hat's.
    pub fn active_workflow(&self) -> Result<Option<Workflow>, Refusal> {
        if let Some(stage) = &self.stage {
            return Ok(Some(stage.workflow.clone()));
        }
        let position = Position::of(&self.scene()?.state.variables);
        let compiled = position.and_then(|position| {
            self.project.workflow(&position.workflow, position.tier, &self.policy, false, self.environment)
        });
        Ok(compiled.map(|compiled| compiled.workflow))
    }

    /// Checks whether the caller may set the variable. `workflow` is the one that declares it.
    pub fn may_set(&self, name: &str, workflow: Option<&Workflow>) -> Result<(), Refusal> {
        self.may_move("set", || Ok(workflow.map(|workflow| (workflow.name.clone(), Some(workflow.tier)))))?;
        if workflow.is_some() || !self.is_agents || self.policy.config.agent_permissions.user_allows("set") {
            return Ok(());
        }
        let users = Tiers { project: None, user: self.project.tiers.user.clone() };
        let is_users = policy::load(&users, &policy::LastGoodPolicy::default(), |_| false).config.knows_variable(name);
        if is_users { Err(Refusal::OfUser { verb: "set", what: format!("variable `{name}`") }) } else { Ok(()) }
    }

    pub fn set(&self, name: &str, value: &Value, owner: &VariableOwner) -> Result<(), Refusal> {
        let change = [(name.to_owned(), Some(value.clone()))].into();
        let (changes, workflow) = match owner {
            VariableOwner::Workflow(name) => (StateChanges { workflow: change, ..StateChanges::default() }, Some(name)),
            VariableOwner::Session(_) => (StateChanges { variables: change, ..StateChanges::default() }, None),
        };
        let mut fields = self.fields([("name", json!(name)), ("workflow", json!(workflow))]);
        fields.insert("value".to_owned(), value.clone());
        let (root, cwd) = self.places();
        Self::until_written(|| {
            let mut scene = self.scene()?;
            let Some(workflow) = workflow else {
                scene.store.note(&self.note(NoteKind::Set, &fields, &changes, &root, &cwd))?;
                return Ok(());
            };
            let position = Position::of(&scene.state.variables);
            if position.as_ref().is_none_or(|position| position.workflow != *workflow) {
                return Err(moved_meanwhile(position.as_ref()));
            }
            // A move within the workflow does not matter to a variable.
            self.write(&mut scene, NoteKind::Set, &fields, &changes).map_err(|refusal| match refusal {
                Refusal::MovedMeanwhile(_) => Refusal::WrittenMeanwhile,
                refusal => refusal,
            })
        })
    }
}
