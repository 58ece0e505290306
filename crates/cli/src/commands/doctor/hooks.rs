//! Checks agents' hooks for `doctor`: whether they call Linchpin, and what could prevent that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Agent;
use agents::install::{self as settings, AcceptanceStatus, Installed, SettingsScope, SwitchFile};
use guard::Project;
use policy::PolicyMode;

use super::doctor_check::{CheckState, DoctorCheck};
use super::hook_self_test::HookSelfTest;
use crate::commands::{Context, install};

/// Checks the hooks of all agents. `nested`: the nested policies of the working directory and of the directories above
/// it. An agent that is started in the directory of a nested policy reads the settings in that directory.
pub fn checks(project: &Project, nested: &[Project], context: &Context) -> Vec<DoctorCheck> {
    let home = context.environment.home.clone().unwrap_or_else(|| project.root.clone());
    let config = project.compiled_policy_read_only(&context.environment).config;
    let (deadline, is_observing) = (config.deadline, config.mode == PolicyMode::Observe);
    let inspect = |agent| {
        let inspector = |project| HookInspector { agent, project, context, home: &home, deadline, is_observing };
        let mut found = inspector(project).inspect();
        for nested in nested {
            found.join(inspector(nested).inspect_scopes(&[SettingsScope::Project, SettingsScope::Local]), &nested.root);
        }
        found
    };
    let found: Vec<(Agent, HookReport)> = Agent::ALL.into_iter().map(|agent| (agent, inspect(agent))).collect();
    let with_hooks: Vec<Agent> =
        found.iter().filter(|(_, report)| report.hook_files > 0).map(|(agent, _)| *agent).collect();
    let not_in_nested: Vec<DoctorCheck> =
        found.iter().filter_map(|(agent, report)| no_hooks_in_nested(*agent, report, nested)).collect();
    let mut checks: Vec<DoctorCheck> = found.into_iter().flat_map(|(_, report)| report.checks).collect();
    checks.extend(double_calls(&with_hooks));
    if with_hooks.is_empty() {
        let help = "run `linchpin install AGENT`, or `linchpin init` for all agents that it finds";
        checks.push(DoctorCheck::bad("no agent has Linchpin's hooks for this project", help));
    }
    checks.extend(not_in_nested);
    checks
}

/// Returns the distinct programs that the settings call.
fn programs(found: &Installed) -> Vec<&str> {
    let mut programs: Vec<&str> = Vec::new();
    for entry in &found.entries {
        if !programs.contains(&entry.program.as_str()) {
            programs.push(&entry.program);
        }
    }
    programs
}

/// Reports agents that read another agent's settings in addition to their own.
fn double_calls(with_hooks: &[Agent]) -> Vec<DoctorCheck> {
    let read = |agent: &Agent| settings::also_reads(*agent).iter().filter(|other| with_hooks.contains(other));
    let text = |agent: &Agent, other: &Agent| {
        let (title, other) = (agent.title(), other.title());
        format!("{title}: it reads {other}'s settings too, so it might call Linchpin twice for each event")
    };
    with_hooks.iter().flat_map(|agent| read(agent).map(move |other| DoctorCheck::note(text(agent, other)))).collect()
}

/// Reports that an agent might fail to find its hooks if it is started in the directory of the innermost nested policy.
fn no_hooks_in_nested(agent: Agent, report: &HookReport, nested: &[Project]) -> Option<DoctorCheck> {
    let root = &nested.last()?.root;
    let is_missing = report.hook_files > 0 && !report.has_user_hooks && !report.nested_roots.contains(root);
    let title = agent.title();
    let text =
        format!("{title}: no hooks in {}, and the agent might not read the hooks of a parent folder", root.display());
    is_missing.then(|| DoctorCheck::note(format!("{text}; run `linchpin install {}` there to add them", agent.name())))
}

/// The results for one agent's settings.
#[derive(Default)]
struct HookReport {
    checks: Vec<DoctorCheck>,
    /// The number of settings files with Linchpin's hooks.
    hook_files: usize,
    /// Settings that switch hooks off, in files without Linchpin's hooks. They matter only if another file has the
    /// hooks.
    switches: Vec<DoctorCheck>,
    /// Errors in the person's own settings.
    user_errors: Vec<DoctorCheck>,
    /// True if the person's own settings contain Linchpin's hooks.
    has_user_hooks: bool,
    /// The roots of nested policies whose settings contain Linchpin's hooks.
    nested_roots: Vec<PathBuf>,
}

impl HookReport {
    /// Adds the report about the settings of a nested policy.
    fn join(&mut self, nested: Self, nested_root: &Path) {
        if nested.hook_files > 0 {
            self.nested_roots.push(nested_root.to_owned());
        }
        self.hook_files += nested.hook_files;
        self.checks.extend(nested.checks);
    }
}

struct HookInspector<'a> {
    agent: Agent,
    project: &'a Project,
    context: &'a Context,
    home: &'a Path,
    deadline: Duration,
    /// True if the policy is in `mode: observe`.
    is_observing: bool,
}

impl HookInspector<'_> {
    fn inspect(&self) -> HookReport {
        let mut report = self.inspect_scopes(&SettingsScope::ALL);
        if report.hook_files == 0 {
            // Perhaps the person does not use the agent in this project.
            report.user_errors.iter_mut().for_each(|check| check.state = CheckState::Note);
        }
        report.checks.append(&mut report.user_errors);
        if report.hook_files > 0 {
            report.checks.append(&mut report.switches);
            report.checks.extend(self.switch_checks());
        }
        if report.hook_files > 1 {
            report.checks.push(self.note(&format!(
                "hooks in {0} places, so it might call Linchpin {0} times for each event",
                report.hook_files
            )));
        }
        report
    }

    fn inspect_scopes(&self, scopes: &[SettingsScope]) -> HookReport {
        let mut report = HookReport::default();
        let is_switched_off = self.is_switched_off();
        for scope in scopes {
            let environment = &self.context.environment;
            if let Ok(file) = install::settings_file(self.agent, *scope, &self.project.root, environment) {
                self.inspect_file(*scope, &file, is_switched_off, &mut report);
            }
        }
        report
    }

    /// True if settings switch off all hooks of the agent, in whatever file.
    fn is_switched_off(&self) -> bool {
        let environment = &self.context.environment;
        let in_settings = |scope| {
            let file = install::settings_file(self.agent, scope, &self.project.root, environment).ok()?;
            let text = install::read(&file).ok()??;
            settings::inspect(self.agent, scope, &text, self.deadline).ok()
        };
        let in_other_file = |switches: &SwitchFile| {
            let text = install::read(&switches.file).ok()??;
            switches.disabling_settings(&text).ok()
        };
        SettingsScope::ALL.into_iter().filter_map(in_settings).any(|found| !found.switches.is_empty())
            || self.switch_files().iter().filter_map(in_other_file).any(|found| !found.is_empty())
    }

    fn inspect_file(&self, scope: SettingsScope, file: &Path, is_switched_off: bool, report: &mut HookReport) {
        let text = match install::read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(problem) => return self.cannot_read(scope, problem.message(), report),
        };
        let found = match settings::inspect(self.agent, scope, &text, self.deadline) {
            Ok(found) => found,
            Err(error) => return self.cannot_read(scope, &format!("{}:{error}", file.display()), report),
        };
        let change = format!("change it in {}", file.display());
        let to_change = |problem: &String| self.bad(problem, &change);
        if found.entries.is_empty() {
            report.switches.extend(found.switches.iter().map(to_change));
            report.checks.extend(found.problems.iter().map(to_change));
            report.checks.extend(self.difference_checks(scope, &found));
            return;
        }
        report.hook_files += 1;
        report.has_user_hooks |= scope == SettingsScope::User;
        report.checks.push(DoctorCheck::fine(format!("{}: hooks in {}", self.agent.title(), file.display())));
        report.checks.extend(self.difference_checks(scope, &found));
        report.checks.extend(found.switches.iter().chain(&found.problems).map(to_change));
        report.checks.extend(self.repeated_check(file, &found));
        for program in programs(&found) {
            if install::is_other_program(program, &self.project.root, &self.context.environment) == Some(true) {
                let own =
                    std::env::current_exe().map_or_else(|_| String::new(), |own| format!(" (`{}`)", own.display()));
                report.checks.push(self.note(&format!(
                    "its hook calls `{program}`, which is not the Linchpin that you are running now{own}"
                )));
            }
            // A hook that the agent does not call proves nothing.
            if is_switched_off {
                continue;
            }
            let Self { agent, project, deadline, is_observing, .. } = *self;
            let environment = &self.context.environment;
            let self_test = HookSelfTest { agent, scope, program, project, environment, deadline, is_observing };
            report.checks.extend(self_test.check());
        }
        report.checks.extend(self.acceptance_check(scope, file));
    }

    /// Reports a settings file that cannot be read or parsed: the agent might not call the hooks in it.
    fn cannot_read(&self, scope: SettingsScope, problem: &str, report: &mut HookReport) {
        let check = self.bad(problem, "the agent might not read its hooks from this file; fix the file");
        if scope == SettingsScope::User {
            report.user_errors.push(check);
        } else {
            report.checks.push(check);
        }
    }

    /// Reports hooks that are missing, or that differ from those that `install` writes.
    fn difference_checks(&self, scope: SettingsScope, found: &Installed) -> Vec<DoctorCheck> {
        let reinstall = format!("run `{}` again", install::install_command(self.agent, scope));
        let mut checks = Vec::new();
        if !found.missing.is_empty() && !found.entries.is_empty() {
            checks.push(self.bad(&format!("no hook for {}", found.missing.join(", ")), &reinstall));
        }
        for difference in &found.differences {
            checks.push(if difference.weakens {
                self.bad(&difference.text, &reinstall)
            } else {
                self.note(&difference.text)
            });
        }
        checks
    }

    fn repeated_check(&self, file: &Path, found: &Installed) -> Option<DoctorCheck> {
        let events: Vec<String> = found.repeated.iter().map(|event| format!("`{event}`")).collect();
        let text = format!(
            "more than one hook at {} in {}, so it might call Linchpin several times for each event",
            events.join(", "),
            file.display()
        );
        (!events.is_empty()).then(|| self.note(&text))
    }

    /// Reports whether the agent will run the installed hooks. Some agents run hooks only after the person has accepted
    /// them, and record the acceptance in a file.
    fn acceptance_check(&self, scope: SettingsScope, hooks: &Path) -> Option<DoctorCheck> {
        let lookup = |name: &str| self.context.environment.get(name);
        let acceptance = settings::acceptance(self.agent, scope, self.home, lookup)?;
        let place = acceptance.file.display();
        let text = install::read(&acceptance.file).map_err(|problem| problem.message().to_owned());
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let report = text.and_then(|text| {
            let report = acceptance.status(text.as_deref(), hooks, &self.project.root, &real);
            report.map_err(|error| format!("{place}:{error}"))
        });
        Some(match report {
            Ok(AcceptanceStatus::Accepted) => {
                DoctorCheck::fine(format!("{}: the hooks are accepted in {place}", self.agent.title()))
            }
            Ok(AcceptanceStatus::NotRecorded { demand, is_required: true }) => {
                self.bad(&demand, "until then, the agent calls none of these hooks")
            }
            Ok(AcceptanceStatus::NotRecorded { demand, is_required: false }) => self.note(&demand),
            Ok(AcceptanceStatus::Refused(why)) => self.bad(&why, &format!("change it in {place}")),
            // `switch_checks` reports errors in this file.
            Err(_) if self.switch_files().iter().any(|switches| switches.file == acceptance.file) => return None,
            Err(problem) => self.bad(&problem, "the agent might not start, or might not run the hooks; fix the file"),
        })
    }

    fn switch_files(&self) -> Vec<SwitchFile> {
        let lookup = |name: &str| self.context.environment.get(name);
        settings::switch_files(self.agent, &self.project.root, self.home, lookup)
    }

    /// Reports settings that switch hooks off, in files that never contain hooks.
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
                    checks.push(
                        self.bad(&problem, "Linchpin can't tell whether the file switches hooks off; fix the file"),
                    );
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
