use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use etcetera::BaseStrategy;
use writebench_model::Failure;
use writebench_report::formats::{display_width, padded};
use writebench_report::{Report, quoted};
use writebench_store::Store;

use crate::exit::usage;
use crate::output::Output;
use crate::run_name::{RunName, RunSelector};

pub(crate) const VARIABLE: &str = "WRITEBENCH_DB";

/// The default is the user's database.
pub(crate) fn path(named: Option<&Path>) -> Result<PathBuf> {
    named.map_or_else(default_path, |path| Ok(path.to_path_buf()))
}

/// The named database, that of the environment, and the default.
pub(crate) fn paths(named: Option<&Path>) -> Vec<PathBuf> {
    let of_environment = std::env::var_os(VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    // Without a home directory there is no default.
    named
        .map(Path::to_path_buf)
        .into_iter()
        .chain(of_environment)
        .chain(default_path().ok())
        .collect()
}

/// Creates a missing database, and its directory, for this user only.
pub(crate) fn open(named: Option<&Path>) -> Result<Store> {
    let path = path(named)?;
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty() && !parent.exists())
    {
        // A mistyped path must not leave a tree of directories.
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700).recursive(named.is_none());
        builder
            .create(directory)
            .map_err(|error| cannot_make(directory, named, &error))?;
    }
    Ok(Store::open(&path)?)
}

fn cannot_make(directory: &Path, named: Option<&Path>, error: &io::Error) -> anyhow::Error {
    let above = directory
        .parent()
        .filter(|above| !above.as_os_str().is_empty());
    let (above, directory) = (
        above.filter(|above| named.is_some() && !above.exists()),
        directory.display(),
    );
    match above.map(Path::display) {
        Some(above) => usage!(
            "database: cannot make {directory}, because {above} is missing. Make that directory, or name another database \
             with --db"
        ),
        None => {
            let why = Failure::io_message(error);
            anyhow!(
                "database: cannot make {directory}: {why}. Name another database, such as --db ./writebench.db"
            )
        }
    }
}

pub(crate) fn open_existing(named: Option<&Path>) -> Result<Store> {
    let path = path(named)?;
    let none = || {
        usage!(
            "no runs yet: {} does not exist. `writebench run` creates it",
            path.display()
        )
    };
    open_if_there(&path)?.ok_or_else(none)
}

/// Opens the database, or returns None if nothing is at the path.
pub(crate) fn open_if_there(path: &Path) -> Result<Option<Store>> {
    // A dangling link is refused like all links.
    let is_there = path.exists() || path.is_symlink();
    Ok(is_there.then(|| Store::open_to_read(path)).transpose()?)
}

/// Says how to see more of the run, and how to print its answers as code if it is the newest.
pub(crate) fn note_next_commands(
    output: &Output,
    store: &Store,
    report: &Report,
    target: Option<&str>,
) {
    let Some(number) = report.number else {
        return;
    };
    let run = target.map_or(number.to_string(), |target| {
        quoted(&format!("{number}@{target}"))
    });
    let database = option(store);
    let is_newest = store
        .newest_run()
        .is_ok_and(|newest| newest == Some(number));
    let mut commands = Vec::new();
    if let Some(arguments) = report.code_arguments().filter(|_| is_newest) {
        commands.push((
            format!("writebench{database} code {arguments}"),
            "the method as a function".to_owned(),
        ));
    }
    if let Some((target, goal)) = report.goal_to_search() {
        commands.push((
            format!(
                "writebench{database} advise {} --for {goal}",
                quoted(&target)
            ),
            "search hundreds of methods".to_owned(),
        ));
    }
    commands.push((
        format!("writebench{database} show {run} --all"),
        "all cases and exact names".to_owned(),
    ));
    commands.push((
        format!("writebench{database} report {run}"),
        "all results as a web page".to_owned(),
    ));
    next_lines(&commands, output.width())
        .iter()
        .for_each(|line| output.note(line));
}

/// Commands with what they print beside them, or above if a line would be too long.
fn next_lines(commands: &[(String, String)], width: Option<usize>) -> Vec<String> {
    const NEXT: &str = "Next:  ";
    let length = |(command, _): &(String, String)| display_width(command);
    let widest = commands.iter().map(length).max().unwrap_or(0);
    let all_fit = commands.iter().all(|(_, what)| {
        let needed = NEXT.len() + widest + 2 + display_width(what);
        width.is_none_or(|width| needed <= width)
    });
    if !all_fit {
        let lines = commands
            .iter()
            .flat_map(|(command, what)| [format!("  # {what}"), format!("  {command}")]);
        return [NEXT.trim_end().to_owned()]
            .into_iter()
            .chain(lines)
            .collect();
    }
    let lines = commands.iter().enumerate().map(|(place, (command, what))| {
        let next = if place == 0 { NEXT } else { "" };
        let command = padded(command, widest);
        format!("{next:indent$}{command}  {what}", indent = NEXT.len())
    });
    lines.collect()
}

/// ` --db FILE`, if it is needed.
pub(crate) fn option(store: &Store) -> String {
    match default_path() {
        Ok(path) if path == store.path() => String::new(),
        _ => format!(" --db {}", quoted(&store.path().to_string_lossy())),
    }
}

pub(crate) fn newest(store: &Store) -> Result<RunSelector> {
    let none = || {
        usage!(
            "no runs in {}. `writebench run` adds one",
            store.path().display()
        )
    };
    Ok(RunSelector {
        run: RunName::Number(store.newest_run()?.ok_or_else(none)?),
        target: None,
    })
}

fn default_path() -> Result<PathBuf> {
    let home =
        etcetera::choose_base_strategy().context("no home directory. Name a database with --db")?;
    Ok(home.data_dir().join("writebench").join("writebench.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_beside_what_it_prints_or_below() {
        let commands = [
            ("writebench code --for log --lang c", "a function"),
            ("writebench report 1", "a page"),
        ]
        .map(|(command, what)| (command.to_owned(), what.to_owned()));
        assert_eq!(
            next_lines(&commands, Some(80)),
            [
                "Next:  writebench code --for log --lang c  a function",
                "       writebench report 1                 a page",
            ]
        );
        assert_eq!(
            next_lines(&commands, Some(50)),
            [
                "Next:",
                "  # a function",
                "  writebench code --for log --lang c",
                "  # a page",
                "  writebench report 1",
            ]
        );
    }
}
