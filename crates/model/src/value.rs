//! Axis values with names.

use std::borrow::Cow;

use crate::form::{Described, ValueEntry};
use crate::kernel::{KernelChange, KernelRelease};
use crate::value_card::InCode::{LeftToCaller, Unsupported};
use crate::value_card::Phrase::{Beside, First, How, Instead, Last, Silent};
use crate::value_card::{InCode, InFio, ValueCard};

/// Declares closed sets of values, whose names axes, command line and database share. Earlier versions had the names after
/// a `|`, which are read and never written.
macro_rules! named_values {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal $(| $earlier:literal)*,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text $(, alias = $earlier)*)] $variant,)+ }

        impl $name {
            /// All values, in the order of the help text.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text $(| $earlier)* => Some(Self::$variant),)+ _ => None }
            }
        }

        impl crate::form::Form for $name {
            type Value = Self;
            const IS_NUMBER: bool = false;
            const EXAMPLES: &[&str] = &[$($text,)+];

            fn parse(text: &str) -> Result<Self, String> {
                Self::from_name(text).ok_or_else(|| format!("expected one of {}", <Self as crate::form::Form>::values()))
            }

            fn text(value: Self) -> String {
                value.to_string()
            }

            fn values() -> String {
                Self::EXAMPLES.join("|")
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    )+};
}
pub(crate) use named_values;

/// Declares the values of axes: each one's name, words, effort, support by fio and printed code, what a later kernel changes,
/// and the paragraph of the reference.
macro_rules! axis_values {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal {
            $words:expr $(, effort $effort:expr)? $(, fio $fio:expr)? $(, code $code:expr)?
            $(, kernel $major:literal, $minor:literal, $change:literal)?
        } $paragraph:literal,)+
    })+) => {
        named_values! {
            $($(#[$meta])* $name { $($(#[$doc])* $variant = $text,)+ })+
        }

        $(impl $name {
            pub(crate) fn card(self) -> ValueCard {
                match self {
                    $(Self::$variant => ValueCard {
                        $(effort: $effort,)?
                        $(fio: $fio,)?
                        $(code: $code,)?
                        $(kernel: Some(KernelChange {
                            since: KernelRelease($major, $minor),
                            what: $change,
                        }),)?
                        ..ValueCard::new($words)
                    },)+
                }
            }

            /// The manner of writing, if the value has one.
            pub fn words(self) -> Option<Cow<'static, str>> {
                if let How(words) = self.card().words { Some(words) } else { None }
            }
        }

        impl Described for $name {
            fn entries() -> Vec<ValueEntry> {
                vec![$(ValueEntry {
                    value: $text,
                    paragraph: concat!(
                        $paragraph
                        $(, " From Linux ", $major, ".", $minor, " on, ", $change,
                            " ([more changes](requirements.md#kernels-that-change-answers)).")?
                    ),
                },)+]
            }
        })+
    };
}

const NOTHING_WRITTEN: InFio = Err("nothing is written");
const NO_COPIES: InFio = Err("fio copies no files");
const NO_MPI_IO: InFio = Err("fio has no MPI-IO");
const NO_POPULATE: InFio = Err("fio 3.33 does not populate pages of a mapping");
const NO_HUGE_ADVICE: InFio = Err("fio 3.33 gives no advice about huge pages of a file");
const NO_ZIPF: InFio = Err("fio scatters the pages of its zipf in another way");
const NO_SORTING: InFio = Err("fio sorts no pages");
const NO_PROTECTION: InFio = Err("fio 3.33 has no protection against torn pages");
const ONE_FILE: InCode = Unsupported("the function writes one file: call it for each");
const POSIX_FALLOCATE: &str = "posix_fallocate(3)";
const ZERO_RANGE: &str = "fallocate(2) with ZERO_RANGE";
const WRITE_ZEROES: &str = "fallocate(2) with WRITE_ZEROES";
const KEEP_SIZE: &str = "fallocate(2) with KEEP_SIZE";
const FTRUNCATE: &str = "ftruncate(2)";
const FALLOCATE: &str = "fallocate(2)";

axis_values! {
    Files {
        Shared = "shared" { Silent }
            "All threads of all ranks write to one file, each to its own range. Writers of one file queue on its \
             inode lock, so threads gain little in the page cache \
             ([Findings](../explanation/findings.md#threads)). Direct writes over existing blocks can run beside \
             each other.",
        PerThread = "per-thread" { Beside("a file each".into()), code ONE_FILE }
            "Each thread opens, writes and closes a file of its own, which has its share of `size`. No lock is \
             common to the writers then, except in the directory: with two CPUs, two threads were about 1.6 times \
             as fast as one ([Findings](../explanation/findings.md#threads)). It supports no `layout=strided`, \
             because there is no common file. Printed code has no such case: call the function of one file in \
             each of your threads instead.",
        PerRank = "per-rank" {
            Beside("a file for each rank".into()),
            fio Err("fio is not an MPI program"), code ONE_FILE
        }
            "Each MPI rank has a file, which its threads share (IOR calls this `-F`). It needs a build with the \
             feature `mpi`. On parallel filesystems it avoids locks that ranks of one file would take from each \
             other.",
    }

    /// Where chunks go in the file.
    Access {
        Sequential = "sequential" { Silent }
            "Each chunk goes behind the one before, as with `rw=write` of fio.",
        /// A permutation of the file's pages.
        Uniform = "uniform" { How("at random".into()) }
            "Each page of the file is written once, in random order, as with `rw=randwrite` of fio.",
        /// Page of rank k with a weight of 1/k^0.99.
        Zipf = "zipf" { How("at random by Zipf's law".into()), fio NO_ZIPF }
            "Some pages are written often and most of them seldom: the weight of the page with rank k is \
             1/k^0.99, as in YCSB. The hot pages are scattered over the file. A page occurs once in a commit at \
             most, because a program writes its latest content only. Pages that are never drawn keep their old \
             content, and are not compared.",
    }

    /// The order of the pages in a commit.
    PageOrder {
        Arrival = "arrival" { Silent }
            "The pages are written in the order in which they are drawn.",
        Sorted = "sorted" { Beside("each commit sorted".into()), effort 1, fio NO_SORTING }
            "The pages of a commit are written in ascending order. A disk with a head moves less, and neighbours \
             can become one request. They are sorted before the clock starts, because to sort a few numbers takes \
             less than a microsecond.",
    }

    /// What keeps pages from being torn.
    Protect {
        None = "none" { Silent }
            "Nothing. After a power loss, a page of an unacknowledged commit may be old in one part and new in \
             another. A program needs checksums to notice, and a full copy of the page elsewhere to repair it.",
        /// The flag needs Linux 6.11, and `O_DIRECT`.
        RwfAtomic = "rwf-atomic" { How("with RWF_ATOMIC".into()), effort 2, fio NO_PROTECTION }
            "pwritev2(2) or an io_uring write with `RWF_ATOMIC`: the page is written as a whole or not at all. It \
             needs `cache=direct`, pages of a power of two, and a filesystem that promises it: ext4 and xfs since \
             Linux 6.13 where the device can, and xfs since Linux 6.16 also elsewhere, by copy on write. \
             statx(2) with `STATX_WRITE_ATOMIC` tells the sizes. Elsewhere the case is unsupported.",
        /// As InnoDB does.
        DoubleWrite = "double-write" {
            Beside("each commit first into a journal".into()), effort 6, fio NO_PROTECTION
        }
            "Each commit is written twice, as InnoDB does: first all its pages into a journal file, with their \
             numbers and a checksum, then a sync, then each page to its place, then another sync. After a power \
             loss, either the journal has the whole commit, which is then written again, or no page was touched. \
             The journal is a second file of one commit, made before the clock starts. It needs `pwrite` with \
             `fsync` or `fdatasync`.",
    }

    Directory {
        One = "one" { Silent }
            "All files of the set are created in one directory. Each new name locks the directory, which limits \
             how much threads can gain.",
        PerThread = "per-thread" { Beside("a directory each".into()), code LeftToCaller }
            "Each thread creates its files in its own directory, made by mkdir(2) in phase open, so threads do \
             not wait for each other's new names. For two threads on ext4 and xfs, this was faster than a common \
             directory ([Findings](../explanation/findings.md#many-small-files)).",
        /// Each directory gets [`Directory::FAN_OUT_FILES`] files.
        FanOut = "fan-out" { Beside("256 files per directory".into()), effort 1, code LeftToCaller }
            "Each directory gets at most 256 files. The directories are made in phase open. With a few thousand \
             files in one thread this gained almost nothing, but with four threads it was the fastest on ext4 \
             without a journal and on tmpfs ([Findings](../explanation/findings.md#many-small-files)).",
    }

    /// The moment at which a file gets its name.
    Naming {
        Direct = "direct" { Silent }
            "The file is opened under its final name with `O_CREAT | O_EXCL`, or as the old file is if `prepare` \
             keeps one. By default this is so. Readers can see a part of the file while it is written, and a \
             crash can leave a part behind.",
        /// The file has a temporary name, and rename(2) gives it the final one.
        Rename = "rename" { How("under a temporary name, rename(2)".into()), effort 1 }
            "The file is written under a temporary name, and rename(2) gives it the final one. Readers find the \
             old file or all of the new one. After a power loss this holds only if the file was synced before, \
             for example using `sync-files=each`. On ext4, renaming over an existing file also starts its \
             write-back (`auto_da_alloc`), which is part of the time.",
        /// The file has a temporary name, and exchanges it with the old file, which is removed then.
        Exchange = "exchange" { How("under a temporary name, RENAME_EXCHANGE, unlink(2)".into()), effort 2 }
            "The file is written under a temporary name, renameat2(2) with `RENAME_EXCHANGE` swaps it with the \
             old file, and unlink(2) removes the old one. It needs an old file (`prepare=overwrite`), Linux 3.15, \
             and a filesystem that supports the flag. On ext4 it avoids the write-back that a rename starts, so \
             files of 64 MiB without a sync were replaced 1.57 times as fast there, but not on xfs \
             ([Findings](../explanation/findings.md#replacing-a-file)).",
        /// The same, but a second thread removes the old file, because large files take long to remove.
        ExchangeBackground = "exchange-background" {
            How("under a temporary name, RENAME_EXCHANGE, unlink(2) by a second thread".into()), effort 5
        }
            "The same exchange, but a second thread calls unlink(2), because freeing the blocks of a large file \
             takes long. Your program continues in the meantime. It needs one old file \
             (`file-size=whole,prepare=overwrite`). The CPU time of that thread counts, the wait for its end does \
             not.",
        /// The file has no name until linkat(2). To replace an existing file, rename(2) follows.
        Tmpfile = "tmpfile" { How("in an O_TMPFILE, linkat(2)".into()), effort 2 }
            "The file has no name while it is written (`O_TMPFILE`, Linux 3.11). Then linkat(2) gives it the \
             name. Where an old file has that name, a temporary one and rename(2) come in between, because \
             linkat(2) replaces nothing. A crash leaves nothing behind, because a file without a name vanishes. \
             It is seldom faster: new small files had 0.71 to 0.79 of the speed of plain ones \
             ([Findings](../explanation/findings.md#many-small-files)). tmpfs, ext4, xfs and btrfs support it, \
             but NFS and many FUSE filesystems do not.",
    }

    /// The syncs that make a set of files durable.
    SyncFiles {
        None = "none" { Silent }
            "No sync. A power loss may take any of the files, even those written long before.",
        /// Each file is synced before its close.
        Each = "each" { Beside("fsync(2) of each file".into()), effort 1 }
            "fsync(2) of each file before its close, and of the directories at the end. Each call waits for the \
             disk. Threads help, because the filesystem commits their files together. This is the baseline of \
             goal `durable-files`.",
        /// All files are synced after the last one is written.
        Batch = "batch" { Last("fsync(2) of all files"), effort 2 }
            "All files are written and closed first. Then each is opened again for fsync(2), and the directories \
             follow. The first sync on a journal often commits many of the files, so the later ones find little \
             to do. With another name until then (`naming=rename`), no file gets its name before all data is \
             durable.",
        /// The same, but sync_file_range(2) starts write-back of each file before its close.
        Writeback = "writeback" { Beside("sync_file_range(2), then fsync(2) of all files".into()), effort 3 }
            "As `batch`, but sync_file_range(2) starts the write-back of each file before its close, so the disk \
             works while later files are written. dpkg does this. It waits for no other program, as `syncfs` may: \
             3.4 times as fast as `each` on ext4, but slower than `syncfs` \
             ([Findings](../explanation/findings.md#many-small-files)).",
        Syncfs = "syncfs" { Last("one syncfs(2)"), effort 1 }
            "One syncfs(2) for the whole filesystem, after all files are written, and fsync(2) of the \
             directories. It was the fastest way to durable files on all disks measured, 10.1 times as fast as \
             `each` on ext4 and 9.2 times on xfs ([Findings](../explanation/findings.md#many-small-files)). \
             Because it also writes the data of other programs, it can be slow on a busy disk. Before Linux 5.8 \
             it reports no error of the write-back. On FUSE it makes nothing durable: the server gets no request.",
    }

    FileLayout {
        Segmented = "segmented" { Silent }
            "Each thread of each rank writes one contiguous part of the shared file. IOR does the same with one \
             segment.",
        Strided = "strided" {
            Beside("blocks in turns".into()), effort 1, fio Err("fio's jobs have contiguous parts of a file"),
            code Unsupported("the function writes one buffer to one contiguous file")
        }
            "The threads of all ranks take blocks of `block` bytes alternately, as rows of a matrix or IOR's \
             segments (`-s`). It needs `files=shared`, and a method whose calls have an offset. Neighbouring \
             blocks belong to different writers, so locks and read-modify-write of partial stripes cost more. It \
             serves to measure a program that must write like this.",
    }

    Collective {
        No = "no" { Silent, fio NO_MPI_IO }
            "MPI_File_write_at: each rank writes by itself, when it wants.",
        Yes = "yes" { Beside("all ranks in each call".into()), effort 1, fio NO_MPI_IO }
            "MPI_File_write_at_all: all ranks call together, so the MPI library can gather small pieces in some \
             ranks and write them as large ones (*collective buffering*). It needs `mpiio` and `files=shared`. It \
             can pay for small or strided chunks on a parallel filesystem.",
    }

    Descriptor {
        Shared = "shared" { Silent }
            "One open(2), and all threads use the same descriptor, each at its own offset. Methods that write at \
             the file's position (`write`, `writev`, `fwrite`) cannot share one between threads.",
        PerThread = "per-thread" { Beside("a descriptor each".into()) }
            "Each thread opens the file itself, and so has a position of its own. `write,threads=4` needs this or \
             `files=per-thread`. With `pwrite`, it only avoids that all threads count references of the same open \
             file.",
    }

    MapSharing {
        Shared = "shared" { Silent }
            "One mmap(2) of the whole file for all threads, so one msync(2) at the end suffices.",
        PerThread = "per-thread" { Beside("a mapping each".into()) }
            "Each thread maps its own part. It belongs to the fastest cases on btrfs ([the \
             portfolio](../explanation/portfolio.md#stream)). But with sixteen threads, an msync(2) for each map \
             made the write two and a half times as long \
             ([Findings](../explanation/findings.md#new-files-in-the-page-cache)).",
    }

    AllocateCall {
        /// The C library's call, which is `fallocate`, or where that is refused, a write into every block.
        PosixFallocate = "posix-fallocate" { Instead(POSIX_FALLOCATE), fio NOTHING_WRITTEN }
            "posix_fallocate(3), which calls fallocate(2). Where the filesystem has no fallocate(2), glibc writes \
             a byte into each block instead, which is slow. musl, which the released program uses, returns the \
             error.",
        Fallocate = "fallocate" { Instead(FALLOCATE), fio NOTHING_WRITTEN }
            "fallocate(2) with mode 0 reserves the blocks and sets the length. The blocks are unwritten: they \
             read as zeros without being written.",
        FallocateZeroRange = "fallocate-zero-range" {
            Instead(ZERO_RANGE), fio NOTHING_WRITTEN
        }
            "fallocate(2) with `FALLOC_FL_ZERO_RANGE` (Linux 3.15) turns existing blocks into unwritten ones as \
             well, so it also zeros an old file. btrfs and XFS support it, and so does ext4 with extents, but not \
             tmpfs.",
        /// The extents are written ones. The device zeroes them, maybe with a command that carries no data.
        WriteZeroes = "write-zeroes" { Instead(WRITE_ZEROES), fio NOTHING_WRITTEN }
            "fallocate(2) with `FALLOC_FL_WRITE_ZEROES` (Linux 6.17) lets the device zero the blocks, which are \
             then written ones. [`prepare=write-zeroes`](#preparewrite-zeroes) lists what it needs.",
        /// The call reserves blocks beyond the end of the file.
        FallocateKeepSize = "fallocate-keep-size" {
            Instead(KEEP_SIZE), fio NOTHING_WRITTEN
        }
            "fallocate(2) with `FALLOC_FL_KEEP_SIZE` reserves blocks beyond the end and leaves the length as it \
             is. Method `allocate` refuses it, because its file would have no length. Use it as \
             `prepare=fallocate-keep-size`.",
        Ftruncate = "ftruncate" { Instead(FTRUNCATE), fio NOTHING_WRITTEN }
            "ftruncate(2) sets the length and reserves nothing: the file is one hole. It takes microseconds for \
             any size, but a full disk is noticed only by later writes.",
    }

    /// The pages that `MADV_POPULATE_WRITE` makes present, or `MADV_POPULATE_READ` for a source.
    Populate {
        None = "none" { Silent }
            "Each first store into a page of a mapping raises a page fault, which costs more than the store \
             itself.",
        Window = "window" { Beside("pages populated by window".into()), effort 1, fio NO_POPULATE }
            "madvise(2) with `MADV_POPULATE_WRITE` before each window of `window` bytes, or `MADV_POPULATE_READ` \
             for the source of a copy. One call replaces hundreds of page faults, and the pages are still in the \
             CPU's caches when they are filled. It needs Linux 5.14.",
        All = "all" { Beside("all pages populated".into()), effort 1, fio NO_POPULATE }
            "One madvise(2) with `MADV_POPULATE_WRITE` for everything a thread will write, like `MAP_POPULATE` \
             but with errors instead of a SIGBUS on a full disk. It needs Linux 5.14. For files larger than the \
             CPU's caches, `window` has the advantage that fresh pages are filled while they are cached.",
    }

    Huge {
        None = "none" { Silent }
            "The kernel decides about huge pages. On most filesystems, a mapping then has small ones.",
        Advise = "advise" { Beside("MADV_HUGEPAGE".into()), effort 1, fio NO_HUGE_ADVICE }
            "madvise(2) with `MADV_HUGEPAGE` on the mapping, which is placed at a multiple of 2 MiB. On tmpfs \
             mounted with `huge=advise`, page faults then take 2 MiB at a time, and on disks the kernel may use \
             larger folios. Kernels without transparent huge pages refuse it (EINVAL), and the case is \
             unsupported.",
        /// Linux has this advice since 6.1.
        Collapse = "collapse" { Beside("MADV_COLLAPSE by window".into()), effort 3, fio NO_HUGE_ADVICE }
            "madvise(2) with `MADV_COLLAPSE` makes huge pages of each window right before its use, whatever the \
             mount options say. It needs Linux 6.1, `window` in multiples of 2 MiB, at least 2 MiB per thread, \
             and a filesystem that supports huge pages for written files, in practice tmpfs. Elsewhere it fails \
             with EINVAL, and the case is unsupported. On tmpfs it belongs to the fastest cases for new files: \
             3.64 times plain write ([Findings](../explanation/findings.md#new-files-in-the-page-cache)), because \
             few page faults remain.",
    }

    Store {
        Plain = "plain" { Silent }
            "memcpy(3) into the mapping. The C library may itself choose non-temporal stores for large copies.",
        Nontemporal = "nontemporal" {
            How("with non-temporal stores".into()), effort 3,
            fio Err("fio's stores go through the CPU's caches")
        }
            "Stores that bypass the CPU's caches: AVX-512, AVX or SSE2 on x86_64, `STNP` on aarch64. The CPU then \
             need not read each line before it is overwritten, and your program's data stays in the caches. It \
             supports no other processor. It pays in chunks larger than the caches, and is part of the fastest \
             cases for xfs and tmpfs in [the portfolio](../explanation/portfolio.md#stream).",
    }

    Drop {
        No = "no" { Silent }
            "The pages remain in the page cache, where a later reader finds them.",
        Yes = "yes" {
            Beside("dropped from the page cache".into()), effort 1,
            fio Err("fio 3.33 drops no pages before the end")
        }
            "After the write-back of a window, posix_fadvise(2) with `POSIX_FADV_DONTNEED` drops its pages. It \
             needs `writeback`. Choose it if nobody will read the file soon, so that it does not displace other \
             data from memory. The call itself costs time.",
    }

    /// The file's state. Work that a program would time is phase `prepare`, and old content is not timed.
    Prepare {
        Create = "create" { Silent, effort 1 }
            "open(2) with `O_CREAT | O_EXCL`, and nothing else: the file grows as it is written. Methods with a \
             mapping of the file cannot do this, so their default is `set-len`. It needs nothing from the \
             filesystem. With each write the filesystem has to extend the file, and allocates blocks at \
             write-back.",
        Truncate = "truncate" { How("after O_TRUNC".into()), effort 1 }
            "open(2) with `O_TRUNC` empties an old file, whose cost is in phase open. The file has other content \
             before the sample. It is not ftruncate(2): that is `set-len`. Emptying a file costs more than \
             overwriting it, because blocks and pages are released: `truncate` had 0.22 of an overwrite's speed \
             on ext4 ([Findings](../explanation/findings.md#new-files-in-the-page-cache)).",
        SetLen = "set-len" { First(FTRUNCATE), effort 1 }
            "ftruncate(2) sets the new file's length before the first write, without any blocks. By default \
             mappings use it, because they can only store below the end. Writes then extend no file, which saves \
             the update of the length in each call. A full disk shows later: as an error of write(2), or as a \
             SIGBUS in a mapping.",
        Fallocate = "fallocate" { First(FALLOCATE), effort 1 }
            "fallocate(2) with mode 0 reserves all blocks and sets the length. The blocks are *unwritten*: they \
             read as zeros, and each is marked as written at write-back. The reservation gives contiguous blocks, \
             an early error if the disk is full, and on ext4 less work in each write, where it is the simplest \
             gain for a new file: 1.55 times plain write \
             ([Findings](../explanation/findings.md#new-files-in-the-page-cache)). On xfs and btrfs it made \
             hardly any difference. It needs ext4, xfs, btrfs, tmpfs, f2fs or NFS 4.2; elsewhere EOPNOTSUPP makes \
             the case unsupported.",
        PosixFallocate = "posix-fallocate" { First(POSIX_FALLOCATE), effort 1 }
            "posix_fallocate(3), which makes the same call as `fallocate`. Where the filesystem has none, glibc \
             writes a byte into each block instead, and musl, which the released program uses, returns the error. \
             Choose it for portable code. If you prefer an error over a slow emulation, choose `fallocate`.",
        /// The file grows as it is written.
        FallocateKeepSize = "fallocate-keep-size" { First(KEEP_SIZE), effort 1 }
            "fallocate(2) with `FALLOC_FL_KEEP_SIZE` (Linux 2.6.38) reserves the blocks but leaves the file's \
             length at 0, so the file grows as it is written. You can stop early without a tail of zeros, and \
             readers never see the reserved part. Each write still updates the length. fio calls this \
             `fallocate=keep`.",
        FallocateZeroRange = "fallocate-zero-range" { First(ZERO_RANGE), effort 1 }
            "fallocate(2) with `FALLOC_FL_ZERO_RANGE` (Linux 3.15) reserves blocks and sets the length, like \
             `fallocate`. For a new file both have the same result. It matters for a file with old data, whose \
             blocks it turns into unwritten ones. tmpfs does not support it.",
        /// The device zeroes the blocks, so no extent is unwritten.
        WriteZeroes = "write-zeroes" { First(WRITE_ZEROES), effort 1 }
            "fallocate(2) with `FALLOC_FL_WRITE_ZEROES` (Linux 6.17) has the aim of `zero-fill`: its blocks are \
             allocated and *written*, so an overwrite changes no metadata. But no data is sent, because the \
             device zeroes the blocks itself. For that it needs a command that leaves the blocks allocated, which \
             many NVMe and some SCSI disks have: `/sys/block/DISK/queue/write_zeroes_unmap_max_bytes` is then not \
             0. It also needs a filesystem with the call, which in Linux 6.18 is ext4 with extents. Everywhere \
             else, as on virtio, loop devices and tmpfs, EOPNOTSUPP makes the case unsupported.",
        /// Blocks are reserved up to [`Prepare::AHEAD_BYTES`] ahead of the writes, and the file is cut to its length at
        /// the end. So the length need not be known at first. It is part of phase `write`.
        FallocateAhead = "fallocate-ahead" {
            Beside("fallocate(2) 64 MiB ahead".into()), effort 2,
            fio Err("fio 3.33 reserves the whole file at once")
        }
            "Rolling preallocation, for a producer that does not know the length first: fallocate(2) reserves \
             another 64 MiB whenever the writes reach the end of the last reservation, and ftruncate(2) cuts the \
             file at the end, all in phase write. After syncs on the way, which made the longer file durable, \
             fdatasync(2) follows. While it is written, the file is too long and its end reads as zeros, so after \
             a crash you need another way to find the end of your data, for example a checksum in each record. It \
             needs one writer per file (`threads=1` or `files=per-thread`) and `write`, `pwrite`, `writev`, \
             `pwritev` or `io_uring`. A filesystem without fallocate(2) makes the case unsupported, and a full disk \
             fails the sample up to 64 MiB early.",
        /// Zeros are written and synced, so no extent is unwritten.
        ZeroFill = "zero-fill" { First("zeros and fsync(2)"), effort 3 }
            "Writes zeros over the future length of the file, 64 KiB per pwrite(2), and syncs them with fsync(2), \
             all in phase prepare. Its blocks are then allocated *and* written, so the following overwrite \
             changes no metadata, and fdatasync(2) has nothing but the data to write. It pays where each record \
             is synced: 2.01 times plain write for records of 4 KiB on ext4 and 1.90 on xfs, with the time for \
             the zeros included ([Findings](../explanation/findings.md#durable-records)). On btrfs, which writes \
             to new blocks each time, it gained only 1.14. For a single sync at the end it saves nothing, because \
             all data is written twice.",
        Overwrite = "overwrite" { How("in place".into()), effort 1 }
            "open(2) of an existing file, which is then overwritten in place. Making its old content is not \
             timed, and its pages are dropped from the page cache before the sample. Except on btrfs, which \
             writes to new blocks, no block is allocated. The length stays as well, so this is another workload \
             than a new file, and is never ranked with one. With `naming=rename` and the like, it is the old file \
             that gets replaced.",
    }

    Source {
        File = "file" { Silent, code LeftToCaller }
            "The source memory is as large as the file, and different in every block. A program whose data \
             exceeds the CPU's caches reads it from memory in the same way.",
        Chunk = "chunk" { How("from one buffer".into()), code LeftToCaller }
            "One buffer of a chunk is written again and again, which stays in the CPU's caches. fio and dd \
             measure this. It is right for a producer that fills a small buffer (`--data-from producer`), and for \
             files larger than your memory. It is faster than `file`, because less is read from memory.",
    }

    Cache {
        Buffered = "buffered" { Silent }
            "Data is copied into the page cache, and the kernel writes it back later. Reads of the file find it \
             in memory.",
        /// Direct I/O needs aligned memory, lengths and offsets. Some filesystems refuse it.
        Direct = "direct" { How("with O_DIRECT".into()), effort 3 }
            "open(2) with `O_DIRECT`: data goes from your memory to the device without a copy in the page cache. \
             Offsets, lengths and addresses must be multiples of the device's logical block, often 512 or 4096 \
             bytes; statx(2) names the value since Linux 6.1 (`STATX_DIOALIGN`). With `memory=any`, each chunk is \
             first copied into aligned memory, inside the clock. Each write waits for the device, so it pays in \
             chunks of 2 to 8 MiB, or with several in flight (`io_uring`): 1.35 to 1.52 times plain write on ext4 \
             for a durable file, but only 0.89 in chunks of 256 KiB \
             ([Findings](../explanation/findings.md#durable-files)). It is no sync: combine it with `sync`. tmpfs \
             and btrfs with checksums serve it from the page cache, which makes the case unsupported.",
        /// The flag `RWF_DONTCACHE` of pwritev2(2) needs Linux 6.14.
        Dontcache = "dontcache" {
            How("with RWF_DONTCACHE".into()), effort 1, fio Err("fio 3.33 has no RWF_DONTCACHE"),
            kernel 7, 2, "a thread of the kernel begins the write-back, and the call no longer does"
        }
            "pwritev2(2) with `RWF_DONTCACHE`, or the same flag of an io_uring write: data goes through the page \
             cache, write-back starts at once, and the pages are dropped when they are clean. It needs Linux 6.14 \
             and a filesystem that supports the flag. In Linux 6.18, ext4 and xfs do, but btrfs and tmpfs do not: \
             EOPNOTSUPP makes the case unsupported there. In contrast to `direct`, nothing has to be aligned. It \
             keeps a large file from displacing other data, and belongs to the fastest cases for durable files on \
             xfs ([the portfolio](../explanation/portfolio.md#durable-stream)).",
    }

    #[derive(Default)]
    Checksums {
        #[default]
        Default = "default" { Silent }
            "The file has what the filesystem gives it: on btrfs, checksums and copy on write.",
        /// `FS_NOCOW_FL` of ioctl_fs_flags(2) is set while the file is empty. btrfs then overwrites in place.
        No = "no" { How("without checksums".into()), effort 2, fio Err("fio sets no flags of a file") }
            "ioctl(2) with `FS_IOC_SETFLAGS` sets `FS_NOCOW_FL` on the empty file, which `chattr +C` also does. \
             btrfs then keeps no checksums of it, does not compress it and overwrites it in place. Other \
             filesystems are unsupported. It saves the checksum and the copy on write, and makes `O_DIRECT` \
             direct there, but a damaged block is no longer detected. So it is another workload, never ranked \
             with the default.",
    }

    /// The promises about the memory of the data. Each value includes the promises of the one before.
    #[derive(Default)]
    DataMemory {
        /// The data begins at a multiple of 16 bytes but not at a page, as `malloc(3)` gives it.
        #[default]
        Any = "any" { Silent, code LeftToCaller }
            "The data begins at a multiple of 16 bytes but not at a page, as malloc(3) returns large memory. With \
             `cache=direct` each chunk is copied into aligned memory, and that copy is in the time.",
        PageAligned = "page-aligned" { How("from page-aligned memory".into()), effort 1, code LeftToCaller }
            "The data begins at a page, as from posix_memalign(3) or mmap(2). `O_DIRECT` then needs no copy. \
             Buffered writes gain nothing from it ([Findings](../explanation/findings.md#durable-files)).",
        /// `MADV_HUGEPAGE` makes huge pages, so direct I/O has fewer pieces to hand to the device.
        HugePages = "huge-pages" {
            How("from huge pages".into()), effort 1,
            fio Err("fio has huge pages only from a reserved pool")
        }
            "Page-aligned, and madvise(2) with `MADV_HUGEPAGE` has made huge pages. The device then gets fewer \
             and larger pieces of each direct write. It needs transparent huge pages, and at least 2 MiB of \
             source memory.",
    }

    /// The resources that a ring knows before its operations.
    Registered {
        None = "none" { Silent }
            "Each operation pins its memory and looks up its file.",
        /// The memory is pinned once, instead of in every operation.
        Buffers = "buffers" { Beside("registered buffers".into()), effort 1 }
            "io_uring_register(2) pins the memory once, and the operations are `IORING_OP_WRITE_FIXED`. That \
             saves work in each direct operation, where pages must be pinned, and pays in small operations. The \
             pinned memory counts against `ulimit -l` if you are not root.",
        /// The file is looked up once, instead of in every operation.
        Files = "files" { Beside("registered file".into()), effort 1 }
            "io_uring_register(2) registers the file once, so that operations do not look it up by its descriptor \
             (`IOSQE_FIXED_FILE`). It saves a few atomic operations, which matters in many small writes. With \
             `io_uring-files` the ring has all files registered anyway, so only `none` and `buffers` are possible.",
        Both = "both" { Beside("registered buffers and file".into()), effort 1 }
            "Registers memory and file. It belongs to the fastest cases for records on xfs: 2.07 times plain \
             write ([Findings](../explanation/findings.md#durable-records)).",
    }

    /// The advice about a copy's source by posix_fadvise(2), or by madvise(2) for a mapped file.
    Advice {
        None = "none" { Silent, fio NO_COPIES }
            "No advice: the kernel reads ahead as it sees fit.",
        Sequential = "sequential" { First("fadvise(2) on the source"), effort 1, fio NO_COPIES }
            "posix_fadvise(2) with `POSIX_FADV_WILLNEED` and `POSIX_FADV_SEQUENTIAL` on the source, or madvise(2) \
             with the same advice if it is mapped. The kernel starts to read at once, and doubles its read-ahead. \
             It can only help with a source that is not in the page cache (`origin=cold`).",
    }

    /// What a copy makes of the holes in its source.
    #[derive(Default)]
    Holes {
        #[default]
        Fill = "fill" { Silent, fio NO_COPIES }
            "All bytes are copied, and the zeros that are read from a hole become blocks of the copy, which then takes \
             its full length on the disk. Only `copy-file-range` may leave holes of its own accord, because the \
             filesystem decides, and is then ranked apart.",
        /// lseek(2) finds the data. The length is set first, because xfs allocates blocks beyond the end of a file that
        /// grows, and leaves some of them in the holes.
        Keep = "keep" { How("with the source's holes".into()), effort 3, fio NO_COPIES }
            "ftruncate(2) gives the copy its length, in phase prepare. Then lseek(2) with `SEEK_DATA` and \
             `SEEK_HOLE` finds the data of the source, and only that is copied, so the copy has the holes of its \
             source. It pays as soon as a noticeable part is holes, as in images of disks and databases. It needs \
             `prepare=create` or `truncate`, because reserved blocks and old content are no holes, and a filesystem \
             with holes: elsewhere the case is unsupported. Each piece of data takes four calls of lseek(2).",
    }

    Origin {
        Warm = "warm" { Silent, fio NO_COPIES, code LeftToCaller }
            "The source is read into the page cache before each sample, so the copy happens within memory.",
        Cold = "cold" { How("of a cold file".into()), fio NO_COPIES, code LeftToCaller }
            "fdatasync(2), then posix_fadvise(2) with `POSIX_FADV_DONTNEED`, evict the source before each sample, \
             and mincore(2) checks that nothing remains. The copy then includes reading from the disk, so its \
             rates are not comparable with `warm`. The source must be your own, or writable for you. tmpfs keeps \
             all pages, and is unsupported.",
    }
}

impl Directory {
    /// The most files in each directory of `directory=fan-out`.
    pub const FAN_OUT_FILES: usize = 256;
}

impl SyncFiles {
    /// Whether files become durable only after all are written.
    pub fn is_afterwards(self) -> bool {
        matches!(self, Self::Batch | Self::Writeback | Self::Syncfs)
    }
}

impl AllocateCall {
    pub fn gives_blocks(self) -> bool {
        self != Self::Ftruncate
    }
}

/// What open(2) does with the file of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// There is no such file, and the call creates it.
    New,
    /// The call cuts an existing file to length 0.
    Emptied,
    /// The call leaves an existing file as it is.
    Kept,
}

impl Prepare {
    /// The distance to which [`Prepare::FallocateAhead`] reserves blocks.
    pub const AHEAD_BYTES: u64 = 64 << 20;

    pub fn opening(self) -> Opening {
        match self {
            Self::Truncate => Opening::Emptied,
            Self::Overwrite => Opening::Kept,
            Self::Create
            | Self::SetLen
            | Self::Fallocate
            | Self::PosixFallocate
            | Self::FallocateKeepSize
            | Self::FallocateZeroRange
            | Self::WriteZeroes
            | Self::FallocateAhead
            | Self::ZeroFill => Opening::New,
        }
    }

    pub fn needs_old_content(self) -> bool {
        self.opening() != Opening::New
    }

    /// Whether the file has its final length before the first write.
    pub fn gives_length(self) -> bool {
        match self {
            Self::SetLen
            | Self::Fallocate
            | Self::PosixFallocate
            | Self::FallocateZeroRange
            | Self::WriteZeroes
            | Self::ZeroFill
            | Self::Overwrite => true,
            Self::Create | Self::Truncate | Self::FallocateKeepSize | Self::FallocateAhead => false,
        }
    }

    /// Whether there is work between open(2) and the first write, in phase `prepare`.
    pub fn has_step(self) -> bool {
        self == Self::ZeroFill || self.call().is_some()
    }

    /// The call that gives the file its length or blocks before the first write.
    pub fn call(self) -> Option<AllocateCall> {
        match self {
            Self::SetLen => Some(AllocateCall::Ftruncate),
            Self::Fallocate => Some(AllocateCall::Fallocate),
            Self::PosixFallocate => Some(AllocateCall::PosixFallocate),
            Self::FallocateKeepSize => Some(AllocateCall::FallocateKeepSize),
            Self::FallocateZeroRange => Some(AllocateCall::FallocateZeroRange),
            Self::WriteZeroes => Some(AllocateCall::WriteZeroes),
            Self::Create
            | Self::Truncate
            | Self::FallocateAhead
            | Self::ZeroFill
            | Self::Overwrite => None,
        }
    }
}
