//! What is looked after while an agent is at work: whether somebody wants it to end, whether it is alive, and what it says on
//! purpose.

use std::time::{Duration, Instant, SystemTime};

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

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Nothing,
    /// The agent, or something that it started, calls Linchpin.
    Alive,
    /// It is to end now.
    Cut(Cut),
}

pub struct Attention<'a> {
    pub work: &'a Work,
    pub signals: &'a Signals,
    pub run: RunId,
    pub iteration: u32,
    pub clock: fn() -> i64,
    /// The last thing that was said on purpose.
    pub told: i64,
    /// When the agent last called Linchpin.
    alive: Option<SystemTime>,
    looked: Instant,
    written: Instant,
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
        Self { work, signals, run, iteration, clock, told, alive: None, looked: now, written: now }
    }

    /// Looks at most every now and then. `tell` gets what the agent said on purpose; `last_sign` says when it last called
    /// Linchpin.
    pub fn look(&mut self, tell: impl FnMut(&str), last_sign: impl FnOnce() -> Option<SystemTime>) -> Seen {
        if self.signals.came() {
            return Seen::Cut(Cut::Interrupted);
        }
        if self.looked.elapsed() < LOOK {
            return Seen::Nothing;
        }
        self.looked = Instant::now();
        self.pass_on(tell);
        if self.written.elapsed() >= SIGN_OF_LIFE {
            self.written = Instant::now();
            // Where that cannot be written now, it is the next time.
            let _ = self.work.is_there(self.run, self.iteration, (self.clock)());
        }
        if self.work.run_is_to_stop(self.run).ok().flatten() == Some(true) {
            return Seen::Cut(Cut::Stopped);
        }
        let last = last_sign();
        let is_new = last.is_some() && self.alive.is_some() && last != self.alive;
        self.alive = last;
        if is_new { Seen::Alive } else { Seen::Nothing }
    }

    pub fn pass_on(&mut self, mut tell: impl FnMut(&str)) {
        for (number, text) in self.work.told_since(self.run, self.told).unwrap_or_default() {
            self.told = number;
            tell(&text);
        }
    }
}
