//! The README, the tutorial and the how-tos, tried: a shell runs each of their commands, made small.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Program, Trials, directory_on};

use crate::program;

/// A document, what its commands need, and texts that they print.
struct Guide(&'static str, &'static [Need], &'static [&'static str]);

const GUIDES: &[Guide] = &[
    Guide(
        "README.md",
        &[],
        &[
            "vs. plain write",
            "Recommended: ",
            "int write_file(",
            "mmap,",
        ],
    ),
    Guide(
        "docs/tutorial.md",
        &[Need::Program("python3")],
        &["Recommended: ", "save_fast.py", "`after`"],
    ),
    Guide(
        "docs/how-to/checkpoint-from-python.md",
        &[Need::Program("python3")],
        &["fsync"],
    ),
    Guide(
        "docs/how-to/append-only-log.md",
        &[Need::Program("cc")],
        &["records/s", "p99"],
    ),
    Guide(
        "docs/how-to/database-pages.md",
        &[Need::Program("cc")],
        &["pages/s", "p99"],
    ),
    Guide(
        "docs/how-to/write-from-a-producer.md",
        &[Need::Program("cc")],
        &["Recommended: "],
    ),
    Guide(
        "docs/how-to/many-files.md",
        &[],
        &["files/s", "Recommended: "],
    ),
    Guide(
        "docs/how-to/replace-a-file.md",
        &[],
        &["files/s", "Recommended: "],
    ),
    // Its programs are tried in powerloss.rs.
    Guide("docs/how-to/prove-power-loss.md", &[], &[]),
    Guide(
        "docs/how-to/copy-a-file.md",
        &[],
        &["plain read and write", "cp {source} {file}"],
    ),
    Guide("docs/how-to/compare-disks.md", &[], &["B vs. A"]),
    Guide(
        "docs/how-to/compare-filesystems.md",
        &[Need::Root],
        &["xfs", "to be written"],
    ),
    Guide(
        "docs/how-to/fast-enough-for-etcd.md",
        &[],
        &["p99 < 10 ms: "],
    ),
    Guide("docs/how-to/gate-in-ci.md", &[], &["B vs. A", "`head`"]),
    Guide("docs/how-to/cluster.md", &[], &[]),
    Guide(
        "docs/how-to/repeat-by-hand.md",
        &[Need::Strace, Need::Program("fio")],
        &["WRITE: bw="],
    ),
    Guide(
        "docs/how-to/measure-your-program.md",
        &[],
        &["./my-writer {source} {file}"],
    ),
];

/// The beginnings of commands that are tried elsewhere, and where.
const ELSEWHERE: &[(&str, &str)] = &[
    ("tar -xzf writebench-", "cargo xtask dist --try"),
    (
        "cargo install --locked --path crates/cli",
        "steps `package` and `mpi` of cargo xtask test",
    ),
    (
        "cargo run --release --locked -- run",
        "the program of a clone, as in all tests",
    ),
    ("cargo xtask test", "each complete check"),
    ("srun ", "slurm.rs"),
    ("mpirun ", "mpi.rs"),
    ("writebench run /dev/sdX ", "devices.rs"),
];

/// The program with small files and few samples. A comparison of two small runs may find anything. If all samples were
/// disturbed, it has no verdict, and a search no answer.
const SMALL: &str = r#"#!/bin/sh
words=" $* "
lacks() { case "$words" in *"$1"*) false ;; esac; }
case $1 in
run)
    lacks size && lacks --bytes && lacks --from && lacks "suite copy" && set -- "$@" --size 64KiB
    lacks --samples && set -- "$@" --samples 2
    set -- "$@" --no-limits
    ;;
advise)
    lacks --size && lacks records && set -- "$@" --size 1MiB
    lacks --size && ! lacks records && set -- "$@" --size 64KiB
    lacks --budget && set -- "$@" --budget 8s
    ;;
fs) lacks --dry-run && set -- "$@" --dry-run ;;
esac
exec 3>&1
errors=$("$WRITEBENCH" "$@" 2>&1 >&3)
code=$?
printf '%s\n' "$errors" >&2
case "$code $errors" in 5* | 6* | 7* | 2*--fail-if-slower:*) exit 0 ;; esac
exit $code
"#;

/// A program of the reader's.
const COPIES: &str = "#!/bin/sh\ncat \"$1\" >\"$2\"\n";

pub(crate) fn add(trials: &mut Trials) {
    for guide in GUIDES {
        let needs: Vec<Need> = guide
            .1
            .iter()
            .copied()
            .chain([Need::Filesystem(Kind::Ext4)])
            .collect();
        trials.add(
            format!("{}: its commands do what it says", guide.0),
            &needs,
            || tried(guide),
        );
    }
    trials.add(
        "README and how-tos: all are tried, and no command is excused in vain",
        &[],
        all_are_tried,
    );
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(path: &str) -> Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| path.to_owned())
}

/// A block of code: its language, and the words `Save it as NAME` before it.
struct Block {
    language: String,
    name: Option<String>,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    let mut name = None;
    while let Some(line) = lines.next() {
        if let Some((_, rest)) = line.split_once("Save it as `") {
            name = rest.split('`').next().map(str::to_owned);
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| line.trim() != "```");
            let inside = inside
                .map(|line| line.get(indent..).unwrap_or_default().to_owned())
                .collect();
            blocks.push(Block {
                language: language.to_owned(),
                name: name.take(),
                lines: inside,
            });
        }
    }
    blocks
}

/// The commands of a document for a shell, without those that are tried elsewhere.
fn script(blocks: &[Block]) -> String {
    let lines = blocks
        .iter()
        .filter(|block| block.language == "sh")
        .flat_map(|block| &block.lines);
    let here = lines.filter(|line| !ELSEWHERE.iter().any(|(begins, _)| line.starts_with(begins)));
    here.map(|line| format!("{line}\n")).collect()
}

fn tried(guide: &Guide) -> Result<()> {
    let Guide(path, _, prints) = guide;
    let (program, data, scratch) = (
        program()?,
        directory_on(Kind::Ext4),
        directory_on(Kind::Ext4),
    );
    let places = [("/data", data.path()), ("/scratch", scratch.path())];
    let small = |text: &str| {
        let text = ["256MiB", "64MiB", "16MiB", "1GiB"]
            .iter()
            .fold(text.to_owned(), |text, size| text.replace(size, "1MiB"));
        let counts = [
            ("count=256", "count=8"),
            ("--count 10000", "--count 100"),
            ("--count 2000", "--count 100"),
        ];
        let text = counts
            .iter()
            .fold(text, |text, (count, fewer)| text.replace(count, fewer));
        places.iter().fold(
            text.replace("size=100000KiB", "size=2000KiB"),
            |text, (name, place)| text.replace(name, &place.display().to_string()),
        )
    };
    let work = program.home().join("work");
    fs::create_dir(&work)?;
    for (name, content) in [
        ("writebench", SMALL),
        ("my-writer", COPIES),
        ("save", COPIES),
        ("old", COPIES),
        ("new", COPIES),
    ] {
        fs::write(work.join(name), content)?;
        fs::set_permissions(work.join(name), Permissions::from_mode(0o755))?;
    }
    fs::write(work.join("input.bin"), vec![7; 1 << 20])?;
    let blocks = blocks(&text(path)?);
    for block in &blocks {
        if let Some(name) = &block.name {
            fs::write(work.join(name), block.lines.join("\n") + "\n")?;
        }
    }
    let script = small(&script(&blocks));
    let printed = run(&program, &work, &script)?;
    for words in *prints {
        // On a busy machine, a search in a few seconds has no answer.
        let has_no_answer = *words == "Recommended: "
            && (printed.contains("ended too early for advice") || printed.contains("No advice: "));
        ensure!(
            printed.contains(words) || has_no_answer,
            "no '{words}' in the output of\n{script}\n{printed}"
        );
    }
    Ok(())
}

/// What a script printed, its errors too: the result of a copy by redirection is among them.
fn run(program: &Program, work: &Path, script: &str) -> Result<String> {
    let mut shell = std::process::Command::new("sh");
    let path = std::env::var("PATH").unwrap_or_default();
    let home = program.home();
    shell
        .args(["-ec", &format!("exec 2>&1\n{script}")])
        .current_dir(work);
    shell
        .env("PATH", format!("{}:{path}", work.display()))
        .env("WRITEBENCH", program.binary());
    shell
        .env("HOME", home)
        .env("XDG_DATA_HOME", home)
        .env_remove("WRITEBENCH_DB");
    let output = shell.output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "{}: {script}\n{printed}",
        output.status
    );
    Ok(printed)
}

fn all_are_tried() -> Result<()> {
    let how_tos = fs::read_dir(root().join("docs/how-to"))?
        .flatten()
        .map(|entry| entry.path());
    let of_guides: Vec<PathBuf> = GUIDES.iter().map(|guide| root().join(guide.0)).collect();
    for how_to in how_tos {
        ensure!(
            of_guides.contains(&how_to),
            "no test tries {}",
            how_to.display()
        );
    }
    let texts = GUIDES
        .iter()
        .map(|guide| text(guide.0))
        .collect::<Result<Vec<_>>>()?;
    let blocks: Vec<Block> = texts.iter().flat_map(|text| blocks(text)).collect();
    for (begins, _) in ELSEWHERE {
        let is_there = blocks
            .iter()
            .flat_map(|block| &block.lines)
            .any(|line| line.starts_with(begins));
        ensure!(
            is_there,
            "no document has a command that begins with {begins}"
        );
    }
    Ok(())
}
