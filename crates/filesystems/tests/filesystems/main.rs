mod bindfs;
mod endings;
mod kept;
mod making;
mod refusals;

use std::io::Write;
use std::process::ExitCode;

use writebench_testkit::Trials;

fn main() -> ExitCode {
    // This program is also the process that makes filesystems.
    let mut words = std::env::args_os().skip(1);
    let done = match words.next() {
        Some(word) if word == kept::COMMAND => kept::keep(words),
        _ => return run_trials(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_trials() -> ExitCode {
    let mut trials = Trials::default();
    making::add(&mut trials);
    refusals::add(&mut trials);
    bindfs::add(&mut trials);
    endings::add(&mut trials);
    trials.run(4)
}
