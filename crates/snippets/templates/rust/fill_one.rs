
{%- if case.options.is_atomic %}
    if let Some(old) = &old {
        keep_mode(&file, old).map_err(failed("fchmod", name))?;
    }
{%- endif %}
    for chunk in data.chunks(CHUNK) {
        file.write_all(chunk).map_err(failed("write", name))?;
    }
{%- if case.syncs_each() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    rustix::fs::fsync(&file).map_err(failed("fsync", name))?;
{%- endif %}
{%- if case.starts_write_back() %}
    let start = libc::SYNC_FILE_RANGE_WRITE;
    // SAFETY: the call takes numbers only.
    let started = unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, start) };
    if started != 0 {
        return Err(failed("sync_file_range", name)(io::Error::last_os_error()));
    }
{%- endif %}
{%- if case.is_tmpfile() %}
    // The descriptor's path needs no capability.
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, from, directory, {{ case.written("other", "name") }}, AtFlags::SYMLINK_FOLLOW)
        .map_err(failed("linkat", name))?;
{%- endif %}
    close(file).map_err(failed("close", name))
