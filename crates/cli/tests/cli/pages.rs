//! `crates/report/page/tests/` tests the content in browsers.

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Ended, Kind, Need, Program, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = Need::Filesystem(Kind::Tmpfs);
    trials.add(
        "report: a page shows the newest run, labels, or exports",
        &[tmpfs],
        pages,
    );
    trials.add(
        "report: every refusal is one line, and leaves no file",
        &[tmpfs],
        refusals,
    );
    trials.add(
        "report: a run can end with its page",
        &[tmpfs],
        page_of_a_run,
    );
}

fn measure(program: &Program, label: &str) -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    let words = [
        "--case",
        "write,size=1MiB",
        "--case",
        "mmap,size=1MiB",
        "--samples",
        "2",
        "--label",
        label,
    ];
    program.run(target.path(), &words, 0)?;
    Ok(())
}

fn call(program: &Program, arguments: &[&str], code: i32) -> Result<Ended> {
    let ended = program.call(arguments)?;
    ensure!(
        ended.code == Some(code),
        "expected exit code {code}: {ended:#?}"
    );
    Ok(ended)
}

/// From the page's title: `NAME on TARGET`, or `NAME and NAME`.
fn runs_of(page: &str) -> Result<Vec<String>> {
    let (_, title) = page.split_once("<title>").context("a title")?;
    let names = title.split(['<', '·']).next().unwrap_or_default().trim();
    let names = names.split(" on ").next().unwrap_or_default();
    Ok(names.split(" and ").map(str::to_owned).collect())
}

fn pages() -> Result<()> {
    let program = program()?;
    measure(&program, "before")?;
    measure(&program, "after")?;
    let page = |runs: &[&str], expected: &[&str]| -> Result<()> {
        let words = [&["report"], runs, &["-o", "-"]].concat();
        let found = runs_of(&call(&program, &words, 0)?.stdout)?;
        ensure!(found == expected, "{runs:?}: {found:?}");
        Ok(())
    };
    page(&[], &["after"])?;
    page(&["1"], &["before"])?;
    page(&["before", "after"], &["before", "after"])?;
    let export = program.home().join("x.json");
    let export = export.to_string_lossy();
    call(
        &program,
        &["show", "1", "--export", &format!("json={export}")],
        0,
    )?;
    page(&[&export, "2"], &["before", "after"])?;
    let file = program.home().join("page.html");
    let ended = call(&program, &["report", "-o", &file.to_string_lossy()], 0)?;
    ensure!(
        ended.stdout.is_empty() && ended.stderr.contains("page.html"),
        "{ended:#?}"
    );
    ensure!(runs_of(&std::fs::read_to_string(file)?)? == ["after"]);
    Ok(())
}

fn refusals() -> Result<()> {
    let program = program()?;
    let home = program.home().to_string_lossy().into_owned();
    call(&program, &["report", "-o", &format!("{home}/a.html")], 2)?;
    measure(&program, "one")?;
    for (runs, file, wanted, code) in [
        (&["7"][..], "a.html", "no run 7", 2),
        (&["nobody"], "a.html", "nobody", 2),
        (&["no/such.json"], "a.html", "no/such.json", 2),
        (&["1@ext4"], "a.html", "ext4", 2),
        (&["1"], "no/such/a.html", "not a directory", 2),
        (&["1"], ".", "directory", 2),
    ] {
        let file = format!("{home}/{file}");
        let words = [&["report"], runs, &["-o", &file]].concat();
        let ended = call(&program, &words, code)?;
        ensure!(
            ended.stderr.lines().count() == 1 && ended.stderr.contains(wanted),
            "{runs:?}: {ended:#?}"
        );
    }
    ensure!(
        !program.home().join("a.html").exists(),
        "half a page was left"
    );
    Ok(())
}

fn page_of_a_run() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let file = program.home().join("r.html");
    let export = format!("html={}", file.display());
    program.run(
        target.path(),
        &[
            "--case",
            "write,size=1MiB",
            "--samples",
            "1",
            "--export",
            &export,
        ],
        0,
    )?;
    ensure!(runs_of(&std::fs::read_to_string(file)?)? == ["run 1"]);
    Ok(())
}
