use writebench_model::{
    Bytes, Content, DataSource, Durability, Keeper, Start, TargetRecord, Visibility, Workload,
};

use crate::sentences::words::in_one_line;

/// The question to which a workload's best case is the answer. `target` is None if the answer itself names one of
/// several targets, and `promised` says who promises that durable data is kept.
pub(crate) fn question(
    workload: &Workload,
    target: Option<&TargetRecord>,
    promised: &str,
) -> String {
    let bytes = Bytes(workload.bytes).in_words();
    // Neither records nor a file that is replaced are a stream.
    let is_replaced = is_replaced(workload);
    let write = if workload.durable_every_bytes.is_some() || is_replaced {
        "write"
    } else {
        "stream"
    };
    let memory = workload
        .memory
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    let what = match workload.content {
        Content::Random => {
            format!(
                "{write} {bytes}{}{memory}{}{}",
                workload.zeros_in_words(),
                source(workload.source),
                workload.pages_in_words()
            )
        }
        Content::Zero => format!(
            "{write} {bytes} of zeros{memory}{}",
            source(workload.source)
        ),
        Content::Copy => format!("copy {bytes}{}", source(workload.source)),
        Content::SharedCopy => format!("share the blocks of {bytes}{}", source(workload.source)),
        Content::Sparse if workload.source.is_file() => {
            format!("copy {bytes} with its holes{}", source(workload.source))
        }
        Content::Sparse => format!("make {bytes} with holes{}", source(workload.source)),
        Content::Reserved => format!("reserve the blocks of {bytes}"),
        Content::Hole => format!("set a length of {bytes} without blocks"),
        Content::Nothing => format!("pass over {bytes} without a call"),
    };
    let checksums = workload
        .checksums
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    let needs_promise =
        workload.durability == Durability::Durable && promised != Keeper::Disk.words();
    let promised = if needs_promise {
        format!(" {promised}")
    } else {
        String::new()
    };
    format!(
        "To {what} {}{checksums}, {}{promised}",
        destination(workload, target),
        workload.durability_in_words()
    )
}

fn is_replaced(workload: &Workload) -> bool {
    workload.start == Start::Existing && workload.visibility == Visibility::Complete
}

fn source(source: DataSource) -> &'static str {
    match source {
        DataSource::Memory => "",
        DataSource::Chunk => " from one repeated chunk of memory",
        DataSource::WarmFile => " from a file in the page cache",
        DataSource::ColdFile => " from a file outside the page cache",
    }
}

fn destination(workload: &Workload, target: Option<&TargetRecord>) -> String {
    if let Some(device) = target.filter(|target| target.environment.filesystem.is_block_device()) {
        return format!("onto the device {}", device.path);
    }
    let into = if !workload.content.is_data() {
        "for"
    } else {
        "into"
    };
    // A made filesystem's path is gone. A directory's name is its path.
    let on = target.map_or(String::new(), |target| {
        format!(" on {}", in_one_line(&target.name))
    });
    let files = match (workload.files, workload.start) {
        (1, _) if is_replaced(workload) => "a file that replaces an existing one".to_owned(),
        (1, Start::New) => "a new file".to_owned(),
        (1, Start::Existing) => "an existing file".to_owned(),
        (files, start) => format!("{files} {start} files"),
    };
    // Files in memory are always cached. With several targets, some may be in memory.
    let is_on_disk = target.is_some_and(|target| !target.environment.filesystem.is_in_memory());
    let is_cold = workload.start == Start::Existing && is_on_disk;
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
    fn each_part_of_a_workload_is_in_its_question() {
        let asked = |change: fn(&mut Workload)| {
            let mut workload = example_case("test", "write", Vec::new()).workload;
            change(&mut workload);
            question(&workload, Some(&example_target("/data")), "disk")
        };
        let questions = [
            asked(|_| {}),
            asked(|workload| workload.content = Content::Zero),
            asked(|workload| workload.zero_percent = 50),
            asked(|workload| workload.bytes = 4097),
            asked(|workload| workload.files = 4),
            asked(|workload| workload.start = Start::Existing),
            asked(|workload| {
                (workload.start, workload.visibility) = (Start::Existing, Visibility::Complete);
            }),
            asked(|workload| workload.source = DataSource::Chunk),
            asked(|workload| workload.memory = DataMemory::HugePages),
            asked(|workload| workload.memory = DataMemory::PageAligned),
            asked(|workload| workload.checksums = Checksums::No),
            asked(|workload| workload.durability = Durability::Durable),
            asked(|workload| {
                (workload.durability, workload.durable_every_bytes) =
                    (Durability::Durable, Some(4096));
            }),
            asked(|workload| {
                (workload.content, workload.source) = (Content::Copy, DataSource::WarmFile);
            }),
            asked(|workload| {
                (workload.content, workload.source) = (Content::Copy, DataSource::ColdFile);
            }),
            asked(|workload| {
                (workload.content, workload.source) = (Content::Sparse, DataSource::WarmFile);
            }),
            asked(|workload| workload.content = Content::Sparse),
            asked(|workload| workload.content = Content::Reserved),
            asked(|workload| workload.content = Content::Hole),
            asked(|workload| workload.content = Content::Nothing),
        ];
        insta::assert_snapshot!(questions.join("\n"));
        let different: std::collections::HashSet<&String> = questions.iter().collect();
        assert_eq!(different.len(), questions.len());
    }

    #[test]
    fn a_device_is_named_and_several_targets_are_not() {
        let workload = example_case("test", "write", Vec::new()).workload;
        let mut device = example_target("/dev/sdb");
        device.environment.filesystem.kind = "block device".to_owned();
        assert_eq!(
            question(&workload, Some(&device), "disk"),
            "To stream 1 GiB onto the device /dev/sdb, in the page cache"
        );
        assert_eq!(
            question(&workload, None, "disk"),
            "To stream 1 GiB into a new file, in the page cache"
        );
    }
}
