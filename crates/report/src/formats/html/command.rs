use writebench_model::{Bytes, CaseRecord, Durability, FilesystemSpec, RunRecord, Start, TargetRecord};

use crate::sentences::quoted;

/// Without the case, such as `writebench run /data`. The user must add the permission to destroy a device.
pub(super) fn again(run: &RunRecord, target: &TargetRecord) -> String {
    let mut words = vec!["writebench".to_owned()];
    match &target.making {
        Some(making) => words.extend(make(making)),
        None => words.extend(["run".to_owned(), quoted(&target.path)]),
    }
    if let Some(from) = &run.settings.copy_from {
        words.extend(["--from".to_owned(), quoted(from)]);
    }
    words.join(" ")
}

/// None for cases other than user programs.
pub(super) fn of_program(case: &CaseRecord) -> Option<String> {
    let command = case.program()?;
    let (contract, copies) = (&case.contract, case.case.known()?.method().copies());
    let size = Bytes(contract.bytes);
    let durable = if contract.durability == Durability::Durable { " --durable" } else { "" };
    let copies = if copies { " --copies" } else { "" };
    let existing = if contract.start == Start::Existing { " --existing" } else { "" };
    Some(format!("--command {} --bytes {size}{durable}{existing}{copies}", quoted(command)))
}

fn make(making: &FilesystemSpec) -> Vec<String> {
    let mut words = vec!["fs".to_owned(), "--on".to_owned(), quoted(&making.kind)];
    if let Some(image) = making.images.first() {
        words.extend(["--images".to_owned(), quoted(&image.directory)]);
    }
    if !making.mkfs_options.is_empty() {
        let given: Vec<String> = making.mkfs_options.iter().map(|word| quoted(word)).collect();
        let options = format!("{}={}", making.kind, given.join(" "));
        words.extend(["--mkfs-options".to_owned(), quoted(&options)]);
    }
    if let Some(options) = &making.mount_options {
        words.extend(["--mount-options".to_owned(), quoted(&format!("{}={options}", making.kind))]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_testkit::example_run;

    #[test]
    fn a_directory_with_an_odd_name_is_one_word() {
        let mut run = example_run();
        run.targets[0].path = "/data/it's $(here)".to_owned();
        assert_eq!(again(&run, &run.targets[0]), r#"writebench run "/data/it's "'$(here)'"#);
        run.settings.copy_from = Some("/x y".to_owned());
        assert!(again(&run, &run.targets[0]).ends_with(" --from '/x y'"));
    }

    #[test]
    fn a_filesystem_that_was_made_is_made_again() {
        let mut run = example_run();
        run.targets[0].making = Some(FilesystemSpec {
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
