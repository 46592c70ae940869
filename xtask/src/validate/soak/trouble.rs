//! Random trouble for writebench.

use std::time::Duration;

use rustix::process::Signal;
use writebench_testkit::{Caching, Call, Chance, Errno, Fault, What, When};

use super::work::Work;

/// The kind of trouble, and its time after the program's start unless it exists from the beginning.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    pub(super) kind: Kind,
    pub(super) after: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Nothing,
    /// The program gets a signal.
    Signal(Signal),
    /// The program's workers repeatedly get a signal.
    Workers(Signal),
    /// The target directory is removed.
    Removal,
    /// Other programs fill the filesystem.
    Fill,
    /// A limit on the size of files (`RLIMIT_FSIZE`), including the database.
    FileLimit(u64),
    /// The reader of the program's output leaves.
    ReaderLeaves,
    /// The filesystem has scripted faults.
    Faults(Caching, Vec<Fault>),
    /// A scripted request is never answered, so that a sample times out.
    Hang(Caching, Vec<Fault>),
    /// The target's server stops until the program has ended.
    Silence,
    /// The target's server keeps removed files while they are open.
    KeptFiles,
    /// The program, or its worker, is stopped for a while.
    Pause(Paused),
    /// Another program locks the database for some seconds.
    Lock,
}

/// The stopped process.
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
        let (kind, after) = match chance.below(18) {
            0 | 1 => (Kind::Nothing, None),
            2 => (Kind::Signal(chance.pick(&[Signal::INT, Signal::TERM, Signal::HUP])), Some(moment)),
            3 | 4 => (Kind::Signal(Signal::KILL), Some(moment)),
            5 => (Kind::Workers(chance.pick(&[Signal::KILL, Signal::SEGV, Signal::BUS])), Some(moment / 4)),
            6 => (Kind::Removal, Some(moment)),
            7 => (Kind::Fill, Some(moment)),
            8 => (Kind::FileLimit(chance.pick(&[16 << 10, 700 << 10, 2 << 20])), Some(Duration::ZERO)),
            9 => (Kind::ReaderLeaves, None),
            10 => {
                let when = When::Operation(1 + chance.below(6));
                (Kind::Hang(chance.pick(CACHING), vec![Fault { when, what: What::Hang }]), None)
            }
            11 | 12 => (Kind::Silence, Some(moment)),
            13 => (Kind::KeptFiles, None),
            14 => (Kind::Pause(chance.pick(&[Paused::Program, Paused::Worker])), Some(moment)),
            15 => (Kind::Lock, Some(moment)),
            _ => {
                let faults = (0..=chance.below(3)).map(|_| fault(chance)).collect();
                (Kind::Faults(chance.pick(CACHING), faults), None)
            }
        };
        Self { kind, after }
    }

    pub(super) fn name(&self) -> String {
        let all = format!("{:?}", self.kind);
        match self.kind {
            Kind::Faults(..) | Kind::Hang(..) | Kind::FileLimit(_) => {
                all.split('(').next().unwrap_or_default().to_owned()
            }
            _ => all,
        }
    }

    /// Whether the program may end with that code, in addition to those of its command, or by that signal.
    pub(super) fn allows(&self, work: Work, code: Option<i32>, signal: Option<i32>) -> bool {
        match self.kind {
            Kind::Nothing | Kind::ReaderLeaves | Kind::KeptFiles | Kind::Pause(_) | Kind::Lock => false,
            Kind::Signal(sent) => code == Some(130) || signal == Some(sent.as_raw()),
            Kind::Workers(_) => code == Some(4) || code == Some(1) && work == Work::Advise,
            // Without the directory or space for one, the run itself fails.
            Kind::Removal | Kind::Fill | Kind::Faults(..) | Kind::Hang(..) | Kind::Silence => {
                matches!(code, Some(1 | 3 | 4))
            }
            Kind::FileLimit(_) => matches!(code, Some(1 | 4)),
        }
    }
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
