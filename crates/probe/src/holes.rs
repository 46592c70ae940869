use std::os::fd::AsFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

/// The bytes of a file outside its holes, by lseek(2). A filesystem that knows no holes reports all bytes as data.
/// Other than `st_blocks` it counts compressed data in full. The position of the descriptor moves.
pub fn data_bytes(file: impl AsFd, size_bytes: u64) -> u64 {
    let (mut at, mut data_bytes) = (0, 0);
    loop {
        let start = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return data_bytes.min(size_bytes), // no more data
            Err(_) => return size_bytes,
        };
        match rustix::fs::seek(&file, SeekFrom::Hole(start)) {
            Ok(end) if end > at => (at, data_bytes) = (end, data_bytes + (end - start)),
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
