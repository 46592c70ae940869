//! Which disks a power loss can leave.
//!
//! Everything before the last completed flush is there. Of the writes after it, the disk may have any, because it writes
//! them in an order of its own. So each stretch between two flushes has many cuts: none of its writes, all, each
//! prefix, single ones, all but one, random ones, and writes of which only some sectors have arrived.

use std::collections::HashSet;
use std::ops::Range;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::event::{Event, Recording};

/// A moment at which the power is cut, and what has arrived at the disk by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The number of the cut, from 1.
    pub number: usize,
    /// All writes before this event are on the disk.
    pub(crate) flushed: usize,
    /// The power is cut just before this event.
    pub(crate) until: usize,
    /// Writes between the two that have arrived.
    pub(crate) arrived: Vec<Arrived>,
}

/// A write that has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Arrived {
    /// The number of the event.
    pub(crate) event: usize,
    /// The parts of the data that have arrived. None if all have.
    pub(crate) parts: Option<Vec<Range<usize>>>,
}

/// The cuts of a recording.
#[derive(Debug)]
pub struct Cuts {
    /// Those to check, in the order of their moments.
    pub chosen: Vec<Cut>,
    /// How many there were to choose from.
    pub possible: usize,
}

/// Disks write sectors of this size as a whole.
const SECTOR_BYTES: usize = 4096;
/// The prefixes of a long stretch that are tried.
const MOST_PREFIXES: usize = 24;
/// The single writes of a long stretch that are tried, and left out.
const MOST_SINGLE: usize = 8;
/// The random choices of each stretch.
const RANDOM: usize = 12;
/// The share of the cuts that comes from the end of the recording, where the promises are.
const LATE_SHARE: f64 = 0.6;

/// Chooses at most so many cuts. The same seed chooses the same ones.
#[must_use]
pub fn cuts(recording: &Recording, most: usize, seed: u64) -> Cuts {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let stretches: Vec<Vec<Cut>> = stretches(&recording.events)
        .iter()
        .map(|stretch| stretch.cuts(&recording.events, &mut rng))
        .collect();
    let possible = stretches.iter().map(Vec::len).sum();
    let mut chosen = if possible <= most {
        stretches.concat()
    } else {
        choose(stretches, most, &mut rng)
    };
    chosen.sort_by_key(|cut| (cut.until, cut.arrived.len()));
    for (number, cut) in (1..).zip(&mut chosen) {
        cut.number = number;
    }
    Cuts { chosen, possible }
}

/// The disk after the program and everything that the filesystem has written later.
#[must_use]
pub fn uncut(recording: &Recording) -> Cut {
    let end = recording.events.len();
    Cut {
        number: 0,
        flushed: end,
        until: end,
        arrived: Vec::new(),
    }
}

/// The last stretches in full, and a sample of those before.
fn choose(stretches: Vec<Vec<Cut>>, most: usize, rng: &mut Pcg64Mcg) -> Vec<Cut> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count"
    )]
    let most_late = (most as f64 * LATE_SHARE) as usize;
    let mut chosen = Vec::new();
    let mut earlier = Vec::new();
    for stretch in stretches.into_iter().rev() {
        if chosen.len() + stretch.len() <= most_late && earlier.is_empty() {
            chosen.extend(stretch);
        } else {
            earlier.extend(stretch);
        }
    }
    let rest = most - chosen.len();
    chosen.extend(earlier.sample(rng, rest).cloned());
    chosen
}

/// The events between two flushes.
#[derive(Debug)]
struct Stretch {
    flushed: usize,
    until: usize,
    /// The numbers of its writes and discards.
    pending: Vec<usize>,
}

/// The stretches from the beginning of the program on. The last one has nothing pending: everything has arrived.
fn stretches(events: &[Event]) -> Vec<Stretch> {
    let begin = events.iter().position(|event| *event == Event::Begin);
    let begin = begin.unwrap_or(0);
    let mut stretches = Vec::new();
    let mut flushed = begin;
    let mut pending = Vec::new();
    // What was promised since the last stretch with a state of its own.
    let mut is_new = true;
    for (number, event) in events.iter().enumerate().skip(begin) {
        match event {
            Event::Write { .. } | Event::Discard { .. } => pending.push(number),
            Event::Durable => is_new = true,
            Event::Flush | Event::End => {
                if is_new || !pending.is_empty() {
                    stretches.push(Stretch {
                        flushed,
                        until: number,
                        pending: std::mem::take(&mut pending),
                    });
                }
                is_new = false;
                flushed = number;
            }
            Event::Begin | Event::Call(_) | Event::Exit => {}
        }
    }
    let end = events.len();
    stretches.push(Stretch {
        flushed: end,
        until: end,
        pending: Vec::new(),
    });
    stretches
}

impl Stretch {
    fn cuts(&self, events: &[Event], rng: &mut Pcg64Mcg) -> Vec<Cut> {
        let mut known = HashSet::new();
        let mut cuts = Vec::new();
        for arrived in self.choices(events, rng) {
            if known.insert(arrived.clone()) {
                cuts.push(Cut {
                    number: 0,
                    flushed: self.flushed,
                    until: self.until,
                    arrived,
                });
            }
        }
        cuts
    }

    /// What may have arrived.
    fn choices(&self, events: &[Event], rng: &mut Pcg64Mcg) -> Vec<Vec<Arrived>> {
        let count = self.pending.len();
        let mut choices = vec![Vec::new(), self.prefix(count)];
        let prefixes = some(1..count.max(1), MOST_PREFIXES, rng);
        for &length in &prefixes {
            choices.push(self.prefix(length));
        }
        for &length in prefixes.iter().take(MOST_SINGLE) {
            let next = self.pending[length];
            if let Some(part) = first_sectors(&events[next], rng) {
                let torn = Arrived {
                    event: next,
                    parts: Some(vec![part]),
                };
                choices.push([self.prefix(length), vec![torn]].concat());
            }
        }
        for place in some(0..count, MOST_SINGLE, rng) {
            let is_single = |arrived: &Arrived| arrived.event == self.pending[place];
            let (single, others) = self.prefix(count).into_iter().partition(is_single);
            choices.push(others);
            choices.push(single);
        }
        let random = if count > 1 { RANDOM } else { 0 };
        choices.extend((0..random).map(|_| self.random(events, rng)));
        choices
    }

    fn prefix(&self, length: usize) -> Vec<Arrived> {
        let whole = |&event| Arrived { event, parts: None };
        self.pending[..length].iter().map(whole).collect()
    }

    fn random(&self, events: &[Event], rng: &mut Pcg64Mcg) -> Vec<Arrived> {
        const SHARES: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
        const TORN_SHARE: f64 = 0.25;
        let share = *SHARES.choose(rng).unwrap_or(&0.5);
        let end = if rng.random_bool(0.5) {
            self.pending.len()
        } else {
            rng.random_range(1..=self.pending.len())
        };
        let mut arrived = Vec::new();
        for &event in &self.pending[..end] {
            if !rng.random_bool(share) {
                continue;
            }
            let parts = rng
                .random_bool(TORN_SHARE)
                .then(|| random_sectors(&events[event], rng))
                .flatten();
            arrived.push(Arrived { event, parts });
        }
        arrived
    }
}

/// A random choice of at most so many of a range, in their order.
fn some(range: Range<usize>, most: usize, rng: &mut Pcg64Mcg) -> Vec<usize> {
    let all: Vec<usize> = range.collect();
    let mut chosen: Vec<usize> = all.sample(rng, most).copied().collect();
    chosen.sort_unstable();
    chosen
}

/// The number of sectors of a write, if it has several.
fn sectors(event: &Event) -> Option<(usize, usize)> {
    let Event::Write { data, .. } = event else {
        return None;
    };
    let sectors = data.len().div_ceil(SECTOR_BYTES);
    (sectors > 1).then_some((sectors, data.len()))
}

fn first_sectors(event: &Event, rng: &mut Pcg64Mcg) -> Option<Range<usize>> {
    let (sectors, _) = sectors(event)?;
    Some(0..rng.random_range(1..sectors) * SECTOR_BYTES)
}

fn random_sectors(event: &Event, rng: &mut Pcg64Mcg) -> Option<Vec<Range<usize>>> {
    let (sectors, length) = sectors(event)?;
    let chosen = (0..sectors).filter(|_| rng.random_bool(0.5));
    let part = |sector: usize| sector * SECTOR_BYTES..((sector + 1) * SECTOR_BYTES).min(length);
    Some(chosen.map(part).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(offset: usize, length: usize) -> Event {
        Event::Write {
            offset,
            data: vec![1; length].into(),
        }
    }

    fn of(events: Vec<Event>) -> Recording {
        use std::os::unix::process::ExitStatusExt;
        Recording {
            kind: "ext4".parse().unwrap(),
            mount_options: None,
            disk_bytes: 1 << 20,
            events,
            ended: crate::Ended {
                status: std::process::ExitStatus::from_raw(0),
                is_too_late: false,
                said: None,
            },
        }
    }

    fn any_event() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => (0usize..100, 1usize..4).prop_map(|(at, sectors)| write(at * SECTOR_BYTES, sectors * SECTOR_BYTES)),
            1 => (0usize..100).prop_map(|at| Event::Discard { offset: at * SECTOR_BYTES, length: SECTOR_BYTES }),
            2 => Just(Event::Flush),
            1 => Just(Event::Durable),
        ]
    }

    proptest! {
        #[test]
        fn a_cut_has_what_was_flushed_and_some_of_the_rest(events in prop::collection::vec(any_event(), 0..60), most in 1usize..200) {
            let recording = of([vec![Event::Begin], events, vec![Event::End]].concat());
            let Cuts { chosen, possible } = cuts(&recording, most, 1);
            prop_assert!(chosen.len() <= most.max(1));
            prop_assert_eq!(chosen.len(), possible.min(most));
            for (number, cut) in (1..).zip(&chosen) {
                prop_assert_eq!(cut.number, number);
                let between = cut.flushed..cut.until;
                prop_assert!(!recording.events[between.clone()].iter().skip(1).any(|event| *event == Event::Flush));
                for pair in cut.arrived.windows(2) {
                    prop_assert!(pair[0].event < pair[1].event);
                }
                for arrived in &cut.arrived {
                    prop_assert!(between.contains(&arrived.event));
                    if let (Some(parts), Event::Write { data, .. }) = (&arrived.parts, &recording.events[arrived.event]) {
                        prop_assert!(parts.iter().all(|part| part.start % SECTOR_BYTES == 0 && part.end <= data.len()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_short_stretch_has_every_choice_of_its_writes() {
        let events = vec![
            Event::Begin,
            write(0, 512),
            write(4096, 512),
            write(8192, 512),
            Event::Flush,
            Event::End,
        ];
        let found: HashSet<Vec<usize>> = cuts(&of(events), 1000, 1)
            .chosen
            .iter()
            .filter(|cut| cut.until == 4)
            .map(|cut| cut.arrived.iter().map(|arrived| arrived.event).collect())
            .collect();
        for choice in [
            vec![],
            vec![1],
            vec![1, 2],
            vec![1, 2, 3],
            vec![2],
            vec![3],
            vec![2, 3],
            vec![1, 3],
        ] {
            assert!(
                found.contains(&choice),
                "{choice:?} is missing in {found:?}"
            );
        }
    }

    #[test]
    fn writes_before_the_program_are_always_there() {
        let events = vec![write(0, 512), Event::Begin, write(4096, 512), Event::End];
        let all = cuts(&of(events), 1000, 1);
        assert!(all.chosen.iter().all(|cut| cut.flushed >= 1));
    }

    #[test]
    fn the_end_of_a_long_recording_is_checked_in_full() {
        let mut events = vec![Event::Begin];
        for number in 0..500 {
            events.extend([write(number * 4096, 4096), write(0, 4096), Event::Flush]);
        }
        events.extend([write(0, 4096), write(4096, 4096), Event::Flush, Event::End]);
        let last = events.len() - 2;
        let recording = of(events);
        let all = cuts(&recording, usize::MAX, 1).chosen;
        let some = cuts(&recording, 100, 1).chosen;
        let of_last = |cuts: &[Cut]| cuts.iter().filter(|cut| cut.until == last).count();
        assert_eq!(of_last(&all), of_last(&some));
        assert!(some.iter().any(|cut| cut.until < last / 2));
    }
}
