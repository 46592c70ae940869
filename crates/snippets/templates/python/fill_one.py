
    try:
{%- if case.options.is_atomic %}
        if old:
            keep_mode(fd, old)
{%- endif %}
        write_data(fd, name, data)
{%- if case.syncs_each() %}
        # After an error, the data may be lost although a second call succeeds: write it again.
        call(os.fsync, name, fd)
{%- endif %}
{%- if case.is_tmpfile() %}
        # The descriptor's path needs no capability.
        link = f"/proc/self/fd/{fd}"
        call(os.link, name, link, {{ case.written("other", "name") }}, dst_dir_fd=directory, follow_symlinks=True)
{%- endif %}
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(fd)
        raise
    call(os.close, name, fd)
{%- if case.has_other_name() && !case.syncs_afterwards() %}
    give_name(directory, other, name)
{%- endif %}
