//! Programs that the table of programs cannot describe completely: programs with a language of their own, programs
//! whose output becomes words or paths, and git, containers and interpreters.

pub(crate) mod awk;
pub(crate) mod code_analysis;
pub(crate) mod command_settings;
pub(crate) mod container;
pub(crate) mod database_client;
pub(crate) mod disk;
pub(crate) mod downloads;
pub(crate) mod ex;
pub(crate) mod file_copies;
pub(crate) mod file_lists;
pub(crate) mod filter;
pub(crate) mod find;
pub(crate) mod git_format;
pub(crate) mod git_settings;
pub(crate) mod interpreter;
pub(crate) mod known_output;
pub(crate) mod language;
pub(crate) mod listed_paths;
pub(crate) mod output_placeholder;
pub(crate) mod parallel;
pub(crate) mod patch;
pub(crate) mod ps_output;
pub(crate) mod read_line;
pub(crate) mod replacement_string;
pub(crate) mod sed;
pub(crate) mod shell_init_programs;
pub(crate) mod spawn_text;
pub(crate) mod suspicious_calls;
pub(crate) mod xargs;
