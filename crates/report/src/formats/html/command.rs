use writebench_model::{
    Bytes, CaseRecord, Durability, FilesystemSpec, RunRecord, Settings, Start, TargetRecord,
};

use crate::sentences::quoted;

/// The run's command except its case, such as `writebench run /data`. The user must add the permission to destroy a
/// device.
pub(super) fn again(run: &RunRecord, target: &TargetRecord) -> String {
    let mut command = match &target.made_filesystem {
        Some(making) => make(making),
        None => format!("writebench run {}", quoted(&target.path)),
    };
    if let Some(from) = &run.settings.copy_from {
        command += &format!(" --from {}", quoted(from));
    }
    command
}

/// The options that measure a user program again, or None for other cases.
pub(super) fn of_program(case: &CaseRecord, settings: &Settings) -> Option<String> {
    let commands = settings.program_for(case.case.known()?)?;
    let joined = |words: &[String]| shlex::try_join(words.iter().map(String::as_str)).ok();
    let beside = |(option, words): (&str, &[String])| match joined(words) {
        Some(command) if !words.is_empty() => format!(" --{option} {}", quoted(&command)),
        _ => String::new(),
    };
    let beside: String = [("setup", &*commands.setup), ("cleanup", &*commands.cleanup)]
        .map(beside)
        .concat();
    let (workload, copies) = (&case.workload, case.case.known()?.method().copies());
    let size = Bytes(workload.bytes);
    let durable = if workload.durability == Durability::Durable {
        " --durable"
    } else {
        ""
    };
    let copies = if copies { " --copies" } else { "" };
    let existing = if workload.start == Start::Existing {
        " --existing"
    } else {
        ""
    };
    Some(format!(
        "--command {} --bytes {size}{durable}{existing}{copies}{beside}",
        quoted(&joined(&commands.program)?)
    ))
}

fn make(making: &FilesystemSpec) -> String {
    let FilesystemSpec {
        kind,
        images,
        mkfs_options,
        mount_options,
        ..
    } = making;
    let mut command = format!("writebench fs --on {}", quoted(kind));
    if let Some(image) = images.first() {
        command += &format!(" --images {}", quoted(&image.directory));
    }
    if !mkfs_options.is_empty() {
        let options: Vec<String> = mkfs_options.iter().map(|word| quoted(word)).collect();
        command += &format!(
            " --mkfs-options {}",
            quoted(&format!("{kind}={}", options.join(" ")))
        );
    }
    if let Some(options) = mount_options {
        command += &format!(" --mount-options {}", quoted(&format!("{kind}={options}")));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_testkit::example_run;

    #[test]
    fn a_directory_with_an_odd_name_is_one_word() {
        let mut run = example_run();
        run.targets[0].path = "/data/it's $(here)".to_owned();
        assert_eq!(
            again(&run, &run.targets[0]),
            r#"writebench run "/data/it's "'$(here)'"#
        );
        run.settings.copy_from = Some("/x y".to_owned());
        assert!(again(&run, &run.targets[0]).ends_with(" --from '/x y'"));
    }

    #[test]
    fn a_filesystem_that_was_made_is_made_again() {
        let mut run = example_run();
        run.targets[0].made_filesystem = Some(FilesystemSpec {
            kind: "ext4".to_owned(),
            images: Vec::new(),
            commands: Vec::new(),
            mkfs_options: ["-b", "1024", "-L", "a b"].map(str::to_owned).to_vec(),
            mount_options: Some("noatime".to_owned()),
        });
        assert_eq!(
            again(&run, &run.targets[0]),
            r#"writebench fs --on ext4 --mkfs-options "ext4=-b 1024 -L 'a b'" --mount-options ext4=noatime"#
        );
    }
}
