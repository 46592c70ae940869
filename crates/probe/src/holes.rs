use std::ops::Range;
use std::os::fd::AsFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

/// Counts the bytes of a file outside its holes. Unlike `st_blocks`, the result counts compressed data in full. The
/// position of the descriptor moves.
pub fn data_bytes(file: impl AsFd, size_bytes: u64) -> u64 {
    let mut from = 0;
    let mut bytes = 0;
    while let Some(data) = next_data(&file, from, size_bytes) {
        from = data.end;
        bytes += data.end - data.start;
    }
    bytes
}

/// The next data from an offset on, of a file with this size, by lseek(2). A filesystem that knows no holes has all bytes
/// as data. The position of the descriptor moves.
pub fn next_data(file: impl AsFd, from: u64, size_bytes: u64) -> Option<Range<u64>> {
    if from >= size_bytes {
        return None;
    }
    let start = match rustix::fs::seek(&file, SeekFrom::Data(from)) {
        Ok(start) => start,
        // lseek(2) reports that no data follows.
        Err(Errno::NXIO) => return None,
        Err(_) => return Some(from..size_bytes),
    };
    match rustix::fs::seek(&file, SeekFrom::Hole(start)) {
        // A filesystem that does not advance would cause an endless loop.
        Ok(end) if from <= start && start < end => {
            (start < size_bytes).then(|| start..end.min(size_bytes))
        }
        _ => Some(from..size_bytes),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_are_no_data() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(data_bytes(&file, 0), 0);
        file.write_all(&[1; 100_000]).unwrap();
        assert_eq!(data_bytes(&file, 100_000), 100_000);
        file.set_len(64 << 20).unwrap();
        let data = data_bytes(&file, 64 << 20);
        assert!((100_000..1 << 20).contains(&data), "{data}");
        file.write_all_at(&[1], (64 << 20) - 1).unwrap();
        let more = data_bytes(&file, 64 << 20);
        assert!(more > data && more < 1 << 20, "{more}");
        let last = next_data(&file, 32 << 20, 64 << 20).unwrap();
        assert!(last.start > 63 << 20 && last.end == 64 << 20, "{last:?}");
        assert_eq!(next_data(&file, last.end, 64 << 20), None);
    }
}
