use anyhow::{Result, ensure};
use writebench_filesystems::{FilesystemKind, FilesystemRequest, Layer};
use writebench_model::did_you_mean;

use crate::exit::usage;

type KindOptions = (FilesystemKind, String);

pub(super) fn requests(
    on: &[String],
    mkfs: &[KindOptions],
    mount: &[KindOptions],
) -> Result<Vec<FilesystemRequest>> {
    let kinds = if on.is_empty() {
        FilesystemKind::defaults()
    } else {
        kinds(on)?
    };
    let mut requests: Vec<FilesystemRequest> = Vec::new();
    for kind in kinds {
        let is_new = requests.iter().all(|request| request.kind != kind);
        ensure!(is_new, usage!("--on: {kind} is given twice. Give it once"));
        requests.push(FilesystemRequest {
            kind,
            mkfs_options: Vec::new(),
            mount_options: None,
        });
    }
    for (kind, words) in mkfs {
        let words = shlex::split(words)
            .ok_or_else(|| usage!("--mkfs-options {kind}={words}: a quote is open. Close it"))?;
        if kind.is_in_memory() {
            return Err(usage!(
                "--mkfs-options {kind}: it is in memory and has no mkfs. Leave out the option"
            ));
        }
        request(&mut requests, kind, "--mkfs-options")?
            .mkfs_options
            .extend(words);
    }
    for (kind, options) in mount {
        let request = request(&mut requests, kind, "--mount-options")?;
        let before = request
            .mount_options
            .take()
            .map_or(String::new(), |before| before + ",");
        request.mount_options = Some(before + options);
    }
    Ok(requests)
}

fn request<'w>(
    requests: &'w mut [FilesystemRequest],
    kind: &FilesystemKind,
    option: &str,
) -> Result<&'w mut FilesystemRequest> {
    let names: Vec<String> = requests
        .iter()
        .map(|request| request.kind.to_string())
        .collect();
    requests
        .iter_mut()
        .find(|request| request.kind == *kind)
        .ok_or_else(|| {
            usage!(
                "{option} {kind}: the run does not make this kind. Give one of its kinds: {}",
                names.join(", ")
            )
        })
}

fn kinds(words: &[String]) -> Result<Vec<FilesystemKind>> {
    let is_alone = |word: &&String| Layer::named(word).is_none() && !word.contains(':');
    let others: Vec<&String> = words.iter().filter(is_alone).collect();
    let mut kinds = Vec::new();
    for word in words {
        if Layer::named(word).is_none() {
            let kind = word.parse::<FilesystemKind>();
            kinds.push(kind.map_err(|error| usage!("--on: {error}{}", suggestion(word)))?);
            continue;
        }
        ensure!(
            !others.is_empty(),
            usage!(
                "--on {word}: on which filesystem? Add other kinds, or give {word}:KIND, such as {word}:ext4"
            )
        );
        for other in &others {
            let kind = format!("{word}:{other}").parse::<FilesystemKind>();
            kinds.push(kind.map_err(|error| usage!("--on: {error}"))?);
        }
    }
    Ok(kinds)
}

pub(super) fn suggestion(word: &str) -> String {
    let known = FilesystemKind::defaults()
        .into_iter()
        .map(|kind| kind.to_string());
    did_you_mean(
        word,
        known.chain(Layer::ALL.map(|layer| layer.name().to_owned())),
    )
}

/// `ext4=noatime`.
pub(super) fn kind_options(text: &str) -> Result<KindOptions, String> {
    let (kind, options) = text
        .split_once('=')
        .ok_or("expected KIND=OPTIONS, such as ext4=noatime")?;
    Ok((
        kind.parse()
            .map_err(|error: writebench_filesystems::Error| error.to_string())?,
        options.to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &str) -> Vec<String> {
        let words: Vec<String> = words.split(',').map(str::to_owned).collect();
        kinds(&words)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn overlay_and_fuse_alone_use_each_of_the_other_kinds() {
        assert_eq!(
            named("ext4,overlay,xfs"),
            ["ext4", "overlay:ext4", "overlay:xfs", "xfs"]
        );
        assert_eq!(
            named("tmpfs,fuse,overlay:ext4"),
            ["tmpfs", "fuse:tmpfs", "overlay:ext4"]
        );
        assert!(
            kinds(&["overlay".to_owned()])
                .unwrap_err()
                .to_string()
                .contains("on which filesystem?")
        );
    }
}
