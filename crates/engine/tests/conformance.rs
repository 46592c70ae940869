//! Every method, from every state of the file, at the sizes where loops go wrong, in every layout,
//! leaves exactly the bytes that it should: on tmpfs and on ext4, by a reader of its own.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use engine::{Engine, method_infos};
use model::protocol::SampleRequest;
use model::{Case, Data, Files, Outcome, Phase, Prepare, Source};
use testkit::{Kind, Need, Trials, directory_on};

const SEED: u64 = 0x5eed;
const CHUNK: u64 = 4096;
const SIZES: [u64; 6] = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 7 * CHUNK + 123];
const LAYOUTS: [&str; 8] = [
    "",
    ",threads=3,files=per-thread",
    ",threads=3",
    ",threads=3,descriptor=per-thread",
    ",threads=3,map=per-thread",
    ",threads=3,descriptor=per-thread,map=per-thread",
    ",source=chunk",
    ",threads=3,files=per-thread,source=chunk,data=zero",
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
    trials.run(2)
}

fn check(kind: Kind, method: &str, prepare: Prepare) -> Result<()> {
    let directory = directory_on(kind);
    let mut engine = Engine::default();
    let mut checked = 0;
    for size in SIZES {
        for layout in LAYOUTS {
            let mut name = format!("{method},prepare={prepare},size={size}{layout}");
            if method != "allocate" {
                name.push_str(",chunk=4k");
            }
            if method.ends_with("writev") {
                name.push_str(",vector=3");
            }
            // Combinations that make no sense are refused; their number is checked below.
            let Ok(case) = Case::parse(&name, &method_infos()) else { continue };
            run_and_read(&mut engine, directory.path(), &case).with_context(|| case.to_string())?;
            checked += 1;
        }
    }
    ensure!(checked == cases_that_make_sense(method, prepare), "{checked} cases made sense");
    Ok(())
}

/// How many of the combinations are cases: were more refused than should be, they would go untested.
fn cases_that_make_sense(method: &str, prepare: Prepare) -> usize {
    // Three threads need three bytes, reserving and mapping need one.
    let reserves = matches!(prepare, Prepare::Fallocate | Prepare::PosixFallocate);
    match method {
        // No axes beyond size: one layout, and not nothing.
        "allocate" => 5,
        // A layout each: plain, files, threads, map for each, map and descriptor for each, chunk, files of zeros.
        "mmap" => 2 * 5 + 5 * 4,
        // Plain, chunk; files, threads, descriptor for each, files of zeros.
        "pwrite" | "pwritev" if reserves => 2 * 5 + 4 * 4,
        "pwrite" | "pwritev" => 2 * 6 + 4 * 4,
        // The same, but threads cannot share a position.
        _ if reserves => 2 * 5 + 3 * 4,
        _ => 2 * 6 + 3 * 4,
    }
}

fn run_and_read(engine: &mut Engine, directory: &Path, case: &Case) -> Result<()> {
    let mut found = None;
    let sample = engine.sample(open(directory)?.as_fd(), case, &request(), &mut |phase| {
        // The last moment at which the files are there.
        if phase == Phase::Clean {
            found = Some(read(directory, case));
        }
    });
    ensure!(sample.outcome == Outcome::Ok, "{:?}", sample.outcome);
    ensure!(sample.bytes == case.axes().size_bytes, "{} bytes", sample.bytes);
    ensure!(found.context("phase clean did not come")?? == expected(case), "content differs");
    ensure!(std::fs::read_dir(directory)?.next().is_none(), "a file was left behind");
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
        Files::PerThread => model::split(axes.size_bytes, axes.threads, CHUNK),
        Files::Shared if axes.threads > 1 => model::split(axes.size_bytes, axes.threads, CHUNK),
        Files::Shared => vec![model::Range { offset: 0, length: axes.size_bytes }],
    };
    let byte = |range: &model::Range, at: u64| match (case.method().writes_data(), axes.data, axes.source) {
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
    let sample = Engine::default().sample(open(directory.path())?.as_fd(), &case, &request(), &mut |phase| {
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
        case: String::new(),
        round: 0,
        file_stem: "conformance".to_owned(),
        data_seed: SEED,
        verify: true,
        settle_limit_ns: 0,
        warm_limit_bytes: 0,
        device_number: None,
    }
}
