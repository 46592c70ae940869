//! The sections that make files before the clock of fio starts.

use writebench_model::{Choices, Prepare, Range};

/// A thread's file, and its part of the file.
pub(super) struct Part {
    pub(super) file: String,
    pub(super) range: Range,
}

/// The value of the option `fallocate`, with which fio makes a new file.
pub(super) fn fallocate(prepare: Prepare) -> Result<&'static str, String> {
    match prepare {
        Prepare::SetLen => Ok("truncate"),
        Prepare::Fallocate => Ok("native"),
        Prepare::PosixFallocate => Ok("posix"),
        Prepare::FallocateKeepSize => Ok("keep"),
        Prepare::Create | Prepare::ZeroFill | Prepare::Overwrite => Ok("none"),
        Prepare::FallocateZeroRange => Err("fio 3.33 has no FALLOC_FL_ZERO_RANGE".to_owned()),
        Prepare::WriteZeroes => Err("fio 3.33 has no FALLOC_FL_WRITE_ZEROES".to_owned()),
        Prepare::FallocateAhead => Err("fio 3.33 reserves the whole file at once".to_owned()),
        Prepare::Truncate => Err("fio makes a new file and empties none".to_owned()),
    }
}

/// The sections that write old content, or that make an empty file of full length, which fio would fill for a mapping.
pub(super) fn before(
    choices: &Choices,
    parts: &[Part],
    maps: bool,
    fallocate: &str,
) -> Result<String, String> {
    const MOST_MAPPED_BYTES: u64 = 1 << 30;
    if maps
        && parts
            .iter()
            .any(|part| part.range.length > MOST_MAPPED_BYTES)
    {
        return Err("fio maps 1 GiB at a time".to_owned());
    }
    // fio would map the beginning of the file repeatedly.
    if maps && parts.iter().any(|part| part.range.offset > 0) {
        return Err(
            "fio's mmap engine writes to the beginning of a file, whatever the offset".to_owned(),
        );
    }
    let content = match choices.prepare {
        Prepare::ZeroFill => "zero_buffers=1\nend_fsync=1",
        Prepare::Overwrite => "zero_buffers=0\nend_fsync=1",
        _ if maps => "create_only=1",
        _ => return Ok(String::new()),
    };
    let last_parts = parts
        .chunk_by(|a, b| a.file == b.file)
        .filter_map(<[Part]>::last);
    let mut sections = String::new();
    for (index, Part { file, range }) in last_parts.enumerate() {
        // A file's last part ends with the file.
        let length = range.offset + range.length;
        // fio drops the remainder of a block.
        let block_bytes = 1u64 << length.trailing_zeros().min(20);
        if block_bytes < 512 {
            return Err(format!(
                "fio would fill {length} bytes with less than a sector in each call"
            ));
        }
        sections += &format!(
            "\n[before-{index}]\nioengine=sync\nfilename={file}\nsize={length}\nbs={block_bytes}\n\
             fallocate={fallocate}\ndirect=0\n{content}\n"
        );
    }
    Ok(sections)
}
