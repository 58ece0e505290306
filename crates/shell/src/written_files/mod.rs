//! Files that were written before they are run or read: by the script itself, or earlier in the session.

pub(crate) mod container_image;
pub(crate) mod file_tracker;
pub(crate) mod git_config;
pub(crate) mod implicit_files;
pub(crate) mod justfile;
pub(crate) mod keyed_commands;
pub(crate) mod makefile;
pub(crate) mod recipe;
pub(crate) mod taskfile;
pub(crate) mod written_tests;
