//! `status`: the rules in force, and the state of the session, the workflow and the run.

mod metrics;
mod nested;
mod rule_line;
mod session;
mod workflow;

use std::sync::Arc;
use std::time::Duration;

use engine::rules::Rule;
use guard::Project;
use guard::facts::token_count;
use guard::grants::{OBSERVE_NOTICE, Pause, SWITCHED_OFF_NOTICE, pause_notice};
use guard::session::{CommandRun, project_of_command};
use guard::workflow::WorkflowReport;
use policy::{CompiledPolicy, PolicyMode};
use serde_json::{Map, Value, json};
use store::Store;

use self::metrics::Metrics;
use self::nested::NestedPolicy;
use self::rule_line::show_rule;
use self::session::SessionStatus;
use super::{Context, journal, loops};
use crate::arguments::StatusArguments;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::person;
use crate::plural::counted;
use crate::problem::{CommandOutcome, Problem};

pub fn run(arguments: &StatusArguments, context: &Context) -> CommandOutcome {
    let status = Status::read(arguments, context)?;
    if context.output.json {
        context.output.value(&status.to_json());
    } else {
        status.show(context);
    }
    Ok(ExitCode::Done)
}

struct Status {
    project: Project,
    policy: Arc<CompiledPolicy>,
    /// The rules in force; empty without a policy.
    rules: Vec<Rule>,
    nested: Vec<NestedPolicy>,
    /// The reason why an existing journal cannot be used.
    unusable_journal: Option<Problem>,
    session: SessionStatus,
    workflow: Option<WorkflowReport>,
    /// The last run as text and as JSON, if it has not completed.
    run: Option<(String, Value)>,
    pause: Option<Pause>,
    metrics: Option<Metrics>,
    now: i64,
}

impl Status {
    fn read(arguments: &StatusArguments, context: &Context) -> Result<Self, Problem> {
        let environment = &context.environment;
        let project = project_of_command(environment);
        let policy = Arc::new(project.compiled_policy_read_only(environment));
        let rules = if project.has_policy() {
            policy.rules.all().map_err(|error| Problem::new("Unreadable", error.to_string()))?
        } else {
            Vec::new()
        };
        let nested = NestedPolicy::all(&project, context)?;
        let (store, unusable_journal) = open_journal(&project, context);
        let now = super::now();
        let command = CommandRun { words: &["status"], session: arguments.session.as_deref(), environment, now };
        // The session whose variables decide a move is not guessed; `next` does not guess it either.
        let has_agent_marker = person::agent_marker(environment).is_some();
        let session = store.as_ref().and_then(|store| command.certain_session(store, has_agent_marker).ok().flatten());
        Ok(Self {
            session: SessionStatus::read(&command, store.as_ref(), &project, &policy, &rules),
            workflow: workflow::report(&project, &policy, now, session, context),
            run: loops::unfinished_run(&project, context),
            pause: Pause::of(&project.root, environment, now),
            metrics: arguments.metrics.then(|| Metrics::read(store.as_ref())).transpose()?,
            project,
            policy,
            rules,
            nested,
            unusable_journal,
            now,
        })
    }

    fn to_json(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("workflow", json!(self.workflow.as_ref().map(|report| workflow::to_json(report, self.now))));
        put("root", json!(self.project.root));
        put("nested", self.nested.iter().map(NestedPolicy::to_json).collect());
        put("mode", json!(self.policy.config.mode.name()));
        put("enabled", json!(self.policy.config.enabled));
        put("paused", json!(self.pause.as_ref().map(|pause| json!({ "until": pause.until, "reason": pause.reason }))));
        put("session", self.session.to_json(&self.rules, &self.policy.broken));
        if let Some((_, run)) = &self.run {
            put("run", run.clone());
        }
        if let Some(metrics) = &self.metrics {
            put("metrics", metrics.json());
        }
        Value::Object(fields)
    }

    fn show(&self, context: &Context) {
        let output = &context.output;
        self.show_project(output);
        if let Some(report) = &self.workflow {
            workflow::show(report, self.now, output);
        }
        if let Some((run, _)) = &self.run {
            output.line(format!("{} {run}", output.bold("Run    ")));
        }
        self.session.show_name(output);
        if !self.project.has_policy() {
            self.session.show_rules_without_policy(output);
            return;
        }
        self.show_enforcement(output);
        output.line(format!("{} {} in force", output.bold("Rules  "), counted(self.rules.len(), "rule")));
        self.rules.iter().for_each(|rule| show_rule(rule, output));
        self.nested.iter().for_each(|nested| nested.show(output));
        self.session.show_rules(output);
        show_tokens(&self.project, self.now, context);
        self.session.show_state(output);
        for file in &self.policy.broken {
            output.line(format!("{} {}: {}", output.bold("Broken "), file.consequence(), file.problem));
        }
        if let Some(metrics) = &self.metrics {
            metrics.show(output);
        }
    }

    fn show_project(&self, output: &Output) {
        output.line(format!("{} {}", output.bold("Project"), self.project.root.display()));
        if let Some(problem) = &self.unusable_journal {
            output.line(format!("{} {}; `linchpin doctor`", output.bold("Journal"), problem.message()));
        }
    }

    /// Shows why rules are not enforced, if they are not.
    fn show_enforcement(&self, output: &Output) {
        if !self.policy.config.enabled {
            output.line(format!("{} {}", output.bold("Mode   "), SWITCHED_OFF_NOTICE));
        }
        if self.policy.config.mode == PolicyMode::Observe {
            output.line(format!("{} {}", output.bold("Mode   "), OBSERVE_NOTICE));
        }
        if let Some(pause) = &self.pause {
            output.line(format!("{} {}", output.bold("Pause  "), pause_notice(pause, self.now)));
        }
    }
}

/// Returns the journal, or the reason why an existing one cannot be used.
fn open_journal(project: &Project, context: &Context) -> (Option<Store>, Option<Problem>) {
    match journal::open(project, context) {
        Ok(store) => (Some(store), None),
        Err(problem) => (None, Some(problem).filter(|_| project.journal_path(&context.environment).exists())),
    }
}

/// Shows the tokens used in the current phase, if a workflow is active.
fn show_tokens(project: &Project, now: i64, context: &Context) {
    let options = store::StoreOptions { busy_timeout: Duration::from_secs(2), now, run: None };
    let Some(spent) = token_count::of_current_phase(project, &context.environment, options) else { return };
    let output = &context.output;
    let text = match spent.known() {
        Some(tokens) => format!("{} input, {} output", tokens.input, tokens.output),
        None => "unknown".to_owned(),
    };
    output.line(format!("{} {text} in this phase", output.bold("Tokens ")));
}
