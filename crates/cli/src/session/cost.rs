use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use writebench_model::protocol::total_direct_check_bytes;
use writebench_model::{Bytes, Case, Goal, Settings, Verify};
use writebench_probe::Space;
use writebench_report::{counted, visible};
use writebench_runner::{Hardware, Pace, Written};
use writebench_stats::FEWEST_FOR_INTERVAL;

use crate::consent;
use crate::exit::usage;

/// A larger run needs consent, and so does one that exceeds a quarter of the free space.
pub(crate) const MOST_UNASKED_BYTES: u64 = 64 << 30;

/// The methods of the shortest contest.
const METHODS_OF_ANSWER: u64 = 3;

/// A good solid-state disk, and a hard disk.
const PACES: [Pace; 2] = [
    Pace {
        bytes_per_s: 1_000_000_000,
        sync: Duration::from_millis(1),
        call: Duration::from_micros(1),
    },
    Pace {
        bytes_per_s: 100_000_000,
        sync: Duration::from_millis(10),
        call: Duration::from_micros(1),
    },
];

/// What a run is expected to write, and how long it takes.
#[derive(Clone)]
pub(crate) struct Cost<'r> {
    pub cases: &'r [Case],
    pub settings: &'r Settings,
    /// The name and the space of each target.
    pub spaces: Vec<(String, Option<Space>)>,
    /// Bytes of the final copy.
    pub copy_bytes: Option<u64>,
    pub image_bytes: u64,
    /// The run may choose smaller files.
    pub may_shrink: bool,
    /// The run measures the hardware's limits.
    pub measures_limits: bool,
    /// All targets are in memory, which does not wear out.
    pub is_in_memory: bool,
    /// The run answers so many goals while there is time.
    pub goals: Option<usize>,
}

impl Cost<'_> {
    pub(crate) fn dry_run(&self) -> Result<String> {
        let mut text: String = self
            .cases
            .iter()
            .map(|case| format!("{case:#}\n"))
            .collect();
        let targets = self
            .spaces
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(" and ");
        let most_at_once = self.cases.iter().map(Case::space_bytes).max().unwrap_or(0);
        let [all, round, most] = [self.sample_bytes(), self.round_bytes(), most_at_once]
            .map(|bytes| Bytes(bytes).approximate());
        let targets = visible(&targets).into_owned();
        if let Some(line) = self.goals_line() {
            text +=
                &format!("{line}\nAt most {most} are in {targets} at once. Nothing was written.\n");
            return Ok(text);
        }
        text += &format!("{} into {targets}: ", self.counts().join(" × "));
        text += &format!(
            "{all} to be written ({round} in a round), at most {most} at once. Nothing was written.\n"
        );
        if self.may_shrink {
            text += "Files may be smaller, if six rounds do not fit into the limits: of 64 MiB or 16 MiB.\n";
        }
        text += &format!(
            "It takes {}. Disturbed samples are repeated, which may double that.\n",
            self.time()
        );
        for (up_to, bytes, what) in self.extra()? {
            if bytes > 0 {
                text += &format!("{up_to}{} more {what}.\n", Bytes(bytes).approximate());
            }
        }
        Ok(text)
    }

    /// `11 goals, 60 methods, files of 16 MiB, stops after 45s, stops before 20 GiB are written.`
    fn goals_line(&self) -> Option<String> {
        let goals = counted(self.goals?, "goal");
        let methods = counted(self.cases.len(), "method");
        // The goals of many files name their own sizes.
        let (sets, files): (Vec<&Case>, Vec<&Case>) = self
            .cases
            .iter()
            .partition(|case| case.method().writes_set());
        let named = if files.is_empty() { sets } else { files };
        let size = named.iter().map(|case| case.given().size_bytes).max();
        let size = Bytes(size.unwrap_or(0)).approximate();
        let has_sets = named.iter().any(|case| case.workload().files > 1);
        let size = if has_sets {
            format!("{size} of files")
        } else {
            format!("files of {size}")
        };
        let targets = if self.spaces.len() > 1 {
            format!(" on {} targets", self.spaces.len())
        } else {
            String::new()
        };
        let or_smaller = if self.may_shrink {
            ", or of 16 MiB on a slow disk"
        } else {
            ""
        };
        Some(format!(
            "{goals}, {methods}{targets}, {size}{or_smaller}{}.",
            self.limits_text()
        ))
    }

    pub(crate) fn line(&self) -> Result<String> {
        if let Some(line) = self.goals_line() {
            return Ok(line);
        }
        let [cases, samples] = self.counts();
        let count = self.spaces.len();
        let targets = if count > 1 {
            format!(" on {count} targets")
        } else {
            String::new()
        };
        if self.may_shrink {
            let limits = self.limits_text();
            return Ok(format!(
                "{cases}{targets}, with files that fit into the limits{limits}."
            ));
        }
        let bytes = Bytes(self.bytes()?).approximate();
        let time = self.time();
        let about = if self.settings.most_samples() > self.settings.samples {
            "up to"
        } else {
            "about"
        };
        Ok(format!(
            "{cases} × {samples}{targets}: {about} {bytes} to write, {time}."
        ))
    }

    /// `8 cases`, `6 samples` or `6 to 120 samples`.
    fn counts(&self) -> [String; 2] {
        let least = self.settings.samples;
        let most = self.settings.most_samples();
        let least = if least < most {
            format!("{least} to ")
        } else {
            String::new()
        };
        [
            counted(self.cases.len(), "case"),
            least + &counted(most as usize, "sample"),
        ]
    }

    /// Asks before the run writes much, unless the user agreed or gave a limit. In memory, a limit on time suffices.
    pub(crate) fn ask(&self, agreed: bool, free: Option<u64>) -> Result<()> {
        let ends_by_time = self.is_in_memory && self.settings.budget_ns.is_some();
        let bytes = self.bytes()?;
        let is_limited = self.settings.max_bytes.is_some() || ends_by_time;
        if is_limited || bytes <= most_unasked_bytes(free) {
            return Ok(());
        }
        let than = match free.filter(|free| free / 4 < MOST_UNASKED_BYTES) {
            Some(free) => format!("a quarter of the free {}", Bytes(free).approximate()),
            None => Bytes(MOST_UNASKED_BYTES).approximate(),
        };
        let would = format!(
            "the run would write about {}, more than {than}",
            Bytes(bytes).approximate()
        );
        consent::ask(
            agreed,
            &would,
            "add --yes, or limit it with --max-bytes. --dry-run shows the details",
        )
    }

    /// Refuses a --max-bytes with which a case would have no sample, or a run of goals no answer. `before` bytes are
    /// written already.
    pub(crate) fn check_max_bytes(&self, before: u64) -> Result<()> {
        let Some(most) = self.settings.max_bytes else {
            return Ok(());
        };
        // The lock file of a run's directory is smaller.
        let locks = (self.spaces.len() as u64).saturating_mul(64);
        let copy = self.copy_bytes.unwrap_or(0);
        let beside = [before, copy, self.image_bytes, locks]
            .into_iter()
            .fold(0, u64::saturating_add);
        // A run that continues has samples, and lacks fewer.
        match self.first_of_goals().filter(|_| before == 0) {
            Some(plain) => self.check_answer(most, beside, plain),
            None => self.check_largest_sample(most, beside),
        }
    }

    /// Plain write of the first goal. Later goals are left out if the bytes do not suffice.
    fn first_of_goals(&self) -> Option<&Case> {
        self.goals.and_then(|_| self.cases.first())
    }

    fn check_answer(&self, most: u64, beside: u64, plain: &Case) -> Result<()> {
        let sample = plain
            .bytes_written()
            .saturating_mul(self.spaces.len() as u64);
        let with_samples = |count: u64| beside.saturating_add(sample.saturating_mul(count));
        let rounds = u64::from(FEWEST_FOR_INTERVAL);
        let least = with_samples(rounds * METHODS_OF_ANSWER);
        if least <= most {
            return Ok(());
        }
        let goal = Goal::of_workload(&plain.workload())
            .map_or_else(|| plain.to_string(), |goal| goal.name().to_owned());
        let least = Bytes(least).approximate();
        let usual = rounded_up(with_samples(Goal::LEAST_SAMPLES));
        Err(usage!(
            "--max-bytes {} pays for no answer: six rounds of three methods for {goal} write {least}. Use --max-bytes \
             {usual}, which pays for {} samples, or a smaller --size",
            Bytes(most),
            Goal::LEAST_SAMPLES
        ))
    }

    fn check_largest_sample(&self, most: u64, beside: u64) -> Result<()> {
        let written = Written::new(None, self.settings.copy_from.is_some());
        let reads_back = self.settings.verify != Verify::Never;
        let of_case = |case: &Case| (written.needed_bytes(0, case, reads_back), case.to_string());
        let Some((sample, case)) = self.cases.iter().map(of_case).max() else {
            return Ok(());
        };
        let least = beside.saturating_add(sample);
        if least <= most {
            return Ok(());
        }
        let and_beside = if beside < 1 << 10 {
            String::new()
        } else {
            format!(", after {} for other things", Bytes(beside).approximate())
        };
        let [cases, samples] = self.counts();
        Err(usage!(
            "--max-bytes {} is too low for {case}: its first sample writes {}{and_beside}. Give at least {}, or a smaller \
             --size. All of {cases} × {samples} write {}",
            Bytes(most),
            Bytes(sample).approximate(),
            rounded_up(least),
            Bytes(self.bytes()?).approximate()
        ))
    }

    fn bytes(&self) -> Result<u64> {
        let extra = self
            .extra()?
            .iter()
            .map(|(_, bytes, _)| *bytes)
            .fold(0, u64::saturating_add);
        Ok(self.sample_bytes().saturating_add(extra))
    }

    fn sample_bytes(&self) -> u64 {
        self.round_bytes()
            .saturating_mul(u64::from(self.settings.most_samples()))
    }

    fn round_bytes(&self) -> u64 {
        let of_a_target = self
            .cases
            .iter()
            .map(Case::bytes_written)
            .fold(0, u64::saturating_add);
        of_a_target.saturating_mul(self.spaces.len() as u64)
    }

    /// Bytes beyond those of samples, and their purpose.
    fn extra(&self) -> Result<[(&'static str, u64, &'static str); 5]> {
        let count = self.spaces.len() as u64;
        let spaces: Vec<Option<Space>> = self.spaces.iter().map(|(_, space)| *space).collect();
        let copied = self.copied_bytes().saturating_mul(count);
        let checked = if self.settings.verify == Verify::Never {
            &[]
        } else {
            self.cases
        };
        let direct = total_direct_check_bytes(checked).saturating_mul(count);
        let limited = if self.measures_limits {
            self.cases
        } else {
            &[]
        };
        let limits = Hardware::for_cases(limited, self.settings, &spaces)?.bytes();
        Ok([
            ("Up to ", copied, "for the sources of copies"),
            (
                "Up to ",
                direct,
                "to check whether O_DIRECT bypasses the page cache",
            ),
            ("", self.copy_bytes.unwrap_or(0), "for the final copy"),
            ("", self.image_bytes, "for images, written once"),
            (
                "Up to ",
                limits,
                "to measure the limits of the device, unless --no-limits",
            ),
        ])
    }

    /// Sources that the run makes: one for each size.
    fn copied_bytes(&self) -> u64 {
        let is_made = self.settings.copy_from.is_none();
        let copying = self
            .cases
            .iter()
            .filter(|case| is_made && case.method().has_source_file());
        let sizes: BTreeSet<u64> = copying.map(|case| case.given().size_bytes).collect();
        sizes.into_iter().fold(0, u64::saturating_add)
    }

    /// `4 s on a fast disk, 34 s on a slow one, stops after 20s`.
    fn time(&self) -> String {
        let samples =
            u64::from(self.settings.most_samples()).saturating_mul(self.spaces.len() as u64);
        let [quick, slow] = PACES.map(|pace| {
            let round = self
                .cases
                .iter()
                .map(|case| pace.time_of(case))
                .fold(Duration::ZERO, Duration::saturating_add);
            rounded(round.as_secs_f64() * samples as f64)
        });
        format!(
            "{quick} on a fast disk, {slow} on a slow one{}",
            self.limits_text()
        )
    }

    /// `, stops after 45s, stops before 20 GiB are written`.
    fn limits_text(&self) -> String {
        let Settings {
            budget_ns,
            max_bytes,
            ..
        } = self.settings;
        let time =
            budget_ns.map(|budget| format!(", stops after {:?}", Duration::from_nanos(budget)));
        let before = |most| format!(", stops before {} are written", Bytes(most).approximate());
        time.into_iter().chain(max_bytes.map(before)).collect()
    }
}

/// To whole KiB or MiB.
fn rounded_up(bytes: u64) -> Bytes {
    let unit = if bytes < 1 << 20 { 1 << 10 } else { 1 << 20 };
    Bytes(bytes.checked_next_multiple_of(unit).unwrap_or(bytes))
}

/// The most bytes that a run may write without consent.
pub(crate) fn most_unasked_bytes(free: Option<u64>) -> u64 {
    free.map_or(u64::MAX, |free| free / 4)
        .min(MOST_UNASKED_BYTES)
}

/// Skips filesystems without a size, such as /proc.
pub(crate) fn least_free_bytes(spaces: impl IntoIterator<Item = Option<Space>>) -> Option<u64> {
    let sized = spaces
        .into_iter()
        .flatten()
        .filter(|space| space.total_bytes > 0);
    sized.map(|space| space.available_bytes).min()
}

/// `18 s`, `3 min`.
pub(super) fn rounded(seconds: f64) -> String {
    match seconds {
        ..1.0 => "under 1 s".to_owned(),
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}
