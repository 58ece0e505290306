//! The error of a failed command, for the person who ran it.

use policy::RenderStyle;
use policy::edit::EditRefusal;
use serde_json::{Map, Value, json};

use crate::exit_code::ExitCode;

/// The error of a failed command.
#[derive(Debug)]
pub struct Problem {
    kind: String,
    message: String,
    help: Option<String>,
    pub code: ExitCode,
    /// Additional fields of the JSON form.
    json_fields: Map<String, Value>,
    /// The source lines that contain the errors, rendered for people. They are printed before the message.
    snippets: Vec<String>,
    /// In text output, replaces the message if the snippets already contain the rest of it.
    conclusion: Option<Box<str>>,
}

pub type CommandOutcome = Result<ExitCode, Problem>;

impl Problem {
    /// `kind`: one of the documented error kinds.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            help: None,
            code: ExitCode::Usage,
            json_fields: Map::new(),
            snippets: Vec::new(),
            conclusion: None,
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn at(mut self, file: &str, position: Option<(usize, usize)>) -> Self {
        self.json_fields.insert("file".to_owned(), json!(file));
        if let Some((line, column)) = position {
            self.json_fields.insert("line".to_owned(), json!(line));
            self.json_fields.insert("column".to_owned(), json!(column));
        }
        self
    }

    #[must_use]
    pub fn of_node(mut self, node: &str) -> Self {
        self.json_fields.insert("node".to_owned(), json!(node));
        self
    }

    /// Sets the exit code for a valid command that was refused.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.code = ExitCode::No;
        self
    }

    /// Sets the exit code for a command that a person interrupted with Ctrl-C.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        self.code = ExitCode::Interrupted;
        self
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("kind".to_owned(), json!(self.kind));
        error.insert("message".to_owned(), json!(self.message));
        error.extend(self.json_fields.clone());
        if let Some(help) = &self.help {
            error.insert("help".to_owned(), json!(help));
        }
        json!({ "error": error })
    }

    pub fn to_text(&self) -> String {
        let message = self.conclusion.as_deref().unwrap_or(&self.message);
        let text = match &self.help {
            Some(help) => format!("error: {message}\nhelp: {help}"),
            None => format!("error: {message}"),
        };
        // Text from the command line and file names may contain control characters.
        let text = agents::without_control_characters(&text);
        let parts: Vec<&str> = self.snippets.iter().map(String::as_str).chain([text.as_str()]).collect();
        parts.join("\n\n")
    }
}

impl From<tree::GitError> for Problem {
    fn from(error: tree::GitError) -> Self {
        Self::new("Git", error.to_string())
    }
}

impl From<EditRefusal> for Problem {
    fn from(refusal: EditRefusal) -> Self {
        let kind = json!(refusal.kind).as_str().unwrap_or("Internal").to_owned();
        let mut problem = Self::new(kind, refusal.message);
        if let Some(first) = refusal.problems.first() {
            let position = first.position().map(|position| (position.line, position.column));
            problem = problem.at(&first.source.name, position);
            // Only JSON output needs these fields: in text output, the snippet contains them.
            let more = [("rule", &first.rule), ("help", &first.help)];
            let more = more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value.as_ref()?))));
            problem.json_fields.extend(more);
        }
        problem.help = refusal.help;
        problem.conclusion = refusal.conclusion.map(String::into_boxed_str);
        problem.snippets = refusal.problems.iter().map(|problem| problem.render(RenderStyle::Plain)).collect();
        problem
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::new("Io", error.to_string())
    }
}

impl From<store::StoreError> for Problem {
    fn from(error: store::StoreError) -> Self {
        Self::new("Store", error.to_string())
    }
}

impl From<work::WorkError> for Problem {
    fn from(error: work::WorkError) -> Self {
        Self::new("Store", error.to_string())
    }
}
