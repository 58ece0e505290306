//! The facts of a live judgement: asked for one by one, computed once, and written down for the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use engine::event::EventKind;
use engine::facts::{
    Answered, EventPart, Facts, GitField, LoopField, Missing, PhaseField, RanCommand, Stored, TaskField, WorkflowField,
};
use engine::file_rules::{FileMatch, FileRule, Reach};
use engine::observers::Changes;
use engine::pace::{Happening, Standing, TokenKind};
use engine::rules::{Rule, RuleSet};
use policy::Config;
use serde_json::{Map, Value, json};
use shell::Written;
use store::{EventId, SessionState, Store, WORKFLOW_VARIABLE};
use tree::Repository;

use super::active::Active;
use super::glob;
use super::input_record::AskedInput;
use super::loop_facts::LoopFacts;
use super::pace_facts::{PaceError, PaceFacts, PaceScope};
use super::task_facts::TaskFacts;
use super::token_count::TokenCount;
use super::written::written;
use crate::file_rules::{FileFacts, FileSetting, answered_fact, answered_record, changes_fact, changes_record};
use crate::grants::is_acknowledged;

/// How many commands of a session or phase `command_ran` can look back on.
pub const COMMANDS_LIMIT: usize = 2_000;

/// The fact that holds what was claimed with the move that led to the current phase.
pub const CLAIMS_FACT: &str = "claims";

/// The fact that holds the paths that lead elsewhere: pairs of a path and its real place; null where there were too many.
pub const LINKS: &str = "links";
const LINKS_LIMIT: usize = 256;

pub struct LiveFacts {
    root: PathBuf,
    /// Where the policy lies below the project's root; empty for the project's own.
    folder: PathBuf,
    /// `None`: the journal cannot be used.
    state: Option<SessionState>,
    config: Arc<Config>,
    /// Whether the agent is trying a stop again that was held before.
    held_before: bool,
    history: SessionJournal,
    /// Made when a file rule first asks.
    files: OnceLock<FileFacts>,
    file_setting: FileSetting,
    pace: PaceFacts,
    /// The workflow whose rules are judged.
    active: Option<Arc<Active>>,
    /// The workflow that is active while something else is judged.
    beside: Option<Arc<Active>>,
    /// What observers made of this very event.
    observed: Mutex<Changes>,
    /// Whether observers are asking, and not rules.
    is_observing: AtomicBool,
    used: Mutex<Map<String, Value>>,
    asked_input: Mutex<AskedInput>,
    /// Paths that lead elsewhere, by where.
    links: Mutex<BTreeMap<String, String>>,
    repository: OnceLock<Option<Repository>>,
    /// Whether anything differs from `HEAD`; `None`: git does not say.
    dirty: OnceLock<Option<bool>>,
    /// `None`: they cannot be read.
    commands: OnceLock<Option<Vec<RanCommand>>>,
    /// Real paths of folders: what a command names mostly lies in the same few.
    folders: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

/// Where the session's earlier commands can be read, and its project's tasks.
pub struct SessionJournal {
    pub store: PathBuf,
    pub agent: String,
    pub session: String,
    /// What `~` stands for in them.
    pub home: Option<String>,
    pub options: store::Options,
    pub in_loop: LoopFacts,
    pub tasks: TaskFacts,
}

impl LiveFacts {
    pub fn new(
        root: &Path,
        folder: &Path,
        state: Option<SessionState>,
        config: Arc<Config>,
        history: SessionJournal,
        file_setting: FileSetting,
        tokens: Arc<TokenCount>,
    ) -> Self {
        let event = &file_setting.event;
        let pace = PaceFacts::new(Arc::clone(event), history.store.clone(), history.options, tokens);
        let held_before = event.held_before;
        Self {
            root: root.to_owned(),
            folder: folder.to_owned(),
            state,
            config,
            held_before,
            history,
            files: OnceLock::new(),
            file_setting,
            pace,
            active: None,
            beside: None,
            observed: Mutex::default(),
            is_observing: AtomicBool::new(false),
            used: Mutex::default(),
            asked_input: Mutex::default(),
            links: Mutex::default(),
            repository: OnceLock::new(),
            dirty: OnceLock::new(),
            commands: OnceLock::new(),
            folders: Mutex::default(),
        }
    }

    /// The same, for what is said elsewhere while a workflow is active.
    pub fn beside_workflow(mut self, active: Option<Arc<Active>>) -> Self {
        self.beside = active;
        self
    }

    /// The workflow that is active, whether or not this is part of it.
    fn workflow_around(&self) -> Result<Option<&Arc<Active>>, Missing> {
        match self.active.as_ref().or(self.beside.as_ref()) {
            Some(active) => Ok(Some(active)),
            // Without the journal it is not known whether one is active.
            None => self.stored().map(|_| None),
        }
    }

    /// The same, for what a workflow says. Its rules may ask about those that are in force without it.
    pub fn in_workflow(mut self, active: Arc<Active>, others: &RuleSet) -> Self {
        self.active = Some(active);
        self.file_setting.rules.push(others.clone());
        self
    }

    /// When a person last gave a session a prompt, this event included.
    fn last_prompt(&self, session: &str) -> Option<i64> {
        let event = &self.file_setting.event;
        if event.kind == EventKind::Prompt && session == self.history.session {
            return Some(event.time);
        }
        let SessionJournal { store, options, .. } = &self.history;
        Store::open_existing_read(store, *options).ok()?.last_prompt(session).ok().flatten()
    }

    /// The path behind links, as far as it exists; what does not exist yet is kept as it is.
    fn resolved_path(&self, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().len() > LONGEST_PATH {
            return None;
        }
        // Without a slash or a `.` behind a link, which would be looked for where it leads.
        let path: &Path = &path.components().collect::<PathBuf>();
        let Some(name) = path.file_name() else { return resolved_folder(path) };
        let folder = path.parent()?;
        if path.is_symlink() {
            return path.canonicalize().ok().or_else(|| dangling(path));
        }
        let mut folders = self.folders.lock().ok()?;
        let real = folders.entry(folder.to_owned()).or_insert_with(|| resolved_folder(folder));
        real.as_ref().map(|folder| folder.join(name))
    }

    /// Every fact that was asked for and found, by the name under which the journal keeps it.
    pub fn used(&self) -> Map<String, Value> {
        let used = self.used.lock().map(|used| used.clone()).unwrap_or_default();
        used.into_iter().map(|(name, value)| (fact_name(&self.folder, &name), value)).collect()
    }

    /// What was asked of the input of the tool call.
    pub fn asked_input(&self) -> AskedInput {
        self.asked_input.lock().map(|asked| asked.clone()).unwrap_or_default()
    }

    /// The paths that lead elsewhere, with where.
    pub fn links(&self) -> BTreeMap<String, String> {
        self.links.lock().map(|links| links.clone()).unwrap_or_default()
    }

    /// Whether there is a state that observers could change.
    pub fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// What observers ask for is not what a rule's verdict rests on, so their variables are not written down.
    pub fn observing(&self, is_observing: bool) {
        self.is_observing.store(is_observing, Ordering::Relaxed);
    }

    /// Lays what an observer changed over the stored state.
    pub fn overlay(&self, changes: &Changes) {
        if let Ok(mut observed) = self.observed.lock() {
            observed.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// All that observers changed.
    pub fn observed(&self) -> Changes {
        self.observed.lock().map(|observed| observed.clone()).unwrap_or_default()
    }

    pub fn files(&self) -> &FileFacts {
        self.files.get_or_init(|| self.file_setting.facts(self.state.as_ref()))
    }

    /// Those of them that somebody asked for.
    pub fn files_asked(&self) -> Option<&FileFacts> {
        self.files.get()
    }

    pub fn paced(&self) -> &PaceFacts {
        &self.pace
    }

    pub fn hold_counter(&self, rule: &str) -> String {
        hold_counter(&self.folder, rule)
    }

    /// A fact about tasks: asked for once, and noted where it can be told.
    fn of_tasks(&self, name: String, ask: impl FnOnce(&TaskFacts) -> Result<Value, Missing>) -> Result<Value, Missing> {
        if let Some(known) = self.used.lock().ok().and_then(|used| used.get(&name).cloned()) {
            return Ok(known);
        }
        let value = ask(&self.history.tasks)?;
        self.note(name, &value);
        Ok(value)
    }

    fn note(&self, name: String, value: &Value) {
        if let Ok(mut used) = self.used.lock() {
            used.insert(name, value.clone());
        }
    }

    fn stored(&self) -> Result<&SessionState, Missing> {
        self.state.as_ref().ok_or(Missing::Unreadable(Stored::Session))
    }

    fn is_dirty(&self, repository: &Repository) -> Result<bool, Missing> {
        const WHY: &str = "git does not say in time, or cannot safely be asked, whether anything changed";
        self.dirty.get_or_init(|| repository.is_dirty()).ok_or_else(|| Missing::Failed(WHY.to_owned()))
    }
}

impl Facts for LiveFacts {
    fn variable(&self, name: &str) -> Result<Option<Value>, Missing> {
        // A claim is no variable, and none has its name.
        if self.active.as_ref().is_some_and(|active| active.claims_include(name)) {
            return Ok(None);
        }
        let observed = self.observed.lock().ok().and_then(|observed| observed.get(name).cloned());
        let of_workflow = self.active.as_ref().filter(|active| active.declares(name));
        let value = match (observed, of_workflow) {
            (Some(observed), _) => observed,
            (None, Some(active)) => active.variable(name),
            (None, None) => self.stored()?.variables.get(name).cloned(),
        };
        let value = value.or_else(|| self.config.variable(name));
        if !self.is_observing.load(Ordering::Relaxed) {
            self.note(variable_fact(name, of_workflow.is_some()), value.as_ref().unwrap_or(&Value::Null));
        }
        Ok(value)
    }

    fn variable_names(&self) -> Result<Vec<String>, Missing> {
        let mut names: BTreeSet<String> = self.stored()?.variables.keys().cloned().collect();
        for (name, value) in self.observed() {
            if value.is_some() {
                names.insert(name);
            } else {
                names.remove(&name);
            }
        }
        // Names that begin with `_` are Linchpin's own.
        names.retain(|name| !name.starts_with('_'));
        names.extend(self.config.variable_names().map(str::to_owned));
        names.extend(self.active.iter().flat_map(|active| active.workflow.variables.keys().cloned()));
        Ok(names.into_iter().collect())
    }

    fn workflow(&self, field: WorkflowField) -> Result<Value, Missing> {
        let active = self.workflow_around()?;
        let value = active.map_or_else(|| field.without_workflow(), |active| active.workflow_field(field));
        self.note(format!("workflow.{}", field.name()), &value);
        Ok(value)
    }

    fn phase(&self, field: PhaseField) -> Result<Value, Missing> {
        let active = self.workflow_around()?;
        let tokens = match active.filter(|_| field == PhaseField::Tokens) {
            Some(active) => {
                let spent = self.pace.spent(Some(&active.position.phase()));
                let spent = spent.map_err(|_| Missing::Unreadable(Stored::Journal))?;
                spent.known().map(|tokens| tokens.sum(&TokenKind::USUAL))
            }
            None => None,
        };
        let commits = |active: &Active| {
            let repository = self.repository.get_or_init(|| Repository::of(&self.root)).as_ref();
            let visit = active.position.visit();
            repository?.commits_since(visit.started / 1000, visit.head.as_deref())
        };
        let value = active.map_or(Value::Null, |active| active.phase_field(field, || tokens, || commits(active)));
        self.note(format!("phase.{}", field.name()), &value);
        Ok(value)
    }

    fn in_loop(&self, field: LoopField) -> Result<Value, Missing> {
        let value = self.history.in_loop.field(field).map_err(|_| Missing::Unreadable(Stored::Work))?;
        self.note(format!("loop.{}", field.name()), &value);
        Ok(value)
    }

    fn stop_signal(&self, session: Option<&str>) -> Result<bool, Missing> {
        let own = self.history.session.as_str();
        let asked = self.history.in_loop.is_to_stop(session, own, |asked| self.last_prompt(asked));
        let asked = asked.map_err(|_| Missing::Unreadable(Stored::Work))?;
        self.note(stop_fact(session), &json!(asked));
        Ok(asked)
    }

    fn tasks(&self, field: TaskField) -> Result<Value, Missing> {
        self.of_tasks(tasks_fact(field), |tasks| tasks.count(field))
    }

    fn task_tree_is_complete(&self, id: &str) -> Result<bool, Missing> {
        let answer = self.of_tasks(tree_fact(id), |tasks| tasks.tree_is_complete(id).map(Value::Bool))?;
        Ok(answer == Value::Bool(true))
    }

    fn task_needs_review(&self, id: &str) -> Result<bool, Missing> {
        let answer = self.of_tasks(review_fact(id), |tasks| tasks.needs_review(id).map(Value::Bool))?;
        Ok(answer == Value::Bool(true))
    }

    fn claims(&self) -> Result<Map<String, Value>, Missing> {
        Ok(self.workflow_around()?.map(|active| active.claims.clone()).unwrap_or_default())
    }

    fn asked_claims(&self) -> Result<Map<String, Value>, Missing> {
        let claims = self.claims()?;
        self.note(CLAIMS_FACT.to_owned(), &Value::Object(claims.clone()));
        Ok(claims)
    }

    fn git(&self, field: GitField) -> Result<Value, Missing> {
        let name = format!("git.{}", field.name());
        if let Some(known) = self.used.lock().ok().and_then(|used| used.get(&name).cloned()) {
            return Ok(known);
        }
        let repository = self.repository.get_or_init(|| Repository::of(&self.root)).as_ref();
        let text = |value: Option<String>| value.map_or(Value::Null, Value::String);
        let value = match field {
            GitField::Branch => text(repository.and_then(Repository::branch)),
            GitField::Head => text(repository.and_then(Repository::head)),
            GitField::DefaultBranch => {
                text(self.config.default_branch.clone().or_else(|| repository.and_then(Repository::default_branch)))
            }
            GitField::Dirty => match repository {
                Some(repository) => Value::Bool(self.is_dirty(repository)?),
                None => Value::Null,
            },
        };
        self.note(name, &value);
        Ok(value)
    }

    fn changes(&self, reach: Reach) -> Result<Option<Arc<engine::file_rules::Changes>>, Missing> {
        let changes = self.files().changes(reach);
        if let Some(changes) = &changes {
            self.note(changes_fact(reach), &changes_record(changes));
        }
        Ok(changes)
    }

    fn answered(&self, rule: &Rule, found: &FileMatch) -> Result<Answered, Missing> {
        let answered = self.files().answered(rule, found).ok_or(Missing::Unreadable(Stored::Journal))?;
        self.note(answered_fact(&rule.id), &answered_record(&answered));
        Ok(answered)
    }

    fn pace(&self, rule: &Rule, happening: Option<&Happening>) -> Result<Option<Standing>, Missing> {
        let state = self.stored()?;
        let scope = match &self.active {
            Some(active) => active.pace_scope(),
            None => PaceScope::of_session(state, self.file_setting.event.time),
        };
        let standing = self.pace.standing(rule, happening, &scope).map_err(|error| match error {
            PaceError::MetricAccessFailed(_) => Missing::Unreadable(Stored::Journal),
            PaceError::RegexMatchFailed(why) => Missing::Failed(why),
        })?;
        if let Some(standing) = &standing {
            let fact = pace_fact(&rule.digest, self.active.is_some());
            self.note(fact, &serde_json::to_value(standing).unwrap_or_default());
        }
        Ok(standing)
    }

    fn file_rule(&self, id: &str) -> Option<FileRule> {
        self.files().rule(id)
    }

    fn commands_ran(&self) -> Result<Vec<RanCommand>, Missing> {
        if self.active.is_none() {
            self.stored()?;
        }
        let read = || {
            let store = Store::open_existing_read(&self.history.store, self.history.options)?;
            // One workflow is active for every session here.
            if let Some(active) = &self.active {
                return store.commands_of_all(active.position.visit().started, EventId(i64::MAX), COMMANDS_LIMIT);
            }
            let key = store::SessionKey { agent: &self.history.agent, session: &self.history.session };
            store.commands(key, 0, COMMANDS_LIMIT)
        };
        let commands =
            self.commands.get_or_init(|| Some(read().ok()?.iter().flat_map(simple_commands).collect::<Vec<_>>()));
        commands.clone().ok_or(Missing::Unreadable(Stored::Journal))
    }

    fn resolved(&self, path: &str) -> Option<String> {
        let real = self.resolved_path(Path::new(path))?.to_string_lossy().into_owned();
        if path::tidy(&real) != path::tidy(path)
            && let Ok(mut links) = self.links.lock()
        {
            links.insert(path.to_owned(), real.clone());
        }
        Some(real)
    }

    fn expanded(&self, pattern: &str) -> Option<Vec<String>> {
        let found = glob::expanded(pattern);
        if let Ok(mut links) = self.links.lock() {
            links.insert(pattern_mark(pattern), found.join("\n"));
        }
        Some(found)
    }

    fn searched(&self, pattern: &str) -> Option<Vec<String>> {
        let found = glob::searched(pattern);
        if let Ok(mut links) = self.links.lock() {
            links.insert(pattern_mark(pattern), found.join("\n"));
        }
        Some(found)
    }

    fn is_folder(&self, path: &str) -> Option<bool> {
        let is_folder = Path::new(path).metadata().ok()?.is_dir();
        if let Ok(mut links) = self.links.lock() {
            links.insert(folder_mark(path), if is_folder { path.to_owned() } else { String::new() });
        }
        Some(is_folder)
    }

    fn written(&self, path: &str) -> Option<Written> {
        let since = self.state.as_ref()?.first_seen?;
        let found = written(Path::new(path), since, &self.history)?;
        if let Ok(mut links) = self.links.lock() {
            let text = match &found {
                Written::Text(text) => store::mask(text).into_owned(),
                Written::Unknown => UNKNOWN_TEXT.to_owned(),
            };
            links.insert(text_mark(path), text);
        }
        Some(found)
    }

    fn holds(&self, rule: &str) -> Result<u32, Missing> {
        let count = self.stored()?.counter(&self.hold_counter(rule));
        // A stop that was not held before begins a new count.
        Ok(if self.held_before { u32::try_from(count).unwrap_or(0) } else { 0 })
    }

    fn acknowledged(&self, rule: &str, digest: &str) -> bool {
        // Without the journal nothing is known to be acknowledged, and no rule is skipped for that.
        self.state.as_ref().is_some_and(|state| is_acknowledged(&state.variables, rule, digest))
    }

    fn asked(&self, part: EventPart<'_>) -> Result<(), Missing> {
        if let Ok(mut asked) = self.asked_input.lock() {
            asked.note(part);
        }
        Ok(())
    }
}

/// The name of the fact that says what a variable was. A workflow may have one that the session has too.
pub fn variable_fact(name: &str, is_of_workflow: bool) -> String {
    format!("{}{name}", if is_of_workflow { WORKFLOW_VARIABLE } else { SESSION_VARIABLE })
}

/// Before the name of a session's variable, where facts are noted.
pub const SESSION_VARIABLE: &str = "variables.";

/// The name of the fact that says how a phase, or else the session, stood with a pace rule: one rule may be in force for both.
pub fn pace_fact(digest: &str, is_of_workflow: bool) -> String {
    if is_of_workflow { format!("workflow.pace.{digest}") } else { format!("pace.{digest}") }
}

/// The name of the fact that says whether a session was asked to stop.
pub fn stop_fact(session: Option<&str>) -> String {
    session.map_or_else(|| "stop_signal".to_owned(), |session| format!("stop_signal.{session}"))
}

pub fn tasks_fact(field: TaskField) -> String {
    format!("tasks.{}", field.name())
}

/// The name of the fact that says whether a task and all below it are complete.
pub fn tree_fact(id: &str) -> String {
    format!("task_tree_complete({})", store::mask(id))
}

pub fn review_fact(id: &str) -> String {
    format!("task_needs_user_review({})", store::mask(id))
}

/// The name of a fact in the journal. The policy of a folder below the root has facts of its own.
pub fn fact_name(folder: &Path, name: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { name.to_owned() } else { format!("{folder}:{name}") }
}

/// What the journal keeps of the paths that lead elsewhere; nothing where none does.
pub fn links_fact(links: &BTreeMap<String, String>) -> Option<Value> {
    match links.len() {
        0 => None,
        1..=LINKS_LIMIT => Some(links.iter().map(|(path, real)| json!([path, real])).collect()),
        _ => Some(Value::Null),
    }
}

/// A command that ran, as rules ask for it.
pub fn simple_commands(ran: &store::RecordedCommand) -> Vec<RanCommand> {
    let script = shell::parse(&ran.text);
    let succeeded = ran.succeeded == Some(true) && shell::succeeds_as_one(&ran.text, &script);
    script.texts().map(|text| RanCommand { time: ran.time, text, succeeded }).collect()
}

const HOLD: &str = "hold:";

/// What a pattern stands for is kept among the links, as one from this to all of it.
pub fn pattern_mark(pattern: &str) -> String {
    format!("{pattern}\n")
}

/// What is in a file is kept among the links, as one from this to the text.
pub fn text_mark(path: &str) -> String {
    format!("{path}\n\n")
}

/// In the place of a text that nobody knows; no text has this.
pub const UNKNOWN_TEXT: &str = "\0";

/// A folder that is there is kept among the links, as one from this to itself; what is no folder leads nowhere.
pub fn folder_mark(path: &str) -> String {
    format!("{path}/")
}

/// The counter of a rule's holds. Rules of two folders may have one id.
pub fn hold_counter(folder: &Path, rule: &str) -> String {
    let folder = folder.to_string_lossy();
    if folder.is_empty() { format!("{HOLD}{rule}") } else { format!("{HOLD}{folder}/{rule}") }
}

/// The rule whose holds a counter counts, if it is such a counter.
pub fn held_rule(counter: &str) -> Option<&str> {
    counter.strip_prefix(HOLD)
}

/// No system takes a longer one, so nothing can be at it.
pub const LONGEST_PATH: usize = 4096;

/// Where a link leads that leads to nothing yet: writing to it makes that file.
fn dangling(link: &Path) -> Option<PathBuf> {
    const LINKS_LIMIT: usize = 40;
    let mut path = link.to_owned();
    for _ in 0..LINKS_LIMIT {
        match path.read_link() {
            Ok(target) => path = path.parent()?.join(target),
            Err(_) => return Some(resolved_folder(path.parent()?)?.join(path.file_name()?)),
        }
    }
    None
}

fn resolved_folder(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|existing| {
        let missing = folder.strip_prefix(existing).ok()?;
        existing.canonicalize().ok().map(|real| real.join(missing))
    })
}
