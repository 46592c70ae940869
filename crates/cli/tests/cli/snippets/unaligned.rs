//! Misaligned data for direct I/O is copied through a buffer, in huge pages if it fills one.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on};

use super::built::{Built, needs, text};
use super::content::content;
use super::grid::in_all_languages;

/// And whether each call writes one buffer.
const CASES: [(&str, bool); 7] = [
    (SMALL, true),
    ("pwrite,chunk=2MiB,cache=direct", false),
    ("io_uring,chunk=1MiB,depth=4,cache=direct", false),
    ("pwrite,chunk=64KiB,cache=direct,memory=huge-pages", true),
    (
        "pwrite,chunk=whole,cache=direct,threads=2,memory=huge-pages",
        false,
    ),
    (
        "writev,chunk=4KiB,vector=16,cache=direct,memory=huge-pages",
        false,
    ),
    (
        "io_uring,chunk=16KiB,depth=4,registered=both,cache=direct,memory=huge-pages",
        false,
    ),
];

/// A buffer smaller than a huge page.
const SMALL: &str = "pwrite,chunk=64KiB,cache=direct";

/// Bytes to skip, which misalign the rest.
const SKIPPED: usize = 16;
const HUGE_PAGE_BYTES: u64 = 2 << 20;

pub(crate) fn add(trials: &mut Trials) {
    for (language, (case, is_one)) in in_all_languages(CASES) {
        let needs = [
            &needs(language, case)[..],
            &[Need::Strace, Need::Filesystem(Kind::Ext4)],
        ]
        .concat();
        let title = format!(
            "snippets: {}: unaligned data goes through a buffer of {case}",
            language.name()
        );
        trials.add(title, &needs, move || {
            goes_through_buffer(case, is_one, language)
        });
    }
}

/// The call in a complete program, and its replacement with misaligned data.
fn calls(language: Language) -> [&'static str; 2] {
    match language {
        Language::C => [
            "write_file(argv[2], data, size)",
            "write_file(argv[2], data + 16, size - 16)",
        ],
        Language::Cpp => [
            "write_file(path, data.get(), size)",
            "write_file(path, data.get() + 16, size - 16)",
        ],
        Language::Rust => [
            "write_file(target, data)",
            "write_file(target, &data[16..])",
        ],
        Language::Go => ["WriteFile(target, data)", "WriteFile(target, data[16:])"],
        Language::Python => ["write_file(target, data)", "write_file(target, data[16:])"],
        Language::Java => [
            "writeFile(target, data)",
            "writeFile(target, data.position(16).slice())",
        ],
        Language::Node => [
            "writeFile(target, data)",
            "writeFile(target, data.subarray(16))",
        ],
    }
}

fn goes_through_buffer(case: &str, is_one: bool, language: Language) -> Result<()> {
    let Ok(text) = text(case, language, &["--main"])? else {
        return Ok(());
    };
    let [aligned, unaligned] = calls(language);
    ensure!(text.matches(aligned).count() == 1, "{text}");
    let built = Built::from_text(&text.replace(aligned, unaligned), language)?;
    let on = directory_on(Kind::Ext4);
    let [source, target, log] = ["source", "target", "log"].map(|name| on.path().join(name));
    let content = content(3_000_001);
    std::fs::write(&source, &content)?;
    let program = built.command(on.path(), &source, &target);
    let mut strace = writebench_testkit::strace();
    strace
        .args(["-e", "trace=madvise,pwrite64", "-e", "raw=pwrite64", "-o"])
        .arg(&log);
    strace
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(on.path());
    let output = strace.output().context("start strace")?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(
        std::fs::read(&target)? == content[SKIPPED..],
        "another content"
    );
    let log = std::fs::read_to_string(&log)?;
    let huge: Vec<u64> = log
        .lines()
        .filter_map(|line| address(line, "madvise", 0, "MADV_HUGEPAGE"))
        .collect();
    if case != SMALL && ![Language::Java, Language::Node].contains(&language) {
        // Complete programs have the same buffers.
        ensure!(huge.len() > 1, "{log}");
        // Go and Python allocate around the pages.
        let is_whole = [Language::C, Language::Cpp, Language::Rust].contains(&language);
        ensure!(
            !is_whole || huge.iter().all(|at| at.is_multiple_of(HUGE_PAGE_BYTES)),
            "{log}"
        );
    } else {
        ensure!(huge.is_empty(), "{log}");
    }
    if is_one {
        let chunks = log
            .lines()
            .filter_map(|line| address(line, "pwrite64", 1, "0x10000, "));
        let buffers: BTreeSet<u64> = chunks.filter(|at| at.is_multiple_of(4096)).collect();
        ensure!(buffers.len() == 1, "{log}");
        let is_at_huge = buffers.iter().all(|at| at.is_multiple_of(HUGE_PAGE_BYTES));
        ensure!(huge.is_empty() || is_at_huge, "{log}");
    }
    Ok(())
}

/// The hexadecimal argument at that index, of a call with this text in the log.
fn address(line: &str, call: &str, index: usize, has: &str) -> Option<u64> {
    let (_, arguments) = line.split_once(&format!("{call}("))?;
    let address = arguments.split(", ").nth(index)?.strip_prefix("0x")?;
    u64::from_str_radix(address, 16)
        .ok()
        .filter(|_| arguments.contains(has))
}
