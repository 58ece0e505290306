use super::{agent_variables, detected_variable, project_dir, session};
use crate::Agent;

fn environment(set: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn variables_show_that_an_agent_runs_a_command() {
    assert_eq!(detected_variable(environment(&[("HOME", "/home/dev"), ("CLAUDECODE", "")])), None);
    assert_eq!(detected_variable(environment(&[("CODEX_THREAD_ID", "t")])), Some("CODEX_THREAD_ID"));
    assert_eq!(detected_variable(environment(&[("AI_AGENT", "some-agent")])), Some("AI_AGENT"));
    assert!(agent_variables().count() > 4);
}

#[test]
fn the_session_id_is_read_from_variables() {
    let claude = environment(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s"), ("CLAUDE_PROJECT_DIR", "/p")]);
    assert_eq!(session(&claude), Some((Agent::Claude, "s".to_owned())));
    assert_eq!(project_dir(Agent::Claude, &claude), Some("/p".to_owned()));
    assert_eq!(project_dir(Agent::Codex, &claude), None);
    let codex = environment(&[("CODEX_SESSION_ID", "old"), ("CODEX_THREAD_ID", "new")]);
    assert_eq!(session(codex), Some((Agent::Codex, "new".to_owned())));
    assert_eq!(session(environment(&[])), None);
}
