//! One agent at work, from its start to its end.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use engine::hats::Hat;
use guard::session::Stage;
use runner::{Attended, AttendedEnd, Heed, NotStarted, shim};

use crate::agent::started;
use crate::attention::{Attention, Cut, Seen};
use crate::drive::Driver;
use crate::leftovers::AgentGroup;
use crate::news::News;
use crate::progress;
use crate::said::Said;

pub struct Turn<'a> {
    pub stage: &'a Stage,
    pub hat: &'a Hat,
    pub prompt: &'a str,
    /// Where what it says is kept.
    pub log: &'a Path,
    /// How long it may take.
    pub time: Option<Duration>,
}

/// How it ended, and why it was made to.
pub type TurnEnd = (AttendedEnd, Option<Cut>);

impl Driver<'_> {
    pub(crate) fn take_turn(
        &self,
        turn: &Turn<'_>,
        attention: &mut Attention<'_>,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<(TurnEnd, Said), NotStarted> {
        let Turn { stage, hat, prompt, log, time } = *turn;
        let agent = hat.agent.as_ref().unwrap_or(&self.the_loop.agent);
        let started = started(agent, prompt, &log.with_extension("prompt.md"));
        let started = started.map_err(|error| NotStarted { why: error.to_string() })?;
        let mut said = Said::new(started.speech, log);
        let get = |name: &str| self.environment.get(name).map(OsString::from);
        let group = AgentGroup::new(stage.id(), &self.project.root, self.environment);
        let attended = Attended {
            words: started.words,
            folder: self.project.root.clone(),
            set: vec![
                (Stage::RUN, stage.id().to_string().into()),
                (Stage::ITERATION, stage.iteration.to_string().into()),
                (Stage::TICKET, stage.ticket.clone().into()),
                (Stage::ROOT, self.project.root.clone().into()),
                (runner::STARTED_BY, Stage::started_by(stage.id(), &self.project.root).into()),
                (Stage::HAT, hat.id.clone().into()),
                (Stage::BINARY, self.binary.clone()),
            ],
            input: started.input,
            get: &get,
            idle: self.the_loop.limits.idle,
            time,
            shim: shim::own_call(),
            on_start: &|first| group.note(first),
        };
        let mut cut = None;
        // Both what it says and what it says on purpose are told.
        let tell = RefCell::new(tell);
        let end = attended.run(
            |stream, piece| said.hear(stream, piece, |text| (tell.borrow_mut())(News::Said(text))),
            || {
                let last_sign = || stage.last_sign_of_life(self.project, self.environment);
                match attention.look(|text| self.progress(text, &mut **tell.borrow_mut()), last_sign) {
                    Seen::Cut(why) => {
                        cut = Some(why);
                        Heed::End
                    }
                    Seen::Alive => Heed::SignOfLife,
                    Seen::Nothing => Heed::GoOn,
                }
            },
        )?;
        said.finish(|text| (tell.borrow_mut())(News::Said(text)));
        Ok(((end, cut), said))
    }

    pub(crate) fn progress(&self, text: &str, tell: &mut dyn FnMut(News<'_>)) {
        tell(News::Progress(text));
        if let Some(command) = &self.policy.config.progress_command {
            progress::pass_on(command, text, self.project.root.clone(), self.environment.clone());
        }
    }
}
