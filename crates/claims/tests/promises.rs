//! What a power loss leaves of files that printed code has written. Programs with a mistake must be caught, or these tests
//! could not fail.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use writebench_claims::{Claim, Expected, Filesystem, claims, recorded_twice};
use writebench_filesystems::{DiskKind, PrivateMounts};
use writebench_powerloss::{DiskRequest, Error, Limits, Request, Steps, record, rehearse};
use writebench_testkit::{Need, Trials};

const LIMITS: Limits = Limits {
    time: Duration::from_secs(600),
    is_stopped: || false,
};
/// The disks of each recording. There are two.
const MOST_STATES: usize = 60;

fn main() -> ExitCode {
    let mut trials = Trials::default();
    trials.add(
        "a disk that is made later does not keep an earlier one in use",
        &[Need::Fuse, Need::Image("ext4")],
        two_disks,
    );
    trials.add(
        "a program is traced to its end although the same thread has another child",
        &[Need::Fuse],
        other_child,
    );
    let added = add(&mut trials);
    if let Err(error) = added {
        trials.add("the claims", &[], || Err(error));
    }
    trials.run(2)
}

fn add(trials: &mut Trials) -> Result<()> {
    for claim in claims()? {
        for &filesystem in claim.tested_on {
            let claim = claim.clone();
            trials.add(
                title(&claim, filesystem),
                &claim.needs(filesystem),
                move || claim.verify(filesystem, MOST_STATES),
            );
        }
    }
    for claim in recorded_twice()? {
        for &filesystem in claim.tested_on {
            let others = ["qemu-storage-daemon", "setpriv"].map(Need::Program);
            let claim = claim.clone();
            trials.add(
                format!("by the recorder of qemu: {}", title(&claim, filesystem)),
                &[&claim.needs(filesystem)[..], &others].concat(),
                move || claim.verify_on_qemu(filesystem, MOST_STATES),
            );
        }
    }
    Ok(())
}

fn title(claim: &Claim, filesystem: Filesystem) -> String {
    let caught = match claim.expected {
        Expected::Holds => "",
        Expected::IsBroken => " is caught",
    };
    let program = claim.program();
    format!("{}{caught}: {program}, {}", claim.title, filesystem.name())
}

/// The second disk is made while the first is there, and outlives it. An error of one lets the other go on, because all
/// channels end with it.
fn two_disks() -> Result<()> {
    let (first_is_made, has_first) = channel();
    let (second_is_made, has_second) = channel();
    let (end_second, is_over) = channel::<()>();
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            empty_recording(&|_| {
                let _ = first_is_made.send(());
                let _ = has_second.recv();
                Ok(())
            })
        });
        let second = scope.spawn(move || {
            let _ = has_first.recv();
            empty_recording(&|_| {
                let _ = second_is_made.send(());
                let _ = is_over.recv();
                Ok(())
            })
        });
        let first = first.join().unwrap_or_else(|_| bail!("a panic"));
        drop(end_second);
        let second = second.join().unwrap_or_else(|_| bail!("a panic"));
        first.context("the first").and(second.context("the second"))
    })
}

/// Records a program that does nothing.
fn empty_recording(set_up: &dyn Fn(&Path) -> Result<(), Error>) -> Result<()> {
    let kind: DiskKind = "ext4".parse()?;
    let request = Request {
        disk: DiskRequest {
            kind: &kind,
            mkfs_options: &[],
            mount_options: None,
            disk_bytes: 64 << 20,
        },
        set_up,
        program: &|_, _| Command::new("true"),
        finish: &|_| {},
        is_durable_at_exit: false,
        steps: Steps::Own,
        limits: LIMITS,
    };
    record(&PrivateMounts::enter(&[])?, &request)?;
    Ok(())
}

/// The compiler of Java runs as long as the tests, as a child of the thread that needs it first.
fn other_child() -> Result<()> {
    let (ended, has_ended) = channel();
    std::thread::spawn(move || {
        let _ = ended.send(traced_beside_a_child());
    });
    let traced = has_ended.recv_timeout(Duration::from_secs(120));
    traced.context("the trace does not end")?
}

fn traced_beside_a_child() -> Result<()> {
    let mut child = Command::new("sleep").arg("300").spawn()?;
    let traced = rehearse(&PrivateMounts::enter(&[])?, &[], LIMITS);
    child.kill()?;
    child.wait()?;
    Ok(traced?)
}
