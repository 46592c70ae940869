{%- if case.overwrites() && case.copies() %}
    os.ftruncate(fd, size)  # the file may have been longer
{%- endif %}
{%- if case.syncs_at_end() %}
    # Not repeated after an error: the data may be lost although a second call succeeds.
    os.{{ case.sync_name() }}(fd)
{%- endif %}
