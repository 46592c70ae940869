use std::time::Duration;

use rustix::process::Signal;
use writebench_testkit::{Caching, Call, Errno, Fault, TestRng, What, When};

use super::work::Work;

/// The time is after the program's start. None is a fault from the beginning.
#[derive(Debug, Clone)]
pub(super) struct FaultInjector {
    pub(super) kind: Injection,
    pub(super) after: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(super) enum Injection {
    Nothing,
    Signal(Signal),
    /// Workers get the signal again and again.
    Workers(Signal),
    /// The target is removed.
    Removal,
    /// Other programs fill the filesystem.
    Fill,
    /// `RLIMIT_FSIZE` also limits the database.
    FileLimit(u64),
    ReaderLeaves,
    Faults(Caching, Vec<Fault>),
    /// A request without an answer: a sample times out.
    Hang(Caching, Vec<Fault>),
    /// The target's server stops.
    Silence,
    /// The server keeps removed files while they are open.
    KeptFiles,
    PausedProgram,
    PausedWorker,
    Lock,
}

const CACHING: &[Caching] = &[Caching::WriteThrough, Caching::None, Caching::WriteBack];

const ERRORS: &[Errno] = &[
    Errno::IO,
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::INTR,
    Errno::OPNOTSUPP,
    Errno::ROFS,
    Errno::STALE,
];

impl FaultInjector {
    pub(super) fn choose(rng: &mut TestRng) -> Self {
        let moment = rng.moment(Duration::from_secs(4));
        let (kind, after) = match rng.below(18) {
            0 | 1 => (Injection::Nothing, None),
            2 => (
                Injection::Signal(rng.pick(&[Signal::INT, Signal::TERM, Signal::HUP])),
                Some(moment),
            ),
            3 | 4 => (Injection::Signal(Signal::KILL), Some(moment)),
            5 => (
                Injection::Workers(rng.pick(&[Signal::KILL, Signal::SEGV, Signal::BUS])),
                Some(moment / 4),
            ),
            6 => (Injection::Removal, Some(moment)),
            7 => (Injection::Fill, Some(moment)),
            8 => (
                Injection::FileLimit(rng.pick(&[16 << 10, 700 << 10, 2 << 20])),
                Some(Duration::ZERO),
            ),
            9 => (Injection::ReaderLeaves, None),
            10 => {
                let when = When::Operation(1 + rng.below(6));
                (
                    Injection::Hang(
                        rng.pick(CACHING),
                        vec![Fault {
                            when,
                            what: What::Hang,
                        }],
                    ),
                    None,
                )
            }
            11 | 12 => (Injection::Silence, Some(moment)),
            13 => (Injection::KeptFiles, None),
            14 if rng.below(2) == 0 => (Injection::PausedProgram, Some(moment)),
            14 => (Injection::PausedWorker, Some(moment)),
            15 => (Injection::Lock, Some(moment)),
            _ => {
                let faults = (0..=rng.below(3)).map(|_| fault(rng)).collect();
                (Injection::Faults(rng.pick(CACHING), faults), None)
            }
        };
        Self { kind, after }
    }

    pub(super) fn name(&self) -> String {
        // Scripts differ each time, so the name leaves them out.
        format!("{:?}", self.kind)
            .split(", [")
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    /// The program `said` this on standard error.
    pub(super) fn allows(
        &self,
        work: Work,
        code: Option<i32>,
        signal: Option<i32>,
        said: &str,
    ) -> bool {
        match self.kind {
            Injection::Nothing
            | Injection::ReaderLeaves
            | Injection::KeptFiles
            | Injection::PausedProgram
            | Injection::PausedWorker => false,
            // Two locks, one after the other, may take more than ten seconds on a busy machine: docs/reference/safety.md.
            Injection::Lock => code == Some(1) && said.contains("database is locked"),
            Injection::Signal(sent) => code == Some(130) || signal == Some(sent.as_raw()),
            Injection::Workers(_) => code == Some(4) || code == Some(1) && work == Work::Advise,
            // A run fails if it cannot make its directory.
            Injection::Removal
            | Injection::Fill
            | Injection::Faults(..)
            | Injection::Hang(..)
            | Injection::Silence => matches!(code, Some(1 | 3 | 4)),
            Injection::FileLimit(_) => matches!(code, Some(1 | 4)),
        }
    }
}

fn fault(rng: &mut TestRng) -> Fault {
    let when = match rng.below(3) {
        0 => When::At(
            rng.pick(&[Call::Write, Call::Read]),
            rng.below(1 << 20) as u64,
        ),
        _ => When::Operation(1 + rng.below(12)),
    };
    let what = match rng.below(8) {
        0 => What::Short,
        1 => What::Delay(Duration::from_millis(20)),
        2 => What::Cut,
        3 => What::Size((rng.below(1 << 20)) as u64),
        _ => What::Fail(rng.pick(ERRORS)),
    };
    Fault { when, what }
}
