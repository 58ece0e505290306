//! Going on past what a pace rule said: counts begin again, and nothing moves.

use std::sync::Arc;

use engine::pace::Limit;
use engine::rules::{AckBy, Rule};
use serde_json::json;
use store::{Changes, Deed, NoteKind};

use super::moves::{find, stay};
use super::scene::Scene;
use super::{Active, Moves, Position, Refusal, Step, StepOutcome};
use crate::pace_facts;
use crate::rule_deeds;
use crate::token_count::Spent;

impl Moves<'_> {
    /// Goes on past what a pace rule said: counts begin again, and nothing moves.
    pub fn go_on(&self) -> Result<Step, Refusal> {
        self.may_move("continue")?;
        Self::until_written(|| {
            let scene = self.scene()?;
            if Position::of(&scene.state.variables).is_none() {
                return self.go_on_in_session(scene);
            }
            self.go_on_in_phase(scene)
        })
    }

    fn go_on_in_phase(&self, mut scene: Scene) -> Result<Step, Refusal> {
        let active = self.active_in(&scene)?;
        let node = find(&active.workflow, active.position.node())?.clone();
        let of_people = |rule: &&Rule| rule.as_pace_rule().is_some() && rule.ack == AckBy::Human;
        if let Some(rule) = active.workflow.rules_at(&node.name).find(of_people).filter(|_| self.is_agents) {
            return Err(Refusal::OnlyAPerson(rule.id.clone()));
        }
        // Rules of the session may have interrupted as well. What only a person can answer there stays as it is.
        let of_session = self.interrupting_rules(&scene);
        let is_answered = !self.is_agents || of_session.iter().all(|rule| rule.ack == AckBy::Agent);
        let of_session = if is_answered { of_session } else { Vec::new() };
        let mut changes = Changes::default();
        if !of_session.is_empty() {
            self.go_on_past(&of_session, &scene, &mut changes);
        }
        let is_past_commits = has_missed_commits(&active, &scene)?;
        let position = Position { is_past_commits, ..active.position.continued(self.now) };
        active.forget_interrupts(&mut changes);
        position.remember(&mut changes);
        let rules = active.workflow.rules_at(&node.name).filter(|rule| rule.as_pace_rule().is_some());
        let rules = rules.map(|rule| rule.id.as_str());
        changes.deeds.extend(rule_deeds::about(rules, Deed::WentOn, Some(&active.position)));
        let fields = self.fields([("workflow", json!(active.workflow.name)), ("past", json!(node.name))]);
        self.write(&mut scene, NoteKind::Continue, &fields, &changes)?;
        let active = Arc::new(active);
        let prompt = self.prompt(&node, &active, &scene)?;
        Ok(stay(&active, StepOutcome::Prompt(prompt)))
    }

    /// Where no workflow is active, rules may have interrupted the session itself.
    fn go_on_in_session(&self, mut scene: Scene) -> Result<Step, Refusal> {
        let rules = self.interrupting_rules(&scene);
        if rules.is_empty() {
            return Err(Refusal::NothingToContinue);
        }
        if let Some(rule) = rules.iter().find(|rule| self.is_agents && rule.ack == AckBy::Human) {
            return Err(Refusal::OnlyAPerson(rule.id.clone()));
        }
        let mut changes = Changes::default();
        self.go_on_past(&rules, &scene, &mut changes);
        let names: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
        let fields = self.fields([("past", json!(names.join(", ")))]);
        let (root, cwd) = self.places();
        scene.store.note(&self.note(NoteKind::Continue, &fields, &changes, &root, &cwd))?;
        let outcome = StepOutcome::Counting(names);
        Ok(Step {
            workflow: String::new(),
            node: String::new(),
            moved: false,
            outcome,
            texts: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// What these rules, outside of the workflow, count in the session begins again.
    fn go_on_past(&self, rules: &[Rule], scene: &Scene, changes: &mut Changes) {
        let spent = self.pace_facts().spent(None).ok().and_then(Spent::known);
        pace_facts::continue_session(&scene.session, self.now, spent, changes);
        changes.deeds.extend(rule_deeds::about(rules.iter().map(|rule| rule.id.as_str()), Deed::WentOn, None));
    }

    /// The rules outside of workflows that interrupted the session.
    fn interrupting_rules(&self, scene: &Scene) -> Vec<Rule> {
        let digests: Vec<&str> = pace_facts::interrupting(&scene.session.variables).collect();
        if digests.is_empty() || self.session.is_none() {
            return Vec::new();
        }
        let rules = self.policy.rules.all().unwrap_or_default();
        rules.into_iter().filter(|rule| digests.contains(&rule.digest.as_str())).collect()
    }
}

/// Whether a move out of this phase was refused because a commit was missing.
fn has_missed_commits(active: &Active, scene: &Scene) -> Result<bool, Refusal> {
    let asks =
        |rule: &&Rule| rule.as_pace_rule().is_some_and(|pace| matches!(pace.limit, Limit::RequireCommits { .. }));
    let mut rules = active.workflow.rules_at(active.position.node()).filter(asks).peekable();
    if rules.peek().is_none() {
        return Ok(false);
    }
    let phase = Some(active.position.phase_named());
    let counts = scene.store.rule_counts()?;
    Ok(rules
        .any(|rule| counts.get(&rule.id).and_then(|phases| phases.get(&phase)).is_some_and(|count| count.blocked > 0)))
}
