//! Signals that interrupt a run: Ctrl-C, a closed terminal, system shutdown.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::signal::{SIGINT, SIGTERM};

/// While this value exists, the registered signals set a flag instead of ending the process.
pub struct Signals {
    flag: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Signals {
    /// Registers all signals that interrupt a run.
    pub fn watch_all() -> io::Result<Self> {
        #[cfg(unix)]
        let signals = [SIGINT, SIGTERM, signal_hook::consts::signal::SIGHUP];
        #[cfg(not(unix))]
        let signals = [SIGINT, SIGTERM];
        Self::register(&signals)
    }

    /// Registers only Ctrl-C.
    pub fn watch_ctrl_c() -> io::Result<Self> {
        Self::register(&[SIGINT])
    }

    fn register(signals: &[i32]) -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let registered = signals
            .iter()
            .copied()
            .map(|signal| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .collect::<Result<_, _>>()?;
        Ok(Self { flag, registered })
    }

    /// The flag that is set when a signal arrives.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    pub fn arrived(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in &self.registered {
            signal_hook::low_level::unregister(*id);
        }
    }
}
