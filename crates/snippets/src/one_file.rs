//! A set of one file may have the code of `write`.

use writebench_model::{
    Axis, Case, Choices, FileSize, Method, Naming, Prepare, SyncCall, SyncFiles,
};

use crate::EmitOptions;
use crate::languages::UnsupportedValue;

/// The case whose template is printed, and its options.
pub(crate) fn printed(case: &Case, options: EmitOptions) -> (Case, EmitOptions) {
    if let Some(write) = as_write(case, options) {
        return write;
    }
    let Choices {
        naming, prepare, ..
    } = *case.choices();
    let replaces =
        case.method().writes_set() && naming != Naming::Direct && prepare.needs_old_content();
    let options = EmitOptions {
        is_atomic: options.is_atomic || replaces,
        ..options
    };
    (case.clone(), options)
}

/// The case of `write` with the same calls, and its options. None if there is no such case.
pub(crate) fn as_write(case: &Case, options: EmitOptions) -> Option<(Case, EmitOptions)> {
    let choices = case.choices();
    if case.method() != Method::WriteFiles || case.given().file_size != FileSize::Whole {
        return None;
    }
    let sync = match choices.sync_files {
        SyncFiles::None => SyncCall::None,
        SyncFiles::Each => SyncCall::Fsync,
        _ => return None,
    };
    let is_renamed = match choices.naming {
        Naming::Direct => false,
        Naming::Rename => true,
        Naming::Exchange | Naming::ExchangeBackground | Naming::Tmpfile => return None,
    };
    let prepare = if is_renamed {
        Prepare::Create
    } else {
        choices.prepare
    };
    let values = [
        (Axis::Chunk, case.value(Axis::Chunk)),
        (Axis::Prepare, prepare.name().to_owned()),
        (Axis::Sync, sync.name().to_owned()),
    ];
    let write = Case::new(Method::Write, &values).ok()?;
    let options = EmitOptions {
        is_atomic: options.is_atomic || is_renamed,
        ..options
    };
    Some((write, options))
}

/// The value of a set that a function of one file cannot have. `has_sets` says whether the language has a template for
/// sets.
pub(crate) fn unsupported(
    case: &Case,
    options: EmitOptions,
    has_sets: bool,
) -> Option<UnsupportedValue> {
    let choices = case.choices();
    if case.method() != Method::WriteFiles || has_sets && !options.is_stream && !options.is_atomic {
        return None;
    }
    Some(
        match (
            choices.threads,
            case.given().file_size,
            choices.naming,
            choices.sync_files,
        ) {
            (2.., ..) => (Axis::Threads, "the function writes one file", "1"),
            (_, size, ..) if size != FileSize::Whole => {
                (Axis::FileSize, "the function writes one file", "whole")
            }
            (_, _, Naming::Exchange | Naming::ExchangeBackground | Naming::Tmpfile, _) => {
                (Axis::Naming, "the function calls rename(2)", "rename")
            }
            (_, _, _, SyncFiles::Batch | SyncFiles::Writeback | SyncFiles::Syncfs) => (
                Axis::SyncFiles,
                "the function calls fsync(2) before close(2)",
                "each",
            ),
            _ => return None,
        },
    )
}
