//! Sets of files have the right names and bytes in every state, on tmpfs, ext4, xfs and btrfs, and the engine finds
//! changed ones. A separate reader checks them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{
    Axis, Case, Directory, Extent, Method, Naming, Outcome, Phase, Source, SyncFiles,
};
use writebench_testkit::{Image, Kind, Need, Trials, directory_on};

const SEED: u64 = 0x5eed;
const STATES: [&str; 10] = [
    "naming=direct,prepare=create",
    "naming=direct,prepare=truncate",
    "naming=direct,prepare=overwrite",
    "naming=rename,prepare=create",
    "naming=rename,prepare=overwrite",
    "naming=exchange,prepare=overwrite",
    "naming=exchange-background,prepare=overwrite",
    "naming=tmpfile,prepare=create",
    "naming=tmpfile,prepare=overwrite",
    "naming=rename,prepare=overwrite,data=zero",
];
const SIZES: [&str; 4] = [
    "size=100KiB,file-size=8KiB,chunk=3000",
    "size=1,file-size=1",
    "size=300KiB,file-size=100..9000,threads=3",
    "size=100KiB,file-size=whole,chunk=4KiB,source=chunk",
];
/// A file is one write.
const SIZES_OF_LINKS: [&str; 4] = [
    "size=100KiB,file-size=8KiB,depth=3",
    "size=1,file-size=1,registered=buffers",
    "size=300KiB,file-size=100..9000,threads=3,depth=4,registered=buffers",
    "size=100KiB,file-size=whole,source=chunk,depth=1",
];

fn states() -> impl Iterator<Item = (Method, &'static str)> {
    let is_linked =
        |state: &&str| state.starts_with("naming=direct") || state.starts_with("naming=rename");
    let plain = STATES.into_iter().map(|state| (Method::WriteFiles, state));
    plain.chain(
        STATES
            .into_iter()
            .filter(is_linked)
            .map(|state| (Method::UringFiles, state)),
    )
}

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in Kind::ALL {
        for (method, state) in states() {
            let name = format!(
                "{method} with {state} on {} makes the right files",
                kind.name()
            );
            trials.add(name, &[Need::Filesystem(kind)], move || {
                check_state(directory_on(kind).path(), method, state)
            });
        }
        let name = format!("every change of a set on {} is found", kind.name());
        trials.add(name, &[Need::Filesystem(kind)], move || {
            changes_are_found(kind)
        });
    }
    for kind in ["xfs", "btrfs"] {
        trials.add(
            format!("a set on {kind} has the right files"),
            &[Need::Image(kind)],
            move || {
                let image = Image::mount(kind, 512 << 20)?;
                states().try_for_each(|(method, state)| check_state(&image.path(), method, state))
            },
        );
    }
    trials.add(
        "a full disk ends a set, and the next one succeeds",
        &[Need::Image("ext4")],
        full_disk,
    );
    trials.run(4)
}

fn check_state(directory: &Path, method: Method, state: &str) -> Result<()> {
    let found = RefCell::new(None);
    let before_clean = |phase| {
        if phase == Phase::Clean {
            found.replace(Some(files_below(directory)));
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &before_clean);
    let syncs = SyncFiles::ALL.iter().map(|sync| sync.name());
    let sizes = if method == Method::WriteFiles {
        SIZES
    } else {
        SIZES_OF_LINKS
    };
    let combined = sizes
        .iter()
        .flat_map(|sizes| syncs.clone().map(move |sync| (sizes, sync)));
    for ((sizes, sync), layout) in combined.zip(Directory::ALL.iter().cycle()) {
        if state.contains("background") && !sizes.contains("whole") {
            continue;
        }
        let name = format!("{method},{sizes},directory={layout},sync-files={sync},{state}");
        let case = Case::parse(&name)?;
        let place = File::open(directory)?;
        let sample = engine.sample(Target::Directory(place.as_fd()), &request(&case));
        ensure!(
            sample.outcome == Outcome::Ok,
            "{name}: {:?}",
            sample.outcome
        );
        let latency = sample.latency.as_ref().context("no latency")?;
        ensure!(
            latency.count == u64::from(case.file_count()),
            "{name}: {} latencies",
            latency.count
        );
        ensure!(
            sample.bytes == case.given().size_bytes,
            "{name}: {} bytes",
            sample.bytes
        );
        let found = found.take().context("phase clean did not come")??;
        ensure!(
            found == expected(&case),
            "{name}: other files: {:?}",
            found.keys()
        );
        ensure!(
            writebench_testkit::entries(directory).is_empty(),
            "{name}: something was left behind"
        );
    }
    Ok(())
}

/// Names without directories, which are unique, and contents.
fn files_below(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            let name = path
                .file_name()
                .context("a name")?
                .to_string_lossy()
                .into_owned();
            ensure!(
                files.insert(name, std::fs::read(&path)?).is_none(),
                "a name is there twice"
            );
        }
    }
    Ok(files)
}

/// From the definition and not from the code under test.
fn expected(case: &Case) -> BTreeMap<String, Vec<u8>> {
    let choices = case.choices();
    let byte = |offset: u64| {
        let mut z = SEED.wrapping_add((offset / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()[(offset % 8) as usize]
    };
    let files = case.given().file_size.files(case.given().size_bytes);
    let content = |file: writebench_model::Range| {
        let place = |at| {
            if case.given().source == Source::File {
                file.offset + at
            } else {
                at % choices.chunk_size_bytes
            }
        };
        let is_zero = case.given().data == writebench_model::Data::Zero;
        (0..file.length)
            .map(|at| if is_zero { 0 } else { byte(place(at)) })
            .collect()
    };
    files
        .enumerate()
        .map(|(number, file)| (format!("writebench{number:07}"), content(file)))
        .collect()
}

/// The engine's own checks must be able to fail: here the files change unnoticed.
fn changes_are_found(kind: Kind) -> Result<()> {
    type Change = fn(&Path) -> std::io::Result<()>;
    let changes: [(&str, Change); 4] = [
        ("content differs", |directory| {
            let path = directory.join("writebench0000003");
            let mut bytes = std::fs::read(&path)?;
            bytes[7000] ^= 1;
            std::fs::write(path, bytes)
        }),
        ("should have 8192", |directory| {
            std::fs::write(directory.join("writebench0000003"), b"short")
        }),
        ("should have 8", |directory| {
            std::fs::write(directory.join(".writebench0000003.tmp"), b"left")
        }),
        ("should have 8", |directory| {
            std::fs::remove_file(directory.join("writebench0000003"))
        }),
    ];
    for (wanted, change) in changes {
        let directory = directory_on(kind);
        let set = || {
            writebench_testkit::entries(directory.path())
                .pop()
                .map(|set| directory.path().join(set))
        };
        let before_verify = |phase| {
            if phase == Phase::Verify {
                change(&set().expect("a set")).expect("a change");
            }
        };
        let mut engine = Engine::new(None, || Ok(0), &before_verify);
        let case = Case::parse("write-files,size=64KiB,file-size=8KiB")?;
        let place = File::open(directory.path())?;
        let sample = engine.sample(Target::Directory(place.as_fd()), &request(&case));
        let reason = sample
            .outcome
            .reason()
            .with_context(|| format!("not found: {wanted}"))?;
        ensure!(reason.contains(wanted), "{reason}");
        ensure!(
            writebench_testkit::entries(directory.path()).is_empty(),
            "something was left behind"
        );
    }
    Ok(())
}

fn full_disk() -> Result<()> {
    let image = Image::mount("ext4", 32 << 20)?;
    let place = File::open(image.path())?;
    let mut engine = Engine::new(None, || Ok(0), &|_| {});
    let mut sample = |name: &str| -> Result<_> {
        Ok(engine
            .sample(
                Target::Directory(place.as_fd()),
                &request(&Case::parse(name)?),
            )
            .outcome)
    };
    // Of blocks, and of inodes.
    for (full, call) in [
        ("size=64MiB,file-size=1MiB", "write"),
        ("size=20000,file-size=1", "open"),
    ] {
        for (method, naming) in [
            ("write-files", Naming::Direct),
            ("write-files", Naming::Rename),
            ("write-files", Naming::Tmpfile),
            ("io_uring-files,depth=1", Naming::Direct),
            ("io_uring-files,depth=1", Naming::Rename),
        ] {
            let outcome = sample(&format!("{method},{full},threads=2,naming={naming}"))?;
            let Outcome::Failed(failure) = &outcome else {
                anyhow::bail!("{full}: {outcome:?}")
            };
            ensure!(
                failure.errno == Some(28) && failure.call.contains(call),
                "{failure:?}"
            );
            ensure!(
                failure
                    .path
                    .as_ref()
                    .is_some_and(|path| path.starts_with("writebench")),
                "{failure:?}"
            );
            ensure!(
                writebench_testkit::entries(&image.path()).len() <= 1,
                "a file was left behind"
            );
            // ext4 frees blocks and inodes after its journal's next commit.
            rustix::fs::syncfs(&place)?;
        }
    }
    let small = format!("{},size=1MiB", Method::WriteFiles);
    ensure!(
        Case::parse(&small)?.method().has_axis(Axis::Naming),
        "a set"
    );
    let after = (0..20)
        .map(|_| sample(&small))
        .find(|outcome| matches!(outcome, Ok(Outcome::Ok)));
    after.context("no sample succeeds")?.map(|_| ())
}

fn request(case: &Case) -> SampleRequest {
    SampleRequest {
        read_back: Some(Extent::Whole),
        ..SampleRequest::bare(case.clone(), "set", SEED)
    }
}
