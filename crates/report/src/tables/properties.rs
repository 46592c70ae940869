//! The properties of filesystems, side by side.

use writebench_model::{Allocation, Bytes, DirectWrite, Found, Learnt, Prepare, Properties, Zeros};

use crate::numbers::grouped::{distinct, grouped};
use crate::sentences::words::counted;
use crate::tables::table::{Column, NOTHING, Sentence, Table};

/// A column for each target, by its name. Refusals and failures are in the sentences below, with
/// their causes.
pub(super) fn properties_table(targets: &[(&str, &Properties)]) -> Table {
    let mut columns = vec![Column::text("", 0)];
    columns.extend(targets.iter().map(|(name, _)| Column::text(name, 0)));
    let mut rows = vec![
        row(targets, "block size", |it| cell(Some(&it.block_size_bytes), |&it| Bytes(it).to_string())),
        row(targets, "file size", |it| Bytes(it.file_size_bytes).to_string()),
    ];
    for &prepare in Prepare::ALL {
        if targets.iter().any(|(_, it)| found(it, prepare).is_some()) {
            rows.extend(rows_of(targets, prepare));
        }
    }
    for (prepare, label) in DIRECT {
        if targets.iter().any(|(_, it)| direct(it, *prepare).is_some()) {
            rows.push(row(targets, label, |it| cell(direct(it, *prepare), way_word)));
        }
    }
    let table = Table::from_rows("What the filesystem does with files", columns, rows);
    Table { sentences: sentences(targets), notes: notes(), ..table }
}

/// The states that `O_DIRECT` is tried in, by what it does there.
const DIRECT: &[(Prepare, &str)] = &[
    (Prepare::Create, "O_DIRECT new data"),
    (Prepare::SetLen, "O_DIRECT in a hole"),
    (Prepare::Overwrite, "O_DIRECT over data"),
];

fn found(properties: &Properties, prepare: Prepare) -> Option<&Learnt<Found>> {
    properties.prepared.iter().find(|it| it.prepare == prepare).map(|it| &it.found)
}

fn known(properties: &Properties, prepare: Prepare) -> Option<&Found> {
    found(properties, prepare).and_then(Learnt::known)
}

fn direct(properties: &Properties, prepare: Prepare) -> Option<&Learnt<DirectWrite>> {
    properties.direct_io.iter().find(|it| it.prepare == prepare).map(|it| &it.found)
}

fn row(targets: &[(&str, &Properties)], label: &str, cell: impl Fn(&Properties) -> String) -> Vec<String> {
    std::iter::once(label.to_owned()).chain(targets.iter().map(|(_, it)| cell(it))).collect()
}

/// A state once it is made, the effect of its call, and the state once all is written.
fn rows_of(targets: &[(&str, &Properties)], prepare: Prepare) -> Vec<Vec<String>> {
    let mut rows = vec![row(targets, prepare.name(), |it| {
        cell(found(it, prepare), |found| space(&found.after_prepare, it.file_size_bytes))
    })];
    if prepare.call().is_some_and(writebench_model::AllocateCall::gives_blocks) {
        rows.push(row(targets, "… zeros written", |it| {
            known(it, prepare).and_then(|found| found.zeros.as_ref()).map_or(NOTHING, zeros_word).to_owned()
        }));
    }
    rows.push(row(targets, "… once written", |it| {
        let after_write = known(it, prepare).map(|found| &found.after_write);
        cell(after_write, |allocation| space(allocation, it.file_size_bytes))
    }));
    rows
}

fn cell<T>(learnt: Option<&Learnt<T>>, text: impl Fn(&T) -> String) -> String {
    match learnt {
        None => NOTHING.to_owned(),
        Some(Learnt::Known(value)) => text(value),
        Some(Learnt::Refused(_)) => REFUSED.to_owned(),
        Some(Learnt::Failed(_)) => FAILED.to_owned(),
    }
}

fn zeros_word(zeros: &Zeros) -> &'static str {
    match zeros {
        Zeros::Written => "yes",
        Zeros::Unwritten => "no",
        Zeros::NoBlocks => "no blocks",
        Zeros::Unknown { .. } => "unknown",
    }
}

fn way_word(way: &DirectWrite) -> String {
    let word = match way {
        DirectWrite::Direct => "direct",
        DirectWrite::PageCache => "page cache",
    };
    word.to_owned()
}

/// `100 %, 2 extents`: blocks as a share of the size, and the pieces that they are in, where the filesystem tells.
fn space(allocation: &Allocation, size_bytes: u64) -> String {
    if allocation.allocated_bytes == 0 {
        return "0".to_owned();
    }
    let size_bytes = u128::from(size_bytes.max(1));
    let share = (u128::from(allocation.allocated_bytes) * 100 + size_bytes / 2) / size_bytes;
    let share = if share == 0 { "< 1 %".to_owned() } else { format!("{share} %") };
    match allocation.extents.known() {
        Some(extents) => {
            let extents = usize::try_from(extents.count).unwrap_or(usize::MAX);
            format!("{share}, {}", counted(extents, "extent"))
        }
        None => share,
    }
}

fn notes() -> Vec<String> {
    vec![
        "A file in each state: its blocks as a share of its size, and the pieces they are in. Above 100 % is what finds them, or is reserved ahead.".to_owned(),
        "zeros written: yes if the call filled the blocks with zeros, no if it only reserved them.".to_owned(),
        "page cache: O_DIRECT was accepted, and the data went through the page cache.".to_owned(),
    ]
}

/// A sentence for each cause, with all of its effects, and their targets.
fn sentences(targets: &[(&str, &Properties)]) -> Vec<Sentence> {
    let mut all: Vec<((Gap, Vec<&str>), &str)> = Vec::new();
    for (target, properties) in targets {
        for (gap, places) in grouped(gaps(properties), |(_, gap)| gap.clone()) {
            let places = distinct(places.into_iter().map(|(place, _)| place), |place| *place);
            all.push(((gap, places), target));
        }
    }
    let sentence = |((gap, places), targets): ((Gap, Vec<&str>), Vec<(_, &str)>)| {
        let targets: Vec<&str> = targets.iter().map(|(_, target)| *target).collect();
        let text = format!("{}: {}: {}: {}", targets.join(", "), places.join(", "), gap.name, gap.why);
        Sentence { is_fault: gap.is_fault, text }
    };
    grouped(all, |(gap, _)| gap.clone()).into_iter().map(sentence).collect()
}

/// Why a place in the table has no word of its own.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Gap {
    name: &'static str,
    is_fault: bool,
    why: String,
}

const REFUSED: &str = "refused";
const FAILED: &str = "failed";

impl Gap {
    fn of<T>(learnt: &Learnt<T>) -> Option<Self> {
        let (name, is_fault, failure) = match learnt {
            Learnt::Known(_) => return None,
            Learnt::Refused(failure) => (REFUSED, false, failure),
            Learnt::Failed(failure) => (FAILED, true, failure),
        };
        Some(Self { name, is_fault, why: failure.to_string() })
    }
}

/// An unknown property, with the reason.
fn gaps(properties: &Properties) -> Vec<(&'static str, Gap)> {
    let mut gaps = Vec::new();
    let mut note = |what, gap: Option<Gap>| gaps.extend(gap.map(|gap| (what, gap)));
    note("block size", Gap::of(&properties.block_size_bytes));
    for it in &properties.prepared {
        note(it.prepare.name(), Gap::of(&it.found));
        let Some(found) = it.found.known() else { continue };
        note("extents", Gap::of(&found.after_prepare.extents));
        if let Some(Zeros::Unknown { why }) = &found.zeros {
            note("zeros", Some(Gap { name: "unknown", is_fault: false, why: why.clone() }));
        }
        note(it.prepare.name(), Gap::of(&found.after_write));
        if let Some(after) = found.after_write.known() {
            note("extents", Gap::of(&after.extents));
        }
    }
    for it in &properties.direct_io {
        let label = DIRECT.iter().find(|(prepare, _)| *prepare == it.prepare).map_or("O_DIRECT", |it| it.1);
        note(label, Gap::of(&it.found));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{terminal, tests::plain};
    use writebench_model::{DirectIo, Extents, Failure, Phase, Prepared};

    const SIZE: u64 = 16 << 20;

    fn failure(call: &str, errno: i32) -> Failure {
        Failure {
            phase: Phase::Prepare,
            call: call.to_owned(),
            path: Some("properties".to_owned()),
            offset: None,
            errno: Some(errno),
            message: Failure::errno_message(errno),
        }
    }

    fn allocation(allocated_bytes: u64, count: u32) -> Allocation {
        let extents = Extents { count, unwritten_bytes: 0, beyond_bytes: 0 };
        Allocation { allocated_bytes, extents: Learnt::Known(extents) }
    }

    /// With blocks from the beginning where the state has them.
    fn with(found: impl Fn(Prepare, bool) -> Learnt<Found>, ways: [Learnt<DirectWrite>; 3]) -> Properties {
        let prepared = |&prepare: &Prepare| {
            let has_blocks = !matches!(prepare, Prepare::Create | Prepare::Truncate | Prepare::SetLen);
            Prepared { prepare, found: found(prepare, has_blocks) }
        };
        Properties {
            block_size_bytes: Learnt::Known(4096),
            file_size_bytes: SIZE,
            prepared: Prepare::ALL.iter().map(prepared).collect(),
            direct_io: DIRECT
                .iter()
                .zip(ways)
                .map(|(&(prepare, _), found)| DirectIo { prepare, found })
                .collect(),
        }
    }

    fn reserves(prepare: Prepare) -> bool {
        prepare.call().is_some_and(writebench_model::AllocateCall::gives_blocks)
    }

    fn on_ext4() -> Properties {
        with(
            |prepare, has_blocks| {
                Learnt::Known(Found {
                    after_prepare: if has_blocks { allocation(SIZE, 1) } else { allocation(0, 0) },
                    prepare_device_bytes: Some(0),
                    zeros: reserves(prepare).then_some(Zeros::Unwritten),
                    after_write: Learnt::Known(allocation(SIZE, 1)),
                })
            },
            [DirectWrite::Direct; 3].map(Learnt::Known),
        )
    }

    /// Without extents, and so without fallocate.
    fn on_ext2() -> Properties {
        with(
            |prepare, has_blocks| {
                if reserves(prepare) && prepare != Prepare::PosixFallocate {
                    return Learnt::Refused(failure("fallocate", 95));
                }
                Learnt::Known(Found {
                    after_prepare: if has_blocks { allocation(SIZE + 20480, 12) } else { allocation(0, 0) },
                    prepare_device_bytes: Some(SIZE),
                    zeros: reserves(prepare).then_some(Zeros::Written),
                    after_write: Learnt::Known(allocation(SIZE + 20480, 12)),
                })
            },
            [DirectWrite::Direct, DirectWrite::PageCache, DirectWrite::Direct].map(Learnt::Known),
        )
    }

    /// In memory, and full by the time of the last state.
    fn on_tmpfs() -> Properties {
        with(
            |prepare, has_blocks| {
                let extents = || Learnt::Refused(failure("ioctl FS_IOC_FIEMAP", 95));
                let why = "no FIEMAP, and no device whose sectors could be counted".to_owned();
                let all = || Allocation { allocated_bytes: SIZE, extents: extents() };
                let allocated_bytes = if has_blocks { SIZE } else { 0 };
                Learnt::Known(Found {
                    after_prepare: Allocation { allocated_bytes, extents: extents() },
                    prepare_device_bytes: None,
                    zeros: reserves(prepare).then_some(Zeros::Unknown { why }),
                    after_write: match prepare {
                        Prepare::Overwrite => Learnt::Failed(failure("pwrite", 28)),
                        _ => Learnt::Known(all()),
                    },
                })
            },
            [0; 3].map(|_| Learnt::Refused(failure("open with O_DIRECT", 22))),
        )
    }

    #[test]
    fn each_filesystem_has_a_column_and_each_refusal_its_cause() {
        let targets = [("ext4", &on_ext4()), ("old ext2", &on_ext2()), ("tmpfs", &on_tmpfs())];
        insta::assert_snapshot!(plain(&terminal::table_text(properties_table(&targets), Some(80)).0));
    }

    #[test]
    fn twelve_targets_are_shown_in_parts_of_eighty_columns() {
        let properties = on_ext2();
        let names: Vec<String> = (1..=12).map(|number| format!("target {number}")).collect();
        let targets: Vec<(&str, &Properties)> = names.iter().map(|name| (name.as_str(), &properties)).collect();
        let text = plain(&terminal::table_text(properties_table(&targets), Some(80)).0);
        let is_note = |line: &&str| line.contains(": ") || line.contains(", ");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{text}");
        let headings = text.lines().filter(|line| line.trim_start().starts_with("target") && !is_note(line));
        assert_eq!(headings.count(), 4, "three targets in each part: {text}");
        assert_eq!(text.matches("Operation not supported").count(), 1, "one cause, one sentence: {text}");
        assert_eq!(properties_table(&targets).columns.len(), 13);
    }

    #[test]
    fn little_space_is_not_none() {
        assert_eq!(space(&allocation(4096, 1), SIZE), "< 1 %, 1 extent");
        assert_eq!(space(&allocation(0, 0), SIZE), "0");
        assert_eq!(space(&allocation(2 * SIZE, 2), SIZE), "200 %, 2 extents");
    }
}
