//! A pseudo-terminal for interactive programs. Input is not echoed, so the output is only what the program prints.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Output, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Runs a command with `typed` as keyboard input. Stdin and stdout are the terminal, stderr is not.
pub fn run(mut command: Command, typed: &str) -> Output {
    let (mut controller, terminal) = open_pty();
    controller.write_all(typed.as_bytes()).expect("a terminal takes what is typed");
    command.stdin(terminal.try_clone().expect("a terminal")).stdout(terminal).stderr(Stdio::piped());
    let child = command.spawn().expect("the program runs");
    // Reading from the terminal ends only after every process has closed it. `command` also holds it open in this
    // process.
    drop(command);
    let mut stdout = Vec::new();
    let mut part = [0; 1024];
    while let Ok(length @ 1..) = controller.read(&mut part) {
        stdout.extend_from_slice(&part[..length]);
    }
    let output = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&stdout).replace("\r\n", "\n").into_bytes();
    Output { stdout, ..output }
}

fn open_pty() -> (File, OwnedFd) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("a terminal");
    unlockpt(&controller).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a terminal has a name");
    let terminal = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("a terminal");
    let mut modes = tcgetattr(&terminal).expect("a terminal has modes");
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &modes).expect("a terminal takes modes");
    (File::from(controller), terminal)
}
