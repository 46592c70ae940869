//! The comparisons, in the order of the tables.

use writebench_model::Bytes;

use super::case::Case;
use super::ior::Test;
use super::rival::{Other, Rival};

/// Cases that fio can express, with a source of one chunk.
const ANYWHERE: &[&str] = &[
    "write",
    "write,chunk=64KiB",
    "write,chunk=4KiB",
    "pwrite,chunk=64KiB",
    "pwritev,chunk=64KiB,vector=1",
    "writev,chunk=4KiB",
    "mmap,chunk=64KiB",
    "mmap,chunk=64KiB,prepare=overwrite",
    "write,chunk=64KiB,prepare=set-len",
    "write,chunk=64KiB,prepare=fallocate",
    "write,chunk=64KiB,prepare=overwrite",
    "pwrite,chunk=64KiB,threads=2",
    "pwrite,chunk=64KiB,threads=2,files=per-thread",
    "uring,chunk=64KiB,depth=8",
    "uring,chunk=64KiB,depth=8,registered=both",
];

/// Cases that fio can express, for targets with a device.
const ON_DISK: &[&str] = &[
    "pwrite,prepare=overwrite,cache=direct",
    "uring,chunk=64KiB,prepare=overwrite,cache=direct",
    "write,sync=fsync",
];

/// Durable cases, with few records.
const DURABLE: &[&str] = &[
    "write,chunk=4KiB,sync=fsync/1",
    "write,chunk=4KiB,prepare=overwrite,sync=fsync/1",
    "write,chunk=4KiB,prepare=overwrite,sync=fdatasync/1",
    "write,chunk=4KiB,prepare=overwrite,sync=o-dsync",
];

/// Every case, in the order of the table; `usual` is the size of cases without a size of their own.
pub(super) fn fio(usual: Bytes, is_memory: bool) -> Vec<Rival> {
    const DURABLE_SIZE: Bytes = Bytes(5 << 20);
    const DIFFERENCE: &str = "fio writes from memory of a chunk, writebench from that of the file";
    let rival = |case: &str, size| Rival::new(Case::new(case, size).in_fios_clock(), Other::Fio);
    // fio's memory for direct I/O is aligned, and other memory is malloc's.
    let memory = |case: &str| if case.contains("cache=direct") { ",memory=page-aligned" } else { "" };
    let of_chunk = |cases: &[&str], size| {
        let rivals = cases.iter().map(|case| rival(&format!("{case},source=chunk{}", memory(case)), size));
        rivals.collect::<Vec<_>>()
    };
    let mut rivals = of_chunk(ANYWHERE, usual);
    if !is_memory {
        rivals.extend(of_chunk(ON_DISK, usual));
        rivals.extend(of_chunk(DURABLE, DURABLE_SIZE));
    }
    let explained = |case| Rival { remark: DIFFERENCE, is_explained: true, ..rival(case, usual) };
    rivals.extend(["write", "write,chunk=64KiB"].map(explained));
    rivals
}

/// Every case with its test of IOR, in the order of the table. IOR writes from one buffer of a transfer.
pub(super) fn ior(size: Bytes) -> Vec<Rival> {
    // Ranks with files of their own have no calls together.
    let apis = [("pwrite", "POSIX", ""), ("mpiio", "MPIIO", ""), ("mpiio,collective=yes", "MPIIO", " -c")];
    let mut rivals = Vec::new();
    for (method, api, together) in apis {
        for (ranks, chunk) in
            [2u32, 4].into_iter().flat_map(|ranks| [64u64, 1024].map(|kib| (ranks, Bytes(kib << 10))))
        {
            for (sync, flag) in [("", ""), (",sync=fsync", " -e")] {
                let share = size.0 / u64::from(ranks) / chunk.0 * chunk.0;
                let size = Bytes(share * u64::from(ranks));
                let (whole, blocks) = (Bytes(share), share / chunk.0);
                let mut add = |layout: &str, options: &str| {
                    let name = format!("{method},chunk={chunk},ranks={ranks}{layout}{sync},source=chunk");
                    let options = format!("-a {api} -t {}{options}{together}{flag}", chunk.0);
                    let other = Other::Ior(Test { ranks, options });
                    rivals.push(Rival::new(Case::new(&name, size).with_sync(), other));
                };
                if together.is_empty() {
                    add(",files=per-rank", &format!(" -b {} -F", whole.0));
                }
                add("", &format!(" -b {}", whole.0));
                add(&format!(",layout=strided,block={chunk}"), &format!(" -b {} -s {blocks}", chunk.0));
            }
        }
    }
    rivals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_there_once_and_only_a_disk_has_what_passes_the_cache_by() {
        let names = |is_memory| {
            let rivals = fio(Bytes(512 << 20), is_memory);
            rivals.iter().map(|rival| rival.case.to_string()).collect::<Vec<_>>()
        };
        let (memory, disk) = (names(true), names(false));
        assert!(!memory.iter().any(|name| name.contains("direct") || name.contains("sync=")), "{memory:?}");
        assert!(disk.contains(&"write,size=5MiB,chunk=4KiB,sync=fsync/1,source=chunk".to_owned()), "{disk:?}");
        let different: std::collections::HashSet<&String> = disk.iter().collect();
        assert_eq!(different.len(), disk.len());
    }

    #[test]
    fn both_write_the_same_bytes_in_the_same_blocks() {
        let pairs = ior(Bytes(10 << 20));
        assert_eq!(pairs.len(), 24 + 24 + 16);
        for rival in &pairs {
            let Other::Ior(test) = &rival.other else { panic!("{}", rival.case) };
            let words: Vec<&str> = test.options.split_whitespace().collect();
            let number = |flag: &str| {
                let at = words.iter().position(|word| *word == flag)?;
                words[at + 1].parse::<u64>().ok()
            };
            let bytes = number("-b").unwrap() * number("-s").unwrap_or(1) * u64::from(test.ranks);
            assert_eq!(bytes, rival.case.size_bytes, "{}", rival.case);
            assert_eq!(words.contains(&"-e"), rival.case.to_string().contains("fsync"));
        }
    }
}
