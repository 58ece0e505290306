//! What `doctor` says of agents' hooks: whether they call Linchpin, and what would keep them from it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Agent;
use agents::install::{self as settings, AcceptanceStatus, Installed, SettingsScope, SwitchFile};
use guard::Project;

use super::doctor_check::{DoctorCheck, State};
use super::forged_event::Trial;
use crate::commands::{Context, install};

/// `nested`: the policies above the working directory. An agent that is started there reads the settings there.
pub fn checks(project: &Project, nested: &[Project], context: &Context) -> Vec<DoctorCheck> {
    let home = context.environment.home.clone().unwrap_or_else(|| project.root.clone());
    let deadline = project.compiled_read_only(&context.environment).config.deadline;
    let look = |agent| {
        let looker = |project| Looker { agent, project, context, home: &home, deadline };
        let mut found = looker(project).look();
        for nested in nested {
            found.join(looker(nested).look_in(&[SettingsScope::Project, SettingsScope::Local]), &nested.root);
        }
        found
    };
    let found: Vec<(Agent, Looked)> = Agent::ALL.into_iter().map(|agent| (agent, look(agent))).collect();
    let at_work: Vec<Agent> = found.iter().filter(|(_, looked)| looked.places > 0).map(|(agent, _)| *agent).collect();
    let unread = found.iter().filter_map(|(agent, looked)| unread_there(*agent, looked, nested)).collect::<Vec<_>>();
    let mut checks: Vec<DoctorCheck> = found.into_iter().flat_map(|(_, looked)| looked.checks).collect();
    checks.extend(calling_twice(&at_work));
    if at_work.is_empty() {
        let help = "`linchpin install AGENT`, or `linchpin init` for those that are found";
        checks.push(DoctorCheck::bad("no agent calls Linchpin for this project", help));
    }
    checks.extend(unread);
    checks
}

/// Every program that the settings call.
fn programs(found: &Installed) -> Vec<&str> {
    let mut programs: Vec<&str> = Vec::new();
    for entry in &found.entries {
        if !programs.contains(&entry.program.as_str()) {
            programs.push(&entry.program);
        }
    }
    programs
}

/// Agents that read the settings of others besides their own.
fn calling_twice(at_work: &[Agent]) -> Vec<DoctorCheck> {
    let read = |agent: &Agent| settings::also_reads(*agent).iter().filter(|other| at_work.contains(other));
    let text = |agent: &Agent, other: &Agent| {
        let (title, other) = (agent.title(), other.title());
        format!("{title}: it reads {other}'s settings too, so it may call Linchpin twice for each event")
    };
    at_work.iter().flat_map(|agent| read(agent).map(move |other| DoctorCheck::note(text(agent, other)))).collect()
}

/// Hooks that an agent may not find from where it is started.
fn unread_there(agent: Agent, looked: &Looked, nested: &[Project]) -> Option<DoctorCheck> {
    let folder = &nested.last()?.root;
    let is_missing = looked.places > 0 && !looked.is_of_user && !looked.folders.contains(folder);
    let title = agent.title();
    let text = format!("{title}: no hooks in {}, and it may not read those of a folder above it", folder.display());
    is_missing.then(|| DoctorCheck::note(format!("{text}; `linchpin install {}` there adds them", agent.name())))
}

/// What became of one agent's settings.
#[derive(Default)]
struct Looked {
    checks: Vec<DoctorCheck>,
    /// In how many files hooks of ours are.
    places: usize,
    /// What matters only where the agent has hooks of ours somewhere: switches turn off those in other files too.
    elsewhere: Vec<DoctorCheck>,
    /// The person's settings that cannot be understood.
    unread: Vec<DoctorCheck>,
    /// There are hooks in the person's own settings.
    is_of_user: bool,
    /// The nested policies whose folders have hooks.
    folders: Vec<PathBuf>,
}

impl Looked {
    fn join(&mut self, nested: Self, folder: &Path) {
        if nested.places > 0 {
            self.folders.push(folder.to_owned());
        }
        self.places += nested.places;
        self.checks.extend(nested.checks);
    }
}

struct Looker<'a> {
    agent: Agent,
    project: &'a Project,
    context: &'a Context,
    home: &'a Path,
    deadline: Duration,
}

impl Looker<'_> {
    fn look(&self) -> Looked {
        let mut looked = self.look_in(&SettingsScope::ALL);
        if looked.places == 0 {
            // It may be an agent that nobody uses here.
            looked.unread.iter_mut().for_each(|check| check.state = State::Note);
        }
        looked.checks.append(&mut looked.unread);
        if looked.places > 0 {
            looked.checks.append(&mut looked.elsewhere);
            looked.checks.extend(self.switch_checks());
        }
        if looked.places > 1 {
            looked.checks.push(self.note(&format!(
                "hooks in {} places, so it may call Linchpin that often for each event",
                looked.places
            )));
        }
        looked
    }

    fn look_in(&self, scopes: &[SettingsScope]) -> Looked {
        let mut looked = Looked::default();
        for scope in scopes {
            let environment = &self.context.environment;
            if let Ok(file) = install::settings_file(self.agent, *scope, &self.project.root, environment) {
                self.look_at(*scope, &file, &mut looked);
            }
        }
        looked
    }

    fn look_at(&self, scope: SettingsScope, file: &Path, looked: &mut Looked) {
        let text = match install::read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(problem) => return self.cannot_read(scope, problem.message(), looked),
        };
        let found = match settings::installed(self.agent, scope, &text, self.deadline) {
            Ok(found) => found,
            Err(error) => return self.cannot_read(scope, &format!("{}:{error}", file.display()), looked),
        };
        let change = format!("change it in {}", file.display());
        let to_change = |problem: &String| self.bad(problem, &change);
        if found.entries.is_empty() {
            looked.elsewhere.extend(found.switches.iter().map(to_change));
            looked.checks.extend(found.problems.iter().map(to_change));
            looked.checks.extend(self.difference_checks(scope, &found));
            return;
        }
        looked.places += 1;
        looked.is_of_user |= scope == SettingsScope::User;
        looked.checks.push(DoctorCheck::fine(format!("{}: hooks in {}", self.agent.title(), file.display())));
        looked.checks.extend(self.difference_checks(scope, &found));
        looked.checks.extend(found.switches.iter().chain(&found.problems).map(to_change));
        looked.checks.extend(self.repeated_check(file, &found));
        for program in programs(&found) {
            if install::is_another(program, &self.project.root, &self.context.environment) == Some(true) {
                looked
                    .checks
                    .push(self.note(&format!("it calls `{program}`, which is not the Linchpin that says this")));
            }
            let Self { agent, project, deadline, .. } = *self;
            let trial = Trial { agent, scope, program, project, environment: &self.context.environment, deadline };
            looked.checks.extend(trial.check());
        }
        looked.checks.extend(self.acceptance_check(scope, file));
    }

    /// Settings that cannot be understood may hold hooks that are not called.
    fn cannot_read(&self, scope: SettingsScope, problem: &str, looked: &mut Looked) {
        let check = self.bad(problem, "the agent may not read its hooks from this file; mend it");
        if scope == SettingsScope::User {
            looked.unread.push(check);
        } else {
            looked.checks.push(check);
        }
    }

    fn difference_checks(&self, scope: SettingsScope, found: &Installed) -> Vec<DoctorCheck> {
        let again = format!("run `{}` again", install::install_command(self.agent, scope));
        let mut checks = Vec::new();
        if !found.missing.is_empty() && !found.entries.is_empty() {
            checks.push(self.bad(&format!("no hook for {}", found.missing.join(", ")), &again));
        }
        for difference in &found.differences {
            checks.push(if difference.weakens {
                self.bad(&difference.text, &again)
            } else {
                self.note(&difference.text)
            });
        }
        checks
    }

    fn repeated_check(&self, file: &Path, found: &Installed) -> Option<DoctorCheck> {
        let events: Vec<String> = found.repeated.iter().map(|event| format!("`{event}`")).collect();
        let text = format!(
            "more than one hook at {} in {}, so it may call Linchpin that often for each event",
            events.join(", "),
            file.display()
        );
        (!events.is_empty()).then(|| self.note(&text))
    }

    /// Whether the agent runs hooks that somebody put there, as far as its own files tell.
    fn acceptance_check(&self, scope: SettingsScope, hooks: &Path) -> Option<DoctorCheck> {
        let lookup = |name: &str| self.context.environment.get(name);
        let acceptance = settings::acceptance(self.agent, scope, self.home, lookup)?;
        let place = acceptance.file.display();
        let text = install::read(&acceptance.file).map_err(|problem| problem.message().to_owned());
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let looked = text.and_then(|text| {
            let looked = acceptance.status(text.as_deref(), hooks, &self.project.root, &real);
            looked.map_err(|error| format!("{place}:{error}"))
        });
        Some(match looked {
            Ok(AcceptanceStatus::Accepted) => {
                DoctorCheck::fine(format!("{}: the hooks, or their folder, are named in {place}", self.agent.title()))
            }
            Ok(AcceptanceStatus::NotRecorded(demand)) => self.note(&demand),
            Ok(AcceptanceStatus::Refused(why)) => self.bad(&why, &format!("change it in {place}")),
            // It is told with the switches, once.
            Err(_) if self.switch_files().iter().any(|switches| switches.file == acceptance.file) => return None,
            Err(problem) => self.bad(&problem, "the agent may not start, or not run the hooks; mend it"),
        })
    }

    fn switch_files(&self) -> Vec<SwitchFile> {
        let lookup = |name: &str| self.context.environment.get(name);
        settings::switch_files(self.agent, &self.project.root, self.home, lookup)
    }

    /// `SwitchFile` in files that hold no hooks.
    fn switch_checks(&self) -> Vec<DoctorCheck> {
        let mut checks = Vec::new();
        for switches in self.switch_files() {
            let place = switches.file.display();
            let found = match install::read(&switches.file) {
                Ok(None) => continue,
                Ok(Some(text)) => switches.disabling_settings(&text).map_err(|error| format!("{place}:{error}")),
                Err(problem) => Err(problem.message().to_owned()),
            };
            match found {
                Ok(found) => {
                    checks.extend(found.iter().map(|switch| self.bad(switch, &format!("change it in {place}"))));
                }
                Err(problem) => {
                    checks.push(self.bad(&problem, "whether it switches hooks off cannot be told; mend it"));
                }
            }
        }
        checks
    }

    fn bad(&self, problem: &str, help: &str) -> DoctorCheck {
        DoctorCheck::bad(format!("{}: {problem}", self.agent.title()), help)
    }

    fn note(&self, text: &str) -> DoctorCheck {
        DoctorCheck::note(format!("{}: {text}", self.agent.title()))
    }
}
