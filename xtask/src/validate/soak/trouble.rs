//! What goes wrong while writebench works, at random.

use std::time::Duration;

use rustix::process::Signal;
use writebench_testkit::{Caching, Call, Chance, Errno, Fault, What, When};

use super::work::Work;

/// What goes wrong.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    Nothing,
    /// The program gets a signal.
    Signal(Signal, Duration),
    /// Its workers get one, time after time.
    Workers(Signal, Duration),
    /// The target directory is removed.
    Removal(Duration),
    /// Others fill the filesystem.
    Fill(Duration),
    /// No file may be longer (`RLIMIT_FSIZE`), the database included.
    FileLimit(u64),
    /// Nobody reads what it prints.
    ReaderLeaves,
    /// The filesystem does wrong what a script says.
    Faults(Caching, Vec<Fault>),
    /// The same, and it never answers, which makes a sample time out.
    Hang(Caching, Vec<Fault>),
    /// The target's server stops, and nobody gets an answer, until the program has ended.
    Silence(Duration),
    /// The target's server keeps open files that are removed, and works.
    KeptFiles,
    /// The program, or its worker, is stopped for a while.
    Pause(Paused, Duration),
    /// Somebody else locks the database for some seconds.
    Lock(Duration),
}

/// Who is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    Program,
    Worker,
}

const CACHING: &[Caching] = &[Caching::WriteThrough, Caching::None, Caching::WriteBack];

const ERRORS: &[Errno] =
    &[Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::INTR, Errno::OPNOTSUPP, Errno::ROFS, Errno::STALE];

impl Trouble {
    pub(super) fn choose(chance: &mut Chance) -> Self {
        let moment = chance.moment(Duration::from_secs(4));
        match chance.below(18) {
            0 | 1 => Self::Nothing,
            2 => Self::Signal(chance.pick(&[Signal::INT, Signal::TERM, Signal::HUP]), moment),
            3 | 4 => Self::Signal(Signal::KILL, moment),
            5 => Self::Workers(chance.pick(&[Signal::KILL, Signal::SEGV, Signal::BUS]), moment / 4),
            6 => Self::Removal(moment),
            7 => Self::Fill(moment),
            8 => Self::FileLimit(chance.pick(&[16 << 10, 700 << 10, 2 << 20])),
            9 => Self::ReaderLeaves,
            10 => {
                let when = When::Operation(1 + chance.below(6));
                Self::Hang(chance.pick(CACHING), vec![Fault { when, what: What::Hang }])
            }
            11 | 12 => Self::Silence(moment),
            13 => Self::KeptFiles,
            14 => Self::Pause(chance.pick(&[Paused::Program, Paused::Worker]), moment),
            15 => Self::Lock(moment),
            _ => {
                let faults = (0..=chance.below(3)).map(|_| fault(chance)).collect();
                Self::Faults(chance.pick(CACHING), faults)
            }
        }
    }

    /// In a word.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Signal(signal, _) => signal_name(*signal).to_owned(),
            Self::Workers(signal, _) => format!("workers: {}", signal_name(*signal)),
            Self::Removal(_) => "target removed".to_owned(),
            Self::Fill(_) => "filesystem filled".to_owned(),
            Self::FileLimit(_) => "RLIMIT_FSIZE".to_owned(),
            Self::ReaderLeaves => "reader leaves".to_owned(),
            Self::Faults(..) => "filesystem's faults".to_owned(),
            Self::Hang(..) => "filesystem hangs".to_owned(),
            Self::Silence(_) => "server stops".to_owned(),
            Self::KeptFiles => "files are kept".to_owned(),
            Self::Pause(who, _) => format!("{who:?} paused").to_lowercase(),
            Self::Lock(_) => "database locked".to_owned(),
        }
    }

    /// Whether the program may end with that code, beside those of its work, or by that signal.
    pub(super) fn allows(&self, work: Work, code: Option<i32>, signal: Option<i32>) -> bool {
        match self {
            Self::Nothing | Self::ReaderLeaves | Self::KeptFiles => false,
            Self::Pause(..) | Self::Lock(_) => false,
            Self::Signal(sent, _) => code == Some(130) || signal == Some(sent.as_raw()),
            Self::Workers(..) => code == Some(4) || code == Some(1) && work == Work::Advise,
            // Where there is no directory any more, or no room for one, the run itself fails.
            Self::Removal(_) | Self::Fill(_) | Self::Faults(..) | Self::Hang(..) | Self::Silence(_) => {
                matches!(code, Some(1 | 3 | 4))
            }
            Self::FileLimit(_) => matches!(code, Some(1 | 4)),
        }
    }
}

fn signal_name(signal: Signal) -> &'static str {
    [
        (Signal::INT, "SIGINT"),
        (Signal::TERM, "SIGTERM"),
        (Signal::HUP, "SIGHUP"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
    ]
    .iter()
    .find(|(it, _)| *it == signal)
    .map_or("a signal", |(_, name)| name)
}

fn fault(chance: &mut Chance) -> Fault {
    let when = match chance.below(3) {
        0 => When::At(chance.pick(&[Call::Write, Call::Read]), chance.below(1 << 20) as u64),
        _ => When::Operation(1 + chance.below(12)),
    };
    let what = match chance.below(8) {
        0 => What::Short,
        1 => What::Delay(Duration::from_millis(20)),
        2 => What::Cut,
        3 => What::Size((chance.below(1 << 20)) as u64),
        _ => What::Fail(chance.pick(ERRORS)),
    };
    Fault { when, what }
}
