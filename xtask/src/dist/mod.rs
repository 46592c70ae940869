mod archive;
mod build;
mod node;
mod notices;
mod packages;
mod release;
mod reproducible;
mod tools;
mod tried;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use self::release::{Release, TARGETS, Target};
use crate::command::target_directory;

#[derive(Args)]
pub(crate) struct Options {
    /// Only for these targets [default: all]
    #[arg(long = "target", value_name = "TARGET", value_parser = Target::from_name)]
    targets: Vec<Target>,
    /// Only the tarballs with the program
    #[arg(long)]
    only_tarballs: bool,
    /// Build a second time, in another clone and another folder, and compare the bytes
    #[arg(long)]
    twice: bool,
    /// Use each file as its users would: in an empty root, on Debian, with several versions of Node; as root
    #[arg(long = "try")]
    is_tried: bool,
}

pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.twice {
        reproducible::is_possible()?;
    }
    let folder = target_directory()?.join("dist");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", folder.display()));
        }
        _ => fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?,
    }
    let release = Release::of_this_tree(folder)?;
    let targets = if options.targets.is_empty() { TARGETS } else { &options.targets };
    let mut trees = Vec::new();
    for &target in targets {
        let program = build::program(target, &release)?;
        if options.twice {
            reproducible::check(target, &program, &release)?;
        }
        trees.push((target, program));
    }
    let notices = notices::third_party(&release)?;
    let mut files = Vec::<PathBuf>::new();
    for (target, program) in &trees {
        let tree = archive::tree(*target, program, &notices, &release)?;
        files.push(archive::tarball(*target, &tree, &release)?);
        if !options.only_tarballs {
            files.push(packages::deb(*target, &tree, &release)?);
            files.push(packages::rpm(*target, &tree, &release)?);
        }
    }
    if !options.only_tarballs {
        files.extend(node::tarballs(&release)?);
        files.push(notices::bill_of_materials(&release)?);
    }
    archive::sums(&files, &release)?;
    println!("\n{}", release.folder.display());
    for file in &files {
        let size_kib = fs::metadata(file)?.len() / 1024;
        println!("  {size_kib:6} KiB  {}", file.file_name().unwrap_or_default().display());
    }
    if options.is_tried { tried::all(targets, options.only_tarballs, &release) } else { Ok(true) }
}
