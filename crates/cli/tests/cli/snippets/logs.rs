//! Threads that append to one log at the same time.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, bail, ensure};
use writebench_snippets::Language;
use writebench_testkit::{
    Caching, Call, Errno, Fault, Faulty, Kind, Need, Trials, What, When, directory_on,
};

use super::built::{Built, needs, text};
use super::grid::LOG_LANGUAGES;
use super::log_file;

const THREADS: usize = 4;
/// Of each thread.
const RECORDS: usize = 50;
const SYNC_US: u32 = 2_000;

const IO: &str = "input/output error";
const NO_SPACE: &str = "no space left on device";

const CASES: [&str; 5] = [
    "write,sync=fdatasync/1",
    "pwrite,prepare=fallocate-ahead,sync=fsync/1",
    "write,prepare=zero-fill,sync=fdatasync/16",
    "pwrite,sync=rwf-dsync",
    "write,sync=o-dsync",
];

pub(crate) fn add(trials: &mut Trials) {
    for language in LOG_LANGUAGES {
        for case in CASES {
            let needs = [
                &needs(language, case)[..],
                &[Need::Strace, Need::Filesystem(Kind::Ext4)],
            ]
            .concat();
            let title = format!(
                "snippets: {}: threads append whole records by {case}",
                language.name()
            );
            trials.add(title, &needs, move || has_whole_records(case, language));
            if case.contains('/') {
                let title = format!(
                    "snippets: {}: after a failed sync, no thread appends by {case}",
                    language.name()
                );
                let needs = [&needs[..], &[Need::Fuse]].concat();
                trials.add(title, &needs, move || {
                    ends(case, language, Call::Fsync, 5, (Errno::IO, IO))
                });
            }
        }
        let case = "write,sync=fdatasync/1";
        let needs = [&needs(language, case)[..], &[Need::Fuse]].concat();
        let title = format!(
            "snippets: {}: after a failed write, no thread appends by {case}",
            language.name()
        );
        trials.add(title, &needs, move || {
            ends(case, language, Call::Write, 20, (Errno::NOSPC, NO_SPACE))
        });
    }
}

/// A record has its length, its thread, its number, and the thread's letter until its end.
const RUST: &str = r#"
fn main() {
    let path = std::env::args().nth(2).unwrap();
    let log = Log::open(Path::new(&path), |_| Ok(())EXPECTED).unwrap();
    let durable = std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|thread: u8| {
            let log = &log;
            scope.spawn(move || {
                (0..RECORDS).take_while(|number: &u8| {
                    let length = 3 + *number;
                    let mut record = vec![b'a' + thread; length.into()];
                    record[..3].copy_from_slice(&[length, thread, *number]);
                    log.append(&record).is_ok()AND_SYNC
                }).count()
            })
        });
        threads.map(|thread| thread.join().unwrap())
    });
    for count in durable {
        println!("{count}");
    }
    if let Err(error) = log.close() {
        println!("{error}");
    }
}
"#;

const C: &str = r#"
#include <stdio.h>

static struct log shared;

static void *run(void *argument)
{
    size_t *durable = argument;
    const char thread = (char)*durable;
    *durable = 0;
    for (char number = 0; number < RECORDS; number++) {
        char record[256];
        const size_t length = (size_t)(3 + number);
        memset(record, 'a' + thread, sizeof record);
        record[0] = (char)length;
        record[1] = thread;
        record[2] = number;
        if (log_append(&shared, record, length) != 0AND_SYNC)
            break;
        ++*durable;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3 || log_open(&shared, argv[2], NULL, NULLEXPECTED) != 0)
        return 1;
    pthread_t threads[4];
    size_t durable[4] = {0, 1, 2, 3};
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, &durable[i]);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 4; i++)
        printf("%zu\n", durable[i]);
    if (log_close(&shared) != 0)
        printf("%s\n", strerror(errno));
    return 0;
}
"#;

const GO: &str = r#"
func main() {
	log, err := OpenLog(own.Args[2], nilEXPECTED)
	if err != nil {
		panic(err)
	}
	var group waiting.WaitGroup
	var durable [4]int
	for thread := range durable {
		group.Add(1)
		go func() {
			defer group.Done()
			for number := range RECORDS {
				length := 3 + number
				record := letters.Repeat([]byte{byte('a' + thread)}, length)
				copy(record, []byte{byte(length), byte(thread), byte(number)})
				if log.Append(record) != nilAND_SYNC {
					break
				}
				durable[thread]++
			}
		}()
	}
	group.Wait()
	for _, count := range durable {
		println(count)
	}
	if err := log.Close(); err != nil {
		println(err.Error())
	}
}
"#;

fn built(case: &str, language: Language) -> Result<Built> {
    let text = text(case, language, &["--append"])?.map_err(anyhow::Error::msg)?;
    let (harness, sync) = match language {
        Language::C => (C, " || log_sync(&shared) != 0"),
        Language::Rust => (RUST, " && log.sync().is_ok()"),
        _ => (GO, " || log.Sync() != nil"),
    };
    // Go's imports are at the beginning, and not twice under one name.
    let package =
        "package main\n\nimport (\n\tletters \"bytes\"\n\town \"os\"\n\twaiting \"sync\"\n)";
    let text = text.replace("package fileio", package) + harness;
    let sync = if case.ends_with("/16") { sync } else { "" };
    let expected = if case.contains("zero-fill") {
        ", 100000"
    } else {
        ""
    };
    let records = RECORDS.to_string();
    let text = text
        .replace("AND_SYNC", sync)
        .replace("EXPECTED", expected)
        .replace("RECORDS", &records);
    Built::from_text(&text, language)
}

/// The program's output, with Go's on the other stream, and its calls.
fn traced(
    case: &str,
    language: Language,
    on: &Path,
    inject: &str,
) -> Result<(Vec<String>, String)> {
    let built = built(case, language)?;
    let [target, log] = ["target", "calls"].map(|name| on.join(name));
    let program = built.command(on, Path::new("-"), &target);
    let mut strace = writebench_testkit::strace();
    strace.args(["-qq", "-e", "trace=write,pwrite64,pwritev2,fsync,fdatasync"]);
    strace
        .args(["-P", &target.display().to_string(), "-e", inject, "-o"])
        .arg(&log);
    strace
        .arg(program.get_program())
        .args(program.get_args())
        .env("LC_ALL", "C");
    let Output {
        status,
        stdout,
        stderr,
    } = strace.output().context("start strace")?;
    let said = [stdout, stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    ensure!(status.success(), "{said}");
    Ok((
        said.lines().map(str::to_owned).collect(),
        std::fs::read_to_string(&log)?,
    ))
}

/// By thread, in the order of the file. Their bytes are checked. After an error, prepared space follows.
fn records(target: &Path) -> Result<BTreeMap<u8, Vec<u8>>> {
    let file = std::fs::read(target)?;
    let (records, rest) = log_file::records(&file)?;
    let mut found: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    for record in records {
        let [length, thread, number, ref letters @ ..] = *record else {
            bail!("a short record: {record:?}")
        };
        ensure!(
            record.len() == usize::from(length),
            "a part of a record: {record:?}"
        );
        ensure!(
            letters.iter().all(|&byte| byte == b'a' + thread),
            "a mixed record: {record:?}"
        );
        found.entry(thread).or_default().push(number);
    }
    ensure!(
        rest.iter().all(|&byte| byte == 0),
        "bytes after the records"
    );
    Ok(found)
}

/// Records end with a letter.
fn rest_is_cut(target: &Path) -> Result<bool> {
    Ok(std::fs::read(target)?.last().is_some_and(|&byte| byte != 0))
}

fn count(calls: &str, wanted: &str) -> usize {
    calls
        .lines()
        .filter(|line| line.contains(wanted) && !line.contains("resumed"))
        .count()
}

fn has_whole_records(case: &str, language: Language) -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let inject = format!("inject=fsync,fdatasync:delay_enter={SYNC_US}");
    let (said, calls) = traced(case, language, on.path(), &inject)?;
    ensure!(said == vec![RECORDS.to_string(); THREADS], "{said:?}");
    let found = records(&on.path().join("target"))?;
    let all: Vec<u8> = (0..u8::try_from(RECORDS)?).collect();
    ensure!(
        found.len() == THREADS && found.values().all(|numbers| *numbers == all),
        "{found:?}"
    );
    let (syncs, appends) = (count(&calls, "sync("), THREADS * RECORDS);
    ensure!(
        rest_is_cut(&on.path().join("target"))?,
        "the file is longer than its records"
    );
    if case.contains('/') {
        // Each has the records of at least two threads on average.
        ensure!(
            syncs >= RECORDS && syncs <= appends * 3 / 4,
            "{syncs} syncs for {appends} appends"
        );
    } else {
        // The first page is the log's own.
        ensure!(
            syncs == 0 && count(&calls, "write") == appends + 1,
            "{calls}"
        );
    }
    Ok(())
}

/// Fails an operation of threads that append, and the log with it.
fn ends(
    case: &str,
    language: Language,
    call: Call,
    good: usize,
    (errno, words): (Errno, &str),
) -> Result<()> {
    let built = built(case, language)?;
    let on = Faulty::mount("target", Caching::None)?;
    on.follow(&[Fault {
        when: When::InFile(0, call, good + 1),
        what: What::Fail(errno),
    }]);
    let target = on.path().join("target");
    let Output {
        status,
        stdout,
        stderr,
    } = built.output(on.path(), Path::new("-"), &target)?;
    let said = [stdout, stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    ensure!(status.success(), "{said}");
    let calls = on
        .operations()
        .iter()
        .filter(|operation| operation.call == call)
        .count();
    ensure!(
        calls == good + 1,
        "{calls} calls, of which number {} failed",
        good + 1
    );
    let said: Vec<_> = said.lines().collect();
    let (durable, error) = said
        .split_at_checked(THREADS)
        .context("a count per thread")?;
    ensure!(
        matches!(error, [one] if one.to_lowercase().contains(words)),
        "{said:?}"
    );
    let found = records(&target)?;
    for (thread, durable) in (0..).zip(durable) {
        let (durable, written): (usize, _) =
            (durable.parse()?, found.get(&thread).map_or(0, Vec::len));
        ensure!(
            durable < RECORDS && (durable..=durable + 1).contains(&written),
            "{said:?} of {found:?}"
        );
    }
    Ok(())
}
