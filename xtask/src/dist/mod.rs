mod archive;
mod build;
mod node;
mod notices;
mod packages;
mod release;
mod reproducible;
mod templates;
mod tools;
mod tried;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use writebench_testkit::command::folder_for;

use self::release::{Release, TARGETS};
use crate::docs;

#[derive(Args)]
pub(crate) struct Options {
    /// Make all files a second time, in another clone and another folder, and compare the bytes
    #[arg(long)]
    twice: bool,
    /// Use each file like its users: in an empty root, on Debian, by pip, npm and cargo. Needs root
    #[arg(long = "try")]
    is_tried: bool,
}

pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.twice {
        reproducible::is_possible()?;
    }
    let folder = folder_for("dist")?;
    fs::remove_dir_all(&folder)
        .and_then(|()| fs::create_dir(&folder))
        .context("emptying target/dist")?;
    let release = Release::of_this_tree(folder)?;
    let notices = notices::third_party(&release)?;
    let mut files = Vec::<PathBuf>::new();
    for target in TARGETS {
        let program = build::program(target, &release)?;
        let tree = archive::tree(target, &program, &notices, &release)?;
        files.push(archive::tarball(&tree, &release)?);
        files.extend(packages::both(target, &tree, &release)?);
        files.extend(templates::of_target(target, &tree, &release)?);
    }
    files.extend(templates::of_all(&release)?);
    files.extend(node::tarballs(&release)?);
    files.push(notices::bill_of_materials(&release)?);
    let site = release
        .folder
        .with_file_name(format!("writebench-{}-docs", release.version));
    docs::build(&site)?;
    files.push(archive::tarball(&site, &release)?);
    fs::write(
        release.folder.join("SHA256SUMS"),
        archive::sums(&files, &release)?,
    )?;
    println!("\n{}", release.folder.display());
    for file in &files {
        let size_kib = fs::metadata(file)?.len() / 1024;
        println!(
            "  {size_kib:6} KiB  {}",
            file.file_name().unwrap_or_default().display()
        );
    }
    if options.twice {
        reproducible::check(&release)?;
    }
    if options.is_tried {
        tried::all(&release)
    } else {
        Ok(true)
    }
}
