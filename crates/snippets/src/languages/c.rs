//! C11 with the calls of Linux; `liburing` where the case is io_uring.

use writebench_model::{Axis, Method};

use super::templates;
use crate::speaker::{Cannot, Speaker};

templates! {
    Write = "c/write.c",
    Buffered = "c/fwrite.c",
    Map = "c/map.c",
    Uring = "c/uring.c",
    Copy = "c/copy.c",
    CopyMap = "c/copy_map.c",
    Pipeline = "c/pipeline.c",
    UringCopy = "c/uring_copy.c",
    Clone = "c/ficlone.c",
}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: &[], cannot: CANNOT };

const CANNOT: &[Cannot] = &[Cannot {
    axis: Axis::Threads,
    is_in: |case, axes| case.method() == Method::Fwrite && axes.threads > 1,
    why: "a stream of stdio is one thread's at a time",
    instead: "1",
}];
