{%- if case.creates_name() && case.is_durable() %}

/// A sync of the directory makes the file's name durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(directory.unwrap_or(Path::new(".")))?;
    Ok(rustix::fs::fsync(directory)?)
}
{%- endif %}
