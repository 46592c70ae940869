use std::os::fd::AsFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

/// Counts the bytes of a file outside its holes, by lseek(2). A filesystem that knows no holes reports all bytes as
/// data. Unlike `st_blocks`, the result counts compressed data in full. The position of the descriptor moves.
pub fn data_bytes(file: impl AsFd, size_bytes: u64) -> u64 {
    let mut searched_bytes = 0;
    let mut data_bytes = 0;
    loop {
        let start = match rustix::fs::seek(&file, SeekFrom::Data(searched_bytes)) {
            Ok(start) => start,
            // lseek(2) reports that no data follows.
            Err(Errno::NXIO) => return data_bytes.min(size_bytes),
            Err(_) => return size_bytes,
        };
        match rustix::fs::seek(&file, SeekFrom::Hole(start)) {
            // A filesystem that does not advance would cause an endless loop.
            Ok(end) if end > searched_bytes => {
                data_bytes += end - start;
                searched_bytes = end;
            }
            _ => return size_bytes,
        }
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
    }
}
