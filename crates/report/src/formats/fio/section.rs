//! The sections of a job: the file's state before fio's clock, and the cleanup after it.

use writebench_model::{Axes, Prepare, Range};

/// A section of a job file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) options: Vec<(&'static str, String)>,
}

/// One thread's share of the writes.
pub(super) struct Part {
    pub(super) file: String,
    pub(super) range: Range,
}

/// The value of fio's option `fallocate` for a new file.
pub(super) fn fallocate(prepare: Prepare) -> Result<&'static str, String> {
    match prepare {
        Prepare::SetLen => Ok("truncate"),
        Prepare::Fallocate => Ok("native"),
        Prepare::PosixFallocate => Ok("posix"),
        Prepare::FallocateKeepSize => Ok("keep"),
        Prepare::Create | Prepare::ZeroFill | Prepare::Overwrite => Ok("none"),
        Prepare::FallocateZeroRange => Err("fio 3.33 has no FALLOC_FL_ZERO_RANGE".to_owned()),
        Prepare::Truncate => Err("fio makes a new file and empties none".to_owned()),
    }
}

/// The first sections, each with a file: content to be overwritten, or a length without content, which fio
/// would fill for a mapping.
pub(super) fn sections(
    axes: &Axes,
    parts: &[Part],
    maps: bool,
    fallocate: &str,
) -> Result<Vec<Section>, String> {
    if maps {
        can_be_mapped(parts)?;
    }
    let has_content = matches!(axes.prepare, Prepare::ZeroFill | Prepare::Overwrite);
    if !has_content && !maps {
        return Ok(Vec::new());
    }
    // The last range of a file ends where the file does.
    let files = parts.chunk_by(|a, b| a.file == b.file).filter_map(<[Part]>::last);
    let files = files.map(|last| (last.file.as_str(), last.range.offset + last.range.length));
    let section = |(index, (file, length)): (usize, (&str, u64))| {
        // fio drops the remainder of a block.
        let block_bytes = 1u64 << length.trailing_zeros().min(20);
        if block_bytes < 512 {
            return Err(format!("fio would fill {length} bytes with less than a sector in each call"));
        }
        let mut options = vec![
            ("ioengine", "sync".to_owned()),
            ("filename", file.to_owned()),
            ("size", length.to_string()),
            ("bs", block_bytes.to_string()),
            ("fallocate", fallocate.to_owned()),
            ("direct", "0".to_owned()),
        ];
        if has_content {
            options.push(("zero_buffers", u8::from(axes.prepare == Prepare::ZeroFill).to_string()));
            options.push(("end_fsync", "1".to_owned()));
        } else {
            options.push(("create_only", "1".to_owned()));
        }
        Ok(Section { name: format!("before-{index}"), options })
    };
    files.enumerate().map(section).collect()
}

fn can_be_mapped(parts: &[Part]) -> Result<(), String> {
    const MOST_BYTES: u64 = 1 << 30;
    if parts.iter().any(|part| part.range.length > MOST_BYTES) {
        return Err("fio maps 1 GiB at a time".to_owned());
    }
    // Otherwise fio maps the beginning of the file repeatedly.
    if parts.iter().any(|part| part.range.offset > 0) {
        return Err("fio's mmap engine writes to the beginning of a file, whatever the offset".to_owned());
    }
    Ok(())
}

/// Removes a file that several threads wrote: one that ended early would take it from another that has not begun.
pub(super) fn removal(file: &str) -> Section {
    let options = [
        ("stonewall", "1"),
        ("ioengine", "sync"),
        ("filename", file),
        ("fallocate", "none"),
        ("direct", "0"),
        ("bs", "1"),
        ("size", "1"),
        ("unlink", "1"),
    ];
    let options = options.map(|(name, value)| (name, value.to_owned())).to_vec();
    Section { name: "remove".to_owned(), options }
}
