//! What a copy has afterwards: the source's mode, all of its bytes, and blocks of its own.

use std::fs::{File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Caching, Faulty, Image, Kind, Need, Trials, call, directory_on, unmount};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = [Need::Filesystem(Kind::Ext4)];
    trials.add(
        "no spelling of --to reaches its own source",
        &[Need::Root, ext4[0]],
        spellings,
    );
    trials.add("a copy of a private file is private", &ext4, modes);
    trials.add(
        "a source that does not end at its size is refused",
        &ext4,
        other_lengths,
    );
    trials.add(
        "a file with holes is not ranked with those that have all bytes",
        &ext4,
        holes,
    );
    for kind in ["btrfs", "xfs"] {
        trials.add(
            format!("a copy that shares blocks is not ranked with bytes on {kind}"),
            &[Need::Image(kind)],
            move || shared_blocks(kind),
        );
    }
    for kind in ["ext4", "xfs", "btrfs"] {
        trials.add(
            format!("holes=keep gives a copy the holes of its source on {kind}"),
            &[Need::Image(kind)],
            move || kept_holes(kind, &Image::mount(kind, 512 << 20)?.path()),
        );
    }
    trials.add(
        "holes=keep gives a copy the holes of its source on tmpfs",
        &[Need::Filesystem(Kind::Tmpfs)],
        || kept_holes("tmpfs", directory_on(Kind::Tmpfs).path()),
    );
    trials.add(
        "holes=keep is unsupported on a filesystem without holes",
        &[Need::Root, Need::Fuse, ext4[0]],
        filled_holes,
    );
    trials.add(
        "a search with holes=keep compares copies that keep them",
        &ext4,
        search_that_keeps_holes,
    );
    trials.add(
        "compressed files have all bytes",
        &[Need::Image("btrfs")],
        compressed,
    );
    trials.add(
        "a clone needs no space for its bytes",
        &[Need::Image("xfs")],
        clone_larger_than_space,
    );
}

fn spellings() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let on = directory.path();
    std::fs::write(on.join("X"), [7; 100_000])?;
    std::fs::hard_link(on.join("X"), on.join("hard"))?;
    symlink("X", on.join("soft"))?;
    std::fs::create_dir(on.join("folder"))?;
    std::fs::create_dir(on.join("bound"))?;
    call(
        Command::new("mount")
            .arg("--bind")
            .arg(on)
            .arg(on.join("bound")),
    )?;
    let refused = || {
        let names = [
            "X",
            "./X",
            "folder/../X",
            "hard",
            "soft",
            "bound/X",
            "bound/hard",
            "/proc/self/fd/3",
            "/dev/fd/3",
        ];
        for to in names {
            let line =
                format!("exec \"$0\" run --from X --to {to} --case read-write --samples 1 3<>X");
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &line])
                .arg(program.binary())
                .env("HOME", program.home())
                .current_dir(on);
            let output = shell
                .env("WRITEBENCH_DB", program.home().join("copies.db"))
                .output()?;
            ensure!(
                output
                    .status
                    .code()
                    .is_some_and(|code| code == 2 || code == 3),
                "{to}: {output:?}"
            );
            ensure!(
                std::fs::read(on.join("X"))? == [7; 100_000],
                "{to}: {output:?}"
            );
        }
        Ok(())
    };
    let result = refused();
    unmount(&on.join("bound"))?;
    result
}

fn modes() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let on = directory.path();
    std::fs::write(on.join("X"), [7; 10_000])?;
    let copied = |source: u32, existing: Option<u32>| -> Result<u32> {
        std::fs::set_permissions(on.join("X"), Permissions::from_mode(source))?;
        if let Some(mode) = existing {
            std::fs::write(on.join("Y"), "old")?;
            std::fs::set_permissions(on.join("Y"), Permissions::from_mode(mode))?;
        }
        let run = [
            "run",
            "--from",
            "X",
            "--to",
            "Y",
            "--case",
            "read-write",
            "--samples",
            "1",
            "--no-limits",
        ];
        let command = program.command(&run);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "umask 022; exec \"$@\"", "sh"])
            .current_dir(on);
        let output = writebench_testkit::extended(shell, &command).output()?;
        ensure!(output.status.success(), "{output:?}");
        ensure!(
            std::fs::read(on.join("Y"))? == [7; 10_000],
            "another content"
        );
        let mode = on.join("Y").metadata()?.permissions().mode() & 0o777;
        std::fs::remove_file(on.join("Y"))?;
        Ok(mode)
    };
    for (source, existing, wanted) in [
        (0o600, None, 0o600),
        (0o640, None, 0o640),
        (0o777, None, 0o755),
        (0o600, Some(0o640), 0o640),
        (0o644, Some(0o600), 0o600),
    ] {
        let mode = copied(source, existing)?;
        ensure!(
            mode == wanted,
            "{mode:o} in place of {wanted:o}, for {source:o} over {existing:?}"
        );
    }
    Ok(())
}

fn other_lengths() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let on = directory.path();
    for from in [
        "/proc/cpuinfo",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        let run = ["run", "--from", from, "--to", "Y", "--samples", "1"];
        let search = ["advise", ".", "--for", "copy", "--from", from];
        for arguments in [&run[..], &search] {
            let output = program.command(arguments).current_dir(on).output()?;
            let text = String::from_utf8_lossy(&output.stderr);
            ensure!(
                output.status.code() == Some(2) && text.contains("does not end at its size"),
                "{text}"
            );
        }
        let mut command = program.command(&["run", "--suite", "copy", "--samples", "1"]);
        let output = command
            .stdin(File::open(from)?)
            .stdout(File::create(on.join("Z"))?)
            .output()?;
        ensure!(output.status.code() == Some(2), "{output:?}");
        ensure!(!on.join("Y").exists() && on.join("Z").metadata()?.len() == 0);
    }
    Ok(())
}

/// The content of each case's workload, by the command of a program or the name of a case.
fn contents(document: &Value) -> Result<Vec<(String, String)>> {
    let cases = document["cases"].as_array().context("cases")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let found = |case: &Value| {
        ensure!(case["outcome"] == "ok", "{case}");
        let is_program = case["method"]
            .as_str()
            .is_some_and(|method| method.ends_with("program"));
        let name = text(&case[if is_program { "label" } else { "name" }]).context("a name")?;
        Ok((
            name,
            text(&case["contract"]["content"]).context("a content")?,
        ))
    };
    cases.iter().map(found).collect()
}

fn have(document: &Value, wanted: &[(&str, &str)]) -> Result<()> {
    let found = contents(document)?;
    ensure!(found.len() == wanted.len(), "{found:?}");
    for ((name, content), (start, wanted)) in found.iter().zip(wanted) {
        ensure!(
            name.starts_with(start) && content == wanted,
            "{start} has {wanted}: {found:?}"
        );
    }
    Ok(())
}

const SPARSE_BYTES: u64 = 4 << 20;

fn sparse_source(on: &Path) -> Result<String> {
    let file = File::create(on.join("sparse"))?;
    file.set_len(SPARSE_BYTES)?;
    file.write_all_at(&[7; 4096], 1 << 20)?;
    file.sync_all()?;
    Ok(on.join("sparse").to_str().context("UTF-8")?.to_owned())
}

fn holes() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let from = sparse_source(directory.path())?;
    let common = ["--samples", "1", "--no-limits"];
    let copies = [
        "--from",
        &from,
        "--case",
        "read-write",
        "--case",
        "sendfile",
        "--copies",
    ];
    let commands = [
        "--command",
        "cp --sparse=auto {source} {file}",
        "--command",
        "cp --sparse=never {source} {file}",
    ];
    let document = program.run(
        directory.path(),
        &[&copies[..], &commands, &common].concat(),
        0,
    )?;
    have(
        &document,
        &[
            ("read-write", "copy"),
            ("sendfile", "copy"),
            ("cp --sparse=auto", "sparse"),
            ("cp --sparse=never", "copy"),
        ],
    )?;
    ensure!(
        document["cases"][2]["samples"][0]["hole_bytes"] == SPARSE_BYTES - 4096,
        "{document}"
    );
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("its file has holes, 4 KiB of 4 MiB hold data"),
        "{shown}"
    );
    let target = directory.path().to_str().context("UTF-8")?;
    for more in [&["--dry-run"][..], &common] {
        let run = [
            &["run", target, "--from", &from, "--case", "read-write"],
            more,
        ]
        .concat();
        let said = program.call(&run)?.stderr;
        ensure!(
            said.contains("has holes: 4 KiB of 4 MiB hold data"),
            "{said}"
        );
    }
    let zeros = [
        "--case",
        "write,size=1MiB,data=zero",
        "--command",
        "truncate -s 1M {file}",
    ];
    let reserved = ["--command", "fallocate -l 1M {file}"];
    let document = program.run(
        directory.path(),
        &[&zeros[..], &reserved, &common].concat(),
        0,
    )?;
    have(
        &document,
        &[
            ("write", "zero"),
            ("truncate", "sparse"),
            ("fallocate", "sparse"),
        ],
    )
}

/// The source of copies that keep holes: data of several lengths, the last of it before a hole, and none of it zeros.
fn scattered_source(on: &Path) -> Result<String> {
    let file = File::create(on.join("scattered"))?;
    file.set_len(SPARSE_BYTES)?;
    let mut byte = 0u8;
    for (offset, length) in [(0, 4096), (512 << 10, 300 << 10), (3 << 20, 64 << 10)] {
        let data: Vec<u8> = std::iter::repeat_with(|| {
            byte = byte.wrapping_mul(5).wrapping_add(3);
            byte | 1
        })
        .take(length)
        .collect();
        file.write_all_at(&data, offset)?;
    }
    file.sync_all()?;
    Ok(on.join("scattered").to_str().context("UTF-8")?.to_owned())
}

const SCATTERED_BYTES: u64 = 4096 + (300 << 10) + (64 << 10);

fn kept_holes(kind: &str, on: &Path) -> Result<()> {
    let program = program()?;
    let from = scattered_source(on)?;
    // The filesystem shares blocks for copy_file_range.
    let by_kernel = if matches!(kind, "btrfs" | "xfs") {
        "shared-copy"
    } else {
        "sparse"
    };
    let names = [
        ("read-write,chunk=64KiB,holes=keep", "sparse"),
        (
            "read-write,chunk=64KiB,threads=3,descriptor=per-thread,holes=keep",
            "sparse",
        ),
        ("read-write,chunk=100000,sync=fsync,holes=keep", "sparse"),
        ("read-write,prepare=truncate,holes=keep", "sparse"),
        ("sendfile,holes=keep", "sparse"),
        ("splice,holes=keep", "sparse"),
        ("copy-file-range,holes=keep", by_kernel),
        ("read-write,chunk=64KiB", "copy"),
    ];
    let cases = names.iter().flat_map(|(name, _)| ["--case", name]);
    let common = [
        "--from",
        &from,
        "--samples",
        "1",
        "--no-limits",
        "--verify",
        "every",
    ];
    let words: Vec<&str> = common.into_iter().chain(cases).collect();
    let document = program.run(on, &words, 0)?;
    let found = contents(&document)?.into_iter().map(|(_, content)| content);
    ensure!(found.eq(names.map(|(_, content)| content)), "{document}");
    for case in document["cases"].as_array().context("cases")? {
        let holes = &case["samples"][0]["hole_bytes"];
        let is_kept = case["axes"]["holes"] == "keep";
        ensure!(
            !is_kept || *holes == SPARSE_BYTES - SCATTERED_BYTES,
            "{}: {holes}",
            case["name"]
        );
    }
    let to = on.join("copy");
    for (case, said, blocks) in [
        (
            "read-write,holes=keep",
            "keep them, and so does the final copy",
            true,
        ),
        ("read-write", "To keep them, add --set holes=keep", false),
    ] {
        let to = to.to_str().context("UTF-8")?;
        let run = ["run", "--from", &from, "--to", to, "--case", case];
        let more = ["--samples", "1", "--no-limits"];
        let called = program.call(&[&run[..], &more].concat())?;
        ensure!(
            called.code == Some(0) && called.stderr.contains(said),
            "{called:?}"
        );
        ensure!(
            std::fs::read(to)? == std::fs::read(&from)?,
            "another content"
        );
        File::open(to)?.sync_all()?;
        let [of_copy, of_source] =
            [Path::new(to), Path::new(&from)].map(|path| path.metadata().map(|all| all.blocks()));
        let (of_copy, of_source) = (of_copy?, of_source?);
        ensure!(
            (of_copy == of_source) == blocks,
            "{case}: {of_copy} blocks, {of_source} of the source"
        );
        std::fs::remove_file(to)?;
    }
    Ok(())
}

fn filled_holes() -> Result<()> {
    // Its server does not know SEEK_HOLE.
    let (program, fuse) = (program()?, Faulty::mount("none", Caching::WriteThrough)?);
    let directory = directory_on(Kind::Ext4);
    let from = scattered_source(directory.path())?;
    let case = ["--case", "read-write,holes=keep", "--from", &from];
    let more = ["--samples", "1", "--no-limits"];
    let document = program.run(fuse.path(), &[&case[..], &more].concat(), 4)?;
    let reason = document["cases"][0]["reason"]
        .as_str()
        .context("a reason")?;
    ensure!(
        document["cases"][0]["outcome"] == "unsupported"
            && reason
                .starts_with("holes=keep: 3.6 MiB of the source are holes, and the copy has none"),
        "{reason}"
    );
    Ok(())
}

fn search_that_keeps_holes() -> Result<()> {
    let (program, directory) = (program()?, directory_on(Kind::Ext4));
    let on = directory.path().to_str().context("UTF-8")?;
    let from = scattered_source(directory.path())?;
    let search = [
        "advise",
        on,
        "--for",
        "copy",
        "--from",
        &from,
        "--set",
        "holes=keep",
    ];
    let planned = program.call(&[&search[..], &["--dry-run"]].concat())?;
    ensure!(
        planned.code == Some(0) && planned.stderr.contains("Copies with holes=keep keep them"),
        "{planned:?}"
    );
    let lines = planned
        .stdout
        .lines()
        .filter(|line| line.contains("chunk="));
    for line in lines {
        ensure!(
            line.contains("holes=keep") || line.contains("ficlone"),
            "{line}"
        );
    }
    Ok(())
}

fn shared_blocks(kind: &str) -> Result<()> {
    let (program, image) = (program()?, Image::mount(kind, 512 << 20)?);
    std::fs::write(image.path().join("dense"), vec![7; 3_000_001])?;
    File::open(image.path().join("dense"))?.sync_all()?;
    let dense = image
        .path()
        .join("dense")
        .to_str()
        .context("UTF-8")?
        .to_owned();
    for from in [dense, sparse_source(&image.path())?] {
        let copies = [
            "--from",
            &from,
            "--case",
            "read-write",
            "--case",
            "copy-file-range",
            "--case",
            "ficlone",
        ];
        let program_too = [
            "--copies",
            "--command",
            "cp --reflink=always {source} {file}",
        ];
        let more = ["--samples", "1", "--no-limits"];
        let document = program.run(
            &image.path(),
            &[&copies[..], &program_too, &more].concat(),
            0,
        )?;
        let shared = "shared-copy";
        let wanted = [
            ("read-write", "copy"),
            ("copy-file-range", shared),
            ("ficlone", shared),
            ("cp", shared),
        ];
        have(&document, &wanted).context(from)?;
        let shown = program.call(&["show"])?.stdout;
        ensure!(
            shown.contains("its file shares its blocks with the source"),
            "{shown}"
        );
    }
    Ok(())
}

/// `st_blocks` may be smaller than the size.
fn compressed() -> Result<()> {
    let (program, image) = (program()?, Image::mount("btrfs", 512 << 20)?);
    image.remount("compress-force=zstd")?;
    std::fs::write(image.path().join("dense"), vec![7; 3_000_001])?;
    File::open(image.path().join("dense"))?.sync_all()?;
    let from = image.path().join("dense");
    let copies = [
        "--from",
        from.to_str().context("UTF-8")?,
        "--case",
        "read-write,sync=fsync",
        "--durable",
    ];
    let commands = [
        "--copies",
        "--command",
        "dd if={source} of={file} bs=1M conv=fsync status=none",
    ];
    let more = ["--samples", "1", "--no-limits"];
    let document = program.run(&image.path(), &[&copies[..], &commands, &more].concat(), 0)?;
    have(&document, &[("read-write", "copy"), ("dd", "copy")])
}

fn clone_larger_than_space() -> Result<()> {
    let (program, image) = (program()?, Image::mount("xfs", 512 << 20)?);
    let from = image.path().join("large");
    File::create(&from)?.set_len(600 << 20)?;
    let from = from.to_str().context("UTF-8")?;
    let clone = [
        "--from",
        from,
        "--case",
        "ficlone",
        "--samples",
        "1",
        "--no-limits",
        "--yes",
    ];
    let document = program.run(&image.path(), &clone, 0)?;
    ensure!(document["cases"][0]["outcome"] == "ok", "{document}");
    let target = image.path();
    let read_write = [
        "run",
        target.to_str().context("UTF-8")?,
        "--from",
        from,
        "--case",
        "read-write",
    ];
    let ended = program.call(&read_write)?;
    ensure!(
        ended.code == Some(3) && ended.stderr.contains("are missing"),
        "{ended:?}"
    );
    Ok(())
}
