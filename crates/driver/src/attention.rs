//! What is looked after while an agent is at work: whether somebody wants it to end, and what it says on purpose.

use std::time::{Duration, Instant};

use work::{RunId, Work};

use crate::signals::Signals;

/// How often the work is looked into.
const LOOK: Duration = Duration::from_millis(300);
/// How often it is written down that somebody is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// Why an agent is to end before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Interrupted,
    /// By a person, by way of `runs stop`.
    Stopped,
}

pub struct Attention<'a> {
    pub work: &'a Work,
    pub signals: &'a Signals,
    pub run: RunId,
    pub iteration: u32,
    pub clock: fn() -> i64,
    /// The last thing that was said on purpose.
    pub told: i64,
    looked: Instant,
    sign_of_life: Instant,
}

impl<'a> Attention<'a> {
    pub fn new(
        work: &'a Work,
        signals: &'a Signals,
        run: RunId,
        iteration: u32,
        clock: fn() -> i64,
        told: i64,
    ) -> Self {
        let now = Instant::now();
        Self { work, signals, run, iteration, clock, told, looked: now, sign_of_life: now }
    }

    /// Whether it is to end now. What it said on purpose since this was last asked is told.
    pub fn look(&mut self, tell: impl FnMut(&str)) -> Option<Cut> {
        if self.signals.came() {
            return Some(Cut::Interrupted);
        }
        if self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        self.pass_on(tell);
        if self.sign_of_life.elapsed() >= SIGN_OF_LIFE {
            self.sign_of_life = Instant::now();
            // Where that cannot be written now, it is the next time.
            let _ = self.work.is_there(self.run, self.iteration, (self.clock)());
        }
        let is_stopped = self.work.run_is_to_stop(self.run).ok().flatten() == Some(true);
        is_stopped.then_some(Cut::Stopped)
    }

    pub fn pass_on(&mut self, mut tell: impl FnMut(&str)) {
        for (number, text) in self.work.told_since(self.run, self.told).unwrap_or_default() {
            self.told = number;
            tell(&text);
        }
    }
}
