//! An example method for tests.

use writebench_model::{Axis, Copying, Cursor, MethodInfo, Prepare, SyncCall};

pub(crate) static WRITE: MethodInfo = MethodInfo {
    name: "write",
    summary: "",
    words: "write(2)",
    calls: "",
    has_buffer: false,
    cursor: Cursor::Offset,
    copying: None,
    axes: &[&[Axis::Threads, Axis::Chunk, Axis::Source, Axis::Cache]],
    prepares: Prepare::ALL,
    syncs: &[SyncCall::None, SyncCall::Fsync],
    syncs_on_the_way: &[],
    effort: 0,
    fio: Err(""),
    code: Err(""),
    example: &[],
};

pub(crate) static COPY: MethodInfo = MethodInfo { name: "copy", copying: Some(Copying::Bytes), ..WRITE };
