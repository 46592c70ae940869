//! Cases that a language cannot say.

use writebench_model::{Axes, Axis, Case, Cursor, Family, InCode, Method, RecordedCase, SyncCall};

use crate::Frame;
use crate::language::Language;
use crate::speaker::Cannot;

/// Why there is no code, and the nearest case that has some.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// The reason, a clause for each thing that is missing.
    pub why: String,
    /// The nearest case with code.
    pub nearest: Option<Box<Case>>,
}

/// Values that no language can say with some methods; [`InCode::Refused`] has the others.
const OF_ALL: &[Cannot] = &[Cannot {
    axis: Axis::Chunk,
    is_in: |case, axes| {
        let is_whole = axes.chunk_size_bytes == u64::MAX;
        case.method().has_axis(Axis::Registered) && !is_whole && axes.chunk_size_bytes > MOST_OF_RING_BYTES
    },
    why: "an operation of io_uring moves 2 GiB at most",
    instead: "1GiB",
}];

/// An operation's length is a number of 32 bits, and its result one with a sign.
const MOST_OF_RING_BYTES: u64 = 1 << 30;

impl Refusal {
    pub(crate) fn without_remedy(why: String) -> Self {
        Self { why, nearest: None }
    }

    /// Why the case has no code in that language; none if it has.
    pub(crate) fn of(case: &Case, language: Language, frame: Frame) -> Option<Self> {
        let mut why = Vec::new();
        let mut nearest = case.clone();
        while let Some((reason, next)) = remedy(&nearest, language, frame) {
            why.push(reason);
            match next {
                Some(next) if next != nearest => nearest = next,
                _ => return Some(Self::without_remedy(why.join("; "))),
            }
        }
        (!why.is_empty()).then(|| Self { why: why.join("; "), nearest: Some(Box::new(nearest)) })
    }
}

/// The first thing that cannot be said, and the case without it.
fn remedy(case: &Case, language: Language, frame: Frame) -> Option<(String, Option<Case>)> {
    let (speaker, name) = (language.speaker(), case.method().name());
    let family = match case.method().card().code {
        Ok(family) => family,
        Err(why) => return Some((format!("{name}: {why}"), None)),
    };
    if let Some((_, why, instead)) = speaker.lacks.iter().find(|(lacking, ..)| *lacking == case.method()) {
        return Some((format!("{name}: {why}"), with_method(case, *instead)));
    }
    if frame.is_stream
        && let Some((why, next)) = whole(case, family)
    {
        return Some((why, next));
    }
    if !(speaker.has)(family) {
        return Some((format!("{name} cannot be said in {}", language.title()), None));
    }
    for axis in case.chosen_axes() {
        if let InCode::Refused(why) = case.axes().in_code(axis) {
            let value = case.axes().get(axis);
            let usual = Axes::defaults(case.axes().prepare).get(axis);
            return Some((format!("{axis}={value}: {why}"), changed(case, axis, &usual)));
        }
    }
    let cannot = OF_ALL.iter().chain(speaker.cannot);
    for Cannot { axis, is_in, why, instead } in cannot {
        if case.method().has_axis(*axis) && is_in(case, case.axes()) {
            let value = case.axes().get(*axis);
            return Some((format!("{axis}={value}: {why}"), changed(case, *axis, instead)));
        }
    }
    if frame.is_atomic && case.axes().prepare.needs_old_content() {
        let new = case.method().card().prepares[0].name();
        let why = format!("prepare={}: --atomic makes a new file", case.axes().prepare);
        return Some((why, case.with(Axis::Prepare, new).ok()));
    }
    None
}

/// Why a case wants all of its data at once; none if it can take it chunk by chunk from a producer.
fn whole(case: &Case, family: Family) -> Option<(String, Option<Case>)> {
    let name = case.method().name();
    let other = |why: &str, instead| Some((format!("{name}: {why}"), with_method(case, instead)));
    match family {
        Family::Write => {}
        Family::Buffered => return other("fwrite(3) itself takes a producer's pieces", Method::Write),
        Family::Map => {
            return other(
                "a mapping is as long as the file, and a producer's data has no end yet",
                Method::Pwrite,
            );
        }
        Family::Uring => {
            return other(
                "the function of a producer has one buffer, and a queue wants several",
                Method::Pwrite,
            );
        }
        Family::Copy | Family::CopyMap | Family::Pipeline | Family::UringCopy | Family::Clone => {
            return Some((format!("{name}: a file is copied, and no producer asked"), None));
        }
    }
    if case.method().has_axis(Axis::Vector) {
        let instead =
            if case.method().card().cursor == Cursor::Offset { Method::Pwrite } else { Method::Write };
        return other("a producer's chunks are written one by one", instead);
    }
    if case.axes().threads > 1 {
        return Some((
            format!("threads={}: one producer is one thread", case.axes().threads),
            changed(case, Axis::Threads, "1"),
        ));
    }
    let is_whole = case.axes().chunk_size_bytes == u64::MAX;
    is_whole.then(|| {
        ("chunk=whole: a producer's data comes in chunks".to_owned(), changed(case, Axis::Chunk, "1MiB"))
    })
}

/// The case with another value; with what that needs, if it does not go with the others.
fn changed(case: &Case, axis: Axis, value: &str) -> Option<Case> {
    let recorded = RecordedCase::from(case.clone());
    let others: Vec<(Axis, &str)> = recorded
        .assignments()
        .filter_map(|assignment| assignment.split_once('='))
        .filter_map(|(axis, value)| Some((Axis::from_name(axis)?, value)))
        .filter(|(other, _)| *other != axis)
        .collect();
    // Threads of one file at its position have descriptors of their own.
    let needed: [&[(Axis, &str)]; 2] = [&[], &[(Axis::Descriptor, "per-thread")]];
    needed
        .iter()
        .find_map(|needed| Case::new(case.method(), &[&others[..], &[(axis, value)], needed].concat()).ok())
}

/// The case with another method, and those values that this method has.
fn with_method(case: &Case, method: Method) -> Option<Case> {
    let recorded = RecordedCase::from(case.clone());
    // A mapping's own sync becomes that of a descriptor: the nearest case promises as much.
    let descriptors = |value: &str| value.replace(SyncCall::Msync.name(), SyncCall::Fdatasync.name());
    let keeps_msync = method.card().syncs.contains(&SyncCall::Msync);
    let values: Vec<(Axis, String)> = recorded
        .assignments()
        .filter_map(|assignment| {
            let (axis, value) = assignment.split_once('=')?;
            let value = if keeps_msync { value.to_owned() } else { descriptors(value) };
            Some((Axis::from_name(axis)?, value))
        })
        .collect();
    let values = values.iter().map(|(axis, value)| (*axis, value.as_str()));
    let all: Vec<_> = values.filter(|(axis, _)| method.has_axis(*axis)).collect();
    // Values that fit together with the other method only in part: the most important first.
    Case::new(method, &all).ok().or_else(|| {
        let mut kept = Vec::new();
        for value in all {
            kept.push(value);
            if Case::new(method, &kept).is_err() {
                kept.pop();
            }
        }
        Case::new(method, &kept).ok()
    })
}
