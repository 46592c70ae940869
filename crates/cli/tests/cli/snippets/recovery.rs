//! A printed log is opened again after a crash: with each acknowledged record, and without what follows.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Image, Kind, Need, Trials, call, directory_on};

use super::built::{Built, needs, text};
use super::grid::LOG_LANGUAGES;
use super::log_file::{self, HEAD_BYTES, PAGE_BYTES};

const CASES: [&str; 5] = [
    "write,sync=fdatasync/1",
    "pwrite,prepare=fallocate-ahead,sync=fsync/1",
    "write,prepare=zero-fill,sync=fdatasync/16",
    "pwrite,sync=rwf-dsync",
    "write,prepare=fallocate-zero-range,sync=o-dsync",
];

pub(crate) fn add(trials: &mut Trials) {
    for language in LOG_LANGUAGES {
        for case in CASES {
            let needs = [&needs(language, case)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
            let title = format!(
                "snippets: {}: a log by {case} is opened again after a crash",
                language.name()
            );
            trials.add(title, &needs, move || recovers(case, language));
        }
        let case = CASES[0];
        let place = [Need::Strace, Need::Filesystem(Kind::Ext4)];
        let all = [&needs(language, case)[..], &place].concat();
        let title = format!(
            "snippets: {}: a log is read from the disk, and cut before it goes on",
            language.name()
        );
        trials.add(title, &all, move || reads_disk(case, language));
        let title = format!(
            "snippets: {}: a log that cannot be read is not cut",
            language.name()
        );
        trials.add(title, &all, move || keeps_unread(case, language));
        let title = format!(
            "snippets: {}: a log in use is not opened again",
            language.name()
        );
        trials.add(title, &needs(language, case), move || {
            is_locked(case, language)
        });
        for case in CASES {
            let needs = [
                &needs(language, case)[..],
                &[Need::Image("ext4"), Need::Filesystem(Kind::Tmpfs)],
            ]
            .concat();
            let title = format!(
                "snippets: {}: a log by {case} has its records after a power loss",
                language.name()
            );
            trials.add(title, &needs, move || survives(case, language));
        }
    }
}

// Programs that print each record of the log, then append those of their input, a line each, print `cut` if the log was
// cut, and `durable NUMBER` after each append. Without a further line on their input, they wait.

const RUST: &str = r#"
fn main() {
    let path = std::env::args().nth(2).unwrap();
    let print = |record: &[u8]| {
        println!("{}", String::from_utf8_lossy(record));
        Ok(())
    };
    let log = Log::open(Path::new(&path), printEXPECTED).unwrap();
    if log.was_cut() {
        println!("cut");
    }
    println!("open");
    for (number, line) in std::io::stdin().lines().enumerate() {
        log.append(line.unwrap().as_bytes()).unwrap();AND_SYNC
        println!("durable {number}");
    }
    log.close().unwrap();
}
"#;

const C: &str = r#"
#include <stdio.h>

static int print(void *context, const void *record, size_t size)
{
    (void)context;
    printf("%.*s\n", (int)size, (const char *)record);
    return 0;
}

int main(int argc, char **argv)
{
    struct log log;
    if (argc != 3 || log_open(&log, argv[2], print, NULLEXPECTED) != 0) {
        perror(argv[2]);
        return 1;
    }
    if (log.was_cut)
        printf("cut\n");
    printf("open\n");
    fflush(stdout);
    char line[1 << 16];
    for (int number = 0; fgets(line, sizeof line, stdin) != NULL; number++) {
        if (log_append(&log, line, strcspn(line, "\n")) != 0AND_SYNC)
            return 1;
        printf("durable %d\n", number);
        fflush(stdout);
    }
    return log_close(&log) == 0 ? 0 : 1;
}
"#;

const GO: &str = r#"
func main() {
	print := func(record []byte) error {
		text.Printf("%s\n", record)
		return nil
	}
	log, err := OpenLog(own.Args[2], printEXPECTED)
	if err != nil {
		panic(err)
	}
	if log.WasCut {
		text.Println("cut")
	}
	text.Println("open")
	lines := scan.NewScanner(own.Stdin)
	for number := 0; lines.Scan(); number++ {
		if log.Append(lines.Bytes()) != nilAND_SYNC {
			own.Exit(1)
		}
		text.Println("durable", number)
	}
	if log.Close() != nil {
		own.Exit(1)
	}
}
"#;

fn built(case: &str, language: Language) -> Result<Built> {
    let code = text(case, language, &["--append"])?.map_err(anyhow::Error::msg)?;
    let (harness, sync) = match language {
        Language::C => (C, " || log_sync(&log) != 0"),
        Language::Rust => (RUST, "\n        log.sync().unwrap();"),
        _ => (GO, " || log.Sync() != nil"),
    };
    let package = "package main\n\nimport (\n\tscan \"bufio\"\n\ttext \"fmt\"\n\town \"os\"\n)";
    let code = code.replace("package fileio", package) + harness;
    let sync = if case.ends_with("/16") { sync } else { "" };
    let expected = if case.contains("zero") {
        ", 100000"
    } else {
        ""
    };
    Built::from_text(
        &code.replace("AND_SYNC", sync).replace("EXPECTED", expected),
        language,
    )
}

/// Opens the log, appends the records, and returns what it said.
fn opened(built: &Built, target: &Path, records: &[String]) -> Result<Vec<String>> {
    let output = output(built, target, records)?;
    ensure!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?
        .lines()
        .map(str::to_owned)
        .collect())
}

fn output(built: &Built, target: &Path, records: &[String]) -> Result<Output> {
    let input = tempfile::NamedTempFile::new()?;
    std::fs::write(
        input.path(),
        records
            .iter()
            .map(|record| format!("{record}\n"))
            .collect::<String>(),
    )?;
    let mut command = built.command(
        target.parent().context("a directory")?,
        Path::new("-"),
        target,
    );
    command
        .stdin(std::fs::File::open(input.path())?)
        .output()
        .context("start the program")
}

/// Of several lengths, so that they end anywhere in a sector.
fn records(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{number}:{}", "x".repeat(number * 97 % 1500)))
        .collect()
}

/// What a crash may leave after the acknowledged records, and whether anything of it is cut.
fn tails(target: &Path, whole: &[u8]) -> Vec<(&'static str, Vec<u8>, bool)> {
    let file = std::fs::read(target).unwrap_or_default();
    let later = &file[whole.len()..];
    let torn = |sectors: &[usize]| {
        let mut torn = later.to_vec();
        for &sector in sectors {
            let start = (sector * 512)
                .saturating_sub(whole.len() % 512)
                .min(torn.len());
            let end = (start + 512).min(torn.len());
            torn[start..end].fill(0);
        }
        torn
    };
    let mut other_byte = later.to_vec();
    other_byte[HEAD_BYTES + 3] ^= 1;
    let second = HEAD_BYTES + u32::from_le_bytes([later[0], later[1], later[2], later[3]]) as usize;
    let long = [&u32::MAX.to_le_bytes()[..], &[1; 900]].concat();
    vec![
        ("nothing", Vec::new(), false),
        ("a part of a head", later[..5].to_vec(), true),
        ("a head", later[..HEAD_BYTES].to_vec(), true),
        ("a part of a record", later[..second - 1].to_vec(), true),
        ("zeros", vec![0; 70_000], false),
        (
            "a part of a record, then zeros",
            [&later[..second - 1], &[0; 5000]].concat(),
            true,
        ),
        (
            "zeros, then a later record",
            [&vec![0; second][..], &later[second..]].concat(),
            true,
        ),
        ("a first sector of zeros", torn(&[0]), true),
        ("a second sector of zeros", torn(&[1]), true),
        ("another bit", other_byte, true),
        ("a length beyond the end", long, true),
        (
            "a record of another place",
            whole[PAGE_BYTES..].to_vec(),
            true,
        ),
    ]
}

fn recovers(case: &str, language: Language) -> Result<()> {
    let built = built(case, language)?;
    let on = directory_on(Kind::Ext4);
    let target = on.path().join("log");
    let all = records(40);
    let (acknowledged, lost) = all.split_at(30);
    let said = opened(&built, &target, acknowledged)?;
    ensure!(
        said.first().is_some_and(|line| line == "open") && said.len() == 31,
        "{said:?}"
    );
    let whole = std::fs::read(&target)?;
    // Those that a crash loses, whole or in part. A second call on a whole log only appends.
    let said = opened(&built, &target, lost)?;
    ensure!(
        said[..30] == *acknowledged && said[30] == "open",
        "{said:?}"
    );
    let tails = tails(&target, &whole);
    for (what, tail, is_cut) in tails {
        std::fs::write(&target, [&whole[..], &tail].concat())?;
        let more = vec!["after".to_owned(), "the crash".to_owned()];
        let said = opened(&built, &target, &more).context(what)?;
        let cut = is_cut.then(|| "cut".to_owned());
        let expected: Vec<String> = acknowledged
            .iter()
            .cloned()
            .chain(cut)
            .chain(["open".to_owned()])
            .collect();
        ensure!(said[..expected.len()] == expected, "{what}: {said:?}");
        let file = std::fs::read(&target)?;
        let (found, rest) = log_file::records(&file)?;
        let wanted: Vec<&[u8]> = acknowledged
            .iter()
            .chain(&more)
            .map(String::as_bytes)
            .collect();
        ensure!(
            found == wanted && rest.is_empty(),
            "{what}: {} records, {} bytes more",
            found.len(),
            rest.len()
        );
    }
    // Of a log without a durable first page, which had no records.
    for empty in [0, PAGE_BYTES, 100_000] {
        std::fs::write(&target, vec![0; empty])?;
        let said = opened(&built, &target, acknowledged)?;
        ensure!(
            said.len() == 31 && said[0] == "open",
            "{empty} zeros: {said:?}"
        );
        ensure!(
            std::fs::read(&target)?.len() == whole.len(),
            "{empty} zeros"
        );
    }
    // The records of another log have other checks, wherever their bytes come from.
    let other = std::fs::read(&target)?;
    std::fs::write(
        &target,
        [&whole[..PAGE_BYTES], &other[PAGE_BYTES..]].concat(),
    )?;
    let said = opened(&built, &target, &[])?;
    ensure!(said == ["cut", "open"], "{said:?}");
    Ok(())
}

fn traced(case: &str, language: Language, options: &[&str]) -> Result<(Output, String, Vec<u8>)> {
    let built = built(case, language)?;
    let on = directory_on(Kind::Ext4);
    let [target, log] = ["log", "calls"].map(|name| on.path().join(name));
    opened(&built, &target, &records(30))?;
    let bytes = [&std::fs::read(&target)?[..], b"garbage"].concat();
    std::fs::write(&target, &bytes)?;
    let command = built.command(on.path(), Path::new("-"), &target);
    let mut strace = writebench_testkit::strace();
    strace
        .args(["-qq", "-P", &target.display().to_string(), "-o"])
        .arg(&log)
        .args(options);
    strace
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null());
    let output = strace.output().context("start strace")?;
    Ok((
        output,
        std::fs::read_to_string(&log)?,
        std::fs::read(&target)?,
    ))
}

/// The order in which the calls of a log, and not others, must be.
const STEPS: [&str; 6] = [
    "flock(",
    "fdatasync(",
    "fadvise64(",
    "read",
    "ftruncate(",
    "fdatasync(",
];

fn reads_disk(case: &str, language: Language) -> Result<()> {
    let (output, log, _) = traced(
        case,
        language,
        &[
            "-e",
            "trace=flock,fdatasync,fadvise64,read,pread64,ftruncate,write,pwrite64",
        ],
    )?;
    ensure!(output.status.success(), "{output:?}");
    let mut steps = STEPS.iter().peekable();
    for call in writebench_testkit::traced_calls(&log) {
        steps.next_if(|step| call.trim_start_matches('p').starts_with(**step));
    }
    ensure!(steps.peek().is_none(), "without {:?}: {log}", steps.peek());
    ensure!(!log.contains("write"), "{log}");
    Ok(())
}

fn keeps_unread(case: &str, language: Language) -> Result<()> {
    for options in [
        "inject=read,pread64:error=EIO:when=1",
        "inject=fdatasync:error=EIO:when=1",
    ] {
        let (output, log, file) = traced(
            case,
            language,
            &[
                "-e",
                "trace=read,pread64,fdatasync,ftruncate",
                "-e",
                options,
            ],
        )?;
        ensure!(
            !output.status.success() && log.contains("EIO") && !log.contains("ftruncate"),
            "{options}: {log}"
        );
        ensure!(file.ends_with(b"garbage"), "{options}: the log was cut");
    }
    Ok(())
}

fn is_locked(case: &str, language: Language) -> Result<()> {
    let built = built(case, language)?;
    let on = tempfile::tempdir()?;
    let target = on.path().join("log");
    opened(&built, &target, &records(3))?;
    let held = std::fs::File::open(&target)?;
    held.try_lock().context("flock")?;
    let before = std::fs::read(&target)?;
    let refused = output(&built, &target, &records(3))?;
    ensure!(
        !refused.status.success() && std::fs::read(&target)? == before,
        "{refused:?}"
    );
    // A program that another test is starting has a copy of the descriptor until its exec, and with it the lock.
    held.unlock().context("flock")?;
    ensure!(opened(&built, &target, &[])?.len() == 4, "not free again");
    Ok(())
}

/// The device of the filesystem is a file, which is copied the moment a record is acknowledged. The copy is what a disk
/// has after a power loss then.
fn survives(case: &str, language: Language) -> Result<()> {
    let built = built(case, language)?;
    let image = Image::mount("ext4", 512 << 20)?; // more than the log reserves
    let copies = directory_on(Kind::Tmpfs);
    let target = image.path().join("log");
    let all = records(60);
    let mut child = built
        .command(&image.path(), Path::new("-"), &target)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().context("its input")?;
    let mut lines = BufReader::new(child.stdout.take().context("its output")?).lines();
    ensure!(
        lines.next().transpose()?.as_deref() == Some("open"),
        "not open"
    );
    let mut after = Vec::new();
    for (number, record) in all.iter().enumerate() {
        writeln!(input, "{record}")?;
        ensure!(
            lines.next().transpose()? == Some(format!("durable {number}")),
            "{number} is not acknowledged"
        );
        if number % 12 == 7 {
            let copy = copies.path().join(number.to_string());
            call(
                Command::new("cp")
                    .arg("--sparse=always")
                    .arg(image.device().image())
                    .arg(&copy),
            )?;
            after.push((number, copy));
        }
    }
    drop(input);
    ensure!(child.wait()?.success(), "the program failed");
    for (number, copy) in after {
        let disk = Image::over(&copy)?;
        let more = vec!["after the loss".to_owned()];
        let said = opened(&built, &disk.path().join("log"), &more)?;
        let open = said
            .iter()
            .position(|line| line == "open")
            .context("not open")?;
        let found: Vec<&String> = said[..open].iter().filter(|line| *line != "cut").collect();
        ensure!(
            found.len() > number,
            "{} of {} records after a power loss",
            found.len(),
            number + 1
        );
        ensure!(
            found
                .iter()
                .zip(&all)
                .all(|(found, record)| *found == record),
            "other records: {said:?}"
        );
        let file = std::fs::read(disk.path().join("log"))?;
        let (records, rest) = log_file::records(&file)?;
        ensure!(
            records.len() == found.len() + 1 && rest.is_empty(),
            "{} records",
            records.len()
        );
    }
    Ok(())
}
