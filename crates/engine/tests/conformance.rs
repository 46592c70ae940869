//! Every method leaves exactly the right bytes from every state of the file, at critical sizes and in every
//! layout, on tmpfs and on ext4. A separate reader checks them.

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{
    AllocateCall, Axis, Case, Checksums, Copying, Cursor, Data, Extent, Failure, Files, Method,
    Outcome, Phase, Prepare, Sample, Source,
};
use writebench_testkit::{Errno, Kind, Need, Trials, directory_on};

const SEED: u64 = 0x5eed;
const CHUNK: u64 = 4096;
const SIZES: [u64; 8] = [
    0,
    1,
    CHUNK - 1,
    CHUNK,
    CHUNK + 1,
    7 * CHUNK + 123,
    8 * CHUNK,
    HUGE * 2 + 123,
];
const VECTOR: u32 = 3;
const HUGE: u64 = Case::HUGE_PAGE_BYTES;
const LAYOUTS: [&str; 48] = [
    "",
    "threads=3,files=per-thread",
    "threads=3",
    "threads=3,descriptor=per-thread",
    "threads=3,map=per-thread",
    "threads=3,descriptor=per-thread,map=per-thread",
    "source=chunk",
    "threads=3,files=per-thread,source=chunk,data=zero",
    "threads=3,files=per-thread,source=chunk,data=compressible:30",
    "threads=3,data=compressible:70",
    "memory=page-aligned",
    "cache=direct",
    "cache=direct,memory=page-aligned",
    "checksums=no",
    "cache=direct,checksums=no,threads=2,files=per-thread",
    "cache=direct,threads=2,descriptor=per-thread,sync=o-dsync",
    "sync=fsync",
    "sync=fsync/1",
    "sync=fdatasync/3",
    "sync=msync/2",
    "sync=o-sync",
    "sync=rwf-dsync,threads=3",
    "depth=1,sync=fsync/1",
    "depth=3,registered=both,sync=fdatasync/1",
    "depth=5,registered=files,sync=fsync/4,threads=3",
    "depth=2,registered=buffers,source=chunk",
    "advice=sequential",
    "origin=cold",
    "cache=dontcache",
    "cache=dontcache,threads=2,sync=fdatasync",
    "populate=window,window=8KiB",
    "populate=all,store=nontemporal",
    "store=nontemporal,memory=page-aligned",
    "memory=huge-pages",
    "populate=window,window=12KiB,threads=2",
    "huge=advise",
    "huge=collapse",
    "huge=collapse,populate=window,store=nontemporal,threads=2",
    "huge=collapse,threads=2,map=per-thread",
    "writeback=8KiB",
    "writeback=12KiB,drop=yes,threads=2,descriptor=per-thread,sync=fsync",
    "advice=sequential,threads=3,descriptor=per-thread",
    "depth=2,registered=both,threads=2",
    "depth=2,registered=buffers,cache=direct",
    "depth=2,registered=both,cache=direct,threads=2,memory=page-aligned",
    "depth=1",
    "threads=3,layout=strided,block=8KiB",
    "threads=3,descriptor=per-thread,layout=strided,block=4KiB,sync=fdatasync/2",
];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in Kind::ALL {
        for method in alone() {
            for prepare in method.card().prepares {
                let name = format!(
                    "{} after {prepare} on {} writes the right bytes",
                    method.name(),
                    kind.name()
                );
                trials.add(name, &[Need::Filesystem(kind)], move || {
                    check(kind, method, *prepare)
                });
            }
        }
    }
    trials.add(
        "every method writes its data without checksums on btrfs",
        &[Need::Image("btrfs")],
        unchecked,
    );
    for kind in Kind::ALL {
        let name = format!("a wrong byte is found on {}", kind.name());
        trials.add(name, &[Need::Filesystem(kind)], move || {
            wrong_byte_is_found(kind)
        });
    }
    // The tests of the worker process cover a mapping of a full disk, which raises SIGBUS. ext4 shares no
    // blocks.
    let fills = |method: &Method| {
        method.writes_data()
            && method.card().cursor != Cursor::Mapping
            && method.card().copying != Some(Copying::Blocks)
    };
    let plain = alone()
        .filter(fills)
        .map(|method| format!("{},size=64MiB", method.name()));
    for case in plain.chain(FILLING.iter().map(|&case| case.to_owned())) {
        let name = format!("{case} on a full disk fails at its end, and the next sample succeeds");
        trials.add(name, &[Need::Image("ext4")], move || full_disk(&case));
    }
    trials.run(2)
}

/// Larger than the disk.
const FILLING: &[&str] = &[
    "write,size=64MiB,sync=fsync/4",
    "pwrite,size=64MiB,cache=direct",
    "writev,size=64MiB,chunk=16KiB",
    "pwritev,size=64MiB,chunk=16KiB,sync=rwf-dsync",
    "fwrite,size=64MiB,chunk=1KiB",
    "io_uring,size=64MiB,chunk=384KiB",
    "io_uring,size=64MiB,chunk=384KiB,sync=fsync/1",
    "io_uring,size=64MiB,chunk=384KiB,depth=4,sync=fdatasync/3,cache=direct,registered=both",
    "io_uring,size=64MiB,chunk=384KiB,threads=2,depth=3",
    "write,size=64MiB,prepare=zero-fill",
];

/// MPI's methods are tested under mpirun, and sets of files in `sets.rs`.
fn alone() -> impl Iterator<Item = Method> {
    Method::ALL
        .iter()
        .copied()
        .filter(|method| method.is_complete() && !method.writes_set())
}

fn full_disk(name: &str) -> Result<()> {
    let image = writebench_testkit::Image::mount("ext4", 32 << 20)?;
    // A sparse file takes no space. copy_file_range refuses another filesystem.
    let source = image.path().join("source");
    std::fs::File::create(&source)?.set_len(64 << 20)?;
    let mut engine = Engine::new(Some(open(&source)?.into()), || Ok(0), &|_| {});
    let case = Case::parse(name)?;
    let place = open(&image.path())?;
    let sample = engine.sample(Target::Directory(place.as_fd()), &request(&case));
    let Outcome::Failed(failure) = &sample.outcome else {
        anyhow::bail!("{:?}", sample.outcome)
    };
    ensure!(failure.errno == Some(28), "{failure:?}");
    // The C library does not report how much of its buffer was written. The other methods do.
    let offset = failure.offset.unwrap_or(0);
    ensure!((1..64 << 20).contains(&offset), "{failure:?}");
    ensure!(
        sample.phases_ns.total() == 0 && sample.latency.is_none(),
        "a failed sample has no figures"
    );
    // ext4 frees the blocks of a removed file after its journal's next commit. syncfs may return just before
    // that.
    let small = Case::parse(&format!("{},size=1MiB", case.method().name()))?;
    for tries_left in (0..20).rev() {
        rustix::fs::syncfs(&place)?;
        let sample = engine.sample(Target::Directory(place.as_fd()), &request(&small));
        if matches!(&sample.outcome, Outcome::Failed(failure) if failure.errno == Some(28))
            && tries_left > 0
        {
            std::thread::sleep(std::time::Duration::from_millis(100));
            continue;
        }
        ensure!(
            sample.outcome == Outcome::Ok && sample.read_back.is_some(),
            "{:?}",
            sample.outcome
        );
        break;
    }
    Ok(())
}

fn check(kind: Kind, method: Method, prepare: Prepare) -> Result<()> {
    let directory = directory_on(kind);
    let (now, found) = (RefCell::new(None), RefCell::new(None));
    let before_clean = |phase| {
        if phase == Phase::Clean {
            let content = now
                .borrow()
                .as_ref()
                .map(|case| read(directory.path(), case));
            found.replace(content);
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &before_clean);
    let state = method
        .card()
        .prepares
        .iter()
        .position(|&other| other == prepare)
        .context("no state")?;
    for (length, size) in SIZES.into_iter().enumerate() {
        for (place, layout) in LAYOUTS.into_iter().enumerate() {
            // Only huge pages need so large a file.
            if size > HUGE && !layout.contains("huge") {
                continue;
            }
            // In the first state, a layout has each size. In another, it has a third of them, and the only one for
            // huge pages.
            if state > 0 && !layout.is_empty() && size <= HUGE && (state + length + place) % 3 > 0 {
                continue;
            }
            let layout = assignments(layout)?;
            let size_text = size.to_string();
            let state = [
                (Axis::Prepare, prepare.name()),
                (Axis::Size, size_text.as_str()),
            ];
            let case = Case::example(method, &[&state[..], &layout].concat());
            let expected = makes_sense(method, prepare, size, &layout);
            ensure!(
                case.is_ok() == expected,
                "{layout:?} of {size} bytes: {case:?}"
            );
            if let Ok(case) = case {
                now.replace(Some(case.clone()));
                let sample = run(&mut engine, directory.path(), &case)?;
                as_expected(&sample, found.take(), kind, directory.path(), &case)
                    .with_context(|| case.to_string())?;
            }
        }
    }
    // Also the values in no layout. Ranks are tested under mpirun.
    let elsewhere = [Axis::Size, Axis::Prepare, Axis::Ranks, Axis::Files];
    let axes = method
        .own_axes()
        .filter(|axis| prepare == method.card().prepares[0] && !elsewhere.contains(axis));
    for (axis, value) in
        axes.flat_map(|axis| axis.examples().iter().map(move |&value| (axis, value)))
    {
        let values = [
            (Axis::Prepare, prepare.name()),
            (Axis::Size, "1000KiB"),
            (axis, value),
        ];
        if let Ok(case) = Case::example(method, &values) {
            now.replace(Some(case.clone()));
            let sample = run(&mut engine, directory.path(), &case)?;
            as_expected(&sample, found.take(), kind, directory.path(), &case)
                .with_context(|| case.to_string())?;
        }
    }
    Ok(())
}

fn unchecked() -> Result<()> {
    let image = writebench_testkit::Image::mount("btrfs", 512 << 20)?;
    let directory = image.path();
    let (now, found) = (RefCell::new(None), RefCell::new(None));
    let look = |case: &Case| -> Result<(Vec<u8>, bool)> {
        let flags = rustix::fs::ioctl_getflags(open(&directory.join("conformance"))?)?;
        Ok((
            read(&directory, case)?,
            flags.contains(rustix::fs::IFlags::NOCOW),
        ))
    };
    let before_clean = |phase| {
        if phase == Phase::Clean {
            found.replace(now.borrow().as_ref().map(look));
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &before_clean);
    for method in alone().filter(|method| method.has_axis(Axis::Checksums)) {
        for prepare in method.card().prepares {
            let values = [
                (Axis::Prepare, prepare.name()),
                (Axis::Size, "100KiB"),
                (Axis::Checksums, "no"),
            ];
            let case = Case::example(method, &values)?;
            now.replace(Some(case.clone()));
            let sample = run(&mut engine, &directory, &case)?;
            // btrfs lacks some calls of the states.
            if sample.outcome.name() == "unsupported" && prepare.call().is_some() {
                continue;
            }
            ensure!(
                sample.outcome == Outcome::Ok,
                "{case}: {:?}",
                sample.outcome
            );
            let (content, is_set) = found.take().context("phase clean did not come")??;
            ensure!(
                content == expected(&case) && is_set,
                "{case}: the flag is set: {is_set}"
            );
        }
    }
    Ok(())
}

fn assignments(layout: &'static str) -> Result<Vec<(Axis, &'static str)>> {
    let assignment = |part: &'static str| {
        let (axis, value) = part.split_once('=').context("no axis=value")?;
        Ok((Axis::from_name(axis).context("no axis")?, value))
    };
    layout
        .split(',')
        .filter(|part| !part.is_empty())
        .map(assignment)
        .collect()
}

/// By the method's card and the manual pages. If the model refused more, the test would otherwise miss it.
fn makes_sense(method: Method, prepare: Prepare, size: u64, layout: &[(Axis, &str)]) -> bool {
    let value = |axis| {
        layout
            .iter()
            .find(|(other, _)| *other == axis)
            .map(|(_, value)| *value)
    };
    let has = |axis| value(axis).is_some();
    let threads: u64 = value(Axis::Threads).map_or(1, |threads| threads.parse().expect("a number"));
    let is_synced = value(Axis::Sync).is_none_or(|sync| match sync.split_once('/') {
        Some((call, every)) => {
            let is_vector_whole =
                !method.has_axis(Axis::Vector) || every.parse::<u32>().unwrap_or(0) % VECTOR == 0;
            is_vector_whole
                && method
                    .card()
                    .syncs_on_the_way
                    .iter()
                    .any(|sync| sync.name() == call)
        }
        None => method.card().syncs.iter().any(|known| known.name() == sync),
    });
    let reserves = prepare
        .call()
        .is_some_and(|call| call != AllocateCall::Ftruncate);
    let may_be_empty = !reserves
        && !method.copies()
        && matches!(method.card().cursor, Cursor::FilePosition | Cursor::Offset);
    let is_alone = prepare != Prepare::FallocateAhead || threads == 1 || has(Axis::Files);
    let is_apart = match method.card().cursor {
        Cursor::FilePosition => threads == 1 || has(Axis::Files) || has(Axis::Descriptor),
        Cursor::Mapping => !has(Axis::Descriptor) || has(Axis::Map),
        Cursor::Offset | Cursor::NoData => true,
    };
    let dontcache = value(Axis::Cache) == Some("dontcache");
    let has_flags = method
        .card()
        .syncs
        .iter()
        .any(|call| call.name() == "rwf-dsync");
    let huge = (value(Axis::Huge) != Some("collapse") || size / threads >= HUGE)
        && (value(Axis::Memory) != Some("huge-pages") || size >= HUGE);
    let block = if value(Axis::Block) == Some("8KiB") {
        2 * CHUNK
    } else {
        CHUNK
    };
    let has_blocks = !has(Axis::Layout) || size > (threads - 1) * block;
    let in_sectors = value(Axis::Cache) != Some("direct") || size.is_multiple_of(512);
    layout.iter().all(|(axis, _)| method.has_axis(*axis))
        && is_synced
        && (size > 0 || may_be_empty)
        && (threads == 1 || size >= threads)
        && is_alone
        && is_apart
        && has_blocks
        && in_sectors
        && huge
        && (!dontcache || has_flags)
}

fn run(engine: &mut Engine<'_>, directory: &Path, case: &Case) -> Result<Sample> {
    const TRIES: u32 = 5;
    let directory = open(directory)?;
    let mut sample = || engine.sample(Target::Directory(directory.as_fd()), &request(case));
    // "Resource temporarily unavailable", as madvise(2) has it: the kernel itself uses a page for a moment.
    let passes = |sample: &Sample| {
        let is_in_use = |failure: &Failure| {
            failure.call == "madvise(MADV_COLLAPSE)"
                && failure.errno == Some(Errno::AGAIN.raw_os_error())
        };
        matches!(&sample.outcome, Outcome::Failed(failure) if is_in_use(failure))
    };
    let first = (1..TRIES).map(|_| sample()).find(|sample| !passes(sample));
    let sample = first.unwrap_or_else(sample);
    // A later sample would write other data into it.
    engine
        .remove_old_file()
        .map_err(|outcome| anyhow::anyhow!("{outcome:?}"))?;
    Ok(sample)
}

fn as_expected(
    sample: &Sample,
    found: Option<Result<Vec<u8>>>,
    kind: Kind,
    directory: &Path,
    case: &Case,
) -> Result<()> {
    let direct =
        case.choices().cache == writebench_model::Cache::Direct && case.given().size_bytes > 0;
    let cold = case.given().origin == writebench_model::Origin::Cold;
    let zeroing = AllocateCall::FallocateZeroRange;
    let allocates = !case.method().writes_data() && case.choices().call == zeroing;
    let zeroed = allocates || case.choices().prepare.call() == Some(zeroing);
    let dontcache =
        case.choices().cache == writebench_model::Cache::Dontcache && case.given().size_bytes > 0;
    let shares = case.method().card().copying == Some(Copying::Blocks);
    // The engine must detect that tmpfs accepts O_DIRECT without obeying.
    let collapses = case.choices().huge == writebench_model::Huge::Collapse && kind == Kind::Ext4;
    let unchecked = case.given().checksums == Checksums::No;
    if shares
        || collapses
        || unchecked
        || kind == Kind::Tmpfs && (direct || cold || zeroed || dontcache)
    {
        ensure!(
            sample.outcome.name() == "unsupported" && sample.phases_ns.total() == 0,
            "{:?}",
            sample.outcome
        );
        return Ok(());
    }
    // On blocks that were written before, ext4 of Linux 6.18 ends the write-back in an interrupt, and pages may
    // remain. The engine must detect that.
    let was_written = matches!(
        case.choices().prepare,
        Prepare::ZeroFill | Prepare::Overwrite | Prepare::Truncate
    );
    if dontcache && was_written && sample.outcome.name() == "unsupported" {
        return Ok(());
    }
    // Few devices zero blocks themselves.
    let writes_zeroes = case.choices().prepare == Prepare::WriteZeroes
        || !case.method().writes_data() && case.choices().call == AllocateCall::WriteZeroes;
    if writes_zeroes && sample.outcome.name() == "unsupported" {
        let reason = sample.reason().unwrap_or_default();
        ensure!(
            reason.contains("FALLOC_FL_WRITE_ZEROES") && reason.contains("it needs Linux 6.17"),
            "{reason}"
        );
        return Ok(());
    }
    ensure!(sample.outcome == Outcome::Ok, "{:?}", sample.outcome);
    let each = case.choices().sync.is_on_the_way() && case.given().size_bytes > 0;
    ensure!(sample.latency.is_some() == each, "{:?}", sample.latency);
    ensure!(
        sample.bytes == case.given().size_bytes,
        "{} bytes",
        sample.bytes
    );
    ensure!(
        found.context("phase clean did not come")?? == expected(case),
        "content differs"
    );
    let left = writebench_testkit::entries(directory)
        .into_iter()
        .filter(|name| !name.ends_with("copied"))
        .count();
    ensure!(left == 0, "a file was left behind");
    Ok(())
}

fn read(directory: &Path, case: &Case) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for index in 0..case.file_count() {
        let name = if case.file_count() == 1 {
            "conformance".to_owned()
        } else {
            format!("conformance-{index}")
        };
        bytes.extend(std::fs::read(directory.join(name))?);
    }
    Ok(bytes)
}

/// From the definition and not from the code under test.
fn expected(case: &Case) -> Vec<u8> {
    if case.method() == Method::Null {
        return Vec::new();
    }
    let choices = case.choices();
    let random = |offset: u64| {
        let mut z = SEED.wrapping_add((offset / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()[(offset % 8) as usize]
    };
    let ranges = match choices.files {
        Files::PerThread | Files::PerRank => {
            writebench_model::split(case.given().size_bytes, choices.threads, CHUNK)
        }
        Files::Shared if choices.threads > 1 => {
            writebench_model::split(case.given().size_bytes, choices.threads, CHUNK)
        }
        Files::Shared => vec![writebench_model::Range {
            offset: 0,
            length: case.given().size_bytes,
        }],
    };
    let writes_data = case.method().writes_data();
    let byte = |range: &writebench_model::Range, at: u64| {
        let place = match case.given().source {
            Source::File => range.offset + at,
            Source::Chunk => at % CHUNK,
        };
        match case.given().data {
            _ if !writes_data => 0,
            Data::Compressible(percent)
                if place % 4096 >= 4096 - 4096 * u64::from(percent) / 100 =>
            {
                0
            }
            Data::Random | Data::Compressible(_) => random(place),
            Data::Zero => 0,
        }
    };
    ranges
        .iter()
        .flat_map(|range| (0..range.length).map(move |at| byte(range, at)))
        .collect()
}

/// The engine's own check must be able to fail: here the file changes unnoticed.
fn wrong_byte_is_found(kind: Kind) -> Result<()> {
    use std::os::unix::fs::FileExt;
    let directory = directory_on(kind);
    let case = Case::parse("write,size=3MiB")?;
    let path = directory.path().join("conformance");
    let place = open(directory.path())?;
    let change = |phase| {
        if phase == Phase::Verify {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(&path)
                .expect("there");
            let mut byte = [0];
            std::fs::File::open(&path)
                .expect("there")
                .read_at(&mut byte, 2_000_000)
                .expect("a byte");
            file.write_at(&[byte[0] ^ 1], 2_000_000).expect("a byte");
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &change);
    let sample = engine.sample(Target::Directory(place.as_fd()), &request(&case));
    let reason = sample
        .outcome
        .reason()
        .context("the change was not found")?;
    ensure!(
        reason.contains("content differs") && reason.contains("2000000"),
        "{reason}"
    );
    ensure!(
        sample.phases_ns.total() == 0,
        "a failed sample has no figures"
    );
    Ok(())
}

fn open(directory: &Path) -> Result<std::fs::File> {
    Ok(std::fs::File::open(directory)?)
}

fn request(case: &Case) -> SampleRequest {
    SampleRequest {
        read_back: Some(Extent::Whole),
        ..SampleRequest::bare(case.clone(), "conformance", SEED)
    }
}
