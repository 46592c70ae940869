
    try:
{%- if case.omits_checksums() %}
        omit_checksums(fd)
{%- endif %}
{%- if case.atomic() %}
        if old:
            keep_mode(fd, old)
{%- endif %}
        {{ case.data_call_python() }}
    finally:
        # This may report a late error of the filesystem, such as NFS.
        os.close(fd)
