{%- if way.maps_target() %}
    # A mapping has a duplicate of fd, and ignores the errors of closing it: fd is closed before.
    with contextlib.ExitStack() as mappings:
        try:
            {{ way.data_call_python() }}
        finally:
            os.close(fd)  # may report a late error of the filesystem, such as NFS
{%- else %}
    try:
        {{ way.data_call_python() }}
    finally:
        os.close(fd)  # may report a late error of the filesystem, such as NFS
{%- endif %}
