{%- if case.creates_name() && case.is_durable() %}

/// A sync of the directory makes the file's name durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    rustix::fs::fsync(File::open(directory)?).map_err(|error| {
        let is_unable = [libc::EINVAL, libc::EBADF].contains(&error.raw_os_error());
        let why = if is_unable {
            ": the directory cannot be synced here"
        } else {
            ""
        };
        let text = format!("fsync {}: {error}{why}", directory.display());
        io::Error::new(io::Error::from(error).kind(), text)
    })
}
{%- endif %}
