//! Prints the support for direct I/O on a file, and the facts of its device.
//!
//! `cargo run -p direct-io --example direct_io -- PATH`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints its result"
)]

use std::ffi::OsString;
use std::process::ExitCode;

use direct_io::{BlockDevice, DirectIo, Error, OpenOptions};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: direct_io PATH");
        return ExitCode::from(2);
    };
    match show(path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("direct_io: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show(path: OsString) -> Result<(), Error> {
    let file = OpenOptions::new().read(true).open(&path)?;
    println!("{:?}", DirectIo::for_file(&file)?);
    let device = match BlockDevice::from_file(&file) {
        Err(Error::NotADevice) => BlockDevice::below(&file),
        device => device,
    };
    println!("{:?}", device?);
    Ok(())
}
