//! What a power loss leaves of files that printed code has written. Programs with a mistake must be caught, or these tests
//! could not fail.

use std::process::ExitCode;

use anyhow::Result;
use writebench_claims::{Claim, Expected, Filesystem, claims, recorded_twice};
use writebench_testkit::{Need, Trials};

/// The disks of each recording. There are two.
const MOST_STATES: usize = 60;

fn main() -> ExitCode {
    let mut trials = Trials::default();
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
