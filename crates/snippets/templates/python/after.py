{%- if way.overwrites() && way.copies() %}
    os.ftruncate(fd, size)  # the file may have been longer
{%- endif %}
{%- if way.syncs_at_end() %}
    # Not repeated after an error: the data may be lost though a second call succeeds.
    os.{{ way.sync_name() }}(fd)
{%- endif %}
