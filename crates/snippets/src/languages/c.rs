//! C11 with the calls of Linux; `liburing` where the case is io_uring.

use super::templates;
use crate::language::Speaker;

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

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: &[], cannot: &[] };
