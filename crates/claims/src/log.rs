//! Programs around a printed log. Without a number they append records, and say so of each. With a number, they read the
//! log, and fail unless it has the records of so many promises: the first one is made before any record.

use anyhow::{Result, bail};
use writebench_snippets::Language;

use crate::printed::Printed;

/// The program's source.
pub(crate) fn source(printed: &Printed) -> Result<String> {
    let log = printed.source()?;
    let main = match printed.language {
        Language::C => C,
        Language::Rust => RUST,
        Language::Go => GO,
        other => bail!("{} has no log", other.title()),
    };
    // So many bytes are prepared in a new log.
    let expected = match printed.case.contains("zero-fill") {
        true => ", 4096",
        false => "",
    };
    Ok(log.replace("package fileio", GO_PACKAGE) + &main.replace("EXPECTED", expected))
}

const C: &str = r#"
#include <stdio.h>

enum { RECORDS = 12, LONGEST = 1599 };

static size_t record(int number, char *bytes)
{
    size_t size = 100 + (size_t)(number * 379) % 1500;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)((size_t)number + i * 7);
    return size;
}

static int next_record(void *context, const void *found, size_t size)
{
    int *number = context;
    char bytes[LONGEST];
    if (size != record(*number, bytes) || memcmp(found, bytes, size) != 0) {
        fprintf(stderr, "record %d differs", *number);
        return EIO;
    }
    *number += 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct log log;
    int found = 0;
    if (argc != 3)
        return 2;
    if (log_open(&log, argv[1], next_record, &foundEXPECTED) != 0) {
        fprintf(stderr, "log_open: %s", strerror(errno));
        return 1;
    }
    const int expected = atoi(argv[2]);
    if (expected > 0) {
        if (found < expected - 1)
            fprintf(stderr, "%d of %d records", found, expected - 1);
        return found < expected - 1;
    }
    printf("durable\n");
    fflush(stdout);
    char bytes[LONGEST];
    for (int number = 0; number < RECORDS; number++) {
        if (log_append(&log, bytes, record(number, bytes)) != 0)
            return 1;
        printf("durable\n");
        fflush(stdout);
    }
    return log_close(&log) != 0;
}
"#;

const RUST: &str = r#"
fn record(number: usize) -> Vec<u8> {
    let size = 100 + number * 379 % 1500;
    (0..size).map(|i| (number + i * 7) as u8).collect()
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let expected: usize = words[2].parse().unwrap();
    let mut found = 0;
    let next = |bytes: &[u8]| {
        assert!(bytes == record(found), "record {found} differs");
        found += 1;
        Ok(())
    };
    let log = Log::open(Path::new(&words[1]), nextEXPECTED).unwrap();
    if expected > 0 {
        assert!(found >= expected - 1, "{found} of {} records, cut: {}", expected - 1, log.was_cut());
        return;
    }
    println!("durable");
    for number in 0..12 {
        log.append(&record(number)).unwrap();
        println!("durable");
    }
    log.close().unwrap();
}
"#;

/// The names differ from those of the printed code.
const GO_PACKAGE: &str = "package main\n\nimport (\n\tsame \"bytes\"\n\ttext \"fmt\"\n\town \"os\"\n\tdecimal \"strconv\"\n)";

const GO: &str = r#"
func testRecord(number int) []byte {
	record := make([]byte, 100+number*379%1500)
	for i := range record {
		record[i] = byte(number + i*7)
	}
	return record
}

func check(isRight bool, why ...any) {
	if !isRight {
		text.Fprintln(own.Stderr, why...)
		own.Exit(1)
	}
}

func main() {
	expected, err := decimal.Atoi(own.Args[2])
	check(err == nil, err)
	found := 0
	next := func(record []byte) error {
		check(same.Equal(record, testRecord(found)), "record", found, "differs")
		found++
		return nil
	}
	log, err := OpenLog(own.Args[1], nextEXPECTED)
	check(err == nil, err)
	if expected > 0 {
		check(found >= expected-1, found, "of", expected-1, "records")
		return
	}
	text.Println("durable")
	for number := 0; number < 12; number++ {
		err := log.Append(testRecord(number))
		check(err == nil, err)
		text.Println("durable")
	}
	err = log.Close()
	check(err == nil, err)
}
"#;
