use writebench_model::{
    Bytes, Content, Contract, DataSource, Durability, Keeper, Start, TargetRecord,
};

/// The question to which a contract's best case is the answer. `target` is None if the answer itself names one of
/// several targets, and `promised` says who promises that durable data is kept.
pub(crate) fn question(
    contract: &Contract,
    target: Option<&TargetRecord>,
    promised: &str,
) -> String {
    let bytes = Bytes(contract.bytes).in_words();
    // Record by record is not a stream.
    let write = if contract.durable_every_bytes.is_some() {
        "write"
    } else {
        "stream"
    };
    let memory = contract
        .memory
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    let what = match contract.content {
        Content::Random => {
            format!(
                "{write} {bytes}{}{memory}{}",
                contract.zeros_in_words(),
                source(contract.source)
            )
        }
        Content::Zero => format!(
            "{write} {bytes} of zeros{memory}{}",
            source(contract.source)
        ),
        Content::Copy => format!("copy {bytes}{}", source(contract.source)),
        Content::SharedCopy => format!("share the blocks of {bytes}{}", source(contract.source)),
        Content::Sparse => format!("make {bytes} with holes{}", source(contract.source)),
        Content::Reserved => format!("reserve the blocks of {bytes}"),
        Content::Hole => format!("set a length of {bytes} without blocks"),
        Content::Nothing => format!("pass over {bytes} without a call"),
    };
    let checksums = contract
        .checksums
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    let needs_promise =
        contract.durability == Durability::Durable && promised != Keeper::Disk.words();
    let promised = if needs_promise {
        format!(" {promised}")
    } else {
        String::new()
    };
    format!(
        "To {what} {}{checksums}, {}{promised}",
        destination(contract, target),
        contract.durability_in_words()
    )
}

fn source(source: DataSource) -> &'static str {
    match source {
        DataSource::Memory => "",
        DataSource::Chunk => " from one repeated chunk of memory",
        DataSource::WarmFile => " from a file in the page cache",
        DataSource::ColdFile => " from a file outside the page cache",
    }
}

fn destination(contract: &Contract, target: Option<&TargetRecord>) -> String {
    if let Some(device) = target.filter(|target| target.environment.filesystem.is_block_device()) {
        return format!("onto the device {}", device.path);
    }
    let into = if !contract.content.is_data() {
        "for"
    } else {
        "into"
    };
    // A made filesystem's path is gone. A directory's name is its path.
    let on = target.map_or(String::new(), |target| format!(" on {}", target.name));
    let files = match (contract.files, contract.start) {
        (1, Start::New) => "a new file".to_owned(),
        (1, Start::Existing) => "an existing file".to_owned(),
        (files, start) => format!("{files} {start} files"),
    };
    // Files in memory are always cached. With several targets, some may be in memory.
    let is_on_disk = target.is_some_and(|target| !target.environment.filesystem.is_in_memory());
    let is_cold = contract.start == Start::Existing && is_on_disk;
    let before = if is_cold {
        " with none of its old content cached"
    } else {
        ""
    };
    format!("{into} {files}{on}{before}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Checksums, DataMemory};
    use writebench_testkit::{example_case, example_target};

    #[test]
    fn each_part_of_a_contract_is_in_its_question() {
        let asked = |change: fn(&mut Contract)| {
            let mut contract = example_case("test", "write", Vec::new()).contract;
            change(&mut contract);
            question(&contract, Some(&example_target("/data")), "disk")
        };
        let questions = [
            asked(|_| {}),
            asked(|contract| contract.content = Content::Zero),
            asked(|contract| contract.zero_percent = 50),
            asked(|contract| contract.bytes = 4097),
            asked(|contract| contract.files = 4),
            asked(|contract| contract.start = Start::Existing),
            asked(|contract| contract.source = DataSource::Chunk),
            asked(|contract| contract.memory = DataMemory::HugePages),
            asked(|contract| contract.memory = DataMemory::PageAligned),
            asked(|contract| contract.checksums = Checksums::No),
            asked(|contract| contract.durability = Durability::Durable),
            asked(|contract| {
                (contract.durability, contract.durable_every_bytes) =
                    (Durability::Durable, Some(4096));
            }),
            asked(|contract| {
                (contract.content, contract.source) = (Content::Copy, DataSource::WarmFile);
            }),
            asked(|contract| {
                (contract.content, contract.source) = (Content::Copy, DataSource::ColdFile);
            }),
            asked(|contract| contract.content = Content::Reserved),
            asked(|contract| contract.content = Content::Hole),
            asked(|contract| contract.content = Content::Nothing),
        ];
        insta::assert_snapshot!(questions.join("\n"));
        let different: std::collections::HashSet<&String> = questions.iter().collect();
        assert_eq!(different.len(), questions.len());
    }

    #[test]
    fn a_device_is_named_and_several_targets_are_not() {
        let contract = example_case("test", "write", Vec::new()).contract;
        let mut device = example_target("/dev/sdb");
        device.environment.filesystem.kind = "block device".to_owned();
        assert_eq!(
            question(&contract, Some(&device), "disk"),
            "To stream 1 GiB onto the device /dev/sdb, in the page cache"
        );
        assert_eq!(
            question(&contract, None, "disk"),
            "To stream 1 GiB into a new file, in the page cache"
        );
    }
}
