//! One rule: the same fields wherever it is written down.
//!
//! In a Markdown file they stand between `---` lines and the reason below them; in a library or a list the rule is a
//! mapping, and the reason one more field of it.

use std::ops::Range;

use engine::event::{EventKind, EventKinds};
use engine::expr::Scope;
use engine::pace::Live;
use engine::rules::{AckBy, Detect, Rule, Tier};
use engine::{Level, suggest};

use crate::case::CASE;
use crate::definition::{Definition, Form};
use crate::doubts;
use crate::file_rule::{self, COMMAND_ACTION};
use crate::pace_rule;
use crate::placeholders;
use crate::text::diagnostic::{Diagnostic, ErrorKind, Severity};
use crate::text::digest::digest;
use crate::text::fields::Fields;
use crate::text::frontmatter;
use crate::text::keys::{self, Key, Mapping, Need, Takes, words};
use crate::text::source::Source;
use crate::text::yaml::{self, Node, Yaml};
use crate::tool_rule;
use crate::values::event_name::{event_names, has_tool_call, refuse_event};
use crate::values::expression::check_expression;

/// What reading one rule gave. One with an error in its text is none.
pub struct Reading {
    pub definition: Option<Definition>,
    pub problems: Vec<Diagnostic>,
}

/// A rule in a library or in a list.
pub static ENTRY: Mapping = Mapping::new(
    "rule",
    "A rule; its reason is one of its keys.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::DETAILS,
        file_rule::DETAILS,
        pace_rule::DETAILS,
        REASON,
    ],
)
.needs(WAY_TO_DETECT);
/// The fields of a Markdown rule.
pub static FRONTMATTER: Mapping = Mapping::new(
    "frontmatter",
    "The fields of a rule, between the `---` lines of a Markdown file; below them stands the reason.",
    &[
        COMMON,
        tool_rule::CLAUSES,
        file_rule::CLAUSES,
        pace_rule::CLAUSES,
        tool_rule::DETAILS,
        file_rule::DETAILS,
        pace_rule::DETAILS,
    ],
)
.needs(WAY_TO_DETECT);

static WAY_TO_DETECT: &[Need] = &[Need::Any(|| {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    clauses.into_iter().flatten().map(|key| key.name).chain(["on"]).collect()
})];
static COMMON: &[Key] = &[
    Key::new(
        "ack",
        Takes::Word(|| words(&ACKS)),
        "who may acknowledge the rule, where it warns or holds: `agent` (or a person), `human`",
    )
    .or("agent"),
    Key::new(
        "action",
        Takes::Either(&[Takes::Word(|| words(&LEVELS)), Takes::Mapping(&COMMAND_ACTION)]),
        "what a match leads to; left out, `block` for rules about tool calls and files, and `warn` for others. `ask` and \
         `allow` go only with `before_tool` and `permission`; a command only with rules about files",
    ),
    Key::new("description", Takes::Text, "a sentence about the rule"),
    Key::new("enabled", Takes::Flag, "`false` switches the rule off").or("true"),
    Key::new("locked", Takes::Flag, "no project can replace the rule or switch it off; only in the user's own rules")
        .or("false"),
    Key::new(
        "max_holds",
        Takes::Count,
        "how often the rule may hold a stop, or with `live: block` refuse a call; left out, as the configuration says",
    ),
    Key::new("name", Takes::Text, "a title"),
    Key::new(
        "on",
        Takes::Words(event_names),
        "the events that it is judged on; left out, `before_tool`, and `stop` and `subagent_stop` for rules about files",
    ),
    Key::new(
        "on_error",
        Takes::Word(|| words(&LEVELS)),
        "what the rule counts as when it fails at run time; left out, as if it had matched",
    ),
    Key::new("tags", Takes::Texts, "words to sort rules by; nothing depends on them").or("[]"),
    Key::new("tests", Takes::List(&Takes::Mapping(&CASE)), "cases that `linchpin test` runs with this rule alone")
        .or("[]"),
    Key::new("when", Takes::Expression, "what else must be true"),
];
/// Not in a Markdown rule, where it is the text below the fields.
static REASON: &[Key] = &[Key::new("reason", Takes::Text, "what the agent reads: why, and what to do instead")];

const LEVELS: [(&str, Level); 4] =
    [("block", Level::Block), ("ask", Level::Ask), ("warn", Level::Warn), ("allow", Level::Allow)];
const ACKS: [(&str, AckBy); 2] = [("agent", AckBy::Agent), ("human", AckBy::Human)];

/// Reads the rules of one file.
#[derive(Clone, Copy)]
pub struct RuleReader<'a> {
    pub source: &'a Source,
    /// Whose file it is.
    pub owner: Tier,
    pub scope: &'a Scope,
    /// The branches that nobody rewrites.
    pub protected_branches: &'a [String],
}

impl RuleReader<'_> {
    /// The one rule of a Markdown file; `id` is its stem.
    pub fn markdown(&self, id: &str, form: Form) -> Reading {
        let parsed = frontmatter::split(self.source)
            .and_then(|parts| yaml::parse(self.source, parts.yaml.clone()).map(|node| (parts, node)));
        match parsed {
            Ok((parts, node)) => {
                let text =
                    Written { id, form, text: 0..self.source.text.len(), fields: parts.yaml, body: Some(parts.body) };
                self.read(&text, node)
            }
            Err(problem) => {
                Reading { definition: None, problems: vec![Diagnostic { rule: Some(id.to_owned()), ..*problem }] }
            }
        }
    }

    /// A rule that is a mapping. `text`: all of it, with its name.
    pub fn entry(&self, id: &str, form: Form, node: Node, text: Range<usize>) -> Reading {
        let fields = node.span.start..text.end.max(node.span.start);
        self.read(&Written { id, form, text, fields, body: None }, node)
    }

    fn read(&self, written: &Written, node: Node) -> Reading {
        let mut fields = Fields::of(node, self.source, ENTRY.keys);
        let definition = self.definition(written, &mut fields);
        let mut problems = fields.problems;
        for problem in &mut problems {
            problem.rule = Some(written.id.to_owned());
        }
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
        Reading { definition: (!broken).then_some(definition), problems }
    }

    fn definition(&self, written: &Written, fields: &mut Fields) -> Definition {
        refuse_unknown(written, fields);
        let kind = Kind::of(fields);
        let default_action = if matches!(kind, Kind::Event | Kind::Pace) { Level::Warn } else { Level::Block };
        let action_span = fields.key_span("action").unwrap_or_else(|| written.fields.clone());
        let (action, command) = action(kind, fields);
        let action = action.unwrap_or(default_action);
        let on = events(fields, kind, action, &written.fields);
        let detect = match kind {
            Kind::Tool => Detect::Tool(Box::new(tool_rule::read(fields, self.protected_branches))),
            // What is wrong with it is among the problems, and then there is no rule.
            Kind::Files => file_rule::read(fields, command).map_or(Detect::Event, |file| Detect::Files(Box::new(file))),
            Kind::Pace => pace_rule::read(fields).map_or(Detect::Event, |pace| Detect::Pace(Box::new(pace))),
            Kind::Event => Detect::Event,
        };
        if kind != Kind::Files {
            file_rule::refuse_details(fields);
        }
        if kind != Kind::Pace {
            pace_rule::refuse_details(fields);
        }
        check_action(action, on, action_span, fields);
        let action = if let Detect::Pace(pace) = &detect { level_of(pace.live) } else { action };
        let when = fields.text("when");
        if let Some(when) = &when {
            check_expression(when, self.scope, fields);
        }
        let title = fields.text("name").map(|text| text.value);
        let description = fields.text("description").map(|text| text.value);
        let tests = tests(fields);
        let enabled = fields.flag("enabled").unwrap_or(true);
        // A pace rule has words of its own, and so has a command that failed.
        let speaks = kind == Kind::Pace || matches!(&detect, Detect::Files(file) if file.command.is_some());
        let reason = reason(written, speaks, title.as_deref(), description.as_deref(), fields);
        if let Detect::Files(file) = &detect {
            placeholders::warn_of_text(&reason, file, fields);
        }
        let max_holds = fields.count("max_holds");
        doubts::warn(&detect, action, on, fields);
        let rule = Rule {
            id: written.id.to_owned(),
            title,
            description,
            tier: match written.form {
                Form::Local | Form::Inline => Tier::Local,
                Form::Markdown | Form::Library | Form::Bundled => self.owner,
            },
            source: self.source.name.clone(),
            digest: digest(self.source.text.get(written.text.clone()).unwrap_or_default()),
            on,
            detect,
            when: when.map(|text| text.value),
            action,
            on_error: fields.choice("on_error", &LEVELS),
            tags: fields.texts("tags").unwrap_or_default().into_iter().map(|tag| tag.value).collect(),
            max_holds,
            ack: fields.choice("ack", &ACKS).unwrap_or_default(),
            locked: self.locked(fields),
            reason,
        };
        let (source, text) = (self.source.clone(), written.text.clone());
        Definition { rule, form: written.form, owner: self.owner, enabled, is_last_good: false, source, text, tests }
    }

    fn locked(&self, fields: &mut Fields) -> bool {
        let span = fields.key_span("locked");
        let locked = fields.flag("locked").unwrap_or(false);
        if let (true, Tier::Project, Some(span)) = (locked, self.owner, span) {
            fields.refuse(ErrorKind::InvalidValue, "only a user's own rules and bundled ones can be locked", span);
        }
        locked
    }
}

/// How a rule notices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Files,
    Pace,
    Event,
}

impl Kind {
    fn of(fields: &mut Fields) -> Self {
        if pace_rule::is_meant(fields) {
            let others = || tool_rule::CLAUSES.iter().chain(file_rule::CLAUSES);
            if let Some((key, span)) = others().find_map(|key| Some((key.name, fields.key_span(key.name)?))) {
                let message = format!("a rule about the pace of the work is about nothing else; `{key}` is");
                fields.refuse(ErrorKind::InvalidValue, message, span);
            }
            return Self::Pace;
        }
        match (tool_rule::is_meant(fields), file_rule::is_meant(fields)) {
            (true, true) => {
                let key = file_rule::CLAUSES.iter().find_map(|key| Some((key.name, fields.key_span(key.name)?)));
                if let Some((key, span)) = key {
                    let message =
                        format!("a rule is about tool calls or about files that change; `{key}` is about files");
                    fields.refuse(ErrorKind::InvalidValue, message, span);
                }
                Self::Tool
            }
            (true, false) => Self::Tool,
            (false, true) => Self::Files,
            (false, false) => Self::Event,
        }
    }
}

/// A word, or for a file rule a command.
fn action(kind: Kind, fields: &mut Fields) -> (Option<Level>, Option<Node>) {
    if let (Kind::Pace, Some(span)) = (kind, fields.key_span("action")) {
        fields.take("action");
        let message =
            "a rule about the pace of the work has no `action`: a move is refused, and `live` says what happens before";
        fields.refuse(ErrorKind::InvalidValue, message, span);
        return (None, None);
    }
    if !fields.is_mapping("action") {
        return (fields.choice("action", &LEVELS), None);
    }
    let node = fields.take("action");
    if let (true, Some(node)) = (kind != Kind::Files, &node) {
        let message = "a command is an `action` of rules about files that change";
        fields.refuse(ErrorKind::InvalidValue, message, node.span.clone());
    }
    (None, node)
}

/// How a rule stands in its file.
struct Written<'a> {
    id: &'a str,
    form: Form,
    /// All of it.
    text: Range<usize>,
    fields: Range<usize>,
    /// The text below the fields of a Markdown file.
    body: Option<&'a str>,
}

/// What a pace rule says between moves.
fn level_of(live: Live) -> Level {
    match live {
        Live::Block => Level::Block,
        Live::Warn | Live::Off => Level::Warn,
    }
}

fn reason(
    written: &Written,
    speaks: bool,
    title: Option<&str>,
    description: Option<&str>,
    fields: &mut Fields,
) -> String {
    let (given, span, how) = match written.body {
        Some(body) => (Some(body.to_owned()), None, "write below the second `---`"),
        None => (
            fields.text("reason").map(|text| text.value.trim().to_owned()),
            Some(written.text.start..written.text.start),
            "say under `reason`",
        ),
    };
    if let Some(given) = given.filter(|reason| !reason.is_empty()) {
        return given;
    }
    if speaks || fields.problems.iter().any(|problem| problem.kind == ErrorKind::UnknownRuleType) {
        return String::new();
    }
    fields.problems.push(
        Diagnostic::warning(ErrorKind::MissingKey, "the rule gives no reason", fields.source(), span)
            .help(format!("{how} what the agent should know, and do instead")),
    );
    description.or(title).map_or_else(|| format!("The rule `{}` says so.", written.id), str::to_owned)
}

fn refuse_unknown(written: &Written, fields: &mut Fields) {
    if let (Some(span), Some(_)) = (fields.key_span("reason"), written.body) {
        fields.problems.push(
            Diagnostic::error(ErrorKind::UnknownKey, "unknown key `reason`", fields.source(), Some(span))
                .help("in a Markdown rule the reason is the text below the second `---`"),
        );
    }
    let types = unknown_types(fields);
    for key in &types {
        pace_rule::refuse_type(&key.text, key.span.clone(), fields);
    }
    fields.refuse_unknown_beside(&types.iter().map(|key| key.text.as_str()).collect::<Vec<_>>());
}

/// Keys that can only be meant as a type of rule: `foo_rule: {…}` where nothing else says what the rule is about.
fn unknown_types(fields: &Fields) -> Vec<yaml::Key> {
    let clauses = [tool_rule::CLAUSES, file_rule::CLAUSES, pace_rule::CLAUSES];
    let mut detects = clauses.into_iter().flatten().map(|key| key.name).chain(["on"]);
    if detects.any(|key| fields.has(key)) {
        return Vec::new();
    }
    let known = || keys::each(ENTRY.keys).map(|key| key.name);
    let is_typo =
        |key: &yaml::Key| suggest::closest(&key.text, known()).is_some_and(|close| !pace_rule::is_type(close));
    fields.unknown_mappings().into_iter().filter(|key| !is_typo(key)).collect()
}

fn events(fields: &mut Fields, kind: Kind, action: Level, whole: &Range<usize>) -> EventKinds {
    if kind == Kind::Pace {
        if let Some(span) = fields.key_span("on") {
            fields.take("on");
            let message =
                "a rule about the pace of the work is judged at every tool call and every move, and has no `on`";
            fields.refuse(ErrorKind::InvalidValue, message, span);
        }
        return pace_rule::events(fields);
    }
    let Some(names) = fields.texts("on") else {
        if kind == Kind::Files {
            return EventKinds::default().with(EventKind::Stop).with(EventKind::SubagentStop);
        }
        if kind == Kind::Event && !fields.has("on") && fields.problems.is_empty() {
            fields.problems.push(
                Diagnostic::error(
                    ErrorKind::MissingKey,
                    "the rule has no way to detect anything",
                    fields.source(),
                    Some(whole.clone()),
                )
                .help("say which `tools`, `command`, `command_pattern`, `paths`, `reads`, `writes` or `deletes` it is about, which files that change (`trigger`, `set`, `pair`, `created`), or `on` which event it is judged"),
            );
        }
        let default = EventKinds::default().with(EventKind::BeforeTool);
        // An agent that lets only its permission request be approved is answered there.
        return if action == Level::Allow { default.with(EventKind::Permission) } else { default };
    };
    let mut kinds = EventKinds::default();
    for name in names {
        match EventKind::from_name(&name.value) {
            Some(event) if kind == Kind::Tool && !has_tool_call(event) => fields.problems.push(
                Diagnostic::error(
                    ErrorKind::InvalidValue,
                    format!("`{}` has no tool call for this rule to be about", name.value),
                    fields.source(),
                    Some(name.span),
                )
                .help("tool rules are judged on before_tool, after_tool, tool_failed or permission"),
            ),
            Some(event) if kind == Kind::Files && !event.is_stop() => fields.problems.push(
                Diagnostic::error(
                    ErrorKind::InvalidValue,
                    format!("a rule about files that change is not judged on `{}`", name.value),
                    fields.source(),
                    Some(name.span),
                )
                .help("it is judged on stop and subagent_stop, and by `linchpin check`"),
            ),
            Some(event) => kinds = kinds.with(event),
            None => refuse_event(name, fields),
        }
    }
    kinds
}

/// `ask` and `allow` answer a question that only some events put.
fn check_action(action: Level, on: EventKinds, span: Range<usize>, fields: &mut Fields) {
    let deaf = on.iter().find(|kind| !kind.awaits_permission());
    if let (Level::Ask | Level::Allow, Some(kind)) = (action, deaf) {
        fields.problems.push(
            Diagnostic::error(
                ErrorKind::InvalidValue,
                format!(
                    "`action: {}` has no meaning on `{}`: nobody waits for permission there",
                    action.name(),
                    kind.name()
                ),
                fields.source(),
                Some(span),
            )
            .help("use `block` or `warn`, or judge it on before_tool or permission"),
        );
    }
}

/// The cases themselves are read where they are run; here they only have to be a list.
fn tests(fields: &mut Fields) -> Option<Node> {
    let node = fields.take("tests")?;
    if !matches!(&node.value, Yaml::List(cases) if cases.iter().all(|case| matches!(case.value, Yaml::Map(_)))) {
        fields.refuse(ErrorKind::InvalidValue, "`tests` takes a list of cases, each a mapping", node.span);
        return None;
    }
    Some(node)
}
