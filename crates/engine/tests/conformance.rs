//! Every method, from every state of the file, at the sizes where loops go wrong, in every layout,
//! leaves exactly the bytes that it should: on tmpfs and on ext4, by a reader of its own.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target, method_infos};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Case, Data, Extent, Files, Outcome, Phase, Prepare, Source};
use writebench_testkit::{Kind, Need, Trials, directory_on};

const SEED: u64 = 0x5eed;
const CHUNK: u64 = 4096;
const SIZES: [u64; 7] = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 7 * CHUNK + 123, 8 * CHUNK];
const LAYOUTS: [&str; 23] = [
    "",
    ",threads=3,files=per-thread",
    ",threads=3",
    ",threads=3,descriptor=per-thread",
    ",threads=3,map=per-thread",
    ",threads=3,descriptor=per-thread,map=per-thread",
    ",source=chunk",
    ",threads=3,files=per-thread,source=chunk,data=zero",
    ",alignment=off-by-one",
    ",cache=direct",
    ",cache=direct,threads=2,descriptor=per-thread,sync=o-dsync",
    ",sync=fsync",
    ",sync=fsync/1",
    ",sync=fdatasync/3",
    ",sync=msync/2",
    ",sync=o-sync",
    ",sync=rwf-dsync,threads=3",
    ",depth=1,sync=fsync/1",
    ",depth=3,registered=both,sync=fdatasync/1",
    ",depth=5,registered=files,sync=fsync/4,threads=3",
    ",depth=2,registered=buffers,source=chunk",
    ",advice=sequential",
    ",origin=cold",
];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in Kind::ALL {
        for method in method_infos() {
            for prepare in method.prepares {
                let name = format!("{} after {prepare} on {} writes what it should", method.name, kind.name());
                trials.add(name, &[Need::Filesystem(kind)], move || check(kind, method.name, *prepare));
            }
        }
    }
    for kind in Kind::ALL {
        let name = format!("a wrong byte is found on {}", kind.name());
        trials.add(name, &[Need::Filesystem(kind)], move || wrong_byte_is_found(kind));
    }
    for case in FILLING {
        let name = format!("{case} on a full disk fails where it ends, and the next one is well");
        trials.add(name, &[Need::Image("ext4")], move || full_disk(case));
    }
    trials.run(2)
}

/// Larger than the disk. A mapping of it raises SIGBUS, which is for the worker process to test.
const FILLING: &[&str] = &[
    "write,size=64MiB",
    "write,size=64MiB,sync=fsync/4",
    "pwrite,size=64MiB,cache=direct",
    "writev,size=64MiB,chunk=16KiB",
    "pwritev,size=64MiB,chunk=16KiB,sync=rwf-dsync",
    "fwrite,size=64MiB,chunk=1KiB",
    "uring,size=64MiB,chunk=384KiB",
    "uring,size=64MiB,chunk=384KiB,sync=fsync/1",
    "uring,size=64MiB,chunk=384KiB,depth=4,sync=fdatasync/3,cache=direct,registered=both",
    "uring,size=64MiB,chunk=384KiB,threads=2,depth=3",
    "read-write,size=64MiB",
    "mmap-write,size=64MiB",
    "splice,size=64MiB",
    "sendfile,size=64MiB",
    "copy-file-range,size=64MiB",
    "write,size=64MiB,prepare=zero-fill",
];

fn full_disk(name: &str) -> Result<()> {
    let image = writebench_testkit::Image::mount("ext4", 32 << 20)?;
    // Zeros that take no space; on the same filesystem, or copy_file_range refuses.
    let source = image.path().join("source");
    std::fs::File::create(&source)?.set_len(64 << 20)?;
    let mut engine = Engine::new(Some(open(&source)?.into()), || Ok(0));
    let case = Case::parse(name, &method_infos())?;
    let place = open(&image.path())?;
    let sample = engine.sample(Target::Directory(place.as_fd()), &case, &request(), &mut |_| {});
    let Outcome::Failed(failure) = &sample.outcome else { anyhow::bail!("{:?}", sample.outcome) };
    ensure!(failure.errno == Some(28), "{failure:?}");
    // The C library does not say how far its buffer came; the rest does.
    let offset = failure.offset.unwrap_or(0);
    ensure!((1..64 << 20).contains(&offset), "{failure:?}");
    ensure!(sample.phases_ns.total() == 0 && sample.latency.is_none(), "a failed sample has no figures");
    let small = Case::parse(&format!("{},size=1MiB", case.method().name), &method_infos())?;
    let sample = engine.sample(Target::Directory(place.as_fd()), &small, &request(), &mut |_| {});
    ensure!(sample.outcome == Outcome::Ok && sample.read_back.is_some(), "{:?}", sample.outcome);
    Ok(())
}

fn check(kind: Kind, method: &str, prepare: Prepare) -> Result<()> {
    let directory = directory_on(kind);
    let mut engine = Engine::default();
    let mut checked = 0;
    for size in SIZES {
        for layout in LAYOUTS {
            let mut name = format!("{method},prepare={prepare},size={size}{layout}");
            // Of a copy the kernel takes 3000 bytes at a time, so that pieces do not end where pages do.
            match method {
                "allocate" => {}
                "splice" | "sendfile" | "copy-file-range" => name.push_str(",chunk=3000"),
                _ => name.push_str(",chunk=4k"),
            }
            if method.ends_with("writev") {
                name.push_str(",vector=3");
            }
            // Combinations that make no sense are refused; their number is checked below.
            let Ok(case) = Case::parse(&name, &method_infos()) else { continue };
            run_and_read(&mut engine, kind, directory.path(), &case).with_context(|| case.to_string())?;
            checked += 1;
        }
    }
    ensure!(checked == cases_that_make_sense(method, prepare), "{checked} cases made sense");
    Ok(())
}

/// How many of the combinations are cases: were more refused than should be, they would go untested.
fn cases_that_make_sense(method: &str, prepare: Prepare) -> usize {
    // Of the seven sizes reserving and mapping take six, three threads five, direct I/O three (two not empty).
    let reserves = prepare.call().is_some_and(|call| call != writebench_model::AllocateCall::Ftruncate);
    let (any, several, direct) = if reserves { (6, 5, 2) } else { (7, 5, 3) };
    match method {
        // Plain and fsync.
        "allocate" => 2 * 6,
        // Plain, chunk, off by one, fsync, fsync/1, fdatasync/3, msync/2; files, threads, map for each, map and
        // descriptor for each, files of zeros.
        "mmap" => 7 * 6 + 5 * 5,
        // Plain, fsync, advice, cold.
        "read-write" | "mmap-write" | "splice" | "sendfile" | "copy-file-range" => 4 * 6,
        // Plain, chunk, fsync; files, files of zeros, descriptor for each.
        "fwrite" => 3 * any + 3 * several,
        // Besides: off by one, fsync/1, fdatasync/3, o-sync; direct, and direct by two threads.
        "write" => 7 * any + 3 * several + direct + 2,
        // Besides, since it has flags: rwf-dsync by three threads, which cannot share a position.
        "writev" => 7 * any + 3 * several + direct + 2,
        // Threads can share a descriptor here.
        "pwrite" => 7 * any + 4 * several + direct + 2,
        "pwritev" => 7 * any + 5 * several + direct + 2,
        // And its own: depth 1 and 3, registered with a chunk; depth 5 by three threads.
        "uring" => 10 * any + 6 * several + direct + 2,
        _ => 0,
    }
}

fn run_and_read(engine: &mut Engine, kind: Kind, directory: &Path, case: &Case) -> Result<()> {
    let mut found = None;
    let sample = engine.sample(Target::Directory(open(directory)?.as_fd()), case, &request(), &mut |phase| {
        // The last moment at which the files are there.
        if phase == Phase::Clean {
            found = Some(read(directory, case));
        }
    });
    let direct = case.axes().cache == writebench_model::Cache::Direct && case.axes().size_bytes > 0;
    let cold = case.axes().origin == writebench_model::Origin::Cold;
    let zeroed = case.axes().prepare == Prepare::FallocateZeroRange;
    if kind == Kind::Tmpfs && (direct || cold || zeroed) {
        // The page cache is all that tmpfs has; that it accepts O_DIRECT must be found out, not believed.
        ensure!(
            sample.outcome.name() == "unsupported" && sample.phases_ns.total() == 0,
            "{:?}",
            sample.outcome
        );
        return Ok(());
    }
    ensure!(sample.outcome == Outcome::Ok, "{:?}", sample.outcome);
    let each = case.axes().sync.is_on_the_way() && case.axes().size_bytes > 0;
    ensure!(sample.latency.is_some() == each, "{:?}", sample.latency);
    ensure!(sample.bytes == case.axes().size_bytes, "{} bytes", sample.bytes);
    ensure!(found.context("phase clean did not come")?? == expected(case), "content differs");
    // A file that was made to be copied is kept for the next sample.
    let left =
        writebench_testkit::entries(directory).into_iter().filter(|name| !name.ends_with("copied")).count();
    ensure!(left == 0, "a file was left behind");
    Ok(())
}

/// What all files hold, in the order of the threads.
fn read(directory: &Path, case: &Case) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for index in 0..case.file_count() {
        let name =
            if case.file_count() == 1 { "conformance".to_owned() } else { format!("conformance-{index}") };
        bytes.extend(std::fs::read(directory.join(name))?);
    }
    Ok(bytes)
}

/// Byte by byte from the definition, and not by the code under test.
fn expected(case: &Case) -> Vec<u8> {
    let axes = case.axes();
    let random = |offset: u64| {
        let mut z = SEED.wrapping_add((offset / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()[(offset % 8) as usize]
    };
    let ranges = match axes.files {
        Files::PerThread => writebench_model::split(axes.size_bytes, axes.threads, CHUNK),
        Files::Shared if axes.threads > 1 => writebench_model::split(axes.size_bytes, axes.threads, CHUNK),
        Files::Shared => vec![writebench_model::Range { offset: 0, length: axes.size_bytes }],
    };
    let byte = |range: &writebench_model::Range, at: u64| match (
        case.method().writes_data(),
        axes.data,
        axes.source,
    ) {
        (false, ..) | (_, Data::Zero, _) => 0,
        (true, Data::Random, Source::File) => random(range.offset + at),
        (true, Data::Random, Source::Chunk) => random(at % CHUNK),
    };
    ranges.iter().flat_map(|range| (0..range.length).map(move |at| byte(range, at))).collect()
}

/// The engine's own check must be able to fail: here the file changes behind its back.
fn wrong_byte_is_found(kind: Kind) -> Result<()> {
    use std::os::unix::fs::FileExt;
    let directory = directory_on(kind);
    let case = Case::parse("write,size=3MiB", &method_infos())?;
    let path = directory.path().join("conformance");
    let place = open(directory.path())?;
    let sample = Engine::default().sample(Target::Directory(place.as_fd()), &case, &request(), &mut |phase| {
        if phase == Phase::Verify {
            let file = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
            let mut byte = [0];
            std::fs::File::open(&path).expect("there").read_at(&mut byte, 2_000_000).expect("a byte");
            file.write_at(&[byte[0] ^ 1], 2_000_000).expect("a byte");
        }
    });
    let reason = sample.outcome.reason().context("the change was not found")?;
    ensure!(reason.contains("content differs") && reason.contains("2000000"), "{reason}");
    ensure!(sample.phases_ns.total() == 0, "a failed sample has no figures");
    Ok(())
}

fn open(directory: &Path) -> Result<std::fs::File> {
    Ok(std::fs::File::open(directory)?)
}

fn request() -> SampleRequest {
    SampleRequest {
        target: 0,
        sync_all: false,
        case: String::new(),
        round: 0,
        file_stem: "conformance".to_owned(),
        remove_first: false,
        reserve: writebench_model::Reserve::NONE,
        data_seed: SEED,
        read_back: Some(Extent::Whole),
        settle_limit_ns: 0,
        warm: false,
        write_limit_ns: None,
        device_number: None,
        cpu_stats: Vec::new(),
    }
}
