{%- if case.meets_source() %}

/// Whether the path leads to the source: to open it would empty that.
fn is_source(path: &Path, source: &fs::Metadata) -> bool {
    let identity = |file: &fs::Metadata| (file.dev(), file.ino());
    fs::metadata(path).is_ok_and(|target| identity(&target) == identity(source))
}
{%- endif %}
{%- if case.checks_end() %}

/// Reads once more: the source may be longer now, or never had that length, as in /proc.
fn ends_at(input: &File, size: usize) -> io::Result<()> {
    match input.read_at(&mut [0], size as u64)? {
        0 => Ok(()),
        _ => Err(io::Error::other("the source has become longer")),
    }
}
{%- endif %}
{%- if case.reopens_copy() %}

/// The owner may read and write the copy until now.
fn narrow_mode(file: &File, source: &fs::Metadata) -> io::Result<()> {
    if source.mode() & 0o600 == 0o600 {
        return Ok(());
    }
    let mode = file.metadata()?.mode() & source.mode() & 0o777;
    file.set_permissions(fs::Permissions::from_mode(mode))
}
{%- endif %}
